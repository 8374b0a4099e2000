// The list is chosen, not complete: what the first minutes of a session use, in the dtypes that
// NumPy programs have. Every kernel costs the package about 10 KB and its build a tenth of a
// second.
//
// The text of a kernel depends on dtypes, on the kind of each operand (array, number, one element),
// on alignment and on the way that memory is walked, but on no length. So one array of each dtype
// stands for all contiguous ones, of any number of dimensions.
#include "ready/operations.h"

#include <string_view>

#include "treadle/indexing.h"
#include "treadle/random.h"
#include "treadle/sorting.h"

namespace td::ready {

namespace {

constexpr std::int64_t kLong = 1 << 20;  // reductions of so many elements are split
constexpr std::int64_t kSide = 1024;

DType dtype_of(char letter) {
  switch (letter) {
    case '?':
      return DType::bool_;
    case 'i':
      return DType::int32;
    case 'q':
      return DType::int64;
    case 'f':
      return DType::float32;
    default:
      return DType::float64;
  }
}

Array array_of(char letter) { return empty({kLong}, dtype_of(letter)); }

// One row: an operation, the dtypes of its array operands, and what the operands are: a array, b
// the array before it again, i whole number, r real number, c array of bool.
struct Row {
  Op op;
  std::string_view dtypes, forms;
};

constexpr Row kRows[] = {
    {Op::add, "iqfd", "aa ab ai ia"},
    {Op::add, "iq", "ar"},
    {Op::add, "?", "aa"},
    {Op::subtract, "iqfd", "aa ai ia"},
    {Op::subtract, "iq", "ar"},
    {Op::multiply, "iqfd", "aa ab ai ia"},
    {Op::multiply, "iq", "ar ra"},
    {Op::multiply, "?", "aa"},
    {Op::divide, "iqfd", "aa ai ia"},
    {Op::floor_divide, "iqfd", "aa ai"},
    {Op::remainder, "iqfd", "aa ai"},
    {Op::power, "fd", "aa ar"},
    {Op::negative, "iqfd", "a"},
    {Op::absolute, "iqfd", "a"},
    {Op::sign, "fd", "a"},
    {Op::square, "iqfd", "a"},
    {Op::reciprocal, "fd", "a"},
    {Op::sqrt, "iqfd", "a"},
    {Op::exp, "fd", "a"},
    {Op::log, "fd", "a"},
    {Op::sin, "fd", "a"},
    {Op::cos, "fd", "a"},
    {Op::tanh, "fd", "a"},
    {Op::floor, "fd", "a"},
    {Op::ceil, "fd", "a"},
    {Op::rint, "fd", "a"},
    {Op::isnan, "fd", "a"},
    {Op::isfinite, "fd", "a"},
    {Op::maximum, "iqfd", "aa ai"},
    {Op::minimum, "iqfd", "aa ai"},
    {Op::clip, "iqfd", "aii"},
    {Op::where, "iqfd", "caa cai"},
    {Op::equal, "?iqfd", "aa"},
    {Op::equal, "iqfd", "ai"},
    {Op::not_equal, "iqfd", "aa ai"},
    {Op::less, "iqfd", "aa ai"},
    {Op::less_equal, "iqfd", "aa ai"},
    {Op::greater, "iqfd", "aa ai"},
    {Op::greater_equal, "iqfd", "aa ai"},
    {Op::logical_and, "?", "aa"},
    {Op::logical_or, "?", "aa"},
    {Op::logical_not, "?", "a"},
    {Op::bitwise_and, "?iq", "aa"},
    {Op::bitwise_or, "?iq", "aa"},
    {Op::bitwise_xor, "?iq", "aa"},
    {Op::invert, "?iq", "a"},
};

Operand operand_of(char kind, char letter) {
  switch (kind) {
    case 'a':
      return array_of(letter);
    case 'c':
      return array_of('?');
    case 'i':
      return Scalar(std::int64_t{3});
    default:
      return Scalar(1.5);
  }
}

template <class Visit>
void for_each_word(std::string_view words, Visit visit) {
  while (!words.empty()) {
    std::size_t space = words.find(' ');
    visit(words.substr(0, space));
    words.remove_prefix(space == words.npos ? words.size() : space + 1);
  }
}

void run_rows() {
  for (const Row& row : kRows)
    for (char letter : row.dtypes)
      for_each_word(row.forms, [&](std::string_view form) {
        std::vector<Operand> operands;
        for (char kind : form)
          operands.push_back(kind == 'b' ? operands.back() : operand_of(kind, letter));
        td::apply(row.op, operands).flush();
      });
}

// A matrix with a row or a column of factors or offsets.
void run_broadcasts() {
  for (char letter : {'f', 'd'})
    for (Op op : {Op::add, Op::subtract, Op::multiply, Op::divide})
      for (const Shape& other : {Shape{kSide}, Shape{kSide, 1}}) {
        const Operand operands[] = {empty({kSide, kSide}, dtype_of(letter)),
                                    empty(other, dtype_of(letter))};
        td::apply(op, operands).flush();
      }
}

void run_reductions() {
  using enum Reduction;
  struct Case {
    Reduction reduction;
    std::string_view dtypes;
  };
  for (const Case& row : {Case{sum, "?iqfd"},
                          {prod, "qfd"},
                          {min, "iqfd"},
                          {max, "iqfd"},
                          {mean, "iqfd"},
                          {argmin, "qfd"},
                          {argmax, "qfd"},
                          {any, "?"},
                          {all, "?"}})
    for (char letter : row.dtypes) reduce(row.reduction, array_of(letter)).flush();
  for (Reduction reduction : {sum, max, mean})
    for (char letter : {'q', 'f', 'd'})
      for (int axis : {0, 1})
        reduce(reduction, empty({kSide, kSide}, dtype_of(letter)), Axes{axis}).flush();
  for (char letter : {'f', 'd'}) {
    Array x = array_of(letter);
    td::var(x).flush();
    Array variance = td::var(x);
    td::apply(Op::sqrt, std::vector<Operand>{variance}).flush();  // std
    Array y = array_of(letter);
    Array product = td::apply(Op::multiply, std::vector<Operand>{x, y});
    reduce(sum, product).flush();
    product = {};
    Array square = td::apply(Op::multiply, std::vector<Operand>{x, x});
    reduce(sum, square).flush();
  }
}

void run_copies() {
  for (char from : {'?', 'i', 'q', 'f', 'd'})
    for (char to : {'?', 'i', 'q', 'f', 'd'}) array_of(from).astype(dtype_of(to)).flush();
  for (char letter : {'?', 'i', 'q', 'f', 'd'}) {
    DType dtype = dtype_of(letter);
    empty({kSide, kSide}, dtype).T().copy('C').flush();
    full({kLong}, Scalar(std::int64_t{1}), dtype).flush();
    if (letter == '?') continue;
    Array x = array_of(letter);
    x.index({Slice{{}, {}, 2}}).copy().flush();
    x.index({Slice{{}, {}, -1}}).copy().flush();
    arange(0, 100, 1, dtype).flush();
  }
}

void run_generators() {
  linspace(0, 1, 100).flush();
  Generator random(1);
  for (char letter : {'f', 'd'}) {
    random.random({kLong}, dtype_of(letter)).flush();
    random.standard_normal({kLong}, dtype_of(letter)).flush();
  }
  random.integers(0, 10, {kLong}).flush();
  for (char letter : {'q', 'f', 'd'}) scan(Reduction::sum, array_of(letter), 0).flush();
}

}  // namespace

void run_common_operations() {
  run_rows();
  run_broadcasts();
  run_reductions();
  run_copies();
  run_generators();
}

}  // namespace td::ready
