#include "base/text.h"
#include "driver/state.h"
#include "treadle/device.h"

namespace td {

namespace driver {

EventState::EventState(std::shared_ptr<DeviceState> device, bool timing)
    : device_(std::move(device)), generation_(device_->generation()) {
  device_->make_current();
  TD_CALL(*device_, cuEventCreate, &handle_,
          timing ? cuda::EVENT_DEFAULT : cuda::EVENT_DISABLE_TIMING);
}

EventState::~EventState() {
  if (handle_ && alive()) device_->api().cuEventDestroy(handle_);
}

CUevent EventState::handle() const {
  if (!alive())
    fail(*device_, cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED, "event",
         "the event was made before the device was reset; create a new one");
  return handle_;
}

}  // namespace driver

Event Event::create(const Device& device, bool timing) {
  return Event(std::make_shared<driver::EventState>(device.state(), timing));
}

void Event::record(const Stream& stream) const {
  driver::DeviceState& device = state_->device();
  if (&stream.state()->device() != &device)
    throw ValueError(base::cat("an event of ", device.name(), " cannot be recorded on a stream of ",
                               stream.device().name(),
                               "; create the event on the stream's device"));
  driver::flush_pending(device);
  device.make_current();
  TD_CALL(device, cuEventRecord, state_->handle(), stream.state()->handle());
}

void Event::synchronize() const {
  driver::DeviceState& device = state_->device();
  device.make_current();
  TD_CALL(device, cuEventSynchronize, state_->handle());
}

bool Event::done() const {
  driver::DeviceState& device = state_->device();
  device.make_current();
  CUresult result = device.api().cuEventQuery(state_->handle());
  if (result == cuda::CUDA_ERROR_NOT_READY) return false;
  driver::check(device, result, "cuEventQuery");
  return true;
}

void* Event::handle() const { return state_->handle(); }

Device Event::device() const { return Device(state_->device_ptr()); }

float elapsed_time(const Event& start, const Event& end) {
  driver::DeviceState& device = start.state()->device();
  if (&end.state()->device() != &device)
    throw ValueError(base::cat("the time between events of two devices (", device.name(), " and ",
                               end.device().name(), ") is not defined; record both on one device"));
  device.make_current();
  float milliseconds = 0;
  driver::check(device,
                device.api().cuEventElapsedTime(&milliseconds, start.state()->handle(),
                                                end.state()->handle()),
                "cuEventElapsedTime",
                "both events must be created with timing, recorded, and finished");
  return milliseconds;
}

}  // namespace td
