// Scans: element k of a row combines elements 0 … k with a functor of reduce.cuh.
//
// Two shapes. Rows: the scanned axis is the fast one, and a warp owns a chunk of a row. Columns: a
// thread owns a chunk of a column. With several chunks, td_scan_*_totals first combines every
// chunk, td_scan_parts scans these totals, and the scan itself starts from the total in front of
// it. Nothing is ever combined with an identity, so signs of zero and infinities come through.

TD_FN int td_shuffle_word(int x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
// Inclusive scan of one value a lane.
template <class F>
TD_FN typename F::A td_warp_scan(typename F::A x, int lane) {
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const typename F::A earlier = td_shuffle(x, lane >= d ? lane - d : lane);
    x = td_select(lane >= d, F::combine(earlier, x), x);
  }
  return x;
}

// V neighbouring elements of row p, of which those at `length` and behind do not exist.
template <int V, class T>
TD_FN td_vec<T, V> td_load_some(const T* p, long long at, long long length, bool aligned) {
  if (aligned && at + V <= length) return td_load<V>(p + at);
  td_vec<T, V> x;
#pragma unroll
  for (int j = 0; j < V; ++j) x.at[j] = at + j < length ? p[at + j] : td_cast<T>(0);
  return x;
}
template <int V, class T>
TD_FN void td_store_some(T* p, long long at, long long length, bool aligned,
                         const td_vec<T, V>& x) {
  if (aligned && at + V <= length) {
    td_store<V>(p + at, x);
    return;
  }
#pragma unroll
  for (int j = 0; j < V; ++j)
    if (at + j < length) p[at + j] = x.at[j];
}

template <class F, class T, int V>
TD_FN void td_scan_row_totals(const T* in, typename F::A* part, long long length, long long rows,
                              long long chunk, int chunks, bool aligned) {
  typedef typename F::A A;
  const int lane = threadIdx.x % 32;
  const long long step = gridDim.x * 8ll;
  for (long long g = blockIdx.x * 8ll + threadIdx.x / 32; g < rows * chunks; g += step) {
    const long long row = g / chunks, first = (g - row * chunks) * chunk;
    if (first + chunk > length) continue;  // the last chunk's total is not asked for
    const T* p = in + row * length + first;
    td_vec<T, V> x = td_load_some<V>(p, lane * V, chunk, aligned);
    A total = F::lift(x.at[0], 0);
#pragma unroll
    for (int j = 1; j < V; ++j) total = F::combine(total, F::lift(x.at[j], 0));
#pragma unroll 4
    for (long long k = 32 * V; k < chunk; k += 32 * V) {
      x = td_load_some<V>(p, k + lane * V, chunk, aligned);
#pragma unroll
      for (int j = 0; j < V; ++j) total = F::combine(total, F::lift(x.at[j], 0));
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) total = F::combine(total, td_shuffle(total, lane ^ d));
    if (lane == 0) part[g] = total;
  }
}

template <class F, class T, int V>
TD_FN void td_scan_row_chunks(const T* in, T* out, const typename F::A* part, long long length,
                              long long rows, long long chunk, int chunks, bool aligned) {
  typedef typename F::A A;
  enum { U = TD_WIDTH(4) };  // groups in flight
  const int lane = threadIdx.x % 32;
  const long long step = gridDim.x * 8ll;
  for (long long g = blockIdx.x * 8ll + threadIdx.x / 32; g < rows * chunks; g += step) {
    const long long row = g / chunks, c = g - row * chunks, first = c * chunk;
    const long long count = first + chunk < length ? chunk : length - first;
    const T* p = in + row * length + first;
    T* q = out + row * length + first;
    bool started = c > 0;
    A carry = td_cast<A>(0);
    if (started) carry = part[g - 1];
    for (long long k = 0; k < count; k += U * 32 * V) {
      td_vec<T, V> x[U];
#pragma unroll
      for (int u = 0; u < U; ++u)
        x[u] = td_load_some<V>(p, k + (u * 32 + lane) * V, count, aligned);
#pragma unroll
      for (int u = 0; u < U; ++u) {
        A own[V];
        own[0] = F::lift(x[u].at[0], 0);
#pragma unroll
        for (int j = 1; j < V; ++j) own[j] = F::combine(own[j - 1], F::lift(x[u].at[j], 0));
        const A all = td_warp_scan<F>(own[V - 1], lane);
        const A last = td_shuffle(all, 31);
        if constexpr (V == 1) {
          own[0] = started ? F::combine(carry, all) : all;
        } else {
          A before = td_shuffle(all, lane > 0 ? lane - 1 : 0);
          if (started) before = td_select(lane > 0, F::combine(carry, before), carry);
          const bool any = started || lane > 0;
#pragma unroll
          for (int j = 0; j < V; ++j) own[j] = td_select(any, F::combine(before, own[j]), own[j]);
        }
#pragma unroll
        for (int j = 0; j < V; ++j) x[u].at[j] = F::finish(own[j], 1.0);
        carry = started ? F::combine(carry, last) : last;
        started = true;
      }
#pragma unroll
      for (int u = 0; u < U; ++u)
        td_store_some<V>(q, k + (u * 32 + lane) * V, count, aligned, x[u]);
    }
  }
}

// A column is column m of `in` seen as (columns / inner, length, inner).
template <class F, class T>
TD_FN void td_scan_column_totals(const T* in, typename F::A* part, long long length,
                                 long long columns, long long inner, long long chunk, int chunks) {
  typedef typename F::A A;
  const long long step = gridDim.x * 256ll;
  for (long long g = blockIdx.x * 256ll + threadIdx.x; g < columns * (chunks - 1); g += step) {
    const long long c = g / columns, m = g - c * columns, o = m / inner;
    const T* p = in + (o * length + c * chunk) * inner + (m - o * inner);
    A total = F::lift(p[0], 0);
#pragma unroll 4
    for (long long k = 1; k < chunk; ++k) total = F::combine(total, F::lift(p[k * inner], 0));
    part[m * chunks + c] = total;
  }
}

template <class F, class T>
TD_FN void td_scan_column_chunks(const T* in, T* out, const typename F::A* part, long long length,
                                 long long columns, long long inner, long long chunk, int chunks) {
  typedef typename F::A A;
  const long long step = gridDim.x * 256ll;
  for (long long g = blockIdx.x * 256ll + threadIdx.x; g < columns * chunks; g += step) {
    const long long c = g / columns, m = g - c * columns, o = m / inner, first = c * chunk;
    const long long count = first + chunk < length ? chunk : length - first;
    const long long at = (o * length + first) * inner + (m - o * inner);
    A total = F::lift(in[at], 0);
    if (c > 0) total = F::combine(part[m * chunks + c - 1], total);
    out[at] = F::finish(total, 1.0);
#pragma unroll 4
    for (long long k = 1; k < count; ++k) {
      total = F::combine(total, F::lift(in[at + k * inner], 0));
      out[at + k * inner] = F::finish(total, 1.0);
    }
  }
}

// Scans each row of `chunks` totals in place; the last of a row is not used. A thread takes a run.
template <class F>
TD_FN void td_scan_parts(typename F::A* part, long long rows, int chunks) {
  typedef typename F::A A;
  __shared__ A runs[256];
  const int run = (chunks - 1 + 255) / 256;
  const int first = threadIdx.x * run;
  const int last = first + run < chunks - 1 ? first + run : chunks - 1;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    A* p = part + row * chunks;
    if (first < last) {
      A total = p[first];
      for (int k = first + 1; k < last; ++k) total = F::combine(total, p[k]);
      runs[threadIdx.x] = total;
    }
    __syncthreads();
    if (first < last) {
      A total = p[first];
      if (threadIdx.x > 0) {
        A before = runs[0];
        for (int t = 1; t < threadIdx.x; ++t) before = F::combine(before, runs[t]);
        total = F::combine(before, total);
      }
      p[first] = total;
      for (int k = first + 1; k < last; ++k) p[k] = total = F::combine(total, p[k]);
    }
    __syncthreads();
  }
}
