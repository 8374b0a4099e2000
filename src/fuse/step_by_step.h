// A fused element-wise program whose kernel is not compiled yet, launched as one kernel for each of
// its steps.
//
// The values have the same bits. A fused kernel computes each step by itself as well: the same body
// on the same dtypes, cast to the step's own dtype before anything reads it, without contraction;
// going through memory in between changes no bit of any dtype.
//
// The order of accesses is kept, too. A fused kernel reads all of its operands before it writes,
// and the steps run in the order of the program; so no step may read memory that an earlier one
// writes, but for that step's own value. Programs where one would are not split.
#pragma once

#include <optional>
#include <vector>

#include "fuse/program.h"

namespace td::fuse {

// The programs of the steps, in order, with memory for the values in between and their kernels
// loaded. Nothing where that is not possible, or no gain: a kernel of the steps is not compiled
// either, the passes over memory would take as long as the compiler, or there is no room for them.
std::optional<std::vector<Program>> split_into_steps(driver::DeviceState& device,
                                                     const Program& program);

}  // namespace td::fuse
