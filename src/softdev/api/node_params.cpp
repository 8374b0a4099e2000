#include "softdev/api/node_params.h"

#include "softdev/api/functions.h"
#include "softdev/api/params.h"
#include "softdev/run/memory_op.h"

namespace td::softdev {

using namespace cuda;

namespace {

bool usable(CUcontext context) { return is_context(context) && context->active; }

CUresult event_work(CUevent event, bool record, Work* out) {
  if (!event || !event->alive) return CUDA_ERROR_INVALID_HANDLE;
  *out = record ? Work(RecordWork{event}) : Work(WaitWork{event});
  return CUDA_SUCCESS;
}

}  // namespace

CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS& p, Context** context, Work* out) {
  if (p.ctx) {
    if (!usable(p.ctx)) return CUDA_ERROR_INVALID_CONTEXT;
    *context = p.ctx;
  }
  auto handle = p.func ? p.func : reinterpret_cast<CUfunction>(p.kern);
  CUfunction function = nullptr;
  if (CUresult error = resolve_function(**context, handle, &function)) return error;
  KernelWork work;
  work.function = function;
  work.shape = {{p.gridDimX, p.gridDimY, p.gridDimZ},
                {p.blockDimX, p.blockDimY, p.blockDimZ},
                p.sharedMemBytes};
  if (CUresult error = check_launch(*function, work.shape)) return error;
  PackedParams packed;
  if (CUresult error = packed.pack(function->info, p.kernelParams, p.extra)) return error;
  if (packed.data()) work.params.assign(packed.data(), packed.data() + function->info.param_bytes);
  *context = function->module->context;
  *out = std::move(work);
  return CUDA_SUCCESS;
}

CUresult copy_work(const CUDA_MEMCPY3D& params, Work* out) {
  CheckedCopy checked;
  if (CUresult error = check_copy(params, &checked)) return error;
  *out = CopyWork{params};
  return CUDA_SUCCESS;
}

CUresult fill_work(const CUDA_MEMSET_NODE_PARAMS& params, Work* out) {
  FillRegion region;
  if (CUresult error = check_fill(params, &region)) return error;
  *out = FillWork{params};
  return CUDA_SUCCESS;
}

CUresult host_work(const CUDA_HOST_NODE_PARAMS& params, Work* out) {
  if (!params.fn) return CUDA_ERROR_INVALID_VALUE;
  *out = HostWork{params.fn, params.userData};
  return CUDA_SUCCESS;
}

CUresult value_work(const CUDA_BATCH_MEM_OP_NODE_PARAMS& params, Work* out) {
  if (params.flags != 0 || params.count > 256 || (params.count && !params.paramArray))
    return CUDA_ERROR_INVALID_VALUE;
  ValueWork work{{params.paramArray, params.paramArray + params.count}};
  if (CUresult error = check_memory_ops(work.operations)) return error;
  *out = std::move(work);
  return CUDA_SUCCESS;
}

CUresult any_work(const CUgraphNodeParams& params, Context** context, Work* out) {
  switch (params.type) {
    case NODE_KERNEL:
      return kernel_work(params.kernel, context, out);
    case NODE_MEMCPY:
      if (usable(params.memcpy.copyCtx)) *context = params.memcpy.copyCtx;
      return copy_work(params.memcpy.copyParams, out);
    case NODE_MEMSET:
      if (usable(params.memset.ctx)) *context = params.memset.ctx;
      return fill_work(params.memset.fill, out);
    case NODE_HOST:
      return host_work(params.host, out);
    case NODE_GRAPH: {
      if (!is_live(params.graph.graph)) return CUDA_ERROR_INVALID_VALUE;
      CUgraph child = clone_graph(params.graph.graph);
      child->child = true;
      *out = GraphWork{child};
      return CUDA_SUCCESS;
    }
    case NODE_EMPTY:
      *out = EmptyWork{};
      return CUDA_SUCCESS;
    case NODE_WAIT_EVENT:
    case NODE_EVENT_RECORD:
      return event_work(params.event.event, params.type == NODE_EVENT_RECORD, out);
    case NODE_BATCH_MEM_OP:
      return value_work(params.memOp, out);
    default:  // external semaphores, memory, conditions
      return params.type >= 0 && params.type <= 13 ? CUDA_ERROR_NOT_SUPPORTED
                                                   : CUDA_ERROR_INVALID_VALUE;
  }
}

CUDA_KERNEL_NODE_PARAMS kernel_params(CUgraphNode node) {
  auto& work = std::get<KernelWork>(node->work);
  node->param_pointers.clear();
  for (const ParamLayout& param : work.function->info.params)
    node->param_pointers.push_back(work.params.data() + param.offset);
  const LaunchShape& shape = work.shape;
  return {work.function,
          shape.grid[0],
          shape.grid[1],
          shape.grid[2],
          shape.block[0],
          shape.block[1],
          shape.block[2],
          shape.dynamic_shared,
          node->param_pointers.empty() ? nullptr : node->param_pointers.data(),
          nullptr,
          nullptr,
          node->context};
}

}  // namespace td::softdev
