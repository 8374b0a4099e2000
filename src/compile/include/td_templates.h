// Templates and overload sets: the TD_TEMPLATE rows of device_builtins.def.
#pragma once
#pragma clang system_header

// ---- warp
template <class T>
__TD_FN unsigned __match_any_sync(unsigned mask, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_any_sync takes values of 32 or 64 bits");
  if constexpr (sizeof(T) == 4) {
    return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(unsigned, value));
  } else {
    return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(long long, value));
  }
}

template <class T>
__TD_FN unsigned __match_all_sync(unsigned mask, T value, int* all) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_all_sync takes values of 32 or 64 bits");
  if constexpr (sizeof(T) == 4) {
    return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(unsigned, value), all);
  } else {
    return __nvvm_match_all_sync_i64p(mask, __builtin_bit_cast(long long, value), all);
  }
}

// ---- minimum and maximum: CUDA's overloads, floating point by fmin and fmax
#define TD_MINMAX_FN __TD_FN
#include "td_minmax.h"

// ---- loads and stores with a cache hint: the hint has no effect
#define TD_LOAD(name)          \
  template <class T>           \
  __TD_FN T name(const T* p) { \
    return *p;                 \
  }
TD_LOAD(__ldg)
TD_LOAD(__ldca)
TD_LOAD(__ldcg)
TD_LOAD(__ldcs)
TD_LOAD(__ldlu)
#undef TD_LOAD
// Not from a cache: the value is read again each time.
template <class T>
__TD_FN T __ldcv(const T* p) {
  if constexpr (sizeof(T) <= 8 && __is_scalar(T)) {
    return *(const volatile T*)p;
  } else {
    __nvvm_membar_cta();
    return *p;
  }
}
#define TD_STORE(name)               \
  template <class T>                 \
  __TD_FN void name(T* p, T value) { \
    *p = value;                      \
  }
TD_STORE(__stwb)
TD_STORE(__stcg)
TD_STORE(__stcs)
TD_STORE(__stwt)
#undef TD_STORE

// ---- classification of integers, as C++ has it
template <class T>
__TD_FN constexpr __td_if<__is_integral(T), bool> isnan(T) {
  return false;
}
template <class T>
__TD_FN constexpr __td_if<__is_integral(T), bool> isinf(T) {
  return false;
}
template <class T>
__TD_FN constexpr __td_if<__is_integral(T), bool> isfinite(T) {
  return true;
}

#include "assert.h"
#include "td_atomics.h"
