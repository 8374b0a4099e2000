#include "softdev/run/pool.h"

#include <algorithm>
#include <vector>

#include "softdev/run/device.h"
#include "softdev/run/memory.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

// A kept block serves a request that leaves at most an eighth of it unused, or a small one.
constexpr std::size_t kGranule = 512, kSmall = 64 << 10;

struct Pools {
  std::mutex mutex;
  std::vector<CUmemoryPool> all;
  std::vector<CUmemoryPool> defaults, current;  // by device
};
CUmemoryPool make(int device, std::size_t max_size) {
  auto* pool = new CUmemPoolHandle_st;  // never given back: a handle stays safe to look at
  base::guard_across_fork(pool->mutex, base::LockRank::handles);  // taken under the scheduler's
  pool->device = device;
  pool->max_size = max_size;
  pool->alive = true;
  return pool;
}
Pools& pools() {
  static auto& instance = *[] {
    auto* made = new Pools;
    base::guard_across_fork(made->mutex, base::LockRank::handles);
    for (int device = 0; device < device_count(); ++device) {
      CUmemoryPool pool = make(device, 0);
      pool->is_default = true;
      made->defaults.push_back(pool);
    }
    made->all = made->current = made->defaults;
    return made;
  }();
  return instance;
}

std::atomic<std::size_t> kept_blocks{0};  // of all pools

// Frees kept blocks, the largest first, until no more than `keep` bytes are reserved.
void trim_locked(CUmemPoolHandle_st& pool, std::uint64_t keep) {
  while (pool.reserved > keep && !pool.kept.empty()) {
    auto largest = std::prev(pool.kept.end());
    pool.reserved -= largest->first;
    pool.blocks.erase(largest->second);
    Arena::get().free(largest->second);
    pool.kept.erase(largest);
    --kept_blocks;
  }
}

bool take_kept(CUmemPoolHandle_st& pool, std::size_t size, std::uintptr_t* address,
               std::size_t* block) {
  auto found = pool.kept.lower_bound(size);
  if (found == pool.kept.end()) return false;
  if (found->first > kSmall && found->first - size > found->first / 8) return false;
  *address = found->second;
  *block = found->first;
  pool.kept.erase(found);
  --kept_blocks;
  return true;
}

class FreeOp final : public Op {
 public:
  FreeOp(Context& context, std::uintptr_t address)
      : Op(Kind::instant, context), address_(address) {}
  void run(Executor*, std::uint64_t, std::uint64_t) override {
    Allocation allocation;
    if (!Arena::get().find(address_, &allocation)) return;
    if (!allocation.pool || !pool_free(allocation.pool, address_)) Arena::get().free(address_);
  }

 private:
  std::uintptr_t address_;
};

}  // namespace

CUmemoryPool default_pool(int device) { return pools().defaults[static_cast<std::size_t>(device)]; }

CUmemoryPool current_pool(int device) {
  std::lock_guard lock(pools().mutex);
  return pools().current[static_cast<std::size_t>(device)];
}

void set_current_pool(int device, CUmemoryPool pool) {
  std::lock_guard lock(pools().mutex);
  pools().current[static_cast<std::size_t>(device)] = pool;
}

CUmemoryPool make_pool(int device, std::size_t max_size) {
  CUmemoryPool pool = make(device, max_size);
  std::lock_guard lock(pools().mutex);
  pools().all.push_back(pool);
  return pool;
}

void destroy_pool(CUmemoryPool pool) {
  pool->alive = false;
  {
    std::lock_guard lock(pools().mutex);
    std::erase(pools().all, pool);
    for (std::size_t device = 0; device < pools().current.size(); ++device)
      if (pools().current[device] == pool) pools().current[device] = pools().defaults[device];
  }
  std::lock_guard lock(pool->mutex);
  pool->destroyed = true;
  trim_locked(*pool, 0);
}

bool is_live(CUmemoryPool pool) { return is_alive(pool); }

CUresult pool_allocate(CUmemoryPool pool, std::size_t bytes, std::uintptr_t* address) {
  if (bytes > SIZE_MAX - kGranule) return CUDA_ERROR_OUT_OF_MEMORY;
  std::size_t size = (bytes + kGranule - 1) / kGranule * kGranule, block = size;
  std::lock_guard lock(pool->mutex);
  if (!take_kept(*pool, size, address, &block)) {
    if (pool->max_size && pool->reserved + size > pool->max_size) trim_locked(*pool, 0);
    if (pool->max_size && pool->reserved + size > pool->max_size) return CUDA_ERROR_OUT_OF_MEMORY;
    Allocation like{.bytes = size, .device = pool->device, .pool = pool};
    CUresult result = Arena::get().allocate(like, 1, address);
    if (result != CUDA_SUCCESS) {
      // What is kept may be what is missing.
      trim_locked(*pool, 0);
      result = Arena::get().allocate(like, 1, address);
    }
    if (result != CUDA_SUCCESS) return result;
    pool->reserved += size;
    pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
  }
  Arena::get().set_owner(*address, pool, bytes);
  pool->blocks[*address] = {block, true};
  pool->used += block;
  pool->used_high = std::max(pool->used_high, pool->used);
  return CUDA_SUCCESS;
}

bool pool_holds(CUmemoryPool pool, std::uintptr_t address) {
  std::lock_guard lock(pool->mutex);
  auto found = pool->blocks.find(address);
  return found != pool->blocks.end() && found->second.in_use;
}

bool pool_free(CUmemoryPool pool, std::uintptr_t address) {
  std::lock_guard lock(pool->mutex);
  auto found = pool->blocks.find(address);
  if (found == pool->blocks.end() || !found->second.in_use) return false;
  std::size_t bytes = found->second.bytes;
  found->second.in_use = false;
  pool->used -= bytes;
  pool->kept.emplace(bytes, address);
  ++kept_blocks;
  Arena::get().set_owner(address, pool, bytes);
  if (pool->destroyed) trim_locked(*pool, 0);
  return true;
}

Ref<Op> make_free_op(Context& context, std::uintptr_t address) {
  return Ref<Op>(new FreeOp(context, address));
}

void trim_pool(CUmemoryPool pool, std::uint64_t keep) {
  std::lock_guard lock(pool->mutex);
  trim_locked(*pool, keep);
}

void release_unused_memory(int device) {
  if (kept_blocks.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard lock(pools().mutex);
  for (CUmemoryPool pool : pools().all) {
    if (pool->device != device) continue;
    std::lock_guard guard(pool->mutex);
    if (pool->reserved > pool->threshold) trim_locked(*pool, pool->threshold);
  }
}

void reset_pools(int device) {
  std::lock_guard lock(pools().mutex);
  for (CUmemoryPool pool : pools().all) {
    if (pool->device != device) continue;
    std::lock_guard guard(pool->mutex);
    for (auto& [address, block] : pool->blocks) Arena::get().free(address);
    kept_blocks -= pool->kept.size();
    pool->blocks.clear();
    pool->kept.clear();
    pool->reserved = pool->used = 0;
  }
}

}  // namespace td::softdev
