#include "array/pending.h"

#include "array/allocator.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "treadle/fusion.h"

namespace td::array {
namespace {

// Enough to fuse any expression that people write; short enough that the device does not wait for
// the host.
constexpr std::size_t kLongQueue = 64;

struct Queue {
  std::recursive_mutex mutex;
  std::vector<NodePtr> nodes;
  std::vector<NodePtr> spare;  // empty: room for the nodes after a flush
  std::uint64_t batch = 1;  // counts flushes; storages know by it whether their writer is pending
  CUstream stream = nullptr;
  bool launching = false;
};

// Memory of nodes, a thread's own. It is plain data, so that nodes may come and go while the thread
// ends; what is left then is given back.
struct NodeMemory {
  void* blocks[kLongQueue];
  std::size_t count;
  bool closed;
};
constinit thread_local NodeMemory node_memory{};

struct NodeMemoryOwner {
  ~NodeMemoryOwner() {
    node_memory.closed = true;
    while (node_memory.count > 0) ::operator delete(node_memory.blocks[--node_memory.count]);
  }
  void exist() {}
};
thread_local NodeMemoryOwner node_memory_owner;

// Queues outlive every static object: arrays may die late.
Queue& queue_of(driver::DeviceState& device) {
  thread_local driver::DeviceState* last = nullptr;
  thread_local Queue* queue = nullptr;
  if (last == &device) return *queue;
  static auto* mutex = new std::mutex;
  static auto* queues = new std::unordered_map<driver::DeviceState*, std::unique_ptr<Queue>>;
  std::lock_guard lock(*mutex);
  auto& slot = (*queues)[&device];
  if (!slot) slot = std::make_unique<Queue>();
  last = &device;
  queue = slot.get();
  return *queue;
}

template <class Visit>
void for_each_storage(Node& node, Visit visit) {
  for (int k = 0; k < node.arity; ++k)
    if (node.inputs[k].view.storage) visit(*node.inputs[k].view.storage);
  if (node.in_place())
    visit(*node.out.storage);
  else if (auto storage = node.fresh.lock())
    visit(*storage);
}

// Before anything is launched: the allocator may itself work with arrays.
void ask_allocators(const std::vector<NodePtr>& nodes) {
  for (const auto& node : nodes)
    for_each_storage(*node, [](Storage& s) {
      if (s.asks_allocator()) s.address();
    });
}

// The error of a value that has failed and that is still there when the nodes are gone.
std::exception_ptr visible_error(std::vector<NodePtr>& nodes) {
  std::vector<std::weak_ptr<Storage>> failed;
  for (auto& node : nodes) {
    auto storage = node->in_place() ? node->out.storage : node->fresh.lock();
    if (storage && storage->error()) failed.push_back(storage);
  }
  nodes.clear();
  for (auto& weak : failed)
    if (auto storage = weak.lock()) return storage->error();
  return nullptr;
}

// Returns what flush_and_report throws.
std::exception_ptr flush_queue(driver::DeviceState& device, Queue& queue) {
  if (queue.launching || queue.nodes.empty()) return nullptr;
  CUstream stream = queue.stream;
  std::vector<NodePtr> nodes = std::exchange(queue.nodes, std::move(queue.spare));
  ++queue.batch;
  try {
    ask_allocators(nodes);
    queue.launching = true;
    bool complete = fuse::launch_nodes(device, stream, nodes);
    queue.launching = false;
    if (!complete) return visible_error(nodes);
    nodes.clear();
    queue.spare = std::move(nodes);
    return nullptr;
  } catch (...) {
    for (auto& node : nodes) {
      if (node->launched) continue;
      if (node->in_place())
        node->out.storage->fail(std::current_exception());
      else if (auto storage = node->fresh.lock())
        storage->fail(std::current_exception());
    }
    queue.launching = false;
    throw;
  }
}

// Before the next operation is recorded. A long queue is launched as late as this, when the last
// value has been kept or dropped, so that no dropped one is computed.
bool must_flush(const Queue& queue, const std::shared_ptr<driver::DeviceState>& device) {
  return queue.nodes.size() >= kLongQueue ||
         (!queue.nodes.empty() && queue.stream != driver::current_stream(device)->handle());
}

[[maybe_unused]] const bool installed = [] {
  driver::set_flush_hook([](driver::DeviceState& device) { flush_and_report(device); });
  return true;
}();

}  // namespace

void* Node::operator new(std::size_t bytes) {
  NodeMemory& memory = node_memory;
  return memory.count > 0 ? memory.blocks[--memory.count] : ::operator new(bytes);
}

void Node::operator delete(void* block) noexcept {
  NodeMemory& memory = node_memory;
  if (memory.closed || memory.count == kLongQueue) return ::operator delete(block);
  if (memory.count == 0) node_memory_owner.exist();
  memory.blocks[memory.count++] = block;
}

Recording::Recording(const std::shared_ptr<driver::DeviceState>& device) {
  Queue& queue = queue_of(*device);
  lock_ = std::unique_lock(queue.mutex);
  if (must_flush(queue, device)) flush_queue(*device, queue);
}

Recording::Recording(const std::shared_ptr<driver::DeviceState>& device, IfFree) {
  Queue& queue = queue_of(*device);
  std::unique_lock lock(queue.mutex, std::try_to_lock);
  if (lock && fusion() && !must_flush(queue, device)) lock_ = std::move(lock);
}

CUdeviceptr Storage::address() {
  if (error_) std::rethrow_exception(error_);
  if (owner_) return foreign_;
  if (bytes_ == 0) return 0;
  if (allocator_) [[unlikely]] {
    ForeignMemory memory = allocate_with(*allocator_, bytes_);
    foreign_ = memory.address;
    owner_ = std::move(memory.owner);
    flush(*device_);  // what the allocator did to the memory comes first
    return foreign_;
  }
  const auto& stream = driver::current_stream(device_);
  if (!memory_) memory_.emplace(device_, bytes_, stream->handle());
  memory_->used_by(stream);
  return memory_->address();
}

const View& view_of(const Array& array) {
  if (!array) throw ValueError("this td::Array holds no array; assign one first");
  return array.impl()->view;
}

View fresh_view(const std::shared_ptr<driver::DeviceState>& device, const Shape& shape,
                Strides strides, DType dtype) {
  std::int64_t size = size_of(shape);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(size, static_cast<std::int64_t>(itemsize(dtype)), &bytes))
    throw ValueError(
        base::cat("shape ", base::tuple_text(shape), " needs more bytes than 64 bits can count"));
  return {std::make_shared<Storage>(device, static_cast<std::size_t>(bytes)), shape,
          std::move(strides), 0, dtype};
}

void read(Input& input, const View& view, const Shape& shape, DType loop) {
  input.loop = loop;
  input.view.offset = view.offset;
  input.view.dtype = view.dtype;
  input.view.shape = shape;
  if (view.shape != shape) {
    input.view.strides = broadcast_strides(view.shape, view.strides, shape);
    input.view.storage = view.storage;
    return;
  }
  input.view.strides = view.strides;
  const Storage& storage = *view.storage;
  if (storage.writer && storage.writer_batch == queue_of(*storage.device()).batch) {
    const View& out = storage.writer->out;
    bool whole = out.offset == view.offset && out.dtype == view.dtype && out.shape == view.shape &&
                 out.strides == view.strides;
    if (whole) {
      input.kind = Input::Kind::node;
      input.node = storage.writer;
      // The value alone does not keep its memory alive.
      if (!storage.writer->in_place()) return;
    }
  }
  input.view.storage = view.storage;
}

void record(const std::shared_ptr<driver::DeviceState>& device, NodePtr node, Storage& written) {
  Queue& queue = queue_of(*device);
  if (queue.nodes.empty()) queue.stream = driver::current_stream(device)->handle();
  written.writer = node.get();
  written.writer_batch = queue.batch;
  if (node->in_place()) written.forget_range();
  queue.nodes.push_back(std::move(node));
  if (fusion()) return;
  if (auto error = flush_queue(*device, queue)) std::rethrow_exception(error);
}

std::vector<PlannedKernel> explain_pending(driver::DeviceState& device,
                                           const std::vector<const Storage*>& wanted) {
  Queue& queue = queue_of(device);
  std::lock_guard lock(queue.mutex);
  return queue.nodes.empty() ? std::vector<PlannedKernel>{}
                             : fuse::explain_nodes(device, queue.nodes, wanted);
}

void flush(driver::DeviceState& device) {
  Queue& queue = queue_of(device);
  std::lock_guard lock(queue.mutex);
  flush_queue(device, queue);
}

void flush_and_report(driver::DeviceState& device) {
  Queue& queue = queue_of(device);
  std::lock_guard lock(queue.mutex);
  if (auto error = flush_queue(device, queue)) std::rethrow_exception(error);
}

}  // namespace td::array

namespace td {
namespace {

std::atomic<bool>& fusion_flag() {
  static std::atomic<bool> flag = [] {
    const char* text = std::getenv("TREADLE_FUSION");
    return !(text && (std::string_view(text) == "0" || std::string_view(text) == "off"));
  }();
  return flag;
}

}  // namespace

bool fusion() { return fusion_flag().load(std::memory_order_relaxed); }
void set_fusion(bool on) { fusion_flag().store(on, std::memory_order_relaxed); }

std::vector<PlannedKernel> explain(std::span<const Array> arrays) {
  std::vector<PlannedKernel> kernels;
  std::vector<driver::DeviceState*> devices;
  std::vector<const array::Storage*> wanted;
  for (const Array& a : arrays) {
    const auto& storage = array::view_of(a).storage;
    wanted.push_back(storage.get());
    driver::DeviceState* device = storage->device().get();
    if (std::find(devices.begin(), devices.end(), device) == devices.end())
      devices.push_back(device);
  }
  for (driver::DeviceState* device : devices)
    for (PlannedKernel& kernel : array::explain_pending(*device, wanted))
      kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace td
