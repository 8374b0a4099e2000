// DType <-> numpy.dtype. NumPy is asked once, when the module is loaded.
#include <array>
#include <cstring>

#include "bind.h"

namespace td::python {
namespace {

constexpr std::size_t kCount = std::size(kDTypes);

// References that live as long as the process.
struct NumPy {
  PyObject* dtype_class = nullptr;          // numpy.dtype
  PyObject* generic = nullptr;              // numpy.generic
  std::array<PyObject*, kCount> dtypes{};   // numpy.dtype("float32"), …
  std::array<PyObject*, kCount> scalars{};  // numpy.float32, …
  std::array<bool, kCount> direct{};  // a scalar's value stands right behind its object header
};
NumPy numpy;

std::optional<DType> find(const std::array<PyObject*, kCount>& among, PyObject* object) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (among[i] == object) return static_cast<DType>(i);
  return {};
}

void read_buffer(PyObject* scalar, unsigned char* bytes, std::size_t size) {
  Py_buffer view;
  if (PyObject_GetBuffer(scalar, &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  std::memcpy(bytes, view.buf, std::min(size, static_cast<std::size_t>(view.len)));
  PyBuffer_Release(&view);
}

// NumPy's public C structs put the value right behind the header. Proven for this NumPy, per dtype,
// with a value whose bytes are not zero; a dtype that fails is read through the buffer protocol.
bool value_behind_header(std::size_t i) {
  nb::object one = nb::handle(numpy.scalars[i])(1);
  unsigned char bytes[16] = {};
  read_buffer(one.ptr(), bytes, kDTypes[i].bytes);
  return std::memcmp(bytes, one.ptr() + 1, kDTypes[i].bytes) == 0;
}

}  // namespace

nb::handle numpy_dtype(DType dtype) { return numpy.dtypes[static_cast<std::size_t>(dtype)]; }

DType to_dtype(nb::handle object) {
  if (auto d = find(numpy.dtypes, object.ptr())) return *d;
  if (auto d = find(numpy.scalars, object.ptr())) return *d;
  nb::object dtype = nb::handle(numpy.dtype_class)(object);  // Python's own TypeError for nonsense
  std::string name = nb::cast<std::string>(nb::str(dtype.attr("name")));
  for (const DTypeInfo& row : kDTypes)
    if (row.numpy == name && nb::cast<bool>(dtype.attr("isnative"))) return row.dtype;
  throw TypeError(
      "dtype " + nb::cast<std::string>(nb::str(dtype)) +
      " has no counterpart on the device; use bool, (u)int8-64, float16/32/64 or complex64/128");
}

std::optional<DType> to_optional_dtype(nb::handle object) {
  if (object.is_none()) return {};
  return to_dtype(object);
}

std::optional<DType> numpy_scalar_dtype(nb::handle object) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  if (auto d = find(numpy.scalars, type)) return d;
  // long long and friends: other classes of the same dtype.
  if (!PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(numpy.generic))) return {};
  try {
    return to_dtype(object.attr("dtype"));
  } catch (const std::exception&) {
    return {};
  }
}

std::optional<TypedScalar> to_typed_scalar(nb::handle object) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  if (auto exact = find(numpy.scalars, type);
      exact && numpy.direct[static_cast<std::size_t>(*exact)]) {
    TypedScalar scalar{*exact, {}};
    std::memcpy(scalar.bytes, object.ptr() + 1, itemsize(*exact));
    return scalar;
  }
  std::optional<DType> dtype = numpy_scalar_dtype(object);
  if (!dtype) return {};
  TypedScalar scalar{*dtype, {}};
  read_buffer(object.ptr(), scalar.bytes, itemsize(*dtype));
  return scalar;
}

void bind_dtypes(nb::module_& m) {
  nb::module_ np = nb::module_::import_("numpy");
  numpy.dtype_class = nb::object(np.attr("dtype")).release().ptr();
  numpy.generic = nb::object(np.attr("generic")).release().ptr();
  nb::list all;
  for (const DTypeInfo& row : kDTypes) {
    nb::object dtype = nb::handle(numpy.dtype_class)(nb::str(row.numpy.data(), row.numpy.size()));
    auto i = static_cast<std::size_t>(row.dtype);
    numpy.scalars[i] = nb::object(dtype.attr("type")).release().ptr();
    all.append(dtype);
    numpy.dtypes[i] = dtype.release().ptr();
    numpy.direct[i] = value_behind_header(i);
  }
  m.attr("dtypes") = nb::tuple(all);
}

}  // namespace td::python
