// Texture and surface objects on the host's side: descriptors, views, refusals.
#include "support.h"

namespace td::test {
namespace {

class Texture : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    CUDA_ARRAY3D_DESCRIPTOR shape{64, 32, 0, cuda::FORMAT_FLOAT, 1, cuda::ARRAY_SURFACE_LDST};
    ASSERT_EQ(api().cuArray3DCreate(&array_, &shape), 0);
    resource_.resType = cuda::RESOURCE_ARRAY;
    resource_.res.array.hArray = array_;
    for (unsigned& mode : texture_.addressMode) mode = cuda::ADDRESS_CLAMP;
    texture_.filterMode = cuda::FILTER_LINEAR;
  }
  void TearDown() override { EXPECT_EQ(api().cuArrayDestroy(array_), 0); }
  CUresult create(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                  const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    CUtexObject object = 0;
    CUresult result = api().cuTexObjectCreate(&object, &resource, &texture, view);
    if (result == 0) {
      EXPECT_EQ(api().cuTexObjectDestroy(object), 0);
    }
    return result;
  }
  CUarray array_ = nullptr;
  CUDA_RESOURCE_DESC resource_{};
  CUDA_TEXTURE_DESC texture_{};
};

TEST_F(Texture, DescriptorsComeBack) {
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = 0x16;  // float, one channel
  view.width = 64;
  view.height = 32;
  CUtexObject object = 0;
  ASSERT_EQ(api().cuTexObjectCreate(&object, &resource_, &texture_, &view), 0);
  EXPECT_NE(object, 0u);
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC seen{};
  ASSERT_EQ(api().cuTexObjectGetResourceDesc(&resource, object), 0);
  EXPECT_EQ(resource.resType, unsigned(cuda::RESOURCE_ARRAY));
  EXPECT_EQ(resource.res.array.hArray, array_);
  ASSERT_EQ(api().cuTexObjectGetTextureDesc(&texture, object), 0);
  EXPECT_EQ(texture.filterMode, unsigned(cuda::FILTER_LINEAR));
  EXPECT_EQ(texture.addressMode[1], unsigned(cuda::ADDRESS_CLAMP));
  ASSERT_EQ(api().cuTexObjectGetResourceViewDesc(&seen, object), 0);
  EXPECT_EQ(seen.width, 64u);
  EXPECT_EQ(api().cuTexObjectDestroy(object), 0);
}

TEST_F(Texture, OverMemory) {
  Buffer memory(1 << 16);
  CUDA_RESOURCE_DESC linear{};
  linear.resType = cuda::RESOURCE_LINEAR;
  linear.res.linear = {memory, cuda::FORMAT_FLOAT, 4, 1 << 16};
  texture_.filterMode = cuda::FILTER_POINT;
  EXPECT_EQ(create(linear, texture_), 0);
  CUDA_RESOURCE_DESC pitched{};
  CUdeviceptr rows = 0;
  std::size_t pitch = 0;
  ASSERT_EQ(api().cuMemAllocPitch(&rows, &pitch, 400, 10, 4), 0);
  pitched.resType = cuda::RESOURCE_PITCH2D;
  pitched.res.pitch2D = {rows, cuda::FORMAT_FLOAT, 1, 100, 10, pitch};
  EXPECT_EQ(create(pitched, texture_), 0);
  EXPECT_EQ(api().cuMemFree(rows), 0);
}

TEST_F(Texture, OverMipmaps) {
  CUDA_ARRAY3D_DESCRIPTOR shape{64, 64, 0, cuda::FORMAT_UNSIGNED_INT8, 4, 0};
  CUmipmappedArray pyramid = nullptr;
  ASSERT_EQ(api().cuMipmappedArrayCreate(&pyramid, &shape, 7), 0);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = cuda::RESOURCE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = pyramid;
  texture_.flags = cuda::TEXTURE_NORMALIZED_COORDINATES;
  texture_.mipmapFilterMode = cuda::FILTER_LINEAR;
  texture_.maxMipmapLevelClamp = 6;
  EXPECT_EQ(create(resource, texture_), 0);
  EXPECT_EQ(api().cuMipmappedArrayDestroy(pyramid), 0);
}

TEST_F(Texture, Refusals) {
  CUDA_RESOURCE_DESC bad = resource_;
  bad.resType = 17;
  EXPECT_EQ(create(bad, texture_), cuda::CUDA_ERROR_INVALID_VALUE);
  CUtexObject object = 0;
  EXPECT_EQ(api().cuTexObjectCreate(&object, &resource_, nullptr, nullptr),
            cuda::CUDA_ERROR_INVALID_VALUE);
  CUDA_RESOURCE_DESC linear{};
  Buffer memory(4096);
  linear.resType = cuda::RESOURCE_LINEAR;
  linear.res.linear = {memory, cuda::FORMAT_FLOAT, 3, 4096};
  texture_.filterMode = cuda::FILTER_POINT;
  EXPECT_EQ(create(linear, texture_), cuda::CUDA_ERROR_INVALID_VALUE) << "three channels";
}

TEST_F(Texture, Surfaces) {
  CUsurfObject surface = 0;
  ASSERT_EQ(api().cuSurfObjectCreate(&surface, &resource_), 0);
  CUDA_RESOURCE_DESC seen{};
  ASSERT_EQ(api().cuSurfObjectGetResourceDesc(&seen, surface), 0);
  EXPECT_EQ(seen.res.array.hArray, array_);
  EXPECT_EQ(api().cuSurfObjectDestroy(surface), 0);
  CUDA_ARRAY3D_DESCRIPTOR plain{64, 32, 0, cuda::FORMAT_FLOAT, 1, 0};
  CUarray array = nullptr;
  ASSERT_EQ(api().cuArray3DCreate(&array, &plain), 0);
  CUDA_RESOURCE_DESC resource = resource_;
  resource.res.array.hArray = array;
  EXPECT_EQ(api().cuSurfObjectCreate(&surface, &resource), 0)
      << "an array need not be made for surfaces";
  EXPECT_EQ(api().cuSurfObjectDestroy(surface), 0);
  EXPECT_EQ(api().cuArrayDestroy(array), 0);
}

TEST_F(Texture, LinearWidth) {
  std::size_t texels = 0;
  CUresult result = api().cuDeviceGetTexture1DLinearMaxWidth(&texels, cuda::FORMAT_FLOAT, 1, 0);
  if (result == cuda::CUDA_ERROR_NOT_SUPPORTED) return;
  EXPECT_EQ(result, 0);
  EXPECT_GE(texels, std::size_t{1} << 27);
}

}  // namespace
}  // namespace td::test
