// NVIDIA's published occupancy rules: a block is resident as a whole, so each resource of the
// multiprocessor divided by what a block takes of it, in the units in which the hardware hands it
// out, bounds the number of blocks; the least bound counts.
#include "base/occupancy.h"

#include <algorithm>

#include "base/text.h"
#include "treadle/error.h"

namespace td {

namespace {

constexpr int kWarp = 32;
constexpr int kRegisters = 65536;
constexpr std::size_t kKilo = 1024;

#define TD_LIST(...) {__VA_ARGS__}
#define TD_MULTIPROCESSOR(major, minor, threads, blocks, shared, opt_in, reserved, granule, \
                          barriers, carve_outs)                                             \
  constexpr int kCarveOuts_##major##_##minor[] = TD_LIST carve_outs;
#include "multiprocessors.def"
#define TD_MULTIPROCESSOR(major, minor, threads, blocks, shared, opt_in, reserved, granule, \
                          barriers, carve_outs)                                             \
  {major,                                                                                   \
   minor,                                                                                   \
   threads,                                                                                 \
   blocks,                                                                                  \
   1024,                                                                                    \
   kRegisters,                                                                              \
   kRegisters,                                                                              \
   255,                                                                                     \
   256,                                                                                     \
   4,                                                                                       \
   (barriers) * (blocks),                                                                   \
   (shared) * kKilo,                                                                        \
   48 * kKilo,                                                                              \
   (opt_in) * kKilo,                                                                        \
   reserved,                                                                                \
   granule,                                                                                 \
   kCarveOuts_##major##_##minor},
constexpr Multiprocessor kRows[] = {
#include "multiprocessors.def"
};
#undef TD_LIST

constexpr bool rows_are_sane() {
  for (const Multiprocessor& row : kRows) {
    if (row.threads % (kWarp * row.partitions) != 0) return false;
    if (static_cast<std::size_t>(row.carve_outs_kb.back()) * kKilo != row.shared) return false;
    if (row.block_shared + row.reserved_shared > row.shared) return false;
    if (&row != kRows && row.major * 10 + row.minor <= (&row)[-1].major * 10 + (&row)[-1].minor)
      return false;
  }
  return true;
}
static_assert(rows_are_sane());

template <class T>
constexpr T round_up(T value, T granule) {
  return (value + granule - 1) / granule * granule;
}

// Shared memory of the multiprocessor: what the kernel prefers, or what one block needs if that is
// more, in a size that can be set.
std::size_t shared_in_all(const Multiprocessor& on, int carve_out, std::size_t block) {
  if (carve_out < 0) return on.shared;
  std::size_t wanted = std::max(on.shared * static_cast<std::size_t>(carve_out) / 100, block);
  for (int kb : on.carve_outs_kb)
    if (static_cast<std::size_t>(kb) * kKilo >= wanted) return static_cast<std::size_t>(kb) * kKilo;
  return on.shared;
}

void limit_by_threads(const Multiprocessor& on, const KernelNeeds& needs, int threads,
                      Occupancy& out) {
  bool fits = threads <= std::min(needs.max_threads, on.block_threads);
  out.by_threads = fits ? out.max_warps / out.warps : 0;
}

// Warps are dealt out to the partitions, each of which has its own registers; a block takes them of
// all partitions alike.
void limit_by_registers(const Multiprocessor& on, const KernelNeeds& needs, Occupancy& out) {
  out.by_registers = Occupancy::kUnlimited;
  if (needs.registers == 0) return;
  int warp = round_up(needs.registers * kWarp, on.register_granule);
  out.registers = warp * out.warps;
  bool fits = needs.registers <= on.thread_registers &&
              warp * round_up(out.warps, on.partitions) <= on.block_registers;
  out.by_registers = fits ? on.registers / on.partitions / warp * on.partitions / out.warps : 0;
}

void limit_by_shared(const Multiprocessor& on, const KernelNeeds& needs, std::size_t dynamic,
                     Occupancy& out) {
  // More than any device has is as good as the number itself, and its sums do not wrap around.
  constexpr std::size_t kAnyDevice = std::size_t{1} << 40;
  std::size_t asked = std::min(needs.shared, kAnyDevice) + std::min(dynamic, kAnyDevice);
  out.shared = round_up(asked + on.reserved_shared, on.shared_granule);
  out.shared_in_all = shared_in_all(on, needs.carve_out, out.shared);
  out.needs_opt_in = asked > on.plain_shared;
  if (asked > on.block_shared)
    out.by_shared = 0;
  else
    out.by_shared =
        out.shared ? static_cast<int>(out.shared_in_all / out.shared) : Occupancy::kUnlimited;
}

void check(const KernelNeeds& needs, int threads) {
  auto refuse = [](const char* what, long long value, const char* range) {
    throw ValueError(base::cat("occupancy: ", what, " is ", value, "; it must be ", range));
  };
  if (threads < 1) refuse("the block size", threads, "at least 1 thread");
  if (needs.registers < 0 || needs.registers > 65535)
    refuse("the number of registers of a thread", needs.registers, "0 (not known) to 65535");
  if (needs.max_threads < 1) refuse("the most threads of a block", needs.max_threads, "at least 1");
  if (needs.barriers < 0 || needs.barriers > 16)
    refuse("the number of named barriers", needs.barriers, "0 to 16");
  if (needs.carve_out < -1 || needs.carve_out > 100)
    refuse("the preferred share of shared memory", needs.carve_out,
           "0 to 100 percent, or -1 for none");
}

}  // namespace

std::span<const Multiprocessor> multiprocessors() { return kRows; }

const Multiprocessor& multiprocessor(int major, int minor) {
  std::string known;
  for (const Multiprocessor& row : kRows) {
    if (row.major == major && row.minor == minor) return row;
    known += base::cat(known.empty() ? "" : ", ", row.major, ".", row.minor);
  }
  throw ValueError(base::cat("occupancy: nothing is known of compute capability ", major, ".",
                             minor, "; known are ", known));
}

Occupancy occupancy(const Multiprocessor& on, const KernelNeeds& needs, int threads,
                    std::size_t dynamic_shared) {
  check(needs, threads);
  Occupancy out{};
  out.warps = (threads - 1) / kWarp + 1;
  out.max_warps = on.threads / kWarp;
  limit_by_threads(on, needs, threads, out);
  limit_by_registers(on, needs, out);
  limit_by_shared(on, needs, dynamic_shared, out);
  out.by_blocks = on.blocks;
  out.by_barriers =
      needs.barriers && on.barriers ? on.barriers / needs.barriers : Occupancy::kUnlimited;
  out.blocks =
      std::min({out.by_threads, out.by_registers, out.by_shared, out.by_blocks, out.by_barriers});
  auto mark = [&](int limit, OccupancyLimit bit) {
    if (limit == out.blocks) out.limited_by |= static_cast<unsigned>(bit);
  };
  mark(out.by_threads, OccupancyLimit::threads);
  mark(out.by_registers, OccupancyLimit::registers);
  mark(out.by_shared, OccupancyLimit::shared);
  mark(out.by_blocks, OccupancyLimit::blocks);
  mark(out.by_barriers, OccupancyLimit::barriers);
  out.active_warps = out.blocks * out.warps;
  return out;
}

BestBlock best_block(const Multiprocessor& on, const KernelNeeds& needs, int multiprocessor_count,
                     int most_threads, SharedOfThreads shared_of, void* context) {
  int most = std::min({needs.max_threads, on.block_threads, most_threads});
  BestBlock best{};
  int best_resident = 0;
  for (int size = round_up(most, kWarp); size > 0; size -= kWarp) {
    int threads = std::min(size, most);
    int blocks = occupancy(on, needs, threads, shared_of(context, threads)).blocks;
    if (blocks * threads <= best_resident) continue;
    best_resident = blocks * threads;
    best = {threads, blocks * multiprocessor_count};
  }
  return best;
}

BestBlock best_block(const Multiprocessor& on, const KernelNeeds& needs, int multiprocessor_count,
                     std::size_t dynamic_shared) {
  auto same = [](void* context, int) { return *static_cast<std::size_t*>(context); };
  return best_block(on, needs, multiprocessor_count, on.block_threads, same, &dynamic_shared);
}

std::ptrdiff_t shared_that_fits(const Multiprocessor& on, const KernelNeeds& needs, int threads,
                                int blocks) {
  if (blocks < 1)
    throw ValueError(
        base::cat("occupancy: the number of blocks is ", blocks, "; it must be at least 1"));
  // For each size that shared memory can have: its share for a block, if it gets that size then.
  std::size_t taken = needs.shared + on.reserved_shared;
  std::ptrdiff_t most = -1;
  for (int kb : on.carve_outs_kb) {
    std::size_t each = static_cast<std::size_t>(kb) * kKilo / static_cast<std::size_t>(blocks) /
                       on.shared_granule * on.shared_granule;
    if (each < taken || needs.shared > on.block_shared) continue;
    std::size_t dynamic = std::min(each - taken, on.block_shared - needs.shared);
    if (occupancy(on, needs, threads, dynamic).blocks >= blocks)
      most = std::max(most, static_cast<std::ptrdiff_t>(dynamic));
  }
  return most;
}

}  // namespace td
