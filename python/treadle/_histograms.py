"""Counting into bins: bincount, histograms, digitize.

Bin edges may be given as treadle arrays or on the host. They are computed on the host, as NumPy computes them, so that
they are equal to the last bit; the counting is one kernel.
"""

import functools
import operator

import numpy as np

from . import _treadle
from ._bin_counts import bin_count
from ._creation import _plain, asarray, asnumpy, linspace
from ._functions import _own
from ._sorting import searchsorted
from ._treadle import ndarray

__all__ = ["bincount", "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def bincount(x, /, weights=None, minlength=0):
    """How often each of 0, 1, … occurs in the 1-D integers ``x``, or the sums (float64) of the ``weights`` there.

    The result has max(x) + 1 elements, ``minlength`` at least. ValueError for negative values. Waits for the range of
    ``x`` unless it is known.
    """
    if weights is not None:
        weights = _own(weights, "bincount")
    return _treadle._bincount(_own(x, "bincount"), weights, operator.index(minlength))


def digitize(x, bins, right=False):
    """The bin of each ``x`` among monotonic ``bins``: i where ``bins[i-1] <= x < bins[i]``, or with ``right``
    ``bins[i-1] < x <= bins[i]``. ValueError unless ``bins`` are monotonic."""
    x, bins = _own(x, "digitize"), _edges(bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if bins.ndim != 1:
        raise ValueError("object too deep for desired array" if bins.ndim else "bins must be 1d")
    side = "left" if right else "right"
    direction = _direction(asnumpy(bins))
    if direction == 0:
        raise ValueError("bins must be monotonically increasing or decreasing")
    if direction > 0:
        return searchsorted(bins, x, side)
    return bins.size - searchsorted(bins[::-1].copy(), x, side)


def _direction(bins):
    """1 for ascending values, -1 for descending ones, else 0. A NaN neither rises nor falls, but as the first step it
    counts as falling."""
    before, after = bins[:-1], bins[1:]
    steps = before != after
    if not steps.any():
        return 1
    first = steps.argmax()
    if before[first] < after[first]:
        return 0 if (before > after).any() else 1
    return 0 if (before < after).any() else -1


# ---- edges ----


def _edges(bins):
    return bins if isinstance(bins, ndarray) else asarray(np.asarray(bins))


def _outer_edges(a, limits):
    """NumPy's outermost edges: those given, or the extremes of ``a``, never equal."""
    if limits is not None:
        first, last = limits
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif a.size == 0:
        first, last = 0, 1
    else:
        first, last = (asnumpy(x)[()] for x in (_treadle.min(a), _treadle.max(a)))
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return first, last


def _bin_edges(a, bins, limits, weighted=False):
    """The edges on the device, and whether they are at equal distances."""
    if isinstance(bins, str):
        if weighted:
            raise TypeError(
                "Automated estimation of the number of bins is not supported for weighted data"
            )
        bins = bin_count(a, bins, limits, _outer_edges(a, limits))
    if isinstance(bins, ndarray) or np.ndim(bins) > 0:
        edges = _edges(bins)
        if edges.ndim != 1:
            raise ValueError("`bins` must be 1d, when an array")
        if not bool(_treadle.all(edges[:-1] <= edges[1:])):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges, False
    try:
        count = operator.index(bins)
    except TypeError:
        raise TypeError("`bins` must be an integer, a string, or an array") from None
    if count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    first, last = _outer_edges(a, limits)
    if _plain(first) and _plain(last):
        # The device's numbers are the same, and it need not wait for these.
        dtype = _even_dtype(first, last, count, a.dtype)
        return linspace(first, last, count + 1, dtype=dtype), True
    return asarray(_even_edges(first, last, count, a.dtype)), True


def _even_edges(first, last, count, dtype):
    dtype = np.result_type(first, last, dtype)
    if np.issubdtype(dtype, np.integer):
        dtype = np.result_type(dtype, float)
    edges = np.linspace(first, last, count + 1, endpoint=True, dtype=dtype)
    if np.any(edges[:-1] >= edges[1:]):
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
    return edges


@functools.lru_cache(maxsize=256, typed=True)
def _even_dtype(first, last, count, dtype):
    """The dtype of the edges, once they are known to differ: programs ask for the same bins again and again."""
    return _even_edges(first, last, count, dtype).dtype


def _flat_sample(a, weights, function):
    a = _own(a, function)
    if a.dtype == np.bool_:
        a = a.astype(np.uint8)
    if weights is not None:
        weights = _own(weights, function)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights.reshape(-1)
    return a.reshape(-1), weights


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges that ``histogram`` with the same arguments uses."""
    a, weights = _flat_sample(a, weights, "histogram_bin_edges")
    return _bin_edges(a, bins, range, weights is not None)[0]


# ---- histograms ----


def histogram(a, bins=10, range=None, density=None, weights=None):
    """Counts of the elements of ``a`` in bins, and the edges of the bins.

    ``bins`` is a number of bins of equal width in ``range`` (the extremes of ``a`` when None), the name of a rule for
    that number ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"), or the ascending edges;
    the last bin is closed. ``weights`` are summed up instead of counted; ``density`` divides by the total and the
    widths. ValueError for edges that fall, or a range that is not finite.
    """
    a, weights = _flat_sample(a, weights, "histogram")
    edges, uniform = _bin_edges(a, bins, range, weights is not None)
    counts = _counts(a, edges, uniform, weights)
    if density:
        widths = (edges[1:] - edges[:-1]).astype(np.float64)
        return counts / widths / _treadle.sum(counts), edges
    return counts, edges


def _counts(a, edges, uniform, weights):
    if weights is None:
        return _treadle._histogram(a, edges, uniform, None)
    if weights.dtype.kind != "c":
        return _treadle._histogram(a, edges, uniform, weights.astype(np.float64)).astype(
            weights.dtype
        )
    parts = (_treadle.real(weights), _treadle.imag(weights))
    real, imag = (_treadle._histogram(a, edges, uniform, part.astype(np.float64)) for part in parts)
    return (real + imag * 1j).astype(weights.dtype)


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """A histogram in D dimensions: counts (float64), and a tuple of the D edges.

    ``sample`` is an array of N points (N, D), or a sequence of D arrays of N coordinates. ``bins`` and ``range`` are
    as in ``histogram``, for every dimension or a sequence with one for each.
    """
    if isinstance(sample, ndarray):
        points = sample.reshape(1, -1).T if sample.ndim < 2 else sample
        columns = [points[:, k] for k in np.arange(points.shape[1])]
    else:
        columns = [_own(c, "histogramdd") for c in sample]
    d = len(columns)
    if not hasattr(bins, "__len__"):
        bins = d * [bins]
    if len(bins) != d:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    limits = (None,) * d if range is None else range
    if len(limits) != d:
        raise ValueError("range argument must have one entry per dimension")
    edges = [_bin_edges_of(k, columns[k], bins[k], limits[k]) for k in np.arange(d)]
    sizes = tuple(e.size + 1 for e in edges)
    flat = None
    for column, e, size in zip(columns, edges, sizes):
        places = searchsorted(e, column, side="right") - (column == e[-1]).astype(np.int64)
        flat = places if flat is None else flat * size + places
    total = int(np.prod(sizes))
    counts = bincount(flat, weights, minlength=total).reshape(sizes).astype(np.float64)
    counts = counts[(slice(1, -1),) * d].copy()
    if density:
        whole = _treadle.sum(counts)
        for k, e in enumerate(edges):
            counts /= (e[1:] - e[:-1]).reshape((1,) * k + (-1,) + (1,) * (d - k - 1))
        counts /= whole
    return counts, tuple(edges)


def _bin_edges_of(k, column, bins, limits):
    if np.ndim(bins if not isinstance(bins, ndarray) else [0]) == 0:
        try:
            count = operator.index(bins)
        except TypeError:
            raise TypeError(f"`bins[{k}]` must be an integer or 1d array") from None
        if count < 1:
            raise ValueError(f"`bins[{k}]` must be positive, when an integer")
        first, last = _outer_edges(column, limits)
        return asarray(np.linspace(first, last, count + 1))
    edges = _edges(bins)
    if edges.ndim != 1:
        raise ValueError(f"`bins[{k}]` must be a scalar or 1d array")
    if not bool(_treadle.all(edges[:-1] <= edges[1:])):
        raise ValueError(f"`bins[{k}]` must be monotonically increasing, when an array")
    return edges


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """A histogram of points (x, y): counts, the edges along x, the edges along y. See ``histogramdd``."""
    x, y = _own(x, "histogram2d"), _own(y, "histogram2d")
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError("x and y must have the same length.")
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        edges = _edges(bins)
        bins = [edges, edges]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
