// Device memory by hand: pieces with an owner, pools of one's own, allocators that arrays use,
// memory of the host that the device reaches fast, and arrays over memory that exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "treadle/array.h"
#include "treadle/pool.h"

namespace [[gnu::visibility("default")]] td {

namespace array {
struct MemoryState;
class PoolsState;
}  // namespace array

// A piece of memory that a device reaches; a cheap handle, freed with its last copy.
class DeviceMemory {
 public:
  // Straight from the driver, of the current device.
  static DeviceMemory direct(std::size_t bytes);
  static DeviceMemory managed(std::size_t bytes);
  // Memory of somebody else, alive as long as `owner`.
  static DeviceMemory unowned(const Device& device, std::uint64_t address, std::size_t bytes,
                              std::shared_ptr<void> owner);

  std::uint64_t address() const;
  std::size_t bytes() const;
  Device device() const;

  explicit DeviceMemory(std::shared_ptr<array::MemoryState> state) : state_(std::move(state)) {}
  const std::shared_ptr<array::MemoryState>& state() const { return state_; }

 private:
  std::shared_ptr<array::MemoryState> state_;
};

// Pools of one's own: one for each device, made when first used. All calls mean the current
// device's.
class MemoryPools {
 public:
  enum class Source { device, managed };
  explicit MemoryPools(Source source = Source::device);
  // Those that arrays use by default.
  static MemoryPools standard();

  // For work of the current stream.
  DeviceMemory allocate(std::size_t bytes) const;
  PoolInfo info() const;
  std::size_t free_blocks() const;
  void free_all_blocks() const;
  void set_limit(std::size_t bytes) const;  // 0: none

 private:
  explicit MemoryPools(std::shared_ptr<array::PoolsState> state) : state_(std::move(state)) {}
  std::shared_ptr<array::PoolsState> state_;
};

// Where arrays made from now on get their memory: of the whole process, or of the calling thread
// while one is pushed. An empty function means the device's own pool.
using Allocator = std::function<DeviceMemory(std::size_t)>;
void set_allocator(Allocator allocator);
Allocator get_allocator();
void push_allocator(Allocator allocator);
void pop_allocator();

// An array over memory from byte `offset` on. Strides in bytes; absent: of C order. ValueError when
// it does not fit in.
Array array_over(const DeviceMemory& memory, std::size_t offset, const Shape& shape, DType dtype,
                 const std::optional<Strides>& strides = {});
// The whole memory behind an array. Launches pending work that writes it.
DeviceMemory memory_of(const Array& array);

// The number of the device, of the current kind, that has the memory at an address; none when the
// driver does not know the address.
std::optional<int> device_at(std::uint64_t address);

// Copies between device and host addresses in the order of the current stream; fills with a byte.
// `blocking` waits until it is done.
void copy_memory(std::uint64_t to, std::uint64_t from, std::size_t bytes, bool blocking);
void fill_memory(std::uint64_t to, unsigned char value, std::size_t bytes, bool blocking);

// Page-locked memory of the host; a cheap handle.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::size_t bytes);  // straight from the driver
  PinnedBuffer(std::shared_ptr<void> owner, void* data, std::size_t bytes)
      : owner_(std::move(owner)), data_(data), bytes_(bytes) {}
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> owner_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Keeps freed buffers for later requests of the same size (rounded up to a power of two, at least
// 512 bytes). Thread-safe.
class PinnedPool {
 public:
  PinnedPool();
  static PinnedPool& standard();
  PinnedBuffer allocate(std::size_t bytes) const;
  std::size_t free_blocks() const;
  void free_all_blocks() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// What an observer is told when memory of any pool is reserved from the driver, allocated or freed,
// after it has happened.
struct MemoryReport {
  enum class Kind { reserve, allocate, free } kind;
  int device;
  std::size_t asked, bytes;  // before and after rounding
  std::uint64_t address;
};
// One for the process; null for none. Called on the thread that did it. Must not throw.
void observe_memory(void (*observer)(const MemoryReport&));

}  // namespace td
