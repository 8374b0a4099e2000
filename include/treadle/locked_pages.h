// Host memory that somebody else allocated, page-locked for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace [[gnu::visibility("default")]] td {

// While an object lives, copies of these bytes are as fast as of pinned memory, and kernels of the
// device can reach them. Error when the driver refuses, such as for memory
// that is locked already.
class LockedPages {
 public:
  LockedPages(void* address, std::size_t bytes);
  // Where kernels of the device find the first byte.
  std::uint64_t device_address() const;
  // Unlocks now, after all work of the device; later calls do nothing.
  void release();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace td
