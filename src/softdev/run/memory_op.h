// Waiting for and writing a value in memory as operations of a stream (cuStreamWaitValue and its
// kin).
#pragma once

#include <vector>

#include "softdev/run/context.h"

namespace td::softdev {

// CUDA_ERROR_INVALID_VALUE for an unknown operation or flag, an address that is not device memory
// or not aligned.
CUresult check_memory_ops(const std::vector<CUstreamBatchMemOpParams>& operations);

// Does the operations in their order; a wait holds back what follows it.
Ref<Op> make_memory_op(Context& context, std::vector<CUstreamBatchMemOpParams> operations);

}  // namespace td::softdev
