"""Times with their scope, their interval and the proof that the work is right; and two ways against each other."""

import numpy as np
import treadle as td

n = 200_000
x = np.random.default_rng(0).random(n, np.float32)
quick = td.benchmark.Policy(max_seconds=0.2, warm_seconds=0.2, target=0.05)


def on_device(a):
    return td.sqrt(a * a + 1)


def on_cpu(a):
    return np.sqrt(a * a + 1)


found = td.benchmark(on_device, x, reference=on_cpu, policy=quick)
print(found, "\n")
assert found.checked.startswith("equal to the reference")
assert found.counts.launches == 1  # three operations, one kernel
assert found.upload_bytes == found.download_bytes == 4 * n

print(td.benchmark.compare(td.benchmark.on_host(on_cpu), on_device, x, policy=quick), "\n")

# A kernel of one's own: what its arguments are is named, and its result is compared before it is timed.
axpy = td.RawKernel(
    """extern "C" __global__ void axpy(float s, const float* x, float* y, int n) {
         int i = blockIdx.x * blockDim.x + threadIdx.x;
         if (i < n) y[i] = s * x[i];
       }""",
    "axpy",
)
found = td.benchmark(
    lambda a, out: axpy(((n + 255) // 256,), (256,), (2.5, a, out, n)),
    x,
    np.zeros_like(x),
    inputs=(0,),
    outputs=(1,),
    reference=lambda a, out: np.multiply(a, np.float32(2.5), out=out),
    bytes_moved=8 * n,
    policy=quick,
    name="axpy",
)
print(found, "\n")

# A time that would be a lie is refused: nobody keeps this value, so that nothing computes it.
try:
    td.benchmark(lambda a: (a * 2, None)[1], x, policy=quick)
except td.benchmark.Refused as refused:
    print(f"no time ({refused.kind}): {refused}")
