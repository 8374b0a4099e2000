// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC11): a
// block of four words is a function of a counter and a key, so element i of a draw needs no state
// and is the same on every device.

struct td_words {
  unsigned w[4];
};

TD_FN void td_philox_round(unsigned& c0, unsigned& c1, unsigned& c2, unsigned& c3, unsigned k0,
                           unsigned k1) {
  unsigned long long p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
  unsigned h0 = (unsigned)(p0 >> 32), h1 = (unsigned)(p1 >> 32);
  c0 = h1 ^ c1 ^ k0;
  c2 = h0 ^ c3 ^ k1;
  c1 = (unsigned)p1;
  c3 = (unsigned)p0;
}
TD_FN td_words td_philox(unsigned long long block, unsigned long long stream,
                         unsigned long long key) {
  unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32), c2 = (unsigned)stream,
           c3 = (unsigned)(stream >> 32);
  unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    td_philox_round(c0, c1, c2, c3, k0, k1);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return td_words{{c0, c1, c2, c3}};
}

// The same with the keys of all rounds, two words each: a thread that gets them as parameters adds
// none up. Where warps are vectors a sum is cheaper than a parameter.
struct td_keys {
  unsigned long long pair[10];
};
TD_FN td_words td_philox(unsigned long long block, unsigned long long stream, const td_keys& keys) {
  unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32), c2 = (unsigned)stream,
           c3 = (unsigned)(stream >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round)
    td_philox_round(c0, c1, c2, c3, (unsigned)keys.pair[round], (unsigned)(keys.pair[round] >> 32));
  return td_words{{c0, c1, c2, c3}};
}
#ifdef __TREADLE__
#define TD_KEYED(key, keys) key
#else
#define TD_KEYED(key, keys) keys
#endif

TD_FN unsigned long long td_word64(const td_words& r, int half) {
  return (unsigned long long)r.w[2 * half] | ((unsigned long long)r.w[2 * half + 1] << 32);
}
// [0, 1) with every multiple of 2^-24 or 2^-53 equally likely.
TD_FN float td_unit(unsigned word) { return (float)(word >> 8) * 5.9604644775390625e-08f; }
TD_FN double td_unit(unsigned long long word) {
  return (double)(word >> 11) * 1.1102230246251565e-16;
}

// The elements of a block in [0, range) by multiplication. All values are equally likely: of words
// whose product ends below 2^32 mod range (`uneven`) there are too many, and others are drawn.
static __device__ __noinline__ unsigned td_below_again(unsigned range, unsigned uneven, int k,
                                                       unsigned long long block,
                                                       unsigned long long key) {
  for (unsigned long long stream = 1;; ++stream) {
    const unsigned long long product =
        (unsigned long long)td_philox(block, stream << 40, key).w[k] * range;
    if ((unsigned)product >= uneven) return (unsigned)(product >> 32);
  }
}
TD_FN void td_below(const td_words& r, unsigned range, unsigned uneven, unsigned long long block,
                    unsigned long long key, unsigned* out) {
  unsigned long long product[4];
  bool again = false;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    product[k] = (unsigned long long)r.w[k] * range;
    out[k] = (unsigned)(product[k] >> 32);
    again |= (unsigned)product[k] < uneven;
  }
  if (again)
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if ((unsigned)product[k] < uneven) out[k] = td_below_again(range, uneven, k, block, key);
}

// [0, range) by multiplication: each value's probability is within 2^-64 of 1/range. range 0 means
// 2^64.
TD_FN unsigned long long td_below(unsigned long long word, unsigned long long range) {
  return range == 0 ? word : __umul64hi(word, range);
}
