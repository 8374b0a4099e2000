// Texture and surface objects through the runtime API: arrays, pitched and linear memory, mipmaps,
// descriptions that come back, and the runtime's own refusals.
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"

__global__ void sample(cudaTextureObject_t texture, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

__global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  uchar4 texel;
  surf2Dread(&texel, from, x * 4, y);
  texel.x = 255 - texel.x;
  surf2Dwrite(texel, to, x * 4, y, cudaBoundaryModeZero);
}

template <class T>
__global__ void by_number(cudaTextureObject_t texture, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<T>(texture, i);
}

__global__ void level(cudaTextureObject_t texture, float lod, float* out) {
  *out = tex2DLod<float>(texture, 0.5f, 0.5f, lod);
}

__global__ void layer(cudaTextureObject_t texture, int number, float* out) {
  *out = tex2DLayered<float>(texture, 1.5f, 2.5f, number);
}

static cudaTextureDesc clamped(cudaTextureFilterMode filter, cudaTextureReadMode read) {
  cudaTextureDesc texture;
  memset(&texture, 0, sizeof texture);
  texture.addressMode[0] = texture.addressMode[1] = texture.addressMode[2] = cudaAddressModeClamp;
  texture.filterMode = filter;
  texture.readMode = read;
  return texture;
}

int arrays() {
  const int width = 37, height = 11;
  std::vector<float> image(width * height), found(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = 0.25f * i - 3;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture = clamped(cudaFilterModeLinear, cudaReadModeElementType);
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  float* out;
  CHECK(cudaMalloc(&out, image.size() * 4));
  sample<<<dim3(3, 2), dim3(16, 8)>>>(object, out, width, height);
  CHECK(cudaMemcpy(found.data(), out, image.size() * 4, cudaMemcpyDeviceToHost));
  EXPECT(found == image);

  cudaResourceDesc resource_back;
  cudaTextureDesc texture_back;
  CHECK(cudaGetTextureObjectResourceDesc(&resource_back, object));
  CHECK(cudaGetTextureObjectTextureDesc(&texture_back, object));
  EXPECT(resource_back.resType == cudaResourceTypeArray && resource_back.res.array.array == array);
  EXPECT(texture_back.filterMode == cudaFilterModeLinear &&
         texture_back.readMode == cudaReadModeElementType);
  EXPECT(texture_back.addressMode[1] == cudaAddressModeClamp && !texture_back.normalizedCoords);
  CHECK(cudaDestroyTextureObject(object));

  // An array from another, and back.
  cudaArray_t second;
  CHECK(cudaMallocArray(&second, &format, width, height));
  CHECK(cudaMemcpy2DArrayToArray(second, 0, 0, array, 0, 0, width * 4, height));
  std::vector<float> copied(image.size());
  CHECK(cudaMemcpy2DFromArray(copied.data(), width * 4, second, 0, 0, width * 4, height,
                              cudaMemcpyDeviceToHost));
  EXPECT(copied == image);
  CHECK(cudaFreeArray(second));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
  return 0;
}

int surfaces() {
  const int width = 20, height = 6;
  std::vector<unsigned char> image(width * height * 4), found(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = i % 251;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t arrays[2];
  cudaSurfaceObject_t objects[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMallocArray(&arrays[i], &format, width, height, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = arrays[i];
    CHECK(cudaCreateSurfaceObject(&objects[i], &resource));
  }
  CHECK(cudaMemcpy2DToArray(arrays[0], 0, 0, image.data(), width * 4, width * 4, height,
                            cudaMemcpyHostToDevice));
  invert<<<dim3(2, 1), dim3(16, 8)>>>(objects[0], objects[1], width, height);
  CHECK(cudaMemcpy2DFromArray(found.data(), width * 4, arrays[1], 0, 0, width * 4, height,
                              cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < image.size(); ++i)
    EXPECT(found[i] == (i % 4 == 0 ? 255 - image[i] : image[i]));
  cudaResourceDesc back;
  CHECK(cudaGetSurfaceObjectResourceDesc(&back, objects[1]));
  EXPECT(back.res.array.array == arrays[1]);
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaDestroySurfaceObject(objects[i]));
    CHECK(cudaFreeArray(arrays[i]));
  }
  return 0;
}

int memory() {
  const int n = 100;
  std::vector<short> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = 300 * i - 15000;
  short* device;
  float* fractions;
  CHECK(cudaMalloc(&device, n * sizeof(short)));
  CHECK(cudaMalloc(&fractions, n * sizeof(float)));
  CHECK(cudaMemcpy(device, numbers.data(), n * sizeof(short), cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = device;
  resource.res.linear.desc = cudaCreateChannelDesc<short>();
  resource.res.linear.sizeInBytes = n * sizeof(short);
  cudaTextureDesc texture = clamped(cudaFilterModePoint, cudaReadModeNormalizedFloat);
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  by_number<float><<<1, 128>>>(object, fractions, n);
  std::vector<float> found(n);
  CHECK(cudaMemcpy(found.data(), fractions, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(found[i] == numbers[i] / 32767.0f);
  CHECK(cudaDestroyTextureObject(object));

  const int width = 30, height = 7;
  float* rows;
  size_t pitch;
  CHECK(cudaMallocPitch(&rows, &pitch, width * 4, height));
  std::vector<float> image(width * height), sampled(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = i;
  CHECK(cudaMemcpy2D(rows, pitch, image.data(), width * 4, width * 4, height,
                     cudaMemcpyHostToDevice));
  cudaResourceDesc pitched = {};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D.devPtr = rows;
  pitched.res.pitch2D.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  pitched.res.pitch2D.width = width;
  pitched.res.pitch2D.height = height;
  pitched.res.pitch2D.pitchInBytes = pitch;
  texture.readMode = cudaReadModeElementType;
  CHECK(cudaCreateTextureObject(&object, &pitched, &texture, nullptr));
  float* out;
  CHECK(cudaMalloc(&out, image.size() * 4));
  sample<<<dim3(2, 1), dim3(16, 8)>>>(object, out, width, height);
  CHECK(cudaMemcpy(sampled.data(), out, image.size() * 4, cudaMemcpyDeviceToHost));
  EXPECT(sampled == image);
  CHECK(cudaDestroyTextureObject(object));
  CHECK(cudaFree(rows));
  CHECK(cudaFree(out));
  CHECK(cudaFree(device));
  CHECK(cudaFree(fractions));
  return 0;
}

int levels_and_layers() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t pyramid;
  CHECK(cudaMallocMipmappedArray(&pyramid, &format, make_cudaExtent(16, 16, 0), 5));
  for (unsigned i = 0; i < 5; ++i) {
    int size = 16 >> i;
    std::vector<float> flat(size * size, 10.0f * i);
    cudaArray_t array;
    CHECK(cudaGetMipmappedArrayLevel(&array, pyramid, i));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, flat.data(), size * 4, size * 4, size,
                              cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = pyramid;
  cudaTextureDesc texture = clamped(cudaFilterModeLinear, cudaReadModeElementType);
  texture.normalizedCoords = 1;
  texture.mipmapFilterMode = cudaFilterModeLinear;
  texture.maxMipmapLevelClamp = 4;
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  float *out, found = -1;
  CHECK(cudaMalloc(&out, 4));
  level<<<1, 1>>>(object, 2.25f, out);
  CHECK(cudaMemcpy(&found, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(found == 22.5f);
  CHECK(cudaDestroyTextureObject(object));
  // Only the second and third level, as levels 0 and 1.
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatFloat1;
  view.width = view.height = 16;  // of the whole resource
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, &view));
  level<<<1, 1>>>(object, 1.0f, out);
  CHECK(cudaMemcpy(&found, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(found == 20);
  cudaResourceViewDesc view_back;
  CHECK(cudaGetTextureObjectResourceViewDesc(&view_back, object));
  EXPECT(view_back.firstMipmapLevel == 1 && view_back.format == cudaResViewFormatFloat1);
  CHECK(cudaDestroyTextureObject(object));
  CHECK(cudaFreeMipmappedArray(pyramid));

  cudaArray_t layers;
  CHECK(cudaMalloc3DArray(&layers, &format, make_cudaExtent(4, 4, 3), cudaArrayLayered));
  std::vector<float> image(48);
  for (int i = 0; i < 48; ++i) image[i] = i;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(image.data(), 16, 4, 4);
  copy.dstArray = layers;
  copy.extent = make_cudaExtent(4, 4, 3);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaResourceDesc of_layers = {};
  of_layers.resType = cudaResourceTypeArray;
  of_layers.res.array.array = layers;
  texture = clamped(cudaFilterModePoint, cudaReadModeElementType);
  CHECK(cudaCreateTextureObject(&object, &of_layers, &texture, nullptr));
  layer<<<1, 1>>>(object, 2, out);
  CHECK(cudaMemcpy(&found, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(found == 2 * 16 + 2 * 4 + 1);
  CHECK(cudaDestroyTextureObject(object));
  CHECK(cudaFreeArray(layers));
  CHECK(cudaFree(out));
  return 0;
}

int refusals() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, 8));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t object = 0;
  cudaTextureDesc texture = clamped(cudaFilterModeLinear, cudaReadModeElementType);
  EXPECT(cudaCreateTextureObject(&object, &resource, &texture, nullptr) ==
         cudaErrorInvalidFilterSetting);
  texture = clamped(cudaFilterModePoint, cudaReadModeNormalizedFloat);
  EXPECT(cudaCreateTextureObject(&object, &resource, &texture, nullptr) ==
         cudaErrorInvalidNormSetting);
  EXPECT(cudaGetLastError() == cudaErrorInvalidNormSetting && cudaGetLastError() == cudaSuccess);
  CHECK(cudaFreeArray(array));
  return 0;
}

int main() {
  if (arrays() || surfaces() || memory() || levels_and_layers() || refusals()) return 1;
  std::printf("textures ok\n");
  return 0;
}
