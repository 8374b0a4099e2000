"""ElementwiseKernel against NumPy: dtypes, layouts, raw arrays, inference of types, errors in the user's own words."""

import numpy as np
import pytest
import treadle as td

ADD = td.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")


def same(mine, wanted):
    assert mine.dtype == wanted.dtype and mine.shape == wanted.shape
    np.testing.assert_array_equal(td.asnumpy(mine), wanted)


LAYOUTS = {
    "c": lambda a: a,
    "f": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-2],
    "row": lambda a: a[1],
    "column": lambda a: a[:, :1],
    "scalar": lambda a: a[1, 1],
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [d.name for d in td._treadle.dtypes])
def test_every_dtype_and_layout(dtype, layout):
    host = (np.arange(42).reshape(6, 7) % 5).astype(dtype)
    view = LAYOUTS[layout]
    x, a = view(td.asarray(host)), np.asarray(view(host))
    same(ADD(x, x), np.add(a, a))


@pytest.mark.parametrize("shapes", [((3, 1), (1, 4)), ((2, 3, 4), (4,)), ((), (5,)), ((1,), (0,))])
def test_inputs_broadcast(shapes):
    a, b = (np.arange(int(np.prod(s)), dtype="f4").reshape(s) for s in shapes)
    same(ADD(td.asarray(a), td.asarray(b)), a + b)


def test_broadcast_without_materialising():
    x = td.broadcast_to(td.ones((1, 3), np.float32), (2, 3))
    same(ADD(x, x), np.full((2, 3), 2, np.float32))


# ---- types ----


def test_placeholders_and_fixed_types():
    kernel = td.ElementwiseKernel("T x, U y, float32 s", "U z, T w", "z = x + y; w = x * s;", "two")
    z, w = kernel(td.arange(3, dtype=np.int32), td.asarray([0.5, 1.5, 2.5]), 2)
    same(z, np.array([0.5, 2.5, 4.5]))
    same(w, np.array([0, 2, 4], np.int32))


@pytest.mark.parametrize(
    "x, y, dtype",
    [
        (td.arange(3, dtype="i1"), 2, "i1"),  # weak
        (td.arange(3, dtype="f4"), 0.5, "f4"),
        (td.arange(3, dtype="f2"), np.float64(0.5), "f2"),  # same_kind
        (td.arange(3, dtype="c8"), 2.5, "c8"),
        (td.asarray([True, False]), True, "?"),
    ],
)
def test_numbers_take_the_arrays_type(x, y, dtype):
    same(ADD(x, y), td.asnumpy(x) + np.dtype(dtype).type(y))


def test_numbers_alone_follow_nep50():
    kernel = td.ElementwiseKernel("raw float32 x, T y, T z", "T w", "w = y + z", "numbers")
    x = td.zeros(1, np.float32)
    assert kernel(x, 1, 2, size=2).dtype == np.int64
    assert kernel(x, 1, 2.5, size=2).dtype == np.float64
    assert kernel(x, np.float32(1), 2, size=2).dtype == np.float32
    assert kernel(x, np.int16(1), np.float32(2), size=2).dtype == np.float32


@pytest.mark.parametrize(
    "args, error, text",
    [
        ((td.arange(3, dtype="f4"), td.arange(3, dtype="f8")), TypeError, "'y' takes float32.*float64"),
        ((td.arange(3, dtype="i4"), 2.5), TypeError, "'y' .*2.5"),
        ((td.arange(3, dtype="u1"), 300), OverflowError, "'y'.*300.*0 to 255"),
        ((td.arange(3, dtype="u1"), -1), OverflowError, "'y'.*-1"),
        ((td.arange(3, dtype="f4"), 1j), TypeError, "'y'"),
        ((td.arange(3), np.arange(3)), TypeError, "asarray"),
        ((td.arange(3), "text"), TypeError, "str"),
        ((td.arange(3), td.arange(4)), ValueError, "'y'.*broadcast|broadcast.*'y'"),
        ((td.arange(3),), TypeError, "takes 2"),
        ((td.arange(3), td.arange(3), td.zeros(2, np.int64)), ValueError, "shape"),
        ((td.arange(3), td.arange(3), td.zeros(3, np.int32)), TypeError, "int32"),
        (
            (td.arange(3), 1, td.broadcast_to(td.zeros(1, np.int64), (3,))),
            ValueError,
            "'z' is read-only",
        ),
    ],
)  # fmt: skip
def test_refused_arguments(args, error, text):
    with pytest.raises(error, match=text):
        ADD(*args)


def test_type_that_nothing_decides():
    with pytest.raises(TypeError, match="type U of parameter 'z' cannot be inferred"):
        td.ElementwiseKernel("T x", "U z", "z = x", "open")(td.arange(3))


@pytest.mark.parametrize(
    "params, text",
    [
        ("x", "type and a name"),
        ("float33 x", "float33"),
        ("row T x", "row"),
        ("T 1x", "1x"),
        ("T i", "'i'"),
        ("T _x", "'_x'"),
        ("T x, T x", "two parameters"),
    ],
)
def test_refused_parameter_lists(params, text):
    with pytest.raises(ValueError, match=text):
        td.ElementwiseKernel(params, "T z", "z = 0", "k")


def test_refused_name():
    with pytest.raises(ValueError, match="Invalid kernel name"):
        td.ElementwiseKernel("T x", "T z", "z = x", "1 + 1")


# ---- outputs ----


def test_outputs_given():
    out = td.zeros((3, 4), np.float32)
    x = td.ones((3, 4), np.float32)
    assert ADD(x, 1, out) is not x
    same(out, np.full((3, 4), 2, np.float32))
    ADD(x, 1, out.T[::-1].T)
    strided = td.zeros((6, 8), np.float32)
    ADD(x, 1, strided[::2, 1::2])
    wanted = np.zeros((6, 8), np.float32)
    wanted[::2, 1::2] = 2
    same(strided, wanted)


def test_outputs_are_references():
    kernel = td.ElementwiseKernel("T x", "T z", "if (x < 2) continue; z += x;", "accumulate")
    z = td.full(4, 10, np.int64)
    kernel(td.arange(4), z)
    same(z, np.array([10, 10, 12, 13]))


@pytest.mark.parametrize("n", [8, 500])
def test_overlapping_output_acts_as_if_inputs_were_read_first(n):
    host = np.arange(float(n * n)).reshape(n, n)
    x = td.asarray(host)
    ADD(x, x.T, x)
    same(x, host + host.T)
    y = td.asarray(np.arange(1000))
    ADD(y[:-1], y[1:], y[1:])
    same(y[1:], np.arange(999) + np.arange(1, 1000))


def test_no_return_and_return_tuple():
    x = td.arange(3)
    assert td.ElementwiseKernel("T x", "T z", "z = x", "a", no_return=True)(x) is None
    assert isinstance(td.ElementwiseKernel("T x", "T z", "z = x", "b", return_tuple=True)(x), tuple)


def test_order_with_lazy_work():
    x = td.arange(4.0)
    y = x * 2  # pending
    ADD(x, 1.0, x)  # must not change y
    z = ADD(y, x + 1)
    x += 100
    same(y, np.arange(4.0) * 2)
    same(z, np.arange(4.0) * 3 + 2)


# ---- raw arrays, the index ----


def test_raw_arrays_of_any_layout():
    host = np.arange(24).reshape(4, 6)
    kernel = td.ElementwiseKernel(
        "T x, raw T y", "T z, raw T r", "z = x + y[n - 1 - i]; r[i] = y.size();", "raw"
    )
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::-1], lambda a: a[::2, 1::3]):
        a, x = view(host), view(td.asarray(host))
        z, r = kernel(x, x, td.empty_like(x), td.zeros(a.size, host.dtype))
        same(z, a + a.ravel()[::-1].reshape(a.shape))
        same(r, np.full(a.size, a.size))


def test_raw_index_per_axis():
    host = np.arange(12.0).reshape(3, 4)
    kernel = td.ElementwiseKernel(
        "raw T x", "T z",
        "int at[] = {(int)(i / x.shape()[0]), (int)(i % x.shape()[0])}; int turned[] = {at[1], at[0]}; z = x[turned];",
        "turn",
    )  # fmt: skip
    for x in (td.asarray(host), td.asarray(host.T.copy()).T):
        same(kernel(x, size=12), host.T.ravel())


def test_raw_broadcast_view_reads_one_element():  # cupy/cupy#3095
    kernel = td.ElementwiseKernel("raw T x", "T z", "z = x[i]", "stride_zero")
    x = td.broadcast_to(td.asarray([7.0]), (1000, 5))
    same(kernel(x, size=5000), np.full(5000, 7.0))


def test_index_counts_in_c_order():
    kernel = td.ElementwiseKernel("T x", "T z", "z = 100 * x + i", "index")
    for host in (np.arange(12).reshape(3, 4), np.asfortranarray(np.arange(12).reshape(3, 4))):
        same(kernel(td.asarray(host)), 100 * host + np.arange(12).reshape(3, 4))
        same(kernel(td.asarray(host).T), 100 * host.T + np.arange(12).reshape(4, 3))


def test_indexer():
    kernel = td.ElementwiseKernel(
        "T x", "T z", "z = _ind.get()[0] * 100 + _ind.get()[1] + 0 * _ind.size()", "places"
    )
    same(kernel(td.zeros((3, 5), np.int64)), np.add.outer(100 * np.arange(3), np.arange(5)))


def test_size_rules():
    raw = td.ElementwiseKernel("raw T x, T y", "raw T z", "z[i] = x[i] + y", "sized")
    x = td.arange(4)
    same(raw(x, 1, size=4), np.arange(4) + 1)
    with pytest.raises(ValueError, match="Loop size is undecided"):
        raw(x, 1)
    with pytest.raises(ValueError, match="Specified 'size'"):
        raw(x, x, size=4)
    with pytest.raises(ValueError, match="Output array size"):
        raw(x, x)
    with pytest.raises(ValueError, match="size"):
        raw(x, 1, size=-2)
    assert raw(x, 1, size=0).shape == (0,)


@pytest.mark.parametrize("block_size", [1, 32, 100, 1024])
def test_block_size(block_size):
    same(ADD(td.arange(1000), 1, block_size=block_size), np.arange(1000) + 1)
    with pytest.raises(ValueError, match="block_size"):
        ADD(td.arange(3), 1, block_size=0)


# ---- the language ----


def test_preamble_loop_prep_after_loop_and_options():
    kernel = td.ElementwiseKernel(
        "T x", "T z", "z = twice(x) + offset; ++seen;", "parts",
        preamble="template <class A> __device__ A twice(A a) { return a * FACTOR; }",
        loop_prep="T offset = 5; int seen = 0;",
        after_loop="if (seen < 0) __trap();",
        options=("-DFACTOR=2",),
    )  # fmt: skip
    same(kernel(td.arange(5.0)), 2 * np.arange(5.0) + 5)


def test_complex_numbers():
    kernel = td.ElementwiseKernel(
        "T x",
        "T z, float32 m",
        "z = conj(x) * x + T(0, 1) - 2.0f * exp(x); m = abs(x);",
        "complexes",
    )
    host = np.array([1 + 2j, -0.5j, 0], np.complex64)
    z, m = kernel(td.asarray(host))
    np.testing.assert_allclose(z.get(), host.conj() * host + 1j - 2 * np.exp(host), rtol=1e-5)
    np.testing.assert_allclose(m.get(), np.abs(host), rtol=1e-6)


def test_float16_rounds_on_each_store():
    kernel = td.ElementwiseKernel(
        "T x", "T z", "float16 t = x * x; t += 1; z = max(t, x);", "halves"
    )
    host = np.linspace(-3, 3, 50).astype(np.float16)
    wanted = (host.astype("f4") ** 2).astype("f2")
    wanted = np.maximum((wanted.astype("f4") + 1).astype("f2"), host)
    same(kernel(td.asarray(host)), wanted)


def test_comment_at_the_end_and_atomics():
    kernel = td.ElementwiseKernel(
        "int32 x", "raw int32 counts", "atomicAdd(&counts[x], 1) // count", "histogram"
    )
    counts = td.zeros(4, np.int32)
    x = np.random.default_rng(0).integers(0, 4, 5000).astype(np.int32)
    kernel(td.asarray(x), counts)
    same(counts, np.bincount(x).astype(np.int32))


def test_more_elements_than_one_wave():
    x = td.arange(3_000_001, dtype=np.int32)
    same(ADD(x, x), 2 * np.arange(3_000_001, dtype=np.int32))


# ---- errors and facts ----


def test_a_compile_error_is_reported_in_the_users_text():
    kernel = td.ElementwiseKernel("T x", "T z", "z = x;\nz = unknown_name + x;", "broken")
    with pytest.raises(td.CompileError) as caught:
        kernel(td.arange(3))
    assert "operation of kernel 'broken'" in str(caught.value)
    assert "unknown_name" in str(caught.value)
    assert "'broken':2:" in str(caught.value) or "'broken'(2)" in str(caught.value)


def test_error_in_the_preamble():
    kernel = td.ElementwiseKernel("T x", "T z", "z = x", "k", preamble="int f( { }")
    with pytest.raises(td.CompileError, match="preamble of kernel 'k'"):
        kernel(td.arange(3))


def test_texts_are_kept():
    kernel = td.ElementwiseKernel("T x, T y", "T z", "z = x + y", "kept")
    assert kernel.cached_codes == {}
    for _ in range(2):
        kernel(td.arange(3), 1)
        assert len(kernel.cached_codes) == 1
    kernel(td.arange(3.0), 1)
    assert len(kernel.cached_codes) == 2
    assert "z = x + y" in kernel.cached_code
    assert (kernel.nin, kernel.nout, kernel.nargs) == (2, 1, 3)
    assert [p.name for p in kernel.in_params] == ["x", "y"]
    assert kernel.in_params[0].ctype == "T" and kernel.in_params[0].dtype is None


def test_stream():
    stream = td.cuda.Stream(non_blocking=True)
    x = td.arange(5)
    td.cuda.synchronize()  # a non-blocking stream waits for nobody
    z = ADD(x, 1, stream=stream)
    stream.synchronize()
    same(z, np.arange(5) + 1)


# ---- fuse ----


def test_fuse_returns_a_function_that_computes():
    @td.fuse
    def plain(x, y):
        return (x - y) * (x - y)

    @td.fuse(kernel_name="named")
    def named(x):
        return x + 1

    @td.fuse()
    def empty_call(x):
        return td.sum(x, axis=0)

    anonymous = td.fuse(lambda x: x * x + 1)
    x = td.arange(4.0)
    same(plain(x, 1.0), (np.arange(4.0) - 1) ** 2)
    same(named(x), np.arange(4.0) + 1)
    same(empty_call(x), np.float64(6.0))
    same(anonymous(x), np.arange(4.0) ** 2 + 1)
    assert plain.__name__ == "plain" and named.__name__ == "named"
    assert plain(3, 1) == 4
    plain.clear_cache()
    with pytest.raises(TypeError):
        td.fuse(unknown=1)


def test_kernels_are_pickled_as_their_texts():
    import pickle

    kernel = pickle.loads(
        pickle.dumps(
            td.ElementwiseKernel("T x", "T z", "z = f(x)", "p", preamble="#define f(x) 2*x")
        )
    )
    same(kernel(td.arange(3)), 2 * np.arange(3))
    total = pickle.loads(
        pickle.dumps(td.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total"))
    )
    assert int(total(td.arange(4))) == 6
    raw = td.RawKernel('extern "C" __global__ void k(int* o) { *o = N; }', "k", ("-DN=7",))
    out = td.zeros((), np.int32)
    pickle.loads(pickle.dumps(raw))((1,), (1,), (out,))
    assert int(out) == 7
