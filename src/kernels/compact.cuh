// Compaction of what a mask keeps, in order and without atomics: each warp walks a piece of the
// mask, 32 elements a step. A first kernel counts the elements that hold in every piece, a second
// adds up the counts in front of each piece, a third knows where each element goes.

#define TD_LANES_BELOW ((1u << (threadIdx.x & 31)) - 1u)

TD_FN void td_count_pieces(const bool* mask, long long n, long long piece, long long pieces,
                           long long* counts) {
  const int lane = threadIdx.x & 31;
  const long long warps = (long long)gridDim.x * 8;
  for (long long t = (long long)blockIdx.x * 8 + (threadIdx.x >> 5); t < pieces; t += warps) {
    const long long first = t * piece, end = first + piece < n ? first + piece : n;
    int held = 0;
#ifdef __TREADLE__
    for (long long i = first + lane; i < end; i += 32) held += mask[i];
#else
    // 16 elements a lane; pieces start at multiples of 512.
    const bool aligned = ((unsigned long long)mask & 15ull) == 0;
    long long whole = aligned ? first + (end - first) / 512 * 512 : first;
#pragma unroll 4
    for (long long i = first + lane * 16; i < whole; i += 512) {
      const td_vec<unsigned, 4> v = *reinterpret_cast<const td_vec<unsigned, 4>*>(mask + i);
      held += __popc(v.at[0]) + __popc(v.at[1]) + __popc(v.at[2]) + __popc(v.at[3]);
    }
    for (long long i = whole + lane; i < end; i += 32) held += mask[i];
#endif
    for (int s = 16; s > 0; s >>= 1) held += __shfl_xor_sync(~0u, held, s);
    if (lane == 0) counts[t] = held;
  }
}

// One block: counts become the numbers of elements in front, and counts[pieces] the total.
TD_FN void td_add_counts(long long* counts, long long pieces) {
  __shared__ long long sums[256];
  const long long share = (pieces + 255) / 256;
  const long long first = threadIdx.x * share;
  const long long end = first + share < pieces ? first + share : pieces;
  long long sum = 0;
#pragma unroll 8
  for (long long t = first; t < end; ++t) sum += counts[t];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 1; s < 256; s <<= 1) {
    const long long other = threadIdx.x >= s ? sums[threadIdx.x - s] : 0;
    __syncthreads();
    sums[threadIdx.x] += other;
    __syncthreads();
  }
  long long before = sums[threadIdx.x] - sum;
  for (long long t = first; t < end; t += 8) {
    long long own[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) own[u] = t + u < end ? counts[t + u] : 0;
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      if (t + u < end) counts[t + u] = before;
      before += own[u];
    }
  }
  if (threadIdx.x == 255) counts[pieces] = sums[255];
}

// For every element i that holds, the rank-th of them: store(i, rank, load(i, rank)). The loads of
// several steps come before their stores, so that they travel together.
template <class Value, class Load, class Store>
TD_FN void td_each_held(const bool* mask, long long n, long long piece, long long pieces,
                        const long long* before, Load load, Store store) {
  const int lane = threadIdx.x & 31;
  const long long warps = (long long)gridDim.x * 8;
  for (long long t = (long long)blockIdx.x * 8 + (threadIdx.x >> 5); t < pieces; t += warps) {
    const long long first = t * piece, end = first + piece < n ? first + piece : n;
    long long rank = before[t];
    for (long long from = first; from < end; from += 32 * TD_WIDTH(8)) {
      bool held[TD_WIDTH(8)];
      long long place[TD_WIDTH(8)];
      Value value[TD_WIDTH(8)];
#pragma unroll
      for (int u = 0; u < TD_WIDTH(8); ++u) {
        const long long i = from + u * 32 + lane;
        held[u] = i < end && mask[i];
      }
#pragma unroll
      for (int u = 0; u < TD_WIDTH(8); ++u) {
        const unsigned votes = __ballot_sync(~0u, held[u]);
        place[u] = rank + __popc(votes & TD_LANES_BELOW);
        rank += __popc(votes);
      }
#pragma unroll
      for (int u = 0; u < TD_WIDTH(8); ++u)
        if (held[u]) value[u] = load(from + u * 32 + lane, place[u]);
#pragma unroll
      for (int u = 0; u < TD_WIDTH(8); ++u)
        if (held[u]) store(from + u * 32 + lane, place[u], value[u]);
    }
  }
}
