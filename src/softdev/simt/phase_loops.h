// Phases without a dispatch: where all warps of a block go from one barrier to the same next one,
// the way between the two is a loop over the warps of its own.
//
//   loop of phase k:  for each warp w:  [setup]  reload  code from barrier k  save
//   then              on to the phase of the barrier that the warps have reached
//
// Each loop has its own copy of the code that follows its barrier, up to the next barriers. Which
// of them is reached may depend only on values that are the same in all warps (block_uniformity.h);
// those stay in registers from phase to phase. Of the others, cheap functions of the thread index
// are computed again, and the rest is saved for each warp.
#pragma once

#include <llvm/IR/Function.h>

namespace td::softdev::simt {

// Where it can be done, instead of split_phases and under the same conditions; afterwards stack
// slots have to be made into SSA values once more. False where it cannot.
bool split_into_loops(llvm::Function& function);

}  // namespace td::softdev::simt
