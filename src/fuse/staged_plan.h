// How a program with more than one plain reduction runs over its operands, and its texts. Two
// shapes:
//   row     the lanes of a block (or of 32 threads) share one result: the fast axis is reduced
//   column  a thread owns one result: the fast axis is kept, or rows are very short
// When the results alone cannot fill the device, each is split into chunks, and a second small
// kernel combines the partial accumulators: only where there is one stage, since later stages need
// the result. The order of combination depends on shapes and the device only, so results repeat.
#pragma once

#include "fuse/geometry.h"
#include "fuse/kernel_cache.h"

namespace td::fuse {

struct StagedPlan {
  Walk kept, reduced;  // operands: leaves, stores, kept stores
  bool column = false;
  int lanes = 256;
  int width = 1;  // elements per access in a row
  int splits = 1;
  std::int64_t chunk = 0;
  bool wide = false;
  std::vector<CUdeviceptr> addresses;
};

StagedPlan plan_staged(driver::DeviceState& device, const Program& program);

// Stride parameters of operand `k` along the reduced axes.
std::size_t reduced_strides(const StagedPlan& plan, std::size_t k);

// The kernel td_reduce, and the kernel td_finish for plans with splits.
std::string print_staged(const Program& program, const StagedPlan& plan);
std::string print_staged_finish(const Program& program, const StagedPlan& plan);

}  // namespace td::fuse
