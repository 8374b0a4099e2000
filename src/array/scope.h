// Makes an array's device the current one for the time of a call: everything that the call creates
// belongs there.
#pragma once

#include "array/impl.h"
#include "driver/state.h"

namespace td::array {

class OnDeviceOf {
 public:
  explicit OnDeviceOf(const Array& array) : before_(driver::current_device()) {
    const auto& device = array::view_of(array).storage->device();
    if (device != before_)
      driver::set_current_device(device);
    else
      before_ = nullptr;
  }
  ~OnDeviceOf() {
    if (before_) driver::set_current_device(std::move(before_));
  }
  OnDeviceOf(const OnDeviceOf&) = delete;
  OnDeviceOf& operator=(const OnDeviceOf&) = delete;

 private:
  std::shared_ptr<driver::DeviceState> before_;
};

}  // namespace td::array
