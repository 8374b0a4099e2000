// Arrays and raw kernels from C++: what `treadle tour` does in its steps "arrays" and "raw
// kernels", through the public C++ API. Every result is compared with a plain loop on the host;
// exit status 0 means that all of them agreed.
#include <treadle/treadle.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr const char* kKernels = R"(
extern "C" __global__ void vector_add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void square(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * x[i];
}
extern "C" __global__ void index_2d(int* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = 1000 * y + x;
}
extern "C" __global__ void index_3d(int* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z;
}
)";

constexpr unsigned kBlock = 256;

unsigned blocks(std::size_t n, unsigned block) {
  return static_cast<unsigned>((n + block - 1) / block);
}

// Contiguous host vectors to the device and back.
template <class T>
td::Array to_device(const std::vector<T>& values) {
  return td::from_host(values.data(), {static_cast<std::int64_t>(values.size())}, {sizeof(T)},
                       td::dtype_of<T>(), true);
}

template <class T>
std::vector<T> to_vector(const td::Array& array) {
  std::vector<T> out(static_cast<std::size_t>(array.size()));
  td::to_host(array.reshape({-1}), out.data(), {sizeof(T)});
  return out;
}

// 0…11 as (3, 4) times its own transpose.
bool matrix_product() {
  auto x = td::arange(12, td::float32).reshape({3, 4});
  auto y = td::matmul(x, x.T());
  const float right[] = {14, 38, 62, 38, 126, 214, 62, 214, 366};
  std::vector<float> result = to_vector<float>(y);
  for (std::size_t i = 0; i < 9; ++i)
    if (std::fabs(result.at(i) - right[i]) > 1e-6f + 1e-5f * right[i]) return false;
  return y.shape() == td::Shape{3, 3};
}

// Quantities times prices, summed: 2 * 10 + 5 * 8 + 3 * 15.
bool order_value() {
  auto quantities = to_device<float>({2, 5, 3}), prices = to_device<float>({10, 8, 15});
  auto total =
      td::reduce(td::Reduction::sum,
                 td::apply(td::Op::multiply, std::vector<td::Operand>{quantities, prices}));
  return std::get<double>(total.item()) == 105;
}

bool vector_add(int n) {
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = 0.25f * i, b[i] = 3.0f - i;
  auto out =
      td::full({n}, std::nan(""), td::float32);  // poisoned: an element that nobody writes is seen
  if (n > 0) {
    td::Kernel k(kKernels, "vector_add");
    k.launch({.grid = {blocks(n, kBlock)}, .block = {kBlock}}, to_device(a), to_device(b), out, n);
  }
  std::vector<float> result = to_vector<float>(out);
  for (int i = 0; i < n; ++i)
    if (result[i] != a[i] + b[i]) return false;
  return static_cast<int>(result.size()) == n;
}

bool square_of_a_million() {
  const int n = 1000000;
  std::vector<float> x(n);
  std::iota(x.begin(), x.end(), -500000.0f);
  auto out = td::full({n}, std::nan(""), td::float32);
  td::Kernel(kKernels, "square")
      .launch({.grid = {blocks(n, kBlock)}, .block = {kBlock}}, to_device(x), out, n);
  std::vector<float> result = to_vector<float>(out);
  for (int i = 0; i < n; ++i)
    if (result[i] != x[i] * x[i]) return false;
  return true;
}

bool grid_2d(int width, int height) {
  auto out = td::full({height, width}, std::int64_t{-1}, td::int32);
  td::LaunchConfig config{.grid = {blocks(width, 16), blocks(height, 16)}, .block = {16, 16}};
  td::Kernel(kKernels, "index_2d").launch(config, out, width, height);
  std::vector<int> result = to_vector<int>(out);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (result[y * width + x] != 1000 * y + x) return false;
  return true;
}

bool grid_3d(int nx, int ny, int nz) {
  auto out = td::full({nz, ny, nx}, std::int64_t{-1}, td::int32);
  td::LaunchConfig config{.grid = {blocks(nx, 8), blocks(ny, 4), blocks(nz, 4)},
                          .block = {8, 4, 4}};
  td::Kernel(kKernels, "index_3d").launch(config, out, nx, ny, nz);
  std::vector<int> result = to_vector<int>(out);
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        if (result[(z * ny + y) * nx + x] != x + 100 * y + 10000 * z) return false;
  return true;
}

// The checks of arguments are the same as in Python: a fraction is no length, a double array no
// float*.
bool wrong_arguments_are_refused() {
  auto right = td::zeros({4}, td::float32), wrong = td::zeros({4}, td::float64);
  td::Kernel k(kKernels, "square");
  int refused = 0;
  for (const std::function<void()>& launch : std::initializer_list<std::function<void()>>{
           [&] { k.launch({}, right, right, 2.5); },
           [&] { k.launch({}, wrong, right, 4); },
           [&] { k.launch({}, right, right); },
       }) {
    try {
      launch();
    } catch (const td::TypeError& error) {
      std::printf("  refused: %s\n", error.what());
      ++refused;
    }
  }
  return refused == 3;
}

}  // namespace

int main() try {
  const td::Device device = td::Device::current();
  std::printf("device: %s, %s (%s)\n", device.name().c_str(), device.description().c_str(),
              device.evidence().c_str());
  int failures = 0;
  auto check = [&](const std::string& what, bool passed) {
    std::printf("%s  %s  [%s]\n", passed ? "PASS" : "FAIL", what.c_str(),
                device.evidence().c_str());
    failures += !passed;
  };
  check("0..11 as (3, 4) times its transpose", matrix_product());
  check("quantities times prices sum to 105", order_value());
  for (int n : {0, 1, 255, 256, 257, 10003})
    check("vector addition of " + std::to_string(n), vector_add(n));
  check("square of 1000000 elements", square_of_a_million());
  check("2-D kernel on 1024 x 1024", grid_2d(1024, 1024));
  check("2-D kernel on 1000 x 37, which does not divide", grid_2d(1000, 37));
  check("3-D kernel on 33 x 17 x 9", grid_3d(33, 17, 9));
  check("wrong arguments are refused", wrong_arguments_are_refused());
  std::printf("%s\n", failures ? "some checks failed" : "all checks passed");
  return failures ? 1 : 0;
} catch (const td::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 2;
}
