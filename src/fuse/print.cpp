// Programs as CUDA C++: one small function per step with the body of its row in tables/ops.def, and
// `element`, which strings them together for one index. Kernels of every shape call `element`.
#include <sstream>

#include "fuse/kernels_text.h"
#include "fuse/program.h"

namespace td::fuse {
namespace {

void note_type(DType dtype, bool& half, bool& complex) {
  half = half || is_half(dtype);
  complex = complex || info(dtype).kind == 'c';
}

std::string value_name(Value value) {
  const char* prefix = value.kind == Value::Kind::leaf   ? "a"
                       : value.kind == Value::Kind::step ? "v"
                                                         : "s";
  return prefix + std::to_string(value.index);
}

void print_step_function(std::ostream& out, std::size_t k, const Step& step) {
  if (step.copy) return;
  const OpInfo& row = info(step.op);
  out << "TD_FN " << cuda_name(step.result) << " td_" << row.name << "_" << k << "(";
  for (int a = 0; a < step.arity; ++a)
    out << (a ? ", " : "") << cuda_name(step.loops[a]) << " " << "xyz"[a];
  out << ") { return " << row.body << "; }\n";
}

std::string argument(const Program& program, const Step& step, int a) {
  std::string name = value_name(step.args[a]);
  if (dtype_of(program, step.args[a]) == step.loops[a]) return name;
  return "td_cast<" + std::string(cuda_name(step.loops[a])) + ">(" + name + ")";
}

void print_step(std::ostream& out, const Program& program, std::size_t k) {
  const Step& step = program.steps[k];
  std::string value;
  if (step.copy) {
    value = argument(program, step, 0);
  } else {
    value = "td_" + std::string(info(step.op).name) + "_" + std::to_string(k) + "(";
    for (int a = 0; a < step.arity; ++a) value += (a ? ", " : "") + argument(program, step, a);
    value += ")";
  }
  if (step.result != step.stored)
    value = "td_cast<" + std::string(cuda_name(step.stored)) + ">(" + value + ")";
  out << "  const " << cuda_name(step.stored) << " v" << k << " = " << value << ";\n";
}

// The body of `element`.
void print_element(std::ostream& out, const Program& program) {
  out << "TD_FN void element(";
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    out << cuda_name(program.leaves[k].dtype) << " a" << k << ", ";
  for (std::size_t k = 0; k < program.scalars.size(); ++k)
    out << cuda_name(program.scalars[k].dtype) << " s" << k << ", ";
  if (program.reduces) {
    out << cuda_name(program.input) << "& y";
  } else {
    for (std::size_t k = 0; k < program.stores.size(); ++k)
      out << (k ? ", " : "") << cuda_name(program.stores[k].view.dtype) << "& y" << k;
  }
  out << ") {\n";
  for (std::size_t k = 0; k < program.steps.size(); ++k) print_step(out, program, k);
  if (program.reduces)
    out << "  y = td_cast<" << cuda_name(program.input) << ">(" << value_name(program.root)
        << ");\n";
  else
    for (std::size_t k = 0; k < program.stores.size(); ++k)
      out << "  y" << k << " = v" << int(program.stores[k].step) << ";\n";
  out << "}\n\n";
}

}  // namespace

std::string_view cuda_name(DType dtype) { return info(dtype).cuda; }

DType dtype_of(const Program& program, Value value) {
  switch (value.kind) {
    case Value::Kind::leaf:
      return program.leaves[value.index].dtype;
    case Value::Kind::step:
      return program.steps[value.index].stored;
    default:
      return program.scalars[value.index].dtype;
  }
}

std::string device_headers(bool half, bool complex, bool reduce, bool philox) {
  std::string text;
  if (half) text += "#define TD_HALF 1\n";
  if (complex) text += "#define TD_COMPLEX 1\n";
  text += kText_types;
  text += kText_math;
  text += kText_ops;
  if (reduce) text += kText_reduce;
  if (philox) text += kText_philox;
  return text;
}

std::string print_prelude(const Program& program, bool wide_index) {
  bool half = false, complex = false;
  for (const View& leaf : program.leaves) note_type(leaf.dtype, half, complex);
  for (const ScalarOperand& scalar : program.scalars) note_type(scalar.dtype, half, complex);
  for (const Step& step : program.steps) {
    for (int a = 0; a < step.arity; ++a) note_type(step.loops[a], half, complex);
    note_type(step.result, half, complex);
    note_type(step.stored, half, complex);
  }
  if (program.reduces) note_type(program.input, half, complex);
  std::ostringstream out;
  out << device_headers(half, complex, program.reduces, false);
  out << "\ntypedef " << (wide_index ? "long long" : "int") << " td_index;\n\n";
  for (std::size_t k = 0; k < program.steps.size(); ++k)
    print_step_function(out, k, program.steps[k]);
  print_element(out, program);
  return out.str();
}

// Scalars travel as plain numbers: a 16-bit float as its bits, a complex number as two.
std::string parameter_list(const Program& program) {
  std::ostringstream out;
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    out << "const " << cuda_name(program.leaves[k].dtype) << "* a" << k << ", ";
  for (std::size_t k = 0; k < program.stores.size(); ++k)
    out << cuda_name(program.stores[k].view.dtype) << "* b" << k << ", ";
  for (std::size_t k = 0; k < program.scalars.size(); ++k) {
    switch (program.scalars[k].dtype) {
      case DType::float16:
      case DType::bfloat16:
        out << "unsigned short s" << k << ", ";
        break;
      case DType::complex64:
        out << "float s" << k << "r, float s" << k << "i, ";
        break;
      case DType::complex128:
        out << "double s" << k << "r, double s" << k << "i, ";
        break;
      case DType::bool_:
        out << "unsigned char s" << k << ", ";
        break;
      default:
        out << cuda_name(program.scalars[k].dtype) << " s" << k << ", ";
    }
  }
  return out.str();
}

std::string scalar_arguments(const Program& program) {
  std::ostringstream out;
  for (std::size_t k = 0; k < program.scalars.size(); ++k) {
    DType d = program.scalars[k].dtype;
    if (is_half(d))
      out << cuda_name(d) << "_bits(s" << k << "), ";
    else if (info(d).kind == 'c')
      out << cuda_name(d) << "(s" << k << "r, s" << k << "i), ";
    else if (d == DType::bool_)
      out << "s" << k << " != 0, ";
    else
      out << "s" << k << ", ";
  }
  return out.str();
}

void append_key(const Program& program, std::string& key) {
  auto put = [&](auto value) { key.push_back(static_cast<char>(value)); };
  auto put_value = [&](Value v) {
    put(v.kind);
    put(v.index);
  };
  put(program.leaves.size());
  for (const View& leaf : program.leaves) put(leaf.dtype);
  put(program.scalars.size());
  for (const ScalarOperand& scalar : program.scalars) put(scalar.dtype);
  put(program.steps.size());
  for (const Step& step : program.steps) {
    put(step.copy);
    put(static_cast<int>(step.op) & 0xff);
    put(static_cast<int>(step.op) >> 8);
    for (int a = 0; a < step.arity; ++a) {
      put_value(step.args[a]);
      put(step.loops[a]);
    }
    put(step.result);
    put(step.stored);
  }
  put(program.stores.size());
  for (const Store& store : program.stores) {
    put(store.step);
    put(store.view.dtype);
  }
  put(program.reduces);
  if (!program.reduces) return;
  put(static_cast<int>(program.reduction));
  put_value(program.root);
  put(program.input);
  put(program.output);
}

}  // namespace td::fuse
