// Ends of processes and forks: exit statuses of softdev_process_program.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace {

// Exit status of the program in a mode, as the shell tells it: 128 + signal for a killed one.
int run(const std::string& mode, const std::string& prefix = "") {
  int status =
      std::system((prefix + "timeout 60 " TEST_PROGRAM " " + mode + " 2>/dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Processes, EndWithTheirOwnStatus) {
  for (const char* mode : {"live_allocations", "pending_work", "pending_host_function",
                           "after_fault", "not_initialised"})
    EXPECT_EQ(run(mode), 7) << mode;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The range of device addresses shrinks to what the process may have.
TEST(Processes, LittleAddressSpace) {
  EXPECT_EQ(run("live_allocations", "ulimit -v 8000000; "), 7);
  EXPECT_EQ(run("after_fault", "ulimit -v 8000000; "), 7);
}
#endif

TEST(Processes, Forks) {
  // What only the parent's threads could reach is a leak in the child.
  const char* no_leaks = "ASAN_OPTIONS=detect_leaks=0 ";
  for (const char* mode : {"fork_idle", "fork_before_start", "fork_busy"})
    EXPECT_EQ(run(mode, no_leaks), 7) << mode;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // The sanitizers' own allocators do not survive a fork while other threads allocate.
  EXPECT_EQ(run("fork_from_many_threads"), 7);
#endif
}

TEST(Processes, OwnFaultsStayTheirOwn) {
  EXPECT_EQ(run("own_handler"), 42);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // timeout(1) answers 128 + SIGSEGV.
  EXPECT_EQ(run("own_fault"), 139);
#endif
}

TEST(Processes, AWarmCacheNeedsNoCompiler) {
  std::string folder =
      "TREADLE_TEST_CACHE=/tmp/treadle-process-test-" + std::to_string(getpid()) + " ";
  EXPECT_EQ(run("cached", folder), 2);  // cold: the compiler was opened
  EXPECT_EQ(run("cached", folder), 7);
  EXPECT_EQ(run("no_compiler"), 7);
  std::system(("rm -rf /tmp/treadle-process-test-" + std::to_string(getpid())).c_str());
}

}  // namespace
