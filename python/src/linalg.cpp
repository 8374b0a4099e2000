// Decompositions of stacks of matrices; treadle/linalg.py adds NumPy's conveniences.
#include "bind.h"

namespace td::python {
namespace {

const Array& matrix_of(nb::handle object, const char* function) {
  return to_array(object, function);
}

nb::object optional(Array array) { return array ? wrap(std::move(array)) : nb::none(); }

nb::tuple call_lu(nb::handle a) {
  const Array& x = matrix_of(a, "the argument of linalg");
  linalg::LU lu = without_gil([&] { return linalg::lu(x); });
  return nb::make_tuple(wrap(lu.factors), wrap(lu.pivots));
}

nb::object call_solve(nb::handle a, nb::handle b) {
  const Array& x = matrix_of(a, "the first argument of linalg.solve");
  const Array& y = matrix_of(b, "the second argument of linalg.solve");
  return wrap(without_gil([&] { return linalg::solve(x, y); }));
}

nb::object call_inv(nb::handle a, bool nan_where_singular) {
  const Array& x = matrix_of(a, "the argument of linalg.inv");
  return wrap(without_gil([&] { return linalg::inv(x, nan_where_singular); }));
}

nb::object call_cholesky(nb::handle a, bool upper) {
  const Array& x = matrix_of(a, "the argument of linalg.cholesky");
  return wrap(without_gil([&] { return linalg::cholesky(x, upper); }));
}

nb::object call_qr(nb::handle a, const std::string& mode) {
  const Array& x = matrix_of(a, "the argument of linalg.qr");
  if (mode == "r") return wrap(without_gil([&] { return linalg::qr_r(x); }));
  if (mode == "raw") {
    linalg::PackedQR raw = without_gil([&] { return linalg::qr_packed(x); });
    return nb::make_tuple(wrap(raw.packed), wrap(raw.tau));
  }
  linalg::QR qr = without_gil([&] { return linalg::qr(x, mode == "complete"); });
  return nb::make_tuple(wrap(qr.q), wrap(qr.r));
}

nb::tuple call_svd(nb::handle a, bool vectors, bool complete) {
  const Array& x = matrix_of(a, "the argument of linalg.svd");
  using linalg::Vectors;
  Vectors wanted = !vectors ? Vectors::none : complete ? Vectors::complete : Vectors::reduced;
  linalg::SVD svd = without_gil([&] { return linalg::svd(x, wanted); });
  return nb::make_tuple(optional(svd.u), wrap(svd.s), optional(svd.vh));
}

nb::tuple pair(linalg::Eigh result) { return nb::make_tuple(wrap(result.w), optional(result.v)); }

nb::tuple call_eigh(nb::handle a, bool upper, bool vectors) {
  const Array& x = matrix_of(a, "the argument of linalg.eigh");
  return pair(without_gil([&] { return linalg::eigh(x, upper, vectors); }));
}

nb::tuple call_eig(nb::handle a, bool vectors) {
  const Array& x = matrix_of(a, "the argument of linalg.eig");
  return pair(without_gil([&] { return linalg::eig(x, vectors); }));
}

nb::object call_diagonal(nb::handle a, std::int64_t offset) {
  return wrap(linalg::diagonal(matrix_of(a, "the argument of diagonal"), offset));
}

}  // namespace

void bind_linalg(nb::module_& m) {
  m.def("_linalg_lu", call_lu);
  m.def("_linalg_solve", call_solve);
  m.def("_linalg_inv", call_inv);
  m.def("_linalg_cholesky", call_cholesky);
  m.def("_linalg_qr", call_qr);
  m.def("_linalg_svd", call_svd);
  m.def("_linalg_eigh", call_eigh);
  m.def("_linalg_eig", call_eig);
  m.def("_linalg_diagonal", call_diagonal);
}

}  // namespace td::python
