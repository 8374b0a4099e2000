// How a reduction is cut into work for threads, and its kernels as text.
#pragma once

#include "fuse/geometry.h"
#include "fuse/kernel_cache.h"

namespace td::fuse {

// A unit of work is one chunk of one result (row), or of a run of neighbouring results (column). A
// block of 256 threads has one unit, or one for each of its warps.
struct ReducePlan {
  // Operands: the leaves; `kept` has the result behind them, `reduced` the places in C order
  // if they matter.
  Walk kept, reduced;
  bool column = false;
  int lanes = 256;  // threads of a unit: 256 or 32
  int columns = 1;  // results of a thread, 32 apart (column)
  int width = 1;    // elements per access (row)
  int splits = 1;   // chunks of a result
  std::int64_t chunk = 0;
  bool runs = false;     // each warp has neighbouring units
  bool wide = false;     // indices have 64 bits
  bool counts = false;   // a sum of bool
  bool indexed = false;  // the accumulator holds an index
  bool turned = false;   // elements are not walked in the order of their indices
  std::vector<CUdeviceptr> addresses;

  int units_of_block() const { return static_cast<int>(kBlock) / lanes; }
  // Units without splits.
  std::int64_t units() const { return column ? (kept.count + run() - 1) / run() : kept.count; }
  int run() const { return lanes * columns; }  // results of a unit (column)
};

// The operand that steps along most axes decides how they are walked.
std::size_t leader(const std::vector<const View*>& views);
// Elements of one access along reduced axes: 16 bytes of the widest leaf where all rows are
// contiguous and aligned, else 1.
int row_width(const Program& program, const Walk& kept, const Walk& reduced,
              const std::vector<CUdeviceptr>& addresses);

// True when neighbours in memory belong to different results.
bool fast_axis_kept(const Shape& shape, const std::vector<bool>& reduced,
                    const std::vector<const View*>& leaves);

ReducePlan make_reduce_plan(driver::DeviceState& device, const Program& program);

std::string print_reduce(const Program& program, const ReducePlan& plan);
// The kernel that combines the chunks of each result: one thread a result, or one block.
std::string print_reduce_finish(const Program& program, const ReducePlan& plan, bool thread);

}  // namespace td::fuse
