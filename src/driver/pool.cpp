// The caching pool of a device.
//
// Driver allocations are *segments*: 2 MiB ones shared by requests up to 1 MiB, and one per larger
// request, rounded up to 2 MiB. A segment is cut into *blocks*. A free block belongs to the *bin*
// of the stream that used it last; within a bin it lies either in a quick list of its exact size (a
// hit costs one look-up, no coalescing) or, after the next miss of that bin, coalesced with its
// free neighbours in a set ordered by size, from which the smallest that fits is cut. So at most
// the tail of a segment below 2 MiB is ever paid for without being usable.
//
// Another stream takes a block only when the bin's stream has no work left, so that no stream is
// made to wait for another one's kernels behind the user's back. When the driver or the limit
// refuses: wait for the device, take any free block that fits, else give all free segments back and
// ask again.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "driver/state.h"

namespace td::driver {

namespace {

constexpr std::size_t kGranule = 512;
constexpr std::size_t kSmall = std::size_t{1} << 20;
constexpr std::size_t kSegment = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

struct Bin;

struct Segment {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  bool small = false;
  std::size_t live = 0;  // blocks in use
};

struct Block {
  enum class State { live, quick, sorted };
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  Segment* segment = nullptr;
  Bin* bin = nullptr;
  Block* before = nullptr;  // neighbours in the segment
  Block* after = nullptr;
  Block* quick_next = nullptr;
  State state = State::live;
};

struct BySize {
  using is_transparent = void;
  bool operator()(const Block* a, const Block* b) const {
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->address < b->address;
  }
  bool operator()(const Block* a, std::size_t bytes) const { return a->bytes < bytes; }
  bool operator()(std::size_t bytes, const Block* b) const { return bytes < b->bytes; }
};

struct Bin {
  CUstream stream = nullptr;
  std::size_t live = 0;
  CUevent last_work = nullptr;  // of a retired bin: recorded when its stream was destroyed
  std::unordered_map<std::size_t, Block*> quick;
  bool has_quick = false;
  std::set<Block*, BySize> sorted[2];  // [small]
};

}  // namespace

class MemoryPool::Impl {
 public:
  Impl(DeviceState& device, Source source) : device_(device), source_(source) {}
  CUdeviceptr allocate(std::size_t bytes, CUstream stream);
  void free(CUdeviceptr address, CUstream stream);
  void begin_capture(CUstream stream);
  std::vector<CUdeviceptr> end_capture(CUstream stream);
  void release_captured(const std::vector<CUdeviceptr>& addresses);
  void retire_stream(CUstream stream);
  void free_all_blocks();
  void set_limit(std::size_t bytes);
  PoolStatistics statistics();
  void forget();

 private:
  Bin& bin_of(CUstream stream);
  Block* take_quick(Bin& bin, std::size_t bytes);
  Block* take_sorted(Bin& from, Bin& to, bool small, std::size_t bytes);
  Block* take_idle_elsewhere(Bin& to, bool small, std::size_t bytes);
  Block* take_after_wait(Bin& to, std::size_t bytes);
  Block* new_segment(Bin& bin, bool small, std::size_t bytes);
  CUdeviceptr driver_allocate(std::size_t bytes);
  void consolidate(Bin& bin);
  void insert_sorted(Block* block);
  void absorb(Block* block, Block* next);
  void cut(Block* block, std::size_t bytes);
  void adopt_retired(Bin& to);
  void release_free_segments();
  void release(Segment* segment);
  [[noreturn]] void out_of_memory(std::size_t bytes);
  CUdeviceptr allocate_locked(std::size_t asked, std::size_t bytes, CUstream stream);
  void free_block(Block* block, CUstream stream);
  bool captures(CUstream stream) const { return captures_.contains(stream); }
  void tell(MemoryEvent::Kind kind, std::size_t asked, std::size_t bytes, CUdeviceptr address);
  template <class Visit>
  void each_bin(Visit visit);

  // A block that a graph uses: how many graphs, and whether its owner has freed it.
  struct Held {
    int graphs = 0;
    bool freed = false;
    CUstream stream = nullptr;
  };

  DeviceState& device_;
  const Source source_;
  std::unordered_map<CUstream, std::vector<CUdeviceptr>> captures_;
  std::unordered_map<CUdeviceptr, Held> held_;
  std::mutex mutex_;
  std::unordered_map<CUdeviceptr, Block*> blocks_;  // by address, free ones too
  std::unordered_map<CUdeviceptr, std::unique_ptr<Segment>> segments_;
  std::unordered_map<CUstream, std::unique_ptr<Bin>> bins_;
  std::vector<std::unique_ptr<Bin>> retired_;
  Bin* recent_ = nullptr;
  std::size_t used_ = 0, reserved_ = 0, limit_ = 0, allocations_ = 0;
};

// ---- allocation ----

CUdeviceptr MemoryPool::Impl::allocate(std::size_t bytes, CUstream stream) {
  if (bytes == 0) return 0;
  std::size_t asked = bytes, reserved = 0, fresh = 0;
  CUdeviceptr address = 0;
  {
    std::lock_guard lock(mutex_);
    if (bytes > SIZE_MAX / 2) out_of_memory(bytes);
    bytes = round_up(bytes, kGranule);
    reserved = reserved_;
    address = allocate_locked(asked, bytes, stream);
    fresh = reserved_ > reserved ? reserved_ - reserved : 0;
  }
  if (fresh) tell(MemoryEvent::Kind::reserve, fresh, fresh, 0);
  tell(MemoryEvent::Kind::allocate, asked, bytes, address);
  return address;
}

CUdeviceptr MemoryPool::Impl::allocate_locked(std::size_t asked, std::size_t bytes,
                                              CUstream stream) {
  const bool small = bytes <= kSmall;
  Bin& bin = bin_of(stream);
  Block* block = take_quick(bin, bytes);
  if (!block) {
    device_.make_current();
    consolidate(bin);
    adopt_retired(bin);
    block = take_sorted(bin, bin, small, bytes);
    if (!block) block = take_idle_elsewhere(bin, small, bytes);
    if (!block) block = new_segment(bin, small, bytes);
    if (!block) block = take_after_wait(bin, bytes);
    if (!block) {
      release_free_segments();
      block = new_segment(bin, small, bytes);
    }
    if (!block) out_of_memory(asked);
  }
  if (!captures_.empty() && captures(stream)) [[unlikely]] {
    captures_[stream].push_back(block->address);
    held_[block->address] = {1, false, stream};
  }
  block->state = Block::State::live;
  ++block->segment->live;
  ++bin.live;
  used_ += bytes;
  return block->address;
}

Bin& MemoryPool::Impl::bin_of(CUstream stream) {
  if (recent_ && recent_->stream == stream) return *recent_;
  std::unique_ptr<Bin>& bin = bins_[stream];
  if (!bin) {
    bin = std::make_unique<Bin>();
    bin->stream = stream;
  }
  recent_ = bin.get();
  return *bin;
}

Block* MemoryPool::Impl::take_quick(Bin& bin, std::size_t bytes) {
  auto at = bin.quick.find(bytes);
  if (at == bin.quick.end() || !at->second) return nullptr;
  Block* block = at->second;
  at->second = block->quick_next;
  return block;
}

// The smallest coalesced block of `from` that fits, cut to size and moved to `to`.
Block* MemoryPool::Impl::take_sorted(Bin& from, Bin& to, bool small, std::size_t bytes) {
  auto& set = from.sorted[small];
  auto at = set.lower_bound(bytes);
  if (at == set.end()) return nullptr;
  Block* block = *at;
  set.erase(at);
  block->bin = &to;
  block->state = Block::State::live;
  cut(block, bytes);
  return block;
}

Block* MemoryPool::Impl::take_idle_elsewhere(Bin& to, bool small, std::size_t bytes) {
  for (auto& [stream, bin] : bins_) {
    if (bin.get() == &to || captures(stream)) continue;
    if (!stream && !captures_.empty()) continue;  // asking the default stream would spoil a capture
    consolidate(*bin);
    if (bin->sorted[small].lower_bound(bytes) == bin->sorted[small].end()) continue;
    if (device_.api().cuStreamQuery(stream) != cuda::CUDA_SUCCESS) continue;
    return take_sorted(*bin, to, small, bytes);
  }
  return nullptr;
}

Block* MemoryPool::Impl::take_after_wait(Bin& to, std::size_t bytes) {
  TD_CALL(device_, cuCtxSynchronize);
  Block* found = nullptr;
  each_bin([&](Bin& bin) {
    consolidate(bin);
    for (bool small : {true, false})
      if (!found) found = take_sorted(bin, to, small, bytes);
  });
  return found;
}

// A block of a fresh segment, or null when the limit or the device has no room.
Block* MemoryPool::Impl::new_segment(Bin& bin, bool small, std::size_t bytes) {
  for (std::size_t size : {small ? kSegment : round_up(bytes, kSegment), bytes}) {
    if (limit_ && (size > limit_ || reserved_ > limit_ - size)) continue;
    CUdeviceptr address = driver_allocate(size);
    if (!address) continue;
    auto segment = std::make_unique<Segment>(Segment{address, size, small});
    auto* block = new Block{address, size, segment.get(), &bin};
    segments_[address] = std::move(segment);
    blocks_[address] = block;
    reserved_ += size;
    cut(block, bytes);
    return block;
  }
  return nullptr;
}

// 0 when the device is full; throws for any other failure (a sticky fault, say).
CUdeviceptr MemoryPool::Impl::driver_allocate(std::size_t bytes) {
  CUdeviceptr address = 0;
  ++allocations_;
  CUresult result = source_ == Source::managed
                        ? device_.api().cuMemAllocManaged(&address, bytes, cuda::ATTACH_GLOBAL)
                        : device_.api().cuMemAlloc(&address, bytes);
  if (result == cuda::CUDA_ERROR_OUT_OF_MEMORY) return 0;
  check(device_, result, "cuMemAlloc", base::bytes_text(bytes) + " were asked for");
  return address;
}

void MemoryPool::Impl::out_of_memory(std::size_t bytes) {
  std::size_t free = 0, total = 0;
  std::string device_text;
  if (device_.api().cuMemGetInfo(&free, &total) == 0)
    device_text = base::cat("; on ", device_.name(), " ", base::bytes_text(free), " of ",
                            base::bytes_text(total), " are free");
  fail(device_, cuda::CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc",
       base::cat(
           base::bytes_text(bytes), " were asked for; the memory pool holds ",
           base::bytes_text(used_), " in use and ", base::bytes_text(reserved_ - used_), " cached",
           limit_ ? " under its limit of " + base::bytes_text(limit_) + " (raise it with set_limit)"
                  : "",
           device_text));
}

// ---- freeing ----

void MemoryPool::Impl::free(CUdeviceptr address, CUstream stream) {
  std::size_t bytes = 0;
  {
    std::lock_guard lock(mutex_);
    auto at = blocks_.find(address);
    if (at == blocks_.end() || at->second->state != Block::State::live)
      return;  // of a context that was reset
    bytes = at->second->bytes;
    if (!captures_.empty() && captures(stream) && !held_.contains(address)) {
      captures_[stream].push_back(address);
      held_[address].graphs = 1;
    }
    auto held = held_.empty() ? held_.end() : held_.find(address);
    if (held != held_.end()) {
      held->second.freed = true;
      held->second.stream = stream;
    } else {
      free_block(at->second, stream);
    }
  }
  tell(MemoryEvent::Kind::free, bytes, bytes, address);
}

void MemoryPool::Impl::free_block(Block* block, CUstream stream) {
  used_ -= block->bytes;
  --block->segment->live;
  --block->bin->live;
  // A retired bin keeps the handle of its dead stream; a block that stayed with it goes back to it.
  if (block->bin->stream != stream) block->bin = &bin_of(stream);
  Bin& bin = *block->bin;
  block->state = Block::State::quick;
  Block*& head = bin.quick[block->bytes];
  block->quick_next = head;
  head = block;
  bin.has_quick = true;
}

void MemoryPool::Impl::consolidate(Bin& bin) {
  if (!bin.has_quick) return;
  for (auto& [bytes, head] : bin.quick) {
    while (Block* block = head) {
      head = block->quick_next;
      block->quick_next = nullptr;
      insert_sorted(block);
    }
  }
  if (bin.quick.size() > 4096)
    bin.quick.clear();  // the keys stay between uses, but not without bound
  bin.has_quick = false;
}

void MemoryPool::Impl::insert_sorted(Block* block) {
  auto mergeable = [&](Block* other) {
    return other && other->state == Block::State::sorted && other->bin == block->bin;
  };
  auto& set = block->bin->sorted[block->segment->small];
  if (mergeable(block->after)) {
    set.erase(block->after);
    absorb(block, block->after);
  }
  if (mergeable(block->before)) {
    Block* before = block->before;
    set.erase(before);
    absorb(before, block);
    block = before;
  }
  block->state = Block::State::sorted;
  set.insert(block);
}

// `next` becomes part of `block`.
void MemoryPool::Impl::absorb(Block* block, Block* next) {
  block->bytes += next->bytes;
  block->after = next->after;
  if (block->after) block->after->before = block;
  blocks_.erase(next->address);
  delete next;
}

// Cuts `block` to `bytes`; the rest becomes a free block of the same bin.
void MemoryPool::Impl::cut(Block* block, std::size_t bytes) {
  if (block->bytes == bytes) return;
  auto* rest = new Block{block->address + bytes,
                         block->bytes - bytes,
                         block->segment,
                         block->bin,
                         block,
                         block->after};
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  blocks_[rest->address] = rest;
  insert_sorted(rest);
}

// ---- streams that are gone ----

void MemoryPool::Impl::retire_stream(CUstream stream) {
  std::lock_guard lock(mutex_);
  auto at = bins_.find(stream);
  if (at == bins_.end()) return;
  std::unique_ptr<Bin> bin = std::move(at->second);
  bins_.erase(at);
  recent_ = nullptr;
  if (device_.api().cuEventCreate(&bin->last_work, cuda::EVENT_DISABLE_TIMING) != 0 ||
      device_.api().cuEventRecord(bin->last_work, stream) != 0)
    device_.api().cuStreamSynchronize(stream);
  retired_.push_back(std::move(bin));
}

void MemoryPool::Impl::adopt_retired(Bin& to) {
  if (retired_.empty()) return;
  auto adopt = [&](std::unique_ptr<Bin>& bin) {
    if (bin->last_work) {
      if (device_.api().cuEventQuery(bin->last_work) == cuda::CUDA_ERROR_NOT_READY) return false;
      device_.api().cuEventDestroy(bin->last_work);
      bin->last_work = nullptr;
    }
    consolidate(*bin);
    for (auto& set : bin->sorted) {
      std::vector<Block*> blocks(set.begin(), set.end());
      set.clear();
      for (Block* block : blocks) {
        block->bin = &to;
        insert_sorted(block);
      }
    }
    return bin->live == 0;
  };
  std::erase_if(retired_, adopt);
}

template <class Visit>
void MemoryPool::Impl::each_bin(Visit visit) {
  for (auto& [stream, bin] : bins_) visit(*bin);
  for (auto& bin : retired_) visit(*bin);
}

// ---- giving memory back ----

void MemoryPool::Impl::release_free_segments() {
  each_bin([&](Bin& bin) { consolidate(bin); });
  std::vector<Segment*> free;
  for (auto& [address, segment] : segments_)
    if (segment->live == 0) free.push_back(segment.get());
  if (free.empty()) return;
  device_.make_current();
  TD_CALL(device_,
          cuCtxSynchronize);  // work that was enqueued before a block was freed may still use it
  for (Segment* segment : free) release(segment);
}

void MemoryPool::Impl::release(Segment* segment) {
  for (Block* block = blocks_.at(segment->address); block;) {
    Block* after = block->after;
    block->bin->sorted[segment->small].erase(block);
    blocks_.erase(block->address);
    delete block;
    block = after;
  }
  device_.api().cuMemFree(segment->address);
  reserved_ -= segment->bytes;
  segments_.erase(segment->address);
}

void MemoryPool::Impl::free_all_blocks() {
  std::lock_guard lock(mutex_);
  release_free_segments();
}

void MemoryPool::Impl::set_limit(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  if (limit_ && reserved_ > limit_) release_free_segments();
}

PoolStatistics MemoryPool::Impl::statistics() {
  std::lock_guard lock(mutex_);
  std::size_t free = 0;
  for (const auto& [address, block] : blocks_) free += block->state != Block::State::live;
  return {used_, reserved_ - used_, limit_, allocations_, free};
}

// ---- captures ----

void MemoryPool::Impl::begin_capture(CUstream stream) {
  std::lock_guard lock(mutex_);
  captures_[stream];
}

std::vector<CUdeviceptr> MemoryPool::Impl::end_capture(CUstream stream) {
  std::lock_guard lock(mutex_);
  auto at = captures_.find(stream);
  if (at == captures_.end()) return {};
  std::vector<CUdeviceptr> addresses = std::move(at->second);
  captures_.erase(at);
  return addresses;
}

void MemoryPool::Impl::release_captured(const std::vector<CUdeviceptr>& addresses) {
  std::lock_guard lock(mutex_);
  for (CUdeviceptr address : addresses) {
    auto held = held_.find(address);
    if (held == held_.end() || --held->second.graphs > 0) continue;
    Held row = held->second;
    held_.erase(held);
    auto at = blocks_.find(address);
    // The stream may be gone; the bin of the default stream takes what nobody else does.
    if (row.freed && at != blocks_.end())
      free_block(at->second, bins_.contains(row.stream) ? row.stream : nullptr);
  }
}

// ---- observers ----

namespace {

std::atomic<void (*)(const MemoryEvent&)> memory_observer{nullptr};

}  // namespace

void set_memory_observer(void (*observer)(const MemoryEvent&)) { memory_observer = observer; }

void MemoryPool::Impl::tell(MemoryEvent::Kind kind, std::size_t asked, std::size_t bytes,
                            CUdeviceptr address) {
  if (auto* observer = memory_observer.load(std::memory_order_relaxed)) [[unlikely]]
    observer({kind, device_.ordinal(), asked, bytes, address});
}

void MemoryPool::Impl::forget() {
  std::lock_guard lock(mutex_);
  for (auto& [address, block] : blocks_) delete block;
  blocks_.clear();
  segments_.clear();
  bins_.clear();
  retired_.clear();
  captures_.clear();
  held_.clear();
  recent_ = nullptr;
  used_ = reserved_ = 0;
}

// ---- the public face ----

MemoryPool::MemoryPool(DeviceState& device, Source source)
    : impl_(std::make_shared<Impl>(device, source)) {}
MemoryPool::~MemoryPool() { impl_->forget(); }
void MemoryPool::begin_capture(CUstream stream) { impl_->begin_capture(stream); }
std::shared_ptr<void> MemoryPool::end_capture(CUstream stream) {
  auto addresses = new std::vector<CUdeviceptr>(impl_->end_capture(stream));
  return {addresses, [impl = impl_](void* kept) {
            std::unique_ptr<std::vector<CUdeviceptr>> list(
                static_cast<std::vector<CUdeviceptr>*>(kept));
            impl->release_captured(*list);
          }};
}
CUdeviceptr MemoryPool::allocate(std::size_t bytes, CUstream stream) {
  return impl_->allocate(bytes, stream);
}
void MemoryPool::free(CUdeviceptr address, CUstream stream) noexcept {
  if (address) impl_->free(address, stream);
}
void MemoryPool::retire_stream(CUstream stream) noexcept { impl_->retire_stream(stream); }
void MemoryPool::free_all_blocks() { impl_->free_all_blocks(); }
void MemoryPool::set_limit(std::size_t bytes) { impl_->set_limit(bytes); }
PoolStatistics MemoryPool::statistics() const { return impl_->statistics(); }
void MemoryPool::forget() { impl_->forget(); }

}  // namespace td::driver
