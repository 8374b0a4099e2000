"""What one call asks of the device: launches, copies, fills, waits, loads, as the driver layer counts them."""

import dataclasses

from .. import _treadle

__all__ = ["Counts", "count"]

_LAUNCHES = ("cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel")
_UPLOADS, _DOWNLOADS = ("HtoD", "HtoA"), ("DtoH", "AtoH")
_WAITS = ("cuCtxSynchronize", "cuCtxSynchronize_v2", "cuStreamSynchronize", "cuEventSynchronize",
          "cuMemcpyDtoH", "cuMemcpyHtoD")  # fmt: skip
_LOADS = ("cuModuleLoad", "cuLibraryLoad")  # and what begins with them
_WORK = ("cuLaunch", "cuMemcpy", "cuMemset", "cuGraphLaunch")


@dataclasses.dataclass(frozen=True)
class Counts:
    """Of one call. ``planned_*`` are the bytes that generated kernels of array operations read and write, each element
    once; kernels of the user's own have none. Launches inside of a math library (cuBLAS and others) and of a graph are
    not seen: ``library_calls`` and ``graph_launches`` count the calls that lead to them."""

    launches: int = 0
    library_calls: int = 0
    graph_launches: int = 0
    uploaded_bytes: int = 0
    downloaded_bytes: int = 0
    copied_bytes: int = 0  # on the device, and copies whose direction the driver decides
    filled_bytes: int = 0
    waits: int = 0
    modules_loaded: int = 0
    failed: tuple = ()  # ((function, how often), …) of launches, copies, fills
    generated_kernels: int = 0
    planned_read_bytes: int = 0
    planned_written_bytes: int = 0

    @property
    def planned_bytes(self):
        """What the kernels of a call read and write, when all of them are generated; None otherwise."""
        if (
            not self.generated_kernels
            or self.library_calls
            or self.launches != self.generated_kernels
        ):
            return None
        return self.planned_read_bytes + self.planned_written_bytes

    @property
    def nothing(self):
        """True when the call gave the device no work at all."""
        moved = self.uploaded_bytes + self.downloaded_bytes + self.copied_bytes + self.filled_bytes
        return not (self.launches or self.library_calls or self.graph_launches or moved)


_counting = False


def begin(device):
    """Begins to count what the process asks of the device; False when that is being done already."""
    global _counting
    if _counting:
        return False
    _counting = True
    _treadle._take_logged_kernels()
    _treadle._log_kernels(True)
    _treadle._count_calls(device, True)
    return True


def end(device):
    """Ends what `begin` began: the `Counts` of it."""
    global _counting
    _counting = False
    _treadle._count_calls(device, False)
    _treadle._log_kernels(False)
    return from_calls(_treadle._call_counts(), _treadle._take_logged_kernels())


def count(device, call):
    """The `Counts` of ``call()``, or None inside of another count. Errors of the call are raised."""
    if not begin(device):
        call()
        return None
    found = None
    try:
        call()
        device.synchronize()
    finally:
        found = end(device)
    return dataclasses.replace(found, waits=found.waits - 1)  # the one that is ours


def other_streams(timed):
    """Streams that the last count saw working, without the timed one. Empty when one was destroyed meanwhile."""
    if "cuStreamDestroy" in _treadle._call_counts():
        return []
    handles = [handle for handle in _treadle._counted_streams() if handle != timed.ptr]
    return [_treadle.ExternalStream(handle) for handle in handles]


def from_calls(calls, planned=()):
    """`Counts` from {function: (calls, failures, bytes)} and the planned kernels."""
    total = {"launches": 0, "graph_launches": 0, "library_calls": 0, "uploaded_bytes": 0, "downloaded_bytes": 0,
             "copied_bytes": 0, "filled_bytes": 0, "waits": 0, "modules_loaded": 0}  # fmt: skip
    failed = []
    for name, (number, failures, size) in calls.items():
        if failures and name.startswith(_WORK):
            failed.append((name, failures))
        if name in _LAUNCHES:
            total["launches"] += number - failures
        elif name == "cuGraphLaunch":
            total["graph_launches"] += number - failures
        elif name == "math library":
            total["library_calls"] += number
        elif name.startswith("cuMemset"):
            total["filled_bytes"] += size
        elif name.startswith("cuMemcpy"):
            total[_direction(name)] += size
        elif name.startswith(_LOADS):
            total["modules_loaded"] += number - failures
        if name in _WAITS:
            total["waits"] += number
    return Counts(
        **total,
        failed=tuple(failed),
        generated_kernels=len(planned),
        planned_read_bytes=sum(row["bytes_read"] for row in planned),
        planned_written_bytes=sum(row["bytes_written"] for row in planned),
    )


def _direction(name):
    if any(part in name for part in _UPLOADS):
        return "uploaded_bytes"
    return "downloaded_bytes" if any(part in name for part in _DOWNLOADS) else "copied_bytes"
