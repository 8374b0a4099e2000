"""Linear algebra by the names of ``numpy.linalg``.

The last two axes of an array are its matrices; all others count them. Matrices of float32, float64, complex64 and
complex128 are computed in their own precision (NumPy computes float32 in float64), integers and bool as float64;
float16 and bfloat16 raise TypeError. ``LinAlgError`` is NumPy's own class. Results that NumPy gives as scalars are 0-d
arrays.
"""

import math
import operator
from collections import namedtuple

import numpy as np
from numpy.linalg import LinAlgError

from . import _functions as _f
from . import _treadle
from ._creation import arange, asarray, empty, eye, zeros
from ._kinds import kind_of, limits_of
from ._linalg_norms import cond, matrix_norm, norm, vector_norm
from ._treadle import ndarray

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq",
    "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv",
    "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip

EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")


def _own(a, function):
    return _f._own(a, f"linalg.{function}")


def _matrices(a, function):
    _own(a, function)
    if a.ndim < 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    return a


def _square(a, function):
    _matrices(a, function)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError(
            f"Last 2 dimensions of the array must be square, but the shape is {a.shape}"
        )
    return a


def _finite(a):
    if kind_of(a.dtype) in "fc" and not bool(_treadle.all(_treadle.isfinite(a))):
        raise LinAlgError("Array must not contain infs or NaNs")


def _conjugate(a):
    return _treadle.conjugate(a) if a.dtype.kind == "c" else a


def _eps(a):
    return float(np.finfo(a.dtype if kind_of(a.dtype) in "fc" else np.float64).eps)


# ---- products ----

matmul = _treadle.matmul


def matrix_transpose(x, /):
    """``x`` (..., m, n) as a view (..., n, m). ValueError with fewer than two axes."""
    if _own(x, "matrix_transpose").ndim < 2:
        raise ValueError(
            f"Input array must be at least 2-dimensional, but it is {x.ndim}-dimensional"
        )
    return x.swapaxes(-1, -2)


def diagonal(x, /, *, offset=0):
    """The diagonals of the matrices (..., m, n): a read-only view (..., k)."""
    return _treadle._linalg_diagonal(_own(x, "diagonal"), offset)


def trace(x, /, *, offset=0, dtype=None):
    """The sum along each diagonal (..., m, n) -> (...); dtype as that of ``sum``."""
    return _treadle.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def outer(x1, x2, /):
    """The products of all pairs: (m,), (n,) -> (m, n)."""
    if _own(x1, "outer").ndim != 1 or _own(x2, "outer").ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}."
        )
    return _treadle.multiply(x1[:, None], x2[None, :])


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of ``conj(x1) * x2`` along an axis, in the dtype of the product."""
    _own(x1, "vecdot"), _own(x2, "vecdot")
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError("vecdot: an operand has no axis to sum over (a 0-d array)")
    x1, x2 = _f.moveaxis(x1, axis, -1), _f.moveaxis(x2, axis, -1)
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(
            f"vecdot: the operands have {x1.shape[-1]} and {x2.shape[-1]} elements along the axis"
        )
    product = _treadle.multiply(_conjugate(x1), x2)
    if product.dtype.kind == "b":
        return _treadle.any(product, -1)
    return _treadle.sum(product, -1, dtype=product.dtype)


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of three elements along ``axis``, which may be stacked and broadcast."""
    _own(x1, "cross"), _own(x2, "cross")
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    a, b = _f.moveaxis(x1, axis, -1), _f.moveaxis(x2, axis, -1)
    parts = [
        a[..., (i + 1) % 3] * b[..., (i + 2) % 3] - a[..., (i + 2) % 3] * b[..., (i + 1) % 3]
        for i in range(3)
    ]
    return _f.moveaxis(_f.stack(parts, -1), -1, axis)


def _pairs(axes, a, b):
    """The axes of tensordot as two lists of non-negative numbers."""
    if not hasattr(axes, "__iter__"):
        count = operator.index(axes)
        if count > min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: axes={count} is more than an operand has")
        return list(range(a.ndim - count, a.ndim)), list(range(count))
    left, right = ([x] if isinstance(x, int) else list(x) for x in axes)
    if len(left) != len(right):
        raise ValueError(f"tensordot: {len(left)} axes of a, but {len(right)} of b")
    return list(_f._axes(left, a.ndim)), list(_f._axes(right, b.ndim))


def tensordot(x1, x2, /, *, axes=2):
    """The sum of products over pairs of axes: the last ``axes`` of x1 with the first of x2, or two lists of axes."""
    a, b = _own(x1, "tensordot"), _own(x2, "tensordot")
    left, right = _pairs(axes, a, b)
    lengths = [a.shape[i] for i in left]
    if lengths != [b.shape[i] for i in right]:
        raise ValueError("shape-mismatch for sum")
    free_a = [i for i in range(a.ndim) if i not in left]
    free_b = [i for i in range(b.ndim) if i not in right]
    rows, columns = [a.shape[i] for i in free_a], [b.shape[i] for i in free_b]
    k = math.prod(lengths)
    product = matmul(
        a.transpose(free_a + left).reshape(math.prod(rows), k),
        b.transpose(right + free_b).reshape(k, math.prod(columns)),
    )
    return product.reshape((*rows, *columns))


def matrix_power(a, n):
    """The n-th power of square matrices by repeated squaring; a negative ``n`` inverts first."""
    _square(a, "matrix_power")
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if n == 0:
        result = empty(a.shape, a.dtype)
        result[...] = eye(a.shape[-1], dtype=a.dtype)
        return result
    if n < 0:
        a, n = inv(a), -n
    result = None
    while n:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        if n:
            a = matmul(a, a)
    return result


def _best_splits(dims):
    """Where to split each chain of matrices dims[i] x dims[i+1], so that the fewest products are made."""
    n = len(dims) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i][j], split[i][j] = min(
                (cost[i][s] + cost[s + 1][j] + dims[i] * dims[s + 1] * dims[j + 1], s)
                for s in range(i, j)
            )
    return split


def multi_dot(arrays, *, out=None):
    """The product of two or more matrices, in the order that needs the fewest operations.

    The first and the last may be vectors: a row and a column.
    """
    arrays = [_own(a, "multi_dot") for a in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    first, last = arrays[0].ndim == 1, arrays[-1].ndim == 1
    if first:
        arrays[0] = arrays[0][None, :]
    if last:
        arrays[-1] = arrays[-1][:, None]
    for a in arrays:
        if a.ndim != 2:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    split = _best_splits([arrays[0].shape[0], *(a.shape[1] for a in arrays)])

    def product(i, j):
        return arrays[i] if i == j else matmul(product(i, split[i][j]), product(split[i][j] + 1, j))

    result = product(0, len(arrays) - 1)
    result = result[0 if first else slice(None), 0 if last else slice(None)]
    if out is None:
        return result
    _f.copyto(out, result)
    return out


# ---- equations ----


def solve(a, b):
    """X of ``a @ X = b``: (..., n, n) and (..., n, k), or one vector (n,). LinAlgError when ``a`` is singular."""
    return _treadle._linalg_solve(_own(a, "solve"), _own(b, "solve"))


def inv(a):
    """The inverse (..., n, n). LinAlgError when a matrix is singular."""
    return _treadle._linalg_inv(_own(a, "inv"), False)


def pinv(a, rcond=None, hermitian=False, *, rtol=np._NoValue):
    """The Moore-Penrose inverse (..., m, n) -> (..., n, m) through the singular values.

    Singular values below ``rcond`` times the largest count as 0. Default: 1e-15, or max(m, n) times the precision of
    the dtype where that is single precision.
    """
    _matrices(a, "pinv")
    default = max(a.shape[-2:]) * _eps(a)
    if rtol is not np._NoValue:
        if rcond is not None:
            raise ValueError("`rtol` and `rcond` can't be both set.")
        rcond = default if rtol is None else rtol
    elif rcond is None:
        rcond = 1e-15 if _eps(a) < 1e-15 else default
    if a.size == 0:
        return empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    u, s, vh = svd(_conjugate(a), full_matrices=False, hermitian=hermitian)
    cutoff = (rcond[..., None] if isinstance(rcond, ndarray) else rcond) * _treadle.max(
        s, -1, keepdims=True
    )
    inverse = _treadle.where(s > cutoff, 1 / s, 0).astype(s.dtype, copy=False)
    return matmul(vh.swapaxes(-1, -2), inverse[..., :, None] * u.swapaxes(-1, -2))


def lstsq(a, b, rcond=None):
    """Least squares of ``a @ x = b``: (m, n) with (m,) or (m, k) -> x, residuals, rank, singular values.

    The solution of least length, through the singular values; those below ``rcond`` times the largest count as 0
    (default: max(m, n) times the precision of the dtype).
    """
    for x in (_own(a, "lstsq"), _own(b, "lstsq")):
        if x.ndim != 2 and not (x is b and x.ndim == 1):
            raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    vector = b.ndim == 1
    right = b[:, None] if vector else b
    m, n = a.shape
    if m != right.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    dtype = np.result_type(*(x.dtype if kind_of(x.dtype) in "fc" else np.float64 for x in (a, b)))
    u, s, vh = svd(a.astype(dtype, copy=False), full_matrices=False)
    if rcond is None:
        rcond = max(m, n) * float(limits_of(dtype).eps)
    elif rcond < 0:
        rcond = float(limits_of(dtype).eps)
    if s.size:
        kept = (s > rcond * s[0]) & (s > 0)
        inverse = _treadle.where(kept, 1 / s, 0).astype(s.dtype, copy=False)
        rank = int(_treadle.sum(kept))
        x = matmul(
            _conjugate(vh).T,
            inverse[:, None] * matmul(_conjugate(u).T, right.astype(dtype, copy=False)),
        )
    else:
        rank, x = 0, zeros((n, right.shape[1]), dtype)
    if rank == n and m > n:
        distance = right - matmul(a.astype(dtype, copy=False), x)
        residuals = _treadle.sum(_treadle.square(_treadle.absolute(distance)), 0)
    else:
        residuals = empty((0,), s.dtype)
    return x[:, 0] if vector else x, residuals, asarray(np.int32(rank)), s


def tensorsolve(a, b, axes=None):
    """X of ``tensordot(a, X, X.ndim) = b``; the axes of ``a`` named in ``axes`` go to the right first."""
    a, b = _own(a, "tensorsolve"), _own(b, "tensorsolve")
    if axes is not None:
        right = list(_f._axes(axes, a.ndim))
        a = a.transpose([i for i in range(a.ndim) if i not in right] + right)
    shape = a.shape[b.ndim :]
    unknowns = math.prod(shape)
    if a.size != unknowns**2:
        raise LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim]), "
            f"but a has the shape {a.shape} and b.ndim is {b.ndim}"
        )
    return solve(a.reshape(unknowns, unknowns), b.ravel()).reshape(shape)


def tensorinv(a, ind=2):
    """The inverse for ``tensordot(..., ind)``: the first ``ind`` axes change places with the others."""
    a = _own(a, "tensorinv")
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape[ind:] + a.shape[:ind]
    return inv(a.reshape(math.prod(a.shape[:ind]), math.prod(a.shape[ind:]))).reshape(shape)


# ---- decompositions ----


def _lu_parts(a, function):
    """The diagonal of U and the sign of the row exchanges."""
    factors, pivots = _treadle._linalg_lu(_square(a, function))
    n = a.shape[-1]
    moved = pivots != arange(1, n + 1)
    sign = 1 - 2 * (_treadle.sum(moved, -1) % 2)
    return diagonal(factors), sign


def det(a):
    """The determinant (..., n, n) -> (...); that of an empty matrix is 1."""
    d, sign = _lu_parts(a, "det")
    return (_treadle.prod(d, -1) * sign).astype(d.dtype, copy=False)


def slogdet(a):
    """Sign and logarithm of the absolute determinant: (..., n, n) -> (...), (...). Singular: 0 and -inf."""
    d, sign = _lu_parts(a, "slogdet")
    size = _treadle.absolute(d)
    phase = _treadle.where(size == 0, 0, d / size)
    sign = _treadle.prod(phase, -1) * sign
    return SlogdetResult(sign.astype(d.dtype, copy=False), _treadle.sum(_treadle.log(size), -1))


def cholesky(a, /, *, upper=False):
    """L of ``a = L @ L.mT.conj()``, or U of ``a = U.mT.conj() @ U``. Reads that triangle of ``a`` only.

    LinAlgError unless every matrix is positive definite.
    """
    return _treadle._linalg_cholesky(_own(a, "cholesky"), upper)


def qr(a, mode="reduced"):
    """``a = Q @ R``: "reduced" (..., m, k) and (..., k, n) with k = min(m, n); "complete": k = m; "r": R alone.

    "raw": LAPACK's Householder vectors (..., n, m) and their scales (..., k).
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    result = _treadle._linalg_qr(_matrices(a, "qr"), mode)
    return QRResult(*result) if mode in ("reduced", "complete") else result


def _whole(a):
    """The Hermitian matrix whose lower triangle this is."""
    row = arange(a.shape[-1])
    upper = _conjugate(a).swapaxes(-1, -2)
    return _treadle.where(row[:, None] >= row[None, :], a, upper)


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """``a = U @ diag(S) @ Vh``, singular values descending.

    (..., m, n) -> U (..., m, m), S (..., k), Vh (..., n, n) with k = min(m, n); with ``full_matrices=False``
    U (..., m, k) and Vh (..., k, n); with ``compute_uv=False`` S alone. ``hermitian`` reads the lower triangle only.
    LinAlgError when it does not converge.
    """
    a = _whole(_square(a, "svd")) if hermitian else _matrices(a, "svd")
    u, s, vh = _treadle._linalg_svd(a, compute_uv, full_matrices)
    return SVDResult(u, s, vh) if compute_uv else s


def svdvals(x, /):
    """The singular values, descending: (..., m, n) -> (..., min(m, n))."""
    return svd(x, compute_uv=False)


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """The number of singular values above ``tol`` (default: the largest times max(m, n) times the precision)."""
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if _own(A, "matrix_rank").ndim < 2:
        return _treadle.any(A != 0).astype(np.int64)
    if hermitian:
        s = _treadle.absolute(eigvalsh(A))
    else:
        s = svdvals(A)
    if s.shape[-1] == 0:
        return zeros(s.shape[:-1], np.int64)

    def column(x):
        return x[..., None] if isinstance(x, ndarray) else x

    if tol is None:
        rtol = max(A.shape[-2:]) * _eps(s) if rtol is None else column(rtol)
        tol = _treadle.max(s, -1, keepdims=True) * rtol
    else:
        tol = column(tol)
    return _treadle.sum(s > tol, -1)


def _triangle(UPLO):
    UPLO = UPLO.upper()
    if UPLO not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO == "U"


def eigh(a, UPLO="L"):
    """Eigenvalues (..., n), ascending, and eigenvectors (..., n, n) as columns of Hermitian matrices.

    Reads the lower triangle, or the upper one with ``UPLO="U"``.
    """
    return EighResult(*_treadle._linalg_eigh(_own(a, "eigh"), _triangle(UPLO), True))


def eigvalsh(a, UPLO="L"):
    """The eigenvalues of ``eigh`` alone."""
    return _treadle._linalg_eigh(_own(a, "eigvalsh"), _triangle(UPLO), False)[0]


def eig(a):
    """Eigenvalues (..., n) and right eigenvectors (..., n, n) as columns of general matrices.

    Complex for every ``a``, as from NumPy 2.5 and CuPy. On an NVIDIA GPU it needs the cuSOLVER of CUDA 12.6 or newer.
    """
    _finite(_square(a, "eig"))
    return EigResult(*_treadle._linalg_eig(a, True))


def eigvals(a):
    """The eigenvalues of ``eig`` alone."""
    _finite(_square(a, "eigvals"))
    return _treadle._linalg_eig(a, False)[0]
