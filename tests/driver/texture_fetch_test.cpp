// What kernels read through texture objects, to the bit, against texture_oracle.h: the same values
// on an NVIDIA GPU and on the software device.
#include <bit>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "child.h"
#include "support.h"
#include "texture_oracle.h"

namespace td::test {
namespace {

using namespace cuda;

struct Point {
  float x = 0, y = 0, z = 0, w = 0;
};

constexpr unsigned kModes[] = {ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER};
constexpr unsigned kFractions[] = {FORMAT_UNSIGNED_INT8, FORMAT_SIGNED_INT8, FORMAT_UNSIGNED_INT16,
                                   FORMAT_SIGNED_INT16};

void upload(CUarray array, const Image& image) {
  auto row = static_cast<std::size_t>(image.width * image.channels * image.channel_bytes());
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = 1;
  copy.srcHost = image.data.data();
  copy.srcPitch = row;
  copy.srcHeight = static_cast<std::size_t>(std::max(image.height, 1));
  copy.dstMemoryType = 3;
  copy.dstArray = array;
  copy.WidthInBytes = row;
  copy.Height = copy.srcHeight;
  copy.Depth = static_cast<std::size_t>(std::max(image.depth, 1));
  ASSERT_EQ(api().cuMemcpy3D(&copy), 0);
}

CUDA_TEXTURE_DESC modes_of(const Sampler& sampler) {
  CUDA_TEXTURE_DESC texture{};
  std::copy(std::begin(sampler.mode), std::end(sampler.mode), texture.addressMode);
  texture.filterMode = sampler.linear ? FILTER_LINEAR : FILTER_POINT;
  texture.flags = (sampler.fractions ? 0 : static_cast<unsigned>(TEXTURE_READ_AS_INTEGER)) |
                  (sampler.normalized_coordinates ? TEXTURE_NORMALIZED_COORDINATES : 0u);
  return texture;
}

class Texels : public DriverTest {
 protected:
  void TearDown() override {
    for (CUtexObject object : objects_) EXPECT_EQ(api().cuTexObjectDestroy(object), 0);
    for (CUarray array : arrays_) EXPECT_EQ(api().cuArrayDestroy(array), 0);
  }

  CUarray array_of(const Image& image, unsigned flags = 0) {
    CUDA_ARRAY3D_DESCRIPTOR shape{
        static_cast<std::size_t>(image.width), static_cast<std::size_t>(image.height),
        static_cast<std::size_t>(image.depth), image.format,
        static_cast<unsigned>(image.channels), flags};
    CUarray array = nullptr;
    EXPECT_EQ(api().cuArray3DCreate(&array, &shape), 0);
    arrays_.push_back(array);
    upload(array, image);
    return array;
  }
  CUtexObject texture_of(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture) {
    CUtexObject object = 0;
    EXPECT_EQ(api().cuTexObjectCreate(&object, &resource, &texture, nullptr), 0);
    objects_.push_back(object);
    return object;
  }
  CUtexObject texture_of(CUarray array, const CUDA_TEXTURE_DESC& texture) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = RESOURCE_ARRAY;
    resource.res.array.hArray = array;
    return texture_of(resource, texture);
  }

  // `fetch`: an expression of p (float4) and t, a float4 or int4.
  std::vector<Texel> run(const std::string& fetch, CUtexObject object,
                         const std::vector<Point>& points) {
    const std::string type = fetch.find("int4") == std::string::npos ? "float4" : "int4";
    const std::string source =
        "extern \"C\" __global__ void fetch(unsigned long long t, const float4* at, " + type +
        "* out, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) { float4 p = at[i]; out[i] = " +
        fetch + "; }\n}\n";
    Buffer at(points.size() * sizeof(Point)), out(points.size() * sizeof(Texel));
    write(at, points);
    CUdeviceptr from = at, to = out;
    int n = static_cast<int>(points.size());
    void* arguments[] = {&object, &from, &to, &n};
    constexpr unsigned kBlock = 96;
    EXPECT_EQ(api().cuLaunchKernel(function_of(source, "fetch"),
                                   (static_cast<unsigned>(n) + kBlock - 1) / kBlock, 1, 1, kBlock,
                                   1, 1, 0, nullptr, arguments, nullptr),
              0);
    EXPECT_EQ(api().cuCtxSynchronize(), 0);
    return read<Texel>(out, points.size());
  }

  template <class Expected>
  void compare(const std::string& what, const std::vector<Texel>& found,
               const std::vector<Point>& points, bool floats, Expected expected) {
    int wrong = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Texel wanted = expected(points[i]);
      if (same(found[i], wanted, floats)) continue;
      if (++wrong > 3) continue;
      const Point& p = points[i];
      ADD_FAILURE() << what << " at (" << p.x << ", " << p.y << ", " << p.z << ", " << p.w
                    << "): " << std::hexfloat << std::bit_cast<float>(found[i][0]) << " instead of "
                    << std::bit_cast<float>(wanted[0]);
    }
    EXPECT_EQ(wrong, 0) << what;
  }

  std::vector<CUarray> arrays_;
  std::vector<CUtexObject> objects_;
};

std::string fetch_of(int dimensions, bool floats) {
  const char* arguments[] = {"p.x", "p.x, p.y", "p.x, p.y, p.z"};
  return "tex" + std::to_string(dimensions) + "D<" + (floats ? "float4" : "int4") + ">(t, " +
         arguments[dimensions - 1] + ")";
}

std::string text_of(const Image& image, const Sampler& sampler) {
  return "format " + std::to_string(image.format) + ", " + std::to_string(image.channels) +
         " channels, " + std::to_string(image.width) + " x " + std::to_string(image.height) +
         " x " + std::to_string(image.depth) + ", mode " + std::to_string(sampler.mode[0]) +
         (sampler.linear ? ", linear" : ", point") +
         (sampler.normalized_coordinates ? ", normalized" : "");
}

// Texel borders and centres, their neighbours, what is no number, and the far outside.
std::vector<Point> line_points(int width, bool normalized) {
  std::vector<Point> points;
  const float unit = normalized ? 1.0f / static_cast<float>(width) : 1;
  for (int i = -2 * width; i <= 3 * width; ++i) {
    for (float half : {0.0f, 0.5f}) {
      float at = (static_cast<float>(i) + half) * unit;
      for (float c : {at, std::nextafter(at, -1e9f), std::nextafter(at, 1e9f)})
        points.push_back({c});
      for (int bit = 2; bit < 22; bit += 3)
        for (int sign : {-1, 1})
          points.push_back({at + static_cast<float>(sign) * std::ldexp(unit, -bit)});
    }
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<float> anywhere(-2.5f, 3.5f);
  for (int i = 0; i < 500; ++i)
    points.push_back({anywhere(random) * (normalized ? 1 : static_cast<float>(width))});
  for (float c : {0.0f, 1e-45f, 1e-40f, 1e-37f, 1e-30f, 1e3f, 12345.678f, 32769.0f, 65535.5f,
                  131071.5f, 1e6f, 3e7f, 16777217.0f, 2147483648.0f, 1e12f, 1e38f, INFINITY, NAN})
    for (float sign : {-1.0f, 1.0f}) points.push_back({sign * c});
  return points;
}

TEST_F(Texels, CoordinatesOfALine) {
  for (int width : {64, 100, 37}) {
    Image image{.width = width};
    image.fill(static_cast<unsigned>(width));
    CUarray array = array_of(image);
    for (bool normalized : {false, true})
      for (unsigned mode : kModes)
        for (bool linear : {false, true}) {
          Sampler sampler{{mode, ADDRESS_CLAMP, ADDRESS_CLAMP}, linear, normalized};
          auto points = line_points(width, normalized);
          auto found = run(fetch_of(1, true), texture_of(array, modes_of(sampler)), points);
          compare(text_of(image, sampler), found, points, true,
                  [&](const Point& p) { return sample(image, sampler, 1, p.x, 0, 0); });
        }
  }
}

TEST_F(Texels, CoordinatesOfLongLines) {
  for (int width : {1000, 8192, 8193, 20001, 65536, 65537, 131072}) {
    Image image{.width = width};
    image.fill(static_cast<unsigned>(width));
    CUarray array = array_of(image);
    std::mt19937 random(3);
    std::uniform_real_distribution<float> anywhere(-1, 2);
    std::vector<Point> points;
    for (int i = 0; i < 3000; ++i) points.push_back({anywhere(random)});
    for (int i = 0; i < 1000; ++i)
      points.push_back({std::nextafter(
          static_cast<float>(random() % static_cast<unsigned>(width)) / static_cast<float>(width),
          i % 2 ? 2.0f : -2.0f)});
    for (bool linear : {false, true}) {
      Sampler sampler{{ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_CLAMP}, linear, true};
      auto found = run(fetch_of(1, true), texture_of(array, modes_of(sampler)), points);
      compare(text_of(image, sampler), found, points, true,
              [&](const Point& p) { return sample(image, sampler, 1, p.x, 0, 0); });
    }
  }
}

std::vector<Point> points_around(const Image& image, bool normalized, unsigned seed, int count) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> anywhere(-1.2f, 2.2f);
  std::vector<Point> points;
  const float size[3] = {static_cast<float>(image.width),
                         static_cast<float>(std::max(image.height, 1)),
                         static_cast<float>(std::max(image.depth, 1))};
  for (int i = 0; i < count; ++i) {
    float at[3];
    for (int axis = 0; axis < 3; ++axis) {
      at[axis] = anywhere(random);
      if (i % 4 == 1) at[axis] = std::round(at[axis] * size[axis] * 2) / 2 / size[axis];
      if (!normalized) at[axis] *= size[axis];
    }
    points.push_back({at[0], at[1], at[2]});
  }
  return points;
}

// The longest side decides how finely all coordinates are cut.
TEST_F(Texels, CoordinatesOfLongPlanes) {
  Image image{.width = 30, .height = 9000};
  image.fill(9);
  CUarray array = array_of(image);
  for (bool linear : {false, true}) {
    Sampler sampler{{ADDRESS_WRAP, ADDRESS_WRAP, ADDRESS_CLAMP}, linear, true};
    auto points = points_around(image, true, 3, 3000);
    auto found = run(fetch_of(2, true), texture_of(array, modes_of(sampler)), points);
    compare(text_of(image, sampler), found, points, true,
            [&](const Point& p) { return sample(image, sampler, 2, p.x, p.y, 0); });
  }
}

// All formats and numbers of channels in one, two and three dimensions, with all modes.
TEST_F(Texels, FormatsAndDimensions) {
  const Image shapes[] = {
      {.width = 53}, {.width = 19, .height = 11}, {.width = 9, .height = 7, .depth = 5}};
  unsigned seed = 1;
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (unsigned format :
         {FORMAT_FLOAT, FORMAT_HALF, FORMAT_UNSIGNED_INT8, FORMAT_SIGNED_INT8,
          FORMAT_UNSIGNED_INT16, FORMAT_SIGNED_INT16, FORMAT_UNSIGNED_INT32, FORMAT_SIGNED_INT32})
      for (int channels : {1, 2, 4}) {
        Image image = shapes[dimensions - 1];
        image.format = format;
        image.channels = channels;
        // Sums of planes that cancel are the one thing known to differ in the last bit.
        image.fill(++seed, dimensions == 3);
        CUarray array = array_of(image);
        const bool floating = format == FORMAT_FLOAT || format == FORMAT_HALF;
        const bool narrow =
            std::find(std::begin(kFractions), std::end(kFractions), format) != std::end(kFractions);
        for (unsigned mode : kModes)
          for (bool normalized : {false, true})
            for (int reading = 0; reading < 3; ++reading) {
              const bool linear = reading == 2, fractions = reading > 0 && narrow;
              if ((linear || reading == 1) && !(floating || narrow)) continue;
              if (floating && reading == 1) continue;
              Sampler sampler{{mode, kModes[(mode + 1) % 4], kModes[(mode + 2) % 4]},
                              linear,
                              normalized,
                              fractions};
              const bool floats = floating || fractions;
              auto points = points_around(image, normalized, seed, 200);
              auto found =
                  run(fetch_of(dimensions, floats), texture_of(array, modes_of(sampler)), points);
              compare(text_of(image, sampler), found, points, floats, [&](const Point& p) {
                return sample(image, sampler, dimensions, p.x, p.y, p.z);
              });
            }
      }
}

// Modes alone, so that no other axis hides what one does.
TEST_F(Texels, VolumesWithOneMode) {
  for (unsigned format : {FORMAT_FLOAT, FORMAT_HALF, FORMAT_UNSIGNED_INT8}) {
    Image image{.format = format, .width = 9, .height = 8, .depth = 7};
    image.fill(format, true);
    CUarray array = array_of(image);
    for (unsigned mode : kModes)
      for (bool normalized : {false, true}) {
        Sampler sampler{{mode, mode, mode}, true, normalized, format == FORMAT_UNSIGNED_INT8};
        auto points = points_around(image, normalized, format + mode, 2000);
        auto found = run(fetch_of(3, true), texture_of(array, modes_of(sampler)), points);
        compare(text_of(image, sampler), found, points, true,
                [&](const Point& p) { return sample(image, sampler, 3, p.x, p.y, p.z); });
      }
  }
}

TEST_F(Texels, Layers) {
  Image lines{.width = 16, .depth = 5}, planes{.width = 16, .height = 9, .depth = 5};
  for (int dimensions : {1, 2}) {
    Image& image = dimensions == 1 ? lines : planes;
    image.fill(11);
    CUarray array = array_of(image, ARRAY_LAYERED);
    for (bool linear : {false, true}) {
      Sampler sampler{{}, linear};
      std::fill(std::begin(sampler.mode), std::end(sampler.mode), ADDRESS_CLAMP);
      auto points = points_around(image, false, 5, 900);
      for (std::size_t i = 0; i < points.size(); ++i)
        points[i].w = static_cast<float>(static_cast<int>(i % 12) - 3);
      auto found = run(dimensions == 1 ? "tex1DLayered<float4>(t, p.x, (int)p.w)"
                                       : "tex2DLayered<float4>(t, p.x, p.y, (int)p.w)",
                       texture_of(array, modes_of(sampler)), points);
      compare(text_of(image, sampler), found, points, true, [&](const Point& p) {
        int layer = p.w < 0 ? 4 : std::min(static_cast<int>(p.w), 4);  // unsigned to the hardware
        return sample(image, sampler, dimensions, p.x, p.y, 0, layer);
      });
    }
  }
}

// Directions well inside of texels: how far the division goes wrong is not said anywhere.
TEST_F(Texels, Cubes) {
  constexpr int kSize = 8, kCubes = 3;
  Image faces{.width = kSize, .height = kSize, .depth = 6 * kCubes};
  faces.fill(17);
  Sampler sampler{{ADDRESS_CLAMP, ADDRESS_CLAMP, ADDRESS_CLAMP}, false, true};
  Image first{.width = kSize, .height = kSize, .depth = 6, .data = faces.data};
  first.data.resize(6 * kSize * kSize * 4);
  CUtexObject one = texture_of(array_of(first, ARRAY_CUBEMAP), modes_of(sampler));
  CUtexObject many = texture_of(array_of(faces, ARRAY_CUBEMAP | ARRAY_LAYERED), modes_of(sampler));
  std::vector<Point> points;
  std::vector<Texel> wanted_one, wanted_many;
  // Axes of s and t on each face, as the programming guide's table has them.
  const float main[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  const float along_s[6][3] = {{0, 0, -1}, {0, 0, 1}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {-1, 0, 0}};
  const float along_t[6][3] = {{0, -1, 0}, {0, -1, 0}, {0, 0, 1},
                               {0, 0, -1}, {0, -1, 0}, {0, -1, 0}};
  for (int face = 0; face < 6; ++face)
    for (int j = 0; j < kSize; ++j)
      for (int i = 0; i < kSize; ++i) {
        const float s = (2 * static_cast<float>(i) + 0.9f) / kSize - 1,
                    t = (2 * static_cast<float>(j) + 1.2f) / kSize - 1;
        float d[3];
        for (int k = 0; k < 3; ++k)
          d[k] = 3.7f * (main[face][k] + s * along_s[face][k] + t * along_t[face][k]);
        const int cube = (i + j) % kCubes;
        points.push_back({d[0], d[1], d[2], static_cast<float>(cube)});
        Sampler by_number;
        const float x = static_cast<float>(i), y = static_cast<float>(j);
        wanted_one.push_back(sample(first, by_number, 2, x, y, 0, face));
        wanted_many.push_back(sample(faces, by_number, 2, x, y, 0, 6 * cube + face));
      }
  EXPECT_EQ(run("texCubemap<float4>(t, p.x, p.y, p.z)", one, points), wanted_one);
  EXPECT_EQ(run("texCubemapLayered<float4>(t, p.x, p.y, p.z, (int)p.w)", many, points),
            wanted_many);
}

TEST_F(Texels, Gather) {
  Image image{.channels = 4, .width = 13, .height = 7};
  image.fill(23);
  CUarray array = array_of(image, ARRAY_TEXTURE_GATHER);
  for (unsigned mode : kModes)
    for (int component = 0; component < 4; ++component) {
      Sampler sampler{{mode, mode, mode}, false, true};
      auto points = points_around(image, true, mode, 600);
      auto found = run("tex2Dgather<float4>(t, p.x, p.y, " + std::to_string(component) + ")",
                       texture_of(array, modes_of(sampler)), points);
      // Each texel of the square that linear filtering would mix, by a fetch at its centre.
      compare(text_of(image, sampler), found, points, true, [&](const Point& p) {
        auto left = [](float c, int size) {
          double cut = std::floor(double{c} * 0x1p21) / 0x1p21 * size;
          return std::floor(std::floor(256 * cut - 127.5) / 256);
        };
        double x = left(p.x, image.width), y = left(p.y, image.height);
        const int square[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
        Texel wanted{};
        for (std::size_t k = 0; k < 4; ++k) {
          auto centre = [&](double at, int size) { return static_cast<float>((at + 0.5) / size); };
          wanted[k] = sample(image, sampler, 2, centre(x + square[k][0], image.width),
                             centre(y + square[k][1], image.height),
                             0)[static_cast<std::size_t>(component)];
        }
        return wanted;
      });
    }
}

TEST_F(Texels, LevelsOfDetail) {
  constexpr int kLevels = 5;
  CUDA_ARRAY3D_DESCRIPTOR shape{32, 16, 0, FORMAT_FLOAT, 1, 0};
  CUmipmappedArray pyramid = nullptr;
  ASSERT_EQ(api().cuMipmappedArrayCreate(&pyramid, &shape, kLevels), 0);
  std::vector<Image> levels;
  for (int level = 0; level < kLevels; ++level) {
    levels.push_back({.width = 32 >> level, .height = std::max(16 >> level, 1)});
    levels.back().fill(static_cast<unsigned>(level) + 40, true);
    CUarray array = nullptr;
    ASSERT_EQ(api().cuMipmappedArrayGetLevel(&array, pyramid, static_cast<unsigned>(level)), 0);
    upload(array, levels.back());
  }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = RESOURCE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = pyramid;
  for (bool between : {false, true})
    for (bool linear : {false, true})
      for (float bias : {0.0f, 1.25f}) {
        Sampler sampler{{ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_CLAMP}, linear, true};
        CUDA_TEXTURE_DESC modes = modes_of(sampler);
        modes.mipmapFilterMode = between ? FILTER_LINEAR : FILTER_POINT;
        modes.mipmapLevelBias = bias;
        modes.minMipmapLevelClamp = 0.375f;
        modes.maxMipmapLevelClamp = 3.5f;
        auto points = points_around(levels[0], true, 9, 1500);
        for (std::size_t i = 0; i < points.size(); ++i)
          points[i].w = static_cast<float>(i) / 200 - 1.5f;
        points.back().w = NAN;
        points[0].w = INFINITY;
        points[1].w = -INFINITY;
        CUtexObject object = texture_of(resource, modes);
        auto found = run("tex2DLod<float4>(t, p.x, p.y, p.w)", object, points);
        auto expected = [&](const Point& p) {
          double wanted =
              p.w == p.w ? std::trunc(std::fmin(std::fmax(p.w, -100), 100) * 256.0) + bias * 256
                         : bias * 256;
          int level = static_cast<int>(std::fmin(std::fmax(wanted, 96), 896));
          if (!between) {
            return sample(levels[static_cast<std::size_t>(level + 128) / 256], sampler, 2, p.x, p.y,
                          0);
          }
          auto first = static_cast<std::size_t>(level / 256);
          if (level % 256 == 0) return sample(levels[first], sampler, 2, p.x, p.y, 0);
          return sample_between(levels[first], levels[first + 1], level % 256, sampler, 2, p.x, p.y,
                                0);
        };
        compare(text_of(levels[0], sampler) + (between ? ", between levels" : ""), found, points,
                true, expected);
        Point finest = points[7];
        finest.w = -INFINITY;
        EXPECT_TRUE(same(run("tex2D<float4>(t, p.x, p.y)", object, {points[7]})[0],
                         expected(finest), true));
      }
  for (CUtexObject object : objects_) EXPECT_EQ(api().cuTexObjectDestroy(object), 0);
  objects_.clear();
  EXPECT_EQ(api().cuMipmappedArrayDestroy(pyramid), 0);
}

TEST_F(Texels, LevelsOfVolumes) {
  CUDA_ARRAY3D_DESCRIPTOR shape{12, 10, 8, FORMAT_FLOAT, 1, 0};
  CUmipmappedArray pyramid = nullptr;
  ASSERT_EQ(api().cuMipmappedArrayCreate(&pyramid, &shape, 2), 0);
  Image levels[2] = {{.width = 12, .height = 10, .depth = 8},
                     {.width = 6, .height = 5, .depth = 4}};
  for (unsigned level = 0; level < 2; ++level) {
    levels[level].fill(level + 70, true);
    CUarray array = nullptr;
    ASSERT_EQ(api().cuMipmappedArrayGetLevel(&array, pyramid, level), 0);
    upload(array, levels[level]);
  }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = RESOURCE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = pyramid;
  Sampler sampler{{ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR}, true, true};
  CUDA_TEXTURE_DESC modes = modes_of(sampler);
  modes.mipmapFilterMode = FILTER_LINEAR;
  modes.maxMipmapLevelClamp = 1;
  auto points = points_around(levels[0], true, 77, 2000);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].w = static_cast<float>(i % 256) / 256;
  auto found = run("tex3DLod<float4>(t, p.x, p.y, p.z, p.w)", texture_of(resource, modes), points);
  compare("volumes between levels", found, points, true, [&](const Point& p) {
    return sample_between(levels[0], levels[1], static_cast<int>(256 * p.w), sampler, 3, p.x, p.y,
                          p.z);
  });
  EXPECT_EQ(api().cuTexObjectDestroy(objects_.back()), 0);
  objects_.clear();
  EXPECT_EQ(api().cuMipmappedArrayDestroy(pyramid), 0);
}

// Gradients of one texel a step read the finest level, of two texels the next one.
TEST_F(Texels, Gradients) {
  CUDA_ARRAY3D_DESCRIPTOR shape{64, 64, 0, FORMAT_FLOAT, 1, 0};
  CUmipmappedArray pyramid = nullptr;
  ASSERT_EQ(api().cuMipmappedArrayCreate(&pyramid, &shape, 7), 0);
  for (unsigned level = 0; level < 7; ++level) {
    Image flat{.width = 64 >> level, .height = 64 >> level};
    flat.fill(1);
    for (std::size_t i = 0; i < flat.data.size(); i += 4) {
      auto value = static_cast<float>(level);
      std::memcpy(&flat.data[i], &value, 4);
    }
    CUarray array = nullptr;
    ASSERT_EQ(api().cuMipmappedArrayGetLevel(&array, pyramid, level), 0);
    upload(array, flat);
  }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = RESOURCE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = pyramid;
  CUDA_TEXTURE_DESC modes = modes_of({{}, true, true});
  modes.mipmapFilterMode = FILTER_LINEAR;
  modes.maxMipmapLevelClamp = 6;
  std::vector<Point> points;
  for (int i = 0; i < 7; ++i) points.push_back({0.4f, 0.4f, std::ldexp(1.0f, i) / 64});
  auto found =
      run("tex2DGrad<float4>(t, p.x, p.y, make_float2(p.z, 0), make_float2(0, 0.5f * p.z))",
          texture_of(resource, modes), points);
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(std::bit_cast<float>(found[static_cast<std::size_t>(i)][0]), static_cast<float>(i));
  EXPECT_EQ(api().cuTexObjectDestroy(objects_.back()), 0);
  objects_.clear();
  EXPECT_EQ(api().cuMipmappedArrayDestroy(pyramid), 0);
}

TEST_F(Texels, BorderColors) {
  struct Row {
    unsigned format;
    bool fractions;
    float color;
    std::uint32_t expected;
  };
  auto word = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  const Row rows[] = {
      {FORMAT_FLOAT, false, -2.5f, word(-2.5f)},
      {FORMAT_HALF, false, 0.1f, word(0.0999755859375f)},
      {FORMAT_HALF, false, 70000, word(65504)},
      {FORMAT_UNSIGNED_INT8, true, 1, word(1)},
      {FORMAT_UNSIGNED_INT8, true, 0.25f, word(64 / 255.0f)},
      {FORMAT_UNSIGNED_INT8, true, -3, word(0)},
      {FORMAT_SIGNED_INT8, true, 0.25f, word(32 / 127.0f)},
      {FORMAT_SIGNED_INT8, true, -7, word(-1)},
      {FORMAT_UNSIGNED_INT16, true, 0.5f, word(32767 / 65535.0f)},
      {FORMAT_SIGNED_INT16, true, 0.25f, word(8192 / 32767.0f)},
      {FORMAT_UNSIGNED_INT32, false, 1, word(1)},  // the bits
      {FORMAT_UNSIGNED_INT8, false, 0.1f, 0xcd},   // the low ones
  };
  for (const Row& row : rows) {
    Image image{.format = row.format, .width = 4, .height = 4};
    image.fill(3);
    CUDA_TEXTURE_DESC modes =
        modes_of({{ADDRESS_BORDER, ADDRESS_BORDER, ADDRESS_BORDER}, false, false, row.fractions});
    modes.borderColor[0] = row.color;
    const bool floats = row.fractions || row.format == FORMAT_FLOAT || row.format == FORMAT_HALF;
    auto found = run(fetch_of(2, floats), texture_of(array_of(image), modes), {{-1, 2}, {2, 4.5f}});
    EXPECT_EQ(found[0][0], row.expected) << row.format << " " << row.color;
    EXPECT_EQ(found[1][0], row.expected) << row.format << " " << row.color;
  }
}

TEST_F(Texels, SrgbIsMadeLinear) {
  Image image{.format = FORMAT_UNSIGNED_INT8, .channels = 4, .width = 256};
  for (int i = 0; i < 1024; ++i) image.data.push_back(static_cast<unsigned char>(i / 4));
  CUDA_TEXTURE_DESC modes = modes_of({{}, false, false, true});
  modes.flags |= TEXTURE_SRGB;
  std::vector<Point> points;
  for (int i = 0; i < 256; ++i) points.push_back({static_cast<float>(i) + 0.5f});
  auto found = run(fetch_of(1, true), texture_of(array_of(image), modes), points);
  for (std::size_t i = 0; i < 256; ++i) {
    const double s = static_cast<double>(i) / 255;
    const double linear = s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(std::bit_cast<float>(found[i][c]), linear, std::max(linear / 256, 0x1p-14)) << i;
    EXPECT_EQ(std::bit_cast<float>(found[i][3]), static_cast<float>(i) / 255) << "alpha is linear";
  }
}

TEST_F(Texels, PitchedMemory) {
  Image image{.channels = 2, .width = 37, .height = 9};
  image.fill(29);
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  ASSERT_EQ(api().cuMemAllocPitch(&memory, &pitch, 37 * 8, 9, 8), 0);
  for (std::size_t y = 0; y < 9; ++y)
    ASSERT_EQ(api().cuMemcpyHtoD(memory + y * pitch, &image.data[y * 37 * 8], 37 * 8), 0);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = RESOURCE_PITCH2D;
  resource.res.pitch2D = {memory, FORMAT_FLOAT, 2, 37, 9, pitch};
  for (unsigned mode : {ADDRESS_CLAMP, ADDRESS_BORDER})
    for (bool linear : {false, true}) {
      Sampler sampler{{mode, mode, mode}, linear};
      auto points = points_around(image, false, 31, 700);
      auto found = run(fetch_of(2, true), texture_of(resource, modes_of(sampler)), points);
      compare(text_of(image, sampler), found, points, true,
              [&](const Point& p) { return sample(image, sampler, 2, p.x, p.y, 0); });
    }
  EXPECT_EQ(api().cuMemFree(memory), 0);
}

TEST_F(Texels, LinearMemory) {
  Image image{.format = FORMAT_SIGNED_INT16, .channels = 4, .width = 500};
  image.fill(37);
  Buffer memory(4096);
  ASSERT_EQ(api().cuMemcpyHtoD(memory, image.data.data(), image.data.size()), 0);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = RESOURCE_LINEAR;
  resource.res.linear = {memory, FORMAT_SIGNED_INT16, 4, 4000};
  std::vector<Point> points;
  for (int i = -40; i < 540; ++i) points.push_back({static_cast<float>(i)});
  for (float x : {-2e9f, -1e6f, 1e6f, 2e9f}) points.push_back({x});
  Sampler sampler;
  auto found =
      run("tex1Dfetch<int4>(t, (int)p.x)", texture_of(resource, modes_of(sampler)), points);
  compare("linear memory", found, points, false, [&](const Point& p) {
    return p.x < 0 || p.x >= 500 ? Texel{} : sample(image, sampler, 1, p.x, 0, 0);
  });
}

TEST_F(Texels, TypesOfResults) {
  Image image{.format = FORMAT_SIGNED_INT8, .channels = 4, .width = 8, .height = 2};
  image.fill(41);
  CUtexObject object = texture_of(array_of(image), modes_of({}));
  std::vector<Point> points;
  for (int i = 0; i < 16; ++i)
    points.push_back({static_cast<float>(i % 8), static_cast<float>(i / 8)});
  auto wide = run("tex2D<int4>(t, p.x, p.y)", object, points);
  for (const char* fetch :
       {"([&] { char4 v = tex2D<char4>(t, p.x, p.y); return make_int4(v.x, v.y, v.z, v.w); })()",
        "([&] { short4 v; tex2D(&v, t, p.x, p.y); return make_int4(v.x, v.y, v.z, v.w); })()",
        "([&] { bool there; int2 v = tex2D<int2>(t, p.x, p.y, &there); int4 w = tex2DLod<int4>(t, "
        "p.x, p.y, 3.0f);"
        " return make_int4(v.x, there ? v.y : 0, w.z, w.w); })()",
        "([&] { signed char v = tex2D<signed char>(t, p.x, p.y); int4 w = tex2DLayered<int4>(t, "
        "p.x, p.y, 0);"
        " return make_int4(v, w.y, w.z, w.w); })()"})
    EXPECT_EQ(run(fetch, object, points), wide) << fetch;
  auto bytes = run(
      "([&] { uchar4 v = tex2D<uchar4>(t, p.x, p.y); return make_int4(v.x, v.y, v.z, v.w); })()",
      object, points);
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(bytes[i][c], wide[i][c] & 0xff);
}

// Lanes of one warp fetch through different objects, in a branch that some take.
TEST_F(Texels, ObjectsThatDiffer) {
  constexpr int kObjects = 3, kThreads = 200;
  Buffer handles(kObjects * 8), out(kThreads * 4);
  std::vector<Image> images;
  std::vector<CUtexObject> objects;
  for (int i = 0; i < kObjects; ++i) {
    images.push_back({.width = 64});
    images.back().fill(static_cast<unsigned>(i) + 60);
    objects.push_back(texture_of(array_of(images.back()), modes_of({})));
  }
  write(handles, objects);
  const char* source = R"(
extern "C" __global__ void pick(const unsigned long long* t, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = -5;
  if (i % 5 != 2) value = tex1D<float>(t[i % 3], (float)(i % 64));
  out[i] = value;
})";
  CUdeviceptr from = handles, to = out;
  int n = kThreads;
  void* arguments[] = {&from, &to, &n};
  ASSERT_EQ(api().cuLaunchKernel(function_of(source, "pick"), 3, 1, 1, 80, 1, 1, 0, nullptr,
                                 arguments, nullptr),
            0);
  ASSERT_EQ(api().cuCtxSynchronize(), 0);
  auto found = read<float>(out, kThreads);
  for (int i = 0; i < kThreads; ++i) {
    auto wanted =
        std::bit_cast<float>(images[static_cast<std::size_t>(i % 3)].raw(i % 64, 0, 0, 0));
    EXPECT_EQ(found[static_cast<std::size_t>(i)], i % 5 == 2 ? -5 : wanted) << i;
  }
}

constexpr const char* kOne =
    "extern \"C\" __global__ void one(unsigned long long t, float* out) { *out = tex2D<float>(t, "
    "1, 1); }";

// Programs destroy an object right after the launch that uses it.
TEST_F(Texels, DestroyedInFlight) {
  Image image{.width = 8, .height = 8};
  image.fill(2);
  CUtexObject object = texture_of(array_of(image), modes_of({}));
  objects_.clear();
  Buffer out(4);
  CUdeviceptr to = out;
  CUfunction kernel = function_of(kOne, "one");
  TestStream stream;
  Gate gate;
  gate.hold(stream);
  void* arguments[] = {&object, &to};
  ASSERT_EQ(api().cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), 0);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open();
  });
  EXPECT_EQ(api().cuTexObjectDestroy(object), 0);
  EXPECT_EQ(api().cuStreamSynchronize(stream), 0);
  opener.join();
  EXPECT_EQ(read<std::int32_t>(out, 1)[0], image.raw(1, 1, 0, 0));
}

// ---- handles of nothing, each in a process of its own

CUresult fetch_once(CUtexObject object) {
  CUdeviceptr to = 0;  // dies with the context
  EXPECT_EQ(api().cuMemAlloc(&to, 4), 0);
  void* arguments[] = {&object, &to};
  EXPECT_EQ(api().cuLaunchKernel(function_of(kOne, "one"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments,
                                 nullptr),
            0);
  return api().cuCtxSynchronize();
}

TEST_F(Texels, DISABLED_WildHandle) {
  EXPECT_EQ(fetch_once(0x123456789abcull), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Where a GPU reads something, the software device says what is wrong.
TEST_F(Texels, DISABLED_ArrayIsGone) {
  if (!provider().software) GTEST_SKIP() << "not defined by CUDA";
  Image image{.width = 8, .height = 8};
  image.fill(2);
  CUtexObject object = texture_of(array_of(image), modes_of({}));
  EXPECT_EQ(api().cuArrayDestroy(arrays_.back()), 0);
  arrays_.clear();
  objects_.clear();
  EXPECT_EQ(fetch_once(object), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(Texels, DISABLED_DestroyedHandle) {
  if (!provider().software) GTEST_SKIP() << "not defined by CUDA";
  Image image{.width = 8, .height = 8};
  image.fill(2);
  CUtexObject object = texture_of(array_of(image), modes_of({}));
  EXPECT_EQ(api().cuTexObjectDestroy(object), 0);
  objects_.clear();
  arrays_.clear();
  EXPECT_EQ(fetch_once(object), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(Texels, HandlesOfNothing) {
  for (const char* test : {"WildHandle", "ArrayIsGone", "DestroyedHandle"}) {
    ChildResult result = run_child(std::string("Texels.DISABLED_") + test);
    EXPECT_EQ(result.status, 0) << result.output;
  }
}

}  // namespace
}  // namespace td::test
