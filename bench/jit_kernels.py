"""Kernels written in Python beside the same kernels in CUDA C++ and, where it is installed, Numba.

Vector addition, a tiled matrix product, a reduction, n bodies, the Mandelbrot set and a stencil. The forms correspond
statement by statement; times are the device's, by events.
"""

import importlib.util
import sys

import common
import numpy as np
import treadle as td
from jit_sources import TILE, python_kernels
from treadle import cuda

SOURCE = r"""
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void product(const float* a, const float* b, float* c, long long n) {
  __shared__ float left[16][16], right[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  long long x = (long long)blockIdx.x * blockDim.x + tx, y = (long long)blockIdx.y * blockDim.y + ty;
  float total = 0;
  for (long long k = 0; k < n; k += 16) {
    left[ty][tx] = a[y * n + k + tx];
    right[ty][tx] = b[(k + ty) * n + x];
    __syncthreads();
    for (int j = 0; j < 16; ++j) total += left[ty][j] * right[j][tx];
    __syncthreads();
  }
  c[y * n + x] = total;
}
extern "C" __global__ void reduction(const float* x, float* out, long long n) {
  __shared__ float part[256];
  int t = threadIdx.x;
  float total = 0;
  for (long long i = (long long)blockIdx.x * blockDim.x + t; i < n; i += (long long)blockDim.x * gridDim.x)
    total += x[i];
  part[t] = total;
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (t < k) part[t] += part[t + k];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, part[0]);
}
extern "C" __global__ void bodies(const float* position, const float* mass, float* force, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = position[3 * i], y = position[3 * i + 1], z = position[3 * i + 2], fx = 0, fy = 0, fz = 0;
  for (long long j = 0; j < n; ++j) {
    float dx = position[3 * j] - x, dy = position[3 * j + 1] - y, dz = position[3 * j + 2] - z;
    float square = dx * dx + dy * dy + dz * dz + 1e-3f;
    float scale = mass[j] / (square * sqrtf(square));
    fx += dx * scale;
    fy += dy * scale;
    fz += dz * scale;
  }
  force[3 * i] = fx;
  force[3 * i + 1] = fy;
  force[3 * i + 2] = fz;
}
extern "C" __global__ void mandelbrot(int* out, double left, double top, double step, long long most,
                                      long long rows, long long columns) {
  long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x, y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
  if (y < rows && x < columns) {
    double cr = left + x * step, ci = top + y * step, zr = cr, zi = ci;
    long long n = 0;
    while (n < most && zr * zr + zi * zi < 4) {
      double next = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + ci;
      zr = next;
      ++n;
    }
    out[y * columns + x] = (int)n;
  }
}
extern "C" __global__ void stencil(const float* a, float* b, long long rows, long long columns) {
  long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x, y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
  if (0 < y && y < rows - 1 && 0 < x && x < columns - 1)
    b[y * columns + x] = 0.25f * (a[(y - 1) * columns + x] + a[(y + 1) * columns + x] + a[y * columns + x - 1] +
                                  a[y * columns + x + 1]);
}
"""


def cases(software):
    """name -> grid, block, Python's arguments, what C++ takes behind or instead."""
    rng = np.random.default_rng(0)
    n = 1 << (20 if software else 25)
    side = 512 if software else 2048
    count = 2048 if software else 16384

    def floats(*shape):
        return rng.random(shape, np.float32)

    image = 512 if software else 2048
    square = (side // TILE, side // TILE), (TILE, TILE)
    tiles = (image // 32, image // 8), (32, 8)
    return {
        "vector_add": ((n // 256,), (256,), [floats(n), floats(n), floats(n)], [n]),
        "product": (*square, [floats(side, side), floats(side, side), floats(side, side)], [side]),
        "reduction": ((1024,), (256,), [floats(n), floats(1)], [n]),
        "bodies": ((count // 256,), (256,), [floats(count, 3), floats(count), floats(count, 3)], [count]),
        "mandelbrot": (
            *tiles,
            [np.zeros((image, image), np.int32), -2.0, -1.25, 2.5 / image, 200],
            [image, image],
        ),
        "stencil": (*tiles, [floats(image, image), floats(image, image)], [image, image]),
    }  # fmt: skip


def seconds(kernel, grid, block, args, software):
    def launch():
        kernel[grid, block](*args)

    if software:
        return min(common.event_seconds(launch, 5, 2) for _ in range(5))
    return common.event_seconds(launch)


class Raw:
    """A RawKernel that is launched as a Python kernel is."""

    def __init__(self, module, name, more):
        self.kernel, self.more = module.get_function(name), more

    def __getitem__(self, shape):
        return lambda *args: self.kernel(*shape, (*args, *self.more))


def numba_seconds(name, grid, block, args):
    """Numba's time in the same run, or None."""
    if importlib.util.find_spec("numba") is None or "numba" in sys.modules:
        return None
    try:
        from numba import cuda as theirs
        from numba import float32, int32
    except ImportError:
        return None
    kernels = {k.__name__: k for k in python_kernels(theirs, int32, float32)}
    moved = [theirs.to_device(a) if isinstance(a, np.ndarray) else a for a in args]
    return seconds(kernels[name], grid, block, moved, False)


def run(device):
    """The records: the time of the Python form, and of the others as its multiple."""
    software = device.evidence != "NVIDIA GPU"
    kernels = {k.__name__: k for k in python_kernels(cuda, cuda.types.int32, cuda.types.float32)}
    module = td.RawModule(SOURCE)
    rows = []
    for name, (grid, block, args, more) in cases(software).items():
        ours = [td.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        raw = [
            np.float64(a) if isinstance(a, float) else np.int64(a) if isinstance(a, int) else a
            for a in ours
        ]
        text = Raw(module, name, [np.int64(m) for m in more])
        written = seconds(kernels[name], grid, block, ours, software)
        plain = seconds(text, grid, block, raw, software)
        written = min(written, seconds(kernels[name], grid, block, ours, software))
        rows.append(
            common.record(f"cuda.jit: {name}", written * 1e6, "us", "device time", device.evidence)
        )
        rows.append(
            common.record(
                f"cuda.jit: {name} / CUDA C++", written / plain, "ratio", "device time", device.evidence,
                goal=("<=", 1.2 if software else 1.0),
            )
        )  # fmt: skip
        theirs = None if software else numba_seconds(name, grid, block, args)
        if theirs is not None:
            rows.append(
                common.record(
                    f"cuda.jit: {name} / Numba", written / theirs, "ratio", "device time", device.evidence,
                    goal=("<=", 1.0),
                )
            )  # fmt: skip
    return rows
