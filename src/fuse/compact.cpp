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

constexpr std::int64_t kMaskTile = 4096, kMaskTiles = 8;  // as in compact.cuh

constexpr const char* kMaskParameters =
    "const unsigned char* __restrict__ mask, long long n, long long piece, long long pieces, "
    "const int* __restrict__ offsets, const long long* __restrict__ before";

std::string counting_text() {
  return headers_for(DType::bool_) +
         "extern \"C\" __global__ void __launch_bounds__(256) td_count(const unsigned char* mask, "
         "long long n, long long piece, long long pieces, long long* counts) {\n"
         "  td_count_pieces(mask, n, piece, pieces, counts);\n}\n";
}

std::string tile_counting_text() {
  return headers_for(DType::bool_) +
         "extern \"C\" __global__ void __launch_bounds__(256) td_count(const unsigned char* mask, "
         "long long n, long long tiles, int* offsets, long long* counts) {\n"
         "  td_count_tiles(mask, n, tiles, offsets, counts);\n}\n";
}

std::string adding_text() {
  return headers_for(DType::bool_) +
         "extern \"C\" __global__ void __launch_bounds__(256) td_add_up(long long* counts, "
         "long long pieces) {\n  td_add_counts(counts, pieces);\n}\n";
}

// A kernel that does `store` with v, the value of `load`, for each element i that holds, the
// rank-th of them.
std::string each_text(bool tiled, DType dtype, const std::string& parameters,
                      const std::string& load, const std::string& store) {
  std::string type(cuda_name(dtype));
  return headers_for(dtype) + "extern \"C\" __global__ void __launch_bounds__(256) td_each(" +
         kMaskParameters + parameters + ") {\n" +
         (tiled ? "  td_each_listed<" + type + ">(mask, n, pieces, offsets, before,\n"
                : "  td_each_held<" + type + ">(mask, n, piece, pieces, before,\n") +
         "    [=](long long i, long long rank) -> " + type + " { return " + load +
         "; },\n    [=](long long i, long long rank, " + type + " v) {\n" + store + "    });\n}\n";
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

std::int64_t blocks_for(driver::DeviceState& device, const MaskScan& scan) {
  if (scan.offsets) return scan.pieces;
  return std::min((scan.pieces + 7) / 8, 8 * resident_blocks(device));
}

Arguments mask_arguments(const MaskScan& scan) {
  Arguments arguments;
  arguments.add(address_of(array::view_of(scan.mask)));
  arguments.add(scan.mask.size());
  arguments.add(scan.piece);
  arguments.add(scan.pieces);
  arguments.add(scan.offsets ? address_of(array::view_of(scan.offsets)) : CUdeviceptr{0});
  arguments.add(address_of(array::view_of(scan.before)));
  return arguments;
}

// Counts what holds in every piece; returns how many counts there are.
std::int64_t count_pieces(driver::DeviceState& device, CUstream stream, MaskScan& scan) {
  const View& mask = array::view_of(scan.mask);
  const auto& owner = mask.storage->device();
  std::int64_t n = scan.mask.size(), counts = 0;
  bool tiled = !holds_few_threads(device);
  if (tiled) {
    scan.piece = kMaskTile;
    scan.pieces = (n + kMaskTile - 1) / kMaskTile;
    counts = (scan.pieces + kMaskTiles - 1) / kMaskTiles;
    scan.offsets = array::make_array(array::fresh_view(owner, {scan.pieces}, DType::int32));
  } else {
    // Enough pieces for every warp that the device holds, of 512 elements at least.
    std::int64_t warps = 2 * resident_blocks(device) * (kBlock / 32);
    scan.piece = std::max<std::int64_t>((n + warps - 1) / warps, 1024);
    scan.piece = (scan.piece + 511) / 512 * 512;
    scan.pieces = counts = (n + scan.piece - 1) / scan.piece;
  }
  scan.before = array::make_array(array::fresh_view(owner, {counts + 1}, DType::int64));
  Arguments arguments;
  arguments.add(address_of(mask));
  arguments.add(n);
  if (!tiled) arguments.add(scan.piece);
  arguments.add(scan.pieces);
  if (tiled) arguments.add(address_of(array::view_of(scan.offsets)));
  arguments.add(address_of(array::view_of(scan.before)));
  launch(device, stream,
         tiled ? kernel(device, "count tiles", tile_counting_text, "td_count")
               : kernel(device, "count pieces", counting_text, "td_count"),
         tiled ? counts : blocks_for(device, scan), arguments);
  return counts;
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
  std::int64_t counts = count_pieces(device, stream, scan);
  CUdeviceptr before = address_of(array::view_of(scan.before));
  Arguments adding;
  adding.add(before);
  adding.add(counts);
  launch(device, stream, kernel(device, "add counts", adding_text, "td_add_up"), 1, adding);
  driver::download(*driver::current_stream(mask.storage->device()), &scan.total,
                   before + static_cast<CUdeviceptr>(counts) * 8, 8);
  return scan;
}

void launch_nonzero(const MaskScan& scan, const Shape& shape, const View& out) {
  auto [device, stream] = place_of(out);
  std::size_t n = shape.size();
  bool narrow = scan.mask.size() < std::int64_t{1} << 32, tiled = static_cast<bool>(scan.offsets);
  auto print = [&] {
    std::string index = narrow ? "unsigned" : "long long";
    std::string parameters = ", long long* __restrict__ out, long long total";
    std::string body = n > 1 ? "    " + index + " rest = (" + index + ")i;\n" : "";
    for (std::size_t k = n; k-- > 0;) {
      std::string row = "out[" + std::to_string(k) + " * total + rank] = ";
      if (k == 0) {
        body += "    " + row + (n > 1 ? "rest" : "i") + ";\n";
        continue;
      }
      std::string d = "d" + std::to_string(k);
      parameters += ", " + index + " " + d;
      body += "    " + row + "rest % " + d + ";\n    rest /= " + d + ";\n";
    }
    return each_text(tiled, DType::bool_, parameters, "true", body);
  };
  const LoadedKernel& loaded =
      kernel(device, base::cat("nonzero ", n, narrow, tiled), print, "td_each");
  Arguments arguments = mask_arguments(scan);
  arguments.add(address_of(out));
  arguments.add(scan.total);
  for (std::size_t k = n; k-- > 1;) {
    if (narrow)
      arguments.add(static_cast<std::uint32_t>(shape[k]));
    else
      arguments.add(shape[k]);
  }
  launch(device, stream, loaded, blocks_for(device, scan), arguments);
}

void launch_compact(const MaskScan& scan, const View& x, const View& out) {
  auto [device, stream] = place_of(out);
  bool tiled = static_cast<bool>(scan.offsets);
  std::string type(cuda_name(x.dtype));
  const LoadedKernel& loaded = kernel(
      device, base::cat("compact ", static_cast<int>(x.dtype), tiled),
      [&] {
        return each_text(tiled, x.dtype,
                         ", const " + std::string(read_name(x.dtype)) + "* __restrict__ x, " +
                             type + "* __restrict__ out",
                         "x[i]", "    out[rank] = v;\n");
      },
      "td_each");
  Arguments arguments = mask_arguments(scan);
  arguments.add(address_of(x));
  arguments.add(address_of(out));
  launch(device, stream, loaded, blocks_for(device, scan), arguments);
}

void launch_expand(const MaskScan& scan, const View& x, const View& values) {
  auto [device, stream] = place_of(x);
  bool tiled = static_cast<bool>(scan.offsets);
  std::string type(cuda_name(x.dtype));
  std::int64_t count = array::size_of(values.shape);
  bool repeats = count < scan.total;
  const LoadedKernel& loaded = kernel(
      device, base::cat("expand ", static_cast<int>(x.dtype), repeats, tiled),
      [&] {
        return each_text(tiled, x.dtype,
                         ", " + type + "* __restrict__ x, const " +
                             std::string(read_name(x.dtype)) +
                             "* __restrict__ values, long long count",
                         repeats ? "values[rank % count]" : "values[rank]", "    x[i] = v;\n");
      },
      "td_each");
  Arguments arguments = mask_arguments(scan);
  arguments.add(address_of(x));
  arguments.add(address_of(values));
  arguments.add(count);
  launch(device, stream, loaded, blocks_for(device, scan), arguments);
}

}  // namespace td::fuse
