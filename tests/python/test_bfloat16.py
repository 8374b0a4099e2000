"""bfloat16: every operation, cast and reduction against the dtype of ml_dtypes, over memory layouts."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import treadle as td
from test_ops import ROWS, lay_out, operands_for

ml_dtypes = pytest.importorskip("ml_dtypes")
BF = ml_dtypes.bfloat16
BF_DTYPE = np.dtype(BF)
LETTERS = "?bhiqBHIQefdFD"
LAYOUTS = ["flat", "fortran", "strided", "broadcast"]
# No bfloat16 loop in ml_dtypes (or, of sign, one that keeps -0): the oracle is float32, rounded once.
FROM_FLOAT = {"clip", "sign", "degrees", "radians", "ldexp", "angle"}


def values(count=208, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(count) * 10.0 ** rng.integers(-4, 5, count)
    x[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3.0]
    return x.astype(BF)


def same(got, want, ulp=0, name=""):
    got, want = td.asnumpy(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, name
    if want.dtype != BF_DTYPE:
        np.testing.assert_array_equal(got, want, err_msg=name)
        return
    a, b = got.astype(np.float32), want.astype(np.float32)
    with np.errstate(all="ignore"):
        unit = np.abs(np.spacing(want).astype(np.float32))
        good = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= ulp * unit)
    if ulp == 0:
        good &= np.isnan(b) | (np.signbit(a) == np.signbit(b))
    assert good.all(), f"{name}: {a[~good][:5]} instead of {b[~good][:5]}"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_operation(layout):
    """The result is that of float32, rounded once: equal to ml_dtypes', or one step away where float32 functions may
    differ by more than their last place."""
    rng, results = np.random.default_rng(7), []
    for name, row in ROWS.items():
        if "e" not in row["loops"] or name in ("real", "imag"):
            continue
        host = [
            x.astype(BF) if x.dtype == np.float32 else x
            for x in operands_for(row, np.dtype(np.float32), rng, 208)
        ]
        mine = [lay_out(td, td.asarray(x), layout) for x in host]
        results.append(
            (name, row, [lay_out(np, x, layout) for x in host], getattr(td, name)(*mine))
        )
    assert len(results) > 60
    for name, row, operands, result in results:
        with np.errstate(all="ignore"):
            if name in FROM_FLOAT:
                operands = [x.astype(np.float32) if x.dtype == BF_DTYPE else x for x in operands]
            want = getattr(np, row["numpy"])(*operands)
            want = want.astype(BF) if name in FROM_FLOAT else want
        same(result, want, 1 if any(row["ulp"]) else 0, f"{name} {layout}")


@pytest.mark.parametrize("letter", LETTERS)
def test_casts_and_promotion(letter):
    rng = np.random.default_rng(5)
    other = rng.integers(0, 2 if letter == "?" else 100, 208).astype(letter)
    if letter in "fdFD":
        other = (other * rng.standard_normal(208)).astype(letter)
    x = values()
    part = other.real if letter in "FD" else other
    same(td.asarray(other).astype(BF), part.astype(BF))
    few = x[np.isfinite(x.astype(float)) & (np.abs(x.astype(float)) < 100)]
    few = np.abs(few) if letter in "BHIQ" else few
    same(td.asarray(few).astype(letter), few.astype(letter))
    with np.errstate(all="ignore"):
        same(td.asarray(x) + td.asarray(other), x + other)
        same(td.asarray(other) < td.asarray(x), other < x)
    try:
        want = np.result_type(BF, letter)
    except TypeError:
        with pytest.raises(TypeError, match=r"common dtype|promoted"):
            td.concatenate([td.asarray(x), td.asarray(other)])
    else:
        assert td.concatenate([td.asarray(x), td.asarray(other)]).dtype == want
        assert td.result_type(BF, letter) == want


def test_double_and_integers_go_through_float():
    """As with ml_dtypes before 0.7, which since then rounds once."""

    def through_float(x):
        return x.astype(np.float32).astype(BF)

    wide = [1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40, 3.4e38, 3.39e38, 1e300, 1e-45, 1e-41]
    with np.errstate(over="ignore"):
        same(td.asarray(wide).astype(BF), through_float(np.array(wide)))
    whole = np.array([2**24 + 2**16 + 1, 2**40 + 2**32 + 1, -(2**62) - 2**54 - 1, 257, 255])
    same(td.asarray(whole).astype(BF), through_float(whole))
    same(td.asarray([np.nan, np.inf, 1e30, -1e30], BF).astype(np.int32),
         np.array([0, 2**31 - 1, 2**31 - 1, -(2**31)], np.int32))  # fmt: skip


def test_every_pattern_survives_a_round_trip():
    """All 65536 patterns: to float32 and back, through copies, and compared with their own value."""
    bits = np.arange(65536, dtype=np.uint16)
    x = bits.view(BF)
    mine = td.asarray(x)
    number = ~np.isnan(x.astype(np.float32))
    assert np.array_equal(td.asnumpy(mine.copy()).view(np.uint16), bits)
    assert np.array_equal(
        td.asnumpy(mine.astype("f4").astype(BF)).view(np.uint16)[number], bits[number]
    )
    assert np.array_equal(td.asnumpy(mine == mine), number)
    with np.errstate(all="ignore"):
        same(td.sort(mine), np.sort(x.astype(np.float32), kind="stable").astype(BF))
        same(td.nextafter(mine, mine[::-1]), np.nextafter(x, x[::-1]))


def test_weak_scalars_keep_bfloat16():
    """Python numbers are weak for every floating-point dtype; for bfloat16 NumPy widens floats instead."""
    x = td.asarray(values())
    for number in (True, 2, 2.5):
        assert (x * number).dtype == BF_DTYPE and (number - x).dtype == BF_DTYPE
    assert (x * 1j).dtype == np.complex64
    assert (x + np.float32(1)).dtype == np.float32
    same(x * 2.5, values() * BF(2.5))
    same(x + BF(1), values() + BF(1))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reductions_accumulate_in_float32(layout):
    rng = np.random.default_rng(9)
    x = rng.uniform(-3, 3, 208).astype(BF)
    view, mine = lay_out(np, x, layout), lay_out(td, td.asarray(x), layout)
    wide = view.astype(np.float32)
    for axis in (None, 0, -1):
        for name in ("sum", "mean", "min", "max", "var", "std", "prod"):
            want = np.asarray(getattr(np, name)(wide, axis=axis)).astype(BF)
            same(getattr(td, name)(mine, axis=axis), want, 1, f"{name} {axis}")
        for name in ("argmin", "argmax", "count_nonzero", "any", "all"):
            same(getattr(td, name)(mine, axis=axis), getattr(np, name)(wide, axis=axis), name=name)
        want = np.cumsum(wide, axis=axis, dtype=np.float32).astype(BF)
        same(td.cumsum(mine, axis=axis), want, 1)
    same(td.ones(10000, BF).sum(), np.float32(10000).astype(BF))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sorting_and_searching(layout):
    x = values()
    view, mine = lay_out(np, x, layout), lay_out(td, td.asarray(x), layout)
    wide = view.astype(np.float32)
    same(td.sort(mine), np.sort(wide, kind="stable").astype(BF))
    same(td.argsort(mine, kind="stable"), np.argsort(wide, kind="stable"))
    line = np.sort(wide.ravel()[np.isfinite(wide.ravel())]).astype(BF)
    same(td.searchsorted(td.asarray(line), mine), np.searchsorted(line.astype("f4"), wide))
    few = np.abs(line)
    same(td.unique(td.asarray(few)), np.unique(few.astype("f4")).astype(BF))
    same(td.where(mine > 0, mine, BF(0)), np.where(wide > 0, view, BF(0)))
    same(mine[mine > 0], view[wide > 0])


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4, 5)), ((2, 70, 33), (33, 65)), ((7,), (7, 2)), ((2, 0), (0, 3))]
)
def test_matmul(shapes):
    """Sums in float32, the result rounded once; NumPy, which has no product of bfloat16, gives float32."""
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-4, 5, s).astype(BF) for s in shapes)
    got = td.matmul(td.asarray(a), td.asarray(b))
    assert got.dtype == BF_DTYPE
    same(got, (a.astype("f4") @ b.astype("f4")).astype(BF))
    if len(shapes[0]) > 1:
        turned = td.matmul(
            td.asarray(np.swapaxes(a, -1, -2).copy()).swapaxes(-1, -2), td.asarray(b)
        )
        same(turned, (a.astype("f4") @ b.astype("f4")).astype(BF))


def test_creation_and_writes():
    for made, want in (
        (td.zeros((2, 3), BF), np.zeros((2, 3), BF)),
        (td.full(5, 0.1, BF), np.full(5, 0.1, BF)),
        (td.arange(7, dtype=BF), np.arange(7).astype(BF)),
        (td.linspace(0, 1, 5, dtype=BF), np.linspace(0, 1, 5).astype(BF)),
        (td.eye(3, dtype=BF), np.eye(3).astype(BF)),
        (td.asarray([1.5, 2], BF), np.array([1.5, 2], BF)),
        (td.ones(3, "bfloat16"), np.ones(3, BF)),
    ):
        same(made, want)
    x = td.zeros((4, 4), BF)
    x[::2, ::-1] = td.asarray(values(8)[4:].reshape(1, 4))
    x += 1
    want = np.zeros((4, 4), BF)
    want[::2, ::-1] = values(8)[4:]
    same(x, want + BF(1))
    td.scatter_add(x, (td.asarray([0, 0, 1]), td.asarray([0, 0, 1])), td.ones(3, BF))


def test_goes_out_and_comes_back():
    x = values().reshape(8, 26)
    mine = td.asarray(x[:, ::-2])
    same(mine, x[:, ::-2])
    assert repr(td.asarray(x[1, :3])).startswith("array([") and "dtype=bfloat16" in repr(
        td.ones(2, BF)
    )
    again = pickle.loads(pickle.dumps(mine))
    same(again, x[:, ::-2])
    same(td.from_dlpack(mine), x[:, ::-2])
    assert float(td.asarray(BF(1.5))) == 1.5 and td.bfloat16 is BF
    assert td.finfo(BF).eps == 2.0**-7 and td.finfo(mine).bits == 16


def test_raw_kernel():
    source = """#include <cuda_bf16.h>
    extern "C" __global__ void twice(const __nv_bfloat16* x, __nv_bfloat16* out, __nv_bfloat16 add, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) out[i] = __float2bfloat16(2.0f * __bfloat162float(x[i]) + __bfloat162float(add));
    }"""
    x = values(64, 4)[8:]
    out = td.empty(56, BF)
    kernel = td.RawKernel(source, "twice")
    kernel((1,), (64,), (td.asarray(x), out, BF(0.5), 56))
    same(out, (2 * x.astype("f4") + np.float32(0.5)).astype(BF))
    with pytest.raises(TypeError, match="bfloat16"):
        kernel((1,), (64,), (td.asarray(x).astype(np.float16), out, BF(0.5), 56))


def test_elementwise_kernel():
    kernel = td.ElementwiseKernel("T x, float32 s", "T y", "y = x * s + T(1)", "bf_scale")
    x = values()
    with np.errstate(all="ignore"):
        same(kernel(td.asarray(x), 3.0), (x.astype("f4") * 3 + 1).astype(BF))


def test_refused():
    with pytest.raises(TypeError):
        td.linalg.inv(td.eye(3, dtype=BF))
    with pytest.raises(TypeError):
        td.bitwise_and(td.ones(2, BF), td.ones(2, BF))


def test_absence_of_ml_dtypes_is_named():
    program = """import sys
sys.modules["ml_dtypes"] = None
import treadle as td
for ask in (lambda: td.zeros(2, "bfloat16"), lambda: td.bfloat16):
    try:
        ask()
    except ImportError as error:
        assert "pip install ml_dtypes" in str(error), error
    else:
        raise SystemExit("no error")
"""
    subprocess.run(
        [sys.executable, "-c", program], check=True, env=os.environ | {"TREADLE_DEVICE": "soft"}
    )
