// Copies and fills of two and three dimensions, with every combination of host, device, unified and
// array memory, against a copy that the host does byte by byte.
#include <deque>
#include <numeric>

#include "support.h"

namespace td::test {
namespace {

// A block of memory of one kind: rows x columns x planes of bytes with a pitch.
struct Box {
  unsigned type = cuda::MEMORYTYPE_HOST;
  std::size_t pitch = 0, height = 0, depth = 0;
  std::vector<unsigned char> host;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  std::size_t bytes() const { return pitch * height * depth; }
};

class Pitched : public DriverTest {
 protected:
  void TearDown() override {
    for (Box& box : boxes_) {
      if (box.device) {
        EXPECT_EQ(api().cuMemFree(box.device), 0);
      }
      if (box.array) {
        EXPECT_EQ(api().cuArrayDestroy(box.array), 0);
      }
    }
    boxes_.clear();
  }

  // Filled with a pattern that `seed` starts.
  Box& make(unsigned type, std::size_t pitch, std::size_t height, std::size_t depth, int seed) {
    Box& box = boxes_.emplace_back();
    box.type = type;
    box.pitch = pitch;
    box.height = height;
    box.depth = depth;
    box.host.resize(box.bytes());
    for (std::size_t i = 0; i < box.host.size(); ++i)
      box.host[i] = static_cast<unsigned char>(i * 7 + i / 251 + seed);
    if (type == cuda::MEMORYTYPE_DEVICE || type == cuda::MEMORYTYPE_UNIFIED) {
      EXPECT_EQ(api().cuMemAlloc(&box.device, box.bytes()), 0);
      EXPECT_EQ(api().cuMemcpyHtoD(box.device, box.host.data(), box.bytes()), 0);
    } else if (type == cuda::MEMORYTYPE_ARRAY) {
      CUDA_ARRAY3D_DESCRIPTOR shape{
          pitch, height, depth > 1 ? depth : 0, cuda::FORMAT_UNSIGNED_INT8, 1, 0};
      EXPECT_EQ(api().cuArray3DCreate(&box.array, &shape), 0);
      CUDA_MEMCPY3D fill{};
      fill.srcMemoryType = cuda::MEMORYTYPE_HOST;
      fill.srcHost = box.host.data();
      fill.srcPitch = pitch;
      fill.srcHeight = height;
      fill.dstMemoryType = cuda::MEMORYTYPE_ARRAY;
      fill.dstArray = box.array;
      fill.WidthInBytes = pitch;
      fill.Height = height;
      fill.Depth = depth;
      EXPECT_EQ(api().cuMemcpy3D(&fill), 0);
    }
    return box;
  }

  std::vector<unsigned char> now(Box& box) {
    if (box.type == cuda::MEMORYTYPE_HOST) return box.host;
    if (box.device) return read<unsigned char>(box.device, box.bytes());
    std::vector<unsigned char> out(box.bytes());
    CUDA_MEMCPY3D get{};
    get.srcMemoryType = cuda::MEMORYTYPE_ARRAY;
    get.srcArray = box.array;
    get.dstMemoryType = cuda::MEMORYTYPE_HOST;
    get.dstHost = out.data();
    get.dstPitch = box.pitch;
    get.dstHeight = box.height;
    get.WidthInBytes = box.pitch;
    get.Height = box.height;
    get.Depth = box.depth;
    EXPECT_EQ(api().cuMemcpy3D(&get), 0);
    return out;
  }

  static CUDA_MEMCPY3D between(Box& from, Box& to) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = from.type;
    copy.srcHost = from.host.data();
    copy.srcDevice = from.device;
    copy.srcArray = from.array;
    copy.srcPitch = from.pitch;
    copy.srcHeight = from.height;
    copy.dstMemoryType = to.type;
    copy.dstHost = to.host.data();
    copy.dstDevice = to.device;
    copy.dstArray = to.array;
    copy.dstPitch = to.pitch;
    copy.dstHeight = to.height;
    return copy;
  }

  // The same on the host.
  static void expect(std::vector<unsigned char>& to, const Box& to_box,
                     const std::vector<unsigned char>& from, const Box& from_box,
                     const CUDA_MEMCPY3D& c) {
    for (std::size_t z = 0; z < c.Depth; ++z)
      for (std::size_t y = 0; y < c.Height; ++y)
        for (std::size_t x = 0; x < c.WidthInBytes; ++x)
          to[((c.dstZ + z) * to_box.height + c.dstY + y) * to_box.pitch + c.dstXInBytes + x] =
              from[((c.srcZ + z) * from_box.height + c.srcY + y) * from_box.pitch + c.srcXInBytes +
                   x];
  }

  std::deque<Box> boxes_;
};

constexpr unsigned kTypes[] = {cuda::MEMORYTYPE_HOST, cuda::MEMORYTYPE_DEVICE,
                               cuda::MEMORYTYPE_ARRAY, cuda::MEMORYTYPE_UNIFIED};

TEST_F(Pitched, ThreeDimensionsOfEveryKind) {
  for (unsigned from_type : kTypes) {
    for (unsigned to_type : kTypes) {
      SCOPED_TRACE(testing::Message() << from_type << " to " << to_type);
      Box& from = make(from_type, 96, 9, 5, 1);
      Box& to = make(to_type, 64, 12, 6, 100);
      CUDA_MEMCPY3D copy = between(from, to);
      copy.srcXInBytes = 13;
      copy.srcY = 2;
      copy.srcZ = 1;
      copy.dstXInBytes = 5;
      copy.dstY = 4;
      copy.dstZ = 2;
      copy.WidthInBytes = 50;
      copy.Height = 7;
      copy.Depth = 3;
      auto expected = now(to);
      expect(expected, to, now(from), from, copy);
      TestStream stream;
      if (from_type == to_type) {
        ASSERT_EQ(api().cuMemcpy3DAsync(&copy, stream), 0);
        ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
      } else {
        ASSERT_EQ(api().cuMemcpy3D(&copy), 0);
      }
      EXPECT_EQ(now(to), expected);
      TearDown();
    }
  }
}

TEST_F(Pitched, TwoDimensionsOfEveryKind) {
  for (unsigned from_type : kTypes) {
    for (unsigned to_type : kTypes) {
      SCOPED_TRACE(testing::Message() << from_type << " to " << to_type);
      Box& from = make(from_type, 128, 20, 1, 3);
      Box& to = make(to_type, 256, 10, 1, 50);
      CUDA_MEMCPY3D three = between(from, to);
      three.srcXInBytes = 28;
      three.srcY = 11;
      three.dstXInBytes = 100;
      three.WidthInBytes = 100;
      three.Height = 9;
      three.Depth = 1;
      CUDA_MEMCPY2D copy{
          three.srcXInBytes, three.srcY,          three.srcMemoryType, three.srcHost,
          three.srcDevice,   three.srcArray,      three.srcPitch,      three.dstXInBytes,
          three.dstY,        three.dstMemoryType, three.dstHost,       three.dstDevice,
          three.dstArray,    three.dstPitch,      three.WidthInBytes,  three.Height};
      auto expected = now(to);
      expect(expected, to, now(from), from, three);
      if (from_type == cuda::MEMORYTYPE_ARRAY) {
        ASSERT_EQ(api().cuMemcpy2DUnaligned(&copy), 0);
      } else if (to_type == cuda::MEMORYTYPE_DEVICE) {
        TestStream stream;
        ASSERT_EQ(api().cuMemcpy2DAsync(&copy, stream), 0);
        ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
      } else {
        ASSERT_EQ(api().cuMemcpy2D(&copy), 0);
      }
      EXPECT_EQ(now(to), expected);
      TearDown();
    }
  }
}

TEST_F(Pitched, LargeCopiesAreWhole) {
  constexpr std::size_t kRows = 3001, kPitch = 1536, kWidth = 1500;
  Box& from = make(cuda::MEMORYTYPE_HOST, kPitch, kRows, 1, 9);
  Box& to = make(cuda::MEMORYTYPE_DEVICE, kPitch, kRows, 1, 77);
  CUDA_MEMCPY3D copy = between(from, to);
  copy.WidthInBytes = kWidth;
  copy.Height = kRows;
  copy.Depth = 1;
  auto expected = now(to);
  expect(expected, to, now(from), from, copy);
  ASSERT_EQ(api().cuMemcpy3D(&copy), 0);
  EXPECT_EQ(now(to), expected);
}

TEST_F(Pitched, RefusedCopies) {
  Box& host = make(cuda::MEMORYTYPE_HOST, 64, 8, 1, 0);
  Box& memory = make(cuda::MEMORYTYPE_DEVICE, 64, 8, 1, 0);
  Box& array = make(cuda::MEMORYTYPE_ARRAY, 64, 8, 1, 0);
  auto refused = [&](Box& from, Box& to, auto change) {
    CUDA_MEMCPY3D copy = between(from, to);
    copy.WidthInBytes = 64;
    copy.Height = 8;
    copy.Depth = 1;
    change(copy);
    return api().cuMemcpy3D(&copy);
  };
  EXPECT_EQ(refused(host, memory, [](CUDA_MEMCPY3D&) {}), cuda::CUDA_SUCCESS);
  EXPECT_EQ(refused(host, memory, [](CUDA_MEMCPY3D& c) { c.srcPitch = 32; }),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(host, memory, [](CUDA_MEMCPY3D& c) { c.dstXInBytes = 1; }),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(host, memory, [](CUDA_MEMCPY3D& c) { c.srcMemoryType = 9; }),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(host, array, [](CUDA_MEMCPY3D& c) { c.dstY = 1; }),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(host, array, [](CUDA_MEMCPY3D& c) { c.dstXInBytes = 1; }),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused(host, memory, [](CUDA_MEMCPY3D& c) { c.WidthInBytes = 0; }),
            cuda::CUDA_SUCCESS);
}

TEST_F(Pitched, AllocatedPitch) {
  for (std::size_t width : {1, 100, 512, 513, 5000}) {
    CUdeviceptr memory = 0;
    std::size_t pitch = 0;
    ASSERT_EQ(api().cuMemAllocPitch(&memory, &pitch, width, 7, 4), 0);
    EXPECT_GE(pitch, width);
    EXPECT_EQ(pitch % 32, 0u);
    EXPECT_EQ(api().cuMemsetD2D8(memory, pitch, 3, width, 7), 0);
    EXPECT_EQ(api().cuMemFree(memory), 0);
  }
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  EXPECT_EQ(api().cuMemAllocPitch(&memory, &pitch, 0, 7, 4), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemAllocPitch(&memory, &pitch, 7, 7, 3), cuda::CUDA_ERROR_INVALID_VALUE);
}

// Fills of one and two dimensions, all widths of element, synchronous and not.
template <class T, class Fill>
void check_fill(std::size_t width, std::size_t height, std::size_t pitch, const Fill& fill) {
  std::vector<unsigned char> before(pitch * height + 64, 0xee);
  Buffer memory(before.size());
  write(memory, before);
  T value = static_cast<T>(0x81a2b3c4);
  CUdeviceptr address = memory;
  ASSERT_EQ(fill(address, pitch, value, width, height), 0);
  ASSERT_EQ(api().cuCtxSynchronize(), 0);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      std::memcpy(before.data() + y * pitch + x * sizeof(T), &value, sizeof value);
  EXPECT_EQ(read<unsigned char>(memory, before.size()), before);
}

TEST_F(Pitched, Fills) {
  using Size = std::size_t;
  TestStream stream;
  CUstream s = stream;
  check_fill<std::uint8_t>(33, 9, 48, [](auto... a) { return api().cuMemsetD2D8(a...); });
  check_fill<std::uint16_t>(33, 9, 80, [](auto... a) { return api().cuMemsetD2D16(a...); });
  check_fill<std::uint32_t>(33, 9, 160, [](auto... a) { return api().cuMemsetD2D32(a...); });
  check_fill<std::uint8_t>(48, 9, 48, [&](auto... a) { return api().cuMemsetD2D8Async(a..., s); });
  check_fill<std::uint16_t>(7, 2000, 80,
                            [&](auto... a) { return api().cuMemsetD2D16Async(a..., s); });
  check_fill<std::uint32_t>(1, 9, 160,
                            [&](auto... a) { return api().cuMemsetD2D32Async(a..., s); });
  auto row = [&](CUdeviceptr to, Size, std::uint16_t value, Size width, Size) {
    return api().cuMemsetD16(to, value, width);
  };
  auto row_async = [&](CUdeviceptr to, Size, std::uint16_t value, Size width, Size) {
    return api().cuMemsetD16Async(to, value, width, s);
  };
  check_fill<std::uint16_t>(1000001, 1, 2000002, row);
  check_fill<std::uint16_t>(77, 1, 200, row_async);
  Buffer memory(1024);
  EXPECT_EQ(api().cuMemsetD16(memory + 1, 0, 4), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemsetD2D32(memory, 16, 0, 8, 4), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Pitched, UnifiedCopies) {
  std::vector<int> values(5000), back(5000);
  std::iota(values.begin(), values.end(), 17);
  Buffer memory(20000), second(20000);
  auto number = [](void* at) { return reinterpret_cast<CUdeviceptr>(at); };
  ASSERT_EQ(api().cuMemcpy(memory, number(values.data()), 20000), 0);
  TestStream stream;
  ASSERT_EQ(api().cuMemcpyAsync(second, memory, 20000, stream), 0);
  ASSERT_EQ(api().cuMemcpyAsync(number(back.data()), second, 20000, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(back, values);
}

}  // namespace
}  // namespace td::test
