// float16, bfloat16 and fp8: every operation of their headers against a rounding of the exact
// result that is written for any format, over all 65,536 numbers or many pairs of them.
#include <gtest/gtest.h>

#include "host.h"
#include "support.h"

namespace numerics {
namespace {

struct Format {
  const char *name, *type, *pair, *header;
  int digits, min_exponent;  // of the significand; of the smallest normal number
  double largest;
  int shift;  // of the exponent field
};

const Format kHalf = {"half", "__half", "__half2", "cuda_fp16.h", 11, -14, 65504.0, 10};
const Format kBfloat = {
    "bfloat16", "__nv_bfloat16", "__nv_bfloat162", "cuda_bf16.h", 8, -126, 0x1.fep127, 7};

double decode(const Format& format, std::uint16_t bits) {
  const int fraction = bits & ((1 << format.shift) - 1), field = (bits & 0x7fff) >> format.shift;
  const int top = 0x7fff >> format.shift;
  const double sign = bits >> 15 ? -1 : 1;
  if (field == top) return fraction ? NAN : sign * INFINITY;
  const int exponent = std::max(field, 1) + format.min_exponent - 1;
  return sign * std::ldexp(fraction + (field ? 1 << format.shift : 0), exponent - format.shift);
}

// A number of more digits than the format has: the value, or one beside it that rounds alike.
template <class Run>
double sticky(Run run) {
  std::feclearexcept(FE_INEXACT);
  const double value = to_zero(run);
  if (!std::fetestexcept(FE_INEXACT) || !std::isfinite(value)) return value;
  return from_bits<double>(to_bits(value) | 1);
}

double round_to(const Format& format, double x, Mode mode) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), format.min_exponent) - format.digits + 1;
  const double scaled = std::ldexp(x, -exponent);
  const double whole = mode == Mode::nearest   ? std::nearbyint(scaled)
                       : mode == Mode::to_zero ? std::trunc(scaled)
                       : mode == Mode::up      ? std::ceil(scaled)
                                               : std::floor(scaled);
  const double y = std::copysign(std::ldexp(whole, exponent), x);
  if (std::fabs(y) <= format.largest) return y;
  const bool inwards = mode == Mode::to_zero || mode == (x > 0 ? Mode::down : Mode::up);
  return std::copysign(inwards ? format.largest : static_cast<double>(INFINITY), x);
}

std::vector<std::uint16_t> interesting(const Format& format) {
  std::vector<std::uint16_t> list;
  const int one = -format.min_exponent + 1;
  for (int field : {0, 1, 2, one - 12, one - 2, one - 1, one, one + 1, one + 5, one + 10,
                    (0x7fff >> format.shift) - 1, 0x7fff >> format.shift})
    for (int fraction : {0, 1, 2, (1 << format.shift) / 2, (1 << format.shift) - 1}) {
      const int bits = std::max(field, 0) << format.shift | fraction;
      list.push_back(static_cast<std::uint16_t>(bits));
      list.push_back(static_cast<std::uint16_t>(bits | 0x8000));
    }
  return list;
}

struct Row {
  std::string call;  // of H a, b, c and H2 p(a, b), q(b, c), s(c, a)
  std::function<double(const Format&, double a, double b, double c)> host;
  double slack = 0;  // allowed distance from the exact result, beyond the rounding, in last places
};

using Host = double (*)(double, double, double);

double clamp01(double x) { return x > 0 ? std::min(x, 1.0) : 0; }
double at_least_0(double x) { return x < 0 ? 0 : x; }
double minimum(double x, double y) {
  return x != x ? y : y != y ? x : x < y || (x == y && std::signbit(x)) ? x : y;
}
double maximum(double x, double y) { return -minimum(-x, -y); }

template <class Exact>
auto rounds(Exact exact) {
  return [exact](const Format& format, double a, double b, double c) {
    return round_to(format, sticky([&] {
                      volatile double x = a, y = b, z = c;
                      return exact(x, y, z);
                    }),
                    Mode::nearest);
  };
}

// name(a, b) and both parts of name2(p, q).
template <class Exact>
void add_binary(std::vector<Row>& rows, const std::string& name, const std::string& name2,
                Exact exact) {
  rows.push_back(
      {name + "(a, b)", rounds([exact](double x, double y, double) { return exact(x, y); })});
  rows.push_back(
      {name2 + "(p, q).x", rounds([exact](double x, double y, double) { return exact(x, y); })});
  rows.push_back(
      {name2 + "(p, q).y", rounds([exact](double, double x, double y) { return exact(x, y); })});
}

std::vector<Row> arithmetic_rows() {
  std::vector<Row> rows;
  auto add = [](double x, double y) { return x + y; };
  auto sub = [](double x, double y) { return x - y; };
  auto mul = [](double x, double y) { return x * y; };
  add_binary(rows, "__hadd", "__hadd2", add);
  add_binary(rows, "__hadd_rn", "__hadd2_rn", add);
  add_binary(rows, "operator+", "operator+", add);
  add_binary(rows, "__hsub", "__hsub2", sub);
  add_binary(rows, "operator-", "operator-", sub);
  add_binary(rows, "__hmul", "__hmul2", mul);
  add_binary(rows, "operator*", "operator*", mul);
  add_binary(rows, "__hdiv", "__h2div", [](double x, double y) { return x / y; });
  add_binary(rows, "__hadd_sat", "__hadd2_sat", [](double x, double y) { return clamp01(x + y); });
  add_binary(rows, "__hsub_sat", "__hsub2_sat", [](double x, double y) { return clamp01(x - y); });
  add_binary(rows, "__hmul_sat", "__hmul2_sat", [](double x, double y) { return clamp01(x * y); });
  add_binary(rows, "__hmin", "__hmin2", minimum);
  add_binary(rows, "__hmax", "__hmax2", maximum);
  add_binary(rows, "__hmin_nan", "__hmin2_nan",
             [](double x, double y) { return x != x || y != y ? NAN : minimum(x, y); });
  add_binary(rows, "__hmax_nan", "__hmax2_nan",
             [](double x, double y) { return x != x || y != y ? NAN : maximum(x, y); });
  auto fma = [](double x, double y, double z) { return std::fma(x, y, z); };
  rows.push_back({"__hfma(a, b, c)", rounds(fma)});
  rows.push_back({"__hfma2(p, q, s).x", rounds(fma)});
  rows.push_back({"__hfma_sat(a, b, c)",
                  rounds([](double x, double y, double z) { return clamp01(std::fma(x, y, z)); })});
  rows.push_back({"__hfma_relu(a, b, c)", rounds([](double x, double y, double z) {
                    return at_least_0(std::fma(x, y, z)) + 0.0;
                  })});
  rows.push_back({"__hcmadd(p, q, s).x", [fma](const Format& f, double a, double b, double c) {
                    const double first = rounds(fma)(f, a, b, c);  // s.x is c
                    return rounds(fma)(f, -b, c, first);
                  }});
  rows.push_back({"__hneg(a)", [](const Format&, double a, double, double) { return -a; }});
  rows.push_back({"(-p).y", [](const Format&, double, double b, double) { return -b; }});
  rows.push_back(
      {"__habs(a)", [](const Format&, double a, double, double) { return std::fabs(a); }});
  rows.push_back(
      {"__lowhigh2highlow(p).x", [](const Format&, double, double b, double) { return b; }});
  return rows;
}

struct Comparison {
  const char* name;
  bool (*holds)(double, double);
};

std::vector<Row> comparison_rows() {
  static const Comparison list[] = {{"eq", [](double x, double y) { return x == y; }},
                                    {"ne", [](double x, double y) { return x < y || x > y; }},
                                    {"lt", [](double x, double y) { return x < y; }},
                                    {"le", [](double x, double y) { return x <= y; }},
                                    {"gt", [](double x, double y) { return x > y; }},
                                    {"ge", [](double x, double y) { return x >= y; }}};
  std::vector<Row> rows;
  for (const Comparison& one : list) {
    for (bool unordered : {false, true}) {
      const std::string op = one.name, u = unordered ? "u" : "";
      auto holds = [one, unordered](double x, double y) {
        return x != x || y != y ? unordered : one.holds(x, y);
      };
      rows.push_back(
          {"__h" + op + u + "(a, b)",
           [=](const Format&, double a, double b, double) -> double { return holds(a, b); }});
      rows.push_back(
          {"__h" + op + u + "2(p, q).y",
           [=](const Format&, double, double b, double c) -> double { return holds(b, c); }});
      rows.push_back(
          {"__hb" + op + u + "2(p, q)", [=](const Format&, double a, double b, double c) -> double {
             return holds(a, b) && holds(b, c);
           }});
      rows.push_back({"__h" + op + u + "2_mask(p, q)",
                      [=](const Format&, double a, double b, double c) -> double {
                        return (holds(a, b) ? 65535.0 : 0) + (holds(b, c) ? 4294901760.0 : 0);
                      }});
    }
  }
  rows.push_back(
      {"__hisnan(a)", [](const Format&, double a, double, double) -> double { return a != a; }});
  rows.push_back(
      {"__hisnan2(p).y", [](const Format&, double, double b, double) -> double { return b != b; }});
  rows.push_back({"__hisinf(a)", [](const Format&, double a, double, double) -> double {
                    return std::isinf(a) ? (a < 0 ? -1 : 1) : 0;
                  }});
  return rows;
}

struct Function {
  const char* name;
  double (*host)(double);
};

std::vector<Row> function_rows() {
  static const Function list[] = {{"exp", std::exp},
                                  {"exp2", std::exp2},
                                  {"exp10", [](double x) { return std::pow(10.0, x); }},
                                  {"log", std::log},
                                  {"log2", std::log2},
                                  {"log10", std::log10},
                                  {"sin", std::sin},
                                  {"cos", std::cos},
                                  {"tanh", std::tanh},
                                  {"tanh_approx", std::tanh}};
  static const Function exact[] = {{"sqrt", std::sqrt},
                                   {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
                                   {"rcp", [](double x) { return 1 / x; }},
                                   {"ceil", std::ceil},
                                   {"floor", std::floor},
                                   {"trunc", std::trunc},
                                   {"rint", std::nearbyint}};
  std::vector<Row> rows;
  for (bool inexact : {true, false}) {
    auto add = [&](const Function& one) {
      auto host = [one](const Format&, double a, double, double) { return one.host(a); };
      // One rounding of a float that is right to a few of its own last places; the hardware's
      // approximation errs by less than two places of either type.
      const double slack = std::strstr(one.name, "approx") ? 2 : 0.502;
      rows.push_back({std::string("h") + one.name + "(a)", host, slack});
      rows.push_back({std::string("h2") + one.name + "(p).x", host, slack});
    };
    if (inexact)
      for (const Function& one : list) add(one);
    else
      for (const Function& one : exact) add(one);
  }
  return rows;
}

using Words = std::vector<std::uint16_t>;

std::string kernel_text(const std::string& call) {
  return "(const unsigned short* as, const unsigned short* bs, const unsigned short* cs, double* "
         "r, "
         "int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
         "  H a = word(as[i]), b = word(bs[i]), c = word(cs[i]);\n"
         "  H2 p = H2(a, b), q = H2(b, c), s = H2(c, a);\n  r[i] = (double)(" +
         call + ");\n}\n";
}

std::string same_number(const Format& format, const Row& row, double got, double want) {
  if (row.slack == 0) return same(got, want) || (got != got && want != want) ? "" : "differs";
  if (got != got || want != want) return got != got && want != want ? "" : "one is NaN";
  if (std::fabs(want) > format.largest * (1 + std::ldexp(1, -format.digits)))
    return std::isinf(got) && std::signbit(got) == std::signbit(want) ? "" : "no overflow";
  if (want == 0) return same(got, want) ? "" : "no zero";
  if (std::isinf(got)) got = std::copysign(std::ldexp(1, std::ilogb(format.largest) + 1), got);
  const int exponent = std::max(std::ilogb(want), format.min_exponent) - format.digits + 1;
  const double error = std::ldexp(std::fabs(got - want), -exponent);
  return error <= row.slack ? "" : std::to_string(error) + " last places";
}

void check(const Format& format, const std::vector<Row>& rows, const Words& a, const Words& b,
           const Words& c) {
  std::string source = "#include <" + std::string(format.header) + ">\ntypedef " + format.type +
                       " H;\ntypedef " + format.pair +
                       " H2;\n__device__ H word(unsigned short x) { return __ushort_as_" +
                       format.name + "(x); }\n";
  std::vector<std::string> texts;
  for (const Row& row : rows) texts.push_back(kernel_text(row.call));
  const auto kernels = load_rows(source, texts);
  const td::Array on[3] = {on_device(a), on_device(b), on_device(c)};
  const int n = static_cast<int>(a.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!kernels[k]) continue;
    td::Array out = td::full({n}, -77, td::float64);
    kernels[k]->launch({.grid = {static_cast<unsigned>((n + 127) / 128)}, .block = {128}}, on[0],
                       on[1], on[2], out, n);
    const std::vector<double> got = on_host<double>(out);
    int wrong = 0;
    for (std::size_t i = 0; i < a.size() && wrong < 3; ++i) {
      const double x = decode(format, a[i]), y = decode(format, b[i]), z = decode(format, c[i]);
      const double want = rows[k].host(format, x, y, z);
      const std::string problem = same_number(format, rows[k], got[i], want);
      if (problem.empty()) continue;
      ++wrong;
      char line[200];
      std::snprintf(line, sizeof line, "(%a, %a, %a): %a, host %a: ", x, y, z, got[i], want);
      ADD_FAILURE() << format.name << " " << rows[k].call << " at " << line << problem;
    }
  }
}

// Pairs of interesting numbers, and random ones near each other.
void pairs(const Format& format, Words& a, Words& b, Words& c) {
  const Words list = interesting(format);
  for (std::uint16_t x : list)
    for (std::uint16_t y : list) {
      a.push_back(x);
      b.push_back(y);
      c.push_back(list[a.size() * 13 % list.size()]);
    }
  for (int i = 0; i < 12000; ++i) {
    const std::uint64_t bits = random_bits()();
    a.push_back(static_cast<std::uint16_t>(bits));
    b.push_back(static_cast<std::uint16_t>(bits >> 16));
    c.push_back(static_cast<std::uint16_t>(i % 2 ? bits >> 32 : bits ^ (bits >> 32 & 0x87ff)));
  }
}

class Halves : public LaunchTest {};

TEST_F(Halves, ArithmeticAndComparisonsRoundOnce) {
  for (const Format& format : {kHalf, kBfloat}) {
    Words a, b, c;
    pairs(format, a, b, c);
    check(format, arithmetic_rows(), a, b, c);
    check(format, comparison_rows(), a, b, c);
  }
}

TEST_F(Halves, FunctionsOfEveryNumber) {
  for (const Format& format : {kHalf, kBfloat}) {
    Words all(65536);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    check(format, function_rows(), all, all, all);
  }
}

// ---- conversions: T x in, a number of the format or an integer out
template <class T>
struct Conversion {
  std::string call;  // of T x
  std::function<double(T)> host;
};

template <class T>
void check_conversions(const std::string& header, const char* type,
                       const std::vector<Conversion<T>>& rows, const std::vector<T>& in) {
  std::vector<std::string> texts;
  for (const Conversion<T>& row : rows)
    texts.push_back(std::string("(const ") + type +
                    "* xs, double* r, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "  if (i >= n) return;\n  const " +
                    type + " x = xs[i];\n  r[i] = (double)(" + row.call + ");\n}\n");
  const auto kernels = load_rows("#include <" + header + ">\n", texts);
  const td::Array x = on_device(in);
  const int n = static_cast<int>(in.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!kernels[k]) continue;
    td::Array out = td::full({n}, -77, td::float64);
    kernels[k]->launch({.grid = {static_cast<unsigned>((n + 127) / 128)}, .block = {128}}, x, out,
                       n);
    const std::vector<double> got = on_host<double>(out);
    int wrong = 0;
    for (std::size_t i = 0; i < in.size() && wrong < 3; ++i) {
      const double want = rows[k].host(in[i]);
      if (same(got[i], want)) continue;
      ++wrong;
      char line[160];
      std::snprintf(line, sizeof line, "%a (bits %#llx): %a, host %a", static_cast<double>(in[i]),
                    static_cast<unsigned long long>(to_bits(in[i])), got[i], want);
      ADD_FAILURE() << rows[k].call << " at " << line;
    }
  }
}

const std::pair<const char*, Mode> kModes[] = {
    {"rn", Mode::nearest}, {"rz", Mode::to_zero}, {"ru", Mode::up}, {"rd", Mode::down}};

// An integer of 64 bits as a double that rounds alike.
template <class T>
double sticky_of(T x) {
  return sticky([&] {
    volatile T y = x;
    return static_cast<double>(y);
  });
}

template <class T>
std::vector<T> integers() {
  std::vector<T> list;
  for (int shift = 0; shift < 64; ++shift)
    for (int step : {-1, 0, 1})
      list.push_back(static_cast<T>((1ull << shift) + static_cast<unsigned long long>(step)));
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t bits = random_bits()();
    list.push_back(static_cast<T>(bits >> (bits & 63)));
  }
  return list;
}

template <class T>
void check_from_integer(const char* type, const char* word) {
  for (const Format& format : {kHalf, kBfloat}) {
    std::vector<Conversion<T>> rows;
    for (auto [suffix, mode] : kModes)
      rows.push_back({std::string("(float)__") + word + "2" + format.name + "_" + suffix + "(x)",
                      [format, mode](T x) { return round_to(format, sticky_of(x), mode); }});
    rows.push_back({std::string("(float)") + format.type + "(x)",
                    [format](T x) { return round_to(format, sticky_of(x), Mode::nearest); }});
    check_conversions<T>(format.header, type, rows, integers<T>());
  }
}

TEST_F(Halves, FromIntegers) {
  check_from_integer<int>("int", "int");
  check_from_integer<unsigned>("unsigned", "uint");
  check_from_integer<std::int16_t>("short", "short");
  check_from_integer<std::uint16_t>("unsigned short", "ushort");
  check_from_integer<std::int64_t>("long long", "ll");
  check_from_integer<std::uint64_t>("unsigned long long", "ull");
}

template <class T>
std::vector<T> numbers_near(const Format& format) {
  std::vector<T> list = special_numbers<T>();
  for (int i = 0; i < 65536; i += format.shift == 10 ? 7 : 5) {
    const double x = decode(format, static_cast<std::uint16_t>(i));
    const double next = decode(format, static_cast<std::uint16_t>(i + 1));
    if (!std::isfinite(x) || !std::isfinite(next)) continue;
    const T middle = static_cast<T>((x + next) / 2);
    list.push_back(static_cast<T>(x));
    list.push_back(middle);
    list.push_back(std::nextafter(middle, T(0)));
    list.push_back(std::nextafter(middle, T(INFINITY)));
  }
  for (int i = 0; i < 2000; ++i) list.push_back(around_one<T>(20));
  return list;
}

TEST_F(Halves, FromFloatAndDouble) {
  for (const Format& format : {kHalf, kBfloat}) {
    const std::string name = format.name;
    std::vector<Conversion<float>> rows;
    for (auto [suffix, mode] : kModes)
      rows.push_back({"(float)__float2" + name + "_" + suffix + "(x)",
                      [format, mode](float x) { return round_to(format, x, mode); }});
    auto nearest = [format](double x) { return round_to(format, x, Mode::nearest); };
    rows.push_back({"(float)__float2" + name + "(x)", nearest});
    rows.push_back({std::string("(float)") + format.type + "(x)", nearest});
    check_conversions<float>(format.header, "float", rows, numbers_near<float>(format));
    check_conversions<double>(format.header, "double",
                              {{"(float)__double2" + name + "(x)", nearest},
                               {std::string("(float)") + format.type + "(x)", nearest}},
                              numbers_near<double>(format));
  }
}

template <class T>
void add_to_integer(std::vector<Conversion<std::uint16_t>>& rows, const Format& format,
                    const char* word) {
  for (auto [suffix, mode] : kModes) {
    rows.push_back({std::string("__") + format.name + "2" + word + "_" + suffix + "(__ushort_as_" +
                        format.name + "(x))",
                    [format, mode](std::uint16_t bits) -> double {
                      const double x = decode(format, bits);
                      // As from a float: NaN is 0, and the sign bit alone in 64 bits.
                      if (x != x && sizeof(T) < 4) return 0;
                      if constexpr (sizeof(T) >= 4)
                        return static_cast<double>(to_int<T>(static_cast<float>(x), mode));
                      else
                        return std::min<double>(
                            std::max<double>(to_int<int>(static_cast<float>(x), mode),
                                             std::numeric_limits<T>::min()),
                            std::numeric_limits<T>::max());
                    }});
  }
}

TEST_F(Halves, ToIntegers) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const Format& format : {kHalf, kBfloat}) {
    std::vector<Conversion<std::uint16_t>> rows;
    add_to_integer<int>(rows, format, "int");
    add_to_integer<unsigned>(rows, format, "uint");
    add_to_integer<std::int16_t>(rows, format, "short");
    add_to_integer<std::uint16_t>(rows, format, "ushort");
    add_to_integer<std::int64_t>(rows, format, "ll");
    add_to_integer<std::uint64_t>(rows, format, "ull");
    rows.push_back({std::string("(float)__ushort_as_") + format.name + "(x)",
                    [format](std::uint16_t bits) { return decode(format, bits); }});
    check_conversions<std::uint16_t>(format.header, "unsigned short", rows, all);
  }
}

// ---- fp8
struct Small {
  const char *kind, *type, *pair, *four;
  int fraction_bits, min_exponent;
  double largest;
};
const Small kSmall[] = {
    {"__NV_E4M3", "__nv_fp8_e4m3", "__nv_fp8x2_e4m3", "__nv_fp8x4_e4m3", 3, -6, 448},
    {"__NV_E5M2", "__nv_fp8_e5m2", "__nv_fp8x2_e5m2", "__nv_fp8x4_e5m2", 2, -14, 57344}};

double decode(const Small& format, int code) {
  const int size = code & 0x7f, fraction = size & ((1 << format.fraction_bits) - 1);
  const int field = size >> format.fraction_bits;
  const double sign = code & 0x80 ? -1 : 1;
  const bool e4m3 = format.fraction_bits == 3;
  if (e4m3 ? size == 0x7f : size > 0x7c) return NAN;
  if (!e4m3 && size == 0x7c) return sign * INFINITY;
  return sign * std::ldexp(fraction + (field ? 1 << format.fraction_bits : 0),
                           std::max(field, 1) + format.min_exponent - 1 - format.fraction_bits);
}

double to_fp8(const Small& format, double x, bool saturate) {
  if (x != x || x == 0) return x;
  const Format rounding = {
      "", "", "", "", format.fraction_bits + 1, format.min_exponent, format.largest, 0};
  const double y = round_to(rounding, x, Mode::nearest);
  if (std::isfinite(y)) return y;
  if (saturate) return std::copysign(format.largest, x);
  return format.fraction_bits == 3 ? NAN : y;
}

TEST_F(Halves, Fp8) {
  std::vector<std::uint16_t> codes(256);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
  for (const Small& format : kSmall) {
    const std::string kind = format.kind, type = format.type;
    auto back = [&](const std::string& code) {
      return "(float)__half(__nv_cvt_fp8_to_halfraw(" + code + ", " + kind + "))";
    };
    auto decoded = [format](std::uint16_t code) { return decode(format, code); };
    check_conversions<std::uint16_t>(
        "cuda_fp8.h", "unsigned short",
        {{back("(unsigned char)x"), decoded},
         {"([&] { " + type + " v; v.__x = (unsigned char)x; return (float)v; }())", decoded},
         {"([&] { " + std::string(format.four) +
              " v; v.__x = (unsigned)x << 16; return ((float4)v).z; }())",
          decoded}},
        codes);
    auto rows = [&](const std::string& from, const std::string& source) {
      std::vector<std::pair<std::string, bool>> calls = {
          {back("__nv_cvt_" + from + "_to_fp8(" + source + ", __NV_SATFINITE, " + kind + ")"),
           true},
          {back("__nv_cvt_" + from + "_to_fp8(" + source + ", __NV_NOSAT, " + kind + ")"), false},
          {"(float)" + type + "(x)", true}};
      return calls;
    };
    std::vector<Conversion<float>> floats;
    for (auto& [call, saturate] : rows("float", "x"))
      floats.push_back({call, [format, s = saturate](float x) { return to_fp8(format, x, s); }});
    floats.push_back({"((float2)" + std::string(format.pair) + "(make_float2(1.0f, x))).y",
                      [format](float x) { return to_fp8(format, x, true); }});
    floats.push_back(
        {"((float4)" + std::string(format.four) + "(make_float4(1.0f, 2.0f, 3.0f, x))).w",
         [format](float x) { return to_fp8(format, x, true); }});
    std::vector<Conversion<double>> doubles;
    for (auto& [call, saturate] : rows("double", "x"))
      doubles.push_back({call, [format, s = saturate](double x) { return to_fp8(format, x, s); }});
    Format near = kHalf;
    near.digits = format.fraction_bits + 1;
    std::vector<float> x = special_numbers<float>();
    for (int code = 0; code < 255; ++code) {
      const double low = decode(format, code), high = decode(format, code + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const float middle = static_cast<float>((low + high) / 2);
      for (float y : {static_cast<float>(low), middle, std::nextafter(middle, 0.0f),
                      std::nextafter(middle, middle * 2)})
        x.push_back(y);
    }
    for (float edge : {463.9f, 464.0f, 464.1f, 479.0f, 61439.0f, 61440.0f, 61441.0f, 1e9f})
      for (float sign : {1.0f, -1.0f}) x.push_back(sign * edge);
    for (int i = 0; i < 1000; ++i) x.push_back(around_one<float>(18));
    check_conversions<float>("cuda_fp8.h", "float", floats, x);
    std::vector<double> wide(x.begin(), x.end());
    for (float y : x) wide.push_back(std::nextafter(static_cast<double>(y), 1e300));
    check_conversions<double>("cuda_fp8.h", "double", doubles, wide);
  }
}

// ---- cuComplex.h: the value of each function at one point, in numbers that need no rounding.
TEST_F(Halves, ComplexNumbers) {
  const td::Module module(R"(
#include <cuComplex.h>
template <class C, class T> __device__ void put(C z, T*& r) { *r++ = z.x; *r++ = z.y; }
extern "C" __global__ void k(double* r) {
  cuDoubleComplex a = make_cuDoubleComplex(3, -4), b = make_cuDoubleComplex(-1, 2), c = make_cuDoubleComplex(10, 20);
  put(cuCadd(a, b), r); put(cuCsub(a, b), r); put(cuCmul(a, b), r); put(cuCdiv(cuCmul(a, b), b), r);
  put(cuConj(a), r); put(cuCfma(a, b, c), r);
  *r++ = cuCabs(a); *r++ = cuCreal(a); *r++ = cuCimag(a);
  cuComplex f = make_cuComplex(3, -4), g = make_cuFloatComplex(-1, 2);
  put(cuCaddf(f, g), r); put(cuCsubf(f, g), r); put(cuCmulf(f, g), r); put(cuCdivf(cuCmulf(f, g), g), r);
  put(cuConjf(f), r); put(cuCfmaf(f, g, cuComplexDoubleToFloat(c)), r);
  *r++ = cuCabsf(f); *r++ = cuCrealf(f); *r++ = cuCimagf(f);
  *r++ = cuCabs(make_cuDoubleComplex(3e200, 4e200)) / 1e200;
  put(cuCdiv(make_cuDoubleComplex(2e300, 0), make_cuDoubleComplex(1e300, 0)), r);
  put(cuComplexFloatToDouble(f), r);
})");
  td::Array out = td::full({37}, -77, td::float64);
  module.get("k").launch({}, out);
  const std::vector<double> got = on_host<double>(out);
  std::vector<double> want;
  for (int i = 0; i < 2; ++i)
    for (double x : {2, -2, 4, -6, 5, 10, 3, -4, 3, 4, 15, 30, 5, 3, -4}) want.push_back(x);
  for (double x : {5.0, 2.0, 0.0, 3.0, -4.0}) want.push_back(x);
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-6 * std::fabs(want[i])) << i;
}

}  // namespace
}  // namespace numerics
