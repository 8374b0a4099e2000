"""Creation and manipulation against NumPy: one call a line, over dtypes and memory layouts, errors included.

A line is evaluated with xp = numpy and xp = treadle; a is a host or a device array. What NumPy refuses, Treadle refuses
with the same class of error.
"""

import numpy as np
import pytest
import treadle as td

LAYOUTS = {
    "C": lambda x: x,
    "F": lambda x: x.transpose(2, 1, 0).copy("C").transpose(2, 1, 0),
    "reversed": lambda x: x[::-1, :, ::-1],
    "broadcast": lambda x: x[:1, :, :1],
    "empty": lambda x: x[:, :0],
}

SHAPES = """
xp.reshape(a, -1, order="F") | xp.reshape(a, (-1, 2), order="A") | a.reshape(-1, order="F") | xp.ravel(a, "K")
a.flatten("F") | xp.transpose(a, (2, 0, 1)) | xp.permute_dims(a, (1, 2, 0)) | xp.matrix_transpose(a) | a.mT
xp.rollaxis(a, 2) | xp.rollaxis(a, 0, 3) | xp.rollaxis(a, 1, -1) | xp.moveaxis(a, [0, 2], [2, 1])
xp.expand_dims(a, (0, -1)) | xp.squeeze(a[:1], 0) | xp.squeeze(a, 5) | xp.swapaxes(a, 0, 7) | xp.expand_dims(a, 9)
xp.fliplr(a) | xp.flipud(a) | xp.flip(a, (0, 0)) | xp.rot90(a) | xp.rot90(a, 3, (1, 2)) | xp.rot90(a, 2, (0, 2))
xp.rot90(a, 1, (1, 1)) | xp.roll(a, 2) | xp.roll(a, -1, 1) | xp.roll(a, (1, 2), (0, 2)) | xp.roll(a, 5, (0, 1))
xp.broadcast_to(a, (2, *a.shape)) | xp.broadcast_to(a, (7, 7)) | xp.atleast_2d(a[0, 0]) | xp.atleast_3d(a[0])
xp.atleast_3d(a[0, 0]) | xp.atleast_1d(a) | xp.tile(a, 2) | xp.tile(a, (2, 1, 3)) | xp.tile(a, (2, 1, 1, 1))
xp.tile(a[0, 0], (2, 2)) | xp.resize(a, (4, 5)) | xp.resize(a, 3) | xp.append(a, a) | xp.append(a, a[:, :1], axis=1)
xp.append(a, a[0], axis=1) | xp.delete(a, 0) | xp.delete(a, [0, 1], 0) | xp.delete(a, slice(0, 2), 2)
xp.delete(a, -1, 2) | xp.delete(a, 17, 1) | xp.insert(a, 1, 7) | xp.insert(a, 1, 5, axis=2)
xp.insert(a, [0, 1], 9, axis=0) | xp.insert(a, [1, 1], a[:, :, :2], axis=2) | xp.insert(a, slice(0, 2), 3, axis=0)
xp.insert(a, -1, a[0], axis=0) | xp.insert(a, 99, 1, axis=0) | xp.concatenate([a, a], 2) | xp.concatenate([a, a[0]])
xp.concatenate([a, a], 3) | xp.concatenate([a, a], dtype="f4", casting="unsafe") | xp.concatenate([a, a], dtype="?")
xp.concatenate([]) | xp.stack([a, a], 3) | xp.stack([a, a[:, :, :1]]) | xp.stack([a, a], 5) | xp.hstack([a, a])
xp.vstack([a[0, 0], a[0, 0]]) | xp.dstack([a[0], a[0]]) | xp.column_stack([a[0, 0], a[0, 0]])
xp.column_stack([a[0], a[0]]) | xp.block([[a[0], a[0]], [a[1], a[1]]]) | xp.block([a[0, 0], a[0, 0]]) | xp.block(a)
xp.block([[a[0]], a[0]]) | xp.array_split(a, 3, 2)[1] | xp.array_split(a, 3, 2)[2] | xp.split(a, 2, 2)[1]
xp.split(a, 3, 2) | xp.split(a, [1, 3], 2)[2] | xp.hsplit(a, 1)[0] | xp.vsplit(a, 2)[1] | xp.dsplit(a, [1])[1]
xp.dsplit(a[0], 1) | xp.array_split(a, 0) | xp.unstack(a)[0] | xp.unstack(a, axis=-1)[1] | xp.zeros_like(a)
xp.ones_like(a, order="F") | xp.full_like(a, 3) | xp.full_like(a, 1, shape=(2, 2)) | xp.empty_like(a, dtype="i4") * 0
xp.zeros_like(a.transpose(1, 0, 2)) | a.copy("F") | a.astype("f4", order="F") | a.astype("?", casting="safe")
xp.astype(a, "c8") | a.real | a.imag | a.view() | a.T | xp.apply_over_axes(xp.sum, a, [0, 2]) | xp.size(a, 1)
xp.size(a) | xp.ndim(a) | xp.shape(a) | a.tolist() | a.tobytes() | xp.isreal(a) | xp.iscomplex(a) | xp.iscomplexobj(a)
xp.isrealobj(a) | xp.nan_to_num(a) | xp.real_if_close(a) | xp.array_equal(a, a) | xp.array_equiv(a, a[:1])
xp.array_equal(a, a[0]) | xp.isscalar(a) | xp.isfortran(a) | xp.trim_zeros(a[0, 0]) | xp.kron(a[0], a[1])
xp.outer(a[0], a[1]) | xp.inner(a, a) | xp.tensordot(a, a, ([0, 1, 2], [0, 1, 2])) | xp.tensordot(a, a.T, 1)
xp.tensordot(a, a, 1) | xp.dot(a, a.transpose(0, 2, 1)) | xp.dot(a, a) | xp.vdot(a, a) | xp.vecdot(a, a, axis=0)
xp.cross(a[..., :3], a[..., 1:]) | xp.clip(a, 1, 3) | xp.clip(a, a_min=2, a_max=None) | xp.clip(a, None, None)
""".replace("\n", " | ").strip(" |").split(" | ")  # fmt: skip


def outcome(call, xp, a):
    try:
        result = eval(call, {"xp": xp, "a": a})
    except Exception as error:
        return error
    return result


def compare(call, want, got):
    if isinstance(want, Exception):
        assert isinstance(got, Exception), f"{call}: {got!r} where NumPy raises {want!r}"
        kinds = (
            IndexError,
            ValueError,
            TypeError,
            ZeroDivisionError,
            OverflowError,
            AttributeError,
        )
        expected = next((k for k in kinds if isinstance(want, k)), Exception)
        assert isinstance(got, expected), f"{call}: {got!r} where NumPy raises {want!r}"
        return
    if isinstance(got, Exception):
        raise got
    if isinstance(want, (np.ndarray, np.generic)) or isinstance(got, td.ndarray):
        host = td.asnumpy(got)
        want = np.asarray(want)
        assert host.dtype == want.dtype, f"{call}: dtype {host.dtype}, NumPy's {want.dtype}"
        assert host.shape == want.shape, f"{call}: shape {host.shape}, NumPy's {want.shape}"
        for order in ("c_contiguous", "f_contiguous"):
            if getattr(want.flags, order) and not call.startswith(LOOSE):
                assert getattr(got.flags, order), f"{call}: not {order} as NumPy's result is"
        if want.dtype.kind in "fc":
            tolerance = 8 * np.finfo(want.dtype).eps
            np.testing.assert_allclose(host, want, rtol=tolerance, atol=tolerance, err_msg=call)
        else:
            np.testing.assert_array_equal(host, want, err_msg=call)
    else:
        assert got == want, call


# Products come in C order where NumPy's may come in another.
LOOSE = (
    "xp.dot",
    "xp.vdot",
    "xp.kron",
    "xp.outer",
    "xp.tensordot",
    "xp.inner",
    "xp.vecdot",
    "xp.resize",
)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("letter", "?bQefD")
def test_shapes(layout, letter):
    host = (np.arange(24) % 7).astype(letter).reshape(2, 3, 4)
    a, b = LAYOUTS[layout](host), LAYOUTS[layout](td.asarray(host))
    problems = []
    for call in SHAPES:
        with np.errstate(all="ignore"):
            want = outcome(call, np, a)
        try:
            compare(call, want, outcome(call, td, b))
        except Exception as problem:
            problems.append(f"{call}: {type(problem).__name__}: {problem}")
    assert not problems, "\n".join(problems)


CREATION = """
xp.arange(5) | xp.arange(2, 9, 3) | xp.arange(9, 2, -3) | xp.arange(5, 2) | xp.arange(0.5, 3, 0.1)
xp.arange(3, dtype="f2") | xp.arange(2**53, 2**53 + 5) | xp.arange(2**63 - 3, 2**63 - 1)
xp.arange(2**63, 2**63 + 5, dtype="u8") | xp.arange(-5, 250, 50, dtype="i2") | xp.arange(0, 1, 0)
xp.arange(2, dtype="?") | xp.arange(3, dtype="?") | xp.arange(1.5, 6) | xp.arange(5, dtype="c8")
xp.arange(0, 3, 0.5, dtype=int) | xp.arange(300, 305, dtype="u1") | xp.arange(float("nan")) | xp.arange(0.0, 0, 1)
xp.arange(np.int8(3)) | xp.arange(1, 4, np.float32(0.5)) | xp.arange(0, 1e-3, 1e-4, "f4") | xp.linspace(0, 1, 7)
xp.linspace(0, 1, 7, endpoint=False) | xp.linspace(3, 3, 4) | xp.linspace(0, 10, 5, dtype=int)
xp.linspace(-3, 2, 4, dtype="i4") | xp.linspace(0, 1, 1) | xp.linspace(0, 1, 0) | xp.linspace(0, 1, -1)
xp.linspace(0, 1j, 4) | xp.linspace(np.float32(0), np.float32(1), 5) | xp.linspace(0, 1, 5, retstep=True)[1]
xp.linspace(xp.array([0, 1]), 3, 4) | xp.linspace(xp.array([0.0, 1]), xp.array([2.0, 5]), 4, axis=1)
xp.linspace(0, 1, 5, dtype="f2") | xp.logspace(0, 2, 5) | xp.logspace(0, 3, 4, base=2)
xp.logspace(0, 2, 3, dtype=int) | xp.geomspace(1, 256, 9) | xp.geomspace(-1000, -1, 4) | xp.geomspace(0, 1, 3)
xp.geomspace(1, 1000, 4, endpoint=False) | xp.geomspace(1j, 1000j, 4) | xp.eye(3) | xp.eye(3, 4, 1, int)
xp.eye(3, k=-1, dtype="?") | xp.eye(2, 3, order="F") | xp.identity(2, "c8") | xp.tri(3, 4, 1)
xp.tri(3, k=-1, dtype=int) | xp.vander(xp.array([1, 2, 3])) | xp.vander(xp.array([1.0, 2]), 4, increasing=True)
xp.full((2, 2), 7) | xp.full(3, 2.5, "i4") | xp.full((), True) | xp.full((2, 3), xp.array([1, 2, 3]))
xp.full((2, 3), [1, 2, 3], order="F") | xp.full(2, 300, "u1") | xp.full(2, 1j, "f4") | xp.zeros((2, 0))
xp.ones(3, order="F") | xp.zeros(-1) | xp.empty((2, 3), "i4", "F") * 0 | xp.zeros((2, 2), bool)
xp.meshgrid(xp.arange(3), xp.arange(2))[0] | xp.meshgrid(xp.arange(3), xp.arange(2), indexing="ij")[1]
xp.meshgrid(xp.arange(3), xp.arange(2), sparse=True)[1] | xp.meshgrid(xp.arange(3), indexing="xx")
xp.mgrid[0:3, 0:2] | xp.mgrid[0:1:5j] | xp.ogrid[0:3, 1:2:3j][1] | xp.mgrid[0:4:2] | xp.frombuffer(b"abcdefgh", "i2")
xp.fromiter(range(4), "f4") | xp.fromfunction(lambda i, j: i + 2 * j, (2, 3)) | xp.fromstring("1 2 3", sep=" ")
xp.array([[1, 2], [3, 4]], order="F") | xp.array([xp.array([1, 2]), xp.array([3.0, 4])])
xp.array([[xp.array(1), 2], [3, 4]]) | xp.array(3, ndmin=2) | xp.asarray([1, 2], dtype="c8")
xp.ascontiguousarray(xp.array(3)) | xp.asfortranarray(xp.ones((2, 3))) | xp.asarray_chkfinite([1.0, float("nan")])
xp.broadcast_shapes((2, 1), (3,)) | xp.broadcast_shapes((2,), (3,)) | xp.result_type(xp.arange(2, dtype="i1"), 3)
xp.result_type(xp.ones(2, "f4"), 1j) | xp.can_cast("i4", "f4") | xp.isdtype(xp.ones(1).dtype, "real floating")
xp.promote_types("i4", "u4") | xp.min_scalar_type(300) | xp.common_type(xp.ones(1, "f4"), xp.ones(1, "i2"))
xp.iinfo("i2").max
""".replace("\n", " | ").strip(" |").split(" | ")  # fmt: skip


@pytest.mark.parametrize("call", CREATION)
def test_creation(call):
    compare(call, outcome(call, np, None), outcome(call, td, None))
