#include "paper_device.h"

#include <map>

#include "driver/provider_fill.h"

namespace td::test {

namespace {

std::map<CUdeviceptr, std::size_t> allocations;
std::map<CUevent, CUstream> events;  // with work before them left: whose; else kIdle
CUstream const kIdle = reinterpret_cast<CUstream>(1);
CUdeviceptr next_address = CUdeviceptr{1} << 32;
CUcontext const kPrimary = reinterpret_cast<CUcontext>(0x1000);
thread_local CUcontext current = nullptr;

CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
  PaperDevice& device = PaperDevice::get();
  ++device.calls.allocate;
  if (bytes > device.capacity - device.held) return cuda::CUDA_ERROR_OUT_OF_MEMORY;
  *address = next_address;
  next_address += (bytes + 511) / 512 * 512;
  allocations[*address] = bytes;
  device.held += bytes;
  return cuda::CUDA_SUCCESS;
}

CUresult release(CUdeviceptr address) {
  PaperDevice& device = PaperDevice::get();
  ++device.calls.free;
  auto at = allocations.find(address);
  if (at == allocations.end()) {
    ++device.faults;
    return cuda::CUDA_ERROR_INVALID_VALUE;
  }
  if (!device.busy.empty()) ++device.faults;
  device.held -= at->second;
  allocations.erase(at);
  return cuda::CUDA_SUCCESS;
}

void fill_streams(driver::Api& api) {
  api.cuStreamQuery = [](CUstream stream) -> CUresult {
    PaperDevice& device = PaperDevice::get();
    if (device.capturing.contains(stream) || (!stream && !device.capturing.empty()))
      ++device.faults;
    return device.busy.contains(stream) ? cuda::CUDA_ERROR_NOT_READY : cuda::CUDA_SUCCESS;
  };
  api.cuStreamIsCapturing = [](CUstream stream, int* status) -> CUresult {
    *status = PaperDevice::get().capturing.contains(stream);
    return cuda::CUDA_SUCCESS;
  };
  api.cuStreamSynchronize = [](CUstream stream) -> CUresult {
    PaperDevice::get().finish(stream);
    return cuda::CUDA_SUCCESS;
  };
  api.cuEventCreate = [](CUevent* event, unsigned) -> CUresult {
    static std::uintptr_t next = 1;
    *event = reinterpret_cast<CUevent>(next++);
    events[*event] = kIdle;
    return cuda::CUDA_SUCCESS;
  };
  api.cuEventRecord = [](CUevent event, CUstream stream) -> CUresult {
    events.at(event) = PaperDevice::get().busy.contains(stream) ? stream : kIdle;
    return cuda::CUDA_SUCCESS;
  };
  api.cuEventQuery = [](CUevent event) -> CUresult {
    return events.at(event) == kIdle ? cuda::CUDA_SUCCESS : cuda::CUDA_ERROR_NOT_READY;
  };
  api.cuEventDestroy = [](CUevent event) -> CUresult {
    if (!events.erase(event)) ++PaperDevice::get().faults;
    return cuda::CUDA_SUCCESS;
  };
}

driver::Provider make_provider() {
  driver::Provider provider;
  provider.prefix = "paper";
  provider.evidence = "no device: addresses only";
  provider.file = "(built in)";
  provider.device_count = 1;
  driver::Api& api = provider.api;
  driver::clear_api(api);
  api.cuDeviceGet = [](CUdevice* device, int ordinal) -> CUresult {
    *device = ordinal;
    return cuda::CUDA_SUCCESS;
  };
  api.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice) -> CUresult {
    *context = kPrimary;
    return cuda::CUDA_SUCCESS;
  };
  api.cuCtxGetCurrent = [](CUcontext* context) -> CUresult {
    *context = current;
    return cuda::CUDA_SUCCESS;
  };
  api.cuCtxSetCurrent = [](CUcontext context) -> CUresult {
    current = context;
    return cuda::CUDA_SUCCESS;
  };
  api.cuCtxSynchronize = []() -> CUresult {
    PaperDevice& device = PaperDevice::get();
    ++device.calls.synchronize;
    if (!device.capturing.empty()) ++device.faults;
    device.busy.clear();
    for (auto& [event, stream] : events) stream = kIdle;
    return cuda::CUDA_SUCCESS;
  };
  fill_streams(api);
  api.cuMemGetInfo = [](std::size_t* free, std::size_t* total) -> CUresult {
    *total = PaperDevice::get().capacity;
    *free = *total - PaperDevice::get().held;
    return cuda::CUDA_SUCCESS;
  };
  api.cuMemAlloc = allocate;
  api.cuMemFree = release;
  return provider;
}

}  // namespace

PaperDevice& PaperDevice::get() {
  static auto& device = *new PaperDevice;
  return device;
}

void PaperDevice::finish(CUstream stream) {
  busy.erase(stream);
  for (auto& [event, whose] : events)
    if (whose == stream) whose = kIdle;
}

bool PaperDevice::holds(CUdeviceptr address, std::size_t bytes) {
  auto at = allocations.upper_bound(address);
  if (at == allocations.begin()) return false;
  --at;
  return address + bytes <= at->first + at->second;
}

std::shared_ptr<driver::DeviceState> PaperDevice::state() {
  static const auto& provider = *new driver::Provider(make_provider());
  auto state = driver::DeviceState::get(provider, 0);
  state->make_current();
  return state;
}

void PaperDevice::start_over() {
  calls = {};
  busy.clear();
  capturing.clear();
  faults = 0;
  capacity = std::size_t{1} << 50;
}

}  // namespace td::test
