// The last kernels launched on a device, for messages: a fault surfaces at a later call, which by
// itself says nothing about the kernel that caused it.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace td::driver {

// Thread-safe; a note costs some ten nanoseconds and allocates nothing. Long names are cut.
class LaunchLog {
 public:
  // `kernel` is its symbol; `where` is the launch's place in the user's program, "" when not known.
  void note(std::string_view kernel, std::string_view where);
  // "launched last: kernel 'k' at file.py:12, before it 'j'", and how to learn the line where one
  // of them was written in Python; "" when nothing was launched.
  std::string text() const;
  void clear();

 private:
  struct Entry {
    char kernel[56] = {};
    char where[104] = {};
  };
  static constexpr unsigned kEntries = 4;

  class Lock {
   public:
    explicit Lock(std::atomic_flag& flag) : flag_(flag) {
      while (flag_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { flag_.clear(std::memory_order_release); }

   private:
    std::atomic_flag& flag_;
  };

  mutable std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  Entry entries_[kEntries];
  unsigned count_ = 0;
};

}  // namespace td::driver
