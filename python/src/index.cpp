// Basic indexing: integers, slices, None and Ellipsis, alone or in a tuple. Arrays and lists as
// indices (advanced indexing) are refused by name.
#include "index.h"

namespace td::python {
namespace {

std::optional<std::int64_t> slice_part(PyObject* part) {
  if (part == Py_None) return {};
  Py_ssize_t value = PyNumber_AsSsize_t(part, nullptr);  // clips, as slices do
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

IndexItem to_item(nb::handle object) {
  PyObject* o = object.ptr();
  if (PySlice_Check(o)) {
    auto* slice = reinterpret_cast<PySliceObject*>(o);
    return Slice{slice_part(slice->start), slice_part(slice->stop), slice_part(slice->step)};
  }
  if (o == Py_None) return NewAxis{};
  if (o == Py_Ellipsis) return Ellipsis{};
  if (PyBool_Check(o))
    throw NotSupported("indexing with a boolean is not supported yet; use where(mask, a, b)");
  if (PyFloat_Check(o))
    throw IndexError("an index must be an integer, a slice, None or ..., not " +
                     class_name(object));
  if (!as_array(object) && PyIndex_Check(o) && !nb::hasattr(object, "__len__")) {
    Py_ssize_t value = PyNumber_AsSsize_t(o, PyExc_IndexError);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return std::int64_t{value};
  }
  bool text = PyUnicode_Check(o) || PyBytes_Check(o);
  if (as_array(object) || (nb::hasattr(object, "__len__") && !text))
    throw NotSupported("advanced indexing (with " + class_name(object) +
                       ") is not supported yet; basic indices are integers, slices, None and ...");
  throw IndexError("an index must be an integer, a slice, None or ..., not " + class_name(object));
}

std::vector<IndexItem> to_items(nb::handle key) {
  std::vector<IndexItem> items;
  if (!PyTuple_Check(key.ptr())) {
    items.push_back(to_item(key));
    return items;
  }
  for (nb::handle item : nb::borrow<nb::tuple>(key)) items.push_back(to_item(item));
  return items;
}

}  // namespace

Array get_item(const Array& array, nb::handle key) { return array.index(to_items(key)); }

void set_item(const Array& array, nb::handle key, nb::handle value) {
  std::vector<IndexItem> items = to_items(key);
  Operand operand = require_operand(value);
  without_gil([&] {
    if (auto* source = std::get_if<Array>(&operand))
      array.assign(items, *source);
    else
      copy_into(array.index(items), operand);
  });
}

}  // namespace td::python
