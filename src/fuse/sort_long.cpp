// Host side of sort_long.cuh: one count of all digits, then a pass for each.
#include <algorithm>

#include "base/text.h"
#include "fuse/axis_rows.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/sort_rows.h"

namespace td::fuse {
namespace {

using base::cat;

constexpr unsigned kThreads = 512;   // of a block that moves a tile
constexpr std::int64_t kGroup = 16;  // tiles in a group, groups in a set
constexpr int kSharedPerMultiprocessor = 81, kSharedPerBlock = 97;  // CUdevice_attribute

std::int64_t parts(std::int64_t length, std::int64_t size) { return (length + size - 1) / size; }

// How a block moves elements: values, or pairs of value and place.
struct Move {
  DType dtype;
  bool places, wide;  // wide: counts of a row need more than 30 bits
  int items;          // elements a thread

  Move(driver::DeviceState& device, const SortRows& job)
      : dtype(job.in.dtype()), places(job.places), wide(job.length >= std::int64_t{1} << 30) {
    // Two blocks on a multiprocessor, each of which the driver takes 1 KiB for itself.
    std::int64_t room = std::min(device.attribute(kSharedPerBlock),
                                 device.attribute(kSharedPerMultiprocessor) / 2 - 1024);
    std::int64_t fit = (room - counters()) / (kThreads * element_bytes());
    std::int64_t best = places ? 14 * 8 / element_bytes()  // more do not fit into registers
                               : 16 / std::max<std::int64_t>(1, element_bytes() / 4);
    items = static_cast<int>(std::clamp<std::int64_t>(fit, 1, best));
  }

  std::int64_t element_bytes() const {
    auto bytes = static_cast<std::int64_t>(itemsize(dtype));
    return places ? std::max<std::int64_t>(8, 2 * bytes) : bytes;
  }
  std::int64_t tile() const { return std::int64_t{kThreads} * items; }
  // td_sort_shared behind its union.
  std::int64_t counters() const { return 256 * (wide ? 8 : 4) + 1024 + 48; }
  unsigned shared_bytes() const {
    std::int64_t ahead = std::int64_t{kThreads} / 32 * 1024;
    return static_cast<unsigned>(std::max(ahead, tile() * element_bytes()) + counters());
  }
  std::string word() const { return wide ? "unsigned long long" : "unsigned"; }
  std::string text() const;
};

std::string count_text(DType dtype) {
  std::string passes = std::to_string(sort_passes(dtype));
  return sort_headers(dtype) + kText_sort_long +
         "extern \"C\" __global__ void __launch_bounds__(256) td_count(const T* in, unsigned* "
         "totals, long long length, long long rows, long long chunk, int chunks, unsigned flip) { "
         "td_count_digits<T, " +
         passes + ">(in, totals, length, rows, chunk, chunks, flip); }\n";
}

std::string plan_text(DType dtype) {
  return sort_headers(dtype) + kText_sort_long +
         "extern \"C\" __global__ void __launch_bounds__(256) td_plan(unsigned* totals, int* plan, "
         "unsigned length, long long rows) { td_plan_passes<" +
         std::to_string(sort_passes(dtype)) + ">(totals, plan, length, rows); }\n";
}

std::string Move::text() const {
  std::string element = places ? "td_pair<T>" : "T", result = places ? "long long" : "T";
  return sort_headers(dtype) + kText_sort_long + "typedef " + element + " E;\ntypedef " + result +
         " R;\nextern \"C\" __global__ void __launch_bounds__(512, 2) td_move(const T* in, E* "
         "same, E* "
         "other, R* result, const unsigned* starts, const int* plan, " +
         word() +
         "* state, unsigned* tickets, long long length, long long rows, long long tiles, int pass, "
         "unsigned flip) {\n  const td_sort_buffers<T, E, R> buffers = {in, same, other, result};\n"
         "  td_move_digits<T, E, R, " +
         word() + ", 512, " + std::to_string(items) + ", " + std::to_string(sort_passes(dtype)) +
         ">(buffers, starts, plan, state, tickets, length, rows, tiles, pass, flip);\n}\n";
}

// Scratch memory: totals of digits, tickets and what tiles publish, all zero at first; the plan.
struct Scratch {
  std::int64_t totals, tickets, state, plan;  // bytes
  Array memory;

  CUdeviceptr at(std::int64_t offset) const {
    return address_of(memory) + static_cast<CUdeviceptr>(offset);
  }
};

Scratch make_scratch(const SortRows& job, const Array& out, std::int64_t tiles, bool wide) {
  std::int64_t passes = sort_passes(job.in.dtype()), groups = parts(tiles, kGroup);
  std::int64_t words = job.rows * (tiles + groups + parts(groups, kGroup)) * 256;
  Scratch s{
      job.rows * passes * 256 * 4, 128, words * (wide ? 8 : 4), job.rows * (passes + 1) * 4, {}};
  s.memory = empty_beside(out, {s.totals + s.tickets + s.state + s.plan}, DType::uint8);
  return s;
}

}  // namespace

void sort_long_rows(const SortRows& job, CUdeviceptr source, const Array& out) {
  DType dtype = job.in.dtype();
  int passes = sort_passes(dtype), number = static_cast<int>(dtype);
  auto [device, stream] = launch_target(out);
  const Move move(device, job);
  std::int64_t tiles = parts(job.length, move.tile());
  Scratch scratch = make_scratch(job, out, tiles, move.wide);
  CUdeviceptr totals = scratch.at(0), tickets = scratch.at(scratch.totals),
              state = scratch.at(scratch.totals + scratch.tickets),
              plan = scratch.at(scratch.totals + scratch.tickets + scratch.state);
  TD_CALL(device, cuMemsetD8Async, totals, 0,
          static_cast<std::size_t>(scratch.totals + scratch.tickets + scratch.state), stream);

  std::int64_t wanted = std::max<std::int64_t>(1, resident_blocks(device) * 3 / 4 / job.rows);
  std::int64_t chunks = std::min(wanted, parts(job.length, move.tile()));
  std::int64_t chunk = 256 * parts(parts(job.length, chunks), 256);
  chunks = parts(job.length, chunk);
  Arguments counting;
  counting.add(source);
  counting.add(totals);
  counting.add(job.length);
  counting.add(job.rows);
  counting.add(chunk);
  counting.add(static_cast<std::int32_t>(chunks));
  counting.add(job.flip);
  launch(device, stream,
         kernel(
             device, cat("sort count ", number), [&] { return count_text(dtype); }, "td_count"),
         job.rows * chunks, counting);

  Arguments planning;
  planning.add(totals);
  planning.add(plan);
  planning.add(static_cast<std::uint32_t>(job.length));
  planning.add(job.rows);
  launch(device, stream,
         kernel(
             device, cat("sort plan ", number), [&] { return plan_text(dtype); }, "td_plan"),
         job.rows, planning);

  // The last pass writes the result, which serves the others where it holds what they move.
  CUdeviceptr result = address_of(out), same = move.places ? 0 : result, other = 0;
  Array buffers[2];
  std::int64_t bytes = job.rows * job.length * move.element_bytes();
  for (int k = 0; passes > 1 && k < (move.places ? 2 : 1); ++k) {
    buffers[k] = empty_beside(out, {bytes}, DType::uint8);
    (k == 0 ? other : same) = address_of(buffers[k]);
  }
  const LoadedKernel& moving = kernel(
      device, cat("sort move ", number, ' ', move.places, ' ', move.wide, ' ', move.items),
      [&] { return move.text(); }, "td_move");
  for (int pass = 0; pass < passes; ++pass) {
    Arguments arguments;
    for (CUdeviceptr buffer : {source, same, other, result, totals, plan, state, tickets})
      arguments.add(buffer);
    arguments.add(job.length);
    arguments.add(job.rows);
    arguments.add(tiles);
    arguments.add(pass);
    arguments.add(job.flip);
    launch(device, stream, moving, job.rows * tiles, arguments, kThreads, move.shared_bytes());
  }
}

}  // namespace td::fuse
