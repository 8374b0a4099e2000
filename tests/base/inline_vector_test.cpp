// InlineVector against std::vector: the same steps, and the same elements after each.
#include "treadle/inline_vector.h"

#include <gtest/gtest.h>

#include <list>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace td {
namespace {

template <class Vector>
void expect_same(const Vector& ours, const std::vector<typename Vector::value_type>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  ASSERT_EQ(ours.empty(), theirs.empty());
  ASSERT_GE(ours.capacity(), ours.size());
  ASSERT_TRUE(std::equal(ours.begin(), ours.end(), theirs.begin()));
  ASSERT_TRUE(std::equal(ours.rbegin(), ours.rend(), theirs.rbegin()));
  if (theirs.empty()) return;
  ASSERT_EQ(ours.front(), theirs.front());
  ASSERT_EQ(ours.back(), theirs.back());
}

template <class Vector>
class InlineVectorTest : public testing::Test {};
using Vectors = testing::Types<InlineVector<std::int64_t, 4>, InlineVector<int, 1>,
                               InlineVector<std::uint64_t, 8>, InlineVector<char, 3>>;
TYPED_TEST_SUITE(InlineVectorTest, Vectors);

// Two vectors of each kind, and a thousand random steps on them.
TYPED_TEST(InlineVectorTest, RandomStepsGiveWhatStdVectorGives) {
  using T = typename TypeParam::value_type;
  std::mt19937 random(1);
  auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  auto value = [&] { return static_cast<T>(random() % 100); };
  TypeParam ours[2];
  std::vector<T> theirs[2];
  for (int step = 0; step < 20000; ++step) {
    std::size_t k = below(2);
    TypeParam& a = ours[k];
    std::vector<T>& b = theirs[k];
    std::size_t at = below(b.size() + 1), end = at + below(b.size() - at + 1);
    T x = value();
    switch (below(16)) {
      case 0:
        a.push_back(x), b.push_back(x);
        break;
      case 1:
        a.push_back(x), b.push_back(x), a.push_back(x), b.push_back(x);
        break;
      case 2:
        if (!b.empty()) a.pop_back(), b.pop_back();
        break;
      case 3: {
        T* place = a.insert(a.begin() + at, x);
        b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), x);
        ASSERT_EQ(place, a.begin() + at);
        break;
      }
      case 4: {
        std::size_t count = below(4);
        a.insert(a.begin() + at, count, x);
        b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), count, x);
        break;
      }
      case 5: {
        std::list<T> part{x, value()};
        a.insert(a.begin() + at, part.begin(), part.end());
        b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), part.begin(), part.end());
        break;
      }
      case 6: {
        T* place = a.erase(a.begin() + at, a.begin() + end);
        b.erase(b.begin() + static_cast<std::ptrdiff_t>(at),
                b.begin() + static_cast<std::ptrdiff_t>(end));
        ASSERT_EQ(place, a.begin() + at);
        break;
      }
      case 7:
        if (at == b.size()) break;
        a.erase(a.begin() + at);
        b.erase(b.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 8: {
        std::size_t count = below(10);
        a.resize(count, x), b.resize(count, x);
        break;
      }
      case 9: {
        std::size_t count = below(10);
        a.assign(count, x), b.assign(count, x);
        break;
      }
      case 10:
        ours[1 - k] = a, theirs[1 - k] = b;
        break;
      case 11: {
        ours[1 - k] = std::move(a);
        theirs[1 - k] = b;
        b.clear();  // a moved-from InlineVector is empty
        break;
      }
      case 12:
        std::swap(ours[0], ours[1]), std::swap(theirs[0], theirs[1]);
        break;
      case 13: {
        TypeParam copy(a), moved(std::move(copy));
        expect_same(moved, b);
        expect_same(copy, {});
        break;
      }
      case 14:
        a.reserve(below(12));
        break;
      default: {
        TypeParam same(b.begin(), b.end());
        ASSERT_TRUE(same == a);
        ASSERT_EQ(ours[0] == ours[1], theirs[0] == theirs[1]);
        ASSERT_EQ(ours[0] < ours[1], theirs[0] < theirs[1]);
        if (below(3) == 0) a.clear(), b.clear();
        for (std::size_t i = 0; i < b.size(); ++i) a[i] = b[i] = value();
      }
    }
    expect_same(ours[0], theirs[0]);
    expect_same(ours[1], theirs[1]);
  }
}

TYPED_TEST(InlineVectorTest, TakesElementsOfItself) {
  using T = typename TypeParam::value_type;
  TypeParam a{T{1}, T{2}, T{3}};
  for (int step = 0; step < 40; ++step) a.push_back(a[step]);
  std::vector<T> b{T{1}, T{2}, T{3}};
  for (int step = 0; step < 40; ++step) b.push_back(T{b[step]});
  expect_same(a, b);
  a.insert(a.begin() + 1, a.begin(), a.begin() + 20);
  std::vector<T> part(b.begin(), b.begin() + 20);
  b.insert(b.begin() + 1, part.begin(), part.end());
  expect_same(a, b);
  TypeParam& same = a;
  a = same;
  expect_same(a, b);
  a.assign(a.begin() + 2, a.begin() + 5);
  expect_same(a, std::vector<T>(b.begin() + 2, b.begin() + 5));
  a.insert(a.end(), a[1]);
  expect_same(a, {b[2], b[3], b[4], b[3]});
}

TEST(InlineVector, ListsCountsAndSpans) {
  using Vector = InlineVector<std::int64_t, 4>;
  EXPECT_EQ((Vector{3, 4}), (Vector({3, 4})));
  EXPECT_EQ(Vector(3, 7), (Vector{7, 7, 7}));
  EXPECT_EQ(Vector(6, 7), (Vector{7, 7, 7, 7, 7, 7}));
  EXPECT_EQ(Vector(2), (Vector{0, 0}));
  Vector a;
  a = {1, 2, 3, 4, 5};
  a.insert(a.begin() + 2, {8, 9});
  EXPECT_EQ(a, (Vector{1, 2, 8, 9, 3, 4, 5}));
  std::span<const std::int64_t> seen = a;
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(seen[3], 9);
  EXPECT_LT((Vector{1, 2}), (Vector{1, 2, 0}));
  EXPECT_GT((Vector{2}), (Vector{1, 9, 9, 9, 9, 9}));
}

TEST(InlineVector, ShortOnesAllocateNothing) {
  InlineVector<std::int64_t, 4> a{1, 2, 3, 4};
  const auto* place = reinterpret_cast<const char*>(a.data());
  const auto* self = reinterpret_cast<const char*>(&a);
  EXPECT_TRUE(place >= self && place < self + sizeof a);
  a.push_back(5);
  place = reinterpret_cast<const char*>(a.data());
  EXPECT_FALSE(place >= self && place < self + sizeof a);
}

}  // namespace
}  // namespace td
