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
#define TD_SHUFFLE_MODE(mode)                                                                 \
  template <class T>                                                                          \
  __TD_FN T __td_shuffle_##mode(unsigned mask, T value, int lane, int c) {                    \
    if constexpr (sizeof(T) == 4) {                                                           \
      const int bits = __builtin_bit_cast(int, value);                                        \
      return __builtin_bit_cast(T, __nvvm_shfl_sync_##mode##_i32(mask, bits, lane, c));       \
    } else {                                                                                  \
      const unsigned long long bits = __builtin_bit_cast(unsigned long long, value);          \
      const int low = __nvvm_shfl_sync_##mode##_i32(mask, (int)bits, lane, c);                \
      const int high = __nvvm_shfl_sync_##mode##_i32(mask, (int)(bits >> 32), lane, c);       \
      return __builtin_bit_cast(T, (unsigned long long)(unsigned)high << 32 | (unsigned)low); \
    }                                                                                         \
  }
TD_SHUFFLE_MODE(idx)
TD_SHUFFLE_MODE(up)
TD_SHUFFLE_MODE(down)
TD_SHUFFLE_MODE(bfly)
#undef TD_SHUFFLE_MODE

template <class T>
__TD_FN T __td_exchange(T* p, T v) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(
        T, __atomic_exchange_n((unsigned*)p, __builtin_bit_cast(unsigned, v), __ATOMIC_RELAXED));
  } else {
    return __builtin_bit_cast(
        T, __atomic_exchange_n((unsigned long long*)p, __builtin_bit_cast(unsigned long long, v),
                               __ATOMIC_RELAXED));
  }
}

// C functions that Clang knows by these names.
extern "C" {
__attribute__((host, device)) int printf(const char*, ...);
__attribute__((host, device)) void* memcpy(void*, const void*, size_t);
__attribute__((host, device)) void* memmove(void*, const void*, size_t);
__attribute__((host, device)) void* memset(void*, int, size_t);
// Ends the launch with CUDA_ERROR_ASSERT.
__attribute__((host, device, noreturn, nothrow)) void __assertfail(const char* message,
                                                                   const char* file, unsigned line,
                                                                   const char* function,
                                                                   size_t character_size);
// Clang asks for this one where a kernel launches a kernel.
__attribute__((host, device)) unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0,
                                                                   void* = 0);
__attribute__((host, device)) unsigned cudaConfigureCall(dim3, dim3, size_t = 0, void* = 0);
}

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef struct CUstream_st* cudaStream_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
