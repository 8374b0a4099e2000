"""Products of arrays: everything is brought to matrix products, transposes and sums."""

import builtins

import numpy as np

from . import _treadle
from ._creation import asarray, empty, zeros
from ._manipulation import axes_of, axis_of, copyto, moveaxis, own
from ._treadle import ndarray

__all__ = [
    "cross",
    "dot",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]


def _number(x):
    return not isinstance(x, ndarray) or x.ndim == 0


def _into(out, result):
    if out is None:
        return result
    if out.dtype != result.dtype or out.shape != result.shape or not out.flags.c_contiguous:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a "
            f"C-Array): {result.dtype} {result.shape} is needed"
        )
    copyto(out, result)
    return out


def dot(a, b, out=None):
    """Sum of products over the last axis of ``a`` and the second to last of ``b``; a scalar multiplies."""
    if _number(a) or _number(b):
        return _into(out, _treadle.multiply(a, b))
    if b.ndim <= 2:
        return _into(out, _treadle.matmul(a, b))
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"shapes {a.shape} and {b.shape} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != "
            f"{b.shape[-2]} (dim {b.ndim - 2})"
        )
    return _into(out, tensordot(a, b, (-1, -2)))


def tensordot(a, b, axes=2):
    """Sum of products over axes of ``a`` and ``b``: the last and first ``axes``, or two sequences of axes."""
    a, b = own(a, "tensordot"), own(b, "tensordot")
    if isinstance(axes, (int, np.integer)):
        if axes > builtins.min(a.ndim, b.ndim):
            raise ValueError("tensordot: `axes` is larger than the number of dimensions")
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        left, right = axes
        left = axes_of(left, a.ndim)
        right = axes_of(right, b.ndim)
    if len(left) != len(right) or builtins.any(
        a.shape[i] != b.shape[j] for i, j in zip(left, right)
    ):
        raise ValueError("shape-mismatch for sum")
    free_a = [k for k in range(a.ndim) if k not in left]
    free_b = [k for k in range(b.ndim) if k not in right]
    shape = [a.shape[k] for k in free_a] + [b.shape[k] for k in free_b]
    count = _product(a.shape[k] for k in left)
    rows = _product(a.shape[k] for k in free_a)
    columns = _product(b.shape[k] for k in free_b)
    matrix_a = (
        a.transpose([*free_a, *left])._reshape((rows, count)) if a.ndim else a._reshape((1, 1))
    )
    matrix_b = (
        b.transpose([*right, *free_b])._reshape((count, columns)) if b.ndim else b._reshape((1, 1))
    )
    return _treadle.matmul(matrix_a, matrix_b)._reshape(shape)


def _product(numbers):
    total = 1
    for n in numbers:
        total *= n
    return total


def _conjugated(a):
    return _treadle.conjugate(a) if a.dtype.kind == "c" else a


def vdot(a, b):
    """The inner product of the flattened arrays; the first is conjugated."""
    a, b = own(a, "vdot").ravel(), own(b, "vdot").ravel()
    if a.size != b.size:
        raise ValueError("vdot: vectors have different lengths")
    return _treadle.matmul(_conjugated(a), b)


def matmul(
    x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None
):
    """Matrix products over the last two axes; the others broadcast. A 1-D operand is a vector.

    ``axes`` says for both operands and the result which axes hold the matrices (one axis of a vector, none of a
    number). ``dtype`` is what is computed in; ``casting`` bounds how operands become it and the result becomes ``out``.
    ValueError for shapes that do not match, TypeError for a cast that is not allowed.
    """
    if out is None and dtype is None and axes is None:
        return _treadle.matmul(x1, x2)
    x1, x2 = own(x1, "matmul"), own(x2, "matmul")
    (out,) = out if isinstance(out, tuple) else (out,)
    if dtype is not None:
        x1, x2 = (_cast(x, np.dtype(dtype), casting, "input") for x in (x1, x2))
    if axes is None:
        places = None
    else:
        first, second, places = _matrix_axes(axes, x1.ndim, x2.ndim)
        x1 = moveaxis(x1, first, _last(first))
        x2 = moveaxis(x2, second, _last(second))
    result = _treadle.matmul(x1, x2)
    if places:
        result = moveaxis(result, _last(places), places)
    if out is None:
        return result
    copyto(own(out, "matmul"), _cast(result, out.dtype, casting, "output"))
    return out


def _last(axes):
    """As many axes at the end."""
    return tuple(range(-len(axes), 0))


def _cast(x, dtype, casting, what):
    if not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc 'matmul' {what} from dtype('{x.dtype}') to dtype('{dtype}') with casting rule "
            f"'{casting}'"
        )
    return x.astype(dtype, copy=False)


def _matrix_axes(axes, *ndim):
    """The axes of both operands and of the result as three tuples, each as long as it has axes of matrices."""
    cores = [builtins.min(n, 2) for n in ndim]
    cores.append(sum(cores) - 2)
    axes = [(entry,) if isinstance(entry, (int, np.integer)) else tuple(entry) for entry in axes]
    if len(axes) == 2 and cores[2] == 0:
        axes.append(())
    if len(axes) != 3:
        raise ValueError("axes should be a list with an entry for both operands and the result")
    for entry, core, name in zip(axes, cores, ("x1", "x2", "the result")):
        if len(entry) != core:
            raise ValueError(
                f"matmul: {name} has {core} axes of matrices, but axes names {len(entry)}"
            )
    return axes


_SUMMED = [np.dtype(letter) for letter in "fdFD"]


def vecdot(x1, x2, /, out=None, *, axis=-1):
    """Inner products along an axis, which both arrays have; the first is conjugated."""
    x1, x2 = own(x1, "vecdot"), own(x2, "vecdot")
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError("vecdot: both arguments need at least one dimension")
    if isinstance(axis, tuple):
        raise TypeError("vecdot: axis must be an integer")
    x1, x2 = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(
            f"vecdot: the vectors have lengths {x1.shape[-1]} and {x2.shape[-1]}; they must agree"
        )
    common = np.result_type(x1.dtype, x2.dtype)
    if common in _SUMMED and x1.size > x1.shape[-1]:  # many sums: one fused pass over both
        result = _treadle.sum(_conjugated(x1) * x2, -1, common)
    else:
        result = _treadle.matmul(_conjugated(x1)[..., None, :], x2[..., :, None])[..., 0, 0]
    if out is None:
        return result
    copyto(out, result)
    return out


def matvec(x1, x2, /):
    """Matrices times vectors: the last two axes of ``x1``, the last one of ``x2``."""
    if own(x1, "matvec").ndim < 2 or own(x2, "matvec").ndim < 1:
        raise ValueError("matvec: x1 needs two dimensions, x2 one")
    return _treadle.matmul(x1, x2[..., None])[..., 0]


def vecmat(x1, x2, /):
    """Conjugated vectors times matrices: the last axis of ``x1``, the last two of ``x2``."""
    if own(x1, "vecmat").ndim < 1 or own(x2, "vecmat").ndim < 2:
        raise ValueError("vecmat: x1 needs one dimension, x2 two")
    return _treadle.matmul(_conjugated(x1)[..., None, :], x2)[..., 0, :]


def inner(a, b):
    """Sum of products over the last axes; a scalar multiplies."""
    if _number(a) or _number(b):
        return _treadle.multiply(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"shapes {a.shape} and {b.shape} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != "
            f"{b.shape[-1]} (dim {b.ndim - 1})"
        )
    return tensordot(a, b, (-1, -1))


def outer(a, b, out=None):
    """Products of every element of ``a`` and every element of ``b``, both flattened."""
    a, b = asarray(a).ravel(), asarray(b).ravel()
    return _treadle.multiply(a[:, None], b[None, :], out)


def kron(a, b):
    """The Kronecker product: every element of ``a`` times the whole of ``b``, as blocks."""
    a, b = asarray(a), asarray(b)
    n = builtins.max(a.ndim, b.ndim)
    left = (1,) * (n - a.ndim) + a.shape
    right = (1,) * (n - b.ndim) + b.shape
    spread = a._reshape([x for k in left for x in (k, 1)])
    blocks = b._reshape([x for k in right for x in (1, k)])
    return _treadle.multiply(spread, blocks)._reshape([i * j for i, j in zip(left, right)])


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of 3 (or 2, deprecated by NumPy) components along an axis."""
    a, b = asarray(a), asarray(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    if axis is not None:
        axisa = axisb = axisc = axis
    a = moveaxis(a, axis_of(axisa, a.ndim), -1)
    b = moveaxis(b, axis_of(axisb, b.ndim), -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{a.shape[-1]} and {b.shape[-1]} dimensional instead."
        )
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    a0, a1 = a[..., 0], a[..., 1]
    b0, b1 = b[..., 0], b[..., 1]
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        return a0 * b1 - a1 * b0
    result = empty((*shape, 3), np.promote_types(a.dtype, b.dtype))
    a2 = a[..., 2] if a.shape[-1] == 3 else zeros((), a.dtype)
    b2 = b[..., 2] if b.shape[-1] == 3 else zeros((), b.dtype)
    result[..., 0] = a1 * b2 - a2 * b1
    result[..., 1] = a2 * b0 - a0 * b2
    result[..., 2] = a0 * b1 - a1 * b0
    return moveaxis(result, -1, axisc)
