// Bodies of the TD_BODY rows of device_integers.def.
#pragma once
#pragma clang system_header

__TD_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  const unsigned long long x0 = (unsigned)x, x1 = x >> 32, y0 = (unsigned)y, y1 = y >> 32;
  const unsigned long long middle = x1 * y0 + (x0 * y0 >> 32);
  const unsigned long long other = x0 * y1 + (unsigned)middle;
  return x1 * y1 + (middle >> 32) + (other >> 32);
}

__TD_FN long long __mul64hi(long long x, long long y) {
  const unsigned long long high = __umul64hi((unsigned long long)x, (unsigned long long)y);
  return (long long)(high - (x < 0 ? (unsigned long long)y : 0) -
                     (y < 0 ? (unsigned long long)x : 0));
}

// Three bits of each nibble of the selector pick one of eight bytes.
__TD_FN unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    result |= ((unsigned)(bytes >> (8 * (selector >> (4 * i) & 7))) & 0xff) << (8 * i);
  return result;
}

__TD_FN int __dp4a(int x, int y, int z) {
  unsigned sum = (unsigned)z;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    sum += (unsigned)((int)(signed char)(x >> (8 * i)) * (int)(signed char)(y >> (8 * i)));
  return (int)sum;
}

__TD_FN unsigned __dp4a(unsigned x, unsigned y, unsigned z) {
#pragma unroll
  for (int i = 0; i < 4; ++i) z += (x >> (8 * i) & 0xff) * (y >> (8 * i) & 0xff);
  return z;
}

// The low or the high half of y's bytes with both halves of x.
__TD_FN int __dp2a_lo(int x, int y, int z) {
  const unsigned low = (unsigned)((short)x * (signed char)y);
  const unsigned high = (unsigned)((x >> 16) * (signed char)(y >> 8));
  return (int)((unsigned)z + low + high);
}
__TD_FN int __dp2a_hi(int x, int y, int z) { return __dp2a_lo(x, y >> 16, z); }
__TD_FN unsigned __dp2a_lo(unsigned x, unsigned y, unsigned z) {
  return z + (x & 0xffff) * (y & 0xff) + (x >> 16) * (y >> 8 & 0xff);
}
__TD_FN unsigned __dp2a_hi(unsigned x, unsigned y, unsigned z) { return __dp2a_lo(x, y >> 16, z); }

// The larger or smaller half each, and whether it was x's.
#define TD_WHICH(name, T, op)                                            \
  __TD_FN unsigned name(unsigned x, unsigned y, bool* high, bool* low) { \
    *high = (T)(x >> 16) op(T)(y >> 16);                                 \
    *low = (T)x op(T) y;                                                 \
    return ((*high ? x : y) & 0xffff0000u) | ((*low ? x : y) & 0xffffu); \
  }
TD_WHICH(__vibmax_s16x2, short, >=)
TD_WHICH(__vibmax_u16x2, unsigned short, >=)
TD_WHICH(__vibmin_s16x2, short, <=)
TD_WHICH(__vibmin_u16x2, unsigned short, <=)
#undef TD_WHICH
