// Facts and settings of devices that CUDA's runtime API has functions for.
#pragma once

#include <string>

#include "treadle/device.h"

namespace [[gnu::visibility("default")]] td {

bool can_access_peer(const Device& device, const Device& peer);
// "0000:3b:00.0".
std::string pci_bus_id(const Device& device);
// The device with this PCI bus id among those that can be opened. ValueError when there is none.
Device device_from_pci_bus_id(const std::string& id);
// 1000 * major + 10 * minor of the CUDA version that the device's driver has.
int driver_version(const Device& device);
// Tells a profiler that watches the process to begin and to end.
void profiler_start(const Device& device);
void profiler_stop(const Device& device);

}  // namespace td
