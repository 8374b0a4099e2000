"""treadle.linalg against numpy.linalg: dtypes, stacks, empty matrices, memory layouts, errors.

Decompositions are not unique, so they are held against what defines them; values that are unique against NumPy.
"""

import itertools

import numpy as np
import pytest
import treadle as td
from numpy.linalg import LinAlgError
from treadle import linalg

FLOATS = [np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [(1, 1), (4, 4), (7, 7), (33, 33), (3, 5, 5), (2, 3, 4, 4), (0, 3, 3), (0, 0), (2, 0, 0)]
RECTANGLES = [
    (5, 3),
    (3, 5),
    (1, 4),
    (4, 1),
    (40, 17),
    (2, 6, 4),
    (2, 4, 6),
    (0, 3),
    (3, 0),
    (2, 0, 3),
    (0, 2, 3),
]


def values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def hermitian(shape, dtype, seed=0):
    x = values(shape, dtype, seed)
    return (x + adjoint(x)) / 2


def definite(shape, dtype, seed=0):
    x = values(shape, dtype, seed)
    return (x @ adjoint(x) / shape[-1] + np.eye(shape[-1])).astype(dtype)


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


def tolerance(dtype):
    return 2e-4 if np.finfo(dtype).bits == 32 else 1e-11


def close(result, expected, factor=1.0):
    """Same shape and dtype, and as near as the dtype allows."""
    result = td.asnumpy(result)
    expected = np.asarray(expected)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    bound = factor * tolerance(expected.dtype if expected.dtype.kind in "fc" else np.float64)
    scale = max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0)))
    np.testing.assert_allclose(result, expected, rtol=bound, atol=bound * scale)


def layouts(x):
    """The same values in several memory layouts, on the device."""
    yield td.asarray(x)
    yield td.asarray(np.asfortranarray(x))
    flipped = td.asarray(np.ascontiguousarray(x[..., ::-1, ::-1]))
    yield flipped[..., ::-1, ::-1]
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    yield td.asarray(wide)[..., ::2]


# ---- equations ----


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_solve_inv_det(dtype, shape):
    a = definite(shape, dtype) if 0 not in shape else np.zeros(shape, dtype)
    b = values((*shape[:-1], 3), dtype, 1)
    for x in layouts(a):
        solved = linalg.solve(x, td.asarray(b))
        assert solved.flags.c_contiguous
        close(solved, np.linalg.solve(a, b))
        close(linalg.inv(x), np.linalg.inv(a))
        close(linalg.det(x), np.linalg.det(a), 10)
        sign, logdet = linalg.slogdet(x)
        wanted = np.linalg.slogdet(a)
        close(sign, wanted.sign)
        close(logdet, wanted.logabsdet)


def test_solve_vector_and_broadcast():
    a, v = values((5, 4, 4), np.float64), values((4,), np.float64, 1)
    close(linalg.solve(td.asarray(a), td.asarray(v)), np.linalg.solve(a, v))
    b = values((4, 2), np.float64, 2)
    close(linalg.solve(td.asarray(a), td.asarray(b)), np.linalg.solve(a, b))
    close(
        linalg.solve(td.asarray(a[0]), td.asarray(np.stack([b, b]))),
        np.linalg.solve(a[0], np.stack([b, b])),
    )
    close(linalg.solve(td.asarray(a), td.zeros((4, 0))), np.linalg.solve(a, np.zeros((4, 0))))


def test_the_operands_keep_their_values():
    a, b = definite((6, 6), np.float64), values((6, 2), np.float64)
    x, y = td.asarray(a), td.asarray(b)
    for function in (
        linalg.inv,
        linalg.det,
        linalg.cholesky,
        linalg.qr,
        linalg.svd,
        linalg.eigh,
        linalg.eig,
    ):
        function(x)
        assert np.array_equal(td.asnumpy(x), a), function.__name__
    linalg.solve(x, y)
    assert np.array_equal(td.asnumpy(y), b)


def test_pending_work_on_both_sides():
    a = definite((8, 8), np.float64)
    x = td.asarray(a)
    y = linalg.inv(x * 2 + td.eye(8)) * 3 + 1
    close(y, np.linalg.inv(a * 2 + np.eye(8)) * 3 + 1)
    x += 1
    close(linalg.det(x), np.linalg.det(a + 1), 10)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.bool_])
def test_integers_are_computed_as_float64(dtype):
    a = np.array([[3, 1], [0, 1]]).astype(dtype)
    x = td.asarray(a)
    close(linalg.inv(x), np.linalg.inv(a))
    close(
        linalg.solve(x, td.asarray(np.array([1, 1]).astype(dtype))),
        np.linalg.solve(a, np.array([1, 1])),
    )
    assert linalg.det(x).dtype == np.float64
    assert linalg.svdvals(x).dtype == np.float64


def test_mixed_dtypes():
    a, b = definite((3, 3), np.float32), values((3, 2), np.complex64)
    assert linalg.solve(td.asarray(a), td.asarray(b)).dtype == np.linalg.solve(a, b).dtype
    assert linalg.solve(td.asarray(a), td.ones((3, 2))).dtype == np.float64


# ---- decompositions ----


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(dtype, shape, upper):
    a = definite(shape, dtype) if 0 not in shape else np.zeros(shape, dtype)
    # The other triangle must not be read.
    spoiled = (
        np.triu(a) + np.tril(np.full(shape, 77, dtype), -1)
        if upper
        else np.tril(a) + np.triu(np.full(shape, 77, dtype), 1)
    )
    for x in layouts(spoiled):
        close(linalg.cholesky(x, upper=upper), np.linalg.cholesky(a, upper=upper))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES + RECTANGLES)
def test_qr(dtype, shape):
    a = values(shape, dtype)
    for x, mode in itertools.product(layouts(a), ("reduced", "complete")):
        q, r = linalg.qr(x, mode)
        wanted = np.linalg.qr(a, mode)
        assert q.shape == wanted.Q.shape and q.dtype == wanted.Q.dtype
        assert r.shape == wanted.R.shape and r.dtype == wanted.R.dtype
        q, r = td.asnumpy(q), td.asnumpy(r)
        close(td.asarray(q @ r), a)
        close(
            td.asarray(adjoint(q) @ q),
            np.broadcast_to(
                np.eye(q.shape[-1], dtype=dtype), (*shape[:-2], q.shape[-1], q.shape[-1])
            ),
        )
        assert np.array_equal(r, np.triu(r))
    close(linalg.qr(td.asarray(a), "r"), np.linalg.qr(a, "r"))
    raw, tau = linalg.qr(td.asarray(a), "raw")
    if len(shape) == 2:
        wanted = np.linalg.qr(a, "raw")
        close(raw, wanted[0])
        close(tau, wanted[1])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES + RECTANGLES)
@pytest.mark.parametrize("full", [False, True])
def test_svd(dtype, shape, full):
    a = values(shape, dtype)
    wanted = np.linalg.svd(a, full_matrices=full)
    for x in layouts(a):
        u, s, vh = linalg.svd(x, full_matrices=full)
        for part, other in zip((u, s, vh), wanted):
            assert part.shape == other.shape and part.dtype == other.dtype
            assert part.flags.c_contiguous
        close(s, wanted.S)
        u, s, vh = (td.asnumpy(part) for part in (u, s, vh))
        k = s.shape[-1]
        close(td.asarray((u[..., :k] * s[..., None, :]) @ vh[..., :k, :]), a)
        for unit in (u, adjoint(vh)):
            n = unit.shape[-1]
            close(
                td.asarray(adjoint(unit) @ unit),
                np.broadcast_to(np.eye(n, dtype=dtype), (*shape[:-2], n, n)),
            )
    close(linalg.svdvals(td.asarray(a)), np.linalg.svdvals(a))
    close(linalg.svd(td.asarray(a), compute_uv=False), np.linalg.svd(a, compute_uv=False))


@pytest.mark.parametrize("dtype", FLOATS)
def test_svd_of_hermitian_reads_one_triangle(dtype):
    a = hermitian((2, 5, 5), dtype)
    spoiled = td.asarray(np.tril(a) + np.triu(np.full(a.shape, 50, dtype), 1))
    u, s, vh = linalg.svd(spoiled, hermitian=True)
    close(s, np.linalg.svd(a, hermitian=True).S)
    close((u * s[..., None, :]) @ vh, a)
    close(linalg.pinv(spoiled, hermitian=True), np.linalg.pinv(a), 100)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("triangle", ["L", "U", "l"])
def test_eigh(dtype, shape, triangle):
    a = hermitian(shape, dtype)
    other = np.full(shape, 91, dtype)
    spoiled = np.triu(a) + np.tril(other, -1) if triangle == "U" else np.tril(a) + np.triu(other, 1)
    for x in layouts(spoiled):
        w, v = linalg.eigh(x, triangle)
        close(w, np.linalg.eigvalsh(a))
        close(linalg.eigvalsh(x, triangle), np.linalg.eigvalsh(a))
        w, v = td.asnumpy(w), td.asnumpy(v)
        assert v.dtype == dtype
        close(td.asarray(a @ v), (v * w[..., None, :]).astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_eig(dtype, shape):
    a = values(shape, dtype)
    wanted = np.linalg.eig(a)
    for x in layouts(a):
        w, v = linalg.eig(x)
        assert w.dtype == v.dtype == np.result_type(dtype, np.complex64)
        assert w.shape == wanted.eigenvalues.shape
        w, v = td.asnumpy(w), td.asnumpy(v)
        bound = tolerance(dtype) * 10
        np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=bound * max(1, shape[-1]))
        np.testing.assert_allclose(np.linalg.norm(v, axis=-2), np.ones(w.shape), rtol=bound)
        for found, other in (
            zip(np.reshape(w, (-1, shape[-1])), np.reshape(wanted.eigenvalues, (-1, shape[-1])))
            if shape[-1]
            else ()
        ):
            distance = np.abs(found[:, None] - other[None, :])
            assert (
                distance.min(0).max() < bound * shape[-1]
                and distance.min(1).max() < bound * shape[-1]
            )


def test_eig_is_complex_for_real_matrices_too():
    a = np.array([[2.0, 1], [0, 3]])
    w, v = linalg.eig(td.asarray(a))
    assert w.dtype == v.dtype == np.complex128  # NumPy below 2.5: float64
    assert linalg.eigvals(td.asarray(a)).dtype == np.complex128
    assert linalg.eigvals(td.asarray(np.array([[0.0, -1], [1, 0]]))).dtype == np.complex128


# ---- least squares and ranks ----


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4), (0, 3), (3, 0)])
@pytest.mark.parametrize("columns", [None, 0, 1, 2])
def test_lstsq(dtype, shape, columns):
    a = values(shape, dtype)
    b = values(shape[:1] if columns is None else (shape[0], columns), dtype, 1)
    for x in layouts(a):
        results = linalg.lstsq(x, td.asarray(b))
        wanted = np.linalg.lstsq(a, b, rcond=None)
        close(results[0], wanted[0], 10)
        close(results[1], wanted[1], 10)
        assert results[2] == wanted[2]
        close(results[3], wanted[3])


def test_lstsq_of_deficient_rank():
    a = np.outer(np.arange(1.0, 6), [1.0, 2, 3])
    b = values((5,), np.float64)
    x, residuals, rank, _ = linalg.lstsq(td.asarray(a), td.asarray(b))
    close(x, np.linalg.lstsq(a, b, rcond=None)[0])
    assert rank == 1 and residuals.shape == (0,)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", RECTANGLES + [(4, 4), (2, 3, 3)])
def test_pinv_and_rank(dtype, shape):
    a = values(shape, dtype)
    for x in layouts(a):
        close(linalg.pinv(x), np.linalg.pinv(a), 10)
        rank = linalg.matrix_rank(x)
        assert rank.dtype == np.int64
        assert np.array_equal(td.asnumpy(rank), np.linalg.matrix_rank(a))
    b = np.outer(np.arange(1.0, 5), [1.0, 2, 3]).astype(dtype)
    assert int(linalg.matrix_rank(td.asarray(b))) == 1
    close(
        linalg.pinv(td.asarray(b)),
        np.linalg.pinv(b.astype(np.complex128 if b.dtype.kind == "c" else np.float64)).astype(
            dtype
        ),
    )
    assert int(linalg.matrix_rank(td.asarray(b), tol=1e9)) == 0
    assert int(linalg.matrix_rank(td.zeros(3))) == 0 and int(linalg.matrix_rank(td.ones(3))) == 1


# ---- products ----


MATMUL = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)), ((4, 1, 2, 3), (5, 3, 2)), ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((130, 70), (70, 90)),
    ((3, 4, 5), (5,)), ((5,), (3, 5, 4)), ((200, 300), (300,)), ((300,), (300, 200)), ((64, 1), (1, 64)),
]  # fmt: skip


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint16, np.int32, np.int64, np.float16, *FLOATS]
)
@pytest.mark.parametrize("shapes", MATMUL)
def test_matmul(dtype, shapes):
    rng = np.random.default_rng(5)
    a, b = (
        (rng.integers(0, 2, s) if dtype == np.bool_ else rng.integers(-3, 4, s)).astype(dtype)
        for s in shapes
    )
    wanted = a @ b
    pairs = [(td.asarray(a), td.asarray(b))]
    if a.ndim > 1 and b.ndim > 1:
        pairs += list(zip(layouts(a), reversed(list(layouts(b)))))
    for x, y in pairs:
        result = linalg.matmul(x, y)
        assert result.dtype == wanted.dtype and result.shape == wanted.shape
        assert np.array_equal(td.asnumpy(result), wanted)


def test_matmul_of_matrices_between_gaps_and_repeated():
    a, b = values((4, 6, 5, 3), np.float32), values((4, 6, 3, 7), np.float32)
    x, y = td.asarray(a), td.asarray(b)
    close(x[:, ::2] @ y[:, ::2], a[:, ::2] @ b[:, ::2])
    close(x.swapaxes(0, 1) @ y.swapaxes(0, 1), a.swapaxes(0, 1) @ b.swapaxes(0, 1))
    close(x[::-1] @ y[::-1], a[::-1] @ b[::-1])
    close(td.broadcast_to(x[0, 0], (3, 5, 3)) @ y[0, :3], a[0, 0] @ b[0, :3])


def test_half_products_sum_in_single_precision():
    a = np.full((4, 5000), 1.0, np.float16)
    assert np.array_equal(
        td.asnumpy(td.asarray(a) @ td.asarray(a.T)), np.full((4, 4), 5000, np.float16)
    )


def test_products_of_vectors():
    a, b = values((4, 3), np.complex128), values((4, 3), np.complex128, 1)
    x, y = td.asarray(a), td.asarray(b)
    close(linalg.vecdot(x, y), np.linalg.vecdot(a, b))
    close(linalg.vecdot(x, y, axis=0), np.linalg.vecdot(a, b, axis=0))
    close(linalg.cross(x, y), np.linalg.cross(a, b))
    close(linalg.cross(x.T, y.T, axis=0), np.linalg.cross(a.T, b.T, axis=0))
    close(linalg.outer(x[0], y[1]), np.linalg.outer(a[0], b[1]))
    assert linalg.vecdot(td.ones(3, np.int8), td.ones(3, np.int8)).dtype == np.int8
    with pytest.raises(ValueError, match="3-dimensional vectors"):
        linalg.cross(td.ones(2), td.ones(2))
    with pytest.raises(ValueError, match="one-dimensional"):
        linalg.outer(x, y)


def test_tensors():
    a, b = values((2, 3, 4), np.float64), values((4, 3, 5), np.float64, 1)
    x, y = td.asarray(a), td.asarray(b)
    close(linalg.tensordot(x, y, axes=1), np.tensordot(a, b, 1))
    close(linalg.tensordot(x, y, axes=((1, 2), (1, 0))), np.tensordot(a, b, ((1, 2), (1, 0))))
    close(linalg.tensordot(x, y, axes=0), np.tensordot(a, b, 0))
    c, d = values((6, 4, 2, 3, 4), np.float64), values((6, 4), np.float64)
    close(linalg.tensorsolve(td.asarray(c), td.asarray(d)), np.linalg.tensorsolve(c, d), 100)
    e = values((2, 3, 6, 3, 12), np.float64)[:, :, :, 0, :]
    with pytest.raises(LinAlgError):
        linalg.tensorsolve(td.asarray(e), td.asarray(d))
    f = values((4, 6, 8, 3), np.float64)
    close(linalg.tensorinv(td.asarray(f)), np.linalg.tensorinv(f), 100)
    with pytest.raises(ValueError, match="ind"):
        linalg.tensorinv(td.asarray(f), 0)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 5, 10])
def test_matrix_power(n):
    a = definite((2, 4, 4), np.float64) / 5
    close(linalg.matrix_power(td.asarray(a), n), np.linalg.matrix_power(a, n), 1e3)
    whole = np.array([[1, 2], [3, 4]])
    if n >= 0:
        assert np.array_equal(
            td.asnumpy(linalg.matrix_power(td.asarray(whole), n)), np.linalg.matrix_power(whole, n)
        )


def test_multi_dot():
    shapes = [(10, 30), (30, 5), (5, 60), (60, 2)]
    arrays = [values(s, np.float64, k) for k, s in enumerate(shapes)]
    on_device = [td.asarray(a) for a in arrays]
    close(linalg.multi_dot(on_device), np.linalg.multi_dot(arrays))
    close(linalg.multi_dot(on_device[:2]), arrays[0] @ arrays[1])
    v, w = values((10,), np.float64), values((2,), np.float64)
    close(
        linalg.multi_dot([td.asarray(v), *on_device, td.asarray(w)]),
        np.linalg.multi_dot([v, *arrays, w]),
    )
    out = td.empty((10, 2))
    assert linalg.multi_dot(on_device, out=out) is out
    close(out, np.linalg.multi_dot(arrays))
    with pytest.raises(ValueError, match="two arrays"):
        linalg.multi_dot(on_device[:1])


@pytest.mark.parametrize("offset", [-9, -2, -1, 0, 1, 3, 9])
def test_diagonal_trace_transpose(offset):
    a = np.arange(2 * 4 * 5).reshape(2, 4, 5)
    for x in layouts(a):
        assert np.array_equal(
            td.asnumpy(linalg.diagonal(x, offset=offset)), np.linalg.diagonal(a, offset=offset)
        )
        assert np.array_equal(
            td.asnumpy(linalg.trace(x, offset=offset)), np.linalg.trace(a, offset=offset)
        )
        assert np.array_equal(td.asnumpy(linalg.matrix_transpose(x)), np.linalg.matrix_transpose(a))
    x = td.asarray(a)
    view = linalg.diagonal(x)
    x[:, 0, 0] = 99
    assert (td.asnumpy(view)[:, 0] == 99).all()
    with pytest.raises(ValueError, match="read-only"):
        view[...] = 0
    with pytest.raises(ValueError, match="2-dimensional"):
        linalg.matrix_transpose(td.ones(3))


# ---- norms ----

ORDERS = [None, 2, -2, 1, -1, 0, 3, 0.5, np.inf, -np.inf, "fro", "nuc"]


@pytest.mark.parametrize("dtype", [np.int32, np.float16, *FLOATS])
@pytest.mark.parametrize("ord", ORDERS)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (2, 0), (-1, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norm(dtype, ord, axis, keepdims):
    a = (
        values((3, 4, 5), np.dtype(dtype) if np.dtype(dtype).kind in "fc" else np.float64) * 4
    ).astype(dtype)
    if dtype == np.float16:
        if ord in (2, -2, "nuc") and isinstance(axis, tuple):
            pytest.skip("no singular values of float16")
        a = np.abs(a)
    try:
        wanted = np.linalg.norm(a, ord, axis, keepdims)
    except (ValueError, TypeError) as error:
        with pytest.raises(type(error)):
            linalg.norm(td.asarray(a), ord, axis, keepdims)
        return
    result = linalg.norm(td.asarray(a), ord, axis, keepdims)
    assert result.dtype == wanted.dtype and result.shape == wanted.shape
    np.testing.assert_allclose(
        td.asnumpy(result),
        wanted,
        rtol=5e-3 if dtype == np.float16 else tolerance(wanted.dtype) * 10,
    )


@pytest.mark.parametrize("ord", ORDERS)
def test_norms_of_vectors_and_matrices(ord):
    for a in (values((4, 6), np.float64), values((2, 3, 4), np.complex64)):
        x = td.asarray(a)
        if not isinstance(ord, str):
            for axis in (None, 0, -1, (0, 1)):
                close(
                    linalg.vector_norm(x, axis=axis, ord=ord),
                    np.linalg.vector_norm(a, axis=axis, ord=ord),
                    10,
                )
            close(linalg.vector_norm(x, keepdims=True), np.linalg.vector_norm(a, keepdims=True))
        if ord not in (0, 3, 0.5):
            close(linalg.matrix_norm(x, ord=ord), np.linalg.matrix_norm(a, ord=ord), 10)
            close(
                linalg.matrix_norm(x, ord=ord, keepdims=True),
                np.linalg.matrix_norm(a, ord=ord, keepdims=True),
                10,
            )


def test_norm_of_nothing():
    for shape, axis, ord in [
        ((0,), None, None),
        ((0,), 0, np.inf),
        ((0, 3), (0, 1), 2),
        ((0, 3), (0, 1), 1),
        ((3, 0), 1, 0),
    ]:
        close(linalg.norm(td.zeros(shape), ord, axis), np.linalg.norm(np.zeros(shape), ord, axis))
    with pytest.raises(ValueError):
        linalg.norm(td.zeros((0, 3)), -np.inf, 0)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro"])
def test_cond(p):
    for a in (
        values((4, 4), np.float64),
        values((3, 2, 2), np.float32),
        np.ones((2, 2)),
        np.full((2, 2), np.nan),
    ):
        if p in (None, 2, -2) and np.isnan(a).any():
            continue  # a matter of convergence
        result, wanted = td.asnumpy(linalg.cond(td.asarray(a), p)), np.linalg.cond(a, p)
        assert result.dtype == wanted.dtype and result.shape == wanted.shape
        if np.isnan(a).any():
            assert np.array_equal(result, wanted, equal_nan=True)
        elif (np.linalg.matrix_rank(a) == a.shape[-1]).all():
            np.testing.assert_allclose(result, wanted, rtol=1e-3)
        elif p == -2:
            assert (result < 1e-6).all()
        else:
            assert (result > 1e6).all()


# ---- errors ----

SQUARE = [
    linalg.inv,
    linalg.det,
    linalg.slogdet,
    linalg.cholesky,
    linalg.eigh,
    linalg.eigvalsh,
    linalg.eig,
    linalg.eigvals,
]


@pytest.mark.parametrize("function", SQUARE)
def test_wrong_shapes(function):
    for shape in ((), (3,), (2, 3), (4, 3, 2)):
        with pytest.raises(LinAlgError, match="dimension"):
            function(td.ones(shape))
    with pytest.raises(TypeError, match="asarray"):
        function(np.eye(2))
    with pytest.raises(TypeError, match="float16 is unsupported"):
        function(td.eye(2, dtype=np.float16))


def test_singular_and_indefinite_matrices():
    for singular in (np.ones((2, 2)), np.zeros((3, 3)), np.stack([np.eye(2), np.ones((2, 2))])):
        x = td.asarray(singular)
        with pytest.raises(LinAlgError, match="Singular matrix"):
            linalg.inv(x)
        with pytest.raises(LinAlgError, match="Singular matrix"):
            linalg.solve(x, td.ones(singular.shape[-1]))
        close(linalg.det(x), np.linalg.det(singular))
        for part, wanted in zip(linalg.slogdet(x), np.linalg.slogdet(singular)):
            close(part, wanted)
    with pytest.raises(LinAlgError, match="positive definite"):
        linalg.cholesky(td.asarray(np.array([[1.0, 2], [2, 1]])))
    with pytest.raises(LinAlgError, match="infs or NaNs"):
        linalg.eig(td.asarray(np.array([[1.0, np.nan], [2, 1]])))
    assert issubclass(linalg.LinAlgError, ValueError)


def test_other_refusals():
    x = td.eye(3)
    with pytest.raises(ValueError, match="core dimension 0"):
        linalg.solve(x, td.ones(4))
    with pytest.raises(ValueError, match="Unrecognized mode 'nonsense'"):
        linalg.qr(x, "nonsense")
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(x, "X")
    with pytest.raises(ValueError, match="Invalid norm order"):
        linalg.norm(x, "nonsense")
    with pytest.raises(TypeError, match="exponent"):
        linalg.matrix_power(x, 1.5)
    with pytest.raises(ValueError, match="can't be both set"):
        linalg.matrix_rank(x, 1.0, rtol=1.0)
    with pytest.raises(LinAlgError, match="Incompatible"):
        linalg.lstsq(x, td.ones(4))
    with pytest.raises(LinAlgError, match="empty"):
        linalg.cond(td.zeros((0, 0)))


def test_numpys_functions_run_on_the_device():
    x = td.eye(3) * 2
    close(np.linalg.inv(x), np.eye(3) / 2)
    assert isinstance(np.linalg.norm(x), td.ndarray)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [1, 2, 5, 63, 64, 65, 129])
def test_stacks_of_small_matrices(dtype, n):
    """Up to 128 rows a stack goes to the library as one; every matrix has its own pivots and errors."""
    rng = np.random.default_rng(n)
    count = 37 if n < 60 else 3
    a = values((count, n, n), dtype, n)
    b = values((count, n, 3), dtype, n + 1)
    a[:, range(n), range(n)] += (rng.permutation(count)[:, None] - count / 2).astype(a.real.dtype)
    a = a[:, rng.permutation(n)]
    x = td.asarray(a)
    bound = 2e-3 if np.dtype(dtype).itemsize <= 8 and np.dtype(dtype) != np.float64 else 1e-9
    identity = np.broadcast_to(np.eye(n), a.shape)
    scale = np.abs(np.linalg.inv(a)).max() * np.abs(a).max() * n
    got = td.asnumpy(linalg.solve(x, td.asarray(b)))
    np.testing.assert_allclose(a @ got, b, atol=bound * scale, rtol=0)
    np.testing.assert_allclose(a @ td.asnumpy(linalg.inv(x)), identity, atol=bound * scale, rtol=0)
    if n <= 5:  # larger ones overflow
        np.testing.assert_allclose(td.asnumpy(linalg.det(x)), np.linalg.det(a), rtol=10 * bound)
    positive = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(n, dtype=dtype)
    for upper in (False, True):
        got = td.asnumpy(linalg.cholesky(td.asarray(positive), upper=upper))
        want = np.linalg.cholesky(positive, upper=upper)
        np.testing.assert_allclose(got, want, atol=bound * np.abs(want).max(), rtol=0)
    positive[count // 2] = -positive[count // 2]
    with pytest.raises(linalg.LinAlgError, match="positive definite"):
        linalg.cholesky(td.asarray(positive))
    a[count - 1, n // 2] = 0
    with pytest.raises(linalg.LinAlgError, match="Singular"):
        linalg.inv(td.asarray(a))


def test_tf32_only_on_request():
    """Operands with more bits than TF32 has come through unless it was asked for; the setting goes back."""
    a = np.full((64, 64), 1 + 2.0**-20, np.float32)
    want = a @ np.eye(64, dtype=np.float32)
    assert td.config.tf32 is False
    np.testing.assert_array_equal(
        td.asnumpy(td.matmul(td.asarray(a), td.eye(64, dtype="f4"))), want
    )
    with td.config.set(tf32=True):
        assert td.config.tf32 is True
        got = td.asnumpy(td.matmul(td.asarray(a), td.eye(64, dtype="f4")))
        np.testing.assert_allclose(got, want, rtol=1e-3)
    np.testing.assert_array_equal(
        td.asnumpy(td.matmul(td.asarray(a), td.eye(64, dtype="f4"))), want
    )
