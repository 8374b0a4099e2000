"""Arrays to test with, made alike by NumPy and by treadle."""

import numpy as np

import treadle

__all__ = [
    "generate_matrix", "shaped_arange", "shaped_linspace", "shaped_random", "shaped_reverse_arange",
    "shaped_sparse_random",
]  # fmt: skip


def _ordered(xp, host, order):
    """``host`` as an array of ``xp`` that owns its memory, with NumPy too."""
    return xp.array(np.asarray(host, order=order))


def shaped_arange(shape, xp=treadle, dtype=np.float32, order="C"):
    """1, 2, 3, … in a shape; bool alternates, complex numbers have equal parts."""
    dtype = np.dtype(dtype)
    values = np.arange(1, int(np.prod(shape)) + 1)
    if dtype.kind == "b":
        values = values % 2 == 0
    elif dtype.kind == "c":
        values = values + values * 1j
    return _ordered(xp, values.astype(dtype).reshape(shape), order)


def shaped_reverse_arange(shape, xp=treadle, dtype=np.float32):
    """n, n - 1, … 1 in a shape."""
    dtype = np.dtype(dtype)
    values = np.arange(int(np.prod(shape)), 0, -1)
    if dtype.kind == "b":
        values = values % 2 == 0
    elif dtype.kind == "c":
        values = values + values * 1j
    return xp.asarray(values.astype(dtype).reshape(shape))


def shaped_random(shape, xp=treadle, dtype=np.float32, scale=10, seed=0, order="C"):
    """Random values below ``scale`` in a shape; the same for one seed."""
    rng = np.random.RandomState(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        values = rng.randint(2, size=shape)
    elif dtype.kind == "c":
        values = rng.rand(*shape) + 1j * rng.rand(*shape)
        values = values * scale
    else:
        values = rng.rand(*shape) * scale
    return _ordered(xp, np.asarray(values).astype(dtype), order)


def shaped_sparse_random(shape, sp=None, dtype=np.float32, density=0.01, format="coo", seed=0):
    """There are no sparse arrays yet: the test is skipped."""
    import pytest

    pytest.skip("treadle has no sparse arrays")


def shaped_linspace(start, stop, shape, xp=treadle, dtype=np.float32):
    """Evenly spaced values in a shape."""
    size = int(np.prod(shape))
    return xp.asarray(np.linspace(start, stop, size).astype(dtype).reshape(shape))


def generate_matrix(shape, xp=treadle, dtype=np.float32, *, singular_values=None):
    """Matrices with the singular values given, 1 to 2 if none are."""
    *batch, m, n = shape
    k = min(m, n)
    rng = np.random.RandomState(0)
    values = np.broadcast_to(
        np.asarray(rng.uniform(1, 2, (*batch, k)) if singular_values is None else singular_values),
        (*batch, k),
    )
    dtype = np.dtype(dtype)

    def draw():
        a = rng.standard_normal((*batch, m, n))
        return a + 1j * rng.standard_normal(a.shape) if dtype.kind == "c" else a

    u, _, v = np.linalg.svd(draw(), full_matrices=False)
    return xp.asarray(((u * values[..., None, :]) @ v).astype(dtype))
