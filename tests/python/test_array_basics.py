"""ndarray as a Python object: attributes, indexing, conversion, printing, and public reports on small arrays.

Operations are compared with NumPy row by row in test_ops.py; semantics in depth in test_array_semantics.py.
"""

import copy
import pickle

import numpy as np
import pytest
import treadle as td


@pytest.fixture
def host():
    return np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def x(host):
    return td.asarray(host)


def test_attributes(x, host, device):
    for name in ("shape", "dtype", "strides", "ndim", "size", "nbytes", "itemsize"):
        assert getattr(x, name) == getattr(host, name), name
    assert isinstance(x.dtype, np.dtype)
    assert x.T.shape == (4, 3, 2) and x.T.strides == host.T.strides
    assert x.device == device
    assert x.data.ptr % 256 == 0
    assert (x[1].data.ptr - x.data.ptr) == host.strides[0]
    assert (
        x.flags.c_contiguous
        and x.flags["WRITEABLE"]
        and not x.T.flags.c_contiguous
        and x.T.flags.f_contiguous
    )


KEYS = [
    0, -1, np.int64(1), slice(None), slice(1, None), slice(None, None, -1), ..., None, (0, 1), (0, 1, 2), (..., 0),
    (slice(None), 1), (slice(None), slice(None, None, 2)), (None, 0, ..., None), (slice(5, 9),), (slice(-100, 100, 3),),
    (),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_getitem(x, host, key):
    got = x[key]
    want = host[key]
    assert got.shape == np.shape(want)
    assert np.array_equal(td.asnumpy(got), want)


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("value", [7, 2.5, np.float64(3)])
def test_setitem(x, host, key, value):
    x[key] = value
    host[key] = value
    assert np.array_equal(td.asnumpy(x), host)


def test_setitem_with_an_array_broadcasts(x, host):
    x[:, 1:] = td.asarray(np.arange(4.0))
    host[:, 1:] = np.arange(4.0)
    assert np.array_equal(td.asnumpy(x), host)
    with pytest.raises(ValueError):
        x[0] = td.zeros((5,))


def test_views_alias(x, host):
    row = x[1, 2]
    row[0] = -1
    assert x[1, 2, 0].item() == -1
    x[...] = 0
    assert (td.asnumpy(row) == 0).all()


@pytest.mark.parametrize("key", [2, -3, (0, 3), (0, 0, -5), (0, 0, 0, 0)])
def test_index_out_of_range(x, key):
    with pytest.raises(IndexError):
        x[key]


def test_what_is_no_index(x):
    with pytest.raises(IndexError, match="integer"):
        x[1.0]
    with pytest.raises(IndexError, match="integer"):
        x["a"]


def test_len_and_iteration(x):
    assert len(x) == 2 and [part.shape for part in x] == [(3, 4), (3, 4)]
    assert x.size == 24 and bool(x[0, 0, 1])
    with pytest.raises(TypeError):
        len(x[0, 0, 0])
    with pytest.raises(TypeError):
        iter(x[0, 0, 0])


def test_numbers():
    one = td.asarray([[3]])
    assert (
        int(one) == 3 and float(one) == 3.0 and complex(one) == 3 and bool(one) and one.item() == 3
    )
    assert [10, 11, 12, 13][td.asarray(2)] == 12
    assert isinstance(td.asarray(True).item(), bool)
    assert td.asarray(2**63, dtype=np.uint64).item() == 2**63
    assert td.asarray(1 + 2j).item() == 1 + 2j
    two = td.asarray([1, 2])
    for convert in (int, float, complex):
        with pytest.raises(TypeError):
            convert(two)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(two)
    with pytest.raises(TypeError):
        float(td.asarray([1j]))
    with pytest.raises(TypeError):
        [1][td.asarray(0.0)]
    with pytest.raises(TypeError):
        hash(two)


def test_copies(x, host):
    for clone in (x.copy(), copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        clone[...] = 0
        assert np.array_equal(td.asnumpy(x), host)
    assert x.T.copy("C").flags.c_contiguous and x.copy("F").flags.f_contiguous
    assert pickle.loads(pickle.dumps(x.T)).flags.f_contiguous


def test_printing(device):
    x = td.asarray(np.array([1.5, 2.5], np.float32))
    assert repr(x) == f"array([1.5, 2.5], dtype=float32, device='{device.name}')"
    assert str(x) == "[1.5 2.5]"
    assert f"{td.asarray(0.125):.2f}" == "0.12"
    assert repr(td.zeros((0, 3))).startswith("array([], shape=(0, 3), dtype=float64")


@pytest.mark.parametrize("shape", [(2000,), (50, 60), (3, 4, 500), (1001, 1)])
def test_printing_of_large_arrays_copies_the_ends_only(shape):
    host = np.arange(np.prod(shape)).reshape(shape)
    assert str(td.asarray(host)) == str(host)
    assert repr(td.asarray(host)).startswith(repr(host)[:-1].split(", shape=")[0].removesuffix(")"))


# ---- NumPy's protocols ----


def test_numpy_functions_run_on_the_device(x, host):
    assert isinstance(np.add(x, 1), td.ndarray)
    assert np.array_equal(td.asnumpy(np.sqrt(x)), np.sqrt(host))
    assert np.array_equal(td.asnumpy(np.concatenate([x, x])), np.concatenate([host, host]))
    assert np.array_equal(td.asnumpy(np.sum(x, axis=0)), host.sum(axis=0))
    assert np.array_equal(td.asnumpy(np.float32(2) * x), 2 * host)
    with pytest.raises(NotImplementedError, match="is_busday"):
        np.is_busday(x)


def test_in_place_operators_keep_the_object(x, host):
    same = x
    x += 1
    x *= 2
    x -= td.ones_like(x)
    x /= 2
    assert x is same
    assert np.array_equal(td.asnumpy(x), ((host + 1) * 2 - 1) / 2)


def test_foreign_operands():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "mine"

    assert td.ones(2) + Other() == "mine"
    with pytest.raises(TypeError):
        td.ones(2) + "text"
    with pytest.raises(TypeError, match="asarray"):
        td.ones(2) + [1, 2]
    assert not td.asnumpy(td.ones(2) == "text").any()
    assert not td.asnumpy(td.ones(2) == None).any()  # noqa: E711
    with pytest.raises(TypeError):
        td.ones(2) + None


def test_dlpack(software):
    x = td.arange(12, dtype=np.float32).reshape(3, 4)
    assert x.__dlpack_device__() == ((1, 0) if software else (2, x.device.id))
    if software:
        view = np.from_dlpack(x[:, 1:])
        assert np.array_equal(view, np.arange(12).reshape(3, 4)[:, 1:])
        assert view.ctypes.data == x[:, 1:].data.ptr


def test_cuda_array_interface_exists_on_a_gpu_only(software):
    x = td.zeros((2, 3), np.float32)
    assert hasattr(x, "__cuda_array_interface__") is not software
    if not software:
        facts = x.__cuda_array_interface__
        assert (
            facts["shape"] == (2, 3)
            and facts["typestr"] == "<f4"
            and facts["data"] == (x.data.ptr, False)
        )
        assert facts["version"] == 3 and facts["strides"] is None


# ---- public reports, each with its right value ----


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_infinities_in_extremes(dtype):
    """cupy/cupy#7424, #8180: the identity of a reduction must not leak."""
    assert int(td.argmax(td.asarray([-np.inf], dtype=dtype))) == 0
    assert int(td.argmin(td.asarray([np.inf], dtype=dtype))) == 0
    assert float(td.min(td.asarray([np.inf, np.inf], dtype=dtype))) == np.inf
    assert float(td.max(td.asarray([[-np.inf], [-np.inf]], dtype=dtype), axis=0)[0]) == -np.inf


@pytest.mark.parametrize("n", [8, 1000])
def test_in_place_with_an_overlapping_view(n):
    """cupy/cupy#2407: inputs act as if read first."""
    host = np.arange(n * n).reshape(n, n)
    a = td.asarray(host)
    a += a.T
    assert np.array_equal(td.asnumpy(a), host + host.T)


def test_reshape_of_an_empty_array():
    """cupy/cupy#2637: sizes 0 and 1 differ."""
    with pytest.raises(ValueError):
        td.zeros((0,)).reshape(())


def test_reductions_with_an_empty_axis():
    """cupy/cupy#6937: only the reduced length matters."""
    assert td.min(td.empty((0, 2)), axis=1).shape == (0,)
    with pytest.raises(ValueError):
        td.min(td.empty((0, 2)), axis=0)


def test_weak_python_int_with_a_typed_scalar():
    """cupy/cupy#9028: uint8 + 1 stays uint8."""
    total = td.add(np.uint8(255), 1)
    assert total.dtype == np.uint8 and total.item() == 0


def test_around_is_half_to_even():
    """cupy/cupy#2276."""
    rounded = td.asnumpy(td.around(td.asarray([2.5, 3.5, -0.5])))
    assert rounded.tolist() == [2, 4, 0] and np.signbit(rounded[2])


def test_broadcast_view_is_read_only():
    """cupy/cupy#2405."""
    b = td.broadcast_to(td.ones(1, "f4"), (3,))
    with pytest.raises(ValueError):
        b += 1
    with pytest.raises(ValueError):
        b[0] = 2


def test_integer_true_division():
    """inducer/pycuda#360."""
    half = td.ones(4, np.int32) / td.full(4, 2, np.int32)
    assert half.dtype == np.float64 and (td.asnumpy(half) == 0.5).all()


def test_empty_arrays():
    """inducer/pycuda#373."""
    e = td.asarray(np.array([]))
    assert (e + e).shape == (0,) and float(e.sum()) == 0.0


def test_copy_keeps_order_and_views_keep_values():
    """inducer/pycuda#403, #154, #385, #38."""
    f = td.asarray(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert f.copy("K").strides == (8, 16)
    host = np.arange(10 * 15 * 8.0).reshape(10, 15, 8)
    view = td.asarray(host)[:, 7:9, :].transpose(1, 0, 2)
    assert view.shape == (2, 10, 8)
    assert np.array_equal(td.asnumpy(view), host[:, 7:9, :].transpose(1, 0, 2))
