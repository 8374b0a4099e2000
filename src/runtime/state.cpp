#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "program/runtime_door.h"
#include "runtime/runtime.h"

namespace td::runtime {

namespace {

thread_local int thread_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

struct DeviceSlot {
  std::mutex mutex;
  std::atomic<CUcontext> context{nullptr};
};
DeviceSlot& slot(int device) {
  static auto* slots = new DeviceSlot[kMaxDevices];  // outlives every static object
  return slots[device];
}

[[noreturn]] void give_up(const std::string& text) {
  std::fprintf(stderr, "treadle: %s\n", text.c_str());
  std::exit(1);
}

bool is_fault(cudaError_t error) {
  return error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress ||
         error == cudaErrorLaunchFailure || error == cudaErrorIllegalInstruction ||
         error == cudaErrorLaunchTimeout || error == cudaErrorHardwareStackError ||
         error == cudaErrorInvalidAddressSpace;
}

// A fault is sticky, so the same text would come back with every call.
void describe_fault() {
  if (provider().last_fault == nullptr) return;
  static std::mutex mutex;
  static auto& shown = *new std::string;
  const std::string text = provider().last_fault();
  const std::lock_guard<std::mutex> lock(mutex);
  if (text.empty() || text == shown) return;
  shown = text;
  std::fprintf(stderr, "treadle: %s\n", text.c_str());
}

}  // namespace

const driver::Provider& provider() {
  static const driver::Provider& chosen = [&]() -> const driver::Provider& {
    std::string why;
    const driver::Provider* found = td_program_provider(&why);
    if (found == nullptr) give_up(why);
    return *found;
  }();
  return chosen;
}

int current_device() { return thread_device; }
void set_current_device(int device) { thread_device = device; }

CUresult context_of(int device, CUcontext* context) {
  if (device < 0 || device >= provider().device_count || device >= kMaxDevices)
    return cuda::CUDA_ERROR_INVALID_DEVICE;
  DeviceSlot& own = slot(device);
  *context = own.context.load(std::memory_order_acquire);
  if (*context != nullptr) return cuda::CUDA_SUCCESS;
  const std::lock_guard<std::mutex> lock(own.mutex);
  *context = own.context.load(std::memory_order_acquire);
  if (*context != nullptr) return cuda::CUDA_SUCCESS;
  CUdevice handle = 0;
  if (CUresult error = api().cuDeviceGet(&handle, device)) return error;
  if (CUresult error = api().cuDevicePrimaryCtxRetain(context, handle)) return error;
  own.context.store(*context, std::memory_order_release);
  return cuda::CUDA_SUCCESS;
}

CUresult enter() {
  CUcontext wanted = nullptr, now = nullptr;
  if (CUresult error = context_of(thread_device, &wanted)) return error;
  if (api().cuCtxGetCurrent(&now) == cuda::CUDA_SUCCESS && now == wanted) return cuda::CUDA_SUCCESS;
  return api().cuCtxSetCurrent(wanted);
}

CUresult reset_device(int device) {
  DeviceSlot& own = slot(device);
  const std::lock_guard<std::mutex> lock(own.mutex);
  if (own.context.load() == nullptr) return cuda::CUDA_SUCCESS;
  forget_modules(device);
  CUdevice handle = 0;
  if (CUresult error = api().cuDeviceGet(&handle, device)) return error;
  own.context.store(nullptr);
  api().cuCtxSetCurrent(nullptr);
  return api().cuDevicePrimaryCtxReset(handle);
}

cudaError_t note(cudaError_t error) {
  if (error == cudaSuccess) return error;
  if (error != cudaErrorNotReady) last_error = error;
  if (is_fault(error)) describe_fault();
  return error;
}

}  // namespace td::runtime

using namespace td::runtime;

TD_RUNTIME cudaError_t cudaPeekAtLastError() { return last_error; }

TD_RUNTIME cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

TD_RUNTIME const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define TD_ROW(value, name, text) \
  case name:                      \
    return #name;
    TD_RUNTIME_ERRORS(TD_ROW)
#undef TD_ROW
  }
  return "unrecognized error code";
}

TD_RUNTIME const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define TD_ROW(value, name, text) \
  case name:                      \
    return text;
    TD_RUNTIME_ERRORS(TD_ROW)
#undef TD_ROW
  }
  return "unrecognized error code";
}
