// DType <-> numpy.dtype. NumPy is asked once, when the module is loaded; ml_dtypes, which brings
// bfloat16 and may be absent, when that is first needed.
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
  nb::object bits;
  if (!PyObject_CheckBuffer(scalar)) {  // not one of NumPy's own
    bits = nb::module_::import_("numpy").attr("asarray")(nb::handle(scalar)).attr("tobytes")();
    scalar = bits.ptr();
  }
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

void adopt(DType which, nb::object dtype) {
  auto i = static_cast<std::size_t>(which);
  numpy.scalars[i] = nb::object(dtype.attr("type")).release().ptr();
  numpy.direct[i] = value_behind_header(i);
  numpy.dtypes[i] = dtype.release().ptr();
}

// True for the dtypes that NumPy does not have.
bool is_foreign(DType dtype) { return dtype == DType::bfloat16; }

nb::handle foreign_dtype(DType which) {
  auto i = static_cast<std::size_t>(which);
  if (!numpy.dtypes[i]) {
    std::string name(info(which).numpy);
    nb::object scalar;
    try {
      scalar = nb::module_::import_("ml_dtypes").attr(name.c_str());
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_ImportError)) throw;
      std::string text = name +
                         " is a dtype of the package ml_dtypes, which cannot be imported; install "
                         "it: pip install ml_dtypes";
      PyErr_SetString(PyExc_ImportError, text.c_str());
      throw nb::python_error();
    }
    adopt(which, nb::handle(numpy.dtype_class)(scalar));
  }
  return numpy.dtypes[i];
}

}  // namespace

nb::handle numpy_dtype(DType dtype) {
  return is_foreign(dtype) ? foreign_dtype(dtype) : numpy.dtypes[static_cast<std::size_t>(dtype)];
}

DType to_dtype(nb::handle object) {
  if (auto d = find(numpy.dtypes, object.ptr())) return *d;
  if (auto d = find(numpy.scalars, object.ptr())) return *d;
  if (nb::isinstance<nb::str>(object) && nb::cast<std::string>(object) == "bfloat16") {
    foreign_dtype(DType::bfloat16);
    return DType::bfloat16;
  }
  nb::object dtype = nb::handle(numpy.dtype_class)(object);  // Python's own TypeError for nonsense
  std::string name = nb::cast<std::string>(nb::str(dtype.attr("name")));
  for (const DTypeInfo& row : kDTypes)
    if (row.numpy == name && nb::cast<bool>(dtype.attr("isnative"))) {
      if (is_foreign(row.dtype)) foreign_dtype(row.dtype);
      return row.dtype;
    }
  throw TypeError("dtype " + nb::cast<std::string>(nb::str(dtype)) +
                  " has no counterpart on the device; use bool, (u)int8-64, float16/32/64, "
                  "bfloat16 or complex64/128");
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
    if (is_foreign(row.dtype)) continue;
    nb::object dtype = nb::handle(numpy.dtype_class)(nb::str(row.numpy.data(), row.numpy.size()));
    all.append(dtype);
    adopt(row.dtype, dtype);
  }
  m.attr("dtypes") = nb::tuple(all);
  m.def("_dtype", [](nb::object like) { return nb::borrow(numpy_dtype(to_dtype(like))); });
}

}  // namespace td::python
