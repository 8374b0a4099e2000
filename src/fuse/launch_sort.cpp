// Host side of sort.cuh: short rows by counting, longer rows by radix passes over chunks.
#include <algorithm>

#include "base/text.h"
#include "fuse/axis_rows.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/program.h"
#include "treadle/error.h"
#include "treadle/sorting.h"

namespace td {
namespace {

using base::cat;

constexpr std::int64_t kShortRow = 256;
constexpr std::int64_t kMostRow = std::int64_t{1} << 32;  // places within a row have 32 bits

int items_of(DType dtype) { return itemsize(dtype) <= 4 ? 16 : 8; }
// Passes over a key's bytes; a bool has one bit.
int passes_of(DType dtype) { return static_cast<int>(itemsize(dtype)); }

std::string headers(DType dtype) {
  bool half = dtype == DType::float16, complex = info(dtype).kind == 'c';
  return fuse::device_headers(half, complex, false, false) + fuse::kText_sort + "typedef " +
         std::string(fuse::cuda_name(dtype)) + " T;\n";
}

constexpr const char* kGlobal = "extern \"C\" __global__ void __launch_bounds__(256) ";

std::string short_text(DType dtype) {
  return headers(dtype) + kGlobal +
         "td_short(const T* in, T* out, long long* places, int length, long long rows, int span, "
         "unsigned flip) { td_sort_short<T>(in, out, places, length, rows, span, flip); }\n";
}
std::string count_text(DType dtype) {
  return headers(dtype) + kGlobal +
         "td_count(const T* in, unsigned* counts, long long length, long long rows, long long "
         "chunk, int chunks, int shift, unsigned flip) { td_count_digits<T>(in, counts, length, "
         "rows, chunk, chunks, shift, flip); }\n";
}
std::string place_text() {
  return headers(DType::int32) + kGlobal +
         "td_place(unsigned* counts, long long rows, int chunks) { td_place_digits(counts, rows, "
         "chunks); }\n";
}
std::string move_text(DType dtype, bool places, const char* to) {
  return headers(dtype) + kGlobal + "td_move(const T* in, T* out, const unsigned* from, " + to +
         "* to, const unsigned* starts, long long length, long long rows, long long chunk, int "
         "chunks, int shift, unsigned flip) { td_move_digits<T, unsigned, " +
         to + ", " + std::to_string(items_of(dtype)) + ", " + (places ? "true" : "false") +
         ">(in, out, from, to, starts, length, rows, chunk, chunks, shift, flip); }\n";
}

struct Rows {
  Array in;  // packed, rows one after the other
  std::int64_t length, rows;
  unsigned flip;
  bool places;  // the result is argsort's
};

void launch_short(const Rows& job, CUdeviceptr source, const Array& out) {
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

// One pass after the other between buffers; the last pass writes the result.
class RadixSort {
 public:
  RadixSort(const Rows& job, CUdeviceptr source, const Array& out)
      : job_(job),
        dtype_(job.in.dtype()),
        source_(source),
        out_(out),
        target_(fuse::launch_target(out)) {
    std::int64_t tile = 256 * items_of(dtype_);
    std::int64_t wanted =
        std::max<std::int64_t>(1, fuse::resident_blocks(target_.device) / job.rows);
    std::int64_t most = (job.length + tile - 1) / tile;
    std::int64_t count = std::min(wanted, most);
    chunk_ = ((job.length + count - 1) / count + tile - 1) / tile * tile;
    chunks_ = static_cast<std::int32_t>((job.length + chunk_ - 1) / chunk_);
    counts_ = empty({job.rows * chunks_ * 256}, DType::uint32);
    blocks_ = job.rows * chunks_;
  }

  void run() {
    int passes = passes_of(dtype_);
    Shape shape{job_.rows * job_.length};
    Array values[2], places[2];
    for (int k = 0; k < 2; ++k) {
      bool needed = passes > 1 && (job_.places || k == 0);
      if (needed) values[k] = empty(shape, dtype_);
      if (needed && job_.places) places[k] = empty(shape, DType::uint32);
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
    driver::DeviceState& device = target_.device;
    int type = static_cast<int>(dtype_);
    CUdeviceptr counts = fuse::address_of(counts_);
    const auto& count = fuse::kernel(
        device, cat("sort count ", type), [&] { return count_text(dtype_); }, "td_count");
    fuse::Arguments counting, placing, moving;
    counting.add(in);
    counting.add(counts);
    shape_arguments(counting, shift);
    fuse::launch(device, target_.stream, count, blocks_, counting);

    const auto& place = fuse::kernel(device, "sort place", place_text, "td_place");
    placing.add(counts);
    placing.add(job_.rows);
    placing.add(chunks_);
    fuse::launch(device, target_.stream, place, job_.rows, placing);

    const char* to_type = job_.places && last ? "long long" : "unsigned";
    const auto& move = fuse::kernel(
        device, cat("sort move ", type, job_.places ? to_type : ""),
        [&] { return move_text(dtype_, job_.places, to_type); }, "td_move");
    moving.add(in);
    moving.add(out);
    moving.add(from);
    moving.add(to);
    moving.add(counts);
    shape_arguments(moving, shift);
    fuse::launch(device, target_.stream, move, blocks_, moving);
  }

  void shape_arguments(fuse::Arguments& arguments, int shift) const {
    arguments.add(job_.length);
    arguments.add(job_.rows);
    arguments.add(chunk_);
    arguments.add(chunks_);
    arguments.add(shift);
    arguments.add(job_.flip);
  }

  const Rows& job_;
  DType dtype_;
  CUdeviceptr source_;
  const Array& out_;
  fuse::LaunchTarget target_;
  Array counts_;
  std::int64_t chunk_, blocks_;
  std::int32_t chunks_;
};

// Sorts along the last axis of a packed array; the result is packed.
Array sort_rows(const Array& x, bool descending, bool places) {
  Array out = empty(x.shape(), places ? DType::int64 : x.dtype());
  if (x.size() == 0) return out;
  std::int64_t length = x.shape().back();
  if (length >= kMostRow)
    throw ValueError(cat("sort: an axis of ", length, " elements is too long; at most 2^32 - 1"));
  Rows job{x, length, x.size() / length, descending ? ~0u : 0u, places};
  CUdeviceptr source = x.data();
  if (length <= kShortRow)
    launch_short(job, source, out);
  else
    RadixSort(job, source, out).run();
  return out;
}

// The axes of `x`, `axis` last; and the way back.
Array sort_along(const Array& x, int axis, bool descending, bool places) {
  axis = fuse::checked_axis(axis, x.ndim());
  Axes order = fuse::axis_last(x.ndim(), axis);
  Array result = sort_rows(array::packed(x.transpose(order)), descending, places);
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
  return array::packed(sort_along(x, axis, descending, true));
}

}  // namespace td
