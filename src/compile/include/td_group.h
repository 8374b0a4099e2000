// What cooperative groups are made of: lanes as bits, and values of any size between lanes.
#pragma once
#pragma clang system_header
#include "treadle_prelude.h"

__TD_FN unsigned __td_lane() { return __nvvm_read_ptx_sreg_laneid(); }
__TD_FN unsigned __td_lanes_below() { return __nvvm_read_ptx_sreg_lanemask_lt(); }

// Lane of the n-th bit (from 0) that is set in `mask`; some lane when there are fewer.
__TD_FN unsigned __td_nth_lane(unsigned mask, unsigned n) {
  unsigned at = 0;
#pragma unroll
  for (unsigned width = 16; width > 0; width /= 2) {
    const unsigned count = (unsigned)__builtin_popcount(mask >> at & ((1u << width) - 1));
    const bool above = n >= count;
    n -= above ? count : 0;
    at += above ? width : 0;
  }
  return at;
}

// The bits of `bits` at the places that are set in `mask`, moved together (Hacker's Delight,
// section 7-4).
__TD_FN unsigned __td_pack_lanes(unsigned bits, unsigned mask) {
  bits &= mask;
  unsigned zeros = ~mask << 1;  // counts zeros of the mask to the right of each bit
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    unsigned parity = zeros ^ zeros << 1;
    parity ^= parity << 2;
    parity ^= parity << 4;
    parity ^= parity << 8;
    parity ^= parity << 16;
    const unsigned moved = parity & mask;
    mask = (mask ^ moved) | moved >> (1 << i);
    const unsigned t = bits & moved;
    bits = (bits ^ t) | t >> (1 << i);
    zeros &= ~parity;
  }
  return bits;
}

// A value as 32-bit words, so that shuffles can move it.
template <class T>
struct __td_words {
  static_assert(__is_trivially_copyable(T),
                "a value that moves between threads must be trivially copyable");
  unsigned word[(sizeof(T) + 3) / 4];
  __TD_MEMBER_FN explicit __td_words(const T& value) {
    if constexpr (sizeof(T) % 4 != 0) word[sizeof word / 4 - 1] = 0;
    __builtin_memcpy(word, &value, sizeof(T));
  }
  __TD_MEMBER_FN T get() const {
    T value;
    __builtin_memcpy(&value, word, sizeof(T));
    return value;
  }
};

#define __TD_MOVE(name, parameter, argument)                                            \
  template <class T>                                                                    \
  __TD_FN T __td_##name(unsigned mask, const T& value, parameter argument, int width) { \
    __td_words<T> words(value);                                                         \
    _Pragma("unroll") for (unsigned& word : words.word) word =                          \
        __##name##_sync(mask, word, argument, width);                                   \
    return words.get();                                                                 \
  }
__TD_MOVE(shfl, int, source)
__TD_MOVE(shfl_up, unsigned, delta)
__TD_MOVE(shfl_down, unsigned, delta)
__TD_MOVE(shfl_xor, int, bits)
#undef __TD_MOVE

// What the members of `mask` have in common: `value` combined over all of them, in ascending order
// of lanes. Each step knows the next lane that its partial result does not cover yet.
template <class T, class Op>
__TD_FN T __td_reduce_lanes(unsigned mask, T value, Op op) {
  const unsigned above = mask & ~(__td_lanes_below() | 1u << __td_lane());
  int next = above ? __builtin_ctz(above) : 32;
#pragma unroll
  for (int step = 0; step < 5; ++step) {
    const T other = __td_shfl(mask, value, next & 31, 32);
    const int after = __shfl_sync(mask, next, next & 31);
    if (next < 32) value = op(value, other);
    next = next < 32 ? after : 32;
  }
  return __td_shfl(mask, value, __builtin_ctz(mask), 32);
}

// For each member the combination of the values up to its own.
template <class T, class Op>
__TD_FN T __td_scan_lanes(unsigned mask, T value, Op op) {
  const unsigned below = mask & __td_lanes_below();
  int next = below ? 31 - __builtin_clz(below) : 32;
#pragma unroll
  for (int step = 0; step < 5; ++step) {
    const T other = __td_shfl(mask, value, next & 31, 32);
    const int after = __shfl_sync(mask, next, next & 31);
    if (next < 32) value = op(other, value);
    next = next < 32 ? after : 32;
  }
  return value;
}

// Copies with the threads of a group, each a part. The next synchronisation of the group makes it
// visible.
__TD_FN void __td_copy_part(void* to, const void* from, size_t bytes, unsigned rank,
                            unsigned count) {
  const size_t bits = (size_t)to | (size_t)from;
  size_t done = 0;
  if (bits % 16 == 0) {
    for (size_t i = rank; i < bytes / 16; i += count) ((uint4*)to)[i] = ((const uint4*)from)[i];
    done = bytes / 16 * 16;
  } else if (bits % 4 == 0) {
    for (size_t i = rank; i < bytes / 4; i += count)
      ((unsigned*)to)[i] = ((const unsigned*)from)[i];
    done = bytes / 4 * 4;
  }
  for (size_t i = done + rank; i < bytes; i += count) ((char*)to)[i] = ((const char*)from)[i];
}
