// Does a sequence repeat itself? A training loop asks for the same sizes in the same order over and
// over; a service that answers requests of any size does not.
//
// Each number is compared with the one that followed the last occurrence of the current context
// (the latest four numbers), as a compressor of the LZ77 family does. run() counts how many numbers
// in a row were foretold. Memory is bounded; a number costs one look-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace td::driver {

class Repetition {
 public:
  void note(std::uint64_t value);
  // How many of the latest numbers, one after the other, were foretold; 0 when the last was not.
  std::size_t run() const { return run_; }

 private:
  // Longer periods than this are not seen.
  static constexpr std::size_t kHistory = std::size_t{1} << 13;
  static constexpr std::size_t kContext = 4;
  std::uint64_t context() const;

  std::vector<std::uint64_t> history_;                    // a ring
  std::unordered_map<std::uint64_t, std::size_t> after_;  // hash of a context -> what came next
  std::size_t count_ = 0;
  bool known_ = false;        // is a number foretold?
  std::size_t expected_ = 0;  // its position
  std::size_t run_ = 0;
};

}  // namespace td::driver
