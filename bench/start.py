"""What a user waits for at the start: the import, the first launch cold and from the disk cache."""

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

WARM_UP = "import treadle as td\nx = td.ones(1000, 'f4'); y = td.zeros(1000, 'f4'); x.flush(); y.flush(); print(0)"


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
    return rows
