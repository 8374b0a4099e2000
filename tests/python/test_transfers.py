"""Explicit transfers between host and device."""

import numpy as np
import pytest
import treadle as td
from treadle import cuda

DTYPES = [d.name for d in td._treadle.dtypes]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 0, 2), (5, 4), (2, 3, 4)])
def test_round_trip(dtype, shape):
    host = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7).astype(dtype)
    back = td.asnumpy(td.asarray(host))
    assert back.dtype == host.dtype and back.shape == host.shape
    assert np.array_equal(back, host)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::2],
        lambda x: x[::-1],
        lambda x: x.T,
        lambda x: x[:, 3:1:-1],
        lambda x: np.broadcast_to(x[0], (4, 9)),
    ],
)
def test_host_strides_do_not_matter(view):
    host = view(np.arange(72.0).reshape(8, 9))
    assert np.array_equal(td.asnumpy(td.asarray(host)), host)


@pytest.mark.parametrize("size", [1, 1000, 1 << 20, (1 << 23) + 13])
@pytest.mark.parametrize("blocking", [True, False])
def test_large_and_small(size, blocking):
    host = np.arange(size, dtype=np.uint32)
    there = td.asarray(host, blocking=blocking)
    host[:] = 0  # the memory may be reused when the call returns
    assert np.array_equal(td.asnumpy(there), np.arange(size, dtype=np.uint32))


def test_out_is_returned_and_any_strides_do():
    x = td.arange(12, dtype=np.float32).reshape(3, 4)
    out = np.zeros((3, 4), np.float32, order="F")
    assert td.asnumpy(x, out=out) is out
    assert np.array_equal(out, np.arange(12).reshape(3, 4))
    wide = np.zeros((6, 8), np.float32)
    x.get(out=wide[::2, ::2])
    assert np.array_equal(wide[::2, ::2], out) and wide[1::2].sum() == 0


def test_out_of_another_shape_or_dtype_is_refused():
    x = td.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match="shape"):
        td.asnumpy(x, out=np.zeros((4, 3), np.float32))
    with pytest.raises(TypeError, match="dtype"):
        td.asnumpy(x, out=np.zeros((3, 4)))
    with pytest.raises(TypeError):
        td.asnumpy(x, out=[0])


def test_not_blocking():
    x = td.arange(100_000, dtype=np.float64) * 2
    out = td.asnumpy(x, blocking=False)
    cuda.get_current_stream().synchronize()
    assert np.array_equal(out, np.arange(100_000) * 2.0)


def test_asarray_on_the_device_copies_nothing():
    x = td.asarray([1.0, 2.0])
    assert td.asarray(x) is x
    assert td.asarray(x, dtype=np.float64) is x
    y = td.asarray(x, dtype=np.float32)
    assert y.dtype == np.float32 and y is not x
    z = td.array(x)
    z[0] = 9
    assert x[0].item() == 1.0


def test_copy_false_is_refused_where_a_copy_is_needed():
    with pytest.raises(ValueError):
        td.asarray([1, 2], copy=False)
    with pytest.raises(ValueError):
        td.asarray(td.asarray([1, 2]), dtype=np.float32, copy=False)


def test_order_is_kept():
    host = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    x = td.asarray(host)
    assert x.flags.f_contiguous and not x.flags.c_contiguous
    assert np.array_equal(td.asnumpy(x), host)
    assert td.asarray(host, order="C").flags.c_contiguous


def test_set_is_by_index_not_by_byte():
    """inducer/pycuda#145: assignment across memory orders."""
    g = td.asarray(np.zeros((3, 4), order="F"))
    c = np.zeros((3, 4))
    c[0, :] = 1
    g.set(c)
    assert (g.get() == c).all()
    with pytest.raises(ValueError, match="shape"):
        g.set(np.zeros((4, 3)))


@pytest.mark.parametrize(
    "bad", [["a", "b"], [object()], np.array(["2020-01-01"], dtype="M8[D]"), np.zeros(2, "f4,f4")]
)
def test_what_the_device_has_no_type_for_is_refused(bad):
    with pytest.raises(TypeError, match="dtype"):
        td.asarray(bad)


def test_byte_order_is_converted():
    assert td.asnumpy(td.asarray(np.arange(5, dtype=">i4"))).tolist() == [0, 1, 2, 3, 4]


def test_no_implicit_conversion():
    x = td.asarray([1.0, 2.0])
    with pytest.raises(TypeError, match="asnumpy"):
        np.asarray(x)
    with pytest.raises(TypeError, match="asarray"):
        x + np.array([1.0, 2.0])
    with pytest.raises(TypeError):
        np.array([1.0, 2.0]) + x


def test_read_only_host_memory():
    host = np.arange(5)
    host.flags.writeable = False
    assert td.asnumpy(td.asarray(host)).tolist() == [0, 1, 2, 3, 4]


def test_pandas_columns():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"quantity": [2, 5, 3], "price": [10, 8, 15]})
    assert int((td.asarray(table["quantity"]) * td.asarray(table["price"])).sum()) == 105
