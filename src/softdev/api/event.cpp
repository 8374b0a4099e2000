// Events.
#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/capture.h"
#include "softdev/run/pool.h"
#include "softdev/run/work.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

constexpr unsigned kExternal = 1;  // of cuEventRecordWithFlags, cuStreamWaitEvent

bool is_live(CUevent event) { return is_alive(event); }

// An event may be asked about from any context.
template <class Body>
CUresult with_event(CUevent event, const Body& body) {
  return in_context([&](Context&) -> CUresult {
    if (!is_live(event)) return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult error = event->context->error.load(std::memory_order_acquire)) return error;
    return body(*event->context);
  });
}

Ref<Op> record_of(CUevent event) {
  std::lock_guard lock(Scheduler::get().mutex());
  return event->record;
}

CUresult record(CUevent event, CUstream handle, unsigned flags) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (flags & ~kExternal) return CUDA_ERROR_INVALID_VALUE;
    if (!is_live(event) || event->context != &context) return CUDA_ERROR_INVALID_HANDLE;
    if (is_captured(stream)) {
      if (flags & kExternal) return submit(context, stream, RecordWork{event});
      return capture_record(stream, event);
    }
    if (flags & kExternal) return CUDA_ERROR_ILLEGAL_STATE;
    if (CUresult error = refuse_implicit(context, stream)) return error;
    forget_captured_event(event);
    Ref<Op> op(new EventOp(context));
    {
      std::lock_guard lock(Scheduler::get().mutex());
      event->record = op;
    }
    Scheduler::get().enqueue(stream.queue, *op);
    return CUDA_SUCCESS;
  });
}

CUresult elapsed(float* milliseconds, CUevent start, CUevent end) {
  return with_event(start, [&](Context& context) -> CUresult {
    if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
    if (!is_live(end) || end->context != &context ||
        ((start->flags | end->flags) & EVENT_DISABLE_TIMING))
      return CUDA_ERROR_INVALID_HANDLE;
    if (is_captured_event(start) || is_captured_event(end)) return CUDA_ERROR_CAPTURED_EVENT;
    Ref<Op> from = record_of(start), to = record_of(end);
    if (!from || !to) return CUDA_ERROR_INVALID_HANDLE;
    if (!from->done() || !to->done()) return CUDA_ERROR_NOT_READY;
    auto time = [](const Ref<Op>& op) { return static_cast<const EventOp&>(*op).time(); };
    *milliseconds = static_cast<float>(static_cast<double>(time(to) - time(from)) * 1e-6);
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

// Events between processes do not exist on this device; its attribute says so.
CUresult td_soft_cuEventCreate(CUevent* event, unsigned flags) {
  return in_context([&](Context& context) -> CUresult {
    if (!event || (flags & ~7u)) return CUDA_ERROR_INVALID_VALUE;
    if (flags & EVENT_INTERPROCESS)
      return flags & EVENT_DISABLE_TIMING ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    *event = context.make_event(flags);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuEventDestroy_v2(CUevent event) {
  return with_event(event, [&](Context& context) -> CUresult {
    forget_captured_event(event);
    context.destroy_event(event);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuEventRecord(CUevent event, CUstream stream) { return record(event, stream, 0); }
CUresult td_soft_cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return record(event, stream, flags);
}

CUresult td_soft_cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (flags & ~kExternal) return CUDA_ERROR_INVALID_VALUE;
    // An event of another device's context is fine: the graph is one.
    if (!is_live(event)) return CUDA_ERROR_INVALID_HANDLE;
    if (flags & kExternal)
      return is_captured(stream) ? submit(context, stream, WaitWork{event})
                                 : static_cast<CUresult>(CUDA_ERROR_ILLEGAL_STATE);
    if (any_capture()) {
      bool handled = false;
      CUresult result = capture_wait(stream, event, &handled);
      if (handled) return result;
      if (CUresult error = refuse_implicit(context, stream)) return error;
    }
    Ref<Op> before = record_of(event);
    if (!before || before->done()) return CUDA_SUCCESS;
    Ref<Op> marker(new MarkerOp(context));
    Scheduler::get().enqueue(stream.queue, *marker, before.get());
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuEventQuery(CUevent event) {
  return with_event(event, [&](Context& context) -> CUresult {
    if (CUresult error = refuse_captured_event(event)) return error;
    if (CUresult error = refuse_unsafe()) return error;
    Ref<Op> last = record_of(event);
    if (last && !last->done()) return CUDA_ERROR_NOT_READY;
    return context.error;
  });
}

CUresult td_soft_cuEventSynchronize(CUevent event) {
  return with_event(event, [&](Context& context) -> CUresult {
    if (CUresult error = refuse_captured_event(event)) return error;
    if (CUresult error = refuse_unsafe()) return error;
    Ref<Op> last = record_of(event);
    if (last) context.wait(*last);
    release_unused_memory(context.device);
    return context.error;
  });
}

CUresult td_soft_cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}
CUresult td_soft_cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}

}  // extern "C"
