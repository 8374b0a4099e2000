// treadle cc.
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "treadle/program.h"

namespace td::python {

void bind_program(nb::module_& m) {
  m.def("_compile_program", [](const std::vector<std::string>& arguments) {
    return without_gil([&] { return compile_program(arguments); });
  });
}

}  // namespace td::python
