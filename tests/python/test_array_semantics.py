"""Views, aliasing, in-place work and laziness against NumPy: fixed cases, and random programs."""

import itertools

import numpy as np
import pytest
import treadle as td
from hypothesis import given, settings
from hypothesis import strategies as st


def same(mine, numpy_array):
    np.testing.assert_array_equal(td.asnumpy(mine), numpy_array)


# ---- fixed cases ----


@pytest.mark.parametrize("n", [8, 300])
def test_in_place_with_overlapping_view(n):
    x = np.arange(n * n).reshape(n, n)
    a = td.asarray(x)
    a += a.T
    same(a, x + x.T)
    b = td.asarray(np.arange(1000.0))
    b[1:] += b[:-1]
    y = np.arange(1000.0)
    y[1:] = y[1:] + y[:-1].copy()
    same(b, y)
    c = td.asarray(np.arange(10))
    c[::-1] = c
    same(c, np.arange(10)[::-1])


def test_overlap_with_a_pending_value():
    a = td.asarray(np.arange(16.0).reshape(4, 4))
    x = a + 1  # not computed yet
    x.T[...] += x
    w = np.arange(16.0).reshape(4, 4) + 1
    same(x, w + w.T)


def test_reader_before_writer():
    a = td.asarray(np.arange(5.0))
    b = a * 2
    total = (a * 3).sum()
    a += 100
    a[0] = -1
    same(b, np.arange(5.0) * 2)
    assert float(total) == 30
    same(a, [-1, 101, 102, 103, 104])


def test_writes_through_views_reach_every_view():
    x = np.zeros((4, 6), np.int32)
    a = td.asarray(x)
    views = [
        (a[1:3], x[1:3]),
        (a.T[2], x.T[2]),
        (a[::2, ::-3], x[::2, ::-3]),
        (a.reshape(24)[5:9], x.reshape(24)[5:9]),
    ]
    for k, (mine, theirs) in enumerate(views):
        mine += k + 1
        theirs += k + 1
        same(a, x)
    for mine, theirs in views:
        same(mine, theirs)


def test_a_discarded_value_is_no_obstacle():
    a = td.asarray(np.arange(4))
    for _ in range(200):
        a + 1
    same(a, np.arange(4))


def test_long_chains():
    a = td.asarray(np.arange(1000.0))
    x = np.arange(1000.0)
    for k in range(300):
        a = a + k
        x = x + k
    same(a, x)


def test_reshape_of_empty():
    with pytest.raises(ValueError):
        td.zeros((0,)).reshape(())
    assert td.zeros((0, 3)).reshape((3, 0)).shape == (3, 0)
    with pytest.raises(ValueError):
        td.zeros((0,)).reshape((-1, 0))


def test_reductions_of_an_array_without_dimensions_along_its_own_axis():
    x = np.array(-3)
    a = td.asarray(x)
    for axis in (0, -1):
        for name in ("sum", "prod", "max", "min", "any", "all", "argmax", "count_nonzero"):
            got, want = getattr(td, name)(a, axis=axis), getattr(np, name)(x, axis=axis)
            assert got.shape == () and td.asnumpy(got) == want
    for function, axis in ((td.sum, 1), (td.max, -2), (td.mean, 0)):
        with pytest.raises(np.exceptions.AxisError):
            function(a, axis=axis)


def test_broadcast_view_is_read_only():
    b = td.broadcast_to(td.ones(1, np.float32), (3,))
    with pytest.raises(ValueError, match="read-only"):
        b += 1
    with pytest.raises(ValueError, match="read-only"):
        b[0] = 1
    same(b + 1, [2, 2, 2])


def test_weak_integer_wraps():
    assert int(td.add(td.asarray(np.uint8(255)), 1)) == 0


def test_round_half_to_even():
    got = td.asnumpy(td.around(td.asarray(np.array([2.5, 3.5, -0.5]))))
    assert got.tolist() == [2, 4, 0] and np.signbit(got[2])


def test_out_argument():
    a = td.asarray(np.arange(6.0).reshape(2, 3))
    out = td.zeros((2, 3), np.float32)
    assert td.add(a, 1, out=out) is out
    same(out, np.arange(1, 7).reshape(2, 3))
    with pytest.raises(TypeError, match="same_kind"):
        td.add(a, 1, out=td.zeros((2, 3), np.int32))
    with pytest.raises(ValueError):
        td.add(a, 1, out=td.zeros(3))
    i = td.asarray(np.arange(3))
    with pytest.raises(TypeError):
        i += 1.5
    with pytest.raises(TypeError):
        i /= 2


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.complex64])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (1, 1, 1)])
def test_small_shapes(shape, dtype):
    x = np.ones(shape, dtype)
    a = td.asarray(x)
    same(a + a, x + x)
    same((a * 2).T, (x * 2).T)
    same(a.reshape(-1), x.reshape(-1))
    same(a.sum(), x.sum())
    a[...] = 3
    x[...] = 3
    same(a, x)
    assert (
        a.flags.c_contiguous == x.flags.c_contiguous
        and a.flags.f_contiguous == x.flags.f_contiguous
    )


def test_results_follow_the_order_of_operands():
    x = np.arange(24.0).reshape(2, 3, 4)
    a = td.asarray(x)
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1), (0, 2, 1)):
        y, b = x.transpose(order), a.transpose(order)
        assert (b + 1).strides == (y + 1).strides
        assert (b + b).strides == (y + y).strides
        assert (b + b[:1]).strides == (y + y[:1]).strides
        assert (b.T.copy() + b.T).strides == (y.T.copy() + y.T).strides
        assert (b > 3).flags.c_contiguous == (y > 3).flags.c_contiguous


def test_copy_orders():
    x = np.arange(12.0).reshape(3, 4)
    for order in "CFAK":
        for y, a in ((x, td.asarray(x)), (x.T, td.asarray(x).T)):
            got, want = a.copy(order), y.copy(order)
            assert got.strides == want.strides
            same(got, want)


def test_many_elements_in_many_dimensions():
    x = np.arange(2**12).reshape((2,) * 12)
    a = td.asarray(x).transpose(list(range(0, 12, 2)) + list(range(1, 12, 2)))
    y = x.transpose(list(range(0, 12, 2)) + list(range(1, 12, 2)))
    same(a + a[:, ::-1], y + y[:, ::-1])


def test_transposed_copy():
    for shape in ((33, 65), (1, 100), (257, 31), (300, 300), (5, 70, 40)):
        x = np.random.default_rng(1).random(shape)
        same(td.asarray(x).T.copy("C"), x.T)
        same(td.asarray(x).T + 1, x.T + 1)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(4)))[1:])
def test_copies_of_permuted_axes(axes):
    x = np.arange(3 * 34 * 40 * 65, dtype=np.int32).reshape(3, 34, 40, 65)
    for y in (x, x[1], x[:, 2:, ::2]):
        order = axes if y.ndim == 4 else [axis for axis in axes if axis < 3]
        same(td.asarray(y).transpose(order).copy("C"), y.transpose(order))


# ---- random programs ----

SHAPES = [(6,), (4, 6), (2, 4, 6), (6, 6)]


@st.composite
def view(draw, ndim):
    """A basic index of an array with `ndim` axes, together with an optional transpose."""
    items = []
    for _ in range(draw(st.integers(0, ndim))):
        kind = draw(st.sampled_from(["slice", "reverse", "step", "int", "all"]))
        items.append(
            {"slice": slice(draw(st.integers(0, 2)), None), "reverse": slice(None, None, -1), "all": slice(None),
             "step": slice(draw(st.integers(0, 1)), None, 2), "int": draw(st.integers(-2, 1))}[kind]
        )  # fmt: skip
    return tuple(items), draw(st.booleans())


def take(array, index):
    items, transpose = index
    result = array[items]
    return result.T if transpose else result


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_programs(data):
    """Steps of NumPy programs with views and in-place writes; at the end every array and view holds the same values."""
    shape = data.draw(st.sampled_from(SHAPES))
    rng = np.random.default_rng(data.draw(st.integers(0, 3)))
    hosts = [rng.integers(-5, 6, shape).astype(np.float64) for _ in range(2)]
    hosts.append(rng.integers(-5, 6, shape[-1:]).astype(np.float64))
    mine = [td.asarray(x) for x in hosts]
    for _ in range(data.draw(st.integers(1, 14))):
        step = data.draw(
            st.sampled_from(
                [
                    "new",
                    "view",
                    "write",
                    "scalar",
                    "in place",
                    "drop",
                    "sum",
                    "look",
                    "fill",
                    "copy",
                ]
            )
        )
        i, j = (data.draw(st.integers(0, len(hosts) - 1)) for _ in range(2))
        if step == "new":
            try:
                # Of arrays without dimensions NumPy gives a scalar, which cannot be written to.
                hosts.append(np.asarray(np.maximum(hosts[i] * 0.5 + hosts[j], -50.0)))
            except ValueError:
                continue
            mine.append(td.maximum(mine[i] * 0.5 + mine[j], -50.0))
        elif step == "view" and hosts[i].ndim:
            index = data.draw(view(hosts[i].ndim))
            hosts.append(take(hosts[i], index))
            if not isinstance(hosts[-1], np.ndarray):
                hosts[-1] = hosts[i][(*index[0], ...)]
            mine.append(take(mine[i], index))
        elif step in ("write", "in place"):
            try:
                if step == "write":
                    hosts[i][...] = hosts[j]
                else:
                    hosts[i] += hosts[j]
            except ValueError:
                continue
            if step == "write":
                mine[i][...] = mine[j]
            else:
                mine[i] += mine[j]
        elif step == "scalar":
            hosts[i] -= 1.5
            mine[i] -= 1.5
        elif step == "fill" and hosts[i].ndim:
            hosts[i][1:] = 7
            mine[i][1:] = 7
        elif step == "copy":
            hosts.append(hosts[i].copy())
            mine.append(mine[i].copy())
        elif step == "sum" and hosts[i].ndim:
            hosts.append(np.asarray((hosts[i] + 1).sum(axis=0)))
            mine.append((mine[i] + 1).sum(axis=0))
        elif step == "drop" and len(hosts) > 1:
            del hosts[i], mine[i]
        elif step == "look":
            same(mine[i], hosts[i])
    for a, x in zip(mine, hosts):
        same(a, x)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=0, max_size=4), st.data())
def test_random_indexing(shape, data):
    x = np.arange(int(np.prod(shape))).reshape(shape)
    a = td.asarray(x)
    items = []
    for n in shape[: data.draw(st.integers(0, len(shape)))]:
        choice = data.draw(st.sampled_from(["int", "slice", "new"]))
        if choice == "new":
            items.append(None)
        if choice == "int":
            items.append(data.draw(st.integers(-n, n - 1)))
        else:
            bound = st.none() | st.integers(-n - 2, n + 2)
            step = data.draw(st.none() | st.integers(-3, 3).filter(bool))
            items.append(slice(data.draw(bound), data.draw(bound), step))
    if data.draw(st.booleans()):
        items.insert(data.draw(st.integers(0, len(items))), Ellipsis)
    try:
        want = x[tuple(items)]
    except IndexError:  # an ellipsis has moved an integer to a shorter axis
        with pytest.raises(IndexError):
            a[tuple(items)]
        return
    got = a[tuple(items)]
    assert got.shape == np.shape(want)
    same(got, want)
    if isinstance(want, np.ndarray) and want.size:
        same(got.reshape(-1), want.reshape(-1))
