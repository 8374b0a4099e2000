"""The clocks of a benchmark: of a device, by events in its stream, and of the host.

A clock is all that `sampling` knows of a device, so that tests can put a made-up one in its place. Its methods:

``now()``            seconds of the host
``wait()``           returns when the device has nothing left to do; raises what its work did wrong
``mark()``           notes a place in the work handed to the device; launches pending array operations first
``passed(mark)``     True when the device is past it
``between(a, b)``    seconds of the device from one mark to another
``delay(seconds)``   keeps the device busy, so that what is handed to it meanwhile runs without gaps
``flush_cache()``    writes more than the last-level cache holds
``reach(mark)``      returns when the device is past it
``count(call)``      what a call asks of the device (`counts.Counts`), or None
``unfinished()``     True when streams that the last count saw, besides the timed one, have work left
``record(call, calls, counts)``  so many calls in a graph (`replays.Replay`); ``counts`` are those of one
``conditions()``     clock rates, power and temperature at this moment, or None when they cannot be read
``upload(array)``, ``empty_like(array)``, ``download(array)``  a host array on the device, memory for one like it,
and its values back on the host, where they can be read when the call returns
``local``            True when work under the clock computes in host memory

A delay is a kernel that reads the device's clock until the time is over. It cannot hang: it waits for no one.
"""

import time

import numpy as np

from .. import _creation, _treadle, cuda
from . import conditions, counts, replays

__all__ = ["DeviceClock", "HostClock"]

_DELAY = r"""
extern "C" __global__ void delay(unsigned long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    __nanosleep(500);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}
"""
_LONGEST_DELAY = 0.5  # seconds
_L2_CACHE_SIZE = 38  # CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE


class DeviceClock:
    """Times of the current device's current stream (or of ``stream``)."""

    local = False

    def __init__(self, stream=None):
        self.device = cuda.Device()
        self.stream = stream
        self.watch = conditions.Watch(self.device.pci_bus_id)
        self._delay = _treadle.RawKernel(_DELAY, "delay")
        self._buffer, self._others = None, []

    now = staticmethod(time.perf_counter)

    @property
    def cache_bytes(self):
        """What the last-level cache of the device holds."""
        return self.device.attribute(_L2_CACHE_SIZE)

    @property
    def flush_bytes(self):
        """What `flush_cache` writes: a quarter more than the cache holds, and never less than 1 MiB."""
        return max(1 << 20, self.cache_bytes * 5 // 4)

    def wait(self):
        self.device.synchronize()

    def wait_for_compiles(self):
        """What was called before has its final kernels from the next call on."""
        _treadle._wait_for_compiles()

    def mark(self):
        event = cuda.Event()
        event.record(self.stream)
        return event

    def passed(self, mark):
        return mark.done

    def reach(self, mark):
        mark.synchronize()

    def count(self, call):
        found = counts.count(self.device, call)
        self._others = counts.other_streams(self.stream or cuda.get_current_stream())
        return found

    def record(self, call, calls, counts):
        return replays.record(call, calls, counts)

    def unfinished(self):
        return any(not stream.done for stream in self._others)

    def between(self, start, end):
        return cuda.get_elapsed_time(start, end) * 1e-3

    def delay(self, seconds):
        if seconds > 0:
            nanoseconds = np.uint64(min(seconds, _LONGEST_DELAY) * 1e9)
            self._delay((1,), (1,), (nanoseconds,), stream=self.stream)

    def flush_cache(self):
        if self._buffer is None:
            self._buffer = cuda.alloc(self.flush_bytes)
        stream = cuda.get_current_stream() if self.stream is None else self.stream
        self._buffer.memset_async(0, self.flush_bytes, stream)

    def release(self):
        """Gives the buffer of `flush_cache` back."""
        self._buffer = None

    def conditions(self):
        return self.watch()

    def upload(self, array):
        return _creation.asarray(array)

    def empty_like(self, array):
        return _creation.empty(array.shape, array.dtype)

    def download(self, array):
        return array.get() if isinstance(array, _treadle.ndarray) else array


class HostClock:
    """Times of functions that compute on the host, as NumPy's do: a call has finished when it returns."""

    local = True

    def __init__(self):
        self._buffer = None

    now = staticmethod(time.perf_counter)
    mark = staticmethod(time.perf_counter)
    cache_bytes = property(lambda self: _host_cache_bytes())
    flush_bytes = property(lambda self: max(1 << 20, self.cache_bytes * 5 // 4))

    def wait(self):
        pass

    def wait_for_compiles(self):
        pass

    def passed(self, mark):
        return False

    def reach(self, mark):
        pass

    def count(self, call):
        call()

    def unfinished(self):
        return False

    def between(self, start, end):
        return end - start

    def delay(self, seconds):
        pass

    def flush_cache(self):
        if self._buffer is None:
            self._buffer = np.empty(self.flush_bytes, np.uint8)
        self._buffer.fill(0)

    def release(self):
        """Gives the buffer of `flush_cache` back."""
        self._buffer = None

    def conditions(self):
        return None

    def upload(self, array):
        return array

    def empty_like(self, array):
        return np.empty_like(array)

    def download(self, array):
        return array


def _host_cache_bytes():
    """The largest cache of the first core, from /sys; 32 MiB where that cannot be read."""
    from pathlib import Path

    sizes = []
    for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        try:
            text = file.read_text().strip()
        except OSError:
            continue
        unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
        digits = text.rstrip("KMG")
        if digits.isdigit():
            sizes.append(int(digits) * unit)
    return max(sizes, default=32 << 20)
