"""What lazy fusion plans, launches and says about it: kernels and bytes are counted, never timed."""

import json

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
