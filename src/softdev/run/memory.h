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

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;       // as asked for
  std::uintptr_t mapping = 0;  // pages that belong to it alone; 0 = carved from a chunk
  std::size_t mapped_bytes = 0;
  int device = 0;
  bool host = false;  // page-locked host memory, outside of the range
  std::uintptr_t end() const { return base + bytes; }
};

class Arena {
 public:
  static Arena& get();

  // CUDA_ERROR_OUT_OF_MEMORY when the device's share, the address range or the system's memory does
  // not suffice.
  CUresult allocate(int device, std::size_t bytes, std::size_t alignment, std::uintptr_t* address);
  CUresult allocate_host(int device, std::size_t bytes, std::uintptr_t* address);
  // Both want the address of the allocation's first byte; CUDA_ERROR_INVALID_VALUE otherwise.
  CUresult free(std::uintptr_t address);
  CUresult free_host(std::uintptr_t address);
  void free_all(int device);

  // The allocation that holds the address.
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
  std::map<std::size_t, std::vector<std::uintptr_t>> free_pieces_;  // by size class
  std::uintptr_t chunk_next_ = 0, chunk_end_ = 0;
};

}  // namespace td::softdev
