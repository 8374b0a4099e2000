"""How long functions take: on the host, and on the device between two events."""

import contextlib
import functools
import math
import time

import numpy as np

from . import _treadle, cuda

__all__ = ["benchmark", "profile", "time_range"]


class PerfCaseResult:
    """Times of one function in seconds: ``cpu_times`` per call, ``gpu_times`` per device and call.

    ``cpu_times`` are until the work was handed to the device, ``gpu_times`` between an event before and one after
    the call. Printing names the kind of device, so that a software device's time cannot pass for a GPU's.
    """

    def __init__(self, name, cpu_times, gpu_times, devices):
        self.name, self.cpu_times, self.gpu_times, self._devices = (
            name,
            cpu_times,
            gpu_times,
            devices,
        )

    def to_str(self, show_gpu=True):
        """One line: the mean, the deviation, the smallest and the largest, in microseconds."""
        text = f"{self.name:<20}:" + _line("CPU", self.cpu_times)
        if show_gpu:
            for device, times in zip(self._devices, self.gpu_times, strict=True):
                kind = "soft" if device.is_software else "GPU"
                text += "  " + _line(f"{kind}-{device.id}", times)
        return text

    __str__ = to_str

    def __repr__(self):
        return f"<PerfCaseResult {self.to_str()}>"


def _line(label, times):
    us = times * 1e6
    text = f"{label:>9}: {us.mean():9.3f} us"
    if us.size > 1:
        text += f" +/- {us.std():6.3f} (min: {us.min():9.3f} / max: {us.max():9.3f}) us"
    return text


def benchmark(
    func, args=(), kwargs=None, n_repeat=10000, *, name=None, n_warmup=10, max_duration=math.inf, devices=None,
):  # fmt: skip
    """Calls ``func(*args, **kwargs)`` and measures it.

    ``n_warmup`` calls first, then ``n_repeat`` ones, fewer when ``max_duration`` seconds are over (at least one).
    ``devices`` are those whose time is measured, by default the current one. Returns an object with ``name``,
    ``cpu_times``, ``gpu_times`` (devices x calls, seconds) that prints as one line.
    """
    kwargs = {} if kwargs is None else kwargs
    if not callable(func):
        raise ValueError(f"func must be a function, not {type(func).__name__}")
    if not isinstance(args, tuple):
        raise ValueError(f"args must be a tuple, not {type(args).__name__}")
    if not isinstance(kwargs, dict):
        raise ValueError(f"kwargs must be a dictionary, not {type(kwargs).__name__}")
    if n_repeat < 1 or n_warmup < 0:
        raise ValueError("n_repeat must be at least 1 and n_warmup at least 0")
    if name is None:
        name = getattr(func, "__name__", type(func).__name__)
    found = [_treadle.Device()] if devices is None else [_treadle.Device(d) for d in devices]

    def record(events):
        for device, event in zip(found, events, strict=True):
            with device:
                event.record()

    def make_events():
        events = []
        for device in found:
            with device:
                events.append(_treadle.Event())
        return events

    first, last = make_events(), make_events()
    for turn in range(n_warmup):
        result = func(*args, **kwargs)
        record(first)  # launches what the call left pending
        del result
        if turn == 0:
            _treadle._wait_for_compiles()
    for device in found:
        device.synchronize()
    cpu_times, gpu_times = [], [[] for _ in found]
    stop = time.perf_counter() + max_duration
    for _ in range(n_repeat):
        record(first)
        begin = time.perf_counter()
        result = func(*args, **kwargs)  # kept: nothing computes a value that nobody can see
        record(last)  # launches what the call left pending
        cpu_times.append(time.perf_counter() - begin)
        del result
        for event in last:
            event.synchronize()
        for k in range(len(found)):
            gpu_times[k].append(_treadle.get_elapsed_time(first[k], last[k]) * 1e-3)
        if time.perf_counter() > stop:
            break
    return PerfCaseResult(name, np.array(cpu_times), np.array(gpu_times), found)


class time_range(contextlib.ContextDecorator):
    """A named range in a profiler's time line, as a context or a decorator.

    No profiler's library is loaded, so it marks nothing (see ``treadle.cuda.nvtx``); ``sync`` still waits for
    the device at the end.
    """

    def __init__(self, message=None, color_id=None, argb_color=None, sync=False):
        if color_id is not None and argb_color is not None:
            raise ValueError("only one of color_id and argb_color can be given")
        self.message, self.sync = message, sync

    def __call__(self, function):
        if self.message is None:
            self.message = function.__name__
        return functools.wraps(function)(super().__call__(function))

    def __enter__(self):
        cuda.nvtx.RangePush(self.message)
        return self

    def __exit__(self, *_):
        if self.sync:
            cuda.synchronize()
        cuda.nvtx.RangePop()


profile = cuda.profiler.profile
