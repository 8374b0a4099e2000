// Stream capture: work given to a stream becomes nodes of a graph instead of being enqueued.
//
// A capture begins in one stream and spreads to others when they wait for an event that was
// recorded in a captured stream. What cannot be a node, and what could make the captured order
// untrue, is refused and spoils the capture, in the way and with the codes that CUDA documents. One
// lock guards all captures: they are rare and short.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "softdev/run/graph.h"

namespace td::softdev {

class Capture {
 public:
  std::uint64_t id = 0;
  CUgraph graph = nullptr;
  bool owns_graph = true;
  CUstream origin = nullptr;
  int mode = 0;              // CUstreamCaptureMode
  std::uint64_t thread = 0;  // that began it
  bool invalidated = false;
  // The newest nodes of each stream, and of each event: what the next node waits for.
  std::map<CUstream, std::vector<CUgraphNode>> streams;
  std::map<CUevent, std::vector<CUgraphNode>> events;
};

struct CaptureInfo {
  int status = 0;  // CUstreamCaptureStatus
  std::uint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* dependencies = nullptr;
  std::size_t count = 0;
};

CUresult begin_capture(CUstream_st& stream, int mode, CUgraph into, const CUgraphNode* dependencies,
                       std::size_t count);
CUresult end_capture(CUstream_st& stream, CUgraph* out);
// The stream is going to be destroyed.
void abandon_capture(CUstream_st& stream);
CaptureInfo capture_info(CUstream_st& stream);
CUresult update_capture(CUstream_st& stream, const CUgraphNode* nodes, std::size_t count,
                        bool replace);
// Returns the calling thread's mode from before.
int exchange_capture_mode(int mode);

inline bool is_captured(const CUstream_st& stream) {
  return stream.capture.load(std::memory_order_acquire) != nullptr;
}
// Adds a node behind the stream's newest ones.
CUresult capture_work(Context& context, CUstream_st& stream, Work work);
// An event recorded in a captured stream marks a place in the graph.
CUresult capture_record(CUstream_st& stream, CUevent event);
// A stream that waits for such an event joins the capture. `handled` is false when neither is
// captured.
CUresult capture_wait(CUstream_st& stream, CUevent event, bool* handled);
bool is_captured_event(CUevent event);
// Asking for such an event's state spoils the capture.
CUresult refuse_captured_event(CUevent event);
void forget_captured_event(CUevent event);

// Refuses what is not possible while a stream is captured: `stream` itself is
// (CUDA_ERROR_STREAM_CAPTURE_ UNSUPPORTED), or it is the legacy stream and a blocking stream of its
// context is (..._IMPLICIT).
CUresult refuse_captured(Context& context, CUstream_st& stream);
CUresult refuse_implicit(Context& context, CUstream_st& stream);
// Refuses calls that are potentially unsafe while a capture is going on, by its mode and the
// thread's.
CUresult refuse_unsafe();
// When nothing is captured anywhere, none of the above has to look.
bool any_capture();

}  // namespace td::softdev
