"""vectorize, guvectorize and reduce for the device, against NumPy."""

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle.cuda import types as ty
from treadle.errors import CompileError

SIGNATURES = ["int32(int32, int32)", "float32(float32, float32)", "float64(float64, float64)"]


@cuda.vectorize(SIGNATURES)
def scaled(a, b):
    return a * b + a


SHAPES = [
    ((), ()),
    ((5,), ()),
    ((7,), (7,)),
    ((3, 1, 4), (2, 4)),
    ((0, 3), (3,)),
    ((2, 3, 2, 2), (2, 2)),
]


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_vectorize_broadcasts(dtype, shapes):
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 9, s).astype(dtype) for s in shapes)
    got = scaled(a, b)
    np.testing.assert_array_equal(got, a * b + a)
    assert got.dtype == dtype
    on_device = scaled(td.asarray(a), b)
    assert isinstance(on_device, td.ndarray)
    np.testing.assert_array_equal(on_device.copy_to_host(), a * b + a)


def test_vectorize_reads_every_layout():
    a = np.arange(24.0).reshape(4, 6)
    for view in (a.T, a[::-1, ::2], np.asfortranarray(a), np.broadcast_to(a[:, :1], (4, 6))):
        np.testing.assert_array_equal(scaled(view, view), view * view + view)
        device = td.asarray(np.ascontiguousarray(view))
        np.testing.assert_array_equal(
            scaled(device.T, device.T).copy_to_host(), (view * view + view).T
        )


def test_vectorize_results_and_outputs():
    assert scaled(1.5, 2.0) == 4.5 and scaled.__name__ == "scaled" and scaled.nin == 2
    out = np.zeros(4, np.float32)
    a = np.arange(4, dtype=np.float32)
    assert scaled(a, a, out=out) is out and out.tolist() == (a * a + a).tolist()
    device = cuda.to_device(a)
    assert scaled(device, device, out=device, stream=cuda.stream()) is device
    assert device.copy_to_host().tolist() == (a * a + a).tolist()
    with pytest.raises(ValueError, match="out has shape"):
        scaled(a, a, out=np.zeros(5, np.float32))
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        scaled(a)
    with pytest.raises(TypeError, match="No matching version"):
        scaled(a * 1j, a)
    with pytest.raises(TypeError, match=r"does not support \.astype\(\)"):
        cuda.vectorize(["int32(int32)"])(lambda x: x)(td.arange(3))


def test_vectorize_without_signatures_compiles_for_its_arguments():
    @cuda.vectorize
    def both(a, b):
        return a + b

    assert both(np.int8([1]), np.int8([2])).dtype == np.int64
    assert both(np.float32([1]), np.float32([2])).dtype == np.float32
    with pytest.raises(KeyError, match="Unrecognized options"):
        cuda.vectorize(SIGNATURES, nonsense=2)
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        cuda.vectorize(SIGNATURES, nopython=True)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 100, 1025])
def test_vectorize_reduces(n):
    add = cuda.vectorize(SIGNATURES)(lambda a, b: a + b)
    x = np.arange(n, dtype=np.int32)
    got = add.reduce(x)
    assert got == x.sum() and got.dtype == np.int32
    device = cuda.to_device(x)
    assert add.reduce(device, stream=cuda.stream()) == x.sum()
    np.testing.assert_array_equal(device.copy_to_host(), x)
    with pytest.raises(TypeError, match="empty array"):
        add.reduce(x[:0])


@cuda.guvectorize([(ty.float32[:, :], ty.float32[:, :], ty.float32[:, :])], "(m,n),(n,p)->(m,p)")
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = ty.float32(0)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@pytest.mark.parametrize(
    "loops", [((), ()), ((5,), (5,)), ((5,), ()), ((4, 25), (25,)), ((3, 1), (1, 2))]
)
def test_guvectorize_against_matmul(loops):
    rng = np.random.default_rng(5)
    a = rng.random((*loops[0], 2, 3), np.float32)
    b = rng.random((*loops[1], 3, 4), np.float32)
    np.testing.assert_allclose(product(a, b), a @ b, rtol=1e-5)
    got = product(td.asarray(a), b)
    np.testing.assert_allclose(got.copy_to_host(), a @ b, rtol=1e-5)


def test_guvectorize_scalars_and_several_results():
    @cuda.guvectorize(["void(float64, float64[:], float64[:], float64[:])"], "(),(n)->(n),()")
    def shift(by, x, moved, total):
        total[0] = 0
        for i in range(x.shape[0]):
            moved[i] = x[i] + by
            total[0] += x[i]

    x = np.arange(12.0).reshape(3, 4)
    moved, total = shift(np.array([1.0, 2.0, 3.0]), x)
    np.testing.assert_array_equal(moved, x + [[1], [2], [3]])
    np.testing.assert_array_equal(total, x.sum(axis=1))


def test_guvectorize_mistakes():
    with pytest.raises(TypeError, match="guvectorized functions cannot return values"):
        cuda.guvectorize(["int32(int32[:], int32[:])"], "(n)->(n)")(lambda x, y: None)
    with pytest.raises(
        TypeError, match=r"gufunc accepts 2 positional arguments .* Got 1 positional argument"
    ):
        product(np.zeros((2, 2), np.float32))
    with pytest.raises(ValueError, match="core axis 'n' has the lengths 3 and 4"):
        product(np.zeros((2, 3), np.float32), np.zeros((4, 2), np.float32))
    with pytest.raises(TypeError, match="target options are not supported: 'strange'"):
        cuda.guvectorize([], "(n)->(n)", strange=1)
    with pytest.raises(TypeError, match="nopython flag must be True"):
        cuda.guvectorize([], "(n)->(n)", nopython=False)


SIZES = [1, 2, 31, 127, 128, 129, 1023, 1025, 34567, 70000]


@pytest.mark.parametrize("n", SIZES)
def test_reduce_any_size(n):
    total, largest = cuda.reduce(lambda a, b: a + b), cuda.Reduce(lambda a, b: max(a, b))
    x = np.random.default_rng(n).permutation(n).astype(np.float64)
    assert total(x) == x.sum() and total(x, init=3) == x.sum() + 3
    assert largest(cuda.to_device(x)) == n - 1
    assert total(x, size=1) == x[0]


def test_reduce_keeps_a_result_on_the_device():
    total = cuda.reduce(lambda a, b: a + b)
    result = cuda.to_device(np.full(2, 7.0))
    assert total(np.arange(10.0), res=result, stream=cuda.stream()) is None
    cuda.synchronize()
    assert result.copy_to_host().tolist() == [45, 7]
    assert total(np.zeros(0, np.int32), init=5) == 5
    with pytest.raises(TypeError, match="only support 1D array"):
        total(np.zeros((2, 2)))


def days(*texts):
    return np.array(texts, "datetime64[D]")


def test_vectorized_functions_of_dates():
    day, span = ty.from_dtype(np.dtype("M8[D]")), ty.from_dtype(np.dtype("m8[D]"))

    @cuda.vectorize([(day, day)])
    def between(start, end):
        return end - start

    @cuda.vectorize([day(day, span)])
    def later(start, by):
        return start + by

    start, end = (
        days("2005-02-01", "NaT", "2024-02-28"),
        days("2005-03-01", "2020-01-01", "2024-03-01"),
    )
    np.testing.assert_array_equal(between(start, end), end - start)
    np.testing.assert_array_equal(between(start[:, None], end), end - start[:, None])
    np.testing.assert_array_equal(
        later(start, np.timedelta64(3, "D")), start + np.timedelta64(3, "D")
    )
    np.testing.assert_array_equal(between(start.astype("M8[M]"), end), end - start.astype("M8[M]"))
    on_device = between(cuda.to_device(start), end)
    np.testing.assert_array_equal(on_device.copy_to_host(), end - start)
    out = np.zeros(3, "m8[D]")
    between(start, end, out=out)
    np.testing.assert_array_equal(out, end - start)


def test_guvectorized_functions_of_dates():
    day, span = ty.from_dtype(np.dtype("M8[D]")), ty.from_dtype(np.dtype("m8[D]"))

    @cuda.guvectorize([(day[:], day, span[:])], "(n),()->(n)")
    def since(dates, start, out):
        for i in range(dates.shape[0]):
            out[i] = dates[i] - start

    dates = days("2005-02-01", "2024-02-28", "1969-12-31", "NaT").reshape(2, 2)
    start = days("2000-01-01", "1970-01-01")
    np.testing.assert_array_equal(since(dates, start), dates - start[:, None])


def test_a_guvectorized_function_is_refused_in_kernels():
    @cuda.guvectorize([(ty.int32[:], ty.int32[:])], "(n)->(n)")
    def copied(a, b):
        for i in range(a.shape[0]):
            b[i] = a[i]

    @cuda.jit
    def kernel(a, b):
        copied(a, b)

    with pytest.raises(CompileError, match="Untyped global name 'copied'") as caught:
        kernel[1, 1](td.zeros(3, np.int32), td.zeros(3, np.int32))
    assert "call a device function" in str(caught.value)


def test_a_number_becomes_the_type_of_a_signature_that_has_its_value():
    @cuda.vectorize(["int16(int16, int16)"])
    def above(x, least):
        return x if x > least else 0

    x = np.array([3, 20, 15], np.int16)
    assert above(x, 15.0).tolist() == [0, 20, 0]
    with pytest.raises(TypeError, match="No matching version"):
        above(x, 15.5)
    with pytest.raises(TypeError, match="No matching version"):
        above(x, np.array([15.0]))
