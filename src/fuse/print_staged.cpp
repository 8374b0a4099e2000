// Texts of kernels with reductions. A stage is a loop over the reduced axes, which accumulates its
// roots and stores what it computes for each index; behind it every lane knows the roots' results
// r<k> and computes the kept steps v<k>.
#include <algorithm>
#include <sstream>

#include "fuse/staged_plan.h"

namespace td::fuse {
namespace {

class StagedPrinter {
 public:
  StagedPrinter(const Program& program, const StagedPlan& plan) : program_(program), plan_(plan) {
    for (int stage = 0; stage < program.stages(); ++stage)
      uses_.push_back(stage_use(program, stage));
  }

  std::string text() {
    out_ << print_prelude(program_, plan_.wide);
    head("td_staged");
    if (plan_.column)
      column_kernel();
    else
      row_kernel();
    return out_.str();
  }

  // The second kernel is a text of its own, since most reductions do without it.
  std::string finish_text() {
    out_ << print_finish_prelude(program_, plan_.wide);
    head("td_finish");
    finish_kernel();
    return out_.str();
  }

 private:
  std::size_t leaves() const { return program_.leaves.size(); }
  std::size_t operands() const { return plan_.addresses.size(); }
  const View& operand(std::size_t k) const {
    if (k < leaves()) return program_.leaves[k];
    k -= leaves();
    return k < program_.stores.size() ? program_.stores[k].view
                                      : program_.kept_stores[k - program_.stores.size()].view;
  }
  std::string type(std::size_t k) const {
    return std::string(k < leaves() ? read_name(operand(k).dtype) : cuda_name(operand(k).dtype));
  }
  // The parameter of an operand: a<k>, b<k>, o<k>.
  std::string name(std::size_t k) const {
    if (k < leaves()) return "a" + std::to_string(k);
    k -= leaves();
    return k < program_.stores.size() ? "b" + std::to_string(k)
                                      : "o" + std::to_string(k - program_.stores.size());
  }

  static std::string sum(const std::string& coordinate, const std::string& stride,
                         std::size_t count) {
    std::string text;
    for (std::size_t d = 0; d < count; ++d)
      text +=
          (d ? " + " : "") + coordinate + std::to_string(d) + " * " + stride + std::to_string(d);
    return text.empty() ? "0" : text;
  }

  // Both kernels take the same parameters.
  void head(const char* kernel) {
    out_ << "extern \"C\" __global__ void __launch_bounds__(256) " << kernel << "("
         << parameter_list(program_);
    for (std::size_t k = 0; k < program_.kept_stores.size(); ++k)
      out_ << type(leaves() + program_.stores.size() + k) << "* o" << k << ", ";
    for (std::size_t k = 0; k < program_.roots.size(); ++k) out_ << "double n" << k << ", ";
    out_ << "A0* part, td_index outputs, td_index length, td_index chunk, int splits";
    for (std::size_t d = 0; d < plan_.kept.dims.size(); ++d) out_ << ", td_index kd" << d;
    for (std::size_t k = 0; k < operands(); ++k)
      for (std::size_t d = 0; d < plan_.kept.dims.size(); ++d)
        out_ << ", td_index k" << k << "_" << d;
    for (std::size_t d = 0; d < plan_.reduced.dims.size(); ++d) out_ << ", td_index rd" << d;
    for (std::size_t k = 0; k < operands(); ++k)
      for (std::size_t d = 0; d < reduced_strides(plan_, k); ++d)
        out_ << ", td_index r" << k << "_" << d;
    out_ << ") {\n";
  }

  // Pointers p<k> to the first element of result m.
  void begin_result() {
    out_ << split_index("m", "c", "kd", plan_.kept.dims.size());
    for (std::size_t k = 0; k < operands(); ++k)
      out_ << "      " << (k < leaves() ? "const " : "") << type(k) << "* p" << k << " = "
           << name(k) << " + (" << sum("c", "k" + std::to_string(k) + "_", plan_.kept.dims.size())
           << ");\n";
  }

  // Variables that outlive a stage.
  void declare_results() {
    for (std::size_t k = 0; k < program_.roots.size(); ++k)
      out_ << "      " << cuda_name(program_.roots[k].output) << " r" << k << ";\n";
    for (std::size_t k = 0; k < program_.steps.size(); ++k)
      if (program_.steps[k].kept)
        out_ << "      " << cuda_name(program_.steps[k].stored) << " v" << k << ";\n";
  }

  // From the accumulator of a stage to its roots and kept steps.
  void results(int stage, const std::string& accumulator) {
    const StageUse& use = uses_[stage];
    for (std::size_t k : use.roots)
      out_ << "      r" << k << " = G" << k << "::finish(" << accumulator << ".a" << k << ", n" << k
           << ");\n";
    if (use.kept.empty()) return;
    out_ << "      results" << stage << "(";
    for (std::size_t k = 0; k < leaves(); ++k)
      if (use.kept_leaves[k]) out_ << "p" << k << "[0], ";
    stage_arguments(stage, stage + 1);
    for (std::size_t k : use.kept) out_ << "v" << k << ", ";
    out_ << "0);\n";
  }

  void kept_stores() {
    for (std::size_t k = 0; k < program_.kept_stores.size(); ++k) {
      Value value = program_.kept_stores[k].value;
      out_ << "      p" << leaves() + program_.stores.size() + k
           << "[0] = " << (value.kind == Value::Kind::root ? "r" : "v") << int(value.index)
           << ";\n";
    }
  }

  void stage_arguments(int stage, int roots_before) {
    out_ << scalar_arguments(program_);
    for (std::size_t k = 0; k < program_.roots.size(); ++k)
      if (program_.roots[k].stage < roots_before) out_ << "r" << k << ", ";
    for (std::size_t k = 0; k < program_.steps.size(); ++k)
      if (program_.steps[k].kept && program_.steps[k].stage < stage) out_ << "v" << k << ", ";
  }

  std::string reduced_offset(std::size_t k, const std::string& index) const {
    switch (plan_.reduced.access[k]) {
      case Access::flat:
        return index;
      case Access::constant:
        return "0";
      default:
        return sum("e", "r" + std::to_string(k) + "_", plan_.reduced.dims.size());
    }
  }

  // The operand of a store.
  std::size_t operand_of(std::size_t store) const { return leaves() + store; }

  bool stepping(std::size_t k) const { return reduced_strides(plan_, k) > 0; }
  bool stores_need_coordinates(const StageUse& use) const {
    return std::any_of(use.stores.begin(), use.stores.end(),
                       [&](std::size_t k) { return stepping(operand_of(k)); });
  }
  bool loads_need_coordinates(const StageUse& use) const {
    for (std::size_t k = 0; k < leaves(); ++k)
      if (use.leaves[k] && stepping(k)) return true;
    return false;
  }
  void coordinates(const std::string& index) {
    out_ << split_index(index, "e", "rd", plan_.reduced.dims.size());
  }

  void call_element(int stage, const std::string& suffix) {
    const StageUse& use = uses_[stage];
    stage_arguments(stage, stage);
    for (std::size_t k : use.stores) out_ << "z" << k << suffix << ", ";
    out_ << (use.roots.empty() ? "0" : "y" + suffix) << ");\n";
  }

  // y and z<k> of the element at `index`.
  void evaluate(int stage, const std::string& index, const std::string& suffix) {
    const StageUse& use = uses_[stage];
    if (loads_need_coordinates(use)) coordinates(index);
    out_ << "    element" << stage << "(";
    for (std::size_t k = 0; k < leaves(); ++k)
      if (use.leaves[k]) out_ << "p" << k << "[" << reduced_offset(k, index) << "], ";
    call_element(stage, suffix);
  }

  void declare_element(int stage, const std::string& suffix) {
    const StageUse& use = uses_[stage];
    if (!use.roots.empty()) out_ << "        In" << stage << " y" << suffix << ";\n";
    for (std::size_t k : use.stores)
      out_ << "        " << type(operand_of(k)) << " z" << k << suffix << ";\n";
  }

  void take_element(int stage, const std::string& index, const std::string& accumulator,
                    const std::string& suffix) {
    const StageUse& use = uses_[stage];
    if (!use.roots.empty())
      out_ << "          " << accumulator << " = F" << stage << "::add(" << accumulator << ", y"
           << suffix << ", " << index << ");\n";
    if (stores_need_coordinates(use)) coordinates(index);
    for (std::size_t k : use.stores)
      out_ << "          p" << operand_of(k) << "[" << reduced_offset(operand_of(k), index)
           << "] = z" << k << suffix << ";\n";
  }

  // Takes indices r, r + stride, … below `last`, four in flight. Where warps are vectors, lanes run
  // alike: a uniform number plus the lane, one in flight.
  void accumulate(int stage, const std::string& stride) {
    std::string acc = "acc" + std::to_string(stage);
    out_ << "#ifdef __TREADLE__\n      for (td_index b = first; b < last; b += " << stride
         << ") {\n        const td_index q = b" << (plan_.column ? "" : " + lane")
         << ";\n        if (q < last) {\n";
    declare_element(stage, "");
    evaluate(stage, "q", "");
    out_ << "        {\n";
    take_element(stage, "q", acc + "[0]", "");
    out_ << "        }\n        }\n      }\n#else\n      for (; r + 3 * " << stride
         << " < last; r += 4 * " << stride << ") {\n";
    declare_element(stage, "[4]");
    out_ << "#pragma unroll\n        for (int u = 0; u < 4; ++u) {\n"
         << "    const td_index q = r + u * " << stride << ";\n";
    evaluate(stage, "q", "[u]");
    out_ << "        }\n#pragma unroll\n        for (int u = 0; u < 4; ++u) {\n"
         << "    const td_index q = r + u * " << stride << ";\n";
    take_element(stage, "q", acc + "[u]", "[u]");
    out_ << "        }\n      }\n      for (; r < last; r += " << stride << ") {\n";
    declare_element(stage, "");
    evaluate(stage, "r", "");
    out_ << "        {\n";
    take_element(stage, "r", acc + "[0]", "");
    out_ << "        }\n      }\n#endif\n";
  }

  // Whole groups of `width` elements first; chunks and rows start at multiples of the width.
  void accumulate_wide() {
    std::string w = std::to_string(plan_.width);
    out_ << "#ifndef __TREADLE__\n      {\n      const td_index whole = last - last % " << w
         << ";\n"
         << "      td_index g = first + lane * " << w << ";\n"
         << "      for (; g + 3 * " << plan_.lanes << " * " << w << " < whole; g += 4 * "
         << plan_.lanes << " * " << w << ") {\n";
    for (std::size_t k = 0; k < leaves(); ++k) wide_loads(k, w);
    out_ << "#pragma unroll\n        for (int u = 0; u < 4; ++u)\n#pragma unroll\n        for (int "
            "j = 0; j < "
         << w << "; ++j) {\n          In0 y;\n          element0(";
    for (std::size_t k = 0; k < leaves(); ++k) {
      if (!uses_[0].leaves[k]) continue;
      if (plan_.reduced.access[k] == Access::constant)
        out_ << "p" << k << "[0], ";
      else
        out_ << "x" << k << "[u].at[j], ";
    }
    call_element(0, "");
    out_ << "          acc0[u] = F0::add(acc0[u], y, g + u * " << plan_.lanes << " * " << w
         << " + j);\n"
         << "        }\n      }\n      for (; g < whole; g += " << plan_.lanes << " * " << w
         << ") {\n"
         << "#pragma unroll\n        for (int j = 0; j < " << w << "; ++j) {\n          In0 y;\n";
    evaluate(0, "(g + j)", "");
    out_ << "          acc0[0] = F0::add(acc0[0], y, g + j);\n        }\n      }\n"
         << "      r = whole + lane;\n      }\n#endif\n";
  }

  void wide_loads(std::size_t k, const std::string& w) {
    if (plan_.reduced.access[k] == Access::constant || !uses_[0].leaves[k]) return;
    out_ << "        td_vec<" << type(k) << ", " << w << "> x" << k << "[4];\n"
         << "#pragma unroll\n        for (int u = 0; u < 4; ++u) x" << k << "[u] = td_load<" << w
         << ">(p" << k << " + g + u * " << plan_.lanes << " * " << w << ");\n";
  }

  void begin_accumulators(int stage) {
    if (uses_[stage].roots.empty()) return;
    std::string s = std::to_string(stage);
    out_ << "      A" << s << " acc" << s << "[TD_WIDTH(4)];\n#pragma unroll\n"
         << "      for (int u = 0; u < TD_WIDTH(4); ++u) acc" << s << "[u] = F" << s
         << "::none();\n";
  }

  void combine_accumulators(int stage) {
    std::string s = std::to_string(stage);
    out_ << "#pragma unroll\n      for (int u = 1; u < TD_WIDTH(4); ++u) acc" << s << "[0] = F" << s
         << "::combine(acc" << s << "[0], acc" << s << "[u]);\n";
  }

  void row_kernel() {
    int lanes = plan_.lanes, rows = 256 / lanes;
    for (std::size_t s = 0; s < uses_.size(); ++s)
      if (!uses_[s].roots.empty()) out_ << "  __shared__ A" << s << " shared" << s << "[256];\n";
    out_
        << "  const int lane = threadIdx.x % " << lanes << ", sub = threadIdx.x / " << lanes
        << ";\n"
        << "  const td_index groups = (outputs + " << rows - 1 << ") / " << rows << ";\n"
        << "  for (td_index g = blockIdx.x; g < groups * splits; g += gridDim.x) {\n"
        << "    const td_index split = g / groups, own = (g - split * groups) * " << rows
        << " + sub;\n"
        << "    const td_index m = own < outputs ? own : outputs - 1;\n"
        << "    const td_index first = split * chunk, end = first + chunk < length ? first + chunk "
           ": length;\n"
        << "    const td_index last = own < outputs ? end : first;\n";
    begin_result();
    declare_results();
    for (std::size_t s = 0; s < uses_.size(); ++s) row_stage(static_cast<int>(s));
    out_ << "    if (lane == 0 && own < outputs) {\n";
    if (one_stage())
      out_ << "      if (splits > 1) part[split * outputs + m] = shared0[threadIdx.x];\n"
              "      else {\n";
    kept_stores();
    out_ << (one_stage() ? "      }\n    }\n" : "    }\n") << "    __syncthreads();\n  }\n}\n\n";
  }

  bool one_stage() const { return uses_.size() == 1; }

  void row_stage(int stage) {
    begin_accumulators(stage);
    out_ << "    {\n      td_index r = first + lane;\n";
    if (plan_.width > 1) accumulate_wide();
    accumulate(stage, std::to_string(plan_.lanes));
    out_ << "    }\n";
    if (uses_[stage].roots.empty()) return;
    combine_accumulators(stage);
    tree(stage);
    std::string s = std::to_string(stage);
    results(stage, "shared" + s + "[threadIdx.x - lane]");
  }

  // Combines the lanes' accumulators in shared memory; lane 0 has the result.
  void tree(int stage) {
    std::string s = std::to_string(stage), shared = "shared" + s;
    out_ << "    " << shared << "[threadIdx.x] = acc" << s << "[0];\n    __syncthreads();\n"
         << "    for (int s = " << plan_.lanes / 2 << "; s > 0; s >>= 1) {\n"
         << "      if (lane < s) " << shared << "[threadIdx.x] = F" << s << "::combine(" << shared
         << "[threadIdx.x], " << shared << "[threadIdx.x + s]);\n"
         << "      __syncthreads();\n    }\n";
  }

  void column_kernel() {
    out_ << "  const td_index tiles = (outputs + 255) / 256;\n"
         << "  for (td_index g = blockIdx.x; g < tiles * splits; g += gridDim.x) {\n"
         << "    const td_index split = g / tiles, m = (g - split * tiles) * 256 + threadIdx.x;\n"
         << "    if (m < outputs) {\n"
         << "    const td_index first = split * chunk, last = first + chunk < length ? first + "
            "chunk "
            ": length;\n";
    begin_result();
    declare_results();
    for (std::size_t k = 0; k < uses_.size(); ++k) {
      auto stage = static_cast<int>(k);
      begin_accumulators(stage);
      out_ << "      {\n      td_index r = first;\n";
      accumulate(stage, "1");
      out_ << "      }\n";
      if (uses_[k].roots.empty()) continue;
      combine_accumulators(stage);
      if (one_stage())
        out_ << "      if (splits > 1) {\n        part[split * outputs + m] = acc0[0];\n"
                "        continue;\n      }\n";
      results(stage, "acc" + std::to_string(k) + "[0]");
    }
    kept_stores();
    out_ << "    }\n  }\n}\n\n";
  }

  void finish_kernel() {
    out_ << "  __shared__ A0 shared[256];\n"
         << "  for (td_index m = blockIdx.x; m < outputs; m += gridDim.x) {\n    A0 acc = "
            "F0::none();\n"
         << "    for (int s = threadIdx.x; s < splits; s += 256) acc = F0::combine(acc, part[s * "
            "outputs + m]);\n"
         << "    shared[threadIdx.x] = acc;\n    __syncthreads();\n"
         << "    for (int s = 128; s > 0; s >>= 1) {\n"
         << "      if (threadIdx.x < s) shared[threadIdx.x] = F0::combine(shared[threadIdx.x], "
            "shared[threadIdx.x + s]);\n"
         << "      __syncthreads();\n    }\n    if (threadIdx.x == 0) {\n";
    begin_result();
    declare_results();
    results(0, "shared[0]");
    kept_stores();
    out_ << "    }\n    __syncthreads();\n  }\n}\n";
  }

  const Program& program_;
  const StagedPlan& plan_;
  std::vector<StageUse> uses_;
  std::ostringstream out_;
};

}  // namespace

std::string print_staged(const Program& program, const StagedPlan& plan) {
  return StagedPrinter(program, plan).text();
}
std::string print_staged_finish(const Program& program, const StagedPlan& plan) {
  return StagedPrinter(program, plan).finish_text();
}

}  // namespace td::fuse
