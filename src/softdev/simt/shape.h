// How the values of a thread's function look across the lanes of a warp.
//
// A value is *uniform* (the same in every live lane), *offset* (a uniform base plus a compile-time
// constant for each lane) or *varying*. Offset values make contiguous addresses visible: they are
// computed once, as a scalar, for a lane whose offset is 0. That lane may be dead, so the scalar
// copy of an operation must not carry nsw, nuw, range or similar promises.
//
// The analysis is a fixpoint over data dependences, over joins of divergent branches (LLVM's sync
// dependence analysis) and over loops that lanes leave in different iterations.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <vector>

namespace td::softdev::simt {

// How threads of a block map to the lanes of the code that is being made.
struct ThreadLayout {
  enum Kind {
    row,     // lane l is thread (x0 + l, y, z)
    rows,    // x = l % row_length, y = y0 + l / row_length, z uniform
    linear,  // consecutive linear indices, nothing known about x, y, z
  };
  Kind kind = row;
  unsigned width = 32;
  unsigned row_length = 0;  // of `rows`: divides width
  bool may_assume = true;   // whoever runs the code checks assumptions() first
  bool warp_aligned =
      false;  // lane 0 is lane 0 of a warp of 32 threads; in `row`, x0 is a multiple of 32
  // LowerRequest::block: with it, blockIdx * blockDim + threadIdx stays below 2^31 on each axis.
  std::uint32_t block[3] = {0, 0, 0};
};

struct Shape {
  enum Kind { unknown, uniform, offset, varying };
  Kind kind = unknown;
  unsigned align = 0;          // known zero low bits of the (base) value
  bool constant_base = false;  // of offset: the base is 0, so the value is a constant of each lane
  llvm::SmallVector<std::int64_t, 0> lanes;  // of offset
  // Extensions that wrap around in no lane only as far as a run-time check says. Where it says no,
  // base + lanes is not the value, which must then be computed lane by lane.
  llvm::SmallVector<const llvm::CastInst*, 0> guards;
  bool operator==(const Shape& other) const {
    return kind == other.kind && align == other.align && constant_base == other.constant_base &&
           lanes == other.lanes && guards == other.guards;
  }
};

// A 32-bit (or narrower) integer that must not wrap around between lanes for a shape to hold.
struct NoWrap {
  const llvm::Value* value = nullptr;
  bool is_signed = false;
  bool operator==(const NoWrap&) const = default;
};

class Shapes {
 public:
  Shapes(llvm::Function& kernel, const ThreadLayout& layout, llvm::DominatorTree& dominators,
         llvm::LoopInfo& loops);

  const ThreadLayout& layout() const { return layout_; }
  Shape of(const llvm::Value* value) const;
  bool is_uniform(const llvm::Value* value) const { return of(value).kind == Shape::uniform; }
  // The block ends in a branch that lanes may take differently.
  bool diverges(const llvm::BasicBlock* block) const { return divergent_blocks_.count(block); }
  // Lanes may leave the loop in different iterations.
  bool diverges(const llvm::Loop* loop) const { return divergent_loops_.count(loop); }

  // Assumptions of the analysis on expressions of launch facts and parameters; to be checked before
  // the code runs.
  const std::vector<NoWrap>& assumptions() const { return assumed_; }
  // base + lane of this value wraps around in no live lane, whatever the launch.
  bool never_wraps(const llvm::Value* value, bool is_signed) const;
  // The value is an operand of a guarded one, so that it may be needed anywhere.
  bool is_kept(const llvm::Instruction* value) const { return kept_.count(value); }

  static bool is_entry_expression(const llvm::Value* value, unsigned depth = 0);

 private:
  Shape compute(const llvm::Instruction& instruction);
  Shape compute_phi(const llvm::PHINode& phi) const;
  Shape compute_call(const llvm::CallInst& call) const;
  Shape compute_binary(const llvm::BinaryOperator& op) const;
  Shape compute_extension(const llvm::CastInst& cast);
  Shape compute_address(const llvm::GetElementPtrInst& gep) const;
  Shape compute_compare(const llvm::ICmpInst& compare) const;
  Shape compute_select(const llvm::SelectInst& select) const;
  Shape generic(const llvm::Instruction& instruction) const;
  using Assumptions = llvm::SmallVector<NoWrap, 2>;
  bool never_wraps(const llvm::Value* value, bool is_signed, unsigned depth,
                   Assumptions& needed) const;
  bool inherently(const llvm::Value* value, bool is_signed, unsigned depth,
                  Assumptions& needed) const;
  unsigned row_align() const;
  bool is_global_index(const llvm::Instruction& sum) const;
  bool is_block_start(const llvm::Value* value, unsigned axis) const;
  bool update(const llvm::Instruction& instruction, Shape shape);
  Shape offsets(llvm::SmallVector<std::int64_t, 0> lanes, unsigned align, unsigned bits,
                bool constant_base) const;
  Shape guarded(Shape shape, const Shape& a, const Shape& b) const;

  ThreadLayout layout_;
  const llvm::DataLayout& data_;
  llvm::LoopInfo& loops_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> divergent_blocks_, joins_;
  llvm::SmallPtrSet<const llvm::Loop*, 4> divergent_loops_;
  std::vector<NoWrap> assumed_;
  llvm::SmallPtrSet<const llvm::Instruction*, 8> kept_;
};

// Distance between the copies of a local array of neighbouring lanes.
std::uint64_t local_stride(const llvm::AllocaInst& array, const llvm::DataLayout& layout);

}  // namespace td::softdev::simt
