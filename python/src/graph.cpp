// treadle.cuda: captured streams and their graphs.
#include "treadle/graph.h"

#include "bind.h"

namespace td::python {
namespace {

Stream stream_or_current(nb::handle object) {
  if (object.is_none()) return without_gil([] { return Stream::current(); });
  return nb::cast<Stream>(object);
}

std::uintptr_t address(void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

}  // namespace

void bind_graph(nb::module_& m) {
  nb::class_<Graph> cls(m, "Graph");
  cls.def(
         "launch",
         [](const Graph& g, nb::handle stream) {
           Stream s = stream_or_current(stream);
           without_gil([&] { g.launch(s); });
         },
         nb::arg("stream").none() = nb::none())
      .def(
          "upload",
          [](const Graph& g, nb::handle stream) {
            Stream s = stream_or_current(stream);
            without_gil([&] { g.upload(s); });
          },
          nb::arg("stream").none() = nb::none())
      .def_prop_ro("graph", [](const Graph& g) { return address(g.handle()); })
      .def_prop_ro("graphExec", [](const Graph& g) { return address(g.exec_handle()); })
      .def_prop_ro("node_count",
                   [](const Graph& g) { return without_gil([&] { return g.node_count(); }); });
  nb::setattr(cls, "__module__", nb::str("treadle.cuda"));
  m.def("_begin_capture", [](const Stream& s, int mode) {
    without_gil([&] { begin_capture(s, static_cast<CaptureMode>(mode)); });
  });
  m.def("_end_capture",
        [](const Stream& s) { return without_gil([&] { return end_capture(s); }); });
  m.def("_is_capturing",
        [](const Stream& s) { return without_gil([&] { return is_capturing(s); }); });
}

}  // namespace td::python
