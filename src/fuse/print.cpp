// Programs as CUDA C++: one small function per step with the body of its row in tables/ops.def, and
// `element`, which strings them together for one index. Kernels of every shape call `element`.
#include <algorithm>
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
                       : value.kind == Value::Kind::root ? "r"
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

// `element` of a program without stages.
void print_element(std::ostream& out, const Program& program) {
  out << "TD_FN void element(";
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    out << cuda_name(program.leaves[k].dtype) << " a" << k << ", ";
  for (std::size_t k = 0; k < program.scalars.size(); ++k)
    out << cuda_name(program.scalars[k].dtype) << " s" << k << ", ";
  for (std::size_t k = 0; k < program.stores.size(); ++k)
    out << (k ? ", " : "") << cuda_name(program.stores[k].view.dtype) << "& y" << k;
  if (program.reduces()) out << cuda_name(program.roots[0].input) << "& y";
  out << ") {\n";
  for (std::size_t k = 0; k < program.steps.size(); ++k) print_step(out, program, k);
  for (std::size_t k = 0; k < program.stores.size(); ++k)
    out << "  y" << k << " = v" << int(program.stores[k].step) << ";\n";
  if (program.reduces())
    out << "  y = td_cast<" << cuda_name(program.roots[0].input) << ">("
        << value_name(program.roots[0].value) << ");\n";
  out << "}\n\n";
}

// ---- stages ----

// Parameters that both functions of a stage have: leaves, scalars, and what earlier stages gave (up
// to the roots of `roots_before`, exclusive).
void print_stage_parameters(std::ostream& out, const Program& program,
                            const std::vector<bool>& leaves, int stage, int roots_before) {
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    if (leaves[k]) out << cuda_name(program.leaves[k].dtype) << " a" << k << ", ";
  for (std::size_t k = 0; k < program.scalars.size(); ++k)
    out << cuda_name(program.scalars[k].dtype) << " s" << k << ", ";
  for (std::size_t k = 0; k < program.roots.size(); ++k)
    if (program.roots[k].stage < roots_before)
      out << cuda_name(program.roots[k].output) << " r" << k << ", ";
  for (std::size_t k = 0; k < program.steps.size(); ++k)
    if (program.steps[k].kept && program.steps[k].stage < stage)
      out << cuda_name(program.steps[k].stored) << " v" << k << ", ";
}

void print_stage_element(std::ostream& out, const Program& program, int stage,
                         const StageUse& use) {
  if (!use.roots.empty()) {
    out << "struct In" << stage << " {\n";
    for (std::size_t k : use.roots)
      out << "  " << cuda_name(program.roots[k].input) << " y" << k << ";\n";
    out << "};\n";
  }
  out << "TD_FN void element" << stage << "(";
  print_stage_parameters(out, program, use.leaves, stage, stage);
  for (std::size_t k : use.stores)
    out << cuda_name(program.stores[k].view.dtype) << "& z" << k << ", ";
  if (use.roots.empty())
    out << "int) {\n";
  else
    out << "In" << stage << "& y) {\n";
  for (std::size_t k = 0; k < program.steps.size(); ++k)
    if (use.steps[k]) print_step(out, program, k);
  for (std::size_t k : use.stores)
    out << "  z" << k << " = v" << int(program.stores[k].step) << ";\n";
  for (std::size_t k : use.roots) {
    const Root& root = program.roots[k];
    out << "  y.y" << k << " = td_cast<" << cuda_name(root.input) << ">(" << value_name(root.value)
        << ");\n";
  }
  out << "}\n\n";
}

// The roots of a stage as one functor: an accumulator holds one of each.
void print_functor(std::ostream& out, const Program& program, int stage, const StageUse& use) {
  auto each = [&](auto line) {
    for (std::size_t k : use.roots) line(std::to_string(k));
  };
  for (std::size_t k : use.roots)
    out << "typedef " << info(program.roots[k].reduction).functor << "<"
        << cuda_name(program.roots[k].input)
        << (info(program.roots[k].reduction).takes_one_axis() ? ", td_index" : "") << "> G" << k
        << ";\n";
  out << "struct F" << stage << " {\n  struct A {\n";
  each([&](const std::string& k) { out << "    G" << k << "::A a" << k << ";\n"; });
  out << "  };\n  struct Shared {\n";
  each([&](const std::string& k) { out << "    G" << k << "::A a" << k << "[8];\n"; });
  out << "  };\n  TD_FN A none() {\n    A a;\n";
  each([&](const std::string& k) { out << "    a.a" << k << " = G" << k << "::none();\n"; });
  out << "    return a;\n  }\n  TD_FN A start(A a, In" << stage << " y) {\n";
  each([&](const std::string& k) {
    out << "    a.a" << k << " = td_start<G" << k << ">(a.a" << k << ", y.y" << k << ");\n";
  });
  out << "    return a;\n  }\n  TD_FN A add(A a, In" << stage << " y, td_index i) {\n";
  each([&](const std::string& k) {
    out << "    a.a" << k << " = td_take<G" << k << ">(a.a" << k << ", y.y" << k << ", i);\n";
  });
  out << "    return a;\n  }\n  TD_FN A combine(A a, A b) {\n";
  each([&](const std::string& k) {
    out << "    a.a" << k << " = G" << k << "::combine(a.a" << k << ", b.a" << k << ");\n";
  });
  out << "    return a;\n  }\n  template <int lanes>\n"
      << "  TD_FN A join(A a, Shared& shared, td_index all) {\n";
  each([&](const std::string& k) {
    out << "    a.a" << k << " = td_join<G" << k << ", lanes>(a.a" << k << ", shared.a" << k
        << ", all);\n";
  });
  out << "    return a;\n  }\n};\ntypedef F" << stage << "::A A" << stage << ";\n\n";
}

void print_results(std::ostream& out, const Program& program, int stage, const StageUse& use) {
  if (use.kept.empty()) return;
  out << "TD_FN void results" << stage << "(";
  print_stage_parameters(out, program, use.kept_leaves, stage, stage + 1);
  for (std::size_t k : use.kept) out << cuda_name(program.steps[k].stored) << "& w" << k << ", ";
  out << "int) {\n";
  for (std::size_t k : use.kept) print_step(out, program, k);
  for (std::size_t k : use.kept) out << "  w" << k << " = v" << k << ";\n";
  out << "}\n\n";
}

void print_stages(std::ostream& out, const Program& program, bool elements) {
  for (int stage = 0; stage < program.stages(); ++stage) {
    StageUse use = stage_use(program, stage);
    if (elements) {
      print_stage_element(out, program, stage, use);
    } else if (!use.roots.empty()) {
      out << "struct In" << stage << " {\n";
      for (std::size_t k : use.roots)
        out << "  " << cuda_name(program.roots[k].input) << " y" << k << ";\n";
      out << "};\n";
    }
    if (!use.roots.empty()) print_functor(out, program, stage, use);
    print_results(out, program, stage, use);
  }
}

std::string print_heads(const Program& program, bool wide_index) {
  bool half = false, complex = false;
  for (const View& leaf : program.leaves) note_type(leaf.dtype, half, complex);
  for (const ScalarOperand& scalar : program.scalars) note_type(scalar.dtype, half, complex);
  for (const Step& step : program.steps) {
    for (int a = 0; a < step.arity; ++a) note_type(step.loops[a], half, complex);
    note_type(step.result, half, complex);
    note_type(step.stored, half, complex);
  }
  for (const Root& root : program.roots) note_type(root.input, half, complex);
  std::ostringstream out;
  out << device_headers(half, complex, program.reduces(), false);
  out << "\ntypedef " << (wide_index ? "long long" : "int") << " td_index;\n\n";
  for (std::size_t k = 0; k < program.steps.size(); ++k)
    print_step_function(out, k, program.steps[k]);
  return out.str();
}

}  // namespace

std::string_view cuda_name(DType dtype) { return info(dtype).cuda; }

std::string_view read_name(DType dtype) {
  return dtype == DType::bool_ ? info(DType::uint8).cuda : cuda_name(dtype);
}

DType dtype_of(const Program& program, Value value) {
  switch (value.kind) {
    case Value::Kind::leaf:
      return program.leaves[value.index].dtype;
    case Value::Kind::step:
      return program.steps[value.index].stored;
    case Value::Kind::root:
      return program.roots[value.index].output;
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

int Program::stages() const {
  int last = 0;
  for (const Root& root : roots) last = std::max<int>(last, root.stage);
  for (const Store& store : stores) last = std::max<int>(last, steps[store.step].stage);
  return last + 1;
}

bool Program::plain_reduction() const {
  if (roots.size() != 1 || roots[0].reduction == Reduction::var || !stores.empty()) return false;
  return kept_stores.size() == 1 && kept_stores[0].value.kind == Value::Kind::root &&
         std::none_of(steps.begin(), steps.end(), [](const Step& step) { return step.kept; });
}

StageUse stage_use(const Program& program, int stage) {
  StageUse use;
  use.leaves.assign(program.leaves.size(), false);
  use.kept_leaves = use.leaves;
  use.steps.assign(program.steps.size(), false);
  auto want = [&](Value value) {
    if (value.kind == Value::Kind::leaf) use.leaves[value.index] = true;
    if (value.kind == Value::Kind::step && !program.steps[value.index].kept)
      use.steps[value.index] = true;
  };
  for (std::size_t k = 0; k < program.roots.size(); ++k)
    if (program.roots[k].stage == stage) {
      use.roots.push_back(k);
      want(program.roots[k].value);
    }
  for (std::size_t k = 0; k < program.stores.size(); ++k)
    if (program.steps[program.stores[k].step].stage == stage) {
      use.stores.push_back(k);
      use.steps[program.stores[k].step] = true;
    }
  for (std::size_t k = program.steps.size(); k-- > 0;) {
    const Step& step = program.steps[k];
    if (step.kept && step.stage == stage) {
      for (int a = 0; a < step.arity; ++a)
        if (step.args[a].kind == Value::Kind::leaf) use.kept_leaves[step.args[a].index] = true;
      use.kept.insert(use.kept.begin(), k);
    } else if (use.steps[k]) {
      for (int a = 0; a < step.arity; ++a) want(step.args[a]);
    }
  }
  return use;
}

std::string print_prelude(const Program& program, bool wide_index) {
  std::ostringstream out;
  out << print_heads(program, wide_index);
  print_element(out, program);
  return out.str();
}

std::string print_stages_prelude(const Program& program, bool wide_index) {
  std::ostringstream out;
  out << print_heads(program, wide_index);
  print_stages(out, program, true);
  return out.str();
}

std::string print_finish_prelude(const Program& program, bool wide_index) {
  std::ostringstream out;
  out << print_heads(program, wide_index);
  print_stages(out, program, false);
  return out.str();
}

// Scalars travel as plain numbers: a 16-bit float as its bits, a complex number as two.
std::string parameter_list(const Program& program) {
  std::ostringstream out;
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    out << "const " << read_name(program.leaves[k].dtype) << "* a" << k << ", ";
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
  // Room for the longest key; what is not used is cut off again.
  std::size_t begin = key.size();
  key.resize(begin + 6 + program.leaves.size() + program.scalars.size() +
             15 * program.steps.size() + 2 * program.stores.size() + 6 * program.roots.size() +
             2 * program.kept_stores.size());
  char* end = key.data() + begin;
  auto put = [&](auto value) { *end++ = static_cast<char>(value); };
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
    put(step.copy + 2 * step.kept);
    put(step.stage);
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
  put(program.roots.size());
  for (const Root& root : program.roots) {
    put(static_cast<int>(root.reduction));
    put_value(root.value);
    put(root.input);
    put(root.output);
    put(root.stage);
  }
  put(program.kept_stores.size());
  for (const KeptStore& store : program.kept_stores) put_value(store.value);
  key.resize(static_cast<std::size_t>(end - key.data()));
}

}  // namespace td::fuse
