// Clang, inside the compiler plug-in, which is opened when the first source really has to be
// compiled.
#include <algorithm>

#include "base/disk_cache.h"
#include "base/plugin.h"
#include "base/text.h"
#include "compile/compilers.h"

namespace td::compile {

namespace {

using CompileFunction = decltype(&td_cc_compile);

std::string identity() { return base::cc_plugin_stamp(); }

// Clang prints "const float *"; everybody else, and every message of ours, "const float*". What a
// pointer to pointers takes is an array of addresses.
void respell(ParamInfo& param) {
  std::string& type = param.type;
  for (std::size_t at = type.find(" *"); at != std::string::npos; at = type.find(" *", at))
    type.erase(at, 1);
  bool to_pointers = std::count(type.begin(), type.end(), '*') > 1;
  if (param.kind == ParamInfo::Kind::pointer && to_pointers) param.dtype = DType::uint64;
}

CompileFunction open_plugin(std::string* why) {
  return reinterpret_cast<CompileFunction>(base::cc_plugin_symbol("td_cc_compile", why));
}

Image compile_with_clang(const Source& source, const Target&) {
  std::string why;
  CompileFunction run = open_plugin(&why);
  if (!run)
    throw NotSupported(
        "no compiler for the software device: " + why +
        "; build Treadle with -DTREADLE_SOFTDEV=ON, or name the plug-in in TREADLE_CC");
  ClangRequest request;
  request.source = source.text;
  request.file_name = source.options.file_name;
  request.first_line = source.options.first_line;
  request.options = source.options.options;
  request.name_expressions = source.options.name_expressions;
  request.pch_folder = base::DiskCache("pch").folder();
  ClangReply reply;
  run(request, reply);
  if (!reply.ok) throw_compile_error("Clang", source, reply.log);
  Image image;
  image.bytes = std::move(reply.image);
  image.kernels = std::move(reply.kernels);
  for (KernelSignature& kernel : image.kernels)
    for (ParamInfo& param : kernel.params) respell(param);
  image.log = std::move(reply.log);
  for (auto& [name, symbol] : reply.lowered_names) image.lowered_names[name] = std::move(symbol);
  return image;
}

CompilerInfo info() {
  CompilerInfo out;
  out.name = "Clang 19";
  out.file = base::cc_plugin_file();
  out.found = open_plugin(&out.problem) != nullptr;
  return out;
}

}  // namespace

const Compiler kClang{"Clang", identity, compile_with_clang, info};

}  // namespace td::compile
