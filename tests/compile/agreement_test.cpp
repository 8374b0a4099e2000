// The two compilers tell the same story about a kernel: the rules for arguments must not depend on
// the device.
#include <gtest/gtest.h>

#include <map>

#include "base/text.h"
#include "nvrtc_here.h"

namespace {

using namespace td;
using namespace td::compile;

class Agreement : public OwnCache {};

std::map<std::string, std::string> story(const Image& image) {
  std::map<std::string, std::string> out;
  for (const KernelSignature& kernel : image.kernels) {
    std::string text = base::cat(kernel.name, kernel.params_known ? "" : " unknown");
    for (const ParamInfo& p : kernel.params)
      text += base::cat("; ", p.name, " kind ", static_cast<int>(p.kind), " ",
                        p.dtype ? info(*p.dtype).numpy : "-", p.pointee_const ? " const" : "");
    out[kernel.symbol] = text;
  }
  return out;
}

TEST_F(Agreement, SignaturesAreTheSameOnBothDevices) {
  SKIP_WITHOUT_NVRTC();
  if (CompilerInfo clang = compiler_info(ImageFormat::llvm_bitcode); !clang.found)
    GTEST_SKIP() << "Clang: " << clang.problem;
  Source source;
  source.text = R"(
    typedef float real;
    #define word unsigned long long
    struct P { int a; double b; };
    extern "C" __global__ void plain(const float* a, real* b, int n, word w, bool flag, unsigned char c) {}
    extern "C" __global__ void pointers(void* v, const void* cv, float** pp, const int* const* q, P* p) {}
    extern "C" __global__ void values(P p, float4 f, int2 i, double d, size_t s, short h, long l) {}
    extern "C" __global__ void arrays(float a[], const float b[4], const real* __restrict__ c) {}
    extern "C" __global__ void empty() {}
    namespace ns { __global__ void inner(const double* x, char c) {} }
    template <class T> __global__ void scale(T* x, const T* y, T f, int n) {}
  )";
  source.options.name_expressions = {"scale<float>", "scale<short>"};
  Image nvidia = compile::compile(source, {ImageFormat::cubin, 90});
  Image software = compile::compile(source, {ImageFormat::llvm_bitcode, 90});
  EXPECT_EQ(story(nvidia).size(), 8u);
  EXPECT_EQ(nvidia.lowered_names, software.lowered_names);
  auto theirs = story(software);
  for (const auto& [symbol, text] : story(nvidia)) EXPECT_EQ(theirs[symbol], text) << symbol;
  EXPECT_EQ(story(nvidia).size(), theirs.size());
}

TEST_F(Agreement, ErrorsNameTheSameLine) {
  SKIP_WITHOUT_NVRTC();
  if (CompilerInfo clang = compiler_info(ImageFormat::llvm_bitcode); !clang.found)
    GTEST_SKIP() << "Clang: " << clang.problem;
  Source source;
  source.text = "extern \"C\" __global__ void k(float* x) {\n  float y = 1;\n  x[0] = z;\n}";
  source.options.file_name = "mine.py";
  source.options.first_line = 70;
  for (ImageFormat format : {ImageFormat::cubin, ImageFormat::llvm_bitcode}) {
    try {
      compile::compile(source, {format, 90});
      ADD_FAILURE() << "it compiled";
    } catch (const CompileError& error) {
      std::string what = error.what();
      EXPECT_NE(what.find("mine.py"), std::string::npos) << what;
      EXPECT_NE(what.find("72"), std::string::npos) << what;
      EXPECT_NE(what.find("x[0] = z"), std::string::npos) << what;
    }
  }
}

}  // namespace
