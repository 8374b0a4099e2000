// Elements by their place in sorted order, one row a warp: a binary search over the bits of the
// keys of sort.cuh. Each step counts the keys below a limit, and the search ends when one element
// is left, after about log2(length) steps for values that differ; equal ones take all bits.

// The number of elements of a row whose key satisfies `holds`, in all lanes.
template <class T, class Holds>
TD_FN int td_count_keys(const T* x, int length, int lane, Holds holds) {
  const int whole = length & ~31;
  int n = 0;
#pragma unroll 4
  for (int i = 0; i < whole; i += 32) n += holds(td_key(x[i + lane])) ? 1 : 0;
  if (whole + lane < length) n += holds(td_key(x[whole + lane])) ? 1 : 0;
#pragma unroll
  for (int s = 16; s > 0; s >>= 1) n += __shfl_xor_sync(~0u, n, s);
  return n;
}

// The least key of a row that satisfies `holds`; all bits where none does.
template <class K, class T, class Holds>
TD_FN K td_least_key(const T* x, int length, int lane, Holds holds) {
  K least = ~K(0);
  for (int i = lane; i < length; i += 32) {
    const K key = td_key(x[i]);
    least = holds(key) && key < least ? key : least;
  }
#pragma unroll
  for (int s = 16; s > 0; s >>= 1) {
    const K other = __shfl_xor_sync(~0u, least, s);
    least = other < least ? other : least;
  }
  return least;
}

// The key at `place`. All keys have the bits of `ones`, and agree where `differ` has none.
template <class K, class T>
TD_FN K td_key_at(const T* x, int length, int lane, int place, K ones, K differ) {
  int below = 0, upto = length;  // numbers of keys under the prefix, and under its end
  K prefix = 0, bit = K(1) << (8 * sizeof(K) - 1);
  for (; bit != 0 && upto - below > 1; bit >>= 1) {
    if ((differ & bit) == 0) {
      prefix |= ones & bit;
      continue;
    }
    const K limit = prefix | bit;
    const int n = td_count_keys(x, length, lane, [=](K key) { return key < limit; });
    if (n <= place) {
      prefix = limit;
      below = n;
    } else {
      upto = n;
    }
  }
  if (bit == 0) return prefix;
  return td_least_key<K>(x, length, lane, [=](K key) { return key >= prefix; });
}

struct td_places {
  int at[4];
};

// out[row][p] is the element of the row at places.at[p] of its order; places rise.
template <class T, class K>
TD_FN void td_select_rows(const T* in, T* out, td_places places, int count, int length,
                          long long rows) {
  const int lane = threadIdx.x & 31;
  const long long warps = (long long)gridDim.x * 8;
  for (long long row = (long long)blockIdx.x * 8 + (threadIdx.x >> 5); row < rows; row += warps) {
    const T* x = in + row * length;
    K ones = ~K(0), any = 0;
    for (int i = lane; i < length; i += 32) {
      const K key = td_key(x[i]);
      ones &= key;
      any |= key;
    }
#pragma unroll
    for (int s = 16; s > 0; s >>= 1) {
      ones &= __shfl_xor_sync(~0u, ones, s);
      any |= __shfl_xor_sync(~0u, any, s);
    }
    K found = 0;
    for (int p = 0; p < count; ++p) {
      const int place = places.at[p];
      if (p == 0 || place != places.at[p - 1] + 1) {
        found = td_key_at<K>(x, length, lane, place, ones, ones ^ any);
      } else {
        const K last = found;
        if (td_count_keys(x, length, lane, [=](K key) { return key <= last; }) <= place)
          found = td_least_key<K>(x, length, lane, [=](K key) { return key > last; });
      }
      int at = length;
      for (int i = lane; i < length; i += 32) at = td_key(x[i]) == found && i < at ? i : at;
#pragma unroll
      for (int s = 16; s > 0; s >>= 1) {
        const int other = __shfl_xor_sync(~0u, at, s);
        at = other < at ? other : at;
      }
      if (lane == 0) out[row * count + p] = x[at];
      __syncwarp();
    }
  }
}
