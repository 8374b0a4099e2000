// Rows of up to 32 * ITEMS elements, one a warp, sorted by a bitonic network in registers: element
// 32 * i + l of a row is item i of lane l. Every comparison puts the smaller key in front, so that
// no step knows of directions. For keys of up to 64 bits.

// The element of a key; what td_key folds together (-0.0 and 0.0, all NaN) is not told apart.
template <class T, class Key>
TD_FN T td_unkey(Key key) {
  if constexpr (td_same<T, float>::value) {
    return __uint_as_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
  } else if constexpr (td_same<T, double>::value) {
    const bool positive = key >> 63;
    return __longlong_as_double((long long)(positive ? key ^ 0x8000000000000000ull : ~key));
  }
#ifdef TD_HALF
  else if constexpr (td_traits<T>::half) {
    return td_from_bits<T>((unsigned short)(key & 0x8000u ? key ^ 0x8000u : ~key));
  }
#endif
  else if constexpr (sizeof(Key) == 8) {
    return (T)(td_traits<T>::is_signed ? key ^ 0x8000000000000000ull : key);
  } else {
    return (T)(td_traits<T>::is_signed ? key ^ (1u << (td_traits<T>::bits - 1)) : key);
  }
}
// Its key says less than the element.
template <class T>
TD_FN bool td_key_folds(T x) {
  if constexpr (td_same<T, float>::value)
    return x != x || __float_as_uint(x) == 0x80000000u;
  else if constexpr (td_same<T, double>::value)
    return x != x || __double_as_longlong(x) == (long long)0x8000000000000000ull;
#ifdef TD_HALF
  else if constexpr (td_traits<T>::half)
    return (x.bits & 0x7fffu) > (unsigned)T::infinity || x.bits == 0x8000u;
#endif
  else
    return false;
}

// f(0), f(1), … f(N - 1), written out whatever the size of f.
template <int N>
struct td_each {
  template <class F>
  static __device__ __forceinline__ void run(F f) {
    td_each<N - 1>::run(f);
    f(N - 1);
  }
};
template <>
struct td_each<0> {
  template <class F>
  static __device__ __forceinline__ void run(F) {}
};

// What is compared: a key, or a key and the element's place behind it.
template <class Key>
struct td_keyed {
  Key key;
  unsigned place;
};
TD_FN bool td_before(unsigned a, unsigned b) { return a < b; }
TD_FN bool td_before(unsigned long long a, unsigned long long b) { return a < b; }
TD_FN bool td_before(td_keyed<unsigned long long> a, td_keyed<unsigned long long> b) {
  return (a.key < b.key) | ((a.key == b.key) & (a.place < b.place));
}
TD_FN unsigned td_across(unsigned a, int mask) { return __shfl_xor_sync(0xffffffffu, a, mask); }
TD_FN unsigned long long td_across(unsigned long long a, int mask) {
  return __shfl_xor_sync(0xffffffffu, a, mask);
}
TD_FN td_keyed<unsigned long long> td_across(td_keyed<unsigned long long> a, int mask) {
  return {td_across(a.key, mask), td_across(a.place, mask)};
}
TD_FN unsigned td_choose(bool first, unsigned a, unsigned b) { return first ? a : b; }
TD_FN unsigned long long td_choose(bool first, unsigned long long a, unsigned long long b) {
  return first ? a : b;
}
TD_FN td_keyed<unsigned long long> td_choose(bool first, td_keyed<unsigned long long> a,
                                             td_keyed<unsigned long long> b) {
  return {first ? a.key : b.key, first ? a.place : b.place};
}
template <class E>
TD_FN E td_first(E a, E b) {
  return td_choose(td_before(b, a), b, a);
}
template <class E>
TD_FN E td_second(E a, E b) {
  return td_choose(td_before(b, a), a, b);
}

// One comparison of every element with the one whose index differs in the bits of `mask` (below
// 32: another lane); the lane with the lower index has a zero in `bit`.
template <class E>
TD_FN E td_compare_lanes(E own, int lane, int mask, int bit) {
  const E other = td_across(own, mask);
  return td_choose((lane & bit) == 0, td_first(own, other), td_second(own, other));
}

// Steps J, J / 2, … 1 between lanes. (Templates, since the loops over items are then the only
// ones.)
template <int ITEMS, int J, class E>
TD_FN void td_merge_lanes(E* x, int lane) {
  if constexpr (J > 0) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) x[i] = td_compare_lanes(x[i], lane, J, J);
    td_merge_lanes<ITEMS, J / 2>(x, lane);
  }
}
// Sorted runs of K / 2 lanes become runs of K; the second half of a pair is read backwards.
template <int ITEMS, int K, class E>
TD_FN void td_sort_lanes(E* x, int lane) {
  if constexpr (K <= 32) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) x[i] = td_compare_lanes(x[i], lane, K - 1, K / 2);
    td_merge_lanes<ITEMS, K / 4>(x, lane);
    td_sort_lanes<ITEMS, 2 * K>(x, lane);
  }
}
template <int ITEMS, int J, class E>
TD_FN void td_merge_items(E* x) {
  if constexpr (J > 0) {
#pragma unroll
    for (int pair = 0; pair < ITEMS / 2; ++pair) {
      const int i = pair / J * 2 * J + pair % J;
      const E a = x[i], b = x[i + J];
      x[i] = td_first(a, b);
      x[i + J] = td_second(a, b);
    }
    td_merge_items<ITEMS, J / 2>(x);
  }
}
// The same for runs of K / 2 items of all lanes.
template <int ITEMS, int K, class E>
TD_FN void td_sort_items(E* x, int lane) {
  if constexpr (K <= ITEMS) {
#pragma unroll
    for (int pair = 0; pair < ITEMS / 2; ++pair) {
      const int i = pair / (K / 2) * K + pair % (K / 2), other = i ^ (K - 1);
      const E a = x[i], b = td_across(x[other], 31);
      x[i] = td_first(a, b);
      x[other] = td_across(td_second(a, b), 31);
    }
    td_merge_items<ITEMS, K / 4>(x);
    td_merge_lanes<ITEMS, 16>(x, lane);
    td_sort_items<ITEMS, 2 * K>(x, lane);
  }
}
template <int ITEMS, class E>
TD_FN void td_sort_warp_entries(E* x) {
  const int lane = threadIdx.x & 31;
  td_sort_lanes<ITEMS, 2>(x, lane);
  td_sort_items<ITEMS, 2>(x, lane);
}

TD_FN unsigned long long td_with_place(unsigned key, unsigned place) {
  return (unsigned long long)key << 32 | place;
}
TD_FN td_keyed<unsigned long long> td_with_place(unsigned long long key, unsigned place) {
  return {key, place};
}
TD_FN unsigned td_place_of(unsigned long long entry) { return (unsigned)entry; }
TD_FN unsigned td_place_of(td_keyed<unsigned long long> entry) { return entry.place; }

// The places of the row at `in`, in order. Equal elements keep their order.
template <class T, int ITEMS>
TD_FN void td_sort_warp_places(const T* in, long long* places, int length, unsigned flip) {
  typedef decltype(td_with_place(td_key(T()), 0)) E;
  const int lane = threadIdx.x & 31;
  E x[ITEMS];
  td_each<ITEMS>::run([&](int i) {
    const int k = i * 32 + lane;
    // What fills the row up stands behind everything: its place is behind all places.
    x[i] = td_with_place((decltype(td_key(T())))~0ull, (unsigned)k);
    if (k < length) x[i] = td_with_place(td_flip_key(td_key(in[k]), flip), (unsigned)k);
  });
  td_sort_warp_entries<ITEMS>(x);
  td_each<ITEMS>::run([&](int i) {
    const int k = i * 32 + lane;
    if (k < length) places[k] = td_place_of(x[i]);
  });
}

// The values of any row: each goes behind those that are smaller, or equal and in front of it.
template <class T>
TD_FN void td_sort_warp_by_counting(const T* in, T* out, int length, unsigned flip) {
  const int lane = threadIdx.x & 31;
  for (int first = 0; first < length; first += 32) {
    const int k = first + lane;
    if (k < length) {
      const T own = in[k];
      const auto key = td_flip_key(td_key(own), flip);
      int rank = 0;
      for (int j = 0; j < length; ++j) {
        const auto other = td_flip_key(td_key(in[j]), flip);
        rank += (other < key) | ((other == key) & (j < k));
      }
      out[rank] = own;
    }
  }
}

// The values alone, where keys say all of them; false and nothing done elsewhere.
template <class T, int ITEMS>
TD_FN bool td_sort_warp_values(const T* in, T* out, int length, unsigned flip) {
  typedef decltype(td_key(T())) Key;
  const int lane = threadIdx.x & 31;
  Key x[ITEMS];
  bool folds = false;
  td_each<ITEMS>::run([&](int i) {
    const int k = i * 32 + lane;
    x[i] = (Key)~0ull;
    if (k < length) {
      const T value = in[k];
      folds = folds | td_key_folds(value);
      x[i] = td_flip_key(td_key(value), flip);
    }
  });
  if (__any_sync(0xffffffffu, folds)) return false;
  td_sort_warp_entries<ITEMS>(x);
  td_each<ITEMS>::run([&](int i) {
    const int k = i * 32 + lane;
    if (k < length) out[k] = td_unkey<T>(td_flip_key(x[i], flip));
  });
  return true;
}

template <class T, int ITEMS, bool PLACES>
TD_FN void td_sort_warp(const T* in, T* out, long long* places, int length, long long rows,
                        long long share, unsigned flip) {
  const long long first = ((long long)blockIdx.x * 8 + (threadIdx.x >> 5)) * share;
  const long long last = first + share < rows ? first + share : rows;
  for (long long row = first; row < last; ++row) {
    const T* from = in + row * length;
    if constexpr (PLACES) {
      td_sort_warp_places<T, ITEMS>(from, places + row * length, length, flip);
    } else {
      if (!td_sort_warp_values<T, ITEMS>(from, out + row * length, length, flip))
        td_sort_warp_by_counting(from, out + row * length, length, flip);
    }
  }
}
