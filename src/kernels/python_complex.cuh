// cmath for kernels written in Python, over the complex functions of math.cuh.
//
// Stands behind python.cuh, types.cuh and math.cuh (with TD_COMPLEX).
namespace tdpy {

#define TDPY_CMATH(name)                                    \
  template <class T>                                        \
  TDPY complex<T> c##name(complex<T> z) {                   \
    td_complex<T> w = td_##name(td_complex<T>(z.re, z.im)); \
    return complex<T>(w.re, w.im);                          \
  }
TDPY_CMATH(sqrt)
TDPY_CMATH(exp)
TDPY_CMATH(exp2)
TDPY_CMATH(expm1)
TDPY_CMATH(log)
TDPY_CMATH(log2)
TDPY_CMATH(log10)
TDPY_CMATH(log1p)
TDPY_CMATH(sin)
TDPY_CMATH(cos)
TDPY_CMATH(tan)
TDPY_CMATH(sinh)
TDPY_CMATH(cosh)
TDPY_CMATH(tanh)
TDPY_CMATH(asin)
TDPY_CMATH(acos)
TDPY_CMATH(atan)
TDPY_CMATH(asinh)
TDPY_CMATH(acosh)
TDPY_CMATH(atanh)
#undef TDPY_CMATH

template <class T>
TDPY complex<T> cpow(complex<T> x, complex<T> y) {
  td_complex<T> w = td_complex_pow(td_complex<T>(x.re, x.im), td_complex<T>(y.re, y.im));
  return complex<T>(w.re, w.im);
}
template <class T>
TDPY T phase(complex<T> z) {
  return td_atan2(z.im, z.re);
}
// r (cos phi + i sin phi); an angle of zero keeps infinite lengths apart from 0 * inf.
template <class T>
TDPY complex<T> rect(T r, T phi) {
  if (phi == T(0)) return complex<T>(r, td_copysign(T(1), r) * phi);
  if (r == T(0) && !td_finite(phi)) return complex<T>(T(0), T(0));
  return complex<T>(r * td_cos(phi), r * td_sin(phi));
}

}  // namespace tdpy
