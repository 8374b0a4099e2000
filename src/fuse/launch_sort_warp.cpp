#include "fuse/launch_sort_warp.h"

#include <algorithm>

#include "base/text.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/program.h"

namespace td::fuse {

bool sorts_in_a_warp(DType dtype, std::int64_t length, bool places) {
  // Places of wide keys are compared in two steps, and 256 of them are more code than they are
  // worth.
  const std::int64_t shortest = 12, longest = places && itemsize(dtype) == 8 ? 128 : 256;
  return length >= shortest && length <= longest && info(dtype).kind != 'c';
}

void launch_sort_warp(CUdeviceptr source, const Array& out, DType dtype, std::int64_t length,
                      bool descending, bool places) {
  auto [device, stream] = launch_target(out);
  int items = 1;
  while (32 * items < length) items *= 2;
  auto print = [&, items = items] {
    std::string type(cuda_name(dtype));
    return device_headers(is_half(dtype), false, false, false) + kText_sort + kText_sort_warp +
           base::cat("extern \"C\" __global__ void __launch_bounds__(256) td_warp(const ", type,
                     "* in, ", type,
                     "* out, long long* places, int length, long long rows, long long share, "
                     "unsigned flip) { td_sort_warp<",
                     type, ", ", items, ", ", places ? "true" : "false",
                     ">(in, out, places, length, rows, share, flip); }\n");
  };
  const auto& loaded =
      kernel(device, base::cat("sort warp ", static_cast<int>(dtype), ' ', items, ' ', places),
             print, "td_warp");
  std::int64_t rows = out.size() / length, warps = 32 * resident_blocks(device) * (kBlock / 32);
  std::int64_t share = (rows + warps - 1) / warps;
  CUdeviceptr target = address_of(out);
  Arguments arguments;
  arguments.add(source);
  arguments.add(places ? CUdeviceptr{0} : target);
  arguments.add(places ? target : CUdeviceptr{0});
  arguments.add(static_cast<std::int32_t>(length));
  arguments.add(rows);
  arguments.add(share);
  arguments.add(descending ? ~0u : 0u);
  launch(device, stream, loaded, (rows + share * 8 - 1) / (share * 8), arguments);
}

}  // namespace td::fuse
