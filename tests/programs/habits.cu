// What programs written for nvcc take for granted, and newer forms of the runtime's functions.
#include "check.h"

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};

// An attribute before alignas, placement new, and a delete through a base class.
__global__ void objects(float* out) {
  __shared__ alignas(alignof(float4)) float numbers[8];
  __shared__ alignas(16) char room[sizeof(Square)];
  const Shape* placed = new (room) Square(3);
  const Shape* made = new Square(4);
  numbers[threadIdx.x] = placed->area() + made->area();
  delete made;
  out[threadIdx.x] = reinterpret_cast<size_t>(numbers) % 16 == 0 ? numbers[threadIdx.x] : -1;
}

// Host code whose integers overflow.
void squares(int* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = i * i;
}
int first_difference(const int* squares, int n) {
  for (int i = 0; i < n; ++i)
    if (squares[i] != i * i) return i;
  return n;
}

int main() {
  float *out, host[8] = {};
  CHECK(cudaMalloc(&out, sizeof host));
  objects<<<1, 8>>>(out);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDefault));
  for (float value : host) EXPECT(value == 25);

  const int n = 1 << 20;
  int* numbers = new int[n];
  squares(numbers, n);
  EXPECT(first_difference(numbers, n) == n);

  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaStreamAttrValue value = {};
  value.syncPolicy = cudaSyncPolicyYield;
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &value));
  value = {};
  CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &value));
  EXPECT(value.syncPolicy == cudaSyncPolicyYield);

  int* managed;
  const cudaMemLocation on_host = {cudaMemLocationTypeHost, 0},
                        on_device = {cudaMemLocationTypeDevice, 0};
  CHECK(cudaMallocManaged(&managed, 4096));
  CHECK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, on_host));
  CHECK(cudaMemPrefetchAsync(managed, 4096, on_device, 0, stream));
  CHECK(cudaMemPrefetchAsync(managed, 4096, on_host, 0, stream));

  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = on_device;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  cudaMemAccessDesc access = {on_device, cudaMemAccessFlagsProtReadWrite};
  CHECK(cudaMemPoolSetAccess(pool, &access, 1));
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  CHECK(cudaMemPoolGetAccess(&flags, pool, &access.location));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  int* from_pool;
  CHECK(cudaMallocAsync(&from_pool, 64, pool, stream));
  CHECK(cudaFreeAsync(from_pool, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemPoolDestroy(pool));
  std::printf("habits ok\n");
  return 0;
}
