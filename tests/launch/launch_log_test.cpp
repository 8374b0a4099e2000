// What a fault's message says about the kernels launched before it.
#include "driver/launch_log.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using td::driver::LaunchLog;

TEST(LaunchLog, NamesTheLastFirst) {
  LaunchLog log;
  EXPECT_EQ(log.text(), "");
  log.note("first", "");
  EXPECT_EQ(log.text(), "launched last: kernel 'first'");
  log.note("second", "user.py:7");
  EXPECT_EQ(log.text(), "launched last: kernel 'second' at user.py:7, before it 'first'");
  for (int i = 0; i < 100; ++i) log.note("k" + std::to_string(i), "");
  EXPECT_EQ(log.text(),
            "launched last: kernel 'k99', before it 'k98', before it 'k97', before it 'k96'");
  log.clear();
  EXPECT_EQ(log.text(), "");
}

TEST(LaunchLog, TellsHowToLearnTheLineOfAKernelInPython) {
  LaunchLog log;
  log.note("py__mine", "user.py:7");
  EXPECT_EQ(log.text(),
            "launched last: kernel 'mine' at user.py:7; with TREADLE_BOUNDSCHECK=1 a bad index in "
            "Python is reported with its line");
}

TEST(LaunchLog, CutsLongNames) {
  LaunchLog log;
  log.note(std::string(1000, 'k'), std::string(1000, 'w'));
  std::string text = log.text();
  EXPECT_NE(text.find("'" + std::string(50, 'k')), std::string::npos);
  EXPECT_LT(text.size(), 250u);
}

TEST(LaunchLog, ManyThreads) {
  LaunchLog log;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        log.note("same", "place");
        EXPECT_EQ(log.text().find("launched last: kernel 'same' at place"), 0u);
      }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
