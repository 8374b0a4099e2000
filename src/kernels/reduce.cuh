// Reductions: how an element becomes an accumulator (lift), how two accumulators combine, and what
// the result is (finish, which gets the number of elements). `none()` is the accumulator of no
// elements.

template <class T>
struct td_accumulator {
  typedef T type;
};
#ifdef TD_HALF
template <>
struct td_accumulator<td_half> {
  typedef float type;
};
template <>
struct td_accumulator<td_bfloat> {
  typedef float type;
};
#endif

// Lowest and highest value, infinities included.
template <class T>
TD_FN T td_lowest() {
  if constexpr (td_same<T, bool>::value)
    return false;
  else if constexpr (td_traits<T>::integer)
    return td_traits<T>::is_signed ? T(1ull << (td_traits<T>::bits - 1)) : T(0);
#ifdef TD_COMPLEX
  else if constexpr (td_traits<T>::complex)
    return T(td_lowest<decltype(T().re)>(), td_lowest<decltype(T().re)>());
#endif
  else
    return T(-__int_as_float(0x7f800000));
}
template <class T>
TD_FN T td_highest() {
  if constexpr (td_same<T, bool>::value)
    return true;
  else if constexpr (td_traits<T>::integer)
    return td_traits<T>::is_signed ? T((1ull << (td_traits<T>::bits - 1)) - 1ull) : T(~0ull);
#ifdef TD_COMPLEX
  else if constexpr (td_traits<T>::complex)
    return T(td_highest<decltype(T().re)>(), td_highest<decltype(T().re)>());
#endif
  else
    return T(__int_as_float(0x7f800000));
}

// The accumulator of the lane `s` places behind; all lanes of the warp take part.
template <class A>
TD_FN A td_shuffle_down(A a, int s) {
#ifdef TD_HALF
  if constexpr (td_traits<A>::half) {
    a.bits = (unsigned short)__shfl_down_sync(0xffffffffu, (int)a.bits, s);
    return a;
  } else
#endif
      if constexpr (td_traits<A>::bits < 32)
    return (A)__shfl_down_sync(0xffffffffu, (int)a, s);
  else
    return __shfl_down_sync(0xffffffffu, a, s);
}
#ifdef TD_COMPLEX
template <class T>
TD_FN td_complex<T> td_shuffle_down(td_complex<T> a, int s) {
  return {td_shuffle_down(a.re, s), td_shuffle_down(a.im, s)};
}
#endif

// The value of the lane `from` of the warp; all lanes take part.
template <class T>
TD_FN T td_shuffle(T x, int from) {
  if constexpr (td_same<T, float>::value || td_same<T, double>::value ||
                td_same<T, long long>::value || td_same<T, unsigned long long>::value)
    return __shfl_sync(0xffffffffu, x, from);
#ifdef TD_COMPLEX
  else if constexpr (td_traits<T>::complex)
    return T(td_shuffle(x.re, from), td_shuffle(x.im, from));
#endif
#ifdef TD_HALF
  else if constexpr (td_traits<T>::half)
    return td_from_bits<T>((unsigned short)__shfl_sync(0xffffffffu, (int)x.bits, from));
#endif
  else
    return (T)__shfl_sync(0xffffffffu, (int)x, from);
}

template <class T>
struct td_sum {
  typedef typename td_accumulator<T>::type A;
  TD_FN A none() { return td_cast<A>(0); }
  TD_FN A lift(T x, long long) { return td_cast<A>(x); }
  TD_FN A combine(A a, A b) { return td_add(a, b); }
  TD_FN T finish(A a, double) { return td_cast<T>(a); }
};
template <class T>
struct td_prod {
  typedef typename td_accumulator<T>::type A;
  TD_FN A none() { return td_cast<A>(1); }
  TD_FN A lift(T x, long long) { return td_cast<A>(x); }
  TD_FN A combine(A a, A b) { return td_mul(a, b); }
  TD_FN T finish(A a, double) { return td_cast<T>(a); }
};
template <class T>
struct td_mean : td_sum<T> {
  typedef typename td_accumulator<T>::type A;
  TD_FN T finish(A a, double n) {
#ifdef TD_COMPLEX
    if constexpr (td_traits<T>::complex) {
      typedef decltype(T().re) Part;
      return T(a.re / (Part)n, a.im / (Part)n);
    } else
#endif
      return td_cast<T>(a / td_cast<A>(n));
  }
};
template <class T>
struct td_min {
  typedef T A;
  TD_FN A none() { return td_highest<T>(); }
  TD_FN A lift(T x, long long) { return x; }
  TD_FN A combine(A a, A b) { return td_minimum(a, b); }
  TD_FN T finish(A a, double) { return a; }
};
template <class T>
struct td_max {
  typedef T A;
  TD_FN A none() { return td_lowest<T>(); }
  TD_FN A lift(T x, long long) { return x; }
  TD_FN A combine(A a, A b) { return td_maximum(a, b); }
  TD_FN T finish(A a, double) { return a; }
};
// Truth is a byte of 0 or 1 on the way: bytes are combined whole, without asking each.
template <class T>
struct td_any {
  typedef unsigned char A;
  TD_FN A none() { return 0; }
  TD_FN A lift(T x, long long) { return x ? 1 : 0; }
  TD_FN A combine(A a, A b) { return a | b; }
  TD_FN bool finish(A a, double) { return a != 0; }
};
template <class T>
struct td_all {
  typedef unsigned char A;
  TD_FN A none() { return 1; }
  TD_FN A lift(T x, long long) { return x ? 1 : 0; }
  TD_FN A combine(A a, A b) { return a & b; }
  TD_FN bool finish(A a, double) { return a != 0; }
};
template <class T>
struct td_count {
  typedef long long A;
  TD_FN A none() { return 0; }
  TD_FN A lift(T x, long long) { return x ? 1 : 0; }
  TD_FN A combine(A a, A b) { return a + b; }
  TD_FN long long finish(A a, double) { return a; }
};

// The first place of the extreme value; the first NaN wins over every number. `none` stands behind
// every element.
template <class T, class I>
struct td_placed {
  T value;
  I index;
};
template <class T, class I>
TD_FN td_placed<T, I> td_shuffle_down(td_placed<T, I> a, int s) {
  return {td_shuffle_down(a.value, s), td_shuffle_down(a.index, s)};
}
template <class T, class I>
TD_FN td_placed<T, I> td_shuffle(td_placed<T, I> a, int from) {
  return {td_shuffle(a.value, from), td_shuffle(a.index, from)};
}
template <class T, class I, bool largest>
struct td_arg {
  typedef td_placed<T, I> A;
  TD_FN A none() { return A{largest ? td_lowest<T>() : td_highest<T>(), td_highest<I>()}; }
  TD_FN A lift(T x, I index) { return A{x, index}; }
  TD_FN A combine(A a, A b) {
    const bool a_nan = td_isnan(a.value), b_nan = td_isnan(b.value);
    const bool below = td_less(a.value, b.value), above = td_less(b.value, a.value);
    const bool b_wins = (b_nan & !a_nan) | ((a_nan == b_nan) & (largest ? below : above));
    const bool a_wins = (a_nan & !b_nan) | ((a_nan == b_nan) & (largest ? above : below));
    const bool take = b_wins | (!a_wins & (b.index < a.index));
    return A{td_select(take, b.value, a.value), take ? b.index : a.index};
  }
  // Combines with the element at an index behind that of `a`.
  TD_FN A append(A a, T x, I index) {
    const bool better = largest ? td_less(a.value, x) : td_less(x, a.value);
    const bool first_nan = td_isnan(x) & !td_isnan(a.value);
    const bool take = better | first_nan | (a.index == td_highest<I>());
    return A{td_select(take, x, a.value), take ? index : a.index};
  }
  // False when an element of this value changes nothing, whatever its index.
  TD_FN bool may_win(A a, T x) { return largest ? !td_less(x, a.value) : !td_less(a.value, x); }
  TD_FN long long finish(A a, double) { return a.index; }
};
template <class T, class I>
struct td_argmax : td_arg<T, I, true> {};
template <class T, class I>
struct td_argmin : td_arg<T, I, false> {};

// ---- accumulators of the lanes that share a result ----
//
// `lanes` neighbouring threads, a power of two up to 32, or the 256 of a block; all threads of the
// block take part, and every one gets the result. A block needs `shared`, a place for each warp.
template <int lanes, class A, class Combine>
TD_FN A td_join_lanes(A a, A* shared, Combine combine) {
  constexpr int within = lanes < 32 ? lanes : 32;
#pragma unroll
  for (int s = within / 2; s > 0; s >>= 1) a = combine(a, td_shuffle_down(a, s));
  if constexpr (lanes > 32) {
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = a;
    __syncthreads();
    a = shared[0];
#pragma unroll
    for (int w = 1; w < lanes / 32; ++w) a = combine(a, shared[w]);
    __syncthreads();
  } else if constexpr (lanes > 1) {
    a = td_shuffle(a, (int)(threadIdx.x % 32) / within * within);
  }
  return a;
}
template <int lanes>
TD_FN double td_sum_lanes(double x, double* shared) {
  return td_join_lanes<lanes>(x, shared, [](double a, double b) { return a + b; });
}
// What the first of the lanes has.
template <int lanes>
TD_FN double td_first_lane(double x, double* shared) {
  return td_join_lanes<lanes>(x, shared, [](double a, double) { return a; });
}

// ---- variance ----
//
// Shifted moments: k is one of the elements at first, then a mean; s and q are the sums of x - k
// and of its square. Distances from an element of the data are no larger than the spread of the
// data, so a large mean cancels nothing; that is as good as a pass for the mean and a second for
// the distances. float32 is summed in double.
struct td_moments {
  double k, s, q;
};
TD_FN td_moments td_moments_add(td_moments a, double x) {
  const double d = x - a.k;
  a.s += d;
  a.q = __fma_rn(d, d, a.q);
  return a;
}
// The sum of squared distances from the mean, which is k + mean. Infinite where squares overflow,
// NaN for infinities.
TD_FN double td_moments_spread(td_moments a, double mean) {
  const double q = a.q - a.s * mean;
  if (q < 0) return 0;
  return q != q && a.q == a.q && a.s - a.s == 0 ? a.q : q;
}
// Of na and nb elements, neither 0.
TD_FN td_moments td_moments_combine(td_moments a, double na, td_moments b, double nb) {
  const double ma = a.s / na, mb = b.s / nb, n = na + nb;
  const double apart = (b.k - a.k) + (mb - ma);
  td_moments c;
  const double step = ma + apart * (nb / n);  // from a.k to the mean of all
  c.k = a.k + step;
  c.s = n * (step - (c.k - a.k));
  c.q = td_moments_spread(a, ma) + td_moments_spread(b, mb) + apart * apart * (na * (nb / n)) +
        c.s * (c.s / n);
  return c;
}
// Of all lanes, which have n elements each and `all` together: their mean first, then every lane's
// distances from it. The first lane has elements if any has.
template <int lanes>
TD_FN td_moments td_moments_join(td_moments m, double n, double all, double* shared) {
  if constexpr (lanes == 1) return m;
  const bool some = n > 0;
  const double k = td_first_lane<lanes>(m.k, shared);
  const double mean = some ? m.s / n : 0, away = some ? m.k - k : 0;
  const double step = td_sum_lanes<lanes>(n * away + m.s, shared) / all;
  const double apart = away + (mean - step);
  const double spread = some ? td_moments_spread(m, mean) + n * (apart * apart) : 0;
  td_moments c;
  c.k = k + step;
  c.s = all * (step - (c.k - k));
  c.q = td_sum_lanes<lanes>(spread, shared) + c.s * (c.s / all);
  return c;
}
// An accumulator starts with an element, which is then added like every other.
template <class T>
struct td_var {
  struct A {
    td_moments m;
    long long n;
  };
  TD_FN A none() { return A{{0, 0, 0}, 0}; }
  TD_FN A start(T x) { return A{{(double)x, 0, 0}, 0}; }
  TD_FN A add(A a, T x) { return A{td_moments_add(a.m, (double)x), a.n + 1}; }
  TD_FN A combine(A a, A b) {
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    return A{td_moments_combine(a.m, (double)a.n, b.m, (double)b.n), a.n + b.n};
  }
  template <int lanes>
  TD_FN A join(A a, A* shared, long long all) {
    if (all == 0) return a;
    return A{td_moments_join<lanes>(a.m, (double)a.n, (double)all, (double*)shared), all};
  }
  TD_FN T finish(A a, double divisor) {
    const double n = (double)a.n;
    return td_cast<T>((a.n == 0 ? 0.0 : td_moments_spread(a.m, a.m.s / n)) / divisor);
  }
};
#ifdef TD_COMPLEX
template <class P>
struct td_var<td_complex<P>> {
  typedef td_complex<P> T;
  struct A {
    td_moments re, im;
    long long n;
  };
  TD_FN A none() { return A{{0, 0, 0}, {0, 0, 0}, 0}; }
  TD_FN A start(T x) { return A{{(double)x.re, 0, 0}, {(double)x.im, 0, 0}, 0}; }
  TD_FN A add(A a, T x) {
    return A{td_moments_add(a.re, (double)x.re), td_moments_add(a.im, (double)x.im), a.n + 1};
  }
  TD_FN A combine(A a, A b) {
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    const double na = (double)a.n, nb = (double)b.n;
    return A{td_moments_combine(a.re, na, b.re, nb), td_moments_combine(a.im, na, b.im, nb),
             a.n + b.n};
  }
  template <int lanes>
  TD_FN A join(A a, A* shared, long long all) {
    if (all == 0) return a;
    const double n = (double)a.n;
    double* places = (double*)shared;
    return A{td_moments_join<lanes>(a.re, n, (double)all, places),
             td_moments_join<lanes>(a.im, n, (double)all, places), all};
  }
  TD_FN P finish(A a, double divisor) {
    const double n = (double)a.n;
    const double q =
        a.n == 0 ? 0.0 : td_moments_spread(a.re, a.re.s / n) + td_moments_spread(a.im, a.im.s / n);
    return (P)(q / divisor);
  }
};
#endif

// What a functor's accumulator does with an element: moments start with one, and a place is
// compared with the places before it.
template <class F>
struct td_way {
  enum { moments = 0, places = 0 };
};
template <class T>
struct td_way<td_var<T>> {
  enum { moments = 1, places = 0 };
};
template <class T, class I>
struct td_way<td_argmax<T, I>> {
  enum { moments = 0, places = 1 };
};
template <class T, class I>
struct td_way<td_argmin<T, I>> {
  enum { moments = 0, places = 1 };
};
template <class F, class A, class T>
TD_FN A td_start(A a, T x) {
  if constexpr (td_way<F>::moments)
    return F::start(x);
  else
    return a;
}
// Elements come in rising order of their indices.
template <class F, class A, class T, class I>
TD_FN A td_take(A a, T x, I i) {
  if constexpr (td_way<F>::moments)
    return F::add(a, x);
  else if constexpr (td_way<F>::places)
    return F::append(a, x, i);
  else
    return F::combine(a, F::lift(x, i));
}
// The lanes' accumulators of `all` elements, joined.
template <class F, int lanes, class A>
TD_FN A td_join(A a, A* shared, long long all) {
  if constexpr (td_way<F>::moments)
    return F::template join<lanes>(a, shared, all);
  else
    return td_join_lanes<lanes>(a, shared, [](A x, A y) { return F::combine(x, y); });
}
