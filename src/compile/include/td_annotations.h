// CUDA's keywords, and the annotations that our own headers use.
#pragma once
#pragma clang system_header

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))  // host and device share memory on the software device
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)
#define __grid_constant__
#define __cluster_dims__(...) __attribute__((aligned(__td_cluster<__VA_ARGS__>::of_one_block)))
#define __align__(n) __attribute__((aligned(n)))
#define __assume(condition) __builtin_assume(condition)
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __cudart_builtin__
#define __device_builtin__
#define CUDARTAPI
#define CUDART_CB

// A small function of ours: inlined, and its lines never show up in a message or in debug
// information.
#define __TD_FN static __inline__ __attribute__((host, device, always_inline, nodebug, unused))
// The same for members of classes.
#define __TD_MEMBER_FN __attribute__((host, device, always_inline, nodebug))
// A function without effects that lowering provides.
#define __TD_PURE __attribute__((host, device, const, nothrow))

// Blocks of a cluster run on different multiprocessors and see each other's shared memory.
template <unsigned x, unsigned y = 1, unsigned z = 1>
struct __td_cluster {
  static_assert(x * y * z == 1,
                "clusters of several blocks (__cluster_dims__) are known, but not "
                "supported on the software device yet");
  static constexpr unsigned of_one_block = 4;
};

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;
#undef NULL
#define NULL __null
