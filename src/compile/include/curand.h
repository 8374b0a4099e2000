// Types of cuRAND that kernels share with its host interface. Generators that are driven from the
// host (curandCreateGenerator ...) are not there; kernels have theirs in <curand_kernel.h>.
// Enumerators and their values: cuRAND's reference manual.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
enum curandRngType {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201
};
enum curandDirectionVectorSet {
  CURAND_DIRECTION_VECTORS_32_JOEKUO6 = 101,
  CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6 = 102,
  CURAND_DIRECTION_VECTORS_64_JOEKUO6 = 103,
  CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6 = 104
};
typedef enum curandStatus curandStatus_t;
typedef enum curandRngType curandRngType_t;
typedef enum curandOrdering curandOrdering_t;
typedef enum curandDirectionVectorSet curandDirectionVectorSet_t;

// Sobol's direction vectors of one dimension.
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

typedef struct curandGenerator_st* curandGenerator_t;
typedef struct curandDiscreteDistribution_st* curandDiscreteDistribution_t;

#ifdef __TREADLE_PROGRAM__
// "[treadle]" tells Messages where its own words begin.
#define TD_HOST_CURAND(name)                                                          \
  template <class... T>                                                               \
  curandStatus_t name(T...) __attribute__((                                           \
      unavailable("[treadle]" #name " (generators driven from the host) is known, "   \
                  "but not supported on the software device yet; kernels have their " \
                  "own generators in <curand_kernel.h>")));
TD_HOST_CURAND(curandCreateGenerator)
TD_HOST_CURAND(curandCreateGeneratorHost)
TD_HOST_CURAND(curandDestroyGenerator)
TD_HOST_CURAND(curandGetVersion)
TD_HOST_CURAND(curandGetProperty)
TD_HOST_CURAND(curandSetStream)
TD_HOST_CURAND(curandSetPseudoRandomGeneratorSeed)
TD_HOST_CURAND(curandSetGeneratorOffset)
TD_HOST_CURAND(curandSetGeneratorOrdering)
TD_HOST_CURAND(curandSetQuasiRandomGeneratorDimensions)
TD_HOST_CURAND(curandGenerate)
TD_HOST_CURAND(curandGenerateLongLong)
TD_HOST_CURAND(curandGenerateUniform)
TD_HOST_CURAND(curandGenerateUniformDouble)
TD_HOST_CURAND(curandGenerateNormal)
TD_HOST_CURAND(curandGenerateNormalDouble)
TD_HOST_CURAND(curandGenerateLogNormal)
TD_HOST_CURAND(curandGenerateLogNormalDouble)
TD_HOST_CURAND(curandGeneratePoisson)
TD_HOST_CURAND(curandGenerateBinomial)
TD_HOST_CURAND(curandGenerateSeeds)
TD_HOST_CURAND(curandCreatePoissonDistribution)
TD_HOST_CURAND(curandDestroyDistribution)
TD_HOST_CURAND(curandGetDirectionVectors32)
TD_HOST_CURAND(curandGetDirectionVectors64)
TD_HOST_CURAND(curandGetScrambleConstants32)
TD_HOST_CURAND(curandGetScrambleConstants64)
#undef TD_HOST_CURAND
#endif
