// The contract of base/ready_pack.h, and of base/build_id.h, which its keys rest on.
#include "base/ready_pack.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/build_id.h"

namespace {

namespace fs = std::filesystem;
using td::base::build_id;
using td::base::Hash128;
using td::base::Hasher;
using td::base::ReadyPack;
using td::base::ReadyPackWriter;

Hash128 key_of(std::uint64_t number) { return Hasher().add(number).finish(); }
std::string value_of(std::uint64_t number) {
  return std::string(number * 37 % 500, static_cast<char>(number)) + std::to_string(number);
}
constexpr std::uint64_t kCount = 50;

class ReadyPackTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/treadle-ready-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/pack";
    ReadyPackWriter writer;
    for (std::uint64_t i = 0; i < kCount; ++i) writer.add(key_of(i), value_of(i));
    ASSERT_TRUE(writer.write(path_));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  void replace(const std::string& bytes) const {
    fs::remove(path_);
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  std::string folder_, path_;
};

TEST_F(ReadyPackTest, GivesBackWhatWasWritten) {
  ReadyPack pack(path_);
  EXPECT_EQ(pack.size(), kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(pack.load(key_of(i)), value_of(i));
  for (std::uint64_t i = kCount; i < 2 * kCount; ++i) EXPECT_FALSE(pack.load(key_of(i)));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);  // nothing temporary is left
}

TEST_F(ReadyPackTest, AnAbsentOrEmptyPackHasNothing) {
  EXPECT_EQ(ReadyPack(folder_ + "/absent").size(), 0u);
  EXPECT_EQ(ReadyPack(folder_).size(), 0u);
  EXPECT_EQ(ReadyPack("").size(), 0u);
  ASSERT_TRUE(ReadyPackWriter().write(path_));
  EXPECT_EQ(ReadyPack(path_).size(), 0u);
  EXPECT_FALSE(ReadyPack(path_).load(key_of(1)));
}

// Wherever a byte is wrong, no wrong value comes out and nothing beyond the file is read.
TEST_F(ReadyPackTest, AWrongByteNeverGivesAWrongValue) {
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    std::string wrong = whole;
    wrong[at] = static_cast<char>(wrong[at] ^ 0x80);
    replace(wrong);
    ReadyPack pack(path_);
    for (std::uint64_t i = 0; i < kCount; ++i)
      if (auto value = pack.load(key_of(i))) {
        EXPECT_EQ(*value, value_of(i)) << at;
      }
  }
}

TEST_F(ReadyPackTest, AFileThatWasCutKeepsWhatIsWhole) {
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); length += 101) {
    replace(whole.substr(0, length));
    ReadyPack pack(path_);
    for (std::uint64_t i = 0; i < kCount; ++i)
      if (auto value = pack.load(key_of(i))) {
        EXPECT_EQ(*value, value_of(i)) << length;
      }
  }
}

TEST_F(ReadyPackTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_FALSE(ReadyPackWriter().write(folder_ + "/absent/pack"));
}

TEST_F(ReadyPackTest, ABuildIdIsOfTheContentNotOfThePlace) {
  const std::string self = fs::read_symlink("/proc/self/exe");
  const std::string id = build_id(self);
  EXPECT_GE(id.size(), 16u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  fs::copy_file(self, folder_ + "/copy");
  EXPECT_EQ(build_id(folder_ + "/copy"), id);
}

TEST_F(ReadyPackTest, WhatIsNoProgramHasNoBuildId) {
  EXPECT_EQ(build_id(path_), "");
  EXPECT_EQ(build_id(folder_), "");
  EXPECT_EQ(build_id(folder_ + "/absent"), "");
  std::ifstream in("/proc/self/exe", std::ios::binary);
  std::string head(64, '\0');
  in.read(head.data(), 64);
  replace(head);  // a header that points at segments which are not there
  EXPECT_EQ(build_id(path_), "");
}

}  // namespace
