// treadle.cuda.Stream and Event.
#include <nanobind/operators.h>

#include "bind.h"
#include "treadle/graph.h"

namespace td::python {
namespace {

thread_local std::vector<Stream> entered;

struct ExternalStream : Stream {};

void make_stream(Stream* self, bool null, bool non_blocking, bool ptds,
                 std::optional<int> priority) {
  if (null + ptds + non_blocking > 1)
    throw ValueError("Stream: only one of null, ptds and non_blocking can be asked for");
  if ((null || ptds) && priority)
    throw ValueError("Stream: only a new stream can be given a priority");
  new (self) Stream(without_gil([&] {
    Device device = Device::current();
    return null   ? Stream::default_stream(device)
           : ptds ? per_thread_stream(device)
                  : create_stream(device, non_blocking, priority.value_or(0));
  }));
}

void make_external(ExternalStream* self, std::uintptr_t ptr, int device_id, nb::object owner) {
  std::shared_ptr<void> kept = owner.is_none() ? nullptr : python_owner(std::move(owner));
  Stream stream = without_gil([&] {
    std::string name = Device::current().name();
    Device device =
        device_id < 0
            ? Device::current()
            : Device::from_name(name.substr(0, name.find(':') + 1) + std::to_string(device_id));
    return external_stream(device, reinterpret_cast<void*>(ptr), std::move(kept));
  });
  new (self) ExternalStream{stream};
}

// Calls a Python function on a thread of the driver.
void host_function(const Stream& stream, nb::object function, nb::object argument) {
  struct Call {
    PyObject *function, *argument;
    ~Call() {
      if (!Py_IsInitialized()) return;
      nb::gil_scoped_acquire held;
      Py_DECREF(function);
      Py_DECREF(argument);
    }
  };
  auto call = std::make_shared<Call>(function.release().ptr(), argument.release().ptr());
  without_gil([&] {
    launch_host_function(stream, [call] {
      if (!Py_IsInitialized()) return;
      nb::gil_scoped_acquire held;
      try {
        nb::borrow(call->function)(nb::handle(call->argument));
      } catch (nb::python_error& error) {
        error.discard_as_unraisable(call->function);
      }
    });
  });
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
  cls.def("__init__", make_stream, nb::arg("null") = false, nb::arg("non_blocking") = false,
          nb::arg("ptds") = false, nb::arg("priority").none() = nb::none())
      .def_prop_ro_static(
          "null",
          [](nb::handle) {
            return without_gil([] { return Stream::default_stream(Device::current()); });
          })
      .def_prop_ro_static("ptds",
                          [](nb::handle) {
                            return without_gil([] { return per_thread_stream(Device::current()); });
                          })
      .def("_launch_host_func", host_function, nb::arg("callback"), nb::arg("arg").none())
      .def_prop_ro("priority",
                   [](const Stream& s) { return without_gil([&] { return priority(s); }); })
      .def_prop_ro("non_blocking",
                   [](const Stream& s) { return without_gil([&] { return non_blocking(s); }); })
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
      .def_prop_ro("device_id", [](const Stream& s) { return s.device().ordinal(); })
      .def("__cuda_stream__",
           [](const Stream& s) { return nb::make_tuple(0, address(s.handle())); })
      .def(
          "__eq__",
          [](const Stream& a, const Stream& b) {
            return a.handle() == b.handle() && a.device() == b.device();
          },
          nb::is_operator())  // NotImplemented for another type
      .def("__hash__", [](const Stream& s) { return address(s.handle()); });
  nb::setattr(cls, "__module__", nb::str("treadle.cuda"));
  nb::class_<ExternalStream, Stream> external(m, "ExternalStream");
  external.def("__init__", make_external, nb::arg("ptr"), nb::arg("device_id") = -1,
               nb::arg("_owner").none() = nb::none());
  nb::setattr(external, "__module__", nb::str("treadle.cuda"));
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
