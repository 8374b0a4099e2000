// Launches: indices, parameter packing, limits, shared memory.
#include <cmath>
#include <numeric>

#include "support.h"

namespace td::test {
namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void vector_add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void where(int* out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  int size = gridDim.x * 1000000 + gridDim.y * 10000 + gridDim.z * 100;
  if (x < nx && y < ny) out[(z * ny + y) * nx + x] = size + x + 10 * y + 30 * z;
}
extern "C" __global__ void store_int4(float* out, const int4 t) {
  out[0] = t.x; out[1] = t.y; out[2] = t.z; out[3] = t.w;
}
struct Odd { char tag; double value; short tail; };
extern "C" __global__ void store_mixed(double* out, char a, short b, bool c, Odd odd, unsigned char d, long long e,
                                       float3 f, float g) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = odd.tag; out[4] = odd.value; out[5] = odd.tail; out[6] = d;
  out[7] = e; out[8] = f.x + 10 * f.y + 100 * f.z; out[9] = g;
}
extern "C" __global__ void touch(int* out) { out[0] = 1; }
extern "C" __global__ void reverse(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
)";

struct Shape {
  unsigned gx = 1, gy = 1, gz = 1, bx = 1, by = 1, bz = 1, shared = 0;
};

class Launch : public DriverTest {
 protected:
  CUresult launch(const char* name, Shape s, std::vector<void*> params, void** extra = nullptr) {
    return api().cuLaunchKernel(function_of(kSource, name), s.gx, s.gy, s.gz, s.bx, s.by, s.bz,
                                s.shared, nullptr, extra ? nullptr : params.data(), extra);
  }
};

TEST_F(Launch, VectorAddOfManyLengths) {
  for (int n : {1, 31, 32, 33, 255, 256, 257, 10003}) {
    std::vector<float> a(n), b(n), expected(n + 8, -1);
    std::iota(a.begin(), a.end(), 0.5f);
    std::iota(b.begin(), b.end(), 100.0f);
    for (int i = 0; i < n; ++i) expected[i] = a[i] + b[i];
    Buffer da(4 * n), db(4 * n), out(4 * (n + 8));
    write(da, a);
    write(db, b);
    write(out, std::vector<float>(n + 8, -1));
    CUdeviceptr pa = da, pb = db, po = out;
    ASSERT_EQ(launch("vector_add", {.gx = unsigned(n + 255) / 256, .bx = 256}, {&pa, &pb, &po, &n}),
              cuda::CUDA_SUCCESS);
    EXPECT_EQ(read<float>(out, n + 8), expected) << n;
  }
}

TEST_F(Launch, IndicesInThreeDimensions) {
  int nx = 10, ny = 3, nz = 4;
  Buffer out(nx * ny * nz * 4);
  ASSERT_EQ(api().cuMemsetD8(out, 0xff, nx * ny * nz * 4), cuda::CUDA_SUCCESS);
  CUdeviceptr address = out;
  ASSERT_EQ(
      launch("where", {.gx = 3, .gy = 2, .gz = 2, .bx = 4, .by = 2, .bz = 2}, {&address, &nx, &ny}),
      cuda::CUDA_SUCCESS);
  auto found = read<int>(out, nx * ny * nz);
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        EXPECT_EQ(found[(z * ny + y) * nx + x], 3020200 + x + 10 * y + 30 * z)
            << x << "," << y << "," << z;
}

TEST_F(Launch, FourWideVectorIsAlignedTo16) {
  struct alignas(16) Int4 {
    int v[4];
  } value{{1, 2, 3, 4}};
  Buffer out(16);
  CUdeviceptr address = out;
  ASSERT_EQ(launch("store_int4", {}, {&address, &value}), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<float>(out, 4), (std::vector<float>{1, 2, 3, 4}));

  struct alignas(16) Packed {
    CUdeviceptr out;
    Int4 t;
  } packed{address, {{5, 6, 7, 8}}};
  static_assert(sizeof(Packed) == 32);
  std::size_t size = sizeof packed;
  void* extra[] = {cuda::LAUNCH_PARAM_BUFFER_POINTER, &packed, cuda::LAUNCH_PARAM_BUFFER_SIZE,
                   &size, cuda::LAUNCH_PARAM_END};
  ASSERT_EQ(launch("store_int4", {}, {}, extra), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<float>(out, 4), (std::vector<float>{5, 6, 7, 8}));
}

TEST_F(Launch, ParametersOfEverySize) {
  struct Odd {
    char tag;
    double value;
    short tail;
  } odd{7, 1.5, -3};
  signed char a = -5;
  short b = 1234;
  bool c = true;
  unsigned char d = 250;
  long long e = 1ll << 40;
  float f[3] = {1, 2, 3}, g = 0.125f;
  const std::vector<double> expected = {-5, 1234, 1, 7, 1.5, -3, 250, 1099511627776.0, 321, 0.125};
  Buffer out(80);
  CUdeviceptr address = out;
  ASSERT_EQ(launch("store_mixed", {}, {&address, &a, &b, &c, &odd, &d, &e, f, &g}),
            cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<double>(out, 10), expected);

  struct Packed {
    CUdeviceptr out;
    signed char a;
    short b;
    bool c;
    Odd odd;
    unsigned char d;
    long long e;
    float f[3];
    float g;
  } packed{address, a, b, c, odd, d, e, {1, 2, 3}, g};
  ASSERT_EQ(api().cuMemsetD8(out, 0, 80), cuda::CUDA_SUCCESS);
  std::size_t size = sizeof packed;
  void* extra[] = {cuda::LAUNCH_PARAM_BUFFER_POINTER, &packed, cuda::LAUNCH_PARAM_BUFFER_SIZE,
                   &size, cuda::LAUNCH_PARAM_END};
  ASSERT_EQ(launch("store_mixed", {}, {}, extra), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<double>(out, 10), expected);
}

// The values of the parameters are taken when the launch returns.
TEST_F(Launch, ParametersAreCopiedByTheCall) {
  TestStream stream;
  CUfunction function = function_of(kSource, "vector_add");
  Buffer a(400), b(400), out(400);
  write(a, std::vector<float>(100, 1));
  write(b, std::vector<float>(100, 2));
  write(out, std::vector<float>(100, 0));
  CUdeviceptr pa = a, pb = b, po = out;
  int n = 0;
  void* params[] = {&pa, &pb, &po, &n};
  // Once before the gate: a first launch may load the kernel, and wait for the device then.
  ASSERT_EQ(api().cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, params, nullptr),
            cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
  n = 100;
  Gate gate;
  gate.hold(stream);
  ASSERT_EQ(api().cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, params, nullptr),
            cuda::CUDA_SUCCESS);
  pa = pb = po = 0;
  n = -1;
  gate.open();
  ASSERT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<float>(out, 100), std::vector<float>(100, 3));
}

struct LimitRow {
  const char* what;
  Shape shape;
};
constexpr LimitRow kBeyond[] = {
    {"block x", {.bx = 1025}},
    {"block y", {.by = 1025}},
    {"block z", {.bz = 65}},
    {"threads of a block", {.bx = 64, .by = 32}},
    {"threads of a block, three dimensions", {.bx = 16, .by = 16, .bz = 8}},
    {"grid y", {.gy = 65536}},
    {"grid z", {.gz = 65536}},
    {"grid x", {.gx = 2147483648u}},
    {"empty block", {.bx = 0}},
    {"empty grid", {.gx = 0}},
    {"dynamic shared memory", {.shared = 300000}},
    {"dynamic shared memory without opting in", {.shared = 49153}},
};

TEST_F(Launch, ShapesBeyondTheLimits) {
  Buffer out(4);
  CUdeviceptr address = out;
  write(out, std::vector<int>{0});
  for (const LimitRow& row : kBeyond)
    EXPECT_EQ(launch("touch", row.shape, {&address}), cuda::CUDA_ERROR_INVALID_VALUE) << row.what;
  EXPECT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<int>(out, 1)[0], 0) << "a refused launch ran";
  constexpr LimitRow within[] = {
      {"block x", {.bx = 1024}},  {"block y", {.by = 1024}},
      {"block z", {.bz = 64}},    {"all of a block", {.bx = 32, .by = 32}},
      {"grid y", {.gy = 65535}},  {"grid z", {.gz = 65535}},
      {"grid x", {.gx = 100000}}, {"shared", {.shared = 49152}}};
  for (const LimitRow& row : within)
    EXPECT_EQ(launch("touch", row.shape, {&address}), cuda::CUDA_SUCCESS) << row.what;
  EXPECT_EQ(read<int>(out, 1)[0], 1);
}

TEST_F(Launch, DynamicSharedMemory) {
  constexpr unsigned kThreads = 1024;
  std::vector<int> values(kThreads);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> reversed(values.rbegin(), values.rend());
  Buffer out(4 * kThreads);
  CUdeviceptr address = out;
  write(out, values);
  ASSERT_EQ(launch("reverse", {.bx = kThreads, .shared = 4 * kThreads}, {&address}),
            cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<int>(out, kThreads), reversed);

  // More than 48 KiB only after the function has opted in, up to the device's limit.
  CUfunction function = function_of(kSource, "reverse");
  int most = device()->attribute(cuda::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  if (most <= 49152) return;
  const auto dynamic =
      static_cast<cuda::FunctionAttribute>(cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(launch("reverse", {.bx = 32, .shared = unsigned(most)}, {&address}),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuFuncSetAttribute(function, dynamic, most + 1), cuda::CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(api().cuFuncSetAttribute(function, dynamic, most), cuda::CUDA_SUCCESS);
  int now = 0;
  EXPECT_EQ(api().cuFuncGetAttribute(&now, dynamic, function), cuda::CUDA_SUCCESS);
  EXPECT_EQ(now, most);
  EXPECT_EQ(launch("reverse", {.bx = 32, .shared = unsigned(most)}, {&address}),
            cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
}

TEST_F(Launch, BadCalls) {
  Buffer out(4);
  CUdeviceptr address = out;
  void* params[] = {&address};
  std::size_t size = 8;
  void* extra[] = {cuda::LAUNCH_PARAM_BUFFER_POINTER, &address, cuda::LAUNCH_PARAM_BUFFER_SIZE,
                   &size, cuda::LAUNCH_PARAM_END};
  CUfunction function = function_of(kSource, "touch");
  EXPECT_NE(api().cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr),
            cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, extra),
            cuda::CUDA_ERROR_INVALID_VALUE)
      << "parameters given in both ways";
  EXPECT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
}

}  // namespace
}  // namespace td::test
