#include "softdev/run/capture.h"

#include <algorithm>
#include <set>

namespace td::softdev {

namespace {

using namespace td::cuda;

struct Captures {
  std::mutex mutex;
  std::vector<Capture*> all;
  std::uint64_t last_id = 0;
};
Captures& captures() { return base::guarded_instance<Captures>(); }

std::atomic<int> running{0};
thread_local int thread_mode = CAPTURE_GLOBAL;

std::uint64_t this_thread() {
  static std::atomic<std::uint64_t> last{0};
  static thread_local const std::uint64_t id = ++last;
  return id;
}

void add(std::vector<CUgraphNode>& list, const std::vector<CUgraphNode>& more) {
  for (CUgraphNode node : more)
    if (std::find(list.begin(), list.end(), node) == list.end()) list.push_back(node);
}

// Whether each node of `nodes` comes before, or is, one of `ends`.
bool reaches(const std::vector<CUgraphNode>& nodes, const std::vector<CUgraphNode>& ends) {
  std::set<CUgraphNode> seen(ends.begin(), ends.end());
  std::vector<CUgraphNode> open = ends;
  while (!open.empty()) {
    CUgraphNode node = open.back();
    open.pop_back();
    for (CUgraphNode earlier : node->dependencies)
      if (seen.insert(earlier).second) open.push_back(earlier);
  }
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](CUgraphNode node) { return seen.count(node) > 0; });
}

bool joined(const Capture& capture) {
  const auto& ends = capture.streams.at(capture.origin);
  return std::all_of(capture.streams.begin(), capture.streams.end(),
                     [&](const auto& entry) { return reaches(entry.second, ends); });
}

void finish_locked(Capture* capture) {
  for (auto& [stream, nodes] : capture->streams) stream->capture = nullptr;
  for (auto& [event, nodes] : capture->events) event->capture = nullptr;
  std::erase(captures().all, capture);
  --running;
  delete capture;
}

// The captured blocking streams of a context make its legacy stream unusable.
bool invalidate_blocking_locked(const Context& context) {
  bool any = false;
  for (Capture* capture : captures().all)
    for (auto& [stream, nodes] : capture->streams)
      if (stream->context == &context && !(stream->flags & STREAM_NON_BLOCKING))
        any = capture->invalidated = true;
  return any;
}

}  // namespace

bool any_capture() { return running.load(std::memory_order_acquire) > 0; }

int exchange_capture_mode(int mode) { return std::exchange(thread_mode, mode); }

CUresult begin_capture(CUstream_st& stream, int mode, CUgraph into, const CUgraphNode* dependencies,
                       std::size_t count) {
  std::lock_guard lock(captures().mutex);
  if (stream.capture) return CUDA_ERROR_ILLEGAL_STATE;
  auto* capture = new Capture;
  capture->id = ++captures().last_id;
  capture->graph = into ? into : make_graph();
  capture->owns_graph = !into;
  capture->origin = &stream;
  capture->mode = mode;
  capture->thread = this_thread();
  capture->streams[&stream].assign(dependencies, dependencies + count);
  captures().all.push_back(capture);
  stream.capture = capture;
  ++running;
  return CUDA_SUCCESS;
}

CUresult end_capture(CUstream_st& stream, CUgraph* out) {
  std::unique_lock lock(captures().mutex);
  Capture* capture = stream.capture;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != &stream) {
    capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (capture->mode != CAPTURE_RELAXED && capture->thread != this_thread())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  CUresult result = capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                    : joined(*capture)   ? CUDA_SUCCESS
                                         : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  CUgraph graph = capture->graph;
  bool owned = capture->owns_graph;
  finish_locked(capture);
  lock.unlock();  // destroying a graph may call the program back
  if (result != CUDA_SUCCESS) {
    if (owned) destroy_graph(graph);
    graph = nullptr;
  }
  if (out) *out = graph;
  return result;
}

void abandon_capture(CUstream_st& stream) {
  if (!any_capture()) return;
  std::unique_lock lock(captures().mutex);
  Capture* capture = stream.capture;
  if (!capture) return;
  capture->invalidated = true;
  if (capture->origin == &stream) {
    CUgraph graph = capture->owns_graph ? capture->graph : nullptr;
    finish_locked(capture);
    lock.unlock();
    if (graph) destroy_graph(graph);
  } else {
    capture->streams.erase(&stream);
    stream.capture = nullptr;
  }
}

CaptureInfo capture_info(CUstream_st& stream) {
  std::lock_guard lock(captures().mutex);
  Capture* capture = stream.capture;
  if (!capture) return {};
  if (capture->invalidated) return {CAPTURE_INVALIDATED, capture->id, nullptr, nullptr, 0};
  const auto& nodes = capture->streams[&stream];
  return {CAPTURE_ACTIVE, capture->id, capture->graph, nodes.data(), nodes.size()};
}

CUresult update_capture(CUstream_st& stream, const CUgraphNode* nodes, std::size_t count,
                        bool replace) {
  std::lock_guard lock(captures().mutex);
  Capture* capture = stream.capture;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  for (std::size_t i = 0; i < count; ++i)
    if (!is_live(nodes[i]) || nodes[i]->graph != capture->graph) return CUDA_ERROR_INVALID_VALUE;
  auto& tails = capture->streams[&stream];
  if (replace) tails.clear();
  add(tails, {nodes, nodes + count});
  return CUDA_SUCCESS;
}

CUresult capture_work(Context& context, CUstream_st& stream, Work work) {
  std::lock_guard lock(captures().mutex);
  Capture* capture = stream.capture;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;  // ended by another thread meanwhile
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  auto& tails = capture->streams[&stream];
  CUgraphNode node = nullptr;
  CUresult error =
      add_node(capture->graph, context, tails.data(), tails.size(), std::move(work), &node);
  if (error == CUDA_SUCCESS) tails = {node};
  return error;
}

CUresult capture_record(CUstream_st& stream, CUevent event) {
  std::lock_guard lock(captures().mutex);
  Capture* capture = stream.capture;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (event->capture && event->capture != capture) event->capture->events.erase(event);
  event->capture = capture;
  capture->events[event] = capture->streams[&stream];
  return CUDA_SUCCESS;
}

CUresult capture_wait(CUstream_st& stream, CUevent event, bool* handled) {
  std::lock_guard lock(captures().mutex);
  Capture* mine = stream.capture;
  Capture* theirs = event->capture;
  *handled = mine || theirs;
  if (!*handled) return CUDA_SUCCESS;
  if ((mine && mine->invalidated) || (theirs && theirs->invalidated))
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!theirs) {
    mine->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (mine && mine != theirs) {
    mine->invalidated = theirs->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (&stream == &stream.context->default_stream) {
    theirs->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  add(theirs->streams[&stream], theirs->events[event]);
  stream.capture = theirs;
  return CUDA_SUCCESS;
}

bool is_captured_event(CUevent event) {
  if (!any_capture()) return false;
  std::lock_guard lock(captures().mutex);
  return event->capture != nullptr;
}

CUresult refuse_captured_event(CUevent event) {
  if (!any_capture()) return CUDA_SUCCESS;
  std::lock_guard lock(captures().mutex);
  if (!event->capture) return CUDA_SUCCESS;
  event->capture->invalidated = true;
  return CUDA_ERROR_CAPTURED_EVENT;
}

void forget_captured_event(CUevent event) {
  if (!any_capture()) return;
  std::lock_guard lock(captures().mutex);
  if (event->capture) event->capture->events.erase(event);
  event->capture = nullptr;
}

CUresult refuse_captured(Context& context, CUstream_st& stream) {
  if (!any_capture()) return CUDA_SUCCESS;
  {
    std::lock_guard lock(captures().mutex);
    if (Capture* capture = stream.capture) {
      capture->invalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  }
  return refuse_implicit(context, stream);
}

CUresult refuse_implicit(Context& context, CUstream_st& stream) {
  if (!any_capture() || &stream != &context.default_stream) return CUDA_SUCCESS;
  std::lock_guard lock(captures().mutex);
  return invalidate_blocking_locked(context) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

CUresult refuse_unsafe() {
  if (!any_capture() || thread_mode == CAPTURE_RELAXED) return CUDA_SUCCESS;
  std::lock_guard lock(captures().mutex);
  bool prohibited = false;
  for (Capture* capture : captures().all) {
    bool own = capture->thread == this_thread() && capture->mode != CAPTURE_RELAXED;
    bool other = capture->thread != this_thread() && capture->mode == CAPTURE_GLOBAL &&
                 thread_mode == CAPTURE_GLOBAL;
    if (own || other) prohibited = capture->invalidated = true;
  }
  return prohibited ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

}  // namespace td::softdev
