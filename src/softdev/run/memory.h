// Device memory: one reserved range of addresses, far from everything else, in which allocations
// are islands.
//
// The range has terabytes where the system allows it; what is not allocated has no access rights,
// so an index error of any 32-bit index lands in a hole and becomes a fault that we recognise.
// Neighbouring allocations keep wide holes between them. A small allocation ends at a page's end
// (to 256 bytes), so that the first overrun faults; large ones have staggered starts, because equal
// page offsets of two operands cost cache misses and store-forwarding stalls. When the process has
// used up its share of mappings, small allocations are carved from common chunks without holes.
//
// Freed memory has no access rights any more: a use after free faults. All functions are
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/cuda_abi.h"

namespace td::softdev {

enum class MemoryKind : std::uint8_t {
  device,
  managed,     // device memory that the host may use as well
  array,       // of a CUDA array: no address for the user
  host,        // page-locked host memory of ours, outside of the range
  registered,  // the user's own host memory
};

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;       // as asked for
  std::uintptr_t mapping = 0;  // pages that belong to it alone; 0 = carved from a chunk
  std::size_t mapped_bytes = 0;
  int device = 0;
  MemoryKind kind = MemoryKind::device;
  CUcontext context = nullptr;  // goes with this context; null = with the pool or the module
  CUmemoryPool pool = nullptr;  // cuMemAllocAsync
  unsigned flags = 0;           // of cuMemHostAlloc, cuMemHostRegister, cuMemAllocManaged
  std::uint64_t id = 0;         // never used twice
  std::uintptr_t end() const { return base + bytes; }
  bool on_host() const { return kind >= MemoryKind::host; }
};

class Arena {
 public:
  static Arena& get();

  // What `like` says: kind, device, context, pool, flags, bytes. CUDA_ERROR_OUT_OF_MEMORY when the
  // device's share, the address range or the system's memory does not suffice.
  CUresult allocate(const Allocation& like, std::size_t alignment, std::uintptr_t* address);
  // The user's memory at like.base; CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED when any of it is
  // known already.
  CUresult register_host(const Allocation& like);
  // Wants the address of the allocation's first byte; CUDA_ERROR_INVALID_VALUE otherwise.
  // Registered memory is forgotten, not freed.
  CUresult free(std::uintptr_t address);
  // Everything that goes with a context.
  void free_all(CUcontext context);
  // The allocation changes hands (memory that a pool keeps for later).
  void set_owner(std::uintptr_t address, CUmemoryPool pool, std::size_t bytes);

  // The allocation that holds the address; arrays have none.
  bool find(std::uintptr_t address, Allocation* out);
  // True when [address, address + bytes) lies in one allocation; the one past the end belongs to it
  // when bytes is 0.
  bool holds(std::uintptr_t address, std::size_t bytes);
  bool host_holds(std::uintptr_t address, std::size_t bytes);

  std::size_t total(int device) const;
  std::size_t available(int device);

  // For people: which allocation the address missed, and by how much.
  std::string describe(std::uintptr_t address);
  bool in_range(std::uintptr_t address) const { return address - range_ < range_bytes_; }

 private:
  Arena();
  bool carve(int device, std::size_t bytes, std::uintptr_t* address);
  std::uintptr_t place(std::size_t bytes);
  CUresult map_island(int device, std::size_t bytes, std::size_t alignment,
                      std::uintptr_t* address);
  CUresult map_host(std::size_t bytes, std::uintptr_t* address);
  std::map<std::uintptr_t, Allocation>::iterator at(std::uintptr_t address);
  void release(const Allocation& allocation);

  std::mutex mutex_;
  std::uintptr_t range_ = 0;
  std::size_t range_bytes_ = 0, gap_ = 0;
  std::uintptr_t cursor_ = 0;
  std::size_t physical_ = 0;
  std::map<std::uintptr_t, Allocation> allocations_;  // by base; device and host memory
  std::map<std::uintptr_t, std::size_t> islands_;     // mapping -> mapped bytes
  std::vector<std::size_t> used_;                     // by device
  std::size_t max_islands_ = 0;
  unsigned stagger_ = 0;
  std::uint64_t next_id_ = 1;
  std::map<std::size_t, std::vector<std::uintptr_t>> free_pieces_;  // by size class
  std::uintptr_t chunk_next_ = 0, chunk_end_ = 0;
};

}  // namespace td::softdev
