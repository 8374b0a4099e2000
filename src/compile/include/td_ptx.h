// What the C++ that inline PTX becomes is written in (tables/ptx_instructions.def): instructions
// that are more than one expression. Operands have the instruction's types; W is unsigned.
#pragma once
#pragma clang system_header
#include "cuda_pipeline_primitives.h"

// ---- registers
// The lowest bits of a register, as a value of type T.
template <class T, class Register>
__TD_FN T __td_ptx_low(Register held) {
  if constexpr (sizeof(T) == sizeof(Register)) {
    return __builtin_bit_cast(T, held);
  } else {
    typedef typename __td_bits<sizeof(T)>::type Bits;
    return __builtin_bit_cast(T, (Bits)held);
  }
}
// A value in a register that may be wider: integers are extended with their sign.
template <class Register, class T>
__TD_FN Register __td_ptx_extend(T value) {
  if constexpr (sizeof(T) == sizeof(Register)) {
    return __builtin_bit_cast(Register, value);
  } else if constexpr (__is_integral(T)) {
    return (Register)value;
  } else {
    return (Register) __builtin_bit_cast(typename __td_bits<sizeof(T)>::type, value);
  }
}
template <class T, unsigned length>
struct alignas(sizeof(T) * length) __td_ptx_vector {
  T part[length];
};

// ---- the carry flag: a variable of each thread (lowering gives every function its own), which
// add.cc and its kin write and addc reads
extern "C" __device__ unsigned __td_ptx_carry;

template <class W>
__TD_FN W __td_ptx_add_carry(W x, W y, unsigned carry) {
  const W sum = x + y, result = sum + carry;
  __td_ptx_carry = (unsigned)(sum < x) | (unsigned)(result < sum);
  return result;
}
template <class W>
__TD_FN W __td_ptx_sub_borrow(W x, W y, unsigned borrow) {
  const W difference = x - y, result = difference - borrow;
  __td_ptx_carry = (unsigned)(x < y) | (unsigned)(difference < borrow);
  return result;
}

// ---- integers
template <class T>
constexpr bool __td_ptx_is_signed = (T)-1 < (T)0;

template <class T>
__TD_FN T __td_ptx_saturate(long long x) {
  const long long high = __td_ptx_is_signed<T> ? (long long)((1ull << (8 * sizeof(T) - 1)) - 1)
                                               : (long long)((1ull << 8 * sizeof(T)) - 1);
  const long long low = __td_ptx_is_signed<T> ? -high - 1 : 0;
  return (T)(x < low ? low : x > high ? high : x);
}
template <class T>
__TD_FN auto __td_ptx_mul_wide(T x, T y) {
  if constexpr (sizeof(T) == 2 && __td_ptx_is_signed<T>)
    return (int)x * y;
  else if constexpr (sizeof(T) == 2)
    return (unsigned)x * y;
  else if constexpr (__td_ptx_is_signed<T>)
    return (long long)x * y;
  else
    return (unsigned long long)x * y;
}
template <class T, class Wide>
__TD_FN Wide __td_ptx_mad_wide(T x, T y, Wide z) {
  typedef typename __td_bits<sizeof(Wide)>::type Bits;
  return (Wide)((Bits)__td_ptx_mul_wide(x, y) + (Bits)z);
}
template <class T>
__TD_FN T __td_ptx_mul_hi(T x, T y) {
  if constexpr (sizeof(T) < 8)
    return (T)(__td_ptx_mul_wide(x, y) >> 8 * sizeof(T));
  else if constexpr (__td_ptx_is_signed<T>)
    return __mul64hi(x, y);
  else
    return __umul64hi(x, y);
}
// The product of the low 24 bits of each has 48: _lo gives bits 0-31, _hi bits 16-47.
__TD_FN long long __td_ptx_mul24(int x, int y) { return (long long)(x << 8 >> 8) * (y << 8 >> 8); }
__TD_FN unsigned long long __td_ptx_mul24(unsigned x, unsigned y) {
  return (unsigned long long)(x & 0xffffff) * (y & 0xffffff);
}
template <class T>
__TD_FN T __td_ptx_mul24_lo(T x, T y) {
  return (T)__td_ptx_mul24(x, y);
}
template <class T>
__TD_FN T __td_ptx_mul24_hi(T x, T y) {
  return (T)(__td_ptx_mul24(x, y) >> 16);
}

// Position of the highest bit that differs from the sign; all ones when there is none.
template <class T>
__TD_FN unsigned __td_ptx_bfind_(T x) {
  typedef typename __td_bits<sizeof(T)>::type Bits;
  const Bits bits = x < 0 ? ~(Bits)x : (Bits)x;
  const int zeros = sizeof(T) == 8 ? __clzll((long long)bits) : __clz((int)bits);
  return (unsigned)((int)sizeof(T) * 8 - 1 - zeros);
}
// How far to shift it to the top.
template <class T>
__TD_FN unsigned __td_ptx_bfind_shiftamt(T x) {
  const unsigned position = __td_ptx_bfind_(x);
  return position == ~0u ? ~0u : (unsigned)sizeof(T) * 8 - 1 - position;
}

// Shifts by the width or more give 0, or the sign.
template <class T>
__TD_FN T __td_ptx_shl(T x, unsigned count) {
  return count < 8 * sizeof(T) ? (T)((unsigned long long)x << count) : (T)0;
}
template <class T>
__TD_FN T __td_ptx_shr(T x, unsigned count) {
  const unsigned width = 8 * sizeof(T);
  if constexpr (__td_ptx_is_signed<T>)
    return (T)(x >> (count < width ? count : width - 1));
  else
    return count < width ? (T)(x >> count) : (T)0;
}

// `length` bits of x from `start`; beyond the top there are copies of the sign: that of the field's
// last bit, or of the number's where the field reaches beyond it.
template <class T>
__TD_FN T __td_ptx_bfe(T x, unsigned start, unsigned length) {
  const unsigned width = 8 * sizeof(T);
  start &= 0xff;
  length &= 0xff;
  const T shifted = __td_ptx_shr(x, start);
  if (length == 0) return 0;
  if (length >= width) return shifted;
  const unsigned rest = width - length;
  // Of an unsigned number zeros come in, of a signed one the sign: shift up and down again.
  return __td_ptx_shr((T)((typename __td_bits<sizeof(T)>::type)shifted << rest), rest);
}
// The lowest `length` bits of x at `start` of y.
template <class T>
__TD_FN T __td_ptx_bfi(T x, T y, unsigned start, unsigned length) {
  start &= 0xff;
  length &= 0xff;
  const T ones = length < 8 * sizeof(T) ? (T)(((T)1 << length) - 1) : (T)-1;
  const T mask = __td_ptx_shl(ones, start);
  return (y & ~mask) | (__td_ptx_shl(x, start) & mask);
}
// Counts of bits above 32 are 32, or taken modulo 32.
__TD_FN unsigned __td_ptx_clamp(unsigned count) { return count < 32 ? count : 32; }
__TD_FN unsigned __td_ptx_wrap(unsigned count) { return count & 31; }
template <class T>
__TD_FN T __td_ptx_szext(T x, unsigned length) {
  return length == 0 ? 0 : __td_ptx_shr((T)((unsigned)x << (32 - length)), 32 - length);
}
__TD_FN unsigned __td_ptx_bmsk(unsigned start, unsigned length) {
  const unsigned ones = length < 32 ? (1u << length) - 1 : ~0u;
  return __td_ptx_shl(ones, start);
}

// `signs` has signed bytes, `plain` unsigned ones.
__TD_FN int __td_ptx_dp4a(int signs, unsigned plain, int sum) {
  unsigned total = (unsigned)sum;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    total += (unsigned)((int)(signed char)(signs >> 8 * i) * (int)(plain >> 8 * i & 0xff));
  return (int)total;
}
__TD_FN unsigned __td_ptx_half_lo(unsigned bytes) { return bytes; }
__TD_FN unsigned __td_ptx_half_hi(unsigned bytes) { return bytes >> 16; }
template <class Half, class Byte>
__TD_FN int __td_ptx_dp2a(unsigned halves, unsigned bytes, int sum) {
  const int low = (int)(Half)halves * (int)(Byte)bytes;
  const int high = (int)(Half)(halves >> 16) * (int)(Byte)(bytes >> 8);
  return (int)((unsigned)sum + (unsigned)low + (unsigned)high);
}

// ---- bits
// Bit 2 * x + y of the table is the result for these two bits.
template <unsigned table>
__TD_FN unsigned __td_ptx_lop2(unsigned x, unsigned y) {
  if constexpr (table >= 8) {
    return ~__td_ptx_lop2<15 - table>(x, y);
  } else {
    const unsigned result[8] = {0, ~(x | y), ~x & y, ~x, x & ~y, ~y, x ^ y, ~(x & y)};
    return result[table];
  }
}
// Bit 4 * x + 2 * y + z of the table is the result for these three bits: one function of x and y
// where z is 0, and what changes where it is 1.
template <unsigned table>
__TD_FN unsigned __td_ptx_lop3(unsigned x, unsigned y, unsigned z) {
  constexpr unsigned without = (table & 1) | (table >> 1 & 2) | (table >> 2 & 4) | (table >> 3 & 8);
  constexpr unsigned with =
      (table >> 1 & 1) | (table >> 2 & 2) | (table >> 3 & 4) | (table >> 4 & 8);
  return __td_ptx_lop2<without>(x, y) ^ (z & __td_ptx_lop2 < without ^ with > (x, y));
}
// Each nibble of the selector picks one of eight bytes, or, with its top bit, that byte's sign.
__TD_FN unsigned __td_ptx_prmt(unsigned x, unsigned y, unsigned selector) {
  const unsigned picked = __byte_perm(x, y, selector);
  const unsigned top = (selector & 0x8) << 4 | (selector & 0x80) << 8 | (selector & 0x800) << 12 |
                       (selector & 0x8000) << 16;
  const unsigned chosen = (top >> 7) * 0xff;
  return (picked & ~chosen) | (((picked & top) >> 7) * 0xff);
}
// The modes of prmt as selectors; n is 0 to 3.
__TD_FN unsigned __td_ptx_prmt_f4e(unsigned n) { return 0x3210 + 0x1111 * n; }
__TD_FN unsigned __td_ptx_prmt_b4e(unsigned n) {
  return n == 0 ? 0x5670 : n == 1 ? 0x6701 : n == 2 ? 0x7012 : 0x0123;
}
__TD_FN unsigned __td_ptx_prmt_rc8(unsigned n) { return 0x1111 * n; }
__TD_FN unsigned __td_ptx_prmt_ecl(unsigned n) {
  return n == 0 ? 0x3210 : n == 1 ? 0x3211 : n == 2 ? 0x3222 : 0x3333;
}
__TD_FN unsigned __td_ptx_prmt_ecr(unsigned n) {
  return n == 0 ? 0x0000 : n == 1 ? 0x1110 : n == 2 ? 0x2210 : 0x3210;
}
__TD_FN unsigned __td_ptx_prmt_rc16(unsigned n) { return n & 1 ? 0x3232 : 0x1010; }

// ---- comparisons; those of floating point are false where one side is NaN, those with u true
#define TD_PTX_COMPARE(name, condition)    \
  template <class T>                       \
  __TD_FN bool __td_ptx_##name(T x, T y) { \
    return condition;                      \
  }
TD_PTX_COMPARE(eq, x == y)
TD_PTX_COMPARE(lt, x < y)
TD_PTX_COMPARE(le, x <= y)
TD_PTX_COMPARE(gt, x > y)
TD_PTX_COMPARE(ge, x >= y)
TD_PTX_COMPARE(ne, x<y || x> y)
TD_PTX_COMPARE(lo, x < y)
TD_PTX_COMPARE(ls, x <= y)
TD_PTX_COMPARE(hi, x > y)
TD_PTX_COMPARE(hs, x >= y)
TD_PTX_COMPARE(num, x == x && y == y)
TD_PTX_COMPARE(nan, x != x || y != y)
TD_PTX_COMPARE(equ, !(x < y || x > y))
TD_PTX_COMPARE(neu, !(x == y))
TD_PTX_COMPARE(ltu, !(x >= y))
TD_PTX_COMPARE(leu, !(x > y))
TD_PTX_COMPARE(gtu, !(x <= y))
TD_PTX_COMPARE(geu, !(x < y))
#undef TD_PTX_COMPARE

__TD_FN bool __td_ptx_bool_and(bool x, bool y) { return x && y; }
__TD_FN bool __td_ptx_bool_or(bool x, bool y) { return x || y; }
__TD_FN bool __td_ptx_bool_xor(bool x, bool y) { return x != y; }
// The comparison for p, its opposite for q, each combined with c.
__TD_FN bool __td_ptx_both(bool compared, bool& q) {
  q = !compared;
  return compared;
}
#define TD_PTX_BOTH(name)                                             \
  __TD_FN bool __td_ptx_both_##name(bool compared, bool c, bool& q) { \
    q = __td_ptx_bool_##name(!compared, c);                           \
    return __td_ptx_bool_##name(compared, c);                         \
  }
TD_PTX_BOTH(and)
TD_PTX_BOTH(or)
TD_PTX_BOTH(xor)
#undef TD_PTX_BOTH
// Of packed numbers: p for the lower, q for the upper.
__TD_FN bool __td_ptx_pair(bool lower, bool upper, bool& q) {
  q = upper;
  return lower;
}
// "True" of set: all ones, or 1.0.
template <class T>
__TD_FN T __td_ptx_truth(bool condition) {
  if constexpr (__is_integral(T))
    return condition ? (T)-1 : (T)0;
  else
    return condition ? T(1.0f) : T(0.0f);
}

// ---- one operation of the video instructions, saturated to the result's type or cut; then a
// second one with c
template <class T>
__TD_FN T __td_ptx_video_(long long x) {
  return (T)x;
}
template <class T>
__TD_FN T __td_ptx_video_sat(long long x) {
  return __td_ptx_saturate<T>(x);
}
template <class T>
__TD_FN T __td_ptx_second_add(T x, T c) {
  return (T)((unsigned)x + (unsigned)c);
}
template <class T>
__TD_FN T __td_ptx_second_min(T x, T c) {
  return x < c ? x : c;
}
template <class T>
__TD_FN T __td_ptx_second_max(T x, T c) {
  return x < c ? c : x;
}

// ---- memory: each element of a vector for itself where the access is more than plain
#define TD_PTX_LOAD(name, access)                                                        \
  template <class T>                                                                     \
  __TD_FN T __td_ptx_load_##name(const T* p) {                                           \
    return access;                                                                       \
  }                                                                                      \
  template <class T, unsigned length>                                                    \
  __TD_FN auto __td_ptx_load_##name(const __td_ptx_vector<T, length>* p) {               \
    __td_ptx_vector<T, length> v;                                                        \
    for (unsigned i = 0; i < length; ++i) v.part[i] = __td_ptx_load_##name(p->part + i); \
    return v;                                                                            \
  }
TD_PTX_LOAD(volatile, *(const volatile T*)p)
TD_PTX_LOAD(relaxed, __td_atomic_load(p, __NV_ATOMIC_RELAXED))
TD_PTX_LOAD(acquire, __td_atomic_load(p, __NV_ATOMIC_ACQUIRE))
#undef TD_PTX_LOAD
#define TD_PTX_STORE(name, access)                                                       \
  template <class T>                                                                     \
  __TD_FN void __td_ptx_store_##name(T* p, T v) {                                        \
    access;                                                                              \
  }                                                                                      \
  template <class T, unsigned length>                                                    \
  __TD_FN void __td_ptx_store_##name(__td_ptx_vector<T, length>* p,                      \
                                     __td_ptx_vector<T, length> v) {                     \
    for (unsigned i = 0; i < length; ++i) __td_ptx_store_##name(p->part + i, v.part[i]); \
  }
TD_PTX_STORE(volatile, *(volatile T*)p = v)
TD_PTX_STORE(relaxed, __td_atomic_store(p, v, __NV_ATOMIC_RELAXED))
TD_PTX_STORE(release, __td_atomic_store(p, v, __NV_ATOMIC_RELEASE))
#undef TD_PTX_STORE

__TD_FN bool __td_ptx_is_global(const void* p) { return __isGlobal(p) != 0; }
__TD_FN bool __td_ptx_is_shared(const void* p) { return __isShared(p) != 0; }
__TD_FN bool __td_ptx_is_local(const void* p) { return __isLocal(p) != 0; }

// `count` of `bytes` are copied, the rest is zero.
__TD_FN void __td_ptx_cp_async(void* to, const void* from, unsigned bytes, unsigned count) {
  __pipeline_memcpy_async(to, from, bytes, count < bytes ? bytes - count : 0);
}

// Atomic operations are relaxed; a fence before makes one a release, one behind an acquire.
#define TD_PTX_ORDER(name, before, behind)   \
  template <class T>                         \
  __TD_FN T* __td_ptx_release_##name(T* p) { \
    before;                                  \
    return p;                                \
  }                                          \
  template <class T>                         \
  __TD_FN T __td_ptx_acquire_##name(T old) { \
    behind;                                  \
    return old;                              \
  }
TD_PTX_ORDER(, , )
TD_PTX_ORDER(relaxed, , )
TD_PTX_ORDER(acquire, , __threadfence())
TD_PTX_ORDER(release, __threadfence(), )
TD_PTX_ORDER(acq_rel, __threadfence(), __threadfence())
#undef TD_PTX_ORDER
#define TD_PTX_ATOMIC(name, function)               \
  template <class T>                                \
  __TD_FN T __td_ptx_atomic_##name(T* p, T value) { \
    return function(p, value);                      \
  }
TD_PTX_ATOMIC(min, atomicMin)
TD_PTX_ATOMIC(max, atomicMax)
TD_PTX_ATOMIC(inc, atomicInc)
TD_PTX_ATOMIC(dec, atomicDec)
TD_PTX_ATOMIC(and, atomicAnd)
TD_PTX_ATOMIC(or, atomicOr)
TD_PTX_ATOMIC(xor, atomicXor)
#undef TD_PTX_ATOMIC

// ---- threads
// Named barriers; lowering knows them.
extern "C" {
__device__ __attribute__((convergent, nothrow)) void __td_barrier_sync(unsigned id,
                                                                       unsigned threads);
__device__ __attribute__((convergent, nothrow)) void __td_barrier_arrive(unsigned id,
                                                                         unsigned threads);
}
__TD_FN void __td_ptx_barrier(unsigned id) {
  if (id == 0)
    __syncthreads();
  else
    __td_barrier_sync(id, blockDim.x * blockDim.y * blockDim.z);
}
// Whether the lane that shfl reads from lies within the segment that c describes (the predicate of
// shfl in the PTX manual).
__TD_FN int __td_ptx_lane_limit(unsigned c, unsigned lane) {
  const unsigned segment = c >> 8 & 31;
  return (int)((lane & segment) | (c & 31 & ~segment));
}
__TD_FN bool __td_ptx_inside_up(unsigned b, unsigned c) {
  const unsigned lane = __td_lane();
  return (int)lane - (int)(b & 31) >= __td_ptx_lane_limit(c, lane);
}
__TD_FN bool __td_ptx_inside_down(unsigned b, unsigned c) {
  const unsigned lane = __td_lane();
  return (int)(lane + (b & 31)) <= __td_ptx_lane_limit(c, lane);
}
__TD_FN bool __td_ptx_inside_bfly(unsigned b, unsigned c) {
  const unsigned lane = __td_lane();
  return (int)(lane ^ (b & 31)) <= __td_ptx_lane_limit(c, lane);
}
__TD_FN bool __td_ptx_inside_idx(unsigned b, unsigned c) {
  const unsigned lane = __td_lane(), segment = c >> 8 & 31;
  return (int)((lane & segment) | (b & 31 & ~segment)) <= __td_ptx_lane_limit(c, lane);
}
template <class T>
__TD_FN unsigned __td_ptx_match_all(unsigned mask, T value, bool& all) {
  int same = 0;
  const unsigned lanes = __match_all_sync(mask, value, &same);
  all = same != 0;
  return lanes;
}
// The lowest lane of the mask leads.
__TD_FN unsigned __td_ptx_elect(unsigned mask, bool& leads) {
  __syncwarp(mask);
  const unsigned leader = (unsigned)__ffs((int)mask) - 1;
  leads = __td_lane() == leader;
  return leader;
}

// ---- floating point
// -0 and +0 for denormals. Other types have nothing to flush.
template <class T>
__TD_FN T __td_ptx_ftz(T x) {
  return x;
}
__TD_FN float __td_ptx_ftz(float x) {
  return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
}
__TD_FN double __td_ptx_flush(double x) {
  return __builtin_fabs(x) < 0x1p-1022 ? __builtin_copysign(0.0, x) : x;
}
// Within 0 and 1; NaN is 0.
__TD_FN float __td_ptx_sat(float x) { return __saturatef(x); }
__TD_FN double __td_ptx_sat(double x) { return __builtin_fmin(__builtin_fmax(x, 0.0), 1.0); }

// PTX's rounding modes with CUDA's names for them; without one it is to nearest.
#define TD_PTX_MODES(M) M(, rn) M(rn, rn) M(rz, rz) M(rm, rd) M(rp, ru)
#define TD_PTX_ARITHMETIC(mode, cuda)                                                             \
  __TD_FN float __td_ptx_add_##mode(float x, float y) { return __fadd_##cuda(x, y); }             \
  __TD_FN float __td_ptx_sub_##mode(float x, float y) { return __fsub_##cuda(x, y); }             \
  __TD_FN float __td_ptx_mul_##mode(float x, float y) { return __fmul_##cuda(x, y); }             \
  __TD_FN float __td_ptx_div_##mode(float x, float y) { return __fdiv_##cuda(x, y); }             \
  __TD_FN float __td_ptx_fma_##mode(float x, float y, float z) { return __fmaf_##cuda(x, y, z); } \
  __TD_FN float __td_ptx_rcp_##mode(float x) { return __frcp_##cuda(x); }                         \
  __TD_FN float __td_ptx_sqrt_##mode(float x) { return __fsqrt_##cuda(x); }                       \
  __TD_FN double __td_ptx_add_##mode(double x, double y) { return __dadd_##cuda(x, y); }          \
  __TD_FN double __td_ptx_sub_##mode(double x, double y) { return __dsub_##cuda(x, y); }          \
  __TD_FN double __td_ptx_mul_##mode(double x, double y) { return __dmul_##cuda(x, y); }          \
  __TD_FN double __td_ptx_div_##mode(double x, double y) { return __ddiv_##cuda(x, y); }          \
  __TD_FN double __td_ptx_fma_##mode(double x, double y, double z) {                              \
    return __fma_##cuda(x, y, z);                                                                 \
  }                                                                                               \
  __TD_FN double __td_ptx_rcp_##mode(double x) { return __drcp_##cuda(x); }                       \
  __TD_FN double __td_ptx_sqrt_##mode(double x) { return __dsqrt_##cuda(x); }
TD_PTX_MODES(TD_PTX_ARITHMETIC)
#undef TD_PTX_ARITHMETIC

// The number where the other is NaN; -0 is below +0.
template <class T>
__TD_FN T __td_ptx_fmin_(T x, T y) {
  const T least = fmin(x, y);
  return x == y && __builtin_signbit(x) ? x : least;
}
template <class T>
__TD_FN T __td_ptx_fmax_(T x, T y) {
  const T most = fmax(x, y);
  return x == y && __builtin_signbit(x) ? y : most;
}
// NaN where one is NaN.
__TD_FN float __td_ptx_fmin_NaN(float x, float y) {
  return x != x || y != y ? __builtin_nanf("") : __td_ptx_fmin_(x, y);
}
__TD_FN float __td_ptx_fmax_NaN(float x, float y) {
  return x != x || y != y ? __builtin_nanf("") : __td_ptx_fmax_(x, y);
}
// The sign is that of a product of x and y.
__TD_FN float __td_ptx_xorsign(float size, float x, float y) {
  const int sign = (__float_as_int(x) ^ __float_as_int(y)) & (int)0x80000000;
  return size != size ? size : __int_as_float(__float_as_int(size) | sign);
}
#define TD_PTX_TEST(name, condition)     \
  template <class T>                     \
  __TD_FN bool __td_ptx_is_##name(T x) { \
    return condition;                    \
  }
TD_PTX_TEST(finite, __builtin_isfinite(x))
TD_PTX_TEST(infinite, __builtin_isinf(x))
TD_PTX_TEST(number, x == x)
TD_PTX_TEST(notanumber, x != x)
TD_PTX_TEST(normal, __builtin_isnormal(x) || x == 0)
TD_PTX_TEST(subnormal, __builtin_isfinite(x) && !__builtin_isnormal(x) && x != 0)
#undef TD_PTX_TEST

// ---- conversions
// To the nearest end of the range of T.
template <class T, class S>
__TD_FN T __td_ptx_clip(S x) {
  constexpr unsigned long long high = ~0ull >> (64 - 8 * sizeof(T) + __td_ptx_is_signed<T>);
  if constexpr (!__td_ptx_is_signed<S>) {
    return x > high ? (T)high : (T)x;
  } else {
    constexpr long long low = __td_ptx_is_signed<T> ? -(long long)high - 1 : 0;
    return x < low ? (T)low : x > 0 && (unsigned long long)x > high ? (T)high : (T)x;
  }
}
#define TD_PTX_ROUND(name, function)                                            \
  __TD_FN float __td_ptx_##name(float x) { return __builtin_##function##f(x); } \
  __TD_FN double __td_ptx_##name(double x) { return __builtin_##function(x); }
TD_PTX_ROUND(rni, rint)
TD_PTX_ROUND(rzi, trunc)
TD_PTX_ROUND(rmi, floor)
TD_PTX_ROUND(rpi, ceil)
#undef TD_PTX_ROUND
// Conversions of C++ saturate in device code. They give 0 for NaN to small integers; cvt gives the
// sign bit alone when it comes from double.
template <class T, class S>
__TD_FN T __td_ptx_to_integer(S x) {
  if constexpr (sizeof(T) < 4 && sizeof(S) == 8)
    return x != x ? (T)(1u << (8 * sizeof(T) - 1)) : (T)x;
  else
    return (T)x;
}
#define TD_PTX_CONVERT(mode, cuda)                                                               \
  __TD_FN float __td_ptx_to_float_##mode(int x) { return __int2float_##cuda(x); }                \
  __TD_FN float __td_ptx_to_float_##mode(unsigned x) { return __uint2float_##cuda(x); }          \
  __TD_FN float __td_ptx_to_float_##mode(long long x) { return __ll2float_##cuda(x); }           \
  __TD_FN float __td_ptx_to_float_##mode(unsigned long long x) { return __ull2float_##cuda(x); } \
  __TD_FN float __td_ptx_to_float_##mode(double x) { return __double2float_##cuda(x); }          \
  __TD_FN double __td_ptx_to_double_##mode(int x) { return x; }                                  \
  __TD_FN double __td_ptx_to_double_##mode(unsigned x) { return x; }                             \
  __TD_FN double __td_ptx_to_double_##mode(long long x) { return __ll2double_##cuda(x); }        \
  __TD_FN double __td_ptx_to_double_##mode(unsigned long long x) { return __ull2double_##cuda(x); }
TD_PTX_MODES(TD_PTX_CONVERT)
#undef TD_PTX_CONVERT
