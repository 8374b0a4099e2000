// Stream capture, graphs from nodes, pools, cooperative launches, float16 on the host.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cstdio>

#include "check.h"

__global__ void multiply(int* data, int by) { data[threadIdx.x] *= by; }
__global__ void add(int* data, int what) { data[threadIdx.x] += what; }

// Every block adds to a counter; after the grid's barrier every block sees all of them.
__global__ void all_blocks(int* counter, int* seen) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (threadIdx.x == 0) atomicAdd(counter, 1);
  grid.sync();
  if (threadIdx.x == 0) seen[blockIdx.x] = *counter;
}

__global__ void halves(__half* data) {
  data[threadIdx.x] = __hfma(data[threadIdx.x], __float2half(2.0f), __float2half(0.5f));
}

int capture() {
  const int n = 32;
  int host[n], *device;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocAsync(&device, sizeof host, stream));
  for (int i = 0; i < n; ++i) host[i] = i;
  CHECK(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  multiply<<<1, n, 0, stream>>>(device, 3);
  add<<<1, n, 0, stream>>>(device, 1);
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  CHECK(cudaStreamEndCapture(stream, &graph));
  size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 2);

  int what = 100;
  void* arguments[] = {&device, &what};
  cudaKernelNodeParams params = {};
  params.func = (void*)add;
  params.gridDim = 1;
  params.blockDim = n;
  params.kernelParams = arguments;
  cudaGraphNode_t nodes[2], added;
  CHECK(cudaGraphGetNodes(graph, nodes, &count));
  CHECK(cudaGraphAddKernelNode(&added, graph, nodes, 2, &params));
  CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == (i * 3 + 101) * 3 + 101);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFreeAsync(device, stream));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}

int cooperative() {
  const int blocks = 4;
  int *counter, *seen;
  CHECK(cudaMallocManaged(&counter, sizeof(int)));
  CHECK(cudaMallocManaged(&seen, blocks * sizeof(int)));
  *counter = 0;
  void* arguments[] = {&counter, &seen};
  CHECK(cudaLaunchCooperativeKernel(all_blocks, dim3(blocks), dim3(64), arguments));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < blocks; ++i) EXPECT(seen[i] == blocks);
  return 0;
}

int half_on_both_sides() {
  __half* data;
  CHECK(cudaMallocManaged(&data, 32 * sizeof(__half)));
  for (int i = 0; i < 32; ++i) data[i] = __float2half(i / 4.0f);
  halves<<<1, 32>>>(data);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) {
    const __half expected = __float2half(i / 4.0f) * __float2half(2.0f) + __half(0.5);
    EXPECT(__half2float(data[i]) == __half2float(expected) &&
           __half2float(data[i]) == i / 2.0f + 0.5f);
  }
  return 0;
}

int main() {
  if (capture() || cooperative() || half_on_both_sides()) return 1;
  std::printf("graphs ok\n");
  return 0;
}
