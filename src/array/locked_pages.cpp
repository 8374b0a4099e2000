#include "treadle/locked_pages.h"

#include "driver/state.h"
#include "treadle/error.h"

namespace td {

// CU_MEMHOSTREGISTER_PORTABLE and CU_MEMHOSTREGISTER_DEVICEMAP
constexpr unsigned kPortable = 1, kMapped = 2;

struct LockedPages::State {
  std::shared_ptr<driver::DeviceState> device;
  void* address;
  std::uint64_t generation;

  State(std::shared_ptr<driver::DeviceState> owner, void* at)
      : device(std::move(owner)), address(at), generation(device->generation()) {}
  State(const State&) = delete;  // a copy's end would unlock what the other holds
  State& operator=(const State&) = delete;
  ~State() { unlock(); }
  void unlock() {
    if (!address || generation != device->generation()) return;
    try {
      device->make_current();
    } catch (const Error&) {
      return;  // the context is gone, and what it locked with it
    }
    device->api().cuMemHostUnregister(address);
    address = nullptr;
  }
};

LockedPages::LockedPages(void* address, std::size_t bytes) {
  const auto& device = driver::current_device();
  device->make_current();
  TD_CALL(*device, cuMemHostRegister, address, bytes, kPortable | kMapped);
  state_ = std::make_shared<State>(device, address);
}

std::uint64_t LockedPages::device_address() const {
  CUdeviceptr address = 0;
  state_->device->make_current();
  TD_CALL(*state_->device, cuMemHostGetDevicePointer, &address, state_->address, 0);
  return address;
}

void LockedPages::release() {
  if (state_) state_->unlock();
}

}  // namespace td
