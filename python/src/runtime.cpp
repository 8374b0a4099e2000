// What treadle.cuda.runtime asks: peers, versions, the profiler.
#include "treadle/runtime.h"

#include "bind.h"

namespace td::python {

void bind_runtime(nb::module_& m) {
  m.def("_can_access_peer", [](const Device& device, const Device& peer) {
    return without_gil([&] { return can_access_peer(device, peer); });
  });
  m.def("_pci_bus_id",
        [](const Device& device) { return without_gil([&] { return pci_bus_id(device); }); });
  m.def("_device_from_pci_bus_id", [](const std::string& id) {
    return without_gil([&] { return device_from_pci_bus_id(id); });
  });
  m.def("_driver_version",
        [](const Device& device) { return without_gil([&] { return driver_version(device); }); });
  m.def("_profiler_start", [](const Device& d) { without_gil([&] { profiler_start(d); }); });
  m.def("_profiler_stop", [](const Device& d) { without_gil([&] { profiler_stop(d); }); });
}

}  // namespace td::python
