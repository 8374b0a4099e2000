// Which device a name means.
#pragma once

#include <memory>
#include <string_view>

#include "driver/state.h"

namespace td::driver {

// "cuda:0", "cuda", "soft:1", "soft", "auto". Throws ValueError for other text, DriverError where
// there is none.
std::shared_ptr<DeviceState> select_device(std::string_view name);

// Sets the calling thread's device and returns the one before, null where none was chosen yet.
std::shared_ptr<DeviceState> exchange_current_device(std::shared_ptr<DeviceState> device);

}  // namespace td::driver
