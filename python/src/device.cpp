// treadle.cuda.Device.
#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bind.h"

namespace td::python {
namespace {

// Device(), Device(1): number 1 of the current kind; Device("cuda:0").
Device find_device(nb::handle which) {
  if (which.is_none()) return without_gil([] { return Device::current(); });
  if (nb::isinstance<nb::str>(which)) {
    auto name = nb::cast<std::string>(which);
    return without_gil([&] { return Device::from_name(name); });
  }
  if (nb::isinstance<Device>(which)) return nb::cast<Device>(which);
  auto number = nb::cast<std::int64_t>(which);
  return without_gil([&] {
    std::string name = Device::current().name();
    return Device::from_name(name.substr(0, name.find(':') + 1) + std::to_string(number));
  });
}

// `with device:` nests; each thread has its own stack.
thread_local std::vector<Device> entered;

nb::object enter(nb::object self) {
  const Device& device = nb::cast<Device&>(self);
  without_gil([&] {
    entered.push_back(Device::current());
    device.use();
  });
  return self;
}

void leave(const Device&, nb::args) {
  if (entered.empty())
    throw ValueError("a device context was left that was not entered in this thread");
  Device before = entered.back();
  entered.pop_back();
  without_gil([&] { before.use(); });
}

nb::tuple mem_info(const Device& device) {
  MemoryInfo memory = without_gil([&] { return device.memory(); });
  return nb::make_tuple(memory.free, memory.total);
}

std::string capability_digits(const Device& device) {
  auto [major, minor] = without_gil([&] { return device.compute_capability(); });
  return std::to_string(major) + std::to_string(minor);
}

}  // namespace

void bind_device(nb::module_& m) {
  nb::class_<Device> cls(m, "Device");
  cls.def(
         "__init__", [](Device* self, nb::handle which) { new (self) Device(find_device(which)); },
         nb::arg("device").none() = nb::none())
      .def("use", [](const Device& d) { without_gil([&] { d.use(); }); })
      .def("__enter__", enter)
      .def("__exit__", leave)
      .def("synchronize", [](const Device& d) { without_gil([&] { d.synchronize(); }); })
      .def("reset", [](const Device& d) { without_gil([&] { d.reset(); }); })
      .def("attribute", [](const Device& d,
                           int number) { return without_gil([&] { return d.attribute(number); }); })
      .def(
          "limit",
          [](const Device& d, int limit) { return without_gil([&] { return d.limit(limit); }); },
          nb::arg("limit"))
      .def(
          "set_limit",
          [](const Device& d, int limit, std::size_t value) {
            without_gil([&] { d.set_limit(limit, value); });
          },
          nb::arg("limit"), nb::arg("value"))
      .def_prop_ro("id", &Device::ordinal)
      .def_prop_ro("name", &Device::name)
      .def_prop_ro("description",
                   [](const Device& d) { return without_gil([&] { return d.description(); }); })
      .def_prop_ro("evidence", &Device::evidence)
      .def_prop_ro("is_software", &Device::is_software)
      .def_prop_ro("compute_capability", capability_digits)
      .def_prop_ro("mem_info", mem_info)
      .def(nb::self == nb::self)
      .def("__hash__",
           [](const Device& d) { return reinterpret_cast<std::size_t>(d.state().get()); })
      .def("__int__", &Device::ordinal)
      .def("__str__", &Device::name)
      .def("__repr__", [](const Device& d) { return "<treadle.cuda.Device " + d.name() + ">"; });
  nb::setattr(cls, "__module__", nb::str("treadle.cuda"));
  m.def("devices", [] { return without_gil([] { return Device::all(); }); });
}

}  // namespace td::python
