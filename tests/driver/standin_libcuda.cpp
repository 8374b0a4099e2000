// A stand-in for libcuda.so.1: memory, copies, streams and events of a device whose work is done at
// once. It runs no kernels. STANDIN_INIT is what cuInit answers, STANDIN_DEVICES the device count
// (1), STANDIN_MEMORY the device memory in MiB (256), STANDIN_NO_COPY=1 breaks copies on the
// device. Its event and stream handles are checked, so that a use after destruction shows.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "base/cuda_abi.h"

#define TD_EXPORT extern "C" __attribute__((visibility("default"))) CUresult

namespace {

using namespace td::cuda;

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::atoi(text) : otherwise;
}

std::mutex mutex;
std::map<CUdeviceptr, std::size_t> allocations;
std::set<void*> pinned, streams, events;
std::size_t in_use = 0;
int retained = 0;

std::size_t capacity() { return static_cast<std::size_t>(setting("STANDIN_MEMORY", 256)) << 20; }

bool valid_range(CUdeviceptr address, std::size_t bytes) {
  std::lock_guard lock(mutex);
  auto at = allocations.upper_bound(address);
  if (at == allocations.begin()) return false;
  --at;
  return address - at->first <= at->second && bytes <= at->second - (address - at->first);
}

CUresult copy(void* to, const void* from, std::size_t bytes, CUdeviceptr device_side) {
  if (!valid_range(device_side, bytes)) return CUDA_ERROR_INVALID_VALUE;
  std::memmove(to, from, bytes);
  return CUDA_SUCCESS;
}

CUresult known(const std::set<void*>& set, void* handle) {
  std::lock_guard lock(mutex);
  return !handle || set.count(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void* at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

thread_local CUcontext current = nullptr;
CUcontext const kPrimary = reinterpret_cast<CUcontext>(0x1000);

}  // namespace

TD_EXPORT cuInit(unsigned) { return setting("STANDIN_INIT", 0); }
TD_EXPORT cuDriverGetVersion(int* version) {
  *version = setting("STANDIN_VERSION", 13000);
  return CUDA_SUCCESS;
}
TD_EXPORT cuDeviceGetCount(int* count) {
  *count = setting("STANDIN_DEVICES", 1);
  return CUDA_SUCCESS;
}
TD_EXPORT cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
TD_EXPORT cuDeviceGetName(char* name, int length, CUdevice) {
  std::strncpy(name, "stand-in", length);
  return CUDA_SUCCESS;
}
TD_EXPORT cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) {
  *value = 0;
  return CUDA_SUCCESS;
}
TD_EXPORT cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  ++retained;
  *context = kPrimary;
  return CUDA_SUCCESS;
}
TD_EXPORT cuDevicePrimaryCtxReset_v2(CUdevice) {
  std::lock_guard lock(mutex);
  for (auto& [address, bytes] : allocations) std::free(at(address));
  allocations.clear();
  in_use = 0;
  streams.clear();
  events.clear();
  return CUDA_SUCCESS;
}
TD_EXPORT cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
TD_EXPORT cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
TD_EXPORT cuCtxSynchronize() { return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; }

TD_EXPORT cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  std::lock_guard lock(mutex);
  *total = capacity();
  *free = capacity() - in_use;
  return CUDA_SUCCESS;
}
TD_EXPORT cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  if (!current) return CUDA_ERROR_INVALID_CONTEXT;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(mutex);
  if (bytes > capacity() - in_use) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  allocations[*address] = bytes;
  in_use += bytes;
  return CUDA_SUCCESS;
}
TD_EXPORT cuMemFree_v2(CUdeviceptr address) {
  std::lock_guard lock(mutex);
  auto found = allocations.find(address);
  if (found == allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  in_use -= found->second;
  allocations.erase(found);
  std::free(at(address));
  return CUDA_SUCCESS;
}
TD_EXPORT cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  std::lock_guard lock(mutex);
  *address = std::malloc(bytes);
  pinned.insert(*address);
  return CUDA_SUCCESS;
}
TD_EXPORT cuMemFreeHost(void* address) {
  std::lock_guard lock(mutex);
  if (!pinned.erase(address)) return CUDA_ERROR_INVALID_VALUE;
  std::free(address);
  return CUDA_SUCCESS;
}
TD_EXPORT cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  if (attribute != POINTER_MEMORY_TYPE) return CUDA_ERROR_NOT_SUPPORTED;
  if (known(pinned, at(address)) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  *static_cast<unsigned*>(value) = MEMORYTYPE_HOST;
  return CUDA_SUCCESS;
}
TD_EXPORT cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy(at(to), from, bytes, to);
}
TD_EXPORT cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy(to, at(from), bytes, from);
}
TD_EXPORT cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  if (setting("STANDIN_NO_COPY", 0)) return CUDA_ERROR_UNKNOWN;
  return copy(at(to), at(from), bytes, to);
}
TD_EXPORT cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                               CUstream stream) {
  CUresult result = known(streams, stream);
  return result ? result : copy(at(to), from, bytes, to);
}
TD_EXPORT cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  CUresult result = known(streams, stream);
  return result ? result : copy(to, at(from), bytes, from);
}
TD_EXPORT cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  if (!valid_range(to, count)) return CUDA_ERROR_INVALID_VALUE;
  std::memset(at(to), value, count);
  return CUDA_SUCCESS;
}

TD_EXPORT cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
  std::lock_guard lock(mutex);
  *stream = reinterpret_cast<CUstream>(std::malloc(1));
  streams.insert(*stream);
  return CUDA_SUCCESS;
}
TD_EXPORT cuStreamDestroy_v2(CUstream stream) {
  std::lock_guard lock(mutex);
  if (!streams.erase(stream)) return CUDA_ERROR_INVALID_HANDLE;
  std::free(stream);
  return CUDA_SUCCESS;
}
TD_EXPORT cuStreamQuery(CUstream stream) { return known(streams, stream); }
TD_EXPORT cuStreamSynchronize(CUstream stream) { return known(streams, stream); }
TD_EXPORT cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  CUresult result = known(streams, stream);
  return result ? result : known(events, event);
}
TD_EXPORT cuEventCreate(CUevent* event, unsigned) {
  std::lock_guard lock(mutex);
  *event = reinterpret_cast<CUevent>(std::malloc(1));
  events.insert(*event);
  return CUDA_SUCCESS;
}
TD_EXPORT cuEventDestroy_v2(CUevent event) {
  std::lock_guard lock(mutex);
  if (!events.erase(event)) return CUDA_ERROR_INVALID_HANDLE;
  std::free(event);
  return CUDA_SUCCESS;
}
TD_EXPORT cuEventRecord(CUevent event, CUstream stream) {
  CUresult result = known(streams, stream);
  return result ? result : known(events, event);
}
TD_EXPORT cuEventQuery(CUevent event) { return known(events, event); }
TD_EXPORT cuEventSynchronize(CUevent event) { return known(events, event); }
