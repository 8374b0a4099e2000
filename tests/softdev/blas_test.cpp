// Matrix products behind the cuBLAS interface, against the definition in long double.
#include <complex>
#include <random>

#include "softdev/libs/half.h"
#include "support.h"

namespace td::softdev::test {

namespace {

using namespace td::blas;
using Wide = std::complex<long double>;

template <class T>
struct Traits;
template <>
struct Traits<float> {
  static constexpr double tolerance = 1e-5;
  static constexpr auto one = td_soft_cublasSgemm_v2;
  static constexpr auto many = td_soft_cublasSgemmStridedBatched;
  using Abi = float;
};
template <>
struct Traits<double> {
  static constexpr double tolerance = 1e-13;
  static constexpr auto one = td_soft_cublasDgemm_v2;
  static constexpr auto many = td_soft_cublasDgemmStridedBatched;
  using Abi = double;
};
template <>
struct Traits<std::complex<float>> {
  static constexpr double tolerance = 1e-5;
  static constexpr auto one = td_soft_cublasCgemm_v2;
  static constexpr auto many = td_soft_cublasCgemmStridedBatched;
  using Abi = cuComplex;
};
template <>
struct Traits<std::complex<double>> {
  static constexpr double tolerance = 1e-13;
  static constexpr auto one = td_soft_cublasZgemm_v2;
  static constexpr auto many = td_soft_cublasZgemmStridedBatched;
  using Abi = cuDoubleComplex;
};

template <class T>
Wide element(const std::vector<T>& m, std::size_t offset, int leading, int op, int i, int j) {
  Wide value = op == OP_N ? Wide(m[offset + static_cast<std::size_t>(j) * leading + i])
                          : Wide(m[offset + static_cast<std::size_t>(i) * leading + j]);
  return op == OP_C ? std::conj(value) : value;
}

class Blas : public Soft {
 protected:
  void SetUp() override {
    Soft::SetUp();
    ASSERT_EQ(td_soft_cublasCreate_v2(&handle_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(td_soft_cublasDestroy_v2(handle_), CUBLAS_STATUS_SUCCESS);
    Soft::TearDown();
  }

  template <class T>
  std::vector<T> random_values(std::size_t count) {
    std::vector<T> out(count);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (T& value : out) {
      if constexpr (std::is_floating_point_v<T>) {
        value = static_cast<T>(unit(random_));
      } else {
        value = T(static_cast<typename T::value_type>(unit(random_)),
                  static_cast<typename T::value_type>(unit(random_)));
      }
    }
    return out;
  }
  template <class T>
  CUdeviceptr upload(const std::vector<T>& values) {
    CUdeviceptr address = alloc(std::max<std::size_t>(1, values.size() * sizeof(T)));
    EXPECT_EQ(td_soft_cuMemcpyHtoD_v2(address, values.data(), values.size() * sizeof(T)),
              CUDA_SUCCESS);
    return address;
  }

  template <class T>
  void check(int op_a, int op_b, int m, int n, int k, int count) {
    using Abi = typename Traits<T>::Abi;
    int lda = (op_a == OP_N ? m : k) + 3, ldb = (op_b == OP_N ? k : n) + 1, ldc = m + 2;
    long long stride_a = static_cast<long long>(lda) * (op_a == OP_N ? k : m) + 5;
    long long stride_b = static_cast<long long>(ldb) * (op_b == OP_N ? n : k);
    long long stride_c = static_cast<long long>(ldc) * n + 4;
    auto a = random_values<T>(stride_a * count), b = random_values<T>(stride_b * count),
         c = random_values<T>(stride_c * count);
    T alpha = random_values<T>(1)[0], beta = random_values<T>(1)[0];
    CUdeviceptr da = upload(a), db = upload(b), dc = upload(c);
    auto at = [](auto& v) { return reinterpret_cast<const Abi*>(&v); };
    auto in = [](CUdeviceptr p) { return reinterpret_cast<Abi*>(p); };
    cublasStatus_t status =
        count == 1 ? Traits<T>::one(handle_, op_a, op_b, m, n, k, at(alpha), in(da), lda, in(db),
                                    ldb, at(beta), in(dc), ldc)
                   : Traits<T>::many(handle_, op_a, op_b, m, n, k, at(alpha), in(da), lda, stride_a,
                                     in(db), ldb, stride_b, at(beta), in(dc), ldc, stride_c, count);
    ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
    std::vector<T> expected = c;
    Wide wide_alpha(alpha), wide_beta(beta);
    alpha = beta = T(99);  // read at the call
    for (int p = 0; p < count; ++p)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l)
            sum += element(a, p * stride_a, lda, op_a, i, l) *
                   element(b, p * stride_b, ldb, op_b, l, j);
          std::size_t here = p * stride_c + static_cast<std::size_t>(j) * ldc + i;
          Wide value = wide_alpha * sum + wide_beta * Wide(c[here]);
          if constexpr (std::is_floating_point_v<T>) {
            expected[here] = static_cast<T>(value.real());
          } else {
            expected[here] = T(value);
          }
        }
    std::vector<T> got = download<T>(dc, c.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_LE(std::abs(got[i] - expected[i]), Traits<T>::tolerance * (k + 1)) << i;
    for (CUdeviceptr p : {da, db, dc}) OK(cuMemFree_v2(p));
  }
  template <class T>
  void check_all() {
    for (int op_a : {OP_N, OP_T, OP_C})
      for (int op_b : {OP_N, OP_T, OP_C}) {
        check<T>(op_a, op_b, 7, 5, 9, 1);
        check<T>(op_a, op_b, 3, 4, 2, 3);
      }
    check<T>(OP_N, OP_T, 130, 65, 77, 1);
    check<T>(OP_N, OP_N, 1, 1, 1, 1);
  }

  cublasHandle_t handle_ = nullptr;
  std::mt19937 random_{5};
};

TEST_F(Blas, Float) { check_all<float>(); }
TEST_F(Blas, Double) { check_all<double>(); }
TEST_F(Blas, ComplexFloat) { check_all<std::complex<float>>(); }
TEST_F(Blas, ComplexDouble) { check_all<std::complex<double>>(); }

TEST_F(Blas, AnEmptySumScalesAndBetaZeroOverwrites) {
  std::vector<float> c = {1, 2, 3, 4};
  CUdeviceptr dc = upload(c);
  float alpha = 1, beta = 2;
  ASSERT_EQ(td_soft_cublasSgemm_v2(handle_, OP_N, OP_N, 2, 2, 0, &alpha, nullptr, 2, nullptr, 1,
                                   &beta, reinterpret_cast<float*>(dc), 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(download<float>(dc, 4), (std::vector<float>{2, 4, 6, 8}));
  // NaN in C does not survive beta == 0.
  CUdeviceptr da = upload(std::vector<float>{1, 0, 0, 1}),
              nan = upload(std::vector<float>(4, std::nanf("")));
  beta = 0;
  ASSERT_EQ(td_soft_cublasSgemm_v2(handle_, OP_N, OP_N, 2, 2, 2, &alpha,
                                   reinterpret_cast<float*>(da), 2, reinterpret_cast<float*>(dc), 2,
                                   &beta, reinterpret_cast<float*>(nan), 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(download<float>(nan, 4), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(Blas, HalfSumsInFloat) {
  const int n = 40;
  std::vector<std::uint16_t> a(n * n), b(n * n), c(n * n, 0x7e00);
  std::uniform_real_distribution<float> unit(-1, 1);
  for (auto* m : {&a, &b})
    for (auto& value : *m) value = float_to_half(unit(random_));
  CUdeviceptr da = upload(a), db = upload(b), dc = upload(c);
  float alpha = 1, beta = 0;
  ASSERT_EQ(td_soft_cublasGemmEx(handle_, OP_N, OP_N, n, n, n, &alpha, reinterpret_cast<void*>(da),
                                 R_16F, n, reinterpret_cast<void*>(db), R_16F, n, &beta,
                                 reinterpret_cast<void*>(dc), R_16F, n, COMPUTE_32F, GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  auto got = download<std::uint16_t>(dc, n * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 0; k < n; ++k)
        sum += double{half_to_float(a[k * n + i])} * half_to_float(b[j * n + k]);
      EXPECT_NEAR(half_to_float(got[j * n + i]), sum, 2e-3 * std::max(1.0, std::abs(sum)));
    }
}

TEST_F(Blas, ProductsKeepTheirPlaceInTheStream) {
  CUstream stream = nullptr;
  OK(cuStreamCreateWithPriority(&stream, STREAM_NON_BLOCKING, 0));
  ASSERT_EQ(td_soft_cublasSetStream_v2(handle_, stream), CUBLAS_STATUS_SUCCESS);
  // c = 2 c + a a with another a each time: any other order of the steps, or a step too early,
  // gives another number.
  CUdeviceptr a = upload(std::vector<float>{0}), c = upload(std::vector<float>{1});
  float alpha = 1, beta = 2, expected = 1;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(launch("busy", 1, 1, stream, 300000ull), CUDA_SUCCESS);
    OK(cuMemsetD32Async(a, 0x40400000u + (static_cast<unsigned>(i) << 16), 1, stream));
    ASSERT_EQ(td_soft_cublasSgemm_v2(handle_, OP_N, OP_N, 1, 1, 1, &alpha,
                                     reinterpret_cast<float*>(a), 1, reinterpret_cast<float*>(a), 1,
                                     &beta, reinterpret_cast<float*>(c), 1),
              CUBLAS_STATUS_SUCCESS);
    float value = 3 + 0.015625f * static_cast<float>(i);
    expected = 2 * expected + value * value;
  }
  EXPECT_EQ(td_soft_cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  OK(cuStreamSynchronize(stream));
  EXPECT_FLOAT_EQ(download<float>(c, 1)[0], expected);
}

TEST_F(Blas, Errors) {
  float one = 1;
  CUdeviceptr a = upload(std::vector<float>(16, 1));
  auto* p = reinterpret_cast<float*>(a);
  EXPECT_EQ(td_soft_cublasSgemm_v2(handle_, OP_N, OP_N, 4, 4, 4, &one, p, 3, p, 4, &one, p, 4),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(td_soft_cublasSgemm_v2(handle_, 9, OP_N, 4, 4, 4, &one, p, 4, p, 4, &one, p, 4),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(td_soft_cublasSgemm_v2(handle_, OP_N, OP_N, -1, 4, 4, &one, p, 4, p, 4, &one, p, 4),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(td_soft_cublasSgemm_v2(nullptr, OP_N, OP_N, 1, 1, 1, &one, p, 4, p, 4, &one, p, 4),
            CUBLAS_STATUS_NOT_INITIALIZED);
  // An operand that is too short faults on the device.
  ASSERT_EQ(td_soft_cublasSgemm_v2(handle_, OP_N, OP_N, 4, 5, 4, &one, p, 4, p, 4, &one, p, 4),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(td_soft_cublasSgemm_v2(handle_, OP_N, OP_N, 1, 1, 1, &one, p, 4, p, 4, &one, p, 4),
            CUBLAS_STATUS_EXECUTION_FAILED);
  recover();
}

// Every half value survives; halfway cases round to even.
TEST(Half, Conversions) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<std::uint16_t>(bits);
    float value = half_to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
      continue;
    }
    ASSERT_EQ(float_to_half(value), half) << bits;
    _Float16 reference;
    std::memcpy(&reference, &half, sizeof half);
    ASSERT_EQ(value, static_cast<float>(reference));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    std::uint32_t bits = random();
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) continue;
    auto reference = static_cast<_Float16>(value);
    std::uint16_t expected;
    std::memcpy(&expected, &reference, sizeof expected);
    ASSERT_EQ(float_to_half(value), expected) << value;
  }
}

}  // namespace

}  // namespace td::softdev::test
