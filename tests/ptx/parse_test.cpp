// The syntax of asm statements, and what the parser makes of text that is none.
#include "compile/ptx/parse.h"

#include <gtest/gtest.h>

#include <random>

#include "samples.h"

namespace td::compile::ptx {
namespace {

TEST(Parse, ReadsABlock) {
  const auto statements = parse(
      "{ // a comment; of one line\n"
      "  .reg .pred p, q<2>;\n"
      "AGAIN:\n"
      "  @!p add.cc.u32 %0, %1, -0x1f; /* one\n two */\n"
      "  ld.global.L1::no_allocate.v2.u32 {%0, _}, [%2+8];\n"
      "  shfl.sync.idx.b32 %0|p, %tid.x, WARP_SZ, 0b101, 1.5;\n"
      "}");
  ASSERT_EQ(statements.size(), 7u);
  EXPECT_EQ(statements[0].kind, Statement::Kind::open);
  EXPECT_EQ(statements[1].words, (std::vector<std::string>{"reg", "pred"}));
  EXPECT_EQ(statements[1].names, (std::vector<std::string>{"p", "q0", "q1"}));
  EXPECT_EQ(statements[2].kind, Statement::Kind::label);
  const Statement& add = statements[3];
  EXPECT_EQ(add.guard, "p");
  EXPECT_TRUE(add.guard_negated);
  EXPECT_EQ(add.words, (std::vector<std::string>{"add", "cc", "u32"}));
  EXPECT_EQ(add.operands[2].bits, 0 - 31ull);
  EXPECT_EQ(add.after, 2) << "the comment has one";
  const Statement& load = statements[4];
  EXPECT_EQ(load.words[2], "L1::no_allocate");
  EXPECT_EQ(load.operands[0].parts[1].name, "_");
  EXPECT_EQ(load.operands[1].kind, Operand::Kind::address);
  EXPECT_EQ(load.operands[1].bits, 8u);
  EXPECT_EQ(load.after, 3);
  const Statement& shuffle = statements[5];
  EXPECT_EQ(shuffle.operands[0].second, "p");
  EXPECT_EQ(shuffle.operands[1].name, "%tid.x");
  EXPECT_EQ(shuffle.operands[3].bits, 5u);
  EXPECT_EQ(shuffle.operands[4].kind, Operand::Kind::number64);
}

TEST(Parse, ReadsNumbers) {
  const auto value = [](const std::string& text) {
    return parse("mov.b64 a, " + text + ";")[0].operands[1].bits;
  };
  EXPECT_EQ(value("017"), 15u);
  EXPECT_EQ(value("0xFFU"), 255u);
  EXPECT_EQ(value("~0"), ~0ull);
  EXPECT_EQ(value("0f3F800000"), 0x3f800000u);
  EXPECT_EQ(value("-0f3F800000"), 0xbf800000u);
  EXPECT_EQ(value("0d3ff0000000000000"), 0x3ff0000000000000u);
  EXPECT_EQ(value("1e-1"), 0x3fb999999999999aull);
}

TEST(Parse, SaysWhatIsWrongAndWhere) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse(text);
    } catch (const Refused& why) {
      return std::to_string(why.after) + ": " + why.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message("mov.u32 a, 1;\nadd.u32 a, a"), "1: expected ';' before the end");
  EXPECT_EQ(message("{ mov.u32 a, 1;"), "1: '}' is missing");
  EXPECT_EQ(message("mov.u32 a, 0x1g;"), "0: '0x1g' is no number");
  EXPECT_EQ(message("mov.u32 a, 99999999999999999999;"),
            "0: the integer 99999999999999999999 does not fit in 64 bits");
  EXPECT_EQ(message("call (a), f, (b);"), "0: calls of functions are not supported");
  EXPECT_EQ(message(".reg .u32 t<99999>;"), "0: more than 1024 registers 't'");
}

// Whatever the text is: statements or a refusal. Half of it is samples of the table, cut and mixed.
TEST(Parse, SurvivesAnyText) {
  std::mt19937 random(11);
  std::vector<std::string> samples;
  for (const Row& row : rows())
    for (const auto& words : instances(row)) samples.push_back(test::sample(row, words));
  const std::string alphabet = "{}[]()<>|!@%$.,:;+-~_ \n/*0123456789abcdefxULnreg";
  const auto below = [&](std::size_t limit) { return random() % limit; };
  unsigned accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 2 ? samples[below(samples.size())] : "";
    const std::size_t changes = 1 + below(round % 2 ? 4 : 60);
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t at = below(text.size() + 1);
      if (below(3) == 0 && at < text.size())
        text.erase(at, 1 + below(4));
      else
        text.insert(at, 1, alphabet[below(alphabet.size())]);
    }
    try {
      parse(text);
      ++accepted;
    } catch (const Refused&) {
      ++refused;
    }
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace td::compile::ptx
