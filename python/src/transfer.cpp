// Explicit copies between host and device, and DLPack.
#include <nanobind/ndarray.h>

#include "bind.h"

namespace td::python {
namespace {

// A NumPy array's memory through the buffer protocol, released on scope exit.
class HostView {
 public:
  // NumPy describes no bfloat16 to others: its bits are taken.
  HostView(nb::handle array, DType dtype, bool writable) {
    nb::object object = nb::borrow(array);
    if (dtype == DType::bfloat16) object = array.attr("view")("uint16");
    if (PyObject_GetBuffer(object.ptr(), &view_, writable ? PyBUF_STRIDED : PyBUF_STRIDED_RO) != 0)
      throw nb::python_error();
    shape.assign(view_.shape, view_.shape + view_.ndim);
    strides.assign(view_.strides, view_.strides + view_.ndim);
  }
  ~HostView() { PyBuffer_Release(&view_); }
  HostView(const HostView&) = delete;
  HostView& operator=(const HostView&) = delete;
  void* data() const { return view_.buf; }
  Shape shape;
  Strides strides;

 private:
  Py_buffer view_;
};

// `host` is a NumPy array of a dtype that the device has.
Array upload(nb::handle host, bool blocking) {
  DType dtype = to_dtype(host.attr("dtype"));
  HostView view(host, dtype, false);
  return without_gil(
      [&] { return from_host(view.data(), view.shape, view.strides, dtype, blocking); });
}

// `host` is a writable NumPy array.
void download(const Array& array, nb::handle host, bool blocking) {
  DType dtype = to_dtype(host.attr("dtype"));
  HostView view(host, dtype, true);
  if (dtype != array.dtype())
    throw TypeError("out has dtype " + std::string(info(dtype).numpy) + ", the array " +
                    std::string(info(array.dtype()).numpy) +
                    "; convert on the device first: asnumpy(x.astype(...))");
  if (view.shape != array.shape()) throw ValueError("out has another shape than the array");
  without_gil([&] { to_host(array, view.data(), view.strides, blocking); });
}

nb::dlpack::dtype dlpack_dtype(DType dtype) {
  const DTypeInfo& row = info(dtype);
  nb::dlpack::dtype_code code = row.kind == 'b'            ? nb::dlpack::dtype_code::Bool
                                : row.kind == 'i'          ? nb::dlpack::dtype_code::Int
                                : row.kind == 'u'          ? nb::dlpack::dtype_code::UInt
                                : dtype == DType::bfloat16 ? nb::dlpack::dtype_code::Bfloat
                                : row.kind == 'f'          ? nb::dlpack::dtype_code::Float
                                                           : nb::dlpack::dtype_code::Complex;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * row.bytes), 1};
}

// The device part of DLPack: memory of the software device is host memory to everybody else.
std::pair<int, int> dlpack_device(const Array& array) {
  Device device = array.device();
  if (device.is_software()) return {nb::device::cpu::value, 0};
  return {nb::device::cuda::value, device.ordinal()};
}

// An object with nanobind's __dlpack__, over the array's own memory. All work on the array has
// finished.
nb::object exporter(nb::handle self) {
  const Array& array = to_array(self, "the exported object");
  std::uint64_t address = without_gil([&] {
    std::uint64_t pointer = array.data();
    Stream::current().synchronize();
    return pointer;
  });
  std::vector<std::size_t> shape(array.shape().begin(), array.shape().end());
  Strides strides;
  for (std::int64_t s : array.strides())
    strides.push_back(s / static_cast<std::int64_t>(itemsize(array.dtype())));
  auto [type, id] = dlpack_device(array);
  auto make = [&]<class Ndarray>(Ndarray*) {
    Ndarray view(reinterpret_cast<void*>(address), shape.size(), shape.data(), self, strides.data(),
                 dlpack_dtype(array.dtype()), type, id);
    return nb::cast(view, nb::rv_policy::reference);
  };
  if (array.writeable()) return make(static_cast<nb::ndarray<nb::array_api>*>(nullptr));
  return make(static_cast<nb::ndarray<nb::array_api, nb::ro>*>(nullptr));
}

nb::object dlpack(nb::handle self, nb::kwargs options) {
  return exporter(self).attr("__dlpack__")(**options);
}

}  // namespace

void bind_transfer(nb::module_& m) {
  m.def("_upload", upload);
  m.def("_download", download);
  m.def("_dlpack", dlpack);
  m.def("_dlpack_device", [](const Array& a) {
    auto [type, id] = dlpack_device(a);
    return nb::make_tuple(type, id);
  });
}

}  // namespace td::python
