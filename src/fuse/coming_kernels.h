// Kernels that are compiled in the background (base/background.h) while their work is done by
// slower means.
//
// The thread makes images; it loads nothing, so contexts and captures are left alone. An image is
// kept here until it is loaded, whether or not the disk cache has it too. A compilation that fails
// stays noted: whoever needs the kernel then compiles it himself and gets the error.
#pragma once

#include <memory>
#include <string>

#include "compile/compile.h"
#include "driver/state.h"

namespace td::fuse {

enum class Arrival : char {
  unknown,  // nobody has asked
  coming,   // asked for and not there yet
  here,     // collect_kernel() loads it at once
  failed,
};
Arrival arrival_of(driver::DeviceState& device, const std::string& key);

// Asks for an unknown kernel. False when so many are on their way that one more would come late.
bool ask_for_kernel(driver::DeviceState& device, const std::string& key, compile::Source source);

// The kernel's module, loaded by the calling thread; null when it is not there. One that is being
// made is waited for, one whose turn has not come is called off.
std::shared_ptr<driver::LoadedModule> collect_kernel(driver::DeviceState& device,
                                                     const std::string& key);

}  // namespace td::fuse
