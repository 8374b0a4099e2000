// Which of several equal indices is the last one.
//
// An index tuple is folded into one number, `key`. Few tuples are compared pairwise. Many use a
// table with one entry for every possible key: it is cleared where it will be used, then each tuple
// leaves the highest position seen so far.

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

template <class Place, class Key>
TD_FN void td_last_by_table(bool* wins, Place* table, long long count, int pass, Key key) {
  for (long long p = (long long)blockIdx.x * 256 + threadIdx.x; p < count;
       p += (long long)gridDim.x * 256) {
    const long long k = key(p);
    if (pass == 0)
      table[k] = 0;
    else if (pass == 1)
      atomicMax(table + k, (Place)p);
    else
      wins[p] = table[k] == (Place)p;
  }
}
