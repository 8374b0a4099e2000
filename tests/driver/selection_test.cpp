// Which library is the driver, what a failing cuInit tells the user, and which device a name
// chooses. A process decides these once, so each case runs in a child with an environment of its
// own, over the stand-in driver library.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "child.h"
#include "driver/select.h"
#include "driver/state.h"

namespace td::test {
namespace {

std::string probe(Environment environment) {
  // What the tests do not set must not leak in from the caller.
  Environment all = {{"TREADLE_DEVICE", "auto"}, {"TREADLE_LOG", "warn"}};
  all.insert(all.end(), environment.begin(), environment.end());
  ChildResult result = run_child("Child.DISABLED_Probe", all);
  EXPECT_EQ(result.status, 0) << result.output;
  return result.output;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

#define EXPECT_CONTAINS(text, part) \
  EXPECT_TRUE(contains(text, part)) << "no \"" << part << "\" in:\n" << text

// What the child runs: everything that selection says, on stdout.
TEST(Child, DISABLED_Probe) {
  for (const driver::Rung& rung : driver::discovery(driver::nvidia_provider()))
    std::printf("[%s] %s: %s\n", rung.name.c_str(), rung.passed ? "passed" : "failed",
                rung.detail.c_str());
  for (int i = 0; i < 2; ++i) {
    try {
      std::printf("current: %s\n", Device::current().name().c_str());
    } catch (const DriverError& error) {
      std::printf("error: %s\n", error.what());
    } catch (const ValueError& error) {
      std::printf("value error: %s\n", error.what());
    }
  }
}

constexpr const char* kStandin = TD_TEST_STANDIN;

TEST(Selection, NamesTheFileReallyLoaded) {
  std::string text = probe({{"TREADLE_LIBCUDA", kStandin}, {"TREADLE_DEVICE", "cuda"}});
  EXPECT_CONTAINS(text, std::string("[driver library] passed: ") +
                            std::filesystem::canonical(kStandin).string());
  EXPECT_CONTAINS(text, "[cuInit] passed: CUDA 13.0");
  EXPECT_CONTAINS(text, "[device count] passed: 1");
  EXPECT_CONTAINS(text, "current: cuda:0");
}

TEST(Selection, HiddenDriver) {
  for (const char* value : {"none", ""}) {
    std::string text = probe({{"TREADLE_LIBCUDA", value}});
    EXPECT_CONTAINS(text,
                    "[driver library] failed: the NVIDIA driver is hidden by TREADLE_LIBCUDA");
    EXPECT_CONTAINS(text, "[cuInit] failed: not reached");
  }
}

TEST(Selection, MissingFile) {
  std::string text = probe({{"TREADLE_LIBCUDA", "/nonexistent/libcuda.so.1"}});
  EXPECT_CONTAINS(text, "[driver library] failed");
  EXPECT_CONTAINS(text, "no such file");
}

TEST(Selection, LibraryThatIsNoDriver) {
  std::string text = probe({{"TREADLE_LIBCUDA", "libm.so.6"}});
  EXPECT_CONTAINS(text, "has no cuInit");
}

TEST(Selection, StubByItsAnswer) {
  std::string text = probe({{"TREADLE_LIBCUDA", kStandin}, {"STANDIN_INIT", "34"}});
  EXPECT_CONTAINS(text, "stub, not a driver");
}

TEST(Selection, StubByItsFolder) {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "treadle_selection_test" / "stubs";
  std::filesystem::create_directories(folder);
  std::filesystem::path file = folder / "libcuda.so.1";
  std::filesystem::copy_file(kStandin, file, std::filesystem::copy_options::overwrite_existing);
  std::string text = probe({{"TREADLE_LIBCUDA", file.string()}});
  EXPECT_CONTAINS(text, "stub, not a driver");
  std::filesystem::remove_all(folder.parent_path());
}

struct InitRow {
  const char* code;
  const char* name;
  const char* cure;
};
constexpr InitRow kInit[] = {
    {"100", "CUDA_ERROR_NO_DEVICE (100)", "unset it, or name a GPU that exists"},
    {"46", "CUDA_ERROR_DEVICE_UNAVAILABLE (46)", "compute mode"},
    {"802", "CUDA_ERROR_SYSTEM_NOT_READY (802)", "fabric manager"},
    {"803", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", "reboot"},
    {"804", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804)", "compat folder"},
    {"805", "CUDA_ERROR_MPS_CONNECTION_FAILED (805)", "MPS daemon"},
};

TEST(Selection, FailedInitSaysWhyAndWhatToDo) {
  for (const InitRow& row : kInit) {
    std::string text = probe(
        {{"TREADLE_LIBCUDA", kStandin}, {"STANDIN_INIT", row.code}, {"CUDA_VISIBLE_DEVICES", "7"}});
    EXPECT_CONTAINS(text, "[driver library] passed");
    EXPECT_CONTAINS(text, "[cuInit] failed");
    EXPECT_CONTAINS(text, row.name);
    EXPECT_CONTAINS(text, row.cure);
  }
}

TEST(Selection, NoDevice) {
  std::string text = probe({{"TREADLE_LIBCUDA", kStandin}, {"STANDIN_DEVICES", "0"}});
  EXPECT_CONTAINS(text, "[cuInit] passed");
  EXPECT_CONTAINS(text, "[device count] failed");
}

// A device that cannot copy fails the check: auto must not take it, and must say so, once.
TEST(Selection, AutoPassesOverADeviceThatFailsItsCheck) {
  std::string text = probe({{"TREADLE_LIBCUDA", kStandin}, {"STANDIN_NO_COPY", "1"}});
  if (driver::software_provider().usable()) {
    EXPECT_CONTAINS(text, "current: soft:0");
    std::size_t first = text.find("running on the software device");
    ASSERT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find("running on the software device", first + 1), std::string::npos) << text;
  } else {
    EXPECT_CONTAINS(text, "error: there is no usable device");
  }
  EXPECT_CONTAINS(text, "failed its check");
}

TEST(Selection, AutoTakesAGpuThatWorks) {
  std::string text = probe({{"TREADLE_LIBCUDA", kStandin}});
  EXPECT_CONTAINS(text, "current: cuda:0");
  EXPECT_FALSE(contains(text, "running on the software device")) << text;
}

TEST(Selection, AskedForGpuIsNeverReplaced) {
  std::string text = probe({{"TREADLE_LIBCUDA", "none"}, {"TREADLE_DEVICE", "cuda"}});
  EXPECT_CONTAINS(text, "error: there is no device cuda:0");
  EXPECT_FALSE(contains(text, "current:")) << text;
}

TEST(Selection, OrdinalBeyondTheLast) {
  std::string text = probe(
      {{"TREADLE_LIBCUDA", kStandin}, {"STANDIN_DEVICES", "3"}, {"TREADLE_DEVICE", "cuda:3"}});
  EXPECT_CONTAINS(text, "the machine has 3 devices of this kind; use cuda:0 to cuda:2");
}

TEST(Selection, NamesThatMeanNothing) {
  for (const char* name :
       {"gpu", "cuda:", "cuda:x", "soft:-1", "soft:1x", "CUDA", "cuda:99999999999"}) {
    std::string text = probe({{"TREADLE_LIBCUDA", "none"}, {"TREADLE_DEVICE", name}});
    EXPECT_CONTAINS(text, "value error: \"" + std::string(name) + "\" names no device");
  }
}

TEST(Selection, EveryResultCodeHasOneName) {
  EXPECT_EQ(driver::result_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(driver::result_name(12345), "CUDA error 12345");
  EXPECT_FALSE(driver::result_meaning(1).empty());
}

}  // namespace
}  // namespace td::test
