// The reader of declarations against a compiler: NVRTC mangles every parameter's real type, and
// confirms the sizes and alignments that the reader states.
#include <gtest/gtest.h>

#include "base/text.h"
#include "compile/cubin_symbols.h"
#include "compile/signature_reader.h"
#include "nvrtc_here.h"

namespace {

using namespace td;
using namespace td::compile;

const char* const kTypes[] = {"bool",
                              "char",
                              "signed char",
                              "unsigned char",
                              "short",
                              "short int",
                              "unsigned short",
                              "int",
                              "signed",
                              "unsigned",
                              "unsigned int",
                              "long",
                              "long int",
                              "unsigned long",
                              "long long",
                              "long long int",
                              "unsigned long long",
                              "unsigned long long int",
                              "long unsigned int",
                              "int long unsigned long",
                              "float",
                              "double",
                              "size_t",
                              "ptrdiff_t",
                              "const int",
                              "int const",
                              "volatile float",
                              "char1",
                              "uchar2",
                              "char3",
                              "short4",
                              "ushort2",
                              "int1",
                              "int2",
                              "int3",
                              "int4",
                              "uint2",
                              "uint4",
                              "long2",
                              "ulong4",
                              "longlong1",
                              "longlong2",
                              "longlong4",
                              "ulonglong2",
                              "float1",
                              "float2",
                              "float3",
                              "float4",
                              "double1",
                              "double2",
                              "double3",
                              "dim3",
                              "real",
                              "Index"};
const char* const kPointers[] = {"float*",
                                 "const float*",
                                 "float const*",
                                 "float* const",
                                 "const float* __restrict__",
                                 "volatile int*",
                                 "void*",
                                 "const void*",
                                 "float**",
                                 "float* const*",
                                 "const float* const*",
                                 "real*",
                                 "const real*",
                                 "Index const* const",
                                 "unsigned char*",
                                 "bool*",
                                 "const bool*",
                                 "const float4*",
                                 "Pointer",
                                 "const Pointer",
                                 "Pointer*",
                                 "size_t*"};
constexpr const char* kPrelude =
    "typedef float real; using Index = unsigned long long; typedef const double* Pointer;\n";

std::string facts(const ParamInfo& p) {
  return base::cat(static_cast<int>(p.kind), " ", p.dtype ? info(*p.dtype).numpy : "-", " ",
                   p.pointee_const, " ", p.size, " ", p.align);
}

class SignatureOracle : public OwnCache {};

TEST_F(SignatureOracle, ReaderAgreesWithTheManglingOfEveryType) {
  SKIP_WITHOUT_NVRTC();
  Source source;
  source.text = kPrelude;
  std::vector<std::string> types(std::begin(kTypes), std::end(kTypes));
  types.insert(types.end(), std::begin(kPointers), std::end(kPointers));
  for (std::size_t i = 0; i < types.size(); ++i)
    source.text += base::cat("__global__ void k", i, "(", types[i], " x) {}\n");
  auto declared = read_kernels(source.text, {});
  ASSERT_EQ(declared.size(), types.size());
  Image image = compile::compile(source, {ImageFormat::cubin, 90});
  std::vector<std::string> symbols = entry_symbols(image.bytes);
  ASSERT_EQ(symbols.size(), types.size());
  std::size_t compared = 0;
  for (const std::string& symbol : symbols) {
    std::string name;
    auto exact = read_demangled(demangle(symbol), name);
    ASSERT_TRUE(exact && exact->size() == 1) << symbol;
    std::size_t i = std::stoul(name.substr(1));
    ASSERT_EQ(declared[i].signature.params.size(), 1u) << types[i];
    const ParamInfo& read = declared[i].signature.params[0];
    EXPECT_NE(read.kind, ParamInfo::Kind::unknown) << types[i];
    EXPECT_EQ(facts(read), facts((*exact)[0])) << types[i] << ", mangled " << demangle(symbol);
    ++compared;
  }
  EXPECT_EQ(compared, types.size());
}

TEST_F(SignatureOracle, CompilerConfirmsSizesAndAlignments) {
  SKIP_WITHOUT_NVRTC();
  Source source;
  source.text = kPrelude;
  std::string wrong = kPrelude;
  for (const char* type : kTypes) {
    auto kernels = read_kernels(base::cat(kPrelude, "__global__ void k(", type, " x);"), {});
    const ParamInfo& read = kernels.at(0).signature.params.at(0);
    source.text += base::cat("static_assert(sizeof(", type, ") == ", read.size, " && alignof(",
                             type, ") == ", read.align, ", \"", type, "\");\n");
  }
  EXPECT_NO_THROW(compile::compile(source, {ImageFormat::cubin, 90}));
}

TEST_F(SignatureOracle, TemplatesAndNamespacesGetExactTypes) {
  SKIP_WITHOUT_NVRTC();
  Source source;
  source.text =
      "struct P { int a; float b; };\n"
      "namespace ns { template <class T> __global__ void scale(T* x, const T* y, T f, int n) { *x "
      "= *y * f; } }\n"
      "__global__ void plain(P value, P* where) { *where = value; }\n"
      "#if 0\n__global__ void absent(int n) {}\n#endif\n"
      "extern \"C\" __global__ void c_name(double d) {}\n";
  source.options.name_expressions = {"ns::scale<float>", "ns::scale<unsigned char>"};
  Image image = compile::compile(source, {ImageFormat::cubin, 90});
  ASSERT_EQ(image.kernels.size(), 4u);
  for (const KernelSignature& kernel : image.kernels) {
    EXPECT_TRUE(kernel.params_known) << kernel.symbol;
    if (kernel.symbol == image.lowered_names["ns::scale<unsigned char>"]) {
      ASSERT_EQ(kernel.params.size(), 4u);
      EXPECT_EQ(kernel.params[1].name, "y");
      EXPECT_EQ(kernel.params[1].dtype, DType::uint8);
      EXPECT_TRUE(kernel.params[1].pointee_const);
      EXPECT_EQ(kernel.params[2].offset, 16u);
      EXPECT_EQ(kernel.params[3].offset, 20u);
    } else if (kernel.name == "plain") {
      EXPECT_EQ(kernel.params[0].kind, ParamInfo::Kind::aggregate);
      EXPECT_EQ(kernel.params[1].kind, ParamInfo::Kind::pointer);
    }
  }
}

}  // namespace
