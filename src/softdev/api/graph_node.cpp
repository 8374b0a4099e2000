// Nodes of graphs: made, read, changed.
#include "softdev/api/guard.h"
#include "softdev/api/node_params.h"
#include "softdev/api/soft_api.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

using Dependencies = const CUgraphNode*;

// Adds what make(&context, &work) makes.
template <class Make>
CUresult add(CUgraphNode* out, CUgraph graph, Dependencies dependencies, std::size_t count,
             CUcontext named, const Make& make) {
  return in_context([&](Context& current) -> CUresult {
    if (!out || !is_live(graph)) return CUDA_ERROR_INVALID_VALUE;
    Context* context = &current;
    if (named) {
      if (!is_context(named) || !named->active) return CUDA_ERROR_INVALID_CONTEXT;
      context = named;
    }
    Work work;
    if (CUresult error = make(&context, &work)) return error;
    return add_node(graph, *context, dependencies, count, std::move(work), out);
  });
}

template <class Params, class Convert>
CUresult add_from(CUgraphNode* out, CUgraph graph, Dependencies dependencies, std::size_t count,
                  CUcontext named, const Params* params, const Convert& convert) {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  return add(out, graph, dependencies, count, named,
             [&](Context**, Work* work) { return convert(*params, work); });
}

CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  return {p.func,      p.gridDimX,       p.gridDimY,     p.gridDimZ, p.blockDimX, p.blockDimY,
          p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra,    nullptr,     nullptr};
}

CUresult add_kernel(CUgraphNode* out, CUgraph graph, Dependencies dependencies, std::size_t count,
                    const CUDA_KERNEL_NODE_PARAMS& params) {
  return add(out, graph, dependencies, count, nullptr,
             [&](Context** context, Work* work) { return kernel_work(params, context, work); });
}

// Runs body(work) for a node that holds work of the kind.
template <class Kind, class Body>
CUresult with_work(CUgraphNode node, const Body& body) {
  return guarded_call([&]() -> CUresult {
    Kind* work = is_live(node) ? std::get_if<Kind>(&node->work) : nullptr;
    return work ? body(*work) : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}

template <class Kind, class Convert>
CUresult replace(CUgraphNode node, const auto* params, const Convert& convert) {
  return with_work<Kind>(node, [&](Kind&) -> CUresult {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return convert(*params, &node->work);
  });
}

CUresult replace_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS& params) {
  return with_work<KernelWork>(node, [&](KernelWork& old) -> CUresult {
    Context* context = node->context;
    Work work;
    bool cooperative = old.shape.cooperative;
    if (CUresult error = kernel_work(params, &context, &work)) return error;
    std::get<KernelWork>(work).shape.cooperative = cooperative;
    node->work = std::move(work);
    node->context = context;
    return CUDA_SUCCESS;
  });
}

template <class Kind, class T>
CUresult give(CUgraphNode node, T* out, const auto& value) {
  return with_work<Kind>(node, [&](Kind& work) -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = value(work);
    return CUDA_SUCCESS;
  });
}

CUresult set_event(CUevent event, CUevent* to) {
  if (!event || !event->alive) return CUDA_ERROR_INVALID_HANDLE;
  *to = event;
  return CUDA_SUCCESS;
}

CUresult add_any(CUgraphNode* out, CUgraph graph, Dependencies dependencies, std::size_t count,
                 const CUgraphNodeParams* params) {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  return add(out, graph, dependencies, count, nullptr,
             [&](Context** context, Work* work) { return any_work(*params, context, work); });
}

CUgraphNodeParams of_event(int type, CUevent event) {
  CUgraphNodeParams params{};
  params.type = type;
  params.event.event = event;
  return params;
}

}  // namespace

extern "C" {

CUresult td_soft_cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, Dependencies dependencies,
                                      std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  return add_kernel(out, graph, dependencies, count, widen(*params));
}
CUresult td_soft_cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, Dependencies dependencies,
                                         std::size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  return add_kernel(out, graph, dependencies, count, *params);
}
CUresult td_soft_cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, Dependencies dependencies,
                                      std::size_t count, const CUDA_MEMCPY3D* params,
                                      CUcontext context) {
  return add_from(out, graph, dependencies, count, context, params, copy_work);
}
CUresult td_soft_cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, Dependencies dependencies,
                                      std::size_t count, const CUDA_MEMSET_NODE_PARAMS* params,
                                      CUcontext context) {
  return add_from(out, graph, dependencies, count, context, params, fill_work);
}
CUresult td_soft_cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, Dependencies dependencies,
                                    std::size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  return add_from(out, graph, dependencies, count, nullptr, params, host_work);
}
CUresult td_soft_cuGraphAddBatchMemOpNode(CUgraphNode* out, CUgraph graph,
                                          Dependencies dependencies, std::size_t count,
                                          const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return add_from(out, graph, dependencies, count, params ? params->ctx : nullptr, params,
                  value_work);
}
CUresult td_soft_cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph,
                                          Dependencies dependencies, std::size_t count,
                                          CUgraph child) {
  CUgraphNodeParams params{};
  params.type = NODE_GRAPH;
  params.graph.graph = child;
  return add_any(out, graph, dependencies, count, &params);
}
CUresult td_soft_cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, Dependencies dependencies,
                                     std::size_t count) {
  CUgraphNodeParams params{};
  params.type = NODE_EMPTY;
  return add_any(out, graph, dependencies, count, &params);
}
CUresult td_soft_cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph,
                                           Dependencies dependencies, std::size_t count,
                                           CUevent event) {
  CUgraphNodeParams params = of_event(NODE_EVENT_RECORD, event);
  return add_any(out, graph, dependencies, count, &params);
}
CUresult td_soft_cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, Dependencies dependencies,
                                         std::size_t count, CUevent event) {
  CUgraphNodeParams params = of_event(NODE_WAIT_EVENT, event);
  return add_any(out, graph, dependencies, count, &params);
}
CUresult td_soft_cuGraphAddNode(CUgraphNode* out, CUgraph graph, Dependencies dependencies,
                                std::size_t count, CUgraphNodeParams* params) {
  return add_any(out, graph, dependencies, count, params);
}
CUresult td_soft_cuGraphAddNode_v2(CUgraphNode* out, CUgraph graph, Dependencies dependencies,
                                   const CUgraphEdgeData*, std::size_t count,
                                   CUgraphNodeParams* params) {
  return add_any(out, graph, dependencies, count, params);
}

CUresult td_soft_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* out) {
  return give<KernelWork>(node, out, [&](KernelWork&) {
    CUDA_KERNEL_NODE_PARAMS p = kernel_params(node);
    return CUDA_KERNEL_NODE_PARAMS_v1{p.func,         p.gridDimX,  p.gridDimY,  p.gridDimZ,
                                      p.blockDimX,    p.blockDimY, p.blockDimZ, p.sharedMemBytes,
                                      p.kernelParams, p.extra};
  });
}
CUresult td_soft_cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* out) {
  return give<KernelWork>(node, out, [&](KernelWork&) { return kernel_params(node); });
}
CUresult td_soft_cuGraphKernelNodeSetParams(CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return params ? replace_kernel(node, widen(*params)) : CUDA_ERROR_INVALID_VALUE;
}
CUresult td_soft_cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                               const CUDA_KERNEL_NODE_PARAMS* params) {
  return params ? replace_kernel(node, *params) : CUDA_ERROR_INVALID_VALUE;
}
CUresult td_soft_cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* out) {
  return give<CopyWork>(node, out, [](CopyWork& work) { return work.params; });
}
CUresult td_soft_cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  return replace<CopyWork>(node, params, copy_work);
}
CUresult td_soft_cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* out) {
  return give<FillWork>(node, out, [](FillWork& work) { return work.params; });
}
CUresult td_soft_cuGraphMemsetNodeSetParams(CUgraphNode node,
                                            const CUDA_MEMSET_NODE_PARAMS* params) {
  return replace<FillWork>(node, params, fill_work);
}
CUresult td_soft_cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* out) {
  return give<HostWork>(node, out, [](HostWork& work) {
    return CUDA_HOST_NODE_PARAMS{work.function, work.user_data};
  });
}
CUresult td_soft_cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return replace<HostWork>(node, params, host_work);
}
CUresult td_soft_cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* out) {
  return give<GraphWork>(node, out, [](GraphWork& work) { return work.graph; });
}
CUresult td_soft_cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* out) {
  return give<RecordWork>(node, out, [](RecordWork& work) { return work.event; });
}
CUresult td_soft_cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return with_work<RecordWork>(node,
                               [&](RecordWork& work) { return set_event(event, &work.event); });
}
CUresult td_soft_cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* out) {
  return give<WaitWork>(node, out, [](WaitWork& work) { return work.event; });
}
CUresult td_soft_cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return with_work<WaitWork>(node, [&](WaitWork& work) { return set_event(event, &work.event); });
}
CUresult td_soft_cuGraphBatchMemOpNodeGetParams(CUgraphNode node,
                                                CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  return give<ValueWork>(node, out, [&](ValueWork& work) {
    return CUDA_BATCH_MEM_OP_NODE_PARAMS{
        node->context, static_cast<unsigned>(work.operations.size()), work.operations.data(), 0};
  });
}
CUresult td_soft_cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                                const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return replace<ValueWork>(node, params, value_work);
}

CUresult td_soft_cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return guarded_call([&]() -> CUresult {
    if (!is_live(node) || !params || params->type != type_of(node->work) ||
        params->type == NODE_GRAPH)
      return CUDA_ERROR_INVALID_VALUE;
    Context* context = node->context;
    Work work;
    if (CUresult error = any_work(*params, &context, &work)) return error;
    node->work = std::move(work);
    node->context = context;
    return CUDA_SUCCESS;
  });
}

// Attributes of kernel nodes: a cooperative launch changes what is run, the others are hints.
CUresult td_soft_cuGraphKernelNodeSetAttribute(CUgraphNode node, int attribute,
                                               const CUkernelNodeAttrValue* value) {
  return with_work<KernelWork>(node, [&](KernelWork& work) -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
      case LAUNCH_COOPERATIVE:
        work.shape.cooperative = value->cooperative != 0;
        break;
      case LAUNCH_ACCESS_POLICY_WINDOW:
      case LAUNCH_PRIORITY:
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    node->attributes[attribute] = *value;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuGraphKernelNodeGetAttribute(CUgraphNode node, int attribute,
                                               CUkernelNodeAttrValue* value) {
  return with_work<KernelWork>(node, [&](KernelWork& work) -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (attribute != LAUNCH_COOPERATIVE && attribute != LAUNCH_ACCESS_POLICY_WINDOW &&
        attribute != LAUNCH_PRIORITY)
      return CUDA_ERROR_INVALID_VALUE;
    auto found = node->attributes.find(attribute);
    *value = found == node->attributes.end() ? CUkernelNodeAttrValue{} : found->second;
    if (attribute == LAUNCH_COOPERATIVE) value->cooperative = work.shape.cooperative;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return with_work<KernelWork>(from, [&](KernelWork& source) -> CUresult {
    return with_work<KernelWork>(to, [&](KernelWork& work) -> CUresult {
      work.shape.cooperative = source.shape.cooperative;
      to->attributes = from->attributes;
      return CUDA_SUCCESS;
    });
  });
}

}  // extern "C"
