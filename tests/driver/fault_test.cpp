// A kernel that faults spoils its context for good: every later call reports it, a fresh process is
// clean, and a reset brings the device back where the driver can. Each fault happens in a process
// of its own.
#include <set>

#include "child.h"
#include "support.h"

namespace td::test {
namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void store(unsigned long long address) { *(int*)address = 1; }
extern "C" __global__ void load(unsigned long long address, int* out) { *out = *(int*)address; }
extern "C" __global__ void stop() { __trap(); }
extern "C" __global__ void fine(int* out) { out[threadIdx.x] = threadIdx.x; }
)";

class Fault : public DriverTest {
 protected:
  CUresult launch(const char* name, std::vector<void*> params, unsigned threads = 1) {
    return api().cuLaunchKernel(function_of(kSource, name), 1, 1, 1, threads, 1, 1, 0, nullptr,
                                params.data(), nullptr);
  }
  // The whole life after a fault; `expected` are the codes allowed at the first synchronisation.
  void live_with(const std::set<CUresult>& expected);
};

void Fault::live_with(const std::set<CUresult>& expected) {
  CUresult result = api().cuCtxSynchronize();
  ASSERT_TRUE(expected.count(result)) << result;
  EXPECT_EQ(api().cuCtxSynchronize(), result) << "the fault is sticky";
  CUdeviceptr address = 0;
  EXPECT_EQ(api().cuMemAlloc(&address, 16), result);
  EXPECT_EQ(api().cuStreamSynchronize(nullptr), result);
  try {
    Device(device()).synchronize();
    FAIL() << "synchronize did not report the fault";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code, result);
    std::string text = error.what();
    EXPECT_NE(text.find(driver::result_name(result)), std::string::npos) << text;
    std::printf("message: %s\n", text.c_str());
  }
  std::uint64_t generation = device()->generation();
  try {
    Device(device()).reset();
  } catch (const DriverError& error) {
    ASSERT_FALSE(provider().software) << error.what();
    EXPECT_NE(std::string(error.what()).find("start a new one"), std::string::npos) << error.what();
    std::printf("reset: refused, with the cure\n");
    return;
  }
  EXPECT_EQ(device()->generation(), generation + 1);
  Buffer out(64 * 4);
  CUdeviceptr pointer = out;
  ASSERT_EQ(launch("fine", {&pointer}, 64), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<int>(out, 64)[63], 63);
  std::printf("reset: the device works again\n");
}

TEST_F(Fault, DISABLED_StoreToLowAddress) {
  Buffer* held = new Buffer(1000);  // dies with the context
  CUdeviceptr inside = *held;
  unsigned long long address = 8;
  ASSERT_EQ(launch("store", {&address}), cuda::CUDA_SUCCESS);
  CUresult synced = api().cuCtxSynchronize();
  EXPECT_EQ(api().cuMemFree(inside), synced) << "freeing reports the fault as well";
  live_with({cuda::CUDA_ERROR_ILLEGAL_ADDRESS});
}

TEST_F(Fault, DISABLED_LoadFarOutside) {
  CUdeviceptr out = 0;
  ASSERT_EQ(api().cuMemAlloc(&out, 4), cuda::CUDA_SUCCESS);
  unsigned long long address = out + (1ull << 38);
  ASSERT_EQ(launch("load", {&address, &out}), cuda::CUDA_SUCCESS);
  live_with({cuda::CUDA_ERROR_ILLEGAL_ADDRESS});
}

TEST_F(Fault, DISABLED_Trap) {
  ASSERT_EQ(launch("stop", {}), cuda::CUDA_SUCCESS);
  live_with({cuda::CUDA_ERROR_LAUNCH_FAILED, cuda::CUDA_ERROR_ILLEGAL_INSTRUCTION});
}

// After a reset, handles made before know that they are dead.
TEST_F(Fault, DISABLED_HandlesAfterReset) {
  auto state = device();
  driver::Memory memory(state, 1000, nullptr);
  driver::PinnedMemory pinned(state, 1000);
  driver::LoadedModule module(state, image_of(kSource));
  Stream stream = Stream::create(Device(state));
  Event event = Event::create(Device(state));
  Device(state).reset();
  EXPECT_FALSE(memory.alive());
  EXPECT_FALSE(module.alive());
  EXPECT_THROW(memory.address(), DriverError);
  EXPECT_THROW(module.function("fine"), DriverError);
  EXPECT_THROW(stream.synchronize(), DriverError);
  EXPECT_THROW(event.done(), DriverError);
  EXPECT_EQ(state->pool().statistics().used, 0u);
  driver::Memory again(state, 1000, nullptr);
  EXPECT_NE(again.address(), 0u);
  std::printf("reset: the device works again\n");
}

struct ChildRow {
  const char* test;
  const char* name;
};
constexpr ChildRow kChildren[] = {
    {"Fault.DISABLED_StoreToLowAddress", "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {"Fault.DISABLED_LoadFarOutside", "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {"Fault.DISABLED_Trap", "CUDA_ERROR_"},
};

TEST_F(Fault, StickyAndRecovered) {
  for (const ChildRow& row : kChildren) {
    ChildResult child = run_child(row.test);
    EXPECT_EQ(child.status, 0) << row.test << "\n" << child.output;
    EXPECT_NE(child.output.find(std::string("message: ")), std::string::npos) << child.output;
    EXPECT_NE(child.output.find(row.name), std::string::npos) << child.output;
    EXPECT_NE(child.output.find("reset: "), std::string::npos) << child.output;
  }
  EXPECT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS) << "another process is clean";
}

TEST_F(Fault, HandlesKnowThatTheyAreDead) {
  ChildResult child = run_child("Fault.DISABLED_HandlesAfterReset");
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_NE(child.output.find("reset: the device works again"), std::string::npos) << child.output;
}

// A healthy context can be reset in this process, on every provider.
TEST_F(Fault, ResetOfAHealthyContext) {
  std::uint64_t before = device()->generation();
  Device(device()).reset();
  EXPECT_EQ(device()->generation(), before + 1);
  Buffer out(64 * 4);
  CUdeviceptr pointer = out;
  ASSERT_EQ(launch("fine", {&pointer}, 64), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<int>(out, 64)[5], 5);
}

}  // namespace
}  // namespace td::test
