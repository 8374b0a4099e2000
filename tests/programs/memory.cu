// Variables by name, managed and pinned memory, pitched copies, arrays, streams, events, callbacks,
// properties.
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"

__constant__ int table[4];
__device__ int counter = 5;
static __device__ float hidden[2];
__managed__ int shared_total = 7;
__managed__ double shared_list[3];

__global__ void use_variables() {
  atomicAdd(&counter, table[threadIdx.x]);
  if (threadIdx.x < 2) hidden[threadIdx.x] = 1.5f * table[threadIdx.x];
  if (threadIdx.x < 3) shared_list[threadIdx.x] = table[threadIdx.x];
  if (threadIdx.x == 0) shared_total += 100;
}
__global__ void add_one(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++data[i];
}

int variables() {
  const int values[4] = {10, 20, 30, 40};
  CHECK(cudaMemcpyToSymbol(table, values, sizeof values));
  CHECK(cudaMemcpyToSymbol(table, values, sizeof(int), 3 * sizeof(int)));
  shared_total += 1;
  use_variables<<<1, 4>>>();
  CHECK(cudaDeviceSynchronize());
  int seen = 0;
  float pair[2];
  CHECK(cudaMemcpyFromSymbol(&seen, counter, sizeof seen));
  CHECK(cudaMemcpyFromSymbol(pair, hidden, sizeof pair));
  EXPECT(seen == 5 + 10 + 20 + 30 + 10);
  EXPECT(pair[0] == 15 && pair[1] == 30);
  EXPECT(shared_total == 108 && shared_list[2] == 30);
  int* address;
  size_t bytes;
  CHECK(cudaGetSymbolAddress((void**)&address, counter));
  CHECK(cudaGetSymbolSize(&bytes, table));
  EXPECT(bytes == sizeof values);
  add_one<<<1, 1>>>(address, 1);
  CHECK(cudaMemcpyFromSymbol(&seen, counter, sizeof seen));
  EXPECT(seen == 76);
  EXPECT(cudaMemcpyToSymbol(table, values, sizeof values, 8) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
  return 0;
}

int streams() {
  const int n = 10000;
  int *host, *device, *managed;
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  CHECK(cudaMallocManaged(&managed, n * sizeof(int)));
  cudaStream_t stream;
  cudaEvent_t start, end;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaMallocAsync(&device, n * sizeof(int), stream));
  for (int i = 0; i < n; ++i) host[i] = managed[i] = i;
  CHECK(cudaEventRecord(start, stream));
  CHECK(cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, stream));
  for (int turn = 0; turn < 10; ++turn) add_one<<<(n + 127) / 128, 128, 0, stream>>>(device, n);
  add_one<<<(n + 127) / 128, 128, 0, stream>>>(managed, n);
  CHECK(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaEventRecord(end, stream));
  static int called = 0;
  CHECK(cudaLaunchHostFunc(stream, [](void* data) { *(int*)data += 1; }, &called));
  CHECK(cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t, void* data) { *(int*)data += 10; }, &called, 0));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaEventSynchronize(end));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 0 && called == 11);
  for (int i = 0; i < n; ++i) EXPECT(host[i] == i + 10 && managed[i] == i + 1);
  cudaPointerAttributes facts;
  CHECK(cudaPointerGetAttributes(&facts, device));
  EXPECT(facts.type == cudaMemoryTypeDevice);
  CHECK(cudaPointerGetAttributes(&facts, managed));
  EXPECT(facts.type == cudaMemoryTypeManaged);
  CHECK(cudaFreeAsync(device, stream));
  CHECK(cudaFree(managed));
  CHECK(cudaFreeHost(host));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}

int boxes() {
  unsigned char from[5][7], to[5][7] = {};
  for (int i = 0; i < 35; ++i) from[i / 7][i % 7] = (unsigned char)(i * 3);
  unsigned char* device;
  size_t pitch;
  CHECK(cudaMallocPitch(&device, &pitch, 7, 5));
  EXPECT(pitch >= 7);
  CHECK(cudaMemset2D(device, pitch, 255, 7, 5));
  CHECK(cudaMemcpy2D(device, pitch, from, 7, 7, 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2D(to, 7, device, pitch, 7, 5, cudaMemcpyDeviceToHost));
  EXPECT(std::memcmp(from, to, 28) == 0 && to[4][0] == 255 && to[4][6] == 255);
  EXPECT(cudaMemcpy2D(to, 6, device, pitch, 7, 5, cudaMemcpyDeviceToHost) ==
         cudaErrorInvalidPitchValue);

  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  EXPECT(format.x == 32 && format.y == 32 && format.z == 0 &&
         format.f == cudaChannelFormatKindFloat);
  float2 cells[3][4], back[3][4] = {};
  for (int i = 0; i < 12; ++i) cells[i / 4][i % 4] = make_float2(i, -i);
  CHECK(cudaMallocArray(&array, &format, 4, 3));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, cells, sizeof cells[0], sizeof cells[0], 3,
                            cudaMemcpyHostToDevice));
  cudaMemcpy3DParms box = {};
  box.srcArray = array;
  box.dstPtr = make_cudaPitchedPtr(back, sizeof back[0], 4, 3);
  box.extent = make_cudaExtent(4, 3, 1);
  box.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&box));
  EXPECT(std::memcmp(cells, back, sizeof cells) == 0);
  CHECK(cudaFreeArray(array));
  return 0;
}

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  cudaDeviceProp facts;
  CHECK(cudaGetDeviceProperties(&facts, 0));
  EXPECT(count >= 1 && facts.warpSize == 32 && facts.maxThreadsPerBlock == 1024 &&
         facts.totalGlobalMem > 0);
  EXPECT(std::strstr(facts.name, "software device") || std::strstr(facts.name, "NVIDIA"));
  if (variables() || streams() || boxes()) return 1;
  std::printf("memory ok\n");
  return 0;
}
