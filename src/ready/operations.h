// Which kernels are made with the package.
#pragma once

namespace td::ready {

// Carries out the operations whose kernels are worth having ready, on the current device, one after
// the other. What the arrays hold does not matter: only the kernels do (fuse/kernel_cache.h:
// list_kernels).
void run_common_operations();

}  // namespace td::ready
