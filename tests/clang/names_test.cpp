#include "helpers.h"

namespace td::compile::test {
namespace {

const char* const kSource = R"(
namespace ns {
template <class T, int N> __global__ void k(T* p) { p[0] = N; }
__global__ void plain(int) {}
__constant__ int table[4];
}
template <class T> __device__ T variable = 3;
__device__ float scale;
)";

TEST(NameExpressions, InstancesAreMadeAndNamed) {
  const ClangReply reply =
      compile(kSource, {},
              {"ns::k<float, 3>", "&ns::k<double, (1 > 2)>", "ns::plain", "&scale", "ns::table"});
  ASSERT_TRUE(reply.ok) << reply.log;
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"ns::k<float, 3>", "_ZN2ns1kIfLi3EEEvPT_"},
      {"&ns::k<double, (1 > 2)>", "_ZN2ns1kIdLi0EEEvPT_"},
      {"ns::plain", "_ZN2ns5plainEi"},
      {"&scale", "scale"},
      {"ns::table", "_ZN2ns5tableE"},
  };
  EXPECT_EQ(reply.lowered_names, expected);
  const Image image(reply);
  for (const auto& [expression, symbol] : expected) {
    EXPECT_NE(image.module->getNamedValue(symbol), nullptr) << expression;
  }
  EXPECT_EQ(reply.kernels.size(), 3u);
  // The variables that carry the expressions leave nothing behind.
  EXPECT_FALSE(contains(image.text(), "name_expression"));
}

TEST(NameExpressions, MistakesNameTheExpression) {
  EXPECT_TRUE(contains(compile(kSource, {}, {"ns::plain", "missing<int>"}).log,
                       "<name expression>:1:1: error: use of undeclared identifier 'missing'"));
  const ClangReply number = compile(kSource, {}, {"5"});
  EXPECT_FALSE(number.ok);
  EXPECT_TRUE(
      contains(number.log, "name expression '5' names neither a kernel nor a device variable"))
      << number.log;
  EXPECT_TRUE(number.lowered_names.empty());
}

}  // namespace
}  // namespace td::compile::test
