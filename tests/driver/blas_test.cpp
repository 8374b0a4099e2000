// Matrix products through the cuBLAS interface. The oracle is three loops over small whole numbers,
// for which every dtype is exact, so results are compared for equality.
#include "driver/blas.h"

#include <bit>
#include <complex>
#include <cstdint>
#include <random>

#include "support.h"

namespace td::test {
namespace {

using driver::gemm;
using driver::GemmMatrix;

class Blas : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    const driver::BlasLibrary& library = driver::blas_library(provider());
    ASSERT_TRUE(library.usable()) << library.problem;
  }
};

// Small whole numbers as IEEE half and back (1 to 2048 exactly).
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  Half(int value) {
    if (value == 0) return;
    unsigned magnitude = static_cast<unsigned>(std::abs(value));
    int top = 31 - __builtin_clz(magnitude);
    bits = static_cast<std::uint16_t>((value < 0 ? 0x8000 : 0) | ((top + 15) << 10) |
                                      ((magnitude << (10 - top)) & 0x3ff));
  }
  bool operator==(const Half&) const = default;
};
std::ostream& operator<<(std::ostream& out, Half value) { return out << std::hex << value.bits; }

template <class T>
T number(int real, int imaginary) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return T(real, imaginary);
  else
    return T(real);
}

struct Case {
  int m, n, k, count;
  bool a_columns, b_columns, c_columns;
  int padding;  // added to every leading dimension
};
constexpr Case kCases[] = {
    {1, 1, 1, 1, false, false, false, 0},   {3, 4, 5, 1, false, false, false, 0},
    {3, 4, 5, 1, true, false, false, 0},    {3, 4, 5, 1, false, true, false, 0},
    {3, 4, 5, 1, true, true, false, 0},     {3, 4, 5, 1, false, false, true, 0},
    {3, 4, 5, 1, true, true, true, 0},      {7, 33, 17, 1, true, false, true, 3},
    {64, 5, 9, 1, false, true, false, 2},   {4, 3, 2, 5, false, false, false, 0},
    {4, 3, 2, 5, true, false, false, 1},    {4, 3, 2, 5, false, true, true, 0},
    {1, 20, 30, 1, false, false, false, 0}, {20, 1, 30, 1, false, false, false, 0},
    {65, 65, 65, 2, true, true, false, 0},
};

// Host copy of one stack of matrices of whole numbers, and its layout on the device.
struct Stack {
  int rows, columns, count;
  GemmMatrix layout;
  std::vector<int> real, imaginary;  // by element of the buffer
  std::size_t elements;

  Stack(int r, int c, int n, bool by_columns, int padding, unsigned seed)
      : rows(r), columns(c), count(n) {
    layout.by_columns = by_columns;
    layout.leading = (by_columns ? r : c) + padding;
    layout.batch_stride = layout.leading * (by_columns ? c : r) + padding;
    elements = static_cast<std::size_t>(layout.batch_stride) * n;
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < elements; ++i) {
      real.push_back(static_cast<int>(random() % 7) - 3);
      imaginary.push_back(static_cast<int>(random() % 7) - 3);
    }
  }
  std::size_t at(int matrix, int i, int j) const {
    return matrix * layout.batch_stride +
           (layout.by_columns ? i + j * layout.leading : i * layout.leading + j);
  }
};

template <class T>
void check_case(DType dtype, const Case& x) {
  constexpr bool complex =
      std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
  Stack a(x.m, x.k, x.count, x.a_columns, x.padding, 1),
      b(x.k, x.n, x.count, x.b_columns, x.padding, 2),
      c(x.m, x.n, x.count, x.c_columns, x.padding, 3);
  auto values = [](const Stack& s) {
    std::vector<T> out;
    for (std::size_t i = 0; i < s.elements; ++i)
      out.push_back(number<T>(s.real[i], s.imaginary[i]));
    return out;
  };
  Buffer da(a.elements * sizeof(T)), db(b.elements * sizeof(T)), dc(c.elements * sizeof(T));
  write(da, values(a));
  write(db, values(b));
  std::vector<T> expected = values(c);  // gaps between rows keep what was there
  write(dc, expected);
  for (int s = 0; s < x.count; ++s)
    for (int i = 0; i < x.m; ++i)
      for (int j = 0; j < x.n; ++j) {
        int real = 0, imaginary = 0;
        for (int l = 0; l < x.k; ++l) {
          std::size_t ia = a.at(s, i, l), ib = b.at(s, l, j);
          real += a.real[ia] * b.real[ib] - (complex ? a.imaginary[ia] * b.imaginary[ib] : 0);
          imaginary += a.real[ia] * b.imaginary[ib] + a.imaginary[ia] * b.real[ib];
        }
        expected[c.at(s, i, j)] = number<T>(real, imaginary);
      }
  a.layout.address = da;
  b.layout.address = db;
  c.layout.address = dc;
  driver::StreamState stream(device(), nullptr, false);
  gemm(stream, dtype, x.m, x.n, x.k, a.layout, b.layout, c.layout, x.count);
  EXPECT_EQ(read<T>(dc, c.elements), expected)
      << info(dtype).numpy << " " << x.m << "x" << x.k << "x" << x.n << " columns " << x.a_columns
      << x.b_columns << x.c_columns << " padding " << x.padding << " batch " << x.count;
}

TEST_F(Blas, Float32) {
  for (const Case& row : kCases) check_case<float>(DType::float32, row);
}
TEST_F(Blas, Float64) {
  for (const Case& row : kCases) check_case<double>(DType::float64, row);
}
TEST_F(Blas, Complex64) {
  for (const Case& row : kCases) check_case<std::complex<float>>(DType::complex64, row);
}
TEST_F(Blas, Complex128) {
  for (const Case& row : kCases) check_case<std::complex<double>>(DType::complex128, row);
}
TEST_F(Blas, Float16) {
  if (!driver::gemm_supports(*device(), DType::float16)) {
    driver::StreamState stream(device(), nullptr, false);
    Buffer memory(16);
    GemmMatrix one{memory, 1};
    EXPECT_THROW(gemm(stream, DType::float16, 1, 1, 1, one, one, one), NotSupported);
    return;
  }
  for (const Case& row : kCases) check_case<Half>(DType::float16, row);
}

// The upper half of a float holds whole numbers up to 256 exactly.
struct Bfloat {
  std::uint16_t bits = 0;
  Bfloat() = default;
  Bfloat(int value) {
    auto number = static_cast<float>(value);
    bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16);
  }
  bool operator==(const Bfloat&) const = default;
};
std::ostream& operator<<(std::ostream& out, Bfloat value) { return out << std::hex << value.bits; }
TEST_F(Blas, Bfloat16) {
  if (!driver::gemm_supports(*device(), DType::bfloat16)) GTEST_SKIP() << "cuBLAS without GemmEx";
  for (const Case& row : kCases)
    if (row.k < 28) check_case<Bfloat>(DType::bfloat16, row);  // sums below 256
}

// Matrices that only row exchanges can factor, each with a right-hand side of its own; one is
// singular.
TEST_F(Blas, BatchedLuSolvesAndTells) {
  if (!driver::lu_batched_supported(*device(), DType::float64)) GTEST_SKIP() << "an old cuBLAS";
  constexpr int count = 40, n = 3;
  std::vector<double> a, b, expected;
  for (int i = 0; i < count; ++i) {
    // By columns: x1 = p, x0 + 2 x2 = q, i x2 = r.
    a.insert(a.end(), {0, 1, 0, 1, 0, 0, 0, 2, double(i)});
    b.insert(b.end(), {double(i), 7, 2.0 * i});
    expected.insert(expected.end(), {3, double(i), 2});
  }
  Buffer da(a.size() * 8), db(b.size() * 8), pa(count * 8), pb(count * 8), pivots(count * n * 4),
      info(count * 4);
  write(da, a);
  write(db, b);
  std::vector<std::uint64_t> matrices, right;
  for (int i = 0; i < count; ++i) {
    matrices.push_back(CUdeviceptr(da) + static_cast<CUdeviceptr>(i) * n * n * 8);
    right.push_back(CUdeviceptr(db) + static_cast<CUdeviceptr>(i) * n * 8);
  }
  write(pa, matrices);
  write(pb, right);
  driver::StreamState stream(device(), nullptr, false);
  driver::getrf_batched(stream, DType::float64, n, count, pa, pivots, info);
  driver::getrs_batched(stream, DType::float64, n, 1, count, pa, pivots, pb);
  auto found_info = read<int>(info, count);
  auto found = read<double>(db, b.size());
  EXPECT_EQ(found_info[0], 3);  // the third pivot of the first matrix is zero
  for (int i = 1; i < count; ++i) {
    EXPECT_EQ(found_info[i], 0);
    for (int k = 0; k < n; ++k) EXPECT_EQ(found[i * n + k], expected[i * n + k]) << i << " " << k;
  }
}

// Float32 sums are float32's own: an input with more bits than TF32 keeps comes through.
TEST_F(Blas, Float32IsNotRoundedToTf32) {
  float a = 1 + 1.0f / (1 << 20), b = 1, c = 0;
  Buffer da(4), db(4), dc(4);
  write(da, std::vector<float>{a});
  write(db, std::vector<float>{b});
  driver::StreamState stream(device(), nullptr, false);
  gemm(stream, DType::float32, 1, 1, 1, {da, 1}, {db, 1}, {dc, 1});
  c = read<float>(dc, 1)[0];
  EXPECT_EQ(c, a);
}

TEST_F(Blas, EmptyProducts) {
  driver::StreamState stream(device(), nullptr, false);
  Buffer memory(400);
  write(memory, std::vector<float>(100, 7));
  GemmMatrix c{memory, 6, false, 50};
  gemm(stream, DType::float32, 0, 5, 3, {0, 3}, {0, 5}, c);
  EXPECT_EQ(read<float>(memory, 100), std::vector<float>(100, 7));
  gemm(stream, DType::float32, 3, 5, 0, {0, 1}, {0, 5}, c, 2);
  auto found = read<float>(memory, 100);
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 6; ++j) EXPECT_EQ(found[s * 50 + i * 6 + j], j < 5 ? 0 : 7);
}

TEST_F(Blas, KeepsItsPlaceInTheStream) {
  TestStream handle;
  driver::StreamState stream(device(), handle, false);
  Buffer a(4 * 64 * 64), c(4 * 64 * 64);
  ASSERT_EQ(api().cuMemsetD8(a, 0, 4 * 64 * 64), cuda::CUDA_SUCCESS);
  // Once before the gate: the library's start, and the first use of a kernel, may wait for the
  // device.
  ASSERT_EQ(api().cuMemsetD32(c, 0, 16), cuda::CUDA_SUCCESS);
  gemm(stream, DType::float32, 64, 64, 64, {a, 64}, {a, 64}, {c, 64});
  ASSERT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
  Gate gate;
  gate.hold(handle);
  ASSERT_EQ(api().cuMemsetD32Async(a, 0x3f800000, 64 * 64, handle), cuda::CUDA_SUCCESS);  // 1.0f
  gemm(stream, DType::float32, 64, 64, 64, {a, 64}, {a, 64}, {c, 64});
  EXPECT_EQ(api().cuStreamQuery(handle), cuda::CUDA_ERROR_NOT_READY);
  gate.open();
  ASSERT_EQ(api().cuStreamSynchronize(handle), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<float>(c, 64 * 64), std::vector<float>(64 * 64, 64));
}

TEST_F(Blas, Refusals) {
  driver::StreamState stream(device(), nullptr, false);
  Buffer memory(16);
  GemmMatrix one{memory, 1};
  EXPECT_THROW(gemm(stream, DType::int32, 1, 1, 1, one, one, one), NotSupported);
  EXPECT_THROW(gemm(stream, DType::float32, 1ll << 32, 1, 1, one, one, one), ValueError);
}

}  // namespace
}  // namespace td::test
