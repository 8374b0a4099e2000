#include "softdev/run/context.h"

#include <algorithm>

#include "softdev/run/array.h"
#include "softdev/run/capture.h"
#include "softdev/run/device.h"
#include "base/fork.h"
#include "softdev/run/memory.h"
#include "softdev/run/module.h"
#include "softdev/run/pool.h"
#include "softdev/run/print.h"
#include "softdev/run/texture.h"

namespace td::softdev {

namespace {

struct LastFault {
  std::mutex mutex;
  std::string text;
};
LastFault& last_fault_state() { return base::guarded_instance<LastFault, base::LockRank::print>(); }

}  // namespace

namespace {

// The primary contexts, in the order of their devices, then the floating ones.
struct Registry {
  std::mutex mutex;
  std::vector<Context*> contexts;
};
Registry& registry() {
  static auto& all = *[] {
    auto* made = new Registry;
    for (int i = 0; i < device_count(); ++i) made->contexts.push_back(new Context(i, true));
    base::guard_across_fork(made->mutex, base::LockRank::context);
    return made;
  }();
  return all;
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

thread_local bool per_thread_default = false;

}  // namespace

Context& context_of(int device) {
  static const std::vector<Context*>& primaries = *new std::vector<Context*>(registry().contexts);
  return *primaries[static_cast<std::size_t>(device)];
}

Context& create_context(int device) {
  auto* context = new Context(device, false);
  context->active = true;
  std::lock_guard lock(registry().mutex);
  registry().contexts.push_back(context);
  return *context;
}

bool is_context(CUcontext context) {
  std::lock_guard lock(registry().mutex);
  const auto& all = registry().contexts;
  return std::find(all.begin(), all.end(), context) != all.end();
}

void for_each_context(void (*visit)(Context&), bool locked) {
  std::unique_lock lock(registry().mutex, std::defer_lock);
  if (!locked) lock.lock();
  for (Context* context : registry().contexts) visit(*context);
}

PerThreadDefaultStream::PerThreadDefaultStream()
    : before_(std::exchange(per_thread_default, true)) {}
PerThreadDefaultStream::~PerThreadDefaultStream() { per_thread_default = before_; }
bool PerThreadDefaultStream::active() { return per_thread_default; }

std::vector<Context*>& context_stack() {
  // Static objects that die at process exit still make driver calls, after the thread's own objects
  // are gone: then the stack is made anew.
  static thread_local std::vector<Context*>* stack = nullptr;
  struct Cleaner {
    ~Cleaner() { delete std::exchange(stack, nullptr); }
  };
  static thread_local Cleaner cleaner;
  if (!stack) stack = new std::vector<Context*>;
  return *stack;
}

std::string last_fault() {
  std::lock_guard lock(last_fault_state().mutex);
  return last_fault_state().text;
}

void note_last_fault(const std::string& text) {
  std::lock_guard lock(last_fault_state().mutex);
  last_fault_state().text = text;
}

}  // namespace td::softdev

using namespace td::softdev;

CUctx_st::CUctx_st(int device, bool primary)
    : device(device), primary(primary), id(next_id()), prints_(std::make_unique<PrintBuffer>()) {
  default_stream.alive = true;
  default_stream.context = this;
  default_stream.id = next_id();
  other_limits[td::cuda::LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  other_limits[td::cuda::LIMIT_MAX_L2_FETCH_GRANULARITY] = 128;
  td::base::guard_across_fork(mutex, td::base::LockRank::context);
  td::base::guard_across_fork(fault_mutex_, td::base::LockRank::print);
}

CUctx_st::~CUctx_st() = default;

void CUctx_st::fail(CUresult code, std::string text) {
  {
    std::lock_guard lock(fault_mutex_);
    if (error.load() != 0) return;
    note_last_fault(text);
    fault_text_ = std::move(text);
    error = code;
  }
  Scheduler::get().interrupt_failed();
}

std::string CUctx_st::fault_text() {
  std::lock_guard lock(fault_mutex_);
  return fault_text_;
}

CUresult CUctx_st::wait(Op& op) {
  Scheduler::get().wait(op);
  prints_->flush();
  return error;
}

CUresult CUctx_st::synchronize() {
  Scheduler::get().wait_all(*this);
  prints_->flush();
  return error;
}

CUstream CUctx_st::make_stream(unsigned stream_flags, int priority) {
  CUstream stream = handle_pool<CUstream_st>().make();
  stream->context = this;
  stream->flags = stream_flags;
  stream->id = next_id();
  std::lock_guard lock(Scheduler::get().mutex());
  stream->queue.blocking = !(stream_flags & td::cuda::STREAM_NON_BLOCKING);
  stream->queue.priority = static_cast<std::int8_t>(std::clamp(priority, kGreatestPriority, 0));
  stream->queue.destroyed = false;
  // Streams that were destroyed with work in them are let go here, once that work is done.
  for (std::size_t i = 0; i < streams.size();) {
    CUstream old = streams[i];
    if (old->queue.destroyed && (!old->queue.last || old->queue.last->done())) {
      streams[i] = streams.back();
      streams.pop_back();
      handle_pool<CUstream_st>().recycle(old);
    } else {
      ++i;
    }
  }
  streams.push_back(stream);
  return stream;
}

void CUctx_st::destroy_stream(CUstream stream) {
  std::lock_guard lock(Scheduler::get().mutex());
  stream->alive = false;
  if (stream->queue.last && !stream->queue.last->done()) {
    stream->queue.destroyed = true;
    return;
  }
  streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
  handle_pool<CUstream_st>().recycle(stream);
}

CUevent CUctx_st::make_event(unsigned event_flags) {
  CUevent event = handle_pool<CUevent_st>().make();
  event->context = this;
  event->flags = event_flags;
  std::lock_guard lock(mutex);
  events.push_back(event);
  return event;
}

void CUctx_st::destroy_event(CUevent event) {
  event->alive = false;
  {
    std::lock_guard lock(mutex);
    auto found = std::find(events.rbegin(), events.rend(), event);
    if (found != events.rend()) {
      *found = events.back();
      events.pop_back();
    }
  }
  {
    std::lock_guard lock(Scheduler::get().mutex());
    event->record = {};
  }
  handle_pool<CUevent_st>().recycle(event);
}

CUstream CUctx_st::resolve(CUstream handle) {
  if (handle == td::cuda::STREAM_PER_THREAD || (!handle && per_thread_default)) {
    struct Own {
      CUcontext context;
      CUstream stream;
      std::uint64_t generation;
    };
    static thread_local std::vector<Own> own;
    for (Own& mine : own) {
      if (mine.context != this) continue;
      if (mine.generation != generation)
        mine = {this, make_stream(td::cuda::STREAM_DEFAULT, 0), generation};
      return mine.stream;
    }
    own.push_back({this, make_stream(td::cuda::STREAM_DEFAULT, 0), generation});
    return own.back().stream;
  }
  if (!handle || handle == td::cuda::STREAM_LEGACY) return &default_stream;
  return is_alive(handle) ? handle : nullptr;
}

void CUctx_st::abandon_captures() {
  if (!any_capture()) return;
  std::vector<CUstream> all;
  {
    std::lock_guard lock(Scheduler::get().mutex());
    all = streams;
  }
  for (CUstream stream : all) abandon_capture(*stream);
}

void CUctx_st::reset() {
  Scheduler::get().wait_all(*this);
  prints_->flush();
  abandon_captures();
  std::vector<CUmodule> old_modules;
  std::vector<CUevent> old_events;
  {
    std::lock_guard lock(mutex);
    old_modules.swap(modules);
    old_events.swap(events);
    ++generation;
  }
  for (CUmodule module : old_modules) destroy_module(module);
  {
    std::lock_guard lock(Scheduler::get().mutex());
    for (CUstream stream : streams) {
      stream->alive = false;
      handle_pool<CUstream_st>().recycle(stream);
    }
    streams.clear();
    default_stream.queue.last = {};
    for (CUevent event : old_events) {
      event->alive = false;
      event->record = {};
    }
  }
  for (CUevent event : old_events) handle_pool<CUevent_st>().recycle(event);
  heap.clear();
  destroy_textures_of(*this);
  destroy_arrays_of(*this);
  if (primary) reset_pools(device);
  Arena::get().free_all(this);
  std::lock_guard lock(fault_mutex_);
  fault_text_.clear();
  error = 0;
}
