// Modules and kernels on a real device: names, instances, shapes and limits, shared memory, order
// against array work.
#include <atomic>
#include <thread>

#include "support.h"

namespace {

using namespace td;
using namespace td::test;

class Kernels : public LaunchTest {};

const char* const kAdd = R"(
extern "C" __global__ void vector_add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
)";

TEST_F(Kernels, VectorAddOfEveryLength) {
  Kernel add(kAdd, "vector_add");
  for (int n : {1, 255, 256, 257, 10003}) {
    std::vector<float> a, b;
    for (int i = 0; i < n; ++i) a.push_back(0.5f * i), b.push_back(1000.0f - i);
    Array out = full({n}, -7777.0, td::float32);  // poison
    add.launch({.grid = {static_cast<unsigned>((n + 255) / 256)}, .block = {256}}, on_device(a),
               on_device(b), out, n);
    std::vector<float> result = on_host<float>(out);
    for (int i = 0; i < n; ++i) ASSERT_EQ(result[i], a[i] + b[i]) << n << " " << i;
  }
}

TEST_F(Kernels, ParametersAreKnown) {
  Kernel add(kAdd, "vector_add");
  const auto& params = add.params();
  ASSERT_EQ(params.size(), 4u);
  EXPECT_EQ(params[0].name, "a");
  EXPECT_EQ(params[0].type, "const float*");
  EXPECT_EQ(params[0].kind, ParamInfo::Kind::pointer);
  EXPECT_EQ(params[0].dtype, DType::float32);
  EXPECT_TRUE(params[0].pointee_const);
  EXPECT_FALSE(params[2].pointee_const);
  EXPECT_EQ(params[3].kind, ParamInfo::Kind::scalar);
  EXPECT_EQ(params[3].size, 4u);
  EXPECT_EQ(params[3].offset, 24u);
  EXPECT_EQ(add.name(), "vector_add");
  EXPECT_GE(add.attribute(0), 256);  // MAX_THREADS_PER_BLOCK
}

TEST_F(Kernels, NamesAreLookedUp) {
  Module module(R"(
    extern "C" __global__ void plain(int* o) { o[0] = 1; }
    namespace ns { __global__ void inner(int* o) { o[0] = 2; } }
    template <class T> __global__ void instance(T* o, T v) { o[0] = v; }
    __global__ void twice(int* o) { o[0] = 3; }
    __global__ void twice(float* o) { o[0] = 3; }
    __device__ int counter = 41;
    __constant__ double table[16];
  )",
                {.name_expressions = {"instance<int>", "instance<float>"}});
  Array o = zeros({1}, td::int32);
  module.get("plain").launch({}, o);
  EXPECT_EQ(on_host<int>(o)[0], 1);
  module.get("ns::inner").launch({}, o);
  EXPECT_EQ(on_host<int>(o)[0], 2);
  module.get("instance<int>").launch({}, o, 7);
  EXPECT_EQ(on_host<int>(o)[0], 7);
  EXPECT_THROW(module.get("instance<float>").launch({}, o, 7.0f), TypeError);  // float* o
  std::string message = message_of<ValueError>([&] { module.get("plan"); });
  EXPECT_EQ(message.find("kernel.cu has no kernel 'plan'; it has "), 0u) << message;
  EXPECT_NE(message.find("plain"), std::string::npos) << message;
  message = message_of<ValueError>([&] { module.get("twice"); });
  EXPECT_NE(message.find("_Z5twicePf"), std::string::npos) << message;
  module.get("_Z5twicePi").launch({}, o);
  EXPECT_EQ(on_host<int>(o)[0], 3);
  EXPECT_THROW(module.get("instance<double>"), ValueError);
}

TEST_F(Kernels, GlobalsHaveAddressAndSize) {
  Module module(R"(
    extern "C" { __device__ int counter = 41; __constant__ double table[16]; }
    extern "C" __global__ void bump(int* o) { counter += 1; o[0] = counter; }
    extern "C" __global__ void read(int* o, const int* p) { o[0] = *p; }
  )");
  auto [address, bytes] = module.global("counter");
  EXPECT_EQ(bytes, sizeof(int));
  EXPECT_EQ(module.global("table").second, 16 * sizeof(double));
  Array o = zeros({1}, td::int32);
  module.get("bump").launch({}, o);
  module.get("bump").launch({}, o);
  EXPECT_EQ(on_host<int>(o)[0], 43);
  module.get("read").launch({}, o, address);
  EXPECT_EQ(on_host<int>(o)[0], 43);
  EXPECT_THROW(module.global("absent"), DriverError);
}

TEST_F(Kernels, AKernelNamesItsOwnInstance) {
  Kernel kernel("template <class T> __global__ void fill(T* o, T v) { o[threadIdx.x] = v; }",
                "fill<double>");
  Array o = zeros({4}, td::float64);
  kernel.launch({.block = {4}}, o, 2.5);
  EXPECT_EQ(on_host<double>(o), (std::vector<double>(4, 2.5)));
}

TEST_F(Kernels, WhatDoesNotCompileNamesTheUsersLine) {
  ModuleOptions options;
  options.file_name = "mine.py";
  options.first_line = 100;
  Kernel kernel("extern \"C\" __global__ void k(float* x) {\n  x[0] = missing;\n}", "k", options);
  try {
    kernel.launch({}, zeros({1}, td::float32));
    FAIL();
  } catch (const CompileError& error) {
    std::string what = error.what();
    EXPECT_NE(what.find("mine.py"), std::string::npos) << what;
    EXPECT_NE(what.find("101"), std::string::npos) << what;
    EXPECT_NE(what.find("missing"), std::string::npos) << what;
    EXPECT_NE(error.log.find("x[0] = missing"), std::string::npos) << error.log;
  }
}

struct Shape3 {
  Dim3 grid, block;
  const char* words;
};

TEST_F(Kernels, LimitsAreNamed) {
  Kernel kernel("extern \"C\" __global__ void k(int* o) { if (threadIdx.x == 0) o[0] = 1; }", "k");
  Array o = zeros({1}, td::int32);
  const Shape3 rows[] = {
      {{1},
       {1025},
       "block has 1025 threads, 1 more than this device's limit of 1024 (MAX_THREADS_PER_BLOCK)"},
      {{1},
       {32, 33},
       "block has 1056 threads, 32 more than this device's limit of 1024 (MAX_THREADS_PER_BLOCK)"},
      {{1},
       {1, 1, 65},
       "block dimension z is 65, 1 more than this device's limit of 64 (MAX_BLOCK_DIM_Z)"},
      {{1, 1, 65536},
       {1},
       "grid dimension z is 65536, 1 more than this device's limit of 65535 (MAX_GRID_DIM_Z)"},
      {{1, 70000, 1},
       {1},
       "grid dimension y is 70000, 4465 more than this device's limit of 65535 (MAX_GRID_DIM_Y)"},
      {{0}, {1}, "grid dimension x is 0: nothing would run; skip the launch for empty input"},
      {{1}, {1, 0}, "block dimension y is 0: nothing would run"},
      {{1}, {0x80000000u, 2}, "block has 4294967296 threads"},
  };
  for (const Shape3& row : rows) {
    std::string message =
        message_of<ValueError>([&] { kernel.launch({.grid = row.grid, .block = row.block}, o); });
    EXPECT_EQ(message.find("kernel 'k': " + std::string(row.words)), 0u) << message;
  }
  EXPECT_EQ(on_host<int>(o)[0], 0);
  kernel.launch({.block = {1024}}, o);  // nothing was harmed
  EXPECT_EQ(on_host<int>(o)[0], 1);
}

TEST_F(Kernels, LaunchBoundsAreTheKernelsOwnLimit) {
  Kernel kernel("extern \"C\" __global__ void __launch_bounds__(64) k(int* o) { o[0] = 1; }", "k");
  Array o = zeros({1}, td::int32);
  EXPECT_EQ(kernel.attribute(0), 64);
  std::string message = message_of<ValueError>([&] { kernel.launch({.block = {65}}, o); });
  EXPECT_NE(message.find("65 threads, 1 more than this kernel's limit of 64"), std::string::npos)
      << message;
  kernel.launch({.block = {64}}, o);
  EXPECT_EQ(on_host<int>(o)[0], 1);
}

const char* const kReverse = R"(
extern "C" __global__ void reverse(int* o, int last) {
  extern __shared__ int room[];
  for (int i = threadIdx.x; i <= last; i += blockDim.x) room[i] = i;
  __syncthreads();
  for (int i = threadIdx.x; i <= last; i += blockDim.x) o[i] = room[last - i];
}
)";

TEST_F(Kernels, DynamicSharedMemoryUpToTheDevicesLimit) {
  Kernel kernel(kReverse, "reverse");
  for (int kib : {1, 48, 60, 100}) {
    int count = kib * 256;
    Array o = zeros({count}, td::int32);
    kernel.launch({.block = {128}, .shared = static_cast<std::size_t>(kib) * 1024}, o, count - 1);
    std::vector<int> result = on_host<int>(o);
    for (int i = 0; i < count; ++i) ASSERT_EQ(result[i], count - 1 - i) << kib;
  }
  auto most = static_cast<std::size_t>(
      Device::current().attribute(97));  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
  Array o = zeros({1}, td::int32);
  std::string message = message_of<ValueError>([&] { kernel.launch({.shared = most + 1}, o, 0); });
  EXPECT_NE(message.find("dynamic shared memory, 1 more than the " + std::to_string(most)),
            std::string::npos)
      << message;
}

TEST_F(Kernels, LazyWorkKeepsItsPlaceBeforeALaunch) {
  Kernel fill(
      "extern \"C\" __global__ void fill(double* o, double v, int n) { if (threadIdx.x < n) "
      "o[threadIdx.x] = v; }",
      "fill");
  Array a = on_device(std::vector<double>{1, 2, 3, 4});
  const Operand sum[] = {a, a};
  Array before = td::apply(Op::add, sum);     // pending, reads a
  fill.launch({.block = {32}}, a, 100.0, 4);  // overwrites a
  Array after = td::apply(Op::add, sum);
  EXPECT_EQ(on_host<double>(before), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(on_host<double>(after), (std::vector<double>(4, 200.0)));
}

TEST_F(Kernels, ManyThreadsShareOneKernel) {
  Kernel add(kAdd, "vector_add");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> a(1000, static_cast<float>(t)), b(1000, 0.5f);
      for (int round = 0; round < 20; ++round) {
        Array out = full({1000}, -1.0, td::float32);
        add.launch({.grid = {4}, .block = {256}}, on_device(a), on_device(b), out, 1000);
        for (float value : on_host<float>(out)) wrong += value != static_cast<float>(t) + 0.5f;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Kernels, EmptyArraysAreNull) {
  Kernel kernel("extern \"C\" __global__ void k(int* o, const float* p) { o[0] = p == nullptr; }",
                "k");
  Array o = zeros({1}, td::int32);
  kernel.launch({}, o, empty({0}, td::float32));
  EXPECT_EQ(on_host<int>(o)[0], 1);
}

}  // namespace
