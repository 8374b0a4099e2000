// Host side of sort.cuh: short rows by counting, longer rows by radix passes over chunks.
#include <algorithm>

#include "base/text.h"
#include "fuse/axis_rows.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/launch_sort_warp.h"
#include "fuse/program.h"
#include "fuse/sort_rows.h"
#include "treadle/error.h"
#include "treadle/sorting.h"

namespace td {

std::string fuse::sort_headers(DType dtype) {
  bool half = is_half(dtype), complex = info(dtype).kind == 'c';
  return device_headers(half, complex, false, false) + kText_sort + "typedef " +
         std::string(cuda_name(dtype)) + " T;\n";
}

namespace {

using base::cat;
using fuse::SortRows;

constexpr std::int64_t kShortRow = 128;                   // up to here, counting is the least work
constexpr std::int64_t kMostRow = std::int64_t{1} << 32;  // places within a row have 32 bits

constexpr const char* kGlobal = "extern \"C\" __global__ void __launch_bounds__(256) ";

std::string short_text(DType dtype) {
  return fuse::sort_headers(dtype) + kGlobal +
         "td_short(const T* in, T* out, long long* places, int length, long long rows, int span, "
         "unsigned flip) { td_sort_short<T>(in, out, places, length, rows, span, flip); }\n";
}
std::string block_text(DType dtype, int items, bool places) {
  return fuse::sort_headers(dtype) + kGlobal +
         "td_block(const T* in, T* out, long long* places, int length, long long rows, int passes, "
         "unsigned flip) { td_sort_block<T, " +
         std::to_string(items) + ", " + (places ? "true" : "false") +
         ">(in, out, places, length, rows, passes, flip); }\n";
}
// Kernels of sort_serial.cuh. I is 64 bits wide where a place or counter needs it.
std::string serial_text(DType dtype, const std::string& kernel, bool wide) {
  std::string text = fuse::sort_headers(dtype) + fuse::kText_sort_serial + "typedef " +
                     (wide ? "long long" : "int") + " I;\n" + kGlobal;
  if (kernel == "td_count")
    return text +
           "td_count(const T* in, unsigned* counts, I length, I rows, I chunk, I chunks, int "
           "shift, unsigned flip) { td_serial_count<T, I>(in, counts, length, rows, chunk, "
           "chunks, shift, flip); }\n";
  return text +
         "td_place(unsigned* counts, I rows, I chunks) { td_serial_place<I>(counts, rows, chunks); "
         "}\n";
}
std::string serial_move_text(DType dtype, bool places, const char* to, bool wide) {
  return fuse::sort_headers(dtype) + fuse::kText_sort_serial + "typedef " +
         (wide ? "long long" : "int") + " I;\n" + kGlobal +
         "td_move(const T* in, T* out, const unsigned* from, " + to +
         "* to, unsigned* places, I length, I rows, I chunk, I chunks, int shift, unsigned flip) { "
         "td_serial_move<T, " +
         to + ", I, " + (places ? "true" : "false") +
         ">(in, out, from, to, places, length, rows, chunk, chunks, shift, flip); }\n";
}

constexpr std::int64_t kSerialThreads = 1024;
constexpr std::int64_t kSerialChunk = 2048;  // elements worth 256 counters

void launch_short(const SortRows& job, CUdeviceptr source, const Array& out) {
  auto [device, stream] = fuse::launch_target(out);
  int span = 1;
  while (span < job.length) span *= 2;
  DType dtype = job.in.dtype();
  const auto& loaded = fuse::kernel(
      device, cat("sort short ", static_cast<int>(dtype)), [&] { return short_text(dtype); },
      "td_short");
  fuse::Arguments arguments;
  CUdeviceptr target = fuse::address_of(out);
  arguments.add(source);
  arguments.add(job.places ? CUdeviceptr{0} : target);
  arguments.add(job.places ? target : CUdeviceptr{0});
  arguments.add(static_cast<std::int32_t>(job.length));
  arguments.add(job.rows);
  arguments.add(span);
  arguments.add(job.flip);
  std::int64_t per_block = 256 / span;
  fuse::launch(device, stream, loaded,
               std::min((job.rows + per_block - 1) / per_block, 32 * fuse::resident_blocks(device)),
               arguments);
}

// Elements a thread for a row that fits into a block; 0 for longer rows.
int block_items(const SortRows& job) {
  std::size_t bytes = itemsize(job.in.dtype());
  int most = bytes <= 4 ? 16 : bytes == 8 ? 8 : 4;  // 16 KiB of elements
  for (int items = 1; items <= most; items *= items == 1 ? 4 : 2)
    if (job.length <= 256 * items) return items;
  return 0;
}

void launch_block(const SortRows& job, int items, CUdeviceptr source, const Array& out) {
  auto [device, stream] = fuse::launch_target(out);
  DType dtype = job.in.dtype();
  const auto& loaded = fuse::kernel(
      device, cat("sort block ", static_cast<int>(dtype), ' ', items, ' ', job.places),
      [&] { return block_text(dtype, items, job.places); }, "td_block");
  fuse::Arguments arguments;
  CUdeviceptr target = fuse::address_of(out);
  arguments.add(source);
  arguments.add(job.places ? CUdeviceptr{0} : target);
  arguments.add(job.places ? target : CUdeviceptr{0});
  arguments.add(static_cast<std::int32_t>(job.length));
  arguments.add(job.rows);
  arguments.add(fuse::sort_passes(dtype));
  arguments.add(job.flip);
  fuse::launch(device, stream, loaded, std::min(job.rows, 32 * fuse::resident_blocks(device)),
               arguments);
}

// For a device that holds few threads: one pass after the other between buffers; the last pass
// writes the result.
class SerialSort {
 public:
  SerialSort(const SortRows& job, CUdeviceptr source, const Array& out)
      : job_(job),
        dtype_(job.in.dtype()),
        source_(source),
        out_(out),
        target_(fuse::launch_target(out)) {
    std::int64_t wanted = std::max<std::int64_t>(1, kSerialThreads / job.rows);
    std::int64_t count = std::min(wanted, (job.length + kSerialChunk - 1) / kSerialChunk);
    chunk_ = (job.length + count - 1) / count;
    chunks_ = (job.length + chunk_ - 1) / chunk_;
    counts_ = fuse::empty_beside(out, {job.rows * chunks_ * 256}, DType::uint32);
    blocks_ = (job.rows * chunks_ + 255) / 256;
    wide_ = std::max(job.rows * job.length, counts_.size()) >= std::int64_t{1} << 30;
  }

  void run() {
    int passes = fuse::sort_passes(dtype_);
    Shape shape{job_.rows * job_.length};
    Array values[2], places[2];
    for (int k = 0; k < 2; ++k) {
      bool needed = passes > 1 && (job_.places || k == 0);
      if (needed) values[k] = fuse::empty_beside(out_, shape, dtype_);
      if (needed && job_.places) places[k] = fuse::empty_beside(out_, shape, DType::uint32);
    }
    CUdeviceptr result = fuse::address_of(out_), in = source_, from = 0;
    for (int pass = 0; pass < passes; ++pass) {
      bool last = pass == passes - 1;
      int slot = (passes - 1 - pass) % 2;  // 0: the pass writes to where the last one writes
      CUdeviceptr to = 0, out = 0;
      if (job_.places) {
        if (!last) out = fuse::address_of(values[slot]);
        to = last ? result : fuse::address_of(places[slot]);
      } else {
        out = slot == 0 ? result : fuse::address_of(values[0]);
      }
      one_pass(in, out, from, to, 8 * pass, last);
      in = out;
      from = to;
    }
  }

 private:
  void one_pass(CUdeviceptr in, CUdeviceptr out, CUdeviceptr from, CUdeviceptr to, int shift,
                bool last) {
    CUdeviceptr counts = fuse::address_of(counts_);
    fuse::Arguments counting, placing, moving;
    counting.add(in);
    counting.add(counts);
    shape_arguments(counting, shift);
    launch("td_count", "", blocks_, counting);

    placing.add(counts);
    placing.index(job_.rows, wide_);
    placing.index(chunks_, wide_);
    launch("td_place", "", job_.rows, placing);

    moving.add(in);
    moving.add(out);
    moving.add(from);
    moving.add(to);
    moving.add(counts);
    shape_arguments(moving, shift);
    launch("td_move", job_.places && last ? "long long" : "unsigned", blocks_, moving);
  }

  // `to` is the type of the places that a td_move writes.
  void launch(const char* name, const char* to, std::int64_t blocks, fuse::Arguments& arguments) {
    std::string_view kind(name);
    DType dtype = kind == "td_place" ? DType::int32 : dtype_;
    std::string key = cat("sort ", name, ' ', static_cast<int>(dtype), ' ', job_.places ? to : "",
                          wide_ ? " serial wide" : " serial");
    auto print = [&] {
      return kind == "td_move" ? serial_move_text(dtype, job_.places, to, wide_)
                               : serial_text(dtype, name, wide_);
    };
    fuse::launch(target_.device, target_.stream, fuse::kernel(target_.device, key, print, name),
                 blocks, arguments);
  }

  void shape_arguments(fuse::Arguments& arguments, int shift) const {
    for (std::int64_t value : {job_.length, job_.rows, chunk_, chunks_})
      arguments.index(value, wide_);
    arguments.add(shift);
    arguments.add(job_.flip);
  }

  const SortRows& job_;
  DType dtype_;
  CUdeviceptr source_;
  const Array& out_;
  fuse::LaunchTarget target_;
  Array counts_;
  std::int64_t chunk_, chunks_, blocks_;
  bool wide_;
};

// Sorts along the last axis of a packed array; the result is packed.
Array sort_rows(const Array& x, bool descending, bool places) {
  Array out = fuse::empty_beside(x, x.shape(), places ? DType::int64 : x.dtype());
  if (x.size() == 0) return out;
  std::int64_t length = x.shape().back();
  if (length >= kMostRow)
    throw ValueError(cat("sort: an axis of ", length, " elements is too long; at most 2^32 - 1"));
  SortRows job{x, length, x.size() / length, descending ? ~0u : 0u, places};
  CUdeviceptr source = x.data();
  bool few = fuse::holds_few_threads(*array::view_of(out).storage->device());
  int items = few ? 0 : block_items(job);
  if (few && fuse::sorts_in_a_warp(x.dtype(), length, places))
    fuse::launch_sort_warp(source, out, x.dtype(), length, descending, places);
  else if (length <= kShortRow)
    launch_short(job, source, out);
  else if (items > 0)
    launch_block(job, items, source, out);
  else if (few)
    SerialSort(job, source, out).run();
  else
    fuse::sort_long_rows(job, source, out);
  return out;
}

// The axes of `x`, `axis` last; and the way back.
Array sort_along(const Array& x, int axis, bool descending, bool places) {
  axis = fuse::checked_axis(axis, x.ndim());
  Axes order = fuse::axis_last(x.ndim(), axis);
  Array result = sort_rows(array::packed_values(x.transpose(order)), descending, places);
  return result.transpose(fuse::inverse(order));
}

}  // namespace

Array sort(const Array& x, int axis, bool descending) {
  Array result = sort_along(x, axis, descending, false);
  // NumPy's result is a copy in order K that was sorted in place.
  Axes order = fuse::memory_order(x);
  Array moved = result.transpose(order);
  return moved.c_contiguous() ? result : array::packed(moved).transpose(fuse::inverse(order));
}

Array argsort(const Array& x, int axis, bool descending) {
  Array places = array::packed(sort_along(x, axis, descending, true));
  if (places.size() == 0) return places;
  std::int64_t last = places.shape()[array::normalize_axes({axis}, places.ndim())[0]] - 1;
  array::view_of(places).storage->know_range({places.dtype(), 0, last, false});
  return places;
}

}  // namespace td
