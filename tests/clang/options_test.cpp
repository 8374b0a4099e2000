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
  const char* source = "int f(int x) { return x + 1; }\n__global__ void k(int* p) { *p = f(*p); }";
  EXPECT_FALSE(compile(source).ok);
  EXPECT_TRUE(compile(source, {"-default-device"}).ok);
  EXPECT_TRUE(compile(source, {"--device-as-default-execution-space"}).ok);
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
