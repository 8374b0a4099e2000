"""Draws that are made of others: choices, orders, and vectors of dependent numbers."""

import math
import operator

import numpy as np

from . import _functions as _f
from . import _treadle
from ._creation import asarray, asnumpy, empty
from ._treadle import ndarray


def _vector(x, what):
    """An array of the device, or a list of numbers, as one axis of float64."""
    if not isinstance(x, (ndarray, list, tuple)):
        raise TypeError(
            f"{what} must be a treadle array or a list, not {type(x).__name__}; use treadle.asarray(x) first"
        )
    x = asarray(x, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(f"{what} must be 1-dimensional, but it has {x.ndim} dimensions")
    return x


def _dims(size):
    if size is None:
        return ()
    return (operator.index(size),) if not hasattr(size, "__iter__") else tuple(size)


def _order(g, n):
    """The numbers below n in random order: where 64-bit keys go when sorted."""
    import treadle

    keys = g._draw("integers", (n,), (0, 0), np.uint64)
    return treadle.argsort(keys)


def _population(a, function):
    """An array of the device, also from a list that the program writes out, or a number of elements."""
    if isinstance(a, (list, tuple)):
        return asarray(a)
    if isinstance(a, ndarray):
        return a
    if isinstance(a, np.ndarray) and a.ndim:
        raise TypeError(
            f"{function} takes treadle arrays, not ndarray; use treadle.asarray(x) first"
        )
    try:
        return operator.index(a)
    except TypeError:
        raise ValueError(
            f"{function}: a must be an array, a list or an integer, not {type(a).__name__}"
        ) from None


def permutation(g, x, axis=0):
    x = _population(x, "permutation")
    if not isinstance(x, ndarray):
        return _order(g, x)
    import treadle

    axis = _f._axis(axis, x.ndim)
    return treadle.take(x, _order(g, x.shape[axis]), axis=axis)


def permuted(g, x, axis=None):
    import treadle

    if axis is None:
        return treadle.take(x.ravel(), _order(g, x.size), axis=0).reshape(x.shape)
    axis = _f._axis(axis, x.ndim)
    keys = g._draw("integers", x.shape, (0, 0), np.uint64)
    return treadle.take_along_axis(x, treadle.argsort(keys, axis=axis), axis=axis)


def _checked_probabilities(p, n):
    p = _vector(p, "p")
    if p.shape[0] != n:
        raise ValueError(f"a and p must have same size: {n} and {p.shape[0]}")
    host = asnumpy(p)
    if np.isnan(host).any():
        raise ValueError("Probabilities contain NaN")
    if (host < 0).any():
        raise ValueError("Probabilities are not non-negative")
    if abs(math.fsum(host) - 1) > 1e-8:
        raise ValueError("Probabilities do not sum to 1.")
    return p, int(np.count_nonzero(host))


def choice(g, a, size, replace, p, axis):
    import treadle

    shape = _dims(size)
    count = math.prod(shape)
    a = _population(a, "choice")
    if isinstance(a, ndarray):
        if a.ndim == 0:
            raise ValueError("a must be a positive integer or an array with at least one axis")
        axis = _f._axis(axis, a.ndim)
        n = a.shape[axis]
    else:
        n = a
        if n < 0:
            raise ValueError("a must be a positive integer unless no samples are taken")
    if n == 0 and count:
        raise ValueError("a cannot be empty unless no samples are taken")
    possible = n
    if p is not None:
        p, possible = _checked_probabilities(p, n)
    if replace:
        if p is None:
            index = g.integers(0, max(n, 1), shape)
        else:
            edges = treadle.cumsum(p)
            index = treadle.searchsorted(edges / edges[-1], g.random(shape), side="right")
    else:
        if count > n:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        if count > possible:
            raise ValueError("Fewer non-zero entries in p than size")
        if p is None:
            index = _order(g, n)[:count].reshape(shape)
        else:
            # Exponential waiting times with rates p: those that come first are a weighted sample.
            waits = treadle.argsort(g.standard_exponential(n) / p)
            index = waits[:count].reshape(shape)
    index = index.astype(np.int64, copy=False)
    return treadle.take(a, index, axis=axis) if isinstance(a, ndarray) else index


def multinomial(g, n, pvals, size, dtype):
    p = _vector(pvals, "pvals")
    host = asnumpy(p)
    if (host < 0).any() or (host > 1).any() or np.isnan(host).any():
        raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
    if len(host) and math.fsum(host[:-1]) > 1 + 1e-12:
        raise ValueError("sum(pvals[:-1]) > 1.0")
    if not isinstance(n, ndarray):
        n = operator.index(n)
        if n < 0:
            raise ValueError("n < 0")
    shape = _dims(size) if size is not None else (n.shape if isinstance(n, ndarray) else ())
    result = empty((*shape, len(host)), dtype)
    rest, left = n, 1.0
    for k, chance in enumerate(host):
        if k == len(host) - 1:
            result[..., k] = rest
            break
        share = min(1.0, float(chance) / left) if left > 0 else 0.0
        drawn = g.binomial(rest, share, shape)
        result[..., k] = drawn
        rest = rest - drawn
        left -= float(chance)
    return result


def dirichlet(g, alpha, size, dtype):
    alpha = _vector(alpha, "alpha")
    if not bool(_treadle.all(alpha > 0)):
        raise ValueError("alpha <= 0")
    logs = g._draw("log_gamma", (*_dims(size), alpha.shape[0]), (alpha,))
    weights = _treadle.exp(logs - _treadle.max(logs, -1, keepdims=True))
    return (weights / _treadle.sum(weights, -1, keepdims=True)).astype(dtype, copy=False)


def multivariate_normal(g, mean, cov, size, check_valid, tol, method, dtype):
    from . import linalg

    if method not in ("svd", "eigh", "cholesky"):
        raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
    if check_valid not in ("warn", "raise", "ignore"):
        raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
    mean = _vector(mean, "mean")
    if isinstance(cov, (list, tuple)):
        cov = asarray(cov, dtype=np.float64)
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if mean.shape[0] != cov.shape[0]:
        raise ValueError("mean and cov must have same length")
    if method == "cholesky":
        root = linalg.cholesky(cov)
    elif method == "eigh":
        w, v = linalg.eigh(cov)
        root = v * _treadle.sqrt(_treadle.maximum(w, 0))
    else:
        _, s, vh = linalg.svd(cov)
        root = vh.T * _treadle.sqrt(s)
    if check_valid == "raise" and not _f.allclose(root @ root.T, cov, rtol=tol, atol=tol):
        raise ValueError("covariance is not symmetric positive-semidefinite.")
    z = g.standard_normal((*_dims(size), mean.shape[0]))
    flat = z.reshape(-1, mean.shape[0]) @ root.T
    return (flat.reshape(z.shape) + mean).astype(dtype, copy=False)
