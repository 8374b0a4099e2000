// Scans, sorting and searching: treadle/sorting.h; sliding products: treadle/statistics.h.
#include "treadle/sorting.h"

#include <nanobind/stl/vector.h>

#include "treadle/statistics.h"

#include "bind.h"

namespace td::python {
namespace {

Reduction scan_operation(const std::string& name) {
  for (const ReductionInfo& row : reductions())
    if (row.name == name) return row.reduction;
  throw ValueError("no reduction is called '" + name + "'");
}

nb::object call_scan(const std::string& name, const Array& x, int axis, nb::handle dtype,
                     nb::handle out) {
  Reduction op = scan_operation(name);
  std::optional<DType> type = to_optional_dtype(dtype);
  Array target = to_out(out);
  Array result = without_gil([&] { return scan(op, x, axis, type, target); });
  return out.is_none() ? wrap(std::move(result)) : nb::borrow(out);
}

Array call_search(const Array& sorted, const Array& values, bool right, nb::handle sorter) {
  Array order = sorter.is_none() ? Array() : to_array(sorter, "the sorter of searchsorted");
  return without_gil([&] { return searchsorted(sorted, values, right, order); });
}

}  // namespace

void bind_sorting(nb::module_& m) {
  m.def("_scan", call_scan, nb::arg("name"), nb::arg("x"), nb::arg("axis"),
        nb::arg("dtype").none() = nb::none(), nb::arg("out").none() = nb::none());
  m.def("_sort", [](const Array& x, int axis, bool descending) {
    return without_gil([&] { return sort(x, axis, descending); });
  });
  m.def("_argsort", [](const Array& x, int axis, bool descending) {
    return without_gil([&] { return argsort(x, axis, descending); });
  });
  m.def("_sorted_elements", [](const Array& x, const std::vector<std::int64_t>& places) {
    return without_gil([&] { return sorted_elements(x, places); });
  });
  m.def("_partition", [](const Array& x, std::int64_t place, bool places) {
    return without_gil([&] { return places ? argpartition(x, place) : partition(x, place); });
  });
  m.def("_work_as_if", work_as_if, nb::arg("few_threads").none());
  m.def("_searchsorted", call_search, nb::arg("sorted"), nb::arg("values"), nb::arg("right"),
        nb::arg("sorter").none());
  m.def("_gather", [](const Array& x, const Array& index) {
    return without_gil([&] { return gather(x, index); });
  });
  m.def("_scatter", [](const Array& x, const Array& index) {
    return without_gil([&] { return scatter(x, index); });
  });
  m.def("_sliding_products",
        [](const Array& a, const Array& v, std::int64_t first, std::int64_t count) {
          return without_gil([&] { return sliding_products(a, v, first, count); });
        });
}

}  // namespace td::python
