// The binary interface between code that simt/ generates and run/ that calls it.
//
// One generated *warp function* runs up to 32 consecutive threads of a block. A kernel without
// block-wide barriers also gets a *block function* that loops over all warps of the block inside
// generated code. A kernel with barriers runs each warp on its own stack; the warp function calls
// td_rt_barrier, which switches to the next warp.
//
// Layout is fixed: generated code loads these fields by offset (see offsetof uses in simt/). All
// pointers are host addresses; device memory is host memory inside one reserved range, so generic
// pointers need no translation.
#pragma once

#include <cstdint>

namespace td::softdev {

// One per launch; read-only for kernels.
struct LaunchFrame {
  const unsigned char* params;  // packed parameters, CUDA's layout (natural alignment, in order)
  unsigned char* globals;       // base of the module's __device__/__constant__ variables
  std::uint32_t grid[3];        // nctaid
  std::uint32_t block[3];       // ntid
  std::uint32_t threads;        // block[0]*block[1]*block[2]
  std::uint32_t static_shared;  // bytes; dynamic shared memory starts here, aligned to 16
  std::uint32_t dynamic_shared;
  std::uint32_t reserved;
};

// One per worker; block_idx is rewritten for each block.
struct BlockFrame {
  const LaunchFrame* launch;
  // Shared memory of the block, 256-byte aligned. Readable and writable from 1024 bytes before to
  // 1024 bytes after (masked accesses may touch, never change, neighbours).
  unsigned char* shared;
  std::uint32_t block_idx[3];  // ctaid
  std::uint32_t worker;        // index of the worker, for %smid
  void* scheduler;             // run/'s own
};

// Runs threads [first_thread, first_thread + 32) of the block (fewer at its end), linear index
// x + ntid.x*(y + ntid.y*z).
using WarpFunction = void (*)(BlockFrame* block, std::uint32_t first_thread);
// Runs every thread of the block. Only for kernels without barriers.
using BlockFunction = void (*)(BlockFrame* block);

enum class TrapKind : std::uint32_t {
  trap = 1,               // __trap: CUDA_ERROR_LAUNCH_FAILED
  assertion = 2,          // CUDA_ERROR_ASSERT
  divergent_barrier = 3,  // a barrier inside divergent control flow: not supported yet
  unreachable = 4,
  bad_free = 16,  // free() of what is not a live allocation of the heap
};

}  // namespace td::softdev

// Functions of run/ that generated code calls. Those that do not return leave the kernel through
// the worker's recovery point: no destructor of generated code exists, so nothing is lost.
extern "C" {
// __syncthreads: returns when every warp of the block has arrived or finished. `mask`: arriving
// lanes.
void td_rt_barrier(td::softdev::BlockFrame* block, std::uint32_t mask);
// __syncthreads_count/_and/_or: `predicate` is the mask of lanes whose predicate holds. kind: 0
// count, 1 and, 2 or.
std::uint32_t td_rt_barrier_reduce(td::softdev::BlockFrame* block, std::uint32_t mask,
                                   std::uint32_t predicate, std::uint32_t kind);
[[noreturn]] void td_rt_trap(td::softdev::BlockFrame* block, std::uint32_t kind,
                             std::uint32_t first_thread, std::uint32_t lane_mask,
                             std::uint32_t line);
// assert(): message, file and function are NUL-terminated.
[[noreturn]] void td_rt_assert_fail(td::softdev::BlockFrame* block, std::uint32_t first_thread,
                                    std::uint32_t lane_mask, const char* message, const char* file,
                                    std::uint32_t line, const char* function);
// printf of one lane: CUDA's vprintf buffer (each argument at its natural alignment).
std::int32_t td_rt_printf(td::softdev::BlockFrame* block, const char* format,
                          const void* arguments);
}
