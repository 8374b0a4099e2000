// CUDA's meaning of arithmetic where C++ leaves it open, and the math library.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness.h"

namespace simt_test {
namespace {

class Numbers : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, Numbers, testing::ValuesIn(widths));

template <typename T>
std::vector<T> interesting() {
  using Limits = std::numeric_limits<T>;
  return {T(0),
          T(1),
          T(2),
          T(3),
          T(7),
          T(10),
          T(100),
          T(12345),
          Limits::max(),
          Limits::min(),
          T(Limits::max() - 1),
          T(Limits::max() / 2),
          T(-1),
          T(-2),
          T(-7)};
}

template <typename T>
void check_division(const char* name, int width) {
  Program program(std::string("typedef ") + name + R"( T;
    extern "C" __global__ void run(const T* a, const T* b, T* q, T* r, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { q[i] = a[i] / b[i]; r[i] = a[i] % b[i]; }
    }
    extern "C" __global__ void uniform(T a, T b, T* q) { q[0] = a / b; q[1] = a % b; q[2] = a / 7; })",
                  width);
  std::vector<T> a, b;
  for (T x : interesting<T>())
    for (T y : interesting<T>()) a.push_back(x), b.push_back(y);
  int n = int(a.size());
  std::vector<T> q(n), r(n);
  program.launch("run", {unsigned(n + 63) / 64}, {64}, 0, a.data(), b.data(), q.data(), r.data(),
                 n);
  bool is_signed = std::numeric_limits<T>::is_signed;
  for (int i = 0; i < n; ++i) {
    T want_q, want_r;
    if (b[i] == 0)
      want_q = T(-1), want_r = a[i];
    else if (is_signed && b[i] == T(-1))
      want_q = T(0 - static_cast<std::make_unsigned_t<T>>(a[i])), want_r = 0;
    else
      want_q = T(a[i] / b[i]), want_r = T(a[i] % b[i]);
    ASSERT_EQ(q[i], want_q) << name << " " << +a[i] << " / " << +b[i];
    ASSERT_EQ(r[i], want_r) << name << " " << +a[i] << " % " << +b[i];
  }
  T out[3];
  program.launch("uniform", {1}, {1}, 0, T(100), T(0), &out[0]);
  EXPECT_EQ(out[0], T(-1));
  EXPECT_EQ(out[1], T(100));
  EXPECT_EQ(out[2], T(14));
}

TEST_P(Numbers, DivisionNeverTraps) {
  check_division<int>("int", GetParam());
  check_division<unsigned>("unsigned", GetParam());
  check_division<long long>("long long", GetParam());
  check_division<unsigned long long>("unsigned long long", GetParam());
}

TEST_P(Numbers, ShiftsClamp) {
  Program program(R"(
    extern "C" __global__ void run(const int* v, const int* s, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { out[3 * i] = v[i] << s[i]; out[3 * i + 1] = v[i] >> s[i]; out[3 * i + 2] = (unsigned)v[i] >> s[i]; }
    }
    extern "C" __global__ void wide(const long* v, const int* s, long* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { out[3 * i] = v[i] << s[i]; out[3 * i + 1] = v[i] >> s[i]; out[3 * i + 2] = (unsigned long)v[i] >> s[i]; }
    })",
                  GetParam());
  std::vector<int> v, s;
  std::vector<long> v64;
  for (int value : {1, -1, 0x12345678, int(0x80000000)})
    for (int amount : {0, 1, 31, 32, 33, 63, 64, 65, 1000, -1})
      v.push_back(value), s.push_back(amount), v64.push_back(value * 65537L);
  int n = int(v.size());
  std::vector<int> out(3 * n);
  std::vector<long> out64(3 * n);
  program.launch("run", {1}, {64}, 0, v.data(), s.data(), out.data(), n);
  program.launch("wide", {1}, {64}, 0, v64.data(), s.data(), out64.data(), n);
  for (int i = 0; i < n; ++i) {
    bool over = unsigned(s[i]) >= 32, over64 = unsigned(s[i]) >= 64;
    ASSERT_EQ(out[3 * i], over ? 0 : int(unsigned(v[i]) << s[i]));
    ASSERT_EQ(out[3 * i + 1], v[i] >> (over ? 31 : s[i]));
    ASSERT_EQ(out[3 * i + 2], over ? 0 : int(unsigned(v[i]) >> s[i]));
    if (s[i] == -1)
      continue;  // C++ promotes the amount to 64 bits: 2^64 - 1 or -1, both out of range
    ASSERT_EQ(out64[3 * i], over64 ? 0 : long(static_cast<unsigned long>(v64[i]) << s[i]));
    ASSERT_EQ(out64[3 * i + 1], v64[i] >> (over64 ? 63 : s[i]));
    ASSERT_EQ(out64[3 * i + 2], over64 ? 0 : long(static_cast<unsigned long>(v64[i]) >> s[i]));
  }
}

// NaN gives 0, and the sign bit alone where either side has 64 bits (PTX ISA, cvt).
template <typename To, typename From>
To saturate(From x) {
  if (std::isnan(x)) {
    bool wide = sizeof(To) == 8 || (sizeof(To) == 4 && sizeof(From) == 8);
    return wide ? static_cast<To>(To{1} << (8 * sizeof(To) - 1)) : To{0};
  }
  if (x <= static_cast<long double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (x >= static_cast<long double>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

template <typename From>
void check_conversions(const char* name, int width) {
  Program program(std::string("typedef ") + name + R"( T;
    extern "C" __global__ void run(const T* x, int* a, unsigned* b, long* c, unsigned long* d, unsigned char* e, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { a[i] = x[i]; b[i] = x[i]; c[i] = x[i]; d[i] = x[i]; e[i] = x[i]; }
    })",
                  width);
  std::vector<From> x = {0,
                         -0.0f,
                         0.5f,
                         -0.5f,
                         1.9f,
                         -1.9f,
                         254.9f,
                         255.f,
                         256.f,
                         300.f,
                         2147483520.f,
                         From(2147483647.0),
                         From(2147483648.0),
                         From(-2147483648.0),
                         From(-2147483649.5),
                         4294967040.f,
                         From(4294967295.0),
                         From(4294967296.0),
                         From(1e10),
                         From(-1e10),
                         From(9223372036854775807.0),
                         From(1.8e19),
                         From(1.9e19),
                         From(1e30),
                         From(-1e30),
                         std::numeric_limits<From>::infinity(),
                         -std::numeric_limits<From>::infinity(),
                         std::numeric_limits<From>::quiet_NaN()};
  int n = int(x.size());
  std::vector<int> a(n);
  std::vector<unsigned> b(n);
  std::vector<long> c(n);
  std::vector<unsigned long> d(n);
  std::vector<unsigned char> e(n);
  program.launch("run", {1}, {64}, 0, x.data(), a.data(), b.data(), c.data(), d.data(), e.data(),
                 n);
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(a[i], saturate<int>(x[i])) << x[i];
    ASSERT_EQ(b[i], saturate<unsigned>(x[i])) << x[i];
    ASSERT_EQ(c[i], saturate<long>(x[i])) << x[i];
    ASSERT_EQ(d[i], saturate<unsigned long>(x[i])) << x[i];
    ASSERT_EQ(e[i], saturate<unsigned char>(x[i])) << x[i];
  }
}

TEST_P(Numbers, FloatToIntegerSaturates) {
  check_conversions<float>("float", GetParam());
  check_conversions<double>("double", GetParam());
}

TEST_P(Numbers, MinMaxRoundingAndDenormals) {
  Program program(R"(
    extern "C" __global__ void run(const float* a, const float* b, float* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      float x = a[i], y = b[i], *o = out + 10 * i;
      o[0] = __builtin_fminf(x, y); o[1] = __builtin_fmaxf(x, y); o[2] = x / y; o[3] = __builtin_sqrtf(x);
      o[4] = __builtin_fmaf(x, y, 1.0f); o[5] = __builtin_floorf(x); o[6] = __builtin_rintf(x);
      o[7] = __builtin_truncf(x); o[8] = x * y; o[9] = __builtin_copysignf(x, y);
    })",
                  GetParam());
  float nan = NAN, inf = INFINITY;
  std::vector<float> a, b;
  for (float x : {0.f, -0.f, 1.f, 2.5f, -3.5f, 1e-40f, 1e-20f, 3e38f, inf, -inf, nan, 0.1f})
    for (float y : {0.f, 1.f, -2.f, 3.f, 1e-20f, 1e-41f, inf, nan}) a.push_back(x), b.push_back(y);
  int n = int(a.size());
  std::vector<float> out(10 * n);
  program.launch("run", {2}, {64}, 0, a.data(), b.data(), out.data(), n);
  auto same = [](float x, float y) {
    return std::isnan(x) ? std::isnan(y) : std::memcmp(&x, &y, 4) == 0;
  };
  for (int i = 0; i < n; ++i) {
    float x = a[i], y = b[i], *o = &out[10 * i];
    if (x != 0 || y != 0) {
      EXPECT_TRUE(same(o[0], std::fmin(x, y))) << x << " " << y;
      EXPECT_TRUE(same(o[1], std::fmax(x, y))) << x << " " << y;
    }
    EXPECT_TRUE(same(o[2], x / y)) << x << " / " << y;
    EXPECT_TRUE(same(o[3], std::sqrt(x))) << x;
    EXPECT_TRUE(same(o[4], std::fma(x, y, 1.0f)));
    EXPECT_TRUE(same(o[5], std::floor(x)));
    EXPECT_TRUE(same(o[6], std::nearbyint(x)));
    EXPECT_TRUE(same(o[7], std::trunc(x)));
    EXPECT_TRUE(same(o[8], x * y)) << x << " * " << y;
    EXPECT_TRUE(same(o[9], std::copysign(x, y)));
  }
}

TEST_P(Numbers, BitOperations) {
  Program program(R"(
    extern "C" __global__ void run(const unsigned* a, unsigned* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      unsigned x = a[i], *o = out + 4 * i;
      o[0] = __builtin_popcount(x); o[1] = x ? __builtin_clz(x) : 32; o[2] = __builtin_bitreverse32(x);
      o[3] = __builtin_rotateleft32(x, i);
    }
    extern "C" __global__ void high(const int* a, const int* b, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { out[i] = ((long)a[i] * b[i]) >> 32; long s; out[i] += __builtin_saddl_overflow(a[i], 1L << 62, &s); }
    })",
                  GetParam());
  int n = 100;
  std::vector<unsigned> a(n), out(4 * n);
  std::vector<int> b(n), high(n);
  for (int i = 0; i < n; ++i) a[i] = unsigned(i) * 2654435761u, b[i] = int(a[i] ^ 0x5bd1e995u);
  program.launch("run", {1}, {128}, 0, a.data(), out.data(), n);
  program.launch("high", {1}, {128}, 0, a.data(), b.data(), high.data(), n);
  for (int i = 0; i < n; ++i) {
    unsigned reversed = 0, rotated = i % 32 ? a[i] << (i % 32) | a[i] >> (32 - i % 32) : a[i];
    for (int k = 0; k < 32; ++k) reversed |= (a[i] >> k & 1) << (31 - k);
    ASSERT_EQ(out[4 * i], unsigned(__builtin_popcount(a[i])));
    ASSERT_EQ(out[4 * i + 1], a[i] ? unsigned(__builtin_clz(a[i])) : 32u);
    ASSERT_EQ(out[4 * i + 2], reversed);
    ASSERT_EQ(out[4 * i + 3], rotated);
    ASSERT_EQ(high[i], int((long(int(a[i])) * b[i]) >> 32));
  }
}

TEST_P(Numbers, MathLibrary) {
  Program program(R"(
    extern "C" __global__ void run(const float* x, float* e, float* s, float* d, double* p, float scale, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      e[i] = __td_expf(x[i]);
      s[i] = __td_sinf(x[i]) + __td_expf(scale);
      d[i] = __td_fdimf(x[i], 1.0f);
      if (i % 3) p[i] = __td_pow(1.0 + i, 1.25);
    })",
                  GetParam());
  int n = 75;
  std::vector<float> x(n), e(n), s(n), d(n);
  std::vector<double> p(n, -1);
  for (int i = 0; i < n; ++i) x[i] = 0.17f * i - 5;
  program.launch("run", {1}, {96}, 0, x.data(), e.data(), s.data(), d.data(), p.data(), 2.0f, n);
  for (int i = 0; i < n; ++i) {
    ASSERT_NEAR(e[i] / std::exp(double(x[i])), 1, 3e-7);
    ASSERT_NEAR(s[i], std::sin(double(x[i])) + std::exp(2.0), 2e-6);
    ASSERT_EQ(d[i], std::fdim(x[i], 1.0f));
    if (i % 3)
      ASSERT_NEAR(p[i] / std::pow(1.0 + i, 1.25), 1, 1e-15);
    else
      ASSERT_EQ(p[i], -1);
  }
}

TEST_P(Numbers, Half) {
  Program program(R"(
    extern "C" __global__ void run(const __fp16* a, __fp16* b, float* f, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { float x = a[i]; f[i] = x * 3; b[i] = x * 0.1f + a[n - 1 - i]; }
    }
    extern "C" __global__ void native(const _Float16* a, _Float16* b, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) b[i] = a[i] * a[i] + a[0];
    })",
                  GetParam());
  int n = 45;
  std::vector<_Float16> a(n), b(n);
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) a[i] = static_cast<_Float16>(i * 0.37f - 4);
  program.launch("run", {1}, {64}, 0, a.data(), b.data(), f.data(), n);
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(f[i], float(a[i]) * 3);
    ASSERT_EQ(float(b[i]), float(static_cast<_Float16>(float(a[i]) * 0.1f + float(a[n - 1 - i]))));
  }
  program.launch("native", {1}, {64}, 0, a.data(), b.data(), n);
  for (int i = 0; i < n; ++i) {
    auto product = static_cast<_Float16>(float(a[i]) * float(a[i]));
    ASSERT_EQ(float(b[i]), float(static_cast<_Float16>(float(product) + float(a[0]))));
  }
}

// Lanes that do not divide have a divisor of zero, known when the code is made.
TEST(Numbers, DivisorsThatAreZeroInDeadLanes) {
  for (int width : widths) {
    Program program(R"(
      extern "C" __global__ void run(const int* in, int* out) {
        int x = threadIdx.x, i = threadIdx.y * blockDim.x + x;
        int y = x == 0 ? 7 : in[i] / x;
        long long z = x == 0 ? 5 : (long long)in[i] % x;
        out[i] = __shfl_sync(~0u, y, i) * 100 + (int)z;
      })",
                    width);
    for (Dim block : {Dim{16, 4}, Dim{32, 2}, Dim{8, 8}}) {
      std::vector<int> in(64), out(64);
      for (int i = 0; i < 64; ++i) in[i] = i * 1237 - 40000;
      program.launch("run", {1}, block, 0, in.data(), out.data());
      for (int i = 0; i < 64; ++i) {
        int x = i % int(block.x);
        ASSERT_EQ(out[i], x == 0 ? 705 : in[i] / x * 100 + in[i] % x) << width << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace simt_test
