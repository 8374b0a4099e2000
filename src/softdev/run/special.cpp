#include "softdev/run/special.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/background.h"
#include "base/log.h"
#include "base/text.h"
#include "softdev/jit/lower_image.h"

namespace td::softdev {

namespace {

// Some milliseconds of work: less than the making costs.
constexpr std::uint64_t worth_it = std::uint64_t{1} << 20;
// A thread of a small kernel. Threads with loops are counted as several.
constexpr std::uint64_t nanoseconds_of_thread = 4;

// Kernels of more instructions keep their first code: the full pipeline takes minutes for some.
constexpr std::uint32_t largest = 20000;

enum class Mode { never, when_worth_it, always };

Mode mode() {
  static const Mode chosen = [] {
    const char* text = std::getenv("TREADLE_SOFT_SPECIAL");
    if (text && std::strcmp(text, "never") == 0) return Mode::never;
    if (text && std::strcmp(text, "always") == 0) return Mode::always;
    return Mode::when_worth_it;
  }();
  return chosen;
}

bool fits_31_bits(const unsigned (&grid)[3], const unsigned (&block)[3]) {
  for (int i = 0; i < 3; ++i)
    if (std::uint64_t{grid[i]} * block[i] > 0x7fffffffu) return false;
  return true;
}

}  // namespace

SpecialCodes::Entry* SpecialCodes::entry_of(const unsigned (&block)[3]) {
  for (unsigned i = 0; i < count_; ++i)
    if (std::equal(block, block + 3, entries_[i].block)) return &entries_[i];
  if (count_ == most) return nullptr;
  std::copy(block, block + 3, entries_[count_].block);
  return &entries_[count_++];
}

// The entry's code; asks for it once `enough` threads have been launched.
const KernelCode* SpecialCodes::find_in(Entry& entry, std::uint64_t threads, std::uint64_t enough) {
  if (const KernelCode* code = entry.code.load(std::memory_order_acquire)) return code;
  if (entry.asked) return nullptr;
  entry.threads += threads;
  if (mode() == Mode::always) {
    entry.asked = true;
    make(entry);
    return entry.code.load(std::memory_order_acquire);
  }
  if (entry.threads >= enough) {
    entry.asked = true;
    base::Background::get().ask([codes = shared_from_this(), &entry] { codes->make(entry); },
                                base::Background::Urgency::someday);
  }
  return nullptr;
}

const KernelCode* SpecialCodes::find(const unsigned (&grid)[3], const unsigned (&block)[3],
                                     bool* undecided) {
  if (mode() == Mode::never || quick_size_ > largest) return nullptr;
  std::uint64_t threads =
      std::uint64_t{grid[0]} * grid[1] * grid[2] * block[0] * block[1] * block[2];
  threads += nanoseconds_.exchange(0, std::memory_order_relaxed) / nanoseconds_of_thread;
  // Large kernels take longer to compile, and to run.
  std::uint64_t enough = worth_it * (1 + quick_size_ / 1000);
  std::lock_guard lock(mutex_);
  const KernelCode* code = nullptr;
  if (Entry* entry = by_block_ && fits_31_bits(grid, block) ? entry_of(block) : nullptr) {
    code = find_in(*entry, threads, enough);
    *undecided = !entry->asked;
  }
  if (!code && quick_size_ != 0) {
    code = find_in(all_sizes_, threads, enough / 64);
    *undecided = *undecided || !all_sizes_.asked;
  }
  return code;
}

bool SpecialCodes::place(Entry& entry, const LowerReply& reply, std::string* problem) {
  entry.object = ElfObject::load(reply.object, problem);
  if (!entry.object || reply.kernels.size() != 1) return false;
  const LoweredKernel& kernel = reply.kernels[0];
  auto find = [&](const std::string& symbol) {
    return symbol.empty() ? nullptr : entry.object->find(symbol, true);
  };
  entry.storage.warp = reinterpret_cast<WarpFunction>(find(kernel.warp_symbol));
  entry.storage.block = reinterpret_cast<BlockFunction>(find(kernel.block_symbol));
  entry.storage.stack_bytes = kernel.stack_bytes;
  return entry.storage.block || (!by_block_ && entry.storage.warp);
}

// Whatever goes wrong, the code for all block sizes is there.
void SpecialCodes::make(Entry& entry) {
  LowerRequest request;
  request.bitcode = *bitcode_;
  request.kernel = kernel_;
  std::copy(entry.block, entry.block + 3, request.block);
  LowerReply reply;
  std::string problem;
  if (lower_image(request, &reply, &problem) == cuda::CUDA_SUCCESS && place(entry, reply, &problem))
    return entry.code.store(&entry.storage, std::memory_order_release);
  base::log(base::LogLevel::info,
            base::cat("no special code for kernel ", kernel_, " and blocks of ", entry.block[0],
                      " x ", entry.block[1], " x ", entry.block[2], ": ", problem));
}

}  // namespace td::softdev
