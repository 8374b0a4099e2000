// Folds of a whole array by one thread, for kernels written in Python: sum, prod, min, max, mean,
// variance, argmin, argmax, all, any, count_nonzero. NaN counts as NumPy lets it count: it is the
// minimum and the maximum; the nan_ folds leave it out, as NumPy's functions of these names do.
//
// Stands behind python.cuh.
namespace tdpy {

template <class R, class A>
TDPY R fold_sum(const A& a) {
  R total = R(0);
  for (i64 k = 0, n = a.size(); k < n; ++k) total = total + to<R>(a.flat(k));
  return total;
}
template <class R, class A>
TDPY R fold_prod(const A& a) {
  R total = R(1);
  for (i64 k = 0, n = a.size(); k < n; ++k) total = total * to<R>(a.flat(k));
  return total;
}
template <class R, class A>
TDPY R fold_mean(const A& a) {
  return fold_sum<R>(a) / R(a.size());
}
TDPY float length2(float x) { return x * x; }
TDPY double length2(double x) { return x * x; }
template <class T>
TDPY T length2(complex<T> z) {
  return z.re * z.re + z.im * z.im;
}
// R is the type of the mean, P that of the result.
template <class R, class P, class A>
TDPY P fold_var(const A& a) {
  const R mean = fold_mean<R>(a);
  P total = 0;
  const i64 n = a.size();
  for (i64 k = 0; k < n; ++k) total += length2(to<R>(a.flat(k)) - mean);
  return total / (P)n;
}
// The index of the first element that is as far to one side as any, or of the first NaN.
template <bool greatest, class A>
TDPY i64 fold_place(const A& a) {
  i64 place = 0;
  for (i64 k = 1, n = a.size(); k < n; ++k) {
    const auto best = a.flat(place), x = a.flat(k);
    if (best != best) break;
    if ((greatest ? x > best : x < best) || x != x) place = k;
  }
  return place;
}
// NaN of integers: never.
template <class T>
TDPY bool is_nan(T x) {
  return x != x;
}
// What an array is without its NaNs, which count as `filler`.
template <class A, class T>
struct filled {
  const A& array;
  T filler;
  TDPY i64 size() const { return array.size(); }
  TDPY T flat(i64 k) const {
    const T x = array.flat(k);
    return is_nan(x) ? filler : x;
  }
};
template <class T, class A>
TDPY filled<A, T> without_nan(const A& a, T filler) {
  return {a, filler};
}
template <class A>
TDPY i64 fold_known(const A& a) {
  i64 count = 0;
  for (i64 k = 0, n = a.size(); k < n; ++k) count += !is_nan(a.flat(k));
  return count;
}
template <class T, class R, class A>
TDPY R fold_nanmean(const A& a) {
  return fold_sum<R>(without_nan<T>(a, T(0))) / R(fold_known(a));
}
template <class T, class R, class P, class A>
TDPY P fold_nanvar(const A& a) {
  const R mean = fold_nanmean<T, R>(a);
  P total = 0;
  for (i64 k = 0, n = a.size(); k < n; ++k) {
    const T x = a.flat(k);
    if (!is_nan(x)) total += length2(to<R>(x) - mean);
  }
  return total / (P)fold_known(a);
}
// The index of the first element that is as far to one side as any; of NaNs only, the first.
template <bool greatest, class A>
TDPY i64 fold_nanplace(const A& a) {
  i64 place = 0;
  for (i64 k = 1, n = a.size(); k < n; ++k) {
    const auto best = a.flat(place), x = a.flat(k);
    if (is_nan(best) || (greatest ? x > best : x < best)) place = k;
  }
  return place;
}
template <class A>
TDPY bool fold_all(const A& a) {
  for (i64 k = 0, n = a.size(); k < n; ++k)
    if (!to<bool>(a.flat(k))) return false;
  return true;
}
template <class A>
TDPY i64 fold_count(const A& a) {
  i64 count = 0;
  for (i64 k = 0, n = a.size(); k < n; ++k) count += to<bool>(a.flat(k));
  return count;
}

}  // namespace tdpy
