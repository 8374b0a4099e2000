// Several warps side by side (warp_jam.h): the same values as one after the other, and when it is
// done.
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>

#include <cmath>

#include "harness.h"
#include "softdev/simt/warp_jam.h"

namespace simt_test {
namespace {

class WarpJam : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, WarpJam, testing::ValuesIn(widths));

constexpr Dim blocks[] = {{16, 16}, {16, 8}, {16, 6}, {16, 5},
                          {32, 4},  {64, 2}, {20, 4}, {8, 4, 4}};

// Sizes that end inside of a block: warps that are whole, partly and wholly outside.
TEST_P(WarpJam, ProductsWithEdges) {
  const char* source = R"(
    extern "C" __global__ void product(const float* a, const float* b, float* c, int* rounds,
                                       int n) {
      int column = blockIdx.x * blockDim.x + threadIdx.x;
      int row = blockIdx.y * blockDim.y * blockDim.z + threadIdx.z * blockDim.y + threadIdx.y;
      if (row >= n || column >= n) return;
      float sum = 0, rest = 1;
      for (int k = 0; k < n; ++k) {
        sum += a[row * n + k] * b[k * n + column];
        if (k % 3 == 1) rest -= sum * 0.125f;
      }
      atomicAdd(rounds, n);
      c[row * n + column] = sum + rest;
    })";
  for (Dim block : blocks) {
    Program kernel(source, GetParam());
    for (int n : {16, 37, 64}) {
      std::vector<float> a(n * n), b(n * n), c(n * n, -1);
      for (int i = 0; i < n * n; ++i) {
        a[i] = float(i % 7) - 3;
        b[i] = float(i % 5) - 2;
      }
      int rounds = 0;
      unsigned rows = block.y * block.z;
      Dim grid{(n + block.x - 1) / block.x, (n + rows - 1) / rows};
      kernel.launch("product", grid, block, 0, a.data(), b.data(), c.data(), &rounds, n);
      EXPECT_EQ(rounds, n * n * n);
      for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) {
          float sum = 0, rest = 1;
          for (int k = 0; k < n; ++k) {
            sum += a[row * n + k] * b[k * n + column];
            if (k % 3 == 1) rest = std::fma(-0.125f, sum, rest);
          }
          ASSERT_FLOAT_EQ(c[row * n + column], sum + rest) << row << " " << column << " of " << n;
        }
    }
  }
}

// Rounds that differ between warps, or between the lanes of one, and ways that do.
TEST_P(WarpJam, WarpsThatPart) {
  Program kernel(R"(
    extern "C" __global__ void walk(int* out, int n, int kind) {
      int x = threadIdx.x, y = threadIdx.y, i = y * blockDim.x + x, sum = x;
      int rounds = kind == 0 ? n : kind == 1 ? y : x + y;
      for (int k = 0; k < rounds; ++k) {
        sum = sum * 3 + y;
        if (kind == 2 && sum & 1) sum += k;
        if (kind == 0 && y == k) sum ^= 5;
      }
      out[i] = sum;
    })",
                 GetParam());
  for (Dim block : {Dim{16, 16}, Dim{32, 4}})
    for (int kind : {0, 1, 2}) {
      std::vector<int> out(block.x * block.y, -1);
      kernel.launch("walk", {1}, block, 0, out.data(), 9, kind);
      for (int y = 0; y < int(block.y); ++y)
        for (int x = 0; x < int(block.x); ++x) {
          int sum = x, rounds = kind == 0 ? 9 : kind == 1 ? y : x + y;
          for (int k = 0; k < rounds; ++k) {
            sum = int(unsigned(sum) * 3u + unsigned(y));
            if (kind == 2 && sum & 1) sum += k;
            if (kind == 0 && y == k) sum ^= 5;
          }
          ASSERT_EQ(out[y * block.x + x], sum) << kind << ": " << x << " " << y;
        }
    }
}

// Loops between barriers: sums that live across them, and a step that the block has in common.
TEST_P(WarpJam, LoopsBetweenBarriers) {
  Program kernel(R"(
    extern "C" __global__ void sums(const int* in, int* out, int tiles, int length) {
      __shared__ int s[16][16];
      int x = threadIdx.x, y = threadIdx.y, sum = 0, step = 1, wide = 0;
      for (int tile = 0; tile < tiles; ++tile) {
        s[y][x] = in[tile * 256 + y * 16 + x];
        wide += __syncthreads_count(s[y][x] > 2);
        for (int k = 0; k < length; ++k) sum = sum * step + s[y][k] * s[k][x];
        step = step * 2 % 7;
        __syncthreads();
      }
      out[y * 16 + x] = sum + wide;
    })",
                 GetParam());
  for (int tiles : {0, 1, 5})
    for (int length : {0, 1, 16}) {
      std::vector<int> in(256 * 5), out(256, -1);
      for (unsigned i = 0; i < in.size(); ++i) in[i] = int(i * 7 % 11) - 4;
      kernel.launch("sums", {1}, {16, 16}, 0, in.data(), out.data(), tiles, length);
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) {
          unsigned sum = 0, step = 1, wide = 0;
          for (int tile = 0; tile < tiles; ++tile) {
            const int* s = in.data() + tile * 256;
            for (int i = 0; i < 256; ++i) wide += s[i] > 2;
            for (int k = 0; k < length; ++k)
              sum = sum * step + unsigned(s[y * 16 + k] * s[k * 16 + x]);
            step = step * 2 % 7;
          }
          ASSERT_EQ(out[y * 16 + x], int(sum + wide)) << tiles << " " << length;
        }
    }
}

// A loop over eight warps around a loop that carries a vector; `extra` stands in the inner loop.
std::string warp_loop(const std::string& extra) {
  return R"(
    define void @range(ptr %p, ptr %q, i32 %n) {
    entry:
      %state = alloca i32
      store i32 0, ptr %state
      br label %warp
    warp:
      %w = phi i32 [0, %entry], [%w.next, %end]
      %at = getelementptr <8 x float>, ptr %q, i32 %w
      br label %loop
    loop:
      %k = phi i32 [0, %warp], [%k.next, %loop]
      %sum = phi <8 x float> [zeroinitializer, %warp], [%sum.next, %loop]
      %from = getelementptr <8 x float>, ptr %p, i32 %k
      %x = load <8 x float>, ptr %from
      %y = load <8 x float>, ptr %at
      %xy = fmul <8 x float> %x, %y
      %sum.next = fadd <8 x float> %sum, %xy
)" + extra +
         R"(
      %k.next = add i32 %k, 1
      %more = icmp slt i32 %k.next, %n
      br i1 %more, label %loop, label %end
    end:
      store <8 x float> %sum.next, ptr %at
      %w.next = add i32 %w, 1
      %again = icmp ult i32 %w.next, 8
      br i1 %again, label %warp, label %done, !treadle.warps !0
    done:
      ret void
    }
    declare void @effect()
    !0 = !{i32 8}
  )";
}

// The number of sums that go round side by side, 0 where the warps stay one after the other.
unsigned sums_side_by_side(const std::string& text, unsigned registers) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  if (!module) {
    ADD_FAILURE() << error.getMessage().str();
    return 0;
  }
  llvm::PassBuilder builder;
  llvm::FunctionAnalysisManager analyses;
  builder.registerFunctionAnalyses(analyses);
  llvm::Function& function = *module->getFunction("range");
  td::softdev::simt::WarpJam(registers).run(function, analyses);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (llvm::BasicBlock& block : function)
    if (block.getName() == "loop.warps") {
      unsigned sums = 0;
      for (llvm::PHINode& phi : block.phis()) sums += phi.getType()->isVectorTy();
      return sums;
    }
  return 0;
}

TEST(WarpJamPass, TakesAsManyWarpsAsRegistersHold) {
  EXPECT_EQ(sums_side_by_side(warp_loop(""), 32), 4u);
  EXPECT_EQ(sums_side_by_side(warp_loop(""), 4), 2u);
  EXPECT_EQ(sums_side_by_side(warp_loop(""), 2), 0u);
}

TEST(WarpJamPass, LeavesWhatHasAnOrderOfItsOwn) {
  EXPECT_EQ(sums_side_by_side(warp_loop("store volatile i32 %k, ptr %p"), 32), 0u);
  EXPECT_EQ(sums_side_by_side(warp_loop("fence seq_cst"), 32), 0u);
  EXPECT_EQ(sums_side_by_side(warp_loop("call void @effect()"), 32), 0u);
  EXPECT_EQ(sums_side_by_side(warp_loop("%old = load i32, ptr %state\n%new = add i32 %old, 1\n"
                                        "store i32 %new, ptr %state"),
                              32),
            0u);
}

TEST(WarpJamPass, AtomicsAreDoneForEachWarp) {
  std::string text = warp_loop("%old = atomicrmw add ptr %p, i32 1 monotonic");
  EXPECT_EQ(sums_side_by_side(text, 32), 4u);
}

}  // namespace
}  // namespace simt_test
