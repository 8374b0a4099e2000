"""cuda.jit: records, dates, characters, enumerations, named tuples, None, frozen values."""

import enum
from collections import namedtuple

import numpy as np
import pytest
import treadle as td
from treadle import cuda

pytestmark = pytest.mark.filterwarnings("ignore:.*Host array used in CUDA kernel")

PACKED = np.dtype([("a", np.int32), ("b", np.float64)])  # b is not aligned
ALIGNED = np.dtype([("a", np.int32), ("b", np.float64)], align=True)
RICH = np.dtype(
    [("x", np.uint8), ("inner", PACKED), ("grid", np.float32, (2, 3)), ("h", np.float16),
     ("c", np.complex64), ("z", np.complex128), ("f", np.bool_), ("s", "S5"), ("u", "U4"), ("when", "M8[s]"),
     ("records", PACKED, (2,))]
)  # fmt: skip


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 2.5


class Planet(enum.Enum):
    EARTH = (5.97e24, 6.4e6)
    MARS = (6.4e23, 3.4e6)


class Level(enum.IntEnum):
    LOW = 5
    HIGH = 7


Pair = namedtuple("Pair", "x y")
TABLE = np.array([(1, 2.5), (3, 4)], PACKED)
ROW = TABLE[1]
FIRST = np.datetime64("2020-02-01")


def run(body, *args, block=1):
    cuda.jit(body)[1, block](*args)


@pytest.mark.parametrize("dtype", [PACKED, ALIGNED])
def test_fields_by_attribute_name_and_number(dtype):
    def body(r, out):
        i = cuda.threadIdx.x
        r[i].a = i + 1
        r[i]["b"] = r[i].a / 2
        r[i].b += 1
        out[i] = r[i][0] + r[i - 4][1]

    r, out = np.zeros(4, dtype), np.zeros(4)
    run(body, r, out, block=4)
    assert r.tolist() == [(1, 1.5), (2, 2.0), (3, 2.5), (4, 3.0)]
    assert out.tolist() == [2.5, 4, 5.5, 7]


def test_every_kind_of_field():
    def body(r, out):
        one = r[0]
        one.x = 255
        one.inner.a = 4
        one["inner"]["b"] = 1.5
        one.grid[1, 2] = 7
        one.grid[0] = 3
        one.h = 1.5
        one.c = 1 + 2j
        one.z = -3j
        one.f = True
        one.s = "abc"
        one.u = "xyz"
        one.records[1].b = 9
        r[1] = one
        out[0] = r[1].grid[1, 2] + r[1].h
        out[1] = r[1].c.imag * r[1].z.imag
        out[2] = r[1].records[1]["b"]
        out[3] = len(r[1].s) + len(r[1].u)

    r, out = np.zeros(3, RICH), np.zeros(4)
    r["when"] = "2021-05-06"
    run(body, r, out)
    assert out.tolist() == [8.5, -6, 9, 6]
    want = (
        255,
        (4, 1.5),
        np.array([[3, 3, 3], [0, 0, 7]], "f4"),
        1.5,
        1 + 2j,
        -3j,
        True,
        b"abc",
        "xyz",
    )
    for row in r[:2]:
        for have, wanted in zip(row, want):
            np.testing.assert_array_equal(
                have, np.array(wanted, have.dtype) if hasattr(have, "dtype") else wanted
            )
    assert r["when"].tolist() == [np.datetime64("2021-05-06", "s").item()] * 3
    assert r[2]["s"] == b"" and not r[2]["grid"].any()


def test_one_field_of_all_records():
    def body(r, out):
        for i, x in enumerate(r["b"]):
            out[i] = x
        r["a"][1] += 5
        r.a[0] = r["a"].shape[0]
        r["a"][2:] = 8
        cuda.atomic.add(r["a"], 3, 10)

    r, out = np.zeros(4, PACKED), np.zeros(4)
    r["b"] = [1, 2, 3, 4]
    run(body, r, out)
    assert out.tolist() == [1, 2, 3, 4] and r["a"].tolist() == [4, 5, 8, 18]

    def grids(r, out):
        out[0] = r.grid[1, 0, 2] + r["grid"].ndim
        r.grid[:, 1, :] = 5
        r.inner.a[1] = 7

    rich = np.zeros(2, RICH)
    rich["grid"][1, 0, 2] = 3
    run(grids, rich, out)
    assert out[0] == 6 and (rich["grid"][:, 1] == 5).all() and rich["inner"]["a"].tolist() == [0, 7]


def test_whole_records():
    def body(r, other, out):
        r[1] = r[0]
        r[2] = (7, 8)
        r[3] = other
        for x in r:
            out[0] += x.a
        out[1] = len(r)
        out[2] = other.b

    r, out = np.array([(1, 2)] + [(0, 0)] * 3, PACKED), np.zeros(3)
    run(body, r, np.array([(5, 6)], PACKED)[0], out)
    assert r.tolist() == [(1, 2), (1, 2), (7, 8), (5, 6)] and out.tolist() == [14, 4, 6]


@pytest.mark.parametrize("dtype", [PACKED, ALIGNED])
def test_records_in_shared_and_local_memory(dtype):
    def body(out):
        shared = cuda.shared.array(8, dtype)
        mine = cuda.local.array((2, 2), dtype)
        i = cuda.threadIdx.x
        shared[i].a = i
        shared[i].b = i * 2.5
        cuda.syncthreads()
        mine[1, 1] = shared[7 - i]
        mine[0, 1].a = 1
        out[i] = mine[1, 1].b + mine[0, 1].a

    out = np.zeros(8)
    run(body, out, block=8)
    assert out.tolist() == [(7 - i) * 2.5 + 1 for i in range(8)]

    def dynamic(out):
        shared = cuda.shared.array(0, dtype)
        i = cuda.threadIdx.x
        shared[i].b = i
        cuda.syncthreads()
        out[i] = shared[7 - i].b + shared.size

    cuda.jit(dynamic)[1, 8, 0, 8 * dtype.itemsize](out)
    assert out.tolist() == [15 - i for i in range(8)]


def test_records_through_device_functions():
    def larger(p, q):
        return p if p.b > q.b else q

    def area(grid):
        return grid[0, 0] * grid[1, 2]

    def body(r, rich, out):
        out[0] = larger(r[0], r[1]).a
        out[1] = area(rich[0].grid)

    rich, out = np.zeros(1, RICH), np.zeros(2)
    rich["grid"] = 3
    run(body, np.array([(1, 5), (2, 4)], PACKED), rich, out)
    assert out.tolist() == [1, 9]


def test_frozen_records_and_arrays():
    def body(out):
        out[0] = TABLE[0].b + ROW.b
        for r in TABLE:
            out[1] += r.a

    out = np.zeros(2)
    run(body, out)
    assert out.tolist() == [6.5, 4]


def test_a_missing_field_is_told():
    def body(r):
        r[0].whem = 1

    with pytest.raises(
        TypeError, match=r"no field 'whem'; it has x, inner(.|\n)*did you mean 'when'\?"
    ) as caught:
        run(body, np.zeros(1, RICH))
    assert "r[0].whem" in str(caught.value)


def test_an_index_of_records_is_checked_in_debug():
    def body(r, i):
        r[i].a = 1

    with pytest.raises(
        IndexError, match=r"index 3 is out of bounds for axis 0 of 'r' with shape \(3,\)"
    ):
        cuda.jit(debug=True)(body)[1, 1](np.zeros(3, PACKED), 3)

    def grids(r, i):
        r[0].grid[i, 0] = 1

    with pytest.raises(IndexError, match=r"axis 0 of 'r\[0\].grid' with shape \(2, 3\)"):
        cuda.jit(debug=True)(grids)[1, 1](np.zeros(3, RICH), 3)


def test_characters():
    def body(s, u, out):
        out[0] = s[0] == "abc"
        out[1] = s[0] == b"abc"
        out[2] = u[0] == "abc"
        out[3] = s[0] == u[0]
        out[4] = s[0] != s[1]
        out[5] = s[1] < s[0]
        out[6] = len(u[1])
        out[7] = u[1] == "äβ"
        s[2] = s[0]
        u[2] = "lang"
        s[3] = "long enough"

    s = np.array([b"abc", b"ab", b"", b""], "S5")
    u = np.array(["abc", "äβ", "", ""], "U3")
    out = np.zeros(8, np.int32)
    run(body, s, u, out)
    assert out.tolist() == [1, 1, 1, 1, 1, 1, 2, 1]
    assert s.tolist() == [b"abc", b"ab", b"abc", b"long "] and u.tolist() == [
        "abc",
        "äβ",
        "lan",
        "",
    ]


def test_dates_and_differences():
    days = np.arange("2020-01", "2020-03", dtype="M8[D]")
    seconds = days.astype("M8[s]") + np.timedelta64(7, "s")

    def body(a, b, delta, since, flags, numbers):
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            delta[i] = b[i] - a[i]
            since[i] = a[i] - FIRST
            flags[i] = a[i] < FIRST
            numbers[i] = delta[i] / delta[0] + np.int64(since[i])

    delta, since = np.zeros(days.size, "m8[s]"), np.zeros(days.size, "m8[D]")
    flags, numbers = np.zeros(days.size, bool), np.zeros(days.size)
    a, b = days.copy(), seconds.copy()
    run(body, a, b, delta, since, flags, numbers, block=32)
    np.testing.assert_array_equal(delta, seconds - days)
    np.testing.assert_array_equal(since, days - FIRST)
    np.testing.assert_array_equal(flags, days < FIRST)
    np.testing.assert_array_equal(numbers, 1 + (days - FIRST).astype(int))

    def change(a, b, delta):
        b[0] = a[1] + delta[1] * 2
        a[0] = a[0] + (a[2] - a[1]) // 1

    run(change, a, b, delta)
    assert b[0] == days[1] + np.timedelta64(14, "s") and a[0] == days[1]


def test_not_a_time_and_scalars():
    nat = np.datetime64("NaT", "D")

    def body(a, target, step, out):
        out[0] = a[0] == a[0]
        out[1] = a[0] != a[0]
        out[2] = a[1] == target
        out[3] = a[0] < target
        a[2] = a[0] + step
        a[1] = target - step

    a = np.array([nat, "2020-01-05", "2020-01-05"], "M8[D]")
    out = np.zeros(4, np.int32)
    run(body, a, np.datetime64("2020-01-05"), np.timedelta64(4, "D"), out)
    assert out.tolist() == [0, 1, 1, 0]
    assert np.isnat(a[2]) and a[1] == np.datetime64("2020-01-01")


def test_dates_that_do_not_go_together():
    def months(a, b):
        a[0] = a[0] + b[0]

    with pytest.raises(TypeError, match="no common unit"):
        run(months, np.zeros(1, "M8[D]"), np.zeros(1, "m8[M]"))

    def coarser(a, b):
        a[0] = b[0]

    with pytest.raises(
        TypeError, match=r"datetime64\[s\] cannot become datetime64\[D\] without a loss"
    ):
        run(coarser, np.zeros(1, "M8[D]"), np.zeros(1, "M8[s]"))


def test_enumerations():
    def body(color, planet, level, out):
        out[0] = color == Color.GREEN
        out[1] = color is Color.RED
        out[2] = color.value
        out[3] = planet != Planet.MARS
        out[4] = Planet.MARS.value[1] + level + Level.HIGH
        out[5] = Color["BLUE"].value
        picked = Color.RED if level > 6 else Color.BLUE
        out[6] = picked.value
        out[7] = planet == color

    out = np.zeros(8)
    run(body, Color.GREEN, Planet.EARTH, Level.LOW, out)
    assert out.tolist() == [1, 0, 2, 1, 3.4e6 + 12, 2.5, 2.5, 0]
    run(body, Color.BLUE, Planet.MARS, Level.HIGH, out)
    assert out.tolist() == [0, 0, 2.5, 0, 3.4e6 + 14, 2.5, 1, 0]


def test_none_and_optional_arguments():
    def body(x, out, scale=None):
        if x is None:
            out[0] = -1
        elif scale is None:
            out[0] = x
        else:
            out[0] = x * scale

    kernel, out = cuda.jit(body), td.zeros(1)
    for args, want in (
        ((None, out), -1),
        ((4.5, out), 4.5),
        ((4.5, out, 2), 9),
        ((3, out, None), 3),
    ):
        kernel[1, 1](*args)
        assert out.item() == want


def test_named_tuples_of_arrays_and_numbers():
    def body(p, q, out):
        p.y[0] = p.x[1] + q.x
        swapped = Pair(p.y, p.x)
        out[0] = swapped.x[0] + len(swapped)
        x, y = q
        out[1] = x + y[0]

    p = Pair(td.arange(3.0), td.zeros(3))
    out = td.zeros(2)
    run(body, p, Pair(2, (5, 6)), out)
    assert out.tolist() == [5, 7] and p.y[0].item() == 3
    host = Pair(np.arange(3.0), np.zeros(3))
    run(body, host, Pair(2, (5, 6)), out)
    assert host.y[0] == 3


FROZEN = 1


def test_globals_and_closures_are_frozen_when_a_kernel_is_compiled():
    global FROZEN
    FROZEN, near = 1, 10

    @cuda.jit
    def kernel(out):
        out[0] = FROZEN + near

    integers, floats = td.zeros(1, np.int64), td.zeros(1)
    kernel[1, 1](integers)
    FROZEN, near = 2, 20
    kernel[1, 1](integers)
    assert integers.item() == 11  # compiled before the change
    kernel[1, 1](floats)
    assert floats.item() == 22  # compiled for these arguments after it


def test_slices_of_records_are_assigned():
    dtype = np.dtype([("n", np.int32), ("x", np.float64)])

    @cuda.jit
    def k(a, b, grid):
        a[2:4] = b[:2]
        a[6:] = b[0]
        a[0:2] = (7, 0.5)
        grid[:, 1:] = b[:2]

    a, b = np.zeros(8, dtype), np.zeros(3, dtype)
    b["n"], b["x"] = [1, 2, 3], [1.5, 2.5, 3.5]
    grid = np.zeros((2, 3), dtype)
    want, want_grid = a.copy(), grid.copy()
    want[2:4], want[6:], want[0:2], want_grid[:, 1:] = b[:2], b[0], (7, 0.5), b[:2]
    k[1, 1](a, b, grid)
    np.testing.assert_array_equal(a, want)
    np.testing.assert_array_equal(grid, want_grid)


def test_slices_of_other_records_are_refused():
    @cuda.jit
    def k(a, b):
        a[:2] = b[:2]

    a, b = np.zeros(3, [("n", np.int32)]), np.zeros(3, [("n", np.int64)])
    with pytest.raises(TypeError, match="the records must have the same fields"):
        k[1, 1](a, b)
