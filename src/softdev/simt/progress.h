// Which kernels need fair mode (kernel_abi.h), decided from the code alone: a launch that makes no
// progress cannot be run again, since it has had effects.
//
// Vector code runs the lanes of a warp together: lanes that leave a loop wait for those that stay,
// and one arm of a divergent branch is run before the other. That is right unless lanes wait for
// one another. The rule:
//
// A *waiting loop* is one that lanes leave depending on what they read in it at an address that may
// be the same in the next round, by a volatile or atomic access which by itself changes nothing for
// good: a volatile load, a compare-and-swap whose expected value is fixed, an exchange, and the
// like. Not waiting are loops in which somebody gets ahead in each round: the retry of a
// compare-and-swap whose expected value was read before, a fetch-and-add, a probe of one place
// after the other, and loops that themselves write back to the place they wait for (a lock released
// in the loop).
//
// threads, when
//  - a barrier lies in control flow that lanes may take differently, other than by returning;
//  - lanes outside of a waiting loop (that have left it, or took the other way at a branch before
//    it) may write memory that it reads, before they meet the waiting lanes at a barrier or at a
//    warp-level operation with a full mask: the spin lock;
//  - both ways of a divergent branch have warp-level operations with one and the same mask;
//  - a function that is called and cannot be inlined has barriers or warp-level operations;
//  - vector code cannot be made of it (emit_*.cpp refuse it).
// warps, when there are other waiting loops (on other warps, on other blocks), named barriers, or a
// grid barrier.
// none, otherwise.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>

#include "softdev/simt/functions.h"
#include "softdev/simt/lower.h"

namespace td::softdev::simt {

struct Progress {
  Fairness in_rows = Fairness::none, elsewhere = Fairness::none;
  // Headers of loops that must yield in each round.
  llvm::SmallPtrSet<const llvm::BasicBlock*, 4> waiting;
  // Each warp needs a stack of its own: it may be held up elsewhere than at a barrier of all.
  bool separate_warps = false;
};

// Lanes that come here are on a bare way out of the kernel: nobody waits for them.
bool only_returns(const llvm::BasicBlock* block);
Progress find_progress(llvm::Function& kernel, const KeptFunctions& kept);
// Headers of the waiting loops of one function; loops that call functions count.
llvm::SmallPtrSet<const llvm::BasicBlock*, 4> find_waiting_loops(llvm::Function& function);

}  // namespace td::softdev::simt
