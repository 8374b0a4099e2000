// Between the parameter structures of graph nodes and work.
#pragma once

#include "softdev/run/graph.h"

namespace td::softdev {

// Each checks what can be checked before the work runs. `context` comes out as the one that the
// work is of.
CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS& params, Context** context, Work* out);
CUresult copy_work(const CUDA_MEMCPY3D& params, Work* out);
CUresult fill_work(const CUDA_MEMSET_NODE_PARAMS& params, Work* out);
CUresult host_work(const CUDA_HOST_NODE_PARAMS& params, Work* out);
CUresult value_work(const CUDA_BATCH_MEM_OP_NODE_PARAMS& params, Work* out);
// Any type. A child graph is cloned.
CUresult any_work(const CUgraphNodeParams& params, Context** context, Work* out);

// What a kernel node was made from. The pointers to parameters live as long as the node keeps its
// work.
CUDA_KERNEL_NODE_PARAMS kernel_params(CUgraphNode node);

}  // namespace td::softdev
