"""Two pieces of work in turns, and saved runs against each other."""

import json

import numpy as np
import pytest
import treadle as td
from made_up_clock import MadeUpClock
from treadle.benchmarking import Policy, compare, on_host
from treadle.benchmarking.comparison import verdict
from treadle.benchmarking.measurement import benchmark
from treadle.benchmarking.saved import as_text, compare_saved, read
from treadle.benchmarking.statistics import MedianInterval

QUICK = Policy(max_seconds=0.05, warm_seconds=0.05, max_samples=100)
X = np.ones(10)


def race(a_s, b_s, **options):
    clock = MadeUpClock()
    options = {"clocks": (clock, clock), "scopes": ("device",), "policy": QUICK, **options}
    return compare(clock.work(a_s), clock.work(b_s), X, **options)


def test_a_ratio_says_which_is_faster_and_by_how_much():
    found = race(3e-4, 1e-4)
    assert found.ratio().interval.median == pytest.approx(3) and found.ratio().verdict == "b"
    assert race(1e-4, 3e-4).ratio().verdict == "a"
    assert "b is 3 times as fast" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["ratios"][0]["verdict"] == "b"


def test_noise_of_the_machine_that_slows_both_does_not_decide():
    rng, state = np.random.default_rng(0), {"slow": 1.0, "left": 0}

    def machine(base):
        def seconds():
            if state["left"] == 0:
                state.update(slow=rng.choice([1, 1, 4]), left=20)
            state["left"] -= 1
            return base * state["slow"] * rng.normal(1, 0.002)

        return seconds

    assert race(machine(1.1e-2), machine(1e-2), policy=Policy(max_seconds=2)).ratio().verdict == "b"
    assert race(machine(1e-2), machine(1e-2), policy=Policy(max_seconds=2)).ratio().verdict != "b"


def test_undecided_and_the_same_are_answers():
    assert verdict(MedianInterval(1.02, 0.95, 1.1, 0.95), 0.01) == "undecided"
    assert verdict(MedianInterval(1.002, 0.995, 1.008, 0.95), 0.01) == "same"
    assert verdict(MedianInterval(1.004, 1.001, 1.009, 0.95), 0.01) == "same"
    assert verdict(MedianInterval(1.02, 1.005, 1.04, 0.95), 0.01) == "b"
    assert verdict(MedianInterval(0.9, 0.8, 0.99, 0.95), 0.0) == "a"
    assert race(1e-4, 1e-4).ratio().verdict == "same"
    decided = 0
    for seed in range(30):  # 5 % of the intervals may miss
        rng = np.random.default_rng(seed)
        found = race(lambda r=rng: 0.01 * r.lognormal(), lambda r=rng: 0.01 * r.lognormal())
        decided += found.ratio().verdict in "ab"
    assert decided <= 5


def test_both_scopes_begin_and_end_at_the_same_place():
    found = compare(
        on_host(lambda x: np.sqrt(x * x + 1)),
        lambda x: td.sqrt(x * x + 1),
        np.ones(5000, np.float32),
        policy=QUICK,
    )
    assert [row.scope for row in found.ratios] == ["device", "end_to_end"]
    assert found.places[0]["evidence"] == "CPU" and found.places[1]["evidence"] in (
        "software device",
        "NVIDIA GPU",
    )
    assert found.checked.startswith("equal to each other")


def test_both_get_the_same_arguments():
    seen = []

    def look(kind):
        return lambda x: seen.append((kind, type(x).__module__, x.shape)) or x + 1

    compare(on_host(look("host")), look("device"), X, policy=QUICK, scopes=("device",))
    places = {(kind, module.partition(".")[0]) for kind, module, _ in seen}
    assert places == {("host", "numpy"), ("device", "treadle")}


@pytest.mark.parametrize(
    "options, words", [({"scopes": ("submission",)}, "end_to_end"), ({"margin": 2}, "margin")]
)
def test_wrong_options_of_compare(options, words):
    with pytest.raises(ValueError, match=words):
        race(1e-4, 1e-4, **options)


def test_arrays_of_the_device_are_for_both_and_stay_as_they_are():
    host = np.arange(1000, dtype=np.float32)
    x = td.asarray(host, blocking=True)
    add = td.RawKernel('extern "C" __global__ void add(float* x) { x[threadIdx.x] += 1; }', "add")

    def in_place(a):
        add((1,), (1000,), (a,))

    def on_cpu(a):
        a += 1

    for other in (in_place, on_host(on_cpu)):
        found = compare(in_place, other, x, policy=QUICK, scopes=("device",))
        assert found.checked.startswith("equal to each other")
        assert np.array_equal(td.asnumpy(x), host)
    compare(on_host(on_cpu), on_host(on_cpu), host, policy=QUICK)
    assert host[1] == 1


# ---- saved ----


def saved(seconds, spread=1e-3, name="w", seed=0, **options):
    rng, clock = np.random.default_rng(seed), MadeUpClock()
    found = benchmark(
        clock.work(lambda: seconds * rng.normal(1, spread)), X, clock=clock, name=name, policy=QUICK, cache="hot",
        scopes=("device",), **options,
    )  # fmt: skip
    return json.loads(found.json())


@pytest.mark.parametrize(
    "old, new, found",
    [(1e-3, 1.2e-3, "slower"), (1.2e-3, 1e-3, "faster"), (1e-3, 1.0005e-3, "same")],
)
def test_saved_runs(old, new, found):
    rows = compare_saved([saved(old)], [saved(new, seed=1)])
    assert [row.verdict for row in rows] == [found]


def test_overlapping_intervals_are_undecided():
    rows = compare_saved([saved(1e-3, 0.3)], [saved(1.03e-3, 0.3, seed=1)])
    assert rows[0].verdict == "undecided" and "overlap" in rows[0].reason


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda r: r["device"].update(evidence="NVIDIA GPU"), "kind of device"),
        (lambda r: r["device"].update(description="another"), "another device"),
        (lambda r: r["arguments"][0].update(dtype="float32"), "dtype of argument 0"),
        (lambda r: r["arguments"][0].update(shape=[11]), "shape of argument 0"),
        (lambda r: r["results"].clear(), "1 and 0 results"),
        (lambda r: r["times"][0].update(scope="end_to_end"), "has no such time"),
        (lambda r: r["times"][0].update(cache="cold"), "has no such time"),
        (lambda r: r["times"][0].update(samples=[]), "no sample"),
        (lambda r: r.update(name="other"), "no measurement of this name"),
        (lambda r: r.update(where="host"), "another place"),
    ],
)
def test_runs_of_different_things_are_refused_with_the_reason(change, words):
    old, new = saved(1e-3), saved(1e-3)
    change(new)
    rows = compare_saved([old], [new])
    assert {row.verdict for row in rows} == {"refused"}
    assert words in " ".join(row.reason for row in rows)
    assert words in as_text(rows, [old], [new])


def test_what_changed_around_the_work_is_said():
    old, new = saved(1e-3), saved(1e-3)
    new["record"]["versions"] = {"treadle": "9"}
    assert "! versions: " in as_text(compare_saved([old], [new]), [old], [new])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        '{"measurements": [{}]}',
        '{"format": "x"}',
        '{"format": "treadle-benchmark-1", "comparisons": []}',
    ],
)
def test_a_file_that_is_no_record_is_named(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"x\.json is no"):
        read(path)
