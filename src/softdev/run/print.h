// What kernels print. Text waits here, in whole calls, until the program synchronises; then it goes
// to stdout. The buffer has the size of CU_LIMIT_PRINTF_FIFO_SIZE; when it is full the oldest text
// is lost, as on a GPU.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace td::softdev {

class PrintBuffer {
 public:
  PrintBuffer();
  ~PrintBuffer();
  void append(std::string_view text);
  void flush();
  void set_capacity(std::size_t bytes) { capacity_ = bytes; }
  std::size_t capacity() const { return capacity_; }

 private:
  std::mutex mutex_;
  std::deque<std::string> calls_;
  std::size_t bytes_ = 0;
  std::atomic<std::size_t> capacity_{1u << 20};
  std::atomic<bool> any_{false};
};

}  // namespace td::softdev
