// Texts of kernels with reductions. A stage is a loop over the reduced axes, which accumulates its
// roots and stores what it computes for each index; behind it every lane knows the roots' results
// r<k> and computes the kept steps v<k>.
#include <algorithm>

#include "fuse/staged_text.h"

namespace td::fuse {
namespace {

class StagedPrinter : StagedText {
 public:
  StagedPrinter(const Program& program, const StagedPlan& plan) : StagedText(program, plan) {}

  std::string text() {
    out_ << print_stages_prelude(program_, plan_.wide);
    head("td_staged");
    if (column())
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
  bool column() const { return plan_.way == StagedPlan::Way::column; }
  bool stores_need_coordinates(const StageUse& use) const {
    return std::any_of(use.stores.begin(), use.stores.end(),
                       [&](std::size_t k) { return stepping(operand_of(k)); });
  }
  // Accumulators of a thread: one where each would start with an element of its own.
  std::string accumulators(std::size_t stage) const { return starts(stage) ? "1" : "TD_WIDTH(4)"; }
  std::string accumulator_of(std::size_t stage) const {
    return "acc" + std::to_string(stage) + (starts(stage) ? "[0]" : "[u]");
  }

  // Moments start with the thread's first element.
  void start(int stage, const std::string& first) {
    if (!starts(stage)) return;
    std::string acc = "acc" + std::to_string(stage) + "[0]";
    out_ << "      if (" << first << " < last) {\n";
    declare_element(stage, "");
    evaluate(stage, first, "");
    out_ << "        " << acc << " = F" << stage << "::start(" << acc << ", y);\n      }\n";
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
         << ") {\n        const td_index q = b" << (column() ? "" : " + lane")
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
    take_element(stage, "q", accumulator_of(stage), "[u]");
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
    out_ << "          " << accumulator_of(0) << " = F0::add(" << accumulator_of(0)
         << ", y, g + u * " << plan_.lanes << " * " << w << " + j);\n"
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
    out_ << "      A" << s << " acc" << s << "[" << accumulators(stage) << "];\n#pragma unroll\n"
         << "      for (int u = 0; u < " << accumulators(stage) << "; ++u) acc" << s << "[u] = F"
         << s << "::none();\n";
  }

  void combine_accumulators(int stage) {
    if (starts(stage)) return;
    std::string s = std::to_string(stage);
    out_ << "#pragma unroll\n      for (int u = 1; u < TD_WIDTH(4); ++u) acc" << s << "[0] = F" << s
         << "::combine(acc" << s << "[0], acc" << s << "[u]);\n";
  }

  void row_kernel() {
    int lanes = plan_.lanes, rows = 256 / lanes;
    for (std::size_t s = 0; s < uses_.size(); ++s)
      if (!uses_[s].roots.empty()) out_ << "  __shared__ F" << s << "::Shared shared" << s << ";\n";
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
      out_ << "      if (splits > 1) part[split * outputs + m] = acc0[0];\n"
              "      else {\n";
    kept_stores();
    out_ << (one_stage() ? "      }\n    }\n" : "    }\n") << "  }\n}\n\n";
  }

  void row_stage(int stage) {
    begin_accumulators(stage);
    out_ << "    {\n      td_index r = first + lane;\n";
    start(stage, "r");
    if (plan_.width > 1) accumulate_wide();
    accumulate(stage, std::to_string(plan_.lanes));
    out_ << "    }\n";
    if (uses_[stage].roots.empty()) return;
    combine_accumulators(stage);
    std::string s = std::to_string(stage);
    out_ << "    acc" << s << "[0] = F" << s << "::join<" << plan_.lanes << ">(acc" << s
         << "[0], shared" << s << ", last - first);\n";
    results(stage, "acc" + s + "[0]");
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
      start(stage, "r");
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

  // `across` results side by side, and 256 / across threads for each.
  void finish_kernel() {
    out_ << "  __shared__ A0 shared[256];\n"
         << "  const int x = (int)threadIdx.x % across, y = (int)threadIdx.x / across;\n"
         << "  const int depth = 256 / across;\n"
         << "  for (td_index g = blockIdx.x; g * across < outputs; g += gridDim.x) {\n"
         << "    const td_index m = g * across + x;\n    A0 acc = F0::none();\n"
         << "    if (m < outputs)\n      for (int s = y; s < splits; s += depth) acc = "
            "F0::combine(acc, part[s * outputs + m]);\n"
         << "    shared[threadIdx.x] = acc;\n    __syncthreads();\n"
         << "    for (int s = depth / 2; s > 0; s >>= 1) {\n"
         << "      if (y < s) shared[threadIdx.x] = F0::combine(shared[threadIdx.x], "
            "shared[threadIdx.x + s * across]);\n"
         << "      __syncthreads();\n    }\n    if (y == 0 && m < outputs) {\n";
    begin_result();
    declare_results();
    results(0, "shared[threadIdx.x]");
    kept_stores();
    out_ << "    }\n    __syncthreads();\n  }\n}\n";
  }
};

}  // namespace

std::string print_staged(const Program& program, const StagedPlan& plan) {
  return StagedPrinter(program, plan).text();
}
std::string print_staged_finish(const Program& program, const StagedPlan& plan) {
  return StagedPrinter(program, plan).finish_text();
}

}  // namespace td::fuse
