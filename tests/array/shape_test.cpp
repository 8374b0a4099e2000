// Shape arithmetic against brute force: every index of small arrays.
#include "array/shape.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "treadle/error.h"

namespace td::array {
namespace {

void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  if (size_of(shape) == 0) return;
  Shape index(shape.size(), 0);
  while (true) {
    visit(index);
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

std::int64_t place(const Shape& index, const Strides& strides) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < index.size(); ++k) sum += index[k] * strides[k];
  return sum;
}

// The places of all elements in C order.
std::vector<std::int64_t> places(const Shape& shape, const Strides& strides) {
  std::vector<std::int64_t> out;
  for_each_index(shape, [&](const Shape& index) { out.push_back(place(index, strides)); });
  return out;
}

std::vector<std::int64_t> counting(std::int64_t n, std::int64_t step) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(k * step);
  return out;
}

TEST(Shape, ContiguousStridesCountUp) {
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3, 4}, Shape{1, 4, 1}}) {
    EXPECT_EQ(places(shape, contiguous_strides(shape, 8)), counting(size_of(shape), 8));
    EXPECT_TRUE(is_contiguous(shape, contiguous_strides(shape, 8), 8, 'C'));
    EXPECT_TRUE(is_contiguous(shape, contiguous_strides(shape, 8, 'F'), 8, 'F'));
  }
}

TEST(Shape, ContiguityIgnoresLengthOneAndEmpty) {
  EXPECT_TRUE(is_contiguous({1, 4}, {999, 4}, 4, 'C'));
  EXPECT_TRUE(is_contiguous({4, 1}, {4, 999}, 4, 'F'));
  EXPECT_TRUE(is_contiguous({0, 7}, {3, 3}, 4, 'C'));
  EXPECT_FALSE(is_contiguous({2, 4}, {32, 4}, 4, 'C'));
  EXPECT_FALSE(is_contiguous({4}, {-4}, 4, 'C'));
}

TEST(Shape, SizesThatDoNotFitAreRefused) {
  EXPECT_THROW(size_of(Shape{-1}), ValueError);
  EXPECT_THROW(size_of(Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}), ValueError);
  EXPECT_EQ(size_of(Shape{std::int64_t{1} << 40, std::int64_t{1} << 40, 0}), 0);
}

TEST(Shape, BroadcastingRepeats) {
  Shape a{3, 1}, b{2, 1, 4};
  const Shape* both[] = {&a, &b};
  EXPECT_EQ(broadcast_shapes(both), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_strides(a, {8, 8}, {2, 3, 4}), (Strides{0, 8, 0}));
  Shape c{2};
  const Shape* bad[] = {&a, &c, &b};
  EXPECT_THROW(broadcast_shapes(bad), ValueError);
  EXPECT_THROW(broadcast_strides({3}, {8}, {2}), ValueError);
  EXPECT_THROW(broadcast_strides({2, 3}, {24, 8}, {3}), ValueError);
}

TEST(Shape, ReshapeResolvesOneUnknown) {
  EXPECT_EQ(resolve_reshape({-1, 4}, 12), (Shape{3, 4}));
  EXPECT_EQ(resolve_reshape({}, 1), Shape{});
  EXPECT_THROW(resolve_reshape({}, 0), ValueError);
  EXPECT_THROW(resolve_reshape({-1, -1}, 4), ValueError);
  EXPECT_THROW(resolve_reshape({-1, 0}, 0), ValueError);
  EXPECT_THROW(resolve_reshape({5}, 4), ValueError);
}

// A view is right when it names the same elements in the same order; a refusal is right when no
// strides could.
TEST(Shape, ReshapedViewsNameTheSameElements) {
  std::mt19937 random(3);
  const std::vector<Shape> shapes{{24},      {4, 6},  {2, 3, 4}, {1, 24, 1},
                                  {6, 2, 2}, {2, 12}, {24, 1},   {2, 2, 2, 3}};
  int views = 0, copies = 0;
  for (const Shape& from : shapes)
    for (int trial = 0; trial < 40; ++trial) {
      Strides strides = contiguous_strides(from, 1);
      for (std::size_t k = 0; k < from.size(); ++k) {
        if (random() % 4 == 0) strides[k] = -strides[k];
        if (random() % 4 == 0) strides[k] *= 2;
        if (random() % 6 == 0) std::swap(strides[k], strides[random() % from.size()]);
      }
      for (const Shape& to : shapes) {
        auto view = reshape_strides(from, strides, to, 1);
        auto want = places(from, strides);
        if (view) {
          EXPECT_EQ(places(to, *view), want);
          ++views;
          continue;
        }
        ++copies;
        // Strides are fixed by the first step along each axis; they must fail somewhere.
        Strides only(to.size(), 0);
        std::int64_t step = 1;
        for (std::size_t k = to.size(); k-- > 0;) {
          if (to[k] > 1) only[k] = want[step] - want[0];
          step *= to[k];
        }
        auto got = places(to, only);
        for (auto& p : got) p += want[0];
        EXPECT_NE(got, want);
      }
    }
  EXPECT_GT(views, 100);
  EXPECT_GT(copies, 100);
}

TEST(Shape, ResultsFollowTheAxisOrderOfOperands) {
  Shape shape{2, 3, 4};
  Strides f = contiguous_strides(shape, 8, 'F'), c = contiguous_strides(shape, 8);
  Strides scalar{0, 0, 0};
  const Strides* fortran[] = {&f, &scalar};
  EXPECT_EQ(keep_order_strides(shape, fortran, 4), contiguous_strides(shape, 4, 'F'));
  const Strides* conflict[] = {&f, &c};
  EXPECT_EQ(keep_order_strides(shape, conflict, 4), contiguous_strides(shape, 4));
}

TEST(Shape, SelfOverlapIsNeverMissed) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 500; ++trial) {
    Shape shape{1 + static_cast<std::int64_t>(random() % 4),
                1 + static_cast<std::int64_t>(random() % 4)};
    Strides strides{static_cast<std::int64_t>(random() % 9) - 4,
                    static_cast<std::int64_t>(random() % 9) - 4};
    std::map<std::int64_t, int> seen;
    bool overlaps = false;
    for (std::int64_t p : places(shape, strides)) overlaps = overlaps || seen[p]++ > 0;
    EXPECT_TRUE(!overlaps || may_self_overlap(shape, strides, 1));
  }
  EXPECT_FALSE(may_self_overlap({4, 4}, {4, 1}, 1));
}

TEST(Shape, ExtentsCoverEveryElement) {
  Extent e = extent_of({3, 4}, {-32, 8}, 100, 8);
  EXPECT_EQ(e.begin, 100 - 64);
  EXPECT_EQ(e.end, 100 + 24 + 8);
}

}  // namespace
}  // namespace td::array
