// Mathematical functions against MPFR: every row of math_errors.def, in float and double, over
// special and random arguments, within the error that the CUDA C++ Programming Guide publishes.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "oracle.h"
#include "support.h"

namespace numerics {
namespace {

struct Row {
  std::string name;
  int arity;
  double ulp[2];       // of double, of float
  double absolute[2];  // the bound where `uses_absolute`
  double low, high;
  std::function<bool(double)> uses_absolute;
  std::function<double(double x, double ulp, double exact)> fast;  // float only
  std::function<void(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr z, double got)> oracle;
};

#define TD_ORACLE(call)                                                          \
  [](mpfr_ptr r, [[maybe_unused]] mpfr_srcptr x, [[maybe_unused]] mpfr_srcptr y, \
     [[maybe_unused]] mpfr_srcptr z, [[maybe_unused]] double got) { call; }

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
#define ROW(name, arity, d, f, low, high, call) \
  {#name, arity, {d, f}, {0, 0}, low, high, nullptr, nullptr, TD_ORACLE(call)},
#define ROW_ABSOLUTE(name, d, f, ad, af, unless, call)  \
  {#name,                                               \
   1,                                                   \
   {d, f},                                              \
   {ad, af},                                            \
   -30,                                                 \
   30,                                                  \
   []([[maybe_unused]] double x) {                      \
     [[maybe_unused]] const double size = std::fabs(x); \
     return unless;                                     \
   },                                                   \
   nullptr,                                             \
   TD_ORACLE(call)},
#define ROW_FAST(name, arity, bound, low, high, call)             \
  {#name,                                                         \
   arity,                                                         \
   {0, 0},                                                        \
   {0, 0},                                                        \
   low,                                                           \
   high,                                                          \
   nullptr,                                                       \
   []([[maybe_unused]] double x, [[maybe_unused]] double ulp,     \
      [[maybe_unused]] double exact) -> double { return bound; }, \
   TD_ORACLE(call)},
#include "math_errors.def"
  };
  return list;
}

// Calls that need more than a name and numbers.
const char* const kCalls = R"(
__device__ double sincos_sin(double x) { double s, c; sincos(x, &s, &c); return s; }
__device__ double sincos_cos(double x) { double s, c; sincos(x, &s, &c); return c; }
__device__ float sincos_sinf(float x) { float s, c; sincosf(x, &s, &c); return s; }
__device__ float sincos_cosf(float x) { float s, c; sincosf(x, &s, &c); return c; }
__device__ double sincospi_sin(double x) { double s, c; sincospi(x, &s, &c); return s; }
__device__ double sincospi_cos(double x) { double s, c; sincospi(x, &s, &c); return c; }
__device__ float sincospi_sinf(float x) { float s, c; sincospif(x, &s, &c); return s; }
__device__ float sincospi_cosf(float x) { float s, c; sincospif(x, &s, &c); return c; }
__device__ double norm4d(double x, double y, double z) { return norm4d(x, y, z, y); }
__device__ float norm4df(float x, float y, float z) { return norm4df(x, y, z, y); }
__device__ double rnorm4d(double x, double y, double z) { return rnorm4d(x, y, z, y); }
__device__ float rnorm4df(float x, float y, float z) { return rnorm4df(x, y, z, y); }
__device__ double norm_of_array(double x, double y, double z) { double a[3] = {x, y, z}; return norm(3, a); }
__device__ float norm_of_arrayf(float x, float y, float z) { float a[3] = {x, y, z}; return normf(3, a); }
__device__ double rnorm_of_array(double x, double y, double z) { double a[3] = {x, y, z}; return rnorm(3, a); }
__device__ float rnorm_of_arrayf(float x, float y, float z) { float a[3] = {x, y, z}; return rnormf(3, a); }
#ifndef __TREADLE__
__device__ double hypot(double x, double y, double z) { return norm3d(x, y, z); }
__device__ float hypot(float x, float y, float z) { return norm3df(x, y, z); }
#endif
__device__ double hypot_of_three(double x, double y, double z) { return hypot(x, y, z); }
__device__ float hypot_of_threef(float x, float y, float z) { return hypot(x, y, z); }
__device__ double remquo_rest(double x, double y) { int q; return remquo(x, y, &q); }
__device__ float remquo_restf(float x, float y) { int q; return remquof(x, y, &q); }
__device__ double remquo_bits(double x, double y) { int q; remquo(x, y, &q); return q % 8; }
__device__ float remquo_bitsf(float x, float y) { int q; remquof(x, y, &q); return q % 8; }
__device__ double jn_3(double x) { return jn(3, x); }
__device__ float jn_3f(float x) { return jnf(3, x); }
__device__ double yn_3(double x) { return yn(3, x); }
__device__ float yn_3f(float x) { return ynf(3, x); }
)";

std::string kernel_text(const std::string& call, const std::string& type, int arity) {
  const char* const list[] = {"", "x[i]", "x[i], y[i]", "x[i], y[i], z[i]"};
  return "(const " + type + "* x, const " + type + "* y, const " + type + "* z, " + type +
         "* r, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) r[i] = " +
         call + "(" + list[arity] + ");\n}\n";
}

// Of row i, in float at 2i and in double at 2i + 1.
const std::vector<std::optional<td::Kernel>>& kernels() {
  static const auto& made = *[] {
    std::vector<std::string> texts;
    for (const Row& row : rows()) {
      texts.push_back(kernel_text(row.name + (row.fast ? "" : "f"), "float", row.arity));
      texts.push_back(kernel_text(row.name, row.fast ? "float" : "double", row.arity));
    }
    return new std::vector<std::optional<td::Kernel>>(load_rows(kCalls, texts));
  }();
  return made;
}

template <class T>
Arguments<T> arguments_of(const Row& row) {
  Arguments<T> list;
  std::uniform_real_distribution<T> inside(static_cast<T>(row.low), static_cast<T>(row.high));
  auto next = [&] { return inside(random_bits()); };
  const bool slow = row.uses_absolute != nullptr;
  // An H200 gives NaN for jn(3, 0), and +infinity for yn(3, -0).
  const bool any_argument = !row.fast && !(on_cuda() && row.name.substr(1) == "n_3");
  if (any_argument) {
    const std::vector<T> special = special_numbers<T>();
    for (T x : special) {
      for (T y : special) {
        list.add(x, y, x);
        if (row.arity == 1) break;
      }
    }
    for (int i = 0; i < (slow ? 60 : 250); ++i)
      list.add(any_bits<T>(), any_bits<T>(), any_bits<T>());
    for (int i = 0; i < (slow ? 60 : 250); ++i)
      list.add(around_one<T>(12), around_one<T>(12), around_one<T>(12));
  }
  for (int i = 0; i < (slow ? 400 : 800); ++i) list.add(next(), next(), next());
  return list;
}

// The distance of neighbours at the size of `exact` in T.
template <class T>
double ulp_at(mpfr_srcptr exact) {
  using Limits = std::numeric_limits<T>;
  const long exponent = mpfr_zero_p(exact) ? Limits::min_exponent : mpfr_get_exp(exact);
  return std::ldexp(
      1.0, static_cast<int>(std::max<long>(exponent, Limits::min_exponent)) - Limits::digits);
}

// "" or what is wrong.
template <class T>
std::string compare(const Row& row, T x, mpfr_ptr exact, T got, double& worst) {
  const int which = sizeof(T) == 8 ? 0 : 1;
  if (mpfr_nan_p(exact) || got != got)
    return mpfr_nan_p(exact) && got != got ? "" : "one of them is NaN";
  // What rounds to infinity is infinite.
  Number rounded;
  mpfr_set(rounded, exact, N);
  mpfr_prec_round(rounded, std::numeric_limits<T>::digits, N);
  const bool overflows = mpfr_inf_p(static_cast<mpfr_ptr>(rounded)) ||
                         (!mpfr_zero_p(static_cast<mpfr_ptr>(rounded)) &&
                          mpfr_get_exp(rounded) > std::numeric_limits<T>::max_exponent);
  if (mpfr_inf_p(exact))
    return std::isinf(got) && (got < 0) == (mpfr_sgn(exact) < 0) ? "" : "not that infinity";
  if (mpfr_zero_p(exact) && got == 0)
    return std::signbit(got) == (mpfr_signbit(exact) != 0) ? "" : "the zero has the other sign";
  const double ulp = ulp_at<T>(exact);
  // The guide counts from the correctly rounded result. The software device keeps the bound from
  // the exact one, which is half a place less.
  double bound = (row.ulp[which] + (on_cuda() ? 0.5 : 0)) * ulp;
  if (row.fast) bound = row.fast(x, ulp, mpfr_get_d(exact, N));
  if (row.uses_absolute && row.uses_absolute(static_cast<double>(x)))
    bound = std::max(bound, row.absolute[which]);
  if (row.ulp[which] == 0 && !row.fast && !row.uses_absolute) bound = 0.5 * ulp;  // rounded once
  if (overflows || std::isinf(got)) {
    // An infinity stands for the number after the largest.
    Number value;
    mpfr_set_d(value, std::copysign(1.0, static_cast<double>(got)), N);
    if (std::isinf(got))
      mpfr_mul_2si(value, value, std::numeric_limits<T>::max_exponent, N);
    else
      mpfr_set_d(value, static_cast<double>(got), N);
    mpfr_sub(value, value, rounded, N);
    if (overflows && std::isinf(got) && (got < 0) == (mpfr_sgn(exact) < 0)) return "";
    const double off = std::fabs(mpfr_get_d(value, N)) / ulp;
    return off <= row.ulp[which] ? "" : "overflow on one side";
  }
  Number difference;
  mpfr_set_d(difference, static_cast<double>(got), N);
  mpfr_sub(difference, difference, exact, N);
  const double error = std::fabs(mpfr_get_d(difference, N));
  if (bound > 0) worst = std::max(worst, error / bound);
  return error <= bound ? "" : std::to_string(error / ulp) + " ulp";
}

template <class T>
void check(std::size_t index) {
  const Row& row = rows()[index];
  const std::optional<td::Kernel>& kernel = kernels()[2 * index + (sizeof(T) == 8 ? 1 : 0)];
  if (!kernel) return;
  const std::string type = sizeof(T) == 8 ? "double" : "float";
  const Arguments<T> arguments = arguments_of<T>(row);
  const std::vector<T> got = run_three(*kernel, arguments);
  double worst = 0;
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const T in[3] = {arguments.x[i], arguments.y[i], arguments.z[i]};
    Number x(in[0]), y(in[1]), z(in[2]), exact;
    row.oracle(exact, x, y, z, static_cast<double>(got[i]));
    const std::string problem = compare<T>(row, in[0], exact, got[i], worst);
    if (problem.empty() || ++wrong > 6) continue;
    char line[300];
    std::snprintf(line, sizeof line, "%s of %s at (%a, %a, %a): %a, exact %a: ", row.name.c_str(),
                  type.c_str(), static_cast<double>(in[0]), static_cast<double>(in[1]),
                  static_cast<double>(in[2]), static_cast<double>(got[i]), mpfr_get_d(exact, N));
    ADD_FAILURE() << line << problem;
  }
  EXPECT_EQ(wrong, 0) << row.name << " of " << type;
  if (std::getenv("NUMERICS_VERBOSE"))
    std::printf("%-16s %-6s worst %.2f of its bound\n", row.name.c_str(), type.c_str(), worst);
}

class Mathematics : public LaunchTest {};

TEST_F(Mathematics, EveryFunctionIsWithinItsPublishedError) {
  for (std::size_t i = 0; i < rows().size(); ++i) {
    check<float>(i);
    if (!rows()[i].fast) check<double>(i);
  }
}

// Functions whose results are exact are in exact_test.cpp.
TEST_F(Mathematics, EveryRowOfTheTableHasAnOracle) {
  std::set<std::string> known = {"sqrt", "floor", "ceil",      "trunc",   "round",
                                 "rint", "fabs",  "fmin",      "fmax",    "nearbyint",
                                 "fdim", "fma",   "nextafter", "copysign"};
  for (const Row& row : rows()) known.insert(row.name);
#define TD_MATH(name, arity, space, how, double_body, float_body) \
  EXPECT_TRUE(known.count(#name)) << #name;
#include "device_builtins.def"
}

}  // namespace
}  // namespace numerics
