"""From which size on does the device pay, and which block size: measured, with intervals, for code of one's own."""

import treadle as td
from treadle import cuda, sweep
from treadle.sweep.run import QUICK


def norm(
    x, y
):  # works on NumPy's arrays and on Treadle's: results are compared before anything is timed
    return ((x - y) ** 2).sum() ** 0.5


report = sweep.over_sizes(norm, [100, 10_000, 100_000], rounds=2, refine=0, policy=QUICK)
print(report.label)
print("\n".join(report.findings))

scale = td.RawKernel(
    """extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}""",
    "scale",
)
found = cuda.occupancy(scale, 256)  # no launch: what a multiprocessor holds
print(f"blocks of 256: {found.blocks} resident, limited by {', '.join(found.limited_by)}")
report = sweep.over_blocks(scale, 100_000, {"a": 2.0}, [64, 256, 1024], rounds=2, policy=QUICK)
print("\n".join(report.findings))  # report.save("scale.html") writes the page with plots and tables
assert report.data["best"] in (64, 256, 1024)
