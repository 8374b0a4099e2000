// The contract of base/disk_cache.h: whole entries or none, whatever happens to the files, with
// many processes at work.
#include "base/disk_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;
using td::base::DiskCache;
using td::base::Hash128;
using td::base::Hasher;

Hash128 key_of(std::uint64_t number) { return Hasher().add(number).finish(); }

// Content that only its own key has, of a length that varies.
std::string value_of(std::uint64_t number, std::size_t length = 0) {
  std::string out;
  for (std::uint64_t i = 0; out.size() < (length ? length : 100 + number % 977); ++i)
    out += std::to_string(number) + ":" + std::to_string(i) + ",";
  if (length) out.resize(length);
  return out;
}

class DiskCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/treadle-cache-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    setenv("TREADLE_CACHE_DIR", root_.c_str(), 1);
    unsetenv("TREADLE_CACHE_MAX_BYTES");
  }
  void TearDown() override {
    unsetenv("TREADLE_CACHE_DIR");
    unsetenv("TREADLE_CACHE_MAX_BYTES");
    fs::remove_all(root_);
  }

  fs::path file(const DiskCache& cache, std::uint64_t number) const {
    return fs::path(cache.folder()) / key_of(number).hex();
  }
  static void age(const fs::path& path, int seconds) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    timespec times[2] = {{now.tv_sec - seconds, 0}, {now.tv_sec - seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  std::uint64_t bytes_on_disk() const {
    std::uint64_t total = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      if (entry.is_regular_file()) total += entry.file_size();
    return total;
  }

  std::string root_;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_F(DiskCacheTest, GivesBackWhatWasStored) {
  DiskCache cache("image"), other("object");
  EXPECT_FALSE(cache.load(key_of(1)).has_value());
  std::string binary("\0\xff\n binary \0", 12);
  cache.store(key_of(1), binary);
  cache.store(key_of(2), "");
  EXPECT_EQ(cache.load(key_of(1)), binary);
  EXPECT_EQ(cache.load(key_of(2)), "");
  EXPECT_FALSE(other.load(key_of(1)).has_value());
  cache.store(key_of(1), "newer");
  EXPECT_EQ(DiskCache("image").load(key_of(1)), "newer");
}

TEST_F(DiskCacheTest, TruncationAtEveryLengthCountsAsAbsent) {
  DiskCache cache("image");
  cache.store(key_of(1), value_of(1, 200));
  const std::string whole = read_file(file(cache, 1));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file(file(cache, 1), whole.substr(0, length));
    EXPECT_FALSE(cache.load(key_of(1)).has_value()) << length;
  }
  write_file(file(cache, 1), whole + "x");
  EXPECT_FALSE(cache.load(key_of(1)).has_value());
  write_file(file(cache, 1), whole);
  EXPECT_EQ(cache.load(key_of(1)), value_of(1, 200));
}

TEST_F(DiskCacheTest, EveryFlippedBitIsSeenAndTheEntryRewritten) {
  DiskCache cache("image");
  cache.store(key_of(1), value_of(1, 64));
  const std::string whole = read_file(file(cache, 1));
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_file(file(cache, 1), damaged);
    ASSERT_FALSE(cache.load(key_of(1)).has_value()) << bit;
  }
  cache.store(key_of(1), value_of(1, 64));
  EXPECT_EQ(cache.load(key_of(1)), value_of(1, 64));
}

TEST_F(DiskCacheTest, AFileUnderAnotherKeyIsForeign) {
  DiskCache cache("image");
  cache.store(key_of(1), value_of(1));
  fs::copy_file(file(cache, 1), file(cache, 2));
  EXPECT_FALSE(cache.load(key_of(2)).has_value());
  fs::remove(file(cache, 2));
  fs::create_directory(file(cache, 2));  // even a folder of that name
  EXPECT_FALSE(cache.load(key_of(2)).has_value());
  cache.store(key_of(2), "x");
  EXPECT_EQ(cache.load(key_of(1)), value_of(1));
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedGoFirst) {
  setenv("TREADLE_CACHE_MAX_BYTES", "20000", 1);
  DiskCache images("image"), objects("object");
  for (int i = 0; i < 18; ++i) {
    const DiskCache& cache = i % 2 ? images : objects;
    cache.store(key_of(i), value_of(i, 1000));
    age(file(cache, i), 1000 - i);
  }
  ASSERT_EQ(objects.load(key_of(0)), value_of(0, 1000));  // the oldest is used again
  for (int i = 18; i < 24; ++i) images.store(key_of(i), value_of(i, 1000));
  EXPECT_LE(bytes_on_disk(), 20000u);
  EXPECT_GE(bytes_on_disk(), 10000u);
  EXPECT_TRUE(objects.load(key_of(0)).has_value());
  EXPECT_FALSE(images.load(key_of(1)).has_value());
  EXPECT_FALSE(objects.load(key_of(2)).has_value());
  EXPECT_EQ(images.load(key_of(17)), value_of(17, 1000));
  EXPECT_EQ(images.load(key_of(23)), value_of(23, 1000));
}

TEST_F(DiskCacheTest, AnEntryOverTheBoundIsNotStored) {
  setenv("TREADLE_CACHE_MAX_BYTES", "5000", 1);
  DiskCache cache("image");
  cache.store(key_of(1), value_of(1, 1000));
  cache.store(key_of(2), value_of(2, 6000));
  EXPECT_FALSE(cache.load(key_of(2)).has_value());
  EXPECT_TRUE(cache.load(key_of(1)).has_value());
}

TEST_F(DiskCacheTest, AFolderThatCannotBeWrittenTurnsTheCacheOff) {
  write_file(root_ + "/file", "not a folder");
  std::vector<std::string> places{root_ + "/file/cache", "/proc/treadle-cache"};
  if (geteuid() != 0) {
    fs::create_directory(root_ + "/closed");
    fs::permissions(root_ + "/closed", fs::perms::owner_read | fs::perms::owner_exec);
    places.push_back(root_ + "/closed");
  }
  for (const std::string& place : places) {
    setenv("TREADLE_CACHE_DIR", place.c_str(), 1);
    DiskCache cache("image");
    EXPECT_EQ(cache.folder(), "") << place;
    cache.store(key_of(1), "x");
    EXPECT_FALSE(cache.load(key_of(1)).has_value()) << place;
  }
}

TEST_F(DiskCacheTest, AFolderThatVanishesIsNoError) {
  DiskCache cache("image");
  fs::remove_all(root_);
  cache.store(key_of(1), "x");
  EXPECT_FALSE(cache.load(key_of(1)).has_value());
}

TEST_F(DiskCacheTest, AnEmptyVariableTurnsTheCacheOff) {
  setenv("TREADLE_CACHE_DIR", "", 1);
  DiskCache cache("image");
  EXPECT_EQ(cache.folder(), "");
  cache.store(key_of(1), "x");
  EXPECT_FALSE(cache.load(key_of(1)).has_value());
}

TEST_F(DiskCacheTest, FoldersAreTheOnesThatTheContractNames) {
  unsetenv("TREADLE_CACHE_DIR");
  const char* home = std::getenv("HOME");
  std::string old_home = home ? home : "";
  setenv("XDG_CACHE_HOME", (root_ + "/xdg").c_str(), 1);
  EXPECT_EQ(DiskCache("image").folder(), root_ + "/xdg/treadle/image");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", (root_ + "/home").c_str(), 1);
  EXPECT_EQ(DiskCache("pch").folder(), root_ + "/home/.cache/treadle/pch");
  setenv("HOME", old_home.c_str(), 1);
}

TEST_F(DiskCacheTest, TemporaryFilesOfCrashedWritersGo) {
  fs::create_directories(root_ + "/image");
  write_file(root_ + "/image/.tmp-1-2-3", "half written");
  write_file(root_ + "/image/.tmp-4-5-6", "being written");
  age(root_ + "/image/.tmp-1-2-3", 3600);
  DiskCache("image").store(key_of(1), "x");
  EXPECT_FALSE(fs::exists(root_ + "/image/.tmp-1-2-3"));
  EXPECT_TRUE(fs::exists(root_ + "/image/.tmp-4-5-6"));
}

// Every child stores and loads the same keys; with a bound, the children also evict under each
// other.
int hammer(std::uint64_t seed, int rounds) {
  DiskCache cache("image");
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
  for (int i = 0; i < rounds; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    std::uint64_t number = (state >> 33) % 40;
    if (state >> 63) cache.store(key_of(number), value_of(number));
    auto value = cache.load(key_of(number));
    if (value && *value != value_of(number)) return 1;
  }
  return 0;
}

TEST_F(DiskCacheTest, FourProcessesAtOnce) {
  for (const char* bound : {"1000000", "12000"}) {
    setenv("TREADLE_CACHE_MAX_BYTES", bound, 1);
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      pid_t child = fork();
      if (child == 0) _exit(hammer(static_cast<std::uint64_t>(i), 400));
      ASSERT_GT(child, 0);
      children.push_back(child);
    }
    for (pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << bound;
    }
    for (const auto& entry : fs::directory_iterator(root_ + "/image"))
      EXPECT_NE(entry.path().filename().string()[0], '.') << entry.path();
  }
  DiskCache cache("image");
  cache.store(key_of(0), value_of(0));
  EXPECT_EQ(cache.load(key_of(0)), value_of(0));
}

}  // namespace
