// Host side of correlate.cuh.
#include <algorithm>

#include "base/text.h"
#include "fuse/axis_rows.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/program.h"
#include "treadle/error.h"
#include "treadle/statistics.h"

namespace td {
namespace {

std::string slide_text(DType dtype) {
  bool half = is_half(dtype), complex = info(dtype).kind == 'c';
  return fuse::device_headers(half, complex, true, false) + fuse::kText_correlate + "typedef " +
         std::string(fuse::cuda_name(dtype)) +
         " T;\nextern \"C\" __global__ void __launch_bounds__(256) td_correlate(const T* a, const "
         "T* v, T* out, long long n, long long m, long long first, long long count) { "
         "td_slide<T>(a, v, out, n, m, first, count); }\n";
}

}  // namespace

Array sliding_products(const Array& a, const Array& v, std::int64_t first, std::int64_t count) {
  if (a.ndim() != 1 || v.ndim() != 1) throw ValueError("object too deep for desired array");
  if (a.dtype() != v.dtype()) throw TypeError("sliding_products: both arrays must have one dtype");
  if (a.size() == 0 || v.size() == 0) throw ValueError("sliding_products: an array is empty");
  Array left = array::packed_values(a), right = array::packed_values(v);
  Array out = fuse::empty_beside(a, {count}, a.dtype());
  if (count == 0) return out;
  fuse::Arguments arguments;
  arguments.add(left.data());
  arguments.add(right.data());
  auto [device, stream] = fuse::launch_target(out);
  arguments.add(fuse::address_of(out));
  arguments.add(a.size());
  arguments.add(v.size());
  arguments.add(first);
  arguments.add(count);
  DType dtype = a.dtype();
  const auto& loaded = fuse::kernel(
      device, base::cat("correlate ", static_cast<int>(dtype)), [&] { return slide_text(dtype); },
      "td_correlate");
  fuse::launch(device, stream, loaded,
               std::min((count + 255) / 256, 32 * fuse::resident_blocks(device)), arguments);
  return out;
}

}  // namespace td
