// Counting into bins, and the range of integers.

// Lowest and highest value as words for atomicMax, both zero at first.
TD_FN unsigned long long td_order_word(long long x) { return (unsigned long long)x ^ (1ull << 63); }

template <class T>
TD_FN void td_find_range(const T* x, long long n, long long chunk, unsigned long long* words) {
  const long long first = (long long)blockIdx.x * chunk;
  const long long end = first + chunk < n ? first + chunk : n;
  if (first >= end) return;
  T low = x[first], high = low;
#pragma unroll 8
  for (long long i = first + threadIdx.x; i < end; i += 256) {
    const T v = x[i];
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  long long a = (long long)low, b = (long long)high;
  for (int s = 16; s > 0; s >>= 1) {
    const long long other_a = __shfl_xor_sync(~0u, a, s), other_b = __shfl_xor_sync(~0u, b, s);
    a = other_a < a ? other_a : a;
    b = other_b > b ? other_b : b;
  }
  if ((threadIdx.x & 31) == 0) {
    atomicMax(words, ~td_order_word(a));
    atomicMax(words + 1, td_order_word(b));
  }
}

#ifdef __TREADLE__
#define TD_COPIES(n) 1
#else
#define TD_COPIES(n) n
#endif

TD_FN void td_count_one(unsigned* counter, int) { atomicAdd(counter, 1u); }
TD_FN void td_count_one(unsigned long long* counter, int) { atomicAdd(counter, 1ull); }
TD_FN void td_count_one(double* counter, double weight) { atomicAdd(counter, weight); }
TD_FN void td_count_sum(unsigned long long* out, unsigned part) {
  if (part) atomicAdd(out, (unsigned long long)part);
}
TD_FN void td_count_sum(double* out, double part) {
  if (part != 0) atomicAdd(out, part);
}

// Counts elements [first, end): `several` loads of V neighbours of a thread come together, before
// their bins, and those before their counts. `first` is a multiple of V, and x aligned for V.
template <int V, int several, class T, class Count, class Bin>
TD_FN void td_count_run(const T* x, long long first, long long end, Count count, Bin bin) {
  enum { STEP = 256 * V };
  long long from = first + threadIdx.x * V;
  for (; from + STEP * (several - 1) + V <= end; from += STEP * several) {
    td_vec<T, V> values[several];
#pragma unroll
    for (int u = 0; u < several; ++u) values[u] = td_load<V>(x + from + u * STEP);
#pragma unroll
    for (int u = 0; u < several; ++u)
#pragma unroll
      for (int j = 0; j < V; ++j) {
        const auto k = bin(values[u].at[j]);
        if (k >= 0) count(k, from + u * STEP + j);
      }
  }
  if constexpr (several * V > 1)
    for (; from < end; from += STEP)
      for (int j = 0; j < V && from + j < end; ++j) {
        const auto k = bin(x[from + j]);
        if (k >= 0) count(k, from + j);
      }
}

// Few bins: each block counts in shared memory, neighbouring lanes in different copies, so that
// they do not wait for one another where many elements fall into one bin.
template <class Counter, int most, int copies, int V, class T, class Out, class Bin, class Weight>
TD_FN void td_count_shared(const T* x, long long n, long long chunk, int bins, Out* out, Bin bin,
                           Weight weight) {
  __shared__ Counter counters[most * copies];
  for (int k = threadIdx.x; k < bins * copies; k += 256) counters[k] = 0;
  __syncthreads();
  Counter* const own = counters + threadIdx.x % copies;
  const long long first = (long long)blockIdx.x * chunk;
  const long long end = first + chunk < n ? first + chunk : n;
  td_count_run<V, TD_WIDTH(16) / V>(
      x, first, end, [=](auto k, long long i) { td_count_one(own + (int)k * copies, weight(i)); },
      bin);
  __syncthreads();
  for (int k = threadIdx.x; k < bins; k += 256) {
    Counter sum = 0;
    for (int c = 0; c < copies; ++c) sum += counters[k * copies + (c + threadIdx.x) % copies];
    td_count_sum(out + k, sum);
  }
}

template <int V, class T, class Out, class Bin, class Weight>
TD_FN void td_count_global(const T* x, long long n, long long chunk, Out* out, Bin bin,
                           Weight weight) {
  const long long first = (long long)blockIdx.x * chunk;
  const long long end = first + chunk < n ? first + chunk : n;
  td_count_run<V, TD_WIDTH(16) / V>(
      x, first, end, [=](auto k, long long i) { td_count_one(out + k, weight(i)); }, bin);
}

template <bool wide>
struct td_bin_real {
  typedef float type;
};
template <>
struct td_bin_real<true> {
  typedef double type;
};

// The bin of x between edges at equal distances, exactly as a search would find it: the quotient
// is right except near an edge, and there the edges themselves decide. C is the type in which x and
// edges compare.
//
// float finds the place of numbers of 32 bits or fewer: a GPU converts to double slowly.
template <class C>
struct td_even_bins {
  typedef typename td_bin_real<td_traits<C>::bits == 64>::type Real;
  Real low, scale,
      sure;  // sure: the distance from a bin's middle up to which the quotient is right
  C first, last;
  int bins;
};
template <class C, class E>
TD_FN td_even_bins<C> td_make_even_bins(const E* edges, int bins) {
  td_even_bins<C> b;
  b.first = td_cast<C>(edges[0]);
  b.last = td_cast<C>(edges[bins]);
  typedef typename td_even_bins<C>::Real Real;
  const double low = td_cast<double>(edges[0]), high = td_cast<double>(edges[bins]);
  const double scale = bins / (high - low), reach = fmax(fabs(low), fabs(high));
  b.low = (Real)low;
  b.scale = (Real)scale;
  const double digit = td_traits<C>::bits == 64   ? 2.3e-16
                       : td_traits<C>::bits == 32 ? 1.2e-7
                                                  : 1e-3;
  // NaN, where low == high would be, makes no element sure.
  b.sure = (Real)(0.5 - 8 * digit * (reach * fabs(scale) + bins));
  b.bins = bins;
  return b;
}
// The whole number next to x, where that has at most 21 bits; half of a GPU's conversions are slow.
// Beyond that k is of no use, and for float not below 2^21.
TD_FN int td_nearest(float x, float& whole) {
  const float shifted = x + 12582912.0f;
  whole = shifted - 12582912.0f;
  return (int)(__float_as_uint(shifted) - 0x4b400000u);
}
TD_FN int td_nearest(double x, double& whole) {
  const double shifted = x + 6755399441055744.0;
  whole = shifted - 6755399441055744.0;
  return __double2loint(shifted);
}
template <bool few, class C, class E>
TD_FN int td_even_bin(const td_even_bins<C>& b, const E* edges, C x) {
  typedef typename td_even_bins<C>::Real Real;
  const Real place = (td_cast<Real>(x) - b.low) * b.scale - Real(0.5);
  Real whole;
  int k;
  if constexpr (few) {
    k = td_nearest(place, whole);
  } else {
    k = (int)td_floor(place + Real(0.5));
    whole = (Real)k;
  }
  const Real rest = place - whole;
  // The range of a double is known only from the comparison with the edges.
  const bool inside = few && sizeof(Real) == 4 ? (unsigned)k < (unsigned)b.bins
                                               : (bool)((x >= b.first) & (x <= b.last));
  if (rest < b.sure && rest > -b.sure) return inside ? k : -1;
  if (!(x >= b.first && x <= b.last)) return -1;
  k = k < 0 ? 0 : k >= b.bins ? b.bins - 1 : k;
  if (b.sure > 0) {  // then the quotient is wrong by one bin at most
    const bool below = k > 0 && x < td_cast<C>(edges[k]);
    const bool above = k < b.bins - 1 && x >= td_cast<C>(edges[k + 1]);
    return k + above - below;
  }
  while (k > 0 && x < td_cast<C>(edges[k])) --k;
  while (k < b.bins - 1 && x >= td_cast<C>(edges[k + 1])) ++k;
  return k;
}

template <class C, class E>
TD_FN long long td_search_bin(const E* edges, long long bins, C x) {
  if (!(x >= td_cast<C>(edges[0]) && x <= td_cast<C>(edges[bins]))) return -1;
  long long low = 0, high = bins;  // edges[low] <= x; the bin in front of `high`
  while (high - low > 1) {
    const long long middle = low + (high - low) / 2;
    if (x >= td_cast<C>(edges[middle]))
      low = middle;
    else
      high = middle;
  }
  // Of equal edges the last one begins the bin; the last bin is closed.
  return low;
}
