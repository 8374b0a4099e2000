// Devices, streams and events: thin values over the driver API, the same on an NVIDIA GPU and on
// the software device.
//
// All classes are cheap handles; copies share the underlying object, which lives until its last
// handle (and every object that depends on it) is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] td {

namespace driver {
class DeviceState;
class StreamState;
class EventState;
}  // namespace driver

// Free and total device memory in bytes.
struct MemoryInfo {
  std::size_t free = 0;
  std::size_t total = 0;
};

class Device {
 public:
  // The device of the calling thread. On first use: the one that TREADLE_DEVICE names (auto |
  // cuda[:N] | soft[:N]); auto takes an NVIDIA GPU that passes a real kernel check, else the
  // software device, and says so once on stderr.
  static Device current();
  // "cuda:0", "cuda", "soft:1", "soft", "auto". Throws ValueError for other text, DriverError where
  // there is none.
  static Device from_name(std::string_view name);
  // Every device that can be opened: NVIDIA GPUs first, then software devices.
  static std::vector<Device> all();

  // Makes this the calling thread's device.
  void use() const;

  std::string name() const;         // "cuda:0", "soft:0"
  std::string description() const;  // "NVIDIA H200", "software device (AMD EPYC, 2 cores)"
  // The evidence words of every result: "NVIDIA GPU" or "software device".
  std::string evidence() const;
  bool is_software() const;  // for labels only; behaviour differs through attributes
  int ordinal() const;
  // CUdevice_attribute, by number.
  int attribute(int cuda_attribute) const;
  // Major, minor.
  std::pair<int, int> compute_capability() const;
  MemoryInfo memory() const;
  // CUlimit, by number: 0 the bytes of stack of a thread, 1 of printf's buffer, 2 of the heap that
  // kernels allocate from. set_limit may round up; what kernels need that recurse is not known when
  // they are compiled: give them more stack here. Errors: DriverError
  // (CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_INVALID_VALUE).
  std::size_t limit(int cuda_limit) const;
  void set_limit(int cuda_limit, std::size_t value) const;
  // Waits for all work of the device; reports faults of kernels that ran. Pending array operations
  // run first.
  void synchronize() const;
  // After a fault has made the context unusable ("sticky"): destroys it with everything on it and
  // starts anew. Arrays, modules and streams made before are dead and say so. Only the software
  // device recovers for certain; NVIDIA asks that the process be restarted.
  void reset() const;

  bool operator==(const Device& other) const { return state_ == other.state_; }

  explicit Device(std::shared_ptr<driver::DeviceState> state) : state_(std::move(state)) {}
  const std::shared_ptr<driver::DeviceState>& state() const { return state_; }

 private:
  std::shared_ptr<driver::DeviceState> state_;
};

// A queue of work, run in order, asynchronous to the host.
class Stream {
 public:
  // The calling thread's current stream on the current device (initially the default stream).
  static Stream current();
  static Stream default_stream(const Device& device);
  // A new stream that does not wait for the default stream when `non_blocking`.
  static Stream create(const Device& device, bool non_blocking = true);

  // Makes this the calling thread's current stream on its device.
  void use() const;
  void synchronize() const;
  bool done() const;  // true when all work has finished
  void wait(const class Event& event) const;
  void* handle() const;  // CUstream
  Device device() const;

  explicit Stream(std::shared_ptr<driver::StreamState> state) : state_(std::move(state)) {}
  const std::shared_ptr<driver::StreamState>& state() const { return state_; }

 private:
  std::shared_ptr<driver::StreamState> state_;
};

class Event {
 public:
  static Event create(const Device& device, bool timing = true);
  void record(const Stream& stream) const;  // pending array operations are launched first
  void synchronize() const;
  bool done() const;
  void* handle() const;  // CUevent
  Device device() const;

  explicit Event(std::shared_ptr<driver::EventState> state) : state_(std::move(state)) {}
  const std::shared_ptr<driver::EventState>& state() const { return state_; }

 private:
  std::shared_ptr<driver::EventState> state_;
};

// Milliseconds between two recorded and finished events (cuEventElapsedTime). Throws DriverError
// when an event was not recorded (CUDA_ERROR_INVALID_HANDLE) or is not finished
// (CUDA_ERROR_NOT_READY).
float elapsed_time(const Event& start, const Event& end);

}  // namespace td
