// x[key] and x[key] = value: Python's index objects become items of the C++ API. Lists and NumPy
// arrays are index data and go to the device by themselves; their range is found on the host, so
// that nothing has to be waited for.
#include "index.h"

#include <algorithm>

namespace td::python {
namespace {

std::optional<std::int64_t> slice_part(PyObject* part) {
  if (part == Py_None) return {};
  Py_ssize_t value = PyNumber_AsSsize_t(part, nullptr);  // clips, as slices do
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

[[noreturn]] void refuse(nb::handle object) {
  throw IndexError(
      "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
      "boolean "
      "arrays are valid indices, not " +
      class_name(object));
}

// A host list or array as an array of indices or a mask.
AnyIndexItem host_item(nb::handle object) {
  nb::module_ np = nb::module_::import_("numpy");
  nb::object host = np.attr("asarray")(object);
  std::string kind = nb::cast<std::string>(host.attr("dtype").attr("kind"));
  bool is_array = nb::isinstance(object, np.attr("ndarray"));
  bool empty = nb::cast<std::int64_t>(host.attr("size")) == 0;
  if (empty && !is_array) kind = "i";  // [] is a list of no indices
  if (kind != "i" && kind != "u" && kind != "b")
    throw IndexError("arrays used as indices must be of integer (or boolean) type");
  return to_index_array(host.attr("astype")(kind == "b" ? "bool" : "int64", "C"));
}

AnyIndexItem to_item(nb::handle object) {
  PyObject* o = object.ptr();
  if (PySlice_Check(o)) {
    auto* slice = reinterpret_cast<PySliceObject*>(o);
    return Slice{slice_part(slice->start), slice_part(slice->stop), slice_part(slice->step)};
  }
  if (o == Py_None) return NewAxis{};
  if (o == Py_Ellipsis) return Ellipsis{};
  if (PyBool_Check(o)) return o == Py_True;
  if (const Array* array = as_array(object)) return *array;
  if (PyFloat_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) refuse(object);
  if (PyIndex_Check(o) && !nb::hasattr(object, "__len__")) {
    Py_ssize_t value = PyNumber_AsSsize_t(o, PyExc_IndexError);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return std::int64_t{value};
  }
  if (nb::hasattr(object, "__len__") || nb::hasattr(object, "__array_interface__"))
    return host_item(object);
  refuse(object);
}

}  // namespace

std::vector<AnyIndexItem> to_items(nb::handle key) {
  std::vector<AnyIndexItem> items;
  if (!PyTuple_Check(key.ptr())) {
    items.push_back(to_item(key));
    return items;
  }
  for (nb::handle item : nb::borrow<nb::tuple>(key)) items.push_back(to_item(item));
  return items;
}

Array get_item(const Array& array, nb::handle key) {
  std::vector<AnyIndexItem> items = to_items(key);
  if (!is_advanced(items)) return view_from(array, get(array, items));
  return without_gil([&] { return get(array, items); });
}

void set_item(const Array& array, nb::handle key, nb::handle value) {
  std::vector<AnyIndexItem> items = to_items(key);
  Operand operand = to_value(array, value);
  without_gil([&] { set(array, items, operand); });
}

}  // namespace td::python
