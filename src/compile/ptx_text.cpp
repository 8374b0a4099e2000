#include "treadle/ptx.h"

#include "base/text.h"
#include "compile/compile.h"

namespace td {

std::string ptx_of(const std::string& text, const ModuleOptions& options, int compute_capability) {
  compile::Source source{text, options};
  // For a virtual architecture NVRTC makes PTX instead of machine code.
  source.options.options.push_back(base::cat("-arch=compute_", compute_capability));
  std::string ptx = compile::compile(source, {base::ImageFormat::cubin, compute_capability}).bytes;
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  return ptx;
}

}  // namespace td
