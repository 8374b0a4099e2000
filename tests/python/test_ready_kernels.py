"""Kernels that are made with the package: a fresh process with an empty cache compiles nothing for common work."""

import ast
import os
import pathlib
import shutil

import pytest
import treadle as td

READY = pathlib.Path(os.path.realpath(td._treadle.__file__)).parent / "ready"
if not READY.is_dir():  # in a build folder it lies beside libtreadle.so
    READY = (
        pathlib.Path(
            next(
                (
                    line.split()[-1]
                    for line in pathlib.Path("/proc/self/maps").read_text().splitlines()
                    if line.endswith("/libtreadle.so")
                ),
                "absent",
            )
        ).parent
        / "ready"
    )


@pytest.fixture
def fresh(python, software, tmp_path):
    """Runs a program in a process with an empty cache; what it prints last, as a value."""
    if not software:
        pytest.skip("a GPU's ready-made kernels need an NVRTC where Treadle is built")
    if not READY.is_dir():
        pytest.skip("this build has no ready-made kernels (TREADLE_READY=OFF)")

    def run(program, **environment):
        environment.setdefault("TREADLE_CACHE_DIR", str(tmp_path / "cache"))
        done = python(program, **environment)
        assert done.returncode == 0, done.stderr
        return ast.literal_eval(done.stdout.splitlines()[-1])

    return run


COUNTS = """
counts = td.config.compile_counts()
print((td._treadle._compiler_loaded(), counts["sources"], counts["objects"]))
"""

COMMON = """
import operator
import numpy as np, treadle as td

def same(got, want):
    got = td.asnumpy(got)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype)
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=2e-6 if want.dtype.itemsize == 4 else 1e-14)
    else:
        np.testing.assert_array_equal(got, want)

for dtype in (np.int32, np.int64, np.float32, np.float64):
    for shape in ((1000,), (3, 5, 7)):
        size = int(np.prod(shape))
        a, b = (np.arange(k, k + size).reshape(shape).astype(dtype) for k in (1, 3))
        x, y = td.asarray(a), td.asarray(b)
        for op in (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
                   operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
            same(op(x, y), op(a, b))
            same(op(x, 3), op(a, 3))
        same(-x, -a), same(abs(x), abs(a)), same(td.sqrt(x), np.sqrt(a)), same(1 - x, 1 - a), same(x * x, a * a)
        same(td.maximum(x, y), np.maximum(a, b)), same(td.clip(x, 3, 7), np.clip(a, 3, 7))
        same(td.where(td.asarray(a > 4), x, y), np.where(a > 4, a, b))
        assert abs(float(x.sum()) - float(a.sum())) <= 1e-6 * abs(float(a.sum()))
        same(x.sum(), a.sum()), same(x.max(), a.max()), same(x.min(), a.min()), same(x.mean(), a.mean())
        for other in (np.bool_, np.int32, np.int64, np.float32, np.float64):
            same(x.astype(other), a.astype(other))
    same(x.copy(), a)
    x += y
    same(x, a + b)
    same(td.arange(10, dtype=dtype), np.arange(10, dtype=dtype))
    same(td.full((3, 4), 7, dtype=dtype), np.full((3, 4), 7, dtype=dtype))
    same(td.ones(5, dtype=dtype), np.ones(5, dtype=dtype))
for dtype in (np.float32, np.float64):
    a = np.linspace(0.1, 3, 300).astype(dtype)
    x = td.asarray(a)
    for name in ("exp", "log", "sin", "cos", "tanh", "floor", "ceil", "isnan", "square"):
        same(getattr(td, name)(x), getattr(np, name)(a))
    m = a.reshape(100, 3).repeat(50, 1)
    z = td.asarray(m)
    same(z.T.copy(), m.T.copy())
a, b = np.array([True, False, True, True]), np.array([True, True, False, True])
x, y = td.asarray(a), td.asarray(b)
same(~x, ~a), same(x & y, a & b), same(x | y, a | b), same(x ^ y, a ^ b)
same(x.any(), a.any()), same(x.all(), a.all()), same(x.sum(), a.sum())
"""


def test_common_operations_compile_nothing(fresh):
    loaded, sources, objects = fresh(COMMON + COUNTS)
    assert not loaded
    assert sources["compiled"] == 0 and objects["compiled"] == 0
    assert sources["ready"] > 150 and objects["ready"] >= sources["ready"]


ONE = """
import numpy as np, treadle as td
a = np.arange(100, dtype=np.float32)
np.testing.assert_array_equal(td.asnumpy(td.asarray(a) + td.asarray(a)), a + a)
"""


def test_without_the_packs_everything_is_compiled(fresh):
    loaded, sources, objects = fresh(ONE + COUNTS, TREADLE_READY_DIR="")
    assert loaded and sources["compiled"] == 1 and objects["compiled"] == 1
    assert sources["ready"] == 0 and objects["ready"] == 0


def damage_rows(path):
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(bytes(data))


def damage_values(path):
    data = bytearray(path.read_bytes())
    count = int.from_bytes(data[8:16], "little")
    for at in range(32 + 48 * count, len(data), 64):  # behind the header and the rows
        data[at] ^= 0x55
    path.write_bytes(bytes(data))


def cut_short(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def make_empty(path):
    path.write_bytes(b"")


def make_foreign(path):
    path.write_bytes(b"something else altogether" * 1000)


def count_too_much(path):
    data = path.read_bytes()
    path.write_bytes(data[:8] + b"\xff" * 8 + data[16:])


@pytest.mark.parametrize(
    "damage", [damage_rows, damage_values, cut_short, make_empty, make_foreign, count_too_much]
)
def test_damaged_packs_count_as_absent(fresh, tmp_path, damage):
    folder = tmp_path / "ready"
    shutil.copytree(READY, folder)
    for path in folder.iterdir():
        damage(path)
    loaded, sources, objects = fresh(ONE + COUNTS, TREADLE_READY_DIR=str(folder))
    # Half of a pack may still be good.
    assert sources["compiled"] + sources["ready"] == 1
    if damage is not cut_short:
        assert loaded and sources["ready"] == 0 and objects["ready"] == 0


def test_a_copy_elsewhere_is_as_good(fresh, tmp_path):
    folder = tmp_path / "elsewhere"
    shutil.copytree(READY, folder)
    loaded, sources, objects = fresh(ONE + COUNTS, TREADLE_READY_DIR=str(folder))
    assert not loaded and sources == {"compiled": 0, "cached": 0, "ready": 1}
    assert objects == {"compiled": 0, "cached": 0, "ready": 1}


def test_packs_of_another_compiler_are_not_used(fresh, tmp_path):
    """The compiler's build ID is part of every key."""
    plugin = READY.parent / "libtreadle_cc.so"
    data = bytearray(plugin.read_bytes())
    at = data.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
    assert at > 16
    data[at] ^= 1
    other = tmp_path / "libtreadle_cc.so"
    other.write_bytes(bytes(data))
    loaded, sources, _ = fresh(ONE + COUNTS, TREADLE_CC=str(other))
    assert loaded and sources["compiled"] == 1 and sources["ready"] == 0
