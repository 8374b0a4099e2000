// Streams, events and host functions.
#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/print.h"
#include "softdev/run/work.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

bool is_live(CUevent event, const Context& context) {
  return event && reinterpret_cast<std::uintptr_t>(event) % alignof(CUevent_st) == 0 &&
         event->alive.load(std::memory_order_acquire) && event->context == &context;
}

template <class Body>
CUresult with_event(CUevent event, const Body& body) {
  return in_context([&](Context& context) -> CUresult {
    return is_live(event, context) ? body(context)
                                   : static_cast<CUresult>(CUDA_ERROR_INVALID_HANDLE);
  });
}

Ref<Op> record_of(CUevent event) {
  std::lock_guard lock(Scheduler::get().mutex());
  return event->record;
}

}  // namespace

extern "C" {

CUresult td_soft_cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return in_context([&](Context& context) -> CUresult {
    if (!stream || (flags & ~static_cast<unsigned>(STREAM_NON_BLOCKING)))
      return CUDA_ERROR_INVALID_VALUE;
    *stream = context.make_stream(flags, priority);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuStreamDestroy_v2(CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (&stream == &context.default_stream || handle == STREAM_PER_THREAD)
      return CUDA_ERROR_INVALID_VALUE;
    context.destroy_stream(&stream);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuStreamQuery(CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!Scheduler::get().idle(stream.queue)) return CUDA_ERROR_NOT_READY;
    return context.error;
  });
}

CUresult td_soft_cuStreamSynchronize(CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    // The default stream waits for all blocking streams, as any work in it would.
    if (&stream == &context.default_stream) {
      Ref<Op> marker(new MarkerOp(context));
      Scheduler::get().enqueue(stream.queue, *marker);
    }
    Ref<Op> last = Scheduler::get().last(stream.queue);
    if (last) return context.wait(*last);
    context.prints().flush();
    return context.error;
  });
}

CUresult td_soft_cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    // An event of another device's context is fine: the graph is one.
    if (!event || !event->alive.load(std::memory_order_acquire)) return CUDA_ERROR_INVALID_HANDLE;
    Ref<Op> record = record_of(event);
    if (!record || record->done()) return CUDA_SUCCESS;
    Ref<Op> marker(new MarkerOp(context));
    Scheduler::get().enqueue(stream.queue, *marker, record.get());
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuLaunchHostFunc(CUstream handle, CUhostFn function, void* user_data) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    return submit(context, stream, HostWork{function, user_data});
  });
}

CUresult td_soft_cuEventCreate(CUevent* event, unsigned flags) {
  return in_context([&](Context& context) -> CUresult {
    if (!event || (flags & ~3u)) return CUDA_ERROR_INVALID_VALUE;
    *event = context.make_event(flags);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuEventDestroy_v2(CUevent event) {
  return with_event(event, [&](Context& context) -> CUresult {
    context.destroy_event(event);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuEventRecord(CUevent event, CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!is_live(event, context)) return CUDA_ERROR_INVALID_HANDLE;
    Ref<Op> op(new EventOp(context));
    {
      std::lock_guard lock(Scheduler::get().mutex());
      event->record = op;
    }
    Scheduler::get().enqueue(stream.queue, *op);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuEventQuery(CUevent event) {
  return with_event(event, [&](Context& context) -> CUresult {
    Ref<Op> record = record_of(event);
    if (record && !record->done()) return CUDA_ERROR_NOT_READY;
    return context.error;
  });
}

CUresult td_soft_cuEventSynchronize(CUevent event) {
  return with_event(event, [&](Context& context) -> CUresult {
    Ref<Op> record = record_of(event);
    return record ? context.wait(*record) : context.error.load();
  });
}

CUresult td_soft_cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return with_event(start, [&](Context& context) -> CUresult {
    if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
    if (!is_live(end, context) || ((start->flags | end->flags) & EVENT_DISABLE_TIMING))
      return CUDA_ERROR_INVALID_HANDLE;
    Ref<Op> from = record_of(start), to = record_of(end);
    if (!from || !to) return CUDA_ERROR_INVALID_HANDLE;
    if (!from->done() || !to->done()) return CUDA_ERROR_NOT_READY;
    auto time = [](const Ref<Op>& op) { return static_cast<const EventOp&>(*op).time(); };
    *milliseconds = static_cast<float>(static_cast<double>(time(to) - time(from)) * 1e-6);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
