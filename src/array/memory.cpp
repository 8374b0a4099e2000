// Memory by hand: what an array's storage is, seen from outside.
#include "treadle/memory.h"

#include <atomic>
#include <bit>
#include <map>
#include <mutex>

#include "array/allocator.h"
#include "array/impl.h"
#include "array/pending.h"
#include "base/text.h"
#include "treadle/error.h"

namespace td {

using base::cat;

namespace array {

struct MemoryState {
  std::shared_ptr<driver::DeviceState> device;
  std::uint64_t generation = 0;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  std::shared_ptr<void> owner;
};

namespace {

struct Direct {
  std::shared_ptr<driver::DeviceState> device;
  std::uint64_t generation;
  CUdeviceptr address = 0;
  ~Direct() {
    if (!address || generation != device->generation()) return;
    try {
      device->make_current();
    } catch (const Error&) {
      return;  // the context is gone, and the memory with it
    }
    device->api().cuMemFree(address);
  }
};

// One device's pool; gives everything back when the last block has gone.
struct OwnPool {
  std::shared_ptr<driver::DeviceState> device;
  std::uint64_t generation;
  driver::MemoryPool pool;
  OwnPool(std::shared_ptr<driver::DeviceState> d, driver::MemoryPool::Source source)
      : device(std::move(d)), generation(device->generation()), pool(*device, source) {}
  ~OwnPool() {
    if (generation != device->generation()) return;
    try {
      pool.free_all_blocks();
    } catch (const Error&) {
      return;  // a fault has spoilt the context; nothing can be given back
    }
  }
};

// A block of a pool; `keeper` is null for the device's own pool, which never ends.
struct Block {
  std::shared_ptr<driver::DeviceState> device;
  std::uint64_t generation;
  std::shared_ptr<OwnPool> keeper;
  CUdeviceptr address = 0;
  CUstream stream = nullptr;
  ~Block() {
    if (generation != device->generation()) return;
    (keeper ? keeper->pool : device->pool()).free(address, stream);
  }
};

}  // namespace

class PoolsState {
 public:
  explicit PoolsState(std::optional<driver::MemoryPool::Source> source) : source_(source) {}

  // Null: the device's own.
  std::shared_ptr<OwnPool> on(const std::shared_ptr<driver::DeviceState>& device) {
    if (!source_) return nullptr;
    std::lock_guard lock(mutex_);
    std::shared_ptr<OwnPool>& pool = pools_[device.get()];
    if (!pool || pool->generation != device->generation()) {
      pool = std::make_shared<OwnPool>(device, *source_);
      pool->pool.set_limit(limit_);
    }
    return pool;
  }
  void set_limit(const std::shared_ptr<driver::DeviceState>& device, std::size_t bytes) {
    std::shared_ptr<OwnPool> own = on(device);
    if (own) limit_ = bytes;
    (own ? own->pool : device->pool()).set_limit(bytes);
  }

 private:
  std::optional<driver::MemoryPool::Source> source_;
  std::mutex mutex_;
  std::map<driver::DeviceState*, std::shared_ptr<OwnPool>> pools_;
  std::atomic<std::size_t> limit_{0};
};

// ---- allocators ----

namespace {

std::mutex allocator_mutex;
std::shared_ptr<const Allocator> process_allocator;
std::atomic<int> allocators{0};  // how many are in place anywhere

std::vector<std::shared_ptr<const Allocator>>& pushed() {
  thread_local std::vector<std::shared_ptr<const Allocator>> stack;
  return stack;
}

}  // namespace

std::shared_ptr<const Allocator> current_allocator() {
  if (allocators.load(std::memory_order_relaxed) == 0) [[likely]]
    return nullptr;
  if (!pushed().empty()) return pushed().back();
  std::lock_guard lock(allocator_mutex);
  return process_allocator;
}

ForeignMemory allocate_with(const Allocator& allocator, std::size_t bytes) {
  DeviceMemory memory = allocator(bytes);
  if (memory.bytes() < bytes)
    throw ValueError(
        cat("the allocator answered ", memory.bytes(), " bytes for a request of ", bytes));
  return {memory.address(), memory.state()};
}

}  // namespace array

namespace {

std::shared_ptr<const Allocator> shared(Allocator allocator) {
  return allocator ? std::make_shared<const Allocator>(std::move(allocator)) : nullptr;
}

}  // namespace

void set_allocator(Allocator allocator) {
  std::lock_guard lock(array::allocator_mutex);
  array::allocators += (allocator ? 1 : 0) - (array::process_allocator ? 1 : 0);
  array::process_allocator = shared(std::move(allocator));
}

Allocator get_allocator() {
  auto allocator = array::current_allocator();
  return allocator ? *allocator : Allocator();
}

void push_allocator(Allocator allocator) {
  array::pushed().push_back(shared(std::move(allocator)));
  ++array::allocators;
}

void pop_allocator() {
  if (array::pushed().empty())
    throw ValueError("an allocator context was left that was not entered in this thread");
  array::pushed().pop_back();
  --array::allocators;
}

// ---- pieces of memory ----

namespace {

DeviceMemory make_memory(std::shared_ptr<driver::DeviceState> device, CUdeviceptr address,
                         std::size_t bytes, std::shared_ptr<void> owner) {
  std::uint64_t generation = device->generation();
  return DeviceMemory(std::make_shared<array::MemoryState>(
      array::MemoryState{std::move(device), generation, address, bytes, std::move(owner)}));
}

}  // namespace

DeviceMemory DeviceMemory::direct(std::size_t bytes) {
  const auto& device = driver::current_device();
  auto owner = std::make_shared<array::Direct>(device, device->generation());
  device->make_current();
  if (bytes > 0) TD_CALL(*device, cuMemAlloc, &owner->address, bytes);
  CUdeviceptr address = owner->address;
  return make_memory(device, address, bytes, std::move(owner));
}

DeviceMemory DeviceMemory::managed(std::size_t bytes) {
  const auto& device = driver::current_device();
  auto owner = std::make_shared<array::Direct>(device, device->generation());
  device->make_current();
  if (bytes > 0) TD_CALL(*device, cuMemAllocManaged, &owner->address, bytes, cuda::ATTACH_GLOBAL);
  CUdeviceptr address = owner->address;
  return make_memory(device, address, bytes, std::move(owner));
}

DeviceMemory DeviceMemory::unowned(const Device& device, std::uint64_t address, std::size_t bytes,
                                   std::shared_ptr<void> owner) {
  return make_memory(device.state(), address, bytes, std::move(owner));
}

std::uint64_t DeviceMemory::address() const {
  if (state_->generation != state_->device->generation())
    driver::fail(*state_->device, cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED, "device memory",
                 "it was made before the device was reset; allocate it again");
  return state_->address;
}
std::size_t DeviceMemory::bytes() const { return state_->bytes; }
Device DeviceMemory::device() const { return Device(state_->device); }

// ---- pools ----

MemoryPools::MemoryPools(Source source)
    : state_(std::make_shared<array::PoolsState>(source == Source::managed
                                                     ? driver::MemoryPool::Source::managed
                                                     : driver::MemoryPool::Source::device)) {}

MemoryPools MemoryPools::standard() {
  static auto& state = *new auto(std::make_shared<array::PoolsState>(std::nullopt));
  return MemoryPools(state);
}

DeviceMemory MemoryPools::allocate(std::size_t bytes) const {
  const auto& device = driver::current_device();
  CUstream stream = driver::current_stream(device)->handle();
  auto block = std::make_shared<array::Block>(device, device->generation(), state_->on(device));
  driver::MemoryPool& pool = block->keeper ? block->keeper->pool : device->pool();
  block->address = pool.allocate(bytes, stream);
  block->stream = stream;
  CUdeviceptr address = block->address;
  return make_memory(device, address, bytes, std::move(block));
}

namespace {

driver::PoolStatistics statistics_of(array::PoolsState& pools) {
  const auto& device = driver::current_device();
  auto own = pools.on(device);
  return (own ? own->pool : device->pool()).statistics();
}

}  // namespace

PoolInfo MemoryPools::info() const {
  driver::PoolStatistics s = statistics_of(*state_);
  return {s.used, s.cached, s.limit};
}
std::size_t MemoryPools::free_blocks() const { return statistics_of(*state_).free_blocks; }
void MemoryPools::free_all_blocks() const {
  const auto& device = driver::current_device();
  driver::flush_pending(*device);
  auto own = state_->on(device);
  (own ? own->pool : device->pool()).free_all_blocks();
}
void MemoryPools::set_limit(std::size_t bytes) const {
  state_->set_limit(driver::current_device(), bytes);
}

// ---- arrays over memory ----

Array array_over(const DeviceMemory& memory, std::size_t offset, const Shape& shape, DType dtype,
                 const std::optional<Strides>& strides) {
  array::size_of(shape);  // refuses negative lengths
  auto steps = strides ? *strides : array::contiguous_strides(shape, itemsize(dtype));
  if (steps.size() != shape.size())
    throw ValueError(cat("ndarray: ", steps.size(), " strides for ", shape.size(), " axes"));
  auto storage = std::make_shared<array::Storage>(memory.state()->device, memory.address(),
                                                  memory.bytes(), memory.state());
  array::View view{storage, shape, std::move(steps), static_cast<std::int64_t>(offset), dtype};
  for (std::int64_t step : view.strides)
    if (step % static_cast<std::int64_t>(itemsize(dtype)) != 0)
      throw ValueError(cat("ndarray: a stride of ", step,
                           " bytes does not divide into elements of ", itemsize(dtype)));
  array::Extent extent = view.extent();
  bool some = extent.end > extent.begin;
  if (some && (extent.begin < 0 || extent.end > static_cast<std::int64_t>(memory.bytes())))
    throw ValueError(cat("ndarray of shape ", base::tuple_text(shape), " and dtype ",
                         info(dtype).numpy, " needs bytes ", extent.begin, " to ", extent.end,
                         " of a memory of ", memory.bytes()));
  if ((memory.address() + offset) % itemsize(dtype) != 0)
    throw ValueError(cat("ndarray: the address is not a multiple of ", itemsize(dtype)));
  return array::make_array(std::move(view));
}

DeviceMemory memory_of(const Array& array) {
  const array::View& view = array::view_of(array);
  array::flush(*view.storage->device());
  CUdeviceptr address = view.storage->address();
  return make_memory(view.storage->device(), address, view.storage->bytes(), view.storage);
}

std::optional<int> device_at(std::uint64_t address) {
  const auto& device = driver::current_device();
  device->make_current();
  int ordinal = 0;
  CUresult known =
      device->api().cuPointerGetAttribute(&ordinal, cuda::POINTER_DEVICE_ORDINAL, address);
  if (known != cuda::CUDA_SUCCESS || ordinal < 0) return {};  // negative: no device's own
  return ordinal;
}

// ---- copies ----

void copy_memory(std::uint64_t to, std::uint64_t from, std::size_t bytes, bool blocking) {
  const auto& device = driver::current_device();
  driver::flush_pending(*device);
  device->make_current();
  CUstream stream = driver::current_stream(device)->handle();
  TD_CALL(*device, cuMemcpyAsync, to, from, bytes, stream);
  if (blocking) TD_CALL(*device, cuStreamSynchronize, stream);
}

void fill_memory(std::uint64_t to, unsigned char value, std::size_t bytes, bool blocking) {
  const auto& device = driver::current_device();
  driver::flush_pending(*device);
  device->make_current();
  CUstream stream = driver::current_stream(device)->handle();
  TD_CALL(*device, cuMemsetD8Async, to, value, bytes, stream);
  if (blocking) TD_CALL(*device, cuStreamSynchronize, stream);
}

// ---- pinned memory ----

namespace {

PinnedBuffer pinned(std::size_t bytes) {
  auto memory = std::make_shared<driver::PinnedMemory>(driver::current_device(), bytes);
  void* data = memory->data();
  return {std::move(memory), data, bytes};
}

}  // namespace

PinnedBuffer::PinnedBuffer(std::size_t bytes) : PinnedBuffer(pinned(bytes)) {}

struct PinnedPool::State {
  std::mutex mutex;
  std::multimap<std::size_t, PinnedBuffer> free;
};

PinnedPool::PinnedPool() : state_(std::make_shared<State>()) {}

PinnedPool& PinnedPool::standard() {
  static PinnedPool& pool = *new PinnedPool;
  return pool;
}

PinnedBuffer PinnedPool::allocate(std::size_t bytes) const {
  std::size_t size = std::bit_ceil(std::max<std::size_t>(bytes, 512));
  std::optional<PinnedBuffer> buffer;
  {
    std::lock_guard lock(state_->mutex);
    if (auto at = state_->free.find(size); at != state_->free.end()) {
      buffer = at->second;
      state_->free.erase(at);
    }
  }
  if (!buffer) buffer = pinned(size);
  void* data = buffer->data();
  std::shared_ptr<void> owner(new PinnedBuffer(*buffer), [state = state_](void* p) {
    std::unique_ptr<PinnedBuffer> mine(static_cast<PinnedBuffer*>(p));
    std::lock_guard lock(state->mutex);
    state->free.emplace(mine->bytes(), *mine);
  });
  return {std::move(owner), data, bytes};
}

std::size_t PinnedPool::free_blocks() const {
  std::lock_guard lock(state_->mutex);
  return state_->free.size();
}

void PinnedPool::free_all_blocks() const {
  std::lock_guard lock(state_->mutex);
  state_->free.clear();
}

// ---- observers ----

namespace {

std::atomic<void (*)(const MemoryReport&)> report{nullptr};

}  // namespace

void observe_memory(void (*observer)(const MemoryReport&)) {
  report = observer;
  driver::set_memory_observer(
      observer ? [](const driver::MemoryEvent& event) {
        if (auto* tell = report.load())
          tell({static_cast<MemoryReport::Kind>(event.kind), event.device, event.asked, event.bytes,
                event.address});
      } : static_cast<void (*)(const driver::MemoryEvent&)>(nullptr));
}

}  // namespace td
