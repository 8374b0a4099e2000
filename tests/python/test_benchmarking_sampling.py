"""How samples are taken, under a clock that no machine moves; and on the device of this run, without any number."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import treadle as td
from made_up_clock import MadeUpClock
from treadle.benchmarking import Policy, measure

QUICK = Policy(max_seconds=0.05, warm_seconds=0.05, max_samples=200)


def test_importing_treadle_does_not_load_it(python):
    done = python("import sys, treadle; print('treadle.benchmarking' in sys.modules)")
    assert done.stdout.split() == ["False"], done.stderr


@pytest.mark.parametrize(
    "device_s, host_s", [(5e-6, 4e-6), (2e-6, 3e-5), (3e-4, 5e-6), (0.02, 1e-5)]
)
def test_the_pace_of_the_host_is_not_in_the_devices_time(device_s, host_s):
    clock = MadeUpClock(mark_s=1e-6)
    found = measure(clock.work(device_s, host_s), clock=clock, scopes=("device", "submission"))
    marks = 1e-6 / found.device.calls_per_sample
    assert found.device.median_s == pytest.approx(device_s + marks, rel=1e-6)
    assert found.device.gaps == 0 and found.device.converged and not found.device.waits_inside
    assert found.submission.median_s == pytest.approx(host_s, rel=1e-6)
    assert found.empty_s == pytest.approx(1e-6)
    assert marks <= 0.01 * max(device_s, 1e-5)  # the clock's own part is small


def test_a_call_that_waits_for_the_device_is_said_to_have_the_hosts_time_in_it():
    clock = MadeUpClock()
    found = measure(clock.work(1e-5, 1e-4, waits=True), clock=clock, scopes=("device",))
    assert found.device.waits_inside and found.device.gaps == len(found.device.samples_s)
    assert found.device.median_s == pytest.approx(1.1e-4)


def test_a_cold_sample_is_one_call_after_a_flush():
    clock = MadeUpClock()
    work = clock.work(1e-5, cold_s=4e-5)
    hot = measure(work, clock=clock, scopes=("device",)).device
    assert clock.flushes == 0 and hot.calls_per_sample > 1
    cold = measure(work, clock=clock, scopes=("device",), cache="cold").device
    assert clock.flushes >= len(cold.samples_s) and cold.calls_per_sample == 1
    assert (hot.cache, cold.cache) == ("hot", "cold")
    assert hot.median_s == pytest.approx(1e-5) and cold.median_s == pytest.approx(5e-5)


def test_warm_up_goes_on_until_two_windows_agree():
    clock, left = MadeUpClock(), iter([0.5, *np.geomspace(1e-3, 1e-4, 40)])
    found = measure(clock.work(lambda: next(left, 1e-4)), clock=clock, scopes=("device",))
    assert found.settled and found.first_call_s >= 0.5
    assert found.device.interval.high == pytest.approx(1e-4)

    clock, step = MadeUpClock(), iter(np.arange(1, 1e6))
    restless = measure(
        clock.work(lambda: 1e-4 * next(step)), clock=clock, scopes=("device",), policy=QUICK
    )
    assert not restless.settled


def test_samples_end_when_the_interval_is_narrow_or_say_that_it_is_not():
    rng = np.random.default_rng(0)
    clock = MadeUpClock()
    steady = measure(
        clock.work(lambda: 1e-2 * rng.normal(1, 1e-3)), clock=clock, scopes=("device",)
    ).device
    assert steady.converged and len(steady.samples_s) <= 30
    wild = measure(
        clock.work(lambda: 1e-2 * rng.lognormal(0, 1)), clock=clock, scopes=("device",)
    ).device
    assert not wild.converged and wild.interval.relative_half_width > 0.005


def test_long_calls_get_enough_samples_for_an_interval():
    clock = MadeUpClock()
    found = measure(clock.work(0.8), clock=clock, scopes=("device",)).device
    assert len(found.samples_s) == 6
    assert found.interval.relative_half_width < 1e-9 and not found.converged


def test_throttled_samples_are_discarded_and_counted():
    slow, full = SimpleNamespace(fraction=0.5), SimpleNamespace(fraction=1.0)
    clock = MadeUpClock(conditions=[slow, full, slow, *[full] * 500])
    found = measure(clock.work(1e-3), clock=clock, scopes=("device",)).device
    assert found.discarded == 2 and len(found.samples_s) >= 20
    clock = MadeUpClock(conditions=[slow] * 100_000)
    found = measure(clock.work(1e-3), clock=clock, scopes=("device",), policy=QUICK).device
    assert len(found.samples_s) == 0 and found.discarded > 0 and not found.converged


def test_end_to_end_moves_inputs_and_results():
    clock = MadeUpClock()
    x = np.ones(1000)
    found = measure(clock.work(1e-3, 1e-5), x, clock=clock, scopes=("end_to_end",)).end_to_end
    assert found.median_s == pytest.approx(1e-3 + 1e-5 + 3e-9 * 8000)
    assert measure(lambda: None, clock=clock, scopes=("end_to_end",)).end_to_end is None
    y, before = np.zeros(500), clock.uploads
    found = measure(
        lambda a, b: None, x, y, clock=clock, inputs=(0,), outputs=(1,), scopes=("end_to_end",)
    ).end_to_end
    assert found.median_s == pytest.approx(1e-9 * 8000 + 2e-9 * 4000)
    assert clock.uploads - before == 2 + len(found.samples_s)


def test_setup_runs_before_every_sample_and_is_in_no_time():
    clock, calls = MadeUpClock(), []

    def setup():
        calls.append(clock.calls)
        clock.host += 0.001

    found = measure(clock.work(1e-5), clock=clock, setup=setup, scopes=("device",)).device
    assert found.calls_per_sample == 1 and found.median_s == pytest.approx(1e-5)
    assert calls == list(range(len(calls)))  # one call after each


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"cache": "warm"}, ValueError, "hot"),
        ({"scopes": ("gpu",)}, ValueError, "end_to_end"),
        ({"scopes": ()}, ValueError, "scopes"),
        ({"where": "moon"}, ValueError, "host"),
        ({"outputs": (3,)}, ValueError, "argument 3 is no array"),
        ({"inputs": (0,)}, ValueError, "argument 1 is an array"),
    ],
)
def test_wrong_options_are_refused_by_name(options, error, words):
    with pytest.raises(error, match=words):
        measure(lambda a, b, c: a, np.ones(3), np.ones(3), 5, clock=MadeUpClock(), **options)


def test_a_value_is_no_work():
    with pytest.raises(TypeError, match="lambda: a \\+ b"):
        measure(td.ones(3) + 1)
    with pytest.raises(ValueError, match="min_samples"):
        Policy(min_samples=3)


def test_pending_operations_are_computed_in_every_call():
    x = np.arange(1000, dtype=np.float32)
    before = td._treadle._generated_launches()
    calls = 0

    def work(a):
        nonlocal calls
        calls += 1
        return {"result": [td.sqrt(a * a + 1)]}

    found = measure(work, x, policy=QUICK)
    assert td._treadle._generated_launches() - before >= calls > len(found.device.samples_s)
    assert found.device.median_s > 0 and found.end_to_end.median_s > 0


def test_a_fault_of_the_work_has_no_time(python):
    done = python(
        "import treadle as td, numpy as np\n"
        "from treadle.benchmarking import measure\n"
        "k = td.RawKernel('extern \"C\" __global__ void f(int* p) { p[1L << 40] = 1; }', 'f')\n"
        "try:\n"
        "    measure(lambda p: k((1,), (1,), (p,)), np.zeros(4, np.int32))\n"
        "except td.CUDAError as error:\n"
        "    print(error.name)\n"
    )
    assert "ILLEGAL_ADDRESS" in done.stdout, done.stderr
    assert "treadle.benchmarking" in sys.modules


def test_a_time_that_there_is_none_of_has_a_reason():
    kernel = td.RawKernel('extern "C" __global__ void f(int* p, int v) { p[0] = v; }', "f")
    y = td.zeros(1, np.int32)
    found = td.benchmark(lambda: kernel((1,), (1,), (y, 7)), policy=QUICK, cache="hot")
    assert "no-end-to-end-time" in {finding.kind for finding in found.findings}
    assert {series.scope for series in found.times} == {"device", "submission"}

    class Full(MadeUpClock):
        def flush_cache(self):
            raise td.OutOfMemoryError("there is no memory left")

    clock = Full()
    found = td.benchmark(clock.work(1e-3), clock=clock, policy=QUICK)
    assert [(series.scope, series.cache) for series in found.times] == [
        ("device", "hot"),
        ("submission", "hot"),
    ]
    assert "no memory left" in str(found)
