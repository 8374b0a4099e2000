// Reads and writes of kernels through surface objects, against the bytes of the array: sizes of
// access, boundary modes, dimensions, layers.
#include <array>
#include <cstring>

#include "child.h"
#include "support.h"

namespace td::test {
namespace {

using namespace cuda;

constexpr int kZero = 0, kClamp = 1, kTrap = 2;

struct Box {
  int row, height, depth;  // row in bytes
};
struct At {
  int x, y, z, unused = 0;
};
using Bytes = std::array<unsigned char, 16>;

struct Kind {
  const char* name;
  const char* coordinates;
  CUDA_ARRAY3D_DESCRIPTOR shape;
  bool layered;
};
const Kind kKinds[] = {
    {"surf1D", "p.x", {12, 0, 0, FORMAT_FLOAT, 1, ARRAY_SURFACE_LDST}, false},
    {"surf2D", "p.x, p.y", {12, 5, 0, FORMAT_FLOAT, 1, ARRAY_SURFACE_LDST}, false},
    {"surf3D", "p.x, p.y, p.z", {12, 5, 3, FORMAT_FLOAT, 1, ARRAY_SURFACE_LDST}, false},
    {"surf1DLayered",
     "p.x, p.z",
     {12, 0, 3, FORMAT_FLOAT, 1, ARRAY_SURFACE_LDST | ARRAY_LAYERED},
     true},
    {"surf2DLayered",
     "p.x, p.y, p.z",
     {12, 5, 3, FORMAT_FLOAT, 1, ARRAY_SURFACE_LDST | ARRAY_LAYERED},
     true},
    {"surfCubemap",
     "p.x, p.y, p.z",
     {8, 8, 6, FORMAT_FLOAT, 1, ARRAY_SURFACE_LDST | ARRAY_CUBEMAP},
     true},
};
struct Type {
  const char* name;
  int size;
};
const Type kTypes[] = {{"unsigned char", 1}, {"short1", 2}, {"uchar4", 4},
                       {"float", 4},         {"int2", 8},   {"unsigned long long", 8},
                       {"float4", 16}};

// Kernels read0, write0, read1 ... for kTypes.
std::string source_of(const Kind& kind) {
  std::string source;
  const std::string head =
      "(unsigned long long s, const int4* at, T* values, int n, int mode) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  int4 p = at[i];\n"
      "  auto bound = (cudaSurfaceBoundaryMode)mode;\n";
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    const std::string number = std::to_string(i), type = kTypes[i].name;
    const std::string place = std::string("s, ") + kind.coordinates + ", ";
    auto kernel = [&](const std::string& name, const std::string& body) {
      std::string typed = head;
      typed.replace(typed.find("T*"), 1, type);
      source += "extern \"C\" __global__ void " + name + number + typed + body + "}\n";
    };
    auto by_mode = [&](const std::string& before, const std::string& after) {
      std::string body;
      for (const char* mode : {"Zero", "Clamp", "Trap"})
        body += std::string("  if (bound == cudaBoundaryMode") + mode + ") " + before + place +
                "cudaBoundaryMode" + mode + after + ";\n";
      return body;
    };
    kernel("read", by_mode(std::string("values[i] = ") + kind.name + "read<" + type + ">(", ")"));
    kernel("write", by_mode(std::string(kind.name) + "write(values[i], ", ")"));
  }
  return source;
}

class Surface : public DriverTest {
 protected:
  void TearDown() override {
    if (object_) {
      EXPECT_EQ(api().cuSurfObjectDestroy(object_), 0);
    }
    if (array_) {
      EXPECT_EQ(api().cuArrayDestroy(array_), 0);
    }
  }
  // Bytes that differ: i % 251.
  void make(const CUDA_ARRAY3D_DESCRIPTOR& shape, int texel) {
    TearDown();
    box_ = {static_cast<int>(shape.Width) * texel, std::max(static_cast<int>(shape.Height), 1),
            std::max(static_cast<int>(shape.Depth), 1)};
    ASSERT_EQ(api().cuArray3DCreate(&array_, &shape), 0);
    image_.resize(static_cast<std::size_t>(box_.row * box_.height * box_.depth));
    for (std::size_t i = 0; i < image_.size(); ++i) image_[i] = static_cast<unsigned char>(i % 251);
    copy(true, image_);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = RESOURCE_ARRAY;
    resource.res.array.hArray = array_;
    ASSERT_EQ(api().cuSurfObjectCreate(&object_, &resource), 0);
  }
  void copy(bool to_array, std::vector<unsigned char>& bytes) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = to_array ? 1 : 3;
    copy.dstMemoryType = to_array ? 3 : 1;
    (to_array ? copy.dstArray : copy.srcArray) = array_;
    copy.srcHost = bytes.data();
    copy.dstHost = bytes.data();
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = static_cast<std::size_t>(box_.row);
    copy.srcHeight = copy.dstHeight = copy.Height = static_cast<std::size_t>(box_.height);
    copy.Depth = static_cast<std::size_t>(box_.depth);
    ASSERT_EQ(api().cuMemcpy3D(&copy), 0);
  }

  // Where an access of `size` bytes ends up; -1: nowhere.
  int find(const At& at, int size, int mode, bool layered) const {
    int x = at.x, y = at.y, z = at.z;
    bool inside =
        x >= 0 && x + size <= box_.row && y >= 0 && y < box_.height && z >= 0 && z < box_.depth;
    if (!inside) {
      if (mode != kClamp) return -1;
      x = std::min(std::max(x, 0), (box_.row - size) / size * size);
      y = std::min(std::max(y, 0), box_.height - 1);
      z = z < 0 && layered ? box_.depth - 1 : std::min(std::max(z, 0), box_.depth - 1);
    }
    return (z * box_.height + y) * box_.row + x;
  }
  std::vector<At> places(int size) const {
    std::vector<At> all;
    for (int z = box_.depth > 1 ? -2 : 0; z < (box_.depth > 1 ? box_.depth + 2 : 1); ++z)
      for (int y = box_.height > 1 ? -2 : 0; y < (box_.height > 1 ? box_.height + 2 : 1); ++y)
        for (int x = -2 * size; x < box_.row + 2 * size; x += size) all.push_back({x, y, z});
    for (int far : {1 << 20, -(1 << 20)}) all.push_back({far * size, 0, 0});
    return all;
  }

  // One access of each place; `values` are read into, or written from.
  void launch(const Kind& kind, int type, bool reads, int mode, const std::vector<At>& places,
              CUdeviceptr values) {
    const std::string name = (reads ? "read" : "write") + std::to_string(type);
    Buffer at(places.size() * sizeof(At));
    write(at, places);
    CUdeviceptr from = at;
    int n = static_cast<int>(places.size());
    void* arguments[] = {&object_, &from, &values, &n, &mode};
    EXPECT_EQ(api().cuLaunchKernel(function_of(source_of(kind), name.c_str()),
                                   static_cast<unsigned>(n + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr,
                                   arguments, nullptr),
              0);
    EXPECT_EQ(api().cuCtxSynchronize(), 0) << kind.name << " " << name;
  }

  Box box_{};
  CUarray array_ = nullptr;
  CUsurfObject object_ = 0;
  std::vector<unsigned char> image_;
};

TEST_F(Surface, Reads) {
  for (const Kind& kind : kKinds) {
    make(kind.shape, 4);
    for (std::size_t type = 0; type < std::size(kTypes); ++type)
      for (int mode : {kZero, kClamp, kTrap}) {
        const int size = kTypes[type].size;
        auto places = this->places(size);
        if (mode == kTrap)
          std::erase_if(places,
                        [&](const At& at) { return find(at, size, mode, kind.layered) < 0; });
        const auto bytes = static_cast<std::size_t>(size);
        Buffer values(places.size() * bytes);
        launch(kind, static_cast<int>(type), true, mode, places, values);
        auto found = read<unsigned char>(values, places.size() * bytes);
        for (std::size_t i = 0; i < places.size(); ++i) {
          int from = find(places[i], size, mode, kind.layered);
          Bytes wanted{};
          if (from >= 0) std::memcpy(wanted.data(), &image_[static_cast<std::size_t>(from)], bytes);
          ASSERT_EQ(std::memcmp(&found[i * bytes], wanted.data(), bytes), 0)
              << kind.name << " " << kTypes[type].name << ", mode " << mode << " at " << places[i].x
              << ", " << places[i].y << ", " << places[i].z;
        }
      }
  }
}

// Each place is written once; with clamping only one outside, since several writes to one place
// race.
TEST_F(Surface, Writes) {
  for (const Kind& kind : kKinds)
    for (std::size_t type = 0; type < std::size(kTypes); ++type)
      for (int mode : {kZero, kClamp, kTrap}) {
        make(kind.shape, 4);
        const int size = kTypes[type].size;
        auto places = this->places(size);
        if (mode == kTrap)
          std::erase_if(places,
                        [&](const At& at) { return find(at, size, mode, kind.layered) < 0; });
        if (mode == kClamp) places = {{-64 * size, 0, 0}};
        const auto bytes = static_cast<std::size_t>(size);
        std::vector<unsigned char> given(places.size() * bytes);
        for (std::size_t i = 0; i < given.size(); ++i)
          given[i] = static_cast<unsigned char>(i * 7 + 13);
        Buffer values(given.size());
        write(values, given);
        launch(kind, static_cast<int>(type), false, mode, places, values);
        for (std::size_t i = 0; i < places.size(); ++i) {
          int to = find(places[i], size, mode, kind.layered);
          if (to >= 0) std::memcpy(&image_[static_cast<std::size_t>(to)], &given[i * bytes], bytes);
        }
        std::vector<unsigned char> now(image_.size());
        copy(false, now);
        ASSERT_EQ(now, image_) << kind.name << " " << kTypes[type].name << ", mode " << mode;
      }
}

// What a kernel writes through a surface, a later one reads through a texture of the same array.
TEST_F(Surface, TexturesSeeWhatSurfacesWrote) {
  make({16, 8, 0, FORMAT_FLOAT, 1, ARRAY_SURFACE_LDST}, 4);
  const char* source = R"(
extern "C" __global__ void paint(unsigned long long s) {
  int x = threadIdx.x, y = threadIdx.y;
  surf2Dwrite(x + 100.0f * y, s, 4 * x, y);
}
extern "C" __global__ void look(unsigned long long t, float* out) {
  int x = threadIdx.x, y = threadIdx.y;
  out[y * 16 + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
})";
  CUDA_RESOURCE_DESC resource{};
  resource.resType = RESOURCE_ARRAY;
  resource.res.array.hArray = array_;
  CUDA_TEXTURE_DESC modes{};
  CUtexObject texture = 0;
  ASSERT_EQ(api().cuTexObjectCreate(&texture, &resource, &modes, nullptr), 0);
  Buffer out(16 * 8 * 4);
  CUdeviceptr to = out;
  void* paint[] = {&object_};
  void* look[] = {&texture, &to};
  ASSERT_EQ(api().cuLaunchKernel(function_of(source, "paint"), 1, 1, 1, 16, 8, 1, 0, nullptr, paint,
                                 nullptr),
            0);
  ASSERT_EQ(api().cuLaunchKernel(function_of(source, "look"), 1, 1, 1, 16, 8, 1, 0, nullptr, look,
                                 nullptr),
            0);
  ASSERT_EQ(api().cuCtxSynchronize(), 0);
  auto found = read<float>(out, 16 * 8);
  for (int i = 0; i < 16 * 8; ++i)
    EXPECT_EQ(found[static_cast<std::size_t>(i)], i % 16 + 100.0f * (i / 16));
  EXPECT_EQ(api().cuTexObjectDestroy(texture), 0);
}

// ---- faults, each in a process of its own

class SurfaceFault : public Surface {
 protected:
  void TearDown() override {}
  CUresult read_at(CUsurfObject object, int x, const char* mode) {
    const std::string source =
        std::string(
            "extern \"C\" __global__ void one(unsigned long long s, int x, float* out) {\n"
            "  *out = surf2Dread<float>(s, x, 0, ") +
        mode + ");\n}\n";
    CUdeviceptr to = 0;  // dies with the context
    EXPECT_EQ(api().cuMemAlloc(&to, 4), 0);
    void* arguments[] = {&object, &x, &to};
    EXPECT_EQ(api().cuLaunchKernel(function_of(source, "one"), 1, 1, 1, 1, 1, 1, 0, nullptr,
                                   arguments, nullptr),
              0);
    return api().cuCtxSynchronize();
  }
};

TEST_F(SurfaceFault, DISABLED_Outside) {
  make({8, 8, 0, FORMAT_FLOAT, 1, ARRAY_SURFACE_LDST}, 4);
  EXPECT_EQ(read_at(object_, 32, "cudaBoundaryModeTrap"), CUDA_ERROR_ILLEGAL_ADDRESS);
}
TEST_F(SurfaceFault, DISABLED_Misaligned) {
  make({8, 8, 0, FORMAT_FLOAT, 1, ARRAY_SURFACE_LDST}, 4);
  EXPECT_EQ(read_at(object_, 1, "cudaBoundaryModeClamp"), CUDA_ERROR_MISALIGNED_ADDRESS);
}
TEST_F(SurfaceFault, DISABLED_WildHandle) {
  EXPECT_EQ(read_at(0x123456789abcull, 0, "cudaBoundaryModeClamp"), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(SurfaceFaults, AreErrors) {
  for (const char* test : {"Outside", "Misaligned", "WildHandle"}) {
    ChildResult result = run_child(std::string("SurfaceFault.DISABLED_") + test);
    EXPECT_EQ(result.status, 0) << result.output;
  }
}

}  // namespace
}  // namespace td::test
