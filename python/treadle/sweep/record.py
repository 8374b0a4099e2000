"""What a sweep's times depend on: the record of `benchmarking`, and what decides what a block size does."""

import dataclasses
import datetime

from .. import cuda
from ..benchmarking.conditions import Watch
from ..benchmarking.record import environment, time_label

__all__ = ["device_label", "record"]

_PROPERTIES = (
    "MaxThreadsPerMultiProcessor", "MaxThreadsPerBlock", "MaxRegistersPerMultiprocessor",
    "MaxSharedMemoryPerMultiprocessor", "MaxSharedMemoryPerBlockOptin", "ClockRate", "MemoryClockRate",
    "GlobalMemoryBusWidth", "WarpSize", "MultiProcessorCount",
)  # fmt: skip


def device_label():
    """What kind of time the current device's is, and which device that is."""
    device = cuda.Device()
    model = device.description.removeprefix("software device (").removesuffix(")")
    return f"{time_label(device)} ({device.name}, {model})"


def record(policy, rounds, seed, started):
    """A dictionary of plain values. ``started``: a `datetime` with its zone."""
    device = cuda.Device()
    facts = environment(device, Watch(device.pci_bus_id), policy)
    attributes = device.attributes
    properties = {name: attributes[name] for name in _PROPERTIES if name in attributes}
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        **facts, "started": started.isoformat(timespec="seconds"), "ended": now.isoformat(timespec="seconds"),
        "properties": properties, "policy": dataclasses.asdict(policy), "rounds": rounds, "seed": seed,
    }  # fmt: skip
