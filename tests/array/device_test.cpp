// Arrays on a device (TREADLE_DEVICE): how many kernels an expression costs, what may not be fused,
// and values that need no NumPy to check. The Python tests hold every operation against NumPy.
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <numeric>
#include <thread>

#include "array/pending.h"
#include "fuse/kernel_cache.h"
#include "treadle/error.h"
#include "treadle/treadle.h"

namespace td {
namespace {

Array run(Op op, std::vector<Operand> operands) { return td::apply(op, operands); }
void run_into(Op op, std::vector<Operand> operands, const Array& out) {
  td::apply(op, operands, out);
}

template <class T>
std::vector<T> values(const Array& x) {
  std::vector<T> out(static_cast<std::size_t>(x.size()));
  to_host(x, out.data(), array::contiguous_strides(x.shape(), sizeof(T)));
  return out;
}

Array counting(const Shape& shape) {
  Array x = arange(array::size_of(shape), float32).reshape(shape);
  x.flush();
  return x;
}

// Kernels that `work` and the flush after it launch.
template <class Work>
int launches(Work work) {
  flush_all();
  int before = fuse::launch_count();
  auto keep = work();
  flush_all();
  return fuse::launch_count() - before;
}

TEST(Fusion, AChainIsOneKernel) {
  Array a = counting({1000}), b = counting({1000});
  EXPECT_EQ(launches([&] { return run(Op::sqrt, {run(Op::add, {run(Op::multiply, {a, a}), b})}); }),
            1);
}

TEST(Fusion, SeveralLiveResultsShareAKernel) {
  Array a = counting({1000});
  EXPECT_EQ(launches([&] {
              Array x = run(Op::add, {a, Scalar(1.0)});
              Array y = run(Op::multiply, {x, x});
              return std::pair(x, y);
            }),
            1);
}

TEST(Fusion, WorkInFrontOfAReductionIsFusedIntoIt) {
  Array a = counting({10, 100});
  EXPECT_EQ(launches([&] { return reduce(Reduction::sum, run(Op::multiply, {a, a}), Axes{1}); }),
            1);
}

TEST(Fusion, DiscardedValuesAreNotComputed) {
  Array a = counting({1000});
  EXPECT_EQ(launches([&] {
              for (int k = 0; k < 10; ++k) run(Op::exp, {a});
              return a;
            }),
            0);
}

TEST(Fusion, OtherShapesInBetweenDoNotSplitAChain) {
  Array a = counting({1000}), b = counting({10, 10});
  EXPECT_EQ(launches([&] {
              Array x = run(Op::add, {a, Scalar(1.0)});
              Array y = run(Op::add, {b, Scalar(2.0)});
              Array z = run(Op::multiply, {x, Scalar(3.0)});
              return std::vector<Array>{x, y, z};
            }),
            2);
}

TEST(Fusion, InPlaceWorkOnTheSameElementsIsFused) {
  Array a = counting({1000});
  EXPECT_EQ(launches([&] {
              Array before = run(Op::multiply, {a, Scalar(2.0)});
              run_into(Op::add, {a, Scalar(1.0)}, a);
              Array after = run(Op::multiply, {a, Scalar(2.0)});
              return std::pair(before, after);
            }),
            1);
  EXPECT_EQ(values<float>(a)[5], 6);
}

TEST(Fusion, AReaderOfOtherElementsIsNotFusedWithTheWriter) {
  Array a = counting({100});
  Array turned = a.index({Slice{{}, {}, -1}});
  Array before = run(Op::add, {turned, Scalar(0.0)});
  run_into(Op::multiply, {a, Scalar(10.0)}, a);
  Array after = run(Op::add, {turned, Scalar(0.0)});
  EXPECT_EQ(values<float>(before)[0], 99);
  EXPECT_EQ(values<float>(after)[0], 990);
}

TEST(Fusion, AReductionReadsBeforeALaterWrite) {
  Array a = counting({1000});
  Array total = reduce(Reduction::sum, run(Op::add, {a, Scalar(1.0)}));
  run_into(Op::multiply, {a, Scalar(0.0)}, a);
  EXPECT_EQ(values<float>(total)[0], 1000.0f * 999 / 2 + 1000);
  EXPECT_EQ(values<float>(a)[7], 0);
}

TEST(Fusion, OperandsSurviveTheirArrays) {
  Array sum;
  {
    Array a = counting({1000});
    sum = run(Op::add, {a, a});
  }
  Array other =
      full({1000}, 77.0, float32);  // may take the memory of `a` only after the sum has been made
  other.flush();
  EXPECT_EQ(values<float>(sum)[500], 1000);
}

TEST(Arrays, OverlappingInPlaceReadsFirst) {
  Array a = counting({300, 300});
  run_into(Op::add, {a, a.T()}, a);
  auto got = values<float>(a);
  for (int i = 0; i < 300; i += 37)
    for (int j = 0; j < 300; j += 41) EXPECT_EQ(got[i * 300 + j], 301.0f * (i + j));
}

TEST(Arrays, StridedHostMemory) {
  std::vector<float> host(40);
  std::iota(host.begin(), host.end(), 0.0f);
  Array x = from_host(host.data() + 39, {5, 4}, {-32, -8}, float32);
  EXPECT_EQ(values<float>(x)[0], 39);
  EXPECT_EQ(values<float>(x)[5], 39 - 8 - 2);
  std::vector<float> back(40, -1);
  to_host(x, back.data(), {32, 8});
  EXPECT_EQ(back[8], 31);
  EXPECT_EQ(back[1], -1);
}

TEST(Arrays, ItemNeedsOneElement) {
  EXPECT_EQ(std::get<std::int64_t>(full({1, 1}, std::int64_t{5}, int8).item()), 5);
  EXPECT_THROW(counting({2}).item(), ValueError);
  EXPECT_THROW(Array().shape(), ValueError);
}

// All threads miss the cache of kernels at once; each must get code that stays loaded.
TEST(Arrays, FirstUseFromSeveralThreads) {
  constexpr int kThreads = 4;
  for (DType dtype : {td::int8, td::int16, td::uint16, td::uint32, td::uint64, td::float64}) {
    std::barrier start(kThreads);
    std::vector<double> sums(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        start.arrive_and_wait();
        for (int round = 0; round < 20; ++round) {
          Array part = td::arange(0, 100, 1, dtype).astype(td::float64);
          sums[t] = std::get<double>(td::reduce(Reduction::sum, part).item());
        }
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(sums, std::vector<double>(kThreads, 4950.0)) << info(dtype).numpy;
  }
}

TEST(Arrays, ConstantsOfEveryKind) {
  EXPECT_EQ(values<std::uint16_t>(full({3}, 1.0 + 1.0 / 1024, float16))[2], 0x3c01);
  EXPECT_EQ(values<std::uint16_t>(full({1}, 5.9604644775390625e-08, float16))[0], 0x0001);
  EXPECT_EQ(values<std::uint16_t>(full({1}, 65519.0, float16))[0], 0x7bff);
  EXPECT_EQ(values<std::uint16_t>(full({1}, -65520.0, float16))[0], 0xfc00);
  EXPECT_EQ(values<std::uint64_t>(full({2}, std::uint64_t{1} << 63, uint64))[1],
            std::uint64_t{1} << 63);
  EXPECT_EQ(values<std::complex<double>>(full({2}, std::complex<double>(1, -2), complex128))[1],
            std::complex<double>(1, -2));
  EXPECT_THROW(full({2}, std::int64_t{-1}, uint8), OverflowError);
}

TEST(Arrays, MatmulShapes) {
  Array a = counting({3, 4});
  EXPECT_EQ(values<float>(matmul(a, a.T())),
            (std::vector<float>{14, 38, 62, 38, 126, 214, 62, 214, 366}));
  EXPECT_EQ(matmul(counting({4}), counting({4})).shape(), Shape{});
  EXPECT_EQ(matmul(counting({5, 3, 4}), counting({4})).shape(), (Shape{5, 3}));
  EXPECT_EQ(matmul(counting({1, 3, 4}), counting({6, 4, 2})).shape(), (Shape{6, 3, 2}));
  EXPECT_EQ(matmul(counting({2, 0}), counting({0, 3})).shape(), (Shape{2, 3}));
  EXPECT_THROW(matmul(counting({3, 4}), counting({3, 4})), ValueError);
  EXPECT_THROW(matmul(counting({}), counting({3})), ValueError);
}

TEST(Arrays, IntegerMatmul) {
  const int m = 37, k = 45, n = 29;
  Array a = arange(m * k, int32).reshape({m, k}), b = arange(k * n, int32).reshape({k, n});
  auto got = values<std::int32_t>(matmul(a, b));
  for (int i = 0; i < m; i += 5)
    for (int j = 0; j < n; j += 3) {
      std::int32_t want = 0;
      for (int s = 0; s < k; ++s) want += (i * k + s) * (s * n + j);
      EXPECT_EQ(got[i * n + j], want);
    }
}

TEST(Random, TheDeviceGivesThePublishedNumbers) {
  Generator generator(0);
  auto got = values<float>(generator.random({4}, float32));
  constexpr std::uint32_t words[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(got[i], static_cast<float>(words[i] >> 8) * 0x1p-24f);
}

TEST(Random, ADrawContinuesWhereTheLastOneEnded) {
  Generator one(42), two(42);
  auto whole = values<double>(one.random({6}));
  auto first = values<double>(two.random({4})), second = values<double>(two.random({2}));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), whole.begin()));
  EXPECT_TRUE(std::equal(second.begin(), second.end(), whole.begin() + 4));
}

TEST(Random, NormalNumbersHaveTheMomentsOfTheNormalDistribution) {
  Array x = Generator(7).standard_normal({200000}, float32);
  double mean = std::get<double>(reduce(Reduction::mean, x).item());
  EXPECT_NEAR(mean, 0, 0.01);
  EXPECT_NEAR(std::get<double>(var(x).item()), 1, 0.02);
}

TEST(Random, IntegersStayInRange) {
  Array x = Generator(3).integers(-2, 3, {10000}, int8);
  EXPECT_EQ(std::get<std::int64_t>(reduce(Reduction::min, x).item()), -2);
  EXPECT_EQ(std::get<std::int64_t>(reduce(Reduction::max, x).item()), 2);
  EXPECT_THROW(Generator(3).integers(0, 300, {1}, int8), ValueError);
  EXPECT_THROW(Generator(3).integers(3, 3, {1}), ValueError);
}

}  // namespace
}  // namespace td
