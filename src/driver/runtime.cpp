#include "treadle/runtime.h"

#include <cctype>

#include "base/text.h"
#include "driver/state.h"

namespace td {

namespace {

driver::DeviceState& ready(const Device& device) {
  device.state()->make_current();
  return *device.state();
}

}  // namespace

bool can_access_peer(const Device& device, const Device& peer) {
  if (device == peer || &device.state()->provider() != &peer.state()->provider()) return false;
  int can = 0;
  TD_CALL(*device.state(), cuDeviceCanAccessPeer, &can, device.state()->handle(),
          peer.state()->handle());
  return can != 0;
}

std::string pci_bus_id(const Device& device) {
  char text[64] = {};
  TD_CALL(*device.state(), cuDeviceGetPCIBusId, text, sizeof text, device.state()->handle());
  return text;
}

Device device_from_pci_bus_id(const std::string& id) {
  auto lower = [](std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  };
  for (const Device& device : Device::all())
    if (lower(pci_bus_id(device)) == lower(id)) return device;
  throw ValueError(base::cat("no device has the PCI bus id '", id, "'"));
}

int driver_version(const Device& device) {
  int version = 0;
  TD_CALL(*device.state(), cuDriverGetVersion, &version);
  return version;
}

void profiler_start(const Device& device) { TD_CALL(ready(device), cuProfilerStart); }
void profiler_stop(const Device& device) { TD_CALL(ready(device), cuProfilerStop); }

}  // namespace td
