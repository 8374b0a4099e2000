// The kernel of an element-wise program that is not loaded yet: it came with the package, is in the
// disk cache, has been compiled in the background, or has to be compiled.
#pragma once

#include <functional>
#include <string>

#include "fuse/kernel_cache.h"
#include "fuse/program.h"

namespace td::fuse {

// The kernel under `key`, of which `print` gives the text. Null when the program has been launched
// as one kernel for each of its steps instead, while the background thread compiles its own.
const LoadedKernel* load_map_kernel(driver::DeviceState& device, CUstream stream,
                                    const Program& program, const std::string& key,
                                    const std::function<std::string()>& print);

// The kernel where that takes no compiler, else null.
const LoadedKernel* load_made_kernel(driver::DeviceState& device, const std::string& key,
                                     const compile::Source& source);

}  // namespace td::fuse
