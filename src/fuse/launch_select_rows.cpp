#include "fuse/launch_select_rows.h"

#include <algorithm>

#include "base/text.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/sort_rows.h"

namespace td::fuse {

constexpr std::size_t kMostPlaces = 4;  // as in select_rows.cuh

bool selects_rows(const Array& table, std::size_t places) {
  constexpr std::int64_t shortest = 257, longest = std::int64_t{1} << 20;  // in cache
  const DTypeInfo& row = info(table.dtype());
  std::int64_t length = table.shape().back();
  // Blocks of many threads sort such rows in their own memory.
  return holds_few_threads(*array::view_of(table).storage->device()) && length >= shortest &&
         length <= longest && places <= kMostPlaces && row.kind != 'c' && row.kind != 'b' &&
         row.bytes >= 4;
}

void launch_select_rows(const Array& table, std::span<const std::int64_t> places,
                        const Array& out) {
  DType dtype = table.dtype();
  auto print = [&] {
    std::string type(cuda_name(dtype)),
        key(itemsize(dtype) == 8 ? "unsigned long long" : "unsigned");
    return sort_headers(dtype) + kText_select_rows +
           "extern \"C\" __global__ void __launch_bounds__(256) td_places(const T* in, T* out, "
           "int first, int second, int third, int fourth, int count, int length, long long rows) { "
           "td_select_rows<T, " +
           key + ">(in, out, {{first, second, third, fourth}}, count, length, rows); }\n";
  };
  auto [device, stream] = launch_target(out);
  const LoadedKernel& loaded =
      kernel(device, base::cat("select rows ", static_cast<int>(dtype)), print, "td_places");
  Arguments arguments;
  CUdeviceptr source = table.data();
  arguments.add(source);
  arguments.add(address_of(out));
  for (std::size_t k = 0; k < kMostPlaces; ++k)
    arguments.add(static_cast<std::int32_t>(k < places.size() ? places[k] : 0));
  arguments.add(static_cast<std::int32_t>(places.size()));
  arguments.add(static_cast<std::int32_t>(table.shape().back()));
  std::int64_t rows = table.shape()[0];
  arguments.add(rows);
  launch(device, stream, loaded, std::min((rows + 7) / 8, 32 * resident_blocks(device)), arguments);
}

}  // namespace td::fuse
