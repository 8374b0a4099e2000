// What the image promises to the stages behind it.
#include <malloc.h>

#include <fstream>
#include <thread>

#include "helpers.h"

namespace td::compile::test {
namespace {

const char* const kAdd =
    R"(extern "C" __global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
})";

TEST(Image, TargetKernelsAndNothingUnused) {
  const Image image(
      compile(std::string(kAdd) +
              "\n__device__ int unused(int x) { return x; }\n__device__ int kept = 3;"));
  EXPECT_EQ(image.module->getTargetTriple(), "nvptx64-nvidia-cuda");
  std::vector<std::string> bodies;
  for (const llvm::Function& function : *image.module) {
    if (!function.isDeclaration() && !function.hasLocalLinkage())
      bodies.push_back(function.getName().str());
    EXPECT_FALSE(function.hasFnAttribute(llvm::Attribute::OptimizeNone));
    EXPECT_FALSE(function.hasFnAttribute(llvm::Attribute::NoInline));
  }
  EXPECT_EQ(bodies, std::vector<std::string>{"add"});
  EXPECT_NE(image.module->getNamedGlobal("kept"), nullptr);
  EXPECT_EQ(image.module->getFunction("_Z6unusedi"), nullptr);
  // Three special registers and no other declaration but the markers of a variable's life.
  for (const llvm::Function& function : *image.module) {
    if (function.isDeclaration()) {
      EXPECT_TRUE(function.getName().starts_with("llvm.nvvm.read.ptx.sreg.") ||
                  function.getName().starts_with("llvm.lifetime."))
          << function.getName().str();
    }
  }
}

TEST(Image, LineTableNamesTheUsersFile) {
  ClangRequest request;
  request.source = kAdd;
  request.file_name = "folder/user.py";
  request.first_line = 100;
  ClangReply reply;
  td_cc_compile(request, reply);
  const Image image(reply);
  const llvm::Function* kernel = image.module->getFunction("add");
  ASSERT_NE(kernel->getSubprogram(), nullptr);
  EXPECT_EQ(kernel->getSubprogram()->getFilename(), "folder/user.py");
  EXPECT_EQ(kernel->getSubprogram()->getLine(), 100u);
}

TEST(Image, NothingIsContractedInsideExactOperations) {
  const Image image(
      compile("__global__ void k(float* p) { p[0] = __fadd_rn(__fmul_rn(p[1], p[2]), p[3]); }"));
  for (const llvm::Function& function : *image.module) {
    for (const llvm::BasicBlock& block : function) {
      for (const llvm::Instruction& instruction : block) {
        if (instruction.getOpcode() == llvm::Instruction::FMul ||
            instruction.getOpcode() == llvm::Instruction::FAdd) {
          EXPECT_FALSE(instruction.hasAllowContract());
        }
      }
    }
  }
}

TEST(Image, CommonConstructs) {
  const std::string text = Image(compile(R"(
extern __shared__ float dynamic[];
__constant__ float weights[4] = {1, 2, 3, 4};
__managed__ int counter;
__global__ void __launch_bounds__(128) k(float* p, unsigned* q) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = p[0] * weights[1] + dynamic[2];
  __syncthreads();
  atomicAdd(p, tile[1][2]);
  atomicInc(q, 7u);
  atomicCAS(q, 1u, 2u);
  counter = __syncthreads_count(p[1] > 0);
  p[2] = __shfl_xor_sync(0xffffffffu, p[3], 1);
  p[4] = expf(p[5]) + sqrtf(p[6]) + (int)p[7];
  if (p[0] > 1) __trap();
  printf("%d %f\n", 1, p[0]);
  assert(p[1] == 0);
})"))
                               .text();
  for (const char* part :
       {"addrspace(3) global [32 x [33 x float]]", "external addrspace(3) global [0 x float]",
        "addrspace(4) externally_initialized global [4 x float]", "@counter = addrspace(1)",
        "!\"maxntidx\", i32 128", "@llvm.nvvm.barrier0()", "atomicrmw fadd",
        "@llvm.nvvm.atomic.load.inc.32", "cmpxchg", "@llvm.nvvm.barrier0.popc",
        "@llvm.nvvm.shfl.sync.bfly.i32", "@__td_expf", "@llvm.sqrt.f32", "@llvm.fptosi.sat.i32.f32",
        "@llvm.trap", "@vprintf", "@__assertfail"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
}

// PTX: NaN becomes the sign bit alone when either side has 64 bits, else 0 (which LLVM's saturating
// form gives itself).
TEST(Image, ConversionOfNaN) {
  EXPECT_FALSE(contains(
      Image(compile("__global__ void k(float* p, int* q) { *q = (int)*p; }")).text(), "fcmp uno"));
  EXPECT_TRUE(
      contains(Image(compile("__global__ void k(double* p, int* q) { *q = (int)*p; }")).text(),
               "select i1 %"));
  EXPECT_TRUE(
      contains(Image(compile("__global__ void k(float* p, long* q) { *q = (long)*p; }")).text(),
               "i64 -9223372036854775808"));
}

TEST(Image, StandardHeaders) {
  const ClangReply reply = compile(R"(
#include <algorithm>
#include <assert.h>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <limits>
#include <math_constants.h>
#include <type_traits>
#include <utility>
static_assert(std::numeric_limits<int>::min() == INT_MIN && std::numeric_limits<int>::max() == INT_MAX, "");
static_assert(std::numeric_limits<signed char>::min() == -128 && std::numeric_limits<uint64_t>::max() == UINT64_MAX, "");
static_assert(std::numeric_limits<float>::max() == FLT_MAX && std::numeric_limits<double>::epsilon() == DBL_EPSILON, "");
static_assert(std::is_same_v<std::remove_reference_t<int&>, int> && std::is_same_v<std::decay_t<int[3]>, int*>, "");
static_assert(std::is_same_v<std::common_type_t<int, float, double>, double>, "");
static_assert(std::is_same_v<decltype(std::sqrt(3)), double> && std::is_same_v<decltype(pow(2.0f, 2.0f)), float>, "");
static_assert(std::is_same_v<decltype(atan2(1, 2.0f)), double> && std::is_same_v<decltype(fmin(1.0f, 2.0)), double>, "");
static_assert(sizeof(int64_t) == 8 && std::is_same_v<int64_t, long> && std::is_same_v<size_t, unsigned long>, "");
static_assert(sizeof(float3) == 12 && alignof(float4) == 16 && alignof(double2) == 16 && sizeof(char3) == 3, "");
static_assert(alignof(long3) == 8 && alignof(long2) == 16 && alignof(short4) == 8 && alignof(uchar2) == 2, "");
__global__ void k(float* p, std::uint8_t n) {
  dim3 all = blockDim;
  uint3 me = threadIdx;
  auto f = [=](int i) { return p[i] + CUDART_INF_F; };
  std::swap(p[0], p[1]);
  p[2] = std::max(p[3], f(4)) + std::abs(p[5]) + all.x + me.y + warpSize + std::min(n, std::uint8_t(3));
  int y0 = 3, j1 = y0;
  p[j1] = INFINITY;
})");
  EXPECT_TRUE(reply.ok) << reply.log;
}

std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmRSS:") {
      std::size_t value = 0;
      status >> value;
      return value;
    }
  }
  return 0;
}

TEST(Image, RepeatedCompilesDoNotGrow) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer keeps freed memory for a while";
#endif
  const auto once = [](int i) {
    EXPECT_TRUE(
        compile(std::string(kAdd) + "// " + std::to_string(i), {"-DX=" + std::to_string(i)}).ok);
    if (i % 10 == 0) {
      EXPECT_FALSE(compile("__global__ void k() { nonsense; }").ok);
    }
  };
  for (int i = 0; i < 50; ++i) once(i);
  malloc_trim(0);
  const std::size_t before = resident_kib();
  for (int i = 0; i < 300; ++i) once(i);
  malloc_trim(0);
  // Less than 20 KiB a compile would already be a leak of one small object; a kept AST is
  // megabytes.
  EXPECT_LT(resident_kib(), before + 300 * 20) << "KiB resident, " << before << " before";
}

TEST(Image, ThreadsCompileAtOnce) {
  const ClangReply alone = compile(kAdd);
  std::vector<ClangReply> replies(8);
  std::vector<std::thread> threads;
  for (ClangReply& reply : replies) threads.emplace_back([&reply] { reply = compile(kAdd); });
  for (std::thread& thread : threads) thread.join();
  for (const ClangReply& reply : replies) {
    EXPECT_TRUE(reply.ok) << reply.log;
    EXPECT_EQ(reply.image, alone.image);
  }
}

}  // namespace
}  // namespace td::compile::test
