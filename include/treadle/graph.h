// Streams in detail, functions of the host in a stream's order, and graphs from captured streams.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "treadle/device.h"

namespace [[gnu::visibility("default")]] td {

namespace driver {
class GraphState;
}

// A new stream. Smaller numbers are more urgent; stream_priority_range() has the limits, and a
// number outside is the nearest limit.
Stream create_stream(const Device& device, bool non_blocking, int priority);
// Least and greatest priority.
std::pair<int, int> stream_priority_range(const Device& device);
// A stream that somebody else made, alive as long as `owner`. 0 and 1 mean the default stream, 2
// the thread's own.
Stream external_stream(const Device& device, void* handle, std::shared_ptr<void> owner = {});
// The calling thread's own stream, which waits for the default stream and is waited for by it.
Stream per_thread_stream(const Device& device);

int priority(const Stream& stream);
bool non_blocking(const Stream& stream);

// Calls `function` on a thread of the driver when the work in front of it has finished; later
// work waits for its return. It must not call CUDA. In a captured stream each launch of the graph
// calls it.
void launch_host_function(const Stream& stream, std::function<void()> function);

enum class CaptureMode { global, thread_local_, relaxed };

// From here on the stream's work is noted instead of run. Pending array operations are launched
// before. Memory that arrays get on the stream while it is captured belongs to the graph as well:
// it is not used for anything else as long as the graph lives.
void begin_capture(const Stream& stream, CaptureMode mode = CaptureMode::relaxed);
bool is_capturing(const Stream& stream);

// Captured work, to be launched any number of times.
class Graph {
 public:
  void launch(const Stream& stream) const;
  // Prepares the device, so that the first launch is as quick as later ones.
  void upload(const Stream& stream) const;
  void* handle() const;       // CUgraph
  void* exec_handle() const;  // CUgraphExec
  std::size_t node_count() const;

  explicit Graph(std::shared_ptr<driver::GraphState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<driver::GraphState> state_;
};

// Ends the capture. DriverError when something that cannot be captured has spoilt it.
Graph end_capture(const Stream& stream);

}  // namespace td
