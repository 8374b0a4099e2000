"""cuda.jit: what one instruction does (conversions of float16, cache hints), and the PTX that shows it."""

import numpy as np
import pytest
import treadle as td
from treadle import cuda

types = cuda.types
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def launch(kernel, out, *args):
    device = td.asarray(out)
    kernel[1, 1](device, *[td.asarray(a) for a in args])
    return device.get()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_become_float16_with_one_rounding(dtype):
    @cuda.jit
    def kernel(out, x):
        for i in range(x.size):
            out[i] = x[i]

    info = np.iinfo(dtype)
    edges = [
        info.min,
        info.max,
        0,
        1,
        127,
        2049,
        2051,
        4098,
        65504,
        65519,
        65520,
        -2049,
        2**25 + 1,
        2**53 + 1,
    ]
    x = np.array([v for v in edges if info.min <= v <= info.max], dtype)
    with np.errstate(over="ignore"):
        wanted = x.astype(np.float16)
    np.testing.assert_array_equal(launch(kernel, np.zeros(len(x), np.float16), x), wanted)


def test_every_float16_becomes_its_float64():
    @cuda.jit
    def kernel(out, x):
        for i in range(x.size):
            out[i] = x[i]

    x = np.arange(0, 2**16, 7).astype(np.uint16).view(np.float16)
    found = launch(kernel, np.zeros(len(x)), x)
    np.testing.assert_array_equal(found, x.astype(np.float64))


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "bfloat16", "float32", "float64"])
def test_cache_hints_of_every_number(dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")

    @cuda.jit
    def kernel(out, x):
        out[0], out[1], out[2] = cuda.ldca(x, 0), cuda.ldcg(x, 1), cuda.ldcs(x, -1)
        out[3], out[4] = cuda.ldlu(x, 1), cuda.ldcv(x, 2)
        cuda.stwb(out, 5, x[0])
        cuda.stcg(out, 6, x[1])
        cuda.stcs(out, 7, x[2])
        cuda.stwt(out, -1, 3)

    x = td.array([5, 100, 77], dtype)
    out = td.zeros(10, dtype)
    kernel[1, 1](out, x)
    assert out.get().astype(float).tolist() == [5, 100, 77, 100, 77, 5, 100, 77, 0, 3]


def multiply_add(x, y, z):
    return x * y + z


def ptx_of(function, signature, **options):
    try:
        return cuda.compile_ptx(function, signature, **options)[0]
    except RuntimeError as error:
        pytest.skip(str(error))


def test_without_optimisation_nothing_is_contracted():
    signature = (types.float64,) * 3
    assert "fma.rn.f64" in ptx_of(multiply_add, signature, device=True)
    assert "fma.rn.f64" not in ptx_of(multiply_add, signature, device=True, opt=False)

    @cuda.jit(opt=False)
    def kernel(out, x):
        out[0] = multiply_add(x[0], x[0], 1)

    assert launch(kernel, np.zeros(1), np.array([3.0])).tolist() == [10]
    assert kernel.targetoptions["opt"] is False


def test_hints_and_conversions_are_one_instruction():
    def hinted(out, x):
        cuda.stwt(out, 0, cuda.ldcv(x, 0))

    text = ptx_of(hinted, (types.float16[:], types.float16[:]))
    assert "ld.global.cv.b16" in text and "st.global.wt.b16" in text

    def convert(out, x):
        out[0] = x

    assert "cvt.rn.f16.s8" in ptx_of(convert, (types.float16[:], types.int8))
    assert "cvt.f64.f16" in ptx_of(convert, (types.float64[:], types.float16))


def test_the_ptx_is_printed_where_it_is_asked_for(monkeypatch, capsys):
    from treadle._jit import settings

    ptx_of(multiply_add, (types.float64,) * 3, device=True)
    monkeypatch.setattr(settings, "DUMP_ASSEMBLY", 1)

    @cuda.jit("void(float64[:])")
    def dumped(x):
        x[0] = 1

    shown = capsys.readouterr().out
    assert "--ASSEMBLY dumped array(float64, 1d, A)-" in shown and ".entry" in shown


def test_a_transpose_names_no_axis_twice():
    with pytest.raises(ValueError, match="repeated axis in transpose"):
        td.zeros((3, 4)).transpose((0, 0))
