// The discovery ladder and the facts that tests ask about the process.
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "treadle/diagnose.h"

namespace td::python {

void bind_diagnose(nb::module_& m) {
  m.def("_ladder", [](const std::string& prefix) {
    nb::list result;
    for (const diagnose::Rung& rung : without_gil([&] { return diagnose::ladder(prefix); })) {
      nb::dict row;
      row["name"] = rung.name;
      row["status"] = rung.status;
      row["detail"] = rung.detail;
      result.append(row);
    }
    return result;
  });
  m.def("_compiler_loaded", &diagnose::compiler_loaded);
  m.def("_compile_counts", [] {
    const diagnose::CompileCounts now = diagnose::compile_counts();
    nb::dict counts;
    for (auto [name, row] : {std::pair{"sources", now.sources}, {"objects", now.objects}}) {
      nb::dict places;
      places["compiled"] = row.compiled;
      places["cached"] = row.cached;
      places["ready"] = row.ready;
      counts[name] = places;
    }
    return counts;
  });
  m.def("_set_library_search_path", &diagnose::set_library_search_path);
  m.attr("__version__") = diagnose::version();
}

}  // namespace td::python
