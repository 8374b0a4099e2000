"""The child process of the step "an access far out of bounds". Prints what it saw as one JSON object."""

import json
import sys

import numpy as np

import treadle as td
from treadle import cuda

from .context import kernel


def error_name(call):
    try:
        call()
    except td.CUDAError as error:
        return error.name
    return "none"


def launch_again():
    """A launch on fresh memory, compared."""
    x = np.arange(100, dtype=np.float32)
    out = td.zeros(100, np.float32)
    kernel_again = td.RawKernel(
        'extern "C" __global__ void twice(const float* x, float* out) { out[threadIdx.x] = 2 * x[threadIdx.x]; }',
        "twice",
    )
    kernel_again((1,), (100,), (td.asarray(x), out))
    return (
        "a launch compared equal"
        if np.array_equal(td.asnumpy(out), 2 * x)
        else "a launch compared different"
    )


def main(name):
    device = cuda.Device(name)
    device.use()

    def fault():
        kernel("mistakes.cu", "far_away")((1,), (1,), (td.zeros(16, np.float32),))
        cuda.synchronize()

    seen = {
        "first error": error_name(fault),
        "error of the next call": error_name(cuda.synchronize),
    }
    if device.is_software:
        try:
            device.reset()
            seen["after reset"] = launch_again()
        except Exception as error:
            seen["after reset"] = f"{type(error).__name__}: {error}"
    print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
