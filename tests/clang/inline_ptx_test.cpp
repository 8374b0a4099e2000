// asm statements in kernels: every row of tables/ptx_instructions.def compiles, and errors stand at
// the user's line. (What instructions compute is tested in tests/python/test_inline_ptx.py.)
#include "../ptx/samples.h"
#include "helpers.h"

namespace td::compile::test {
namespace {

// A kernel with one asm statement for each instance.
std::string kernel_of(const std::vector<std::string>& statements) {
  std::string source = "extern \"C\" __global__ void k() {\n";
  for (const std::string& statement : statements)
    source += "  asm volatile(\"" + statement + "\");\n";
  return source + "}\n";
}

TEST(InlinePtx, EveryInstanceOfEveryRowCompiles) {
  std::vector<std::string> statements;
  for (const ptx::Row& row : ptx::rows()) {
    if (!row.supported) continue;
    for (const auto& words : ptx::instances(row))
      statements.push_back(ptx::test::sample(row, words));
  }
  ASSERT_GT(statements.size(), 1000u);
  const ClangReply reply = compile(kernel_of(statements));
  ASSERT_TRUE(reply.ok) << reply.log.substr(0, 4000);
  EXPECT_EQ(reply.log, "");
  const Image image(reply);
  for (const llvm::Function& function : *image.module)
    for (const llvm::BasicBlock& block : function)
      for (const llvm::Instruction& instruction : block)
        if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
          EXPECT_FALSE(call->isInlineAsm());
        }
}

TEST(InlinePtx, UnsupportedInstructionsAreRefused) {
  for (const ptx::Row& row : ptx::rows()) {
    if (row.supported) continue;
    const ClangReply reply = compile(kernel_of({std::string(row.pattern) + ".x a;"}));
    EXPECT_FALSE(reply.ok);
    EXPECT_TRUE(contains(reply.log, std::string("kernel.cu:2:17: error: inline PTX: '") +
                                        row.pattern + ".x' (" + row.body + ") is known, but not"))
        << reply.log;
  }
}

TEST(InlinePtx, ErrorsNameTheUsersLine) {
  const ClangReply reply = compile(
      "__device__ int f(int x) {\n"
      "  asm(\"add.s32 %0, %0, 1;\\n\\t\"\n"
      "      \"mul.s32 %0, %0, 3;\"\n"
      "      : \"+r\"(x));\n"
      "  return x;\n"
      "}\n"
      "__global__ void k(int* p) { *p = f(*p); }\n");
  EXPECT_FALSE(reply.ok);
  EXPECT_TRUE(contains(reply.log,
                       "kernel.cu:3:8: error: inline PTX: 'mul.s32' is not supported; of 'mul' "
                       "there is: mul.lo."))
      << reply.log;
}

TEST(InlinePtx, OperandsMustFitTheirConstraints) {
  const ClangReply wide =
      compile("__global__ void k(long long* p) {\n  asm(\"mov.u32 %0, 1;\" : \"=r\"(p[0]));\n}\n");
  EXPECT_FALSE(wide.ok);
  EXPECT_TRUE(contains(wide.log,
                       "kernel.cu:2:8: error: inline PTX: operand %0 has 64 bits, but its "
                       "constraint 'r' is for 32"))
      << wide.log;
  const ClangReply memory =
      compile("__global__ void k(int* p) {\n  asm(\"mov.u32 %0, 1;\" : \"=m\"(p[0]));\n}\n");
  EXPECT_FALSE(memory.ok);
}

// What threads do together must not move across branches before it is inlined.
TEST(InlinePtx, BarriersAndWarpOperationsStayConvergent) {
  const Image image(compile(
      "__global__ void k(int* p) {\n"
      "  if (*p) asm volatile(\"bar.sync 1, 64;\"); else asm volatile(\"bar.sync 1, 64;\");\n"
      "}\n"));
  unsigned calls = 0;
  for (const llvm::Function& function : *image.module)
    for (const llvm::BasicBlock& block : function)
      for (const llvm::Instruction& instruction : block)
        if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
            call && (call->getCalledFunction()->getName().contains("asm_") ||
                     call->getCalledFunction()->getName().contains("barrier"))) {
          EXPECT_TRUE(call->isConvergent()) << call->getCalledFunction()->getName().str();
          ++calls;
        }
  EXPECT_GE(calls, 3u);
}

// Nothing is asked of functions that no kernel reaches; the compiler barrier stays one.
TEST(InlinePtx, UnusedFunctionsAndBarriers) {
  const ClangReply reply = compile(
      "__device__ void f() { asm(\"frob;\"); }\n"
      "__global__ void k(int* p) { p[0] = 1; asm volatile(\"\" ::: \"memory\"); p[0] = 2; }\n");
  EXPECT_TRUE(reply.ok) << reply.log;
  EXPECT_TRUE(contains(Image(reply).text(), "asm sideeffect"));
}

}  // namespace
}  // namespace td::compile::test
