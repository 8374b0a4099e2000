#include "pointer.h"

namespace td::python {

std::optional<DevicePointer> to_pointer(nb::handle object) {
  if (nb::isinstance<Pointer>(object)) return nb::cast<Pointer&>(object).pointer;
  return {};
}

void bind_pointer(nb::module_& m) {
  nb::class_<Pointer>(m, "DevicePointer")
      .def(
          "__init__",
          [](Pointer* self, std::uint64_t address, std::size_t bytes) {
            new (self) Pointer{DevicePointer{address}, bytes};
          },
          nb::arg("ptr"), nb::arg("nbytes") = 0)
      .def_prop_ro("ptr", [](const Pointer& p) { return p.pointer.address; })
      .def_prop_ro("nbytes", [](const Pointer& p) { return p.bytes; })
      .def("__int__", [](const Pointer& p) { return p.pointer.address; })
      .def(
          "__add__",
          [](const Pointer& p, std::int64_t n) {
            return Pointer{{p.pointer.address + static_cast<std::uint64_t>(n)}, 0};
          },
          nb::is_operator())
      .def(
          "__eq__",
          [](const Pointer& p, nb::handle other) {
            std::optional<DevicePointer> same = to_pointer(other);
            return same && same->address == p.pointer.address;
          },
          nb::is_operator())
      .def("__hash__", [](const Pointer& p) { return p.pointer.address; })
      .def("__repr__", [](const Pointer& p) {
        char text[64];
        std::snprintf(text, sizeof text, "<device address 0x%llx>",
                      static_cast<unsigned long long>(p.pointer.address));
        return nb::str(text);
      });
}

}  // namespace td::python
