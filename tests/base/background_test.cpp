// The background thread: order, waiting, fork, and ends of processes with work under way.
#include "base/background.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace td::base {
namespace {

using Urgency = Background::Urgency;

Background& background() { return Background::get(); }

// Keeps the thread at work until it is opened.
class Gate {
 public:
  Gate() {
    background().ask([this] { opened_.get_future().wait(); }, Urgency::awaited);
  }
  void open() { opened_.set_value(); }

 private:
  std::promise<void> opened_;
};

// What a child process that ends with exit(body()) returns.
int status_of_child(int (*body)()) {
  pid_t child = fork();
  if (child == 0) std::exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Background, AwaitedJobsComeFirstAndInOrder) {
  std::string order;
  Gate gate;
  background().ask([&] { order += 'x'; }, Urgency::someday);
  for (char c : {'a', 'b', 'c'}) background().ask([&order, c] { order += c; }, Urgency::awaited);
  background().ask([&] { order += 'y'; }, Urgency::someday);
  gate.open();
  background().wait();
  EXPECT_EQ(order, "abcxy");
}

TEST(Background, WaitingIncludesWhatJobsAskFor) {
  std::atomic<int> done{0};
  background().ask(
      [&] {
        ++done;
        background().ask([&] { ++done; }, Urgency::someday);
      },
      Urgency::awaited);
  background().wait();
  EXPECT_EQ(done, 2);
  background().wait();  // with nothing to do
}

TEST(Background, ManyThreadsAskAndWait) {
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        background().ask([&] { ++done; }, k % 2 ? Urgency::awaited : Urgency::someday);
        if (k % 50 == 0) background().wait();
      }
      background().wait();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 2000);
}

TEST(Background, ChildOfForkDoesWhatItInherits) {
  static std::atomic<int> done{0};
  done = 0;
  for (int k = 0; k < 200; ++k) background().ask([] { ++done; }, Urgency::someday);
  EXPECT_EQ(status_of_child([] {
              background().wait();
              int inherited = done;
              background().ask([] { ++done; }, Urgency::awaited);
              background().wait();
              return inherited == 200 && done == 201 ? 7 : 1;
            }),
            7);
  background().wait();
  EXPECT_EQ(done, 200);
}

TEST(Background, ChildGoesOnWhenToldTo) {
  static std::atomic<int> done{0};
  done = 0;
  for (int k = 0; k < 200; ++k) background().ask([] { ++done; }, Urgency::awaited);
  EXPECT_EQ(status_of_child([] {
              background().keep_going();
              for (int k = 0; k < 30000 && done < 200; ++k) usleep(1000);
              return done == 200 ? 7 : 1;
            }),
            7);
  background().wait();
}

// Pending jobs are dropped, and one that never ends does not keep the process.
TEST(Background, ExitDoesNotWaitForEverAndKeepsTheStatus) {
  EXPECT_EQ(status_of_child([] {
              static std::promise<void> begun;
              background().ask(
                  [] {
                    begun.set_value();
                    std::this_thread::sleep_for(std::chrono::hours(1));
                  },
                  Urgency::awaited);
              background().ask([] { _exit(2); }, Urgency::awaited);
              begun.get_future().wait();
              return 9;
            }),
            9);
}

TEST(Background, ExitWaitsForAShortJob) {
  static int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  int status = status_of_child([] {
    static std::promise<void> begun;
    background().ask(
        [] {
          begun.set_value();
          usleep(20000);
          [[maybe_unused]] auto n = write(pipe_ends[1], "!", 1);
        },
        Urgency::awaited);
    begun.get_future().wait();
    return 9;
  });
  close(pipe_ends[1]);
  char c = 0;
  EXPECT_EQ(status, 9);
  EXPECT_EQ(read(pipe_ends[0], &c, 1), 1);
  EXPECT_EQ(c, '!');
  close(pipe_ends[0]);
}

}  // namespace
}  // namespace td::base
