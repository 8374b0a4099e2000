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
template <class T>
TD_FN unsigned td_half_key(T x) {
  const unsigned bits = x.bits == 0x8000u ? 0u : x.bits;
  const unsigned key = bits ^ (bits & 0x8000u ? 0xffffu : 0x8000u);
  return (bits & 0x7fffu) <= T::infinity ? key : 0xffffu;
}
TD_FN unsigned td_key(td_half x) { return td_half_key(x); }
TD_FN unsigned td_key(td_bfloat x) { return td_half_key(x); }
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
TD_FN unsigned td_shuffle_key(unsigned key, int from) {
  return __shfl_sync(0xffffffffu, key, from);
}
TD_FN unsigned long long td_shuffle_key(unsigned long long key, int from) {
  return __shfl_sync(0xffffffffu, key, from);
}
TD_FN td_wide_key td_shuffle_key(td_wide_key key, int from) {
  key.high = __shfl_sync(0xffffffffu, key.high, from);
  key.low = __shfl_sync(0xffffffffu, key.low, from);
  return key;
}
TD_FN unsigned td_flip_key(unsigned key, unsigned flip) { return key ^ flip; }
TD_FN unsigned long long td_flip_key(unsigned long long key, unsigned flip) {
  return flip ? ~key : key;
}
TD_FN td_wide_key td_flip_key(td_wide_key key, unsigned flip) {
  key.high = td_flip_key(key.high, flip);
  key.low = td_flip_key(key.low, flip);
  return key;
}

// `span` threads a row, a power of two. With `places` the original places are written instead.
template <class T>
TD_FN void td_sort_short(const T* in, T* out, long long* places, int length, long long rows,
                         int span, unsigned flip) {
  typedef decltype(td_key(T())) Key;
  __shared__ Key keys[256];
  const int sub = threadIdx.x / span, k = threadIdx.x - sub * span, per_block = 256 / span;
  const int lane = threadIdx.x & 31, most = length < 32 ? length : 32;
  const int own = span < 32 ? lane & ~(span - 1) : 0;  // the first lane of this row
  for (long long base = (long long)blockIdx.x * per_block; base < rows;
       base += (long long)gridDim.x * per_block) {
    const long long row = base + sub;
    const bool mine = k < length && row < rows;
    T x = td_cast<T>(0);
    if (mine) x = in[row * length + k];
    const Key key = td_flip_key(td_key(x), flip);
    if (span > 32) {
      keys[threadIdx.x] = key;
      __syncthreads();
    }
    int rank = 0;
    for (int j = 0; j < length; j += 32) {
      // 32 keys of the row, one a lane, then one after the other to all lanes
      const Key some = span > 32 ? keys[sub * span + j + lane] : key;
      const int count = length - j < most ? length - j : most;
      for (int s = 0; s < count; ++s) {
        const Key other = td_shuffle_key(some, own + s);
        rank += td_key_less(other, key) | (!td_key_less(key, other) & (j + s < k));
      }
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

// Lanes with the digit (below 256) of this one; lanes that are not `valid` are never among them.
// `minus_one` is -1, from a value that the compiler cannot know.
TD_FN unsigned td_peers(unsigned digit, bool valid, int minus_one) {
#ifdef __TREADLE__
  return __match_any_sync(0xffffffffu, valid ? digit : 256u);
#else
  unsigned peers = __ballot_sync(0xffffffffu, valid);
  // Four instructions a bit; from C++ a compiler makes seven. ~v is v * -1 - 1: what limits a sort
  // is the unit for logic, while the one that multiplies has nothing to do.
#pragma unroll
  for (int b = 0; b < 8; ++b)
    asm volatile(
        "{ .reg .pred p; .reg .b32 v; and.b32 v, %1, %2; setp.ne.u32 p, v, 0; "
        "vote.sync.ballot.b32 v, p, 0xffffffff; @!p mad.lo.s32 v, v, %3, %3; "
        "and.b32 %0, %0, v; }"
        : "+r"(peers)
        : "r"(digit), "r"(1u << b), "r"(minus_one));
  return peers;
#endif
}
// For the `shift` of a pass, which is never negative.
TD_FN int td_minus_one(int shift) { return ~(shift >> 31); }

// The rank of a warp's ITEMS elements a lane among those of their digit, in order: element i of
// lane l is the warp's element 32 * i + l. `ahead` counts the warp's digits, from zero.
template <class T, int ITEMS>
TD_FN void td_rank_digits(const T* x, unsigned* rank, int mine, int count, unsigned* ahead,
                          int shift, unsigned flip) {
  const unsigned before = (1u << (threadIdx.x & 31)) - 1u;
  const int minus_one = td_minus_one(shift);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const bool valid = mine + i * 32 < count;
    const unsigned digit = td_digit(td_key(x[i]), shift, flip);
    const unsigned peers = td_peers(digit, valid, minus_one);
    const unsigned earlier = ahead[digit];
    __syncwarp();
    if (valid && (peers & before) == 0) ahead[digit] = earlier + __popc(peers);
    __syncwarp();
    rank[i] = earlier + __popc(peers & before);
  }
}

// Exclusive sums of the digits' totals over the block's 256 threads, one digit a thread.
TD_FN unsigned td_digit_starts(unsigned total, unsigned* warps) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  unsigned sum = total;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const unsigned earlier = __shfl_up_sync(0xffffffffu, sum, d);
    sum += lane >= d ? earlier : 0u;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; ++w) sum += warps[w];
  return sum - total;
}

// ---- rows that fit into a block: all passes in shared memory, ITEMS elements a thread ----
template <class T, int ITEMS, bool PLACES>
TD_FN void td_sort_block(const T* in, T* out, long long* places, int length, long long rows,
                         int passes, unsigned flip) {
  __shared__ unsigned ahead[8][256];
  __shared__ unsigned warps[8];
  __shared__ T values[256 * ITEMS];
  __shared__ unsigned short origins[PLACES ? 256 * ITEMS : 1];
  const int warp = threadIdx.x >> 5, mine = warp * 32 * ITEMS + (threadIdx.x & 31);
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    T x[ITEMS];
    unsigned rank[ITEMS];
    unsigned short origin[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int k = mine + i * 32;
      x[i] = td_cast<T>(0);
      origin[i] = (unsigned short)k;
      if (k < length) x[i] = in[row * length + k];
    }
    for (int pass = 0; pass < passes; ++pass) {
      const int shift = pass * 8;
#pragma unroll
      for (int w = 0; w < 8; ++w) ahead[w][threadIdx.x] = 0;
      __syncthreads();
      td_rank_digits<T, ITEMS>(x, rank, mine, length, ahead[warp], shift, flip);
      __syncthreads();
      unsigned total = 0;
#pragma unroll
      for (int w = 0; w < 8; ++w) total += ahead[w][threadIdx.x];
      unsigned place = td_digit_starts(total, warps);
#pragma unroll
      for (int w = 0; w < 8; ++w) {
        const unsigned n = ahead[w][threadIdx.x];
        ahead[w][threadIdx.x] = place;
        place += n;
      }
      __syncthreads();
      const bool last = pass == passes - 1;
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) {
        if (mine + i * 32 < length) {
          const unsigned at = ahead[warp][td_digit(td_key(x[i]), shift, flip)] + rank[i];
          if (!last) {
            values[at] = x[i];
            if constexpr (PLACES) origins[at] = origin[i];
          } else if constexpr (PLACES) {
            places[row * length + at] = origin[i];
          } else {
            out[row * length + at] = x[i];
          }
        }
      }
      __syncthreads();
      if (!last) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
          const int k = mine + i * 32;
          if (k < length) {
            x[i] = values[k];
            if constexpr (PLACES) origin[i] = origins[k];
          }
        }
      }
    }
  }
}
