#include "driver/library_search.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace td::test {
namespace {

namespace fs = std::filesystem;

// A folder with copies of the stand-in library under names of our choice.
class LibrarySearch : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("treadle_library_search_" + std::to_string(getpid()));
    fs::create_directories(folder);
    unsetenv("TREADLE_LIBRARY_PATH");
  }
  void TearDown() override {
    fs::remove_all(folder);
    driver::set_library_search_path({});
  }
  fs::path put(const std::string& name) {
    fs::copy_file(TD_TEST_STANDIN, folder / name, fs::copy_options::overwrite_existing);
    return fs::canonical(folder / name);
  }
  fs::path folder;
};

TEST_F(LibrarySearch, TakesTheFirstNameThatOpens) {
  fs::path file = put("libtreadletest_a.so.12");
  driver::set_library_search_path({folder.string()});
  driver::Library library =
      driver::open_library({"libtreadletest_a.so.13", "libtreadletest_a.so.12"});
  ASSERT_TRUE(library) << library.problem;
  EXPECT_EQ(library.name, "libtreadletest_a.so.12");
  EXPECT_EQ(library.file, file.string());
  EXPECT_NE(dlsym(library.handle, "cuInit"), nullptr);
}

TEST_F(LibrarySearch, EnvironmentComesFirst) {
  fs::path file = put("libtreadletest_b.so.1");
  fs::path other = folder / "other";
  fs::create_directories(other);
  fs::copy_file(TD_TEST_STANDIN, other / "libtreadletest_b.so.1");
  driver::set_library_search_path({folder.string()});
  setenv("TREADLE_LIBRARY_PATH", other.c_str(), 1);
  EXPECT_EQ(driver::find_library_file({"libtreadletest_b.so.1"}),
            fs::canonical(other / "libtreadletest_b.so.1").string());
  driver::Library library = driver::open_library({"libtreadletest_b.so.1"});
  EXPECT_EQ(library.file, fs::canonical(other / "libtreadletest_b.so.1").string());
}

TEST_F(LibrarySearch, CompanionComesFromTheSameFolder) {
  put("libtreadletest_c.so.1");
  fs::path companion = put("libtreadletest_c-builtins.so.1.0");
  driver::set_library_search_path({folder.string()});
  ASSERT_TRUE(driver::open_library({"libtreadletest_c.so.1"}, "libtreadletest_c-builtins.so"));
  EXPECT_NE(dlopen(companion.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr)
      << "the companion was not opened";
}

TEST_F(LibrarySearch, StubFolderIsPassedOver) {
  fs::path stubs = folder / "stubs";
  fs::create_directories(stubs);
  fs::copy_file(TD_TEST_STANDIN, stubs / "libtreadletest_d.so.1");
  driver::set_library_search_path({stubs.string()});
  EXPECT_FALSE(driver::open_library({"libtreadletest_d.so.1"}));
}

TEST_F(LibrarySearch, FailureSaysWhatWasTriedAndTheCure) {
  std::ofstream(folder / "libtreadletest_e.so.1") << "no library";
  driver::set_library_search_path({folder.string()});
  driver::Library library =
      driver::open_library({"libtreadletest_e.so.2", "libtreadletest_e.so.1"}, "", "the wheel x");
  EXPECT_FALSE(library);
  for (const char* part :
       {"libtreadletest_e.so.2, libtreadletest_e.so.1", "file too short", "install the wheel x"})
    EXPECT_NE(library.problem.find(part), std::string::npos) << library.problem;
}

TEST_F(LibrarySearch, NoneHidesEverything) {
  setenv("TREADLE_LIBRARY_PATH", "none", 1);
  EXPECT_FALSE(driver::open_library({"libm.so.6"}));
  EXPECT_EQ(driver::find_library_file({"libm.so.6"}), "");
  unsetenv("TREADLE_LIBRARY_PATH");
  EXPECT_TRUE(driver::open_library({"libm.so.6"}));
}

}  // namespace
}  // namespace td::test
