"""Every row of tables/ops.def and tables/reductions.def against NumPy: values, dtypes, special values, layouts.

All operations of one dtype are asked for before the first is read, so that they also run fused with each other.
"""

import numpy as np
import pytest
import treadle as td
from treadle import _treadle

ROWS = {row["name"]: row for row in _treadle._operation_rows()}
REAL = "?bhiqBHIQefd"
LETTERS = REAL + "FD"
# Oracles of operations that NumPy does not have under the row's name.
ORACLES = {}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan]


def domain_values(domain, dtype, rng, count):
    """Values of a dtype in the domain of an operation, special ones first where the domain has them."""
    kind = dtype.kind
    if kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if kind in "iu":
        limits = np.iinfo(dtype)
        low, high = limits.min, limits.max
        if domain == "small":
            low, high = (-3 if kind == "i" else 0), 7
        elif domain == "shift":
            low, high = 0, dtype.itemsize * 8 + 3
        elif domain in ("positive", "from_one", "nonzero"):
            low = 1
        values = rng.integers(low, high, count, dtype, endpoint=True)
        if domain == "any":
            few = rng.integers(-3 if kind == "i" else 0, 4, count // 2)
            values[: count // 2] = few.astype(dtype)
            values[:4] = [limits.min, limits.max, 0, 1]
        return values
    low, high = {
        "small": (-8, 8),
        "positive": (1e-3, 100),
        "from_one": (1, 50),
        "unit": (-1, 1),
    }.get(domain, (-100, 100))
    if kind == "c":
        parts = rng.uniform(low, high, (2, count))
        return (parts[0] + 1j * parts[1]).astype(dtype)
    values = rng.uniform(low, high, count)
    if domain == "nonzero":
        values[np.abs(values) < 1] = 3
    if domain == "any":
        values[: len(SPECIAL)] = SPECIAL
    return values.astype(dtype)


def lay_out(xp, values, layout):
    """``values`` (208 of them) as a view of some memory layout, made the same way by NumPy and by Treadle."""
    if layout == "fortran":
        return values.reshape(-1, 4).T
    if layout == "strided":
        return values.reshape(-1, 8)[:, ::-2]
    if layout == "broadcast":
        return xp.broadcast_to(values[:52].reshape(-1, 1), (52, 3))
    return values


def equal_or_close(got, want, ulp, name):
    """Equal bits of sign and NaN; values within `ulp` units in the last place of the wanted dtype."""
    assert got.shape == want.shape, name
    assert got.dtype == want.dtype, name
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want, err_msg=name)
        return
    if want.dtype.kind == "c":
        scale = np.abs(want)
        allowed = (8 + 8 * ulp) * np.finfo(want.dtype).eps * scale + np.finfo(want.dtype).tiny
        bad = ~(np.abs(got - want) <= allowed) & np.isfinite(want)
    else:
        with np.errstate(all="ignore"):
            unit = np.abs(np.spacing(want))
            close = np.abs(got.astype(np.float64) - want.astype(np.float64)) <= ulp * unit.astype(
                np.float64
            )
        same = (got == want) | (np.isnan(got) & np.isnan(want)) | (close & np.isfinite(want))
        bad = ~same
        if ulp == 0:
            bad |= (np.signbit(got) != np.signbit(want)) & ~np.isnan(want)
    assert not bad.any(), f"{name}: {got[bad][:5]} instead of {want[bad][:5]}"


def operands_for(row, dtype, rng, count):
    operands = []
    for letter in row["signature"].split("-")[0]:
        kind = {"?": np.dtype(bool), "i": np.dtype(np.int32)}.get(letter, dtype)
        operands.append(
            domain_values("small" if letter == "i" else row["domain"], kind, rng, count)
        )
    if row["name"] == "power" and dtype.kind == "i":
        operands[1] = np.abs(operands[1])
    return operands


def numpy_result(row, operands):
    function = ORACLES.get(row["numpy"]) or getattr(np, row["numpy"])
    with np.errstate(all="ignore"):
        return np.asarray(function(*operands))


def tolerance(row, dtype):
    bits = dtype.itemsize * 8 // (2 if dtype.kind == "c" else 1)
    return dict(zip((16, 32, 64), row["ulp"])).get(bits, 0)


def refused(row, dtype):
    """What NumPy does not have a loop for."""
    try:
        numpy_result(row, [np.ones(1, dtype)] * row["signature"].index("-"))
    except TypeError:
        return True
    return False


@pytest.mark.parametrize("layout", ["flat", "fortran", "strided", "broadcast"])
@pytest.mark.parametrize("letter", LETTERS)
def test_every_operation(letter, layout):
    dtype = np.dtype(letter)
    rng = np.random.default_rng(7)
    results = []
    for name, row in ROWS.items():
        if name in ("real", "imag") and dtype.kind != "c":
            continue  # np.real returns its argument
        if name == "ldexp" and dtype.kind not in "f":
            continue
        if refused(row, dtype) or (name == "angle" and letter == "?"):
            continue  # np.angle passes a bool array through a Python integer
        values = operands_for(row, dtype, rng, 208)
        operands = [lay_out(np, x, layout) for x in values]
        mine = [lay_out(td, td.asarray(x), layout) for x in values]
        results.append((name, row, operands, getattr(td, name)(*mine)))
    for name, row, operands, result in results:
        want = numpy_result(row, operands)
        assert result.dtype == want.dtype, name
        equal_or_close(
            td.asnumpy(result), want, tolerance(row, want.dtype), f"{name} {dtype} {layout}"
        )


@pytest.mark.parametrize("name", ROWS)
def test_dtypes_and_refusals(name):
    """The result dtype of every operand dtype is NumPy's, and what NumPy refuses is a TypeError."""
    row = ROWS[name]
    if name in ("real", "imag"):
        pytest.skip("np.real returns its argument")
    arity = row["signature"].index("-")
    for letter in LETTERS[1:] if name == "angle" else LETTERS:
        for other in LETTERS if arity == 2 else letter:
            operands = [np.ones(2, letter)] * (arity - 1) + [
                np.ones(2, other if arity == 2 else letter)
            ]
            mine = [td.asarray(x) for x in operands]
            try:
                want = numpy_result(row, operands).dtype
            except TypeError:
                with pytest.raises(TypeError):
                    getattr(td, name)(*mine)
                continue
            assert getattr(td, name)(*mine).dtype == want, (name, letter, other)


WEAK = [True, 0, 3, -2, 2.5, 1 + 2j]


@pytest.mark.parametrize("value", WEAK)
@pytest.mark.parametrize(
    "name", ["add", "multiply", "divide", "less", "maximum", "floor_divide", "bitwise_and"]
)
def test_weak_scalars(name, value):
    """NEP 50: a Python number takes the array's dtype, unless its kind is higher."""
    for letter in LETTERS:
        x = np.arange(1, 5).astype(letter)
        for swap in (False, True):
            pair = (value, x) if swap else (x, value)
            mine = tuple(td.asarray(p) if isinstance(p, np.ndarray) else p for p in pair)
            try:
                with np.errstate(all="ignore"):
                    want = getattr(np, name)(*pair)
            except (TypeError, OverflowError) as error:
                with pytest.raises(
                    type(error).__mro__[0] if type(error) is OverflowError else TypeError
                ):
                    getattr(td, name)(*mine)
                continue
            got = getattr(td, name)(*mine)
            assert got.dtype == want.dtype, (name, letter, value)
            equal_or_close(td.asnumpy(got), want, 2, name)


def test_integers_compare_exactly():
    big = np.array([2**63, 2**64 - 1, 5], np.uint64)
    low = np.array([-1, 5, 2**63 - 1], np.int64)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        function = getattr(np, name)
        for a, b in ((big, low), (low, big)):
            got = getattr(td, name)(td.asarray(a)[:, None], td.asarray(b))
            np.testing.assert_array_equal(td.asnumpy(got), function(a[:, None], b))
    small = td.asarray(np.array([1, 200], np.uint8))
    assert td.asnumpy(small < 300).tolist() == [True, True]
    assert td.asnumpy(small > -1).tolist() == [True, True]
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        small + 300


def test_casts_between_all_dtypes():
    values = np.array([0, 1, -1, 2.75, -2.75, 100, 127, 65504, 1e-7])
    for source in LETTERS:
        with np.errstate(all="ignore"):
            x = values.astype(source)
        mine = td.asarray(x)
        casts = {target: mine.astype(target) for target in LETTERS}
        for target, got in casts.items():
            with np.errstate(all="ignore"):
                want = (
                    x.real if x.dtype.kind == "c" and np.dtype(target).kind not in "cb" else x
                ).astype(target)
            fits = np.abs(x.real.astype(np.float64)) < 2.0**31
            if x.dtype.kind in "fc" and np.dtype(target).kind in "iu":
                np.testing.assert_array_equal(
                    td.asnumpy(got)[fits], want[fits], err_msg=f"{source}->{target}"
                )
            else:
                np.testing.assert_array_equal(td.asnumpy(got), want, err_msg=f"{source}->{target}")


def test_double_to_half_rounds_once():
    # Halfway cases of float16 that a detour through float32 would round twice.
    x = np.array(
        [
            1 + 2.0**-11 + 2.0**-40,
            1 + 2.0**-11 - 2.0**-40,
            1 + 2.0**-11,
            2.0**-24 * 0.5000001,
            65519.99,
            65520.0,
        ]
    )
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(
            td.asnumpy(td.asarray(x).astype(np.float16)), x.astype(np.float16)
        )


# ---- reductions ----

REDUCTIONS = [
    "sum",
    "prod",
    "min",
    "max",
    "mean",
    "any",
    "all",
    "count_nonzero",
    "argmin",
    "argmax",
]


def reduce_values(letter, shape, rng):
    dtype = np.dtype(letter)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "c":
        return (rng.integers(-3, 4, shape) + 1j * rng.integers(-3, 4, shape)).astype(dtype)
    return rng.integers(0 if dtype.kind == "u" else -3, 4, shape).astype(dtype)


def check_reduction(name, x, mine, axis, keepdims=False):
    got = getattr(td, name)(mine, axis=axis, keepdims=keepdims)
    with np.errstate(all="ignore"):
        want = np.asarray(getattr(np, name)(x, axis=axis, keepdims=keepdims))
    assert got.shape == want.shape and got.dtype == want.dtype, (name, x.dtype, axis)
    label = f"{name} {x.dtype} {x.shape} {x.strides} axis={axis}"
    if want.dtype.kind in "fc" and name in ("sum", "prod", "mean"):
        rtol = {2: 2e-3, 4: 1e-5}.get(
            want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1), 1e-12
        )
        np.testing.assert_allclose(td.asnumpy(got), want, rtol=rtol, atol=rtol, err_msg=label)
    else:
        np.testing.assert_array_equal(td.asnumpy(got), want, err_msg=label)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, letter):
    rng = np.random.default_rng(11)
    x = reduce_values(letter, (5, 37, 3), rng)
    if (
        name == "prod" and letter in "eFD"
    ):  # larger values overflow on the way, or not, by the order of products
        x = (
            (np.sign(x.real) + 1j * np.sign(x.imag)).astype(letter)
            if letter in "FD"
            else np.sign(x)
        )
    mine = td.asarray(x)
    for axis in (None, 0, 1, -1):
        check_reduction(name, x, mine, axis, keepdims=True)
    if not name.startswith("arg"):
        check_reduction(name, x, mine, (0, 2))


@pytest.mark.parametrize("name", ["sum", "max", "argmin", "mean"])
@pytest.mark.parametrize(
    "shape",
    [(1,), (31,), (32,), (255,), (257,), (1023,), (70001,), (3, 5000), (5000, 3), (300, 300)],
)
def test_reduction_lengths(name, shape):
    x = np.random.default_rng(5).integers(-9, 9, shape).astype(np.float32)
    mine = td.asarray(x)
    for axis in (None, *range(x.ndim)):
        check_reduction(name, x, mine, axis)
    if x.ndim == 2:
        check_reduction(name, x.T, mine.T, 0)
        check_reduction(name, x[::-1, ::2], mine[::-1, ::2], 1)
        check_reduction(name, x[1:, :-1], mine[1:, :-1], None)


@pytest.mark.parametrize("letter", "efd")
def test_infinities_and_nan(letter):
    inf, nan = np.inf, np.nan
    for values in (
        [-inf],
        [inf],
        [inf, inf],
        [-inf, -inf, 3],
        [1, nan, 2, nan],
        [nan],
        [0.0, -0.0],
        [2, inf, inf],
    ):
        x = np.array(values, letter)
        for name in ("argmax", "argmin", "max", "min", "sum", "mean"):
            check_reduction(name, x, td.asarray(x), None)
            check_reduction(name, x[None, :], td.asarray(x)[None, :], 1)


def test_empty_axes():
    e = td.empty((0, 2))
    assert td.min(e, axis=1).shape == (0,)
    for name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError):
            getattr(td, name)(e, axis=0)
        with pytest.raises(ValueError):
            getattr(td, name)(e)
    assert td.asnumpy(td.sum(e, axis=0)).tolist() == [0, 0]
    assert td.asnumpy(td.prod(e, axis=0)).tolist() == [1, 1]
    assert float(td.sum(e)) == 0 and bool(td.all(e)) and not bool(td.any(e))
    assert np.isnan(td.asnumpy(td.mean(e, axis=0))).all()


def test_ties_take_the_first():
    x = np.zeros((40, 5000), np.float32)
    x[:, 4000] = x[:, 4500] = 1
    check_reduction("argmax", x, td.asarray(x), 1)
    check_reduction("argmax", x, td.asarray(x), None)
    check_reduction("argmin", x, td.asarray(x), 1)


def test_reduction_dtype_and_out():
    x = td.asarray(np.full(1000, 100, np.int8))
    assert td.sum(x).dtype == np.int64 and int(td.sum(x)) == 100000
    assert td.sum(x, dtype=np.int8).dtype == np.int8
    assert int(td.sum(x, dtype=np.int8)) == np.full(1000, 100, np.int8).sum(dtype=np.int8)
    out = td.empty((), np.float32)
    assert td.sum(x, out=out) is out and float(out) == 100000
    whole = td.empty((), np.int32)  # NumPy's mean casts into it, too
    assert td.mean(x, out=whole) is whole and int(whole) == 100


def test_half_sums_in_float32():
    x = td.full(5000, 1, np.float16)
    assert float(td.sum(x)) == 5000.0
    assert float(td.mean(x)) == 1.0


def test_axis_errors():
    x = td.zeros((2, 3))
    with pytest.raises(np.exceptions.AxisError):
        td.sum(x, axis=2)
    with pytest.raises(ValueError, match="duplicate"):
        td.sum(x, axis=(0, 0))
