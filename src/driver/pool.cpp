// The caching pool of a device.
//
// Driver allocations are *segments*, multiples of 2 MiB: an *arena* is shared by requests up to
// half its size, every larger request has a segment of its own. A segment is cut into *blocks*. A
// free block belongs to the *bin* of the stream that used it last; within a bin it lies either in a
// quick list of its exact size (a hit costs one look-up, no coalescing) or, after the next miss of
// that bin, coalesced with its free neighbours in a set ordered by size, from which the smallest
// that fits is cut.
//
// Another stream takes a block only when the bin's stream has no work left, so that no stream is
// made to wait for another one's kernels behind the user's back. When the driver or the limit
// refuses: wait for the device, take any free block that fits, else give all free segments back and
// ask again.
//
// What is held stays near the most that was ever in use (*peak*), whatever the sizes and lifetimes:
//   - Arenas grow with the peak, as a large arena packs better than many small ones.
//   - A segment of its own is cut for a smaller request only while all such segments together have
//     few bytes free next to blocks in use: those can be neither given back nor, often, used.
//   - Growth beyond the bound waits for the device and gives wholly free segments back first.
//   - A program that repeats itself would pay for that wait in each round, and would be the better
//     for the memory: where the requests of a stream repeat, the bound makes room instead.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "driver/repetition.h"
#include "driver/state.h"

namespace td::driver {

namespace {

constexpr std::size_t kGranule = 512;
constexpr std::size_t kSmall = std::size_t{1} << 20;
constexpr std::size_t kSegment = std::size_t{2} << 20;  // what a driver allocates in
constexpr std::size_t kArenaMost = std::size_t{16} << 20;
// Measured over tests/driver/pool_fragmentation_test.cpp: 1.2 of the peak is kept with fewest calls
// of the driver.
constexpr std::size_t kArenasInPeak = 8;
constexpr std::size_t kHeldPercent = 117, kHeldFloor = 2 * kSegment;
constexpr std::size_t kWastePercent = 15;
constexpr std::size_t kRepeats = 8;

constexpr std::size_t percent(std::size_t bytes, std::size_t of) { return bytes / 100 * of; }

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

struct Bin;

struct Segment {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  bool arena = false;
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
  std::set<Block*, BySize> sorted[2];  // [arena]
  Repetition misses;                   // sizes above kSmall that no quick list had
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
  Bin& bin_of(CUstream stream) {
    return recent_ && recent_->stream == stream ? *recent_ : find_bin(stream);
  }
  Bin& find_bin(CUstream stream);
  Block* take_quick(Bin& bin, std::size_t bytes);
  Block* take_slowly(std::size_t asked, std::size_t bytes, CUstream stream);
  enum class Waste { bounded, allowed };
  Block* take_sorted(Bin& from, Bin& to, bool arena, std::size_t bytes, Waste waste);
  Block* take_idle_elsewhere(Bin& to, bool arena, std::size_t bytes);
  Block* take_after_wait(CUstream stream, std::size_t bytes);
  Block* grow(CUstream stream, bool arena, std::size_t bytes);
  Block* new_segment(Bin& bin, bool arena, std::size_t bytes, std::size_t wanted);
  bool may_ask(CUstream stream);
  std::size_t arena_bytes() const;
  bool repeats(const Bin& bin) const { return bin.misses.run() >= kRepeats; }
  bool may_cut(const Block& block, std::size_t bytes, const Bin& to) const;
  CUdeviceptr driver_allocate(std::size_t bytes);
  void consolidate(Bin& bin);
  void insert_sorted(Block* block);
  void absorb(Block* block, Block* next);
  void cut(Block* block, std::size_t bytes);
  void adopt_retired(Bin& to);
  std::vector<Segment*> free_segments();
  void shrink_for(std::size_t bytes, std::size_t bound);
  void give_back(const std::vector<Segment*>& segments);
  void detach(Segment* segment);
  void wait_for_device();
  [[noreturn]] void out_of_memory(std::size_t bytes);
  CUdeviceptr allocate_locked(std::size_t asked, std::size_t bytes, CUstream stream);
  bool stays_for_graph(CUdeviceptr address, CUstream stream);
  void free_block(Block* block, CUstream stream);
  bool captures(CUstream stream) const { return captures_.contains(stream); }
  // Captures are told to the device's own pool only.
  bool capturing() const { return device_.pool().impl_->open_captures_ > 0; }
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
  std::atomic<int> open_captures_{0};  // their number; read by the other pools of the device
  std::unordered_map<CUdeviceptr, Held> held_;
  std::mutex mutex_;
  std::unordered_map<CUdeviceptr, Block*> blocks_;  // by address, free ones too
  std::unordered_map<CUdeviceptr, std::unique_ptr<Segment>> segments_;
  std::unordered_map<CUstream, std::unique_ptr<Bin>> bins_;
  std::vector<std::unique_ptr<Bin>> retired_;
  Bin* recent_ = nullptr;
  std::size_t used_ = 0, reserved_ = 0, limit_ = 0, allocations_ = 0;
  std::size_t fresh_ = 0;      // bytes of the segment that the present request made
  std::size_t peak_ = 0;       // the most that was in use since free_all_blocks
  std::size_t waste_ = 0;      // free bytes next to blocks in use, over segments of [arena] = false
  std::size_t allowance_ = 0;  // above the bound, for programs that repeat themselves
};

// ---- allocation ----

CUdeviceptr MemoryPool::Impl::allocate(std::size_t bytes, CUstream stream) {
  if (bytes == 0) return 0;
  std::size_t asked = bytes, fresh = 0;
  CUdeviceptr address = 0;
  {
    std::lock_guard lock(mutex_);
    if (bytes > SIZE_MAX / 2) out_of_memory(bytes);
    bytes = round_up(bytes, kGranule);
    address = allocate_locked(asked, bytes, stream);
    if (fresh_) [[unlikely]]
      fresh = std::exchange(fresh_, 0);
  }
  if (fresh) [[unlikely]]
    tell(MemoryEvent::Kind::reserve, fresh, fresh, 0);
  tell(MemoryEvent::Kind::allocate, asked, bytes, address);
  return address;
}

CUdeviceptr MemoryPool::Impl::allocate_locked(std::size_t asked, std::size_t bytes,
                                              CUstream stream) {
  Block* block = take_quick(bin_of(stream), bytes);
  if (!block) block = take_slowly(asked, bytes, stream);
  if (!captures_.empty() && captures(stream)) [[unlikely]] {
    captures_[stream].push_back(block->address);
    held_[block->address] = {1, false, stream};
  }
  block->state = Block::State::live;
  Segment& segment = *block->segment;
  if (!segment.arena) waste_ += (segment.live ? 0 : segment.bytes) - bytes;
  ++segment.live;
  ++block->bin->live;
  used_ += bytes;
  if (used_ > peak_) peak_ = used_;
  return block->address;
}

// After a miss of the quick list.
[[gnu::noinline]] Block* MemoryPool::Impl::take_slowly(std::size_t asked, std::size_t bytes,
                                                       CUstream stream) {
  device_.make_current();
  Bin& bin = bin_of(stream);
  const bool arena = bytes <= arena_bytes() / 2;
  if (bytes > kSmall) bin.misses.note(bytes);
  consolidate(bin);
  adopt_retired(bin);
  Block* block = take_sorted(bin, bin, arena, bytes, Waste::bounded);
  if (!block) block = take_idle_elsewhere(bin, arena, bytes);
  if (!block) block = grow(stream, arena, bytes);
  const bool may_wait = !capturing();
  if (!block && may_wait) block = take_after_wait(stream, bytes);
  if (!block && may_wait) {
    give_back(free_segments());
    block = new_segment(bin_of(stream), arena, bytes, round_up(bytes, kSegment));
  }
  if (!block) out_of_memory(asked);
  return block;
}

[[gnu::noinline]] Bin& MemoryPool::Impl::find_bin(CUstream stream) {
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

std::size_t MemoryPool::Impl::arena_bytes() const {
  return std::clamp(peak_ / kArenasInPeak / kSegment * kSegment, kSegment, kArenaMost);
}

// Is the rest of a segment that is wholly free worth wasting?
bool MemoryPool::Impl::may_cut(const Block& block, std::size_t bytes, const Bin& to) const {
  const Segment& segment = *block.segment;
  if (segment.arena || segment.live || segment.bytes <= kArenaMost) return true;
  const std::size_t rest = segment.bytes - round_up(bytes, kSegment);
  return rest == 0 || waste_ + rest <= percent(std::max(peak_, used_ + bytes), kWastePercent) ||
         repeats(to);
}

// The smallest coalesced block of `from` that fits, cut to size and moved to `to`.
Block* MemoryPool::Impl::take_sorted(Bin& from, Bin& to, bool arena, std::size_t bytes,
                                     Waste waste) {
  auto& set = from.sorted[arena];
  auto at = set.lower_bound(bytes);
  if (waste == Waste::bounded && at != set.end() && !may_cut(**at, bytes, to))
    at = std::find_if(at, set.end(), [](Block* block) { return block->segment->live > 0; });
  if (at == set.end()) return nullptr;
  Block* block = *at;
  set.erase(at);
  block->bin = &to;
  block->state = Block::State::live;
  cut(block, bytes);
  return block;
}

// Would a question about the stream's progress spoil a capture?
bool MemoryPool::Impl::may_ask(CUstream stream) {
  if (!capturing()) return true;
  int status = 0;
  return stream && device_.api().cuStreamIsCapturing(stream, &status) == 0 && status == 0;
}

Block* MemoryPool::Impl::take_idle_elsewhere(Bin& to, bool arena, std::size_t bytes) {
  for (auto& [stream, bin] : bins_) {
    if (bin.get() == &to || !may_ask(stream)) continue;
    consolidate(*bin);
    if (bin->sorted[arena].lower_bound(bytes) == bin->sorted[arena].end()) continue;
    if (device_.api().cuStreamQuery(stream) != cuda::CUDA_SUCCESS) continue;
    if (Block* block = take_sorted(*bin, to, arena, bytes, Waste::bounded)) return block;
  }
  return nullptr;
}

Block* MemoryPool::Impl::take_after_wait(CUstream stream, std::size_t bytes) {
  wait_for_device();
  Bin& to = bin_of(stream);
  Block* found = nullptr;
  each_bin([&](Bin& bin) {
    consolidate(bin);
    for (bool arena : {true, false})
      if (!found) found = take_sorted(bin, to, arena, bytes, Waste::allowed);
  });
  return found;
}

// No free block fits: a block of a fresh segment, within the bound as far as that can be. Null when
// the limit or the device has no room.
Block* MemoryPool::Impl::grow(CUstream stream, bool arena, std::size_t bytes) {
  const std::size_t least = round_up(bytes, kSegment);
  std::size_t wanted = arena ? arena_bytes() : least;
  std::size_t bound =
      percent(std::max(peak_, used_ + bytes), kHeldPercent) + kHeldFloor + allowance_;
  auto beyond = [&] { return reserved_ + wanted > bound; };
  if (beyond() && repeats(bin_of(stream))) {
    allowance_ += reserved_ + wanted - bound;
    bound = reserved_ + wanted;
  } else if (beyond()) {
    bound -= allowance_ - allowance_ / 2;  // what repeated itself once may be over
    allowance_ /= 2;
    shrink_for(wanted, bound);
  }
  Bin& bin = bin_of(stream);
  if (beyond()) {
    wanted = least;
    if (beyond())
      if (Block* block = take_sorted(bin, bin, !arena, bytes, Waste::allowed)) return block;
  }
  return new_segment(bin, arena, bytes, wanted);
}

// A block of a fresh segment, or null when the limit or the device has no room.
Block* MemoryPool::Impl::new_segment(Bin& bin, bool arena, std::size_t bytes, std::size_t wanted) {
  std::size_t refused = 0;
  for (std::size_t size : {wanted, round_up(bytes, kSegment), bytes}) {
    if (size == refused) continue;
    refused = size;
    if (limit_ && (size > limit_ || reserved_ > limit_ - size)) continue;
    CUdeviceptr address = driver_allocate(size);
    if (!address) continue;
    auto segment = std::make_unique<Segment>(Segment{address, size, arena});
    auto* block = new Block{address, size, segment.get(), &bin};
    segments_[address] = std::move(segment);
    blocks_[address] = block;
    reserved_ += size;
    fresh_ = size;
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
    Block* block = at->second;
    bytes = block->bytes;
    const bool graphs = !captures_.empty() || !held_.empty();
    if (!graphs || !stays_for_graph(address, stream)) free_block(block, stream);
  }
  tell(MemoryEvent::Kind::free, bytes, bytes, address);
}

// Notes that the owner has freed the block, when a graph keeps it.
bool MemoryPool::Impl::stays_for_graph(CUdeviceptr address, CUstream stream) {
  if (captures(stream) && !held_.contains(address)) {
    captures_[stream].push_back(address);
    held_[address].graphs = 1;
  }
  auto held = held_.find(address);
  if (held == held_.end()) return false;
  held->second.freed = true;
  held->second.stream = stream;
  return true;
}

void MemoryPool::Impl::free_block(Block* block, CUstream stream) {
  used_ -= block->bytes;
  Segment& segment = *block->segment;
  --segment.live;
  if (!segment.arena) waste_ += block->bytes - (segment.live ? 0 : segment.bytes);
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
  auto& set = block->bin->sorted[block->segment->arena];
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
  // A graph may hold a block that was freed here though none was made here.
  for (auto& [address, held] : held_)
    if (held.freed && held.stream == stream) bin_of(stream);
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

std::vector<Segment*> MemoryPool::Impl::free_segments() {
  each_bin([&](Bin& bin) { consolidate(bin); });
  std::vector<Segment*> free;
  for (auto& [address, segment] : segments_)
    if (segment->live == 0) free.push_back(segment.get());
  return free;
}

// Gives free segments back until `bytes` more are within the bound, or none is left: the smallest
// that suffices, the largest while none does.
void MemoryPool::Impl::shrink_for(std::size_t bytes, std::size_t bound) {
  std::vector<Segment*> free = free_segments(), chosen;
  std::sort(free.begin(), free.end(), [](const Segment* a, const Segment* b) {
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->address < b->address;
  });
  std::size_t after = reserved_ + bytes;
  while (!free.empty() && after > bound) {
    auto at =
        std::lower_bound(free.begin(), free.end(), after - bound,
                         [](const Segment* a, std::size_t excess) { return a->bytes < excess; });
    if (at == free.end()) --at;
    after -= (*at)->bytes;
    chosen.push_back(*at);
    free.erase(at);
  }
  give_back(chosen);
}

// Waits for the device, see wait_for_device.
void MemoryPool::Impl::give_back(const std::vector<Segment*>& segments) {
  if (segments.empty() || capturing()) return;  // to wait would spoil the capture
  std::vector<CUdeviceptr> addresses;
  for (Segment* segment : segments) {
    addresses.push_back(segment->address);
    detach(segment);
  }
  device_.make_current();
  wait_for_device();  // work that was enqueued before a block was freed may still use it
  for (CUdeviceptr address : addresses) device_.api().cuMemFree(address);
}

// The mutex is open meanwhile: the device may have to finish a host function that frees memory.
// What a caller knows of bins and blocks does not outlive this.
void MemoryPool::Impl::wait_for_device() {
  struct Open {
    std::mutex& mutex;
    ~Open() { mutex.lock(); }
  } open{mutex_};
  mutex_.unlock();
  TD_CALL(device_, cuCtxSynchronize);
}

// From here on the pool knows nothing of the segment.
void MemoryPool::Impl::detach(Segment* segment) {
  for (Block* block = blocks_.at(segment->address); block;) {
    Block* after = block->after;
    block->bin->sorted[segment->arena].erase(block);
    blocks_.erase(block->address);
    delete block;
    block = after;
  }
  reserved_ -= segment->bytes;
  segments_.erase(segment->address);
}

void MemoryPool::Impl::free_all_blocks() {
  std::lock_guard lock(mutex_);
  give_back(free_segments());
  peak_ = used_;
  allowance_ = 0;
}

void MemoryPool::Impl::set_limit(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  if (limit_ && reserved_ > limit_) give_back(free_segments());
}

PoolStatistics MemoryPool::Impl::statistics() {
  std::lock_guard lock(mutex_);
  std::size_t free = blocks_.size();
  each_bin([&](Bin& bin) { free -= bin.live; });
  return {used_, reserved_ - used_, limit_, allocations_, free};
}

// ---- captures ----

void MemoryPool::Impl::begin_capture(CUstream stream) {
  std::lock_guard lock(mutex_);
  if (captures_.try_emplace(stream).second) ++open_captures_;
}

std::vector<CUdeviceptr> MemoryPool::Impl::end_capture(CUstream stream) {
  std::lock_guard lock(mutex_);
  auto at = captures_.find(stream);
  if (at == captures_.end()) return {};
  std::vector<CUdeviceptr> addresses = std::move(at->second);
  captures_.erase(at);
  --open_captures_;
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
    if (!row.freed || at == blocks_.end()) continue;
    // The stream may be gone. Its work may not: then the bin is kept. Else the default stream's
    // takes what nobody else does.
    auto gone = std::find_if(retired_.begin(), retired_.end(),
                             [&](const auto& bin) { return bin->stream == row.stream; });
    Block* block = at->second;
    if (bins_.contains(row.stream)) {
      free_block(block, row.stream);
    } else if (gone == retired_.end()) {
      free_block(block, nullptr);
    } else {
      --block->bin->live;
      block->bin = gone->get();
      ++block->bin->live;
      free_block(block, row.stream);
    }
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
  open_captures_ = 0;
  captures_.clear();
  held_.clear();
  recent_ = nullptr;
  used_ = reserved_ = peak_ = waste_ = allowance_ = 0;
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
