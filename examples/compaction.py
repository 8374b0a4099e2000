"""Keeps the positive numbers of an array, in their order: tiles, scans and a look back over the blocks before.

The kernel includes <cooperative_groups.h> and <cuda/atomic>; both come with Treadle, no NVIDIA software is needed.
"""

import numpy as np
import treadle as td

SOURCE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;

// totals[b] is one more than the number of values that blocks 0 to b keep, 0 as long as nobody knows.
extern "C" __global__ void keep_positive(const float* in, float* out, unsigned* totals, int n) {
  __shared__ unsigned kept_by_warp[32], kept_before;
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && in[i] > 0;

  unsigned rank = cg::exclusive_scan(warp, (unsigned)keep);
  if (warp.thread_rank() == 31) kept_by_warp[warp.meta_group_rank()] = rank + keep;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    bool is_warp = warp.thread_rank() < warp.meta_group_size();
    unsigned kept = is_warp ? kept_by_warp[warp.thread_rank()] : 0;
    unsigned before = cg::exclusive_scan(warp, kept);
    if (is_warp) kept_by_warp[warp.thread_rank()] = before;
    if (warp.thread_rank() == 31) {
      typedef cuda::atomic_ref<unsigned, cuda::thread_scope_device> Total;
      unsigned earlier = 0;
      if (blockIdx.x > 0)
        while ((earlier = Total(totals[blockIdx.x - 1]).load(cuda::memory_order_acquire)) == 0) __nanosleep(50);
      kept_before = earlier - (earlier > 0);
      Total(totals[blockIdx.x]).store(kept_before + before + kept + 1, cuda::memory_order_release);
    }
  }
  block.sync();
  if (keep) out[kept_before + kept_by_warp[warp.meta_group_rank()] + rank] = in[i];
}
"""

host = np.random.default_rng(1).standard_normal(1_000_000).astype(np.float32)
threads = 256
blocks = -(-len(host) // threads)
out, totals = td.zeros(len(host), np.float32), td.zeros(blocks, np.uint32)
td.RawKernel(SOURCE, "keep_positive")(
    (blocks,), (threads,), (td.asarray(host), out, totals, len(host))
)
count = int(td.asnumpy(totals[-1:])[0]) - 1
np.testing.assert_array_equal(td.asnumpy(out[:count]), host[host > 0])
print(f"{count} of {len(host)} values are positive, and in their order")
