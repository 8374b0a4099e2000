// What the warp passes know about calls: one row for each intrinsic or external function, asked by
// name.
#pragma once

#include <llvm/IR/Instructions.h>

#include "softdev/simt/kernel_abi.h"

namespace td::softdev::simt {

enum class Builtin {
  none,  // not in the table
  pure,  // lane by lane, no effect: an LLVM intrinsic that has a vector form
  math,  // __td_<name>: a vector function of the math library
  thread_x,
  thread_y,
  thread_z,
  lane,
  warp_index,
  lane_mask,
  block_x,
  block_y,
  block_z,
  block_dim_x,
  block_dim_y,
  block_dim_z,
  grid_dim_x,
  grid_dim_y,
  grid_dim_z,
  constant,  // a fixed number, see BuiltinRow::detail
  worker,    // %smid
  clock,
  clock_hi,
  timer,
  barrier,
  barrier_reduce,
  barrier_arrive,
  grid_barrier,
  warp_barrier,
  fence,
  shuffle,
  shuffle_pair,
  vote,
  ballot,
  match_any,
  match_all,
  reduce,
  active_mask,
  mma,
  atomic_wrap,  // llvm.nvvm.atomic.load.inc/dec.32
  copy,
  move,
  fill,
  stack_mark,
  trap,
  assertion,
  print,
  ignored,
  lane_call,  // a function of run/device_calls.h, once for each live lane; detail 1: with the line
  warp_call,  // a function of kernel_abi.h that takes a WarpCall, once for all live lanes
  leave_together,  // lanes that waited for one place go on together; no code
  shared_base,     // generic address of the block's shared memory
  dynamic_shared,  // bytes of the launch's dynamic shared memory
  is_constant,     // whether an address lies in the module's __constant__ variables
};

enum BuiltinFlags : unsigned {
  uniform_result = 1,   // the same in every lane of a warp
  needs_full_warp = 2,  // meaningful only when one vector is one warp of 32 lanes
  is_barrier = 4,
  is_warp_op = 8,  // lanes of a mask (operand 0) meet
};

struct BuiltinRow {
  const char* name;
  Builtin kind;
  unsigned flags;
  int detail;  // meaning depends on the kind
};

// The row of a call, nullptr when the function is unknown.
const BuiltinRow* find_builtin(const llvm::CallInst& call);
// What the runtime is told of a barrier: of the rows barrier, barrier_reduce and barrier_arrive.
BarrierKind barrier_kind(const BuiltinRow& row);

}  // namespace td::softdev::simt
