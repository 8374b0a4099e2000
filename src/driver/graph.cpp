// Streams in detail, host functions and graphs. What a graph needs later (memory, functions of the
// host) is collected while its stream is captured, and lives as long as the graph.
#include "treadle/graph.h"

#include <algorithm>
#include <map>

#include "driver/state.h"

namespace td {

namespace driver {

class GraphState {
 public:
  std::shared_ptr<DeviceState> device;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  std::uint64_t generation = 0;
  std::vector<std::shared_ptr<void>> kept;

  ~GraphState() {
    if (generation != device->generation()) return;
    try {
      device->make_current();
    } catch (const Error&) {
      return;  // the context is gone, and the graph with it
    }
    if (exec) device->api().cuGraphExecDestroy(exec);
    if (graph) device->api().cuGraphDestroy(graph);
  }
  DeviceState& alive() {
    if (generation != device->generation())
      fail(*device, cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED, "graph",
           "the graph was made before the device was reset; capture it again");
    device->make_current();
    return *device;
  }
};

namespace {

// What streams that are being captured have collected.
class Captures {
 public:
  static Captures& get() {
    static Captures& captures = *new Captures;
    return captures;
  }
  void begin(const StreamState& stream) {
    std::lock_guard lock(mutex_);
    kept_[key(stream)].clear();
  }
  bool keep(const StreamState& stream, std::shared_ptr<void> object) {
    std::lock_guard lock(mutex_);
    auto at = kept_.find(key(stream));
    if (at == kept_.end()) return false;
    at->second.push_back(std::move(object));
    return true;
  }
  std::vector<std::shared_ptr<void>> end(const StreamState& stream) {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<void>> kept = std::move(kept_[key(stream)]);
    kept_.erase(key(stream));
    return kept;
  }

 private:
  using Key = std::pair<DeviceState*, CUstream>;
  static Key key(const StreamState& stream) { return {&stream.device(), stream.handle()}; }
  std::mutex mutex_;
  std::map<Key, std::vector<std::shared_ptr<void>>> kept_;
};

DeviceState& ready(const Stream& stream) {
  DeviceState& device = stream.state()->device();
  flush_pending(device);
  device.make_current();
  return device;
}

}  // namespace
}  // namespace driver

Stream create_stream(const Device& device, bool non_blocking, int priority) {
  driver::DeviceState& state = *device.state();
  state.make_current();
  auto [least, greatest] = stream_priority_range(device);
  CUstream handle = nullptr;
  TD_CALL(state, cuStreamCreateWithPriority, &handle,
          non_blocking ? cuda::STREAM_NON_BLOCKING : cuda::STREAM_DEFAULT,
          std::clamp(priority, greatest, least));
  return Stream(std::make_shared<driver::StreamState>(device.state(), handle, true));
}

std::pair<int, int> stream_priority_range(const Device& device) {
  driver::DeviceState& state = *device.state();
  state.make_current();
  int least = 0, greatest = 0;
  TD_CALL(state, cuCtxGetStreamPriorityRange, &least, &greatest);
  return {least, greatest};
}

Stream external_stream(const Device& device, void* handle, std::shared_ptr<void> owner) {
  auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= 1) return Stream::default_stream(device);
  if (number == 2) return per_thread_stream(device);
  auto* state = new driver::StreamState(device.state(), static_cast<CUstream>(handle), false);
  return Stream(std::shared_ptr<driver::StreamState>(
      state, [owner = std::move(owner)](driver::StreamState* mine) { delete mine; }));
}

// A stream of its own for each thread: the driver's handle for it (2) means another stream in every
// thread, and memory of one could be reused by another too early.
Stream per_thread_stream(const Device& device) {
  thread_local std::map<driver::DeviceState*, Stream> streams;
  auto at = streams.find(device.state().get());
  if (at != streams.end() && at->second.state()->alive()) return at->second;
  Stream stream = create_stream(device, false, 0);
  streams.insert_or_assign(device.state().get(), stream);
  return stream;
}

int priority(const Stream& stream) {
  driver::DeviceState& device = stream.state()->device();
  device.make_current();
  int value = 0;
  TD_CALL(device, cuStreamGetPriority, stream.state()->handle(), &value);
  return value;
}

bool non_blocking(const Stream& stream) {
  driver::DeviceState& device = stream.state()->device();
  device.make_current();
  unsigned flags = 0;
  TD_CALL(device, cuStreamGetFlags, stream.state()->handle(), &flags);
  return (flags & cuda::STREAM_NON_BLOCKING) != 0;
}

void launch_host_function(const Stream& stream, std::function<void()> function) {
  driver::DeviceState& device = driver::ready(stream);
  auto* call = new std::function<void()>(std::move(function));
  std::shared_ptr<void> owner(call, [](void* p) { delete static_cast<std::function<void()>*>(p); });
  CUstream handle = stream.state()->handle();
  if (driver::Captures::get().keep(*stream.state(), owner)) {
    auto run = [](void* p) { (*static_cast<std::function<void()>*>(p))(); };
    TD_CALL(device, cuLaunchHostFunc, handle, run, call);
    return;
  }
  auto* once = new std::shared_ptr<void>(std::move(owner));
  auto run = [](void* p) {
    std::unique_ptr<std::shared_ptr<void>> mine(static_cast<std::shared_ptr<void>*>(p));
    (*static_cast<std::function<void()>*>(mine->get()))();
  };
  CUresult result = device.api().cuLaunchHostFunc(handle, run, once);
  if (result != 0) delete once;
  driver::check(device, result, "cuLaunchHostFunc");
}

void begin_capture(const Stream& stream, CaptureMode mode) {
  driver::DeviceState& device = driver::ready(stream);
  CUstream handle = stream.state()->handle();
  driver::check(device, device.api().cuStreamBeginCapture(handle, static_cast<int>(mode)),
                "cuStreamBeginCapture",
                "the default stream cannot be captured; use one of your own");
  driver::Captures::get().begin(*stream.state());
  device.pool().begin_capture(handle);
}

bool is_capturing(const Stream& stream) {
  driver::DeviceState& device = stream.state()->device();
  device.make_current();
  int status = 0;
  TD_CALL(device, cuStreamIsCapturing, stream.state()->handle(), &status);
  return status != 0;
}

Graph end_capture(const Stream& stream) {
  driver::DeviceState& device = driver::ready(stream);
  auto state = std::make_shared<driver::GraphState>();
  state->device = stream.state()->device_ptr();
  state->generation = device.generation();
  CUstream handle = stream.state()->handle();
  CUresult result = device.api().cuStreamEndCapture(handle, &state->graph);
  state->kept = driver::Captures::get().end(*stream.state());
  state->kept.push_back(device.pool().end_capture(handle));
  driver::check(device, result, "cuStreamEndCapture");
  TD_CALL(device, cuGraphInstantiate, &state->exec, state->graph, 0);
  return Graph(std::move(state));
}

void Graph::launch(const Stream& stream) const {
  driver::flush_pending(stream.state()->device());
  driver::DeviceState& device = state_->alive();
  TD_CALL(device, cuGraphLaunch, state_->exec, stream.state()->handle());
}

void Graph::upload(const Stream& stream) const {
  driver::DeviceState& device = state_->alive();
  TD_CALL(device, cuGraphUpload, state_->exec, stream.state()->handle());
}

void* Graph::handle() const { return state_->graph; }
void* Graph::exec_handle() const { return state_->exec; }

std::size_t Graph::node_count() const {
  driver::DeviceState& device = state_->alive();
  std::size_t count = 0;
  TD_CALL(device, cuGraphGetNodes, state_->graph, nullptr, &count);
  return count;
}

}  // namespace td
