"""einsum, pad, windows, element-wise composites and slice objects, each against NumPy."""

import numpy as np
import pytest
import treadle as td

RNG = np.random.default_rng(0)
A, B, C = RNG.random((3, 4, 5)), RNG.random((4, 5, 2)), RNG.random((5, 5))
D, E = RNG.random((3, 3, 4)), RNG.random((2, 3))

SUMS = [
    ("ijk,jkl->il", A, B), ("ijk->ki", A), ("ii", C), ("ii->i", C), ("ij,jk", C, C), ("...j,j->...", A, C[0]),
    ("ijk,ljk->il", A, A), ("iij->j", D), ("ij,ji->", C, C), ("i,j->ij", C[0], C[1]), ("i,i->i", C[0], C[1]),
    ("ijk,jkl,lm->im", A, B, E), ("a...,...b", A, B), ("ij->", C), ("ij,kl->", C, C), ("ij,jk->k", C, C), ("...", A),
    ("...ij->...ji", A), ("i->ij", C[0]), ("ij,jk->ikl", C, C), ("ij", A), ("i,i", C[0], A[0]), ("i-j", C),
    ("ij...,jk...->ik...", C, C), ("bij,bjk->bik", D, D.transpose(0, 2, 1)), ("ij,jk,kl,lm->im", C, C, C, C),
    ("ij,kj->ik", A[:, :, 0], A[:1, :, 0]), ("ij,ij->i", A[:, :1, 0], A[:, :, 1]), ("i,j", C[0]), ("ij->ii", C),
]  # fmt: skip


def same(call, tolerance=1e-12):
    """The call on numpy and on treadle; the same error class, or the same dtype, shape and values."""
    outcomes = []
    for xp in (np, td):
        try:
            with np.errstate(all="ignore"):
                outcomes.append(call(xp))
        except Exception as error:
            outcomes.append(error)
    want, got = outcomes
    if isinstance(want, Exception):
        kinds = (IndexError, ValueError, TypeError)
        expected = next((kind for kind in kinds if isinstance(want, kind)), Exception)
        assert isinstance(got, expected), f"{got!r} where NumPy raises {want!r}"
        return
    if isinstance(got, Exception):
        raise got
    want = np.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(td.asnumpy(got), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("case", SUMS, ids=lambda case: case[0])
def test_einsum(case, optimize):
    same(lambda xp: xp.einsum(case[0], *map(xp.asarray, case[1:]), optimize=optimize))


@pytest.mark.parametrize("letter", "?bQefFD")
def test_einsum_dtypes(letter):
    a, b = (5 * A[:, :, 0]).astype(letter), (3 * A[0]).astype(letter)
    for sub in ("ij,jk->ik", "ij,jk->i", "ij,jk->ijk"):
        same(
            lambda xp, sub=sub: xp.einsum(sub, xp.asarray(a), xp.asarray(b)),
            2e-3 if letter == "e" else 1e-5,
        )
    same(lambda xp: xp.einsum("ij->i", xp.asarray(a), dtype="f4"), 1e-2)
    same(
        lambda xp: xp.einsum(xp.asarray(a), [0, 1], xp.asarray(b), [1, 2], [0, 2]),
        2e-3 if letter == "e" else 1e-5,
    )
    same(lambda xp: xp.einsum(xp.asarray(a), [Ellipsis, 0], [0, Ellipsis]))


def test_einsum_with_numbers():
    same(lambda xp: xp.einsum("i,->i", xp.asarray(C[0]), 2))
    same(lambda xp: xp.einsum("", 2.5))
    same(lambda xp: xp.einsum("i", 2))
    same(lambda xp: xp.einsum("...->", xp.asarray(C)))
    same(lambda xp: xp.einsum("...i->i", xp.asarray(C)))
    same(lambda xp: xp.einsum("...i->i", xp.asarray(C[0])))


def test_einsum_of_one_operand_is_a_view():
    x = td.asarray(C)
    td.einsum("ii->i", x)[...] = 7
    np.testing.assert_array_equal(np.diag(td.asnumpy(x)), np.full(5, 7.0))


MODES = [
    "constant",
    "edge",
    "linear_ramp",
    "maximum",
    "mean",
    "minimum",
    "reflect",
    "symmetric",
    "wrap",
]
OPTIONS = [
    {"reflect_type": "odd"}, {"constant_values": 3}, {"constant_values": ((1, 2), (3, 4))}, {"end_values": 7},
    {"stat_length": 2}, {"unknown": 1},
]  # fmt: skip


@pytest.mark.parametrize("mode", [*MODES, "no mode"])
@pytest.mark.parametrize("letter", "ifBeD")
def test_pad(mode, letter):
    x = np.arange(12).reshape(3, 4).astype(letter)
    tolerance = 1e-3 if letter == "e" else 1e-6
    for width in (0, 1, 2, 5, ((1, 2), (0, 3)), (2, 7), {1: 2}, -1, 1.5):
        same(lambda xp, width=width: xp.pad(xp.asarray(x), width, mode), tolerance)
    for options in OPTIONS:
        same(lambda xp, options=options: xp.pad(xp.asarray(x), (3, 2), mode, **options), tolerance)
    same(lambda xp: xp.pad(xp.asarray(x[:, :0]), ((1, 1), (0, 0)), mode))
    same(lambda xp: xp.pad(xp.asarray(x[:, :0]), 1, mode))
    same(lambda xp: xp.pad(xp.asarray(x[:1]), 3, mode), tolerance)


def test_pad_by_a_function():
    def fill(vector, width, axis, options):
        vector[: width[0]] = options["value"]
        vector[len(vector) - width[1] :] = axis

    same(lambda xp: xp.pad(xp.arange(6).reshape(2, 3), 2, fill, value=9))


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8, 51])
def test_windows(count):
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        same(lambda xp, name=name: getattr(xp, name)(count), 1e-14)
    same(lambda xp: xp.kaiser(count, 14.0), 1e-13)


def test_i0():
    x = np.linspace(-30, 30, 101)
    same(lambda xp: xp.i0(xp.asarray(x)) / xp.asarray(np.i0(x)), 1e-13)


VALUES = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-310, 3e300, -7])
FLOATING = [
    "modf(v)[0]", "modf(v)[1]", "frexp(v)[0]", "frexp(v)[1]", "spacing(v)", "nan_to_num(v)", "isposinf(v)",
    "isneginf(v)", "divmod(v, v[::-1])[0]", "divmod(v, v[::-1])[1]", "fix(v)", "sinc(v[:4])", "unwrap(v[:4] * 3)",
    "nan_to_num(v, nan=3, posinf=1, neginf=-1)", "angle(v)", "signbit(v)", "real(v)", "isreal(v)",
]  # fmt: skip
INTEGER = [
    "bitwise_count(v)", "packbits(v)", "packbits(v.reshape(3, 3), axis=0, bitorder='little')", "sinc(v)", "modf(v)[0]",
    "unpackbits(v)", "unpackbits(v, count=-3)", "unpackbits(v.reshape(3, 3), axis=1, bitorder='little')", "angle(v)",
    "isposinf(v)", "spacing(v)", "frexp(v)[0]", "nan_to_num(v)", "fix(v)", "round(v, 1)", "round(v, -1)",
]  # fmt: skip


@pytest.mark.parametrize("letter", "efd")
@pytest.mark.parametrize("call", FLOATING)
def test_floating(call, letter):
    with np.errstate(all="ignore"):
        values = VALUES.astype(letter)
    tolerance = {"e": 2e-3, "f": 1e-6, "d": 1e-14}[letter]
    same(lambda xp: eval(f"xp.{call}", {"xp": xp, "v": xp.asarray(values)}), tolerance)


@pytest.mark.parametrize("letter", "?bBhHiIqQ")
@pytest.mark.parametrize("call", INTEGER)
def test_integer(call, letter):
    if letter == "?" and call == "angle(v)":
        return  # NumPy's takes a bool array through a Python integer
    values = np.array([0, 1, 2, 127, 100, 55, 3, 9, 4]).astype(letter)
    if letter in "bhiq":
        values[0] = np.iinfo(letter).min
    same(lambda xp: eval(f"xp.{call}", {"xp": xp, "v": xp.asarray(values)}), 2e-3)


UFUNC = """
add.reduce(a) | add.reduce(a, axis=None) | add.reduce(a, axis=(0, 2), keepdims=True) | multiply.reduce(a, 1, dtype="f8")
subtract.reduce(a, 1) | divide.reduce(a + 1, 2) | maximum.reduce(a, initial=5) | minimum.reduce(a[:0], initial=3)
minimum.reduce(a[:0]) | logical_or.reduce(a, 1) | logical_xor.reduce(a > 2, 1) | hypot.reduce(a, 2) | fmax.reduce(a, 0)
add.reduce(a, where=a > 3) | maximum.reduce(a, where=a > 3, initial=0) | maximum.reduce(a, where=a > 3)
add.accumulate(a, 1) | multiply.accumulate(a, 2) | subtract.accumulate(a, 1) | maximum.accumulate(a, 0)
logaddexp.accumulate(a, 2) | subtract.outer(a[0, 0], a[0]) | add(a, 1, dtype="f4") | add(a, a, casting="no", dtype="f4")
add(a, 1, order="F") | sqrt(a, where=a > 2, out=xp.zeros_like(a)) | add(a, a, out=xp.zeros_like(a, dtype="f4"))
add(a, a, out=xp.zeros(a.shape, "i4")) | add(a, a, out=xp.zeros(a.shape, "i4"), casting="unsafe") | add.nin | add.nargs
add(a) | add(a, 1, where=xp.asarray([1, 0, 1, 0])) | negative.reduce(a) | add(a, a, casting="maybe") | add.identity
""".replace("\n", " | ").strip(" |").split(" | ")  # fmt: skip


@pytest.mark.parametrize("call", UFUNC)
def test_ufunc_interface(call):
    a = np.arange(24.0).reshape(2, 3, 4) % 7

    def run(xp):
        result = eval(f"xp.{call}", {"xp": xp, "a": xp.asarray(a)})
        return xp.asarray(result)

    same(run, 1e-6)


SLICES = [
    "r_[1:4, 0, 4]", "r_[xp.asarray([1, 2]), 0, 0, xp.asarray([4.0])]", "r_['0,2', [1, 2], [3, 4]]", "r_[-1:1:6j]",
    "c_[xp.asarray([1, 2, 3]), xp.asarray([4, 5, 6])]", "r_['1,2,0', [1, 2], [3, 4]]",
]  # fmt: skip


@pytest.mark.parametrize("call", SLICES)
def test_slice_objects(call):
    same(lambda xp: eval(f"xp.{call}", {"xp": xp}))


def test_memory_questions():
    x = td.arange(12)
    assert td.shares_memory(x[::2], x[4:6])
    assert td.may_share_memory(x[::2], x[1::2])
    assert not td.shares_memory(x[::2], x[1::2])
    assert not td.may_share_memory(x, td.arange(12))


def test_files(tmp_path):
    x, y = td.arange(6.0).reshape(2, 3), td.arange(4)
    td.save(tmp_path / "x.npy", x)
    td.savez(tmp_path / "xy.npz", x, second=y)
    td.savetxt(tmp_path / "x.txt", x)
    assert isinstance(td.load(tmp_path / "x.npy"), td.ndarray)
    np.testing.assert_array_equal(td.load(tmp_path / "x.npy").get(), x.get())
    with td.load(tmp_path / "xy.npz") as files:
        assert set(files) == {"arr_0", "second"}
        np.testing.assert_array_equal(files["second"].get(), y.get())
    np.testing.assert_array_equal(td.loadtxt(tmp_path / "x.txt").get(), x.get())
