// Signatures against the layout that the host's C++ compiler gives the same types: natural
// alignment in order is what both CUDA's parameter layout and a C++ struct have.
#include <cstddef>

#include "helpers.h"

namespace td::compile::test {
namespace {

using Kind = ParamInfo::Kind;

struct Expected {
  const char* name;
  const char* type;
  Kind kind;
  std::optional<DType> dtype;
  bool pointee_const;
  std::size_t size, offset;
};

void expect_params(const KernelSignature& kernel, const std::vector<Expected>& expected) {
  ASSERT_EQ(kernel.params.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ParamInfo& param = kernel.params[i];
    SCOPED_TRACE(expected[i].name);
    EXPECT_EQ(param.name, expected[i].name);
    EXPECT_EQ(param.type, expected[i].type);
    EXPECT_EQ(param.kind, expected[i].kind);
    EXPECT_EQ(param.dtype, expected[i].dtype);
    EXPECT_EQ(param.pointee_const, expected[i].pointee_const);
    EXPECT_EQ(param.size, expected[i].size);
    EXPECT_EQ(param.offset, expected[i].offset);
  }
}

TEST(Signatures, EveryScalar) {
  struct Layout {
    bool a;
    char b;
    signed char c;
    unsigned char d;
    short e;
    unsigned short f;
    int g;
    unsigned h;
    long i;
    unsigned long j;
    long long k;
    unsigned long long l;
    float m;
    double n;
  };
  const ClangReply reply = compile(
      "__global__ void k(bool a, char b, signed char c, unsigned char d, short e, unsigned short "
      "f, int g,\n"
      "                  unsigned h, long i, unsigned long j, long long k, unsigned long long l, "
      "float m, double n) {}");
  ASSERT_TRUE(reply.ok) << reply.log;
  ASSERT_EQ(reply.kernels.size(), 1u);
#define PARAM(member, type, dtype) \
  {#member, type, Kind::scalar, dtype, false, sizeof(Layout::member), offsetof(Layout, member)}
  expect_params(reply.kernels[0], {
                                      PARAM(a, "bool", DType::bool_),
                                      PARAM(b, "char", DType::int8),
                                      PARAM(c, "signed char", DType::int8),
                                      PARAM(d, "unsigned char", DType::uint8),
                                      PARAM(e, "short", DType::int16),
                                      PARAM(f, "unsigned short", DType::uint16),
                                      PARAM(g, "int", DType::int32),
                                      PARAM(h, "unsigned int", DType::uint32),
                                      PARAM(i, "long", DType::int64),
                                      PARAM(j, "unsigned long", DType::uint64),
                                      PARAM(k, "long long", DType::int64),
                                      PARAM(l, "unsigned long long", DType::uint64),
                                      PARAM(m, "float", DType::float32),
                                      PARAM(n, "double", DType::float64),
                                  });
#undef PARAM
}

TEST(Signatures, PointersStructsAndAliases) {
  const ClangReply reply = compile(R"(
#include <stdint.h>
#include <cuda_fp16.h>
struct Pair { char tag; double value; };
enum Mode : unsigned char { one, two };
extern "C" __global__ void k(const float* a, unsigned char* b, void* c, const Pair* d, Pair e, uint16_t f,
                             const __half* __restrict__ g, __half h, Mode i, float4 j, float** l, const double m[]) {}
)");
  ASSERT_TRUE(reply.ok) << reply.log;
  ASSERT_EQ(reply.kernels.size(), 1u);
  expect_params(reply.kernels[0],
                {
                    {"a", "const float *", Kind::pointer, DType::float32, true, 8, 0},
                    {"b", "unsigned char *", Kind::pointer, DType::uint8, false, 8, 8},
                    {"c", "void *", Kind::pointer, std::nullopt, false, 8, 16},
                    {"d", "const Pair *", Kind::pointer, std::nullopt, true, 8, 24},
                    {"e", "Pair", Kind::aggregate, std::nullopt, false, 16, 32},
                    {"f", "uint16_t", Kind::scalar, DType::uint16, false, 2, 48},
                    {"g", "const __half *__restrict", Kind::pointer, DType::float16, true, 8, 56},
                    {"h", "__half", Kind::scalar, DType::float16, false, 2, 64},
                    {"i", "Mode", Kind::scalar, DType::uint8, false, 1, 66},
                    {"j", "float4", Kind::aggregate, std::nullopt, false, 16, 80},
                    {"l", "float **", Kind::pointer, std::nullopt, false, 8, 96},
                    {"m", "const double *", Kind::pointer, DType::float64, true, 8, 104},
                });
  EXPECT_EQ(reply.kernels[0].name, "k");
  EXPECT_EQ(reply.kernels[0].symbol, "k");
  EXPECT_EQ(reply.kernels[0].params[9].align, 16u);
}

TEST(Signatures, NamesAndSymbols) {
  const ClangReply reply = compile(R"(
namespace outer { namespace inner { __global__ void k(int x) {} } }
template <class T> __global__ void t(T* p) {}
template __global__ void t<short>(short*);
template <class T> __global__ void unused(T* p) {}
__global__ void declared_only(int);
__device__ void not_a_kernel(int) {}
)");
  ASSERT_TRUE(reply.ok) << reply.log;
  ASSERT_EQ(reply.kernels.size(), 2u);
  EXPECT_EQ(reply.kernels[0].name, "outer::inner::k");
  EXPECT_EQ(reply.kernels[0].symbol, "_ZN5outer5inner1kEi");  // the Itanium C++ ABI's mangling
  EXPECT_EQ(reply.kernels[1].name, "t<short>");
  EXPECT_EQ(reply.kernels[1].symbol, "_Z1tIsEvPT_");
  const Image image(reply);
  for (const KernelSignature& kernel : reply.kernels) {
    const llvm::Function* function = image.module->getFunction(kernel.symbol);
    ASSERT_NE(function, nullptr) << kernel.symbol;
    EXPECT_FALSE(function->isDeclaration());
  }
}

TEST(Signatures, SyntaxOnly) {
  ClangRequest request;
  request.source = "extern \"C\" __global__ void k(const int* p, float x) {}";
  request.syntax_only = true;
  ClangReply reply;
  td_cc_compile(request, reply);
  ASSERT_TRUE(reply.ok) << reply.log;
  EXPECT_TRUE(reply.image.empty());
  ASSERT_EQ(reply.kernels.size(), 1u);
  expect_params(reply.kernels[0], {{"p", "const int *", Kind::pointer, DType::int32, true, 8, 0},
                                   {"x", "float", Kind::scalar, DType::float32, false, 4, 8}});
  request.source = "#include <cuda/no_such_header>\n";
  td_cc_compile(request, reply);
  EXPECT_FALSE(reply.ok);
  EXPECT_TRUE(contains(reply.log, "'cuda/no_such_header' file not found")) << reply.log;
}

}  // namespace
}  // namespace td::compile::test
