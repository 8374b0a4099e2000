"""Fourteen ways to lie with a time, each planted: it is detected, or the interface has no place for it.

The kinds are those that published benchmarks were wrong by. Where a lie is a matter of time, a made-up clock plants it;
where it is a matter of what the work does, the device of this run.
"""

import contextlib
import json
from types import SimpleNamespace

import numpy as np
import pytest
import treadle as td
from made_up_clock import MadeUpClock
from treadle import cuda
from treadle.benchmarking import Policy, Refused, benchmark, compare, on_host
from treadle.benchmarking.comparison import cores_used
from treadle.benchmarking.counts import Counts
from treadle.benchmarking.saved import compare_saved

QUICK = Policy(max_seconds=0.05, warm_seconds=0.05, max_samples=100)
N = 100_000
X = np.random.default_rng(0).random(N, np.float32)

ADD = r"""
extern "C" __global__ void add(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] + 1;
}"""


def quick(work, *args, **options):
    options = {"policy": QUICK, "cache": "hot", **options}
    return benchmark(work, *args, **options)


def kinds(found):
    return {finding.kind for finding in found.findings}


# ---- 1. no synchronisation ----


def test_a_call_that_only_hands_its_work_over_is_timed_to_its_end():
    clock = MadeUpClock()
    found = quick(clock.work(5e-3, host_s=2e-6), clock=clock)
    assert found.median_s == pytest.approx(5e-3)
    assert found.time("submission").median_s == pytest.approx(2e-6)


def test_work_on_another_stream_than_the_timed_one_gets_no_time():
    clock = MadeUpClock()
    with pytest.raises(Refused, match="another stream") as refused:
        quick(clock.work(1e-6, elsewhere_s=4e-3), clock=clock)
    assert refused.value.kind == "other-stream"


def test_work_on_a_stream_of_its_own_is_refused_on_the_device():
    source = r"""
    extern "C" __global__ void chain(float* x, int steps) {
      float v = x[0];
      for (int k = 0; k < steps; ++k) v = v * 0.999f + 0.001f;
      x[0] = v;
    }"""
    kernel, other = td.RawKernel(source, "chain"), cuda.Stream(non_blocking=True)
    x = td.ones(1, np.float32)
    cuda.synchronize()

    def work():
        kernel((1,), (1,), (x, 1_000_000), stream=other)  # milliseconds

    with pytest.raises(Refused) as refused:
        quick(work)
    assert refused.value.kind == "other-stream"
    assert quick(work, stream=other).median_s > 0


def test_streams_that_the_timed_one_waits_for_are_no_lie():
    kernel, y = td.RawKernel(ADD, "add"), td.empty(N, np.float32)
    other, here, there = cuda.Stream(non_blocking=True), cuda.Event(), cuda.Event()
    x = td.asarray(X, blocking=True)

    def work():
        here.record()
        other.wait_event(here)
        for _ in range(10):
            kernel((N // 256 + 1,), (256,), (x, y, N), stream=other)
        there.record(other)
        cuda.get_current_stream().wait_event(there)

    assert quick(work).median_s > 0


# ---- 2. compiling inside of the timing ----


def test_compiling_is_in_the_first_call_and_in_no_sample():
    clock, left = MadeUpClock(), iter([0.7])
    found = quick(clock.work(lambda: next(left, 1e-4)), clock=clock)
    assert found.first_call_s > 0.7 and found.time().samples_s.max() < 2e-4


def test_a_kernel_that_is_compiled_in_each_call_is_seen():
    y = td.empty(N, np.float32)

    def work(x):
        td.RawKernel(ADD, "add")((N // 256 + 1,), (256,), (x, y, N))

    assert "compiles-inside" in kinds(quick(work, X))


# ---- 3. the host's clock for microseconds ----


def test_short_kernels_are_timed_by_the_device_and_not_by_the_hosts_pace():
    clock = MadeUpClock(mark_s=1e-6)
    found = quick(clock.work(2e-6, host_s=4e-5), clock=clock)
    assert found.median_s == pytest.approx(2e-6, rel=0.01)


def test_a_time_near_the_clocks_own_is_said_to_be_one():
    clock = MadeUpClock(mark_s=2e-6)
    found = quick(clock.work(1e-5), clock=clock, cache="cold")  # one call a sample
    assert "near-resolution" in kinds(found)


# ---- 4. transfers left out, or in, without saying ----


def test_all_scopes_stand_side_by_side_with_the_bytes_that_they_move():
    found = quick(lambda x: td.sqrt(x * x + 1), X)
    assert {s.scope for s in found.times} == {"device", "end_to_end", "submission"}
    assert (found.upload_bytes, found.download_bytes) == (4 * N, 4 * N)
    assert f"{4 * N / 1000:.0f} kB to the device" in str(found)


def test_transfers_inside_of_the_work_are_seen():
    found = quick(lambda: td.asnumpy(td.sqrt(td.asarray(X))))
    assert {"transfers-inside", "waits-inside"} <= kinds(found)
    assert found.counts.uploaded_bytes == found.counts.downloaded_bytes == 4 * N


# ---- 5. hot against cold ----


def test_a_state_of_the_cache_is_part_of_every_time_and_is_not_compared_with_another():
    clock = MadeUpClock()
    work = clock.work(1e-5, cold_s=1e-4)
    hot, cold = (quick(work, clock=clock, cache=c, name="w") for c in ("hot", "cold"))
    assert [s.cache for s in hot.times if s.scope == "device"] == ["hot"]
    rows = compare_saved([json.loads(hot.json())], [json.loads(cold.json())])
    device = [row for row in rows if row.scope == "device"]
    assert device and all(row.verdict == "refused" for row in device)


# ---- 6. one size ----


def test_a_result_says_its_size_and_is_not_compared_with_another():
    one, other = (quick(lambda x: x + 1, np.ones(n), name="w") for n in (1000, 2000))
    assert "float64[1000] (this size only)" in str(one)
    rows = compare_saved([one.to_dict()], [other.to_dict()])
    assert [row.verdict for row in rows] == ["refused"] and "shape" in rows[0].reason


def test_a_device_against_a_cpu_at_one_size_says_so():
    found = compare(on_host(lambda x: np.sqrt(x)), lambda x: td.sqrt(x), X, policy=QUICK)
    assert "one-size" in kinds(found)


# ---- 7. float32 against float64 ----


def test_work_of_different_dtypes_is_not_compared():
    with pytest.raises(Refused, match="float32 of a and float64 of b"):
        compare(lambda x: td.sqrt(x), lambda x: td.sqrt(x.astype(np.float64)), X, policy=QUICK)
    one, other = (quick(lambda x: x + 1, np.ones(100, t), name="w") for t in ("f4", "f8"))
    rows = compare_saved([one.to_dict()], [other.to_dict()])
    assert rows[0].verdict == "refused" and "dtype" in rows[0].reason


# ---- 8. a baseline on one core ----


def test_a_baseline_that_leaves_cores_idle_is_seen(monkeypatch):
    import treadle.benchmarking.comparison as module

    monkeypatch.setattr(module, "available_cores", lambda: 64)
    found = compare(on_host(lambda x: np.sqrt(x)), lambda x: td.sqrt(x), X, policy=QUICK)
    assert "part-of-the-cpu" in kinds(found) and "of 64 cores" in str(found)
    monkeypatch.setattr(module, "available_cores", lambda: 1)
    assert "part-of-the-cpu" not in kinds(
        compare(on_host(lambda x: np.sqrt(x)), lambda x: td.sqrt(x), X, policy=QUICK)
    )
    assert cores_used(lambda: sum(range(1000)), 0.02) > 0


# ---- 9. the mean of a skewed sample; 10. the best of n ----


def test_there_is_no_mean_and_no_minimum_and_skew_is_said():
    clock, number = MadeUpClock(), iter(range(10**9))
    work = clock.work(lambda: 0.05 if next(number) % 8 == 7 else 1e-3)
    found = quick(work, clock=clock, setup=lambda: None)  # one call a sample
    assert found.median_s == pytest.approx(1e-3)
    assert "skewed" in kinds(found) and "far" in str(found)
    names = {name for name in dir(found) + dir(found.time()) if not name.startswith("_")}
    assert not {n for n in names if "mean" in n or "best" in n or "min" in n.split("_")}
    text = json.dumps(found.to_dict()["times"])
    assert '"min"' not in text and '"mean"' not in text


# ---- 11. clocks that move ----


def test_moving_and_throttled_clocks_are_seen():
    def at(mhz, throttled=()):
        return SimpleNamespace(sm_mhz=mhz, fraction=mhz / 2000, throttled=throttled)

    clock = MadeUpClock(conditions=[at(1980), at(1500), at(900, ["power cap"])] * 10**4)
    found = quick(clock.work(1e-3), clock=clock)
    assert {"clocks-not-locked", "throttled", "slowed-down"} <= kinds(found)
    assert found.time().discarded > 0
    clock = MadeUpClock(conditions=[at(1980)] * 10**4)
    found = quick(clock.work(1e-3), clock=clock)
    assert not {"clocks-not-locked", "throttled", "slowed-down"} & kinds(found)


def test_clocks_that_cannot_be_read_are_not_recorded_and_that_is_said():
    found = quick(lambda x: x + 1, X)
    conditions = found.record["conditions"]
    if isinstance(conditions, str):  # no NVML, or a device that it does not know
        assert conditions.startswith("not recorded: ") and "clocks      not recorded" in str(found)
    else:
        assert not cuda.Device().is_software and conditions["sm_mhz"] > 0


# ---- 12. the time of an error ----


def test_a_launch_that_fails_has_no_time():
    kernel, y = td.RawKernel(ADD, "add"), td.empty(N, np.float32)
    with pytest.raises(ValueError):  # the limit's own error
        quick(lambda x: kernel((1,), (4096,), (x, y, N)), X)

    def hidden(x):
        with contextlib.suppress(ValueError):
            kernel((1,), (4096,), (x, y, N))

    with pytest.raises(Refused) as refused:
        quick(hidden, X)
    assert refused.value.kind == "nothing-launched"


def test_a_failed_call_that_the_work_hides_is_seen():
    clock = MadeUpClock(counts=Counts(launches=1, failed=(("cuLaunchKernel", 1),)))
    with pytest.raises(Refused, match="cuLaunchKernel 1 times") as refused:
        quick(clock.work(1e-3), clock=clock)
    assert refused.value.kind == "failed-call"


# ---- 13. dead code ----


@pytest.mark.parametrize(
    "work",
    [
        lambda x: None,
        lambda x: (x * 2 + 1, None)[1],  # a lazy expression that nobody keeps
        lambda x: [cuda.synchronize(), None][1],
        lambda x: x,  # a value that is there already
    ],
)
def test_work_that_computes_nothing_gets_no_time(work):
    with pytest.raises(Refused, match="nothing to do") as refused:
        quick(work, X)
    assert refused.value.kind == "nothing-launched"


def test_a_value_that_was_computed_before_gets_no_time():
    y = td.sqrt(td.asarray(X))
    with pytest.raises(Refused):
        quick(lambda: y)
    with pytest.raises(TypeError, match="lambda"):
        quick(y)


def test_each_call_evaluates_its_expression_anew():
    before, calls = td._treadle._generated_launches(), [0]

    def work(x):
        calls[0] += 1
        return td.sqrt(x * x + 1)

    found = quick(work, X)
    assert td._treadle._generated_launches() - before >= calls[0]
    assert found.counts.launches == 1 and found.counts.planned_bytes == 8 * N


# ---- 14. different results ----


@pytest.mark.parametrize(
    "reference",
    [lambda x: x + 1.01, np.zeros(N, np.float32), np.zeros(3, np.float32), [X, X], lambda x: None],
)
def test_a_wrong_result_gets_no_time(reference):
    calls = [0]

    def work(x):
        calls[0] += 1
        return x + 1

    with pytest.raises(Refused) as refused:
        quick(work, X, reference=reference)
    assert refused.value.kind == "different-result" and calls[0] == 1


def test_works_with_different_results_are_not_compared():
    with pytest.raises(Refused, match="differ"):
        compare(lambda x: x + 1, lambda x: x + 1.5, X, policy=QUICK)


def test_a_right_result_is_said_to_be_one():
    found = quick(lambda x: x + 1, X, reference=lambda x: x + 1)
    assert found.checked.startswith("equal to the reference")
    assert "not compared" in quick(lambda x: x + 1, X).checked
    kernel = td.RawKernel(ADD, "add")
    found = quick(
        lambda a, b: kernel((N // 256 + 1,), (256,), (a, b, N)), X, np.zeros_like(X),
        reference=lambda a, b: np.add(a, 1, out=b),
    )  # fmt: skip
    assert found.checked.startswith("equal") and found.download_bytes == 4 * N
