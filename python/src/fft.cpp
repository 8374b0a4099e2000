// Fourier transforms; treadle/fft.py adds NumPy's conveniences.
#include "bind.h"

namespace td::python {

void bind_fft(nb::module_& m) {
  constexpr const char* what = "the argument of fft";
  m.def("_fft_c2c", [](nb::handle a, nb::handle axes, bool inverse) {
    const Array& x = to_array(a, what);
    Axes list = *to_axes(axes);
    return wrap(without_gil([&] { return fft::c2c(x, list, inverse); }));
  });
  m.def("_fft_r2c", [](nb::handle a, int axis) {
    const Array& x = to_array(a, what);
    return wrap(without_gil([&] { return fft::r2c(x, axis); }));
  });
  m.def("_fft_c2r", [](nb::handle a, std::int64_t n, int axis) {
    const Array& x = to_array(a, what);
    return wrap(without_gil([&] { return fft::c2r(x, n, axis); }));
  });
  m.def("_fft_resized", [](nb::handle a, std::int64_t n, int axis) {
    const Array& x = to_array(a, what);
    return wrap(without_gil([&] { return fft::resized(x, n, axis); }));
  });
}

}  // namespace td::python
