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

std::int64_t index_value(PyObject* object) {
  Py_ssize_t value = PyNumber_AsSsize_t(object, PyExc_IndexError);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

Slice to_slice(PyObject* object) {
  auto* slice = reinterpret_cast<PySliceObject*>(object);
  return {slice_part(slice->start), slice_part(slice->stop), slice_part(slice->step)};
}

// The commonest keys: one integer of Python, one slice.
std::optional<IndexItem> to_basic_item(nb::handle key) {
  if (PySlice_Check(key.ptr())) return to_slice(key.ptr());
  if (PyLong_CheckExact(key.ptr())) return index_value(key.ptr());
  return {};
}

AnyIndexItem to_item(nb::handle object) {
  PyObject* o = object.ptr();
  if (PySlice_Check(o)) return to_slice(o);
  if (o == Py_None) return NewAxis{};
  if (o == Py_Ellipsis) return Ellipsis{};
  if (PyBool_Check(o)) return o == Py_True;
  if (const Array* array = as_array(object)) return *array;
  if (PyFloat_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) refuse(object);
  if (PyIndex_Check(o) && !nb::hasattr(object, "__len__")) return index_value(o);
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

namespace {

const char* const kSelf = "the indexed object";

nb::object get_item(const Array& array, nb::handle key) {
  if (auto item = to_basic_item(key)) return wrap(view_from(array, array.index({&*item, 1})));
  std::vector<AnyIndexItem> items = to_items(key);
  if (!is_advanced(items)) return wrap(view_from(array, get(array, items)));
  return wrap(without_gil([&] { return get(array, items); }));
}

nb::object set_item(const Array& array, nb::handle key, nb::handle value) {
  if (!value.is_valid()) throw ValueError("cannot delete array elements");
  std::vector<AnyIndexItem> items = to_items(key);
  Operand operand = to_value(array, value);
  without_gil([&] { set(array, items, operand); });
  return nb::none();
}

PyObject* subscript_slot(PyObject* self, PyObject* key) {
  return answer([&] { return get_item(to_array(self, kSelf), key); });
}

// As Python's sequences, for reversed(x).
PyObject* item_slot(PyObject* self, Py_ssize_t place) {
  return answer([&] { return get_item(to_array(self, kSelf), nb::int_(place)); });
}

// `value` is null in `del x[key]`.
int assign_slot(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* done = answer([&] { return set_item(to_array(self, kSelf), key, value); });
  Py_XDECREF(done);
  return done ? 0 : -1;
}

}  // namespace

void add_index_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back(slot(Py_mp_subscript, subscript_slot));
  slots.push_back(slot(Py_mp_ass_subscript, assign_slot));
  slots.push_back(slot(Py_sq_item, item_slot));
}

}  // namespace td::python
