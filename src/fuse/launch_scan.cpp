// Host side of scan.cuh: brings the axis into place, deals out chunks, launches.
#include <algorithm>

#include "array/promotion.h"
#include "base/text.h"
#include "fuse/axis_rows.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/program.h"
#include "treadle/error.h"
#include "treadle/sorting.h"

namespace td {
namespace {

using array::view_of;
using base::cat;

constexpr std::int64_t kShortRow = 32;         // shorter rows are left to one thread each
constexpr std::int64_t kLeastRowChunk = 4096;  // elements worth a warp of their own
constexpr std::int64_t kLeastColumnChunk = 64;
constexpr std::int64_t kMostChunks = 1 << 16;
constexpr std::int64_t kTileBytes = 32768;  // accumulators in shared memory
constexpr std::int64_t kGroup = 32;         // tiles in a group, groups in a set

// What a scan works on: packed elements as (outer, length, inner).
struct Job {
  Reduction op;
  DType dtype;
  std::int64_t outer, length, inner;
  std::int64_t columns() const { return outer * inner; }
};

DType accumulator(DType dtype) { return is_half(dtype) ? DType::float32 : dtype; }

std::string scan_text(const Job& job, const char* kernel) {
  bool half = is_half(job.dtype), complex = info(job.dtype).kind == 'c';
  std::string type(fuse::cuda_name(job.dtype));
  std::string text = fuse::device_headers(half, complex, true, false) + fuse::kText_scan;
  text += cat("typedef ", type, " T;\ntypedef ", info(job.op).functor,
              "<T> F;\ntypedef F::A A;\nenum { V = TD_WIDTH(16 / sizeof(T)) };\n",
              "extern \"C\" __global__ void __launch_bounds__(256) ", kernel);
  std::string name(kernel);
  if (name == "td_row_totals")
    text +=
        "(const T* in, A* part, long long length, long long rows, long long chunk, int chunks, int "
        "aligned) { td_scan_row_totals<F, T, V>(in, part, length, rows, chunk, chunks, aligned); "
        "}\n";
  else if (name == "td_row_chunks")
    text +=
        "(const T* in, T* out, const A* part, long long length, long long rows, long long chunk, "
        "int chunks, int aligned) { td_scan_row_chunks<F, T, V>(in, out, part, length, rows, "
        "chunk, chunks, aligned); }\n";
  else if (name == "td_column_totals")
    text +=
        "(const T* in, A* part, long long length, long long columns, long long inner, long long "
        "chunk, int chunks) { td_scan_column_totals<F, T>(in, part, length, columns, inner, chunk, "
        "chunks); }\n";
  else if (name == "td_column_chunks")
    text +=
        "(const T* in, T* out, const A* part, long long length, long long columns, long long "
        "inner, long long chunk, int chunks) { td_scan_column_chunks<F, T>(in, out, part, length, "
        "columns, inner, chunk, chunks); }\n";
  else
    text += "(A* part, long long rows, int chunks) { td_scan_parts<F>(part, rows, chunks); }\n";
  return text;
}

std::string tiles_text(const Job& job) {
  bool half = is_half(job.dtype), complex = info(job.dtype).kind == 'c';
  std::string type(fuse::cuda_name(job.dtype));
  return fuse::device_headers(half, complex, true, false) + fuse::kText_scan +
         fuse::kText_scan_tiles +
         cat("extern \"C\" __global__ void __launch_bounds__(256, 6) td_tiles(const ", type,
             "* in, ", type,
             "* out, unsigned long long* state, long long length, long long rows, long long tiles, "
             "int aligned) { td_scan_tile<",
             info(job.op).functor, "<", type, ">, ", type, ", 16 / sizeof(", type,
             ")>(in, out, state, length, rows, tiles, aligned); }\n");
}

const fuse::LoadedKernel& scan_kernel(driver::DeviceState& device, const Job& job,
                                      const char* name) {
  std::string key =
      cat("scan ", name, ' ', static_cast<int>(job.op), ' ', static_cast<int>(job.dtype));
  return fuse::kernel(device, key, [&] { return scan_text(job, name); }, name);
}

struct Chunks {
  std::int64_t size, count;
};

// About `wanted` chunks a line, of at least `least` elements and a multiple of `grain`.
Chunks deal(std::int64_t length, std::int64_t wanted, std::int64_t least, std::int64_t grain) {
  std::int64_t most = std::clamp<std::int64_t>(length / least, 1, kMostChunks);
  std::int64_t count = std::clamp<std::int64_t>(wanted, 1, most);
  std::int64_t size = ((length + count - 1) / count + grain - 1) / grain * grain;
  return {size, (length + size - 1) / size};
}

// Long rows on a device with many threads: see scan_tiles.cuh.
void launch_tiles(const Job& job, CUdeviceptr source, const Array& out, bool aligned) {
  auto [device, stream] = fuse::launch_target(out);
  auto bytes = static_cast<std::int64_t>(itemsize(accumulator(job.dtype)));
  auto parts = [](std::int64_t n, std::int64_t size) { return (n + size - 1) / size; };
  std::int64_t rows = job.outer, tiles = parts(job.length, kTileBytes / bytes);
  std::int64_t groups = parts(tiles, kGroup), sets = parts(groups, kGroup);
  std::int64_t words = rows * (tiles + groups + sets) * std::max<std::int64_t>(1, bytes / 4);
  Array state = fuse::empty_beside(out, {words}, DType::uint64);
  CUdeviceptr published = fuse::address_of(state);
  TD_CALL(device, cuMemsetD8Async, published, 0, static_cast<std::size_t>(words) * 8, stream);
  std::string key = cat("scan tiles ", static_cast<int>(job.op), ' ', static_cast<int>(job.dtype));
  const auto& loaded = fuse::kernel(device, key, [&] { return tiles_text(job); }, "td_tiles");
  fuse::Arguments arguments;
  arguments.add(source);
  arguments.add(fuse::address_of(out));
  arguments.add(published);
  arguments.add(job.length);
  arguments.add(rows);
  arguments.add(tiles);
  arguments.add(static_cast<std::int32_t>(aligned));
  fuse::launch(device, stream, loaded, rows * tiles, arguments);
}

// The order of additions depends on the device's size and the shape, never on addresses.
void launch_scan(const Job& job, const Array& in, const Array& out) {
  CUdeviceptr source = in.data();
  auto [device, stream] = fuse::launch_target(out);
  CUdeviceptr target = fuse::address_of(out);
  std::int64_t resident = fuse::resident_blocks(device), lines = job.columns();
  bool rows = job.inner == 1 && job.length >= kShortRow;
  Chunks chunks = rows ? deal(job.length, resident * 8 / lines, kLeastRowChunk, 512)
                       : deal(job.length, resident * fuse::kBlock / lines, kLeastColumnChunk, 1);
  std::int64_t per_block = rows ? 8 : fuse::kBlock;
  std::int64_t blocks = (lines * chunks.count + per_block - 1) / per_block;
  bool aligned =
      (source | target) % 16 == 0 &&
      (job.outer == 1 || job.length * static_cast<std::int64_t>(itemsize(job.dtype)) % 16 == 0);
  if (rows && chunks.count > 1 && !fuse::holds_few_threads(device))
    return launch_tiles(job, source, out, aligned);
  auto count = static_cast<std::int32_t>(chunks.count);
  Array parts = fuse::empty_beside(out, {lines, chunks.count}, accumulator(job.dtype));
  CUdeviceptr part = fuse::address_of(parts);
  auto shape_arguments = [&](fuse::Arguments& arguments) {
    arguments.add(job.length);
    arguments.add(lines);
    if (!rows) arguments.add(job.inner);
    arguments.add(chunks.size);
    arguments.add(count);
    if (rows) arguments.add(static_cast<std::int32_t>(aligned));
  };
  if (count > 1) {
    fuse::Arguments totals, scan;
    totals.add(source);
    totals.add(part);
    shape_arguments(totals);
    fuse::launch(device, stream,
                 scan_kernel(device, job, rows ? "td_row_totals" : "td_column_totals"), blocks,
                 totals);
    scan.add(part);
    scan.add(lines);
    scan.add(count);
    fuse::launch(device, stream, scan_kernel(device, job, "td_parts"), lines, scan);
  }
  fuse::Arguments arguments;
  arguments.add(source);
  arguments.add(target);
  arguments.add(part);
  shape_arguments(arguments);
  fuse::launch(device, stream,
               scan_kernel(device, job, rows ? "td_row_chunks" : "td_column_chunks"), blocks,
               arguments);
}

// `x` and the result are C-contiguous.
Array packed_scan(Reduction op, const Array& x, int axis) {
  Job job{op, x.dtype(), 1, x.shape()[axis], 1};
  for (int k = 0; k < axis; ++k) job.outer *= x.shape()[k];
  for (int k = axis + 1; k < x.ndim(); ++k) job.inner *= x.shape()[k];
  Array out = fuse::empty_beside(x, x.shape(), x.dtype());
  if (x.size() > 0) launch_scan(job, x, out);
  return out;
}

}  // namespace

Array scan(Reduction op, const Array& x, int axis, std::optional<DType> dtype, const Array& out) {
  if (op != Reduction::sum && op != Reduction::prod && op != Reduction::min && op != Reduction::max)
    throw ValueError(cat("scan: ", info(op).name, " does not accumulate; use sum, prod, min, max"));
  axis = fuse::checked_axis(axis, x.ndim());
  auto types =
      array::resolve(op, x.dtype(), dtype, out ? std::optional(out.dtype()) : std::nullopt);
  if (out) array::check_reduction_out(info(op), out, x.shape());
  Axes order = fuse::memory_order(x), back = fuse::inverse(order);
  Array values = array::packed_values(x.transpose(order).astype(types.input, false));
  Array result = packed_scan(op, values, back[axis]).transpose(back);
  if (!out) return result;
  copy_into(out, result);
  return out;
}

}  // namespace td
