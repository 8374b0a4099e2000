// Shapes, scalars and operands: Python -> C++ and back.
#include <cmath>

#include "bind.h"

namespace td::python {
namespace {

// An integer through __index__; floats and strings are refused by Python's own TypeError.
std::int64_t to_int(nb::handle object) {
  Py_ssize_t value = PyNumber_AsSsize_t(object.ptr(), PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

// Calls `use` with each integer of an int or a sequence of ints.
template <class F>
void each_int(nb::handle object, const F& use) {
  if (PyIndex_Check(object.ptr()) && !as_array(object)) {
    use(to_int(object));
    return;
  }
  nb::object items =
      nb::steal(PySequence_Fast(object.ptr(), "expected an integer or a sequence of integers"));
  if (!items.is_valid()) throw nb::python_error();
  Py_ssize_t n = PySequence_Fast_GET_SIZE(items.ptr());
  for (Py_ssize_t i = 0; i < n; ++i) use(to_int(PySequence_Fast_GET_ITEM(items.ptr(), i)));
}

Scalar int_scalar(PyObject* object) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  if (!overflow) return static_cast<std::int64_t>(value);
  if (overflow > 0) {
    unsigned long long big = PyLong_AsUnsignedLongLong(object);
    if (!PyErr_Occurred()) return static_cast<std::uint64_t>(big);
    PyErr_Clear();
  }
  PyErr_SetString(PyExc_OverflowError,
                  "a Python int that needs more than 64 bits cannot go to the device");
  throw nb::python_error();
}

}  // namespace

Shape to_shape(nb::handle object) {
  if (object.is_none()) throw TypeError("Use () not None as shape arguments");
  Shape shape;
  each_int(object, [&](std::int64_t n) { shape.push_back(n); });
  return shape;
}

std::optional<Axes> to_axes(nb::handle object) {
  if (object.is_none()) return {};
  Axes axes;
  each_int(object, [&](std::int64_t n) { axes.push_back(static_cast<int>(n)); });
  return axes;
}

nb::tuple to_tuple(std::span<const std::int64_t> values) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
  return nb::borrow<nb::tuple>(tuple);
}

std::string class_name(nb::handle object) {
  PyTypeObject* type = Py_TYPE(object.ptr());
  nb::object full = nb::handle(reinterpret_cast<PyObject*>(type)).attr("__module__");
  std::string module = nb::isinstance<nb::str>(full) ? nb::cast<std::string>(nb::str(full)) : "";
  std::string name = type->tp_name;
  if (auto dot = name.rfind('.'); dot != std::string::npos) name = name.substr(dot + 1);
  return module.empty() || module == "builtins" ? name : module + "." + name;
}

const Array& to_array(nb::handle object, const char* what) {
  if (const Array* array = as_array(object)) return *array;
  throw TypeError(std::string(what) + " must be a treadle array, not " + class_name(object) +
                  "; copy host data to the device with treadle.asarray(x)");
}

Array to_out(nb::handle object) {
  if (object.is_none()) return {};
  if (PyTuple_Check(object.ptr()) && PyTuple_GET_SIZE(object.ptr()) == 1)
    return to_out(PyTuple_GET_ITEM(object.ptr(), 0));
  return to_array(object, "out");
}

std::optional<Scalar> to_weak_scalar(nb::handle object) {
  PyObject* o = object.ptr();
  if (PyBool_Check(o)) return Scalar(o == Py_True);
  if (PyLong_Check(o)) return int_scalar(o);
  if (PyFloat_CheckExact(o)) return Scalar(PyFloat_AS_DOUBLE(o));
  if (PyComplex_CheckExact(o)) {
    Py_complex c = PyComplex_AsCComplex(o);
    return Scalar(std::complex<double>(c.real, c.imag));
  }
  // np.float64 is a float and np.complex128 a complex, but both carry their type.
  if (numpy_scalar_dtype(object)) return {};
  if (PyFloat_Check(o)) return Scalar(PyFloat_AS_DOUBLE(o));
  if (PyComplex_Check(o)) {
    Py_complex c = PyComplex_AsCComplex(o);
    return Scalar(std::complex<double>(c.real, c.imag));
  }
  return {};
}

std::optional<Operand> to_operand(nb::handle object) {
  if (const Array* array = as_array(object)) return Operand(*array);
  if (auto scalar = to_weak_scalar(object)) return Operand(*scalar);
  if (auto typed = to_typed_scalar(object))
    return Operand(without_gil([&] { return from_host(typed->bytes, {}, {}, typed->dtype); }));
  return {};
}

Operand require_operand(nb::handle object) {
  if (auto operand = to_operand(object)) return *operand;
  throw TypeError("an operand must be a treadle array or a scalar, not " + class_name(object) +
                  "; copy host data to the device with treadle.asarray(x)");
}

std::optional<double> to_huge_integer(nb::handle object) {
  PyObject* o = object.ptr();
  int overflow = 0;
  if (!PyLong_Check(o) || (PyLong_AsLongLongAndOverflow(o, &overflow), overflow == 0)) return {};
  if (overflow > 0) {
    PyLong_AsUnsignedLongLong(o);
    if (!PyErr_Occurred()) return {};
    PyErr_Clear();
  }
  double value = PyLong_AsDouble(o);
  if (!PyErr_Occurred()) return value;
  PyErr_Clear();
  return overflow > 0 ? HUGE_VAL : -HUGE_VAL;
}

Scalar huge_integer_as(double value, DType dtype) {
  char kind = info(dtype).kind;
  if (kind == 'b') return true;
  if (kind == 'i' || kind == 'u')
    throw OverflowError("a Python integer of more than 64 bits is out of bounds for " +
                        std::string(info(dtype).numpy));
  if (std::isinf(value)) throw OverflowError("int too large to convert to float");
  return value;
}

Operand require_value(nb::handle object, DType dtype) {
  if (auto huge = to_huge_integer(object)) return huge_integer_as(*huge, dtype);
  return require_operand(object);
}

// A store says where the data go, so host data follow it there. Numbers of a list become x's
// dtype on the host, by NumPy's checks; the cast of a NumPy array is the device's.
Operand to_value(const Array& array, nb::handle value) {
  if (auto huge = to_huge_integer(value)) return huge_integer_as(*huge, array.dtype());
  if (auto operand = to_operand(value)) return *operand;
  bool list = PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
  if (!list && !nb::isinstance(value, nb::module_::import_("numpy").attr("ndarray")))
    return require_operand(value);  // throws
  nb::object dtype = list ? nb::borrow(numpy_dtype(array.dtype())) : nb::object(nb::none());
  nb::object make = nb::module_::import_("treadle._creation").attr("asarray");
  return to_array(make(value, nb::arg("dtype") = dtype, nb::arg("device") = array.device()),
                  "value");
}

nb::object to_python(const Scalar& scalar) {
  struct Convert {
    nb::object operator()(bool v) const { return nb::bool_(v); }
    nb::object operator()(std::int64_t v) const { return nb::int_(v); }
    nb::object operator()(std::uint64_t v) const { return nb::int_(v); }
    nb::object operator()(double v) const { return nb::float_(v); }
    nb::object operator()(std::complex<double> v) const {
      return nb::steal(PyComplex_FromDoubles(v.real(), v.imag()));
    }
  };
  return std::visit(Convert{}, scalar);
}

}  // namespace td::python
