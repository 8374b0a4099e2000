"""treadle.fft against numpy.fft: dtypes, lengths, axes, norms, memory layouts, errors."""

import os
import subprocess
import sys

import numpy as np
import pytest
import treadle as td
from treadle import fft

REALS = [np.bool_, np.int16, np.uint8, np.int64, np.float16, np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
NORMS = [None, "backward", "ortho", "forward"]


def values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind in "biu":
        return rng.integers(0, 2 if kind == "b" else 100, shape).astype(dtype)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if kind == "c" else x).astype(dtype)


def close(result, expected, bound=None):
    result = td.asnumpy(result)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    bits = np.finfo(expected.dtype).bits
    bound = bound or {16: 2e-2, 32: 3e-6, 64: 1e-13}[bits]
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(result, expected, rtol=0, atol=bound * scale)


def layouts(x):
    yield td.asarray(x)
    yield td.asarray(np.asfortranarray(x))
    yield td.asarray(np.ascontiguousarray(np.flip(x)))[(slice(None, None, -1),) * x.ndim]
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    yield td.asarray(wide)[..., ::2]


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("dtype", REALS + COMPLEX)
def test_one_axis(name, dtype):
    ours, theirs = getattr(fft, name), getattr(np.fft, name)
    if name in ("rfft", "ihfft") and np.dtype(dtype).kind == "c":
        with pytest.raises(TypeError, match="real input"):
            ours(td.ones(3, dtype))
        return
    # NumPy rounds the factor 1/n to float16.
    bound = 1e-2 if dtype == np.float16 else None
    for n in (2, 3, 4, 5, 8, 12, 13, 97, 128, 1000):
        a = values((n,), dtype)
        close(ours(td.asarray(a)), theirs(a), bound)
    a = values((5, 6, 7), dtype)
    for axis in (0, 1, 2, -1):
        for n in (None, 1, 2, 5, 9):
            for norm in NORMS:
                close(ours(td.asarray(a), n, axis, norm), theirs(a, n, axis, norm), bound)
        for x in layouts(a):
            close(ours(x, axis=axis), theirs(a, axis=axis), bound)


@pytest.mark.parametrize(
    "name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
)
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64, *COMPLEX])
def test_several_axes(name, dtype):
    ours, theirs = getattr(fft, name), getattr(np.fft, name)
    if name.startswith("rfft") and np.dtype(dtype).kind == "c":
        pytest.skip("real input only")
    a = values((3, 4, 5, 6), dtype)
    choices = [(None, (0,)), (None, (3, 0)), (None, (0, 1, 2, 3)), (None, (1, 2)), (None, (3, 2, 1)), ((4, 3), (1, 0)),
               ((2, 7, 3), (3, 1, 2)), ((-1, 8), (2, 3)), ((7, 7), (0, 2))]  # fmt: skip
    for s, axes in choices:
        for norm in NORMS:
            close(ours(td.asarray(a), s, axes, norm), theirs(a, s, axes, norm))
        for x in layouts(a):
            close(ours(x, s, axes), theirs(a, s, axes))
    close(ours(td.asarray(a)), theirs(a))


def test_s_and_permuted_axes():
    """The lengths belong to the axes in the order in which both are given."""
    x = td.arange(6, dtype=np.float64).reshape(3, 2)
    result = td.asnumpy(fft.rfftn(x, s=(3, 2), axes=(1, 0)))
    root = 3**0.5
    wanted = [[6, -2j * root, 2j * root], [-4, -1 + root * 1j, -1 - root * 1j]]
    np.testing.assert_allclose(result, wanted, atol=1e-12)


def test_an_axis_named_twice():
    a = values((3, 4), np.complex128)
    close(fft.fftn(td.asarray(a), axes=(0, 0)), np.fft.fftn(a, axes=(0, 0)))


def test_many_transforms_between_other_axes():
    for shape, axis in [
        ((100, 6, 5), 1),
        ((3, 50, 40), 1),
        ((2, 3, 4, 5, 6), 2),
        ((50000, 8), -1),
        ((8, 50000), 0),
    ]:
        a = values(shape, np.complex64)
        close(fft.fft(td.asarray(a), axis=axis), np.fft.fft(a, axis=axis).astype(np.complex64))


def test_large_transforms():
    a = values((1 << 18,), np.float64)
    close(fft.irfft(fft.rfft(td.asarray(a))), a)
    b = values((300, 500), np.complex128)
    close(fft.ifft2(fft.fft2(td.asarray(b))), b)


@pytest.mark.parametrize(
    "shape", [(300, 511), (2, 256, 257), (40, 260, 256), (5, 64, 64), (3, 20, 30)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_several_axes_of_large_arrays(shape, dtype):
    """Large transforms go axis by axis, small ones whole; with and without more in front of them."""
    a = values(shape, dtype)
    x = td.asarray(a)
    kind = np.complex64 if dtype == np.float32 else dtype
    close(fft.fftn(x), np.fft.fftn(a).astype(kind))
    close(fft.fft2(x), np.fft.fft2(a).astype(kind))
    close(fft.ifftn(x), np.fft.ifftn(a).astype(kind))
    close(fft.irfftn(x, shape), np.fft.irfftn(a, shape).astype(a.real.dtype))
    if dtype == np.float32:
        close(fft.rfftn(x), np.fft.rfftn(a).astype(kind))
        close(fft.rfft2(x), np.fft.rfft2(a).astype(kind))
        close(fft.irfftn(fft.rfftn(x), shape), a)


@pytest.mark.parametrize(
    "n", [1, 2, 29, 31, 37, 60, 62, 101, 128, 210, 243, 841, 1021, 4093, 10007, 65537, 100000]
)
def test_lengths(n):
    """Small factors, large primes, squares of primes, powers."""
    a = values((n,), np.complex128)
    x = td.asarray(a)
    close(fft.fft(x), np.fft.fft(a))
    close(fft.ifft(x), np.fft.ifft(a))
    close(fft.rfft(x.real), np.fft.rfft(a.real))
    close(fft.irfft(x, n), np.fft.irfft(a, n))


@pytest.mark.skipif(os.environ.get("TREADLE_FFTW") == "0", reason="this is that run")
def test_without_fftw():
    """Tests of this file with the transforms that need no library."""
    if not td.cuda.Device().is_software:
        pytest.skip("FFTW has no part in transforms on a GPU")
    choice = "lengths or hermitian or large_transforms"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-k",
        choice,
        __file__,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"TREADLE_FFTW": "0"}
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_operands_keep_their_values_and_pending_work_counts():
    a = values((6, 8), np.complex128)
    x = td.asarray(a)
    for function in (fft.fft, fft.ifft, fft.irfft, fft.hfft, fft.irfftn, fft.fftn):
        function(x)
        assert np.array_equal(td.asnumpy(x), a), function.__name__
    close(fft.fft(x * 2 + 1) - 3, np.fft.fft(a * 2 + 1) - 3)


def test_a_spectrum_that_is_not_hermitian():
    a = values((4, 7), np.complex128)
    for n in (None, 11, 12):
        close(fft.irfft(td.asarray(a), n), np.fft.irfft(a, n))
        close(fft.hfft(td.asarray(a), n), np.fft.hfft(a, n))
    close(fft.irfft2(td.asarray(a)), np.fft.irfft2(a))


def test_out():
    a = values((4, 6), np.float32)
    out = td.empty((4, 6), np.complex64)
    assert fft.fft(td.asarray(a), out=out) is out
    close(out, np.fft.fft(a))
    real = td.empty((4, 10), np.float32)
    assert fft.irfft2(td.asarray(a), out=real) is real
    close(real, np.fft.irfft2(a))
    wide = td.empty((4, 6), np.complex128)
    fft.fft(td.asarray(a), out=wide)
    np.testing.assert_allclose(td.asnumpy(wide), np.fft.fft(a), atol=1e-5)
    with pytest.raises(ValueError, match="wrong shape"):
        fft.fft(td.asarray(a), out=td.empty((4, 7), np.complex64))
    with pytest.raises(TypeError, match="dtype"):
        fft.fft(td.asarray(a), out=td.empty((4, 6), np.float32))


def test_empty():
    for shape in ((0, 4), (3, 0, 4)):
        for name in ("fft", "ifft", "rfft", "irfft"):
            a = np.zeros(shape)
            close(getattr(fft, name)(td.asarray(a)), getattr(np.fft, name)(a))
    with pytest.raises(ValueError, match="data points"):
        fft.fft(td.zeros((4, 0)))


def test_memory_order_of_results():
    a = np.asfortranarray(np.ones((4, 6)))
    for function in (fft.fft, fft.rfft, fft.irfft, fft.fftn):
        assert function(td.asarray(a)).flags.f_contiguous
        assert function(td.ones((4, 6))).flags.c_contiguous


def test_refusals():
    x = td.ones((3, 4))
    with pytest.raises(ValueError, match="data points"):
        fft.fft(x, 0)
    with pytest.raises(ValueError, match="data points"):
        fft.irfft(td.ones(1))
    with pytest.raises(ValueError, match="Invalid norm value"):
        fft.fft(x, norm="nonsense")
    with pytest.raises(ValueError, match="different lengths"):
        fft.fftn(x, s=(2,), axes=(0, 1))
    with pytest.raises(IndexError):
        fft.fft(x, axis=2)
    with pytest.raises(IndexError):
        fft.fft2(td.ones(3))
    with pytest.raises(IndexError):
        fft.fft(td.asarray(1.0))
    with pytest.raises(TypeError, match="asarray"):
        fft.fft(np.ones(3))


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_frequencies_and_shifts(n):
    for d in (1.0, 0.25):
        np.testing.assert_allclose(td.asnumpy(fft.fftfreq(n, d)), np.fft.fftfreq(n, d), rtol=1e-15)
        np.testing.assert_allclose(
            td.asnumpy(fft.rfftfreq(n, d)), np.fft.rfftfreq(n, d), rtol=1e-15
        )
    a = np.arange(n * 5).reshape(n, 5)
    for axes in (None, 0, 1, (0, 1), (-1,)):
        assert np.array_equal(
            td.asnumpy(fft.fftshift(td.asarray(a), axes)), np.fft.fftshift(a, axes)
        )
        assert np.array_equal(
            td.asnumpy(fft.ifftshift(td.asarray(a), axes)), np.fft.ifftshift(a, axes)
        )
    with pytest.raises(ValueError, match="integer"):
        fft.fftfreq(2.5)


def test_plans_are_kept_and_replaced():
    for repeat in range(2):
        for n in range(1, 150):
            a = np.arange(n) + repeat + 0j
            close(fft.fft(td.asarray(a)), np.fft.fft(a))


def test_numpys_functions_run_on_the_device():
    result = np.fft.fft(td.ones(4))
    assert isinstance(result, td.ndarray)
    close(result, np.fft.fft(np.ones(4)))
