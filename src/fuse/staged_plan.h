// How a program with reductions runs over its operands, and its texts. Shapes:
//   row     the lanes of a block (or of 32 threads) share one result: the fast axis is reduced
//   column  a thread owns one result: the fast axis is kept, or rows are very short
// and two for devices that hold many threads:
//   held rows   rows that fit the registers of their lanes are read once, whatever the stages
//   bands       neighbouring results side by side, and rows of the block below one another: also
//               few results are read in full lines (one stage)
// When the results alone cannot fill the device, each is split into chunks, and a second small
// kernel combines the partial accumulators: only where there is one stage, since later stages need
// the result. The order of combination depends on shapes and the device only, so results repeat.
#pragma once

#include "fuse/geometry.h"
#include "fuse/kernel_cache.h"

namespace td::fuse {

struct StagedPlan {
  Walk kept, reduced;  // operands: leaves, stores, kept stores
  enum class Way : char { row, column, held_rows, bands } way = Way::row;
  int lanes = 256;
  int width = 1;         // elements per access
  int vectors = 1;       // accesses of a lane for a row (held rows)
  int at_once = 1;       // rows of a lane (held rows)
  bool whole = false;    // rows fill their lanes (held rows)
  int across = 1;        // threads side by side (bands)
  int least_blocks = 0;  // that a multiprocessor shall hold, where registers would allow fewer
  int splits = 1;
  std::int64_t chunk = 0;
  bool wide = false;
  std::vector<CUdeviceptr> addresses;
};

StagedPlan plan_staged(driver::DeviceState& device, const Program& program);

// True when a plain reduction is better run by one of the ways for many threads.
bool many_threads_way(const StagedPlan& plan);

// Stride parameters of operand `k` along the reduced axes.
std::size_t reduced_strides(const StagedPlan& plan, std::size_t k);

// The kernel td_staged, and the kernel td_finish for plans with splits.
std::string print_staged(const Program& program, const StagedPlan& plan);
std::string print_held_rows(const Program& program, const StagedPlan& plan);
std::string print_bands(const Program& program, const StagedPlan& plan);
std::string print_staged_finish(const Program& program, const StagedPlan& plan);

}  // namespace td::fuse
