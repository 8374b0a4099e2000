"""Which array a view belongs to, ``x.flat``, shapes set in place, host data as values."""

import numpy as np
import pytest
import treadle as td


def same(actual, expected):
    actual = td.asnumpy(actual)
    assert actual.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(actual, expected)


# ---- base ----


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.reshape(3, 4), lambda a: a[1:], lambda a: a[::-1], lambda a: a[None], lambda a: a.T,
        lambda a: a.view("i4"), lambda a: a.reshape(3, 4).T[1], lambda a: td.broadcast_to(a, (2, 12)),
        lambda a: a.reshape(3, 4).diagonal(), lambda a: td.expand_dims(a, 0), lambda a: a.ravel(),
    ],
)  # fmt: skip
def test_a_view_knows_its_array(view):
    a = td.arange(12)
    v = view(a)
    assert v.base is a
    assert not v.flags.owndata
    assert a.base is None
    assert a.flags["OWNDATA"]


def test_parts_of_complex_numbers():
    z = td.zeros((2, 3), "c8")
    assert z.real.base is z
    assert z.imag.base is z
    x = td.zeros(3)
    assert x.real is x
    assert x.conj() is x


def test_results_have_no_base():
    a = td.arange(4)
    for b in (a.copy(), a + 1, a[[0, 1]], a.astype("f4"), td.cumsum(a)):
        assert b.base is None


def test_the_base_of_a_view_whose_array_is_gone():
    v = td.arange(6).reshape(2, 3)[1]
    same(v.base, np.arange(6))
    v.base[3] = 7
    assert int(v[0]) == 7


def test_many_short_lived_arrays_are_not_taken_for_the_base():
    views = [td.zeros(4).reshape(2, 2) for _ in range(50)]
    others = [v[0] for v in views]
    for v, o in zip(views, others):
        assert v.base is not o
        assert o.base is not None
        assert o.base is not o


# ---- shape ----


def test_shape_is_set_in_place():
    x = td.arange(6)
    x.shape = (2, -1)
    same(x, np.arange(6).reshape(2, 3))
    x.shape = 6
    assert x.shape == (6,)
    assert x.base is None
    with pytest.raises(ValueError, match="cannot reshape"):
        x.shape = (4, 2)
    y = td.arange(6).reshape(2, 3).T
    with pytest.raises(AttributeError, match="incompatible shape"):
        y.shape = (6,)


def test_at_most_64_dimensions():
    with pytest.raises(ValueError, match="64, found 65"):
        td.zeros((1,) * 65)


# ---- flat ----

INDICES = [
    0, -1, 7, slice(None), slice(2, 9, 3), slice(None, None, -1), slice(10, 2, -4), slice(5, 5), ..., [1, 4, -1], [],
    np.array([[0, 1], [2, 3]]), np.arange(12) % 3 == 0,
]  # fmt: skip
LAYOUTS = {
    "C": lambda h: td.asarray(h), "F": lambda h: td.asarray(np.asfortranarray(h)),
    "reversed": lambda h: td.asarray(h[::-1].copy())[::-1], "1-d": lambda h: td.asarray(h.reshape(-1)),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_flat_reads_and_writes_in_c_order(layout, index):
    host = np.arange(12.0).reshape(3, 4)
    x = LAYOUTS[layout](host)
    host = host if layout != "1-d" else host.reshape(-1)
    same(x.flat[index], host.flat[index])
    for values in (5, [1, 2], np.arange(20.0), np.array([[1, 2, 3]])):
        if isinstance(index, int) and np.ndim(values):
            continue
        want = host.copy()
        want.flat[index] = values
        y = LAYOUTS[layout](host if layout != "1-d" else host.reshape(3, 4))
        y.flat[index] = td.asarray(values) if np.ndim(values) == 2 else values
        same(y, want)


def test_flat_is_an_iterator():
    x = td.asarray(np.asfortranarray(np.arange(6).reshape(2, 3)))
    it = x.flat
    assert iter(it) is it
    assert it.base is x
    assert len(it) == 6
    assert [int(v) for v in it] == list(range(6))
    it = x.flat
    next(it)
    assert (it.index, it.coords) == (1, (0, 1))
    same(it.copy(), np.arange(6))
    same(x.flat == td.arange(6), np.ones(6, bool))


def test_flat_of_one_number_and_of_nothing():
    x = td.zeros(())
    x.flat[0] = 3
    assert float(x) == 3
    x = td.zeros((2, 2))
    x.flat = [1, 2]
    same(x, [[1.0, 2], [1, 2]])
    assert td.zeros((0, 3)).flat[:].shape == (0,)
    with pytest.raises(ValueError, match="no values"):
        x.flat[:] = []


@pytest.mark.parametrize("index", [None, True, 1.5, "a", (0, 0), 12, -13, [12]])
def test_flat_refuses(index):
    with pytest.raises(IndexError):
        assert td.zeros((3, 4)).flat[index]
    with pytest.raises(IndexError):
        td.zeros((3, 4)).flat[index] = 1


# ---- host data as values ----


@pytest.mark.parametrize("dtype", "?bHifdFD")
@pytest.mark.parametrize(
    "key", [slice(None), 0, (slice(None), 1), [1, 0], (..., [0, 2]), np.array([True, False])]
)
def test_a_store_takes_host_data_along(key, dtype):
    host = np.zeros((2, 3), dtype)
    values = np.arange(np.zeros((2, 3))[key].size).reshape(host[key].shape)
    for given in (
        values,
        values.tolist(),
        values.astype(np.float32),
        values.astype("f2").T.copy().T,
    ):
        x, want = td.asarray(host), host.copy()
        x[key] = given
        want[key] = given
        same(x, want)


def test_host_values_are_checked_as_numpy_checks_them():
    x = td.zeros(2, "u1")
    with pytest.raises(OverflowError):
        x[:] = [300, 1]
    with pytest.raises(ValueError, match="broadcast"):
        x[:] = np.ones(3)
    with pytest.raises(TypeError):
        x[:] = [1j, 0]
    with pytest.raises(TypeError, match="asarray"):
        x[:] = object()
    with pytest.raises(TypeError, match="asarray"):
        x + np.ones(2)
    same(x, np.zeros(2, "u1"))


def test_copyto_fill_and_scatter_take_host_data():
    x = td.zeros((2, 3))
    td.copyto(x, np.arange(3))
    same(x, [[0.0, 1, 2]] * 2)
    td.scatter_add(x, (0, [0, 0]), np.array([1.0, 2]))
    same(x, [[3.0, 1, 2], [0, 1, 2]])
    x.fill(np.array(4))
    same(x, np.full((2, 3), 4.0))
    with pytest.raises(ValueError, match="one value"):
        x.fill(np.ones(3))
    with pytest.raises(TypeError, match="safe"):
        td.copyto(td.zeros(2, "i4"), np.ones(2), casting="safe")


@pytest.mark.parametrize("dtype", "?bHiQefdFD")
def test_byteswap(dtype):
    host = np.arange(12).astype(dtype).reshape(3, 4)
    for h, x in (
        (host, td.asarray(host)),
        (host[:, ::2], td.asarray(host)[:, ::2]),
        (host.T, td.asarray(host).T),
    ):
        assert td.asnumpy(x.byteswap()).tobytes() == h.byteswap().tobytes()
    x = td.asarray(host)
    assert x.byteswap(inplace=True) is x
    assert td.asnumpy(x).tobytes() == host.byteswap().tobytes()


@pytest.mark.parametrize("other", [None, ..., object(), "text", b"bytes"])
def test_no_number_equals_an_object(other):
    x = td.arange(3)
    same(x == other, np.zeros(3, bool))
    same(x != other, np.ones(3, bool))
    same(other == x, np.zeros(3, bool))
    with pytest.raises(TypeError):
        assert x < other


def test_numpy_scalars_on_the_left():
    x = td.arange(4)
    same(np.int16(2) < x, np.int16(2) < np.arange(4))
    same(np.float32(2) + x, np.float32(2) + np.arange(4))


def test_astype_without_a_copy_is_the_array_itself():
    x = td.zeros((2, 3))
    assert x.astype("f8", copy=False) is x
    assert x.astype("f8", "C", copy=False) is x
    assert x.astype("f8", "F", copy=False) is not x
    assert x.astype("f8") is not x
