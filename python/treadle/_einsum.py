"""Einstein summation: operands are reduced pairwise by matrix products, after their own sums and diagonals."""

import builtins
import itertools

import numpy as np

from . import _treadle
from ._creation import asarray
from ._manipulation import copyto, own
from ._treadle import ndarray

__all__ = ["einsum", "einsum_path"]


def _from_lists(operands):
    """The form einsum(a, [0, 1], b, [1, 2], [0, 2]) as a subscript string."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def text(labels):
        return "".join("..." if x is Ellipsis else letters[x] for x in labels)

    arrays, labels = operands[0::2], operands[1::2]
    output = None
    if len(operands) % 2:
        arrays, output = arrays[:-1], operands[-1]
    subscripts = ",".join(text(x) for x in labels)
    return subscripts + ("" if output is None else "->" + text(output)), arrays


def _parse(operands):
    """(labels of each operand, labels of the result, arrays); an ellipsis becomes labels that are integers."""
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand")
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0], operands[1:]
    else:
        subscripts, arrays = _from_lists(operands)
    arrays = [asarray(a) if np.isscalar(a) else own(a, "einsum") for a in arrays]
    subscripts = subscripts.replace(" ", "")
    for letter in subscripts:
        if not (letter.isalpha() or letter in ".,->"):
            raise ValueError(
                f"invalid subscript '{letter}' in einstein sum subscripts string, subscripts must be letters"
            )
    left, arrow, right = subscripts.partition("->")
    if "-" in left or ">" in left or (arrow and ("-" in right or ">" in right or "," in right)):
        raise ValueError("einstein sum subscripts string has a '->' that is not one arrow")
    terms = left.split(",")
    if len(terms) != len(arrays):
        more = "more" if len(arrays) > len(terms) else "fewer"
        raise ValueError(
            f"{more} operands provided to einstein sum function than specified in the subscripts string"
        )
    labels = [_labels(term, a.ndim) for term, a in zip(terms, arrays)]
    spread = builtins.max(
        (-builtins.min((x for x in t if isinstance(x, int)), default=0) for t in labels), default=0
    )
    dots = [-k for k in range(spread, 0, -1)]
    if arrow:
        if dots and "..." not in right:
            raise ValueError(
                "output has no '...' for the dimensions that an ellipsis in the subscripts stands for"
            )
        result = _labels(right, None, dots)
        for x in result:
            if result.count(x) > 1:
                raise ValueError(
                    f"einstein sum subscripts string includes output subscript '{x}' multiple times"
                )
            if builtins.all(x not in t for t in labels):
                raise ValueError(
                    f"einstein sum subscripts string included output subscript '{x}' which never appeared in an input"
                )
    else:
        named = [x for t in labels for x in t if isinstance(x, str)]
        result = dots + sorted(x for x in set(named) if named.count(x) == 1)
    return labels, result, arrays


def _labels(term, ndim, dots=None):
    """Letters, and for an ellipsis the integers -k .. -1, which align axes from the right."""
    before, ellipsis, after = term.partition("...")
    if "." in before or "." in after:
        raise ValueError(
            "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...')"
        )
    if dots is None:
        extra = ndim - len(before) - len(after)
        if extra < 0:
            raise ValueError(
                "einstein sum subscripts string contains too many subscripts for operand"
            )
        if extra and not ellipsis:
            raise ValueError(
                "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
                "broadcast the extra dimensions."
            )
        dots = [-k for k in range(extra, 0, -1)]
    return [*before, *(dots if ellipsis else []), *after]


def _sizes(labels, arrays):
    sizes = {}
    for term, a in zip(labels, arrays):
        for x, n in zip(term, a.shape):
            known = sizes.setdefault(x, n)
            if known == 1:
                sizes[x] = n
            elif n not in (1, known):
                raise ValueError(
                    f"operands could not be broadcast together: subscript '{x}' has lengths {known} and {n}"
                )
    return sizes


def _diagonals(term, a):
    """Repeated labels of one operand as one axis, by strides."""
    order = list(dict.fromkeys(term))
    if len(order) == len(term):
        return order, a
    shape, strides = [], []
    for x in order:
        lengths = [n for y, n in zip(term, a.shape) if y == x]
        steps = [s for y, s in zip(term, a.strides) if y == x]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"dimensions in operand for collapsing index '{x}' don't match ({lengths[0]} != {lengths[1]})"
            )
        shape.append(lengths[0])
        strides.append(builtins.sum(steps))
    return order, _treadle._strided_view(a, shape, strides, 0, a.dtype, a.flags.writeable)


def _summed(term, a, keep):
    """Without the labels that nobody else needs."""
    axes = tuple(k for k, x in enumerate(term) if x not in keep)
    if not axes:
        return term, a
    return [x for x in term if x in keep], _treadle.sum(a, axes, dtype=a.dtype)


def _pair(left, a, right, b, keep):
    """One operand from two: a batched matrix product, or a product where nothing is summed over."""
    # An axis of length 1 that is longer in the other operand is broadcast: it is not part of a sum.
    lengths = dict(zip(left, a.shape)), dict(zip(right, b.shape))
    shared = [x for x in left if x in right]
    uneven = [x for x in shared if lengths[0][x] != lengths[1][x]]
    batch = [x for x in shared if x in keep and x not in uneven]
    summed = [x for x in shared if x not in keep and x not in uneven]
    if uneven or not summed or a.dtype.kind == "b":
        return _by_broadcast(left, a, right, b, keep)
    free_a = [x for x in left if x not in shared]
    free_b = [x for x in right if x not in shared]

    def turned(term, array, groups):
        flat = (
            array.transpose([term.index(x) for group in groups for x in group])
            if array.ndim
            else array
        )
        shape = [array.shape[term.index(x)] for x in batch]
        for group in groups[1:]:
            count = 1
            for x in group:
                count *= array.shape[term.index(x)]
            shape.append(count)
        return flat._reshape(shape)

    product = _treadle.matmul(
        turned(left, a, [batch, free_a, summed]), turned(right, b, [batch, summed, free_b])
    )
    term = batch + free_a + free_b
    sizes = {**lengths[1], **lengths[0]}
    return term, product._reshape([sizes[x] for x in term])


def _by_broadcast(left, a, right, b, keep):
    term = left + [x for x in right if x not in left]

    def aligned(own_term, array):
        order = sorted(range(len(own_term)), key=lambda k: term.index(own_term[k]))
        array = array.transpose(order) if array.ndim > 1 else array
        lengths = {own_term[k]: array.shape[place] for place, k in enumerate(order)}
        return array._reshape([lengths.get(x, 1) for x in term])

    product = _treadle.multiply(aligned(left, a), aligned(right, b))
    return _summed(term, product, keep)


def _pairs(labels, result, sizes, optimize):
    """Which two operands are joined next: (i, j) again and again. Greedy by the size of what comes out."""
    terms = [list(t) for t in labels]
    steps = []
    while len(terms) > 1:
        i, j = _cheapest(terms, result, sizes) if optimize and len(terms) > 2 else (0, 1)
        steps.append((i, j))
        rest = {x for k, t in enumerate(terms) if k not in (i, j) for x in t} | set(result)
        joined = [x for x in dict.fromkeys(terms[i] + terms[j]) if x in rest]
        terms = [t for k, t in enumerate(terms) if k not in (i, j)] + [joined]
    return steps


def _cheapest(terms, result, sizes):
    """The pair whose product has the fewest elements, and among those the least work."""

    def cost(pair):
        rest = {x for k, t in enumerate(terms) if k not in pair for x in t} | set(result)
        elements, work = 1, 1
        for x in set(terms[pair[0]]) | set(terms[pair[1]]):
            work *= sizes[x]
            elements *= sizes[x] if x in rest else 1
        return elements, work

    return builtins.min(itertools.combinations(range(len(terms)), 2), key=cost)


def einsum(*operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    """Sums of products by Einstein's convention: ``einsum("ij,jk->ik", a, b)``, or labels as lists of integers.

    ``optimize`` (anything true) chooses the order of more than two operands by the sizes of what comes out.
    ValueError for subscripts that do not fit the operands; TypeError when ``casting`` forbids the cast to ``dtype``.
    """
    labels, result, arrays = _parse(operands)
    sizes = _sizes(labels, arrays)
    pool = [_diagonals(term, a) for term, a in zip(labels, arrays)]
    if len(pool) == 1 and len(result) == len(pool[0][0]) and out is None:
        term, a = pool[0]  # a view, as NumPy's: whatever dtype says
        return a.transpose([term.index(x) for x in result]) if a.ndim > 1 else a[...]
    kind = np.result_type(*(a.dtype for a in arrays)) if dtype is None else np.dtype(dtype)
    for a in arrays:
        if not np.can_cast(a.dtype, kind, casting):
            raise TypeError(
                f"Cannot cast operand from {a.dtype!r} to {kind!r} according to the rule '{casting}'"
            )
    pool = [(term, a.astype(kind, copy=False)) for term, a in pool]
    for k, (term, a) in enumerate(pool):
        others = {x for j, (t, _) in enumerate(pool) if j != k for x in t}
        pool[k] = _summed(term, a, others | set(result))
    for i, j in _pairs([t for t, _ in pool], result, sizes, optimize):
        (left, a), (right, b) = pool[i], pool[j]
        rest = [p for k, p in enumerate(pool) if k not in (i, j)]
        keep = {x for t, _ in rest for x in t} | set(result)
        left, a = _summed(left, a, keep | set(right))
        right, b = _summed(right, b, keep | set(left))
        pool = [*rest, _pair(left, a, right, b, keep)]
    term, a = pool[0]
    if a.ndim > 1:
        a = a.transpose([term.index(x) for x in result])
    shape = tuple(sizes[x] for x in result)
    if a.shape != shape:
        a = a._broadcast_to(shape)
    a = a.astype(kind, copy=False)
    if out is not None:
        copyto(out, a)
        return out
    if order in ("C", "F") and not (a.flags.c_contiguous if order == "C" else a.flags.f_contiguous):
        return a.copy(order)
    return a if builtins.all(a is not x for x in arrays) else a.copy()


def einsum_path(*operands, optimize="greedy"):
    """The order in which ``einsum`` would join its operands, as ``numpy.einsum_path``, which is asked for it."""
    host = [
        np.broadcast_to(np.zeros((), x.dtype), x.shape) if isinstance(x, ndarray) else x
        for x in operands
    ]
    return np.einsum_path(*host, optimize=optimize)
