#include "userkernel/operands.h"

#include <cctype>
#include <sstream>

#include "base/text.h"
#include "fuse/kernels_text.h"
#include "launch/scalars.h"
#include "treadle/error.h"

namespace td::userkernel {

using base::cat;
using fuse::Access;
using Kind = Operand::Kind;

std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return "float16";
    case DType::bfloat16:
      return "bfloat16";
    case DType::complex64:
      return "complex<float>";
    case DType::complex128:
      return "complex<double>";
    default:
      return info(dtype).cuda;
  }
}

bool mentions(const std::string& text, std::string_view identifier) {
  auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(identifier); at != std::string::npos;
       at = text.find(identifier, at + 1)) {
    std::size_t end = at + identifier.size();
    if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) return true;
  }
  return false;
}

std::string print_head(const Types& types, const std::vector<Operand>& operands,
                       const std::string& user_text) {
  bool half = mentions(user_text, "float16") || mentions(user_text, "bfloat16"),
       complex = mentions(user_text, "complex");
  // Generated texts ask for the bodies of tables/ops.def by this word.
  bool operations = mentions(user_text, "td_operations");
  for (const Operand& operand : operands) {
    half = half || is_half(operand.dtype);
    complex = complex || info(operand.dtype).kind == 'c';
  }
  std::string text;
  if (half) text += "#define TD_HALF 1\n";
  if (complex) text += "#define TD_COMPLEX 1\n";
  text += fuse::kText_types;
  if (complex || operations) text += fuse::kText_math;
  if (operations) text += fuse::kText_ops;
  text += fuse::kText_user;
  for (const auto& [name, dtype] : types.placeholders)
    text += cat("typedef ", type_name(dtype), " ", name, ";\n");
  return text;
}

std::string marked(const std::string& label, const std::string& text) {
  return cat("\n#line 1 \"", label, "\"\n", text, "\n#line 1 \"treadle_generated.cu\"\n");
}

// ---- binding ----

namespace {

void check_array(const std::string& kernel, const KernelParameter& param, const Array& array,
                 bool output) {
  auto device = driver::current_device();
  const array::View& view = array::view_of(array);
  if (view.storage->device() != device)
    throw ValueError(cat("kernel '", kernel, "': the array for '", param.name, "' is on ",
                         view.storage->device()->name(), ", but the launch is on ", device->name(),
                         "; copy the array there first"));
  if (output && !array.writeable())
    throw ValueError(cat("kernel '", kernel, "': output '", param.name,
                         "' is read-only (a broadcast view); pass a copy"));
}

}  // namespace

std::vector<Operand> bind(const std::string& kernel, const std::vector<KernelParameter>& in,
                          const std::vector<KernelParameter>& out, std::span<const KernelArg> args,
                          const Types& types) {
  std::vector<Operand> operands;
  for (std::size_t k = 0; k < args.size(); ++k) {
    Operand operand;
    operand.output = k >= in.size();
    operand.param = operand.output ? &out[k - in.size()] : &in[k];
    operand.dtype = types.params[k];
    if (const Array* array = std::get_if<Array>(&args[k])) {
      check_array(kernel, *operand.param, *array, operand.output || !operand.param->is_const);
      operand.kind = operand.param->raw ? Kind::raw : Kind::element;
      operand.array = *array;
    } else {
      operand.scalar = convert_scalar(kernel, *operand.param, args[k], operand.dtype);
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

std::optional<Shape> common_shape(const std::string& kernel, const std::vector<Operand>& operands) {
  std::optional<Shape> shape;
  for (const Operand& operand : operands) {
    if (operand.kind != Kind::element) continue;
    const Shape& mine = operand.array.shape();
    if (!shape) {
      shape = mine;
      continue;
    }
    Shape& all = *shape;
    if (mine.size() > all.size()) all.insert(all.begin(), mine.size() - all.size(), 1);
    for (std::size_t k = 0; k < mine.size(); ++k) {
      std::int64_t& length = all[all.size() - 1 - k];
      std::int64_t own = mine[mine.size() - 1 - k];
      if (own == length || own == 1) continue;
      if (length != 1)
        throw ValueError(cat("kernel '", kernel, "': operands could not be broadcast together: '",
                             operand.param->name, "' has shape ", base::tuple_text(mine),
                             ", the others ", base::tuple_text(all)));
      length = own;
    }
  }
  return shape;
}

void separate(std::vector<Operand>& operands) {
  for (Operand& input : operands) {
    if (input.output || input.kind != Kind::element) continue;
    for (const Operand& output : operands) {
      if (!output.output || output.kind != Kind::element) continue;
      const array::View &a = array::view_of(input.array), &b = array::view_of(output.array);
      if (a.storage != b.storage || a.same_elements(b)) continue;
      array::Extent x = a.extent(), y = b.extent();
      if (x.begin >= y.end || y.begin >= x.end) continue;
      input.array = input.array.copy('K');
      break;
    }
  }
}

// ---- text ----

namespace {

std::string slot(std::size_t k) { return "_p" + std::to_string(k); }

std::string element_type(const Operand& operand) {
  return cat(operand.param->is_const ? "const " : "", type_name(operand.dtype));
}

// The elements in memory: a bool that is only read is a byte, and every one but 0 means true.
std::string_view memory_type(const Operand& operand) {
  bool only_read = operand.param->is_const && operand.dtype == DType::bool_;
  return only_read ? fuse::read_name(operand.dtype) : type_name(operand.dtype);
}

}  // namespace

std::size_t stride_count(const fuse::Walk& walk, std::size_t operand) {
  Access access = walk.access[operand];
  if (access == Access::flat || access == Access::constant) return 0;
  return walk.dims.size() - (access == Access::strided ? 0 : 1);
}

std::string place(const fuse::Walk& walk, std::size_t operand, const std::string& linear,
                  const std::string& coordinate, const std::string& name) {
  Access access = walk.access[operand];
  if (access == Access::flat) return linear;
  if (access == Access::constant) return "0";
  std::string text;
  for (std::size_t d = 0; d < stride_count(walk, operand); ++d)
    text += cat(d ? " + " : "", coordinate, d, " * ", name, "_", d);
  if (access == Access::unit)
    text += cat(text.empty() ? "" : " + ", coordinate, walk.dims.size() - 1);
  return text.empty() ? "0" : text;
}

std::string print_parameters(const std::vector<Operand>& operands) {
  std::ostringstream out;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Operand& operand = operands[k];
    std::string name = slot(k);
    if (operand.kind == Kind::element) {
      out << (operand.param->is_const ? "const " : "") << memory_type(operand) << "* " << name
          << ", ";
    } else if (operand.kind == Kind::raw) {
      out << element_type(operand) << "* " << name << ", ";
      for (int d = 0; d < operand.array.ndim(); ++d)
        out << "long long " << name << "_d" << d << ", long long " << name << "_s" << d << ", ";
    } else if (is_half(operand.dtype)) {
      out << "unsigned short " << name << ", ";
    } else if (info(operand.dtype).kind == 'c') {
      const char* part = operand.dtype == DType::complex64 ? "float " : "double ";
      out << part << name << "r, " << part << name << "i, ";
    } else if (operand.dtype == DType::bool_) {
      out << "unsigned char " << name << ", ";
    } else {
      out << type_name(operand.dtype) << " " << name << ", ";
    }
  }
  return out.str();
}

void pack(fuse::Arguments& arguments, const std::vector<Operand>& operands) {
  for (const Operand& operand : operands) {
    if (operand.kind == Kind::scalar) {
      arguments.scalar(launch::value_of(operand.scalar), operand.dtype);
      continue;
    }
    const array::View& view = array::view_of(operand.array);
    arguments.add(view.storage->address() + static_cast<CUdeviceptr>(view.offset));
    if (operand.output) view.storage->forget_range();
    if (operand.kind == Kind::element) continue;
    for (std::size_t d = 0; d < view.shape.size(); ++d) {
      arguments.add(view.shape[d]);
      arguments.add(view.strides[d]);
    }
  }
}

namespace {

void print_raw(std::ostream& out, const Operand& operand, std::size_t k) {
  std::string name = slot(k);
  int ndim = operand.array.ndim();
  std::string size = "1", shape, strides;
  for (int d = 0; d < ndim; ++d) {
    size += cat(" * ", name, "_d", d);
    shape += cat(d ? ", " : "", name, "_d", d);
    strides += cat(d ? ", " : "", name, "_s", d);
  }
  if (ndim == 0) shape = "1", strides = "0";
  out << "  const CArray<" << element_type(operand) << ", " << ndim << ", "
      << (operand.array.c_contiguous() ? "true" : "false") << "> " << operand.param->name << " = {"
      << name << ", " << size << ", {" << shape << "}, {" << strides << "}};\n";
}

void print_scalar(std::ostream& out, const Operand& operand, std::size_t k) {
  std::string name = slot(k);
  out << "  const " << type_name(operand.dtype) << " " << operand.param->name << " = ";
  if (is_half(operand.dtype))
    out << type_name(operand.dtype) << "::from_bits(" << name << ")";
  else if (info(operand.dtype).kind == 'c')
    out << type_name(operand.dtype) << "(" << name << "r, " << name << "i)";
  else if (operand.dtype == DType::bool_)
    out << name << " != 0";
  else
    out << name;
  out << ";\n";
}

}  // namespace

std::string print_locals(const std::vector<Operand>& operands) {
  std::ostringstream out;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].kind == Kind::raw) print_raw(out, operands[k], k);
    if (operands[k].kind == Kind::scalar) print_scalar(out, operands[k], k);
  }
  return out.str();
}

std::string print_element(const Operand& operand, std::size_t k, const std::string& place) {
  return cat("    ", element_type(operand), operand.param->is_const ? " " : "& ",
             operand.param->name, " = ", slot(k), "[", place, "];\n");
}

std::string print_indexer_parameters(const std::string& name, std::size_t ndim) {
  std::string text;
  for (std::size_t d = 0; d < ndim; ++d) text += cat(", long long ", name, "_d", d);
  return text;
}

std::string print_indexer(const std::string& name, std::size_t ndim, const std::string& size) {
  std::string shape;
  for (std::size_t d = 0; d < ndim; ++d) shape += cat(d ? ", " : "", name, "_d", d);
  return cat("  CIndexer<", ndim, "> ", name, " = {", size, ", {", ndim ? shape : "1",
             "}, {0}};\n");
}

void append_key(const std::vector<Operand>& operands, std::string& key) {
  for (const Operand& operand : operands) {
    key.push_back(static_cast<char>(operand.kind));
    key.push_back(static_cast<char>(operand.dtype));
    if (operand.kind != Kind::raw) continue;
    key.push_back(static_cast<char>(operand.array.ndim()));
    key.push_back(operand.array.c_contiguous() ? 'c' : 's');
  }
}

}  // namespace td::userkernel
