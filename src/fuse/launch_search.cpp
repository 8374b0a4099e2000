// Host side of search.cuh.
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
using base::tuple_text;

constexpr const char* kGlobal = "extern \"C\" __global__ void __launch_bounds__(256) ";

constexpr std::int64_t kFewBytes = 16 << 10;  // of sorted keys that a block keeps

std::string search_text(DType dtype, std::int64_t few) {
  bool half = is_half(dtype), complex = info(dtype).kind == 'c';
  std::string function = few ? cat("td_search_few<T, ", few, ">") : "td_search<T>";
  return fuse::device_headers(half, complex, false, false) + fuse::kText_sort + fuse::kText_search +
         "typedef " + std::string(fuse::cuda_name(dtype)) + " T;\n" + kGlobal +
         "td_searchsorted(const T* sorted, const long long* sorter, const T* values, long long* "
         "out, long long length, long long count, int right) { " +
         function + "(sorted, sorter, values, out, length, count, right); }\n";
}

// Elements are moved as plain words of their size.
std::string move_text(std::size_t bytes, const char* parameters, const char* call) {
  const char* word = bytes == 1   ? "unsigned char"
                     : bytes == 2 ? "unsigned short"
                     : bytes == 4 ? "unsigned"
                     : bytes == 8 ? "unsigned long long"
                                  : "td_complex<double>";
  return fuse::device_headers(false, bytes == 16, false, false) + fuse::kText_sort +
         fuse::kText_search + "typedef " + word + " W;\n" + kGlobal + "td_elements(" + parameters +
         ") { " + call + "; }\n";
}

std::int64_t blocks_for(driver::DeviceState& device, std::int64_t count) {
  return std::min((count + 255) / 256, 32 * fuse::resident_blocks(device));
}

Array packed_places(const Array& index, const char* what) {
  if (index.dtype() != DType::int64)
    throw TypeError(cat(what, ": places must be int64, not ", info(index.dtype()).numpy));
  return array::packed(index);
}

void check_rows(const char* what, const Array& x, const Array& index) {
  Shape left(x.shape().begin(), x.shape().end() - 1);
  Shape right(index.shape().begin(), index.shape().end() - 1);
  if (left != right)
    throw ValueError(cat(what, ": rows of shape ", tuple_text(left), " and places of shape ",
                         tuple_text(right), " do not match"));
}

}  // namespace

Array searchsorted(const Array& sorted, const Array& values, bool right, const Array& sorter) {
  if (sorted.ndim() != 1) throw ValueError("object too deep for desired array");
  if (sorted.dtype() != values.dtype())
    throw TypeError("searchsorted: both arrays must have one dtype");
  if (sorter && sorter.shape() != sorted.shape()) throw ValueError("sorter.size must equal a.size");
  Array haystack = array::packed_values(sorted), needles = array::packed_values(values);
  Array order = sorter ? packed_places(sorter, "searchsorted") : Array();
  Array out = fuse::empty_beside(values, values.shape(), DType::int64);
  if (out.size() == 0) return out;
  fuse::Arguments arguments;
  arguments.add(haystack.size() > 0 ? haystack.data() : 0);
  arguments.add(order && order.size() > 0 ? order.data() : 0);
  arguments.add(needles.data());
  auto [device, stream] = fuse::launch_target(out);
  arguments.add(fuse::address_of(out));
  arguments.add(haystack.size());
  arguments.add(out.size());
  arguments.add(std::int32_t{right});
  DType dtype = sorted.dtype();
  // A device that holds few threads has caches of its own for each.
  std::int64_t few =
      kFewBytes / std::max<std::int64_t>(4, static_cast<std::int64_t>(itemsize(dtype)));
  if (haystack.size() > few || out.size() < 64 * few || fuse::holds_few_threads(device)) few = 0;
  const auto& loaded = fuse::kernel(
      device, cat("searchsorted ", static_cast<int>(dtype), few ? " few" : ""),
      [&] { return search_text(dtype, few); }, "td_searchsorted");
  std::int64_t blocks = blocks_for(device, out.size());
  if (few) blocks = std::min(blocks, fuse::resident_blocks(device));
  fuse::launch(device, stream, loaded, blocks, arguments);
  return out;
}

Array gather(const Array& x, const Array& index) {
  if (x.ndim() == 0 || index.ndim() == 0) throw ValueError("gather: needs at least one axis");
  bool shared_row = x.ndim() == 1;
  if (!shared_row) check_rows("gather", x, index);
  Array source = array::packed(x), places = packed_places(index, "gather");
  Array out = fuse::empty_beside(x, index.shape(), x.dtype());
  if (out.size() == 0) return out;
  fuse::Arguments arguments;
  arguments.add(source.size() > 0 ? source.data() : 0);
  arguments.add(places.data());
  auto [device, stream] = fuse::launch_target(out);
  arguments.add(fuse::address_of(out));
  arguments.add(x.shape().back());
  arguments.add(index.shape().back());
  arguments.add(out.size());
  arguments.add(std::int32_t{shared_row});
  std::size_t bytes = itemsize(x.dtype());
  const auto& loaded = fuse::kernel(
      device, cat("gather rows ", bytes),
      [&] {
        return move_text(bytes,
                         "const W* in, const long long* index, W* out, long long length, long "
                         "long width, long long count, int shared_row",
                         "td_gather<W>(in, index, out, length, width, count, shared_row)");
      },
      "td_elements");
  fuse::launch(device, stream, loaded, blocks_for(device, out.size()), arguments);
  return out;
}

Array scatter(const Array& x, const Array& index) {
  if (x.shape() != index.shape() || x.ndim() == 0)
    throw ValueError(cat("scatter: elements of shape ", tuple_text(x.shape()),
                         " and places of shape ", tuple_text(index.shape()), " do not match"));
  Array source = array::packed(x), places = packed_places(index, "scatter");
  Array out = fuse::empty_beside(x, x.shape(), x.dtype());
  if (out.size() == 0) return out;
  fuse::Arguments arguments;
  arguments.add(source.data());
  arguments.add(places.data());
  auto [device, stream] = fuse::launch_target(out);
  arguments.add(fuse::address_of(out));
  arguments.add(x.shape().back());
  arguments.add(out.size());
  std::size_t bytes = itemsize(x.dtype());
  const auto& loaded = fuse::kernel(
      device, cat("scatter rows ", bytes),
      [&] {
        return move_text(bytes,
                         "const W* in, const long long* index, W* out, long long length, long "
                         "long count",
                         "td_scatter<W>(in, index, out, length, count)");
      },
      "td_elements");
  fuse::launch(device, stream, loaded, blocks_for(device, out.size()), arguments);
  return out;
}

}  // namespace td
