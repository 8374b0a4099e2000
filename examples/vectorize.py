"""A Python function of numbers, with branches and loops, as one kernel over arrays."""

import numpy as np
import treadle as td


@td.vectorize
def steps_to_escape(x, y):
    """How many rounds z = z * z + c stays within a distance of 2: the Mandelbrot set."""
    zx, zy = 0.0, 0.0
    for n in range(200):
        if zx * zx + zy * zy > 4.0:
            return n
        zx, zy = zx * zx - zy * zy + x, 2.0 * zx * zy + y
    return 200


x = td.linspace(-2.2, 0.8, 120)
y = td.linspace(-1.2, 1.2, 40)[:, None]
steps = steps_to_escape(x, y)  # the arguments broadcast: (40, 120)
for row in td.asnumpy(steps)[::2]:
    print("".join(" .:-=+*#%@"[min(9, int(n) // 3)] for n in row))

inside = int((steps == 200).sum())
grid_x, grid_y = np.meshgrid(td.asnumpy(x), td.asnumpy(y)[:, 0])
c, z = grid_x + 1j * grid_y, np.zeros(grid_x.shape, complex)
with np.errstate(all="ignore"):
    for _ in range(200):
        z = z * z + c
        z[np.abs(z) > 2] = np.inf
print(f"{inside} points stay; NumPy's loop says {np.isfinite(z).sum()}")
assert abs(inside - np.isfinite(z).sum()) <= 2
