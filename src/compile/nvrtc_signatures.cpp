#include "compile/nvrtc_signatures.h"

#include <algorithm>

#include "compile/cubin_symbols.h"
#include "compile/signature_reader.h"

namespace td::compile {

namespace {

using Kind = ParamInfo::Kind;

const ReadKernel* find_declared(const std::vector<ReadKernel>& declared, std::string_view name,
                                const std::string& symbol) {
  for (const ReadKernel& kernel : declared)
    if (kernel.signature.symbol == symbol || kernel.signature.name == name) return &kernel;
  return nullptr;
}

// What the text knows and the symbol does not: names, spellings, that a named type is a struct.
void add_declared(std::vector<ParamInfo>& params, const ReadKernel* declared) {
  if (!declared || declared->signature.params.size() != params.size()) return;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ParamInfo& text = declared->signature.params[i];
    params[i].name = text.name;
    if (declared->is_template) continue;
    params[i].type = text.type;
    if (params[i].kind != Kind::unknown) continue;
    std::string name = std::move(params[i].name), type = std::move(params[i].type);
    params[i] = text;
    params[i].name = std::move(name), params[i].type = std::move(type);
  }
}

KernelSignature signature_of(const std::string& symbol, const std::vector<ReadKernel>& declared) {
  KernelSignature out;
  out.symbol = symbol;
  std::string text = demangle(symbol);
  if (text == symbol) {
    const ReadKernel* kernel = find_declared(declared, symbol, symbol);
    if (kernel) out = kernel->signature;
    out.name = out.symbol = symbol;
    out.params_known = kernel && kernel->signature.params_known;
  } else {
    std::optional<std::vector<ParamInfo>> params = read_demangled(text, out.name);
    std::string_view base = std::string_view(out.name).substr(0, out.name.find('<'));
    out.params_known = params.has_value();
    if (params) {
      out.params = std::move(*params);
      add_declared(out.params, find_declared(declared, base, symbol));
    }
  }
  assign_offsets(out.params);
  return out;
}

}  // namespace

std::vector<KernelSignature> nvrtc_signatures(const std::string& image, const Source& source) {
  std::vector<ReadKernel> declared = read_kernels(source.text, source.options.options);
  std::vector<KernelSignature> out;
  for (const std::string& symbol : entry_symbols(image))
    out.push_back(signature_of(symbol, declared));
  return out;
}

void assign_offsets(std::vector<ParamInfo>& params) {
  std::size_t next = 0;
  for (ParamInfo& param : params) {
    if (param.size == 0 || param.align == 0) return;
    param.offset = (next + param.align - 1) / param.align * param.align;
    next = param.offset + param.size;
  }
}

}  // namespace td::compile
