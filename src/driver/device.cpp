#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "driver/select.h"
#include "driver/state.h"
#include "treadle/device.h"

namespace td {

using driver::DeviceState;

Device Device::current() { return Device(driver::current_device()); }

Device Device::from_name(std::string_view name) { return Device(driver::select_device(name)); }

std::vector<Device> Device::all() {
  std::vector<Device> devices;
  for (const driver::Provider* provider :
       {&driver::nvidia_provider(), &driver::software_provider()})
    for (int i = 0; provider->usable() && i < provider->device_count; ++i)
      devices.push_back(Device(DeviceState::get(*provider, i)));
  return devices;
}

void Device::use() const {
  driver::set_current_device(state_);
  state_->make_current();
}

std::string Device::name() const { return state_->name(); }

std::string Device::description() const {
  char text[256] = {};
  TD_CALL(*state_, cuDeviceGetName, text, sizeof text, state_->handle());
  return text;
}

std::string Device::evidence() const { return state_->provider().evidence; }

bool Device::is_software() const { return state_->provider().software; }

int Device::ordinal() const { return state_->ordinal(); }

int Device::attribute(int cuda_attribute) const { return state_->attribute(cuda_attribute); }

std::pair<int, int> Device::compute_capability() const {
  return {attribute(cuda::COMPUTE_CAPABILITY_MAJOR), attribute(cuda::COMPUTE_CAPABILITY_MINOR)};
}

MemoryInfo Device::memory() const {
  MemoryInfo info;
  state_->make_current();
  TD_CALL(*state_, cuMemGetInfo, &info.free, &info.total);
  return info;
}

std::size_t Device::limit(int cuda_limit) const {
  std::size_t value = 0;
  state_->make_current();
  TD_CALL(*state_, cuCtxGetLimit, &value, cuda_limit);
  return value;
}

void Device::set_limit(int cuda_limit, std::size_t value) const {
  state_->make_current();
  TD_CALL(*state_, cuCtxSetLimit, cuda_limit, value);
}

void Device::synchronize() const {
  driver::flush_pending(*state_);
  state_->make_current();
  TD_CALL(*state_, cuCtxSynchronize);
}

void Device::reset() const { state_->reset(); }

}  // namespace td
