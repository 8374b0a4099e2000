// Kernels whose lanes count on running in lockstep.
//
// Lanes of a warp that hand values to one another through shared memory need a __syncwarp() between
// the write and the read. Much code has none and works on every GPU, since a warp that has not
// parted stays together. Vector code does the same when one vector is one warp; narrower vectors,
// which otherwise are free to run one after the other, would read what has not been written yet.
#pragma once

#include <llvm/IR/Function.h>

namespace td::softdev::simt {

// A lane may read a shared variable that another lane of its warp writes, before or after it, with
// no barrier and no warp-level operation on the way.
bool relies_on_lockstep(llvm::Function& kernel);

}  // namespace td::softdev::simt
