// Random numbers in kernels: the device interface of cuRAND, with cuRAND's sequences. Integers and
// uniform numbers have the bits of NVIDIA's; normal, log-normal and Poisson numbers differ as far
// as the mathematical functions do.
//
// Plain CUDA C++ of C++17, so that NVRTC takes it as well where the toolkit has no such header.
//
//   generator            state                          numbers          seed, sequences
//   XORWOW               curandState                    32 bits          2^64, each of 2^67 numbers
//   Philox4x32-10        curandStatePhilox4_32_10_t     32 bits, by four 2^64, each of 2^66
//   MRG32k3a             curandStateMRG32k3a            32 bits          2^64, each of 2^76
//   Sobol                curandStateSobol32, 64         32, 64 bits      direction vectors
//   scrambled Sobol      curandStateScrambledSobol32    32, 64 bits      direction vectors,
//   constant
//
// MTGP32 and curand_discrete need tables that NVIDIA's library makes: they are refused.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#ifndef QUALIFIERS
#ifdef __clang__
#define QUALIFIERS static __forceinline__ __device__ __attribute__((nodebug, unused))
#else
#define QUALIFIERS static __forceinline__ __device__
#endif
#endif

#include "curand.h"
#include "td_curand_mrg32k3a.h"
#include "td_curand_philox.h"
#include "td_curand_sobol.h"
#include "td_curand_xorwow.h"

typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;

// The generators' states, for functions that differ in nothing else.
#define TD_CURAND_PSEUDO(row) \
  row(curandStateXORWOW) row(curandStatePhilox4_32_10) row(curandStateMRG32k3a)
#define TD_CURAND_QUASI(row)                                                       \
  row(curandStateSobol32) row(curandStateScrambledSobol32) row(curandStateSobol64) \
      row(curandStateScrambledSobol64)

// clang-format off: each uses the ones before
#include "td_curand_uniform.h"
#include "td_curand_normal.h"
#include "td_curand_log_normal.h"
#include "td_curand_poisson.h"
// clang-format on

#undef TD_CURAND_PSEUDO
#undef TD_CURAND_QUASI

#ifdef __clang__
// "[treadle]" tells Messages where its own words begin.
struct __attribute__((unavailable(
    "[treadle]MTGP32 needs tables of NVIDIA's library, which the software device does not have; "
    "use Philox, XORWOW or MRG32k3a"))) curandStateMtgp32;
typedef struct curandStateMtgp32 curandStateMtgp32_t __attribute__((unavailable(
    "[treadle]MTGP32 needs tables of NVIDIA's library, which the software device does not have; "
    "use Philox, XORWOW or MRG32k3a")));
#define TD_REFUSED_DISCRETE(name)                                                        \
  template <class... T>                                                                  \
  QUALIFIERS unsigned int name(T...) __attribute__((                                     \
      unavailable("[treadle]" #name " needs a table that NVIDIA's library makes, which " \
                  "the software device does not have; use curand_poisson")));
TD_REFUSED_DISCRETE(curand_discrete)
TD_REFUSED_DISCRETE(curand_discrete4)
#undef TD_REFUSED_DISCRETE
#endif
