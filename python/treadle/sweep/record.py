"""What a sweep's times depend on: device, machine, versions, policy, seed."""

import dataclasses
import datetime
import os
import platform
import sys

import numpy as np

from .. import _treadle, cuda

__all__ = ["record"]

# Attributes of a device that decide what a block size does.
_PROPERTIES = (
    "MultiProcessorCount", "MaxThreadsPerMultiProcessor", "MaxThreadsPerBlock", "MaxRegistersPerMultiprocessor",
    "MaxSharedMemoryPerMultiprocessor", "MaxSharedMemoryPerBlockOptin", "L2CacheSize", "ClockRate", "MemoryClockRate",
    "GlobalMemoryBusWidth", "WarpSize",
)  # fmt: skip


def record(policy, rounds, seed, started):
    """A dictionary of plain values. ``started``: a `datetime` with its zone."""
    device = cuda.Device()
    attributes = device.attributes
    return {
        "started": started.isoformat(timespec="seconds"),
        "ended": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": {
            "name": device.name,
            "evidence": device.evidence,
            "description": device.description,
            "compute_capability": f"{device.attribute(75)}.{device.attribute(76)}",
            **{name: attributes[name] for name in _PROPERTIES if name in attributes},
        },
        "machine": {"system": platform.platform(), "cores": os.cpu_count(), "cpu": _cpu(), "load": _load()},
        "versions": {
            "treadle": _treadle.__version__, "numpy": np.__version__, "python": platform.python_version(),
        },
        "settings": {k: v for k, v in os.environ.items() if k.startswith(("TREADLE_", "OMP_", "OPENBLAS_", "CUDA_"))},
        "command": sys.argv,
        "policy": dataclasses.asdict(policy),
        "rounds": rounds,
        "seed": seed,
    }  # fmt: skip


def _cpu():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as text:
            lines = (line for line in text if line.startswith("model name"))
            return next(lines).partition(":")[2].strip()
    except (OSError, StopIteration):
        return platform.processor()


def _load():
    try:
        return [round(x, 2) for x in os.getloadavg()]
    except OSError:
        return None
