// CUDA's vector types for plain C.
#pragma once

#define TD_VECTOR(name, T, align2, align4) \
  typedef struct name##1 { T x; }          \
  name##1;                                 \
  typedef struct name##2 {                 \
    __attribute__((aligned(align2))) T x;  \
    T y;                                   \
  }                                        \
  name##2;                                 \
  typedef struct name##3 { T x, y, z; }    \
  name##3;                                 \
  typedef struct name##4 {                 \
    __attribute__((aligned(align4))) T x;  \
    T y, z, w;                             \
  }                                        \
  name##4;
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
typedef struct dim3 {
  unsigned x, y, z;
} dim3;
