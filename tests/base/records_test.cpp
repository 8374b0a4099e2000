// Byte records, hashes and text helpers.
#include <gtest/gtest.h>

#include <set>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"

namespace {

using namespace td::base;

TEST(Bytes, ReadsWhatWasWrittenAndStopsAtAnyTruncation) {
  ByteWriter writer;
  writer.number(7);
  writer.text("seven");
  writer.text("");
  const std::string record = writer.take();
  for (std::size_t length = 0; length <= record.size(); ++length) {
    ByteReader reader(std::string_view(record).substr(0, length));
    bool right = reader.number() == 7 && reader.text() == "seven" && reader.text().empty() &&
                 reader.at_end();
    EXPECT_EQ(right, length == record.size()) << length;
  }
}

TEST(Bytes, ALengthBeyondTheEndIsDamageNotAnAllocation) {
  ByteWriter writer;
  writer.number(~0ull);
  std::string record = writer.take();
  ByteReader reader(record);
  EXPECT_EQ(reader.text(), "");
  EXPECT_FALSE(reader.ok());
}

TEST(Hash, BoundariesOfFieldsCount) {
  std::set<std::string> seen;
  seen.insert(Hasher().add("ab").add("c").finish().hex());
  seen.insert(Hasher().add("a").add("bc").finish().hex());
  seen.insert(Hasher().add("abc").finish().hex());
  seen.insert(Hasher().add("abc").add("").finish().hex());
  seen.insert(Hasher().finish().hex());
  seen.insert(Hasher().add(std::string_view("\0", 1)).finish().hex());
  EXPECT_EQ(seen.size(), 6u);
}

TEST(Hash, EveryBitOfALongTextCounts) {
  const std::string text(97, 'x');
  std::set<std::string> seen{Hasher().add(text).finish().hex()};
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    seen.insert(Hasher().add(other).finish().hex());
  }
  EXPECT_EQ(seen.size(), 8 * text.size() + 1);
}

TEST(Text, Helpers) {
  EXPECT_EQ(cat("block of ", 1025, " threads"), "block of 1025 threads");
  EXPECT_EQ(tuple_text(std::vector<int>{}), "()");
  EXPECT_EQ(tuple_text(std::vector<int>{3}), "(3,)");
  EXPECT_EQ(tuple_text(std::vector<int>{3, 4}), "(3, 4)");
  EXPECT_EQ(split("a::b", ':'), (std::vector<std::string>{"a", "", "b"}));
}

}  // namespace
