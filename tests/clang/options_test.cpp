#include <filesystem>
#include <fstream>

#include "helpers.h"

namespace td::compile::test {
namespace {

TEST(Options, Macros) {
  const char* source = R"(
#if A != 1 || B != 7 || !defined(C) || defined(D)
#error wrong
#endif
__global__ void k(int* p) { p[0] = F(3); }
)";
  const ClangReply reply =
      compile(source, {"-DA", "--define-macro=B=7", "-D", "C=", "-DD", "-UD", "-DF(x)=(x+1)"});
  EXPECT_TRUE(reply.ok) << reply.log;
  const ClangReply wrong = compile(source, {"-DA=2"});
  EXPECT_TRUE(contains(wrong.log, "kernel.cu:3:2: error: wrong")) << wrong.log;
}

TEST(Options, PredefinedMacros) {
  EXPECT_TRUE(compile("static_assert(__CUDACC__ && __CUDACC_RTC__ && __TREADLE__ == 1 && "
                      "__CUDA_ARCH__ == 900, \"\");")
                  .ok);
}

TEST(Options, Standards) {
  const char* source = "static_assert(__cplusplus == EXPECTED, \"\"); __global__ void k() {}";
  EXPECT_TRUE(compile(source, {"-DEXPECTED=201703L"}).ok);
  EXPECT_TRUE(compile(source, {"--std=c++17", "-DEXPECTED=201703L"}).ok);
  EXPECT_TRUE(compile(source, {"-std=c++20", "-DEXPECTED=202002L"}).ok);
  EXPECT_TRUE(compile(source, {"--std", "c++23", "-DEXPECTED=202302L"}).ok);
  const ClangReply wrong = compile("", {"-std=c++98"});
  EXPECT_FALSE(wrong.ok);
  EXPECT_TRUE(contains(wrong.log, "option '-std=c++98': known are c++11,")) << wrong.log;
}

TEST(Options, IncludePaths) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("td_include_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "sub");
  std::ofstream(folder / "sub" / "mine.h")
      << "#define MINE 5\n__device__ int broken() { return nonsense; }\n";
  std::ofstream(folder / "cuda_runtime.h") << "#error a file of the same name must not hide ours\n";
  const std::string path = folder.string();
  const ClangReply reply = compile(
      "#include <cuda_runtime.h>\n#include \"sub/mine.h\"\n__global__ void k(int* p) { *p = MINE; "
      "}",
      {"-I" + path});
  EXPECT_FALSE(reply.ok);
  EXPECT_TRUE(contains(reply.log,
                       path + "/sub/mine.h:2:34: error: use of undeclared identifier 'nonsense'"))
      << reply.log;
  EXPECT_TRUE(contains(reply.log, "In file included from kernel.cu:2:")) << reply.log;
  EXPECT_TRUE(contains(compile("#include \"sub/mine.h\"\n").log, "'sub/mine.h' file not found"));
  std::ofstream(folder / "sub" / "mine.h") << "#define MINE 5\n";
  EXPECT_TRUE(compile("__global__ void k(int* p) { *p = MINE; }",
                      {"--include-path", path, "--pre-include=sub/mine.h"})
                  .ok);
  std::filesystem::remove_all(folder);
}

TEST(Options, Contraction) {
  const char* source = "__global__ void k(float* p) { p[0] = p[1] * p[2] + p[3]; }";
  EXPECT_TRUE(contains(Image(compile(source)).text(), "fmul contract"));
  EXPECT_TRUE(
      contains(Image(compile(source, {"-fmad=false", "--fmad", "true"})).text(), "fmul contract"));
  EXPECT_FALSE(contains(Image(compile(source, {"--fmad=false"})).text(), "contract"));
  EXPECT_TRUE(contains(Image(compile(source, {"-use_fast_math"})).text(), "preserve-sign"));
}

TEST(Options, DefaultExecutionSpace) {
  const char* source =
      "int table[3] = {4, 5, 6};\nconst float scale[] = {1.5f, 2.5f};\n"
      "template <class F> int twice(F f, int x) { return f(f(x)); }\n"
      "int f(int x) { return x + table[x % 3]; }\n"
      "struct Point { int x; bool operator==(const Point&) const = default; };\n"
      "__global__ void k(int* p) {\n"
      "  *p = twice(f, *p) + twice([](auto x) { return x * 2; }, 3) + (int)scale[*p & 1] +\n"
      "       (Point{1} == Point{*p});\n}";
  for (const char* option : {"-default-device", "--device-as-default-execution-space", "-w"})
    EXPECT_TRUE(compile(source, {option, "-std=c++20"}).ok) << compile(source).log;
  const Image image(compile(source, {"-std=c++20"}));
  EXPECT_NE(image.module->getNamedGlobal("table"), nullptr);
}

TEST(Options, DefaultExecutionSpaceLeavesAnnotationsAlone) {
  const char* source =
      "namespace a { __host__ int on_host(int x); int plain(int x) { return x; }\n"
      "struct S { int v; S(int v) : v(v) {} __device__ int get() const { return v; }\n"
      "  static int of(S s) { return s.get(); } };\n"
      "template <class T> __global__ void t(T* p) { *p = plain(S::of(S(3))); }\n"
      "template __global__ void t<int>(int*); }\n"
      "template <class T> T half(T x) { return x / 2; }\n"
      "template int half<int>(int);\n"
      "__global__ void k(int* p) {\n"
      "  auto f = [] __device__(int x) { return half(x); };\n"
      "  *p = f(a::plain(3));\n}\n";
  const ClangReply reply = compile(source);
  EXPECT_TRUE(reply.ok) << reply.log;
  EXPECT_EQ(reply.kernels.size(), 2u);
  EXPECT_TRUE(contains(
      compile(std::string(source) + "__global__ void bad(int* p) { *p = a::on_host(1); }").log,
      "reference to __host__ function 'on_host' in __global__ function"));
}

TEST(Options, AVariableOfTheDeviceNeedsAConstantValue) {
  const ClangReply reply =
      compile("int f();\nint late = f();\n__global__ void k(int* p) { *p = late; }");
  EXPECT_FALSE(reply.ok);
  EXPECT_TRUE(contains(reply.log, "kernel.cu:2:5: error: dynamic initialization")) << reply.log;
}

TEST(Options, AcceptedWithoutEffect) {
  const ClangReply reply =
      compile("__global__ void k() {}",
              {"--gpu-architecture=compute_90", "-arch=sm_80", "-G", "-lineinfo",
               "--maxrregcount=32", "-rdc=true", "--prec-div=false", "-Xptxas", "-v"});
  EXPECT_TRUE(reply.ok) << reply.log;
  EXPECT_EQ(reply.log, "");
}

TEST(Options, MistakesNameTheOption) {
  const std::string unknown = compile("", {"--frobnicate=3"}).log;
  EXPECT_TRUE(contains(unknown, "error: option '--frobnicate=3' is not known. Known options: "))
      << unknown;
  EXPECT_TRUE(contains(unknown, "--include-path")) << unknown;
  EXPECT_TRUE(contains(compile("", {"-I"}).log, "option '-I' needs a value"));
  EXPECT_TRUE(contains(compile("", {"--fmad=maybe"}).log,
                       "option '--fmad=maybe': its value must be true or false"));
  EXPECT_TRUE(contains(compile("", {"-w=1"}).log, "option '-w=1' takes no value"));
}

}  // namespace
}  // namespace td::compile::test
