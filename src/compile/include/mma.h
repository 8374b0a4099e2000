// Matrix products of a warp (nvcuda::wmma). A fragment is one lane's part of a matrix; which
// elements these are is as on compute capability 8.0 and later, so that element i of one fragment
// and element i of another of the same type have the same place. Arithmetic: Hopper's, see mma.cpp
// of the software device.
#pragma once
#pragma clang system_header
#include "cuda_bf16.h"
#include "cuda_fp16.h"

struct __td_mma_words {
  unsigned d0, d1, d2, d3;
};
// Provided by lowering (src/softdev/simt/builtins.def). kind: MmaKind (simt/kernel_abi.h).
extern "C" __attribute__((host, device, convergent, const, nothrow)) __td_mma_words
__td_mma(unsigned mask, unsigned kind, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
         unsigned b0, unsigned b1, unsigned c0, unsigned c1, unsigned c2, unsigned c3);

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct __attribute__((
    unavailable("[treadle]wmma of u4 is known, but not supported on the software device yet"))) u4;
struct __attribute__((
    unavailable("[treadle]wmma of s4 is known, but not supported on the software device yet"))) s4;
struct __attribute__((
    unavailable("[treadle]wmma of b1 is known, but not supported on the software device yet"))) b1;
}  // namespace precision
}  // namespace experimental

// To the nearest number of tf32 (10 bits behind the point), ties away from zero. A NaN keeps the
// bits that are left.
__TD_FN float __float_to_tf32(float x) {
  const unsigned bits = __float_as_uint(x), half = (bits & 0x7f800000u) == 0x7f800000u ? 0 : 0x1000;
  return __uint_as_float((bits + half) & 0xffffe000u);
}

// How a matrix lies in the lanes. `outer` is the direction in which the lanes go on by groups of
// four (rows of A, columns of B), `inner` the other one, of which a lane has `pack` neighbours.
// Elements are numbered pack first; then `outer` by 8 and `inner` if outer_first, else the other
// way round; rows from 16 on are last.
template <int outer, int inner, int pack, bool outer_first>
struct __td_places {
  static constexpr int count = outer * inner / 32;
  static constexpr int inner_parts = inner / (4 * pack), outer_parts = outer >= 16 ? 2 : 1;
  static constexpr int part(int i) { return i / pack % (count / pack); }
  static constexpr int outer_of(int i) {
    const int j = part(i);
    return 8 * (outer_first ? j % outer_parts + j / (outer_parts * inner_parts) * outer_parts
                            : j / inner_parts);
  }
  static constexpr int inner_of(int i) {
    const int j = part(i);
    return i % pack + 4 * pack * (outer_first ? j / outer_parts % inner_parts : j % inner_parts);
  }
};

// Of each type of A and B: how it is stored, how many lie in a word, words that one step of the
// matrix unit takes of the larger and of the smaller operand, MmaKind.
template <class T>
struct __td_element {
  typedef T stored;
  static constexpr int pack = 1;
  static constexpr bool k16 = false;
};
#define TD_ELEMENT(T, Stored, in_word, larger, smaller, number)         \
  template <>                                                           \
  struct __td_element<T> {                                              \
    typedef Stored stored;                                              \
    static constexpr int pack = in_word, big = larger, small = smaller; \
    static constexpr unsigned kind = number;                            \
    static constexpr bool k16 = in_word > 1;                            \
  };
TD_ELEMENT(__half, __half, 2, 4, 2, 0)
TD_ELEMENT(__nv_bfloat16, __nv_bfloat16, 2, 4, 2, 2)
TD_ELEMENT(precision::tf32, float, 1, 4, 2, 3)
TD_ELEMENT(signed char, signed char, 4, 2, 1, 4)
TD_ELEMENT(unsigned char, unsigned char, 4, 2, 1, 6)
TD_ELEMENT(double, double, 1, 2, 2, 8)
#undef TD_ELEMENT

// What there is, and where its elements are. The shape with 32 columns is the transposed one with
// 32 rows.
template <class Use, int m, int n, int k, class T, class Layout>
struct __td_traits {
  static constexpr bool is_a = __is_same(Use, matrix_a), is_b = __is_same(Use, matrix_b);
  static constexpr bool transposed = n == 32;
  static constexpr bool large =
      k == 16 && (m == 16 && n == 16 || m == 32 && n == 8 || m == 8 && n == 32);
  static constexpr bool medium = m == 16 && n == 16 && k == 8;
  static constexpr bool tiny = m == 8 && n == 8 && k == 4;
  static constexpr bool input =
      (is_a || is_b) && (__is_same(Layout, row_major) || __is_same(Layout, col_major)) &&
      (large && __td_element<T>::k16 || medium && __is_same(T, precision::tf32) ||
       tiny && __is_same(T, double));
  static constexpr bool output =
      __is_same(Use, accumulator) && __is_same(Layout, void) &&
      (large && (__is_same(T, __half) || __is_same(T, float) || __is_same(T, int)) ||
       medium && __is_same(T, float) || tiny && __is_same(T, double));
  static constexpr bool exists = input || output;

  static constexpr int outer = input ? (is_a ? m : n) : transposed ? n : m;
  static constexpr int inner = input ? k : transposed ? m : n;
  static constexpr int pack = input ? __td_element<T>::pack : 2;
  static constexpr bool outer_is_row = input ? is_a : !transposed;
  typedef __td_places<outer, inner, pack, !input || is_a != transposed> places;
  // float16 has room for 16 elements in every shape; those without a place are others once more.
  static constexpr int size = !exists ? 1 : input && __is_same(T, __half) ? 16 : places::count;
};

template <class T, int size>
struct __attribute__((aligned(8))) __td_fragment {
  typedef T element_type;
  typedef typename __td_element<T>::stored storage_element_type;
  static constexpr int num_elements = size, num_storage_elements = size;
  storage_element_type x[size];
};

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment : public __td_fragment<T, __td_traits<Use, m, n, k, T, Layout>::size> {
  static_assert(__td_traits<Use, m, n, k, T, Layout>::exists,
                "wmma has no fragment of this use, shape, type and layout");
};

// Calls body(element, row, column) for the elements of this lane: written out, so that fragments
// are registers.
template <class T, T... i>
struct __td_numbers {};
template <class Traits, class Body, int... i>
__TD_FN void __td_each(Body body, __td_numbers<int, i...>) {
  const unsigned lane = (unsigned)__nvvm_read_ptx_sreg_laneid() & 31;
  const int outer = (int)(lane >> 2), inner = (int)(lane & 3) * Traits::pack;
  auto one = [&](int element, int o, int q) {
    body(element, Traits::outer_is_row ? o : q, Traits::outer_is_row ? q : o);
  };
  (one(i, outer + Traits::places::outer_of(i), inner + Traits::places::inner_of(i)), ...);
}
template <class Traits, class Body>
__TD_FN void __td_each(Body body) {
  __td_each<Traits>(body, __make_integer_seq<__td_numbers, int, Traits::size>());
}

template <class T>
__TD_FN void __td_unpack(T* x, unsigned word) {
  if constexpr (sizeof(T) == 2) {
    x[0] = __builtin_bit_cast(T, (unsigned short)word);
    x[1] = __builtin_bit_cast(T, (unsigned short)(word >> 16));
  } else {
    for (int i = 0; i < 4; ++i) x[i] = (T)(word >> 8 * i);
  }
}

// ldm: elements from one row (column) in memory to the next. CUDA wants 32 bytes of alignment and
// rows of whole 16 bytes, so that neighbours of small types are loaded as a word.
template <class Use, int m, int n, int k, class T, class Layout>
__TD_FN void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& a,
                              const typename __td_element<T>::stored* p, unsigned ldm) {
  typedef __td_traits<Use, m, n, k, T, Layout> traits;
  constexpr bool rows = __is_same(Layout, row_major);
  constexpr int pack = rows == traits::is_a ? traits::pack : 1;
  __td_each<traits>([&](int i, int row, int column) {
    const auto* at = p + (rows ? (size_t)row * ldm + column : (size_t)column * ldm + row);
    if constexpr (pack == 1)
      a.x[i] = *at;
    else if (i % pack == 0)
      __td_unpack(a.x + i, *(const unsigned*)at);
  });
}
template <int m, int n, int k, class T>
__TD_FN void load_matrix_sync(fragment<accumulator, m, n, k, T>& a,
                              const typename __td_element<T>::stored* p, unsigned ldm,
                              layout_t layout) {
  const size_t row_step = layout == mem_row_major ? ldm : 1;
  const size_t column_step = layout == mem_row_major ? 1 : ldm;
  __td_each<__td_traits<accumulator, m, n, k, T, void>>(
      [&](int i, int row, int column) { a.x[i] = p[row * row_step + column * column_step]; });
}
template <int m, int n, int k, class T>
__TD_FN void store_matrix_sync(typename __td_element<T>::stored* p,
                               const fragment<accumulator, m, n, k, T>& a, unsigned ldm,
                               layout_t layout) {
  const size_t row_step = layout == mem_row_major ? ldm : 1;
  const size_t column_step = layout == mem_row_major ? 1 : ldm;
  __td_each<__td_traits<accumulator, m, n, k, T, void>>(
      [&](int i, int row, int column) { p[row * row_step + column * column_step] = a.x[i]; });
}
template <class Use, int m, int n, int k, class T, class Layout>
__TD_FN void fill_fragment(fragment<Use, m, n, k, T, Layout>& a,
                           const typename __td_element<T>::stored& value) {
  __td_each<__td_traits<Use, m, n, k, T, Layout>>([&](int i, int, int) { a.x[i] = value; });
}

// ---- words of the matrix unit
template <class T>
__TD_FN unsigned __td_word(const T* x, int w) {  // 16 bits each
  return __builtin_bit_cast(unsigned short, x[2 * w]) |
         (unsigned)__builtin_bit_cast(unsigned short, x[2 * w + 1]) << 16;
}
template <class T>
__TD_FN unsigned __td_bytes(const T* x, int w) {
  return (unsigned char)x[4 * w] | (unsigned char)x[4 * w + 1] << 8 |
         (unsigned char)x[4 * w + 2] << 16 | (unsigned)(unsigned char)x[4 * w + 3] << 24;
}
__TD_FN unsigned __td_word(const signed char* x, int w) { return __td_bytes(x, w); }
__TD_FN unsigned __td_word(const unsigned char* x, int w) { return __td_bytes(x, w); }
__TD_FN unsigned __td_word(const float* x, int w) { return __float_as_uint(x[w]); }
__TD_FN unsigned __td_word(const double* x, int w) {
  return (unsigned)((unsigned long long)__double_as_longlong(x[w / 2]) >> 32 * (w % 2));
}
__TD_FN unsigned __td_sum_word(const __half* x, int w) { return __float_as_uint((float)x[w]); }
__TD_FN unsigned __td_sum_word(const float* x, int w) { return __float_as_uint(x[w]); }
__TD_FN unsigned __td_sum_word(const int* x, int w) { return (unsigned)x[w]; }
__TD_FN unsigned __td_sum_word(const double* x, int w) { return __td_word(x, w); }
__TD_FN void __td_take(__half* x, __td_mma_words d) {
  x[0] = __half_raw{(unsigned short)d.d0};
  x[1] = __half_raw{(unsigned short)d.d1};
  x[2] = __half_raw{(unsigned short)d.d2};
  x[3] = __half_raw{(unsigned short)d.d3};
}
__TD_FN void __td_take(float* x, __td_mma_words d) {
  x[0] = __uint_as_float(d.d0);
  x[1] = __uint_as_float(d.d1);
  x[2] = __uint_as_float(d.d2);
  x[3] = __uint_as_float(d.d3);
}
__TD_FN void __td_take(int* x, __td_mma_words d) {
  x[0] = (int)d.d0;
  x[1] = (int)d.d1;
  x[2] = (int)d.d2;
  x[3] = (int)d.d3;
}
__TD_FN void __td_take(double* x, __td_mma_words d) {
  x[0] = __hiloint2double((int)d.d1, (int)d.d0);
  x[1] = __hiloint2double((int)d.d3, (int)d.d2);
}

// The unit has 16 rows and 8 columns (double: 8 and 8): the larger operand gives rows, the smaller
// one columns. This is one step, from words a and b on.
template <class T, class Stored, class C, class D>
__TD_FN void __td_step(D* d, const Stored* larger, int a, const Stored* smaller, int b, const C* c,
                       unsigned kind) {
  typedef __td_element<T> element;
  const __td_mma_words words =
      __td_mma(0xffffffffu, kind, __td_word(larger, a), __td_word(larger, a + 1),
               element::big > 2 ? __td_word(larger, a + 2) : 0,
               element::big > 2 ? __td_word(larger, a + 3) : 0, __td_word(smaller, b),
               element::small > 1 ? __td_word(smaller, b + 1) : 0, __td_sum_word(c, 0),
               __td_sum_word(c, 1), __td_sum_word(c, 2), __td_sum_word(c, 3));
  if constexpr (__is_same(C, float) && __is_same(D, __half)) {  // a float, rounded once more
    float sums[4];
    __td_take(sums, words);
    for (int i = 0; i < 4; ++i) d[i] = sums[i];
  } else {
    __td_take(d, words);
  }
}
// Two steps, halves of the columns or of 32 rows; for double one.
template <class T, int m, int n, class Stored, class C, class D>
__TD_FN void __td_multiply(D* d, const Stored* larger, const Stored* smaller, const C* c,
                           unsigned kind) {
  typedef __td_element<T> element;
  __td_step<T>(d, larger, 0, smaller, 0, c, kind);
  if constexpr (m * n == 256)
    __td_step<T>(d + 4, larger, m == n ? 0 : element::big, smaller, m == n ? element::small : 0,
                 c + 4, kind);
}

// D = A B + C. saturate: integers alone.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class C, class D>
__TD_FN void mma_sync(fragment<accumulator, m, n, k, D>& d,
                      const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                      const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                      const fragment<accumulator, m, n, k, C>& c, bool saturate = false) {
  constexpr bool bytes = sizeof(typename __td_element<T>::stored) == 1;
  constexpr bool halves = __is_same(T, __half);
  constexpr bool floats = __is_same(C, float) && __is_same(D, float);
  static_assert(bytes    ? __is_same(C, int) && __is_same(D, int)
                : halves ? !__is_same(C, int) && !__is_same(D, int)
                         : floats || __is_same(T, double),
                "wmma has no product of these types with these accumulators");
  constexpr bool all_halves = __is_same(C, __half) && __is_same(D, __half);
  const unsigned kind = __td_element<T>::kind + (bytes ? saturate : all_halves);
  if constexpr (n == 32)
    __td_multiply<T, m, n>(d.x, b.x, a.x, c.x, kind);
  else
    __td_multiply<T, m, n>(d.x, a.x, b.x, c.x, kind);
}

}  // namespace wmma
}  // namespace nvcuda
