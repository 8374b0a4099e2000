// Stream-ordered memory (cuMemAllocAsync): pools that keep freed memory for the next request.
//
// An allocation is made at once, on the host, and may be used from its place in the stream on.
// Freed memory comes back to its pool when the stream gets there. A pool keeps what it holds until
// the program waits for a stream, an event or a context; then everything beyond the release
// threshold goes back to the device.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "softdev/run/context.h"

struct CUmemPoolHandle_st {
  std::atomic<bool> alive{false};
  int device = 0;
  bool is_default = false;
  std::size_t max_size = 0;  // 0 = no limit

  std::mutex mutex;  // guards the rest
  bool destroyed = false;
  std::uint64_t threshold = 0;
  std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  int reuse[3] = {1, 1, 1};                         // by CUmemPool_attribute; only remembered
  std::multimap<std::size_t, std::uintptr_t> kept;  // by the bytes that the block has
  struct Block {
    std::size_t bytes = 0;
    bool in_use = false;
  };
  std::map<std::uintptr_t, Block> blocks;  // all of them, by address
  std::map<int, unsigned> access;          // of other devices
};

namespace td::softdev {

CUmemoryPool default_pool(int device);
// What cuMemAllocAsync uses: the default pool unless the program chose another one.
CUmemoryPool current_pool(int device);
void set_current_pool(int device, CUmemoryPool pool);
CUmemoryPool make_pool(int device, std::size_t max_size);
// Memory that is in use stays so until it is freed.
void destroy_pool(CUmemoryPool pool);
bool is_live(CUmemoryPool pool);

CUresult pool_allocate(CUmemoryPool pool, std::size_t bytes, std::uintptr_t* address);
// Whether it is memory in use that starts at the address.
bool pool_holds(CUmemoryPool pool, std::uintptr_t address);
// Gives the memory back when the operation is reached; also for ordinary device memory.
Ref<Op> make_free_op(Context& context, std::uintptr_t address);
// At once: cuMemFree of pool memory. False when no allocation of the pool starts there.
bool pool_free(CUmemoryPool pool, std::uintptr_t address);
void trim_pool(CUmemoryPool pool, std::uint64_t keep);
// What pools of the device hold beyond their thresholds goes back.
void release_unused_memory(int device);
// All memory of the device's pools, whether in use or not: the device is reset.
void reset_pools(int device);

}  // namespace td::softdev
