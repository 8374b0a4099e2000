// __device__ and __constant__ variables by name.
#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

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
