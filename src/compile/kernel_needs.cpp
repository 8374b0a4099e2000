// What NVRTC says of a kernel's registers, shared memory, barriers and bounds. The first three
// stand in the log of its assembler (option -v of ptxas, documented), __launch_bounds__ in the PTX
// (directive .maxntid of the PTX ISA).
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "compile/compile.h"
#include "treadle/occupancy.h"
#include "treadle/ptx.h"

namespace td {

namespace {

// The number that stands before `word` in "Used 20 registers, used 1 barriers, 256 bytes smem".
int number_before(std::string_view line, std::string_view word) {
  std::size_t end = line.find(word);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = line.find_last_not_of("0123456789", end - 1) + 1;
  int value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

// The line of the log that tells what the kernel `symbol` uses.
std::optional<std::string> line_of_use(const std::string& log, const std::string& symbol) {
  bool here = false;
  for (const std::string& line : base::split(log, '\n')) {
    if (line.find("Compiling entry function") != std::string::npos)
      here = line.find("'" + symbol + "'") != std::string::npos;
    if (here && line.find(" registers") != std::string::npos) return line;
  }
  return {};
}

// The product of .maxntid's extents; INT_MAX without the directive.
int bound_of(const std::string& ptx, const std::string& symbol) {
  std::size_t entry = ptx.find(".entry " + symbol + "(");
  if (entry == std::string::npos) return INT_MAX;
  std::string_view head = std::string_view(ptx).substr(entry, ptx.find('{', entry) - entry);
  constexpr std::string_view kDirective = ".maxntid";
  std::size_t at = head.find(kDirective);
  if (at == std::string_view::npos) return INT_MAX;
  int product = 1;
  std::string_view rest = head.substr(at + kDirective.size());
  for (const std::string& item : base::split(std::string(rest.substr(0, rest.find('\n'))), ',')) {
    std::size_t begin = item.find_first_of("0123456789");
    int extent = 1;
    if (begin != std::string::npos)
      std::from_chars(item.data() + begin, item.data() + item.size(), extent);
    product *= extent;
  }
  return product;
}

std::string symbol_of(const compile::Image& image, const std::string& name) {
  if (auto found = image.lowered_names.find(name); found != image.lowered_names.end())
    return found->second;
  std::string known;
  for (const auto& kernel : image.kernels) {
    if (kernel.name == name || kernel.symbol == name) return kernel.symbol;
    known += (known.empty() ? "" : ", ") + kernel.name;
  }
  throw ValueError(base::cat("there is no kernel '", name, "'; ",
                             known.empty() ? "the source has none" : "the source has " + known));
}

}  // namespace

KernelNeeds kernel_needs(const std::string& text, const ModuleOptions& options,
                         const std::string& name, int compute_capability) {
  compile::Source source{text, options};
  source.options.options.push_back("--ptxas-options=-v");
  source.options.options.push_back(base::cat("-arch=sm_", compute_capability));
  compile::Image image = compile::compile(source, {base::ImageFormat::cubin, compute_capability});
  std::string symbol = symbol_of(image, name);
  std::optional<std::string> line = line_of_use(image.log, symbol);
  if (!line)
    throw NotSupported(
        base::cat("NVRTC does not tell the registers of '", name, "'; give their number instead"));
  KernelNeeds needs;
  needs.registers = number_before(*line, " registers");
  needs.barriers = number_before(*line, " barriers");
  needs.shared = static_cast<std::size_t>(number_before(*line, " bytes smem"));
  needs.max_threads = bound_of(ptx_of(text, options, compute_capability), symbol);
  return needs;
}

}  // namespace td
