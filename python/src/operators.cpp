// Operators of ndarray, function of every operation and reduction: loops over the rows of
// include/treadle/ops.h.

#include "bind.h"
#include "treadle/ops.h"
#include "treadle/statistics.h"

namespace td::python {
namespace {

std::string text(std::string_view view) { return std::string(view); }

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

Array run(Op op, std::initializer_list<Operand> operands, const Array& out = {},
          std::optional<DType> dtype = {}) {
  return without_gil([&] {
    return apply(op, std::span<const Operand>(operands.begin(), operands.size()), out, dtype);
  });
}

// Another array library's operand gets its chance (NotImplemented); a host array is refused with
// the cure.
bool foreign(nb::handle object) {
  return nb::hasattr(object, "__array_ufunc__") && !nb::hasattr(object, "__array_interface__");
}

std::optional<Operand> other_operand(nb::handle object) {
  if (auto operand = to_operand(object)) return operand;
  if (nb::hasattr(object, "__array_interface__") || PyList_Check(object.ptr()) ||
      PyTuple_Check(object.ptr()))
    return require_operand(object);  // throws
  return {};
}

// An object that equals only itself, or text: no number equals it.
bool equals_no_number(nb::handle object) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr())) return true;
  nb::handle base(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  return nb::handle(object.type()).attr("__eq__").is(base.attr("__eq__"));
}

// The right operand of a comparison may be anything; None, for example.
void bind_binary_operator(nb::class_<Array>& cls, const OpInfo& row) {
  Op op = row.op;
  std::string stem = text(row.dunder);
  auto forward = [op](const Array& a, nb::object b) {
    auto other = other_operand(b);
    if (other) return wrap(run(op, {a, *other}));
    if ((op == Op::equal || op == Op::not_equal) && !foreign(b) && equals_no_number(b))
      return wrap(full(a.shape(), op == Op::not_equal, DType::bool_));
    return not_implemented();
  };
  auto reflected = [op](const Array& a, nb::object b) {
    auto other = other_operand(b);
    return other ? wrap(run(op, {*other, a})) : not_implemented();
  };
  auto in_place = [op](nb::object self, nb::object b) {
    auto other = other_operand(b);
    if (!other) return not_implemented();
    const Array& a = *as_array(self);
    run(op, {a, *other}, a);
    return self;
  };
  const auto value = nb::arg("value").none();
  cls.def(("__" + stem + "__").c_str(), forward, value);
  if (row.flags == OpFlags::compare) return;  // Python reflects comparisons itself
  cls.def(("__r" + stem + "__").c_str(), reflected, value);
  cls.def(("__i" + stem + "__").c_str(), in_place, value);
}

Array product(const Array& a, const Array& b) {
  return without_gil([&] { return matmul(a, b); });
}

void bind_matmul_operators(nb::class_<Array>& cls) {
  cls.def("__matmul__", [](const Array& a, nb::object b) {
    return foreign(b) && !as_array(b) ? not_implemented()
                                      : wrap(product(a, to_array(b, "the right operand of @")));
  });
  cls.def("__rmatmul__", [](const Array& a, nb::object b) {
    return product(to_array(b, "the left operand of @"), a);
  });
  cls.def("__imatmul__", [](nb::object self, nb::object b) {
    Array result = product(*as_array(self), to_array(b, "the right operand of @"));
    without_gil([&] { copy_into(*as_array(self), result); });
    return self;
  });
}

// Calls `define` with the row's name and each of its aliases.
template <class F>
void each_name(std::string_view name, std::string_view aliases, const F& define) {
  define(text(name));
  while (!aliases.empty()) {
    auto space = aliases.find(' ');
    define(text(aliases.substr(0, space)));
    aliases = space == std::string_view::npos ? "" : aliases.substr(space + 1);
  }
}

// An operation of scalars alone: the first becomes an array of NumPy's default type.
Operand as_some_array(Operand operand) {
  constexpr DType kinds[] = {DType::bool_, DType::int64, DType::uint64, DType::float64,
                             DType::complex128};
  if (auto* scalar = std::get_if<Scalar>(&operand))
    return full({}, *scalar, kinds[scalar->index()]);
  return operand;
}

Array call_operation(Op op, std::vector<Operand> operands, const Array& out,
                     std::optional<DType> dtype) {
  return without_gil([&] {
    bool any = static_cast<bool>(out);
    for (const Operand& x : operands) any = any || std::holds_alternative<Array>(x);
    if (!any) operands[0] = as_some_array(operands[0]);
    return apply(op, operands, out, dtype);
  });
}

// With `out=` the caller gets that very object back, as from NumPy.
nb::object finish(Array result, nb::handle out) {
  if (out.is_none()) return wrap(std::move(result));
  return nb::borrow(PyTuple_Check(out.ptr()) ? nb::handle(PyTuple_GET_ITEM(out.ptr(), 0)) : out);
}

void bind_operation(nb::module_& m, const OpInfo& row, const std::string& name) {
  using nb::arg, nb::handle, nb::none;
  Op op = row.op;
  switch (row.arity()) {
    case 1:
      m.def(
          name.c_str(),
          [op](handle x, handle out, handle dtype) {
            return finish(
                call_operation(op, {require_operand(x)}, to_out(out), to_optional_dtype(dtype)),
                out);
          },
          arg("x"), arg("out").none() = none(), nb::kw_only(), arg("dtype").none() = none());
      break;
    case 2:
      m.def(
          name.c_str(),
          [op](handle x1, handle x2, handle out, handle dtype) {
            return finish(call_operation(op, {require_operand(x1), require_operand(x2)},
                                         to_out(out), to_optional_dtype(dtype)),
                          out);
          },
          arg("x1"), arg("x2"), arg("out").none() = none(), nb::kw_only(),
          arg("dtype").none() = none());
      break;
    default:
      m.def(
          name.c_str(),
          [op](handle x, handle y, handle z, handle out, handle dtype) {
            return finish(
                call_operation(op, {require_operand(x), require_operand(y), require_operand(z)},
                               to_out(out), to_optional_dtype(dtype)),
                out);
          },
          arg("x"), arg("y"), arg("z"), arg("out").none() = none(), nb::kw_only(),
          arg("dtype").none() = none());
  }
}

nb::object call_reduction(Reduction reduction, nb::handle x, nb::handle axis, nb::handle dtype,
                          nb::handle out, bool keepdims, nb::handle initial = nb::none(),
                          nb::handle where = Py_True) {
  std::optional<Axes> axes = to_axes(axis);
  std::optional<DType> type = to_optional_dtype(dtype);
  Array target = to_out(out);
  Operand operand = require_operand(x);
  std::optional<Operand> start, mask;
  if (!initial.is_none()) start = require_operand(initial);
  if (where.ptr() != Py_True) mask = require_operand(where);
  Array result = without_gil([&] {
    Array values = std::get<Array>(as_some_array(operand));
    if (!start && !mask) return reduce(reduction, values, axes, keepdims, type, target);
    Array chosen = mask ? std::get<Array>(as_some_array(*mask)) : Array();
    return reduce_where(reduction, values, chosen, start, axes, keepdims, type, target);
  });
  return finish(std::move(result), out);
}

// A module's function has its array as a named argument, a method as self.
template <class Target, class F, class... Args>
void define_reduction(Target& target, const std::string& name, F&& function, const Args&... args) {
  if constexpr (std::is_same_v<Target, nb::module_>)
    target.def(name.c_str(), function, nb::arg("a"), args...);
  else
    target.def(name.c_str(), function, args...);
}

// NumPy's positional order: accumulating reductions take dtype before out, the others have no
// dtype; initial and where stand behind keepdims where the reduction has them.
template <class Target>
void bind_reduction(Target& target, const ReductionInfo& row, const std::string& name) {
  using nb::arg, nb::handle, nb::none;
  const auto axis = arg("axis").none() = none(), out = arg("out").none() = none();
  const auto dtype = arg("dtype").none() = none(), initial = arg("initial").none() = none();
  const auto keepdims = arg("keepdims") = false, where = arg("where") = true;
  Reduction r = row.reduction;
  using Input = ReductionInfo::Input;
  if (row.input == Input::wide) {
    auto call = [r](handle a, handle axes, handle type, handle target_array, bool keep,
                    handle start, handle mask) {
      return call_reduction(r, a, axes, type, target_array, keep, start, mask);
    };
    define_reduction(target, name, call, axis, dtype, out, keepdims, initial, where);
  } else if (row.input == Input::floating) {
    auto call = [r](handle a, handle axes, handle type, handle target_array, bool keep,
                    handle mask) {
      return call_reduction(r, a, axes, type, target_array, keep, none(), mask);
    };
    define_reduction(target, name, call, axis, dtype, out, keepdims, nb::kw_only(), where);
  } else if (r == Reduction::any || r == Reduction::all) {
    auto call = [r](handle a, handle axes, handle target_array, bool keep, handle mask) {
      return call_reduction(r, a, axes, none(), target_array, keep, none(), mask);
    };
    define_reduction(target, name, call, axis, out, keepdims, nb::kw_only(), where);
  } else if (r == Reduction::min || r == Reduction::max) {
    auto call = [r](handle a, handle axes, handle target_array, bool keep, handle start,
                    handle mask) {
      return call_reduction(r, a, axes, none(), target_array, keep, start, mask);
    };
    define_reduction(target, name, call, axis, out, keepdims, initial, where);
  } else {
    auto call = [r](handle a, handle axes, handle target_array, bool keep) {
      return call_reduction(r, a, axes, none(), target_array, keep);
    };
    define_reduction(target, name, call, axis, out, keepdims);
  }
}

nb::object call_matmul(nb::handle a, nb::handle b, nb::handle out) {
  Array target = to_out(out);
  Array result = product(to_array(a, "the first operand of matmul"),
                         to_array(b, "the second operand of matmul"));
  if (!target) return wrap(std::move(result));
  without_gil([&] { copy_into(target, result); });
  return nb::borrow(out);
}

}  // namespace

void bind_operators(nb::class_<Array>& cls) {
  for (const OpInfo& row : ops()) {
    if (row.dunder.empty()) continue;
    if (row.arity() == 2) {
      bind_binary_operator(cls, row);
    } else {
      cls.def(("__" + text(row.dunder) + "__").c_str(),
              [op = row.op](const Array& a) { return run(op, {a}); });
    }
  }
  bind_matmul_operators(cls);
  for (const ReductionInfo& row : reductions())
    if (row.name != "count_nonzero" && row.reduction != Reduction::var)
      bind_reduction(cls, row, text(row.name));
}

// What the oracle tests and the documentation read of tables/ops.def.
nb::list operation_rows() {
  constexpr const char* domains[] = {"any",  "small",   "positive", "from_one",
                                     "unit", "nonzero", "shift"};
  nb::list rows;
  for (const OpInfo& row : ops()) {
    nb::dict fields;
    fields["name"] = text(row.name);
    fields["signature"] = text(row.signature);
    fields["loops"] = text(row.loops);
    fields["numpy"] = text(row.numpy);
    fields["body"] = text(row.body);
    fields["domain"] = domains[static_cast<int>(row.domain)];
    fields["refuses_bool"] = row.flags == OpFlags::no_bool;
    fields["ulp"] = nb::make_tuple(row.ulp16, row.ulp32, row.ulp64);
    rows.append(fields);
  }
  return rows;
}

void bind_operations(nb::module_& m) {
  m.def("_operation_rows", operation_rows);
  nb::list operations, reduction_names;
  nb::dict aliases;
  for (const OpInfo& row : ops())
    each_name(row.name, row.aliases, [&](const std::string& name) {
      bind_operation(m, row, name);
      operations.append(name);
      if (name != row.name) aliases[name.c_str()] = text(row.name);
    });
  for (const ReductionInfo& row : reductions()) {
    if (row.reduction == Reduction::var) continue;  // has another signature: _statistics.py
    each_name(row.name, row.aliases, [&](const std::string& name) {
      bind_reduction(m, row, name);
      reduction_names.append(name);
    });
  }
  m.def("matmul", call_matmul, nb::arg("x1"), nb::arg("x2"), nb::arg("out").none() = nb::none());
  auto variance = [](nb::handle x, nb::handle axis, double ddof, bool keepdims) {
    std::optional<Axes> axes = to_axes(axis);
    Operand operand = require_operand(x);
    return without_gil(
        [&] { return var(std::get<Array>(as_some_array(operand)), axes, ddof, keepdims); });
  };
  m.def("_var", variance, nb::arg("a"), nb::arg("axis").none(), nb::arg("ddof"),
        nb::arg("keepdims"));
  m.def("_copy_into", [](const Array& out, nb::handle value) {
    Operand operand = require_operand(value);
    without_gil([&] { copy_into(out, operand); });
  });
  m.attr("_operation_aliases") = aliases;
  m.attr("operations") = nb::tuple(operations);
  m.attr("reductions") = nb::tuple(reduction_names);
}

}  // namespace td::python
