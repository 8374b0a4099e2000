# ruff: noqa: F821
"""The kernels of the benchmarks of cuda.jit, as functions. jit_sources.py gives this file its names: cuda, float32."""

import math

TILE = 16


def vector_add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


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


def stencil(a, b):
    x, y = cuda.grid(2)
    if 0 < y < a.shape[0] - 1 and 0 < x < a.shape[1] - 1:
        b[y, x] = float32(0.25) * (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1])
