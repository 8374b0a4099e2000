// Memory, copies and fills.
#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

namespace {

// Rows of pitched memory start at multiples of this.
constexpr std::size_t kPitch = 512;

// Memory that host and device address alike.
struct Managed {
  std::mutex mutex;
  std::unordered_set<void*> addresses;
};
Managed& managed() {
  static auto* own = new Managed;
  return *own;
}
bool is_managed(void* address, bool forget) {
  const std::lock_guard<std::mutex> lock(managed().mutex);
  return forget ? managed().addresses.erase(address) != 0 : managed().addresses.count(address) != 0;
}

// Is this address one of the device's (or of page-locked host memory, which the device addresses as
// well)?
bool on_device(const void* address) {
  int type = 0;
  return api().cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, address_of(address)) ==
             CUDA_SUCCESS &&
         type == MEMORYTYPE_DEVICE;
}

cudaMemcpyKind kind_of(cudaMemcpyKind kind, const void* to, const void* from) {
  // Addresses are unified: what the caller says about them is a hint, and wrong in many a program.
  if (kind == cudaMemcpyHostToHost && !on_device(to) && !on_device(from)) return kind;
  if (on_device(to)) return on_device(from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return on_device(from) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

// The driver copies on the device; a copy from host to host is the stream's as well.
struct HostCopy {
  void* to;
  const void* from;
  std::size_t bytes;
};
void copy_on_host(void* data) {
  const auto* copy = static_cast<HostCopy*>(data);
  std::copy_n(static_cast<const char*>(copy->from), copy->bytes, static_cast<char*>(copy->to));
  delete copy;
}

CUresult copy_async(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                    CUstream stream) {
  if (bytes == 0) return CUDA_SUCCESS;
  if (to == nullptr || from == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (kind_of(kind, to, from)) {
    case cudaMemcpyHostToDevice:
      return api().cuMemcpyHtoDAsync(address_of(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
      return api().cuMemcpyDtoHAsync(to, address_of(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
      return api().cuMemcpyDtoDAsync(address_of(to), address_of(from), bytes, stream);
    default:
      return api().cuLaunchHostFunc(stream, copy_on_host, new HostCopy{to, from, bytes});
  }
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (static_cast<unsigned>(kind) > cudaMemcpyDefault) return note(cudaErrorInvalidMemcpyDirection);
  return call([&]() -> CUresult {
    if (CUresult error = copy_async(to, from, bytes, kind, nullptr)) return error;
    // Within the device CUDA does not wait either.
    return kind == cudaMemcpyDeviceToDevice ? CUDA_SUCCESS : api().cuStreamSynchronize(nullptr);
  });
}

struct Rows {
  char* to;
  std::size_t to_pitch;
  const char* from;
  std::size_t from_pitch, width, height;
};

cudaError_t copy_rows(const Rows& rows, cudaMemcpyKind kind, cudaStream_t stream) {
  if (rows.width > rows.to_pitch || rows.width > rows.from_pitch) {
    if (rows.height > 1) return cudaErrorInvalidPitchValue;
  }
  if (rows.width == rows.to_pitch && rows.width == rows.from_pitch)
    return error_of(
        copy_async(rows.to, rows.from, rows.width * rows.height, kind, stream_of(stream)));
  for (std::size_t y = 0; y < rows.height; ++y) {
    if (CUresult error = copy_async(rows.to + y * rows.to_pitch, rows.from + y * rows.from_pitch,
                                    rows.width, kind, stream_of(stream)))
      return error_of(error);
  }
  return cudaSuccess;
}

cudaError_t copy_box(const cudaMemcpy3DParms& p, cudaStream_t stream) {
  if (p.srcArray != nullptr || p.dstArray != nullptr) return cudaErrorNotSupported;
  if (p.srcPtr.ptr == nullptr || p.dstPtr.ptr == nullptr) return cudaErrorInvalidValue;
  for (std::size_t z = 0; z < p.extent.depth; ++z) {
    Rows rows;
    rows.to_pitch = p.dstPtr.pitch;
    rows.from_pitch = p.srcPtr.pitch;
    rows.to = static_cast<char*>(p.dstPtr.ptr) + p.dstPos.x +
              (p.dstPos.y + (p.dstPos.z + z) * p.dstPtr.ysize) * p.dstPtr.pitch;
    rows.from = static_cast<const char*>(p.srcPtr.ptr) + p.srcPos.x +
                (p.srcPos.y + (p.srcPos.z + z) * p.srcPtr.ysize) * p.srcPtr.pitch;
    rows.width = p.extent.width;
    rows.height = p.extent.height;
    if (cudaError_t error = copy_rows(rows, p.kind, stream)) return error;
  }
  return cudaSuccess;
}

cudaError_t fill_rows(void* address, std::size_t pitch, int value, std::size_t width,
                      std::size_t height, cudaStream_t stream) {
  if (width == pitch) width *= height, height = height ? 1 : 0;
  for (std::size_t y = 0; y < height; ++y) {
    if (CUresult error =
            api().cuMemsetD8Async(address_of(address) + y * pitch,
                                  static_cast<unsigned char>(value), width, stream_of(stream)))
      return error_of(error);
  }
  return cudaSuccess;
}

cudaError_t wait(cudaError_t error) {
  return error ? error : error_of(api().cuStreamSynchronize(nullptr));
}

}  // namespace

// ---- allocation

TD_RUNTIME cudaError_t cudaMalloc(void** address, size_t bytes) {
  return call([&]() -> CUresult {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = nullptr;
    if (bytes == 0) return CUDA_SUCCESS;
    CUdeviceptr made = 0;
    CUresult result = api().cuMemAlloc(&made, bytes);
    if (result == CUDA_SUCCESS) *address = reinterpret_cast<void*>(made);
    return result;
  });
}

TD_RUNTIME cudaError_t cudaFree(void* address) {
  return call([&]() -> CUresult {
    if (address == nullptr) return CUDA_SUCCESS;
    if (!is_managed(address, true)) return api().cuMemFree(address_of(address));
    if (CUresult error = api().cuCtxSynchronize()) return error;
    return api().cuMemFreeHost(address);
  });
}

TD_RUNTIME cudaError_t cudaHostAlloc(void** address, size_t bytes, unsigned flags) {
  return call([&]() -> CUresult {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = nullptr;
    return bytes ? api().cuMemHostAlloc(address, bytes, flags) : CUDA_SUCCESS;
  });
}
TD_RUNTIME cudaError_t cudaMallocHost(void** address, size_t bytes) {
  return cudaHostAlloc(address, bytes, 0);
}
TD_RUNTIME cudaError_t cudaFreeHost(void* address) {
  return call([&]() -> CUresult { return address ? api().cuMemFreeHost(address) : CUDA_SUCCESS; });
}
TD_RUNTIME cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call([&] {
    return api().cuMemHostGetDevicePointer(reinterpret_cast<CUdeviceptr*>(device), host, flags);
  });
}
TD_RUNTIME cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  if (flags == nullptr || host == nullptr) return note(cudaErrorInvalidValue);
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}
TD_RUNTIME cudaError_t cudaHostRegister(void*, size_t, unsigned) {
  return note(cudaErrorNotSupported);
}
TD_RUNTIME cudaError_t cudaHostUnregister(void*) { return note(cudaErrorHostMemoryNotRegistered); }

TD_RUNTIME cudaError_t cudaMallocManaged(void** address, size_t bytes, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
    return note(cudaErrorInvalidValue);
  const cudaError_t error =
      bytes ? cudaHostAlloc(address, bytes, cudaHostAllocMapped) : note(cudaErrorInvalidValue);
  if (error == cudaSuccess) {
    const std::lock_guard<std::mutex> lock(managed().mutex);
    managed().addresses.insert(*address);
  }
  return error;
}

TD_RUNTIME cudaError_t cudaMallocPitch(void** address, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr) return note(cudaErrorInvalidValue);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cudaMalloc(address, *pitch * height);
}
TD_RUNTIME cudaError_t cudaMalloc3D(cudaPitchedPtr* address, cudaExtent extent) {
  if (address == nullptr) return note(cudaErrorInvalidValue);
  address->xsize = extent.width;
  address->ysize = extent.height;
  return cudaMallocPitch(&address->ptr, &address->pitch, extent.width,
                         extent.height * extent.depth);
}

// Without a pool: memory appears at once, and is freed when the device is idle.
TD_RUNTIME cudaError_t cudaMallocAsync(void** address, size_t bytes, cudaStream_t) {
  return cudaMalloc(address, bytes);
}
TD_RUNTIME cudaError_t cudaFreeAsync(void* address, cudaStream_t) { return cudaFree(address); }

TD_RUNTIME cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  return call([&] { return api().cuMemGetInfo(available, total); });
}

TD_RUNTIME cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* result,
                                                const void* address) {
  if (result == nullptr) return note(cudaErrorInvalidValue);
  return call([&]() -> CUresult {
    *result = {};
    result->device = -2;
    int type = 0, device = 0;
    if (api().cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, address_of(address)) !=
        CUDA_SUCCESS)
      return CUDA_SUCCESS;
    api().cuPointerGetAttribute(&device, POINTER_DEVICE_ORDINAL, address_of(address));
    result->device = device;
    result->devicePointer = const_cast<void*>(address);
    if (is_managed(const_cast<void*>(address), false)) {
      result->type = cudaMemoryTypeManaged;
    } else {
      result->type = type == MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    }
    if (result->type != cudaMemoryTypeDevice) result->hostPointer = const_cast<void*>(address);
    return CUDA_SUCCESS;
  });
}

// Hints.
TD_RUNTIME cudaError_t cudaMemPrefetchAsync(const void* address, size_t, int, cudaStream_t) {
  return note(address ? cudaSuccess : cudaErrorInvalidValue);
}
TD_RUNTIME cudaError_t cudaMemAdvise(const void* address, size_t, cudaMemoryAdvise, int) {
  return note(address ? cudaSuccess : cudaErrorInvalidValue);
}

// ---- copies

TD_RUNTIME cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy(to, from, bytes, kind);
}
TD_RUNTIME cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  if (static_cast<unsigned>(kind) > cudaMemcpyDefault) return note(cudaErrorInvalidMemcpyDirection);
  return call([&] { return copy_async(to, from, bytes, kind, stream_of(stream)); });
}
TD_RUNTIME cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes,
                                           cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
TD_RUNTIME cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return copy(to, from, bytes, cudaMemcpyDefault);
}
TD_RUNTIME cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                         size_t from_pitch, size_t width, size_t height,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  const Rows rows{
      static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height};
  return call([&] { return copy_rows(rows, kind, stream); });
}
TD_RUNTIME cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                    size_t width, size_t height, cudaMemcpyKind kind) {
  const Rows rows{
      static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height};
  return call([&] { return wait(copy_rows(rows, kind, nullptr)); });
}
TD_RUNTIME cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (parameters == nullptr) return note(cudaErrorInvalidValue);
  return call([&] { return copy_box(*parameters, stream); });
}
TD_RUNTIME cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return note(cudaErrorInvalidValue);
  return call([&] { return wait(copy_box(*parameters, nullptr)); });
}

// ---- fills

TD_RUNTIME cudaError_t cudaMemsetAsync(void* address, int value, size_t bytes,
                                       cudaStream_t stream) {
  return call([&]() -> CUresult {
    if (bytes == 0) return CUDA_SUCCESS;
    return api().cuMemsetD8Async(address_of(address), static_cast<unsigned char>(value), bytes,
                                 stream_of(stream));
  });
}
TD_RUNTIME cudaError_t cudaMemset(void* address, int value, size_t bytes) {
  return cudaMemsetAsync(address, value, bytes, nullptr);
}
TD_RUNTIME cudaError_t cudaMemset2DAsync(void* address, size_t pitch, int value, size_t width,
                                         size_t height, cudaStream_t stream) {
  return call([&] { return fill_rows(address, pitch, value, width, height, stream); });
}
TD_RUNTIME cudaError_t cudaMemset2D(void* address, size_t pitch, int value, size_t width,
                                    size_t height) {
  return cudaMemset2DAsync(address, pitch, value, width, height, nullptr);
}
TD_RUNTIME cudaError_t cudaMemset3DAsync(cudaPitchedPtr address, int value, cudaExtent extent,
                                         cudaStream_t stream) {
  return call([&]() -> cudaError_t {
    for (std::size_t z = 0; z < extent.depth; ++z) {
      char* slice = static_cast<char*>(address.ptr) + z * address.pitch * address.ysize;
      if (cudaError_t error =
              fill_rows(slice, address.pitch, value, extent.width, extent.height, stream))
        return error;
    }
    return cudaSuccess;
  });
}
TD_RUNTIME cudaError_t cudaMemset3D(cudaPitchedPtr address, int value, cudaExtent extent) {
  return cudaMemset3DAsync(address, value, extent, nullptr);
}

// ---- variables

TD_RUNTIME cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  std::size_t bytes;
  if (address == nullptr) return note(cudaErrorInvalidValue);
  return call([&] { return variable_of(symbol, reinterpret_cast<CUdeviceptr*>(address), &bytes); });
}
TD_RUNTIME cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  CUdeviceptr address;
  if (bytes == nullptr) return note(cudaErrorInvalidValue);
  return call([&] { return variable_of(symbol, &address, bytes); });
}

namespace {

// The variable's bytes [offset, offset + bytes).
cudaError_t part_of(const void* symbol, std::size_t bytes, std::size_t offset, char** address) {
  CUdeviceptr start = 0;
  std::size_t size = 0;
  if (CUresult error = enter()) return error_of(error);
  if (cudaError_t error = variable_of(symbol, &start, &size)) return error;
  if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
  *address = reinterpret_cast<char*>(start) + offset;
  return cudaSuccess;
}

}  // namespace

TD_RUNTIME cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                               size_t offset, cudaMemcpyKind kind,
                                               cudaStream_t stream) {
  char* address = nullptr;
  if (cudaError_t error = part_of(symbol, bytes, offset, &address)) return note(error);
  return cudaMemcpyAsync(address, from, bytes, kind, stream);
}
TD_RUNTIME cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes,
                                          size_t offset, cudaMemcpyKind kind) {
  char* address = nullptr;
  if (cudaError_t error = part_of(symbol, bytes, offset, &address)) return note(error);
  return cudaMemcpy(address, from, bytes, kind);
}
TD_RUNTIME cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes,
                                                 size_t offset, cudaMemcpyKind kind,
                                                 cudaStream_t stream) {
  char* address = nullptr;
  if (cudaError_t error = part_of(symbol, bytes, offset, &address)) return note(error);
  return cudaMemcpyAsync(to, address, bytes, kind, stream);
}
TD_RUNTIME cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes,
                                            size_t offset, cudaMemcpyKind kind) {
  char* address = nullptr;
  if (cudaError_t error = part_of(symbol, bytes, offset, &address)) return note(error);
  return cudaMemcpy(to, address, bytes, kind);
}
