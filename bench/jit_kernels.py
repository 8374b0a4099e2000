"""Kernels written in Python beside the same kernels in CUDA C++ and, where it is installed, Numba.

Vector addition, a tiled matrix product, a reduction, n bodies, the Mandelbrot set and a stencil. The forms correspond
statement by statement; times are the device's, by events.
"""

import importlib.util
import math
import sys

import common
import numpy as np
import treadle as td
from treadle import cuda

TILE = 16


def python_kernels(cuda, int32, float32):
    """The kernels for a module with Numba's names: ours, or Numba's."""

    @cuda.jit
    def vector_add(a, b, c):
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i] + b[i]

    @cuda.jit
    def product(a, b, c):
        left = cuda.shared.array((TILE, TILE), float32)
        right = cuda.shared.array((TILE, TILE), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        x, y = cuda.grid(2)
        total = float32(0)
        for k in range(0, a.shape[1], TILE):
            left[ty, tx] = a[y, k + tx]
            right[ty, tx] = b[k + ty, x]
            cuda.syncthreads()
            for j in range(TILE):
                total += left[ty, j] * right[j, tx]
            cuda.syncthreads()
        c[y, x] = total

    @cuda.jit
    def reduction(x, out):
        part = cuda.shared.array(256, float32)
        t = cuda.threadIdx.x
        total = float32(0)
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            total += x[i]
        part[t] = total
        cuda.syncthreads()
        k = 128
        while k > 0:
            if t < k:
                part[t] += part[t + k]
            cuda.syncthreads()
            k //= 2
        if t == 0:
            cuda.atomic.add(out, 0, part[0])

    @cuda.jit
    def bodies(position, mass, force):
        i = cuda.grid(1)
        n = position.shape[0]
        if i >= n:
            return
        x, y, z = position[i, 0], position[i, 1], position[i, 2]
        fx, fy, fz = float32(0), float32(0), float32(0)
        for j in range(n):
            dx, dy, dz = position[j, 0] - x, position[j, 1] - y, position[j, 2] - z
            square = dx * dx + dy * dy + dz * dz + float32(1e-3)
            scale = mass[j] / (square * math.sqrt(square))
            fx += dx * scale
            fy += dy * scale
            fz += dz * scale
        force[i, 0], force[i, 1], force[i, 2] = fx, fy, fz

    @cuda.jit
    def mandelbrot(out, left, top, step, most):
        x, y = cuda.grid(2)
        if y < out.shape[0] and x < out.shape[1]:
            cr, ci = left + x * step, top + y * step
            zr, zi = cr, ci
            n = 0
            while n < most and zr * zr + zi * zi < 4:
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                n += 1
            out[y, x] = n

    @cuda.jit
    def stencil(a, b):
        x, y = cuda.grid(2)
        if 0 < y < a.shape[0] - 1 and 0 < x < a.shape[1] - 1:
            b[y, x] = float32(0.25) * (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1])

    return vector_add, product, reduction, bodies, mandelbrot, stencil


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
