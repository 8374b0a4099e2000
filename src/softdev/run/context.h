// Contexts, streams and events as the driver API sees them.
//
// Each device has a primary context and any number of floating ones (cuCtxCreate). Their objects
// live for ever: a handle stays safe to look at. Streams, events, modules and functions are handles
// whose memory is recycled but never given back (HandlePool), so that a destroyed handle is
// answered with CUDA_ERROR_INVALID_HANDLE instead of a crash.
//
// A context that has failed (a kernel fault) keeps its error: every later call returns it, until
// the context is reset.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/cuda_abi.h"
#include "base/fork.h"
#include "softdev/run/heap.h"
#include "softdev/run/scheduler.h"

namespace td::softdev {

class PrintBuffer;
class Capture;

// Objects behind handles. Thread-safe; lives for ever. T has a default constructor, `alive`, and
// clear() that makes it as new.
template <class T>
class HandlePool {
 public:
  HandlePool() { base::guard_across_fork(mutex_, base::LockRank::handles); }
  T* make() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) {
      objects_.push_back(std::make_unique<T>());
      free_.push_back(objects_.back().get());
    }
    T* object = free_.back();
    free_.pop_back();
    object->alive.store(true, std::memory_order_release);
    return object;
  }
  void recycle(T* object) {
    object->clear();
    std::lock_guard lock(mutex_);
    free_.push_back(object);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> objects_;
  std::vector<T*> free_;
};
// The pool of a type.
template <class T>
HandlePool<T>& handle_pool() {
  static auto& pool = *new HandlePool<T>;
  return pool;
}
// Whether a handle that a program gave may be read as its object: pools keep their memory.
template <class Object>
bool may_be_read(const Object* handle) {
  return handle && reinterpret_cast<std::uintptr_t>(handle) % alignof(Object) == 0;
}
template <class Object>
bool is_alive(const Object* handle) {
  return may_be_read(handle) && handle->alive.load(std::memory_order_acquire);
}

}  // namespace td::softdev

struct CUstream_st {
  std::atomic<bool> alive{false};
  CUcontext context = nullptr;
  unsigned flags = 0;
  std::uint64_t id = 0;
  int synchronization_policy = 1;                       // CUsynchronizationPolicy; only remembered
  std::atomic<td::softdev::Capture*> capture{nullptr};  // run/capture.h
  td::softdev::StreamQueue queue;                       // guarded by the scheduler's mutex
  void clear() {
    alive = false;
    context = nullptr;
    queue = {};
  }
};

struct CUevent_st {
  std::atomic<bool> alive{false};
  CUcontext context = nullptr;
  unsigned flags = 0;
  td::softdev::Ref<td::softdev::Op> record;  // guarded by the scheduler's mutex
  td::softdev::Capture* capture = nullptr;   // was recorded in a captured stream; see run/capture.h
  void clear() {
    alive = false;
    context = nullptr;
    record = {};
    capture = nullptr;
  }
};

struct CUctx_st {
  CUctx_st(int device, bool primary);
  ~CUctx_st();

  const int device;
  const bool primary;
  const std::uint64_t id;
  // Set by the first fault, cleared by a reset.
  std::atomic<CUresult> error{0};
  std::atomic<bool> active{false};

  // Records a fault (the first one stays) and stops what else runs in the context. `text` is for
  // people.
  void fail(CUresult code, std::string text);
  std::string fault_text();
  // Destroys streams, events, modules and memory, and clears the error.
  void reset();
  // Waits for all work, then prints what kernels printed. Returns the context's error.
  CUresult synchronize();
  CUresult wait(td::softdev::Op& op);

  CUstream make_stream(unsigned flags, int priority);
  void destroy_stream(CUstream stream);
  CUevent make_event(unsigned flags);
  void destroy_event(CUevent event);
  // Turns a handle into a stream of this context: null and CU_STREAM_LEGACY are the default stream,
  // CU_STREAM_PER_THREAD that of the calling thread. A stream of another context is returned as it
  // is. Null for a handle that is not a stream.
  CUstream resolve(CUstream handle);

  td::softdev::PrintBuffer& prints() { return *prints_; }

  std::atomic<std::size_t> stack_limit{1024}, heap_limit{8u << 20};
  td::softdev::DeviceHeap heap;

  // What is only remembered.
  std::atomic<std::size_t> other_limits[8];  // by CUlimit
  std::atomic<unsigned> flags{0};
  std::atomic<int> cache_config{0};

  // Guarded by the scheduler's mutex.
  CUstream_st default_stream;
  std::vector<CUstream> streams;
  std::uint64_t unfinished = 0;  // operations

  std::mutex mutex;  // guards the rest
  int references = 0;
  std::atomic<std::uint64_t> generation{1};
  std::vector<CUevent> events;
  std::vector<CUmodule> modules;
  std::vector<CUcontext> peers;  // whose memory this context was given access to

 private:
  void abandon_captures();

  std::mutex fault_mutex_;
  std::string fault_text_;
  std::unique_ptr<td::softdev::PrintBuffer> prints_;
};

namespace td::softdev {

inline constexpr int kGreatestPriority = -5;  // of a stream; the least one is 0

CUctx_st& context_of(int device);  // the primary one
CUctx_st& create_context(int device);
// Whether the handle is a context: a living one or one that was destroyed.
bool is_context(CUcontext context);
// For all that there ever were. In the child of a fork, where all locks are held already, `locked`.
void for_each_context(void (*visit)(Context&), bool locked = false);
// While it lives, handle 0 means the calling thread's own default stream (names that end in _ptsz
// and _ptds).
class PerThreadDefaultStream {
 public:
  PerThreadDefaultStream();
  ~PerThreadDefaultStream();
  static bool active();

 private:
  bool before_;
};
// The calling thread's stack of contexts.
std::vector<Context*>& context_stack();
inline Context* current_context() {
  auto& stack = context_stack();
  return stack.empty() ? nullptr : stack.back();
}
// The newest fault of any context, "" when there was none.
std::string last_fault();
void note_last_fault(const std::string& text);

// An event's mark in a stream.
class EventOp final : public Op {
 public:
  explicit EventOp(Context& context) : Op(Kind::instant, context) {}
  void run(Executor*, std::uint64_t, std::uint64_t) override { time_ = steady_nanoseconds(); }
  std::int64_t time() const { return time_; }  // once done

 private:
  std::int64_t time_ = 0;
};

// Nothing but edges of the graph.
class MarkerOp final : public Op {
 public:
  explicit MarkerOp(Context& context) : Op(Kind::instant, context) {}
  void run(Executor*, std::uint64_t, std::uint64_t) override {}
};

}  // namespace td::softdev
