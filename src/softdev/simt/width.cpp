#include "softdev/simt/width.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "softdev/simt/builtins.h"
#include "softdev/simt/shape.h"

namespace td::softdev::simt {

using namespace llvm;

bool uses_thread_y(const Function& kernel) {
  for (const Instruction& instruction : instructions(kernel))
    if (auto* call = dyn_cast<CallInst>(&instruction))
      if (const BuiltinRow* row = find_builtin(*call); row && row->kind == Builtin::thread_y)
        return true;
  return false;
}

namespace {

// A rough count of 32-bit values that are alive in one block: decides how many lanes fit into the
// registers.
unsigned register_pressure(const Function& kernel) {
  unsigned most = 0;
  for (const BasicBlock& block : kernel) {
    DenseMap<const Instruction*, unsigned> last_use;
    unsigned position = 0;
    for (const Instruction& instruction : block) {
      ++position;
      for (const Use& use : instruction.operands())
        if (auto* value = dyn_cast<Instruction>(use.get()); value && value->getParent() == &block)
          last_use[value] = position;
    }
    SmallVector<unsigned> ends;
    position = 0;
    for (const Instruction& instruction : block) {
      ++position;
      erase_if(ends, [&](unsigned end) { return end <= position; });
      if (!instruction.getType()->isFloatingPointTy() || !last_use.count(&instruction)) continue;
      ends.push_back(last_use[&instruction]);
      most = std::max<unsigned>(most, ends.size());
    }
  }
  return most;
}

// Cycles of one iteration of a loop for one thread, by what was measured on loops over sparse rows:
// a gather costs more than a scalar load, everything else a fraction of a scalar instruction; lanes
// that have left the loop wait for the last one.
bool is_better_scalar(const Loop& loop, const Shapes& shapes) {
  double gathers = 0, others = 0;
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block) {
      const Value* pointer = getLoadStorePointerOperand(&instruction);
      if (isa<CallInst>(instruction) && !isa<IntrinsicInst>(instruction)) return false;
      if (pointer && shapes.of(pointer).kind == Shape::varying)
        ++gathers;
      else if (!isa<PHINode, CastInst, GetElementPtrInst, BranchInst>(instruction))
        ++others;
    }
  constexpr double gather = 1.4, lane = 0.1, scalar = 0.3, waiting = 1.5;
  return waiting * (gather * gathers + lane * others) > scalar * (gathers + others) + 1;
}

// The inner loops run a different number of times in each thread and mostly gather.
bool is_better_scalar(Function& kernel) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  if (loops.empty()) return false;
  Shapes shapes(kernel, {ThreadLayout::row, 16, 0, true, false}, dominators, loops);
  bool found = false;
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost()) continue;
    if (!shapes.diverges(loop) || !is_better_scalar(*loop, shapes)) return false;
    found = true;
  }
  return found;
}

}  // namespace

// As many lanes as the values need registers for, the code stays small with, and rows have threads.
unsigned choose_width(const KernelContext& kernel) {
  if (!kernel.has_barrier && is_better_scalar(*kernel.thread)) return 1;
  unsigned size = kernel.thread->getInstructionCount(),
           pressure = register_pressure(*kernel.thread);
  unsigned width = size > 400 || pressure > 7 ? 8 : size > 120 || pressure > 3 ? 16 : 32;
  // Twice as many registers of twice the size.
  if (kernel.has_avx512) width = size > 800 || pressure > 14 ? 16 : 32;
  // A block whose size is not known: rows of two-dimensional ones are often 16 long.
  unsigned row = kernel.has_fixed_block()        ? kernel.block[0]
                 : uses_thread_y(*kernel.thread) ? 16
                                                 : 32;
  while (width > 8 && width > row) width /= 2;
  return width;
}

}  // namespace td::softdev::simt
