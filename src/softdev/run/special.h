// Special code: a kernel's block function made for one block size, behind the launches' back.
//
// Code that knows the block's size has no masks for rows that fill the vectors, no test for indices
// that wrap around, and loops over warps of known length. It is worth its making only for kernels
// that run a lot: a block size asks for it once `worth_it` threads have been launched with it, or
// fewer threads have run for as long as so many take.
// A large kernel that was first compiled in a hurry (LoweredKernel::quick_size) also gets code for
// all block sizes that is compiled in full. TREADLE_SOFT_SPECIAL=never does without all this,
// =always makes special code before the first launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "softdev/jit/elf_object.h"
#include "softdev/simt/kernel_abi.h"
#include "softdev/simt/lower.h"

namespace td::softdev {

// What a launch calls.
struct KernelCode {
  WarpFunction warp = nullptr;
  BlockFunction block = nullptr;  // null for a kernel whose barriers want warps as coroutines
  std::uint32_t stack_bytes = 0;
};

// The special codes of one kernel. Shared with the thread that makes them, which may be at work
// when the kernel's module is unloaded.
class SpecialCodes : public std::enable_shared_from_this<SpecialCodes> {
 public:
  static constexpr unsigned most = 4;  // block sizes
  SpecialCodes(std::shared_ptr<const std::string> bitcode, const LoweredKernel& kernel)
      : bitcode_(std::move(bitcode)),
        kernel_(kernel.name),
        quick_size_(kernel.quick_size),
        by_block_(!kernel.block_symbol.empty()) {}

  // For a launch that is about to happen: null where there is none (yet). `undecided` becomes true
  // when the time of that launch helps to decide whether there will be.
  const KernelCode* find(const unsigned (&grid)[3], const unsigned (&block)[3], bool* undecided);
  // A worker has run blocks of an undecided launch for so long.
  void note_time(std::uint64_t nanoseconds) {
    nanoseconds_.fetch_add(nanoseconds, std::memory_order_relaxed);
  }

 private:
  struct Entry {
    std::uint32_t block[3] = {0, 0, 0};
    std::uint64_t threads = 0;  // launched so far
    bool asked = false;
    std::atomic<const KernelCode*> code{nullptr};
    KernelCode storage;
    std::unique_ptr<ElfObject> object;
  };
  const KernelCode* find_in(Entry& entry, std::uint64_t threads, std::uint64_t enough);
  Entry* entry_of(const unsigned (&block)[3]);
  void make(Entry& entry);
  bool place(Entry& entry, const LowerReply& reply, std::string* problem);

  std::shared_ptr<const std::string> bitcode_;
  std::string kernel_;
  std::uint32_t quick_size_;
  bool by_block_;                              // there can be code for single block sizes
  std::atomic<std::uint64_t> nanoseconds_{0};  // noted since the last launch
  std::mutex mutex_;
  unsigned count_ = 0;
  Entry entries_[most];
  Entry all_sizes_;  // of a kernel that was compiled in a hurry
};

}  // namespace td::softdev
