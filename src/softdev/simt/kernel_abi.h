// The binary interface between code that simt/ generates and run/ that calls it.
//
// One generated *warp function* runs up to 32 consecutive threads of a block. A kernel without
// block-wide barriers also gets a *block function* that loops over all warps of the block inside
// generated code. A kernel with barriers runs each warp on its own stack; the warp function calls
// td_rt_barrier, which switches to the next warp.
//
// *Fair mode* (LoweredKernel::fairness, simt/progress.h) is for kernels whose threads wait for one
// another by other means than a block-wide barrier that all reach together. The block's pieces are
// fibers that take turns: warps (or the whole block) in vector code, or single threads in scalar
// code, each with a program counter of its own (*thread functions*). A loop that may wait calls
// td_rt_yield in each round; blocks take turns as well.
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
  void* fair;                  // run/'s own: the block's fibers, null outside of fair mode
};

// One thread for scalar code: of a fiber in lane mode, or made for one call from vector code.
struct ThreadFrame {
  BlockFrame* block;
  std::uint32_t index[3];  // tid
  std::uint32_t linear;    // x + ntid.x*(y + ntid.y*z)
  // A function that may recurse leaves by td_rt_stack_overflow when its stack pointer is below;
  // null where guard pages do that work.
  const unsigned char* stack_limit;
};

// Runs threads [first_thread, first_thread + 32) of the block (fewer at its end), linear index
// x + ntid.x*(y + ntid.y*z).
using WarpFunction = void (*)(BlockFrame* block, std::uint32_t first_thread);
// Runs every thread of the block. Only for kernels without barriers, or with barriers as phases.
using BlockFunction = void (*)(BlockFrame* block);
// Runs one thread. Only in fair mode.
using ThreadFunction = void (*)(ThreadFrame* thread);

// What td_rt_warp_op does. `value` is of up to 64 bits; 32-bit results are zero-extended.
enum class WarpOp : std::uint32_t {
  sync,  // __syncwarp
  shuffle_idx,
  shuffle_up,
  shuffle_down,
  shuffle_bfly,  // b, c as in PTX; result | in range << 32
  vote_all,
  vote_any,
  vote_uni,  // value: the predicate
  ballot,
  match_any,  // lanes with the same value
  match_all,  // lanes | all are equal << 32
  reduce_add,
  reduce_and,
  reduce_or,
  reduce_xor,
  reduce_umin,
  reduce_umax,
  reduce_min,
  reduce_max,
  active_mask,  // b: number of the call site
  mma,          // value: address of the lane's 10 operand words, which D's 4 replace; b: MmaKind
};

// What td_rt_mma multiplies: types of A and B, then of D (of C as well, but float for float16).
// mma.h of the device headers has the same numbers.
enum class MmaKind : std::uint32_t {
  f16_f32,
  f16_f16,
  bf16_f32,
  tf32_f32,
  s8_s32,
  s8_s32_sat,
  u8_s32,
  u8_s32_sat,
  f64_f64,
};

enum class BarrierKind : std::uint32_t { sync, count, all, any, arrive };

enum class TrapKind : std::uint32_t {
  trap = 1,               // __trap: CUDA_ERROR_LAUNCH_FAILED
  assertion = 2,          // CUDA_ERROR_ASSERT
  divergent_barrier = 3,  // a barrier that the lowering took for uniform was not
  unreachable = 4,
  bad_free = 16,            // free() of what is not a live allocation of the heap
  bad_texture = 17,         // a handle that is not one of a living texture or surface object
  surface_outside = 18,     // a coordinate outside of a surface, with cudaBoundaryModeTrap
  surface_misaligned = 19,  // a byte coordinate that is not a multiple of the access's size
};

// A call that a whole warp makes at once. An operand is an array with one element for each of
// `width` lanes, or null when it is zero in all of them; lanes that do not call hold anything.
// Results are arrays of 32-bit words, one after the other.
struct WarpCall {
  BlockFrame* block;
  std::uint32_t lanes;  // bit l: lane l calls; never 0
  std::uint32_t width;
  std::uint32_t first_thread;  // linear index of lane 0
  std::uint32_t line;          // of the source, 0 when unknown
  std::uint32_t op;            // operand 0 of the call, a constant
  const void* operands[8];     // from operand 1 on
  std::uint32_t* result;
};

// The form of a texture fetch; the numbers are those of compile/include/td_textures.h.
enum class TextureOp : std::uint32_t {
  linear,  // tex1Dfetch
  line,    // tex1D
  plane,
  volume,
  line_layered,
  plane_layered,
  cube,
  cube_layered,
  gather,
  size,  // no fetch: width, height, depth, levels
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
// `place`: "file:line (function)", NUL-terminated, or null.
[[noreturn]] void td_rt_trap(td::softdev::BlockFrame* block, std::uint32_t kind,
                             std::uint32_t first_thread, std::uint32_t lane_mask,
                             const char* place);
// assert(): message, file and function are NUL-terminated.
[[noreturn]] void td_rt_assert_fail(td::softdev::BlockFrame* block, std::uint32_t first_thread,
                                    std::uint32_t lane_mask, const char* message, const char* file,
                                    std::uint32_t line, const char* function);
// printf of one lane: CUDA's vprintf buffer (each argument at its natural alignment).
std::int32_t td_rt_printf(td::softdev::BlockFrame* block, const char* format,
                          const void* arguments);

// ---- fair mode only ----
// The others' turn. Called in each round of a loop that may wait.
void td_rt_yield(td::softdev::BlockFrame* block);
// Barrier `id` (0 to 15) of `threads` threads (0: all that have not finished). `lanes`: how many
// threads arrive with this call, `holds`: of how many the predicate holds. A BarrierKind says what
// is returned; `arrive` does not wait. Named by its place when some threads never reach it.
std::uint32_t td_rt_fair_barrier(td::softdev::BlockFrame* block, std::uint32_t id,
                                 std::uint32_t threads, std::uint32_t lanes, std::uint32_t holds,
                                 std::uint32_t kind, const char* place);
// A warp-level operation of one thread: waits until all threads that `mask` names, and that have
// not finished, have called it with the same op and mask.
std::uint64_t td_rt_warp_op(td::softdev::ThreadFrame* thread, std::uint32_t op, std::uint32_t mask,
                            std::uint64_t value, std::uint32_t b, std::uint32_t c,
                            const char* place);
// Waits until all threads of the grid that have not finished have arrived: what is written before
// is seen behind it. CUDA C++ reaches it as
//   extern "C" __device__ void __td_grid_barrier() __attribute__((convergent, nothrow));
// All blocks of the grid must fit on the modelled device at once (a cooperative launch checks
// that); a block that ends without arriving while others wait is an error of the launch.
void td_rt_grid_barrier(td::softdev::BlockFrame* block, const char* place);
[[noreturn]] void td_rt_stack_overflow(td::softdev::ThreadFrame* thread);

// ---- textures and surfaces (run/texture_calls.cpp) ----
// op: TextureOp | level given << 4 | component << 8. Operands: handle (64 bits), x, y, z, level
// (float), layer or number of texel (32 bits). Four result words: the channels.
void td_rt_texture(const td::softdev::WarpCall* call);
// op: size of the access in bytes | cudaSurfaceBoundaryMode << 8. Operands: handle, x in bytes, y,
// plane; four result words.
void td_rt_surface_read(const td::softdev::WarpCall* call);
// The same, then the four words.
void td_rt_surface_write(const td::softdev::WarpCall* call);
}
