// The memory pool of a device, as far as its user may look at it and steer it.
#pragma once

#include <cstddef>

#include "treadle/device.h"

namespace [[gnu::visibility("default")]] td {

struct PoolInfo {
  std::size_t used = 0;    // bytes in live allocations (rounded sizes)
  std::size_t cached = 0;  // bytes kept for reuse
  std::size_t limit = 0;   // most bytes that used + cached may reach; 0 = none
};

// A handle of the one pool that serves all arrays of a device.
class Pool {
 public:
  static Pool of(const Device& device);
  PoolInfo info() const;
  // Gives the cached blocks back to the driver.
  void free_all_blocks() const;
  // 0 lifts the limit. An allocation beyond it throws OutOfMemory.
  void set_limit(std::size_t bytes) const;

 private:
  explicit Pool(Device device) : device_(std::move(device)) {}
  Device device_;
};

}  // namespace td
