// Masks: counting, coordinates of what holds, and moving it together or apart.
#include <algorithm>
#include <sstream>

#include "array/operations.h"
#include "array/selection.h"
#include "base/text.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/program.h"

namespace td::fuse {
namespace {

std::string headers_for(DType dtype) {
  return device_headers(is_half(dtype), info(dtype).kind == 'c', false, false) + kText_compact;
}

constexpr const char* kMaskParameters =
    "const bool* __restrict__ mask, long long n, long long piece, long long pieces, "
    "const long long* __restrict__ before";

std::string counting_text() {
  return headers_for(DType::bool_) +
         "extern \"C\" __global__ void __launch_bounds__(256) td_count(const bool* mask, "
         "long long n, long long piece, long long pieces, long long* counts) {\n"
         "  td_count_pieces(mask, n, piece, pieces, counts);\n}\n";
}

std::string adding_text() {
  return headers_for(DType::bool_) +
         "extern \"C\" __global__ void __launch_bounds__(256) td_add_up(long long* counts, "
         "long long pieces) {\n  td_add_counts(counts, pieces);\n}\n";
}

// A kernel that does `store` with v, the value of `load`, for each element i that holds, the
// rank-th of them.
std::string each_text(DType dtype, const std::string& parameters, const std::string& load,
                      const std::string& store) {
  std::string type(cuda_name(dtype));
  return headers_for(dtype) + "extern \"C\" __global__ void __launch_bounds__(256) td_each(" +
         kMaskParameters + parameters + ") {\n  td_each_held<" + type +
         ">(mask, n, piece, pieces, before,\n"
         "    [=](long long i, long long rank) -> " +
         type + " { return " + load + "; },\n    [=](long long i, long long rank, " + type +
         " v) {\n" + store + "    });\n}\n";
}

CUdeviceptr address_of(const View& view) {
  return view.storage->address() + static_cast<CUdeviceptr>(view.offset);
}

struct Place {
  driver::DeviceState& device;
  CUstream stream;
};

Place place_of(const View& view) {
  const auto& owner = view.storage->device();
  owner->make_current();
  return {*owner, driver::current_stream(owner)->handle()};
}

std::int64_t blocks_for(driver::DeviceState& device, std::int64_t pieces) {
  return std::min((pieces + 7) / 8, 8 * resident_blocks(device));
}

Arguments mask_arguments(const MaskScan& scan) {
  Arguments arguments;
  arguments.add(address_of(array::view_of(scan.mask)));
  arguments.add(scan.mask.size());
  arguments.add(scan.piece);
  arguments.add(scan.pieces);
  arguments.add(address_of(array::view_of(scan.before)));
  return arguments;
}

}  // namespace

MaskScan scan_mask(const Array& given) {
  MaskScan scan;
  scan.mask = array::packed(given.astype(DType::bool_, false));
  std::int64_t n = scan.mask.size();
  if (n == 0) return scan;
  scan.mask.flush();
  const View& mask = array::view_of(scan.mask);
  auto [device, stream] = place_of(mask);
  // Enough pieces for every warp that the device holds, of 512 elements at least.
  std::int64_t warps = 2 * resident_blocks(device) * (kBlock / 32);
  scan.piece = std::max<std::int64_t>((n + warps - 1) / warps, 1024);
  scan.piece = (scan.piece + 511) / 512 * 512;
  scan.pieces = (n + scan.piece - 1) / scan.piece;
  View counts = array::fresh_view(mask.storage->device(), {scan.pieces + 1}, DType::int64);
  Arguments first;
  first.add(address_of(mask));
  first.add(n);
  first.add(scan.piece);
  first.add(scan.pieces);
  first.add(address_of(counts));
  launch(device, stream, kernel(device, "count pieces", counting_text, "td_count"),
         blocks_for(device, scan.pieces), first);
  Arguments second;
  second.add(address_of(counts));
  second.add(scan.pieces);
  launch(device, stream, kernel(device, "add counts", adding_text, "td_add_up"), 1, second);
  driver::download(*driver::current_stream(mask.storage->device()), &scan.total,
                   address_of(counts) + static_cast<CUdeviceptr>(scan.pieces) * 8, 8);
  scan.before = array::make_array(std::move(counts));
  return scan;
}

void launch_nonzero(const MaskScan& scan, const Shape& shape, const View& out) {
  auto [device, stream] = place_of(out);
  std::size_t n = shape.size();
  auto print = [&] {
    std::string parameters = ", long long* __restrict__ out, long long total";
    std::string body = n > 1 ? "    long long rest = i;\n" : "";
    for (std::size_t k = n; k-- > 0;) {
      std::string row = "out[" + std::to_string(k) + " * total + rank] = ";
      if (k == 0) {
        body += "    " + row + (n > 1 ? "rest" : "i") + ";\n";
        continue;
      }
      std::string d = "d" + std::to_string(k);
      parameters += ", long long " + d;
      body += "    " + row + "rest % " + d + ";\n    rest /= " + d + ";\n";
    }
    return each_text(DType::bool_, parameters, "true", body);
  };
  const LoadedKernel& loaded = kernel(device, base::cat("nonzero ", n), print, "td_each");
  Arguments arguments = mask_arguments(scan);
  arguments.add(address_of(out));
  arguments.add(scan.total);
  for (std::size_t k = n; k-- > 1;) arguments.add(shape[k]);
  launch(device, stream, loaded, blocks_for(device, scan.pieces), arguments);
}

void launch_compact(const MaskScan& scan, const View& x, const View& out) {
  auto [device, stream] = place_of(out);
  std::string type(cuda_name(x.dtype));
  const LoadedKernel& loaded = kernel(
      device, base::cat("compact ", static_cast<int>(x.dtype)),
      [&] {
        return each_text(x.dtype,
                         ", const " + type + "* __restrict__ x, " + type + "* __restrict__ out",
                         "x[i]", "    out[rank] = v;\n");
      },
      "td_each");
  Arguments arguments = mask_arguments(scan);
  arguments.add(address_of(x));
  arguments.add(address_of(out));
  launch(device, stream, loaded, blocks_for(device, scan.pieces), arguments);
}

void launch_expand(const MaskScan& scan, const View& x, const View& values) {
  auto [device, stream] = place_of(x);
  std::string type(cuda_name(x.dtype));
  std::int64_t count = array::size_of(values.shape);
  bool repeats = count < scan.total;
  const LoadedKernel& loaded = kernel(
      device, base::cat("expand ", static_cast<int>(x.dtype), repeats),
      [&] {
        return each_text(x.dtype,
                         ", " + type + "* __restrict__ x, const " + type +
                             "* __restrict__ values, long long count",
                         repeats ? "values[rank % count]" : "values[rank]", "    x[i] = v;\n");
      },
      "td_each");
  Arguments arguments = mask_arguments(scan);
  arguments.add(address_of(x));
  arguments.add(address_of(values));
  arguments.add(count);
  launch(device, stream, loaded, blocks_for(device, scan.pieces), arguments);
}

}  // namespace td::fuse
