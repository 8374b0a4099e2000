// Bodies of the arithmetic, comparison and bit operations of tables/ops.def, with NumPy's
// semantics: integers wrap, division by zero gives 0, floor division rounds down, maximum and
// minimum propagate NaN.

template <class T>
struct td_unsigned {
  typedef T type;
};
template <>
struct td_unsigned<signed char> {
  typedef unsigned type;
};
template <>
struct td_unsigned<short> {
  typedef unsigned type;
};
template <>
struct td_unsigned<int> {
  typedef unsigned type;
};
template <>
struct td_unsigned<long long> {
  typedef unsigned long long type;
};
template <>
struct td_unsigned<unsigned char> {
  typedef unsigned type;
};
template <>
struct td_unsigned<unsigned short> {
  typedef unsigned type;
};

// Signed overflow is undefined in C++ and wraps in NumPy: integers are added as unsigned numbers.
#define TD_WRAPPING(name, op)                  \
  template <class T>                           \
  TD_FN T name(T x, T y) {                     \
    if constexpr (td_traits<T>::integer) {     \
      typedef typename td_unsigned<T>::type U; \
      return (T)((U)x op(U) y);                \
    } else {                                   \
      return T(x op y);                        \
    }                                          \
  }
TD_WRAPPING(td_add, +)
TD_WRAPPING(td_sub, -)
TD_WRAPPING(td_mul, *)
#undef TD_WRAPPING
TD_FN bool td_add(bool x, bool y) { return x || y; }
TD_FN bool td_mul(bool x, bool y) { return x && y; }

template <class T>
TD_FN bool td_truth(T x) {
  return td_cast<bool>(x);
}

template <class T>
TD_FN T td_neg(T x) {
  if constexpr (td_traits<T>::integer) return td_sub(T(0), x);
#ifdef TD_HALF
  else if constexpr (td_traits<T>::half)
    return td_from_bits<T>(x.bits ^ 0x8000u);
#endif
#ifdef TD_COMPLEX
  else if constexpr (td_traits<T>::complex)
    return T(-x.re, -x.im);
#endif
  else
    return -x;
}

template <class T>
TD_FN bool td_isnan(T x) {
  if constexpr (td_traits<T>::integer || td_same<T, bool>::value) return false;
#ifdef TD_COMPLEX
  else if constexpr (td_traits<T>::complex)
    return x.re != x.re || x.im != x.im;
#endif
#ifdef TD_HALF
  else if constexpr (td_traits<T>::half)
    return (x.bits & 0x7fffu) > T::infinity;
#endif
  else
    return x != x;
}
TD_FN bool td_infinite(float x) { return (__float_as_uint(x) & 0x7fffffffu) == 0x7f800000u; }
TD_FN bool td_infinite(double x) {
  return (__double_as_longlong(x) & 0x7fffffffffffffffll) == 0x7ff0000000000000ll;
}
template <class T>
TD_FN bool td_isinf(T x) {
  if constexpr (td_traits<T>::integer || td_same<T, bool>::value) return false;
#ifdef TD_COMPLEX
  else if constexpr (td_traits<T>::complex)
    return td_infinite(x.re) || td_infinite(x.im);
#endif
#ifdef TD_HALF
  else if constexpr (td_traits<T>::half)
    return (x.bits & 0x7fffu) == T::infinity;
#endif
  else
    return td_infinite(x);
}
template <class T>
TD_FN bool td_isfinite(T x) {
  return !td_isnan(x) && !td_isinf(x);
}

template <class T>
TD_FN bool td_signbit(T x) {
  if constexpr (sizeof(T) == 8) return __double_as_longlong(x) < 0;
#ifdef TD_HALF
  else if constexpr (td_traits<T>::half)
    return x.bits >> 15;
#endif
  else
    return __float_as_int(x) < 0;
}

// ---- comparison. Two integers of different signedness compare by value; complex numbers
// lexicographically ----
template <class A, class B>
TD_FN bool td_equal(A x, B y) {
  if constexpr (td_traits<A>::integer && td_traits<B>::integer && !td_same<A, B>::value) {
    bool negative = td_traits<A>::is_signed ? x < A(0) : y < B(0);
    return !negative && (unsigned long long)x == (unsigned long long)y;
  }
#ifdef TD_COMPLEX
  else if constexpr (td_traits<A>::complex)
    return x.re == y.re && x.im == y.im;
#endif
#ifdef TD_HALF
  else if constexpr (td_traits<A>::half)
    return (float)x == (float)y;
#endif
  else
    return x == y;
}
template <class A, class B>
TD_FN bool td_less(A x, B y) {
  if constexpr (td_traits<A>::integer && td_traits<B>::integer && !td_same<A, B>::value) {
    if constexpr (td_traits<A>::is_signed)
      return x < A(0) || (unsigned long long)x < (unsigned long long)y;
    else
      return y >= B(0) && (unsigned long long)x < (unsigned long long)y;
  }
#ifdef TD_COMPLEX
  else if constexpr (td_traits<A>::complex)
    return ((x.re < y.re) & (x.im == x.im) & (y.im == y.im)) | ((x.re == y.re) & (x.im < y.im));
#endif
#ifdef TD_HALF
  else if constexpr (td_traits<A>::half)
    return (float)x < (float)y;
#endif
  else
    return x < y;
}
template <class A, class B>
TD_FN bool td_less_equal(A x, B y) {
#ifdef TD_COMPLEX
  if constexpr (td_traits<A>::complex)
    return ((x.re < y.re) & (x.im == x.im) & (y.im == y.im)) | ((x.re == y.re) & (x.im <= y.im));
  else
#endif
      if constexpr (td_traits<A>::floating)
    return td_less(x, y) || td_equal(x, y);
  else
    return !td_less(y, x);
}

// Both sides are at hand: no branch, and complex numbers part by part.
template <class T>
TD_FN T td_select(bool condition, T x, T y) {
#ifdef TD_COMPLEX
  if constexpr (td_traits<T>::complex)
    return T(condition ? x.re : y.re, condition ? x.im : y.im);
  else
#endif
#ifdef TD_HALF
      if constexpr (td_traits<T>::half)
    return td_from_bits<T>(condition ? x.bits : y.bits);
  else
#endif
    return condition ? x : y;
}

template <class T>
TD_FN T td_maximum(T x, T y) {
  if constexpr (td_traits<T>::floating && !td_traits<T>::half)
    return ((x >= y) | (x != x)) ? x : y;
  else
    return td_select(td_isnan(x) | !(td_less(x, y) | td_isnan(y)), x, y);
}
template <class T>
TD_FN T td_minimum(T x, T y) {
  if constexpr (td_traits<T>::floating && !td_traits<T>::half)
    return ((x <= y) | (x != x)) ? x : y;
  else
    return td_select(td_isnan(x) | !(td_less(y, x) | td_isnan(y)), x, y);
}
template <class T>
TD_FN T td_fmax(T x, T y) {
  return td_select(td_isnan(y) | !(td_less(x, y) | td_isnan(x)), x, y);
}
template <class T>
TD_FN T td_fmin(T x, T y) {
  return td_select(td_isnan(y) | !(td_less(y, x) | td_isnan(x)), x, y);
}

template <class T>
TD_FN T td_sign(T x) {
#ifdef TD_COMPLEX
  if constexpr (td_traits<T>::complex) {
    if (x.re == 0 && x.im == 0) return T(0);
    return td_complex_sign(x);
  } else
#endif
      if constexpr (td_traits<T>::integer)
    return T((x > T(0)) - (x < T(0)));
  else if (td_isnan(x))
    return x;
  else
    return td_less(T(0.0f), x) ? T(1.0f) : td_less(x, T(0.0f)) ? T(-1.0f) : T(0.0f);
}

template <class T>
TD_FN T td_reciprocal(T x) {
  if constexpr (td_traits<T>::integer) {
    if constexpr (td_traits<T>::is_signed)
      return x == T(1) || x == T(-1) ? x : T(0);
    else
      return x == T(1) ? x : T(0);
  } else {
    return T(1.0f) / x;
  }
}

// ---- division of integers: rounds down; x / 0 and x % 0 are 0; the one quotient that overflows
// wraps ----
template <class T>
TD_FN T td_floor_divide(T x, T y) {
  if constexpr (td_traits<T>::integer) {
    if (y == T(0)) return T(0);
    if constexpr (td_traits<T>::is_signed) {
      if (y == T(-1)) return td_neg(x);
      T q = T(x / y);
      return (x % y != 0 && ((x < 0) != (y < 0))) ? T(q - 1) : q;
    } else {
      return T(x / y);
    }
  } else {
    return td_float_floor_divide(x, y);
  }
}
template <class T>
TD_FN T td_remainder(T x, T y) {
  if constexpr (td_traits<T>::integer) {
    if (y == T(0)) return T(0);
    if constexpr (td_traits<T>::is_signed) {
      if (y == T(-1)) return T(0);
      T r = T(x % y);
      return (r != 0 && ((r < 0) != (y < 0))) ? T(r + y) : r;
    } else {
      return T(x % y);
    }
  } else {
    return td_float_remainder(x, y);
  }
}
template <class T>
TD_FN T td_fmod(T x, T y) {
  if constexpr (td_traits<T>::integer) {
    if (y == T(0)) return T(0);
    if constexpr (td_traits<T>::is_signed)
      if (y == T(-1)) return T(0);
    return T(x % y);
  } else {
    return td_float_fmod(x, y);
  }
}

// Powers of integers wrap. A negative exponent gives 0 except for the bases 1 and -1.
template <class T>
TD_FN T td_integer_pow(T x, T y) {
  if constexpr (td_traits<T>::is_signed) {
    if (y < T(0)) return x == T(1) ? T(1) : x == T(-1) ? ((y & T(1)) ? T(-1) : T(1)) : T(0);
  }
  T result = T(1);
  while (y != T(0)) {
    if (y & T(1)) result = td_mul(result, x);
    x = td_mul(x, x);
    y = T(y >> 1);
  }
  return result;
}

// ---- bits ----
TD_FN bool td_invert(bool x) { return !x; }
template <class T>
TD_FN T td_invert(T x) {
  return T(~x);
}
template <class T>
TD_FN bool td_wide_shift(T n) {
  typedef unsigned long long U;
  return (td_traits<T>::is_signed && n < T(0)) || (U)n >= (U)td_traits<T>::bits;
}
template <class T>
TD_FN T td_left_shift(T x, T n) {
  typedef typename td_unsigned<T>::type U;
  return td_wide_shift(n) ? T(0) : T((U)x << n);
}
template <class T>
TD_FN T td_right_shift(T x, T n) {
  if (td_wide_shift(n)) return td_traits<T>::is_signed && x < T(0) ? T(-1) : T(0);
  return T(x >> n);
}
template <class T>
TD_FN T td_gcd(T x, T y) {
  if constexpr (td_traits<T>::is_signed) {
    if (x < T(0)) x = td_neg(x);
    if (y < T(0)) y = td_neg(y);
  }
  while (y != T(0)) {
    T r = td_same<T, bool>::value ? T(0) : td_fmod(x, y);
    x = y;
    y = r;
  }
  return x;
}
template <class T>
TD_FN T td_lcm(T x, T y) {
  T g = td_gcd(x, y);
  if (g == T(0)) return T(0);
  if constexpr (td_traits<T>::is_signed) {
    if (x < T(0)) x = td_neg(x);
    if (y < T(0)) y = td_neg(y);
  }
  return td_mul(T(x / g), y);
}

// ---- parts of complex numbers; a real number is its own real part ----
template <class T>
TD_FN T td_conj(T x) {
  return x;
}
template <class T>
TD_FN T td_real(T x) {
  return x;
}
template <class T>
TD_FN T td_imag(T) {
  return T(0);
}
#ifdef TD_COMPLEX
template <class T>
TD_FN td_complex<T> td_conj(td_complex<T> x) {
  return {x.re, -x.im};
}
template <class T>
TD_FN T td_real(td_complex<T> x) {
  return x.re;
}
template <class T>
TD_FN T td_imag(td_complex<T> x) {
  return x.im;
}
#endif

template <class T>
TD_FN T td_pow(T x, T y) {
  if constexpr (td_traits<T>::integer) return td_integer_pow(x, y);
#ifdef TD_COMPLEX
  else if constexpr (td_traits<T>::complex)
    return td_complex_pow(x, y);
#endif
  else
    return td_float_pow(x, y);
}
