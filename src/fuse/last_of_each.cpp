// Assignment through indices that name an element several times: which of them is the last.
#include <algorithm>
#include <sstream>

#include "array/selection.h"
#include "fuse/geometry.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"

namespace td::fuse {
namespace {

using array::IndexAxis;
using array::Selection;

constexpr std::int64_t kFew = 1024;  // tuples that are compared pairwise

// The index arrays over their own axes only.
std::vector<View> picked_views(const Selection& s) {
  std::vector<View> views;
  auto first = static_cast<std::ptrdiff_t>(s.first);
  auto n = static_cast<std::ptrdiff_t>(s.picked.size());
  for (const IndexAxis& axis : s.axes) {
    auto from = axis.index.strides.begin() + first;
    views.push_back({axis.index.storage, s.picked, Strides(from, from + n), axis.index.offset,
                     axis.index.dtype});
  }
  return views;
}

std::string in_range(std::size_t k, IndexMode mode) {
  std::string j = "j", n = "length" + std::to_string(k);
  switch (mode) {
    case IndexMode::raise:
      return "j += j < 0 ? " + n + " : 0;";
    case IndexMode::wrap:
      return "j %= " + n + "; j += j < 0 ? " + n + " : 0;";
    default:
      return "j = j < 0 ? 0 : j >= " + n + " ? " + n + " - 1 : j;";
  }
}

std::string text(const Walk& walk, const std::vector<View>& views, IndexMode mode, bool few,
                 bool narrow) {
  std::string place = narrow ? "unsigned" : "unsigned long long";
  std::ostringstream out;
  out << device_headers(false, false, false, false) << kText_select
      << "typedef long long td_index;\n"
         "extern \"C\" __global__ void __launch_bounds__(256) td_last(bool* wins, "
      << place << "* table, long long count, long long chunk, int pass";
  for (std::size_t d = 0; d < walk.dims.size(); ++d) out << ", long long d" << d;
  for (std::size_t k = 0; k < views.size(); ++k) {
    out << ", const " << cuda_name(views[k].dtype) << "* p" << k << ", long long length" << k;
    for (std::size_t d = 0; d < walk.dims.size(); ++d) out << ", long long s" << k << "_" << d;
  }
  out << ") {\n  auto key = [=](long long i) {\n"
      << split_index("i", "c", "d", walk.dims.size()) << "    long long folded = 0, j;\n";
  for (std::size_t k = 0; k < views.size(); ++k) {
    out << "    j = (long long)p" << k << "[0";
    for (std::size_t d = 0; d < walk.dims.size(); ++d)
      out << " + c" << d << " * s" << k << "_" << d;
    out << "]; " << in_range(k, mode) << " folded = folded * length" << k << " + j;\n";
  }
  out << "    return folded;\n  };\n"
      << (few ? "  td_last_pairwise(wins, count, key);\n"
              : "  td_last_by_table(wins, table, count, chunk, pass, key);\n")
      << "}\n";
  return out.str();
}

}  // namespace

Array last_of_each(const Selection& s, IndexMode mode) {
  const auto& owner = s.frame.storage->device();
  driver::DeviceState& device = *owner;
  device.make_current();
  CUstream stream = driver::current_stream(owner)->handle();
  View wins = array::fresh_view(owner, s.picked, DType::bool_);
  std::vector<View> views = picked_views(s);
  std::vector<const View*> operands{&wins};
  for (const View& v : views) operands.push_back(&v);
  std::vector<int> axes(s.picked.size());
  for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(k);
  Walk walk = make_walk(s.picked, axes, operands, 0, true);
  bool few = walk.count <= kFew;
  bool narrow = walk.count < std::int64_t{1} << 32;
  std::string key = "last";
  auto put = [&](auto value) { key.push_back(static_cast<char>(value)); };
  put(few);
  put(narrow);
  put(mode);
  put(walk.dims.size());
  for (const View& v : views) put(v.dtype);
  const LoadedKernel& loaded =
      kernel(device, key, [&] { return text(walk, views, mode, few, narrow); }, "td_last");

  std::int64_t keys = 1;
  for (const IndexAxis& axis : s.axes) keys *= axis.length;
  std::optional<driver::Memory> table;
  if (!few) table.emplace(owner, static_cast<std::size_t>(keys) * (narrow ? 4 : 8), stream);
  std::int64_t most = 16 * resident_blocks(device);
  std::int64_t chunk = std::max((walk.count + most - 1) / most, std::int64_t{kBlock});
  std::int64_t blocks = (walk.count + chunk - 1) / chunk;
  for (int pass = 0; pass < (few ? 1 : 3); ++pass) {
    Arguments arguments;
    arguments.add(wins.storage->address());
    arguments.add(table ? table->address() : CUdeviceptr{0});
    arguments.add(walk.count);
    arguments.add(chunk);
    arguments.add(pass);
    for (std::int64_t dim : walk.dims) arguments.add(dim);
    for (std::size_t k = 0; k < views.size(); ++k) {
      arguments.add(views[k].storage->address() + static_cast<CUdeviceptr>(views[k].offset));
      arguments.add(s.axes[k].length);
      for (std::int64_t stride : walk.strides[k + 1]) arguments.add(stride);
    }
    launch(device, stream, loaded, blocks, arguments);
  }
  return array::make_array(std::move(wins));
}

}  // namespace td::fuse
