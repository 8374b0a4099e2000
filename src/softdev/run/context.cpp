#include "softdev/run/context.h"

#include <algorithm>

#include "softdev/run/device.h"
#include "softdev/run/fork.h"
#include "softdev/run/memory.h"
#include "softdev/run/module.h"
#include "softdev/run/print.h"

namespace td::softdev {

namespace {

HandlePool<CUstream_st>& stream_pool() {
  static auto& pool = *new HandlePool<CUstream_st>;
  return pool;
}

HandlePool<CUevent_st>& event_pool() {
  static auto& pool = *new HandlePool<CUevent_st>;
  return pool;
}

struct LastFault {
  std::mutex mutex;
  std::string text;
};
LastFault& last_fault_state() {
  static auto& state = *[] {
    auto* made = new LastFault;
    guard_across_fork(made->mutex, LockRank::print);
    return made;
  }();
  return state;
}

}  // namespace

Context& context_of(int device) {
  static std::vector<Context*>& contexts = *[] {
    auto* made = new std::vector<Context*>;
    for (int i = 0; i < device_count(); ++i) made->push_back(new Context(i));
    return made;
  }();
  return *contexts[static_cast<std::size_t>(device)];
}

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

CUctx_st::CUctx_st(int device) : device(device), prints_(std::make_unique<PrintBuffer>()) {
  default_stream.alive = true;
  default_stream.context = this;
  guard_across_fork(mutex, LockRank::context);
  guard_across_fork(fault_mutex_, LockRank::print);
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

CUstream CUctx_st::make_stream(unsigned stream_flags) {
  CUstream stream = stream_pool().make();
  stream->context = this;
  stream->flags = stream_flags;
  std::lock_guard lock(Scheduler::get().mutex());
  stream->queue.blocking = !(stream_flags & td::cuda::STREAM_NON_BLOCKING);
  stream->queue.destroyed = false;
  // Streams that were destroyed with work in them are let go here, once that work is done.
  for (std::size_t i = 0; i < streams.size();) {
    CUstream old = streams[i];
    if (old->queue.destroyed && (!old->queue.last || old->queue.last->done())) {
      streams[i] = streams.back();
      streams.pop_back();
      stream_pool().recycle(old);
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
  stream_pool().recycle(stream);
}

CUevent CUctx_st::make_event(unsigned event_flags) {
  CUevent event = event_pool().make();
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
  event_pool().recycle(event);
}

CUstream CUctx_st::resolve(CUstream handle) {
  if (!handle || handle == td::cuda::STREAM_LEGACY) return &default_stream;
  if (handle == td::cuda::STREAM_PER_THREAD) {
    struct Own {
      CUstream stream = nullptr;
      std::uint64_t generation = 0;
    };
    static thread_local std::vector<Own> own(static_cast<std::size_t>(device_count()));
    Own& mine = own[static_cast<std::size_t>(device)];
    if (mine.generation != generation) mine = {make_stream(td::cuda::STREAM_DEFAULT), generation};
    return mine.stream;
  }
  if (reinterpret_cast<std::uintptr_t>(handle) % alignof(CUstream_st) != 0) return nullptr;
  return handle->alive.load(std::memory_order_acquire) && handle->context == this ? handle
                                                                                  : nullptr;
}

void CUctx_st::reset() {
  Scheduler::get().wait_all(*this);
  prints_->flush();
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
      stream_pool().recycle(stream);
    }
    streams.clear();
    default_stream.queue.last = {};
    for (CUevent event : old_events) {
      event->alive = false;
      event->record = {};
    }
  }
  for (CUevent event : old_events) event_pool().recycle(event);
  heap.clear();
  Arena::get().free_all(device);
  std::lock_guard lock(fault_mutex_);
  fault_text_.clear();
  error = 0;
}
