// What Python means: the functions that kernels written in Python are printed in terms of.
//
// Integers: + - * wrap; // and % round towards minus infinity and take the divisor's sign; x // 0
// and x % 0 are 0. Floats: x / 0 is an infinity or NaN, as IEEE says. Comparisons of signed with
// unsigned integers compare the values. min and max of floats give the operand that is not NaN.
// Indices may be negative once.
namespace tdpy {

#define TDPY __device__ __forceinline__

typedef long long i64;
typedef unsigned long long u64;

struct none {};

template <class A, class B>
struct is_same {
  static constexpr bool value = false;
};
template <class A>
struct is_same<A, A> {
  static constexpr bool value = true;
};
template <class T>
struct is_float {
  static constexpr bool value = is_same<T, float>::value || is_same<T, double>::value;
};
template <bool yes, class A, class B>
struct choose {
  typedef A type;
};
template <class A, class B>
struct choose<false, A, B> {
  typedef B type;
};
template <class T>
struct unsigned_of {
  typedef typename choose<sizeof(T) == 8, u64, unsigned>::type type;
};

// ---- integers ----
template <class T>
TDPY T add(T a, T b) {
  typedef typename unsigned_of<T>::type U;
  return (T)((U)a + (U)b);
}
template <class T>
TDPY T sub(T a, T b) {
  typedef typename unsigned_of<T>::type U;
  return (T)((U)a - (U)b);
}
template <class T>
TDPY T mul(T a, T b) {
  typedef typename unsigned_of<T>::type U;
  return (T)((U)a * (U)b);
}
template <class T>
TDPY T neg(T a) {
  return sub((T)0, a);
}
TDPY i64 floordiv(i64 a, i64 b) {
  if (b == 0) return 0;
  if (b == -1) return neg(a);
  i64 q = a / b;
  return q - (q * b != a && (a < 0) != (b < 0));
}
TDPY u64 floordiv(u64 a, u64 b) { return b ? a / b : 0; }
TDPY i64 mod(i64 a, i64 b) {
  if (b == 0 || b == -1) return 0;
  i64 r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
TDPY u64 mod(u64 a, u64 b) { return b ? a % b : 0; }
// Both known not to be negative, the divisor known to be positive.
TDPY i64 floordiv_plain(i64 a, i64 b) { return (i64)((u64)a / (u64)b); }
TDPY i64 mod_plain(i64 a, i64 b) { return (i64)((u64)a % (u64)b); }
template <class T>
TDPY T shl(T a, i64 b) {
  return (u64)b < 64 ? (T)((u64)a << b) : (T)0;
}
TDPY i64 shr(i64 a, i64 b) { return a >> ((u64)b < 64 ? b : 63); }
TDPY u64 shr(u64 a, i64 b) { return (u64)b < 64 ? a >> b : 0; }
template <class T>
TDPY T ipow(T base, i64 exponent) {
  if (exponent < 0) return base == 1 ? (T)1 : base == (T)-1 ? (exponent & 1 ? base : (T)1) : (T)0;
  T result = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result = mul(result, base);
    base = mul(base, base);
  }
  return result;
}
TDPY i64 gcd(i64 a, i64 b) {
  u64 x = a < 0 ? (u64)0 - (u64)a : (u64)a, y = b < 0 ? (u64)0 - (u64)b : (u64)b;
  while (y) {
    const u64 rest = x % y;
    x = y;
    y = rest;
  }
  return (i64)x;
}
TDPY i64 lcm(i64 a, i64 b) {
  if (a == 0 || b == 0) return 0;
  const i64 product = mul(a / gcd(a, b), b);
  return product < 0 ? neg(product) : product;
}
TDPY bool less(i64 a, u64 b) { return a < 0 || (u64)a < b; }
TDPY bool less(u64 a, i64 b) { return b >= 0 && a < (u64)b; }
TDPY bool same(i64 a, u64 b) { return a >= 0 && (u64)a == b; }
TDPY bool same(u64 a, i64 b) { return same(b, a); }

// ---- floats ----
TDPY bool finite(float x) { return x - x == 0; }
TDPY bool finite(double x) { return x - x == 0; }
TDPY bool infinite(float x) { return x == x && !finite(x); }
TDPY bool infinite(double x) { return x == x && !finite(x); }
// From the exact remainder: the quotient's own rounding may pass a whole number, as in 1.0 // 0.1.
TDPY float floordiv(float a, float b) {
  if (b == 0) return a / b;
  const float r = ::fmodf(a, b);
  float q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return ::copysignf(0.0f, a / b);
  const float whole = ::floorf(q);
  return q - whole > 0.5f ? whole + 1 : whole;
}
TDPY double floordiv(double a, double b) {
  if (b == 0) return a / b;
  const double r = ::fmod(a, b);
  double q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return ::copysign(0.0, a / b);
  const double whole = ::floor(q);
  return q - whole > 0.5 ? whole + 1 : whole;
}
TDPY float mod(float a, float b) {
  float r = ::fmodf(a, b);
  return r == 0 ? ::copysignf(0.0f, b) : (r < 0) != (b < 0) ? r + b : r;
}
TDPY double mod(double a, double b) {
  double r = ::fmod(a, b);
  return r == 0 ? ::copysign(0.0, b) : (r < 0) != (b < 0) ? r + b : r;
}
template <class T>
TDPY T powi(T base, i64 exponent) {
  u64 n = exponent < 0 ? (u64)0 - (u64)exponent : (u64)exponent;
  T result = 1;
  for (; n; n >>= 1) {
    if (n & 1) result = result * base;
    base = base * base;
  }
  return exponent < 0 ? (T)1 / result : result;
}
// round(x, digits)
template <class T>
TDPY T round_to(T x, i64 digits) {
  if (!(x - x == 0)) return x;
  double first = 1, second = 1, y;
  if (digits >= 0) {
    first = powi(10.0, digits > 22 ? digits - 22 : digits);
    second = digits > 22 ? 1e22 : 1.0;
    y = (double)x * first * second;
    if (!(y - y == 0)) return x;
  } else {
    first = powi(10.0, -digits);
    y = (double)x / first;
  }
  double z = ::rint(y);
  return (T)(digits >= 0 ? z / second / first : z * first);
}

// ---- float16: computed in float, rounded once ----
struct half {
  unsigned short bits;
  half() = default;
  template <class T>
  TDPY explicit half(T x) : bits(from((float)x)) {}
  TDPY explicit half(double x) : bits(from(odd(x))) {}
  TDPY static half of_bits(unsigned short bits) {
    half h;
    h.bits = bits;
    return h;
  }
  TDPY operator float() const { return to(bits); }

  // A double as a float whose last bit tells that something was cut off.
  TDPY static float odd(double x) {
    float f = (float)x;
    if ((double)f == x || !(f - f == 0)) return f;
    unsigned u = __float_as_uint(f);
    if ((x < 0 ? -x : x) < (double)(f < 0 ? -f : f)) --u;
    return __uint_as_float(u | 1u);
  }
  // One instruction each; CUDA's NaN has no payload.
  TDPY static unsigned short from(float x) {
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
  }
  TDPY static float to(unsigned short bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};

// a * b + c, rounded once: the product is exact in double, and a sum that is not gets an odd last
// bit, so that the second rounding sees on which side of the middle it lies.
TDPY half half_fma(half a, half b, half c) {
  const double p = (double)(float)a * (double)(float)b, s = p + (double)(float)c;
  const double q = s - p, lost = (p - (s - q)) + ((double)(float)c - q);
  if (!(s - s == 0)) return half(s);
  i64 bits = __double_as_longlong(s);
  if (lost != 0 && !(bits & 1)) bits += (lost > 0) == (s > 0) ? 1 : -1;
  return half(__longlong_as_double(bits));
}

// The next of its type (half, bfloat16) towards y.
template <class H>
TDPY H half_nextafter(H x, H y) {
  const float a = x, b = y;
  if (a != a) return x;
  if (b != b || a == b) return y;
  if (a == 0) return H::of_bits((unsigned short)(b < 0 ? 0x8001 : 1));
  return H::of_bits((unsigned short)(x.bits + ((a < b) == (a > 0) ? 1 : -1)));
}

// ---- conversion: numbers as C++ converts them; a number is false when it is zero ----
template <class T, class S>
struct converter {
  static TDPY T of(const S& x) { return (T)x; }
};
template <class S>
struct converter<bool, S> {
  static TDPY bool of(const S& x) { return x != (S)0; }
};
template <>
struct converter<bool, half> {
  static TDPY bool of(const half& x) { return (float)x != 0; }
};
template <class T>
struct converter<T, half> {
  static TDPY T of(const half& x) { return (T)(float)x; }
};
template <>
struct converter<half, half> {
  static TDPY half of(const half& x) { return x; }
};
template <class S>
struct converter<half, S> {
  static TDPY half of(const S& x) { return half(x); }
};
template <>
struct converter<half, bool> {
  static TDPY half of(const bool& x) { return half(x ? 1.0f : 0.0f); }
};
// One instruction each.
template <>
struct converter<double, half> {
  static TDPY double of(const half& x) {
    double d;
    asm("cvt.f64.f16 %0, %1;" : "=d"(d) : "h"(x.bits));
    return d;
  }
};
#define TDPY_HALF_OF(T, type, letter, Word)                           \
  template <>                                                         \
  struct converter<half, T> {                                         \
    static TDPY half of(const T& x) {                                 \
      unsigned short h;                                               \
      asm("cvt.rn.f16." type " %0, %1;" : "=h"(h) : letter((Word)x)); \
      return half::of_bits(h);                                        \
    }                                                                 \
  };
TDPY_HALF_OF(signed char, "s8", "h", short)
TDPY_HALF_OF(unsigned char, "u8", "h", unsigned short)
TDPY_HALF_OF(short, "s16", "h", short)
TDPY_HALF_OF(unsigned short, "u16", "h", unsigned short)
TDPY_HALF_OF(int, "s32", "r", int)
TDPY_HALF_OF(unsigned, "u32", "r", unsigned)
TDPY_HALF_OF(i64, "s64", "l", i64)
TDPY_HALF_OF(u64, "u64", "l", u64)
#undef TDPY_HALF_OF
template <class T, class S>
TDPY T to(const S& x) {
  return converter<T, S>::of(x);
}

// ---- loads and stores of global memory with a cache hint: the bits of any number ----
template <int bytes>
struct bits_of;
#define TDPY_LOAD(hint, size, letter)                      \
  template <class T>                                       \
  static TDPY void ld##hint(T& x, const T* p) {            \
    holder<T> h;                                           \
    asm volatile("ld.global." #hint ".b" size " %0, [%1];" \
                 : "=" letter(h.word)                      \
                 : "l"(p)                                  \
                 : "memory");                              \
    x = h.x;                                               \
  }
#define TDPY_STORE(hint, size, letter)                                                             \
  template <class T>                                                                               \
  static TDPY void st##hint(T* p, const T& x) {                                                    \
    holder<T> h;                                                                                   \
    h.word = 0;                                                                                    \
    h.x = x;                                                                                       \
    asm volatile("st.global." #hint ".b" size " [%0], %1;" : : "l"(p), letter(h.word) : "memory"); \
  }
#define TDPY_BITS(bytes, Word, size, letter) \
  template <>                                \
  struct bits_of<bytes> {                    \
    template <class T>                       \
    union holder {                           \
      Word word;                             \
      T x;                                   \
    };                                       \
    TDPY_LOAD(ca, size, letter)              \
    TDPY_LOAD(cg, size, letter)              \
    TDPY_LOAD(cs, size, letter)              \
    TDPY_LOAD(lu, size, letter)              \
    TDPY_LOAD(cv, size, letter)              \
    TDPY_STORE(wb, size, letter)             \
    TDPY_STORE(cg, size, letter)             \
    TDPY_STORE(cs, size, letter)             \
    TDPY_STORE(wt, size, letter)             \
  };
TDPY_BITS(1, unsigned short, "8", "h")
TDPY_BITS(2, unsigned short, "16", "h")
TDPY_BITS(4, unsigned, "32", "r")
TDPY_BITS(8, u64, "64", "l")
#undef TDPY_BITS
#undef TDPY_STORE
#undef TDPY_LOAD

// ---- complex ----
template <class T>
struct alignas(2 * sizeof(T)) complex {
  T re, im;
  complex() = default;
  TDPY complex(T re, T im = 0) : re(re), im(im) {}
  template <class S>
  TDPY explicit complex(const complex<S>& z) : re((T)z.re), im((T)z.im) {}
};
template <class T, class S>
struct converter<complex<T>, S> {
  static TDPY complex<T> of(const S& x) { return complex<T>(to<T>(x)); }
};
template <class T, class S>
struct converter<complex<T>, complex<S>> {
  static TDPY complex<T> of(const complex<S>& z) { return complex<T>((T)z.re, (T)z.im); }
};
template <class T>
struct converter<complex<T>, half> {
  static TDPY complex<T> of(const half& x) { return complex<T>((T)(float)x); }
};
template <class S>
struct converter<bool, complex<S>> {
  static TDPY bool of(const complex<S>& z) { return z.re != 0 || z.im != 0; }
};
template <class T>
TDPY complex<T> operator+(complex<T> a, complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
TDPY complex<T> operator-(complex<T> a, complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
TDPY complex<T> operator*(complex<T> a, complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
TDPY complex<T> operator/(complex<T> a, complex<T> b) {
  // Smith's algorithm, as CPython has it.
  T re = b.re < 0 ? -b.re : b.re, im = b.im < 0 ? -b.im : b.im;
  if (re >= im) {
    T ratio = b.im / b.re, denominator = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / denominator, (a.im - a.re * ratio) / denominator};
  }
  T ratio = b.re / b.im, denominator = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / denominator, (a.im * ratio - a.re) / denominator};
}
template <class T>
TDPY complex<T> operator-(complex<T> a) {
  return {-a.re, -a.im};
}
template <class T>
TDPY bool operator==(complex<T> a, complex<T> b) {
  return a.re == b.re && a.im == b.im;
}
template <class T>
TDPY bool operator!=(complex<T> a, complex<T> b) {
  return !(a == b);
}

// ---- CUDA's vector types ----
template <class T, int N>
struct vec;
template <class T>
struct vec<T, 1> {
  T x;
};
template <class T>
struct vec<T, 2> {
  T x, y;
};
template <class T>
struct vec<T, 3> {
  T x, y, z;
};
template <class T>
struct vec<T, 4> {
  T x, y, z, w;
};

struct grid_group {};

// ---- tuples ----
template <class... Ts>
struct tuple {};
template <class T, class... Ts>
struct tuple<T, Ts...> {
  T head;
  tuple<Ts...> tail;
  tuple() = default;
  TDPY tuple(const T& head, const Ts&... rest) : head(head), tail(rest...) {}
};
template <int I, class T, class... Ts>
TDPY const auto& get(const tuple<T, Ts...>& t) {
  if constexpr (I == 0)
    return t.head;
  else
    return get<I - 1>(t.tail);
}
// A tuple of one type, which may be indexed at run time.
template <class T, int N>
struct row {
  T items[N];
};
template <int I, class T, int N>
TDPY const T& get(const row<T, N>& t) {
  return t.items[I];
}
template <class T, int N>
TDPY const T& item(const row<T, N>& t, i64 i) {
  return t.items[i < 0 ? i + N : i];
}

// ---- arrays ----
template <class T>
struct bytes_of {
  typedef char type;
};
template <class T>
struct bytes_of<const T> {
  typedef const char type;
};

TDPY i64 wrap(i64 i, i64 n) { return i < 0 ? i + n : i; }

template <class T, int N, char L>
struct array {
  static constexpr int axes = N > 0 ? N : 1;
  T* data;
  i64 shape[axes], strides[axes];

  TDPY T& at() const { return *data; }
  template <class... I>
  TDPY T& at(i64 first, I... rest) const {
    const i64 index[] = {first, (i64)rest...};
    if constexpr (L == 'C') {
      i64 offset = first;
#pragma unroll
      for (int k = 1; k < N; ++k) offset = offset * shape[k] + index[k];
      return data[offset];
    } else if constexpr (L == 'F') {
      i64 offset = index[N - 1];
#pragma unroll
      for (int k = N - 2; k >= 0; --k) offset = offset * shape[k] + index[k];
      return data[offset];
    } else {
      i64 offset = 0;
#pragma unroll
      for (int k = 0; k < N; ++k) offset += index[k] * strides[k];
      return *(T*)((typename bytes_of<T>::type*)data + offset);
    }
  }
  TDPY i64 size() const {
    i64 count = 1;
#pragma unroll
    for (int k = 0; k < N; ++k) count *= shape[k];
    return count;
  }
  // The element with index i in C order.
  TDPY T& flat(i64 i) const {
    if constexpr (L == 'C') return data[i];
    i64 offset = 0;
#pragma unroll
    for (int k = N - 1; k > 0; --k) {
      offset += i % shape[k] * strides[k];
      i /= shape[k];
    }
    return *(T*)((typename bytes_of<T>::type*)data + offset + i * strides[0]);
  }
  template <class T2, char L2>
  TDPY operator array<T2, N, L2>() const {
    array<T2, N, L2> other;
    other.data = data;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      other.shape[k] = shape[k];
      other.strides[k] = strides[k];
    }
    return other;
  }
};

// C-contiguous array over memory of a known shape.
template <class T, class... I>
TDPY array<T, (int)sizeof...(I), 'C'> over(T* data, I... shape) {
  array<T, (int)sizeof...(I), 'C'> result;
  const i64 lengths[] = {(i64)shape..., 1};  // not empty without axes
  i64 stride = sizeof(T);
  result.data = data;
#pragma unroll
  for (int k = (int)sizeof...(I) - 1; k >= 0; --k) {
    result.shape[k] = lengths[k];
    result.strides[k] = stride;
    stride *= lengths[k];
  }
  return result;
}

// A slice of an axis of n elements, by Python's rules.
struct span {
  i64 start, count, step;
};
TDPY span slice(i64 n, bool has_start, i64 start, bool has_stop, i64 stop, i64 step) {
  if (step == 0) step = 1;
  const i64 low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
  if (!has_start)
    start = step < 0 ? high : low;
  else if (start < 0)
    start = start + n < low ? low : start + n;
  else if (start > high)
    start = high;
  if (!has_stop)
    stop = step < 0 ? low : high;
  else if (stop < 0)
    stop = stop + n < low ? low : stop + n;
  else if (stop > high)
    stop = high;
  const i64 count = step < 0 ? (start - stop - step - 1) / -step : (stop - start + step - 1) / step;
  return {start, count < 0 ? 0 : count, step};
}

// ---- records: bytes that a structured array, or a kernel's argument, holds ----
template <int size>
struct record {
  char* data;
};
template <int size>
struct record_bytes {
  char bytes[size];
};
template <class T>
TDPY T field(const char* at) {
  if ((u64)at % alignof(T) == 0) return *(const T*)at;
  T value;
  for (int i = 0; i < (int)sizeof(T); ++i) ((char*)&value)[i] = at[i];
  return value;
}
template <class T>
TDPY void set_field(char* at, T value) {
  if ((u64)at % alignof(T) == 0) {
    *(T*)at = value;
    return;
  }
  for (int i = 0; i < (int)sizeof(T); ++i) at[i] = ((const char*)&value)[i];
}
// An element that may stand at any address.
template <class T>
struct loose {
  char bytes[sizeof(T)];
  TDPY T value() const { return field<T>(bytes); }
  TDPY operator T() const { return value(); }
  TDPY void operator=(const T& value) { set_field<T>(bytes, value); }
};
template <int size>
TDPY void copy_bytes(char* to, const char* from) {
  for (int i = 0; i < size; ++i) to[i] = from[i];
}

// ---- characters: elements of the dtypes S and U; trailing zeros do not count ----
template <class U, int N>
struct chars {
  U c[N];
  static constexpr int count = N;
};
template <class U, int N, class V, int M>
TDPY int order(const chars<U, N>& a, const chars<V, M>& b) {
  for (int i = 0; i < (N > M ? N : M); ++i) {
    const unsigned x = i < N ? a.c[i] : 0, y = i < M ? b.c[i] : 0;
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}
template <class T, class U, int N>
TDPY T resized(const chars<U, N>& a) {
  T result;
  for (int i = 0; i < T::count; ++i) {
    U x = 0;
    if (i < N) x = a.c[i];
    result.c[i] = x;
  }
  return result;
}
template <class U, int N>
TDPY i64 length(const chars<U, N>& a) {
  int n = N;
  while (n > 0 && a.c[n - 1] == 0) --n;
  return n;
}

// ---- dates and their differences: NaT is the smallest integer ----
TDPY i64 not_a_time() { return (i64)((u64)1 << 63); }
TDPY bool known(i64 a, i64 b) { return a != not_a_time() && b != not_a_time(); }
TDPY i64 time_add(i64 a, i64 b) { return known(a, b) ? add(a, b) : not_a_time(); }
TDPY i64 time_sub(i64 a, i64 b) { return known(a, b) ? sub(a, b) : not_a_time(); }
TDPY i64 time_scale(i64 a, i64 factor) { return a == not_a_time() ? a : mul(a, factor); }
TDPY i64 time_of(double x) { return x - x == 0 ? (i64)x : not_a_time(); }
TDPY i64 time_scale(i64 a, double factor) {
  return a == not_a_time() ? a : time_of((double)a * factor);
}
TDPY i64 time_divide(i64 a, i64 b) { return b != 0 && a != not_a_time() ? a / b : not_a_time(); }
TDPY i64 time_divide(i64 a, double b) { return a == not_a_time() ? a : time_of((double)a / b); }
TDPY i64 time_floor(i64 a, i64 b) {
  return b != 0 && a != not_a_time() ? floordiv(a, b) : not_a_time();
}
TDPY i64 time_floor(i64 a, double b) { return time_divide(a, b); }
TDPY double time_ratio(i64 a, i64 b) {
  return known(a, b) ? (double)a / (double)b : __longlong_as_double(0x7ff8000000000000ll);
}
TDPY i64 time_floor_ratio(i64 a, i64 b) { return known(a, b) ? floordiv(a, b) : 0; }
TDPY i64 time_mod(i64 a, i64 b) { return known(a, b) && b != 0 ? mod(a, b) : not_a_time(); }

// ---- the warp ----
TDPY int laneid() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return (int)lane;
}
TDPY unsigned lanemask_lt() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}

// ---- atomic operations: the old value is the result ----
template <class T>
struct word_of {
  typedef typename choose<sizeof(T) == 8, u64, unsigned>::type type;
};
template <class T>
TDPY T from_word(typename word_of<T>::type w) {
  T x;
  memcpy(&x, &w, sizeof x);
  return x;
}
template <class T>
TDPY typename word_of<T>::type to_word(T x) {
  typename word_of<T>::type w;
  memcpy(&w, &x, sizeof w);
  return w;
}
// old -> update(old), until no other thread comes between.
template <class T, class F>
TDPY T atomic_update(T* at, F update) {
  typedef typename word_of<T>::type W;
  W seen = *(volatile W*)at;
  for (;;) {
    const W next = to_word(update(from_word<T>(seen)));
    if (next == seen) return from_word<T>(seen);
    const W found = atomicCAS((W*)at, seen, next);
    if (found == seen) return from_word<T>(seen);
    seen = found;
  }
}
TDPY int atomic_add(int* at, int x) { return atomicAdd(at, x); }
TDPY unsigned atomic_add(unsigned* at, unsigned x) { return atomicAdd(at, x); }
TDPY u64 atomic_add(u64* at, u64 x) { return atomicAdd(at, x); }
TDPY i64 atomic_add(i64* at, i64 x) { return (i64)atomicAdd((u64*)at, (u64)x); }
TDPY float atomic_add(float* at, float x) { return atomicAdd(at, x); }
TDPY double atomic_add(double* at, double x) { return atomicAdd(at, x); }
template <class T>
TDPY T atomic_sub(T* at, T x) {
  return atomic_add(at, (T)(T{} - x));
}
template <class T>
TDPY T atomic_max(T* at, T x) {
  if constexpr (!is_float<T>::value)
    return atomicMax(at, x);
  else if (x != x)
    return *(volatile T*)at;
  else
    return atomic_update(at, [x](T old) { return old < x ? x : old; });
}
template <class T>
TDPY T atomic_min(T* at, T x) {
  if constexpr (!is_float<T>::value)
    return atomicMin(at, x);
  else if (x != x)
    return *(volatile T*)at;
  else
    return atomic_update(at, [x](T old) { return old > x ? x : old; });
}
// The number wins over NaN.
template <class T>
TDPY T atomic_nanmax(T* at, T x) {
  if constexpr (!is_float<T>::value)
    return atomicMax(at, x);
  else if (x != x)
    return *(volatile T*)at;
  else
    return atomic_update(at, [x](T old) { return old >= x ? old : x; });
}
template <class T>
TDPY T atomic_nanmin(T* at, T x) {
  if constexpr (!is_float<T>::value)
    return atomicMin(at, x);
  else if (x != x)
    return *(volatile T*)at;
  else
    return atomic_update(at, [x](T old) { return old <= x ? old : x; });
}
template <class T>
TDPY T atomic_and(T* at, T x) {
  typedef typename word_of<T>::type W;
  return (T)atomicAnd((W*)at, (W)x);
}
template <class T>
TDPY T atomic_or(T* at, T x) {
  typedef typename word_of<T>::type W;
  return (T)atomicOr((W*)at, (W)x);
}
template <class T>
TDPY T atomic_xor(T* at, T x) {
  typedef typename word_of<T>::type W;
  return (T)atomicXor((W*)at, (W)x);
}
template <class T>
TDPY T atomic_exch(T* at, T x) {
  typedef typename word_of<T>::type W;
  return from_word<T>(atomicExch((W*)at, to_word(x)));
}
template <class T>
TDPY T atomic_cas(T* at, T old, T x) {
  typedef typename word_of<T>::type W;
  return (T)atomicCAS((W*)at, (W)old, (W)x);
}
TDPY unsigned atomic_inc(unsigned* at, unsigned x) { return atomicInc(at, x); }
TDPY unsigned atomic_dec(unsigned* at, unsigned x) { return atomicDec(at, x); }
TDPY u64 atomic_inc(u64* at, u64 x) {
  return atomic_update(at, [x](u64 old) { return old >= x ? (u64)0 : old + 1; });
}
TDPY u64 atomic_dec(u64* at, u64 x) {
  return atomic_update(at, [x](u64 old) { return old == 0 || old > x ? x : old - 1; });
}

TDPY i64 least(i64 a, i64 b) { return a < b ? a : b; }
// Items of range(start, stop, step).
TDPY i64 steps(i64 start, i64 stop, i64 step) {
  if (step > 0) return start < stop ? (stop - start + step - 1) / step : 0;
  return step < 0 && start > stop ? (start - stop - step - 1) / -step : 0;
}
// The element of `source` that broadcasts to element k of `target`, in C order.
template <class T, int N, char L, class T2, int N2, char L2>
TDPY T spread(const array<T, N, L>& source, const array<T2, N2, L2>& target, i64 k) {
  i64 offset = 0;
#pragma unroll
  for (int axis = N2 - 1; axis >= 0; --axis) {
    const i64 index = k % target.shape[axis];
    k /= target.shape[axis];
    const int own = axis - (N2 - N);
    if (own >= 0 && source.shape[own] != 1) offset += index * source.strides[own];
  }
  return *(T*)((typename bytes_of<T>::type*)source.data + offset);
}

}  // namespace tdpy
