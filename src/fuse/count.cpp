// Kernels that count: the range of index values, bincount and histogram.
#include <algorithm>

#include "array/promotion.h"
#include "array/selection.h"
#include "base/text.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"
#include "fuse/program.h"

namespace td::fuse {
namespace {

using base::cat;

constexpr std::int64_t kSharedCounters = 8192;  // 32 KiB of counts, or half as many sums

std::string headers_for(bool half) {
  return device_headers(half, false, false, false) + kText_count;
}

CUdeviceptr address_of(const View& view) {
  return view.storage ? view.storage->address() + static_cast<CUdeviceptr>(view.offset) : 0;
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

// Blocks that each take a run of `chunk` neighbouring elements.
struct Deal {
  std::int64_t blocks, chunk;
};

// `waves`: how many times as many as the device holds at once there may be.
Deal deal_out(driver::DeviceState& device, std::int64_t n, std::int64_t grain, int waves = 2) {
  constexpr std::int64_t longest = std::int64_t{1} << 30;  // a block's counts fit 32 bits
  std::int64_t most = resident_blocks(device) * waves;
  std::int64_t chunk = std::max((n + most - 1) / most, grain);
  chunk = std::min((chunk + kBlock - 1) / kBlock * kBlock, longest);
  return {(n + chunk - 1) / chunk, chunk};
}

struct Counting {
  std::int64_t n, bins;
  bool weighted, aligned;  // aligned: x can be read 16 bytes at a time
  DType dtype;
  std::int64_t most = 0;  // shared counters, a power of two; 0: count in global memory
  std::int64_t copies = 1;

  Counting(const View& x, std::int64_t count, std::int64_t all_bins, bool with_weights)
      : n(count),
        bins(all_bins),
        weighted(with_weights),
        aligned(address_of(x) % 16 == 0),
        dtype(x.dtype) {
    std::int64_t limit = weighted ? kSharedCounters / 2 : kSharedCounters;
    if (bins > limit || n < bins) return;
    for (most = 64; most < bins;) most *= 2;
    copies = std::min<std::int64_t>(limit / most, 16);
  }

  std::string key() const {
    return cat(static_cast<int>(dtype), ' ', weighted, aligned, ' ', most);
  }

  // The call that counts `bin`, an expression of a value `v` of x, inside of a kernel.
  std::string call(const std::string& bin) const {
    std::string type(cuda_name(dtype));
    std::string width = aligned ? cat("TD_WIDTH(", 16 / itemsize(dtype), ")") : "1";
    std::string counters =
        most == 0 ? cat("  td_count_global<", width, ">(x, n, chunk, out")
                  : cat("  td_count_shared<", weighted ? "double" : "unsigned", ", ", most,
                        ", TD_COPIES(", copies, "), ", width, ">(x, n, chunk, (int)bins, out");
    return counters + ", [=](" + type + " v) { return " + bin + "; }, [=](long long i) { return " +
           (weighted ? "weights[i]" : "0") + "; });\n";
  }

  std::string parameters() const {
    return std::string(", const double* __restrict__ weights, ") +
           (weighted ? "double" : "unsigned long long") +
           "* out, long long n, long long chunk, long long bins) {\n";
  }
};

void launch_counting(const LoadedKernel& loaded, Arguments& arguments, const Counting& counting,
                     const View& weights, const View& out) {
  auto [device, stream] = place_of(out);
  TD_CALL(device, cuMemsetD8Async, address_of(out), 0, static_cast<std::size_t>(counting.bins) * 8,
          stream);
  if (counting.n == 0) return;
  // Each block clears its counters and adds them up.
  Deal deal = deal_out(device, counting.n, std::max<std::int64_t>(4096, 4 * counting.most),
                       counting.most > 0 && !holds_few_threads(device) ? 1 : 2);
  arguments.add(address_of(weights));
  arguments.add(address_of(out));
  arguments.add(counting.n);
  arguments.add(deal.chunk);
  arguments.add(counting.bins);
  launch(device, stream, loaded, deal.blocks, arguments);
}

}  // namespace

IndexRange find_range(const View& packed, std::int64_t count) {
  auto [device, stream] = place_of(packed);
  // Indices beyond 2^63 are negative, as NumPy casts them.
  std::string type(packed.dtype == DType::uint64 ? "long long" : cuda_name(packed.dtype));
  const LoadedKernel& loaded = kernel(
      device, cat("range ", static_cast<int>(packed.dtype)),
      [&] {
        return headers_for(false) +
               "extern \"C\" __global__ void __launch_bounds__(256) td_range(const " + type +
               "* x, long long n, long long chunk, unsigned long long* words) {\n"
               "  td_find_range(x, n, chunk, words);\n}\n";
      },
      "td_range");
  const auto& owner = packed.storage->device();
  driver::Memory words(owner, 2 * sizeof(std::uint64_t), stream);
  TD_CALL(device, cuMemsetD8Async, words.address(), 0, 2 * sizeof(std::uint64_t), stream);
  Deal deal = deal_out(device, count, 4096);
  Arguments arguments;
  arguments.add(address_of(packed));
  arguments.add(count);
  arguments.add(deal.chunk);
  arguments.add(words.address());
  launch(device, stream, loaded, deal.blocks, arguments);
  std::uint64_t host[2];
  driver::download(*driver::current_stream(owner), host, words.address(), sizeof host);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return {static_cast<std::int64_t>(~host[0] ^ sign), static_cast<std::int64_t>(host[1] ^ sign)};
}

void launch_bincount(const View& x, const View& weights, const View& out, std::int64_t count,
                     std::int64_t bins) {
  driver::DeviceState& device = place_of(out).device;
  Counting counting(x, count, bins, weights.storage != nullptr);
  const LoadedKernel& loaded = kernel(
      device, cat("bincount ", counting.key()),
      [&] {
        return headers_for(false) +
               "extern \"C\" __global__ void __launch_bounds__(256) td_bincount(const " +
               std::string(cuda_name(x.dtype)) + "* __restrict__ x" + counting.parameters() +
               counting.call("(long long)v") + "}\n";
      },
      "td_bincount");
  Arguments arguments;
  arguments.add(address_of(x));
  launch_counting(loaded, arguments, counting, weights, out);
}

void launch_histogram(const View& x, const View& edges, const View& weights, const View& out,
                      std::int64_t count, std::int64_t bins, bool uniform) {
  driver::DeviceState& device = place_of(out).device;
  Counting counting(x, count, bins, weights.storage != nullptr);
  DType compare = array::promote(x.dtype, edges.dtype);
  uniform = uniform && bins < std::int64_t{1} << 30;
  auto print = [&] {
    std::string c(cuda_name(compare)), e(cuda_name(edges.dtype)), value = "td_cast<" + c + ">(v)";
    bool half = false;
    for (DType d : {x.dtype, edges.dtype, compare}) half = half || is_half(d);
    std::string bin = uniform ? cat("td_even_bin<", counting.most > 0 ? "true, " : "false, ", c,
                                    ">(even, edges, ", value, ")")
                              : "td_search_bin<" + c + ">(edges, bins, " + value + ")";
    return headers_for(half) +
           "extern \"C\" __global__ void __launch_bounds__(256) td_histogram(const " +
           std::string(cuda_name(x.dtype)) + "* __restrict__ x, const " + e +
           "* __restrict__ edges" + counting.parameters() +
           (uniform ? "  const auto even = td_make_even_bins<" + c + ">(edges, (int)bins);\n"
                    : "") +
           counting.call(bin) + "}\n";
  };
  const LoadedKernel& loaded = kernel(
      device, cat("histogram ", uniform, ' ', static_cast<int>(edges.dtype), ' ', counting.key()),
      print, "td_histogram");
  Arguments arguments;
  arguments.add(address_of(x));
  arguments.add(address_of(edges));
  launch_counting(loaded, arguments, counting, weights, out);
}

}  // namespace td::fuse
