// Questions about all lanes of a comparison, answered by its first and last lane.
#pragma once

#include <llvm/IR/Function.h>

namespace td::softdev::simt {

// any(base + lane < limit) is base + 0 < limit when nothing wraps around: a scalar comparison
// instead of vectors and masks. Rewrites tests of whole masks for none and for all.
void simplify_lane_tests(llvm::Function& function);

}  // namespace td::softdev::simt
