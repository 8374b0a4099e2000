#include "helpers.h"

namespace td::compile::test {
namespace {

ClangReply compile_at(const std::string& source, const std::string& file, int first_line) {
  ClangRequest request;
  request.source = source;
  request.file_name = file;
  request.first_line = first_line;
  ClangReply reply;
  td_cc_compile(request, reply);
  return reply;
}

TEST(Messages, FileLineExcerptAndCaret) {
  const ClangReply reply =
      compile_at("__global__ void k(float* p) {\n  p[0] = nonsense;\n}\n", "dir/my kernel.py", 41);
  EXPECT_FALSE(reply.ok);
  EXPECT_TRUE(reply.image.empty());
  EXPECT_EQ(reply.log,
            "dir/my kernel.py:42:10: error: use of undeclared identifier 'nonsense'\n"
            "   42 |   p[0] = nonsense;\n"
            "      |          ^\n");
}

TEST(Messages, LineDirectivesOfTheUser) {
  const ClangReply reply = compile("#line 7 \"fused.py\"\n__global__ void k() { nonsense(); }\n");
  EXPECT_TRUE(contains(reply.log, "fused.py:7:23: error: use of undeclared identifier 'nonsense'"))
      << reply.log;
}

TEST(Messages, SeveralErrorsAndNoneAfterALimit) {
  std::string source = "__global__ void k(int* p) {\n";
  for (int i = 0; i < 50; ++i) source += "  p[0] = nonsense" + std::to_string(i) + ";\n";
  const ClangReply reply = compile(source + "}\n");
  EXPECT_TRUE(contains(reply.log, "'nonsense1'"));
  EXPECT_FALSE(contains(reply.log, "'nonsense40'"));
}

TEST(Messages, WarningsGoToTheLog) {
  const char* source = "__global__ void k(float* p) {\n  printf(\"%d\\n\", p[0]);\n}\n";
  const ClangReply reply = compile(source);
  EXPECT_TRUE(reply.ok);
  EXPECT_TRUE(contains(reply.log, "kernel.cu:2:18: warning: format specifies type 'int'"))
      << reply.log;
  EXPECT_EQ(compile(source, {"-w"}).log, "");
}

TEST(Messages, NothingOfOurHeadersIsShown) {
  const ClangReply reply = compile(R"(
struct S {};
__global__ void k(float* p, S s) {
  p[0] = fmin(p, 3);
  p[1] = max(s, 3);
  atomicAdd(p, s);
  assert(s.x);
  p[2] = __match_any_sync(~0u, s);
  threadIdx.x = 3;
  p[3] = __shfl_sync(~0u, s, 0);
  __syncthreads(3);
  sinf();
}
)");
  EXPECT_FALSE(reply.ok);
  EXPECT_FALSE(contains(reply.log, "__treadle__")) << reply.log;
  EXPECT_FALSE(contains(reply.log, "td_")) << reply.log;
  EXPECT_TRUE(contains(reply.log, "kernel.cu:8:10: error: static assertion failed")) << reply.log;
  for (int line : {4, 5, 6, 7, 8, 9, 10, 11, 12}) {
    EXPECT_TRUE(contains(reply.log, "kernel.cu:" + std::to_string(line) + ":"))
        << "line " << line << "\n"
        << reply.log;
  }
}

TEST(Messages, AssertShowsTheArgument) {
  const ClangReply reply = compile("__global__ void k(int n) {\n  assert(n > nonsense);\n}\n");
  EXPECT_TRUE(contains(reply.log, "kernel.cu:2:14: error: use of undeclared identifier 'nonsense'"))
      << reply.log;
}

TEST(Messages, MacrosOfTheUserAreExplained) {
  const ClangReply reply =
      compile("#define TWICE(x) (2 * y)\n__global__ void k(int* p) {\n  p[0] = TWICE(3);\n}\n");
  EXPECT_TRUE(contains(reply.log, "kernel.cu:3:10: error: use of undeclared identifier 'y'"))
      << reply.log;
  EXPECT_TRUE(contains(reply.log, "kernel.cu:1:23: note: expanded from macro 'TWICE'"))
      << reply.log;
}

TEST(Messages, KernelLaunchFromAKernelIsRefused) {
  const ClangReply reply =
      compile("__global__ void child() {}\n__global__ void k() {\n  child<<<1, 1>>>();\n}\n");
  EXPECT_FALSE(reply.ok);
  EXPECT_TRUE(contains(reply.log,
                       "kernel.cu:3:3: error: launching a kernel from a kernel is known, but not"))
      << reply.log;
}

TEST(Messages, TextureReferencesNameTheirCure) {
  for (const char* source :
       {"texture<float, 2> image;\n", "texture<float, 1, cudaReadModeElementType> image;\n",
        "surface<void, 2> image;\n"}) {
    const ClangReply reply = compile(source);
    EXPECT_FALSE(reply.ok);
    EXPECT_TRUE(
        contains(reply.log, "kernel.cu:1:") &&
        contains(reply.log, "texture references were removed in CUDA 12: make a texture object"))
        << reply.log;
  }
}

TEST(Messages, MissingBodyIsNamed) {
  const ClangReply reply = compile_at(
      "__device__ int elsewhere(int);\n__global__ void k(int* p) {\n  p[0] = elsewhere(3);\n}\n",
      "a.cu", 10);
  EXPECT_FALSE(reply.ok);
  EXPECT_TRUE(
      contains(reply.log, "a.cu:12:10: error: function 'elsewhere(int)' is called but has no body"))
      << reply.log;
  EXPECT_TRUE(contains(reply.log, "   12 |   p[0] = elsewhere(3);")) << reply.log;
}

TEST(Messages, HostCodeCalledFromAKernel) {
  const ClangReply reply = compile(
      "__host__ int host(int x) { return x; }\n__global__ void k(int* p) {\n  p[0] = "
      "host(3);\n}\n");
  EXPECT_FALSE(reply.ok);
  EXPECT_TRUE(contains(reply.log, "call to __host__ function from __global__ function"))
      << reply.log;
}

}  // namespace
}  // namespace td::compile::test
