"""``ufunc.reduce`` and ``ufunc.accumulate`` of operations that have no reduction kernel of their own.

An operation whose order does not matter joins halves of an axis, all at once; any other goes along it, element by
element.
"""

import math

from . import _treadle
from ._manipulation import concatenate, moveaxis

# Operations that may be applied in any order and grouping.
ASSOCIATIVE = {
    "add", "multiply", "minimum", "maximum", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
    "bitwise_xor", "fmax", "fmin", "gcd", "lcm", "hypot", "logaddexp", "logaddexp2",
}  # fmt: skip


def reduce_lines(operation, array, axes, dtype, keepdims, initial, where):
    """The operation between the elements along ``axes`` that ``where`` chooses, ``initial`` in front of them.

    Either there are elements, or the operation has an identity or an initial value (None: none).
    """
    name = operation.__name__
    if len(axes) > 1 and name not in ASSOCIATIVE:
        raise ValueError(
            f"reduction operation '{name}' is not reorderable, so at most one axis may be specified"
        )
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    lines = _lines(array, axes)
    mask = None if where is True else _lines(where._broadcast_to(array.shape), axes)
    of_result = dtype or operation(lines[:1], lines[:1]).dtype
    if lines.shape[0] == 0:
        start = operation.identity if initial is None else initial
        result = _treadle.full(lines.shape[1:], start, of_result)
    elif name in ASSOCIATIVE and (mask is None or operation.identity is not None):
        if mask is not None:
            lines = _treadle.where(mask, lines, _treadle.full((), operation.identity, lines.dtype))
        result = _by_halves(operation, lines, dtype)
        if initial is not None:
            result = operation(_treadle.full((), initial, of_result), result, dtype=dtype)
    else:
        result = _in_order(operation, lines, mask, initial, dtype, of_result)
    result = result.astype(of_result, copy=False)
    if keepdims:
        kept = [1 if k in axes else array.shape[k] for k in range(array.ndim)]
        result = result._reshape(kept)
    return result


def count_along(array, axes):
    """The number of elements along ``axes``."""
    return math.prod(array.shape[k] for k in axes)


def _lines(array, axes):
    """The elements along ``axes`` as one axis, in front of the others."""
    kept = [k for k in range(array.ndim) if k not in axes]
    shape = [count_along(array, axes), *(array.shape[k] for k in kept)]
    return array.transpose([*axes, *kept])._reshape(shape)


def _by_halves(operation, lines, dtype):
    while (n := lines.shape[0]) > 1:
        half = n // 2
        both = operation(lines[:half], lines[n - half :], dtype=dtype)
        lines = both if n % 2 == 0 else concatenate([both, lines[half : half + 1]])
    return lines[0]


def _in_order(operation, lines, mask, initial, dtype, of_result):
    if initial is None:
        result, first = lines[0], 1
    else:
        result, first = _treadle.full(lines.shape[1:], initial, of_result), 0
    for k in range(first, lines.shape[0]):
        step = operation(result, lines[k], dtype=dtype)
        result = step if mask is None else _treadle.where(mask[k], step, result)
    return result


def accumulate_lines(operation, array, axis, dtype):
    """The running results of the operation along ``axis``."""
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    lines = moveaxis(array, axis, 0)
    n = lines.shape[0]
    result = lines.astype(operation(lines, lines).dtype)
    if operation.__name__ in ASSOCIATIVE:
        step = 1
        while step < n:
            result[step:] = operation(result[:-step], result[step:])
            step *= 2
    else:
        for k in range(1, n):
            result[k] = operation(result[k - 1], lines[k])
    return moveaxis(result, 0, axis)
