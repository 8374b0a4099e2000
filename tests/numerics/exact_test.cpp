// Operations with one right result: every row of exact_rows.def must give the host's bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "host.h"
#include "support.h"

namespace numerics {
namespace {

template <class T>
const Arguments<T>& arguments() {
  static const Arguments<T> list = [] {
    Arguments<T> made;
    std::vector<T> special;
    if constexpr (std::is_floating_point_v<T>) {
      special = special_numbers<T>();
      for (double x : {2147483647.0, 2147483648.0, 4294967295.0, 4294967296.0, 9.3e18, 1.9e19})
        for (double y : {x, -x, x + 0.5, -x - 0.5, -x - 1}) special.push_back(static_cast<T>(y));
    } else {
      for (int shift : {0, 1, 7, 8, 15, 16, 31, 32, 63})
        for (int step : {-1, 0, 1})
          special.push_back(
              static_cast<T>((1ull << shift) + static_cast<unsigned long long>(step)));
      for (unsigned long long x : {0x80008000ull, 0x7fff7fffull, 0x80808080ull, 0x7f7f7f7full,
                                   0xff00ff00ull, 0x8000000180000001ull, 0x00ff7f80ull})
        special.push_back(static_cast<T>(x));
    }
    for (T x : special)
      for (T y : special) made.add(x, y, special[made.size() * 7 % special.size()]);
    for (int i = 0; i < 1200; ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        made.add(any_bits<T>(), any_bits<T>(), any_bits<T>());
        // Near each other, and near the lower end of the range after a product.
        made.add(around_one<T>(3), around_one<T>(30), around_one<T>(3));
        const T x = around_one<T>(2), y = around_one<T>(2);
        made.add(x, y, -x * y * (T(1) + std::numeric_limits<T>::epsilon() * T(i % 5)));
        const int low = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits / 2;
        made.add(std::ldexp(x, low / 2 + i % 40 - 20), std::ldexp(y, low / 2 + i % 7),
                 std::ldexp(around_one<T>(3), low));
      } else {
        const std::uint64_t x = random_bits()(), y = random_bits()(), z = random_bits()();
        made.add(static_cast<T>(x), static_cast<T>(y), static_cast<T>(z));
        made.add(static_cast<T>(x & y & z), static_cast<T>(x | y), static_cast<T>(z % 70));
      }
    }
    return made;
  }();
  return list;
}

template <class T>
const char* type_name();
#define TD_NAME(T)             \
  template <>                  \
  const char* type_name<T>() { \
    return #T;                 \
  }
TD_NAME(float)
TD_NAME(double)
TD_NAME(int)
TD_NAME(unsigned)
TD_NAME(long long)
TD_NAME(unsigned long long)
#undef TD_NAME

template <class T>
using Element =
    std::conditional_t<std::is_same_v<T, long long>, std::int64_t,
                       std::conditional_t<std::is_same_v<T, unsigned long long>, std::uint64_t, T>>;

template <class T>
td::Array to_device(const std::vector<T>& values) {
  std::vector<Element<T>> list(values.begin(), values.end());
  return on_device(list);
}

struct Row {
  std::string call, text;
  std::function<void(const td::Kernel&)> check;
};

template <class T, class R>
Row make_row(const char* call, R (*host)(T, T, T)) {
  Row row;
  row.call = call;
  row.text = std::string("const ") + type_name<T>() + "* xs, const " + type_name<T>() +
             "* ys, const " + type_name<T>() + "* zs, " + type_name<R>() +
             "* out, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) "
             "return;\n  " +
             type_name<T>() + " x = xs[i], y = ys[i], z = zs[i];\n  out[i] = " + call + ";\n}\n";
  row.check = [host, name = row.call](const td::Kernel& kernel) {
    static const td::Array x = to_device(arguments<T>().x), y = to_device(arguments<T>().y),
                           z = to_device(arguments<T>().z);
    const Arguments<T>& in = arguments<T>();
    const int n = static_cast<int>(in.size());
    td::Array out = td::full({n}, 77, td::dtype_of<Element<R>>());
    kernel.launch({.grid = {static_cast<unsigned>((n + 127) / 128)}, .block = {128}}, x, y, z, out,
                  n);
    const std::vector<Element<R>> got = on_host<Element<R>>(out);
    int wrong = 0;
    for (std::size_t i = 0; i < in.size() && wrong < 4; ++i) {
      const R want = host(in.x[i], in.y[i], in.z[i]);
      if (same(static_cast<R>(got[i]), want)) continue;
      ++wrong;
      char line[256];
      std::snprintf(line, sizeof line, "bits %#llx, %#llx, %#llx: got %#llx, host %#llx",
                    static_cast<unsigned long long>(to_bits(in.x[i])),
                    static_cast<unsigned long long>(to_bits(in.y[i])),
                    static_cast<unsigned long long>(to_bits(in.z[i])),
                    static_cast<unsigned long long>(to_bits(got[i])),
                    static_cast<unsigned long long>(to_bits(want)));
      ADD_FAILURE() << name << " at " << line;
    }
  };
  return row;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
#define EXACT(T, R, call, host)                                                              \
  make_row<T, R>(#call,                                                                      \
                 []([[maybe_unused]] T x, [[maybe_unused]] T y, [[maybe_unused]] T z) -> R { \
                   return static_cast<R> host;                                               \
                 }),
#include "exact_rows.def"
  };
  return list;
}

class Exact : public LaunchTest {};

TEST_F(Exact, EveryRowGivesTheHostsBits) {
  std::vector<std::string> texts;
  for (const Row& row : rows()) texts.push_back("(" + row.text);
  const auto kernels = load_rows(
      "#define INT_MIN (-2147483647 - 1)\n#define LLONG_MIN (-9223372036854775807ll - 1)\n", texts);
  for (std::size_t i = 0; i < rows().size(); ++i)
    if (kernels[i]) rows()[i].check(*kernels[i]);
}

// The constants against the C library's long double; a split one has its two parts as arguments.
TEST_F(Exact, Constants) {
  const long double pi = std::acos(-1.0L), ln2 = std::log(2.0L), ln10 = std::log(10.0L);
  const std::vector<std::pair<std::string, long double>> whole = {{"PI", pi},
                                                                  {"PIO2", pi / 2},
                                                                  {"PIO4", pi / 4},
                                                                  {"3PIO4", 3 * pi / 4},
                                                                  {"2_OVER_PI", 2 / pi},
                                                                  {"SQRT_HALF", std::sqrt(0.5L)},
                                                                  {"SQRT_TWO", std::sqrt(2.0L)},
                                                                  {"THIRD", 1 / 3.0L},
                                                                  {"L2E", 1 / ln2},
                                                                  {"L2T", ln10 / ln2},
                                                                  {"LG2", ln2 / ln10},
                                                                  {"LGE", 1 / ln10},
                                                                  {"LN2", ln2},
                                                                  {"LNT", ln10},
                                                                  {"LNPI", std::log(pi)},
                                                                  {"ZERO", 0},
                                                                  {"ONE", 1}};
  const std::vector<std::pair<std::string, long double>> split = {{"SQRT_HALF", std::sqrt(0.5L)},
                                                                  {"PIO4", pi / 4},
                                                                  {"PIO2", pi / 2},
                                                                  {"PI", pi},
                                                                  {"SQRT_2PI", std::sqrt(2 * pi)},
                                                                  {"SQRT_PIO2", std::sqrt(pi / 2)},
                                                                  {"L2E", 1 / ln2},
                                                                  {"LG2", ln2 / ln10},
                                                                  {"LGE", 1 / ln10},
                                                                  {"LN2", ln2},
                                                                  {"LNT", ln10}};
  std::string text = "(double* d, float* f) {\n";
  int at = 0;
  for (const auto& one : whole) {
    text += "  d[" + std::to_string(at) + "] = CUDART_" + one.first + ";\n  f[" +
            std::to_string(at) + "] = CUDART_" + one.first + "_F;\n";
    ++at;
  }
  for (const auto& one : split) {
    text += "  d[" + std::to_string(at++) + "] = CUDART_" + one.first + "_HI;\n";
    text += "  d[" + std::to_string(at++) + "] = CUDART_" + one.first + "_LO;\n";
  }
  const td::Module module("#include <math_constants.h>\nextern \"C\" __global__ void k" + text +
                          "}\n");
  td::Array doubles = td::full({at}, -77, td::float64), floats = td::full({at}, -77, td::float32);
  module.get("k").launch({}, doubles, floats);
  const std::vector<double> d = on_host<double>(doubles);
  const std::vector<float> f = on_host<float>(floats);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(d[i], static_cast<double>(whole[i].second)) << whole[i].first;
    EXPECT_EQ(f[i], static_cast<float>(whole[i].second)) << whole[i].first;
  }
  for (std::size_t i = 0; i < split.size(); ++i) {
    const std::size_t high = whole.size() + 2 * i;
    const long double sum = static_cast<long double>(d[high]) + d[high + 1];
    EXPECT_LE(std::fabs(sum - split[i].second), 2e-19L * split[i].second) << split[i].first;
    EXPECT_LE(std::fabs(d[high + 1]), 3e-10 * d[high]) << split[i].first;
  }
}

}  // namespace
}  // namespace numerics
