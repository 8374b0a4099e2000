// The last IR pass: masks of <N x i1> that are combined or live for long become <N x i32> with all
// bits of a lane equal.
#pragma once

#include <llvm/IR/Module.h>

namespace td::softdev::simt {

void lower_masks(llvm::Module& host, bool has_avx);

}  // namespace td::softdev::simt
