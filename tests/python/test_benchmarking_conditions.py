"""Clock rates through a stand-in for NVIDIA's management library."""

import treadle as td
from treadle.benchmarking import counts
from treadle.benchmarking.conditions import Watch


class StandIn:
    """Answers like NVML: a status, and the number behind the last pointer."""

    def __init__(self, sm=1980, default=1980, reasons=0, known=True, power=350_000):
        self.sm, self.default, self.reasons, self.known, self.power = (
            sm,
            default,
            reasons,
            known,
            power,
        )
        self.asked = 0

    def nvmlInit_v2(self):
        return 0

    def nvmlDeviceGetHandleByPciBusId_v2(self, bus_id, handle):
        return 0 if self.known else 6

    def _write(self, pointer, value):
        pointer._obj.value = value or 0
        return 3 if value is None else 0

    def nvmlDeviceGetClockInfo(self, handle, kind, pointer):
        self.asked += 1
        return self._write(pointer, self.sm if kind.value == 1 else 2619)

    def nvmlDeviceGetDefaultApplicationsClock(self, handle, kind, pointer):
        return self._write(pointer, self.default)

    def nvmlDeviceGetMaxClockInfo(self, handle, kind, pointer):
        return self._write(pointer, 1755)

    def nvmlDeviceGetPowerUsage(self, handle, pointer):
        return self._write(pointer, self.power)

    def nvmlDeviceGetTemperature(self, handle, sensor, pointer):
        return self._write(pointer, 41)

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle, pointer):
        return self._write(pointer, self.reasons)


def test_a_reading_has_clocks_power_and_temperature():
    found = Watch("0000:01:00.0", StandIn(sm=990, reasons=0x4 | 0x40))()
    assert found[:5] == (990, 2619, 1980, 350.0, 41)
    assert found.fraction == 0.5 and found.throttled == ["power cap", "temperature (hardware)"]


def test_idle_and_an_applications_own_clock_are_no_throttling():
    assert Watch("x", StandIn(reasons=0x1 | 0x2))().throttled == []


def test_what_a_device_does_not_tell_is_none():
    found = Watch("x", StandIn(power=None, default=None))()
    assert found.power_w is None and found.default_sm_mhz == 1755  # the largest clock in its place
    assert Watch("x", StandIn(sm=None))().fraction is None


def test_readings_are_not_asked_for_faster_than_they_are_worth():
    now, library = [0.0], StandIn()
    watch = Watch("x", library, now=lambda: now[0])
    for _ in range(100):
        watch()
    asked = library.asked
    now[0] = 1.0
    watch()
    assert library.asked == 2 * asked


def test_a_missing_library_or_device_says_so():
    watch = Watch("ffff:00:00.0", StandIn(known=False))
    assert watch() is None and "ffff:00:00.0" in watch.problem


def test_counts_by_the_names_of_the_drivers_functions():
    found = counts.from_calls(
        {
            "cuLaunchKernel": (5, 1, 0),
            "cuLaunchCooperativeKernel": (1, 0, 0),
            "cuMemcpyHtoDAsync": (2, 0, 640),
            "cuMemcpyDtoH": (1, 0, 80),
            "cuMemcpyDtoDAsync": (1, 0, 8),
            "cuMemsetD32Async": (1, 0, 16),
            "cuModuleLoadDataEx": (3, 1, 0),
            "cuGraphLaunch": (2, 0, 0),
            "cuStreamSynchronize": (4, 0, 0),
            "cuEventQuery": (9, 3, 0),
            "math library": (7, 0, 0),
        }
    )
    assert (found.launches, found.graph_launches, found.library_calls) == (5, 2, 7)
    assert (
        found.uploaded_bytes,
        found.downloaded_bytes,
        found.copied_bytes,
        found.filled_bytes,
    ) == (640, 80, 8, 16)
    assert (found.modules_loaded, found.waits, found.failed) == (2, 5, (("cuLaunchKernel", 1),))
    assert not found.nothing and counts.from_calls({"cuEventRecord": (3, 0, 0)}).nothing


def test_counts_of_a_call_on_the_device():
    import numpy as np

    x = td.asarray(np.ones(1000, np.float32), blocking=True)
    (x * 2 + 1).flush()

    def call():
        y = td.empty(500, np.float32)
        y.fill(3)
        td.asnumpy(x * 2 + 1)
        td.asnumpy(y)
        td.asarray(np.ones(250, np.float32), blocking=True)

    found = counts.count(td.cuda.Device(), call)
    assert found.launches >= 1 and found.downloaded_bytes == 6000 and found.uploaded_bytes == 1000
    assert found.waits >= 2 and found.modules_loaded == 0
    assert counts.count(td.cuda.Device(), lambda: None).nothing
    product = td.asarray(np.ones((64, 64), np.float32), blocking=True)
    assert counts.count(td.cuda.Device(), lambda: (product @ product).flush()).library_calls == 1
