"""How far ``td.benchmark`` itself can be trusted: the spread of its median, and the same kernels timed by hand.

For kernels of several lengths: ten measurements of each, and between them events around replays of a graph that
holds many launches of the kernel, the way to time by hand that has no host in it. Goals, on a GPU: medians within 1 %
of one another for kernels above 20 us, and those of scope graph within 1 % of the ones by hand.
"""

import statistics
import time

import common
import numpy as np
import treadle as td
from treadle import cuda
from treadle.benchmarking import Policy, benchmark
from treadle.benchmarking.clock import DeviceClock
from treadle.benchmarking.record import environment

SOURCE = r"""
extern "C" __global__ void axpy(float s, const float* x, float* y, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
    y[i] += s * x[i];
}
extern "C" __global__ void chain(float* x, int steps) {
  float v = x[threadIdx.x];
  for (int k = 0; k < steps; ++k) v = v * 0.999f + 0.001f;
  x[threadIdx.x] = v;
}
"""
POLICY = Policy(target=0.002, max_seconds=0.2, warm_seconds=0.2)
LAUNCHES = 20  # of a graph


def cases(software):
    """(name, launch): memory-bound and latency-bound kernels."""
    module = td.RawModule(code=SOURCE)
    axpy, chain = module.get_function("axpy"), module.get_function("chain")
    scale = 16 if software else 1
    for exponent in (20, 24, 26, 28):
        n = (1 << exponent) // scale
        x, y = td.ones(n, np.float32), td.zeros(n, np.float32)
        blocks = min(4096, max(1, n // 256))
        yield (
            f"axpy 2^{exponent}",
            lambda x=x, y=y, n=n, b=blocks: axpy((b,), (256,), (1e-9, x, y, n)),
        )
    v = td.ones(256, np.float32)
    for steps in (5_000, 50_000):
        yield f"chain {steps}", lambda s=steps // scale: chain((1,), (256,), (v, s))


def graph_of(launch, count=LAUNCHES):
    stream = cuda.Stream(non_blocking=True)
    cuda.synchronize()
    with stream:
        stream.begin_capture()
        for _ in range(count):
            launch()
        graph = stream.end_capture()
        graph.upload(stream)
    return graph, stream


def replay_seconds(graph, stream, seconds=0.15, count=LAUNCHES):
    """The median time of one launch: events around a replay, with another replay in front so that no host is in it."""
    times, stop = [], time.perf_counter() + seconds
    while len(times) < 7 or time.perf_counter() < stop:
        start, end = cuda.Event(), cuda.Event()
        graph.launch(stream)
        start.record(stream)
        graph.launch(stream)
        end.record(stream)
        end.synchronize()
        times.append(cuda.get_elapsed_time(start, end) * 1e-3 / count)
    return statistics.median(times)


def run(device, runs=10):
    rows, scope = [], f"hot; {runs} runs of each in turns"
    scopes = ("device", "graph")
    for name, launch in cases(device.is_software):
        common.note(f"  {name}")
        launch()
        cuda.synchronize()
        graph, stream = graph_of(launch)
        medians, replayed, by_hand = [], [], []
        for _ in range(runs):
            found = benchmark(launch, cache="hot", scopes=scopes, policy=POLICY)
            medians.append(found.median_s)
            replayed.append(found.time("graph").median_s)
            by_hand.append(replay_seconds(graph, stream))
        middle, other = statistics.median(medians), statistics.median(by_hand)
        own = statistics.median(replayed)
        judged = not device.is_software and middle > 20e-6
        spread = (max(medians) - min(medians)) / middle
        facts = {
            "medians_s": medians, "replayed_s": replayed, "by_hand_s": by_hand,
            "calls_per_sample": found.time().calls_per_sample, "gaps": found.time().gaps, "empty_s": found.empty_s,
        }  # fmt: skip
        rows.append(
            common.record(
                f"tool: {name}, its median", 1e6 * middle, "us", scope, device.evidence, **facts
            )
        )
        rows.append(
            common.record(
                f"tool: {name}, spread of medians", 100 * spread, "%", "largest less smallest over the median",
                device.evidence, ("<=", 1) if judged else None,
            )
        )  # fmt: skip
        rows.append(
            common.record(
                f"tool: {name}, against graph replays by hand", 100 * abs(own / other - 1), "%",
                "scope graph, medians over all runs", device.evidence, ("<=", 1) if judged else None, ratio=own / other,
            )
        )  # fmt: skip
        rows.append(
            common.record(
                f"tool: {name}, in a stream", middle / other, "ratio", "scope device over graph replays by hand",
                device.evidence,
            )
        )  # fmt: skip
    return rows + clock_rows(device)


def clock_rows(device):
    """What a reading of the clocks costs, and what the machine was like."""
    watch = DeviceClock().watch
    seconds = None if watch.problem else 1e6 * common.median_seconds(watch._read, 20)
    facts = environment(device, watch, POLICY)
    return [
        common.record(
            "tool: a reading through NVML", seconds, "us", "host", device.evidence, record=facts
        )
    ]
