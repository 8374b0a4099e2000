// Barriers without stacks: a block function in which every warp runs up to its next barrier, then
// the next warp.
//
// While it is built, the function has the shape (WarpLoop below)
//
//   round:   for each warp w:  [setup]  dispatch()  body … barrier() … body  finished
//
// split_phases turns each barrier() into: save what lives, note where to go on, next warp; and
// dispatch() into a jump to where warp w goes on. Rounds are repeated until every warp has
// finished. Since a round runs each unfinished warp exactly to its next barrier, a warp that has
// finished early is not waited for, as CUDA has it.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace td::softdev::simt {

// Calls that stand for the two places until the function is split. dispatch(i32 warp, i32 warps,
// ptr pending): the flag at `pending` becomes true when a warp stops at a barrier.
constexpr const char* phase_barrier_marker = "td.phase.barrier";
constexpr const char* phase_dispatch_marker = "td.phase.dispatch";

// Must run after the function's stack slots have become SSA values and before any other
// optimisation. The warp loop's latch is the block named "td.next"; a warp that ends goes through
// the block named "td.finished".
void split_phases(llvm::Function& function);
bool has_phases(const llvm::Function& function);

}  // namespace td::softdev::simt
