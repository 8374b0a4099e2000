// The real kernel check of TREADLE_DEVICE=auto: a device is taken only when a kernel that was
// compiled for it ran there and its result compared equal on the host. It uses the driver layer
// alone, so it disturbs neither the calling thread's current device nor its streams.
#include <numeric>

#include "base/text.h"
#include "launch/state.h"
#include "treadle/error.h"

namespace td::launch {

namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void td_check(const int* in, int* out, int n, int add) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3 * in[i] + add;
}
)";
constexpr int kLength = 1000;  // does not divide into blocks of 256
constexpr int kAdd = 7;

std::vector<int> run_check(driver::DeviceState& device, const std::vector<int>& input) {
  auto shared = device.shared_from_this();
  ModuleOptions options;
  options.file_name = "device check";
  ModuleState module(compile::Source{kSource, options});
  CUfunction function = module.loaded(shared)->function("td_check");
  driver::StreamState stream(shared, nullptr, false);
  const std::size_t bytes = input.size() * sizeof(int);
  driver::Memory in(shared, bytes, nullptr), out(shared, bytes, nullptr);
  driver::upload(stream, in.address(), input.data(), bytes);
  TD_CALL(device, cuMemsetD8, out.address(), 0xA5, bytes);
  CUdeviceptr in_address = in.address(), out_address = out.address();
  int length = kLength, add = kAdd;
  void* params[] = {&in_address, &out_address, &length, &add};
  device.make_current();
  TD_CALL(device, cuLaunchKernel, function, (kLength + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr,
          params, nullptr);
  std::vector<int> result(input.size());
  driver::download(stream, result.data(), out.address(), bytes);
  return result;
}

bool device_works(driver::DeviceState& device, std::string* why) {
  try {
    std::vector<int> input(kLength);
    std::iota(input.begin(), input.end(), -500);
    std::vector<int> result = run_check(device, input);
    for (int i = 0; i < kLength; ++i) {
      if (result[i] == 3 * input[i] + kAdd) continue;
      *why = base::cat("a test kernel ran, but element ", i, " is ", result[i], " instead of ",
                       3 * input[i] + kAdd);
      return false;
    }
    return true;
  } catch (const std::exception& error) {
    *why = error.what();
    return false;
  }
}

const bool installed = (driver::set_device_check(device_works), true);

}  // namespace

}  // namespace td::launch
