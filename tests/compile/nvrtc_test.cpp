// Source -> cubin with NVRTC. Compiling needs no GPU.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/text.h"
#include "compile/cubin_symbols.h"
#include "driver/library_search.h"
#include "nvrtc_here.h"

namespace {

using namespace td;
using namespace td::compile;

const Target kTarget{ImageFormat::cubin, 90};

Source source_of(std::string text) {
  Source source;
  source.text = std::move(text);
  return source;
}

class Nvrtc : public OwnCache {
 protected:
  // This test again, with a copy of NVRTC with no header beside it, as in its wheel; in a process
  // that has no other open. There TREADLE_TEST_NVRTC_ALONE is this folder.
  void run_alone(const std::string& test) {
    const std::string real = driver::find_library_file({"libnvrtc.so.13", "libnvrtc.so.12"});
    if (real.empty()) GTEST_SKIP() << "no file of NVRTC is known";
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(real).parent_path())) {
      const std::string name = entry.path().filename();
      if (name.starts_with("libnvrtc.so.") || name.starts_with("libnvrtc-builtins.so."))
        std::filesystem::copy_file(entry.path(), folder_ + "/" + name);
    }
    const std::string alone = "env -u CUDA_PATH -u CUDA_HOME TREADLE_TEST_NVRTC_ALONE=" + folder_ +
                              " TREADLE_LIBRARY_PATH=" + folder_ + " /proc/" +
                              std::to_string(getpid()) + "/exe --gtest_filter=Nvrtc." + test;
    EXPECT_EQ(std::system(alone.c_str()), 0);
  }
};

TEST_F(Nvrtc, SecondRequestComesFromTheCacheAndIsTheSame) {
  SKIP_WITHOUT_NVRTC();
  Source source = source_of("extern \"C\" __global__ void k(float* x, int n) { x[n] = 1; }");
  Image first = compile::compile(source, kTarget);
  Image second = compile::compile(source, kTarget);
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(first.bytes, second.bytes);
  ASSERT_EQ(second.kernels.size(), 1u);
  EXPECT_EQ(second.kernels[0].name, "k");
  ASSERT_EQ(second.kernels[0].params.size(), 2u);
  EXPECT_EQ(second.kernels[0].params[0].dtype, DType::float32);
  EXPECT_EQ(second.kernels[0].params[1].name, "n");
  EXPECT_EQ(entry_symbols(first.bytes), std::vector<std::string>{"k"});
}

// "f" and "i" are also how the compilers' mangling spells float and int.
TEST_F(Nvrtc, AKernelMayHaveTheNameOfAMangledType) {
  SKIP_WITHOUT_NVRTC();
  for (std::string name : {"f", "i", "d", "x", "v"}) {
    Image image = compile::compile(
        source_of("extern \"C\" __global__ void " + name + "(float* x, int n) { x[n] = 1; }"),
        kTarget);
    ASSERT_EQ(image.kernels.size(), 1u);
    EXPECT_EQ(image.kernels[0].name, name);
    EXPECT_TRUE(image.kernels[0].params_known) << name;
    ASSERT_EQ(image.kernels[0].params.size(), 2u) << name;
    EXPECT_EQ(image.kernels[0].params[1].dtype, DType::int32) << name;
  }
}

TEST_F(Nvrtc, EverythingThatTheImageDependsOnIsInTheKey) {
  SKIP_WITHOUT_NVRTC();
  std::ofstream(folder_ + "/mine.h") << "#include \"deeper.h\"\n";
  std::ofstream(folder_ + "/deeper.h") << "#define VALUE 1\n";
  Source base =
      source_of("#include <mine.h>\nextern \"C\" __global__ void k(int* x) { x[0] = VALUE; }");
  base.options.options = {"-I" + folder_};
  compile::compile(base, kTarget);
  ASSERT_TRUE(compile::compile(base, kTarget).from_cache);

  std::vector<Source> others(4, base);
  others[0].text += "\n";
  others[1].options.options.push_back("-DX=1");
  others[2].options.file_name = "other.cu";
  others[3].options.first_line = 7;
  for (const Source& other : others) EXPECT_FALSE(compile::compile(other, kTarget).from_cache);
  EXPECT_FALSE(compile::compile(base, {ImageFormat::cubin, 80}).from_cache);

  std::ofstream(folder_ + "/deeper.h") << "#define VALUE 2\n";
  EXPECT_FALSE(compile::compile(base, kTarget).from_cache) << "an edited header, two levels down";
  ASSERT_TRUE(compile::compile(base, kTarget).from_cache);
}

TEST_F(Nvrtc, AnIncludeThatOnlyThePreprocessorKnowsIsNotCached) {
  SKIP_WITHOUT_NVRTC();
  std::ofstream(folder_ + "/mine.h") << "#define VALUE 1\n";
  Source source = source_of(
      "#define H <mine.h>\n#include H\nextern \"C\" __global__ void k(int* x) { x[0] = VALUE; }");
  source.options.options = {"-I" + folder_};
  compile::compile(source, kTarget);
  EXPECT_FALSE(compile::compile(source, kTarget).from_cache);
}

TEST_F(Nvrtc, DamagedEntriesAreCompiledAnew) {
  SKIP_WITHOUT_NVRTC();
  Source source = source_of("extern \"C\" __global__ void k(int* x) { x[0] = 1; }");
  Image first = compile::compile(source, kTarget);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/cache/image"))
    std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  Image second = compile::compile(source, kTarget);
  EXPECT_FALSE(second.from_cache);
  EXPECT_EQ(first.bytes, second.bytes);
  EXPECT_TRUE(compile::compile(source, kTarget).from_cache);
}

TEST_F(Nvrtc, TheToolkitsOwnHeaders) {
  SKIP_WITHOUT_NVRTC();
  Source source = source_of(
      "#include <cuda_fp16.h>\n"
      "extern \"C\" __global__ void k(half* x) { x[0] = __float2half(2.f); }");
  Image image = compile::compile(source, kTarget);
  EXPECT_EQ(image.kernels.at(0).params.at(0).dtype, DType::float16);
}

const char* const kRandomKernel =
    "#include <curand_kernel.h>\n"
    "extern \"C\" __global__ void k(float* x, unsigned* n) {\n"
    "  curandState a; curandStatePhilox4_32_10_t b; curandStateMRG32k3a c; curandStateSobol32 d;\n"
    "  curandDirectionVectors32_t vectors = {};\n"
    "  curand_init(1, 2, 3, &a); curand_init(1, 2, 3, &b); curand_init(1, 2, 3, &c);\n"
    "  curand_init(vectors, 3, &d);\n"
    "  x[0] = curand_uniform(&a) + curand_normal(&b) + (float)curand_normal_double(&c)\n"
    "         + curand_log_normal(&d, 0, 1);\n"
    "  n[0] = curand_poisson(&b, 100) + curand_poisson4(&b, 9).w + curand_poisson(&d, 9);\n"
    "}";

TEST_F(Nvrtc, RandomNumbersOfTheToolkit) {
  SKIP_WITHOUT_NVRTC();
  EXPECT_EQ(entry_symbols(compile::compile(source_of(kRandomKernel), kTarget).bytes),
            std::vector<std::string>{"k"});
}

// What NVIDIA's header includes is missing: it is not taken, though the folder is given.
TEST_F(Nvrtc, RandomNumbersNeedNoLibcuxx) {
  if (const char* folder = std::getenv("TREADLE_TEST_NVRTC_ALONE")) {
    SKIP_WITHOUT_NVRTC();
    Source source = source_of(kRandomKernel);
    source.options.options = {std::string("-I") + folder};
    EXPECT_EQ(entry_symbols(compile::compile(source, kTarget).bytes),
              std::vector<std::string>{"k"});
    return;
  }
  std::ofstream(folder_ + "/curand_kernel.h") << "#include <nv/target>\n";
  run_alone("RandomNumbersNeedNoLibcuxx");
}

std::string error_of(const std::string& text) {
  try {
    compile::compile(source_of(text), kTarget);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "it compiled";
}

TEST_F(Nvrtc, AMissingPartOfTheToolkitIsNamed) {
  SKIP_WITHOUT_NVRTC();
  const std::string error = error_of("#include <cuda/no_such_file>\n__global__ void k() {}");
  EXPECT_NE(error.find("nvidia-cuda-cccl"), std::string::npos) << error;
}

TEST_F(Nvrtc, AMissingToolkitIsNamed) {
  if (std::getenv("TREADLE_TEST_NVRTC_ALONE")) {
    SKIP_WITHOUT_NVRTC();
    for (auto [header, wheel] : {std::pair{"cooperative_groups.h", "nvidia-cuda-runtime"},
                                 {"cuda_fp16.h", "nvidia-cuda-runtime"},
                                 {"cuda/barrier", "nvidia-cuda-cccl"}}) {
      const std::string error =
          error_of(base::cat("#include <", header, ">\n__global__ void k() {}"));
      EXPECT_NE(error.find(wheel), std::string::npos) << error;
    }
    return;
  }
  run_alone("AMissingToolkitIsNamed");
}

TEST_F(Nvrtc, RandomNumbersNeedNoToolkit) {
  if (std::getenv("TREADLE_TEST_NVRTC_ALONE")) {
    SKIP_WITHOUT_NVRTC();
    EXPECT_EQ(entry_symbols(compile::compile(source_of(kRandomKernel), kTarget).bytes),
              std::vector<std::string>{"k"});
    return;
  }
  run_alone("RandomNumbersNeedNoToolkit");
}

TEST_F(Nvrtc, ErrorsCarryTheUsersFileAndLine) {
  SKIP_WITHOUT_NVRTC();
  Source source = source_of("extern \"C\" __global__ void k(int* x) {\n  x[0] = missing;\n}");
  source.options.file_name = "my \"odd\" file.py";
  source.options.first_line = 41;
  try {
    compile::compile(source, kTarget);
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("file.py(42)"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("missing"), std::string::npos) << error.what();
    EXPECT_NE(error.log.find("missing"), std::string::npos);
  }
}

TEST_F(Nvrtc, AWrongOptionIsAUsersError) {
  SKIP_WITHOUT_NVRTC();
  Source source = source_of("__global__ void k() {}");
  source.options.options = {"--no-such-option"};
  EXPECT_THROW(compile::compile(source, kTarget), CompileError);
}

TEST_F(Nvrtc, UserOptionsWinOverOurs) {
  SKIP_WITHOUT_NVRTC();
  Source source = source_of(
      "#if __cplusplus < 202002L\n#error not C++20\n#endif\nextern \"C\" __global__ void k(int* x) "
      "{ *x = Q; }");
  source.options.options = {"--std=c++20", "-DQ=3", "-arch=compute_80"};
  Image image = compile::compile(source, kTarget);
  EXPECT_NE(image.bytes.find(".target sm_80"), std::string::npos) << "PTX was asked for";
  EXPECT_EQ(entry_symbols(image.bytes), std::vector<std::string>{"k"});
}

TEST_F(Nvrtc, ADeviceNewerThanTheCompilerGetsPtx) {
  SKIP_WITHOUT_NVRTC();
  Image image = compile::compile(source_of("extern \"C\" __global__ void k(int* x) { *x = 1; }"),
                                 {ImageFormat::cubin, 999});
  EXPECT_NE(image.bytes.find(".entry k"), std::string::npos);
  EXPECT_EQ(image.kernels.at(0).name, "k");
}

TEST_F(Nvrtc, ADeviceTooOldForTheCompilerIsSaid) {
  SKIP_WITHOUT_NVRTC();
  EXPECT_THROW(compile::compile(source_of("__global__ void k() {}"), {ImageFormat::cubin, 20}),
               NotSupported);
}

TEST_F(Nvrtc, ThreadsThatAskForTheSameShareOneCompilation) {
  SKIP_WITHOUT_NVRTC();
  Source good = source_of("extern \"C\" __global__ void k(int* x) { x[0] = 1; }");
  Source bad = source_of("extern \"C\" __global__ void k(int* x) { x[0] = ; }");
  std::atomic<int> compiled{0}, failed{0};
  std::vector<std::string> images(6);
  std::vector<std::thread> threads;
  for (auto& image : images)
    threads.emplace_back([&] {
      Image result = compile::compile(good, kTarget);
      image = result.bytes;
      compiled += !result.from_cache;
      try {
        compile::compile(bad, kTarget);
      } catch (const CompileError&) {
        ++failed;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 6);
  EXPECT_GE(compiled, 1);
  for (const auto& image : images) EXPECT_EQ(image, images[0]);
}

}  // namespace
