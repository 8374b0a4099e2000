#include "driver/state.h"

namespace td::driver {

Memory::Memory(std::shared_ptr<DeviceState> device, std::size_t bytes, CUstream stream)
    : device_(std::move(device)),
      bytes_(bytes),
      stream_(stream),
      address_(device_->pool().allocate(bytes, stream)),
      generation_(device_->generation()) {}

Memory::~Memory() {
  if (!alive()) return;
  try {
    if (!other_streams_.empty()) device_->make_current();
    for (const auto& other : other_streams_)
      if (other->alive()) device_->api().cuStreamSynchronize(other->handle());
  } catch (const Error&) {
    return;  // the context is gone, and the memory with it
  }
  device_->pool().free(address_, stream_);
}

void Memory::used_by(const std::shared_ptr<StreamState>& stream) {
  if (stream->handle() == stream_) return;
  std::lock_guard lock(mutex_);
  for (const auto& other : other_streams_)
    if (other->handle() == stream->handle()) return;
  other_streams_.push_back(stream);
}

void Memory::fail_dead() const {
  fail(*device_, cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED, "device memory",
       "the array was made before the device was reset; create it again");
}

PinnedMemory::PinnedMemory(std::shared_ptr<DeviceState> device, std::size_t bytes)
    : device_(std::move(device)), bytes_(bytes), generation_(device_->generation()) {
  if (bytes == 0) return;
  device_->make_current();
  TD_CALL(*device_, cuMemHostAlloc, &data_, bytes, cuda::HOSTALLOC_PORTABLE);
}

PinnedMemory::~PinnedMemory() {
  if (!data_ || generation_ != device_->generation()) return;
  try {
    device_->make_current();
  } catch (const Error&) {
    return;  // the context is gone, and its pinned memory with it
  }
  device_->api().cuMemFreeHost(data_);
}

}  // namespace td::driver
