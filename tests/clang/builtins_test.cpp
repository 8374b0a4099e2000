// Every row of tables/device_builtins.def: supported ones compile in a kernel of their own,
// unsupported ones are refused at the user's line. (What they compute is tested where kernels run.)
#include "helpers.h"

namespace td::compile::test {
namespace {

struct Row {
  std::string name, result, test;
  bool half = false;  // of device_half.def: compiled for float16 and for bfloat16
};

const char* const kParams =
    "int i, unsigned u, long long l, unsigned long long ul, float f, double d, int* pi, unsigned* "
    "pu, long long* pl, "
    "unsigned long long* pul, float* pf, double* pd, void* out";

// "1" -> "d", "2" -> "d, d" ...
std::string arguments(int count, const std::string& one) {
  std::string list = one;
  for (int i = 1; i < count; ++i) list += ", " + one;
  return list;
}

void add_math(std::vector<Row>& rows, const std::string& name, int arity,
              const std::string& space) {
  rows.push_back({name, "double", name + "(" + arguments(arity, "d") + ")"});
  rows.push_back({name + "f", "float", name + "f(" + arguments(arity, "f") + ")"});
  rows.push_back({name + " of float", "float", name + "(" + arguments(arity, "f") + ")"});
  rows.push_back({name + " of int", "double", name + "(" + arguments(arity, "i") + ")"});
  if (space == "STD")
    rows.push_back({"std::" + name, "float", "std::" + name + "(" + arguments(arity, "f") + ")"});
}

void add_shuffle(std::vector<Row>& rows, const std::string& name) {
  for (const char* type : {"int", "unsigned", "long", "unsigned long", "long long",
                           "unsigned long long", "float", "double"}) {
    rows.push_back({name, type, name + "(~0u, (" + type + ")i, 1)"});
    rows.push_back({name, type, name + "(~0u, (" + type + ")i, 1, 16)"});
  }
}

void add_atomic(std::vector<Row>& rows, const std::string& name, const std::string& types) {
  std::vector<std::pair<std::string, std::string>> pointers = {{"unsigned", "pu"}};
  if (types != "UNSIGNED") pointers.push_back({"int", "pi"});
  if (types == "INTEGER") pointers.push_back({"long long", "pl"});
  if (types != "UNSIGNED" && types != "WORD") pointers.push_back({"unsigned long long", "pul"});
  if (types == "EXCHANGE" || types == "ADD") pointers.push_back({"float", "pf"});
  if (types == "ADD") pointers.push_back({"double", "pd"});
  for (const auto& [type, pointer] : pointers) {
    for (const char* scope : {"", "_block", "_system"}) {
      rows.push_back({name + scope, type, name + scope + "(" + pointer + ", (" + type + ")3)"});
    }
  }
}

std::vector<Row> supported_rows(bool half) {
  std::vector<Row> rows, halves;
#define TD_SREG(object, field, builtin) rows.push_back({#object, "unsigned", #object "." #field});
#define TD_MATH(name, arity, space, how, double_body, float_body) \
  add_math(rows, #name, arity, #space);
#define TD_INLINE(result, name, params, expression, test) rows.push_back({#name, #result, #test});
#define TD_EXACT(result, name, params, expression, test) rows.push_back({#name, #result, #test});
#define TD_BODY(result, name, params, test) rows.push_back({#name, #result, #test});
#define TD_TEMPLATE(name, test) rows.push_back({#name, "void", #test});
#define TD_SHUFFLE(name, lane_params, lane, mode, clamp) add_shuffle(rows, #name);
#define TD_ATOMIC(name, types, expression) add_atomic(rows, #name, #types);
#define TD_PACKED(name, arity, parts, expression, test) rows.push_back({#name, "unsigned", #test});
#define TD_PACKED_SUM(name, arity, parts, expression, test) \
  rows.push_back({#name, "unsigned", #test});
#include "device_builtins.def"
#define TD_HALF(result, name, params, expression, test) \
  halves.push_back({#name, #result, #test, true});
#include "device_half.def"
  return half ? halves : rows;
}

std::string kernel_of(const Row& row, std::size_t index) {
  std::string text = "extern \"C\" __global__ void row" + std::to_string(index) + "(" + kParams;
  if (row.half) text += ", TD_H h, TD_H2 h2";
  text += ") { ";
  // Exactly the declared type: a hidden conversion would not bind.
  text += row.result == "void"
              ? row.test + ";"
              : "decltype(" + row.test + ") v = " + row.test + "; *(" + row.result +
                    "*)out = v; static_assert(__is_same(decltype(v), " + row.result +
                    "), \"result type\");";
  return text + " }\n";
}

// Device code with a kernel for each row, and what the rows of device_half.def are written in.
void check_rows(const std::string& before, const std::vector<Row>& rows) {
  std::string source = before;
  for (std::size_t i = 0; i < rows.size(); ++i) source += kernel_of(rows[i], i);
  const ClangReply reply = compile(source);
  ASSERT_TRUE(reply.ok) << reply.log;
  EXPECT_EQ(reply.log, "");
  ASSERT_EQ(reply.kernels.size(), rows.size());
  const Image image(reply);
  for (const llvm::Function& function : *image.module) {
    if (!function.isDeclaration()) continue;
    const llvm::StringRef name = function.getName();
    EXPECT_TRUE(name.starts_with("llvm.") || name.starts_with("__td_") || name == "vprintf" ||
                name == "__assertfail")
        << name.str();
  }
}

TEST(Builtins, EverySupportedRowCompiles) {
  const std::vector<Row> rows = supported_rows(false);
  ASSERT_GT(rows.size(), 700u);
  check_rows("", rows);
}

TEST(Builtins, EveryRowCompilesForFloat16AndBfloat16) {
  const std::vector<Row> rows = supported_rows(true);
  ASSERT_GT(rows.size(), 200u);
  check_rows(
      "#include <cuda_fp16.h>\n#define TD_H __half\n#define TD_H2 __half2\n"
      "#define TD_HN(a, b) a##half##b\n#define TD_HN2(a, b) a##half2##b\n"
      "#define TD_HTWICE __half2half2\n#define TD_HHALVES __halves2half2\n"
      "#define TD_HMAKE make_half2\n",
      rows);
  check_rows(
      "#include <cuda_bf16.h>\n#define TD_H __nv_bfloat16\n#define TD_H2 __nv_bfloat162\n"
      "#define TD_HN(a, b) a##bfloat16##b\n#define TD_HN2(a, b) a##bfloat162##b\n"
      "#define TD_HTWICE __bfloat162bfloat162\n#define TD_HHALVES __halves2bfloat162\n"
      "#define TD_HMAKE make_bfloat162\n",
      rows);
}

// The symbols of EXTERN rows, and only those, are what lowering has to provide.
TEST(Builtins, ExternRowsCallTheirSymbols) {
  std::string source;
  std::vector<std::string> symbols;
#define TD_EXTERN_ROW_EXTERN(name, arity, d, f)                                                    \
  symbols.push_back(d);                                                                            \
  symbols.push_back(f);                                                                            \
  source += "__global__ void k_" #name "(double d, float f, double* pd, float* pf) { *pd = " #name \
            "(" +                                                                                  \
            arguments(arity, "d") + "); *pf = " #name "f(" + arguments(arity, "f") + "); }\n";
#define TD_EXTERN_ROW_INLINE(name, arity, d, f)
#define TD_EXTERN_ROW_BODY(name, arity, d, f)
#define TD_MATH(name, arity, space, how, d, f) TD_EXTERN_ROW_##how(name, arity, d, f)
#include "device_builtins.def"
#undef TD_EXTERN_ROW_EXTERN
#undef TD_EXTERN_ROW_INLINE
#undef TD_EXTERN_ROW_BODY
  ASSERT_GT(symbols.size(), 40u);
  const Image image(compile(source));
  for (const std::string& symbol : symbols) {
    const llvm::Function* function = image.module->getFunction(symbol);
    ASSERT_NE(function, nullptr) << symbol;
    const bool is_float = symbol.back() == 'f' && symbol != "__td_erf";
    EXPECT_EQ(function->getReturnType()->isFloatTy(), is_float) << symbol;
    EXPECT_TRUE(function->doesNotAccessMemory()) << symbol;
    EXPECT_FALSE(function->isConvergent()) << symbol;
  }
}

// Names that look as if they had a float form.
TEST(Builtins, WhatCudaComputesInDoubleIsDouble) {
  const ClangReply reply = compile(R"(
    __global__ void k(float f) {
      static_assert(sizeof(rhypot(f, f)) == 8 && sizeof(norm3d(f, f, f)) == 8, "");
      static_assert(sizeof(rnorm3d(f, f, f)) == 8 && sizeof(norm4d(f, f, f, f)) == 8, "");
      static_assert(sizeof(rnorm4d(f, f, f, f)) == 8, "");
      static_assert(sizeof(pow(f, 2)) == 4 && sizeof(hypot(f, f, f)) == 4, "");
    })");
  EXPECT_TRUE(reply.ok) << reply.log;
}

TEST(Builtins, AtomicsThatCudaHasNotNameTheCure) {
  struct Refused {
    std::string name, type, cure;
  };
  std::vector<Refused> rows;
#define TD_NO_ATOMIC(name, type, cure) rows.push_back({#name, #type, cure});
#include "device_builtins.def"
  ASSERT_GT(rows.size(), 10u);
  for (const auto& [name, type, cure] : rows)
    for (const char* scope : {"", "_block", "_system"}) {
      const std::string full = name + scope;
      const ClangReply reply =
          compile("extern \"C\" __global__ void k(" + type + "* p) {\n  " + full + "(p, 1);\n}\n");
      EXPECT_FALSE(reply.ok) << full;
      const std::string expected = "kernel.cu:2:3: error: " + full + " has no form for " + type +
                                   "* in CUDA; " + cure + "\n";
      EXPECT_EQ(reply.log.substr(0, expected.size()), expected);
    }
}

// As programs have them that were written before CUDA had the form, or for types that it has not.
TEST(Builtins, AtomicsOfTheProgramsOwnComeFirst) {
#define TD_NO_ATOMIC(name, type, cure)                                                        \
  {                                                                                           \
    const ClangReply reply =                                                                  \
        compile("__device__ " #type " " #name "(" #type "* p, " #type                         \
                " v) { return *p = v; }\nextern \"C\" __global__ void k(" #type "* p, " #type \
                " v) { " #name "(p, v); }\n");                                                \
    EXPECT_TRUE(reply.ok) << reply.log;                                                       \
  }
#include "device_builtins.def"
}

TEST(Builtins, EveryUnsupportedRowIsRefusedAtItsLine) {
  std::vector<std::pair<std::string, std::string>> rows;
#define TD_UNSUPPORTED(name, what, test) rows.emplace_back(#name, #test);
#include "device_builtins.def"
  ASSERT_FALSE(rows.empty());
  for (const auto& [name, test] : rows) {
    const ClangReply reply = compile(std::string("extern \"C\" __global__ void k(") + kParams +
                                     ") {\n  " + test + ";\n}\n");
    EXPECT_FALSE(reply.ok) << name;
    const std::string expected = "kernel.cu:2:3: error: " + name + " (";
    EXPECT_EQ(reply.log.substr(0, expected.size()), expected);
    EXPECT_TRUE(contains(reply.log, "is known, but not supported on the software device yet"))
        << reply.log;
    EXPECT_EQ(reply.log.find("error:"), reply.log.rfind("error:")) << reply.log;
  }
}

}  // namespace
}  // namespace td::compile::test
