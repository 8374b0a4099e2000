// The radix sort of sort.cuh for a device that holds few threads: each owns a chunk, walks it in
// order, and has a column of counters of its own, so that neither shared memory nor votes are
// needed. Counts are [row][chunk][digit]. I is the type of indices.

template <class T, class I>
TD_FN void td_serial_count(const T* in, unsigned* counts, I length, I rows, I chunk, I chunks,
                           int shift, unsigned flip) {
  const I g = (I)blockIdx.x * 256 + threadIdx.x;
  if (g >= rows * chunks) return;
  const I row = g / chunks, c = g - row * chunks, base = g * 256;
  const I first = row * length + c * chunk, end = row * length + length;
  const I last = first + chunk < end ? first + chunk : end;
  for (int d = 0; d < 256; ++d) counts[base + d] = 0;
  for (I k = first; k < last; ++k) counts[base + (I)td_digit(td_key(in[k]), shift, flip)] += 1;
}

template <class I>
TD_FN void td_serial_place(unsigned* counts, I rows, I chunks) {
  __shared__ unsigned warps[8];
  for (I row = blockIdx.x; row < rows; row += gridDim.x) {
    unsigned* p = counts + row * 256 * chunks;
    const I first = (int)threadIdx.x;
    unsigned total = 0;
    for (I c = 0; c < chunks; ++c) total += p[first + c * 256];
    unsigned place = td_digit_starts(total, warps);
    for (I c = 0; c < chunks; ++c) {
      const unsigned count = p[first + c * 256];
      p[first + c * 256] = place;
      place += count;
    }
    __syncthreads();
  }
}

template <class T, class TO, class I, bool PLACES>
TD_FN void td_serial_move(const T* in, T* out, const unsigned* from, TO* to, unsigned* places,
                          I length, I rows, I chunk, I chunks, int shift, unsigned flip) {
  const I g = (I)blockIdx.x * 256 + threadIdx.x;
  if (g >= rows * chunks) return;
  const I row = g / chunks, c = g - row * chunks, base = g * 256;
  const I start = row * length, first = start + c * chunk, end = start + length;
  const I last = first + chunk < end ? first + chunk : end;
  for (I k = first; k < last; ++k) {
    const T x = in[k];
    const I at = base + (I)td_digit(td_key(x), shift, flip);
    const unsigned place = places[at];
    places[at] = place + 1;
    if constexpr (PLACES) {
      if (out) out[start + place] = x;
      to[start + place] = from ? (TO)from[k] : (TO)(k - start);
    } else {
      out[start + place] = x;
    }
  }
}
