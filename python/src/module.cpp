// treadle._treadle: the extension module. Each line binds one part of the C++ API.
#include "bind.h"

NB_MODULE(_treadle, m) {
  using namespace td::python;
  nb::set_leak_warnings(false);  // arrays of daemon threads outlive the interpreter, rightly
  bind_errors(m);
  bind_dtypes(m);
  bind_device(m);
  bind_stream(m);
  bind_array(m);
  bind_creation(m);
  bind_transfer(m);
  bind_operations(m);
  bind_kernel(m);
  bind_random(m);
  bind_diagnose(m);
}
