// CUDA's vector types: plain structs with CUDA's alignment, and make_ functions.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif
#include "td_annotations.h"

#define TD_VECTOR(name, T, align2, align4)                                         \
  struct name##1 { T x; };                                                         \
  struct __attribute__((aligned(align2))) name##2 { T x, y; };                     \
  struct name##3 { T x, y, z; };                                                   \
  struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };               \
  __TD_HD_FN constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  __TD_HD_FN constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  __TD_HD_FN constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  __TD_HD_FN constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

//        name       type                align of 2 and of 4
TD_VECTOR(char, signed char, 2, 4)
TD_VECTOR(uchar, unsigned char, 2, 4)
TD_VECTOR(short, short, 4, 8)
TD_VECTOR(ushort, unsigned short, 4, 8)
TD_VECTOR(int, int, 8, 16)
TD_VECTOR(uint, unsigned int, 8, 16)
TD_VECTOR(long, long, 16, 16)
TD_VECTOR(ulong, unsigned long, 16, 16)
TD_VECTOR(longlong, long long, 16, 16)
TD_VECTOR(ulonglong, unsigned long long, 16, 16)
TD_VECTOR(float, float, 8, 16)
TD_VECTOR(double, double, 16, 16)
#undef TD_VECTOR

struct dim3 {
  unsigned x, y, z;
  __TD_MEMBER_FN constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
  __TD_MEMBER_FN constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __TD_MEMBER_FN constexpr operator uint3() const { return {x, y, z}; }
};
