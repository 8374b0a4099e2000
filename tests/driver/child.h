// Runs one test of this executable in a fresh process: for state that a process has only once (the
// driver that was found, a context that a fault has spoilt).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace td::test {

struct ChildResult {
  int status = -1;     // exit status, 128 + signal when killed
  std::string output;  // stdout and stderr
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// Starts this executable with --gtest_filter=`test` --gtest_also_run_disabled_tests and the
// environment given.
ChildResult run_child(const std::string& test, const Environment& environment = {});

}  // namespace td::test
