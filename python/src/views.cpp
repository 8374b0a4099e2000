// Views laid out by hand, and DLPack capsules of others.
#include <nanobind/ndarray.h>

#include "bind.h"

namespace td::python {
namespace {

// The two layouts that a capsule of the DLPack protocol may hold.
struct Managed {
  nb::dlpack::dltensor tensor;
  void* context;
  void (*deleter)(Managed*);
};
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;  // bit 0: read-only
  nb::dlpack::dltensor tensor;
};

DType dtype_of(const nb::dlpack::dtype& type) {
  if (type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat) && type.bits == 16 &&
      type.lanes == 1)
    return DType::bfloat16;
  constexpr const char* kKinds = "iuf  cb";  // by dtype_code
  char kind = type.code < 7 ? kKinds[type.code] : ' ';
  for (const DTypeInfo& row : kDTypes)
    if (type.lanes == 1 && row.kind == kind && row.bytes * 8 == type.bits) return row.dtype;
  throw nb::buffer_error(("from_dlpack: an element type of code " + std::to_string(type.code) +
                          " and " + std::to_string(type.bits) +
                          " bits has no counterpart among the dtypes")
                             .c_str());
}

template <class T>
Array take_over(PyObject* capsule, const char* name, const char* used, const Device& device) {
  auto* managed = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (!managed) throw nb::python_error();
  const nb::dlpack::dltensor& tensor = managed->tensor;
  DType dtype = dtype_of(tensor.dtype);
  Shape shape(tensor.shape, tensor.shape + tensor.ndim);
  Strides strides(shape.size());
  std::int64_t packed = static_cast<std::int64_t>(itemsize(dtype));
  for (std::size_t k = shape.size(); k-- > 0;) {
    strides[k] =
        tensor.strides ? tensor.strides[k] * static_cast<std::int64_t>(itemsize(dtype)) : packed;
    packed *= shape[k];
  }
  bool writeable = true;
  if constexpr (std::is_same_v<T, ManagedVersioned>) writeable = !(managed->flags & 1);
  PyCapsule_SetName(capsule, used);
  std::shared_ptr<void> owner(managed, [](void* p) {
    auto* m = static_cast<T*>(p);
    if (m->deleter) m->deleter(m);
  });
  return foreign_array(device, reinterpret_cast<std::uint64_t>(tensor.data) + tensor.byte_offset,
                       shape, strides, dtype, std::move(owner), writeable);
}

Array from_capsule(nb::handle capsule, const Device& device) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned"))
    return take_over<ManagedVersioned>(capsule.ptr(), "dltensor_versioned",
                                       "used_dltensor_versioned", device);
  return take_over<Managed>(capsule.ptr(), "dltensor", "used_dltensor", device);
}

Array view(const Array& x, nb::handle shape, nb::handle strides, std::int64_t offset,
           nb::handle dtype, bool writeable) {
  return view_from(
      x, strided_view(x, to_shape(shape), to_shape(strides), offset, to_dtype(dtype), writeable));
}

}  // namespace

void bind_views(nb::module_& m) {
  using nb::arg;
  m.def("_strided_view", view, arg("x"), arg("shape"), arg("strides"), arg("offset"), arg("dtype"),
        arg("writeable") = true);
  m.def("_real_part", [](const Array& x) { return view_from(x, real_part(x)); });
  m.def("_imag_part", [](const Array& x) { return view_from(x, imag_part(x)); });
  m.def("_may_share_memory", may_share_memory);
  m.def("_from_capsule", from_capsule);
}

}  // namespace td::python
