// Scans of long rows in one pass over memory, for devices with many threads. A block keeps a tile
// of a row in shared memory, publishes its total, and learns from the totals of others what stands
// in front of it: those of tiles of its group, of groups of its set, and the running total behind
// the set before. So a tile reads few totals, all at once, and no chain of tiles has to be waited
// for. Terms are grouped by place alone: a sum of floating-point numbers repeats to the bit.
//
// A tile waits only for tiles with lower block indices. A device starts blocks in this order, and
// one that runs blocks in turn lets all of them proceed.

enum { TD_GROUP = 32 };  // tiles in a group, groups in a set

// A value in words of 64 bits, each half value and half a mark that it is there (zero: it is not).
// Reading begins with the constructor. What is not wanted counts as there, as zero.
template <class A>
struct td_published {
  enum { WORDS = sizeof(A) <= 4 ? 1 : sizeof(A) / 4 };
  const volatile unsigned long long* place;
  unsigned long long word[WORDS];
  bool wanted;

  __device__ __forceinline__ td_published(const unsigned long long* base, long long index,
                                          bool want)
      : place(base + index * WORDS), wanted(want) {
#pragma unroll
    for (int k = 0; k < WORDS; ++k) word[k] = wanted ? place[k] : 0;
  }
  // Looks again for what has not been seen; whether all is there.
  __device__ __forceinline__ bool look() {
    bool all = true;
#pragma unroll
    for (int k = 0; k < WORDS; ++k) {
      if (wanted && word[k] >> 32 == 0) word[k] = place[k];
      all = all && (!wanted || word[k] >> 32 != 0);
    }
    return all;
  }
  __device__ __forceinline__ A value() const {
    alignas(16) unsigned part[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; ++k) part[k] = (unsigned)word[k];
    return *reinterpret_cast<const A*>(part);
  }
  __device__ __forceinline__ A wait() {
    while (!look()) continue;
    return value();
  }
  static __device__ __forceinline__ unsigned long long marked(unsigned part) {
    return 1ull << 32 | part;
  }
  // In place of what would have been read.
  __device__ __forceinline__ void set(A value) {
    alignas(16) unsigned part[WORDS] = {};
    *reinterpret_cast<A*>(part) = value;
#pragma unroll
    for (int k = 0; k < WORDS; ++k) word[k] = marked(part[k]);
  }
  static __device__ __forceinline__ void put(unsigned long long* base, long long index, A value) {
    alignas(16) unsigned part[WORDS] = {};
    *reinterpret_cast<A*>(part) = value;
#pragma unroll
    for (int k = 0; k < WORDS; ++k)
      ((volatile unsigned long long*)base)[index * WORDS + k] = marked(part[k]);
  }
};

// What one warp reads for its tile. Groups and sets lie behind the tiles of all rows.
template <class F>
struct td_front {
  typedef typename F::A A;
  typedef td_published<A> P;
  unsigned long long *tiles, *groups, *sets;
  long long group, set;
  int k, g;
  P in_group, in_set, before;

  __device__ __forceinline__ td_front(unsigned long long* state, long long row, long long rows,
                                      long long all, long long tile, int lane)
      : tiles(state + row * all * P::WORDS),
        groups(state + (rows * all + row * count(all)) * P::WORDS),
        sets(state + (rows * (all + count(all)) + row * count(count(all))) * P::WORDS),
        group(tile / TD_GROUP),
        set(group / TD_GROUP),
        k((int)(tile % TD_GROUP)),
        g((int)(group % TD_GROUP)),
        in_group(tiles, group * TD_GROUP + lane, lane < k),
        in_set(groups, set * TD_GROUP + lane, lane < g),
        before(sets, set - 1, set > 0) {}
  static __device__ __forceinline__ long long count(long long n) {
    return (n + TD_GROUP - 1) / TD_GROUP;
  }
  // The sums of the groups in front, one a lane. Where a group's last tile has yet to publish its
  // sum, those of its tiles may all be there: the sum of these, in the same order, does as well,
  // and is there a trip to memory earlier.
  __device__ __forceinline__ A wait_for_groups(int lane) {
    for (;;) {
      const unsigned missing = __ballot_sync(0xffffffffu, !in_set.look());
      if (missing == 0) return in_set.value();
      const int next = __ffs((int)missing) - 1;
      P part(tiles, (set * TD_GROUP + next) * TD_GROUP + lane, true);
      if (!__all_sync(0xffffffffu, part.look())) continue;
      const A own = part.value();
      const A some = td_shuffle(td_warp_scan<F>(own, lane), TD_GROUP - 2);
      const A whole = F::combine(some, td_shuffle(own, TD_GROUP - 1));
      if (lane == next) in_set.set(whole);
    }
  }
  // The sum in front of the tile, whose own total is `total`; of no use to the row's first tile.
  __device__ __forceinline__ A wait(A total, int lane) {
    A some = in_group.wait();
    __syncwarp();
    some = td_shuffle(td_warp_scan<F>(some, lane), k > 0 ? k - 1 : 0);
    const A whole = k > 0 ? F::combine(some, total) : total;
    if (k == TD_GROUP - 1 && lane == 0) P::put(groups, group, whole);
    A sum = wait_for_groups(lane);
    __syncwarp();
    sum = td_shuffle(td_warp_scan<F>(sum, lane), g > 0 ? g - 1 : 0);
    const A earlier = before.wait();
    __syncwarp();
    if (set > 0) sum = g > 0 ? F::combine(earlier, sum) : earlier;
    const bool any = set > 0 || g > 0;
    if (k == TD_GROUP - 1 && g == TD_GROUP - 1 && lane == 0)
      P::put(sets, set, any ? F::combine(sum, whole) : whole);
    if (k == 0) return sum;
    return any ? F::combine(sum, some) : some;
  }
};

// 16 bytes from global to shared memory, which arrive until td_copies_arrive().
TD_FN void td_copy_16(void* to, const void* from) {
#ifdef __TREADLE__
  *reinterpret_cast<td_vec<unsigned, 4>*>(to) = *reinterpret_cast<const td_vec<unsigned, 4>*>(from);
#else
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
      "l"(from)
      : "memory");
#endif
}
TD_FN void td_copies_arrive() {
#ifndef __TREADLE__
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Tile blockIdx.x of rows x tiles; state is zero at first. V elements of T have 16 bytes, and the
// accumulators of a tile 32 KiB.
template <class F, class T, int V>
TD_FN void td_scan_tile(const T* in, T* out, unsigned long long* state, long long length,
                        long long rows, long long tiles, bool aligned) {
  typedef typename F::A A;
  enum { U = 128 / (V * sizeof(A)), WARP = U * 32 * V, TILE = 8 * WARP };
  __shared__ alignas(128) A stash[TILE];
  __shared__ A totals[8], front;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const long long row = blockIdx.x / tiles, tile = blockIdx.x - row * tiles;
  const long long first = tile * TILE + warp * WARP, rest = length - first;
  const bool whole = aligned && rest >= WARP;
  const T* const p = in + row * length + first;
  A* const own = stash + warp * WARP + lane * V;
  A total = td_cast<A>(0);
  if (td_same<A, T>::value && whole) {
#pragma unroll
    for (int u = 0; u < U; ++u) td_copy_16(own + u * 32 * V, p + (u * 32 + lane) * V);
    td_copies_arrive();
  } else {
    for (int u = 0; u < U; ++u) {
      const td_vec<T, V> x = td_load_some<V>(p, (u * 32 + lane) * V, rest, aligned);
#pragma unroll
      for (int j = 0; j < V; ++j) own[u * 32 * V + j] = F::lift(x.at[j], 0);
    }
  }
  __syncwarp();
  // The order of elements does not matter to a total.
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const td_vec<A, V> x = td_load<V>(own + u * 32 * V);
#pragma unroll
    for (int j = 0; j < V; ++j) total = u + j == 0 ? x.at[0] : F::combine(total, x.at[j]);
  }
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) total = F::combine(total, td_shuffle(total, lane ^ d));
  if (lane == 0) totals[warp] = total;
  __syncthreads();
  A base = totals[0];
  total = totals[0];
#pragma unroll
  for (int w = 1; w < 8; ++w) {
    if (w == warp) base = total;  // the sum of the warps in front
    total = F::combine(total, totals[w]);
  }
  if (threadIdx.x == 0) td_published<A>::put(state, row * tiles + tile, total);
  td_front<F> others(state, row, rows, tiles, tile, warp == 0 ? lane : 32);

  // Scans each warp's part while the totals of others arrive.
  A carry = total;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    td_vec<A, V> x = td_load<V>(own + u * 32 * V);
#pragma unroll
    for (int j = 1; j < V; ++j) x.at[j] = F::combine(x.at[j - 1], x.at[j]);
    const A all = td_warp_scan<F>(x.at[V - 1], lane);
    A before = td_shuffle(all, lane > 0 ? lane - 1 : 0);
    if (u > 0) before = td_select(lane > 0, F::combine(carry, before), carry);
    const bool any = u > 0 || lane > 0;
#pragma unroll
    for (int j = 0; j < V; ++j) x.at[j] = td_select(any, F::combine(before, x.at[j]), x.at[j]);
    td_store(own + u * 32 * V, x);
    carry = td_shuffle(x.at[V - 1], 31);
  }
  if (warp == 0) {
    const A sum = others.wait(total, lane);
    if (lane == 0) front = sum;
  }
  __syncthreads();
  if (tile > 0) base = warp > 0 ? F::combine(front, base) : front;
  const bool based = tile > 0 || warp > 0;
  T* const q = out + row * length + first;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const td_vec<A, V> x = td_load<V>(own + u * 32 * V);
    td_vec<T, V> y;
#pragma unroll
    for (int j = 0; j < V; ++j)
      y.at[j] = F::finish(td_select(based, F::combine(base, x.at[j]), x.at[j]), 1.0);
    if (whole)
      td_store(q + (u * 32 + lane) * V, y);
    else
      td_store_some<V>(q, (u * 32 + lane) * V, rest, aligned, y);
  }
}
