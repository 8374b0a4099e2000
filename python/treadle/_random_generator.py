"""``Generator``: the methods of ``numpy.random.Generator`` on the device, as treadle.random shows it."""

import math
import operator

import numpy as np

from . import _functions as _f
from . import _random_choice as _choice
from . import _treadle
from ._bit_generator import BitGenerator, Philox4x3210
from ._creation import asarray
from ._treadle import ndarray

_LIMIT = float(np.iinfo(np.int64).max) - 10 * float(np.iinfo(np.int64).max) ** 0.5


def _size(size):
    return () if size is None else size


def _dims(size):
    return (operator.index(size),) if not hasattr(size, "__iter__") else tuple(size)


def parameter(x, what):
    """A parameter of a distribution: a number, an array of the device, or a list that the program writes out."""
    if isinstance(x, (ndarray, bool, int, float, np.number, np.bool_)):
        return x
    if isinstance(x, (list, tuple)):
        return asarray(x)
    raise TypeError(
        f"{what} must be a number, a list or a treadle array, not {type(x).__name__}; use treadle.asarray(x) first"
    )


def require(condition, message):
    """ValueError unless a condition on parameters holds; for arrays that waits for the device."""
    if not (bool(_treadle.all(condition)) if isinstance(condition, ndarray) else condition):
        raise ValueError(message)


def positive(x, name):
    require(x > 0, f"{name} <= 0")
    return x


def not_negative(x, name):
    require(x >= 0, f"{name} < 0")
    return x


def probability(x, name):
    require((x >= 0) & (x <= 1), f"{name} < 0, {name} > 1 or {name} is NaN")
    return x


class Generator:
    """A stream of random arrays. The same seed gives the same numbers on every device.

    ``key`` is the seed, or the one that was chosen; ``bit_generator``, which may be replaced, counts the draws.
    Parameters are numbers or treadle arrays,
    which broadcast with each other; ``size`` is the shape of the result, by default that of the parameters.
    Parameters out of range are a ValueError; for arrays, finding that waits.
    """

    def __init__(self, seed=None):
        self.bit_generator = seed if isinstance(seed, BitGenerator) else Philox4x3210(seed)

    @property
    def bit_generator(self):
        return self._bits

    @bit_generator.setter
    def bit_generator(self, bits):
        if not isinstance(bits, BitGenerator):
            raise TypeError(f"bit_generator must be a BitGenerator, not {type(bits).__name__}")
        self._bits, self._core = bits, bits._core

    @property
    def key(self):
        return self._bits.key

    def _draw(self, name, size, parameters=(), dtype=np.float64):
        """One draw of a row of tables/distributions.def."""
        arrays = [p.shape for p in parameters if isinstance(p, ndarray)]
        if size is None:
            shape = np.broadcast_shapes(*arrays)
        else:
            shape = _dims(size)
            if np.broadcast_shapes(shape, *arrays) != shape:
                raise ValueError(f"size {shape} is too small for parameters of the shapes {arrays}")
        values = [
            float(p) if name != "integers" and not isinstance(p, ndarray) else p for p in parameters
        ]
        return _treadle._random_draw(name, values, shape, dtype, self.key, next(self._bits._draws))

    def spawn(self, n_children):
        """New generators, independent of this one and of each other."""
        sequence = np.random.SeedSequence
        return [
            type(self)(
                int(
                    sequence(self.key, spawn_key=(next(self._bits._children),)).generate_state(
                        1, np.uint64
                    )[0]
                )
            )
            for _ in range(n_children)
        ]

    # ---- uniform ----

    def random(self, size=None, dtype=np.float64, out=None):
        """Uniform in [0, 1): multiples of 2^-53, or of 2^-24 for float32."""
        return _into(out, self._core.random(_shape_of(size, out, dtype), dtype))

    def uniform(self, low=0.0, high=1.0, size=None, dtype=np.float64):
        """Uniform in [low, high). OverflowError when the range is not finite."""
        low, high = parameter(low, "low"), parameter(high, "high")
        if not isinstance(low, ndarray) and not isinstance(high, ndarray):
            if not math.isfinite(high - low):
                raise OverflowError("high - low range exceeds valid bounds")
            low, high = float(low), float(high)
        return self._located(self.random(self._shape(size, low, high), dtype), low, high - low)

    def _shape(self, size, *parameters):
        if size is not None:
            return _dims(size)
        return np.broadcast_shapes(*(p.shape for p in parameters if isinstance(p, ndarray)))

    def _located(self, x, location, scale):
        return (location + scale * x).astype(x.dtype, copy=False)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        """Uniform integers in [low, high), or [0, low) when ``high`` is None; ``endpoint`` includes the upper bound."""
        if high is None:
            low, high = 0, low
        low, high, dtype = parameter(low, "low"), parameter(high, "high"), np.dtype(dtype)
        if dtype.kind not in "biu":
            raise TypeError(f"Generator.integers: dtype {dtype} is not an integer type")
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if isinstance(low, ndarray) or isinstance(high, ndarray):
            low, high = asarray(low), asarray(high)
            high = high if endpoint else high - 1
            require(low >= least, f"low is out of bounds for {dtype}")
            require(high <= most, f"high is out of bounds for {dtype}")
            require(low <= high, "low > high" if endpoint else "low >= high")
            low, high = low.astype(np.uint64), high.astype(np.uint64)
            return self._draw("integers", size, (low, high - low + np.uint64(1)), dtype)
        low, high = int(low), int(high) if endpoint else int(high) - 1
        require(low >= least, f"low is out of bounds for {dtype}")
        require(high <= most, f"high is out of bounds for {dtype}")
        require(low <= high, "low > high" if endpoint else "low >= high")
        if high < 2**63 - 1:
            return self._core.integers(low, high + 1, _size(size), dtype)
        # A range of 0 stands for 2**64.
        return self._draw("integers", size, (low % 2**64, (high - low + 1) % 2**64), dtype)

    def bytes(self, length):
        """Random bytes, on the host."""
        return _host(self.integers(0, 256, length, np.uint8)).tobytes()

    # ---- normal and its relatives ----

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        """Normal with mean 0 and variance 1, by Box and Muller's method."""
        return _into(out, self._core.standard_normal(_shape_of(size, out, dtype), dtype))

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=np.float64):
        """Normal with mean ``loc`` and deviation ``scale``."""
        loc, scale = parameter(loc, "loc"), not_negative(parameter(scale, "scale"), "scale")
        return self._located(self.standard_normal(self._shape(size, loc, scale), dtype), loc, scale)

    def lognormal(self, mean=0.0, sigma=1.0, size=None, dtype=np.float64):
        """The exponential of a normal variate."""
        sigma = not_negative(parameter(sigma, "sigma"), "sigma")
        return _treadle.exp(self.normal(mean, sigma, size, dtype))

    def multivariate_normal(
        self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd", dtype=np.float64
    ):
        """Normal vectors with this mean (n,) and covariance (n, n): size + (n,). ``method``: "svd", "eigh", "cholesky".

        ``check_valid="raise"`` compares the covariance's decomposition with it and waits; "warn" and "ignore" do not.
        """
        return _choice.multivariate_normal(self, mean, cov, size, check_valid, tol, method, dtype)

    def wald(self, mean, scale, size=None, dtype=np.float64):
        """Wald (inverse Gaussian), by Michael, Schucany and Haas' method."""
        mean = positive(parameter(mean, "mean"), "mean")
        return self._draw("wald", size, (mean, positive(parameter(scale, "scale"), "scale")), dtype)

    # ---- exponential and gamma ----

    def standard_exponential(self, size=None, dtype=np.float64, method="zig", out=None):
        """Exponential with mean 1, by inversion whatever ``method`` says."""
        return _into(
            out, self._draw("standard_exponential", _shape_of(size, out, dtype), (), dtype)
        )

    def exponential(self, scale=1.0, size=None, dtype=np.float64):
        """Exponential with mean ``scale``."""
        scale = not_negative(parameter(scale, "scale"), "scale")
        x = self.standard_exponential(self._shape(size, scale), dtype)
        return (x * scale).astype(x.dtype, copy=False)

    def standard_gamma(self, shape, size=None, dtype=np.float64, out=None):
        """Gamma with scale 1, by Marsaglia and Tsang's method."""
        shape = not_negative(parameter(shape, "shape"), "shape")
        if out is not None:
            size = _shape_of(size, out, dtype)
        return _into(out, self._draw("standard_gamma", size, (shape,), dtype))

    def gamma(self, shape, scale=1.0, size=None, dtype=np.float64):
        """Gamma: ``scale`` times ``standard_gamma(shape)``."""
        scale = not_negative(parameter(scale, "scale"), "scale")
        x = self.standard_gamma(shape, self._shape(size, shape, scale), dtype)
        return (x * scale).astype(x.dtype, copy=False)

    def beta(self, a, b, size=None, dtype=np.float64):
        """Beta, from two gamma variates."""
        a, b = positive(parameter(a, "a"), "a"), positive(parameter(b, "b"), "b")
        return self._draw("beta", size, (a, b), dtype)

    def chisquare(self, df, size=None, dtype=np.float64):
        """Chi-square with ``df`` degrees of freedom."""
        return self._draw("chisquare", size, (positive(parameter(df, "df"), "df"),), dtype)

    def noncentral_chisquare(self, df, nonc, size=None, dtype=np.float64):
        """Chi-square with a shift of ``nonc``."""
        df, nonc = (
            positive(parameter(df, "df"), "df"),
            not_negative(parameter(nonc, "nonc"), "nonc"),
        )
        return self._draw("noncentral_chisquare", size, (df, nonc), dtype)

    def f(self, dfnum, dfden, size=None, dtype=np.float64):
        """F: the ratio of two chi-square variates over their degrees of freedom."""
        dfnum = positive(parameter(dfnum, "dfnum"), "dfnum")
        return self._draw("f", size, (dfnum, positive(parameter(dfden, "dfden"), "dfden")), dtype)

    def noncentral_f(self, dfnum, dfden, nonc, size=None, dtype=np.float64):
        """F with a shifted numerator."""
        dfnum = positive(parameter(dfnum, "dfnum"), "dfnum")
        dfden = positive(parameter(dfden, "dfden"), "dfden")
        nonc = not_negative(parameter(nonc, "nonc"), "nonc")
        return self._draw("noncentral_f", size, (dfnum, dfden, nonc), dtype)

    def standard_t(self, df, size=None, dtype=np.float64):
        """Student's t with ``df`` degrees of freedom."""
        return self._draw("standard_t", size, (positive(parameter(df, "df"), "df"),), dtype)

    def dirichlet(self, alpha, size=None, dtype=np.float64):
        """Dirichlet: size + (k,), each row sums to 1; from gamma variates, by their logarithms."""
        return _choice.dirichlet(self, alpha, size, dtype)

    # ---- by inversion ----

    def standard_cauchy(self, size=None, dtype=np.float64):
        """Cauchy with mode 0."""
        return self._draw("standard_cauchy", _size(size), (), dtype)

    def _scale_family(self, name, loc, scale, size, dtype):
        loc, scale = parameter(loc, "loc"), not_negative(parameter(scale, "scale"), "scale")
        return self._draw(name, size, (loc, scale), dtype)

    def laplace(self, loc=0.0, scale=1.0, size=None, dtype=np.float64):
        """Laplace (double exponential)."""
        return self._scale_family("laplace", loc, scale, size, dtype)

    def gumbel(self, loc=0.0, scale=1.0, size=None, dtype=np.float64):
        """Gumbel: the largest of many."""
        return self._scale_family("gumbel", loc, scale, size, dtype)

    def logistic(self, loc=0.0, scale=1.0, size=None, dtype=np.float64):
        """Logistic."""
        return self._scale_family("logistic", loc, scale, size, dtype)

    def pareto(self, a, size=None, dtype=np.float64):
        """Pareto II (Lomax)."""
        return self._draw("pareto", size, (positive(parameter(a, "a"), "a"),), dtype)

    def power(self, a, size=None, dtype=np.float64):
        """The density a x^(a-1) in [0, 1]."""
        return self._draw("power", size, (positive(parameter(a, "a"), "a"),), dtype)

    def rayleigh(self, scale=1.0, size=None, dtype=np.float64):
        """Rayleigh."""
        scale = not_negative(parameter(scale, "scale"), "scale")
        return self._draw("rayleigh", size, (scale,), dtype)

    def weibull(self, a, size=None, dtype=np.float64):
        """Weibull with scale 1."""
        return self._draw("weibull", size, (not_negative(parameter(a, "a"), "a"),), dtype)

    def triangular(self, left, mode, right, size=None, dtype=np.float64):
        """Triangular in [left, right] with its peak at ``mode``."""
        left, mode, right = (
            parameter(x, n) for x, n in ((left, "left"), (mode, "mode"), (right, "right"))
        )
        require(left <= mode, "left > mode")
        require(mode <= right, "mode > right")
        require(left != right, "left == right")
        return self._draw("triangular", size, (left, mode, right), dtype)

    def vonmises(self, mu, kappa, size=None, dtype=np.float64):
        """Von Mises: angles around ``mu`` in [-pi, pi], by Best and Fisher's method."""
        mu, kappa = parameter(mu, "mu"), not_negative(parameter(kappa, "kappa"), "kappa")
        return self._draw("vonmises", size, (mu, kappa), dtype)

    # ---- whole numbers ----

    def binomial(self, n, p, size=None, dtype=np.int64):
        """Successes in ``n`` trials; inversion, or Hörmann's BTRS for means from 10 on."""
        n, p = not_negative(parameter(n, "n"), "n"), probability(parameter(p, "p"), "p")
        return self._draw("binomial", size, (n, p), dtype)

    def negative_binomial(self, n, p, size=None, dtype=np.int64):
        """Failures before ``n`` successes: Poisson with a gamma mean."""
        n, p = positive(parameter(n, "n"), "n"), parameter(p, "p")
        require((p > 0) & (p <= 1), "p <= 0, p > 1 or p is NaN")
        return self._draw("negative_binomial", size, (n, p), dtype)

    def poisson(self, lam=1.0, size=None, dtype=np.int64):
        """Poisson; products of uniform numbers, or Hörmann's PTRS for means from 10 on."""
        lam = not_negative(parameter(lam, "lam"), "lam")
        require(lam <= _LIMIT, "lam value too large")
        return self._draw("poisson", size, (lam,), dtype)

    def geometric(self, p, size=None, dtype=np.int64):
        """Trials up to the first success."""
        p = parameter(p, "p")
        require((p > 0) & (p <= 1), "p <= 0, p > 1 or p is NaN")
        return self._draw("geometric", size, (p,), dtype)

    def hypergeometric(self, ngood, nbad, nsample, size=None, dtype=np.int64):
        """Good ones in a sample without replacement; Stadlober's HRUA for samples of 10 and more."""
        ngood = not_negative(parameter(ngood, "ngood"), "ngood")
        nbad = not_negative(parameter(nbad, "nbad"), "nbad")
        nsample = not_negative(parameter(nsample, "nsample"), "nsample")
        require(ngood + nbad >= nsample, "ngood + nbad < nsample")
        return self._draw("hypergeometric", size, (ngood, nbad, nsample), dtype)

    def logseries(self, p, size=None, dtype=np.int64):
        """Logarithmic series, by Kemp's method."""
        p = parameter(p, "p")
        require((p >= 0) & (p < 1), "p < 0, p >= 1 or p is NaN")
        return self._draw("logseries", size, (p,), dtype)

    def zipf(self, a, size=None, dtype=np.int64):
        """Zipf, by Devroye's rejection."""
        a = parameter(a, "a")
        require(a > 1, "a <= 1 or a is NaN")
        return self._draw("zipf", size, (a,), dtype)

    def multinomial(self, n, pvals, size=None, dtype=np.int64):
        """How ``n`` trials fall on the categories of ``pvals`` (k,): size + (k,)."""
        return _choice.multinomial(self, n, pvals, size, dtype)

    # ---- order ----

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Elements of ``a``, or of range(a), with or without replacement, with probabilities ``p`` if given."""
        return _choice.choice(self, a, size, replace, p, axis)

    def permutation(self, x, axis=0):
        """A copy of ``x`` in random order along an axis; range(x) for an integer."""
        return _choice.permutation(self, x, axis)

    def shuffle(self, x, axis=0):
        """Brings ``x`` in random order along an axis, in place. TypeError for an array without dimensions."""
        if _f._own(x, "shuffle").ndim == 0:
            raise TypeError("shuffle: the array has no dimensions")
        _f.copyto(x, _choice.permutation(self, x, axis))

    def permuted(self, x, axis=None, out=None):
        """A copy of ``x`` in which every slice along ``axis`` has an order of its own; all elements when it is None."""
        return _into(out, _choice.permuted(self, x, axis))


def _host(x):
    from ._creation import asnumpy

    return asnumpy(x)


def _shape_of(size, out, dtype):
    """The shape of a draw into ``out``. TypeError for another dtype, ValueError where ``size`` says another shape."""
    if out is None:
        return _size(size)
    if out.dtype != dtype:
        raise TypeError(f"out has dtype {out.dtype}, the result {np.dtype(dtype)}; pass dtype=")
    if size is not None and _dims(size) != out.shape:
        raise ValueError(f"size {_dims(size)} does not match out, whose shape is {out.shape}")
    return out.shape


def _into(out, result):
    if out is None:
        return result
    if out.shape != result.shape or out.dtype != result.dtype:
        raise ValueError(
            f"out has the shape {out.shape} and dtype {out.dtype}, the result {result.shape} and {result.dtype}"
        )
    _f.copyto(out, result)
    return out
