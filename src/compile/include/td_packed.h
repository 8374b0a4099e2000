// TD_PACKED rows of device_integers.def: an expression of x, y and z for each of the two halves or
// four bytes of a word. Plain integer operations on whole words, so that they become vector code.
#pragma once
#pragma clang system_header
#include "td_annotations.h"

__TD_FN int __td_clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
__TD_FN int __td_smaller(int x, int y) { return x < y ? x : y; }
__TD_FN int __td_larger(int x, int y) { return x < y ? y : x; }
__TD_FN int __td_distance(int x, int y) { return x < y ? y - x : x - y; }

// Bytes (or halves) added and subtracted within a word: the top bits take no part in the carry.
__TD_FN unsigned __td_packed_add(unsigned x, unsigned y, unsigned top) {
  return ((x & ~top) + (y & ~top)) ^ ((x ^ y) & top);
}
__TD_FN unsigned __td_packed_sub(unsigned x, unsigned y, unsigned top) {
  return ((x | top) - (y & ~top)) ^ ((x ^ ~y) & top);
}
// The top bit of every part that is zero, spread to the part's lowest bit: 1 in each.
__TD_FN unsigned __td_packed_zero(unsigned x, unsigned top, int width) {
  return (~(((x & ~top) + ~top) | x) & top) >> (width - 1);
}

// Part i of a word, extended to int.
#define TD_PART_2S(word, i) ((int)(short)((word) >> (16 * (i))))
#define TD_PART_2U(word, i) ((int)((word) >> (16 * (i)) & 0xffff))
#define TD_PART_4S(word, i) ((int)(signed char)((word) >> (8 * (i))))
#define TD_PART_4U(word, i) ((int)((word) >> (8 * (i)) & 0xff))
#define TD_PACKED_PARAMS_1 unsigned a
#define TD_PACKED_PARAMS_2 unsigned a, unsigned b
#define TD_PACKED_PARAMS_3 unsigned a, unsigned b, unsigned c
#define TD_PACKED_ARGS_1(parts, i) TD_PART_##parts(a, i), 0, 0
#define TD_PACKED_ARGS_2(parts, i) TD_PART_##parts(a, i), TD_PART_##parts(b, i), 0
#define TD_PACKED_ARGS_3(parts, i) \
  TD_PART_##parts(a, i), TD_PART_##parts(b, i), TD_PART_##parts(c, i)

#define TD_PART(name, arity, parts, i) (unsigned)__td_part##name(TD_PACKED_ARGS_##arity(parts, i))
#define TD_JOIN_2(name, arity, parts) \
  (TD_PART(name, arity, parts, 0) & 0xffffu) | TD_PART(name, arity, parts, 1) << 16
#define TD_JOIN_4(name, arity, parts)                                                        \
  (TD_PART(name, arity, parts, 0) & 0xffu) | (TD_PART(name, arity, parts, 1) & 0xffu) << 8 | \
      (TD_PART(name, arity, parts, 2) & 0xffu) << 16 | TD_PART(name, arity, parts, 3) << 24
#define TD_TOTAL_2(name, arity, parts) \
  TD_PART(name, arity, parts, 0) + TD_PART(name, arity, parts, 1)
#define TD_TOTAL_4(name, arity, parts)                              \
  TD_PART(name, arity, parts, 0) + TD_PART(name, arity, parts, 1) + \
      TD_PART(name, arity, parts, 2) + TD_PART(name, arity, parts, 3)
#define TD_JOIN_2S TD_JOIN_2
#define TD_JOIN_2U TD_JOIN_2
#define TD_JOIN_4S TD_JOIN_4
#define TD_JOIN_4U TD_JOIN_4
#define TD_TOTAL_2S TD_TOTAL_2
#define TD_TOTAL_2U TD_TOTAL_2
#define TD_TOTAL_4S TD_TOTAL_4
#define TD_TOTAL_4U TD_TOTAL_4
#define TD_PACKED_BODY(name, arity, parts, expression, how)               \
  __TD_FN int __td_part##name(int x, int y, int z) { return expression; } \
  __TD_FN unsigned name(TD_PACKED_PARAMS_##arity) { return TD_##how##_##parts(name, arity, parts); }
