// Streams and events.
#include <memory>

#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

namespace {

struct Callback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void* data;
};

void run_callback(void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(callback->stream, cudaSuccess, callback->data);
}

CUevent event_of(cudaEvent_t event) { return reinterpret_cast<CUevent>(event); }

}  // namespace

TD_RUNTIME cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                    int priority) {
  return call([&]() -> CUresult {
    if (stream == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return api().cuStreamCreateWithPriority(reinterpret_cast<CUstream*>(stream), flags, priority);
  });
}
TD_RUNTIME cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
TD_RUNTIME cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
TD_RUNTIME cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call([&] { return api().cuStreamGetPriority(stream_of(stream), priority); });
}
TD_RUNTIME cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call([&] { return api().cuStreamGetFlags(stream_of(stream), flags); });
}
static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUstreamAttrValue));

TD_RUNTIME cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                              const cudaLaunchAttributeValue* value) {
  return call([&] {
    return api().cuStreamSetAttribute(stream_of(stream), attribute,
                                      reinterpret_cast<const CUstreamAttrValue*>(value));
  });
}
TD_RUNTIME cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                              cudaLaunchAttributeValue* value) {
  return call([&] {
    return api().cuStreamGetAttribute(stream_of(stream), attribute,
                                      reinterpret_cast<CUstreamAttrValue*>(value));
  });
}
TD_RUNTIME cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return call([&] { return api().cuStreamCopyAttributes(stream_of(to), stream_of(from)); });
}
TD_RUNTIME cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] { return api().cuStreamDestroy(stream_of(stream)); });
}
TD_RUNTIME cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&] { return api().cuStreamQuery(stream_of(stream)); });
}
TD_RUNTIME cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] { return api().cuStreamSynchronize(stream_of(stream)); });
}
TD_RUNTIME cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call([&] { return api().cuStreamWaitEvent(stream_of(stream), event_of(event), flags); });
}

TD_RUNTIME cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                             void* data, unsigned flags) {
  if (function == nullptr || flags != 0) return note(cudaErrorInvalidValue);
  auto callback = std::make_unique<Callback>(Callback{function, stream, data});
  return call([&] {
    CUresult result = api().cuLaunchHostFunc(stream_of(stream), run_callback, callback.get());
    if (result == CUDA_SUCCESS) callback.release();
    return result;
  });
}
TD_RUNTIME cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call([&] { return api().cuLaunchHostFunc(stream_of(stream), function, data); });
}
TD_RUNTIME cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&]() -> CUresult {
    if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return api().cuEventCreate(reinterpret_cast<CUevent*>(event), flags);
  });
}
TD_RUNTIME cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}
TD_RUNTIME cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] { return api().cuEventDestroy(event_of(event)); });
}
TD_RUNTIME cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] { return api().cuEventRecord(event_of(event), stream_of(stream)); });
}
TD_RUNTIME cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
TD_RUNTIME cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&] { return api().cuEventQuery(event_of(event)); });
}
TD_RUNTIME cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] { return api().cuEventSynchronize(event_of(event)); });
}
TD_RUNTIME cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                            cudaEvent_t end) {
  return call(
      [&] { return api().cuEventElapsedTime(milliseconds, event_of(start), event_of(end)); });
}
