// Functions that make arrays on the current device.

#include "bind.h"

namespace td::python {
namespace {

DType dtype_or(nb::handle object, DType fallback) {
  return object.is_none() ? fallback : to_dtype(object);
}

Array make_empty(nb::object shape, nb::object dtype, const std::string& order) {
  if (order != "C" && order != "F")
    throw ValueError("order must be 'C' or 'F', not '" + order + "'");
  Shape dims = to_shape(shape);
  DType d = dtype_or(dtype, DType::float64);
  return without_gil([&] { return empty(dims, d, order[0]); });
}

template <Array (*make)(const Shape&, DType)>
Array make_constant(nb::object shape, nb::object dtype, const std::string& order) {
  Shape dims = to_shape(shape);
  DType d = dtype_or(dtype, DType::float64);
  if (order == "C") return without_gil([&] { return make(dims, d); });
  if (order != "F") throw ValueError("order must be 'C' or 'F', not '" + order + "'");
  return without_gil([&] {
    Shape reversed(dims.rbegin(), dims.rend());
    return make(reversed, d).T();
  });
}

// The dtype that NumPy gives a scalar of this kind.
DType scalar_dtype(const Scalar& value) {
  constexpr DType kinds[] = {DType::bool_, DType::int64, DType::uint64, DType::float64,
                             DType::complex128};
  return kinds[value.index()];
}

Array make_full(nb::object shape, nb::object value, nb::object dtype) {
  Shape dims = to_shape(shape);
  Operand operand =
      dtype.is_none() ? require_operand(value) : require_value(value, to_dtype(dtype));
  if (auto* scalar = std::get_if<Scalar>(&operand)) {
    DType d = dtype_or(dtype, scalar_dtype(*scalar));
    return without_gil([&] { return full(dims, *scalar, d); });
  }
  const Array& source = std::get<Array>(operand);
  DType d = dtype_or(dtype, source.dtype());
  return without_gil([&] {
    Array result = empty(dims, d);
    copy_into(result, operand);
    return result;
  });
}

// Python ints stay exact modulo 2^64; everything else goes through double.
Array make_sequence(nb::handle start, nb::handle step, std::int64_t count, nb::object dtype) {
  DType d = to_dtype(dtype);
  if (PyLong_Check(start.ptr()) && PyLong_Check(step.ptr())) {
    auto first = static_cast<std::int64_t>(PyLong_AsUnsignedLongLongMask(start.ptr()));
    auto each = static_cast<std::int64_t>(PyLong_AsUnsignedLongLongMask(step.ptr()));
    return without_gil([&] { return sequence(first, each, count, d); });
  }
  auto first = nb::cast<double>(start), each = nb::cast<double>(step);
  return without_gil([&] { return sequence(first, each, count, d); });
}

Array make_linspace(double start, double stop, std::int64_t num, bool endpoint, nb::object dtype) {
  DType d = dtype_or(dtype, DType::float64);
  return without_gil([&] { return linspace(start, stop, num, endpoint, d); });
}

Array make_eye(std::int64_t n, std::optional<std::int64_t> m, std::int64_t k, nb::object dtype) {
  DType d = dtype_or(dtype, DType::float64);
  return without_gil([&] { return eye(n, m.value_or(n), k, d); });
}

}  // namespace

void bind_creation(nb::module_& m) {
  using nb::arg;
  m.def("empty", make_empty, arg("shape"), arg("dtype") = nb::none(), arg("order") = "C");
  m.def("zeros", make_constant<zeros>, arg("shape"), arg("dtype") = nb::none(), arg("order") = "C");
  m.def("ones", make_constant<ones>, arg("shape"), arg("dtype") = nb::none(), arg("order") = "C");
  m.def("full", make_full, arg("shape"), arg("fill_value"), arg("dtype") = nb::none());
  m.def("_sequence", make_sequence);
  m.def("linspace", make_linspace, arg("start"), arg("stop"), arg("num") = 50,
        arg("endpoint") = true, arg("dtype") = nb::none());
  m.def("eye", make_eye, arg("N"), arg("M") = nb::none(), arg("k") = 0, arg("dtype") = nb::none());
}

}  // namespace td::python
