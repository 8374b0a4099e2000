// Executable graphs.
#include "softdev/api/guard.h"
#include "softdev/api/node_params.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/capture.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

enum InstantiateFlags : std::uint64_t {
  FREE_ON_LAUNCH = 1,
  UPLOAD = 2,
  DEVICE_LAUNCH = 4,
  NODE_PRIORITY = 8,
};

CUresult make(CUgraphExec* exec, CUgraph graph, std::uint64_t flags) {
  return in_context([&](Context&) -> CUresult {
    if (!exec || !is_live(graph)) return CUDA_ERROR_INVALID_VALUE;
    if (flags & ~(FREE_ON_LAUNCH | UPLOAD | DEVICE_LAUNCH | NODE_PRIORITY))
      return CUDA_ERROR_INVALID_VALUE;
    if (flags & DEVICE_LAUNCH) return CUDA_ERROR_NOT_SUPPORTED;
    return instantiate(graph, flags, exec);
  });
}

CUresult with_exec(CUgraphExec exec, const auto& body) {
  return guarded_call([&]() -> CUresult {
    return is_live(exec) ? body() : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}

// Runs body(item) for the item of a node, whose work must be of the kind.
template <class Kind, class Body>
CUresult with_item(CUgraphExec exec, CUgraphNode node, const Body& body) {
  return with_exec(exec, [&]() -> CUresult {
    std::lock_guard lock(exec->mutex);
    CUgraphExec_st::Item* item = node ? find_item(exec, node) : nullptr;
    if (!item || !std::holds_alternative<Kind>(item->work)) return CUDA_ERROR_INVALID_VALUE;
    return body(*item);
  });
}

template <class Kind, class Convert>
CUresult replace(CUgraphExec exec, CUgraphNode node, const auto* params, const Convert& convert) {
  return with_item<Kind>(exec, node, [&](CUgraphExec_st::Item& item) -> CUresult {
    return params ? convert(*params, &item.work) : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}

CUresult replace_kernel(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS& params) {
  return with_item<KernelWork>(exec, node, [&](CUgraphExec_st::Item& item) -> CUresult {
    Context* context = item.context;
    Work work;
    if (CUresult error = kernel_work(params, &context, &work)) return error;
    if (context != item.context) return CUDA_ERROR_INVALID_VALUE;
    std::get<KernelWork>(work).shape.cooperative =
        std::get<KernelWork>(item.work).shape.cooperative;
    item.work = std::move(work);
    return CUDA_SUCCESS;
  });
}

CUresult set_event(CUevent event, CUevent* to) {
  if (!event || !event->alive) return CUDA_ERROR_INVALID_HANDLE;
  *to = event;
  return CUDA_SUCCESS;
}

CUresult launch(CUgraphExec exec, CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!is_live(exec)) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = refuse_captured(context, stream)) return error;
    return launch_graph(context, exec, stream);
  });
}

}  // namespace

extern "C" {

CUresult td_soft_cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph,
                                             unsigned long long flags) {
  return make(exec, graph, flags);
}
CUresult td_soft_cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node,
                                       char* log, std::size_t log_bytes) {
  if (error_node) *error_node = nullptr;
  if (log && log_bytes) *log = 0;
  return make(exec, graph, 0);
}
CUresult td_soft_cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = make(exec, graph, params->flags);
  params->hErrNode_out = nullptr;
  params->result_out = result == CUDA_SUCCESS ? 0 : 1;
  return result;
}

CUresult td_soft_cuGraphExecGetFlags(CUgraphExec exec, std::uint64_t* flags) {
  return with_exec(exec, [&]() -> CUresult {
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuGraphExecDestroy(CUgraphExec exec) {
  return with_exec(exec, [&]() -> CUresult {
    destroy_exec(exec);
    return CUDA_SUCCESS;
  });
}

// There is nothing to prepare: kernels are loaded with their modules.
CUresult td_soft_cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return in_stream(stream, [&](Context&, CUstream_st&) -> CUresult {
    return is_live(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuGraphLaunch(CUgraphExec exec, CUstream stream) { return launch(exec, stream); }

CUresult td_soft_cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                      CUgraphExecUpdateResultInfo* info) {
  return with_exec(exec, [&]() -> CUresult {
    if (!is_live(graph) || !info) return CUDA_ERROR_INVALID_VALUE;
    return update_exec(exec, graph, info);
  });
}
CUresult td_soft_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                                   int* result) {
  CUgraphExecUpdateResultInfo info{};
  CUresult error = td_soft_cuGraphExecUpdate_v2(exec, graph, &info);
  if (error_node) *error_node = info.errorNode;
  if (result) *result = info.result;
  return error;
}

CUresult td_soft_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  return replace_kernel(
      exec, node,
      {p->func, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ,
       p->sharedMemBytes, p->kernelParams, p->extra, nullptr, nullptr});
}
CUresult td_soft_cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                   const CUDA_KERNEL_NODE_PARAMS* params) {
  return params ? replace_kernel(exec, node, *params) : CUDA_ERROR_INVALID_VALUE;
}
CUresult td_soft_cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_MEMCPY3D* params, CUcontext) {
  return replace<CopyWork>(exec, node, params, copy_work);
}
CUresult td_soft_cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return replace<FillWork>(exec, node, params, fill_work);
}
CUresult td_soft_cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                              const CUDA_HOST_NODE_PARAMS* params) {
  return replace<HostWork>(exec, node, params, host_work);
}
CUresult td_soft_cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                    const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return replace<ValueWork>(exec, node, params, value_work);
}
CUresult td_soft_cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                    CUevent event) {
  return with_item<RecordWork>(exec, node, [&](CUgraphExec_st::Item& item) {
    return set_event(event, &std::get<RecordWork>(item.work).event);
  });
}
CUresult td_soft_cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                  CUevent event) {
  return with_item<WaitWork>(exec, node, [&](CUgraphExec_st::Item& item) {
    return set_event(event, &std::get<WaitWork>(item.work).event);
  });
}

CUresult td_soft_cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                          CUgraphNodeParams* params) {
  return with_exec(exec, [&]() -> CUresult {
    std::lock_guard lock(exec->mutex);
    CUgraphExec_st::Item* item = node ? find_item(exec, node) : nullptr;
    if (!item || !params || params->type != type_of(item->work) || params->type == NODE_GRAPH)
      return CUDA_ERROR_INVALID_VALUE;
    Context* context = item->context;
    Work work;
    if (CUresult error = any_work(*params, &context, &work)) return error;
    item->work = std::move(work);
    return CUDA_SUCCESS;
  });
}

// Only kernels, copies and fills can be switched off; off, a node does nothing but keep the order.
CUresult td_soft_cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  return with_exec(exec, [&]() -> CUresult {
    std::lock_guard lock(exec->mutex);
    CUgraphExec_st::Item* item = node ? find_item(exec, node) : nullptr;
    if (!item || type_of(item->work) > NODE_MEMSET) return CUDA_ERROR_INVALID_VALUE;
    item->enabled = enabled != 0;
    return CUDA_SUCCESS;
  });
}
CUresult td_soft_cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* enabled) {
  return with_exec(exec, [&]() -> CUresult {
    std::lock_guard lock(exec->mutex);
    CUgraphExec_st::Item* item = node ? find_item(exec, node) : nullptr;
    if (!item || !enabled || type_of(item->work) > NODE_MEMSET) return CUDA_ERROR_INVALID_VALUE;
    *enabled = item->enabled;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
