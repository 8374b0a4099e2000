// Special code: a kernel's block function made for one block size, behind the launches' back.
//
// Code that knows the block's size has no masks for rows that fill the vectors, no test for indices
// that wrap around, and loops over warps of known length. It is worth its making only for kernels
// that run a lot: a block size asks for it once `worth_it` threads have been launched with it.
// TREADLE_SOFT_SPECIAL=never does without, =always makes it before the first launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "softdev/jit/elf_object.h"
#include "softdev/simt/kernel_abi.h"

namespace td::softdev {

struct SpecialCode {
  BlockFunction block = nullptr;
  std::uint32_t stack_bytes = 0;
  std::unique_ptr<ElfObject> object;
};

// The special codes of one kernel. Shared with the thread that makes them, which may be at work
// when the kernel's module is unloaded.
class SpecialCodes : public std::enable_shared_from_this<SpecialCodes> {
 public:
  static constexpr unsigned most = 4;  // block sizes
  SpecialCodes(std::shared_ptr<const std::string> bitcode, std::string kernel)
      : bitcode_(std::move(bitcode)), kernel_(std::move(kernel)) {}

  // For a launch that is about to happen: null where there is none (yet).
  const SpecialCode* find(const unsigned (&grid)[3], const unsigned (&block)[3]);

 private:
  friend class SpecialMaker;
  struct Entry {
    std::uint32_t block[3] = {0, 0, 0};
    std::uint64_t threads = 0;  // launched so far
    bool asked = false;
    std::atomic<const SpecialCode*> code{nullptr};
    SpecialCode storage;
  };
  void make(Entry& entry);

  std::shared_ptr<const std::string> bitcode_;
  std::string kernel_;
  std::mutex mutex_;
  unsigned count_ = 0;
  Entry entries_[most];
};

}  // namespace td::softdev
