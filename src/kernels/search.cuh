// Binary search over sort keys, and moving elements by place.

// The first k with key <= key of sorted[k] (RIGHT: key < …).
template <class T>
TD_FN void td_search(const T* sorted, const long long* sorter, const T* values, long long* out,
                     long long length, long long count, int right) {
  const long long step = gridDim.x * 256ll;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += step) {
    const auto key = td_key(values[i]);
    long long low = 0, high = length;
    while (low < high) {
      const long long middle = low + (high - low) / 2;
      const long long at = sorter ? sorter[middle] : middle;
      const auto other = td_key(sorted[at]);
      const bool further = right ? !td_key_less(key, other) : td_key_less(other, key);
      low = further ? middle + 1 : low;
      high = further ? high : middle;
    }
    out[i] = low;
  }
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
