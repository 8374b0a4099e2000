// Texts of kernels where the fast axis is kept. Of a block's threads, `across` stand side by side,
// each with `width` neighbouring results, and 256 / across rows of threads below one another take
// every so many elements; in the end these combine in shared memory. One stage.
#include "fuse/staged_text.h"

namespace td::fuse {
namespace {

class BandsPrinter : StagedText {
 public:
  BandsPrinter(const Program& program, const StagedPlan& plan)
      : StagedText(program, plan), width_(std::to_string(plan.width)) {}

  std::string text() {
    out_ << print_stages_prelude(program_, plan_.wide);
    head("td_staged");
    out_ << "  __shared__ A0 shared[256];\n"
         << "  const int x = (int)threadIdx.x % across, y0 = (int)threadIdx.x / across;\n"
         << "  const int depth = 256 / across, band = across * " << width_ << ";\n"
         << "  const td_index tiles = (outputs + band - 1) / band;\n"
         << "  for (td_index g = blockIdx.x; g < tiles * splits; g += gridDim.x) {\n"
         << "    const td_index split = g / tiles;\n"
         << "    const td_index m0 = (g - split * tiles) * band + x * " << width_ << ";\n"
         << "    const bool mine = y0 < depth && m0 < outputs;\n"
         << "    const td_index first = split * chunk;\n"
         << "    const td_index last = first + chunk < length ? first + chunk : length;\n"
         << "    A0 acc[" << width_ << "];\n";
    each_result();
    out_ << "acc[j] = F0::none();\n    if (mine) {\n      const td_index m = m0;\n";
    begin_result();
    take_elements();
    out_ << "    }\n";
    combine();
    out_ << "    if (mine && y0 == 0) {\n";
    each_result();
    out_ << "{\n      const td_index m = m0 + j;\n"
         << "      if (splits > 1) {\n        part[split * outputs + m] = acc[j];\n"
         << "      } else {\n";
    begin_result();
    declare_results();
    results(0, "acc[j]");
    kept_stores();
    out_ << "      }\n      }\n    }\n  }\n}\n\n";
    return out_.str();
  }

 private:
  bool moving(std::size_t k) const { return plan_.kept.access[k] != Access::constant; }
  bool used(std::size_t k) const { return uses_[0].leaves[k]; }

  void each_result() { out_ << "#pragma unroll\n    for (int j = 0; j < " << width_ << "; ++j) "; }

  // x<k> holds leaf k at `index`, for each of the thread's results.
  void load(const std::string& index, const std::string& place) {
    if (loads_need_coordinates(uses_[0])) coordinates(index);
    for (std::size_t k = 0; k < leaves(); ++k) {
      if (!used(k)) continue;
      out_ << "        x" << k << place << " = ";
      if (moving(k))
        out_ << "td_load<" << width_ << ">(p" << k << " + (" << reduced_offset(k, index) << "));\n";
      else
        out_ << "p" << k << "[" << reduced_offset(k, index) << "];\n";
    }
  }
  void declare(const std::string& places) {
    for (std::size_t k = 0; k < leaves(); ++k) {
      if (!used(k)) continue;
      if (moving(k))
        out_ << "        td_vec<" << type(k) << ", " << width_ << "> x" << k << places << ";\n";
      else
        out_ << "        " << type(k) << " x" << k << places << ";\n";
    }
  }
  // acc[j] takes in what was loaded, or starts with it.
  void take(const std::string& index, const std::string& place, bool start) {
    each_result();
    out_ << "{\n          In0 y;\n          element0(";
    for (std::size_t k = 0; k < leaves(); ++k)
      if (used(k)) out_ << "x" << k << place << (moving(k) ? ".at[j], " : ", ");
    call_element(0, "");
    if (start)
      out_ << "          acc[j] = F0::start(acc[j], y);\n        }\n";
    else
      out_ << "          acc[j] = F0::add(acc[j], y, " << index << ");\n        }\n";
  }

  void take_elements() {
    out_ << "      td_index r = first + y0;\n";
    if (starts(0)) {
      out_ << "      if (r < last) {\n";
      declare("");
      load("r", "");
      take("r", "", true);
      out_ << "      }\n";
    }
    out_ << "      for (; r + 3 * depth < last; r += 4 * depth) {\n";
    declare("[4]");
    out_ << "#pragma unroll\n        for (int u = 0; u < 4; ++u) {\n"
         << "        const td_index q = r + u * depth;\n";
    load("q", "[u]");
    out_ << "        }\n#pragma unroll\n        for (int u = 0; u < 4; ++u) {\n"
         << "        const td_index q = r + u * depth;\n";
    take("q", "[u]", false);
    out_ << "        }\n      }\n      for (; r < last; r += depth) {\n";
    declare("");
    load("r", "");
    take("r", "", false);
    out_ << "      }\n";
  }

  // The rows of threads combine: row 0 has the results.
  void combine() {
    out_ << "    if (depth > 1) {\n      int top = 1;\n      while (top < depth) top *= 2;\n";
    each_result();
    out_ << "{\n        shared[threadIdx.x] = acc[j];\n        __syncthreads();\n"
         << "        for (int s = top / 2; s > 0; s >>= 1) {\n"
         << "          if (y0 < s && y0 + s < depth)\n"
         << "            shared[threadIdx.x] = F0::combine(shared[threadIdx.x], "
            "shared[threadIdx.x + s * across]);\n"
         << "          __syncthreads();\n        }\n"
         << "        acc[j] = shared[threadIdx.x];\n        __syncthreads();\n      }\n    }\n";
  }

  std::string width_;
};

}  // namespace

std::string print_bands(const Program& program, const StagedPlan& plan) {
  return BandsPrinter(program, plan).text();
}

}  // namespace td::fuse
