#include <climits>
#include <map>
#include <tuple>

#include "base/text.h"
#include "driver/call_counts.h"
#include "driver/state.h"
#include "driver/transfer.h"

namespace td::driver {

namespace {

std::mutex registry_mutex;

}  // namespace

std::shared_ptr<DeviceState> DeviceState::get(const Provider& provider, int ordinal) {
  // Leaked: handles may be destroyed after static objects are (interpreter exit), and they all lead
  // here.
  static auto& registry =
      *new std::map<std::pair<const Provider*, int>, std::shared_ptr<DeviceState>>;
  std::lock_guard lock(registry_mutex);
  std::shared_ptr<DeviceState>& state = registry[{&provider, ordinal}];
  if (!state) state.reset(new DeviceState(provider, ordinal));
  return state;
}

DeviceState::DeviceState(const Provider& provider, int ordinal)
    : provider_(provider), api_(&provider.api), ordinal_(ordinal) {
  for (auto& value : attributes_) value.store(INT_MIN, std::memory_order_relaxed);
  const std::string name = base::cat(provider.prefix, ":", ordinal);
  if (!provider.usable())
    throw DriverError(base::cat("there is no device ", name, ": ", provider.problem),
                      cuda::CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "cuInit");
  if (ordinal < 0 || ordinal >= provider.device_count)
    throw DriverError(
        base::cat("there is no device ", name, ": the machine has ", provider.device_count,
                  " device", provider.device_count == 1 ? "" : "s", " of this kind; use ",
                  provider.prefix, ":0",
                  provider.device_count > 1
                      ? base::cat(" to ", provider.prefix, ":", provider.device_count - 1)
                      : ""),
        cuda::CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "cuDeviceGet");
  TD_CALL(*this, cuDeviceGet, &device_, ordinal);
  CUcontext context = nullptr;
  TD_CALL(*this, cuDevicePrimaryCtxRetain, &context, device_);
  context_ = context;
  pool_ = std::make_unique<MemoryPool>(*this);
  stager_ = std::make_unique<Stager>(*this);
}

DeviceState::~DeviceState() = default;

void DeviceState::count_calls(bool on) {
  api_.store(on ? &counting_api(provider_.api) : &provider_.api, std::memory_order_release);
}

std::string DeviceState::name() const { return base::cat(provider_.prefix, ":", ordinal_); }

void DeviceState::make_current() {
  // Asked each time: other libraries of the process may have switched contexts on this thread.
  CUcontext wanted = context_.load(std::memory_order_acquire);
  CUcontext current = nullptr;
  if (api().cuCtxGetCurrent(&current) == 0 && current == wanted) return;
  TD_CALL(*this, cuCtxSetCurrent, wanted);
}

int DeviceState::attribute(int attribute) {
  const bool cached = attribute >= 0 && attribute < static_cast<int>(attributes_.size());
  if (cached) {
    int value = attributes_[attribute].load(std::memory_order_relaxed);
    if (value != INT_MIN) return value;
  }
  int value = 0;
  check(*this, api().cuDeviceGetAttribute(&value, attribute, device_), "cuDeviceGetAttribute",
        base::cat("attribute ", attribute));
  if (cached) attributes_[attribute].store(value, std::memory_order_relaxed);
  return value;
}

void DeviceState::reset() {
  std::lock_guard lock(mutex_);
  // First the generation: from here on no old handle calls the driver any more.
  generation_.fetch_add(1, std::memory_order_acq_rel);
  pool_->forget();
  stager_->forget();
  launches_.clear();
  static const std::string kCure =
      "the context cannot be brought back in this process; start a new one";
  check(*this, api().cuDevicePrimaryCtxReset(device_), "cuDevicePrimaryCtxReset", kCure);
  CUcontext context = nullptr;
  check(*this, api().cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain",
        kCure);
  context_.store(context, std::memory_order_release);
  check(*this, api().cuCtxSetCurrent(context), "cuCtxSetCurrent", kCure);
}

}  // namespace td::driver
