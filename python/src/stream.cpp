// treadle.cuda.Stream and Event.
#include <nanobind/operators.h>

#include "bind.h"

namespace td::python {
namespace {

thread_local std::vector<Stream> entered;

void make_stream(Stream* self, bool null, bool non_blocking) {
  new (self) Stream(without_gil([&] {
    Device device = Device::current();
    return null ? Stream::default_stream(device) : Stream::create(device, non_blocking);
  }));
}

nb::object enter(nb::object self) {
  const Stream& stream = nb::cast<Stream&>(self);
  without_gil([&] {
    entered.push_back(Stream::current());
    stream.use();
  });
  return self;
}

void leave(const Stream&, nb::args) {
  if (entered.empty())
    throw ValueError("a stream context was left that was not entered in this thread");
  Stream before = entered.back();
  entered.pop_back();
  without_gil([&] { before.use(); });
}

Stream stream_or_current(nb::handle object) {
  if (object.is_none()) return without_gil([] { return Stream::current(); });
  return nb::cast<Stream>(object);
}

Event record(const Stream& stream, nb::handle event) {
  Event target = event.is_none() ? without_gil([&] { return Event::create(stream.device()); })
                                 : nb::cast<Event>(event);
  without_gil([&] { target.record(stream); });
  return target;
}

std::uintptr_t address(void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

void bind_streams(nb::module_& m) {
  nb::class_<Stream> cls(m, "Stream");
  cls.def("__init__", make_stream, nb::arg("null") = false, nb::arg("non_blocking") = false)
      .def("use",
           [](nb::object self) {
             const Stream& s = nb::cast<Stream&>(self);
             without_gil([&] { s.use(); });
             return self;
           })
      .def("__enter__", enter)
      .def("__exit__", leave)
      .def("synchronize", [](const Stream& s) { without_gil([&] { s.synchronize(); }); })
      .def_prop_ro("done", [](const Stream& s) { return without_gil([&] { return s.done(); }); })
      .def("record", record, nb::arg("event").none() = nb::none())
      .def("wait_event", [](const Stream& s, const Event& e) { without_gil([&] { s.wait(e); }); })
      .def_prop_ro("ptr", [](const Stream& s) { return address(s.handle()); })
      .def_prop_ro("device", &Stream::device)
      .def("__cuda_stream__",
           [](const Stream& s) { return nb::make_tuple(0, address(s.handle())); })
      .def("__eq__",
           [](const Stream& a, const Stream& b) {
             return a.handle() == b.handle() && a.device() == b.device();
           })
      .def("__hash__", [](const Stream& s) { return address(s.handle()); });
  nb::setattr(cls, "__module__", nb::str("treadle.cuda"));
  m.def("get_current_stream", [] { return without_gil([] { return Stream::current(); }); });
}

}  // namespace

void bind_stream(nb::module_& m) {
  bind_streams(m);
  nb::class_<Event> cls(m, "Event");
  cls.def(
         "__init__",
         [](Event* self, bool block, bool disable_timing) {
           static_cast<void>(block);  // waiting always blocks
           new (self) Event(
               without_gil([&] { return Event::create(Device::current(), !disable_timing); }));
         },
         nb::arg("block") = false, nb::arg("disable_timing") = false)
      .def(
          "record",
          [](const Event& e, nb::handle stream) {
            Stream s = stream_or_current(stream);
            without_gil([&] { e.record(s); });
          },
          nb::arg("stream").none() = nb::none())
      .def("synchronize", [](const Event& e) { without_gil([&] { e.synchronize(); }); })
      .def_prop_ro("done", [](const Event& e) { return without_gil([&] { return e.done(); }); })
      .def_prop_ro("ptr", [](const Event& e) { return address(e.handle()); })
      .def_prop_ro("device", &Event::device);
  nb::setattr(cls, "__module__", nb::str("treadle.cuda"));
  m.def(
      "get_elapsed_time",
      [](const Event& a, const Event& b) {
        return without_gil([&] { return elapsed_time(a, b); });
      },
      nb::arg("start_event"), nb::arg("end_event"));
}

}  // namespace td::python
