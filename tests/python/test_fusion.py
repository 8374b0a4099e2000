"""What lazy fusion plans, launches and says about it: kernels and bytes are counted, never timed."""

import json
from contextlib import nullcontext as nothing

import numpy as np
import pytest
import treadle as td
from treadle import _treadle, config


@pytest.fixture
def launched():
    """Runs a function; the kernels that the log of launches holds afterwards."""

    def run(work):
        td.zeros(1).flush()  # what is pending is not ours
        _treadle._log_kernels(True)
        _treadle._take_logged_kernels()
        try:
            work()
            td.zeros(1).flush()
            return [k for k in _treadle._take_logged_kernels() if k["operations"] != ["copy"]]
        finally:
            _treadle._log_kernels(False)

    return run


def data(shape=(64, 128), dtype=np.float32):
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def test_explain_counts_what_is_launched(launched):
    x = td.asarray(data())

    def work():
        y = td.sqrt(x * x + 1).sum(axis=1)
        plan = td.explain(y)
        (kernel,) = plan.kernels
        assert kernel["operations"] == ["multiply", "add", "sqrt", "sum"]
        assert (kernel["bytes_read"], kernel["bytes_written"]) == (64 * 128 * 4, 64 * 4)
        work.plan = plan.kernels
        y.flush()

    log = launched(work)
    assert [{k: v for k, v in row.items() if k != "wanted"} for row in log] == work.plan


def test_explain_launches_nothing_and_changes_nothing():
    x = td.asarray(data())
    y = (x + 1) * 2
    before = _treadle._generated_launches()
    first, second = td.explain(y), td.explain(y)
    assert first.as_dict() == second.as_dict()
    assert _treadle._generated_launches() == before
    np.testing.assert_array_equal(td.asnumpy(y), (data() + 1) * 2)
    assert len(td.explain(y)) == 0 and "in memory" in str(td.explain(y))


def test_explain_says_why_a_chain_is_cut():
    x = td.asarray(data())
    y = x.T.copy() * 2 + x.T.sum(axis=0)
    cuts = [kernel["cut"] for kernel in td.explain(y).kernels]
    assert cuts[0] == "" and all(cuts[1:])
    a = td.asarray(data())
    b = a[1:] + 1
    a[:-1] *= 2
    c = a[1:] + b
    assert any("memory" in kernel["cut"] for kernel in td.explain(c, b).kernels)
    p, q = x + 1, x[:3] + 1
    assert "another shape" in td.explain(p, q).kernels[1]["cut"]
    p.flush()
    many = [td.asarray(data((5,))) for _ in range(45)]
    total = many[0]
    for one in many[1:]:
        total = total + one
    assert any("operands" in kernel["cut"] for kernel in td.explain(total).kernels)


def test_explain_is_a_table_and_json():
    x = td.asarray(data())
    unrelated = td.ones(5) + 1
    plan = td.explain(td.exp(x).max())
    assert "reduction" in str(plan) and "exp max" in str(plan) and "32 KiB" in str(plan)
    assert json.loads(plan.json())["bytes_read"] == 64 * 128 * 4
    assert plan.other == 1 and "other pending work" in repr(plan)
    del unrelated
    with pytest.raises(TypeError, match="asarray"):
        td.explain(np.ones(3))


def test_fusion_can_be_switched_off(launched):
    x = td.asarray(data())

    def work():
        work.result = td.sqrt(x * x + 1) - 1

    assert len(launched(lambda: (work(), work.result.flush()))) == 1
    fused = td.asnumpy(work.result)
    with config.set(fusion=False):
        assert config.fusion is False
        assert len(launched(work)) == 4
    assert config.fusion is True
    np.testing.assert_array_equal(td.asnumpy(work.result), fused)
    config.fusion = False
    try:
        assert len(launched(lambda: x + 1)) == 1
    finally:
        config.fusion = True
    with pytest.raises(TypeError, match="fusion"):
        config.set(fussion=False)


def test_environment_switches_fusion_off(python):
    code = "import treadle as td; print(td.config.fusion, td.config.show()['fusion'])"
    assert python(code, TREADLE_FUSION="0").stdout.split() == ["False", "False"]
    assert python(code).stdout.split() == ["True", "True"]


def test_several_results_of_a_chain_are_one_kernel(launched):
    x = td.asarray(data())
    kept = []

    def work():
        m = x * 2
        n = m + 1
        kept[:] = m, n

    (kernel,) = launched(work)
    assert (kernel["reads"], kernel["writes"]) == (1, 2)
    np.testing.assert_array_equal(td.asnumpy(kept[0]), data() * 2)
    np.testing.assert_array_equal(td.asnumpy(kept[1]), data() * 2 + 1)


# ---- reductions, and work before, behind and between them: one pass over memory ----


def softmax(xp, x, axis=-1):
    e = xp.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def layer_norm(xp, x):
    return (x - x.mean(axis=-1, keepdims=True)) / xp.sqrt(xp.var(x, axis=-1, keepdims=True) + 1e-5)


def rms_norm(xp, x):
    return x / xp.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * 2


def logsumexp(xp, x):
    m = x.max(axis=-1, keepdims=True)
    return xp.log(xp.exp(x - m).sum(axis=-1, keepdims=True)) + m


def standardize(xp, x):
    return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)


def unit_rows(xp, x):
    return x / xp.sqrt((x * x).sum(axis=-1, keepdims=True))


def centered(xp, x):
    return x - x.mean(axis=-1, keepdims=True)


ROWS = [softmax, layer_norm, rms_norm, logsumexp, standardize, unit_rows, centered]


@pytest.mark.parametrize("function", ROWS)
@pytest.mark.parametrize("shape", [(64, 128), (5, 3000), (100, 7), (3, 4, 33), (2000,), (4, 8192)])
def test_chains_along_rows_read_once_and_write_once(function, shape, launched):
    host = data(shape)
    x = td.asarray(host)
    kept = []
    log = launched(lambda: kept.append(function(td, x)))
    assert len(log) == 1, [row["cut"] for row in log]
    assert log[0]["bytes_read"] == host.nbytes
    assert log[0]["bytes_written"] == kept[0].nbytes
    wide = host.astype(np.float64)
    np.testing.assert_allclose(td.asnumpy(kept[0]), function(np, wide), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("function", ROWS)
def test_chains_along_rows_in_other_layouts_and_dtypes(function):
    host = data((40, 6, 50), np.float64)
    x = td.asarray(host)
    for mine, theirs in [
        (x.transpose(2, 0, 1), host.transpose(2, 0, 1)),
        (x[::-2, :, ::3], host[::-2, :, ::3]),
        (td.broadcast_to(x[:, :1], (40, 9, 50)), np.broadcast_to(host[:, :1], (40, 9, 50))),
        (x[:, :, :1], host[:, :, :1]),
        (x.T, host.T),
    ]:
        with np.errstate(all="ignore"):
            want = function(np, theirs)
        got = td.asnumpy(function(td, mine))
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
    half = (x * 4).astype("f2")
    got = td.asnumpy(function(td, half)).astype(float)
    with np.errstate(all="ignore"):
        want = function(np, td.asnumpy(half))
    np.testing.assert_allclose(got, want.astype(float), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("function", ROWS)
def test_rows_too_long_for_a_block(function):
    host = data((3, 20000))
    got = function(td, td.asarray(host))
    np.testing.assert_allclose(
        td.asnumpy(got), function(np, host.astype(np.float64)), rtol=3e-5, atol=1e-6
    )


def test_columns_of_few_elements_are_one_kernel(launched):
    host = data((16, 1000))
    x = td.asarray(host)
    kept = []
    log = launched(lambda: kept.append(softmax(td, x, 0)))
    assert len(log) == 1 and log[0]["bytes_read"] == host.nbytes
    np.testing.assert_allclose(td.asnumpy(kept[0]), softmax(np, host, 0), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_several_reductions_of_one_operand_are_one_pass(axis, launched):
    host = data((300, 200))
    x = td.asarray(host)
    kept = []

    def work():
        y = td.abs(x) + 1
        kept[:] = y.min(axis), y.max(axis), y.mean(axis), td.var(y, axis), y.argmax(axis)

    (kernel,) = launched(work)
    assert kernel["bytes_read"] == host.nbytes
    y = np.abs(host) + 1
    for got, want in zip(
        kept, (y.min(axis), y.max(axis), y.mean(axis), y.var(axis), y.argmax(axis))
    ):
        np.testing.assert_allclose(td.asnumpy(got), want, rtol=1e-5)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_whole_and_long_std_is_one_pass(axis, launched):
    host = data((2000, 1500))
    x = td.asarray(host)
    kept = []
    (kernel,) = launched(lambda: kept.append(td.std(x, axis=axis, ddof=1)))
    assert kernel["bytes_read"] == host.nbytes
    want = host.astype(np.float64).std(axis=axis, ddof=1)
    np.testing.assert_allclose(td.asnumpy(kept[0]), want, rtol=1e-6)


def test_values_that_a_reduction_uses_are_stored_by_its_kernel(launched):
    host = data((50, 70))
    x = td.asarray(host)
    kept = []

    def work():
        m = x * 2
        kept[:] = m, m.sum(axis=0), m.max()

    log = launched(work)
    assert [k["writes"] for k in log] == [2, 1]
    np.testing.assert_array_equal(td.asnumpy(kept[0]), host * 2)
    np.testing.assert_allclose(td.asnumpy(kept[1]), (host * 2).sum(axis=0), rtol=1e-4)
    assert float(kept[2]) == (host * 2).max()


def test_work_behind_a_reduction_is_in_its_kernel(launched):
    host = data((500, 400))
    x, w = td.asarray(host), td.asarray(data((500,)))
    kept = []
    assert len(launched(lambda: kept.append(td.sqrt((x * x).sum(axis=1)) * w + 1))) == 1
    want = np.sqrt((host * host).sum(axis=1)) * data((500,)) + 1
    np.testing.assert_allclose(td.asnumpy(kept[0]), want, rtol=1e-5)
    assert len(launched(lambda: kept.append(td.sqrt((x * x).sum()) / 3))) == 1  # in chunks
    np.testing.assert_allclose(float(kept[1]), np.linalg.norm(host) / 3, rtol=1e-5)


def test_writes_between_stages_are_seen_in_order():
    host = data((8, 64))
    x, y = td.asarray(host), host.copy()
    m, n = x.max(axis=1, keepdims=True), y.max(axis=1, keepdims=True)
    x[:, 0], y[:, 0] = 100, 100
    p, q = x - m, y - n
    m += 1
    n += 1
    r, s = x / m, y / n
    x -= x.max(axis=1, keepdims=True)
    y -= y.max(axis=1, keepdims=True)
    for got, want in ((p, q), (r, s), (x, y), (m, n)):
        np.testing.assert_array_equal(td.asnumpy(got), want)


def exact_variance(x, ddof=0):
    wide = x.astype(np.longdouble)
    return (((wide - wide.mean()) ** 2).sum() / (x.size - ddof)).astype(np.float64)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 31, 1000, 300000])
def test_variance_is_as_good_as_two_passes(dtype, n):
    rng = np.random.default_rng(3)
    offsets = {np.float16: [0, 100], np.float32: [0, 1e4, -1e6], np.float64: [0, 1e8, -1e12]}
    for offset in offsets[dtype]:
        x = (rng.standard_normal(n) + offset).astype(dtype)
        outlier = x.copy()
        outlier[0] = offset + 50
        for values in (x, outlier, x[::-1], np.sort(x)):
            want = exact_variance(values)
            got = float(td.var(td.asarray(values)))
            two_pass = abs(float(values.var(dtype=np.float64)) - want)
            allowed = max(4 * two_pass, (4 + n**0.5) * np.finfo(dtype).eps * want, 1e-300)
            assert abs(got - want) <= allowed, (offset, got, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_variance_of_special_values(dtype):
    cases = [[np.inf, 1, 2], [1, 2, np.inf], [-np.inf, np.inf], [np.nan, 1], [1, np.nan], [], [5], [3, 3, 3],
             [1e30, -1e30], [0.1] * 300]  # fmt: skip
    for case in cases:
        x = np.array(case, dtype)
        for ddof in (0, 1, 2):
            with np.errstate(all="ignore"), pytest.warns() if x.size <= ddof else nothing():
                want = np.var(x, ddof=ddof)
            got = td.asnumpy(td.var(td.asarray(x), ddof=ddof))
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-15, err_msg=str((case, ddof)))
    big = np.array([1e200, -1e200, 3], np.float64)
    assert float(td.var(td.asarray(big))) == np.inf == np.var(big)
