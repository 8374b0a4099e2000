// Image (LLVM bitcode of one CUDA thread, nvptx64 layout) -> x86-64 object code of one warp.
//
// Lives in the compiler plug-in; run/ reaches it by name ("td_cc_lower") through base/plugin.h. The
// reply is plain data and can be cached on disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace td::softdev {

struct LowerRequest {
  std::string_view bitcode;
  std::string cpu;  // "" = this machine's CPU and features
  // 2: in full. 0: large kernels in a hurry, which takes a third of the time and gives slow code
  // (LoweredKernel::quick_size).
  int optimize = 2;
  int width = 0;  // lanes per vector: 0 = choose, else 1, 8, 16 or 32
  // Barriers by td_rt_barrier (a stack for each warp) even where the block function could run the
  // block in phases.
  bool stackful = false;
  // The compiler has crashed on this image: narrower vectors and the simplest code generator.
  bool careful = false;
  // Code for one kernel and one block size (0: for all), launched only on grids that have fewer
  // than 2^31 threads along each axis. Its block function is what counts.
  std::string_view kernel;
  std::uint32_t block[3] = {0, 0, 0};
};

struct ParamLayout {
  std::uint32_t offset = 0, size = 0, align = 1;
};

// How a kernel's threads are run so that all that may wait for one another make progress. Chosen
// from the code: progress.h.
enum class Fairness : std::uint32_t {
  none,     // block after block; warps meet at barriers only
  warps,    // fair mode, the block function's or each warp's code as a fiber
  threads,  // fair mode, each thread as a fiber
};

// A kernel of the object.
struct LoweredKernel {
  std::string name;           // as in the image (mangled)
  std::string warp_symbol;    // WarpFunction; "" when all runs as threads
  std::string block_symbol;   // BlockFunction, "" when has_barrier
  std::string thread_symbol;  // ThreadFunction, "" when nothing runs as threads
  std::vector<ParamLayout> params;
  std::uint32_t param_bytes = 0;
  std::uint32_t static_shared = 0;
  std::uint32_t local_bytes = 0;  // per thread
  std::uint32_t stack_bytes = 0;  // bound on the stack of the warp or block function
  std::uint32_t width = 32;
  // The warp function calls td_rt_barrier: each warp needs its own stack. False for a kernel whose
  // barriers are phases of its block function; its warp function then runs the whole block when
  // first_thread is 0 and nothing otherwise.
  bool has_barrier = false;
  // Where each warp lies in one row of the block (blockDim.x is a multiple of 32, or all there is),
  // and elsewhere.
  Fairness fairness_in_rows = Fairness::none, fairness = Fairness::none;
  std::uint32_t thread_stack_bytes = 0;  // of a thread function, without recursion
  bool recursive = false;                // needs what CU_LIMIT_STACK_SIZE says besides
  std::uint32_t max_threads = 1024;      // __launch_bounds__
  std::uint32_t quick_size = 0;          // instructions of a kernel compiled in a hurry
};

// A kernel that the software device cannot run; the other kernels of its image are not affected.
struct RefusedKernel {
  std::string name, why;
};

// A __device__ or __constant__ variable: a piece of the module's data segment.
struct LoweredGlobal {
  std::string name;
  std::uint64_t offset = 0, size = 0;
  bool constant = false;
};

struct LowerReply {
  bool ok = false;  // false as well when all kernels are refused
  std::string
      error;  // for people: "kernel.cu:12: recursion is not supported on the software device yet"
  std::string object;  // ELF relocatable, position independent; undefined symbols: td_rt_*,
                       // Sleef_*, memcpy-like libc
  std::vector<LoweredKernel> kernels;
  std::vector<RefusedKernel> refused;
  std::vector<LoweredGlobal> globals;
  std::string data;  // initial bytes of the data segment
  std::uint64_t data_align = 256;
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      data_pointers;  // *(u64*)(base+first) = base+second
  std::vector<std::pair<std::uint64_t, std::string>>
      code_pointers;  // *(u64*)(base+first) = address of the function
};

}  // namespace td::softdev

extern "C" void td_cc_lower(const td::softdev::LowerRequest& request,
                            td::softdev::LowerReply& reply);
