// Reduction kernels as text. Indices of lanes are a uniform number plus the thread's index, and
// loops run alike in all lanes of a unit: a device whose warps are vectors then loads vectors.
#include <algorithm>
#include <sstream>

#include "fuse/reduce_plan.h"

namespace td::fuse {
namespace {

class ReducePrinter {
 public:
  ReducePrinter(const Program& program, const ReducePlan& plan) : program_(program), plan_(plan) {}

  std::string text() {
    out_ << print_prelude(program_, plan_.wide);
    types();
    if (plan_.column)
      column_kernel();
    else
      row_kernel();
    return out_.str();
  }

  // The second kernel is a text of its own, since most reductions do without it.
  std::string finish_text(bool thread) {
    bool half = is_half(root().input), complex = info(root().input).kind == 'c';
    out_ << device_headers(half, complex, true, false) << "\ntypedef "
         << (plan_.wide ? "long long" : "int") << " td_index;\n";
    types();
    if (thread)
      finish_threads();
    else
      finish_blocks();
    return out_.str();
  }

 private:
  const Root& root() const { return program_.roots[0]; }
  std::size_t leaves() const { return program_.leaves.size(); }
  std::string type(std::size_t k) const { return std::string(read_name(program_.leaves[k].dtype)); }
  std::string out_type() const { return std::string(cuda_name(root().output)); }
  std::string input() const { return std::string(cuda_name(root().input)); }

  void types() {
    std::string_view functor = plan_.counts ? "td_count" : info(root().reduction).functor;
    out_ << "typedef " << functor << "<" << (plan_.counts ? "bool" : input())
         << (plan_.indexed ? ", td_index" : "") << "> F;\ntypedef F::A A;\n\n";
  }

  static std::string stride(const char* name, std::size_t k, std::size_t d) {
    return std::string(name) + std::to_string(k) + "_" + std::to_string(d);
  }

  // Where operand k stands at coordinates c0, c1, … and linear index `index` of a walk.
  static std::string offset(const Walk& walk, std::size_t k, const std::string& index,
                            const std::string& coordinate, const char* name) {
    if (walk.access[k] == Access::flat) return index;
    if (walk.access[k] == Access::constant) return "0";
    std::string text;
    std::size_t last = walk.dims.size() - 1;
    for (std::size_t d = 0; d <= last; ++d) {
      if (d == last && walk.access[k] == Access::repeated) break;
      text += (d ? " + " : "") + coordinate + std::to_string(d);
      if (d < last || walk.access[k] != Access::unit) text += " * " + stride(name, k, d);
    }
    return text;
  }
  static bool needs_coordinates(const Walk& walk, std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k)
      if (walk.access[k] != Access::flat && walk.access[k] != Access::constant) return true;
    return false;
  }

  void walk_parameters(const Walk& walk, const char* dim, const char* name, std::size_t first,
                       std::size_t last) {
    for (std::size_t d = 0; d < walk.dims.size(); ++d) out_ << ", td_index " << dim << d;
    for (std::size_t k = first; k < last; ++k)
      for (std::size_t d = 0; d < walk.dims.size(); ++d)
        out_ << ", td_index " << stride(name, k, d);
  }

  void head() {
    out_ << "extern \"C\" __global__ void __launch_bounds__(256) td_reduce("
         << parameter_list(program_) << out_type()
         << "* out, A* part, td_index outputs, td_index length, td_index chunk, int splits, double "
            "count";
    walk_parameters(plan_.kept, "kd", "k", 0, leaves() + 1);
    walk_parameters(plan_.reduced, "rd", "r", 0, leaves() + plan_.turned);
    out_ << ") {\n";
    if (plan_.lanes == 256)
      out_ << "  const int lane = threadIdx.x, sub = 0;\n";
    else
      out_ << "  const int lane = threadIdx.x & 31, sub = threadIdx.x >> 5;\n";
  }

  // The loop over units: `split` and `unit`, the number of the result or of the run of results;
  // `mine` where this thread has one. Units go round the blocks, or each warp has a run of them.
  void begin_units(const std::string& units) {
    std::string step = std::to_string(plan_.units_of_block());
    out_ << "  const td_index units = " << units << ", all = units * splits;\n";
    if (plan_.runs)
      out_
          << "  const td_index warps = (td_index)gridDim.x * 8, each = (all + warps - 1) / warps;\n"
          << "  const td_index begin = ((td_index)blockIdx.x * 8 + sub) * each;\n"
          << "  const td_index end = begin + each < all ? begin + each : all;\n"
          << "  for (td_index number = begin; number < end; ++number) {\n"
          << "    const bool mine = true;\n";
    else
      out_ << "  for (td_index g = (td_index)blockIdx.x * " << step
           << "; g < all; g += (td_index)gridDim.x * " << step << ") {\n"
           << "    const td_index number = g + sub;\n    const bool mine = number < all;\n";
    out_ << "    const td_index split = splits == 1 ? 0 : number / units;\n"
         << "    const td_index unit = number - split * units;\n"
         << "    const td_index first = split * chunk;\n"
         << "    const td_index last = first + chunk < length ? first + chunk : length;\n";
  }

  // Pointers p<k> to the first element of result m.
  void begin_result() {
    if (needs_coordinates(plan_.kept, 0, leaves()))
      out_ << split_index("m", "c", "kd", plan_.kept.dims.size());
    for (std::size_t k = 0; k < leaves(); ++k)
      out_ << "      const " << type(k) << "* p" << k << " = a" << k << " + ("
           << offset(plan_.kept, k, "m", "c", "k") << ");\n";
  }

  // y = the reduction's input at `index` of result m.
  void evaluate(const std::string& index, const std::string& y) {
    if (needs_coordinates(plan_.reduced, 0, leaves()))
      out_ << split_index(index, "e", "rd", plan_.reduced.dims.size());
    out_ << "    element(";
    for (std::size_t k = 0; k < leaves(); ++k)
      out_ << "p" << k << "[" << offset(plan_.reduced, k, index, "e", "r") << "], ";
    out_ << scalar_arguments(program_) << y << ");\n";
  }

  // `accumulator` takes in the value `y` of the element at `index`; indices rise. Where they are
  // not places in C order, a place is computed for the few elements that may change something.
  std::string appended(const std::string& accumulator, const std::string& y,
                       const std::string& index) const {
    if (!plan_.turned)
      return accumulator + " = " +
             (plan_.indexed
                  ? "F::append(" + accumulator + ", " + y + ", " + index + ");\n"
                  : "F::combine(" + accumulator + ", F::lift(" + y + ", " + index + "));\n");
    return "if (F::may_win(" + accumulator + ", " + y + ")) {\n" +
           split_index(index, "e", "rd", plan_.reduced.dims.size()) + "          " + accumulator +
           " = F::combine(" + accumulator + ", F::lift(" + y + ", " +
           offset(plan_.reduced, leaves(), index, "e", "r") + "));\n          }\n";
  }

  // Accumulates indices q + lane, q + lane + step, … below `last`, `unroll` in flight.
  void accumulate(const std::string& lane, const std::string& step) {
    out_ << "      for (; q + unroll * " << step << " <= last; q += unroll * " << step << ") {\n"
         << "        " << input() << " y[unroll];\n"
         << "#pragma unroll\n        for (int u = 0; u < unroll; ++u) {\n"
         << "    const td_index r = q + u * " << step << lane << ";\n";
    evaluate("r", "y[u]");
    out_ << "        }\n#pragma unroll\n        for (int u = 0; u < unroll; ++u)\n"
         << "          " << appended("acc[u]", "y[u]", "q + u * " + step + lane) << "      }\n"
         << "      for (; q < last; q += " << step << ") {\n        const td_index r = q" << lane
         << ";\n        if (r < last) {\n        " << input() << " y;\n";
    evaluate("r", "y");
    out_ << "        " << appended("acc[0]", "y", "r") << "        }\n      }\n";
  }

  // Whole groups of `width` elements first; chunks and rows start at multiples of the width.
  void accumulate_wide() {
    std::string w = std::to_string(plan_.width), lanes = std::to_string(plan_.lanes);
    out_ << "#ifndef __TREADLE__\n      {\n      const td_index whole = last - last % " << w
         << ";\n"
         << "      td_index r = first + lane * " << w << ";\n"
         << "      for (; r + 3 * " << lanes << " * " << w << " < whole; r += 4 * " << lanes
         << " * " << w << ") {\n";
    for (std::size_t k = 0; k < leaves(); ++k) wide_loads(k, w);
    std::string each = "#pragma unroll\n        for (int j = 0; j < " + w + "; ++j) ";
    std::string index = "r + u * " + lanes + " * " + w + " + j";
    out_ << "#pragma unroll\n        for (int u = 0; u < 4; ++u) {\n          " << input() << " y["
         << w << "];\n"
         << each;
    wide_element("x", "[u]", "y[j]");
    if (plan_.turned)  // one branch for all of them, hardly ever taken
      out_ << "          bool some = false;\n"
           << each << "some = some | F::may_win(acc[u], y[j]);\n          if (some) {\n";
    out_ << each << "{\n          " << appended("acc[u]", "y[j]", index) << "        }\n"
         << (plan_.turned ? "          }\n" : "")
         << "        }\n      }\n      for (; r < whole; r += " << lanes << " * " << w << ") {\n"
         << "#pragma unroll\n        for (int j = 0; j < " << w << "; ++j) {\n          " << input()
         << " y;\n";
    evaluate("(r + j)", "y");
    out_ << "          " << appended("acc[0]", "y", "r + j") << "        }\n      }\n"
         << "      q = whole > first ? whole : first;\n      }\n#endif\n";
  }

  void wide_loads(std::size_t k, const std::string& w) {
    if (plan_.reduced.access[k] == Access::constant) return;
    out_ << "        td_vec<" << type(k) << ", " << w << "> x" << k << "[4];\n"
         << "#pragma unroll\n        for (int u = 0; u < 4; ++u) x" << k << "[u] = td_load<" << w
         << ">(p" << k << " + r + u * " << plan_.lanes << " * " << w << ");\n";
  }

  void wide_element(const std::string& name, const std::string& suffix, const std::string& y) {
    out_ << "          element(";
    for (std::size_t k = 0; k < leaves(); ++k) {
      if (plan_.reduced.access[k] == Access::constant)
        out_ << "p" << k << "[0], ";
      else
        out_ << name << k << suffix << ".at[j], ";
    }
    out_ << scalar_arguments(program_) << y << ");\n";
  }

  void write_result(const std::string& accumulator) {
    if (needs_coordinates(plan_.kept, leaves(), leaves() + 1))
      out_ << split_index("m", "w", "kd", plan_.kept.dims.size());
    out_ << "      if (splits == 1) out[" << offset(plan_.kept, leaves(), "m", "w", "k")
         << "] = F::finish(" << accumulator
         << ", count);\n      else part[split * outputs + m] = " << accumulator << ";\n";
  }

  void accumulators() {
    out_ << "    const int unroll = TD_WIDTH(4);\n    A acc[unroll];\n#pragma unroll\n"
         << "    for (int u = 0; u < unroll; ++u) acc[u] = F::none();\n";
  }
  void join_accumulators() {
    out_ << "#pragma unroll\n    for (int u = 1; u < unroll; ++u) acc[0] = F::combine(acc[0], "
            "acc[u]);\n";
  }

  void row_kernel() {
    head();
    if (plan_.lanes == 256) out_ << "  __shared__ A shared[8];\n";
    begin_units("outputs");
    accumulators();
    out_ << "    const td_index m = unit;\n    if (mine) {\n";
    begin_result();
    out_ << "      td_index q = first;\n";
    if (plan_.width > 1) accumulate_wide();
    accumulate(" + lane", std::to_string(plan_.lanes));
    out_ << "    }\n";
    join_accumulators();
    tree();
    out_ << "    if (lane == 0 && mine) {\n";
    write_result("acc[0]");
    out_ << "    }\n" << (plan_.lanes == 256 ? "    __syncthreads();\n" : "") << "  }\n}\n\n";
  }

  // Combines the lanes' accumulators; lane 0 has the result.
  void tree() {
    out_ << "#pragma unroll\n    for (int s = 16; s > 0; s >>= 1) acc[0] = F::combine(acc[0], "
            "td_shuffle_down(acc[0], s));\n";
    if (plan_.lanes == 32) return;
    out_ << "    if ((lane & 31) == 0) shared[lane >> 5] = acc[0];\n    __syncthreads();\n"
         << "    if (lane == 0)\n      for (int s = 1; s < 8; ++s) acc[0] = F::combine(acc[0], "
            "shared[s]);\n";
  }

  void column_kernel() {
    head();
    std::string run = std::to_string(plan_.run());
    begin_units("(outputs + " + std::to_string(plan_.run() - 1) + ") / " + run);
    out_ << "    if (mine) {\n";
    if (plan_.columns > 1) {
      out_ << "    if ((unit + 1) * " << run << " <= outputs) {\n";
      many_columns(run);
      out_ << "    } else\n";
    }
    out_ << "    for (int part_of_run = 0; part_of_run < " << plan_.columns
         << "; ++part_of_run) {\n"
         << "      const td_index m = unit * " << run << " + part_of_run * " << plan_.lanes
         << " + lane;\n      if (m < outputs) {\n";
    accumulators();
    begin_result();
    out_ << "      td_index q = first;\n";
    accumulate("", "1");
    join_accumulators();
    write_result("acc[0]");
    // The run of a warp is read by its lanes in step.
    out_ << "      }\n    }\n    }\n" << (plan_.runs ? "    __syncwarp();\n" : "") << "  }\n}\n\n";
  }

  // A whole run of results side by side: neighbours in memory are read in one go.
  void many_columns(const std::string& run) {
    std::string n = std::to_string(plan_.columns);
    auto each = [&] {
      out_ << "#pragma unroll\n      for (int u = 0; u < " << n << "; ++u) {\n"
           << "      const td_index m = unit * " << run << " + u * 32 + lane;\n";
    };
    out_ << "      A acc[" << n << "];\n#pragma unroll\n      for (int u = 0; u < " << n
         << "; ++u) acc[u] = F::none();\n      for (td_index q = first; q < last; ++q) {\n";
    each();
    begin_result();
    out_ << "      " << input() << " y;\n";
    evaluate("q", "y");
    out_ << "      " << appended("acc[u]", "y", "q") << "      }\n      }\n";
    each();
    write_result("acc[u]");
    out_ << "      }\n";
  }

  void finish_head() {
    out_ << "extern \"C\" __global__ void __launch_bounds__(256) td_finish(" << out_type()
         << "* out, const A* part, td_index outputs, int splits, double count";
    for (std::size_t d = 0; d < plan_.kept.dims.size(); ++d) out_ << ", td_index kd" << d;
    for (std::size_t d = 0; d < plan_.kept.dims.size(); ++d)
      out_ << ", td_index " << stride("k", leaves(), d);
    out_ << ") {\n";
  }
  void finish_result(const std::string& accumulator) {
    if (needs_coordinates(plan_.kept, leaves(), leaves() + 1))
      out_ << split_index("m", "c", "kd", plan_.kept.dims.size());
    out_ << "      out[" << offset(plan_.kept, leaves(), "m", "c", "k") << "] = F::finish("
         << accumulator << ", count);\n";
  }

  void finish_threads() {
    finish_head();
    out_ << "  for (td_index g = (td_index)blockIdx.x * 256; g < outputs; g += "
            "(td_index)gridDim.x * 256) {\n"
         << "    const td_index m = g + (int)threadIdx.x;\n    if (m < outputs) {\n"
         << "    A acc = F::none();\n#pragma unroll 4\n"
         << "    for (int s = 0; s < splits; ++s) acc = F::combine(acc, part[s * outputs + m]);\n";
    finish_result("acc");
    out_ << "    }\n  }\n}\n";
  }

  void finish_blocks() {
    finish_head();
    out_ << "  __shared__ A shared[256];\n"
         << "  for (td_index m = blockIdx.x; m < outputs; m += gridDim.x) {\n    A acc = "
            "F::none();\n"
         << "    for (int s = threadIdx.x; s < splits; s += 256) acc = F::combine(acc, part[s * "
            "outputs + m]);\n"
         << "    shared[threadIdx.x] = acc;\n    __syncthreads();\n"
         << "    for (int s = 128; s > 0; s >>= 1) {\n"
         << "      if (threadIdx.x < s) shared[threadIdx.x] = F::combine(shared[threadIdx.x], "
            "shared[threadIdx.x + s]);\n"
         << "      __syncthreads();\n    }\n    if (threadIdx.x == 0) {\n";
    finish_result("shared[0]");
    out_ << "    }\n    __syncthreads();\n  }\n}\n";
  }

  const Program& program_;
  const ReducePlan& plan_;
  std::ostringstream out_;
};

}  // namespace

std::string print_reduce(const Program& program, const ReducePlan& plan) {
  return ReducePrinter(program, plan).text();
}

std::string print_reduce_finish(const Program& program, const ReducePlan& plan, bool thread) {
  return ReducePrinter(program, plan).finish_text(thread);
}

}  // namespace td::fuse
