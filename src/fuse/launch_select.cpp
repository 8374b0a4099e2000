// Gather and scatter: kernels that walk a selection. One operand, `x`, is addressed through the
// values of index arrays; all others lie over the selection's shape.
//   linear  one index is split into coordinates per element
//   rows    the index arrays do not run along the last axis: each warp moves pieces of rows, so
//   that
//           an index is read and turned into an address once per piece
#include <algorithm>
#include <sstream>

#include "array/selection.h"
#include "base/text.h"
#include "fuse/geometry.h"
#include "fuse/kernel_cache.h"
#include "fuse/kernels_text.h"

namespace td::fuse {
namespace {

using array::IndexAxis;
using array::Selection;

enum class Move : char { gather, store, add, maximum, minimum };
constexpr std::int64_t kLongRow = 32;
constexpr std::int64_t kPiece = 512;  // columns of a row that a warp does at once

struct Job {
  const Selection& selection;
  Move move;
  IndexMode mode;
  View other;                      // gather: the result; else the value, if an array
  const Scalar* scalar = nullptr;  // else the value
  View wins;                       // bool, or empty
};

struct Plan {
  Walk walk;
  bool rows = false;
  std::vector<const View*> operands;  // x, the indices, other, wins
  std::size_t other = 0, wins = 0;    // their places, 0 when absent
};

Plan make_plan(const Job& job) {
  Plan plan;
  const Selection& s = job.selection;
  plan.operands.push_back(&s.frame);
  for (const IndexAxis& axis : s.axes) plan.operands.push_back(&axis.index);
  if (job.other.storage) {
    plan.other = plan.operands.size();
    plan.operands.push_back(&job.other);
  }
  if (job.wins.storage) {
    plan.wins = plan.operands.size();
    plan.operands.push_back(&job.wins);
  }
  std::vector<int> axes(s.shape.size());
  for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(k);
  // A gather follows its result; a scatter follows the index, so that the written values are read
  // in order.
  bool gather = job.move == Move::gather;
  plan.walk = make_walk(s.shape, axes, plan.operands, gather ? plan.other : 0, !gather);
  std::int64_t reach = 0;
  for (const IndexAxis& axis : s.axes)
    reach += std::llabs(axis.stride) / static_cast<std::int64_t>(itemsize(s.frame.dtype)) *
             std::max<std::int64_t>(axis.length - 1, 0);
  plan.walk.wide = plan.walk.wide || reach >= std::int64_t{1} << 30;
  plan.rows = plan.walk.dims.size() >= 2 && plan.walk.dims.back() >= kLongRow;
  auto fixed = [&](std::size_t k) {
    return plan.walk.access[k] == Access::constant || plan.walk.access[k] == Access::repeated;
  };
  for (std::size_t k = 1; k <= s.axes.size(); ++k) plan.rows = plan.rows && fixed(k);
  if (plan.wins) plan.rows = plan.rows && fixed(plan.wins);
  return plan;
}

class SelectPrinter {
 public:
  SelectPrinter(const Job& job, const Plan& plan) : job_(job), plan_(plan) {
    if (job.scalar) scalars_.scalars.push_back({*job.scalar, type_of_x()});
  }

  std::string text() {
    bool half = false, complex = false;
    for (const View* v : plan_.operands) {
      half = half || is_half(v->dtype);
      complex = complex || info(v->dtype).kind == 'c';
    }
    out_ << device_headers(half, complex, false, false) << kText_scatter << "\ntypedef "
         << (plan_.walk.wide ? "long long" : "int") << " td_index;\n\n"
         << "extern \"C\" __global__ void __launch_bounds__(256) td_select(";
    parameters();
    out_ << ") {\n";
    if (plan_.rows)
      rows();
    else
      linear();
    out_ << "}\n";
    return out_.str();
  }

 private:
  DType type_of_x() const { return job_.selection.frame.dtype; }
  std::size_t indices() const { return job_.selection.axes.size(); }
  std::size_t last() const { return plan_.walk.dims.size() - 1; }
  std::string type(std::size_t k) const {
    DType dtype = plan_.operands[k]->dtype;
    return std::string(written(k) ? cuda_name(dtype) : read_name(dtype));
  }
  std::string moved_type() const { return std::string(cuda_name(type_of_x())); }
  static std::string number(std::size_t k) { return std::to_string(k); }

  bool written(std::size_t k) const {
    bool gather = job_.move == Move::gather;
    return gather ? k == plan_.other : k == 0;
  }

  void parameters() {
    for (std::size_t k = 0; k < plan_.operands.size(); ++k)
      out_ << (written(k) ? "" : "const ") << type(k) << "* __restrict__ p" << k << ", ";
    out_ << parameter_list(scalars_) << "td_index n, td_index chunk";
    for (std::size_t d = 0; d < plan_.walk.dims.size(); ++d) out_ << ", td_index d" << d;
    for (std::size_t k = 0; k < plan_.operands.size(); ++k)
      for (std::size_t d = 0; d < plan_.walk.dims.size(); ++d)
        out_ << ", td_index s" << k << "_" << d;
    for (std::size_t k = 1; k <= indices(); ++k)
      out_ << ", long long length" << k << ", td_index step" << k;
  }

  // Sum of coordinate times stride over the first `upto` axes.
  std::string offset(std::size_t k, std::size_t upto) const {
    std::string text;
    for (std::size_t d = 0; d < upto; ++d)
      text += (d ? " + c" : "c") + number(d) + " * s" + number(k) + "_" + number(d);
    return text.empty() ? "0" : text;
  }

  // The place of operand k at linear index i, whose coordinates are c0, c1, …
  std::string place(std::size_t k) const {
    switch (plan_.walk.access[k]) {
      case Access::flat:
        return "i";
      case Access::constant:
        return "0";
      case Access::unit:
        return offset(k, last()) + " + c" + number(last());
      case Access::repeated:
        return offset(k, last());
      default:
        return offset(k, last() + 1);
    }
  }

  // at += where the values of the index arrays lead; `where(k)` is the place of index k.
  template <class Where>
  void follow_indices(Where where) {
    for (std::size_t k = 1; k <= indices(); ++k) {
      std::string j = "j" + number(k), n = "length" + number(k);
      out_ << "    long long " << j << " = (long long)p" << k << "[" << where(k) << "];\n    ";
      switch (job_.mode) {
        case IndexMode::raise:
          out_ << j << " += " << j << " < 0 ? " << n << " : 0;\n";
          break;
        case IndexMode::wrap:
          out_ << "if (" << j << " < 0 || " << j << " >= " << n << ") { " << j << " %= " << n
               << "; " << j << " += " << j << " < 0 ? " << n << " : 0; }\n";
          break;
        case IndexMode::clip:
          out_ << j << " = " << j << " < 0 ? 0 : " << j << " >= " << n << " ? " << n
               << " - 1 : " << j << ";\n";
      }
      out_ << "    at += (td_index)" << j << " * step" << k << ";\n";
    }
  }

  std::string value(const std::string& element) const {
    if (job_.scalar) {
      std::string text = scalar_arguments(scalars_);
      return text.substr(0, text.size() - 2);
    }
    return cast_value(element);
  }

  std::string cast_value(const std::string& v) const {
    DType dtype = plan_.operands[plan_.other]->dtype;
    if (dtype == type_of_x()) return dtype == DType::bool_ ? "(" + v + " != 0)" : v;
    return "td_cast<" + moved_type() + ">((" + std::string(cuda_name(dtype)) + ")" + v + ")";
  }

  std::string update(const std::string& element, const std::string& v) const {
    switch (job_.move) {
      case Move::gather:
      case Move::store:
        return element + " = " + v + ";";
      case Move::add:
        return "td_update<td_scatter_add>(&" + element + ", " + v + ");";
      case Move::maximum:
        return "td_update<td_scatter_maximum>(&" + element + ", " + v + ");";
      default:
        return "td_update<td_scatter_minimum>(&" + element + ", " + v + ");";
    }
  }

  void linear() {
    bool gather = job_.move == Move::gather;
    out_ << "  const td_index first = (td_index)blockIdx.x * chunk, end = first + chunk;\n"
         << "  const td_index stop = end < n ? end : n;\n";
    if (gather) out_ << "#ifdef __TREADLE__\n";
    out_ << "  for (td_index i = first + threadIdx.x; i < stop; i += 256) {\n";
    element_place();
    if (gather) {
      out_ << "    p" << plan_.other << "[" << place(plan_.other) << "] = p0[at];\n  }\n#else\n";
      gather_several();
      out_ << "#endif\n";
      return;
    }
    if (plan_.wins) out_ << "    if (p" << plan_.wins << "[" << place(plan_.wins) << "]) {\n";
    out_ << "    "
         << update("p0[at]",
                   value(plan_.other ? "p" + number(plan_.other) + "[" + place(plan_.other) + "]"
                                     : ""))
         << "\n";
    out_ << (plan_.wins ? "    }\n  }\n" : "  }\n");
  }

  // Four elements in flight: an index and the element behind it are two trips to memory.
  void gather_several() {
    out_ << "  for (td_index from = first + threadIdx.x; from < stop; from += 256 * 4) {\n"
         << "    " << moved_type() << " v[4];\n"
         << "#pragma unroll\n    for (int u = 0; u < 4; ++u) {\n"
         << "    td_index i = from + u * 256;\n    i = i < stop ? i : stop - 1;\n";
    element_place();
    out_ << "    v[u] = p0[at];\n    }\n"
         << "#pragma unroll\n    for (int u = 0; u < 4; ++u) {\n"
         << "    const td_index i = from + u * 256;\n    if (i < stop) {\n";
    if (plan_.walk.access[plan_.other] != Access::flat)
      out_ << split_index("i", "c", "d", plan_.walk.dims.size());
    out_ << "    p" << plan_.other << "[" << place(plan_.other) << "] = v[u];\n    }\n    }\n  }\n";
  }

  void element_place() {
    out_ << split_index("i", "c", "d", plan_.walk.dims.size()) << "    td_index at = " << place(0)
         << ";\n";
    follow_indices([&](std::size_t k) { return place(k); });
  }

  // `column` times the last stride of operand k: most often that is 1, which makes a line of lanes.
  std::string along(std::size_t k) const {
    Access access = plan_.walk.access[k];
    if (access == Access::flat || access == Access::unit) return "column";
    return "column * s" + number(k) + "_" + number(last());
  }

  void rows() {
    bool gather = job_.move == Move::gather;
    std::string width = "d" + number(last());
    out_ << "  const td_index pieces = (" << width << " + " << kPiece - 1 << ") / " << kPiece
         << ", total = n / " << width << " * pieces;\n"
         << "  const int lane = threadIdx.x & 31;\n"
         << "  const td_index first = ((td_index)blockIdx.x * 8 + (td_index)(threadIdx.x >> 5)) * "
            "chunk;\n"
         << "  const td_index stop = first + chunk < total ? first + chunk : total;\n"
         // A warp that goes in step is whole: its lanes' places are then known to be neighbours.
         << "  for (td_index t = first; t < stop; ++t) {\n    __syncwarp();\n"
         << "    const td_index row = pieces == 1 ? t : t / pieces, begin = (t - row * pieces) * "
         << kPiece << ";\n"
         << "    const td_index end = begin + " << kPiece << " < " << width << " ? begin + "
         << kPiece << " : " << width << ";\n"
         << split_index("row", "c", "d", last());
    if (plan_.wins)
      out_ << "    if (!p" << plan_.wins << "[" << offset(plan_.wins, last()) << "]) continue;\n";
    out_ << "    td_index at = " << offset(0, last()) << ";\n";
    follow_indices([&](std::size_t k) { return offset(k, last()); });
    out_ << "    " << (gather ? "const " : "") << type(0) << "* const x = p0 + at;\n";
    if (plan_.other)
      out_ << "    " << (gather ? "" : "const ") << type(plan_.other) << "* const y = p"
           << plan_.other << " + (" << offset(plan_.other, last()) << ");\n";
    move_row(gather);
    out_ << "  }\n";
  }

  // Whole strips of four elements a lane first, so that a step's loads come before its stores.
  void move_row(bool gather) {
    std::string x = "x[" + along(0) + "]", y = plan_.other ? "y[" + along(plan_.other) + "]" : "";
    std::string one = gather ? update(y, x) : update(x, value(y));
    std::string strip = "const td_index column = from + u * 32 + lane; ";
    out_ << "    td_index from = begin;\n    for (; from + 128 <= end; from += 128) {\n";
    if (gather)
      out_ << "      " << moved_type() << " v[4];\n#pragma unroll\n"
           << "      for (int u = 0; u < 4; ++u) { " << strip << "v[u] = " << x << "; }\n"
           << "#pragma unroll\n      for (int u = 0; u < 4; ++u) { " << strip << y
           << " = v[u]; }\n";
    else
      out_ << "#pragma unroll\n      for (int u = 0; u < 4; ++u) { " << strip << one << " }\n";
    out_
        << "    }\n    for (; from + 32 <= end; from += 32) { const td_index column = from + lane; "
        << one << " }\n    if (from + lane < end) { const td_index column = from + lane; " << one
        << " }\n";
  }

  const Job& job_;
  const Plan& plan_;
  Program scalars_;  // the scalar value, so that it is spelled as in every other kernel
  std::ostringstream out_;
};

std::string plan_key(const Job& job, const Plan& plan) {
  std::string key = "select";
  auto put = [&](auto value) { key.push_back(static_cast<char>(value)); };
  put(job.move);
  put(job.mode);
  put(job.scalar != nullptr);
  put(plan.rows);
  put(plan.walk.wide);
  put(plan.other);
  put(plan.wins);
  put(job.selection.axes.size());
  put(plan.walk.dims.size());
  for (const View* v : plan.operands) put(v->dtype);
  for (Access access : plan.walk.access) put(access);
  return key;
}

void run(const Job& job) {
  Plan plan = make_plan(job);
  driver::DeviceState& device = *job.selection.frame.storage->device();
  device.make_current();
  CUstream stream = driver::current_stream(job.selection.frame.storage->device())->handle();
  const LoadedKernel& loaded = kernel(
      device, plan_key(job, plan), [&] { return SelectPrinter(job, plan).text(); }, "td_select");
  const Walk& walk = plan.walk;
  auto parts = [](std::int64_t length, std::int64_t size) { return (length + size - 1) / size; };
  // A warp takes `chunk` pieces of rows, or a block `chunk` elements.
  std::int64_t items = walk.count, grain = 4 * std::int64_t{kBlock}, workers = 1;
  if (plan.rows) {
    items = walk.count / walk.dims.back() * parts(walk.dims.back(), kPiece);
    grain = 1;
    workers = kBlock / 32;
  }
  std::int64_t most = 32 * resident_blocks(device) * workers;
  std::int64_t chunk = parts(parts(items, most), grain) * grain;

  Arguments arguments;
  for (const View* v : plan.operands)
    arguments.add(v->storage->address() + static_cast<CUdeviceptr>(v->offset));
  if (job.scalar) arguments.scalar(*job.scalar, job.selection.frame.dtype);
  arguments.index(walk.count, walk.wide);
  arguments.index(chunk, walk.wide);
  for (std::int64_t dim : walk.dims) arguments.index(dim, walk.wide);
  for (const Strides& strides : walk.strides)
    for (std::int64_t stride : strides) arguments.index(stride, walk.wide);
  auto bytes = static_cast<std::int64_t>(itemsize(job.selection.frame.dtype));
  for (const IndexAxis& axis : job.selection.axes) {
    arguments.add(axis.length);
    arguments.index(axis.stride / bytes, walk.wide);
  }
  launch(device, stream, loaded, parts(items, chunk * workers), arguments);
}

}  // namespace

void launch_gather(const Selection& selection, const View& out, IndexMode mode) {
  run({selection, Move::gather, mode, out, nullptr, {}});
}

void launch_scatter(const Selection& selection, const Operand& value, const View& wins,
                    std::optional<Scatter> op, IndexMode mode) {
  Move move = !op                       ? Move::store
              : *op == Scatter::add     ? Move::add
              : *op == Scatter::maximum ? Move::maximum
                                        : Move::minimum;
  Job job{selection, move, mode, {}, nullptr, wins};
  if (const Array* a = std::get_if<Array>(&value))
    job.other = array::view_of(*a);
  else
    job.scalar = &std::get<Scalar>(value);
  run(job);
}

}  // namespace td::fuse
