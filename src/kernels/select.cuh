// Which of several equal indices is the last one.
//
// An index tuple is folded into one number, `key`. Few tuples are compared pairwise. Many use a
// table with one entry for every possible key, of which only those in use are ever touched.

template <class Key>
TD_FN void td_last_pairwise(bool* wins, long long count, Key key) {
  for (long long p = (long long)blockIdx.x * 256 + threadIdx.x; p < count;
       p += (long long)gridDim.x * 256) {
    const long long own = key(p);
    bool last = true;
    for (long long q = p + 1; q < count; ++q) last = last && key(q) != own;
    wins[p] = last;
  }
}

// Passes over the table: every tuple writes its position, and any of equal ones stays; those that
// are behind it correct it; the one that is left wins. Only equal tuples need atomics.
template <class Place, class Key>
TD_FN void td_last_by_table(bool* wins, Place* table, long long count, long long chunk, int pass,
                            Key key) {
  const long long first = (long long)blockIdx.x * chunk;
  const long long end = first + chunk < count ? first + chunk : count;
  for (long long p = first + threadIdx.x; p < end; p += 256) {
    Place* const entry = table + key(p);
    if (pass == 0)
      *entry = (Place)p;
    else if (pass == 1) {
      if (*entry < (Place)p) atomicMax(entry, (Place)p);
    } else
      wins[p] = *entry == (Place)p;
  }
}
