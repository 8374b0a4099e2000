// Atomics that are more than one expression: the TD_TEMPLATE rows of that section.
#pragma once
#pragma clang system_header

// ---- compare and swap
#define TD_CAS(T, name)                                                                         \
  __TD_FN T name(T* p, T compare, T value) {                                                    \
    __atomic_compare_exchange_n(p, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return compare;                                                                             \
  }
#define TD_CAS_SCOPES(T) TD_CAS(T, atomicCAS) TD_CAS(T, atomicCAS_block) TD_CAS(T, atomicCAS_system)
TD_CAS_SCOPES(int)
TD_CAS_SCOPES(unsigned)
TD_CAS_SCOPES(unsigned long long)
TD_CAS_SCOPES(unsigned short)
#undef TD_CAS
#undef TD_CAS_SCOPES

// ---- 16 bytes (compute capability 9.0): any trivially copyable type of that size and alignment.
// The runtime's function works on four words: value or comparand, and replacement.
template <class T>
__TD_FN T __td_wide(T* p, const T& first, const T& second, unsigned kind) {
  static_assert(__is_trivially_copyable(T), "a 16-byte atomic needs a trivially copyable type");
  unsigned long long words[4];
  __builtin_memcpy(words, &first, 16);
  __builtin_memcpy(words + 2, &second, 16);
  __td_rt_atomic_wide((void*)p, words, kind);
  T old;
  __builtin_memcpy(&old, words, 16);
  return old;
}
template <class T>
constexpr bool __td_is_wide = sizeof(T) == 16 && alignof(T) >= 16;
#define TD_WIDE(scope)                                                             \
  template <class T>                                                               \
  __TD_FN __td_if<__td_is_wide<T>, T> atomicExch##scope(T* p, T value) {           \
    return __td_wide(p, value, value, 0);                                          \
  }                                                                                \
  template <class T>                                                               \
  __TD_FN __td_if<__td_is_wide<T>, T> atomicCAS##scope(T* p, T compare, T value) { \
    return __td_wide(p, compare, value, 1);                                        \
  }
TD_WIDE()
TD_WIDE(_block)
TD_WIDE(_system)
#undef TD_WIDE

// ---- vectors of floats (compute capability 9.0): each element is atomic for itself
#define TD_ADD_VECTORS(scope)                                                    \
  __TD_FN float2 atomicAdd##scope(float2* p, float2 v) {                         \
    return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)};                       \
  }                                                                              \
  __TD_FN float4 atomicAdd##scope(float4* p, float4 v) {                         \
    return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), \
            atomicAdd(&p->w, v.w)};                                              \
  }
TD_ADD_VECTORS()
TD_ADD_VECTORS(_block)
TD_ADD_VECTORS(_system)
#undef TD_ADD_VECTORS

// ---- the __nv_atomic family: memory orders and scopes are arguments. Read-modify-writes are
// sequentially consistent for every order, as the processor has them; loads acquire, stores
// release.
enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

template <size_t size>
struct __td_bits;
template <>
struct __td_bits<1> {
  typedef unsigned char type;
};
template <>
struct __td_bits<2> {
  typedef unsigned short type;
};
template <>
struct __td_bits<4> {
  typedef unsigned type;
};
template <>
struct __td_bits<8> {
  typedef unsigned long long type;
};

// Of types of 1 to 16 bytes, as a compare and swap compares them.
template <class T>
__TD_FN bool __td_same_bits(const T& x, const T& y) {
  if constexpr (sizeof(T) == 16) {
    unsigned long long a[2], b[2];
    __builtin_memcpy(a, &x, 16);
    __builtin_memcpy(b, &y, 16);
    return a[0] == b[0] && a[1] == b[1];
  } else {
    typedef typename __td_bits<sizeof(T)>::type Bits;
    return __builtin_bit_cast(Bits, x) == __builtin_bit_cast(Bits, y);
  }
}

template <class T>
__TD_FN T __td_atomic_load(const volatile T* p, int order) {
  if constexpr (sizeof(T) == 16) {
    return __td_wide((T*)p, T(), T(), 2);
  } else {
    typedef typename __td_bits<sizeof(T)>::type Bits;
    Bits bits = __atomic_load_n((const volatile Bits*)p, __ATOMIC_ACQUIRE);
    if (order == __NV_ATOMIC_SEQ_CST) __nvvm_membar_gl();
    return __builtin_bit_cast(T, bits);
  }
}
template <class T>
__TD_FN void __td_atomic_store(volatile T* p, T value, int order) {
  if constexpr (sizeof(T) == 16) {
    __td_wide((T*)p, value, value, 0);
  } else {
    typedef typename __td_bits<sizeof(T)>::type Bits;
    __atomic_store_n((volatile Bits*)p, __builtin_bit_cast(Bits, value), __ATOMIC_RELEASE);
    if (order == __NV_ATOMIC_SEQ_CST) __nvvm_membar_gl();
  }
}
template <class T>
__TD_FN T __td_atomic_exchange(volatile T* p, T value) {
  if constexpr (sizeof(T) == 16) {
    return __td_wide((T*)p, value, value, 0);
  } else {
    typedef typename __td_bits<sizeof(T)>::type Bits;
    return __builtin_bit_cast(
        T,
        __atomic_exchange_n((volatile Bits*)p, __builtin_bit_cast(Bits, value), __ATOMIC_SEQ_CST));
  }
}
template <class T>
__TD_FN bool __td_atomic_compare_exchange(volatile T* p, T* expected, T value) {
  if constexpr (sizeof(T) == 16) {
    const T old = __td_wide((T*)p, *expected, value, 1);
    const bool equal = __td_same_bits(old, *expected);
    *expected = old;
    return equal;
  } else {
    typedef typename __td_bits<sizeof(T)>::type Bits;
    Bits compare = __builtin_bit_cast(Bits, *expected);
    const bool swapped =
        __atomic_compare_exchange_n((volatile Bits*)p, &compare, __builtin_bit_cast(Bits, value),
                                    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    *expected = __builtin_bit_cast(T, compare);
    return swapped;
  }
}
// `op(old)` until nobody came in between.
template <class T, class Op>
__TD_FN T __td_atomic_update(volatile T* p, Op op) {
  T old = __td_atomic_load(p, __NV_ATOMIC_RELAXED);
  while (!__td_atomic_compare_exchange(p, &old, op(old))) {
  }
  return old;
}

#define TD_FETCH(name, integer_builtin)                        \
  template <class T>                                           \
  __TD_FN T __td_atomic_fetch_##name(volatile T* p, T value) { \
    return integer_builtin(p, value, __ATOMIC_SEQ_CST);        \
  }
TD_FETCH(add, __atomic_fetch_add)
TD_FETCH(sub, __atomic_fetch_sub)
TD_FETCH(and, __atomic_fetch_and)
TD_FETCH(or, __atomic_fetch_or)
TD_FETCH(xor, __atomic_fetch_xor)
#undef TD_FETCH
#define TD_FETCH(name, choice)                                     \
  template <class T>                                               \
  __TD_FN T __td_atomic_fetch_##name(volatile T* p, T value) {     \
    if constexpr (__is_integral(T))                                \
      return __atomic_fetch_##name(p, value, __ATOMIC_SEQ_CST);    \
    else                                                           \
      return __td_atomic_update(p, [=](T old) { return choice; }); \
  }
TD_FETCH(min, value < old ? value : old)
TD_FETCH(max, old < value ? value : old)
#undef TD_FETCH

template <class T>
__TD_FN void __td_needs_integer() {
  static_assert(__is_integral(T),
                "CUDA has this __nv_atomic function for integers only; take the generic form, or "
                "cuda::atomic_ref");
}
template <class T>
__TD_FN void __nv_atomic_load(const T* p, T* result, int order,
                              int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *result = __td_atomic_load(p, order);
}
template <class T>
__TD_FN T __nv_atomic_load_n(const T* p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __td_needs_integer<T>();
  return __td_atomic_load(p, order);
}
template <class T>
__TD_FN void __nv_atomic_store(T* p, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __td_atomic_store(p, *value, order);
}
template <class T>
__TD_FN void __nv_atomic_store_n(T* p, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __td_needs_integer<T>();
  __td_atomic_store(p, value, order);
}
template <class T>
__TD_FN void __nv_atomic_exchange(T* p, T* value, T* result, int order,
                                  int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *result = __td_atomic_exchange(p, *value);
}
template <class T>
__TD_FN T __nv_atomic_exchange_n(T* p, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __td_needs_integer<T>();
  return __td_atomic_exchange(p, value);
}
template <class T>
__TD_FN bool __nv_atomic_compare_exchange(T* p, T* expected, T* value, bool weak, int success,
                                          int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __td_atomic_compare_exchange(p, expected, *value);
}
template <class T>
__TD_FN bool __nv_atomic_compare_exchange_n(T* p, T* expected, T value, bool weak, int success,
                                            int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __td_needs_integer<T>();
  return __td_atomic_compare_exchange(p, expected, value);
}
#define TD_NV_FETCH(name)                                                                          \
  template <class T>                                                                               \
  __TD_FN T __nv_atomic_fetch_##name(T* p, T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
    TD_NV_CHECK                                                                                    \
    return __td_atomic_fetch_##name(p, v);                                                         \
  }                                                                                                \
  template <class T>                                                                               \
  __TD_FN void __nv_atomic_##name(T* p, T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {    \
    TD_NV_CHECK                                                                                    \
    __td_atomic_fetch_##name(p, v);                                                                \
  }
#define TD_NV_CHECK
TD_NV_FETCH(add)
TD_NV_FETCH(sub)
#undef TD_NV_CHECK
#define TD_NV_CHECK __td_needs_integer<T>();
TD_NV_FETCH(and)
TD_NV_FETCH(or)
TD_NV_FETCH(xor)
TD_NV_FETCH(min)
TD_NV_FETCH(max)
#undef TD_NV_CHECK
#undef TD_NV_FETCH
__TD_FN void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED) __nvvm_membar_gl();
}
