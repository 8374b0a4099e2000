// bfloat16 for kernels written in Python: the upper half of a float. Arithmetic is done in float
// and rounded once; a double and a 64-bit integer are rounded once as well, by way of a float whose
// last bit tells that something was cut off.
//
// Stands behind python.cuh.
namespace tdpy {

enum class toward { nearest, zero, below, above };

TDPY float odd_float(float x) { return x; }
TDPY float odd_float(double x) { return half::odd(x); }
// Cut off towards zero, with the last bit set where something was lost.
TDPY float odd_float(i64 x) {
  const float f = __ll2float_rz(x);
  return (i64)f == x ? f : __uint_as_float(__float_as_uint(f) | 1u);
}
TDPY float odd_float(u64 x) {
  const float f = __ull2float_rz(x);
  return (u64)f == x ? f : __uint_as_float(__float_as_uint(f) | 1u);
}
template <class T>
TDPY float odd_float(T x) {
  return odd_float((typename choose<(T)-1 < (T)0, i64, u64>::type) x);
}

struct bfloat16 {
  unsigned short bits;
  bfloat16() = default;
  template <class T>
  TDPY explicit bfloat16(T x) : bits(from<toward::nearest>(odd_float(x))) {}
  TDPY static bfloat16 of_bits(unsigned short bits) {
    bfloat16 h;
    h.bits = bits;
    return h;
  }
  template <toward side, class T>
  TDPY static bfloat16 rounded(T x) {
    return of_bits(from<side>(odd_float(x)));
  }
  TDPY operator float() const { return __uint_as_float((unsigned)bits << 16); }

  template <toward side>
  TDPY static unsigned short from(float x) {
#if !defined(__TREADLE__) && __CUDA_ARCH__ >= 800
    if (side == toward::nearest) {
      unsigned short h;
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
      return h;
    }
#endif
    const unsigned u = __float_as_uint(x);
    if (x != x) return 0x7fff;
    if (side == toward::nearest) return (unsigned short)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
    const bool outward = (u >> 31) ? side == toward::below : side == toward::above;
    return (unsigned short)((u + (outward ? 0xffffu : 0u)) >> 16);
  }
};

// a * b + c, rounded once, as half_fma.
TDPY bfloat16 bfloat16_fma(bfloat16 a, bfloat16 b, bfloat16 c) {
  const double p = (double)(float)a * (double)(float)b, s = p + (double)(float)c;
  const double q = s - p, lost = (p - (s - q)) + ((double)(float)c - q);
  if (!(s - s == 0)) return bfloat16(s);
  i64 bits = __double_as_longlong(s);
  if (lost != 0 && !(bits & 1)) bits += (lost > 0) == (s > 0) ? 1 : -1;
  return bfloat16(__longlong_as_double(bits));
}

// The operand that is not NaN, or with `nan` NaN where one is; -0 is below +0.
template <bool greatest, bool nan>
TDPY bfloat16 bfloat16_extreme(bfloat16 x, bfloat16 y) {
  const float a = x, b = y;
  if (nan && (a != a || b != b)) return bfloat16::of_bits(0x7fff);
  return bfloat16(greatest ? ::fmaxf(a, b) : ::fminf(a, b));
}
TDPY int bfloat16_isinf(bfloat16 x) { return x.bits == 0x7f80 ? 1 : x.bits == 0xff80 ? -1 : 0; }

// An integer as one of fewer bits, the nearest that there is.
template <class T, class S>
TDPY T clip(S x) {
  const S least = (T)-1 < (T)0 ? (S)((S)-1 << (8 * sizeof(T) - 1)) : (S)0;
  const S most = (S)(((u64)1 << (8 * sizeof(T) - ((T)-1 < (T)0 ? 1 : 0))) - 1);
  return (T)(x < least ? least : x > most ? most : x);
}

// ---- conversion ----
template <>
struct converter<bool, bfloat16> {
  static TDPY bool of(const bfloat16& x) { return (float)x != 0; }
};
template <class T>
struct converter<T, bfloat16> {
  static TDPY T of(const bfloat16& x) { return (T)(float)x; }
};
template <>
struct converter<bfloat16, bfloat16> {
  static TDPY bfloat16 of(const bfloat16& x) { return x; }
};
template <class S>
struct converter<bfloat16, S> {
  static TDPY bfloat16 of(const S& x) { return bfloat16(x); }
};
template <>
struct converter<bfloat16, bool> {
  static TDPY bfloat16 of(const bool& x) { return bfloat16(x ? 1.0f : 0.0f); }
};
template <>
struct converter<bfloat16, half> {
  static TDPY bfloat16 of(const half& x) { return bfloat16((float)x); }
};
template <>
struct converter<half, bfloat16> {
  static TDPY half of(const bfloat16& x) { return half((float)x); }
};
template <class T>
struct converter<complex<T>, bfloat16> {
  static TDPY complex<T> of(const bfloat16& x) { return complex<T>((T)(float)x); }
};

}  // namespace tdpy
