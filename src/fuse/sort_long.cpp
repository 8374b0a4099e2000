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

constexpr unsigned kThreads = 512;                // of a block that moves a tile
constexpr std::int64_t kTileBytes = 32768;        // in shared memory
constexpr std::int64_t kMostCounted = 4 * 65280;  // elements of a chunk, for counters of 16 bits
constexpr std::int64_t kGroup = 16;               // tiles in a group, groups in a set

std::int64_t parts(std::int64_t length, std::int64_t size) { return (length + size - 1) / size; }

int items_of(DType dtype) {
  return static_cast<int>(kTileBytes / kThreads) / std::max<int>(4, sort_passes(dtype));
}

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

std::string move_text(DType dtype, bool places, bool wide) {
  std::string word = wide ? "unsigned long long" : "unsigned";
  return sort_headers(dtype) + kText_sort_long +
         "extern \"C\" __global__ void __launch_bounds__(512, 2) td_move(const T* in, T* values0, "
         "T* values1, unsigned* places0, unsigned* places1, long long* result, const unsigned* "
         "starts, const int* plan, " +
         word +
         "* state, unsigned* tickets, long long length, long long rows, long long tiles, int pass, "
         "unsigned flip) {\n  const td_sort_buffers<T> buffers = {in, values0, values1, places0, "
         "places1, result};\n  td_move_digits<T, " +
         word + ", 512, " + std::to_string(items_of(dtype)) + ", " +
         std::to_string(sort_passes(dtype)) + ", " + (places ? "true" : "false") +
         ">(buffers, starts, plan, state, tickets, length, rows, tiles, pass, flip);\n}\n";
}

// Scratch memory: totals of digits, tickets and the state of a pass, all zero at first; the plan.
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
  bool wide = job.length >= std::int64_t{1} << 31;
  std::int64_t tile = std::int64_t{kThreads} * items_of(dtype), tiles = parts(job.length, tile);
  Scratch scratch = make_scratch(job, out, tiles, wide);
  CUdeviceptr totals = scratch.at(0), tickets = scratch.at(scratch.totals),
              state = scratch.at(scratch.totals + scratch.tickets),
              plan = scratch.at(scratch.totals + scratch.tickets + scratch.state);
  TD_CALL(device, cuMemsetD8Async, totals, 0,
          static_cast<std::size_t>(scratch.totals + scratch.tickets + scratch.state), stream);

  std::int64_t wanted = std::max<std::int64_t>(1, resident_blocks(device) * 3 / 4 / job.rows);
  std::int64_t chunk = parts(parts(job.length, std::min(wanted, parts(job.length, tile))), 256);
  chunk = std::min(256 * chunk, kMostCounted);
  std::int64_t chunks = parts(job.length, chunk);
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

  // What the last pass does not write is needed where there is more than one.
  Array values[2], places[2];
  CUdeviceptr result = address_of(out), to_values[2] = {0, job.places ? 0 : result},
              to_places[2] = {0, 0};
  for (int k = 0; passes > 1 && k < (job.places ? 2 : 1); ++k) {
    values[k] = empty_beside(out, {job.rows * job.length}, dtype);
    to_values[k] = address_of(values[k]);
    if (!job.places) continue;
    places[k] = empty_beside(out, {job.rows * job.length}, DType::uint32);
    to_places[k] = address_of(places[k]);
  }
  const LoadedKernel& moving = kernel(
      device, cat("sort move ", number, ' ', job.places, ' ', wide),
      [&] { return move_text(dtype, job.places, wide); }, "td_move");
  for (int pass = 0; pass < passes; ++pass) {
    if (pass > 0)
      TD_CALL(device, cuMemsetD8Async, state, 0, static_cast<std::size_t>(scratch.state), stream);
    Arguments arguments;
    arguments.add(source);
    for (CUdeviceptr buffer : {to_values[0], to_values[1], to_places[0], to_places[1]})
      arguments.add(buffer);
    arguments.add(job.places ? result : CUdeviceptr{0});
    arguments.add(totals);
    arguments.add(plan);
    arguments.add(state);
    arguments.add(tickets);
    arguments.add(job.length);
    arguments.add(job.rows);
    arguments.add(tiles);
    arguments.add(pass);
    arguments.add(job.flip);
    launch(device, stream, moving, job.rows * tiles, arguments, kThreads);
  }
}

}  // namespace td::fuse
