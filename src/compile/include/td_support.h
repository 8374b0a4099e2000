// What the rows of device_builtins.def are written in.
#pragma once
#pragma clang system_header
#include "td_vectors.h"

template <bool condition, class T>
struct __td_if_type {};
template <class T>
struct __td_if_type<true, T> {
  typedef T type;
};
template <bool condition, class T>
using __td_if = typename __td_if_type<condition, T>::type;

// Two arithmetic types for which C++ computes in double: different ones, or integers.
template <class A, class B>
constexpr bool __td_mixed =
    __is_arithmetic(A) && __is_arithmetic(B) && (!__is_same(A, B) || __is_integral(A));

// Result of a refused builtin: fits anywhere, so that the refusal is the only error.
struct __td_anything {
  template <class T>
  __attribute__((host, device)) operator T() const;
};

// Shuffles move 32 bits; a 64-bit value goes in two halves. `c` is PTX's clamp and segment mask.
// Functions, not templates: instances that our own headers use would be compiled with every kernel.
#define TD_SHUFFLE_MODE(mode)                                                               \
  __TD_FN unsigned __td_shuffle32_##mode(unsigned mask, unsigned value, int lane, int c) {  \
    return (unsigned)__nvvm_shfl_sync_##mode##_i32(mask, (int)value, lane, c);              \
  }                                                                                         \
  __TD_FN unsigned long long __td_shuffle64_##mode(unsigned mask, unsigned long long value, \
                                                   int lane, int c) {                       \
    const unsigned low = __td_shuffle32_##mode(mask, (unsigned)value, lane, c);             \
    const unsigned high = __td_shuffle32_##mode(mask, (unsigned)(value >> 32), lane, c);    \
    return (unsigned long long)high << 32 | low;                                            \
  }
TD_SHUFFLE_MODE(idx)
TD_SHUFFLE_MODE(up)
TD_SHUFFLE_MODE(down)
TD_SHUFFLE_MODE(bfly)
#undef TD_SHUFFLE_MODE

#define TD_EXCHANGE(T, Bits)                                                              \
  __TD_FN T __td_exchange(T* p, T v) {                                                    \
    return __builtin_bit_cast(                                                            \
        T, __atomic_exchange_n((Bits*)p, __builtin_bit_cast(Bits, v), __ATOMIC_RELAXED)); \
  }
TD_EXCHANGE(int, unsigned)
TD_EXCHANGE(unsigned, unsigned)
TD_EXCHANGE(long long, unsigned long long)
TD_EXCHANGE(unsigned long long, unsigned long long)
TD_EXCHANGE(float, unsigned)
TD_EXCHANGE(double, unsigned long long)
#undef TD_EXCHANGE

// What rows of device_math.def call before its body (td_bodies.h, td_ranges.h, td_special.h), and
// functions of the mathematical library that only those bodies call.
#define TD_RAW(name)                               \
  extern "C" __TD_PURE double __td_##name(double); \
  extern "C" __TD_PURE float __td_##name##f(float);
#define TD_RANGE(name) \
  TD_RAW(name)         \
  __TD_FN float __td_##name##_float(float);
TD_RANGE(log1p)
TD_RANGE(asinh)
TD_RANGE(acosh)
TD_RANGE(sinh)
TD_RANGE(cosh)
TD_RANGE(sinpi)
TD_RANGE(cospi)
TD_RAW(j0)
TD_RAW(j1)
TD_RAW(y0)
TD_RAW(y1)
#undef TD_RAW
#undef TD_RANGE
extern "C" {
__TD_PURE double __td_fmod(double, double);
__TD_PURE float __td_fmodf(float, float);
__TD_PURE double __td_pow(double, double);
__TD_PURE float __td_powf(float, float);
__TD_PURE double __td_jn(int, double);
__TD_PURE float __td_jnf(int, float);
__TD_PURE double __td_yn(int, double);
__TD_PURE float __td_ynf(int, float);
}
__TD_FN float __td_fmod_float(float, float);
__TD_FN float __td_nextafterf(float, float);
__TD_FN float __td_norm4df(float, float, float, float);
__TD_FN float __td_rnorm4df(float, float, float, float);

// C functions that Clang knows by these names.
extern "C" {
__TD_C_FN int printf(const char*, ...);
__TD_C_FN void* memcpy(void*, const void*, size_t);
__TD_C_FN void* memmove(void*, const void*, size_t);
__TD_C_FN void* memset(void*, int, size_t);
// Ends the launch with CUDA_ERROR_ASSERT.
__TD_C_FN __attribute__((noreturn, nothrow)) void __assertfail(const char* message,
                                                               const char* file, unsigned line,
                                                               const char* function,
                                                               size_t character_size);
// Provided by lowering (src/softdev/simt/builtins.def) and the runtime
// (src/softdev/run/device_calls.h).
__attribute__((host, device)) void* __td_rt_malloc(unsigned long long bytes);
__attribute__((host, device)) void __td_rt_free(void*);
__attribute__((host, device)) unsigned __td_rt_address_space(const void*);
__attribute__((host, device)) void __td_rt_atomic_wide(void*, unsigned long long* words,
                                                       unsigned kind);
__attribute__((host, device)) unsigned short __td_rt_atomic_add_bf16(unsigned short*,
                                                                     unsigned short);
// Stands behind a loop that waits for the word at the address: all lanes that wait there wait for
// one and the same event, so that none waits for what another of the warp does behind the loop.
__attribute__((host, device, nothrow)) void __td_leave_together(const void* address);
// Waits for all threads of the grid.
__attribute__((host, device, convergent, nothrow)) void __td_grid_barrier();
__attribute__((host, device, const, nothrow)) void* __td_shared_base();
__attribute__((host, device, const, nothrow)) unsigned __td_dynamic_shared();
__attribute__((host, device, const, nothrow)) unsigned __td_is_constant(const void*);
#ifndef __TREADLE_PROGRAM__
// Clang asks for this one where a kernel launches a kernel.
__attribute__((host, device)) unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0,
                                                                   void* = 0);
__attribute__((host, device)) unsigned cudaConfigureCall(dim3, dim3, size_t = 0, void* = 0);
#endif
}

// The C++ allocation functions. They return null when the heap is full (-fcheck-new).
__attribute__((device)) void* operator new(size_t) __asm__("__td_rt_malloc");
__attribute__((device)) void* operator new[](size_t) __asm__("__td_rt_malloc");
__attribute__((device)) void operator delete(void*) noexcept __asm__("__td_rt_free");
__attribute__((device)) void operator delete[](void*) noexcept __asm__("__td_rt_free");
__attribute__((device)) inline void operator delete(void* p, size_t) noexcept {
  operator delete(p);
}
__attribute__((device)) inline void operator delete[](void* p, size_t) noexcept {
  operator delete[](p);
}

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef struct CUstream_st* cudaStream_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
