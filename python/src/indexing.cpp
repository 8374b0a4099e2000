// Functions of gather and scatter. Those that NumPy composes of others are in
// python/treadle/_indexing.py.
#include "index.h"

namespace td::python {
namespace {

IndexMode to_mode(const std::string& mode) {
  if (mode == "raise") return IndexMode::raise;
  if (mode == "wrap") return IndexMode::wrap;
  if (mode == "clip") return IndexMode::clip;
  throw ValueError("mode must be one of 'clip', 'raise', or 'wrap' (got '" + mode + "')");
}

Array optional_array(nb::handle object, const char* what) {
  return object.is_none() ? Array() : to_array(object, what);
}

void bind_scatter(nb::module_& m) {
  using nb::arg, nb::handle;
  auto define = [&](const char* name, Scatter op) {
    m.def(
        name,
        [op](const Array& a, handle key, handle value) {
          std::vector<AnyIndexItem> items = to_items(key);
          Operand operand = to_value(a, value);
          without_gil([&] { scatter(op, a, items, operand); });
        },
        arg("a"), arg("indices").none(), arg("value"));
  };
  define("scatter_add", Scatter::add);
  define("scatter_max", Scatter::maximum);
  define("scatter_min", Scatter::minimum);
}

}  // namespace

Array to_index_array(nb::handle host) {
  DType dtype = to_dtype(host.attr("dtype"));
  struct Buffer {
    explicit Buffer(nb::handle object) {
      if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_C_CONTIGUOUS) != 0)
        throw nb::python_error();
    }
    ~Buffer() { PyBuffer_Release(&view); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Py_buffer view;
  } buffer(host);
  const Py_buffer& view = buffer.view;
  Shape shape(view.shape, view.shape + view.ndim);
  Strides strides(view.strides, view.strides + view.ndim);
  return without_gil([&] {
    return dtype == DType::int64
               ? indices_from_host(static_cast<const std::int64_t*>(view.buf), shape)
               : from_host(view.buf, shape, strides, dtype);
  });
}

void bind_indexing(nb::module_& m) {
  using nb::arg, nb::handle, nb::none;
  m.def(
      "_take",
      [](const Array& x, const Array& indices, std::optional<int> axis, const std::string& mode) {
        IndexMode how = to_mode(mode);
        return without_gil([&] { return take(x, indices, axis, how); });
      },
      arg("x"), arg("indices"), arg("axis").none(), arg("mode"));
  m.def("_put",
        [](const Array& x, const Array& indices, const Array& values, const std::string& mode) {
          IndexMode how = to_mode(mode);
          without_gil([&] { put(x, indices, values, how); });
        });
  m.def("_nonzero", [](const Array& x) { return without_gil([&] { return nonzero(x); }); });
  m.def("_place", [](const Array& x, const Array& mask, const Array& values) {
    without_gil([&] { place(x, mask, values); });
  });
  m.def("_diagonal", [](const Array& x, std::int64_t offset, int axis1, int axis2, bool writeable) {
    return view_from(x, diagonal(x, offset, axis1, axis2, writeable));
  });
  m.def("_index_array", to_index_array);
  m.def("_index_range", [](const Array& x) {
    IndexRange range = without_gil([&] { return index_range(x); });
    return nb::make_tuple(range.low, range.high);
  });
  m.def(
      "_bincount",
      [](const Array& x, handle weights, std::int64_t minlength) {
        Array each = optional_array(weights, "weights");
        return without_gil([&] { return bincount(x, each, minlength); });
      },
      arg("x"), arg("weights").none(), arg("minlength"));
  m.def(
      "_histogram",
      [](const Array& x, const Array& edges, bool uniform, handle weights) {
        Array each = optional_array(weights, "weights");
        return without_gil([&] { return histogram(x, edges, uniform, each); });
      },
      arg("x"), arg("edges"), arg("uniform"), arg("weights").none());
  bind_scatter(m);
}

}  // namespace td::python
