// Streams: life, questions, waiting, callbacks, values in memory, attributes.
#include <algorithm>
#include <cstring>
#include <vector>

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/capture.h"
#include "softdev/run/memory_op.h"
#include "softdev/run/pool.h"
#include "softdev/run/print.h"
#include "softdev/run/work.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

template <class T>
CUresult answer(CUstream handle, T* out, const auto& value) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = value(context, stream);
    return CUDA_SUCCESS;
  });
}

struct Callback {
  CUstreamCallback function;
  CUstream stream;
  void* user_data;
  Context* context;
};

void call_back(void* data) {
  Callback callback = *static_cast<Callback*>(data);
  delete static_cast<Callback*>(data);
  callback.function(callback.stream, callback.context->error, callback.user_data);
}

CUresult memory_operations(CUstream handle, std::vector<CUstreamBatchMemOpParams> operations) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (CUresult error = check_memory_ops(operations)) return error;
    return submit(context, stream, ValueWork{std::move(operations)});
  });
}

CUresult value_operation(CUstream stream, int operation, CUdeviceptr address, std::uint64_t value,
                         unsigned flags) {
  CUstreamBatchMemOpParams op{};
  op.memory.operation = operation;
  op.memory.address = address;
  op.memory.value64 = value;
  op.memory.flags = flags;
  return memory_operations(stream, {op});
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
CUresult td_soft_cuStreamCreate(CUstream* stream, unsigned flags) {
  return td_soft_cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult td_soft_cuStreamDestroy_v2(CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (&stream == &context.default_stream || handle == STREAM_PER_THREAD)
      return CUDA_ERROR_INVALID_VALUE;
    abandon_capture(stream);
    context.destroy_stream(&stream);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuStreamGetPriority(CUstream handle, int* priority) {
  return answer(handle, priority,
                [](Context&, CUstream_st& stream) { return stream.queue.priority; });
}
CUresult td_soft_cuStreamGetFlags(CUstream handle, unsigned* flags) {
  return answer(handle, flags, [](Context&, CUstream_st& stream) { return stream.flags; });
}
CUresult td_soft_cuStreamGetId(CUstream handle, unsigned long long* id) {
  return answer(handle, id, [](Context&, CUstream_st& stream) { return stream.id; });
}
CUresult td_soft_cuStreamGetCtx(CUstream handle, CUcontext* out) {
  return answer(handle, out, [](Context& context, CUstream_st&) { return &context; });
}
CUresult td_soft_cuStreamGetCtx_v2(CUstream handle, CUcontext* out, void** green_context) {
  if (green_context) *green_context = nullptr;  // no part of a device is ever set aside
  return td_soft_cuStreamGetCtx(handle, out);
}
CUresult td_soft_cuStreamGetDevice(CUstream handle, CUdevice* out) {
  return answer(handle, out, [](Context& context, CUstream_st&) { return context.device; });
}

CUresult td_soft_cuStreamQuery(CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (CUresult error = refuse_captured(context, stream)) return error;
    if (!Scheduler::get().idle(stream.queue)) return CUDA_ERROR_NOT_READY;
    return context.error;
  });
}

CUresult td_soft_cuStreamSynchronize(CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (CUresult error = refuse_captured(context, stream)) return error;
    // The default stream waits for all blocking streams, as any work in it would.
    if (&stream == &context.default_stream) {
      Ref<Op> marker(new MarkerOp(context));
      Scheduler::get().enqueue(stream.queue, *marker);
    }
    Ref<Op> last = Scheduler::get().last(stream.queue);
    if (last) context.wait(*last);
    context.prints().flush();
    release_unused_memory(context.device);
    return context.error;
  });
}

// Old programs' form of a host function: it is told whether the context has failed.
CUresult td_soft_cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* user_data,
                                     unsigned flags) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!function || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = refuse_captured(context, stream)) return error;
    auto* callback = new Callback{function, handle, user_data, &context};
    return submit(context, stream, HostWork{&call_back, callback, true});
  });
}

CUresult td_soft_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, std::uint32_t value,
                                        unsigned flags) {
  return value_operation(stream, MEM_OP_WAIT_VALUE_32, address, value, flags);
}
CUresult td_soft_cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, std::uint64_t value,
                                        unsigned flags) {
  return value_operation(stream, MEM_OP_WAIT_VALUE_64, address, value, flags);
}
CUresult td_soft_cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, std::uint32_t value,
                                         unsigned flags) {
  return value_operation(stream, MEM_OP_WRITE_VALUE_32, address, value, flags);
}
CUresult td_soft_cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, std::uint64_t value,
                                         unsigned flags) {
  return value_operation(stream, MEM_OP_WRITE_VALUE_64, address, value, flags);
}
CUresult td_soft_cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                                       CUstreamBatchMemOpParams* operations, unsigned flags) {
  if (flags != 0 || (count && !operations) || count > 256) return CUDA_ERROR_INVALID_VALUE;
  return memory_operations(stream, {operations, operations + count});
}

CUresult td_soft_cuStreamCopyAttributes(CUstream to, CUstream from) {
  return in_stream(from, [&](Context&, CUstream_st& source) -> CUresult {
    return in_stream(to, [&](Context&, CUstream_st& stream) -> CUresult {
      stream.synchronization_policy = source.synchronization_policy;
      return CUDA_SUCCESS;
    });
  });
}

CUresult td_soft_cuStreamGetAttribute(CUstream handle, int attribute, CUstreamAttrValue* value) {
  return in_stream(handle, [&](Context&, CUstream_st& stream) -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    std::memset(value, 0, sizeof *value);
    switch (attribute) {
      case LAUNCH_SYNCHRONIZATION_POLICY:
        value->syncPolicy = stream.synchronization_policy;
        return CUDA_SUCCESS;
      case LAUNCH_PRIORITY:
        value->priority = stream.queue.priority;
        return CUDA_SUCCESS;
      case LAUNCH_ACCESS_POLICY_WINDOW:
      case LAUNCH_MEM_SYNC_DOMAIN_MAP:
      case LAUNCH_MEM_SYNC_DOMAIN:
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult td_soft_cuStreamSetAttribute(CUstream handle, int attribute,
                                      const CUstreamAttrValue* value) {
  return in_stream(handle, [&](Context&, CUstream_st& stream) -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
      case LAUNCH_SYNCHRONIZATION_POLICY:
        if (value->syncPolicy < 1 || value->syncPolicy > 4) return CUDA_ERROR_INVALID_VALUE;
        stream.synchronization_policy = value->syncPolicy;
        return CUDA_SUCCESS;
      case LAUNCH_PRIORITY: {
        std::lock_guard lock(Scheduler::get().mutex());
        stream.queue.priority =
            static_cast<std::int8_t>(std::clamp(value->priority, kGreatestPriority, 0));
        return CUDA_SUCCESS;
      }
      case LAUNCH_ACCESS_POLICY_WINDOW:
      case LAUNCH_MEM_SYNC_DOMAIN_MAP:
      case LAUNCH_MEM_SYNC_DOMAIN:
        return CUDA_SUCCESS;  // hints about caches
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

}  // extern "C"
