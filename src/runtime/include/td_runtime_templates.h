// Templates of cuda_runtime.h.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#define __TD_HOST static inline __attribute__((unused))

__TD_HOST cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  return {width, height, depth};
}
__TD_HOST cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
__TD_HOST cudaPitchedPtr make_cudaPitchedPtr(void* address, size_t pitch, size_t xsize,
                                             size_t ysize) {
  return {address, pitch, xsize, ysize};
}

// ---- element formats: cudaCreateChannelDesc<float4>()
template <class T>
struct __td_channels {
  typedef T type;
  static constexpr int count = 1;
};
#define TD_CHANNELS(name, T)        \
  template <>                       \
  struct __td_channels<name##1> {   \
    typedef T type;                 \
    static constexpr int count = 1; \
  };                                \
  template <>                       \
  struct __td_channels<name##2> {   \
    typedef T type;                 \
    static constexpr int count = 2; \
  };                                \
  template <>                       \
  struct __td_channels<name##4> {   \
    typedef T type;                 \
    static constexpr int count = 4; \
  };
TD_CHANNELS(char, signed char)
TD_CHANNELS(uchar, unsigned char)
TD_CHANNELS(short, short)
TD_CHANNELS(ushort, unsigned short)
TD_CHANNELS(int, int)
TD_CHANNELS(uint, unsigned)
TD_CHANNELS(float, float)
#undef TD_CHANNELS
template <class T>
__TD_HOST cudaChannelFormatDesc cudaCreateChannelDesc() {
  typedef typename __td_channels<T>::type element;
  constexpr int bits = 8 * (int)sizeof(element), count = __td_channels<T>::count;
  const cudaChannelFormatKind kind = (element)0.5f != (element)0 ? cudaChannelFormatKindFloat
                                     : (element)-1 < (element)0  ? cudaChannelFormatKindSigned
                                                                 : cudaChannelFormatKindUnsigned;
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 2 ? bits : 0, kind};
}
__TD_HOST cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}
__TD_HOST cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
__TD_HOST cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return {16, 16, 0, 0, cudaChannelFormatKindFloat};
}
__TD_HOST cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return {16, 16, 16, 16, cudaChannelFormatKindFloat};
}

// ---- typed addresses
template <class T>
__TD_HOST cudaError_t cudaMalloc(T** address, size_t bytes) {
  return ::cudaMalloc((void**)(void*)address, bytes);
}
template <class T>
__TD_HOST cudaError_t cudaMallocHost(T** address, size_t bytes, unsigned flags = 0) {
  return ::cudaHostAlloc((void**)(void*)address, bytes, flags);
}
template <class T>
__TD_HOST cudaError_t cudaHostAlloc(T** address, size_t bytes, unsigned flags) {
  return ::cudaHostAlloc((void**)(void*)address, bytes, flags);
}
template <class T>
__TD_HOST cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags) {
  return ::cudaHostGetDevicePointer((void**)(void*)device, host, flags);
}
template <class T>
__TD_HOST cudaError_t cudaMallocManaged(T** address, size_t bytes,
                                        unsigned flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)(void*)address, bytes, flags);
}
template <class T>
__TD_HOST cudaError_t cudaMallocPitch(T** address, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)(void*)address, pitch, width, height);
}
template <class T>
__TD_HOST cudaError_t cudaMallocAsync(T** address, size_t bytes, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)(void*)address, bytes, stream);
}
template <class T>
__TD_HOST cudaError_t cudaMallocFromPoolAsync(T** address, size_t bytes, cudaMemPool_t pool,
                                              cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)address, bytes, pool, stream);
}
template <class T>
__TD_HOST cudaError_t cudaMallocAsync(T** address, size_t bytes, cudaMemPool_t pool,
                                      cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)address, bytes, pool, stream);
}
__TD_HOST cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}

// The older form, with a place for a message.
__TD_HOST cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphNode_t*, char*, size_t) {
  return ::cudaGraphInstantiateWithFlags(exec, graph, 0);
}
__TD_HOST cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                          cudaGraphNode_t* node,
                                          cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info = {};
  const cudaError_t error = ::cudaGraphExecUpdate(exec, graph, &info);
  if (node != nullptr) *node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}
// CUDA 13's forms.
__TD_HOST cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes,
                                           cudaMemLocation location, unsigned flags,
                                           cudaStream_t stream = 0) {
  return ::cudaMemPrefetchAsync_v2(address, bytes, location, flags, stream);
}
__TD_HOST cudaError_t cudaMemAdvise(const void* address, size_t bytes, cudaMemoryAdvise advice,
                                    cudaMemLocation location) {
  return ::cudaMemAdvise_v2(address, bytes, advice, location);
}

// ---- variables by name
template <class T>
__TD_HOST cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes,
                                         size_t offset = 0,
                                         cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void*)&symbol, from, bytes, offset, kind);
}
template <class T>
__TD_HOST cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                              size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                              cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync((const void*)&symbol, from, bytes, offset, kind, stream);
}
template <class T>
__TD_HOST cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                           size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, (const void*)&symbol, bytes, offset, kind);
}
template <class T>
__TD_HOST cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes,
                                                size_t offset = 0,
                                                cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(to, (const void*)&symbol, bytes, offset, kind, stream);
}
template <class T>
__TD_HOST cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  return ::cudaGetSymbolAddress(address, (const void*)&symbol);
}
template <class T>
__TD_HOST cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  return ::cudaGetSymbolSize(bytes, (const void*)&symbol);
}

// ---- kernels by name
template <class T>
__TD_HOST cudaError_t cudaLaunchKernel(T* kernel, dim3 grid, dim3 block, void** args,
                                       size_t sharedBytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchKernel((const void*)kernel, grid, block, args, sharedBytes, stream);
}
template <class T>
__TD_HOST cudaError_t cudaLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** args,
                                                  size_t sharedBytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel((const void*)kernel, grid, block, args, sharedBytes, stream);
}
// Each argument is converted to the kernel's own parameter type.
template <class... P, class... A>
__TD_HOST cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...),
                                         A&&... args) {
  return [&](P... values) {
    void* addresses[sizeof...(P) + 1] = {(void*)&values...};
    return ::cudaLaunchKernelExC(config, (const void*)kernel, addresses);
  }(static_cast<A&&>(args)...);
}
template <class T>
__TD_HOST cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
  return ::cudaFuncGetAttributes(attributes, (const void*)kernel);
}
template <class T>
__TD_HOST cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute((const void*)kernel, attribute, value);
}
template <class T>
__TD_HOST cudaError_t cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig((const void*)kernel, config);
}
template <class T>
__TD_HOST cudaError_t cudaFuncSetSharedMemConfig(T* kernel, cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig((const void*)kernel, config);
}
template <class T>
__TD_HOST cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, T* kernel) {
  return ::cudaGetFuncBySymbol(function, (const void*)kernel);
}

// ---- occupancy
template <class T>
__TD_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel,
                                                                    int blockSize,
                                                                    size_t sharedBytes) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)kernel, blockSize,
                                                         sharedBytes);
}
template <class T>
__TD_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T kernel,
                                                                             int blockSize,
                                                                             size_t sharedBytes,
                                                                             unsigned flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)kernel,
                                                                  blockSize, sharedBytes, flags);
}
// The largest block size with the highest occupancy; `bytes(size)` is the dynamic shared memory of
// a block.
template <class T, class F>
__TD_HOST cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize,
                                                                     int* blockSize, T kernel,
                                                                     F bytes, int limit = 0) {
  int device, multiprocessors;
  cudaFuncAttributes attributes;
  cudaError_t error = ::cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = ::cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = ::cudaFuncGetAttributes(&attributes, (const void*)kernel);
  if (error != cudaSuccess) return error;
  if (limit <= 0 || limit > attributes.maxThreadsPerBlock) limit = attributes.maxThreadsPerBlock;
  int best = 0, best_size = 0, best_blocks = 0;
  for (int size = (limit + 31) / 32 * 32; size > 0; size -= 32) {
    const int threads = size > limit ? limit : size;
    int blocks = 0;
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)kernel, threads,
                                                            (size_t)bytes(threads));
    if (error != cudaSuccess) return error;
    if (blocks * threads > best) best = blocks * threads, best_size = threads, best_blocks = blocks;
  }
  *minGridSize = best_blocks * multiprocessors;
  *blockSize = best_size;
  return cudaSuccess;
}
template <class T>
__TD_HOST cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, T kernel,
                                                         size_t sharedBytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      minGridSize, blockSize, kernel, [sharedBytes](int) { return sharedBytes; }, limit);
}
template <class T>
__TD_HOST cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize,
                                                                  T kernel, size_t sharedBytes = 0,
                                                                  int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSize(minGridSize, blockSize, kernel, sharedBytes, limit);
}
#undef __TD_HOST
