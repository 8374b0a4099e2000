// CUDA arrays: descriptors, linear copies, mipmaps, refusals. Copies of two and three dimensions
// are in pitched_copy_test.cpp.
#include <numeric>

#include "support.h"

namespace td::test {
namespace {

class Array : public DriverTest {};

struct ShapeRow {
  const char* what;
  CUDA_ARRAY3D_DESCRIPTOR shape;
};
constexpr unsigned kFloat = cuda::FORMAT_FLOAT, kByte = cuda::FORMAT_UNSIGNED_INT8;
constexpr ShapeRow kGood[] = {
    {"1D", {100, 0, 0, kFloat, 1, 0}},
    {"2D", {100, 50, 0, cuda::FORMAT_HALF, 4, 0}},
    {"3D", {10, 20, 30, cuda::FORMAT_SIGNED_INT16, 2, 0}},
    {"1D layered", {64, 0, 5, kByte, 1, cuda::ARRAY_LAYERED}},
    {"2D layered", {64, 16, 5, kFloat, 1, cuda::ARRAY_LAYERED}},
    {"cube map", {16, 16, 6, kFloat, 1, cuda::ARRAY_CUBEMAP}},
    {"layered cube map", {16, 16, 12, kFloat, 1, cuda::ARRAY_CUBEMAP | cuda::ARRAY_LAYERED}},
    {"surface", {64, 64, 0, cuda::FORMAT_UNSIGNED_INT32, 1, cuda::ARRAY_SURFACE_LDST}},
    {"gather", {64, 64, 0, kFloat, 1, cuda::ARRAY_TEXTURE_GATHER}},
};
constexpr ShapeRow kBad[] = {
    {"no width", {0, 0, 0, kFloat, 1, 0}},
    {"three channels", {100, 0, 0, kFloat, 3, 0}},
    {"unknown format", {100, 0, 0, 0x77, 1, 0}},
    {"cube map not square", {16, 8, 6, kFloat, 1, cuda::ARRAY_CUBEMAP}},
    {"cube map of five faces", {16, 16, 5, kFloat, 1, cuda::ARRAY_CUBEMAP}},
    {"too wide", {131073, 0, 0, kFloat, 1, 0}},
    {"too deep", {16, 16, 32769, kFloat, 1, 0}},
    {"too deep for its width", {8193, 1, 16385, kFloat, 1, 0}},
    {"too many layers", {16, 16, 2049, kFloat, 1, cuda::ARRAY_LAYERED}},
};

TEST_F(Array, DescriptorsComeBack) {
  for (const ShapeRow& row : kGood) {
    CUarray array = nullptr;
    ASSERT_EQ(api().cuArray3DCreate(&array, &row.shape), 0) << row.what;
    CUDA_ARRAY3D_DESCRIPTOR now{};
    ASSERT_EQ(api().cuArray3DGetDescriptor(&now, array), 0) << row.what;
    EXPECT_EQ(
        std::make_tuple(now.Width, now.Height, now.Depth, now.Format, now.NumChannels, now.Flags),
        std::make_tuple(row.shape.Width, row.shape.Height, row.shape.Depth, row.shape.Format,
                        row.shape.NumChannels, row.shape.Flags))
        << row.what;
    EXPECT_EQ(api().cuArrayDestroy(array), 0) << row.what;
  }
  for (const ShapeRow& row : kBad) {
    CUarray array = nullptr;
    EXPECT_EQ(api().cuArray3DCreate(&array, &row.shape), cuda::CUDA_ERROR_INVALID_VALUE)
        << row.what;
  }
}

TEST_F(Array, TwoDimensionalCreation) {
  CUDA_ARRAY_DESCRIPTOR shape{30, 20, kFloat, 2}, now{};
  CUarray array = nullptr;
  ASSERT_EQ(api().cuArrayCreate(&array, &shape), 0);
  ASSERT_EQ(api().cuArrayGetDescriptor(&now, array), 0);
  EXPECT_EQ(now.Width, 30u);
  EXPECT_EQ(now.Height, 20u);
  EXPECT_EQ(now.NumChannels, 2u);
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  CUresult result = api().cuArrayGetMemoryRequirements(&needs, array, 0);
  if (result == 0) {
    EXPECT_GE(needs.size, 30u * 20 * 8);
  }
  EXPECT_EQ(api().cuArrayDestroy(array), 0);
  EXPECT_EQ(api().cuArrayCreate(nullptr, &shape), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuArrayCreate(&array, nullptr), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Array, LinearCopies) {
  constexpr std::size_t kCount = 1000, kBytes = 4 * kCount;
  CUDA_ARRAY_DESCRIPTOR shape{kCount, 0, kFloat, 1};
  CUarray first = nullptr, second = nullptr;
  ASSERT_EQ(api().cuArrayCreate(&first, &shape), 0);
  ASSERT_EQ(api().cuArrayCreate(&second, &shape), 0);
  std::vector<float> values(kCount), back(kCount), expected;
  std::iota(values.begin(), values.end(), 0.5f);
  ASSERT_EQ(api().cuMemcpyHtoA(first, 0, values.data(), kBytes), 0);
  ASSERT_EQ(api().cuMemcpyAtoA(second, 0, first, 0, kBytes), 0);
  Buffer memory(kBytes);
  ASSERT_EQ(api().cuMemcpyAtoD(memory, second, 0, kBytes), 0);
  EXPECT_EQ(read<float>(memory, kCount), values);
  // A part of it, from the middle to the middle.
  write(memory, std::vector<float>(kCount, -1));
  ASSERT_EQ(api().cuMemcpyDtoA(first, 400, memory, 800), 0);
  expected = values;
  std::fill(expected.begin() + 100, expected.begin() + 300, -1.0f);
  ASSERT_EQ(api().cuMemcpyAtoH(back.data(), first, 0, kBytes), 0);
  EXPECT_EQ(back, expected);
  TestStream stream;
  ASSERT_EQ(api().cuMemcpyHtoAAsync(second, 0, expected.data(), kBytes, stream), 0);
  std::fill(back.begin(), back.end(), 0.0f);
  ASSERT_EQ(api().cuMemcpyAtoHAsync(back.data(), second, 0, kBytes, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(back, expected);
  EXPECT_EQ(api().cuMemcpyHtoA(first, kBytes, values.data(), 4), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuArrayDestroy(first), 0);
  EXPECT_EQ(api().cuArrayDestroy(second), 0);
}

TEST_F(Array, Mipmaps) {
  CUDA_ARRAY3D_DESCRIPTOR shape{64, 20, 0, kFloat, 1, 0};
  CUmipmappedArray pyramid = nullptr;
  ASSERT_EQ(api().cuMipmappedArrayCreate(&pyramid, &shape, 5), 0);
  const std::size_t widths[] = {64, 32, 16, 8, 4}, heights[] = {20, 10, 5, 2, 1};
  for (unsigned level = 0; level < 5; ++level) {
    CUarray array = nullptr;
    ASSERT_EQ(api().cuMipmappedArrayGetLevel(&array, pyramid, level), 0);
    CUDA_ARRAY3D_DESCRIPTOR now{};
    ASSERT_EQ(api().cuArray3DGetDescriptor(&now, array), 0);
    EXPECT_EQ(now.Width, widths[level]);
    EXPECT_EQ(now.Height, heights[level]);
  }
  CUarray array = nullptr;
  EXPECT_EQ(api().cuMipmappedArrayGetLevel(&array, pyramid, 5), cuda::CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  CUresult result = api().cuMipmappedArrayGetMemoryRequirements(&needs, pyramid, 0);
  if (result == 0) {
    EXPECT_GE(needs.size, 64u * 20 * 4);
  }
  EXPECT_EQ(api().cuMipmappedArrayDestroy(pyramid), 0);
}

}  // namespace
}  // namespace td::test
