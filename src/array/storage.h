// Storage: one piece of device memory that views share. It is allocated when first needed, so a
// lazy result that nobody asks for costs no memory.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "driver/state.h"
#include "treadle/dtype.h"

namespace td {
class DeviceMemory;
}

namespace td::array {

class ArrayImpl;
struct Node;
// Of treadle/memory.h.
using StorageAllocator = std::function<DeviceMemory(std::size_t)>;
std::shared_ptr<const StorageAllocator> current_allocator();

class Storage {
 public:
  // `allocator`: null for the device's pool, which memory within a flush comes from.
  Storage(std::shared_ptr<driver::DeviceState> device, std::size_t bytes,
          std::shared_ptr<const StorageAllocator> allocator = current_allocator())
      : device_(std::move(device)), bytes_(bytes), allocator_(std::move(allocator)) {}
  // Memory of somebody else, kept alive by `owner`.
  Storage(std::shared_ptr<driver::DeviceState> device, CUdeviceptr address, std::size_t bytes,
          std::shared_ptr<void> owner)
      : device_(std::move(device)), bytes_(bytes), foreign_(address), owner_(std::move(owner)) {}

  // Device address, for work of the device's current stream that is about to be enqueued; allocates
  // on that stream on first use, and the memory outlives the work of every stream that asked.
  // Rethrows what made its contents fail.
  CUdeviceptr address();
  std::size_t bytes() const { return bytes_; }
  // A function of the user's is going to be asked for the memory.
  bool asks_allocator() const { return allocator_ && !owner_ && bytes_ > 0; }
  const std::shared_ptr<driver::DeviceState>& device() const { return device_; }
  // The work that should have filled the storage has failed; every later use says so.
  void fail(std::exception_ptr error) { error_ = std::move(error); }
  const std::exception_ptr& error() const { return error_; }

  // What is known of the integers of `dtype` in the storage, so that an array that is used as an
  // index again need not be searched again. Whoever writes the memory forgets it: the queue does,
  // and so must everybody who launches a kernel that writes. Under the queue's lock.
  struct KnownRange {
    DType dtype;
    std::int64_t low, high;
    bool exact;  // both occur
  };
  void know_range(KnownRange range) {
    if (!exposed_) range_ = range;
  }
  void forget_range() { range_.reset(); }
  const std::optional<KnownRange>& range() const { return range_; }
  // The address has gone to somebody who may write at any time: nothing stays known.
  void expose() {
    exposed_ = true;
    range_.reset();
  }

  // The array that views were first taken from, and where its owner keeps it (treadle/views.h).
  std::weak_ptr<ArrayImpl> source;
  const void* source_handle = nullptr;

  // Kept by the pending queue, under its lock.
  Node* writer = nullptr;          // the last node that wrote here,
  std::uint64_t writer_batch = 0;  // and the batch of the queue that it belonged to
  // Kept by the planner during a flush.
  int maker = -1;  // the node that makes the storage
  int slot = -1;   // place in the table of accesses

 private:
  std::shared_ptr<driver::DeviceState> device_;
  std::size_t bytes_;
  std::shared_ptr<const StorageAllocator> allocator_;  // null: the device's pool
  std::optional<driver::Memory> memory_;
  CUdeviceptr foreign_ = 0;
  std::shared_ptr<void> owner_;
  std::exception_ptr error_;
  std::optional<KnownRange> range_;
  bool exposed_ = false;
};

}  // namespace td::array
