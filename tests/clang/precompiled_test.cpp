// The precompiled prelude in a folder: made once, read by other processes, damage repaired. Each
// step is a process of its own (fork), because a process keeps the prelude in memory.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "helpers.h"

namespace td::compile::test {
namespace {

namespace fs = std::filesystem;

class Precompiled : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("td_pch_" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Compiles in a child; true when it went well. A macro makes this a set of options that no other
  // test has used, so that nothing in memory answers.
  pid_t start(const std::string& source = "__global__ void k(float* p) { *p = expf(*p); }") {
    const pid_t child = fork();
    if (child != 0) return child;
    ClangRequest request;
    request.source = source;
    request.options = {"--std=c++20", "--fmad=false"};
    request.pch_folder = folder_.string();
    ClangReply reply;
    td_cc_compile(request, reply);
    if (!reply.ok) fprintf(stderr, "%s", reply.log.c_str());
    _exit(reply.ok ? 0 : 1);
  }
  static bool finish(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (fs::exists(folder_)) {
      for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    }
    return found;
  }
  static std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path folder_;
};

TEST_F(Precompiled, IsMadeOnceAndUsed) {
  ASSERT_TRUE(finish(start()));
  ASSERT_EQ(files().size(), 1u);
  const auto written = fs::last_write_time(files()[0]);
  const std::string bytes = read(files()[0]);
  EXPECT_GT(bytes.size(), 100000u);
  ASSERT_TRUE(finish(start()));
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(fs::last_write_time(files()[0]), written);
}

TEST_F(Precompiled, DamageIsRepaired) {
  ASSERT_TRUE(finish(start()));
  const fs::path file = files().at(0);
  const std::string good = read(file);
  const std::vector<std::function<std::string()>> damages = {
      [&] { return good.substr(0, good.size() / 2); },
      [&] { return std::string(); },
      [&] {
        return std::string(
            "not at all a precompiled header, but long enough to hold one's first bytes");
      },
      [&] {
        std::string flipped = good;
        flipped[flipped.size() / 2] ^= 0x10;
        return flipped;
      },
  };
  for (const auto& damage : damages) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damage();
    ASSERT_NE(read(file), good);
    ASSERT_TRUE(finish(start()));
    EXPECT_EQ(read(file), good);
  }
}

TEST_F(Precompiled, ManyProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) children.push_back(start());
  for (pid_t child : children) EXPECT_TRUE(finish(child));
  EXPECT_EQ(files().size(), 1u);  // no temporary file is left
  EXPECT_TRUE(finish(start()));
}

TEST_F(Precompiled, AFolderThatCannotBeWrittenIsNoError) {
  std::ofstream(folder_) << "a file where the folder should be";
  EXPECT_TRUE(finish(start()));
  EXPECT_TRUE(fs::is_regular_file(folder_));
}

}  // namespace
}  // namespace td::compile::test
