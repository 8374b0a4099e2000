// Arrays and their element formats.
#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

namespace {

struct FormatRow {
  unsigned format;  // CUarray_format
  int bits;
  cudaChannelFormatKind kind;
};
const FormatRow kFormats[] = {
    {0x01, 8, cudaChannelFormatKindUnsigned},  {0x02, 16, cudaChannelFormatKindUnsigned},
    {0x03, 32, cudaChannelFormatKindUnsigned}, {0x08, 8, cudaChannelFormatKindSigned},
    {0x09, 16, cudaChannelFormatKindSigned},   {0x0a, 32, cudaChannelFormatKindSigned},
    {0x10, 16, cudaChannelFormatKindFloat},    {0x20, 32, cudaChannelFormatKindFloat},
};

}  // namespace

namespace td::runtime {

bool format_of(const cudaChannelFormatDesc& d, unsigned* format, unsigned* channels) {
  *channels = (d.x != 0) + (d.y != 0) + (d.z != 0) + (d.w != 0);
  for (const FormatRow& row : kFormats) {
    if (row.bits != d.x || row.kind != d.f) continue;
    *format = row.format;
    return *channels == 1 || (*channels == 2 && d.y == d.x) || (*channels == 4 && d.w == d.x);
  }
  return false;
}

cudaChannelFormatDesc description_of(unsigned format, unsigned channels) {
  cudaChannelFormatDesc result{0, 0, 0, 0, cudaChannelFormatKindNone};
  for (const FormatRow& row : kFormats) {
    if (row.format != format) continue;
    result = {row.bits, channels > 1 ? row.bits : 0, channels > 2 ? row.bits : 0,
              channels > 3 ? row.bits : 0, row.kind};
  }
  return result;
}

cudaError_t describe_array(const cudaChannelFormatDesc* description, cudaExtent extent,
                           unsigned flags, CUDA_ARRAY3D_DESCRIPTOR* out) {
  *out = {};
  if (description == nullptr) return cudaErrorInvalidValue;
  if (!format_of(*description, &out->Format, &out->NumChannels))
    return cudaErrorInvalidChannelDescriptor;
  out->Width = extent.width;
  out->Height = extent.height;
  out->Depth = extent.depth;
  out->Flags = flags;
  return cudaSuccess;
}

}  // namespace td::runtime

TD_RUNTIME cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                       cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

TD_RUNTIME cudaError_t cudaMalloc3DArray(cudaArray_t* array,
                                         const cudaChannelFormatDesc* description,
                                         cudaExtent extent, unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR wanted;
  if (array == nullptr) return note(cudaErrorInvalidValue);
  if (cudaError_t error = describe_array(description, extent, flags, &wanted)) return note(error);
  return call([&] { return api().cuArray3DCreate(reinterpret_cast<CUarray*>(array), &wanted); });
}
TD_RUNTIME cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* description,
                                       size_t width, size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, description, {width, height, 0}, flags);
}
TD_RUNTIME cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&]() -> CUresult {
    return array ? api().cuArrayDestroy(reinterpret_cast<CUarray>(array)) : CUDA_SUCCESS;
  });
}
TD_RUNTIME cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* description, cudaExtent* extent,
                                        unsigned* flags, cudaArray_t array) {
  return call([&]() -> CUresult {
    CUDA_ARRAY3D_DESCRIPTOR found{};
    if (CUresult error = api().cuArray3DGetDescriptor(&found, reinterpret_cast<CUarray>(array)))
      return error;
    if (description) *description = description_of(found.Format, found.NumChannels);
    if (extent) *extent = {found.Width, found.Height, found.Depth};
    if (flags) *flags = found.Flags;
    return CUDA_SUCCESS;
  });
}
TD_RUNTIME cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* description,
                                          cudaArray_const_t array) {
  return cudaArrayGetInfo(description, nullptr, nullptr, const_cast<cudaArray_t>(array));
}
