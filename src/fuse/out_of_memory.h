// What becomes of a kernel that memory did not suffice for.
#pragma once

#include "fuse/program.h"

namespace td::fuse {

// Called while an OutOfMemory is being handled: launches what of the program memory suffices for.
// Stores whose memory cannot be had, or whose operands failed before, fail: their storages say so
// at every use. Values in the same kernel that have nothing to do with them are computed.
void launch_what_fits(driver::DeviceState& device, CUstream stream, Program& program);

}  // namespace td::fuse
