"""Clock rates, power and temperature of a GPU, read through NVML, NVIDIA's management library.

The library comes with the driver and is opened at run time. Where it is absent, or does not know the device (the
software device is none of its devices), there are no conditions, and `Watch.problem` says why. Reading needs no rights
and changes nothing. Names and numbers are those of the NVML API reference.
"""

import ctypes
import time
from typing import NamedTuple

__all__ = ["THROTTLING", "Conditions", "Watch"]

_SM, _MEMORY = 1, 2  # nvmlClockType_t
_GPU_CORE = 0  # nvmlTemperatureSensors_t
_OLDEST = 0.005  # seconds that a reading holds: asking more often would cost more than the samples

# nvmlClocksEventReasons: those that slow the work down
THROTTLING = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "temperature (software)",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}


class Conditions(NamedTuple):
    """One reading. What a device does not tell is None."""

    sm_mhz: int | None
    memory_mhz: int | None
    default_sm_mhz: int | None
    power_w: float | None
    temperature_c: int | None
    reasons: int | None

    @property
    def fraction(self):
        """The clock of the multiprocessors over its default; None when one of them is unknown."""
        if not self.sm_mhz or not self.default_sm_mhz:
            return None
        return self.sm_mhz / self.default_sm_mhz

    @property
    def throttled(self):
        """Why the device runs slower than it could, in words; empty when it does not or does not tell."""
        return [text for bit, text in THROTTLING.items() if (self.reasons or 0) & bit]


class Watch:
    """Reads the conditions of the device with a PCI bus id; None each time where that cannot be done."""

    def __init__(self, pci_bus_id, library=None, now=time.perf_counter):
        self.problem, self._handle, self._now = "", ctypes.c_void_p(), now
        self._latest, self._until = None, float("-inf")
        self._nvml = library or _open()
        if self._nvml is None:
            self.problem = "libnvidia-ml.so.1, NVIDIA's management library, was not found"
            return
        result = self._nvml.nvmlInit_v2()
        if result == 0:
            result = self._nvml.nvmlDeviceGetHandleByPciBusId_v2(
                ctypes.c_char_p(pci_bus_id.encode()), ctypes.byref(self._handle)
            )
        if result != 0:
            self.problem = f"NVML does not know the device {pci_bus_id} (error {result})"
            return
        self._default = self._clock("nvmlDeviceGetDefaultApplicationsClock", _SM) or self._clock(
            "nvmlDeviceGetMaxClockInfo", _SM
        )

    def __call__(self):
        if self.problem:
            return None
        if self._now() >= self._until:
            self._latest = self._read()
            self._until = self._now() + _OLDEST
        return self._latest

    def _read(self):
        power = self._number("nvmlDeviceGetPowerUsage", ctypes.c_uint)
        return Conditions(
            self._clock("nvmlDeviceGetClockInfo", _SM),
            self._clock("nvmlDeviceGetClockInfo", _MEMORY),
            self._default,
            None if power is None else power / 1000,
            self._number("nvmlDeviceGetTemperature", ctypes.c_uint, ctypes.c_int(_GPU_CORE)),
            self._number("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong),
        )

    def _clock(self, function, kind):
        return self._number(function, ctypes.c_uint, ctypes.c_int(kind))

    def _number(self, function, kind, *more):
        """What a function of the handle writes; None when the library or the device has it not."""
        call = getattr(self._nvml, function, None)
        if call is None:
            return None
        value = kind()
        return value.value if call(self._handle, *more, ctypes.byref(value)) == 0 else None


def _open():
    try:
        return ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
