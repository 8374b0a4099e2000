// Enlarges an image with the texture unit's bilinear filter; the result is written through a
// surface. Without a GPU:
//
//     treadle cc --run enlarge.cu -- 4
//
// or `make` and `./enlarge`. With a GPU: nvcc enlarge.cu -o enlarge. Both give the same bits.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void enlarge(cudaTextureObject_t image, cudaSurfaceObject_t result, int width,
                        int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  // Centres of pixels, as parts of the whole image.
  const float value = tex2D<float>(image, (x + 0.5f) / width, (y + 0.5f) / height);
  surf2Dwrite(value, result, x * (int)sizeof(float), y);  // surfaces count bytes along x
}

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// The same in plain arithmetic.
static double bilinear(const std::vector<unsigned char>& image, int width, int height, double x,
                       double y) {
  const double left = std::floor(x - 0.5), top = std::floor(y - 0.5);
  const double a = x - 0.5 - left, b = y - 0.5 - top;
  auto pixel = [&](double i, double j) {
    const int column = std::clamp((int)i, 0, width - 1), row = std::clamp((int)j, 0, height - 1);
    return image[row * width + column] / 255.0;
  };
  return (1 - b) * ((1 - a) * pixel(left, top) + a * pixel(left + 1, top)) +
         b * ((1 - a) * pixel(left, top + 1) + a * pixel(left + 1, top + 1));
}

int main(int count, char** arguments) {
  const int factor = count > 1 ? std::atoi(arguments[1]) : 4;
  const int width = 64, height = 48, new_width = factor * width, new_height = factor * height;
  std::vector<unsigned char> image(width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image[y * width + x] = (x * x + 3 * y * y + (x ^ y)) % 256;

  cudaArray_t from, to;
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>(),
                              floats = cudaCreateChannelDesc<float>();
  check(cudaMallocArray(&from, &bytes, width, height), "cudaMallocArray");
  check(cudaMallocArray(&to, &floats, new_width, new_height, cudaArraySurfaceLoadStore),
        "cudaMallocArray");
  check(cudaMemcpy2DToArray(from, 0, 0, image.data(), width, width, height, cudaMemcpyHostToDevice),
        "copy");

  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = from;
  cudaTextureDesc modes = {};
  modes.addressMode[0] = modes.addressMode[1] = cudaAddressModeClamp;
  modes.filterMode = cudaFilterModeLinear;
  modes.readMode = cudaReadModeNormalizedFloat;  // bytes as [0, 1]
  modes.normalizedCoords = 1;
  cudaTextureObject_t texture;
  check(cudaCreateTextureObject(&texture, &resource, &modes, nullptr), "cudaCreateTextureObject");
  resource.res.array.array = to;
  cudaSurfaceObject_t surface;
  check(cudaCreateSurfaceObject(&surface, &resource), "cudaCreateSurfaceObject");

  const dim3 block(32, 8), grid((new_width + 31) / 32, (new_height + 7) / 8);
  enlarge<<<grid, block>>>(texture, surface, new_width, new_height);
  std::vector<float> result(new_width * new_height);
  check(cudaMemcpy2DFromArray(result.data(), new_width * sizeof(float), to, 0, 0,
                              new_width * sizeof(float), new_height, cudaMemcpyDeviceToHost),
        "enlarge");

  // Weights have eight bits after the point.
  double worst = 0;
  for (int y = 0; y < new_height; ++y)
    for (int x = 0; x < new_width; ++x)
      worst = std::max(
          worst, std::fabs(result[y * new_width + x] -
                           bilinear(image, width, height, (x + 0.5) / factor, (y + 0.5) / factor)));
  const bool good = worst < 1.0 / 128;
  std::printf("%s: %d x %d pixels from %d x %d, largest difference %.4f\n", good ? "PASS" : "FAIL",
              new_width, new_height, width, height, worst);
  cudaDestroyTextureObject(texture);
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(from);
  cudaFreeArray(to);
  return !good;
}
