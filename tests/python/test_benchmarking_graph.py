"""Scope ``graph``: the device's time of recorded calls."""

import numpy as np
import pytest
import treadle as td
from made_up_clock import MadeUpClock
from treadle import cuda
from treadle.benchmarking import Policy, Refused, benchmark, cli
from treadle.benchmarking.sampling import Sampler

QUICK = Policy(max_seconds=0.05, warm_seconds=0.05, target=0.5)
HALVE = r"""
extern "C" __global__ void halve(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 0.5f;
}"""


@pytest.fixture(scope="module")
def halve():
    return td.RawKernel(HALVE, "halve")


def test_what_the_host_needs_between_calls_is_not_in_it():
    clock = MadeUpClock()
    sampler = Sampler(clock.work(5e-6, host_s=40e-6), clock=clock, policy=QUICK)
    sampler.warm_up()
    assert sampler.replays(None).median_s == pytest.approx(5e-6)


def test_with_a_setup_a_sample_is_one_call():
    clock, prepared = MadeUpClock(), []
    sampler = Sampler(clock.work(5e-6), setup=lambda: prepared.append(1), clock=clock, policy=QUICK)
    sampler.warm_up()
    prepared.clear()
    series = sampler.replays(None)
    assert series.calls_per_sample == 1 and len(prepared) == len(series.samples_s)


def test_a_kernel_and_an_expression(halve):
    x = td.ones(1000, np.float32)
    found = benchmark(
        lambda: halve((4,), (256,), (x, 1000)),
        scopes=("device", "graph"),
        cache="hot",
        policy=QUICK,
    )
    assert [series.scope for series in found.times] == ["device", "graph"]
    assert found.time("graph").median_s > 0 and "graph replays" in str(found)
    assert found.to_dict()["times"][1]["scope"] == "graph"
    found = benchmark(
        "a * 2 + 1", a=x, scopes=("graph",), cache="hot", policy=QUICK, bytes_moved=8000
    )
    assert found.bandwidth(found.time("graph"))[0] > 0


def test_a_replay_computes(halve):
    """The calls of a graph are the work: replayed, they change the data as the calls would."""
    from treadle.benchmarking.replays import record

    x = td.full(8, 2.0**20, np.float32)
    call = lambda: halve((1,), (8,), (x, 8))  # noqa: E731
    call()
    counts = Sampler(call).count()
    before = float(x[0])
    replay = record(call, 3, counts)
    assert float(x[0]) == before
    replay.launch()
    cuda.synchronize()
    assert float(x[0]) == before / 8


def waits(x):
    y = x + 1
    y.flush()
    cuda.synchronize()
    return y


def uploads(x):
    return td.asarray(np.ones(4, np.float32)) + x


def library(x):
    return x.reshape(2, 2) @ x.reshape(2, 2)


@pytest.mark.parametrize("work", [waits, uploads, library])
def test_what_a_graph_cannot_hold_has_no_such_time(work):
    with pytest.raises(Refused) as refused:
        benchmark(work, td.ones(4, np.float32), scopes=("graph",), cache="hot", policy=QUICK)
    assert refused.value.kind == "no-graph" and "leave it out of scopes" in str(refused.value)
    assert float(td.ones(4).sum()) == 4.0  # nothing is left captured
    found = benchmark(
        work, td.ones(4, np.float32), scopes=("device", "graph"), cache="hot", policy=QUICK
    )
    assert [series.scope for series in found.times] == ["device"]
    assert "no-graph" in [finding.kind for finding in found.findings]


def test_work_of_another_stream_is_not_left_out_in_silence(halve):
    x, other = td.ones(8, np.float32), cuda.Stream(non_blocking=True)
    from treadle.benchmarking.replays import record

    def both():
        halve((1,), (8,), (x, 8))
        halve((1,), (8,), (x, 8), stream=other)

    both()
    with pytest.raises(Refused, match="run on another stream"):
        record(both, 2, Sampler(both).count())
    other.synchronize()


def test_an_error_of_the_work_ends_the_recording(halve):
    from treadle.benchmarking.replays import record

    x, calls = td.ones(8, np.float32), []
    halve((1,), (8,), (x, 8))
    counts = Sampler(lambda: halve((1,), (8,), (x, 8))).count()

    def second_fails():
        calls.append(1)
        if len(calls) > 1:
            raise RuntimeError("no more")
        halve((1,), (8,), (x, 8))

    with pytest.raises(Refused, match="no more"):
        record(second_fails, 2, counts)
    assert float((x + 1).sum()) > 0


def test_the_host_has_none():
    with pytest.raises(ValueError, match="computes on the host"):
        benchmark(np.sort, np.ones(3), where="host", scopes=("graph",))


def test_the_command(tmp_path, capsys):
    status = cli.main(
        [
            "-e",
            "a + 1",
            "--size",
            "1000",
            "--graph",
            "--seconds",
            "0.05",
            "--cache",
            "hot",
            "--target",
            "50",
        ]
    )
    assert status in (cli.DONE, cli.UNDECIDED) and "graph replays" in capsys.readouterr().out
    status = cli.main(["-e", "a + 1", "--graph", "--numpy"])
    assert status == cli.WRONG_USE and "--graph is for one function" in capsys.readouterr().err
