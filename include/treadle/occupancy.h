// Occupancy: how many blocks of a kernel a multiprocessor holds at once, what limits them, and
// which block size fills it best. Either computed, for any compute capability of
// tables/multiprocessors.def and without a device, or asked of the current device's driver.
#pragma once

#include <climits>
#include <cstddef>
#include <span>
#include <string>

namespace [[gnu::visibility("default")]] td {

class Kernel;
class Device;
struct ModuleOptions;

// ---- computed ----

// What one multiprocessor of a compute capability holds. Bytes, threads, registers.
struct Multiprocessor {
  int major, minor;
  int threads;        // resident
  int blocks;         // resident
  int block_threads;  // of one block
  int registers;
  int block_registers;   // of one block
  int thread_registers;  // of one thread
  int register_granule;  // a warp's registers are rounded up to a multiple
  int partitions;        // schedulers, each with its part of the registers
  int barriers;          // named barriers; 0: they bound nothing
  std::size_t shared;
  std::size_t plain_shared;            // of one block that did not ask for more
  std::size_t block_shared;            // of one block that did
  std::size_t reserved_shared;         // of each block, kept by the system
  std::size_t shared_granule;          // a block's shared memory is rounded up to a multiple
  std::span<const int> carve_outs_kb;  // the sizes that shared memory can be set to, ascending
};

// Every compute capability that is known, ascending.
std::span<const Multiprocessor> multiprocessors();
// ValueError lists those that are known.
const Multiprocessor& multiprocessor(int major, int minor);
// Of a device: the row of its compute capability with the figures that its driver reports. A
// compute capability without a row takes the granules of the nearest older one.
Multiprocessor multiprocessor(const Device& device);

// What a block of a kernel needs besides its threads.
struct KernelNeeds {
  int registers = 0;          // of a thread; 0: not known, and then they limit nothing
  std::size_t shared = 0;     // static shared memory, bytes
  int max_threads = INT_MAX;  // of a block: __launch_bounds__
  int barriers = 1;           // named barriers of a block
  int carve_out = -1;         // preferred share of shared memory, percent; -1: all of it
};

// What limits the number of resident blocks. Bits of Occupancy::limited_by.
enum class OccupancyLimit : unsigned {
  threads = 1,    // warps that a multiprocessor holds, or the threads a block may have
  registers = 2,  //
  shared = 4,     // shared memory
  blocks = 8,     // blocks that a multiprocessor holds
  barriers = 16,
};

struct Occupancy {
  static constexpr int kUnlimited = INT_MAX;
  int blocks;        // resident; 0: a block does not fit at all
  int warps;         // of one block
  int active_warps;  // resident
  int max_warps;     // that a multiprocessor holds
  // The blocks that each resource leaves room for; kUnlimited where none of it is needed.
  int by_threads, by_registers, by_shared, by_blocks, by_barriers;
  unsigned limited_by;        // every OccupancyLimit that gives `blocks`
  int registers;              // allocated for a block
  std::size_t shared;         // bytes allocated for a block, with the system's
  std::size_t shared_in_all;  // bytes of the multiprocessor set apart as shared memory
  bool needs_opt_in;          // the kernel has to ask for so much dynamic shared memory
};

// ValueError for a number that cannot be: fewer than 1 thread, a negative or a too large one.
Occupancy occupancy(const Multiprocessor& on, const KernelNeeds& needs, int threads,
                    std::size_t dynamic_shared);

struct BestBlock {
  int threads;   // of a block with the highest occupancy; 0: no block fits
  int min_grid;  // the fewest blocks that fill the device
};
// The block size, a multiple of the warp or the largest allowed, that keeps most threads resident;
// of several the largest. `shared_of(context, threads)`: the dynamic shared memory of a block.
using SharedOfThreads = std::size_t (*)(void* context, int threads);
BestBlock best_block(const Multiprocessor& on, const KernelNeeds& needs, int multiprocessor_count,
                     int most_threads, SharedOfThreads shared_of, void* context);
BestBlock best_block(const Multiprocessor& on, const KernelNeeds& needs, int multiprocessor_count,
                     std::size_t dynamic_shared);

// The most dynamic shared memory, in bytes, that each of `blocks` blocks may have so that all are
// resident; -1 when shared memory is not what keeps them from it, or not even 0 bytes fit.
std::ptrdiff_t shared_that_fits(const Multiprocessor& on, const KernelNeeds& needs, int threads,
                                int blocks);

// ---- of a kernel ----

// As the driver reports them for the current device. The software device has no registers: 0.
KernelNeeds kernel_needs(const Kernel& kernel);
// As NVRTC reports them for a compute capability (90: 9.0), whatever the current device is.
// NotSupported when NVRTC is missing or does not know it; CompileError; ValueError lists the
// kernels when `name` is none.
KernelNeeds kernel_needs(const std::string& text, const ModuleOptions& options,
                         const std::string& name, int compute_capability);

// ---- asked of the driver ----

// Blocks of `threads` threads and `shared` bytes of dynamic shared memory that one multiprocessor
// of the current device holds at once.
int active_blocks(const Kernel& kernel, int threads, std::size_t shared);

BestBlock best_block(const Kernel& kernel, std::size_t shared);
// Dynamic shared memory that each of `blocks` blocks of `threads` threads may use on one
// multiprocessor, as the driver says: it leaves out what the system keeps.
std::size_t available_shared(const Kernel& kernel, int blocks, int threads);

}  // namespace td
