// The parts of compile/ that need no compiler: records, symbols, included files, and what is said
// where a compiler is missing.
#include "compile/compile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "compile/compilers.h"
#include "compile/cubin_symbols.h"
#include "compile/image_record.h"
#include "compile/includes.h"

namespace {

using namespace td;
using namespace td::compile;

Image sample() {
  Image image;
  image.bytes = std::string("\x7f\0image", 7);
  image.log = "kernel.cu(1): warning";
  KernelSignature kernel{"ns::k<float>", "_ZN2ns1kIfEEvPfi", {}, true};
  ParamInfo pointer{"x", "float*", ParamInfo::Kind::pointer, DType::float32, true, 8, 8, 0};
  ParamInfo opaque{"p", "P", ParamInfo::Kind::aggregate, {}, false, 12, 4, 8};
  kernel.params = {pointer, opaque};
  image.kernels = {kernel, {"l", "l", {}, false}};
  image.lowered_names = {{"ns::k<float>", "_ZN2ns1kIfEEvPfi"}};
  return image;
}

TEST(ImageRecord, KeepsEverything) {
  Image image;
  ASSERT_TRUE(decode_image(encode_image(sample()), image));
  EXPECT_EQ(image.bytes, sample().bytes);
  EXPECT_EQ(image.log, sample().log);
  EXPECT_EQ(image.lowered_names, sample().lowered_names);
  ASSERT_EQ(image.kernels.size(), 2u);
  EXPECT_FALSE(image.kernels[1].params_known);
  ASSERT_EQ(image.kernels[0].params.size(), 2u);
  const ParamInfo& first = image.kernels[0].params[0];
  EXPECT_EQ(first.name, "x");
  EXPECT_EQ(first.type, "float*");
  EXPECT_EQ(first.kind, ParamInfo::Kind::pointer);
  EXPECT_EQ(first.dtype, DType::float32);
  EXPECT_TRUE(first.pointee_const);
  const ParamInfo& second = image.kernels[0].params[1];
  EXPECT_FALSE(second.dtype.has_value());
  EXPECT_EQ(second.size, 12u);
  EXPECT_EQ(second.align, 4u);
  EXPECT_EQ(second.offset, 8u);
}

TEST(ImageRecord, RefusesTruncationAndSurvivesNoise) {
  const std::string record = encode_image(sample());
  for (std::size_t length = 0; length < record.size(); ++length) {
    Image image;
    EXPECT_FALSE(decode_image(record.substr(0, length), image)) << length;
  }
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string noise = record;
    for (int i = 0; i < 3; ++i) noise[random() % noise.size()] = static_cast<char>(random());
    Image image;
    decode_image(noise, image);
  }
}

TEST(CubinSymbols, SurviveNoise) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string image =
        "\x7f"
        "ELF\x02";
    for (int i = 0; i < 300; ++i) image += static_cast<char>(random() % (round % 2 ? 256 : 4));
    entry_symbols(image);
  }
  EXPECT_EQ(entry_symbols(".visible .entry k(\n.param .u64 x)\n.entry l (\n.entry k("),
            (std::vector<std::string>{"k", "l"}));
  EXPECT_TRUE(entry_symbols("").empty());
  EXPECT_TRUE(entry_symbols(".entry").empty());
}

TEST(Includes, FoldersOfEverySpelling) {
  EXPECT_EQ(
      include_folders({"-Ia", "-I", "b", "-DX", "--include-path=c", "--include-path", "d", "-I"}),
      (std::vector<std::string>{"a", "b", "c", "d"}));
}

class IncludeFiles : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/treadle-includes-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    std::filesystem::create_directories(folder_ + "/sub");
    write("a.h", "#include \"sub/b.h\"\n#include \"a.h\"\n");
    write("sub/b.h", "#include \"c.h\"\n#include <not_there.h>\n");
    write("sub/c.h", "1");
    source_.options.options = {"-I", folder_};
    source_.text = "#include \"a.h\"\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string key() {
    base::Hasher hasher;
    known_ = hash_includes(source_, hasher);
    return hasher.finish().hex();
  }
  std::string folder_;
  Source source_;
  bool known_ = false;
};

TEST_F(IncludeFiles, EveryFileReachedCounts) {
  std::string before = key();
  EXPECT_TRUE(known_);
  EXPECT_EQ(key(), before);
  write("sub/c.h", "2");
  std::string after = key();
  EXPECT_NE(after, before);
  write("unrelated.h", "3");
  EXPECT_EQ(key(), after);
  source_.text += "// #include \"unrelated.h\"\n";
  EXPECT_EQ(key(), after);
  source_.options.options.insert(source_.options.options.end(),
                                 {"-include", folder_ + "/unrelated.h"});
  EXPECT_NE(key(), after);
}

TEST_F(IncludeFiles, AMacroMakesTheSetUnknown) {
  write("sub/c.h", "#include NAME");
  key();
  EXPECT_FALSE(known_);
}

TEST(MarkedText, PutsTheUsersLineInFront) {
  Source source;
  source.text = "text";
  EXPECT_EQ(marked_text(source), "text");
  source.options.first_line = 12;
  source.options.file_name = "a\"b\\c.py";
  EXPECT_EQ(marked_text(source), "#line 12 \"a\\\"b\\\\c.py\"\ntext");
}

// In processes of their own, since the libraries are looked for once.
TEST(MissingCompiler, NvrtcIsNamedWithACure) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("TREADLE_LIBRARY_PATH", "none", 1);
        setenv("TREADLE_CACHE_DIR", "", 1);
        Source source;
        source.text = "__global__ void k() {}";
        try {
          compile::compile(source, {ImageFormat::cubin, 90});
        } catch (const NotSupported& error) {
          std::fputs(error.what(), stderr);
          _exit(compiler_info(ImageFormat::cubin).found ? 1 : 42);
        }
        _exit(1);
      },
      testing::ExitedWithCode(42), "no compiler for NVIDIA GPUs: .*TREADLE_LIBRARY_PATH");
}

TEST(MissingCompiler, ClangPlugInIsNamedWithACure) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("TREADLE_CC", "/nowhere/libtreadle_cc.so", 1);
        setenv("TREADLE_CACHE_DIR", "", 1);
        Source source;
        source.text = "__global__ void k() {}";
        try {
          compile::compile(source, {ImageFormat::llvm_bitcode, 90});
        } catch (const NotSupported& error) {
          std::fputs(error.what(), stderr);
          _exit(compiler_info(ImageFormat::llvm_bitcode).found ? 1 : 42);
        }
        _exit(1);
      },
      testing::ExitedWithCode(42), "/nowhere/libtreadle_cc.so.*TREADLE_CC");
}

}  // namespace
