"""What the steps share: the device, kernels from files, launches that are counted, and comparisons with NumPy."""

import os
from functools import cache

import numpy as np

import treadle as td
from treadle import cuda

from .report import Mismatch

_FOLDER = os.path.join(os.path.dirname(__file__), "kernels")
GUARD = 64  # elements behind every output that no kernel may touch


@cache
def kernel(file, name):
    """The kernel ``name`` of ``kernels/<file>``."""
    path = os.path.join(_FOLDER, file)
    with open(path, encoding="utf-8") as text:
        return td.RawKernel(text.read(), name, file_name=file)


class Context:
    """One run of the tour on one device."""

    def __init__(self, device):
        self.device = device
        self.verified = 0  # launches whose result was compared

    @property
    def evidence(self):
        """The words that stand beside every result: "NVIDIA GPU" or "software device"."""
        return self.device.evidence

    @property
    def time_label(self):
        """What a time measured here must be called."""
        return f"{self.evidence} time"

    def milliseconds(self, work, repeats=10, warm_up=3):
        """Between two events around ``repeats`` calls after ``warm_up`` calls, for one call.

        What ``work`` returns is kept until the second event, so that no result is dropped unevaluated.
        """
        for _ in range(warm_up):
            kept = work()
            cuda.synchronize()
            td.config.wait_for_compiles()  # the later ones have the final kernels
        start, end = cuda.Event(), cuda.Event()
        start.record()
        kept = [work() for _ in range(repeats)]
        end.record()
        end.synchronize()
        del kept
        return cuda.get_elapsed_time(start, end) / repeats

    def expect(self, got, want, rtol=0.0, atol=0.0):
        """Compares a result of the device with NumPy's; returns the largest difference."""
        got = td.asnumpy(got) if isinstance(got, td.ndarray) else np.asarray(got)
        want = np.asarray(want)
        if got.shape != want.shape:
            raise Mismatch(f"the result has shape {got.shape}, expected {want.shape}")
        close = np.isclose(got, want, rtol=rtol, atol=atol) if rtol or atol else got == want
        if not np.all(close):
            first = tuple(int(i) for i in np.argwhere(~close)[0])
            raise Mismatch(
                f"{np.count_nonzero(~close)} of {got.size} elements differ; the first at {first}: "
                f"{got[first]}, expected {want[first]}"
            )
        self.verified += 1
        with np.errstate(invalid="ignore"):
            return float(np.max(np.abs(got.astype(np.float64) - want), initial=0.0))


class Output:
    """An output array that is poisoned before a launch, with guard elements behind it that must stay as they are."""

    def __init__(self, shape, dtype):
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.count = int(np.prod(self.shape))
        self.poison = np.nan if np.dtype(dtype).kind == "f" else -(2**31) + 77
        self.whole = td.full(self.count + GUARD, self.poison, dtype)
        self.array = self.whole[: self.count].reshape(self.shape)

    def read(self):
        """The output on the host; fails when a guard element was written."""
        whole = td.asnumpy(self.whole)
        tail = whole[self.count :]
        intact = np.isnan(tail) if whole.dtype.kind == "f" else tail == self.poison
        if not intact.all():
            raise Mismatch(f"{np.count_nonzero(~intact)} elements behind the output were written")
        return whole[: self.count].reshape(self.shape)

    def untouched(self):
        """True when nothing has been written at all."""
        values = self.read()
        return bool(np.all(np.isnan(values) if values.dtype.kind == "f" else values == self.poison))


def blocks_for(n, block):
    """The number of blocks that covers ``n`` elements."""
    return (n + block - 1) // block


def random_floats(*shape, seed=1):
    """float32 values in [-1, 1), the same in every run."""
    return (2 * np.random.default_rng(seed).random(shape) - 1).astype(np.float32)
