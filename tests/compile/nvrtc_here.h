// Skips a test where no NVRTC can be opened, with the loader's own reason.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "compile/compile.h"

#define SKIP_WITHOUT_NVRTC()                                                                  \
  if (auto nvrtc = td::compile::compiler_info(td::compile::ImageFormat::cubin); !nvrtc.found) \
  GTEST_SKIP() << "NVRTC: " << nvrtc.problem

// A cache folder of the test's own.
class OwnCache : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/treadle-compile-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    setenv("TREADLE_CACHE_DIR", (folder_ + "/cache").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TREADLE_CACHE_DIR");
    std::filesystem::remove_all(folder_);
  }
  std::string folder_;
};
