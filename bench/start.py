"""What a user waits for at the start: the import, the first launch cold and from the disk cache, the first a + b."""

import tempfile

import common

IMPORT = """
import time, numpy
start = time.perf_counter()
import treadle
print(1e3 * (time.perf_counter() - start))
"""

FIRST_LAUNCH = """
import time
import numpy as np
import treadle as td
from treadle import cuda
device = cuda.Device()
x, y = td.ones(1000, np.float32), td.zeros(1000, np.float32)
x.flush(); y.flush(); cuda.synchronize()
source = r'''
extern "C" __global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
'''
start = time.perf_counter()
td.RawKernel(source, "twice")((4,), (256,), (x, y, 1000))
cuda.synchronize()
seconds = time.perf_counter() - start
assert (td.asnumpy(y) == 2).all()
print(1e3 * seconds)
"""

FIRST_SUM = """
import time
import numpy as np
import treadle as td
from treadle import cuda
a, b = (td.asarray(np.arange(1000, dtype=np.float32)) for _ in range(2))
cuda.synchronize()
start = time.perf_counter()
c = td.asnumpy(a + b)
seconds = time.perf_counter() - start
assert (c == 2 * np.arange(1000)).all()
print(1e3 * seconds)
"""

WARM_UP = "import treadle as td\nx = td.ones(1000, 'f4'); y = td.zeros(1000, 'f4'); x.flush(); y.flush(); print(0)"


def first_sums(device):
    """The first ``a + b`` of a process, with and without what came with the package and what is cached."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name, ready in (("compiled", ""), ("from the disk cache", ""), ("ready-made", None)):
            env = {"TREADLE_CACHE_DIR": cache, "TREADLE_DEVICE": device.name}
            if ready is None:  # nothing to be found in the cache
                env["TREADLE_CACHE_DIR"] = ""
            else:
                env["TREADLE_READY_DIR"] = ready
            rows.append(
                common.record(
                    f"first a + b, {name}",
                    common.fresh_process(FIRST_SUM, **env),
                    "ms",
                    "1000 float32, with the copy of the result; wall clock",
                    device.evidence,
                    None,
                )
            )
    return rows


def run(device):
    rows = [
        common.record(
            "import treadle",
            common.fresh_process(IMPORT, 5),
            "ms",
            "beyond import numpy, best of 5",
            "host",
            ("<=", 60),
        )
    ]
    with tempfile.TemporaryDirectory() as cache:
        env = {"TREADLE_CACHE_DIR": cache, "TREADLE_DEVICE": device.name}
        common.fresh_process(
            WARM_UP, **env
        )  # the arrays' own kernels; the raw kernel stays unknown
        scope = "compile, load, launch and wait for a small raw kernel; wall clock"
        soft = device.is_software
        cold = common.fresh_process(FIRST_LAUNCH, **env)
        warm = common.fresh_process(FIRST_LAUNCH, 3, **env)
        goals = [("<=", 120), ("<=", 10)] if soft else [None, None]
        rows.append(
            common.record(
                "first launch, kernel not cached", cold, "ms", scope, device.evidence, goals[0]
            )
        )
        rows.append(
            common.record(
                "first launch, from the disk cache", warm, "ms", scope, device.evidence, goals[1]
            )
        )
    return rows + first_sums(device)
