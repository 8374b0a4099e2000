// Sliding products of two sequences: the k-th result is the sum of a[k - (m - 1) + j] * v[j] over
// the j for which both elements exist. A thread owns a result and adds in the order of j.

template <class T>
TD_FN void td_slide(const T* a, const T* v, T* out, long long n, long long m, long long first,
                    long long count) {
  typedef td_sum<T> F;
  typedef typename F::A A;
  const long long step = gridDim.x * 256ll;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += step) {
    const long long start = first + i - (m - 1);
    const long long low = start < 0 ? -start : 0, high = n - start < m ? n - start : m;
    A total = F::none();
    for (long long j = low; j < high; ++j)
      total = F::combine(total, td_mul(td_cast<A>(a[start + j]), td_cast<A>(v[j])));
    out[i] = F::finish(total, 1.0);
  }
}
