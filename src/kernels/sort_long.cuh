// Rows longer than a block, for devices with many threads. One read of the row counts the digits of
// every pass; then each pass moves every element once. A block takes a tile of a row, orders it by
// the digit in shared memory, learns from the tiles in front of it where its elements of each digit
// go, and writes them in runs. Passes whose digit is the same everywhere do nothing.
//
// A tile waits only for tiles with lower tickets, and those were taken by blocks that run.

// Adds the digits of a chunk of a row to totals[row][pass][digit]. Neighbouring lanes count in
// different copies, so that they rarely meet.
template <class T, int PASSES>
TD_FN void td_count_digits(const T* in, unsigned* totals, long long length, long long rows,
                           long long chunk, int chunks, unsigned flip) {
  enum { COPIES = PASSES <= 4 ? 8 : 32 / PASSES, WORDS = PASSES * 256 * COPIES };
  __shared__ unsigned counts[WORDS];
  unsigned* const own = counts + threadIdx.x % COPIES;
  for (long long g = blockIdx.x; g < rows * chunks; g += gridDim.x) {
    const long long row = g / chunks, first = (g - row * chunks) * chunk;
    const long long count = first + chunk < length ? chunk : length - first;
    const T* p = in + row * length + first;
    for (int k = threadIdx.x; k < WORDS; k += 256) counts[k] = 0;
    __syncthreads();
#pragma unroll 8
    for (long long k = threadIdx.x; k < count; k += 256) {
      const auto key = td_key(p[k]);
#pragma unroll
      for (int pass = 0; pass < PASSES; ++pass)
        atomicAdd(own + (pass * 256 + td_digit(key, pass * 8, flip)) * COPIES, 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < PASSES * 256; k += 256) {
      unsigned sum = 0;
#pragma unroll
      for (int c = 0; c < COPIES; ++c) sum += counts[k * COPIES + (c + k) % COPIES];
      if (sum) atomicAdd(&totals[row * PASSES * 256 + k], sum);
    }
    __syncthreads();
  }
}

// Totals become the places within the row where each digit starts. plan[row][pass] says which of
// the passes that move something it is, or -1; plan[row][PASSES] how many there are, one at least.
template <int PASSES>
TD_FN void td_plan_passes(unsigned* totals, int* plan, unsigned length, long long rows) {
  __shared__ unsigned warps[8];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    int moving = 0;
    for (int pass = 0; pass < PASSES; ++pass) {
      unsigned* p = totals + (row * PASSES + pass) * 256 + threadIdx.x;
      const unsigned total = *p;
      bool moves = !__syncthreads_or(total == length);
      moves = moves || (pass == PASSES - 1 && moving == 0);
      *p = td_digit_starts(total, warps);
      if (threadIdx.x == 0) plan[row * (PASSES + 1) + pass] = moves ? moving : -1;
      moving += moves;
    }
    if (threadIdx.x == 0) plan[row * (PASSES + 1) + PASSES] = moving;
    __syncthreads();
  }
}

// What tiles, groups of tiles and sets of groups have published for each digit of a row: a count
// below a mark in the upper two bits. Counts of sets include those of all sets in front. Every step
// writes every word, so one that holds the other mark, of the step before, is not there yet.
template <class Word>
struct td_digit_totals {
  enum { GROUP = 16, BITS = sizeof(Word) * 8 - 2 };
  Word *tiles, *groups, *sets, mark;

  __device__ __forceinline__ td_digit_totals(Word* state, long long row, long long rows,
                                             long long all, int step)
      : mark(step & 1 ? 2 : 1) {
    const long long n = (all + GROUP - 1) / GROUP, m = (n + GROUP - 1) / GROUP;
    tiles = state + row * all * 256;
    groups = state + (rows * all + row * n) * 256;
    sets = state + (rows * (all + n) + row * m) * 256;
  }
  __device__ __forceinline__ bool there(Word word) const { return word >> BITS == mark; }
  __device__ __forceinline__ void put(Word* p, Word count) const {
    *(volatile Word*)p = count | mark << BITS;
  }
  // The sum of `count` neighbours.
  __device__ __forceinline__ Word sum(const Word* p, int count) const {
    Word sum = 0;
    for (int from = 0; from < count; from += 8) {
      Word word[8];
#pragma unroll
      for (int u = 0; u < 8; ++u)
        word[u] = from + u < count ? *(const volatile Word*)(p + (from + u) * 256) : mark << BITS;
#pragma unroll
      for (int u = 0; u < 8; ++u) {
        while (!there(word[u])) word[u] = *(const volatile Word*)(p + (from + u) * 256);
        sum += word[u] & (((Word)1 << BITS) - 1);
      }
    }
    return sum;
  }
};

// What moves: the values, or values with their places in the row. A pair travels as one word, so
// that the runs in which a tile's elements of a digit are written are long.
template <class T>
struct alignas(sizeof(T) <= 4 ? 8 : 16) td_pair {
  T value;
  unsigned place;
};
template <class T>
TD_FN void td_element(T& e, T value, unsigned) {
  e = value;
}
template <class T>
TD_FN void td_element(td_pair<T>& e, T value, unsigned place) {
  e.value = value;
  e.place = place;
}
template <class T>
TD_FN T td_element_value(const T& e) {
  return e;
}
template <class T>
TD_FN T td_element_value(const td_pair<T>& e) {
  return e.value;
}
template <class T>
TD_FN void td_element_result(T* to, const T& e) {
  *to = e;
}
template <class T>
TD_FN void td_element_result(long long* to, const td_pair<T>& e) {
  *to = e.place;
}

// The buffers of a sort of T that moves E and writes R. The last step writes `result`, the one
// before it `other`, the one before that `same`; `same` may be `result`.
template <class T, class E, class R>
struct td_sort_buffers {
  const T* in;
  E *same, *other;
  R* result;
};

// Shared memory of a block; the counters of its warps' digits give way to elements.
template <class E, class Word, int TILE, int WARPS>
struct td_sort_shared {
  union {
    unsigned ahead[WARPS][256];
    alignas(16) unsigned char room[TILE * sizeof(E)];
  };
  Word front[256];
  unsigned base[256], warps[8], ticket;
};

// One pass over a tile; WHOLE: all its elements exist.
template <bool WHOLE, class T, class E, class R, class Word, int THREADS, int ITEMS, class Shared>
TD_FN void td_move_tile(Shared& s, const td_sort_buffers<T, E, R>& b, const unsigned* starts,
                        const td_digit_totals<Word>& totals, long long start, long long tile,
                        int count, int step, int steps, int shift, unsigned flip) {
  enum { TILE = THREADS * ITEMS, WARPS = THREADS / 32, HALF = WARPS / 2 };
  typedef td_digit_totals<Word> Totals;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, d = threadIdx.x & 255;
  const bool lower = threadIdx.x < 256, last = step == steps - 1;
  const long long first = start + tile * TILE;
  E* const elements = reinterpret_cast<E*>(s.room);

  E x[ITEMS];
  unsigned at[ITEMS];  // the digit, and the rank among equal ones of the warp
  const int mine = warp * 32 * ITEMS + lane;
  const E* const from = ((steps - step) & 1 ? b.other : b.same) + first;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int k = mine + i * 32;
    if constexpr (!WHOLE) td_element(x[i], td_cast<T>(0), 0u);
    if (!WHOLE && k >= count) continue;
    if (step == 0)
      td_element(x[i], b.in[first + k], (unsigned)(tile * TILE + k));
    else
      x[i] = from[k];
  }
  // Behind the end of the row stand elements with the highest digit: they come last.
  const unsigned before = (1u << lane) - 1u;
  const int minus_one = td_minus_one(shift);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    unsigned digit = td_digit(td_key(td_element_value(x[i])), shift, flip);
    if (!WHOLE && mine + i * 32 >= count) digit = 255u;
    const unsigned peers = td_peers(digit, true, minus_one), lower_peers = peers & before;
    const unsigned earlier = s.ahead[warp][digit];
    __syncwarp();
    if (lower_peers == 0) s.ahead[warp][digit] = earlier + __popc(peers);
    __syncwarp();
    at[i] = digit << 16 | (earlier + __popc(lower_peers));
  }
  __syncthreads();

  const long long group = tile / Totals::GROUP, set = group / Totals::GROUP;
  const int k = (int)(tile % Totals::GROUP), g = (int)(group % Totals::GROUP);
  unsigned total = 0, sum = 0;
  if (lower) {
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
      const unsigned n = s.ahead[w][d];
      s.ahead[w][d] = total;
      total += n;
    }
    const unsigned all = sum = total;
    if (d == 255) total -= TILE - count;
    totals.put(totals.tiles + tile * 256 + d, total);
#pragma unroll
    for (int j = 1; j < 32; j <<= 1) {
      const unsigned earlier = __shfl_up_sync(0xffffffffu, sum, j);
      sum += lane >= j ? earlier : 0u;
    }
    if (lane == 31) s.warps[warp] = sum;
    sum -= all;
  }
  __syncthreads();
  if (lower) {
    for (int w = 0; w < warp; ++w) sum += s.warps[w];
    s.base[d] = sum;  // where the digit starts within the tile
  }
  __syncthreads();
#pragma unroll
  for (int w = 0; w < HALF; ++w) s.ahead[w + (lower ? 0 : HALF)][d] += s.base[d];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) at[i] = (at[i] & 0xffffu) + s.ahead[warp][at[i] >> 16];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) elements[at[i]] = x[i];

  // Half of the threads look at the tiles of this group, the others at what is in front of it.
  Word seen;
  if (lower) {
    seen = totals.sum(totals.tiles + group * Totals::GROUP * 256 + d, k);
    if (k == Totals::GROUP - 1) totals.put(totals.groups + group * 256 + d, seen + total);
  } else {
    seen = totals.sum(totals.groups + set * Totals::GROUP * 256 + d, g);
    if (set > 0) seen += totals.sum(totals.sets + (set - 1) * 256 + d, 1);
    s.front[d] = seen;
  }
  __syncthreads();
  if (lower) {
    seen += s.front[d];
    if (k == Totals::GROUP - 1 && g == Totals::GROUP - 1)
      totals.put(totals.sets + set * 256 + d, seen + total);
    s.base[d] = starts[d] + (unsigned)seen - sum;
  }
  __syncthreads();

  E* const to = ((steps - step) & 1 ? b.same : b.other) + start;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int m = threadIdx.x + i * THREADS;
    if (!WHOLE && m >= count) continue;
    const E e = elements[m];
    const unsigned digit = td_digit(td_key(td_element_value(e)), shift, flip);
    const unsigned place = s.base[digit] + (unsigned)m;
    if (last)
      td_element_result(b.result + start + place, e);
    else
      to[place] = e;
  }
}

// One pass over tile `ticket` of rows x tiles. Tickets and state are zero at first. The block has
// sizeof(td_sort_shared) bytes of dynamic shared memory.
template <class T, class E, class R, class Word, int THREADS, int ITEMS, int PASSES>
TD_FN void td_move_digits(const td_sort_buffers<T, E, R>& b, const unsigned* starts,
                          const int* plan, Word* state, unsigned* tickets, long long length,
                          long long rows, long long tiles, int pass, unsigned flip) {
  enum { TILE = THREADS * ITEMS, WARPS = THREADS / 32 };
  static_assert(THREADS == 512, "two threads a digit");
  extern __shared__ uint4 td_room[];
  auto& s = *reinterpret_cast<td_sort_shared<E, Word, TILE, WARPS>*>(td_room);
  if (threadIdx.x == 0) s.ticket = atomicAdd(tickets + pass, 1u);
#pragma unroll
  for (int k = 0; k < WARPS * 256 / THREADS; ++k) s.ahead[0][threadIdx.x + k * THREADS] = 0;
  __syncthreads();
  const long long row = s.ticket / tiles, tile = s.ticket - row * tiles;
  const int step = plan[row * (PASSES + 1) + pass], steps = plan[row * (PASSES + 1) + PASSES];
  if (step < 0) return;
  const td_digit_totals<Word> totals(state, row, rows, tiles, step);
  const long long rest = length - tile * TILE;
  starts += (row * PASSES + pass) * 256;
  if (rest >= TILE)
    td_move_tile<true, T, E, R, Word, THREADS, ITEMS>(s, b, starts, totals, row * length, tile,
                                                      TILE, step, steps, pass * 8, flip);
  else
    td_move_tile<false, T, E, R, Word, THREADS, ITEMS>(s, b, starts, totals, row * length, tile,
                                                       (int)rest, step, steps, pass * 8, flip);
}
