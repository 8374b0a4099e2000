"""treadle run: programs with other libraries' names."""

import os
import subprocess
import sys

import pytest


def run(*arguments, cwd=None, status=0):
    command = [sys.executable, "-m", "treadle", "run", *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=os.environ, timeout=300
    )
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


PROGRAM = """
import sys
import numpy as np
from numba import cuda, float32, njit, types
import numba.cuda.random
from numba.core import errors
from numba.np import numpy_support

@njit
def square(x):
    return x * x

@cuda.jit("void(float32[:], float32[:])")
def kernel(x, out):
    s = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    s[cuda.threadIdx.x] = square(x[i])
    cuda.syncthreads()
    out[i] = s[31 - cuda.threadIdx.x]

exec("@cuda.jit\\ndef made(x):\\n    x[0] = 5\\n")
if __name__ == "__main__":
    out = np.zeros(32, np.float32)
    kernel[1, 32](np.arange(32, dtype=np.float32), out)
    made[1, 1](out)
    print(out[:3], sys.argv[1:], __file__, numba.__name__, numpy_support.from_dtype(np.dtype("f4")))
"""


def test_a_program_of_numba(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    out, err = run("program.py", "--steps", 3, cwd=tmp_path)
    assert out.strip() == "[  5. 900. 841.] ['--steps', '3'] program.py numba float32"
    assert err.count("treadle: kernels of numba.cuda run on Treadle") == 1
    assert err.count("run as plain Python") == 1
    out, _ = run("-m", "program", "x", cwd=tmp_path)
    assert "['x']" in out


def test_a_program_of_cupy():
    program = """
import cupy as cp, sys
import cupy.random
from cupy.cuda import Stream
print(float(cp.arange(4).sum()), cp.__name__, sys.argv)
import treadle
assert cp is treadle
"""
    out, err = run("-c", program, "a", "b")
    assert out.strip() == "6.0 treadle ['-c', 'a', 'b']" and "cupy is Treadle" in err


def test_kernels_of_cupy_take_views_and_say_so():
    program = """
import warnings
import cupy as cp
from cupyx.profiler import benchmark
import cupyx
k = cp.RawKernel("extern \\"C\\" __global__ void k(const float* x, float* o) { o[threadIdx.x] = x[threadIdx.x]; }", "k")
x = cp.asfortranarray(cp.arange(6, dtype=cp.float32).reshape(2, 3))
o = cp.zeros(6, cp.float32)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    k((1,), (6,), (x, o))
    k((1,), (6,), (x.ravel(), o[::-1][::-1]))
print(o.get().tolist() == [0, 1, 2, 3, 4, 5], len(told), told[0].message, told[0].lineno)
k((1,), (6,), (x, o))
print(o.get().tolist(), benchmark.__module__, cupyx.rsqrt(cp.array([4.0]))[0], cupyx.scatter_add is cp.scatter_add)
warnings.simplefilter("error")
try:
    k((1,), (6,), (x, o))
except RuntimeWarning:
    print("refused")
"""
    out, err = run("-c", program)
    first, second, third = out.splitlines()
    assert first.startswith("True 1 kernel 'k': parameter 0 gets the plain data pointer of a view")
    assert "shape (2, 3) with strides (4, 8) bytes" in first and first.endswith(" 11")
    assert second == "[0.0, 3.0, 1.0, 4.0, 2.0, 5.0] treadle.profiler 0.5 True"
    assert third == "refused"
    assert err.count("RuntimeWarning") == 1


def test_what_is_not_there_says_so(tmp_path):
    _, err = run("-c", "import cupyx.scipy.sparse", status=1)
    assert "no counterpart of the module 'cupyx.scipy'; docs/from-cupy.md" in err
    _, err = run("-c", "import cupyx; cupyx.errstate", status=1)
    assert "cupyx.errstate has no counterpart in Treadle" in err
    _, err = run("-c", "import pycuda.driver", status=1)
    assert "pycuda's names are not part of Treadle yet" in err
    _, err = run("-c", "import numba.cuda.codegen", status=1)
    assert "no counterpart of the module 'numba.cuda.codegen'" in err
    _, err = run("-c", "import numba; numba.guvectorize([], '(n)->(n)')", status=1)
    assert "give target='cuda'" in err
    out, _ = run(
        "--alias",
        "cupy",
        "-c",
        "import importlib.util as u, sys; import cupy; print('numba' in sys.modules)",
    )
    assert out.strip() == "False"


def test_the_command_line(tmp_path):
    assert "usage: treadle run" in run("--help")[0]
    assert "usage: treadle run" in run(status=2)[1]
    assert "unknown option '--what'" in run("--what", status=2)[1]
    assert "no alias 'jax'" in run("--alias", "jax", "-c", "", status=2)[1]
    assert "there is no file" in run(tmp_path / "missing.py", status=2)[1]
    _, err = run("-c", "raise SystemExit(7)", status=7)
    assert err == ""


@pytest.mark.parametrize("ending", ["folder", "zip"])
def test_folders_and_archives(tmp_path, ending):
    import zipfile

    if ending == "folder":
        (tmp_path / "app").mkdir()
        (tmp_path / "app" / "__main__.py").write_text("import other; print(other.value)")
        (tmp_path / "app" / "other.py").write_text("value = 11")
        target = tmp_path / "app"
    else:
        target = tmp_path / "app.zip"
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr("__main__.py", "import other; print(other.value)")
            archive.writestr("other.py", "value = 11")
    assert run(target)[0].strip() == "11"
