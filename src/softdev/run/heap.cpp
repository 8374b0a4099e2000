#include "softdev/run/heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "base/fork.h"
#include "softdev/run/memory.h"

namespace td::softdev {

DeviceHeap::DeviceHeap() { base::guard_across_fork(mutex_, base::LockRank::heap); }

DeviceHeap::~DeviceHeap() { clear(); }

bool DeviceHeap::open(CUcontext context, int device, std::size_t limit) {
  if (base_) return true;
  std::size_t granules = std::min<std::size_t>(limit / kGranule, UINT32_MAX);
  if (granules == 0) return false;
  void* books = mmap(nullptr, granules * sizeof *lengths_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (books == MAP_FAILED) return false;
  std::uintptr_t base = 0;
  if (Arena::get().allocate({.bytes = granules * kGranule, .device = device, .context = context},
                            4096, &base) != 0) {
    munmap(books, granules * sizeof *lengths_);
    return false;
  }
  lengths_ = static_cast<std::uint32_t*>(books);
  base_ = base;
  granules_ = granules;
  free_[0] = granules;
  return true;
}

void DeviceHeap::add_free(std::size_t at, std::size_t granules) {
  auto next = free_.lower_bound(at);
  if (next != free_.end() && at + granules == next->first) {
    granules += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == at) {
      before->second += granules;
      return;
    }
  }
  free_.emplace_hint(next, at, granules);
}

void DeviceHeap::join_free_pieces() {
  for (std::size_t length = 1; length <= kClasses; ++length) {
    for (std::uint32_t at : kept_[length]) add_free(at, length);
    kept_[length].clear();
  }
}

// First granule of a free piece, SIZE_MAX when there is none.
std::size_t DeviceHeap::take(std::size_t granules) {
  if (granules <= kClasses && !kept_[granules].empty()) {
    std::size_t at = kept_[granules].back();
    kept_[granules].pop_back();
    return at;
  }
  for (bool joined : {false, true}) {
    if (joined) join_free_pieces();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second < granules) continue;
      // From the end, so that the piece's key stays.
      it->second -= granules;
      std::size_t at = it->first + it->second;
      if (it->second == 0) free_.erase(it);
      return at;
    }
  }
  return SIZE_MAX;
}

void* DeviceHeap::allocate(CUcontext context, int device, std::size_t limit, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  if (!open(context, device, limit) || bytes > granules_ * kGranule) return nullptr;
  // Of no bytes: an address of its own, as on a GPU.
  std::size_t granules = std::max<std::size_t>(1, (bytes + kGranule - 1) / kGranule);
  std::size_t at = take(granules);
  if (at == SIZE_MAX) return nullptr;
  lengths_[at] = static_cast<std::uint32_t>(granules);
  return reinterpret_cast<void*>(base_ + at * kGranule);
}

bool DeviceHeap::release(void* address) {
  std::lock_guard lock(mutex_);
  std::size_t offset = reinterpret_cast<std::uintptr_t>(address) - base_;
  if (!base_ || offset >= granules_ * kGranule || offset % kGranule != 0) return false;
  std::size_t at = offset / kGranule, granules = lengths_[at];
  if (granules == 0) return false;
  lengths_[at] = 0;
  if (granules <= kClasses)
    kept_[granules].push_back(static_cast<std::uint32_t>(at));
  else
    add_free(at, granules);
  return true;
}

bool DeviceHeap::in_use() {
  std::lock_guard lock(mutex_);
  return base_ != 0;
}

void DeviceHeap::clear() {
  std::lock_guard lock(mutex_);
  if (lengths_) munmap(lengths_, granules_ * sizeof *lengths_);
  lengths_ = nullptr;
  base_ = granules_ = 0;
  for (auto& pieces : kept_) pieces.clear();
  free_.clear();
}

}  // namespace td::softdev
