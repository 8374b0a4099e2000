// Owning handles over the driver API: what td::Device, td::Stream and td::Event point to, and
// memory, modules, kernels.
//
// Ownership is structure: every handle holds the DeviceState it depends on, so objects die in the
// right order. A handle whose context was destroyed by Device::reset() knows it (generation) and
// does not call the driver any more.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/cuda_abi.h"
#include "driver/launch_log.h"
#include "driver/provider.h"
#include "treadle/device.h"
#include "treadle/error.h"

namespace td::driver {

class MemoryPool;
class Stager;

class DeviceState : public std::enable_shared_from_this<DeviceState> {
 public:
  // The one state of a device; the primary context is retained on first use. Throws DriverError.
  static std::shared_ptr<DeviceState> get(const Provider& provider, int ordinal);

  const Provider& provider() const { return provider_; }
  // The provider's functions, or those that count their calls and call them.
  const Api& api() const { return *api_.load(std::memory_order_acquire); }
  void count_calls(bool on);
  int ordinal() const { return ordinal_; }
  CUdevice handle() const { return device_; }
  std::string name() const;  // "cuda:0"

  // Makes the primary context current for the calling thread (cheap when it already is). Call
  // before any driver call.
  void make_current();
  // Cached cuDeviceGetAttribute.
  int attribute(int attribute);
  MemoryPool& pool() { return *pool_; }
  Stager& stager() { return *stager_; }
  // Whoever launches a kernel notes it here; messages of kernel faults read it.
  LaunchLog& launches() { return launches_; }
  const LaunchLog& launches() const { return launches_; }
  // Counts resets; handles made under an older generation are dead.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  // Destroys the context with everything on it and starts anew. Throws DriverError when the driver
  // cannot (NVIDIA's after some faults: only a new process helps).
  void reset();

  ~DeviceState();

 private:
  DeviceState(const Provider& provider, int ordinal);
  const Provider& provider_;
  std::atomic<const Api*> api_;
  int ordinal_;
  CUdevice device_ = 0;
  std::atomic<CUcontext> context_{nullptr};
  std::atomic<std::uint64_t> generation_{1};
  std::mutex mutex_;  // reset
  std::array<std::atomic<int>, 160> attributes_;
  std::unique_ptr<MemoryPool> pool_;
  std::unique_ptr<Stager> stager_;
  LaunchLog launches_;
};

// Throws DriverError (or OutOfMemory) for anything but CUDA_SUCCESS: CUDA's name, the call, the
// meaning and a cure.
[[noreturn]] void fail(const DeviceState& device, CUresult result, const char* call,
                       const std::string& detail = "");
inline void check(const DeviceState& device, CUresult result, const char* call) {
  if (result != 0) [[unlikely]]
    fail(device, result, call);
}
inline void check(const DeviceState& device, CUresult result, const char* call,
                  const std::string& detail) {
  if (result != 0) [[unlikely]]
    fail(device, result, call, detail);
}
std::string result_name(CUresult result);
std::string result_meaning(CUresult result);
std::string result_cure(CUresult result);

// check() with the call's own name: TD_CALL(device, cuMemFree, address).
#define TD_CALL(device, function, ...) \
  ::td::driver::check(device, (device).api().function(__VA_ARGS__), #function)

class StreamState {
 public:
  // Null handle = the default stream.
  StreamState(std::shared_ptr<DeviceState> device, CUstream handle, bool owned);
  ~StreamState();
  CUstream handle() const;  // throws DriverError when the context was reset
  bool alive() const { return !handle_ || generation_ == device_->generation(); }
  DeviceState& device() const { return *device_; }
  const std::shared_ptr<DeviceState>& device_ptr() const { return device_; }

 private:
  std::shared_ptr<DeviceState> device_;
  CUstream handle_;
  bool owned_;
  std::uint64_t generation_;
};

class EventState {
 public:
  EventState(std::shared_ptr<DeviceState> device, bool timing);
  ~EventState();
  CUevent handle() const;  // throws DriverError when the context was reset
  bool alive() const { return generation_ == device_->generation(); }
  DeviceState& device() const { return *device_; }
  const std::shared_ptr<DeviceState>& device_ptr() const { return device_; }

 private:
  std::shared_ptr<DeviceState> device_;
  CUevent handle_ = nullptr;
  std::uint64_t generation_;
};

// The calling thread's current device and stream (what Device::current and Stream::current return).
const std::shared_ptr<DeviceState>& current_device();
void set_current_device(std::shared_ptr<DeviceState> device);
const std::shared_ptr<StreamState>& current_stream(const std::shared_ptr<DeviceState>& device);
void set_current_stream(std::shared_ptr<StreamState> stream);

// Installed by launch: runs a real kernel on a device and compares its result. TREADLE_DEVICE=auto
// takes an NVIDIA GPU only when this holds; `why` says what failed. Without one a memory round trip
// is the check.
void set_device_check(bool (*works)(DeviceState&, std::string* why));

// Installed by fuse: launches pending array operations of a device. Called by synchronize, event
// record, stream switch and every explicit stream call, so that lazy work keeps its place in the
// stream's order.
void set_flush_hook(void (*flush)(DeviceState&));
void flush_pending(DeviceState& device);

// ---- memory ----

struct PoolStatistics {
  std::size_t used = 0;         // bytes in live allocations (rounded sizes)
  std::size_t cached = 0;       // bytes kept for reuse
  std::size_t limit = 0;        // 0 = none
  std::size_t allocations = 0;  // calls that reached the driver
  std::size_t free_blocks = 0;
};

// What an observer of the pools is told, after the fact and outside of every lock.
struct MemoryEvent {
  enum class Kind { reserve, allocate, free } kind;  // reserve: the driver was asked
  int device;
  std::size_t asked;  // bytes; of a free the same as `bytes`
  std::size_t bytes;  // rounded
  CUdeviceptr address;
};
// One observer for the process, null for none. It must not throw.
void set_memory_observer(void (*observer)(const MemoryEvent&));

// Stream-ordered caching pool. A block freed on a stream is reused at once by later work of the
// same stream; other streams get it after the stream has been synchronised with (event). Out of
// memory frees the cache and retries; the error states the sizes. Sizes are rounded to 512 bytes.
// Thread-safe.
class MemoryPool {
 public:
  enum class Source { device, managed };
  explicit MemoryPool(DeviceState& device, Source source = Source::device);
  ~MemoryPool();
  // bytes == 0 gives address 0.
  CUdeviceptr allocate(std::size_t bytes, CUstream stream);
  // `stream`: the last one that uses the block.
  void free(CUdeviceptr address, CUstream stream) noexcept;
  // The stream is about to be destroyed: its free blocks pass to other streams once its work is
  // done.
  void retire_stream(CUstream stream) noexcept;
  void free_all_blocks();
  void set_limit(std::size_t bytes);
  PoolStatistics statistics() const;
  // While a stream is captured, blocks that are made or freed on it are kept from reuse, since
  // the graph will use them again. end_capture answers who keeps them: they go back with that
  // object.
  void begin_capture(CUstream stream);
  std::shared_ptr<void> end_capture(CUstream stream);

 private:
  friend class DeviceState;
  void forget();  // the context is gone
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// An owned piece of device memory; freed to the pool on the stream where it was made.
class Memory {
 public:
  Memory(std::shared_ptr<DeviceState> device, std::size_t bytes, CUstream stream);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  CUdeviceptr address() const {  // throws DriverError when the context was reset
    if (!alive()) [[unlikely]]
      fail_dead();
    return address_;
  }
  std::size_t bytes() const { return bytes_; }
  CUstream stream() const { return stream_; }
  const std::shared_ptr<DeviceState>& device() const { return device_; }
  bool alive() const { return generation_ == device_->generation(); }
  // Work of another stream than stream() uses this memory: it is not given back before that stream
  // has got this far. Call it when such work has been enqueued; cheap, and nothing at all for
  // stream() itself.
  void used_by(const std::shared_ptr<StreamState>& stream);

 private:
  [[noreturn]] void fail_dead() const;
  std::shared_ptr<DeviceState> device_;
  std::size_t bytes_;
  CUstream stream_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<StreamState>> other_streams_;
  CUdeviceptr address_ = 0;
  std::uint64_t generation_;
};

// Page-locked host memory.
class PinnedMemory {
 public:
  PinnedMemory(std::shared_ptr<DeviceState> device, std::size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<DeviceState> device_;
  void* data_ = nullptr;
  std::size_t bytes_;
  std::uint64_t generation_;
};

// Host <-> device copies of contiguous memory, staged through pinned buffers by several threads
// when the host memory is pageable and large. Upload returns when `host` may be reused; download
// returns when the data are there.
void upload(const StreamState& stream, CUdeviceptr device, const void* host, std::size_t bytes);
void download(const StreamState& stream, void* host, CUdeviceptr device, std::size_t bytes);

// ---- modules ----

// An image that the driver has made ready to be loaded: machine code, where the image is not. Takes
// no context and disturbs no capture, so any thread may do it ahead of the load.
class PreparedImage {
 public:
  // Throws DriverError with the driver's log.
  PreparedImage(std::shared_ptr<DeviceState> device, const std::string& image);
  ~PreparedImage();
  PreparedImage(const PreparedImage&) = delete;
  PreparedImage& operator=(const PreparedImage&) = delete;
  CUlibrary handle() const { return handle_; }
  const std::shared_ptr<DeviceState>& device_ptr() const { return device_; }

 private:
  std::shared_ptr<DeviceState> device_;
  CUlibrary handle_ = nullptr;
};

class LoadedModule {
 public:
  // Loads an image; a failing load throws DriverError with the driver's log.
  LoadedModule(std::shared_ptr<DeviceState> device, const std::string& image);
  explicit LoadedModule(std::shared_ptr<PreparedImage> image);
  ~LoadedModule();
  CUfunction function(const char* symbol) const;  // throws DriverError (CUDA_ERROR_NOT_FOUND)
  std::pair<CUdeviceptr, std::size_t> global(const char* symbol) const;
  DeviceState& device() const { return *device_; }
  const std::shared_ptr<DeviceState>& device_ptr() const { return device_; }
  bool alive() const { return generation_ == device_->generation(); }

 private:
  void require_alive() const;
  std::shared_ptr<DeviceState> device_;
  std::shared_ptr<PreparedImage> prepared_;  // then it owns the module
  CUmodule handle_ = nullptr;
  std::uint64_t generation_;
};

}  // namespace td::driver
