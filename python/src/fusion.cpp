// Lazy fusion: the switch, the plan and the log of generated kernels, as plain dictionaries.
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "treadle/fusion.h"
#include "treadle/precision.h"

namespace td::python {
namespace {

nb::list as_dictionaries(const std::vector<PlannedKernel>& kernels) {
  nb::list rows;
  for (const PlannedKernel& kernel : kernels) {
    nb::dict row;
    row["kind"] = kernel.kind;
    row["shape"] = nb::list(to_tuple(kernel.shape));
    row["operations"] = nb::cast(kernel.operations);
    row["reads"] = kernel.reads;
    row["writes"] = kernel.writes;
    row["bytes_read"] = kernel.bytes_read;
    row["bytes_written"] = kernel.bytes_written;
    row["cut"] = kernel.cut;
    row["wanted"] = kernel.wanted;
    rows.append(row);
  }
  return rows;
}

}  // namespace

void bind_fusion(nb::module_& m) {
  m.def("_fusion", &fusion);
  m.def("_set_fusion", &set_fusion);
  m.def("_background_compiles", &background_compiles);
  m.def("_set_background_compiles", &set_background_compiles);
  m.def("_wait_for_compiles", [] { without_gil([] { wait_for_compiles(); }); });
  m.def("_tf32", &tf32);
  m.def("_set_tf32", &set_tf32);
  m.def("_explain",
        [](const std::vector<Array>& arrays) { return as_dictionaries(explain(arrays)); });
  m.def("_log_kernels", &log_kernels);
  m.def("_take_logged_kernels", [] { return as_dictionaries(take_logged_kernels()); });
  m.def("_generated_launches", &generated_launches);
}

}  // namespace td::python
