// Stream capture.
#include "softdev/run/capture.h"

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

CUresult begin(CUstream handle, int mode, CUgraph into, const CUgraphNode* dependencies,
               std::size_t count) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (mode < CAPTURE_GLOBAL || mode > CAPTURE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    if (&stream == &context.default_stream) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return begin_capture(stream, mode, into, dependencies, count);
  });
}

CUresult info(CUstream handle, int* status, std::uint64_t* id, CUgraph* graph,
              const CUgraphNode** dependencies, std::size_t* count) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!status) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = refuse_implicit(context, stream)) return error;
    CaptureInfo now = capture_info(stream);
    *status = now.status;
    if (now.status == CAPTURE_NONE) return CUDA_SUCCESS;
    if (id) *id = now.id;
    if (graph) *graph = now.graph;
    if (dependencies) *dependencies = now.dependencies;
    if (count) *count = now.count;
    return CUDA_SUCCESS;
  });
}

CUresult update(CUstream handle, CUgraphNode* nodes, std::size_t count, unsigned flags) {
  return in_stream(handle, [&](Context&, CUstream_st& stream) -> CUresult {
    if (flags > 1 || (count && !nodes)) return CUDA_ERROR_INVALID_VALUE;
    return update_capture(stream, nodes, count, flags == 1);
  });
}

}  // namespace

extern "C" {

CUresult td_soft_cuStreamBeginCapture_v2(CUstream stream, int mode) {
  return begin(stream, mode, nullptr, nullptr, 0);
}

CUresult td_soft_cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                             const CUgraphNode* dependencies,
                                             const CUgraphEdgeData*, std::size_t count, int mode) {
  if (!is_live(graph) || (count && !dependencies)) return CUDA_ERROR_INVALID_VALUE;
  return begin(stream, mode, graph, dependencies, count);
}

CUresult td_soft_cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return in_stream(handle, [&](Context&, CUstream_st& stream) -> CUresult {
    return end_capture(stream, graph);
  });
}

CUresult td_soft_cuStreamIsCapturing(CUstream stream, int* status) {
  return info(stream, status, nullptr, nullptr, nullptr, nullptr);
}
CUresult td_soft_cuStreamGetCaptureInfo_v2(CUstream stream, int* status, std::uint64_t* id,
                                           CUgraph* graph, const CUgraphNode** dependencies,
                                           std::size_t* count) {
  return info(stream, status, id, graph, dependencies, count);
}
CUresult td_soft_cuStreamGetCaptureInfo_v3(CUstream stream, int* status, std::uint64_t* id,
                                           CUgraph* graph, const CUgraphNode** dependencies,
                                           const CUgraphEdgeData** edges, std::size_t* count) {
  if (edges) *edges = nullptr;
  return info(stream, status, id, graph, dependencies, count);
}

CUresult td_soft_cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes,
                                                   std::size_t count, unsigned flags) {
  return update(stream, nodes, count, flags);
}
CUresult td_soft_cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes,
                                                      const CUgraphEdgeData*, std::size_t count,
                                                      unsigned flags) {
  return update(stream, nodes, count, flags);
}

CUresult td_soft_cuThreadExchangeStreamCaptureMode(int* mode) {
  return guarded_call([&]() -> CUresult {
    // NVIDIA's driver takes any number; an unknown one here is as strict as the default.
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = exchange_capture_mode(*mode);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
