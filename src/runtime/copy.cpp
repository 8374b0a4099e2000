// Copies and fills of linear and pitched memory and of arrays.
#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

namespace {

enum : unsigned { kHost = 1, kDevice = 2, kArray = 3 };

// Addresses are unified: where a pointer points decides; what the caller says about it is wrong in
// many a program.
bool on_device(const void* address) {
  int type = 0;
  return api().cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, address_of(address)) ==
             CUDA_SUCCESS &&
         type == MEMORYTYPE_DEVICE;
}

// The driver copies from and to the device; a copy within the host has its place in the stream as
// well.
struct HostCopy {
  void* to;
  const void* from;
  std::size_t bytes;
};
void copy_on_host(void* data) {
  const auto* copy = static_cast<HostCopy*>(data);
  __builtin_memmove(copy->to, copy->from, copy->bytes);
  delete copy;
}

CUresult copy_async(void* to, const void* from, std::size_t bytes, CUstream stream) {
  if (bytes == 0) return CUDA_SUCCESS;
  if (to == nullptr || from == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool to_device = on_device(to), from_device = on_device(from);
  if (to_device && from_device)
    return api().cuMemcpyDtoDAsync(address_of(to), address_of(from), bytes, stream);
  if (to_device) return api().cuMemcpyHtoDAsync(address_of(to), from, bytes, stream);
  if (from_device) return api().cuMemcpyDtoHAsync(to, address_of(from), bytes, stream);
  return api().cuLaunchHostFunc(stream, copy_on_host, new HostCopy{to, from, bytes});
}

bool valid(cudaMemcpyKind kind) { return static_cast<unsigned>(kind) <= cudaMemcpyDefault; }

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (!valid(kind)) return note(cudaErrorInvalidMemcpyDirection);
  return call([&]() -> CUresult {
    if (CUresult error = copy_async(to, from, bytes, nullptr)) return error;
    // Within the device CUDA does not wait either.
    return kind == cudaMemcpyDeviceToDevice ? CUDA_SUCCESS : api().cuStreamSynchronize(nullptr);
  });
}

CUarray array_of(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}

std::size_t element_bytes(CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  if (api().cuArray3DGetDescriptor(&descriptor, array) != CUDA_SUCCESS) return 1;
  std::size_t bytes = 4;
  if (descriptor.Format == 0x01 || descriptor.Format == 0x08) bytes = 1;
  if (descriptor.Format == 0x02 || descriptor.Format == 0x09 || descriptor.Format == 0x10)
    bytes = 2;
  return bytes * descriptor.NumChannels;
}

void set_source(CUDA_MEMCPY3D& copy, const void* address, std::size_t pitch, std::size_t height) {
  copy.srcMemoryType = on_device(address) ? kDevice : kHost;
  copy.srcHost = address;
  copy.srcDevice = address_of(address);
  copy.srcPitch = pitch;
  copy.srcHeight = height;
}
void set_source(CUDA_MEMCPY3D& copy, CUarray array) {
  copy.srcMemoryType = kArray;
  copy.srcArray = array;
}
void set_target(CUDA_MEMCPY3D& copy, void* address, std::size_t pitch, std::size_t height) {
  copy.dstMemoryType = on_device(address) ? kDevice : kHost;
  copy.dstHost = address;
  copy.dstDevice = address_of(address);
  copy.dstPitch = pitch;
  copy.dstHeight = height;
}
void set_target(CUDA_MEMCPY3D& copy, CUarray array) {
  copy.dstMemoryType = kArray;
  copy.dstArray = array;
}

// `wait`: as the functions without Async.
CUresult copy_box(const CUDA_MEMCPY3D& box, cudaStream_t stream, bool wait) {
  if (box.WidthInBytes == 0 || box.Height == 0 || box.Depth == 0) return CUDA_SUCCESS;
  return wait ? api().cuMemcpy3D(&box) : api().cuMemcpy3DAsync(&box, stream_of(stream));
}

struct Rows {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch, width, height;
};

cudaError_t copy_rows(const Rows& rows, cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
  if (!valid(kind)) return note(cudaErrorInvalidMemcpyDirection);
  if (rows.width > rows.to_pitch || rows.width > rows.from_pitch)
    return note(cudaErrorInvalidPitchValue);
  return call([&] {
    CUDA_MEMCPY3D box{};
    set_source(box, rows.from, rows.from_pitch, rows.height);
    set_target(box, rows.to, rows.to_pitch, rows.height);
    box.WidthInBytes = rows.width;
    box.Height = rows.height;
    box.Depth = 1;
    return copy_box(box, stream, wait);
  });
}

cudaError_t copy_3d(const cudaMemcpy3DParms* parameters, cudaStream_t stream, bool wait) {
  if (parameters == nullptr) return note(cudaErrorInvalidValue);
  return call([&] { return copy_box(box_of(*parameters), stream, wait); });
}

struct ArrayPart {
  cudaArray_const_t array;
  std::size_t x, y;  // x in bytes
};

cudaError_t copy_to_array(ArrayPart to, const void* from, std::size_t pitch, std::size_t width,
                          std::size_t height, cudaStream_t stream, bool wait) {
  if (to.array == nullptr) return note(cudaErrorInvalidResourceHandle);
  return call([&] {
    CUDA_MEMCPY3D box{};
    set_source(box, from, pitch, height);
    set_target(box, array_of(to.array));
    box.dstXInBytes = to.x;
    box.dstY = to.y;
    box.WidthInBytes = width;
    box.Height = height;
    box.Depth = 1;
    return copy_box(box, stream, wait);
  });
}

cudaError_t copy_from_array(void* to, std::size_t pitch, ArrayPart from, std::size_t width,
                            std::size_t height, cudaStream_t stream, bool wait) {
  if (from.array == nullptr) return note(cudaErrorInvalidResourceHandle);
  return call([&] {
    CUDA_MEMCPY3D box{};
    set_source(box, array_of(from.array));
    set_target(box, to, pitch, height);
    box.srcXInBytes = from.x;
    box.srcY = from.y;
    box.WidthInBytes = width;
    box.Height = height;
    box.Depth = 1;
    return copy_box(box, stream, wait);
  });
}

CUresult fill_rows(void* address, std::size_t pitch, int value, std::size_t width,
                   std::size_t height, cudaStream_t stream) {
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  return api().cuMemsetD2D8Async(address_of(address), pitch, static_cast<unsigned char>(value),
                                 width, height, stream_of(stream));
}

}  // namespace

// The extent counts elements where an array takes part, else bytes; so does an array's position.
CUDA_MEMCPY3D td::runtime::box_of(const cudaMemcpy3DParms& p) {
  CUDA_MEMCPY3D box{};
  std::size_t unit = 1;
  if (p.srcArray) {
    unit = element_bytes(array_of(p.srcArray));
    set_source(box, array_of(p.srcArray));
  } else {
    set_source(box, p.srcPtr.ptr, p.srcPtr.pitch, p.srcPtr.ysize);
  }
  if (p.dstArray) {
    unit = element_bytes(array_of(p.dstArray));
    set_target(box, array_of(p.dstArray));
  } else {
    set_target(box, p.dstPtr.ptr, p.dstPtr.pitch, p.dstPtr.ysize);
  }
  box.srcXInBytes = p.srcPos.x * (p.srcArray ? unit : 1);
  box.srcY = p.srcPos.y;
  box.srcZ = p.srcPos.z;
  box.dstXInBytes = p.dstPos.x * (p.dstArray ? unit : 1);
  box.dstY = p.dstPos.y;
  box.dstZ = p.dstPos.z;
  box.WidthInBytes = p.extent.width * unit;
  box.Height = p.extent.height;
  box.Depth = p.extent.depth;
  return box;
}

// ---- linear memory

TD_RUNTIME cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy(to, from, bytes, kind);
}
TD_RUNTIME cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  if (!valid(kind)) return note(cudaErrorInvalidMemcpyDirection);
  return call([&] { return copy_async(to, from, bytes, stream_of(stream)); });
}
TD_RUNTIME cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                           int from_device, size_t bytes, cudaStream_t stream) {
  return call([&]() -> CUresult {
    CUcontext target = nullptr, source = nullptr;
    if (CUresult error = context_of(to_device, &target)) return error;
    if (CUresult error = context_of(from_device, &source)) return error;
    return api().cuMemcpyPeerAsync(address_of(to), target, address_of(from), source, bytes,
                                   stream_of(stream));
  });
}
TD_RUNTIME cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                      size_t bytes) {
  return call([&]() -> CUresult {
    CUcontext target = nullptr, source = nullptr;
    if (CUresult error = context_of(to_device, &target)) return error;
    if (CUresult error = context_of(from_device, &source)) return error;
    return api().cuMemcpyPeer(address_of(to), target, address_of(from), source, bytes);
  });
}

// ---- rows and boxes

TD_RUNTIME cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                         size_t from_pitch, size_t width, size_t height,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows({to, to_pitch, from, from_pitch, width, height}, kind, stream, false);
}
TD_RUNTIME cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                    size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_rows({to, to_pitch, from, from_pitch, width, height}, kind, nullptr, true);
}
TD_RUNTIME cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_3d(parameters, stream, false);
}
TD_RUNTIME cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_3d(parameters, nullptr, true);
}

// ---- arrays

TD_RUNTIME cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                                const void* from, size_t pitch, size_t width,
                                                size_t height, cudaMemcpyKind,
                                                cudaStream_t stream) {
  return copy_to_array({to, x, y}, from, pitch, width, height, stream, false);
}
TD_RUNTIME cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                           size_t pitch, size_t width, size_t height,
                                           cudaMemcpyKind) {
  return copy_to_array({to, x, y}, from, pitch, width, height, nullptr, true);
}
TD_RUNTIME cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from,
                                                  size_t x, size_t y, size_t width, size_t height,
                                                  cudaMemcpyKind, cudaStream_t stream) {
  return copy_from_array(to, pitch, {from, x, y}, width, height, stream, false);
}
TD_RUNTIME cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from,
                                             size_t x, size_t y, size_t width, size_t height,
                                             cudaMemcpyKind) {
  return copy_from_array(to, pitch, {from, x, y}, width, height, nullptr, true);
}
// A run of bytes that may go over several rows of the array.
TD_RUNTIME cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                         size_t bytes, cudaMemcpyKind) {
  cudaExtent extent{};
  if (cudaError_t error = cudaArrayGetInfo(nullptr, &extent, nullptr, to)) return error;
  const std::size_t row = extent.width * element_bytes(array_of(to));
  if (x == 0 && row && bytes % row == 0)
    return copy_to_array({to, 0, y}, from, row, row, bytes / row, nullptr, true);
  return copy_to_array({to, x, y}, from, bytes, bytes, 1, nullptr, true);
}
TD_RUNTIME cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y,
                                           size_t bytes, cudaMemcpyKind) {
  cudaExtent extent{};
  if (cudaError_t error =
          cudaArrayGetInfo(nullptr, &extent, nullptr, const_cast<cudaArray_t>(from)))
    return error;
  const std::size_t row = extent.width * element_bytes(array_of(from));
  if (x == 0 && row && bytes % row == 0)
    return copy_from_array(to, row, {from, 0, y}, row, bytes / row, nullptr, true);
  return copy_from_array(to, bytes, {from, x, y}, bytes, 1, nullptr, true);
}
TD_RUNTIME cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                                cudaArray_const_t from, size_t from_x,
                                                size_t from_y, size_t width, size_t height,
                                                cudaMemcpyKind) {
  if (to == nullptr || from == nullptr) return note(cudaErrorInvalidResourceHandle);
  return call([&] {
    CUDA_MEMCPY3D box{};
    set_source(box, array_of(from));
    set_target(box, array_of(to));
    box.srcXInBytes = from_x;
    box.srcY = from_y;
    box.dstXInBytes = to_x;
    box.dstY = to_y;
    box.WidthInBytes = width;
    box.Height = height;
    box.Depth = 1;
    return copy_box(box, nullptr, true);
  });
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
  return call([&]() -> CUresult {
    for (std::size_t z = 0; z < extent.depth; ++z) {
      char* slice = static_cast<char*>(address.ptr) + z * address.pitch * address.ysize;
      if (CUresult error =
              fill_rows(slice, address.pitch, value, extent.width, extent.height, stream))
        return error;
    }
    return CUDA_SUCCESS;
  });
}
TD_RUNTIME cudaError_t cudaMemset3D(cudaPitchedPtr address, int value, cudaExtent extent) {
  return cudaMemset3DAsync(address, value, extent, nullptr);
}
