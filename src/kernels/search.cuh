// Binary search over sort keys, and moving elements by place.

// For some keys at once, how many of the sorted ones stand in front of each: those below it (RIGHT:
// not above). All take the same steps; `at(k)` is the sorted key k.
template <int several, class Key, class At>
TD_FN void td_search_keys(const Key* key, long long length, int right, At at, long long* place) {
#pragma unroll
  for (int u = 0; u < several; ++u) place[u] = 0;
  auto in_front = [&](int u, long long k) {
    const Key other = at(k);
    return right ? !td_key_less(key[u], other) : td_key_less(other, key[u]);
  };
  for (long long rest = length; rest > 0;) {
    const long long half = (rest + 1) / 2;
#pragma unroll
    for (int u = 0; u < several; ++u) place[u] += in_front(u, place[u] + half - 1) ? half : 0;
    rest -= half;
  }
}

template <class T, int several, class At>
TD_FN void td_search_all(const T* values, long long* out, long long length, long long count,
                         int right, At at) {
  const long long step = gridDim.x * 256ll * several;
  for (long long first = blockIdx.x * 256ll * several + threadIdx.x; first < count; first += step) {
    decltype(at(0)) key[several];
    long long place[several];
#pragma unroll
    for (int u = 0; u < several; ++u) {
      const long long i = first + u * 256;
      key[u] = td_key(values[i < count ? i : first]);
    }
    td_search_keys<several>(key, length, right, at, place);
#pragma unroll
    for (int u = 0; u < several; ++u)
      if (first + u * 256 < count) out[first + u * 256] = place[u];
  }
}

template <class T>
TD_FN void td_search(const T* sorted, const long long* sorter, const T* values, long long* out,
                     long long length, long long count, int right) {
  td_search_all<T, TD_WIDTH(4)>(values, out, length, count, right, [=](long long k) {
    return td_key(sorted[sorter ? sorter[k] : k]);
  });
}
// The same for few sorted values: every block keeps their keys in shared memory.
template <class T, int most>
TD_FN void td_search_few(const T* sorted, const long long* sorter, const T* values, long long* out,
                         long long length, long long count, int right) {
  __shared__ decltype(td_key(T())) keys[most];
  for (int k = threadIdx.x; k < length; k += 256) keys[k] = td_key(sorted[sorter ? sorter[k] : k]);
  __syncthreads();
  const decltype(td_key(T()))* at = keys;
  td_search_all<T, TD_WIDTH(4)>(values, out, length, count, right,
                                [=](long long k) { return at[(int)k]; });
}

// Rows of `width` places over rows of `length` elements, or over one row (`shared_row`).
template <class W>
TD_FN void td_gather(const W* in, const long long* index, W* out, long long length, long long width,
                     long long count, int shared_row) {
  const long long step = gridDim.x * 256ll;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += step) {
    const long long row = shared_row ? 0 : i / width, k = index[i];
    W x;
    if (k >= 0 && k < length)
      x = in[row * length + k];
    else
      x = W();
    out[i] = x;
  }
}
template <class W>
TD_FN void td_scatter(const W* in, const long long* index, W* out, long long length,
                      long long count) {
  const long long step = gridDim.x * 256ll;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += step) {
    const long long row = i / length, k = index[i];
    if (k >= 0 && k < length) out[row * length + k] = in[i];
  }
}
