// Sort keys, and a stable radix sort over them, eight bits a pass.
//
// A key orders values as NumPy does: unsigned keys compare like the values, NaN is the largest key,
// and values that are equal (-0.0 and 0.0, two NaNs) have equal keys. Elements themselves move
// unchanged, digits are computed from them in every pass: so equal values keep their order and
// their bits. A descending sort complements the keys.

struct td_wide_key {
  unsigned long long high, low;
};
TD_FN bool td_key_less(unsigned a, unsigned b) { return a < b; }
TD_FN bool td_key_less(unsigned long long a, unsigned long long b) { return a < b; }
TD_FN bool td_key_less(td_wide_key a, td_wide_key b) {
  return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}

TD_FN unsigned td_key(bool x) { return x; }
TD_FN unsigned td_key(unsigned char x) { return x; }
TD_FN unsigned td_key(unsigned short x) { return x; }
TD_FN unsigned td_key(unsigned x) { return x; }
TD_FN unsigned long long td_key(unsigned long long x) { return x; }
TD_FN unsigned td_key(signed char x) { return (unsigned char)x ^ 0x80u; }
TD_FN unsigned td_key(short x) { return (unsigned short)x ^ 0x8000u; }
TD_FN unsigned td_key(int x) { return (unsigned)x ^ 0x80000000u; }
TD_FN unsigned long long td_key(long long x) {
  return (unsigned long long)x ^ 0x8000000000000000ull;
}
TD_FN unsigned td_key(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);  // -0.0 becomes 0.0
  const unsigned key = bits ^ ((unsigned)((int)bits >> 31) | 0x80000000u);
  return x == x ? key : 0xffffffffu;
}
TD_FN unsigned long long td_key(double x) {
  const long long bits = __double_as_longlong(x + 0.0);
  const unsigned long long key =
      (unsigned long long)bits ^ ((unsigned long long)(bits >> 63) | 0x8000000000000000ull);
  return x == x ? key : 0xffffffffffffffffull;
}
#ifdef TD_HALF
TD_FN unsigned td_key(td_half x) {
  const unsigned bits = x.bits == 0x8000u ? 0u : x.bits;
  const unsigned key = bits ^ (bits & 0x8000u ? 0xffffu : 0x8000u);
  return (bits & 0x7fffu) <= 0x7c00u ? key : 0xffffu;
}
#endif
#ifdef TD_COMPLEX
// NaN in the imaginary part stands behind all numbers, ordered by the real part; then NaN in the
// real part; then NaN in both. Keys of numbers leave room for that: none begins with 0xffa or more.
TD_FN unsigned long long td_key(td_complex<float> x) {
  const unsigned long long re = td_key(x.re), im = td_key(x.im);
  if (x.re == x.re) return x.im == x.im ? re << 32 | im : 0xffa0000000000000ull + re;
  return x.im == x.im ? 0xffb0000000000000ull + im : 0xffffffffffffffffull;
}
TD_FN td_wide_key td_key(td_complex<double> x) {
  const unsigned long long re = td_key(x.re), im = td_key(x.im);
  const bool re_nan = x.re != x.re, im_nan = x.im != x.im;
  td_wide_key key;
  key.high = re_nan   ? (im_nan ? 0xffffffffffffffffull : 0xfffb000000000000ull)
             : im_nan ? 0xfffa000000000000ull
                      : re;
  key.low = re_nan ? (im_nan ? 0ull : im) : im_nan ? re : im;
  return key;
}
#endif

// Digit `shift / 8` of the key; `flip` is 0 or ~0.
TD_FN unsigned td_digit(unsigned key, int shift, unsigned flip) {
  return ((key ^ flip) >> shift) & 255u;
}
TD_FN unsigned td_digit(unsigned long long key, int shift, unsigned flip) {
  return ((unsigned)(key >> shift) ^ flip) & 255u;
}
TD_FN unsigned td_digit(td_wide_key key, int shift, unsigned flip) {
  return td_digit(shift < 64 ? key.low : key.high, shift & 63, flip);
}

// ---- rows of at most 256 elements: a thread counts the elements in front of its own ----
// `span` threads a row, a power of two. With `places` the original places are written instead.
template <class T>
TD_FN void td_sort_short(const T* in, T* out, long long* places, int length, long long rows,
                         int span, unsigned flip) {
  typedef decltype(td_key(T())) Key;
  __shared__ Key keys[256];
  const int sub = threadIdx.x / span, k = threadIdx.x - sub * span, per_block = 256 / span;
  for (long long base = (long long)blockIdx.x * per_block; base < rows;
       base += (long long)gridDim.x * per_block) {
    const long long row = base + sub;
    const bool mine = k < length && row < rows;
    T x = td_cast<T>(0);
    if (mine) x = in[row * length + k];
    const Key key = td_key(x);
    keys[threadIdx.x] = key;
    __syncthreads();
    int rank = 0;
    const Key* others = keys + sub * span;
    if (flip) {
      for (int j = 0; j < length; ++j)
        rank += td_key_less(key, others[j]) | (!td_key_less(others[j], key) & (j < k));
    } else {
      for (int j = 0; j < length; ++j)
        rank += td_key_less(others[j], key) | (!td_key_less(key, others[j]) & (j < k));
    }
    if (mine) {
      if (places)
        places[row * length + rank] = k;
      else
        out[row * length + rank] = x;
    }
    __syncthreads();
  }
}

// ---- longer rows: per pass, digits are counted by chunk, the counts become places, elements move.
// Chunk c of a row is [c * chunk, (c + 1) * chunk); counts are [row][chunk][digit]. ----

// Lanes with this lane's digit (below 256); lanes that are not `valid` are never among them.
TD_FN unsigned td_peers(unsigned digit, bool valid) {
#ifdef __TREADLE__
  return __match_any_sync(0xffffffffu, valid ? digit : 256u);
#else
  unsigned peers = __ballot_sync(0xffffffffu, valid);
#pragma unroll
  for (int b = 0; b < 8; ++b) {
    const bool bit = digit >> b & 1u;
    const unsigned set = __ballot_sync(0xffffffffu, bit);
    peers &= bit ? set : ~set;
  }
  return peers;
#endif
}

template <class T>
TD_FN void td_count_digits(const T* in, unsigned* counts, long long length, long long rows,
                           long long chunk, int chunks, int shift, unsigned flip) {
  __shared__ unsigned shared[256];
  for (long long g = blockIdx.x; g < rows * chunks; g += gridDim.x) {
    const long long row = g / chunks, first = (g - row * chunks) * chunk;
    const int count = (int)(first + chunk < length ? chunk : length - first);
    const T* p = in + row * length + first;
    shared[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 4
    for (int k = threadIdx.x; k < count; k += 256)
      atomicAdd(&shared[td_digit(td_key(p[k]), shift, flip)], 1u);
    __syncthreads();
    counts[g * 256 + threadIdx.x] = shared[threadIdx.x];
    __syncthreads();
  }
}

// Exclusive sums of the digits' totals over the block's 256 threads, one digit a thread.
TD_FN unsigned td_digit_starts(unsigned total, unsigned* shared) {
  const int t = threadIdx.x;
  shared[t] = total;
  __syncthreads();
  for (int d = 1; d < 256; d <<= 1) {
    const unsigned add = t >= d ? shared[t - d] : 0u;
    __syncthreads();
    shared[t] += add;
    __syncthreads();
  }
  return shared[t] - total;
}

// Counts become the places (within the row) where each chunk's elements of a digit start.
TD_FN void td_place_digits(unsigned* counts, long long rows, int chunks) {
  __shared__ unsigned shared[256];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    unsigned* p = counts + row * chunks * 256 + threadIdx.x;
    unsigned total = 0;
#pragma unroll 8
    for (int c = 0; c < chunks; ++c) total += p[c * 256];
    unsigned place = td_digit_starts(total, shared);
#pragma unroll 8
    for (int c = 0; c < chunks; ++c) {
      const unsigned count = p[c * 256];
      p[c * 256] = place;
      place += count;
    }
    __syncthreads();
  }
}

// Moves a chunk's elements to their places, tile by tile. PLACES: what is sorted along, `from` the
// places of the last pass (null: the elements' own) and `to` those of this pass.
template <class T, class FROM, class TO, int ITEMS, bool PLACES>
TD_FN void td_move_digits(const T* in, T* out, const FROM* from, TO* to, const unsigned* starts,
                          long long length, long long rows, long long chunk, int chunks, int shift,
                          unsigned flip) {
  __shared__ unsigned next[256];      // where the next element of a digit goes
  __shared__ unsigned ahead[8][256];  // counts by warp, then where the warp's elements start
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const unsigned before = (1u << lane) - 1u;
  for (long long g = blockIdx.x; g < rows * chunks; g += gridDim.x) {
    const long long row = g / chunks, first = (g - row * chunks) * chunk;
    const int count = (int)(first + chunk < length ? chunk : length - first);
    const T* p = in + row * length + first;
    next[threadIdx.x] = starts[g * 256 + threadIdx.x];
    for (int tile = 0; tile < count; tile += 256 * ITEMS) {
#pragma unroll
      for (int w = 0; w < 8; ++w) ahead[w][threadIdx.x] = 0;
      __syncthreads();
      T x[ITEMS];
      unsigned rank[ITEMS];
      const int mine = tile + warp * 32 * ITEMS + lane;
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) {
        const int k = mine + i * 32;
        x[i] = td_cast<T>(0);
        if (k < count) x[i] = p[k];
      }
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) {
        const bool valid = mine + i * 32 < count;
        const unsigned digit = td_digit(td_key(x[i]), shift, flip);
        const unsigned peers = td_peers(digit, valid);
        const unsigned earlier = ahead[warp][digit];
        __syncwarp();
        if (valid && (peers & before) == 0) ahead[warp][digit] = earlier + __popc(peers);
        __syncwarp();
        rank[i] = earlier + __popc(peers & before);
      }
      __syncthreads();
      {
        unsigned place = next[threadIdx.x];
#pragma unroll
        for (int w = 0; w < 8; ++w) {
          const unsigned n = ahead[w][threadIdx.x];
          ahead[w][threadIdx.x] = place;
          place += n;
        }
        next[threadIdx.x] = place;
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) {
        const int k = mine + i * 32;
        if (k < count) {
          const long long place =
              row * length + ahead[warp][td_digit(td_key(x[i]), shift, flip)] + rank[i];
          if (out) out[place] = x[i];
          if constexpr (PLACES)
            to[place] = from ? (TO)from[row * length + first + k] : (TO)(first + k);
        }
      }
      __syncthreads();
    }
  }
}
