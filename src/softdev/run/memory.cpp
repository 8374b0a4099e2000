#include "softdev/run/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "softdev/run/device.h"
#include "base/fork.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = 2u << 20;
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kStaggerFrom = 1u << 20;  // sizes from here on start at staggered offsets
constexpr std::size_t kCarveUpTo = 256u << 10;  // sizes that may be carved from chunks
constexpr std::size_t kChunkBytes = 4u << 20;
constexpr std::size_t kEdge = std::size_t{64}
                              << 30;  // hole at both ends of the range: 2^32 elements of 16 bytes

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

// Value in bytes of a line like "MemTotal:  1234 kB"; 0 when absent.
std::size_t meminfo(const char* key) {
  std::ifstream file("/proc/meminfo");
  std::string word, unit;
  std::size_t value = 0;
  while (file >> word >> value) {
    std::getline(file, unit);
    if (word == key) return value * 1024;
  }
  return 0;
}

// Whether all pages of a range belong to the process.
bool is_mapped(std::uintptr_t address, std::size_t bytes) {
  std::uintptr_t first = address / kPage * kPage;
  constexpr std::size_t kStep = std::size_t{4096} * kPage;
  std::vector<unsigned char> pages(4096);
  for (std::uintptr_t at = first; at < address + bytes; at += kStep) {
    std::size_t length = std::min<std::size_t>(kStep, address + bytes - at);
    if (mincore(reinterpret_cast<void*>(at), length, pages.data()) != 0) return false;
  }
  return true;
}

// Of the whole process.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * kPage;
}

std::size_t cgroup_limit() {
  for (const char* name :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(name);
    std::size_t value = 0;
    if (file >> value) return value;
  }
  return SIZE_MAX;
}

void* reserve(std::uintptr_t at, std::size_t bytes) {
  void* memory =
      mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (at && memory != reinterpret_cast<void*>(at)) {
    munmap(memory, bytes);
    return nullptr;
  }
  return memory;
}

}  // namespace

Arena& Arena::get() {
  static Arena& arena = *new Arena;  // leaked: threads may use it until the process ends
  return arena;
}

Arena::Arena() {
  // The middle of the address space is free in ordinary processes and usable under
  // AddressSanitizer; elsewhere (ThreadSanitizer, limits on address space) the kernel chooses, and
  // we take what we get.
  constexpr std::size_t kTiB = std::size_t{1} << 40;
  struct Try {
    std::uintptr_t at;
    std::size_t bytes;
  };
  for (Try attempt : {Try{0x200000000000, 32 * kTiB}, Try{0x200000000000, 8 * kTiB},
                      Try{0, 8 * kTiB}, Try{0, kTiB}, Try{0, kTiB / 2}, Try{0, kTiB / 8},
                      Try{0, kTiB / 32}, Try{0, kTiB / 128}, Try{0, kTiB / 512}}) {
    if (void* memory = reserve(attempt.at, attempt.bytes)) {
      range_ = reinterpret_cast<std::uintptr_t>(memory);
      range_bytes_ = attempt.bytes;
      break;
    }
  }
  madvise(reinterpret_cast<void*>(range_), range_bytes_, MADV_DONTDUMP);
  gap_ = std::clamp<std::size_t>(round_up(range_bytes_ / 65536, kHugePage), kHugePage,
                                 std::size_t{1} << 30);
  cursor_ = range_ + (range_bytes_ > 4 * kEdge ? kEdge : 0);
  std::size_t memory = std::min(meminfo("MemTotal:"), cgroup_limit());
  physical_ = std::min(memory / 10 * 8, range_bytes_ / 2);
  used_.resize(static_cast<std::size_t>(device_count()));
  std::size_t limit = 65530;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  max_islands_ = limit / 5;  // an island costs two mappings; the rest belongs to the program
  base::guard_across_fork(mutex_, base::LockRank::memory);
}

std::size_t Arena::total(int) const { return physical_ / used_.size() / kHugePage * kHugePage; }

// Allocated memory that nobody has touched yet is still available to the system, but not to us.
std::size_t Arena::available(int device) {
  std::size_t system = meminfo("MemAvailable:"), resident = resident_bytes();
  std::lock_guard lock(mutex_);
  std::size_t used = used_[static_cast<std::size_t>(device)], all = 0;
  for (std::size_t one : used_) all += one;
  std::size_t untouched = all - std::min(all, resident);
  std::size_t share = total(device) > used ? total(device) - used : 0;
  return std::min(share, system - std::min(system, untouched));
}

// A place for `bytes` with a hole on both sides. Next fit: an address is used again as late as
// possible.
std::uintptr_t Arena::place(std::size_t bytes) {
  std::size_t edge = range_bytes_ > 4 * kEdge ? kEdge : 0;
  std::uintptr_t low = range_ + edge, high = range_ + range_bytes_ - edge;
  for (std::uintptr_t from : {cursor_, low}) {
    std::uintptr_t at = from;
    auto next = islands_.upper_bound(at);
    if (next != islands_.begin()) {
      auto before = std::prev(next);
      at = std::max(at, round_up(before->first + before->second + gap_, kHugePage));
    }
    while (at + bytes + gap_ <= high) {
      if (next == islands_.end() || at + bytes + gap_ <= next->first) {
        cursor_ = round_up(at + bytes + gap_, kHugePage);
        return at;
      }
      at = round_up(next->first + next->second + gap_, kHugePage);
      ++next;
    }
  }
  return 0;
}

CUresult Arena::map_island(int device, std::size_t bytes, std::size_t alignment,
                           std::uintptr_t* address) {
  std::size_t size = round_up(bytes, kAlignment), offset = 0, mapped = 0;
  if (alignment > kAlignment) {
    mapped = round_up(size, kPage);
  } else if (bytes >= kStaggerFrom) {
    offset = (stagger_++ % 16) * kAlignment;
    mapped = round_up(size + offset, kPage);
  } else {
    mapped = round_up(size, kPage);
    offset = mapped - size;
  }
  std::uintptr_t at = place(mapped);
  if (!at) return CUDA_ERROR_OUT_OF_MEMORY;
  void* memory = mmap(reinterpret_cast<void*>(at), mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  if (mapped >= 2 * kHugePage) madvise(memory, mapped, MADV_HUGEPAGE);
  islands_[at] = mapped;
  *address = at + offset;
  allocations_[*address] = {*address, bytes, at, mapped, device};
  return CUDA_SUCCESS;
}

// Small allocations without holes, in size classes of powers of two.
bool Arena::carve(int device, std::size_t bytes, std::uintptr_t* address) {
  std::size_t size = kAlignment;
  while (size < bytes) size *= 2;
  auto& pieces = free_pieces_[size];
  if (pieces.empty()) {
    if (chunk_end_ - chunk_next_ < size) {
      std::uintptr_t chunk = 0;
      if (map_island(device, kChunkBytes, kPage, &chunk) != CUDA_SUCCESS) return false;
      allocations_.erase(chunk);
      chunk_next_ = chunk;
      chunk_end_ = chunk + kChunkBytes;
    }
    chunk_next_ = round_up(chunk_next_, size);
    if (chunk_next_ + size > chunk_end_) {
      chunk_next_ = chunk_end_;
      return carve(device, bytes, address);
    }
    pieces.push_back(chunk_next_);
    chunk_next_ += size;
  }
  *address = pieces.back();
  pieces.pop_back();
  allocations_[*address] = {*address, bytes, 0, size, device};
  return true;
}

CUresult Arena::map_host(std::size_t bytes, std::uintptr_t* address) {
  std::size_t mapped = round_up(bytes, kPage);
  if (mapped < bytes || bytes > meminfo("MemAvailable:")) return CUDA_ERROR_OUT_OF_MEMORY;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  if (mapped >= 2 * kHugePage) madvise(memory, mapped, MADV_HUGEPAGE);
  *address = reinterpret_cast<std::uintptr_t>(memory);
  std::lock_guard lock(mutex_);
  allocations_[*address] = {*address, bytes, *address, mapped};
  return CUDA_SUCCESS;
}

CUresult Arena::allocate(const Allocation& like, std::size_t alignment, std::uintptr_t* address) {
  std::size_t bytes = like.bytes;
  // What the system cannot give must fail here: later it would be the kernel's killer that says so.
  if (bytes >= (std::size_t{64} << 20) && bytes > meminfo("MemAvailable:"))
    return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = like.on_host() ? map_host(bytes, address) : CUDA_SUCCESS;
  if (result != CUDA_SUCCESS) return result;
  std::lock_guard lock(mutex_);
  if (!like.on_host()) {
    std::size_t& used = used_[static_cast<std::size_t>(like.device)];
    if (bytes > total(like.device) || used > total(like.device) - bytes)
      return CUDA_ERROR_OUT_OF_MEMORY;
    if (islands_.size() >= max_islands_ && bytes <= kCarveUpTo && alignment <= kAlignment) {
      if (!carve(like.device, bytes, address)) result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
      result = map_island(like.device, bytes, alignment, address);
    }
    if (result != CUDA_SUCCESS) return result;
    used += bytes;
  }
  Allocation& made = allocations_[*address];
  made.kind = like.kind;
  made.device = like.device;
  made.context = like.context;
  made.pool = like.pool;
  made.flags = like.flags;
  made.id = next_id_++;
  return result;
}

CUresult Arena::register_host(const Allocation& like) {
  if (like.base + like.bytes < like.base || !is_mapped(like.base, like.bytes))
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(mutex_);
  auto next = allocations_.lower_bound(like.base);
  bool overlaps = next != allocations_.end() && next->first < like.end();
  if (next != allocations_.begin())
    overlaps = overlaps || std::prev(next)->second.end() > like.base;
  if (overlaps) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  Allocation& made = allocations_[like.base] = like;
  made.id = next_id_++;
  return CUDA_SUCCESS;
}

void Arena::release(const Allocation& allocation) {
  if (allocation.kind == MemoryKind::registered) return;
  auto* memory = reinterpret_cast<void*>(allocation.mapping);
  if (allocation.kind == MemoryKind::host) {
    munmap(memory, allocation.mapped_bytes);
    return;
  }
  used_[static_cast<std::size_t>(allocation.device)] -= allocation.bytes;
  if (!allocation.mapping) {
    free_pieces_[allocation.mapped_bytes].push_back(allocation.base);
    return;
  }
  mmap(memory, allocation.mapped_bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  islands_.erase(allocation.mapping);
}

CUresult Arena::free(std::uintptr_t address) {
  std::lock_guard lock(mutex_);
  auto found = allocations_.find(address);
  if (found == allocations_.end()) return CUDA_ERROR_INVALID_VALUE;
  release(found->second);
  allocations_.erase(found);
  return CUDA_SUCCESS;
}

void Arena::free_all(CUcontext context) {
  std::lock_guard lock(mutex_);
  for (auto it = allocations_.begin(); it != allocations_.end();) {
    if (it->second.context != context) {
      ++it;
      continue;
    }
    release(it->second);
    it = allocations_.erase(it);
  }
}

void Arena::set_owner(std::uintptr_t address, CUmemoryPool pool, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  std::size_t& used = used_[static_cast<std::size_t>(found->second.device)];
  used = used - found->second.bytes + bytes;
  found->second.pool = pool;
  found->second.bytes = bytes;
  found->second.id = next_id_++;
}

std::map<std::uintptr_t, Allocation>::iterator Arena::at(std::uintptr_t address) {
  auto next = allocations_.upper_bound(address);
  return next == allocations_.begin() ? allocations_.end() : std::prev(next);
}

bool Arena::find(std::uintptr_t address, Allocation* out) {
  std::lock_guard lock(mutex_);
  auto found = at(address);
  if (found == allocations_.end() || address >= found->second.end() ||
      found->second.kind == MemoryKind::array)
    return false;
  *out = found->second;
  return true;
}

bool Arena::holds(std::uintptr_t address, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  auto found = at(address);
  return found != allocations_.end() && found->second.kind != MemoryKind::array &&
         address <= found->second.end() && bytes <= found->second.end() - address;
}

bool Arena::host_holds(std::uintptr_t address, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  auto found = at(address);
  return found != allocations_.end() && found->second.on_host() && address <= found->second.end() &&
         bytes <= found->second.end() - address;
}

std::string Arena::describe(std::uintptr_t address) {
  std::lock_guard lock(mutex_);
  auto hex = [](std::uintptr_t value) {
    std::ostringstream out;
    out << "0x" << std::hex << value;
    return out.str();
  };
  auto next = allocations_.upper_bound(address);
  const Allocation* below = next == allocations_.begin() ? nullptr : &std::prev(next)->second;
  const Allocation* above = next == allocations_.end() ? nullptr : &next->second;
  auto of = [&](const Allocation& a) {
    return base::cat("the allocation of ", a.bytes, " bytes at ", hex(a.base));
  };
  if (below && address < below->end()) return base::cat("inside of ", of(*below));
  std::uintptr_t past = below ? address - below->end() : UINTPTR_MAX;
  std::uintptr_t before = above ? above->base - address : UINTPTR_MAX;
  if (!in_range(address) || std::min(past, before) > kEdge) return "not near any device allocation";
  if (past <= before) return base::cat(past, " bytes past the end of ", of(*below));
  return base::cat(before, " bytes before ", of(*above));
}

}  // namespace td::softdev
