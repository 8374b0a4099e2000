// Kernels from an expression, graphs and memory by hand, through the public C++ API.
#include "treadle/graph.h"
#include "treadle/memory.h"
#include "treadle/user_kernel.h"

#include "support.h"

namespace {

using namespace td;
using namespace td::test;

class UserKernels : public LaunchTest {};

TEST_F(UserKernels, ElementsOfAnyLayout) {
  ElementwiseKernel add("T x, T y", "T z", "z = x + 10 * y", {.name = "add"});
  std::vector<float> host;
  for (int i = 0; i < 12; ++i) host.push_back(static_cast<float>(i));
  Array x = on_device(host, {3, 4});
  KernelArg args[] = {x.reshape({4, 3}), x.T()};
  std::vector<float> result = on_host<float>(add(args)[0]);
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 3; ++c)
      EXPECT_EQ(result[r * 3 + c], host[r * 3 + c] + 10 * host[c * 4 + r]);
  EXPECT_EQ(add.codes().size(), 1u);
}

TEST_F(UserKernels, ErrorsNameTheParameterAndTheExpression) {
  ElementwiseKernel add("T x, T y", "T z", "z = x + y", {.name = "add"});
  KernelArg mixed[] = {ones({3}, td::float32), ones({3}, td::float64)};
  EXPECT_NE(message_of<TypeError>([&] { add(mixed); }).find("parameter 'y'"), std::string::npos);
  ElementwiseKernel broken("T x", "T z", "z = nobody", {.name = "broken"});
  KernelArg one[] = {ones({3}, td::float32)};
  std::string message = message_of<CompileError>([&] { broken(one); });
  EXPECT_NE(message.find("operation of kernel 'broken'"), std::string::npos) << message;
}

TEST_F(UserKernels, ReductionOverAxes) {
  ReductionKernel sum("T x", "T y", "x", "a + b", "y = a", "0", {.name = "sum"});
  Array x = arange(2000, td::int32).reshape({40, 50});
  KernelArg args[] = {x};
  std::vector<int> rows = on_host<int>(sum(args, {.axes = Axes{1}})[0]);
  ASSERT_EQ(rows.size(), 40u);
  for (int r = 0; r < 40; ++r) EXPECT_EQ(rows[r], 50 * (50 * r) + 49 * 25);
  EXPECT_EQ(std::get<std::int64_t>(sum(args)[0].item()), 1999 * 1000);
}

TEST_F(UserKernels, GraphReplaysAndKeepsItsMemory) {
  Stream stream = create_stream(Device::current(), true, 0), before = Stream::current();
  Array x = ones({1000}, td::float32), out = zeros({1000}, td::float32);
  ElementwiseKernel scale("T x", "T z", "z = 2 * x", {.name = "scale"});
  Device::current().synchronize();
  stream.use();
  begin_capture(stream);
  KernelArg first[] = {x};
  Array middle = scale(first)[0];
  KernelArg second[] = {middle, out};
  scale(second);
  middle = Array();
  Graph graph = end_capture(stream);
  Array other = full({1000}, 7.0, td::float32);
  other.flush();
  graph.launch(stream);
  stream.synchronize();
  before.use();
  EXPECT_EQ(on_host<float>(out)[999], 4.0f);
  EXPECT_EQ(on_host<float>(other)[0], 7.0f);
  EXPECT_GT(graph.node_count(), 0u);
}

TEST_F(UserKernels, PoolsAndArraysOverMemory) {
  MemoryPools pools;
  pools.set_limit(64u << 20);
  {
    DeviceMemory first = pools.allocate(32u << 20);
  }
  DeviceMemory memory = pools.allocate(48u << 20);  // cupy/cupy#7678
  EXPECT_LE(pools.info().used + pools.info().cached, 64u << 20);
  EXPECT_THROW(pools.allocate(48u << 20), OutOfMemory);
  Array array = array_over(memory, 16, {5}, td::float32);
  array.fill(3.0);
  EXPECT_EQ(on_host<float>(array)[4], 3.0f);
  EXPECT_EQ(array.data(), memory.address() + 16);
  EXPECT_THROW(array_over(memory, 0, {1 << 28}, td::float32), ValueError);
  push_allocator([&](std::size_t bytes) { return pools.allocate(bytes); });
  std::size_t used = pools.info().used;
  Array mine = ones({1000}, td::float64);
  pop_allocator();
  mine.flush();
  EXPECT_GE(pools.info().used, used + 8000);
}

}  // namespace
