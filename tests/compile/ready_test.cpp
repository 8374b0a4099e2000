// Images that come with the package: found without any compiler, on the devices that they run on.
#include <gtest/gtest.h>

#include "base/ready_pack.h"
#include "nvrtc_here.h"

namespace {

using namespace td;
using namespace td::compile;

Source source_of(const std::string& value) {
  Source source;
  source.text = "extern \"C\" __global__ void k(float* x, int n) { x[n] = " + value + "; }";
  return source;
}

class ReadyImages : public OwnCache {};

// In the process of the test below, which has the pack and no NVRTC.
TEST_F(ReadyImages, InAProcessWithoutNvrtc) {
  if (!std::getenv("TREADLE_TEST_READY")) GTEST_SKIP() << "a part of the next test";
  for (int capability : {80, 86, 89}) {
    Image image = compile::compile(source_of("1"), {ImageFormat::cubin, capability});
    EXPECT_TRUE(image.from_cache);
    ASSERT_EQ(image.kernels.size(), 1u);
    EXPECT_EQ(image.kernels[0].name, "k");
    EXPECT_EQ(image.kernels[0].params.size(), 2u);
  }
  for (int capability : {75, 90, 120})
    EXPECT_THROW(compile::compile(source_of("1"), {ImageFormat::cubin, capability}), NotSupported);
  EXPECT_THROW(compile::compile(source_of("2"), {ImageFormat::cubin, 80}), NotSupported);
}

TEST_F(ReadyImages, ServeTheirMajorCapabilityFromTheirMinorOn) {
  SKIP_WITHOUT_NVRTC();
  const std::string path = folder_ + "/image";
  base::ReadyPackWriter pack;
  Image image = make_ready(source_of("1"), {ImageFormat::cubin, 80}, base::ReadyPack(path), pack);
  ASSERT_FALSE(image.bytes.empty());
  ASSERT_TRUE(pack.write(path));
  // What an earlier build made is taken over, to the byte.
  base::ReadyPackWriter again;
  EXPECT_EQ(
      make_ready(source_of("1"), {ImageFormat::cubin, 80}, base::ReadyPack(path), again).bytes,
      image.bytes);
  const std::string child =
      "env TREADLE_TEST_READY=1 TREADLE_LIBRARY_PATH=none TREADLE_READY_DIR=" + folder_ +
      " /proc/" + std::to_string(getpid()) +
      "/exe --gtest_filter=ReadyImages.InAProcessWithoutNvrtc";
  EXPECT_EQ(std::system(child.c_str()), 0);
}

}  // namespace
