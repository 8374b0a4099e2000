// Compaction of what a mask keeps, in order and without atomics. A first kernel counts the elements
// that hold in every piece of the mask, a second adds up the counts in front of each piece, a third
// knows where each element goes. Few threads walk pieces by warps, 32 elements a step; with many
// threads a block takes a tile of 4096 elements, and lists those that hold in shared memory.

#define TD_LANES_BELOW ((1u << (threadIdx.x & 31)) - 1u)

// A mask is bytes, and every byte but 0 holds: four of them as 1 or 0 each.
TD_FN unsigned td_truths(unsigned bytes) {
  return ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu | bytes) >> 7 & 0x01010101u;
}

TD_FN void td_count_pieces(const unsigned char* mask, long long n, long long piece,
                           long long pieces, long long* counts) {
  const int lane = threadIdx.x & 31;
  const long long warps = (long long)gridDim.x * 8;
  for (long long t = (long long)blockIdx.x * 8 + (threadIdx.x >> 5); t < pieces; t += warps) {
    const long long first = t * piece, end = first + piece < n ? first + piece : n;
    int held = 0;
#ifdef __TREADLE__
    for (long long i = first + lane; i < end; i += 32) held += mask[i] != 0;
#else
    // 16 elements a lane; pieces start at multiples of 512.
    const bool aligned = ((unsigned long long)mask & 15ull) == 0;
    long long whole = aligned ? first + (end - first) / 512 * 512 : first;
#pragma unroll 4
    for (long long i = first + lane * 16; i < whole; i += 512) {
      const td_vec<unsigned, 4> v = *reinterpret_cast<const td_vec<unsigned, 4>*>(mask + i);
#pragma unroll
      for (int k = 0; k < 4; ++k) held += __popc(td_truths(v.at[k]));
    }
    for (long long i = whole + lane; i < end; i += 32) held += mask[i] != 0;
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
TD_FN void td_each_held(const unsigned char* mask, long long n, long long piece, long long pieces,
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
        held[u] = i < end && mask[i] != 0;
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

// ---- tiles ----

enum {
  TD_MASK_TILE = 4096,
  TD_MASK_TILES = 8
};  // elements in a tile, tiles that are counted together

struct td_mask_words {
  unsigned w[4];
};
// 16 elements of the mask from `at` on; those at n and behind do not hold.
TD_FN td_mask_words td_load_mask(const unsigned char* mask, long long at, long long n) {
  td_mask_words m;
  if (((unsigned long long)mask & 15ull) == 0 && at + 16 <= n) {
    const td_vec<unsigned, 4> v = *reinterpret_cast<const td_vec<unsigned, 4>*>(mask + at);
#pragma unroll
    for (int k = 0; k < 4; ++k) m.w[k] = td_truths(v.at[k]);
    return m;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    m.w[k] = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (at + 4 * k + j < n && mask[at + 4 * k + j]) m.w[k] |= 1u << (8 * j);
  }
  return m;
}
TD_FN int td_count_mask(const td_mask_words& m) {
  return __popc(m.w[0]) + __popc(m.w[1]) + __popc(m.w[2]) + __popc(m.w[3]);
}

// Block b counts tiles 8 b to 8 b + 7: counts[b], and offsets[tile] among them.
TD_FN void td_count_tiles(const unsigned char* mask, long long n, long long tiles, int* offsets,
                          long long* counts) {
  __shared__ int warps[8][8];  // [tile][warp]
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const long long first = (long long)blockIdx.x * TD_MASK_TILES;
  int held[TD_MASK_TILES];
#pragma unroll
  for (int t = 0; t < TD_MASK_TILES; ++t)
    held[t] = td_count_mask(td_load_mask(mask, (first + t) * TD_MASK_TILE + threadIdx.x * 16, n));
#pragma unroll
  for (int t = 0; t < TD_MASK_TILES; ++t) {
#pragma unroll
    for (int s = 16; s > 0; s >>= 1) held[t] += __shfl_xor_sync(~0u, held[t], s);
    if (lane == t) warps[t][warp] = held[t];
  }
  __syncthreads();
  if (warp > 0) return;
  int own = 0;
  if (lane < TD_MASK_TILES)
    for (int w = 0; w < 8; ++w) own += warps[lane][w];
  int sum = own;
#pragma unroll
  for (int d = 1; d < 8; d <<= 1) {
    const int earlier = __shfl_up_sync(~0u, sum, d);
    sum += lane >= d ? earlier : 0;
  }
  if (lane < TD_MASK_TILES && first + lane < tiles) offsets[first + lane] = sum - own;
  if (lane == TD_MASK_TILES - 1) counts[blockIdx.x] = sum;
}

// As td_each_held, after td_count_tiles and td_add_counts.
template <class Value, class Load, class Store>
TD_FN void td_each_listed(const unsigned char* mask, long long n, long long tiles,
                          const int* offsets, const long long* counts, Load load, Store store) {
  __shared__ unsigned short list[TD_MASK_TILE];
  __shared__ int warps[8];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const long long first = tile * TD_MASK_TILE;
    const long long rank = counts[tile / TD_MASK_TILES] + offsets[tile];
    const td_mask_words m = td_load_mask(mask, first + threadIdx.x * 16, n);
    const int own = td_count_mask(m);
    int at = own;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      const int earlier = __shfl_up_sync(~0u, at, d);
      at += lane >= d ? earlier : 0;
    }
    if (lane == 31) warps[warp] = at;
    __syncthreads();
    at -= own;
    int count = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      at += w < warp ? warps[w] : 0;
      count += warps[w];
    }
#pragma unroll
    for (int j = 0; j < 16; ++j)
      if (m.w[j / 4] >> (8 * (j % 4)) & 1u) list[at++] = (unsigned short)(threadIdx.x * 16 + j);
    __syncthreads();
    for (int from = threadIdx.x; from < count; from += 256 * 8) {
      Value value[8];
#pragma unroll
      for (int u = 0; u < 8; ++u)
        if (from + u * 256 < count)
          value[u] = load(first + list[from + u * 256], rank + from + u * 256);
#pragma unroll
      for (int u = 0; u < 8; ++u)
        if (from + u * 256 < count)
          store(first + list[from + u * 256], rank + from + u * 256, value[u]);
    }
    __syncthreads();
  }
}
