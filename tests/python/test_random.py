"""treadle.random: distributions against their distribution functions and NumPy's draws, repetition, choices, errors.

Seeds are fixed, so a test either always passes or always fails. The bounds of the Kolmogorov-Smirnov tests are those
that a right generator exceeds once in 10,000 seeds.
"""

import inspect
import math

import numpy as np
import pytest
import treadle as td
from treadle import random

N = 40_000
BOUND = math.sqrt(-math.log(1e-4 / 2) / 2)


def normal_cdf(x):
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in np.ravel(x)])


def against_function(sample, cdf):
    """The largest distance from a continuous distribution function."""
    x = np.sort(np.ravel(sample))
    values, n = cdf(x), len(x)
    steps = np.arange(n + 1) / n
    return max((steps[1:] - values).max(), (values - steps[:-1]).max()) * math.sqrt(n)


def against_sample(a, b):
    """The largest distance between two empirical distribution functions, ties included."""
    a, b = np.sort(np.ravel(a)), np.sort(np.ravel(b))
    points = np.concatenate([a, b])
    distance = np.searchsorted(a, points, "right") / len(a) - np.searchsorted(
        b, points, "right"
    ) / len(b)
    return np.abs(distance).max() * math.sqrt(len(a) * len(b) / (len(a) + len(b)))


CASES = [
    ("random", ()), ("uniform", (-2.0, 5.0)), ("standard_normal", ()), ("normal", (3.0, 0.5)),
    ("lognormal", (0.5, 0.8)), ("standard_exponential", ()), ("exponential", (2.5,)), ("standard_gamma", (0.05,)),
    ("standard_gamma", (0.7,)), ("standard_gamma", (1.0,)), ("standard_gamma", (30.0,)), ("gamma", (2.0, 3.0)),
    ("beta", (0.3, 0.2)), ("beta", (2.0, 5.0)), ("beta", (0.5, 8.0)), ("chisquare", (0.5,)), ("chisquare", (7.0,)),
    ("noncentral_chisquare", (0.5, 3.0)), ("noncentral_chisquare", (4.0, 3.0)),
    ("noncentral_chisquare", (4.0, 0.0)), ("f", (3.0, 6.0)), ("noncentral_f", (3.0, 8.0, 2.0)),
    ("standard_t", (1.5,)), ("standard_t", (9.0,)), ("standard_cauchy", ()), ("laplace", (1.0, 2.0)),
    ("gumbel", (1.0, 2.0)), ("logistic", (1.0, 2.0)), ("pareto", (2.5,)), ("power", (0.4,)), ("power", (3.0,)),
    ("rayleigh", (1.5,)), ("weibull", (0.8,)), ("weibull", (4.0,)), ("triangular", (-1.0, 0.5, 3.0)),
    ("triangular", (0.0, 0.0, 1.0)), ("vonmises", (0.5, 0.3)), ("vonmises", (-2.0, 6.0)), ("vonmises", (0.0, 1e-6)),
    ("vonmises", (1.0, 1e7)), ("wald", (1.0, 0.5)), ("wald", (3.0, 20.0)), ("binomial", (1, 0.5)),
    ("binomial", (20, 0.1)), ("binomial", (20, 0.95)), ("binomial", (100, 0.5)), ("binomial", (5000, 0.003)),
    ("binomial", (10**9, 0.4)), ("negative_binomial", (0.5, 0.2)), ("negative_binomial", (20, 0.5)),
    ("poisson", (0.01,)), ("poisson", (4.0,)), ("poisson", (10.0,)), ("poisson", (37.5,)), ("poisson", (1e8,)),
    ("geometric", (0.9,)), ("geometric", (0.01,)), ("hypergeometric", (5, 7, 6)), ("hypergeometric", (40, 10, 45)),
    ("hypergeometric", (300, 700, 200)), ("hypergeometric", (700, 300, 900)), ("logseries", (0.2,)),
    ("logseries", (0.95,)), ("zipf", (1.5,)), ("zipf", (3.0,)), ("integers", (-5, 17)),
]  # fmt: skip


@pytest.mark.parametrize("name, parameters", CASES)
def test_numbers_fall_as_numpys(name, parameters):
    ours = td.asnumpy(getattr(random.default_rng(11), name)(*parameters, size=N))
    theirs = getattr(np.random.default_rng(12), name)(*parameters, size=N)
    assert ours.dtype == theirs.dtype
    assert against_sample(ours, theirs) < BOUND


FUNCTIONS = [
    ("random", (), lambda x: x),
    ("standard_normal", (), normal_cdf),
    ("standard_exponential", (), lambda x: -np.expm1(-x)),
    ("standard_gamma", (0.5,), lambda x: np.array([math.erf(math.sqrt(v)) for v in x])),
    ("standard_gamma", (3.0,), lambda x: 1 - np.exp(-x) * (1 + x + x * x / 2)),
    ("chisquare", (2.0,), lambda x: -np.expm1(-x / 2)),
    ("beta", (0.5, 0.5), lambda x: 2 / np.pi * np.arcsin(np.sqrt(x))),
    ("beta", (3.0, 1.0), lambda x: x**3),
    ("f", (2.0, 6.0), lambda x: 1 - (1 + x / 3) ** -3),
    ("standard_t", (2.0,), lambda x: 0.5 + x / (2 * np.sqrt(2 + x * x))),
    ("standard_cauchy", (), lambda x: 0.5 + np.arctan(x) / np.pi),
    (
        "laplace",
        (),
        lambda x: np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2),
    ),
    ("gumbel", (), lambda x: np.exp(-np.exp(-x))),
    ("logistic", (), lambda x: 1 / (1 + np.exp(-x))),
    ("pareto", (2.0,), lambda x: 1 - (1 + x) ** -2.0),
    ("power", (4.0,), lambda x: x**4),
    ("rayleigh", (2.0,), lambda x: -np.expm1(-x * x / 8)),
    ("weibull", (3.0,), lambda x: -np.expm1(-(x**3))),
    ("triangular", (0.0, 1.0, 3.0), lambda x: np.where(x < 1, x * x / 3, 1 - (3 - x) ** 2 / 6)),
    (
        "wald",
        (1.0, 2.0),
        lambda x: normal_cdf(np.sqrt(2 / x) * (x - 1))
        + math.exp(4) * normal_cdf(-np.sqrt(2 / x) * (x + 1)),
    ),
]


@pytest.mark.parametrize("name, parameters, cdf", FUNCTIONS)
def test_numbers_follow_their_distribution_function(name, parameters, cdf):
    sample = td.asnumpy(getattr(random.default_rng(3), name)(*parameters, size=N))
    assert against_function(sample, cdf) < BOUND


MASSES = [
    ("binomial", (12, 0.3), lambda k: math.comb(12, k) * 0.3**k * 0.7 ** (12 - k)),
    ("binomial", (60, 0.4), lambda k: math.comb(60, k) * 0.4**k * 0.6 ** (60 - k)),
    ("poisson", (2.5,), lambda k: math.exp(-2.5) * 2.5**k / math.factorial(k)),
    ("poisson", (20.0,), lambda k: math.exp(-20.0) * 20.0**k / math.factorial(k)),
    ("geometric", (0.3,), lambda k: 0.3 * 0.7 ** (k - 1) if k > 0 else 0),
    ("negative_binomial", (3, 0.4), lambda k: math.comb(k + 2, k) * 0.4**3 * 0.6**k),
    ("hypergeometric", (20, 30, 12), lambda k: math.comb(20, k) * math.comb(30, max(12 - k, 0)) / math.comb(50, 12)
     * (k < 13)),
    ("logseries", (0.7,), lambda k: -(0.7**k) / (k * math.log(0.3)) if k > 0 else 0),
    ("zipf", (3.0,), lambda k: k**-3.0 / 1.2020569031595942 if k > 0 else 0),
    ("integers", (0, 10), lambda k: 0.1 if k < 10 else 0),
]  # fmt: skip


@pytest.mark.parametrize("name, parameters, mass", MASSES)
def test_whole_numbers_have_their_probabilities(name, parameters, mass):
    sample = td.asnumpy(getattr(random.default_rng(5), name)(*parameters, size=N))
    counts = np.bincount(np.minimum(sample, 60), minlength=61)[:60]
    expected = N * np.array([mass(k) for k in range(60)])
    used = expected >= 8
    chi2, freedom = ((counts - expected)[used] ** 2 / expected[used]).sum(), used.sum()
    assert chi2 < freedom + 4 * math.sqrt(2 * freedom) + 4
    assert counts[expected == 0].sum() == 0


def test_moments():
    g = random.default_rng(0)
    for x, mean, variance in [
        (g.random(1 << 18), 0.5, 1 / 12), (g.standard_normal(1 << 18), 0, 1), (g.standard_gamma(4.0, 1 << 18), 4, 4),
        (g.poisson(6.0, 1 << 18), 6, 6), (g.binomial(50, 0.2, 1 << 18), 10, 8), (g.standard_exponential(1 << 18), 1, 1),
    ]:  # fmt: skip
        x = td.asnumpy(x)
        assert abs(x.mean() - mean) < 5 * math.sqrt(variance / x.size)
        assert abs(x.var() / variance - 1) < 0.03


# ---- Philox ----


def philox(block, stream, key):
    """The four words of a block; Salmon and others, SC11."""
    c = [block & 0xFFFFFFFF, block >> 32, stream & 0xFFFFFFFF, stream >> 32]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def test_bits_are_philoxs():
    seed = 0x123456789ABCDEF0
    g = random.default_rng(seed)
    g.standard_exponential(3)  # draw 0
    whole = td.asnumpy(g.integers(0, 2**64 - 1, 50, np.uint64, endpoint=True))  # draw 1
    wanted = [philox(i, 2 << 24, seed) for i in range(50)]
    assert whole.tolist() == [w[0] | w[1] << 32 for w in wanted]
    unit = td.asnumpy(random.default_rng(seed).random(7, np.float32))
    words = [*philox(0, 0, seed), *philox(1, 0, seed)][:7]
    assert unit.tolist() == [(w >> 8) * 2.0**-24 for w in words]


@pytest.mark.parametrize("name, parameters", CASES)
def test_elements_do_not_depend_on_the_size(name, parameters):
    draw = getattr(random.default_rng(9), name)
    long = td.asnumpy(draw(*parameters, size=1000))
    short = td.asnumpy(getattr(random.default_rng(9), name)(*parameters, size=(3, 5)))
    assert np.array_equal(short.ravel(), long[:15])
    assert not np.array_equal(td.asnumpy(draw(*parameters, size=1000)), long) or len(set(long)) < 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 1021])
def test_every_length_is_filled(dtype, n):
    x = td.asnumpy(random.default_rng(1).random(n, dtype))
    assert np.array_equal(x, td.asnumpy(random.default_rng(1).random(1024, dtype))[:n])
    assert ((x >= 0) & (x < 1)).all()


# ---- dtypes, shapes, parameters ----


def test_parameters_may_be_arrays():
    a, b = np.array([[0.5], [3.0]]), np.array([1.0, 2.0, 8.0])
    g = random.default_rng(4)
    x = td.asnumpy(g.gamma(td.asarray(a), td.asarray(b), size=(5000, 2, 3)))
    np.testing.assert_allclose(x.mean(0), a * b, rtol=0.1)
    assert g.beta(td.asarray(a), td.asarray(b)).shape == (2, 3)
    assert g.normal(td.asarray(a), 1).shape == (2, 1)
    assert np.array_equal(td.asnumpy(g.binomial(td.asarray([0, 5, 7]), 1.0)), [0, 5, 7])
    with pytest.raises(ValueError, match=r"too small|broadcast"):
        g.gamma(td.asarray(a), size=(4, 3))
    with pytest.raises(TypeError, match="asarray"):
        g.gamma(a)


@pytest.mark.parametrize(
    "dtype",
    [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64],
)
def test_integers_of_every_dtype(dtype):
    g = random.default_rng(2)
    least, most = (0, 1) if dtype == np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    x = td.asnumpy(g.integers(least, most, 5000, dtype, endpoint=True))
    assert x.dtype == dtype
    wide = x.astype(np.float64)
    assert (
        wide.min() <= least + (most - least) * 0.01 and wide.max() >= most - (most - least) * 0.01
    )
    lows = td.asarray(np.array([least, most - 1, most], dtype))
    y = td.asnumpy(g.integers(lows, most, (100, 3), dtype, endpoint=True))
    assert (
        y.dtype == dtype
        and (y[:, 2] == most).all()
        and (y[:, 1].astype(object) >= int(most) - 1).all()
    )
    assert len(np.unique(y[:, 0])) >= 2
    for low, high in ((least - 1, most), (least, most + 2)):
        if low >= -(2**63) and high < 2**64:
            with pytest.raises(ValueError, match="out of bounds"):
                g.integers(low, high, 3, dtype)


def test_bounds_of_integers():
    g = random.default_rng(2)
    assert set(td.asnumpy(g.integers(3, size=200)).tolist()) == {0, 1, 2}
    assert set(td.asnumpy(g.integers(3, 4, size=200, endpoint=True)).tolist()) == {3, 4}
    assert g.integers(5).shape == ()
    for low, high in ((3, 3), (4, 3)):
        with pytest.raises(ValueError, match="low >= high"):
            g.integers(low, high)
    with pytest.raises(ValueError, match="low >= high"):
        g.integers(td.asarray([1, 2]), td.asarray([2, 2]))
    with pytest.raises(TypeError, match="not an integer type"):
        g.integers(0, 3, dtype=np.float32)


@pytest.mark.parametrize("name, parameters", [c for c in CASES if c[0] not in ("integers",)])
def test_float32_and_int32(name, parameters):
    whole = (
        np.dtype(np.asarray(getattr(np.random.default_rng(0), name)(*parameters)).dtype).kind == "i"
    )
    dtype = np.int32 if whole else np.float32
    x = td.asnumpy(getattr(random.default_rng(6), name)(*parameters, size=100, dtype=dtype))
    assert x.dtype == dtype
    if name not in (
        "random",
        "uniform",
        "standard_normal",
        "normal",
        "lognormal",
    ) and "e9" not in str(parameters):
        full = td.asnumpy(getattr(random.default_rng(6), name)(*parameters, size=100))
        np.testing.assert_allclose(x, full.astype(dtype), rtol=1e-5)


def test_out():
    g = random.default_rng(0)
    for name in ("random", "standard_normal", "standard_exponential"):
        out = td.zeros((3, 4))
        assert getattr(g, name)(out=out) is out
        assert len(np.unique(td.asnumpy(out))) == 12
        with pytest.raises(TypeError, match="dtype"):
            getattr(g, name)(out=td.zeros(3, np.float32))
        with pytest.raises(ValueError, match="does not match"):
            getattr(g, name)(size=4, out=td.zeros(3))


def test_a_bit_generator_counts_the_draws_of_its_generators():
    bits = random.Philox4x3210(3)
    one, two, alone = random.Generator(bits), random.Generator(bits), random.default_rng(3)
    drawn = [g.random(5) for g in (one, two, one)] + [
        two.gamma(2.0, size=5),
        one.gamma(2.0, size=5),
    ]
    want = [alone.random(5) for _ in range(3)] + [alone.gamma(2.0, size=5) for _ in range(2)]
    np.testing.assert_array_equal(td.asnumpy(td.stack(drawn)), td.asnumpy(td.stack(want)))
    one.bit_generator = random.Philox4x3210(3)
    np.testing.assert_array_equal(td.asnumpy(one.random(5)), td.asnumpy(want[0]))
    with pytest.raises(TypeError, match="BitGenerator"):
        one.bit_generator = 3


@pytest.mark.parametrize("low, high", [(-0.9, 1.1), (-1.1, -0.9), (0, 2.9), (1.5, 4)])
def test_float_bounds_of_integers_are_truncated(low, high):
    values = td.asnumpy(random.default_rng(0).integers(low, high, 200))
    assert set(values.tolist()) == set(range(int(low), int(high)))
    with pytest.raises(ValueError, match="low >= high"):
        random.default_rng(0).integers(-0.2, 0.3, 2)


def test_limits_of_parameters():
    g = random.default_rng(0)
    assert (td.asnumpy(g.standard_gamma(0.0, 10)) == 0).all()
    assert (td.asnumpy(g.binomial(7, 1.0, 10)) == 7).all() and (
        td.asnumpy(g.binomial(7, 0.0, 10)) == 0
    ).all()
    assert (td.asnumpy(g.poisson(0.0, 10)) == 0).all()
    assert (td.asnumpy(g.geometric(1.0, 10)) == 1).all()
    assert (td.asnumpy(g.normal(2.0, 0.0, 10)) == 2).all()
    assert (td.asnumpy(g.hypergeometric(5, 0, 3, 10)) == 3).all() and (
        td.asnumpy(g.hypergeometric(0, 5, 3, 10)) == 0
    ).all()
    assert (td.asnumpy(g.weibull(0.0, 10)) == 0).all()
    assert np.isfinite(td.asnumpy(g.beta(1e-3, 1e-3, 1000))).all()


WRONG = [
    ("normal", (0, -1)), ("exponential", (-1,)), ("standard_gamma", (-1,)), ("gamma", (1, -1)), ("beta", (0, 1)),
    ("chisquare", (0,)), ("f", (0, 1)), ("standard_t", (0,)), ("pareto", (0,)), ("power", (0,)), ("rayleigh", (-1,)),
    ("weibull", (-1,)), ("triangular", (1, 0, 2)), ("triangular", (1, 1, 1)), ("vonmises", (0, -1)), ("wald", (0, 1)),
    ("binomial", (-1, 0.5)), ("binomial", (1, 1.5)), ("binomial", (1, float("nan"))), ("poisson", (-1,)),
    ("poisson", (1e19,)), ("geometric", (0,)), ("hypergeometric", (1, 1, 3)), ("logseries", (1,)), ("zipf", (1,)),
    ("negative_binomial", (0, 0.5)), ("noncentral_chisquare", (0, 1)), ("laplace", (0, -1)), ("logistic", (0, -1)),
]  # fmt: skip


@pytest.mark.parametrize("name, parameters", WRONG)
def test_parameters_out_of_range(name, parameters):
    with pytest.raises(ValueError):
        getattr(np.random.default_rng(0), name)(*parameters, size=3)
    with pytest.raises(ValueError):
        getattr(random.default_rng(0), name)(*parameters, size=3)
    with pytest.raises(ValueError):
        getattr(random.default_rng(0), name)(*(td.asarray([float(p)]) for p in parameters), size=3)


# ---- choices and orders ----


def test_choice():
    g = random.default_rng(8)
    assert set(td.asnumpy(g.choice(4, 300)).tolist()) == {0, 1, 2, 3}
    assert g.choice(4).shape == () and g.choice(4, (2, 3)).shape == (2, 3)
    a = td.asarray(np.arange(12.0).reshape(4, 3))
    assert g.choice(a, 5).shape == (5, 3) and g.choice(a, 5, axis=1).shape == (4, 5)
    assert sorted(td.asnumpy(g.choice(50, 50, replace=False)).tolist()) == list(range(50))
    some = td.asnumpy(g.choice(1000, 100, replace=False))
    assert len(set(some.tolist())) == 100
    p = [0.1, 0.0, 0.6, 0.3]
    counts = np.bincount(td.asnumpy(g.choice(4, N, p=td.asarray(p))), minlength=4)
    np.testing.assert_allclose(counts / N, p, atol=0.01)
    picked = np.stack([td.asnumpy(g.choice(4, 2, replace=False, p=p)) for _ in range(300)])
    assert not (picked == 1).any() and (picked[:, 0] != picked[:, 1]).all()
    assert abs((picked[:, 0] == 2).mean() - 0.6) < 0.1
    for arguments, message in [
        ((0, 1), "empty"), ((3, 4, False), "larger sample"), ((3, 2, True, [0.5, 0.5]), "same size"),
        ((2, 2, True, [0.7, 0.7]), "sum to 1"), ((2, 2, True, [1.5, -0.5]), "non-negative"),
        ((2, 2, False, [1.0, 0.0]), "Fewer non-zero"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            g.choice(*arguments)


def test_permutation_shuffle_permuted():
    g = random.default_rng(8)
    assert sorted(td.asnumpy(g.permutation(100)).tolist()) == list(range(100))
    a = np.arange(60).reshape(12, 5)
    x = td.asarray(a)
    mixed = td.asnumpy(g.permutation(x))
    assert not np.array_equal(mixed, a) and np.array_equal(np.sort(mixed[:, 0]), a[:, 0])
    assert (mixed - mixed[:, :1] == np.arange(5)).all()
    columns = td.asnumpy(g.permutation(x, axis=1))
    assert (
        np.array_equal(np.sort(columns, 1), a)
        and (columns - columns[:1] == 5 * np.arange(12)[:, None]).all()
    )
    g.shuffle(x)
    assert np.array_equal(np.sort(td.asnumpy(x)[:, 0]), a[:, 0]) and not np.array_equal(
        td.asnumpy(x), a
    )
    x = td.asarray(a)
    for axis in (0, 1, -1):
        free = td.asnumpy(g.permuted(x, axis=axis))
        assert np.array_equal(np.sort(free, axis), a) and not np.array_equal(free, a)
    assert np.array_equal(np.sort(td.asnumpy(g.permuted(x)).ravel()), a.ravel())
    out = td.empty((12, 5), np.int64)
    assert g.permuted(x, axis=1, out=out) is out
    orders = np.stack([td.asnumpy(g.permutation(3)) for _ in range(600)])
    _, counts = np.unique(orders @ [9, 3, 1], return_counts=True)
    assert len(counts) == 6 and counts.min() > 60


def test_multinomial_and_dirichlet():
    g = random.default_rng(8)
    p = [0.2, 0.5, 0.1, 0.2]
    x = td.asnumpy(g.multinomial(40, p, 5000))
    assert x.shape == (5000, 4) and (x.sum(-1) == 40).all() and (x >= 0).all()
    np.testing.assert_allclose(x.mean(0), 40 * np.array(p), rtol=0.05)
    assert against_sample(x[:, 1], np.random.default_rng(0).binomial(40, 0.5, 5000)) < BOUND
    assert g.multinomial(10, td.asarray(p)).shape == (4,)
    assert td.asnumpy(g.multinomial(td.asarray([3, 9]), p)).sum(-1).tolist() == [3, 9]
    with pytest.raises(ValueError, match="pvals"):
        g.multinomial(3, [0.9, 0.9, 0.9])
    y = td.asnumpy(g.dirichlet([0.01, 2.0, 5.0], 5000))
    np.testing.assert_allclose(y.sum(-1), 1, rtol=1e-12)
    np.testing.assert_allclose(y.mean(0), np.array([0.01, 2, 5]) / 7.01, atol=0.01)
    with pytest.raises(ValueError, match="alpha"):
        g.dirichlet([1.0, 0.0])


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(method):
    g = random.default_rng(8)
    cov = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
    x = td.asnumpy(g.multivariate_normal([1.0, 2.0, 3.0], td.asarray(cov), 20000, method=method))
    assert x.shape == (20000, 3)
    np.testing.assert_allclose(x.mean(0), [1, 2, 3], atol=0.05)
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.06)
    assert g.multivariate_normal([0.0], [[1.0]]).shape == (1,)
    with pytest.raises(ValueError, match="square"):
        g.multivariate_normal([0.0], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="semidefinite"):
        g.multivariate_normal([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], check_valid="raise")


# ---- generators ----


def test_seeds_and_children():
    a, b = random.default_rng(1), random.default_rng(2)
    assert not np.array_equal(td.asnumpy(a.random(10)), td.asnumpy(b.random(10)))
    assert random.default_rng(a) is a
    first, second = random.default_rng(1).spawn(2)
    again = random.default_rng(1).spawn(1)[0]
    assert first.key != second.key and first.key == again.key
    assert random.default_rng().key != random.default_rng().key
    assert len(a.bytes(11)) == 11 and isinstance(a.bytes(1), bytes)


def test_functions_of_the_module():
    random.seed(5)
    first = [
        td.asnumpy(random.rand(3, 2)),
        td.asnumpy(random.randn(4)),
        td.asnumpy(random.randint(0, 9, 5)),
    ]
    random.seed(5)
    assert np.array_equal(first[0], td.asnumpy(random.random_sample((3, 2))))
    assert np.array_equal(first[1], td.asnumpy(random.standard_normal(4)))
    assert np.array_equal(first[2], td.asnumpy(random.randint(0, 9, 5)))
    assert random.normal(0, 1, (2, 2), dtype=np.float32).dtype == np.float32
    assert set(td.asnumpy(random.random_integers(2, size=50)).tolist()) == {1, 2}
    assert random.RandomState(3).randint(5, size=3).shape == (3,)
    for name in random.__all__:
        assert getattr(random, name).__doc__, name
    assert "size" in inspect.signature(random.gamma).parameters


# ---- where bits come from ----


def test_bit_generators():
    a, b, c = (td.random.Philox4x3210(seed) for seed in (7, 7, None))
    raw = td.asnumpy(a.random_raw(1000))
    assert raw.dtype == np.uint64
    np.testing.assert_array_equal(raw, td.asnumpy(b.random_raw(1000)))
    assert not np.array_equal(raw, td.asnumpy(c.random_raw(1000)))
    ones = np.unpackbits(raw.view(np.uint8)).reshape(-1, 64).mean(0)
    assert np.all(np.abs(ones - 0.5) < 0.1)
    assert a.random_raw().shape == ()
    mixed = [td.random.default_rng([1, 2]), td.random.default_rng(td.random.Philox4x3210([1, 2]))]
    np.testing.assert_array_equal(*(td.asnumpy(g.random(4)) for g in mixed))
    for bad in (1.5, 1j, [0.5]):
        with pytest.raises(TypeError):
            td.random.Philox4x3210(bad)
    with pytest.raises(TypeError, match="Philox"):
        td.random.BitGenerator(1)


def test_the_state_of_the_module_is_replaced():
    before = td.random.get_random_state()
    try:
        td.random.set_random_state(td.random.RandomState(5))
        first = td.asnumpy(td.random.rand(3))
        np.testing.assert_array_equal(first, td.asnumpy(td.random.RandomState(5).rand(3)))
        td.random.reset_states()
        assert td.random.get_random_state() is not before
        with pytest.raises(TypeError, match="RandomState"):
            td.random.set_random_state(5)
    finally:
        td.random.set_random_state(before)
