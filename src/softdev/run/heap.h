// The heap of kernels: what malloc, free, new and delete of device code use. One for each context,
// made by the first call; it lives until the context is reset, so that memory of one launch is
// there for the next ones.
//
// Books are kept outside of the heap's own memory: a kernel that writes over the end of a piece
// spoils its neighbour, never the books. Freed pieces are kept by size for the next request of the
// same size; when no room is left they are joined with their neighbours first. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/cuda_abi.h"

namespace td::softdev {

class DeviceHeap {
 public:
  DeviceHeap();
  ~DeviceHeap();

  // `bytes` of memory aligned to 16, null when the heap of `limit` bytes has no room for them or
  // when `bytes` is 0. The limit counts in the first call; later ones are ignored.
  void* allocate(CUcontext context, int device, std::size_t limit, std::size_t bytes);
  // False when the address is not the start of a live allocation.
  bool release(void* address);
  // Whether a kernel has used it: its size cannot change any more.
  bool in_use();
  // Forgets everything; the memory itself belongs to the context and is given back with it.
  void clear();

 private:
  static constexpr std::size_t kGranule = 16;
  static constexpr std::size_t kClasses = 256;  // pieces up to 4 KiB are kept by size

  bool open(CUcontext context, int device, std::size_t limit);
  std::size_t take(std::size_t granules);
  void join_free_pieces();
  void add_free(std::size_t at, std::size_t granules);

  std::mutex mutex_;
  std::uintptr_t base_ = 0;
  std::size_t granules_ = 0;
  // By granule: length of the live allocation that starts there, 0 when none does. Untouched pages
  // of it cost nothing.
  std::uint32_t* lengths_ = nullptr;
  std::vector<std::uint32_t> kept_[kClasses + 1];  // free pieces of one length, by first granule
  std::map<std::size_t, std::size_t> free_;        // other free pieces: first granule -> length
};

}  // namespace td::softdev
