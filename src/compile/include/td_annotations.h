// CUDA's keywords, and the annotations that our own headers use.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#ifdef __CUDA__
#define __TD_TARGET(...) __attribute__((__VA_ARGS__))
#else  // a host file of a program (`treadle cc`): the keywords say nothing
#define __TD_TARGET(...)
#endif
#define __host__ __TD_TARGET(host)
#define __device__ __TD_TARGET(device)
#define __global__ __TD_TARGET(global)
#define __shared__ __TD_TARGET(shared)
#define __constant__ __TD_TARGET(constant)
#ifdef __TREADLE_PROGRAM__
#define __managed__ __attribute__((device, annotate("treadle.managed")))
#else
#define __managed__ __TD_TARGET(device)  // host and device share memory on the software device
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#ifndef alloca
#define alloca(size) __builtin_alloca(size)
#endif
#define __launch_bounds__(...) __TD_TARGET(launch_bounds(__VA_ARGS__))
#define __maxnreg__(...)
#define __grid_constant__
#define __cluster_dims__(...) __attribute__((aligned(__td_cluster<__VA_ARGS__>::of_one_block)))
// What `__shared__ alignas(n)` becomes (compile.cpp).
#define __shared___alignas(...) __shared__ _Alignas(__VA_ARGS__)
#define __constant___alignas(...) __constant__ _Alignas(__VA_ARGS__)
#define __device___alignas(...) __device__ _Alignas(__VA_ARGS__)
#define __align__(n) __attribute__((aligned(n)))
#define __assume(condition) __builtin_assume(condition)
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __cudart_builtin__
#define __device_builtin__
#define CUDARTAPI
#define CUDART_CB

// A small function of ours: inlined, and its lines never show up in a message or in debug
// information. In a whole program the host has its C library, so device builtins are for the
// device alone; __TD_HD_FN is for both everywhere.
#ifdef __CUDA__
// The same for members of classes.
#define __TD_MEMBER_FN __attribute__((host, device, always_inline, nodebug))
#define __TD_HD_FN static __inline__ __attribute__((host, device, always_inline, nodebug, unused))
#else
#define __TD_MEMBER_FN inline
#define __TD_HD_FN static inline __attribute__((unused))
#endif
#ifdef __TREADLE_PROGRAM__
#define __TD_FN static __inline__ __attribute__((device, always_inline, nodebug, unused))
#define __TD_PURE __attribute__((device, const, nothrow))
// Where __TD_FN cannot stand: C's functions, friends.
#define __TD_C_FN __attribute__((device))
#else
#define __TD_FN __TD_HD_FN
#define __TD_PURE __attribute__((host, device, const, nothrow))
#define __TD_C_FN __attribute__((host, device))
#endif

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
