// Element types of arrays on the device, casts between them, and aligned groups of elements.
//
// Written for NVRTC and for Treadle's Clang front end alike (__TREADLE__): plain CUDA C++17 without
// includes. The printer defines TD_HALF and TD_COMPLEX when a kernel uses those types, so that
// other kernels do not pay for parsing them.

#define TD_FN static __device__ __forceinline__

template <class A, class B>
struct td_same {
  enum { value = 0 };
};
template <class A>
struct td_same<A, A> {
  enum { value = 1 };
};

template <class T>
struct td_traits {
  enum { integer = 0, is_signed = 0, floating = 0, half = 0, complex = 0, bits = 0 };
};
#define TD_TRAITS(T, i, s, f, b)                                                        \
  template <>                                                                           \
  struct td_traits<T> {                                                                 \
    enum { integer = i, is_signed = s, floating = f, half = 0, complex = 0, bits = b }; \
  };
TD_TRAITS(bool, 0, 0, 0, 1)
TD_TRAITS(signed char, 1, 1, 0, 8)
TD_TRAITS(short, 1, 1, 0, 16)
TD_TRAITS(int, 1, 1, 0, 32)
TD_TRAITS(long long, 1, 1, 0, 64)
TD_TRAITS(unsigned char, 1, 0, 0, 8)
TD_TRAITS(unsigned short, 1, 0, 0, 16)
TD_TRAITS(unsigned int, 1, 0, 0, 32)
TD_TRAITS(unsigned long long, 1, 0, 0, 64)
TD_TRAITS(float, 0, 1, 1, 32)
TD_TRAITS(double, 0, 1, 1, 64)
#undef TD_TRAITS

// ---- float16 and bfloat16: storage is 16 bits; arithmetic is done in float and rounded once ----
#ifdef TD_HALF
#ifdef __TREADLE__
TD_FN float td_half_to_float(unsigned short bits) {
  return (float)__builtin_bit_cast(_Float16, bits);
}
TD_FN unsigned short td_float_to_half(float x) {
  return __builtin_bit_cast(unsigned short, (_Float16)x);
}
#else
TD_FN float td_half_to_float(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
TD_FN unsigned short td_float_to_half(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif

// A double goes to float16 through a float that is rounded to odd, which makes the second rounding
// the only one.
TD_FN float td_round_to_odd(double x) {
  float f = (float)x;
  double back = (double)f;
  if (back == x || x != x) return f;
  unsigned bits = __float_as_uint(f);
  if (bits & 1u) return f;
  bool away = (back < 0 ? -back : back) > (x < 0 ? -x : x);
  return __uint_as_float(away ? bits - 1u : bits + 1u);
}

// bfloat16 is the upper half of a float; NaN keeps its sign.
TD_FN float td_bfloat_to_float(unsigned short bits) {
  return __uint_as_float((unsigned)bits << 16);
}
TD_FN unsigned short td_float_to_bfloat(float x) {
  const unsigned bits = __float_as_uint(x);
#if defined(__TREADLE__) || __CUDA_ARCH__ < 800
  const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
#else
  unsigned short rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(x));
#endif
  return (unsigned short)(x == x ? rounded : (bits >> 16 & 0x8000u) | 0x7fc0u);
}

template <class T>
TD_FN T td_from_bits(unsigned short bits) {
  T value;
  value.bits = bits;
  return value;
}
#define TD_HALF_TYPE(T, to_float, from_float, infinity_, nan_)                           \
  struct T {                                                                             \
    enum { infinity = infinity_, nan = nan_ };                                           \
    unsigned short bits;                                                                 \
    T() = default;                                                                       \
    __device__ __forceinline__ T(float x) : bits(from_float(x)) {}                       \
    __device__ __forceinline__ operator float() const { return to_float(bits); }         \
  };                                                                                     \
  template <>                                                                            \
  struct td_traits<T> {                                                                  \
    enum { integer = 0, is_signed = 1, floating = 1, half = 1, complex = 0, bits = 16 }; \
  };                                                                                     \
  TD_FN T operator+(T a, T b) { return T((float)a + (float)b); }                         \
  TD_FN T operator-(T a, T b) { return T((float)a - (float)b); }                         \
  TD_FN T operator*(T a, T b) { return T((float)a * (float)b); }                         \
  TD_FN T operator/(T a, T b) { return T((float)a / (float)b); }                         \
  TD_FN T T##_bits(unsigned short bits) { return td_from_bits<T>(bits); }
TD_HALF_TYPE(td_half, td_half_to_float, td_float_to_half, 0x7c00, 0x7e00)
TD_HALF_TYPE(td_bfloat, td_bfloat_to_float, td_float_to_bfloat, 0x7f80, 0x7fc0)
#undef TD_HALF_TYPE
#endif

// ---- complex ----
#ifdef TD_COMPLEX
template <class T>
struct alignas(2 * sizeof(T)) td_complex {
  T re, im;
  td_complex() = default;
  __device__ __forceinline__ td_complex(T r, T i = T(0)) : re(r), im(i) {}
};
template <class T>
struct td_traits<td_complex<T>> {
  enum { integer = 0, is_signed = 1, floating = 0, half = 0, complex = 1, bits = 16 * sizeof(T) };
};
template <class T>
TD_FN td_complex<T> operator+(td_complex<T> a, td_complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
TD_FN td_complex<T> operator-(td_complex<T> a, td_complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
TD_FN td_complex<T> operator*(td_complex<T> a, td_complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// Smith's method, as NumPy: no overflow where the quotient is representable.
template <class T>
TD_FN td_complex<T> operator/(td_complex<T> a, td_complex<T> b) {
  T br = b.re < 0 ? -b.re : b.re, bi = b.im < 0 ? -b.im : b.im;
  if (br >= bi) {
    if (br == 0 && bi == 0) return {a.re / br, a.im / br};
    T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
#endif

// ---- casts: NumPy's where NumPy's are defined; float to integer truncates, and what does not fit
// saturates at 32 or 64 bits before it is cut to a narrower type; NaN becomes 0 ----
template <class To, class From>
TD_FN To td_float_to_integer(From x) {
  if (!(x == x)) return To(0);
  if constexpr (td_same<To, unsigned long long>::value) {
    if (x < From(0))
      return (To)(x <= From(-9223372036854775808.0) ? (-9223372036854775807ll - 1) : (long long)x);
    return x >= From(18446744073709551616.0) ? ~0ull : (unsigned long long)x;
  } else if constexpr (td_same<To, unsigned>::value || td_same<To, long long>::value) {
    if (x >= From(9223372036854775808.0)) return (To)9223372036854775807ll;
    if (x <= From(-9223372036854775808.0)) return (To)(-9223372036854775807ll - 1);
    return (To)(long long)x;
  } else {
    if (x >= From(2147483648.0)) return (To)2147483647;
    if (x <= From(-2147483648.0)) return (To)(-2147483647 - 1);
    return (To)(int)x;
  }
}

template <class To, class From>
TD_FN To td_cast(From x) {
  typedef td_traits<From> from;
  typedef td_traits<To> to;
  if constexpr (td_same<To, From>::value) {
    return x;
  }
#ifdef TD_COMPLEX
  else if constexpr (from::complex) {
    if constexpr (to::complex) {
      typedef decltype(To().re) Part;
      return To((Part)x.re, (Part)x.im);
    } else if constexpr (td_same<To, bool>::value) {
      return x.re != 0 || x.im != 0;
    } else {
      return td_cast<To>(x.re);
    }
  } else if constexpr (to::complex) {
    return To(td_cast<decltype(To().re)>(x));
  }
#endif
#ifdef TD_HALF
  else if constexpr (from::half) {
    return td_cast<To>((float)x);
  } else if constexpr (to::half) {
    // bfloat16 rounds twice, as ml_dtypes does: to float, then to bfloat16.
    if constexpr (td_same<To, td_bfloat>::value)
      return To((float)x);
    else if constexpr (td_same<From, double>::value)
      return To(td_round_to_odd(x));
    else if constexpr (from::integer && from::bits == 64)
      return To(td_round_to_odd((double)x));
    else if constexpr (from::integer && from::bits == 32)
      return To(td_round_to_odd((double)x));
    else
      return To((float)x);
  }
#endif
  else if constexpr (td_same<To, bool>::value) {
    return x != From(0);
  } else if constexpr (from::floating && to::integer) {
    return td_float_to_integer<To>(x);
  } else {
    return (To)x;
  }
}

// ---- groups of V elements moved with one access. On the software device a lane moves one element,
// since there the lanes of a warp already form a vector ----
#ifdef __TREADLE__
#define TD_WIDTH(V) 1
#else
#define TD_WIDTH(V) V
#endif
template <class T, int V>
struct alignas(V * sizeof(T) > 16 ? 16 : V * sizeof(T)) td_vec {
  T at[V];
};
template <int V, class T>
TD_FN td_vec<T, V> td_load(const T* p) {
  return *reinterpret_cast<const td_vec<T, V>*>(p);
}
template <int V, class T>
TD_FN void td_store(T* p, const td_vec<T, V>& v) {
  *reinterpret_cast<td_vec<T, V>*>(p) = v;
}
