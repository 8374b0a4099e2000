#include "compile/image_record.h"

#include "base/bytes.h"

namespace td::compile {

namespace {

constexpr std::uint64_t kNoDType = 255;
constexpr std::uint64_t kDTypeCount = sizeof kDTypes / sizeof kDTypes[0];

void write_param(base::ByteWriter& out, const ParamInfo& param) {
  out.text(param.name);
  out.text(param.type);
  out.number(static_cast<std::uint64_t>(param.kind));
  out.number(param.dtype ? static_cast<std::uint64_t>(*param.dtype) : kNoDType);
  out.number(param.pointee_const);
  out.number(param.size);
  out.number(param.align);
  out.number(param.offset);
}

bool read_param(base::ByteReader& in, ParamInfo& param) {
  param.name = in.text();
  param.type = in.text();
  std::uint64_t kind = in.number(), dtype = in.number();
  param.pointee_const = in.number() != 0;
  param.size = in.number();
  param.align = in.number();
  param.offset = in.number();
  if (kind > static_cast<std::uint64_t>(ParamInfo::Kind::unknown)) return false;
  if (dtype != kNoDType && dtype >= kDTypeCount) return false;
  param.kind = static_cast<ParamInfo::Kind>(kind);
  if (dtype != kNoDType) param.dtype = static_cast<DType>(dtype);
  return in.ok();
}

}  // namespace

std::string encode_image(const Image& image) {
  base::ByteWriter out;
  out.text(image.bytes);
  out.text(image.log);
  out.number(image.kernels.size());
  for (const KernelSignature& kernel : image.kernels) {
    out.text(kernel.name);
    out.text(kernel.symbol);
    out.number(kernel.params_known);
    out.number(kernel.params.size());
    for (const ParamInfo& param : kernel.params) write_param(out, param);
  }
  out.number(image.lowered_names.size());
  for (const auto& [name, symbol] : image.lowered_names) {
    out.text(name);
    out.text(symbol);
  }
  return out.take();
}

bool decode_image(std::string_view record, Image& image) {
  base::ByteReader in(record);
  image.bytes = in.text();
  image.log = in.text();
  for (std::uint64_t count = in.number(); count > 0 && in.ok(); --count) {
    KernelSignature& kernel = image.kernels.emplace_back();
    kernel.name = in.text();
    kernel.symbol = in.text();
    kernel.params_known = in.number() != 0;
    for (std::uint64_t left = in.number(); left > 0 && in.ok(); --left)
      if (!read_param(in, kernel.params.emplace_back())) return false;
  }
  for (std::uint64_t count = in.number(); count > 0 && in.ok(); --count) {
    std::string name(in.text());
    image.lowered_names[name] = in.text();
  }
  return in.at_end();
}

}  // namespace td::compile
