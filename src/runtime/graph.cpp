// Graphs: capture of streams, nodes, instances.
#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

namespace {

CUgraph graph_of(cudaGraph_t graph) { return reinterpret_cast<CUgraph>(graph); }
CUgraphExec exec_of(cudaGraphExec_t exec) { return reinterpret_cast<CUgraphExec>(exec); }
CUgraphNode* node_of(cudaGraphNode_t* node) { return reinterpret_cast<CUgraphNode*>(node); }
const CUgraphNode* nodes_of(const cudaGraphNode_t* nodes) {
  return reinterpret_cast<const CUgraphNode*>(nodes);
}

cudaError_t kernel_params(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS* to) {
  *to = {};
  if (cudaError_t error = kernel_of(from.func, &to->func)) return error;
  to->gridDimX = from.gridDim.x;
  to->gridDimY = from.gridDim.y;
  to->gridDimZ = from.gridDim.z;
  to->blockDimX = from.blockDim.x;
  to->blockDimY = from.blockDim.y;
  to->blockDimZ = from.blockDim.z;
  to->sharedMemBytes = from.sharedMemBytes;
  to->kernelParams = from.kernelParams;
  to->extra = from.extra;
  return cudaSuccess;
}

CUresult current_context(CUcontext* context) { return api().cuCtxGetCurrent(context); }

}  // namespace

// ---- capture

TD_RUNTIME cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&] { return api().cuStreamBeginCapture(stream_of(stream), mode); });
}
TD_RUNTIME cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] {
    return api().cuStreamEndCapture(stream_of(stream), reinterpret_cast<CUgraph*>(graph));
  });
}
TD_RUNTIME cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (status == nullptr) return note(cudaErrorInvalidValue);
  return call([&] {
    int found = 0;
    const CUresult result = api().cuStreamIsCapturing(stream_of(stream), &found);
    *status = static_cast<cudaStreamCaptureStatus>(found);
    return result;
  });
}

// ---- graphs

TD_RUNTIME cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call([&] { return api().cuGraphCreate(reinterpret_cast<CUgraph*>(graph), flags); });
}
TD_RUNTIME cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] { return api().cuGraphDestroy(graph_of(graph)); });
}
TD_RUNTIME cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return call(
      [&] { return api().cuGraphClone(reinterpret_cast<CUgraph*>(clone), graph_of(graph)); });
}
TD_RUNTIME cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&] { return api().cuGraphGetNodes(graph_of(graph), node_of(nodes), count); });
}

TD_RUNTIME cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, size_t count) {
  return call([&] {
    return api().cuGraphAddEmptyNode(node_of(node), graph_of(graph), nodes_of(after), count);
  });
}
TD_RUNTIME cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* after, size_t count,
                                              const cudaKernelNodeParams* params) {
  if (params == nullptr) return note(cudaErrorInvalidValue);
  return call([&]() -> cudaError_t {
    CUDA_KERNEL_NODE_PARAMS own;
    if (cudaError_t error = kernel_params(*params, &own)) return error;
    return error_of(
        api().cuGraphAddKernelNode(node_of(node), graph_of(graph), nodes_of(after), count, &own));
  });
}
TD_RUNTIME cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* after, size_t count,
                                              const cudaMemcpy3DParms* params) {
  if (params == nullptr) return note(cudaErrorInvalidValue);
  return call([&]() -> CUresult {
    CUcontext context = nullptr;
    if (CUresult error = current_context(&context)) return error;
    const CUDA_MEMCPY3D box = box_of(*params);
    return api().cuGraphAddMemcpyNode(node_of(node), graph_of(graph), nodes_of(after), count, &box,
                                      context);
  });
}
TD_RUNTIME cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* after, size_t count,
                                                void* to, const void* from, size_t bytes,
                                                cudaMemcpyKind kind) {
  cudaMemcpy3DParms params = {};
  params.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  params.dstPtr = {to, bytes, bytes, 1};
  params.extent = {bytes, 1, 1};
  params.kind = kind;
  return cudaGraphAddMemcpyNode(node, graph, after, count, &params);
}
TD_RUNTIME cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* after, size_t count,
                                              const cudaMemsetParams* params) {
  if (params == nullptr) return note(cudaErrorInvalidValue);
  return call([&]() -> CUresult {
    CUcontext context = nullptr;
    if (CUresult error = current_context(&context)) return error;
    const CUDA_MEMSET_NODE_PARAMS own{address_of(params->dst), params->pitch, params->value,
                                      params->elementSize,     params->width, params->height};
    return api().cuGraphAddMemsetNode(node_of(node), graph_of(graph), nodes_of(after), count, &own,
                                      context);
  });
}
TD_RUNTIME cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t* after, size_t count,
                                            const cudaHostNodeParams* params) {
  if (params == nullptr) return note(cudaErrorInvalidValue);
  return call([&] {
    const CUDA_HOST_NODE_PARAMS own{params->fn, params->userData};
    return api().cuGraphAddHostNode(node_of(node), graph_of(graph), nodes_of(after), count, &own);
  });
}

// ---- instances

TD_RUNTIME cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                     unsigned long long flags) {
  return call([&] {
    return api().cuGraphInstantiate(reinterpret_cast<CUgraphExec*>(exec), graph_of(graph), flags);
  });
}
TD_RUNTIME cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                            unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}
TD_RUNTIME cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call([&] { return api().cuGraphExecDestroy(exec_of(exec)); });
}
TD_RUNTIME cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&] { return api().cuGraphUpload(exec_of(exec), stream_of(stream)); });
}
TD_RUNTIME cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&] { return api().cuGraphLaunch(exec_of(exec), stream_of(stream)); });
}
TD_RUNTIME cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        const cudaKernelNodeParams* params) {
  if (params == nullptr) return note(cudaErrorInvalidValue);
  return call([&]() -> cudaError_t {
    CUDA_KERNEL_NODE_PARAMS own;
    if (cudaError_t error = kernel_params(*params, &own)) return error;
    return error_of(api().cuGraphExecKernelNodeSetParams(
        exec_of(exec), reinterpret_cast<CUgraphNode>(node), &own));
  });
}
TD_RUNTIME cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                           cudaGraphExecUpdateResultInfo* info) {
  return call([&] {
    CUgraphExecUpdateResultInfo own{};
    const CUresult result = api().cuGraphExecUpdate(exec_of(exec), graph_of(graph), &own);
    if (info) info->result = static_cast<cudaGraphExecUpdateResult>(own.result);
    return result;
  });
}
