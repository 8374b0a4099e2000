// Rows: a source, and the kernels that a reader of it must find.
#include "compile/signature_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"

namespace {

using namespace td;
using namespace td::compile;

std::string show(const ParamInfo& param) {
  static constexpr const char* kKinds[] = {"scalar", "pointer", "aggregate", "unknown"};
  std::string out = kKinds[static_cast<int>(param.kind)];
  if (param.dtype) out += " " + std::string(info(*param.dtype).numpy);
  if (param.pointee_const) out += " const";
  return out + (param.name.empty() ? "" : " " + param.name);
}

// "name(scalar int32 n, …)", with "C:" in front for a known symbol and "T:" for templates; "(?)"
// when not known.
std::string show(const ReadKernel& kernel) {
  std::vector<std::string> params;
  for (const ParamInfo& param : kernel.signature.params) params.push_back(show(param));
  return base::cat(kernel.is_template ? "T:" : "",
                   kernel.signature.symbol.empty() ? "" : "C:", kernel.signature.name, "(",
                   kernel.signature.params_known ? base::join(params, ", ") : "?", ")");
}

std::string read(std::string_view source, std::vector<std::string> options = {}) {
  std::vector<std::string> out;
  for (const ReadKernel& kernel : read_kernels(source, options)) out.push_back(show(kernel));
  return base::join(out, "; ");
}

struct Row {
  const char* source;
  const char* kernels;
};

const Row kRows[] = {
    // plain
    {"extern \"C\" __global__ void k(float* a, const float* b, int n) {}",
     "C:k(pointer float32 a, pointer float32 const b, scalar int32 n)"},
    {"__global__ void k() {}", "k()"},
    {"__global__ void k(void);", "k()"},
    {"void host(float* a) {} __device__ float f(float x) { return x; }", ""},
    // every place where qualifiers may stand
    {"static __global__ void k(int n) {}", "k(scalar int32 n)"},
    {"extern \"C\" void __global__ k(int n) {}", "C:k(scalar int32 n)"},
    {"__global__ static inline void k(int n) {}", "k(scalar int32 n)"},
    {"extern \"C\" __global__ void __launch_bounds__(256, 2) k(int n) {}", "C:k(scalar int32 n)"},
    {"extern \"C\" __global__ __launch_bounds__(128) void k(int n) {}", "C:k(scalar int32 n)"},
    {"extern \"C\" __global__ void __cluster_dims__(2, 1, 1) __attribute__((noinline)) k(int n) {}",
     "C:k(scalar int32 n)"},
    {"extern \"C\" [[maybe_unused]] __global__ void k(int n) {}", "C:k(scalar int32 n)"},
    {"extern \"C\" __global__ [[deprecated(\"(\")]] void k([[maybe_unused]] int n) {}",
     "C:k(scalar int32 n)"},
    // types
    {"__global__ void k(unsigned long long a, long long int b, unsigned c, short unsigned int d, "
     "signed char e);",
     "k(scalar uint64 a, scalar int64 b, scalar uint32 c, scalar uint16 d, scalar int8 e)"},
    {"__global__ void k(bool a, char b, unsigned char c, long d, double e, size_t f, std::size_t "
     "g);",
     "k(scalar bool a, scalar int8 b, scalar uint8 c, scalar int64 d, scalar float64 e, scalar "
     "uint64 f, scalar "
     "uint64 g)"},
    {"__global__ void k(int8_t a, std::int16_t b, int32_t c, int64_t d, uint8_t e, uint16_t f, "
     "uint32_t g, uint64_t h);",
     "k(scalar int8 a, scalar int16 b, scalar int32 c, scalar int64 d, scalar uint8 e, scalar "
     "uint16 f, scalar uint32 "
     "g, scalar uint64 h)"},
    {"__global__ void k(__half a, half* b, const __half2 c);",
     "k(scalar float16 a, pointer float16 b, unknown c)"},
    {"__global__ void k(float4 a, const int2* b, dim3 c, uchar3 d);",
     "k(aggregate a, pointer const b, aggregate c, aggregate d)"},
    {"__global__ void k(cuComplex a, thrust::complex<double> b, const cuda::std::complex<float>* "
     "c);",
     "k(aggregate complex64 a, aggregate complex128 b, pointer complex64 const c)"},
    {"__global__ void k(long double x, __int128 y);", "k(unknown x, unknown y)"},
    // pointers
    {"__global__ void k(float const* a, const volatile float *__restrict__ b, float* const c, "
     "float *restrict d);",
     "k(pointer float32 const a, pointer float32 const b, pointer float32 c, pointer float32 d)"},
    {"__global__ void k(void* a, const void* b);", "k(pointer a, pointer const b)"},
    {"__global__ void k(float** a, float* const* b, const float** c);",
     "k(pointer uint64 a, pointer uint64 const b, pointer uint64 c)"},
    {"__global__ void k(float a[], const int b[16]);",
     "k(pointer float32 a, pointer int32 const b)"},
    {"__global__ void k(const float*, int);", "k(pointer float32 const, scalar int32)"},
    {"__global__ void k(struct P* a, struct P b, enum E c);", "k(pointer a, unknown b, unknown c)"},
    {"__global__ void k(const __grid_constant__ int n);", "k(scalar int32 n)"},
    // names of the source
    {"typedef float real; using index = unsigned int; __global__ void k(real* a, const real b, "
     "index n);",
     "k(pointer float32 a, scalar float32 b, scalar uint32 n)"},
    {"typedef const float* in_t; __global__ void k(in_t a, const in_t b, in_t* c);",
     "k(pointer float32 const a, pointer float32 const b, pointer uint64 c)"},
    {"typedef unsigned long long int word; typedef word words; __global__ void k(words w);",
     "k(scalar uint64 w)"},
    {"struct P { int a; float b; }; __global__ void k(P p, const P* q);",
     "k(aggregate p, pointer const q)"},
    {"typedef struct { int a; } P; __global__ void k(P p);", "k(aggregate p)"},
    {"typedef enum { a, b } Mode; typedef struct { int a; } *Q; __global__ void k(Mode m, Q q);",
     "k(unknown m, unknown q)"},
    {"typedef float real, *reals; __global__ void k(real a, reals b);", "k(unknown a, unknown b)"},
    {"enum Mode { a, b }; __global__ void k(Mode m);", "k(unknown m)"},
    {"struct float4 { double x; }; __global__ void k(float4 p);", "k(aggregate p)"},
    // never a guess
    {"#ifdef D\ntypedef double real;\n#else\ntypedef float real;\n#endif\n__global__ void k(real* "
     "a, real b);",
     "k(pointer a, unknown b)"},
    {"#define int long\n__global__ void k(int n);", "k(unknown n)"},
    {"#define real float\n#undef real\n__global__ void k(real* a, real b);",
     "k(pointer a, unknown b)"},
    {"#define REAL(x) float\n__global__ void k(REAL(1) a, int n);", "k(unknown, scalar int32 n)"},
    {"#if D\n#define real double\n#else\n#define real float\n#endif\n__global__ void k(real* a, "
     "real b);",
     "k(pointer a, unknown b)"},
    {"#include \"x.h\"\n#ifndef real\n#define real double\n#endif\n__global__ void k(real b);",
     "k(unknown b)"},
    {"#define LONG long\n__global__ void k(unsigned LONG x); __global__ void l(unsigned LONG);",
     "k(unknown); l(unknown)"},
    {"#define UNS unsigned\n__global__ void k(UNS long x); __global__ void l(UNS long);",
     "k(unknown); l(unknown)"},
    {"#define IN const\n__global__ void k(IN float* x);", "k(unknown)"},
    {"#define C const float\n#define float double\n__global__ void k(C x, float y);",
     "k(scalar float32 x, unknown y)"},
    // macros that name a type, or nothing
    {"#define real float /* not\ndouble */\n__global__ void k(real* a, real b);",
     "k(pointer float32 a, scalar float32 b)"},
    {"#define word unsigned \\\n  long long\n#define words word\n__global__ void k(const words* w, "
     "words n);",
     "k(pointer uint64 const w, scalar uint64 n)"},
    {"#define IN const float*\n#define N 10\n__global__ void k(IN a, int n[N]);",
     "k(pointer float32 const a, pointer int32 n)"},
    {"#define RESTRICT __restrict__\n#define EMPTY\n__global__ void k(EMPTY const float* RESTRICT "
     "a, int n EMPTY);",
     "k(pointer float32 const a, scalar int32 n)"},
    {"#ifndef T\n#define T double\n#endif\n__global__ void k(T* a);", "k(pointer float64 a)"},
    {"#define KERNEL(n) __global__ void n(int x)\nKERNEL(foo) {}\n__global__ void k(int x) {}",
     "k(scalar int32 x)"},
    {"#define NAME k\n__global__ void NAME(int x) {}", ""},
    {"__global__ void k(T a, int n);", "k(unknown a, scalar int32 n)"},
    {"__global__ void k(void (*f)(int), int n);", "k(unknown, scalar int32 n)"},
    {"__global__ void k(int& n, float (&a)[4]);", "k(unknown, unknown)"},
    {"__global__ void k(int n, ...);", "k(?)"},
    {"__global__ void k(int n = (1 < 2), int m = A<1, 2>::value);", "k(?)"},
    {"#if 1\n__global__ void k(int n) {}\n#else\n__global__ void k(float n) {}\n#endif", "k(?)"},
    {"__global__ void k(int); __global__ void k(float);", "k(?)"},
    // defaults, templates, scopes
    {"__global__ void k(int n = 4, float s = f(1, 2), const float* p = nullptr);",
     "k(scalar int32 n, scalar float32 s, pointer float32 const p)"},
    {"template <typename T, int N> __global__ void k(T* a, T b, int n) {} __global__ void l(int n) "
     "{}",
     "T:k(pointer a, unknown b, scalar int32 n); l(scalar int32 n)"},
    {"template <> __global__ void k<float>(float* a) {}", ""},
    {"__global__ void k(Pair<float, int> a, int n);", "k(unknown a, scalar int32 n)"},
    {"namespace a { namespace b::c { __global__ void k(int n) {} } __global__ void l() {} } "
     "__global__ void m() {}",
     "a::b::c::k(scalar int32 n); a::l(); m()"},
    {"namespace { __global__ void k() {} } extern \"C\" { __global__ void l() {} } __global__ void "
     "m() {}",
     "k(); C:l(); m()"},
    {"namespace a { extern \"C\" __global__ void k() {} }", "C:k()"},
    {"extern \"C\" __global__ void k(int n);\nextern \"C\" __global__ void k(int count) { }",
     "C:k(scalar int32 count)"},
    // comments, literals, lines
    {"// __global__ void no(int n) {}\n/* __global__ void no() {} */ __global__ /*x*/ void k(int "
     "/* , */ n) {}",
     "k(scalar int32 n)"},
    {"// a backslash continues \\\n__global__ void no() {}\n__global__ void k() {}", "k()"},
    {"const char* s = \"__global__ void no() {\"; const char c = '{'; __global__ void k() {}",
     "k()"},
    {"const char* s = R\"x(__global__ void no() { )\" )x\"; __global__ void k() {}", "k()"},
    {"#define TEXT \"{\" \\\n  __global__ void no()\n__global__ void k() {}", "k()"},
    {"__global__ void k(float*a,int\nn){ if (n) { a[0] = '}'; } }\n__global__ void l() {}",
     "k(pointer float32 a, scalar int32 n); l()"},
    {"__global__\nvoid\nk\n(\nint\nn\n)\n{\n}", "k(scalar int32 n)"},
    {"int x = 1'000'000; __global__ void k() {}", "k()"},
};

TEST(SignatureReader, Rows) {
  for (const Row& row : kRows) EXPECT_EQ(read(row.source), row.kernels) << row.source;
}

TEST(SignatureReader, MacrosOfTheCommandLineCount) {
  const char* source = "__global__ void k(real* a, int n);";
  EXPECT_EQ(read(source, {"-Dreal=float"}), "k(pointer float32 a, scalar int32 n)");
  EXPECT_EQ(read(source, {"-D", "real=unsigned char"}), "k(pointer uint8 a, scalar int32 n)");
  EXPECT_EQ(read(source, {"-D", "int=long"}), "k(pointer a, unknown n)");
  EXPECT_EQ(read(source, {"--define-macro=int=long", "-Dreal"}), "k(pointer a, unknown n)");
  EXPECT_EQ(read("#ifndef real\n#define real double\n#endif\n__global__ void k(real b);",
                 {"-Dreal=float"}),
            "k(unknown b)");
}

TEST(SignatureReader, KeepsSpellingAndSizes) {
  auto kernels = read_kernels(
      "__global__ void k(const unsigned  long long*__restrict__ a, float3 v, short s);", {});
  ASSERT_EQ(kernels.size(), 1u);
  const auto& params = kernels[0].signature.params;
  ASSERT_EQ(params.size(), 3u);
  EXPECT_EQ(params[0].type, "const unsigned long long* __restrict__");
  EXPECT_EQ(params[0].size, 8u);
  EXPECT_EQ(params[1].type, "float3");
  EXPECT_EQ(params[1].size, 12u);
  EXPECT_EQ(params[1].align, 4u);
  EXPECT_EQ(params[2].size, 2u);
}

TEST(SignatureReader, ReadsDemangledSymbols) {
  std::string name;
  auto params = read_demangled(
      "void ns::scale<float, (Mode)1>(float*, float const* const*, unsigned long long)", name);
  ASSERT_TRUE(params.has_value());
  EXPECT_EQ(name, "ns::scale<float, (Mode)1>");
  std::vector<std::string> shown;
  for (const ParamInfo& param : *params) shown.push_back(show(param));
  EXPECT_EQ(base::join(shown, ", "), "pointer float32, pointer uint64 const, scalar uint64");
  EXPECT_FALSE(read_demangled("plain", name).has_value());
  EXPECT_TRUE(read_demangled("k()", name)->empty());
  for (const char* odd : {"", "(", ")", "))((", "f(a", "f)a(", "f(<)"}) read_demangled(odd, name);
}

const char* kLong = R"cu(
typedef float real; struct P { int a; }; namespace n { template <class T, int N = 3>
__global__ void __launch_bounds__(32) k(T* __restrict__ a, const real b[4], P p, int m = f<1>(2)) { a[0] = "x{"[0]; } }
extern "C" { __global__ void l(unsigned long long **q, Pair<int, float> r, ...); } /* end */ R"(raw)" 'c'
)cu";

// Nothing may crash, whatever the text; run under the sanitizers this also finds reads outside of
// it.
TEST(SignatureReader, SurvivesTruncationAtEveryLength) {
  const std::string text = kLong;
  std::size_t most = 0;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    std::string part = text.substr(0, length);  // of its own, so that the end is really the end
    most = std::max(most, read_kernels(part, {}).size());
  }
  EXPECT_EQ(most, 2u);
}

TEST(SignatureReader, SurvivesNoise) {
  std::mt19937 random(20260101);
  const std::string text = kLong;
  for (int round = 0; round < 3000; ++round) {
    std::string noise;
    if (round % 2) {
      for (int i = 0; i < 200; ++i) noise += static_cast<char>(random());
    } else {
      // pieces of real code in a random order
      for (int i = 0; i < 30; ++i) noise += text.substr(random() % text.size(), random() % 12);
    }
    for (const ReadKernel& kernel : read_kernels(noise, {}))
      EXPECT_FALSE(kernel.signature.name.empty());
  }
}

TEST(SignatureReader, DeepNestingIsNotRecursion) {
  std::string deep(200000, '(');
  read_kernels("__global__ void k" + deep, {});
  read_kernels(std::string(200000, '{'), {});
  read_kernels("template " + std::string(200000, '<') + " __global__ void k();", {});
  std::string many = "__global__ void k(int a0";
  for (int i = 1; i < 2000; ++i) many += ", int a" + std::to_string(i);
  EXPECT_EQ(read_kernels(many + ") {}", {})[0].signature.params.size(), 2000u);
}

}  // namespace
