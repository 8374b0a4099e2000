"""The kernels of the benchmarks of cuda.jit for a module with Numba's names: ours, Numba's or its simulator.

Nothing of Treadle is imported here: a Python that has only Numba runs them too.
"""

import importlib.util
import os

TILE = 16
NAMES = ("vector_add", "product", "reduction", "bodies", "mandelbrot", "stencil")


def python_kernels(cuda, int32, float32):
    """The kernels of jit_functions.py, which is loaded anew: Numba's simulator changes the global ``cuda``."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jit_functions.py")
    spec = importlib.util.spec_from_file_location("jit_functions", path)
    module = importlib.util.module_from_spec(spec)
    module.cuda, module.int32, module.float32 = cuda, int32, float32
    spec.loader.exec_module(module)
    return [cuda.jit(getattr(module, name)) for name in NAMES]
