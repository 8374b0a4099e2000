// The calling thread's device and stream. A new thread needs no set-up: its device is the process's
// first choice and its streams are the default streams.
#include <cstdlib>
#include <utility>
#include <vector>

#include "driver/select.h"
#include "driver/state.h"

namespace td::driver {

namespace {

struct ThreadState {
  std::shared_ptr<DeviceState> device;
  std::vector<std::shared_ptr<StreamState>> streams;  // one per device at most
};

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

std::atomic<void (*)(DeviceState&)> flush_hook{nullptr};

}  // namespace

const std::shared_ptr<DeviceState>& current_device() {
  ThreadState& state = thread_state();
  if (!state.device) {
    const char* name = std::getenv("TREADLE_DEVICE");
    state.device = select_device(name ? name : "auto");
  }
  return state.device;
}

void set_current_device(std::shared_ptr<DeviceState> device) {
  exchange_current_device(std::move(device));
}

std::shared_ptr<DeviceState> exchange_current_device(std::shared_ptr<DeviceState> device) {
  return std::exchange(thread_state().device, std::move(device));
}

const std::shared_ptr<StreamState>& current_stream(const std::shared_ptr<DeviceState>& device) {
  auto& streams = thread_state().streams;
  for (auto& stream : streams) {
    if (&stream->device() != device.get()) continue;
    if (!stream->alive()) stream = std::make_shared<StreamState>(device, nullptr, false);
    return stream;
  }
  return streams.emplace_back(std::make_shared<StreamState>(device, nullptr, false));
}

void set_current_stream(std::shared_ptr<StreamState> stream) {
  for (auto& mine : thread_state().streams) {
    if (&mine->device() != &stream->device()) continue;
    if (mine->handle() != stream->handle()) flush_pending(stream->device());
    mine = std::move(stream);
    return;
  }
  if (stream->handle()) flush_pending(stream->device());
  thread_state().streams.push_back(std::move(stream));
}

void set_flush_hook(void (*flush)(DeviceState&)) { flush_hook = flush; }

void flush_pending(DeviceState& device) {
  if (auto* flush = flush_hook.load(std::memory_order_acquire)) flush(device);
}

}  // namespace td::driver
