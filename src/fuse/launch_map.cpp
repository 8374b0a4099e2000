// Element-wise kernels in three shapes:
//   flat    every operand is contiguous in the same order, or one element: groups of elements with
//   wide accesses rows    a long last axis: a block walks pieces of one row, so the other axes cost
//   nothing per element tiled   some operand runs along another axis than the result: squares go
//   through shared memory, so that both sides
//           are read and written in whole lines
//   linear  short rows: one index is split into coordinates per element
#include <algorithm>
#include <numeric>
#include <optional>
#include <sstream>

#include "fuse/geometry.h"
#include "fuse/kernel_cache.h"
#include "fuse/map_kernel.h"

namespace td::fuse {
namespace {

enum class Scheme : char { flat, rows, tiled, linear };
constexpr std::int64_t kLongRow = 64;
constexpr std::int64_t kPiece = 1024;          // columns of a row that a block does at once
constexpr std::int64_t kTile = 32;             // side of a square
constexpr std::size_t kTiledBytes = 40 << 10;  // shared memory that squares may take

// A tile for devices with many threads: rows run along the last axis, columns along the turned one.
// Turned leaves are read `load` elements at once, all else is read and written `store` at once.
struct Tile {
  int height = 0, width = 0, load = 1, store = 1;
};

struct Plan {
  Walk walk;
  Scheme scheme = Scheme::linear;
  int width = 1;         // elements per access of the flat and the linear scheme
  std::size_t turn = 0;  // tiled: the axis along which the turned leaves run
  Tile tile;             // of height 0: squares of kTile
  std::vector<bool> turned;
  InlineVector<CUdeviceptr, 8> addresses;
  // Strides of the last axis that are spelled in the text, 0 for the others: every second element
  // (also the real parts of complex numbers), or backwards. Lanes are then known distances apart.
  InlineVector<std::int64_t, 8> spelled;
};

const View& operand(const Program& program, std::size_t k) {
  std::size_t leaves = program.leaves.size();
  return k < leaves ? program.leaves[k] : program.stores[k - leaves].view;
}

std::string operand_name(const Program& program, std::size_t k) {
  std::size_t leaves = program.leaves.size();
  return k < leaves ? "a" + std::to_string(k) : "b" + std::to_string(k - leaves);
}

bool steps_by_strides(Access access) {
  return access != Access::flat && access != Access::constant;
}

// Stride parameters that operand `k` needs: the last axis only if its stride is neither 0 nor 1.
std::size_t stride_count(const Plan& plan, std::size_t k) {
  const Walk& walk = plan.walk;
  if (plan.scheme == Scheme::tiled && walk.access[k] != Access::constant) return walk.dims.size();
  if (!steps_by_strides(walk.access[k])) return 0;
  return walk.dims.size() - (walk.access[k] == Access::strided ? 0 : 1);
}

// Leaves that run along one other axis than the last, if squares of them fit into shared memory.
bool plan_tiles(const Program& program, Plan& plan) {
  const Walk& walk = plan.walk;
  std::size_t n = walk.dims.size();
  if (n < 2 || walk.dims[n - 1] < kTile / 2) return false;
  plan.turned.assign(program.leaves.size(), false);
  std::size_t bytes = 0;
  plan.turn = n;
  for (std::size_t k = 0; k < program.leaves.size(); ++k) {
    const Strides& s = walk.strides[k];
    if (s[n - 1] == 0 || s[n - 1] == 1) continue;
    for (std::size_t axis = 0; axis + 1 < n; ++axis) {
      if (s[axis] != 1 || walk.dims[axis] < kTile / 2 || (plan.turn != n && plan.turn != axis))
        continue;
      plan.turn = axis;
      plan.turned[k] = true;
      bytes += kTile * (kTile + 1) * itemsize(program.leaves[k].dtype);
      break;
    }
  }
  return plan.turn != n && bytes <= kTiledBytes;
}

int power_of_two(std::int64_t least, int most) {
  int power = 1;
  while (power < least && power < most) power *= 2;
  return power;
}

// How many neighbours along axis `unit` operand k can move at once: a power of two up to `most`.
int aligned_width(const Program& program, const Plan& plan, std::size_t k, std::size_t unit,
                  int most) {
  auto bytes = static_cast<std::int64_t>(itemsize(operand(program, k).dtype));
  auto fits = [&](int width) {
    if (width * bytes > 16 || plan.walk.dims[unit] % width != 0 ||
        plan.addresses[k] % static_cast<CUdeviceptr>(width * bytes) != 0)
      return false;
    for (std::size_t axis = 0; axis < plan.walk.dims.size(); ++axis)
      if (axis != unit && plan.walk.strides[k][axis] % width != 0) return false;
    return true;
  };
  while (most > 1 && !fits(most)) most /= 2;
  return most;
}

// As plan_tiles, for devices with many threads: also short axes, and wide accesses.
bool plan_wide_tiles(const Program& program, Plan& plan) {
  const Walk& walk = plan.walk;
  std::size_t n = walk.dims.size();
  if (n < 2) return false;
  plan.turned.assign(program.leaves.size(), false);
  plan.turn = n;
  std::int64_t bytes = 0;
  for (std::size_t k = 0; k < program.leaves.size(); ++k) {
    const Strides& s = walk.strides[k];
    if (s[n - 1] == 0 || s[n - 1] == 1) continue;
    for (std::size_t axis = 0; axis + 1 < n; ++axis) {
      if (s[axis] != 1 || (plan.turn != n && plan.turn != axis)) continue;
      plan.turn = axis;
      plan.turned[k] = true;
      bytes += static_cast<std::int64_t>(itemsize(program.leaves[k].dtype));
      break;
    }
  }
  if (plan.turn == n) return false;
  std::int64_t height = walk.dims[plan.turn], width = walk.dims[n - 1];
  if (height * width < kTile * kTile) return false;
  // A column in shared memory has one element more than the tile, against bank conflicts.
  for (int side : {64, 32, 16}) {
    Tile& tile = plan.tile;
    int area = side * side;
    tile.height = height < side ? power_of_two(height, side)
                                : power_of_two(height, area / power_of_two(width, side));
    tile.width = power_of_two(width, area / tile.height);
    if (tile.width * (tile.height + 1) * bytes <= static_cast<std::int64_t>(kTiledBytes)) break;
    tile.height = 0;
  }
  if (plan.tile.height == 0) return false;
  plan.tile.load = std::min(4, plan.tile.height);
  plan.tile.store = std::min(4, plan.tile.width);
  for (std::size_t k = 0; k < walk.strides.size(); ++k) {
    if (walk.access[k] == Access::constant) continue;
    std::int64_t last = walk.strides[k][n - 1];
    if (k < plan.turned.size() && plan.turned[k])
      plan.tile.load = aligned_width(program, plan, k, plan.turn, plan.tile.load);
    else if (last != 0)
      plan.tile.store = last == 1 ? aligned_width(program, plan, k, n - 1, plan.tile.store) : 1;
  }
  return true;
}

// Groups of neighbours along the last axis, where that has stride 1 or 0 for every operand.
int group_width(const Program& program, const Plan& plan) {
  int width = 16;
  for (std::size_t k = 0; k < plan.walk.access.size(); ++k) {
    Access access = plan.walk.access[k];
    if (access == Access::strided) return 1;
    if (access == Access::flat || access == Access::unit)
      width = aligned_width(program, plan, k, plan.walk.dims.size() - 1, width);
  }
  return width;
}

Plan make_plan(driver::DeviceState& device, const Program& program) {
  Plan plan;
  InlineVector<const View*, 8> operands;
  std::size_t count = program.leaves.size() + program.stores.size();
  for (std::size_t k = 0; k < count; ++k) operands.push_back(&operand(program, k));
  if (auto walk = flat_walk(program.shape, operands)) {
    plan.walk = std::move(*walk);
  } else {
    Axes axes(program.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    plan.walk = make_walk(program.shape, axes, operands, program.leaves.size(), false);
  }
  for (std::size_t k = 0; k < count; ++k)
    plan.addresses.push_back(operands[k]->storage->address() +
                             static_cast<CUdeviceptr>(operands[k]->offset));
  for (std::size_t k = 0; k < count; ++k) {
    bool strided = plan.walk.access[k] == Access::strided;
    std::int64_t last = strided ? plan.walk.strides[k].back() : 0;
    plan.spelled.push_back(last == 2 || last == -1 ? last : 0);
  }
  bool flat = std::none_of(plan.walk.access.begin(), plan.walk.access.end(), steps_by_strides);
  if (!flat && !holds_few_threads(device)) {
    if (plan_wide_tiles(program, plan)) {
      plan.scheme = Scheme::tiled;
      return plan;
    }
    // Dividing indices of 64 bits costs more than narrow accesses.
    if (!plan.walk.wide || plan.walk.dims.back() < kLongRow)
      plan.width = group_width(program, plan);
    plan.scheme =
        plan.width > 1 || plan.walk.dims.back() < kLongRow ? Scheme::linear : Scheme::rows;
    return plan;
  }
  if (!flat) {
    plan.scheme = plan_tiles(program, plan)           ? Scheme::tiled
                  : plan.walk.dims.back() >= kLongRow ? Scheme::rows
                                                      : Scheme::linear;
    return plan;
  }
  plan.scheme = Scheme::flat;
  std::size_t largest = 1;
  for (std::size_t k = 0; k < count; ++k)
    if (plan.walk.access[k] == Access::flat)
      largest = std::max(largest, itemsize(operands[k]->dtype));
  plan.width = static_cast<int>(16 / largest);
  for (std::size_t k = 0; k < count; ++k)
    if (plan.walk.access[k] == Access::flat &&
        plan.addresses[k] % (static_cast<std::size_t>(plan.width) * itemsize(operands[k]->dtype)) !=
            0)
      plan.width = 1;
  return plan;
}

// Prints the pieces that differ between loads (into x<k>) and stores (from y<k>).
class MapPrinter {
 public:
  MapPrinter(const Program& program, const Plan& plan) : program_(program), plan_(plan) {}

  std::string text() {
    out_ << print_prelude(program_, plan_.walk.wide);
    out_ << "extern \"C\" __global__ void __launch_bounds__(256) td_map("
         << parameter_list(program_) << "td_index n, td_index chunk";
    for (std::size_t d = 0; d < plan_.walk.dims.size(); ++d) out_ << ", td_index d" << d;
    for (std::size_t k = 0; k < plan_.walk.access.size(); ++k)
      for (std::size_t d = 0; d < stride_count(plan_, k); ++d)
        out_ << ", td_index " << operand_name(program_, k) << "_" << d;
    out_ << ") {\n";
    if (plan_.scheme == Scheme::flat)
      flat();
    else if (plan_.scheme == Scheme::rows)
      rows();
    else if (plan_.scheme == Scheme::tiled && plan_.tile.height > 0)
      wide_tiles();
    else if (plan_.scheme == Scheme::tiled)
      tiled();
    else if (plan_.width > 1)
      grouped();
    else
      linear();
    out_ << "}\n";
    return out_.str();
  }

 private:
  std::size_t leaves() const { return program_.leaves.size(); }
  std::size_t stores() const { return program_.stores.size(); }
  bool constant(std::size_t k) const { return plan_.walk.access[k] == Access::constant; }
  std::string type(std::size_t k) const {
    DType dtype = operand(program_, k).dtype;
    return std::string(k < leaves() ? read_name(dtype) : cuda_name(dtype));
  }

  // element(x0<suffix>, …, s0, …, y0<suffix>, …)
  std::string element(const std::string& suffix) const {
    std::ostringstream call;
    call << "element(";
    for (std::size_t k = 0; k < leaves(); ++k)
      call << "x" << k << (constant(k) ? "" : suffix) << ", ";
    call << scalar_arguments(program_);
    for (std::size_t k = 0; k < stores(); ++k) call << (k ? ", " : "") << "y" << k << suffix;
    call << ");";
    return call.str();
  }

  void load_constants() {
    for (std::size_t k = 0; k < leaves(); ++k)
      if (constant(k)) out_ << "  const " << type(k) << " x" << k << " = a" << k << "[0];\n";
  }

  void flat() {
    std::string width = "TD_WIDTH(" + std::to_string(plan_.width) + ")";
    load_constants();
    out_ << "  const td_index groups = n / " << width << ", share = chunk / " << width << ";\n"
         << "  const td_index first = (td_index)blockIdx.x * share, end = first + share;\n"
         << "  const td_index stop = end < groups ? end : groups;\n"
         << "  for (td_index g = first + threadIdx.x; g < stop; g += 256) {\n";
    for (std::size_t k = 0; k < leaves(); ++k)
      if (!constant(k))
        out_ << "    const td_vec<" << type(k) << ", " << width << "> x" << k << " = td_load<"
             << width << ">(a" << k << " + g * " << width << ");\n";
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "    td_vec<" << type(leaves() + k) << ", " << width << "> y" << k << ";\n";
    out_ << "#pragma unroll\n    for (int j = 0; j < " << width << "; ++j) " << element(".at[j]")
         << "\n";
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "    td_store(b" << k << " + g * " << width << ", y" << k << ");\n";
    out_ << "  }\n";
    if (plan_.width == 1) return;
    out_ << "#ifndef __TREADLE__\n  if (blockIdx.x == 0 && threadIdx.x < n - groups * " << width
         << ") {\n"
         << "    const td_index i = groups * " << width << " + threadIdx.x;\n";
    one_element([](std::size_t) { return std::string("i"); });
    out_ << "  }\n#endif\n";
  }

  template <class Place>
  void one_element(Place place) {
    for (std::size_t k = 0; k < leaves(); ++k)
      if (!constant(k))
        out_ << "    const " << type(k) << " x" << k << " = a" << k << "[" << place(k) << "];\n";
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "    " << type(leaves() + k) << " y" << k << ";\n";
    out_ << "    " << element("") << "\n";
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "    b" << k << "[" << place(leaves() + k) << "] = y" << k << ";\n";
  }

  // Sum of coordinate times stride over the first `upto` axes.
  std::string offset(std::size_t k, std::size_t upto) const {
    std::string text;
    std::size_t last = plan_.walk.dims.size() - 1;
    for (std::size_t d = 0; d < upto; ++d) {
      std::string coordinate = "c" + std::to_string(d);
      text += (d ? " + " : "") + (d == last ? along_last(k, coordinate)
                                            : coordinate + " * " + operand_name(program_, k) + "_" +
                                                  std::to_string(d));
    }
    return text.empty() ? "0" : text;
  }

  // `coordinate` of the last axis times the stride of operand k there.
  std::string along_last(std::size_t k, const std::string& coordinate) const {
    if (plan_.spelled[k] != 0) return coordinate + " * (" + std::to_string(plan_.spelled[k]) + ")";
    return coordinate + " * " + operand_name(program_, k) + "_" +
           std::to_string(plan_.walk.dims.size() - 1);
  }

  void linear() {
    std::size_t last = plan_.walk.dims.size() - 1;
    load_constants();
    out_ << "  const td_index first = (td_index)blockIdx.x * chunk, end = first + chunk;\n"
         << "  const td_index stop = end < n ? end : n;\n"
         << "  for (td_index i = first + threadIdx.x; i < stop; i += 256) {\n"
         << split_index("i", "c", "d", plan_.walk.dims.size());
    one_element([&](std::size_t k) -> std::string {
      switch (plan_.walk.access[k]) {
        case Access::flat:
          return "i";
        case Access::constant:
          return "0";
        case Access::unit:
          return offset(k, last) + " + c" + std::to_string(last);
        case Access::repeated:
          return offset(k, last);
        default:
          return offset(k, last + 1);
      }
    });
    out_ << "  }\n";
  }

  // linear, for groups along the last axis: n and the last dimension count groups.
  void grouped() {
    std::size_t last = plan_.walk.dims.size() - 1;
    std::string width = std::to_string(plan_.width);
    auto place = [&](std::size_t k) -> std::string {
      switch (plan_.walk.access[k]) {
        case Access::flat:
          return "i * " + width;
        case Access::unit:
          return offset(k, last) + " + c" + std::to_string(last) + " * " + width;
        default:
          return offset(k, last);
      }
    };
    auto wide = [&](std::size_t k) {
      return plan_.walk.access[k] == Access::flat || plan_.walk.access[k] == Access::unit;
    };
    load_constants();
    out_ << "  const td_index first = (td_index)blockIdx.x * chunk, end = first + chunk;\n"
         << "  const td_index stop = end < n ? end : n;\n"
         << "  for (td_index i = first + threadIdx.x; i < stop; i += 256) {\n"
         << split_index("i", "c", "d", plan_.walk.dims.size());
    group_of_elements(
        width, place, wide, [&](std::size_t k) { return "x" + std::to_string(k) + ".at[j]"; },
        [](std::size_t) { return true; });
    out_ << "  }\n";
  }

  // Loads of the leaves that `own` says, `width` calls of element, and the stores.
  template <class Place, class Wide, class Value, class Own>
  void group_of_elements(const std::string& width, Place place, Wide wide, Value value, Own own) {
    for (std::size_t k = 0; k < leaves(); ++k) {
      if (constant(k) || !own(k)) continue;
      if (wide(k))
        out_ << "    const td_vec<" << type(k) << ", " << width << "> x" << k << " = td_load<"
             << width << ">(" << pointer(k) << " + (" << place(k) << "));\n";
      else
        out_ << "    const " << type(k) << " x" << k << " = " << pointer(k) << "[" << place(k)
             << "];\n";
    }
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "    td_vec<" << type(leaves() + k) << ", " << width << "> y" << k << ";\n";
    out_ << "#pragma unroll\n    for (int j = 0; j < " << width << "; ++j) element(";
    for (std::size_t k = 0; k < leaves(); ++k)
      out_ << (constant(k) || (own(k) && !wide(k)) ? "x" + std::to_string(k) : value(k)) << ", ";
    out_ << scalar_arguments(program_);
    for (std::size_t k = 0; k < stores(); ++k) out_ << (k ? ", " : "") << "y" << k << ".at[j]";
    out_ << ");\n";
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "    td_store(" << pointer(leaves() + k) << " + (" << place(leaves() + k) << "), y"
           << k << ");\n";
  }

  // Where operand k begins: its plane in tiles.
  std::string pointer(std::size_t k) const {
    return plan_.scheme == Scheme::tiled ? "p" + std::to_string(k) : operand_name(program_, k);
  }

  std::string column(std::size_t k) const {
    switch (plan_.walk.access[k]) {
      case Access::constant:
      case Access::repeated:
        return "0";
      case Access::strided:
        return along_last(k, "i");
      default:
        return "i";
    }
  }

  void rows() {
    std::size_t last = plan_.walk.dims.size() - 1;
    std::string inner = "d" + std::to_string(last);
    load_constants();
    out_ << "  const int unroll = TD_WIDTH(4);\n"
         << "  const td_index pieces = (" << inner << " + 1023) / 1024;\n"
         << "  const td_index total = n / " << inner
         << " * pieces, first = (td_index)blockIdx.x * chunk;\n"
         << "  const td_index stop = first + chunk < total ? first + chunk : total;\n"
         << "  for (td_index t = first; t < stop; ++t) {\n"
         << "    const td_index row = t / pieces, begin = (t - row * pieces) * 1024;\n"
         << split_index("row", "c", "d", last);
    for (std::size_t k = 0; k < leaves() + stores(); ++k) {
      if (constant(k)) continue;
      std::string base = plan_.walk.access[k] == Access::flat ? "row * " + inner : offset(k, last);
      out_ << "    " << (k < leaves() ? "const " : "") << type(k) << "* p" << k << " = "
           << operand_name(program_, k) << " + (" << base << ");\n";
    }
    out_ << "    for (td_index from = begin; from < begin + 1024 && from < " << inner
         << "; from += 256 * unroll) {\n    const td_index column = from + threadIdx.x;\n";
    for (std::size_t k = 0; k < leaves(); ++k)
      if (!constant(k)) out_ << "    " << type(k) << " x" << k << "[unroll];\n";
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "    " << type(leaves() + k) << " y" << k << "[unroll];\n";
    out_ << "#pragma unroll\n    for (int u = 0; u < unroll; ++u) {\n      td_index i = column + u "
            "* 256;\n"
         << "      i = i < " << inner << " ? i : " << inner << " - 1;\n";
    for (std::size_t k = 0; k < leaves(); ++k)
      if (!constant(k)) out_ << "      x" << k << "[u] = p" << k << "[" << column(k) << "];\n";
    out_ << "      " << element("[u]") << "\n    }\n"
         << "#pragma unroll\n    for (int u = 0; u < unroll; ++u) {\n      const td_index i = "
            "column + u * 256;\n"
         << "      if (i < " << inner << ") {\n";
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "        p" << leaves() + k << "[" << column(leaves() + k) << "] = y" << k
           << "[u];\n";
    out_ << "      }\n    }\n    }\n  }\n";
  }

  // Coordinates of every axis but `turn` and the last, from the index of a plane.
  void split_plane(std::size_t last) {
    out_ << "    td_index rest = plane;\n";
    for (std::size_t d = last; d-- > 0;)
      if (d != plan_.turn)
        out_ << "    const td_index c" << d << " = rest % d" << d << "; rest /= d" << d << ";\n";
  }

  std::string plane_offset(std::size_t k, std::size_t last) const {
    std::string text = "0";
    for (std::size_t d = 0; d < last; ++d)
      if (d != plan_.turn)
        text += " + c" + std::to_string(d) + " * " + operand_name(program_, k) + "_" +
                std::to_string(d);
    return text;
  }

  void tiled() {
    std::size_t last = plan_.walk.dims.size() - 1;
    std::string width = "d" + std::to_string(last), height = "d" + std::to_string(plan_.turn);
    // Strides of 1 are spelled, so that lanes which stand side by side are seen to.
    auto place = [&](std::size_t k) {
      std::string name = operand_name(program_, k) + "_";
      bool turned = k < leaves() && plan_.turned[k];
      Access access = plan_.walk.access[k];
      std::string r = turned ? "r" : "r * " + name + std::to_string(plan_.turn);
      if (access == Access::repeated) return r;
      if (access == Access::unit || access == Access::flat) return r + " + c";
      return r + " + c * " + name + std::to_string(last);
    };
    load_constants();
    for (std::size_t k = 0; k < leaves(); ++k)
      if (plan_.turned[k]) out_ << "  __shared__ " << type(k) << " tile" << k << "[32][33];\n";
    out_ << "  const int lane = threadIdx.x & 31, group = threadIdx.x >> 5;\n"
         << "  const td_index across = (" << width << " + 31) / 32, down = (" << height
         << " + 31) / 32;\n"
         << "  const td_index tiles = across * down, total = n / (" << width << " * " << height
         << ") * tiles;\n"
         << "  for (td_index t = blockIdx.x; t < total; t += gridDim.x) {\n"
         << "    const td_index plane = t / tiles, tile = t - plane * tiles;\n"
         << "    const td_index top = tile / across * 32, left = tile % across * 32;\n";
    split_plane(last);
    for (std::size_t k = 0; k < leaves() + stores(); ++k)
      if (!constant(k))
        out_ << "    " << (k < leaves() ? "const " : "") << type(k) << "* p" << k << " = "
             << operand_name(program_, k) << " + (" << plane_offset(k, last) << ");\n";
    // A warp that goes in step is whole: its lanes' places are then known to be neighbours.
    out_ << "    __syncwarp();\n#pragma unroll\n    for (int j = 0; j < 32; j += 8) {\n"
         << "      const td_index r = top + lane, c = left + group + j;\n      if (r < " << height
         << " && c < " << width << ") {\n";
    for (std::size_t k = 0; k < leaves(); ++k)
      if (plan_.turned[k])
        out_ << "        tile" << k << "[group + j][lane] = p" << k << "[" << place(k) << "];\n";
    out_ << "      }\n    }\n    __syncthreads();\n#pragma unroll\n    for (int j = 0; j < 32; j "
            "+= 8) {\n"
         << "      const td_index r = top + group + j, c = left + lane;\n      if (r < " << height
         << " && c < " << width << ") {\n";
    for (std::size_t k = 0; k < leaves(); ++k) {
      if (constant(k)) continue;
      out_ << "    const " << type(k) << " x" << k << " = ";
      if (plan_.turned[k])
        out_ << "tile" << k << "[lane][group + j];\n";
      else
        out_ << "p" << k << "[" << place(k) << "];\n";
    }
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "    " << type(leaves() + k) << " y" << k << ";\n";
    out_ << "    " << element("") << "\n";
    for (std::size_t k = 0; k < stores(); ++k)
      out_ << "    p" << leaves() + k << "[" << place(leaves() + k) << "] = y" << k << ";\n";
    out_ << "      }\n    }\n    __syncthreads();\n  }\n";
  }

  // Tiles of Plan::tile: e counts accesses, er and ec are the place within the tile.
  void wide_tiles() {
    const Tile& tile = plan_.tile;
    std::size_t last = plan_.walk.dims.size() - 1;
    std::string width = "d" + std::to_string(last), height = "d" + std::to_string(plan_.turn);
    std::string h = std::to_string(tile.height), w = std::to_string(tile.width);
    std::string load = std::to_string(tile.load), store = std::to_string(tile.store);
    auto stride = [&](std::size_t k, std::size_t axis) {
      return operand_name(program_, k) + "_" + std::to_string(axis);
    };
    auto turned = [&](std::size_t k) { return k < leaves() && plan_.turned[k]; };
    auto wide = [&](std::size_t k) { return !turned(k) && plan_.walk.strides[k][last] == 1; };
    auto place = [&](std::size_t k) {
      if (turned(k)) return "r + c * " + stride(k, last);
      std::string row = "r * " + stride(k, plan_.turn);
      return wide(k) ? row + " + c" : row + " + c * " + stride(k, last);
    };
    load_constants();
    for (std::size_t k = 0; k < leaves(); ++k)
      if (plan_.turned[k])
        out_ << "  __shared__ " << type(k) << " tile" << k << "[" << w << "][" << h << " + 1];\n";
    out_ << "  enum { H = " << h << ", W = " << w << ", L = " << load << ", S = " << store
         << " };\n"
         << "  const td_index across = (" << width << " + W - 1) / W, down = (" << height
         << " + H - 1) / H;\n"
         << "  const td_index tiles = across * down, total = n / (" << width << " * " << height
         << ") * tiles;\n"
         << "  for (td_index t = blockIdx.x; t < total; t += gridDim.x) {\n"
         << "    const td_index plane = t / tiles, tile = t - plane * tiles;\n"
         << "    const td_index top = tile / across * H, left = tile % across * W;\n";
    split_plane(last);
    for (std::size_t k = 0; k < leaves() + stores(); ++k)
      if (!constant(k))
        out_ << "    " << (k < leaves() ? "const " : "") << type(k) << "* p" << k << " = "
             << operand_name(program_, k) << " + (" << plane_offset(k, last) << ");\n";
    auto loop = [&](const char* fast, const char* slow) {
      out_ << "#pragma unroll\n    for (int e = threadIdx.x; e < H * W / " << fast
           << "; e += 256) {\n"
           << "    const int " << slow << ";\n    const td_index r = top + er, c = left + ec;\n"
           << "    if (r < " << height << " && c < " << width << ") {\n";
    };
    loop("L", "er = e % (H / L) * L, ec = e / (H / L)");
    for (std::size_t k = 0; k < leaves(); ++k)
      if (plan_.turned[k])
        out_ << "    const td_vec<" << type(k) << ", L> x" << k << " = td_load<L>(p" << k << " + ("
             << place(k) << "));\n#pragma unroll\n    for (int j = 0; j < L; ++j) tile" << k
             << "[ec][er + j] = x" << k << ".at[j];\n";
    out_ << "    }\n    }\n    __syncthreads();\n";
    loop("S", "ec = e % (W / S) * S, er = e / (W / S)");
    group_of_elements(
        "S", place, wide,
        [&](std::size_t k) {
          std::string number = std::to_string(k);
          return turned(k) ? "tile" + number + "[ec + j][er]" : "x" + number + ".at[j]";
        },
        [&](std::size_t k) { return !turned(k); });
    out_ << "    }\n    }\n    __syncthreads();\n  }\n";
  }

  const Program& program_;
  const Plan& plan_;
  std::ostringstream out_;
};

std::string plan_key(const Program& program, const Plan& plan) {
  std::string key = "map";
  key.reserve(160);
  append_key(program, key);
  key.push_back(static_cast<char>(plan.scheme));
  key.push_back(static_cast<char>(plan.width));
  key.push_back(static_cast<char>(plan.walk.wide));
  key.push_back(static_cast<char>(plan.walk.dims.size()));
  for (Access access : plan.walk.access) key.push_back(static_cast<char>(access));
  for (std::int64_t stride : plan.spelled) key.push_back(static_cast<char>(stride));
  if (plan.scheme == Scheme::tiled) {
    for (int side : {plan.tile.height, plan.tile.width})
      for (int part : {side & 127, side >> 7}) key.push_back(static_cast<char>(part));
    key.push_back(static_cast<char>(8 * plan.tile.load + plan.tile.store));
    for (const Strides& strides : plan.walk.strides)
      key.push_back(static_cast<char>(strides.back() == 1));
    key.push_back(static_cast<char>(plan.turn));
    for (bool turned : plan.turned) key.push_back(static_cast<char>(turned));
  }
  return key;
}

// How the work is dealt out: every block gets a run of `chunk` neighbouring items (elements, pieces
// of rows, tiles), which a CPU's prefetcher likes and a GPU does not mind.
struct Deal {
  std::int64_t blocks, chunk;
};

Deal deal_out(driver::DeviceState& device, const Plan& plan) {
  const Walk& walk = plan.walk;
  auto parts = [](std::int64_t length, std::int64_t size) { return (length + size - 1) / size; };
  std::int64_t items = walk.count, grain = kBlock;
  // One group of elements a thread is the fastest way to stream (measured on an H200: 4.31
  // against 4.15 TB/s with 4 blocks a slot); the other schemes pay for each block. A device with
  // few slots loops instead.
  std::int64_t per_slot = 32;
  if (plan.scheme == Scheme::flat) {
    grain = std::int64_t{kBlock} * plan.width;
    per_slot = 256;
  } else if (plan.scheme == Scheme::rows) {
    items = walk.count / walk.dims.back() * parts(walk.dims.back(), kPiece);
    grain = 1;
    per_slot = 64;
  } else if (plan.scheme == Scheme::tiled) {
    std::int64_t width = walk.dims.back(), height = walk.dims[plan.turn];
    std::int64_t across = plan.tile.height ? plan.tile.width : kTile;
    std::int64_t down = plan.tile.height ? plan.tile.height : kTile;
    items = walk.count / (width * height) * parts(width, across) * parts(height, down);
    grain = 1;
  } else if (plan.width > 1) {
    items = walk.count / plan.width;
    per_slot = 256;
  }
  std::int64_t most = per_slot * resident_blocks(device);
  std::int64_t chunk = parts(parts(items, most), grain) * grain;
  return {parts(items, chunk), chunk};
}

// Filling memory with one repeated byte or word needs no kernel. The word, and how many of its
// bytes repeat.
struct Fill {
  std::uint64_t bits = 0;
  std::size_t bytes = 0;
};

std::optional<Fill> as_fill(const Program& program, const Plan& plan) {
  bool fills = plan.scheme == Scheme::flat && program.steps.size() == 1 && program.steps[0].copy &&
               program.leaves.empty() && program.stores.size() == 1;
  if (!fills) return {};
  DType dtype = program.scalars[0].dtype;
  if (program.stores[0].view.dtype != dtype || info(dtype).kind == 'c' || itemsize(dtype) == 2)
    return {};
  Arguments value;
  value.scalar(program.scalars[0].value, dtype);
  Fill fill{0, itemsize(dtype)};
  std::memcpy(&fill.bits, value.data()[0], fill.bytes);
  if (fill.bits == 0 || fill.bytes == 1 || fill.bytes == 4) return fill;
  return {};
}

void launch_fill(driver::DeviceState& device, CUstream stream, const Fill& fill, const Plan& plan) {
  auto count = static_cast<std::size_t>(plan.walk.count);
  if (fill.bits == 0)
    TD_CALL(device, cuMemsetD8Async, plan.addresses[0], 0, count * fill.bytes, stream);
  else if (fill.bytes == 4)
    TD_CALL(device, cuMemsetD32Async, plan.addresses[0], static_cast<unsigned>(fill.bits), count,
            stream);
  else
    TD_CALL(device, cuMemsetD8Async, plan.addresses[0], static_cast<unsigned char>(fill.bits),
            count, stream);
}

}  // namespace

bool load_map(driver::DeviceState& device, const Program& program) {
  Plan plan = make_plan(device, program);
  if (as_fill(program, plan)) return true;
  const std::string key = plan_key(program, plan);
  return find_kernel(device, key) ||
         load_made_kernel(device, key, generated_source(MapPrinter(program, plan).text()));
}

bool launch_map(driver::DeviceState& device, CUstream stream, const Program& program) {
  if (program.stores.empty()) return true;
  Plan plan = make_plan(device, program);
  if (auto fill = as_fill(program, plan)) {
    launch_fill(device, stream, *fill, plan);
    return true;
  }
  const std::string key = plan_key(program, plan);
  const LoadedKernel* loaded = find_kernel(device, key);
  if (!loaded) {
    auto print = [&] { return MapPrinter(program, plan).text(); };
    loaded = load_map_kernel(device, stream, program, key, print);
    if (!loaded) return false;
  }
  Arguments arguments;
  for (CUdeviceptr address : plan.addresses) arguments.add(address);
  for (const ScalarOperand& scalar : program.scalars) arguments.scalar(scalar.value, scalar.dtype);
  bool wide = plan.walk.wide;
  Deal deal = deal_out(device, plan);
  // Groups along the last axis are the elements of the linear scheme.
  std::int64_t group = plan.scheme == Scheme::linear ? plan.width : 1;
  arguments.index(plan.walk.count / group, wide);
  arguments.index(deal.chunk, wide);
  for (std::size_t d = 0; d < plan.walk.dims.size(); ++d)
    arguments.index(plan.walk.dims[d] / (d + 1 == plan.walk.dims.size() ? group : 1), wide);
  for (std::size_t k = 0; k < plan.walk.access.size(); ++k)
    for (std::size_t d = 0; d < stride_count(plan, k); ++d)
      arguments.index(plan.walk.strides[k][d], wide);
  launch(device, stream, *loaded, deal.blocks, arguments);
  return true;
}

}  // namespace td::fuse
