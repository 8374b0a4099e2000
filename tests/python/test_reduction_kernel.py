"""ReductionKernel against NumPy: axes, layouts, dtypes, long and short, identities, custom accumulators."""

import numpy as np
import pytest
import treadle as td

SUM = td.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "my_sum")
LARGEST = td.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "my_max")


def same(mine, wanted):
    wanted = np.asarray(wanted)
    assert mine.dtype == wanted.dtype and mine.shape == wanted.shape
    np.testing.assert_array_equal(td.asnumpy(mine), wanted)


def axes_of(ndim):
    yield None
    yield from range(-ndim, ndim)
    if ndim > 1:
        yield (0, ndim - 1)
        yield ()


SHAPES = [(), (1,), (5,), (3, 4), (33, 40), (100, 7), (7, 100), (1500, 33), (33, 1500), (2, 3, 4), (40, 3, 1100),
          (70_000,)]  # fmt: skip
LAYOUTS = {"c": lambda a: a, "f": lambda a: a.T, "backwards": lambda a: a[..., ::-1]}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_axis(shape, layout):
    if shape == () and layout == "backwards":
        pytest.skip("no axis to turn")
    host = np.random.default_rng(1).integers(-9, 9, shape)
    a, x = LAYOUTS[layout](host), LAYOUTS[layout](td.asarray(host))
    for axis in axes_of(a.ndim):
        for keepdims in (False, True):
            same(SUM(x, axis=axis, keepdims=keepdims), np.sum(a, axis=axis, keepdims=keepdims))
            same(LARGEST(x, axis=axis, keepdims=keepdims), np.max(a, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("dtype", [d.name for d in td._treadle.dtypes])
def test_every_dtype(dtype):
    host = (np.arange(60).reshape(12, 5) % 3).astype(dtype)
    same(SUM(td.asarray(host), axis=0), np.sum(host, axis=0, dtype=dtype))
    if np.dtype(dtype).kind != "c":
        same(LARGEST(td.asarray(host), axis=1), np.max(host, axis=1))


def test_norm_with_two_inputs_and_post_map():
    kernel = td.ReductionKernel(
        "T x, T w, T p", "T y", "pow(abs(x), p) * w", "a + b", "y = pow(a, T(1) / p)", "0", "norm"
    )
    x, w = np.random.default_rng(2).normal(size=(2, 30, 50))
    mine = kernel(td.asarray(x), td.asarray(w[:1] ** 2), 3.0, axis=1)
    np.testing.assert_allclose(
        mine.get(), (np.abs(x) ** 3 * w[:1] ** 2).sum(axis=1) ** (1 / 3), rtol=1e-12
    )


ARGMAX = td.ReductionKernel(
    "T x", "int64 y", "best(x, _J)", "better(a, b)", "y = a.place", "best()", "my_argmax",
    reduce_type="best",
    preamble="""
struct best {
  double value; long long place;
  __device__ best() : value(-1e300), place(-1) {}
  __device__ best(double v, long long p) : value(v), place(p) {}
};
__device__ best better(const best& a, const best& b) {
  return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
}
""",
)  # fmt: skip


@pytest.mark.parametrize("shape", [(50,), (3, 2000), (2000, 3), (4, 5, 6), (100_000,)])
def test_accumulator_of_the_users_own_type(shape):
    host = np.random.default_rng(3).normal(size=shape)
    for axis in [None, *range(host.ndim)]:
        same(ARGMAX(td.asarray(host), axis=axis), np.argmax(host, axis=axis))
        same(ARGMAX(td.asarray(host).T, axis=axis), np.argmax(host.T, axis=axis))


def test_index_and_raw():
    kernel = td.ReductionKernel(
        "T x, raw T w", "T y", "x * w[i]", "a + b", "y = a", "0", "weighted"
    )
    host = np.arange(12).reshape(3, 4)
    weights = np.arange(12)[::-1]
    for axis in (None, 0, 1):
        for x in (td.asarray(host), td.asarray(np.asfortranarray(host))):
            same(
                kernel(x, td.asarray(weights[::-1].copy())[::-1], axis=axis),
                (host * weights.reshape(3, 4)).sum(axis=axis),
            )


def test_indexers():
    kernel = td.ReductionKernel(
        "T x",
        "T y",
        "x * _in_ind.get()[1]",
        "a + b",
        "y = a + 1000 * _out_ind.get()[0]",
        "0",
        "places",
    )
    host = np.ones((3, 4), np.int64)
    same(kernel(td.asarray(host), axis=1), np.full(3, 6) + 1000 * np.arange(3))


def test_empty():
    x = td.zeros((0, 3))
    same(SUM(x, axis=0), np.zeros(3))
    same(SUM(x, axis=1), np.zeros(0))
    same(SUM(x), np.float64(0))
    same(LARGEST(x, axis=1), np.zeros(0))
    with pytest.raises(ValueError, match="zero-size array to reduction operation my_max"):
        LARGEST(x, axis=0)


def test_out():
    host = np.arange(12.0).reshape(3, 4)
    x = td.asarray(host)
    out = td.zeros((4, 2))[:, 1]
    SUM(x, axis=0, out=out)
    same(out, host.sum(axis=0))
    kept = td.zeros((3, 1))
    SUM(x, kept, axis=1, keepdims=True)
    same(kept, host.sum(axis=1, keepdims=True))
    with pytest.raises(ValueError, match="shape"):
        SUM(x, axis=0, out=td.zeros(3))
    with pytest.raises(ValueError, match="out"):
        SUM(x, out, axis=0, out=out)
    with pytest.raises(TypeError, match="float32"):
        SUM(x, axis=0, out=td.zeros(4, np.float32))
    SUM(x[:, 0], axis=(), out=x[:, 1])  # in and out lie between each other
    same(x[:, 1], host[:, 0])


def test_two_outputs():
    kernel = td.ReductionKernel(
        "T x", "T y, T z", "x", "a + b", "y = a; z = a * 2;", "0", "two_outputs"
    )
    y, z = kernel(td.arange(5))
    assert int(y) == 10 and int(z) == 20


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda x: SUM(x, axis=2), ValueError, "axis"),
        (lambda x: SUM(x, axis=(0, 0)), ValueError, "axis"),
        (lambda x: SUM(x, x, x), TypeError, "arguments"),
        (lambda x: SUM(np.zeros(3)), TypeError, "asarray"),
        (lambda x: SUM(1.0), ValueError, "Loop size is undecided"),
        (lambda x: SUM(x, unknown=1), TypeError, "unknown"),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(td.zeros((3, 4)))


@pytest.mark.parametrize(
    "part, place",
    [(2, "map_expr"), (3, "reduce_expr"), (4, "post_map_expr"), (5, "identity")],
)
def test_a_compile_error_names_the_expression(part, place):
    texts = ["T x", "T y", "x", "a + b", "y = a", "0"]
    texts[part] = "y = nobody" if part == 4 else "nobody"
    with pytest.raises(td.CompileError, match=rf"{place} of kernel 'wrong'"):
        td.ReductionKernel(*texts, "wrong")(td.arange(3))


def test_result_repeats():
    x = td.random.default_rng(5).standard_normal((1_000_001,), dtype=np.float32)
    assert len({float(SUM(x)) for _ in range(5)}) == 1
