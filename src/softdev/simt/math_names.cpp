#include "softdev/simt/math_names.h"

namespace td::softdev::simt {
namespace {

struct MathRow {
  const char *stem, *float_bound, *double_bound;
  bool wide;
};

constexpr MathRow rows[] = {
#define ROW(stem, float_bound, double_bound, wide) {stem, float_bound, double_bound, wide},
#include "softdev/simt/math_rows.def"
#undef ROW
};

}  // namespace

std::string vector_math_symbol(llvm::StringRef name, bool has_avx2, unsigned lanes512,
                               unsigned& part) {
  for (const MathRow& row : rows) {
    bool is_double = name == row.stem;
    bool is_float = name.size() == llvm::StringRef(row.stem).size() + 1 &&
                    name.starts_with(row.stem) && name.ends_with("f");
    if (!is_double && !is_float) continue;
    part = (is_double ? 2 : 4) * (has_avx2 ? 2 : 1);
    const char* set = has_avx2 ? "avx2" : "sse2";
    if (row.wide && lanes512 >= 2 * part) {
      part *= 2;
      set = "avx512f";
    }
    return std::string("Sleef_") + row.stem + (is_double ? "d" : "f") + std::to_string(part) + "_" +
           (is_double ? row.double_bound : row.float_bound) + set;
  }
  return "";
}

}  // namespace td::softdev::simt
