// What instructions mean as C++, and what is refused. (What the C++ computes is tested where
// kernels run, that all of it compiles in tests/clang.)
#include "compile/ptx/translate.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>

#include "samples.h"

namespace td::compile::ptx {
namespace {

const std::vector<AsmOperand> kOperands = {{'r', true}, {'r'}, {'l'}, {'f'}};

std::string message(const std::string& text) {
  try {
    translate(text, kOperands, "f");
  } catch (const Refused& why) {
    return std::to_string(why.after) + ": " + why.what();
  }
  return "accepted";
}

TEST(Translate, EveryInstanceOfEveryRow) {
  std::size_t count = 0;
  for (const Row& row : rows()) {
    if (!row.supported) continue;
    for (const auto& words : instances(row)) {
      const std::string text = test::sample(row, words);
      EXPECT_NE(text, "") << row.pattern;
      EXPECT_EQ(message(text), "accepted") << text;
      ++count;
    }
  }
  EXPECT_GT(count, 1000u);
}

// Two rows that fit the same words must differ in the number of operands.
TEST(Translate, RowsAreDistinct) {
  std::set<std::string> seen;
  for (const Row& row : rows()) {
    for (const auto& words : instances(row)) {
      std::set<std::size_t> counts;
      for (const Match& match : find_instruction(words))
        EXPECT_TRUE(counts.insert(match.slots.size()).second) << base::join(words, ".");
    }
  }
}

TEST(Translate, MakesAFunction) {
  const Function function =
      translate("{ .reg .pred p; setp.lt.u32 p, %1, 5; @!p add.u32 %0, %1, %4; }",
                {{'r', true}, {'r'}, {'l'}, {'f'}, {'r', false, -1, true, 7}}, "f");
  EXPECT_EQ(function.text.substr(0, function.text.find('{')),
            "extern \"C\" __device__ __attribute__((always_inline, nodebug)) void f(unsigned& x0, "
            "unsigned x1, unsigned long long x2, float x3) ");
  EXPECT_NE(function.text.find("if (!(r0)) "), std::string::npos) << function.text;
  EXPECT_NE(function.text.find("0x7ull"), std::string::npos) << function.text;
}

TEST(Translate, RefusesWithTheReason) {
  EXPECT_EQ(message("frob.u32 %0, %1;"),
            "0: instruction 'frob.u32' is not known; docs/inline-ptx.md lists what the software "
            "device has");
  EXPECT_EQ(message("brev.b16 %0, %1;"),
            "0: 'brev.b16' is not supported; of 'brev' there is: brev.b32 d, a; brev.b64 d, a");
  EXPECT_NE(message("ld.wrong.u32 %0, [%2];").find(" more (docs/inline-ptx.md)"),
            std::string::npos);
  EXPECT_EQ(message("mov.u32 %0, 1;\nnot.b32 %0;"),
            "1: 'not.b32' does not take 1 operands; supported: not.{b16,b32,b64} d, a");
  EXPECT_EQ(message("add.u32 %0, %1, %2;"),
            "0: %2 is a 64-bit register (.b64), but a .u32 is needed");
  EXPECT_EQ(message("add.u32 %0, %1, %3;"),
            "0: %3 is a 32-bit floating-point register (.f32), but a .u32 is needed");
  EXPECT_EQ(message("add.u32 %0, %1, t;"),
            "0: 't' is neither a register of this asm statement nor a special register that the "
            "software device has");
  EXPECT_EQ(message("add.u32 %0, %1, %9;"), "0: the asm statement has no operand %9");
  EXPECT_EQ(message("lop3.b32 %0, %1, %1, %1, %1;"),
            "0: operand e of 'lop3' must be an integer constant");
  EXPECT_EQ(message("mov.u32 %laneid, %1;"), "0: special register %laneid cannot be written");
  EXPECT_EQ(message("add.u32 %0, %1, %tid.x;"),
            "0: special register %tid.x is read by mov and cvt only");
  EXPECT_EQ(message("mov.b32 %0, 1.0;"), "0: a floating-point constant does not stand for a .b32");
  EXPECT_EQ(message("bar.red.popc.u32 %0, 3, p;"),
            "0: 'bar[.cta].red.popc' is supported for barrier 0 only");
  EXPECT_EQ(message("ld.global.u32 %0, [%1];"),
            "0: %1 has 32 bits: addresses have 64, but for those of .shared");
  EXPECT_EQ(message("ld.global.v4.u32 {%0, %0}, [%2];"),
            "0: expected a vector of 4 registers, as {a, b}");
  EXPECT_EQ(message("mov.u32 5, %1;"), "0: a result goes to a register");
  EXPECT_EQ(message("bra NOWHERE;"), "0: label 'NOWHERE' is not defined in this asm statement");
  EXPECT_EQ(message(".shared .u32 t;"),
            "0: '.shared.u32' is not supported: only registers can be declared, as '.reg .u32 "
            "name;'");
  EXPECT_EQ(message("{ .reg .u32 t; } mov.u32 %0, t;"),
            "1: 't' is neither a register of this asm statement nor a special register that the "
            "software device has");
}

// Mutated samples: C++ or a refusal.
TEST(Translate, SurvivesAnyText) {
  std::mt19937 random(5);
  std::vector<std::string> words = {"%0", "%1", "%2", "%3", "%5",   "{",   "}",   "[",
                                    "]",  "|",  "!",  "@",  ";",    ",",   "1.5", "-1",
                                    "p",  "d",  "a",  "_",  ".u32", ".f64"};
  std::vector<std::string> samples;
  for (const Row& row : rows())
    for (const auto& instance : instances(row)) samples.push_back(test::sample(row, instance));
  unsigned accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = samples[random() % samples.size()];
    for (unsigned i = random() % 4; i-- > 0;) {
      const std::size_t at = text.empty() ? 0 : random() % text.size();
      if (random() % 2) text.erase(at, random() % 3);
      text.insert(at, words[random() % words.size()]);
    }
    accepted += message(text) == "accepted";
  }
  EXPECT_GT(accepted, 1000u);
}

}  // namespace
}  // namespace td::compile::ptx
