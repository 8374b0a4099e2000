// What the files of the runtime API share: the driver's table, the calling thread's device, the
// last error.
//
// The runtime is a thin layer over border B1: each function makes the thread's device current,
// calls the driver and translates the result. Nothing here knows which provider answers.
#pragma once

#include "driver/provider.h"
#include "runtime/include/cuda_runtime_api.h"

namespace td::runtime {

inline constexpr int kMaxDevices = 64;

// The provider of this process's devices; the process ends with a message when there is none.
const driver::Provider& provider();
inline const driver::Api& api() { return provider().api; }

// The calling thread's device; it need not exist yet.
int current_device();
void set_current_device(int device);

// Makes the primary context of the thread's device current.
CUresult enter();
// The context of a device, made on first use; null when there is no such device.
CUresult context_of(int device, CUcontext* context);
// cudaDeviceReset: destroys the context and forgets what hung on it.
CUresult reset_device(int device);
// Part of it: the modules that were loaded there.
void forget_modules(int device);

// CUDA's two numberings agree.
inline cudaError_t error_of(CUresult result) { return static_cast<cudaError_t>(result); }

// Keeps an error for cudaGetLastError and returns it. A fault of a kernel is described once on
// standard error.
cudaError_t note(cudaError_t error);
inline cudaError_t note(CUresult result) { return note(error_of(result)); }

// call([&] { return api().cuMemFree(...); }): enters the device first; the function answers
// CUresult or cudaError_t.
template <class F>
cudaError_t call(F&& function) {
  if (CUresult result = enter()) return note(result);
  return note(function());
}

inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}
inline CUstream stream_of(cudaStream_t stream) { return reinterpret_cast<CUstream>(stream); }

// The driver's function of a host stub on the thread's device; cudaErrorInvalidDeviceFunction for
// another address.
cudaError_t kernel_of(const void* stub, CUfunction* function);
// The device's copy of a variable that the host knows by `symbol`.
cudaError_t variable_of(const void* symbol, CUdeviceptr* address, std::size_t* bytes);

// Element formats of arrays, in the runtime's and in the driver's words; false for one that no
// array has.
bool format_of(const cudaChannelFormatDesc& description, unsigned* format, unsigned* channels);
cudaChannelFormatDesc description_of(unsigned format, unsigned channels);
// What the driver makes an array from. cudaErrorInvalidValue without a description,
// cudaErrorInvalidChannelDescriptor for a format that no array has.
cudaError_t describe_array(const cudaChannelFormatDesc* description, cudaExtent extent,
                           unsigned flags, CUDA_ARRAY3D_DESCRIPTOR* out);

// A copy of boxes in the driver's words.
CUDA_MEMCPY3D box_of(const cudaMemcpy3DParms& parameters);

}  // namespace td::runtime

// Every function of the runtime API is exported; all else is hidden.
#define TD_RUNTIME extern "C" __attribute__((visibility("default")))
