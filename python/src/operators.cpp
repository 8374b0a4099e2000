// Operators of ndarray, function of every operation and reduction: loops over the rows of
// include/treadle/ops.h. Operators are slots of the class, which Python calls without looking a
// method up.

#include <array>
#include <cmath>
#include <utility>

#include "bind.h"
#include "treadle/ops.h"
#include "treadle/statistics.h"

namespace td::python {
namespace {

std::string text(std::string_view view) { return std::string(view); }

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

// Recording takes the GIL along where it neither waits nor launches: giving it up costs more.
Array run(Op op, std::span<const OperandRef> operands) {
  if (Array result = try_apply(op, operands)) return result;
  return without_gil([&] { return apply(op, operands); });
}

// Another array library's operand gets its chance (NotImplemented); a host array is refused with
// the cure.
bool foreign(nb::handle object) {
  return nb::hasattr(object, "__array_ufunc__") && !nb::hasattr(object, "__array_interface__");
}

// A Python int of more than 64 bits beside an array: integers compare with it as with an infinity,
// and what computes in floats takes it as one.
Scalar huge_beside(Op op, double value, DType beside) {
  const OpInfo& row = info(op);
  if (info(beside).kind == 'f' || info(beside).kind == 'c') return huge_integer_as(value, beside);
  if (row.flags == OpFlags::compare) return std::copysign(HUGE_VAL, value);
  bool floats = row.loops.find_first_of("bhiqBHIQ") == std::string_view::npos;
  return huge_integer_as(value, floats ? DType::float64 : DType::int64);
}

Operand operand_beside(Op op, const Array& beside, nb::handle object) {
  if (auto huge = to_huge_integer(object)) return huge_beside(op, *huge, beside.dtype());
  return require_operand(object);
}

std::optional<Operand> other_operand(Op op, const Array& beside, nb::handle object) {
  if (auto huge = to_huge_integer(object)) return huge_beside(op, *huge, beside.dtype());
  if (auto operand = to_operand(object)) return operand;
  if (nb::hasattr(object, "__array_interface__") || PyList_Check(object.ptr()) ||
      PyTuple_Check(object.ptr()))
    return require_operand(object);  // throws
  return {};
}

// An object that equals only itself, or text: no number equals it.
bool equals_no_number(nb::handle object) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr())) return true;
  // From Python 3.12 on None does not inherit its comparison.
  void* own = PyType_GetSlot(Py_TYPE(object.ptr()), Py_tp_richcompare);
  return !own || own == PyType_GetSlot(&PyBaseObject_Type, Py_tp_richcompare) || object.is_none();
}

// One of the operands is an array; the other one of a comparison may be anything; None, for
// example.
nb::object binary(Op op, nb::handle a, nb::handle b) {
  const Array *x = as_array(a), *y = as_array(b);
  if (x && y) return wrap(run(op, std::array<OperandRef, 2>{*x, *y}));
  std::optional<Operand> other = other_operand(op, x ? *x : *y, x ? b : a);
  if (other)
    return wrap(
        run(op, x ? std::array<OperandRef, 2>{*x, *other} : std::array<OperandRef, 2>{*other, *y}));
  if ((op == Op::equal || op == Op::not_equal) && !foreign(b) && equals_no_number(b))
    return wrap(full(x->shape(), op == Op::not_equal, DType::bool_));
  return not_implemented();
}

nb::object in_place(Op op, nb::handle self, nb::handle b) {
  const Array& a = to_array(self, "the left operand");
  auto other = other_operand(op, a, b);
  if (!other) return not_implemented();
  const OperandRef operands[] = {a, *other};
  without_gil([&] { return apply(op, std::span<const OperandRef>(operands), a); });
  return nb::borrow(self);
}

template <Op op>
PyObject* unary_slot(PyObject* x) {
  return answer(
      [&] { return wrap(run(op, std::array<OperandRef, 1>{to_array(x, "the operand")})); });
}

template <Op op>
PyObject* binary_slot(PyObject* a, PyObject* b) {
  return answer([&] { return binary(op, a, b); });
}

template <Op op>
PyObject* in_place_slot(PyObject* a, PyObject* b) {
  return answer([&] { return in_place(op, a, b); });
}

// pow(a, b, modulus) is for Python's integers.
template <Op op>
PyObject* power_slot(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) return not_implemented().release().ptr();
  return binary_slot<op>(a, b);
}

template <Op op>
PyObject* in_place_power_slot(PyObject* a, PyObject* b, PyObject*) {
  return in_place_slot<op>(a, b);
}

consteval Op op_of_dunder(std::string_view dunder) {
  for (const OpInfo& row : kOps)
    if (row.dunder == dunder) return row.op;
  throw "no operation has this operator";
}

PyObject* compare_slot(PyObject* a, PyObject* b, int kind) {
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  constexpr Op ops[] = {op_of_dunder("lt"), op_of_dunder("le"), op_of_dunder("eq"),
                        op_of_dunder("ne"), op_of_dunder("gt"), op_of_dunder("ge")};
  return answer([&] { return binary(ops[kind], a, b); });
}

// Python's number of the slot for __<dunder>__ and, where there is one, for __i<dunder>__.
struct SlotRow {
  std::string_view dunder;
  int slot, in_place;
};
constexpr SlotRow kSlots[] = {
    {"add", Py_nb_add, Py_nb_inplace_add},
    {"sub", Py_nb_subtract, Py_nb_inplace_subtract},
    {"mul", Py_nb_multiply, Py_nb_inplace_multiply},
    {"truediv", Py_nb_true_divide, Py_nb_inplace_true_divide},
    {"floordiv", Py_nb_floor_divide, Py_nb_inplace_floor_divide},
    {"mod", Py_nb_remainder, Py_nb_inplace_remainder},
    {"pow", Py_nb_power, Py_nb_inplace_power},
    {"lshift", Py_nb_lshift, Py_nb_inplace_lshift},
    {"rshift", Py_nb_rshift, Py_nb_inplace_rshift},
    {"and", Py_nb_and, Py_nb_inplace_and},
    {"xor", Py_nb_xor, Py_nb_inplace_xor},
    {"or", Py_nb_or, Py_nb_inplace_or},
    {"neg", Py_nb_negative, 0},
    {"pos", Py_nb_positive, 0},
    {"abs", Py_nb_absolute, 0},
    {"invert", Py_nb_invert, 0},
};

consteval SlotRow slot_of(std::string_view dunder) {
  for (const SlotRow& row : kSlots)
    if (row.dunder == dunder) return row;
  throw "the class has no slot for this operator";
}

template <Op op>
void add_slots(std::vector<PyType_Slot>& slots) {
  if constexpr (!info(op).dunder.empty() && info(op).flags != OpFlags::compare) {
    constexpr SlotRow row = slot_of(info(op).dunder);
    if constexpr (row.slot == Py_nb_power) {
      slots.push_back(slot(row.slot, power_slot<op>));
      slots.push_back(slot(row.in_place, in_place_power_slot<op>));
    } else if constexpr (row.in_place) {
      slots.push_back(slot(row.slot, binary_slot<op>));
      slots.push_back(slot(row.in_place, in_place_slot<op>));
    } else {
      slots.push_back(slot(row.slot, unary_slot<op>));
    }
  }
}

template <std::size_t... Rows>
void add_slots_of_rows(std::vector<PyType_Slot>& slots, std::index_sequence<Rows...>) {
  (add_slots<kOps[Rows].op>(slots), ...);
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

// With `out=` the caller gets that very object back, as from NumPy.
nb::object finish(Array result, nb::handle out) {
  if (out.is_none()) return wrap(std::move(result));
  return nb::borrow(PyTuple_Check(out.ptr()) ? nb::handle(PyTuple_GET_ITEM(out.ptr(), 0)) : out);
}

template <std::size_t Count>
nb::object call_operation(Op op, const nb::handle (&operands)[Count], nb::handle out,
                          nb::handle dtype) {
  Operand kept[Count];
  OperandRef refs[Count];
  bool any = false;
  const Array* beside = nullptr;  // the last one: the first of `where` is its condition
  for (nb::handle object : operands)
    if (const Array* array = as_array(object)) beside = array;
  for (std::size_t k = 0; k < Count; ++k) {
    if (const Array* array = as_array(operands[k])) {
      refs[k] = *array;
    } else {
      kept[k] = beside ? operand_beside(op, *beside, operands[k]) : require_operand(operands[k]);
      refs[k] = kept[k];
    }
    any = any || refs[k].array;
  }
  if (any && out.is_none() && dtype.is_none()) return wrap(run(op, refs));
  Array target = to_out(out);
  std::optional<DType> type = to_optional_dtype(dtype);
  return finish(without_gil([&] {
                  if (!any && !target) {
                    kept[0] = as_some_array(kept[0]);
                    refs[0] = kept[0];
                  }
                  return apply(op, std::span<const OperandRef>(refs), target, type);
                }),
                out);
}

void bind_operation(nb::module_& m, const OpInfo& row, const std::string& name) {
  using nb::arg, nb::handle, nb::none;
  Op op = row.op;
  switch (row.arity()) {
    case 1:
      m.def(
          name.c_str(),
          [op](handle x, handle out, handle dtype) { return call_operation(op, {x}, out, dtype); },
          arg("x"), arg("out").none() = none(), nb::kw_only(), arg("dtype").none() = none());
      break;
    case 2:
      m.def(
          name.c_str(),
          [op](handle x1, handle x2, handle out, handle dtype) {
            return call_operation(op, {x1, x2}, out, dtype);
          },
          arg("x1"), arg("x2"), arg("out").none() = none(), nb::kw_only(),
          arg("dtype").none() = none());
      break;
    default:
      m.def(
          name.c_str(),
          [op](handle x, handle y, handle z, handle out, handle dtype) {
            return call_operation(op, {x, y, z}, out, dtype);
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

void add_operator_slots(std::vector<PyType_Slot>& slots) {
  add_slots_of_rows(slots, std::make_index_sequence<std::size(kOps)>());
  slots.push_back(slot(Py_tp_richcompare, compare_slot));
}

void bind_operators(nb::class_<Array>& cls) {
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
    Operand operand = require_value(value, out.dtype());
    without_gil([&] { copy_into(out, operand); });
  });
  m.attr("_operation_aliases") = aliases;
  m.attr("operations") = nb::tuple(operations);
  m.attr("reductions") = nb::tuple(reduction_names);
}

}  // namespace td::python
