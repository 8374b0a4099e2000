#include "driver/state.h"
#include "treadle/device.h"

namespace td {

namespace driver {

StreamState::StreamState(std::shared_ptr<DeviceState> device, CUstream handle, bool owned)
    : device_(std::move(device)),
      handle_(handle),
      owned_(owned),
      generation_(device_->generation()) {}

StreamState::~StreamState() {
  if (!owned_ || !handle_ || !alive()) return;
  try {
    device_->make_current();
  } catch (const Error&) {
    return;  // the context is gone, and the stream with it
  }
  device_->pool().retire_stream(handle_);
  device_->api().cuStreamDestroy(handle_);
}

CUstream StreamState::handle() const {
  if (!alive())
    fail(*device_, cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED, "stream",
         "the stream was made before the device was reset; create a new one");
  return handle_;
}

}  // namespace driver

Stream Stream::current() { return Stream(driver::current_stream(driver::current_device())); }

Stream Stream::default_stream(const Device& device) {
  return Stream(std::make_shared<driver::StreamState>(device.state(), nullptr, false));
}

Stream Stream::create(const Device& device, bool non_blocking) {
  driver::DeviceState& state = *device.state();
  state.make_current();
  CUstream handle = nullptr;
  TD_CALL(state, cuStreamCreateWithPriority, &handle,
          non_blocking ? cuda::STREAM_NON_BLOCKING : cuda::STREAM_DEFAULT, 0);
  return Stream(std::make_shared<driver::StreamState>(device.state(), handle, true));
}

void Stream::use() const { driver::set_current_stream(state_); }

void Stream::synchronize() const {
  driver::DeviceState& device = state_->device();
  driver::flush_pending(device);
  device.make_current();
  TD_CALL(device, cuStreamSynchronize, state_->handle());
}

bool Stream::done() const {
  driver::DeviceState& device = state_->device();
  driver::flush_pending(device);
  device.make_current();
  CUresult result = device.api().cuStreamQuery(state_->handle());
  if (result == cuda::CUDA_ERROR_NOT_READY) return false;
  driver::check(device, result, "cuStreamQuery");
  return true;
}

void Stream::wait(const Event& event) const {
  driver::DeviceState& device = state_->device();
  driver::flush_pending(
      device);  // pending work was asked for before this call, so it does not wait
  device.make_current();
  TD_CALL(device, cuStreamWaitEvent, state_->handle(), event.state()->handle(), 0);
}

void* Stream::handle() const { return state_->handle(); }

Device Stream::device() const { return Device(state_->device_ptr()); }

}  // namespace td
