// Texts of kernels whose rows stay in registers. Each row is shared by `lanes` threads, a lane
// holds `vectors` groups of `width` elements of every leaf, and has `at_once` rows, so that loads
// of a few rows are under way together. All stages work on what was loaded.
#include "fuse/staged_text.h"

namespace td::fuse {
namespace {

class HeldRowsPrinter : StagedText {
 public:
  HeldRowsPrinter(const Program& program, const StagedPlan& plan) : StagedText(program, plan) {}

  std::string text() {
    int lanes = plan_.lanes, rows = 256 / lanes;
    out_ << print_stages_prelude(program_, plan_.wide);
    head("td_staged");
    for (std::size_t s = 0; s < uses_.size(); ++s)
      if (!uses_[s].roots.empty()) out_ << "  __shared__ F" << s << "::Shared shared" << s << ";\n";
    out_ << "  const int lane = threadIdx.x % " << lanes << ", sub = threadIdx.x / " << lanes
         << ";\n  const td_index tiles = (outputs + " << rows * plan_.at_once - 1 << ") / "
         << rows * plan_.at_once << ";\n"
         << "  for (td_index g = blockIdx.x; g < tiles; g += gridDim.x) {\n";
    for (std::size_t k = 0; k < leaves(); ++k)
      if (held(k))
        out_ << "    td_vec<" << type(k) << ", " << plan_.width << "> x" << k << "["
             << plan_.at_once * plan_.vectors << "];\n";
    each_row();
    for (std::size_t k = 0; k < leaves(); ++k)
      if (held(k)) load(k);
    out_ << "    }\n";
    each_row();
    declare_results();
    for (std::size_t s = 0; s < uses_.size(); ++s) stage(static_cast<int>(s));
    out_ << "    if (lane == 0 && own < outputs) {\n";
    kept_stores();
    out_ << "    }\n    }\n  }\n}\n\n";
    return out_.str();
  }

 private:
  bool held(std::size_t k) const { return plan_.reduced.access[k] == Access::flat; }

  // Row m; beyond the last one there is no row of one's own, and lanes only take part.
  void each_row() {
    int rows = 256 / plan_.lanes;
    out_ << "#pragma unroll\n    for (int v = 0; v < " << plan_.at_once << "; ++v) {\n"
         << "    const td_index own = (g * " << plan_.at_once << " + v) * " << rows << " + sub;\n"
         << "    const td_index m = own < outputs ? own : outputs - 1;\n";
    begin_result();
  }

  // Opens a block for each group of the lane's; e is the index of its first element.
  void each_vector() {
    out_ << "#pragma unroll\n      for (int u = 0; u < " << plan_.vectors << "; ++u) {\n"
         << "        const td_index e = (u * " << plan_.lanes << " + lane) * " << plan_.width
         << ";\n        " << (plan_.whole ? "" : "if (e < length) ") << "{\n";
  }

  void load(std::size_t k) {
    each_vector();
    out_ << "          x" << k << "[v * " << plan_.vectors << " + u] = td_load<" << plan_.width
         << ">(p" << k << " + e);\n        }\n      }\n";
  }

  void stage(int stage) {
    const StageUse& use = uses_[stage];
    std::string s = std::to_string(stage), acc = "acc" + s;
    if (!use.roots.empty()) out_ << "      A" << s << " " << acc << " = F" << s << "::none();\n";
    each_vector();
    for (std::size_t k : use.stores)
      out_ << "          td_vec<" << type(operand_of(k)) << ", " << plan_.width << "> y" << k
           << ";\n";
    out_ << "#pragma unroll\n          for (int j = 0; j < " << plan_.width << "; ++j) {\n";
    declare_element(stage, "");
    out_ << "          element" << s << "(";
    for (std::size_t k = 0; k < leaves(); ++k) {
      if (!use.leaves[k]) continue;
      if (held(k))
        out_ << "x" << k << "[v * " << plan_.vectors << " + u].at[j], ";
      else
        out_ << "p" << k << "[0], ";
    }
    call_element(stage, "");
    if (starts(stage))
      out_ << "          if (u == 0 && j == 0) " << acc << " = F" << s << "::start(" << acc
           << ", y);\n";
    if (!use.roots.empty())
      out_ << "          " << acc << " = F" << s << "::add(" << acc << ", y, e + j);\n";
    for (std::size_t k : use.stores) out_ << "          y" << k << ".at[j] = z" << k << ";\n";
    out_ << "          }\n";
    for (std::size_t k : use.stores)
      out_ << "          if (own < outputs) td_store<" << plan_.width << ">(p" << operand_of(k)
           << " + e, y" << k << ");\n";
    out_ << "        }\n      }\n";
    if (use.roots.empty()) return;
    out_ << "      " << acc << " = F" << s << "::join<" << plan_.lanes << ">(" << acc << ", shared"
         << s << ", length);\n";
    results(stage, acc);
  }
};

}  // namespace

std::string print_held_rows(const Program& program, const StagedPlan& plan) {
  return HeldRowsPrinter(program, plan).text();
}

}  // namespace td::fuse
