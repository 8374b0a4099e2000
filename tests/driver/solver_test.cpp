// Decompositions through the cuSOLVER interface, of matrices whose factors are known exactly.
#include "driver/solver.h"

#include <cmath>

#include "support.h"

namespace td::test {
namespace {

namespace solver = driver::solver;

class Solver : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    const driver::SolverLibrary& library = driver::solver_library(provider());
    ASSERT_TRUE(library.usable()) << library.problem;
  }
};

// L L' of L = [[i, 0], [1, 2]], by columns.
std::vector<double> positive(int i) { return {double(i * i), double(i), double(i), 5}; }

TEST_F(Solver, CholeskyOneByOneAndTogether) {
  constexpr int count = 40;
  std::vector<double> a;
  for (int i = 0; i < count; ++i)
    for (double x : positive(i)) a.push_back(x);  // the first is singular
  driver::StreamState stream(device(), nullptr, false);
  for (bool together : {false, true}) {
    if (together && !solver::potrf_batched_supported(*device())) continue;
    Buffer data(a.size() * 8), info(count * 4), places(count * 8);
    write(data, a);
    write(info, std::vector<int>(count, -1));
    if (together) {
      std::vector<std::uint64_t> addresses;
      for (int i = 0; i < count; ++i)
        addresses.push_back(CUdeviceptr(data) + static_cast<CUdeviceptr>(i) * 32);
      write(places, addresses);
      solver::potrf_batched(stream, DType::float64, false, 2, count, places, info);
    } else {
      solver::potrf(stream, DType::float64, false, 2, count, data, info);
    }
    auto state = read<int>(info, count);
    auto found = read<double>(data, a.size());
    EXPECT_EQ(state[0], 1) << together;
    for (int i = 1; i < count; ++i) {
      EXPECT_EQ(state[i], 0);
      EXPECT_EQ(found[4 * i], i);
      EXPECT_EQ(found[4 * i + 1], 1);
      EXPECT_EQ(found[4 * i + 3], 2);
    }
  }
}

TEST_F(Solver, LuExchangesRows) {
  Buffer a(4 * 8), b(2 * 8), pivots(2 * 8), info(4);
  write(a, std::vector<double>{0, 2, 4, 6});  // [[0, 4], [2, 6]]
  write(b, std::vector<double>{4, 10});
  driver::StreamState stream(device(), nullptr, false);
  solver::getrf(stream, DType::float64, 2, 1, a, pivots, info);
  EXPECT_EQ(read<std::int64_t>(pivots, 2), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(read<double>(a, 4), (std::vector<double>{2, 0, 6, 4}));
  solver::getrs(stream, DType::float64, 2, 1, 1, a, pivots, b, info);
  EXPECT_EQ(read<double>(b, 2), (std::vector<double>{2, 1}));
}

TEST_F(Solver, EigenvaluesOfAStackAscend) {
  constexpr int count = 5;
  std::vector<float> a;
  for (int i = 0; i < count; ++i)
    a.insert(a.end(), {float(i), 2, 2, float(i)});  // eigenvalues i - 2 and i + 2
  Buffer data(a.size() * 4), values(count * 8), info(count * 4);
  write(data, a);
  driver::StreamState stream(device(), nullptr, false);
  solver::syevd(stream, DType::float32, true, false, 2, count, data, values, info);
  auto found = read<float>(values, 2 * count);
  for (int i = 0; i < count; ++i) {
    EXPECT_NEAR(found[2 * i], i - 2, 1e-5);
    EXPECT_NEAR(found[2 * i + 1], i + 2, 1e-5);
  }
  for (float x : read<float>(data, a.size())) EXPECT_NEAR(std::fabs(x), std::sqrt(0.5), 1e-5);
}

}  // namespace
}  // namespace td::test
