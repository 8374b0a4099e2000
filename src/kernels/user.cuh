// What the expression of an ElementwiseKernel or a ReductionKernel may use besides CUDA C++: raw
// arrays, indexers, float16, bfloat16, complex<T>, min and max of one type.
//
// Stands behind types.cuh (and math.cuh where complex numbers are used).

typedef decltype((char*)0 - (char*)0) ptrdiff_t;

// A whole array. x[i] is the element with index i in C order, whatever the strides; x[{...}] is by
// one index for each axis.
template <class T, int N, bool contiguous>
class CArray {
 public:
  enum { ndim = N, axes = N > 0 ? N : 1 };
  __device__ __forceinline__ ptrdiff_t size() const { return size_; }
  __device__ __forceinline__ const ptrdiff_t (&shape() const)[axes] { return shape_; }
  __device__ __forceinline__ const ptrdiff_t (&strides() const)[axes] { return strides_; }
  __device__ __forceinline__ T* data() const { return data_; }
  __device__ __forceinline__ T& operator[](ptrdiff_t i) const {
    if constexpr (contiguous) {
      return data_[i];
    } else {
      ptrdiff_t offset = 0;
#pragma unroll
      for (int k = N - 1; k > 0; --k) {
        offset += i % shape_[k] * strides_[k];
        i /= shape_[k];
      }
      return at(offset + i * strides_[0]);
    }
  }
  template <class Int>
  __device__ __forceinline__ T& operator[](const Int (&index)[axes]) const {
    ptrdiff_t offset = 0;
#pragma unroll
    for (int k = 0; k < N; ++k) offset += (ptrdiff_t)index[k] * strides_[k];
    return at(offset);
  }

  T* data_;
  ptrdiff_t size_;
  ptrdiff_t shape_[axes], strides_[axes];  // bytes

 private:
  template <class A>
  struct bytes_of {
    typedef char type;
  };
  template <class A>
  struct bytes_of<const A> {
    typedef const char type;
  };
  __device__ __forceinline__ T& at(ptrdiff_t offset) const {
    return *reinterpret_cast<T*>(reinterpret_cast<typename bytes_of<T>::type*>(data_) + offset);
  }
};

// The shape that a kernel runs over, and the place in it.
template <int N>
class CIndexer {
 public:
  enum { ndim = N, axes = N > 0 ? N : 1 };
  __device__ __forceinline__ ptrdiff_t size() const { return size_; }
  __device__ __forceinline__ const ptrdiff_t (&shape() const)[axes] { return shape_; }
  __device__ __forceinline__ const ptrdiff_t (&get() const)[axes] { return index_; }
  __device__ __forceinline__ void set(ptrdiff_t i) {
#pragma unroll
    for (int k = N - 1; k > 0; --k) {
      index_[k] = i % shape_[k];
      i /= shape_[k];
    }
    index_[0] = i;
  }

  ptrdiff_t size_;
  ptrdiff_t shape_[axes];
  ptrdiff_t index_[axes];
};

template <class T>
TD_FN const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T>
TD_FN const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}

// ---- float16, bfloat16: arithmetic happens in float, each store rounds once ----
#ifdef TD_HALF
template <class Bits>
class td_user_half {
 public:
  td_user_half() = default;
  __device__ __forceinline__ td_user_half(float x) : value_(x) {}
  __device__ __forceinline__ operator float() const { return value_; }
  __device__ __forceinline__ td_user_half& operator+=(float x) { return *this = *this + x; }
  __device__ __forceinline__ td_user_half& operator-=(float x) { return *this = *this - x; }
  __device__ __forceinline__ td_user_half& operator*=(float x) { return *this = *this * x; }
  __device__ __forceinline__ td_user_half& operator/=(float x) { return *this = *this / x; }
  static __device__ __forceinline__ td_user_half from_bits(unsigned short bits) {
    return td_user_half(td_from_bits<Bits>(bits));
  }

 private:
  __device__ __forceinline__ explicit td_user_half(Bits value) : value_(value) {}
  Bits value_;
};
typedef td_user_half<td_half> float16;
typedef td_user_half<td_bfloat> bfloat16;
#endif

// ---- complex<T> ----
#ifdef TD_COMPLEX
template <class T>
class alignas(2 * sizeof(T)) complex {
  typedef td_complex<T> Z;

 public:
  typedef T value_type;
  complex() = default;
  __device__ __forceinline__ complex(T re, T im = T(0)) : re_(re), im_(im) {}
  __device__ __forceinline__ complex(Z z) : re_(z.re), im_(z.im) {}
  template <class U>
  __device__ __forceinline__ complex(const complex<U>& z) : re_((T)z.real()), im_((T)z.imag()) {}
  __device__ __forceinline__ operator Z() const { return Z(re_, im_); }

  __device__ __forceinline__ T real() const { return re_; }
  __device__ __forceinline__ T imag() const { return im_; }
  __device__ __forceinline__ void real(T x) { re_ = x; }
  __device__ __forceinline__ void imag(T x) { im_ = x; }
  __device__ __forceinline__ complex& operator+=(complex b) { return *this = *this + b; }
  __device__ __forceinline__ complex& operator-=(complex b) { return *this = *this - b; }
  __device__ __forceinline__ complex& operator*=(complex b) { return *this = *this * b; }
  __device__ __forceinline__ complex& operator/=(complex b) { return *this = *this / b; }

  // Within the class, so that a plain number may stand on either side.
  friend __device__ __forceinline__ complex operator+(complex a, complex b) {
    return complex(a.re_ + b.re_, a.im_ + b.im_);
  }
  friend __device__ __forceinline__ complex operator-(complex a, complex b) {
    return complex(a.re_ - b.re_, a.im_ - b.im_);
  }
  friend __device__ __forceinline__ complex operator*(complex a, complex b) {
    return complex(a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_);
  }
  friend __device__ __forceinline__ complex operator/(complex a, complex b) {
    return complex(Z(a) / Z(b));
  }
  friend __device__ __forceinline__ complex operator-(complex a) { return complex(-a.re_, -a.im_); }
  friend __device__ __forceinline__ complex operator+(complex a) { return a; }
  friend __device__ __forceinline__ bool operator==(complex a, complex b) {
    return a.re_ == b.re_ && a.im_ == b.im_;
  }
  friend __device__ __forceinline__ bool operator!=(complex a, complex b) { return !(a == b); }
  // Ordered by the real part first, as NumPy sorts.
  friend __device__ __forceinline__ bool operator<(complex a, complex b) {
    return a.re_ < b.re_ || (a.re_ == b.re_ && a.im_ < b.im_);
  }
  friend __device__ __forceinline__ bool operator>(complex a, complex b) { return b < a; }

 private:
  T re_, im_;
};

template <class T>
TD_FN T real(const complex<T>& z) {
  return z.real();
}
template <class T>
TD_FN T imag(const complex<T>& z) {
  return z.imag();
}
template <class T>
TD_FN complex<T> conj(const complex<T>& z) {
  return complex<T>(z.real(), -z.imag());
}
template <class T>
TD_FN T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
TD_FN T abs(const complex<T>& z) {
  return td_abs(td_complex<T>(z.real(), z.imag()));
}
template <class T>
TD_FN T arg(const complex<T>& z) {
  return td_angle(td_complex<T>(z.real(), z.imag()));
}
#define TD_COMPLEX_FUNCTION(name)                                    \
  template <class T>                                                 \
  TD_FN complex<T> name(const complex<T>& z) {                       \
    return complex<T>(td_##name(td_complex<T>(z.real(), z.imag()))); \
  }
TD_COMPLEX_FUNCTION(exp)
TD_COMPLEX_FUNCTION(log)
TD_COMPLEX_FUNCTION(log10)
TD_COMPLEX_FUNCTION(sqrt)
TD_COMPLEX_FUNCTION(sin)
TD_COMPLEX_FUNCTION(cos)
TD_COMPLEX_FUNCTION(tan)
TD_COMPLEX_FUNCTION(sinh)
TD_COMPLEX_FUNCTION(cosh)
TD_COMPLEX_FUNCTION(tanh)
TD_COMPLEX_FUNCTION(asin)
TD_COMPLEX_FUNCTION(acos)
TD_COMPLEX_FUNCTION(atan)
TD_COMPLEX_FUNCTION(asinh)
TD_COMPLEX_FUNCTION(acosh)
TD_COMPLEX_FUNCTION(atanh)
#undef TD_COMPLEX_FUNCTION
template <class T>
TD_FN complex<T> pow(const complex<T>& x, const complex<T>& y) {
  return complex<T>(
      td_complex_pow(td_complex<T>(x.real(), x.imag()), td_complex<T>(y.real(), y.imag())));
}
#endif
