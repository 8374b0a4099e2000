// treadle.ndarray: attributes, views and conversions. Indexing is in index.cpp, operators in
// operators.cpp.
#include "bind.h"
#include "treadle/views.h"

namespace td::python {
namespace {

std::uint64_t address(const Array& array) {
  return without_gil([&] { return array.data(); });
}

// The current stream of a device, which may be another than the current one.
Stream stream_of(const Device& device) {
  Device before = Device::current();
  if (device == before) return Stream::current();
  device.use();
  Stream found = Stream::current();
  before.use();
  return found;
}

// The facts of the CUDA array interface, version 3, for work of the current stream of its device.
nb::dict interface_facts(const Array& array) {
  nb::dict result;
  result["shape"] = to_tuple(array.shape());
  result["typestr"] = numpy_dtype(array.dtype()).attr("str");
  result["data"] = nb::make_tuple(address(array), !array.writeable());
  result["strides"] =
      array.c_contiguous() ? nb::object(nb::none()) : nb::object(to_tuple(array.strides()));
  void* handle = without_gil([&] { return stream_of(array.device()).handle(); });
  auto stream = reinterpret_cast<std::uintptr_t>(handle);
  result["stream"] = stream == 0 ? std::uintptr_t{1} : stream;
  result["version"] = 3;
  return result;
}

// Absent on the software device: its addresses are not CUDA memory, and other libraries decide by
// the attribute's presence.
nb::dict cuda_array_interface(const Array& array) {
  if (array.device().is_software())
    throw nb::attribute_error("__cuda_array_interface__ exists only for arrays on an NVIDIA GPU");
  return interface_facts(array);
}

nb::object flags(const Array& array) {
  nb::object make = nb::module_::import_("treadle._array").attr("Flags");
  return make(array.c_contiguous(), array.f_contiguous(), array.writeable(),
              source_of(array).is_self);
}

// None for an array that no view was made of, or that views were made of; else that array, or when
// it is gone, a 1-D array of the memory.
nb::object base(const Array& array) {
  ViewSource source = source_of(array);
  if (source.is_self) return nb::none();
  if (source.handle) {
    nb::object found = nb::find(*static_cast<const Array*>(source.handle));
    const Array* owner = found.is_valid() ? as_array(found) : nullptr;
    if (owner && source_of(*owner).is_self && same_storage(*owner, array)) return found;
  }
  return wrap(whole_storage(array));
}

// x.shape = (2, 3): the same memory, read anew.
void set_shape(Array& array, nb::handle shape) {
  Array changed = array.reshape(to_shape(shape));
  if (!same_storage(changed, array))
    throw nb::attribute_error(
        "incompatible shape for in-place modification: the elements would have to move; use "
        "x.reshape(shape)");
  bool is_source = source_of(array).is_self;
  array = std::move(changed);
  if (is_source) remember_source(array, &array);
}

std::int64_t length(const Array& array) {
  if (array.ndim() == 0) throw TypeError("len() of an array without dimensions");
  return array.shape()[0];
}

bool truth(const Array& array) {
  if (array.size() != 1)
    throw ValueError("the truth value of an array with " + std::to_string(array.size()) +
                     " elements is ambiguous; use x.any() or x.all()");
  Scalar value = without_gil([&] { return array.item(); });
  return std::visit([](auto v) { return v != decltype(v){}; }, value);
}

Scalar one_element(const Array& array) {
  if (array.size() != 1)
    throw TypeError("only an array with one element can become a Python number; this one has " +
                    std::to_string(array.size()));
  return without_gil([&] { return array.item(); });
}

nb::object to_float(const Array& array) {
  return nb::steal(PyNumber_Float(to_python(one_element(array)).ptr()));
}

nb::object to_integer(const Array& array) {
  return nb::steal(PyNumber_Long(to_python(one_element(array)).ptr()));
}

nb::object to_index(const Array& array) {
  char kind = info(array.dtype()).kind;
  if (array.ndim() != 0 || (kind != 'i' && kind != 'u'))
    throw TypeError("only an integer array without dimensions can be used as an index");
  return to_python(one_element(array));
}

nb::object to_complex(const Array& array) {
  Scalar value = one_element(array);
  std::complex<double> c = std::visit(
      [](auto v) {
        if constexpr (std::is_same_v<decltype(v), std::complex<double>>)
          return v;
        else
          return std::complex<double>(static_cast<double>(v), 0);
      },
      value);
  return nb::steal(PyComplex_FromDoubles(c.real(), c.imag()));
}

// reshape(2, 3), reshape((2, 3)), reshape(-1).
Array reshape(const Array& array, nb::args args) {
  Shape shape = args.size() == 1 ? to_shape(args[0]) : to_shape(args);
  return view_from(array, without_gil([&] { return array.reshape(shape); }));
}

Array transpose(const Array& array, nb::args args) {
  Axes axes;
  if (args.size() == 1 && !nb::handle(args[0]).is_none())
    axes = *to_axes(args[0]);
  else if (args.size() > 1)
    axes = *to_axes(args);
  return view_from(array, array.transpose(axes));
}

Array astype(const Array& array, nb::object dtype, bool copy) {
  DType target = to_dtype(dtype);
  return without_gil([&] { return array.astype(target, copy); });
}

Array copy(const Array& array, const std::string& order) {
  if (order.size() != 1)
    throw ValueError("order must be one of 'C', 'F', 'A' and 'K', not '" + order + "'");
  return without_gil([&] { return array.copy(order[0]); });
}

void fill(const Array& array, nb::object value) {
  bool host = nb::hasattr(value, "__array_interface__") && nb::hasattr(value, "ndim");
  if (host || nb::isinstance<Array>(value)) {
    if (nb::cast<int>(value.attr("ndim")) != 0)
      throw ValueError("fill takes one value, not an array with dimensions; use x[...] = value");
    if (host) value = value[nb::tuple()];
  }
  Operand operand = require_value(value, array.dtype());
  without_gil([&] {
    if (auto* scalar = std::get_if<Scalar>(&operand))
      array.fill(*scalar);
    else
      copy_into(array, operand);
  });
}

void bind_conversions(nb::class_<Array>& cls) {
  cls.def("_item", [](const Array& a) { return to_python(one_element(a)); })
      .def("__len__", length)
      .def("__bool__", truth)
      .def("__float__", to_float)
      .def("__int__", to_integer)
      .def("__index__", to_index)
      .def("__complex__", to_complex)
      .def("flush", [](const Array& a) { without_gil([&] { a.flush(); }); });
}

void bind_views(nb::class_<Array>& cls) {
  cls.def("_reshape", reshape)
      .def("transpose", transpose)
      .def_prop_ro("T", [](const Array& a) { return view_from(a, a.T()); })
      .def("_astype", astype, nb::arg("dtype"), nb::arg("copy") = true)
      .def("copy", copy, nb::arg("order") = "C")
      .def("fill", fill)
      .def("_broadcast_to", [](const Array& a, nb::object shape) {
        return view_from(a, a.broadcast_to(to_shape(shape)));
      });
}

void bind_attributes(nb::class_<Array>& cls) {
  cls.def_prop_rw(
         "shape", [](const Array& a) { return to_tuple(a.shape()); }, set_shape)
      .def_prop_ro("base", base)
      .def_prop_ro("strides", [](const Array& a) { return to_tuple(a.strides()); })
      .def_prop_ro("dtype", [](const Array& a) { return nb::borrow(numpy_dtype(a.dtype())); })
      .def_prop_ro("ndim", &Array::ndim)
      .def_prop_ro("size", &Array::size)
      .def_prop_ro("nbytes", &Array::nbytes)
      .def_prop_ro("itemsize", [](const Array& a) { return itemsize(a.dtype()); })
      .def_prop_ro("device", &Array::device)
      .def_prop_ro("flags", flags)
      .def_prop_ro("__cuda_array_interface__", cuda_array_interface);
}

PyTypeObject* array_type = nullptr;

}  // namespace

const Array* as_array(nb::handle object) {
  if (Py_TYPE(object.ptr()) != array_type && !PyObject_TypeCheck(object.ptr(), array_type))
    return nullptr;
  return nb::inst_ready(object) ? nb::inst_ptr<Array>(object) : nullptr;
}

nb::object wrap(Array array) {
  nb::object result = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(array_type)));
  new (nb::inst_ptr<Array>(result)) Array(std::move(array));
  nb::inst_mark_ready(result);
  return result;
}

Array view_from(const Array& source, Array view) {
  if (same_storage(source, view) && view.impl() != source.impl()) remember_source(source, &source);
  return view;
}

void bind_array(nb::module_& m) {
  std::vector<PyType_Slot> slots;
  add_operator_slots(slots);
  add_index_slots(slots);
  slots.push_back({0, nullptr});
  nb::class_<Array> cls(m, "ndarray", nb::is_weak_referenceable(), nb::pooled(),
                        nb::type_slots(slots.data()));
  array_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  bind_array_constructor(cls);
  bind_attributes(cls);
  bind_views(cls);
  bind_conversions(cls);
  bind_operators(cls);
  nb::setattr(cls, "__hash__", nb::none());
  nb::setattr(cls, "__module__", nb::str("treadle"));
  m.def("_interface_facts", interface_facts);
  // The same array as an object of a subclass that Python defined.
  m.def("_as_class", [](nb::handle type, const Array& array) {
    nb::object result = nb::inst_alloc(type);
    new (nb::inst_ptr<Array>(result)) Array(view_from(array, array));
    nb::inst_mark_ready(result);
    return result;
  });
}

}  // namespace td::python
