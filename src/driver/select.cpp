#include "driver/select.h"

#include <atomic>
#include <charconv>
#include <cstring>

#include "base/log.h"
#include "base/text.h"

namespace td::driver {

namespace {

std::atomic<bool (*)(DeviceState&, std::string*)> device_check{nullptr};

// The check without a compiler: bytes go to the device, through a copy on it, and come back.
bool memory_round_trip(DeviceState& device, std::string* why) {
  constexpr std::size_t kCount = 64;
  unsigned sent[kCount], received[kCount] = {};
  for (unsigned i = 0; i < kCount; ++i) sent[i] = i * 2654435761u + 1;
  device.make_current();
  CUdeviceptr memory = 0;
  TD_CALL(device, cuMemAlloc, &memory, 2 * sizeof sent);
  TD_CALL(device, cuMemcpyHtoD, memory, sent, sizeof sent);
  TD_CALL(device, cuMemcpyDtoD, memory + sizeof sent, memory, sizeof sent);
  TD_CALL(device, cuMemcpyDtoH, received, memory + sizeof sent, sizeof sent);
  TD_CALL(device, cuMemFree, memory);
  if (std::memcmp(sent, received, sizeof sent) == 0) return true;
  *why = "data came back changed from the device's memory";
  return false;
}

bool works(DeviceState& device, std::string* why) {
  auto* check = device_check.load();
  try {
    return check ? check(device, why) : memory_round_trip(device, why);
  } catch (const std::exception& error) {
    *why = error.what();
    return false;
  }
}

// The GPU, or null and the reason.
std::shared_ptr<DeviceState> working_gpu(std::string* why) {
  const Provider& nvidia = nvidia_provider();
  if (!nvidia.usable()) {
    *why = nvidia.problem;
    return nullptr;
  }
  try {
    std::shared_ptr<DeviceState> gpu = DeviceState::get(nvidia, 0);
    // Current during the check, which must not ask for the choice that it is part of.
    auto before = exchange_current_device(gpu);
    const bool good = works(*gpu, why);
    exchange_current_device(std::move(before));
    if (good) return gpu;
    *why = gpu->name() + " failed its check: " + *why;
  } catch (const Error& error) {
    *why = error.what();
  }
  return nullptr;
}

std::shared_ptr<DeviceState> select_auto() {
  std::string why;
  if (std::shared_ptr<DeviceState> gpu = working_gpu(&why)) return gpu;
  const Provider& software = software_provider();
  if (!software.usable())
    throw DriverError(base::cat("there is no usable device. NVIDIA GPU: ", why,
                                ". Software device: ", software.problem),
                      cuda::CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "cuInit");
  std::shared_ptr<DeviceState> device = DeviceState::get(software, 0);
  base::log_once(
      base::LogLevel::warn,
      base::cat("running on the software device, ", device->name(), " (no usable NVIDIA GPU: ", why,
                "). TREADLE_DEVICE=soft chooses it without this line."));
  return device;
}

[[noreturn]] void bad_name(std::string_view name) {
  throw ValueError(
      base::cat("\"", name, "\" names no device; use auto, cuda, cuda:N, soft or soft:N"));
}

}  // namespace

void set_device_check(bool (*check)(DeviceState&, std::string*)) { device_check = check; }

std::shared_ptr<DeviceState> select_device(std::string_view name) {
  if (name == "auto" || name.empty()) {
    // Decided once: the check runs a kernel. A failure is not kept, so that a later call can find a
    // repaired machine.
    static const std::shared_ptr<DeviceState>& chosen =
        *new std::shared_ptr<DeviceState>(select_auto());
    return chosen;
  }
  std::string_view prefix = name.substr(0, name.find(':'));
  int ordinal = 0;
  if (prefix.size() != name.size()) {
    std::string_view digits = name.substr(prefix.size() + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
    if (error != std::errc() || end != digits.data() + digits.size() || ordinal < 0) bad_name(name);
  }
  if (prefix == "cuda") return DeviceState::get(nvidia_provider(), ordinal);
  if (prefix == "soft") return DeviceState::get(software_provider(), ordinal);
  bad_name(name);
}

}  // namespace td::driver
