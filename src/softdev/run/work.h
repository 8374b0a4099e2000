// What a stream can be asked to do, as plain data: enqueued at once, or kept as a node of a graph.
#pragma once

#include <variant>
#include <vector>

#include "base/cuda_abi.h"
#include "softdev/run/context.h"
#include "softdev/run/module.h"
#include "softdev/run/region.h"

namespace td::softdev {

struct KernelWork {
  CUfunction function = nullptr;
  LaunchShape shape{};
  std::vector<unsigned char> params;  // packed
};
struct CopyWork {
  CUDA_MEMCPY3D params{};
};
struct FillWork {
  CUDA_MEMSET_NODE_PARAMS params{};
};
struct HostWork {
  CUhostFn function = nullptr;
  void* user_data = nullptr;
  bool after_failure = false;  // called even when the context has failed
};
struct GraphWork {
  CUgraph graph = nullptr;  // owned by the node
};
struct EmptyWork {};
struct WaitWork {
  CUevent event = nullptr;
};
struct RecordWork {
  CUevent event = nullptr;
};
struct ValueWork {
  std::vector<CUstreamBatchMemOpParams> operations;
};
using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, GraphWork, WaitWork,
                          RecordWork, ValueWork>;

// A copy whose addresses and limits were checked.
struct CheckedCopy {
  CopyRegion region;
  bool from_pageable = false, to_pageable = false;
};
CUresult check_copy(const CUDA_MEMCPY3D& params, CheckedCopy* out);
CUresult check_fill(const CUDA_MEMSET_NODE_PARAMS& params, FillRegion* out);
CUDA_MEMCPY3D linear_copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);

// The operation that does the work once; for a child graph and for what does nothing, a marker.
// Addresses are checked again: what they point to may be gone.
CUresult make_op(Context& context, const Work& work, Ref<Op>* out);

// Enqueues the work, or records it when the stream is being captured. `wait`: returns when it is
// done, with the context's error.
CUresult submit(Context& context, CUstream_st& stream, Work work, bool wait = false);

// Whether an address belongs to ordinary host memory, which the driver knows nothing of.
bool is_pageable(std::uintptr_t address);

}  // namespace td::softdev
