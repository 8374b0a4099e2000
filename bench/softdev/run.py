"""The software device against C++ with OpenMP and against PoCL: ``./dev bench softdev``.

Runs bench_softdev (C++: the sixteen cases, launches, memory, cost against threads), measures compiling in fresh
processes, and writes ``bench/results/softdev.json``.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import common  # noqa: E402
import sources  # noqa: E402

PEERS = ("openmp", "softdev", "pocl", "best_on_cpu", "one_core")
ONE_CORE = ("TREADLE_SOFT_WORKERS", "OMP_NUM_THREADS", "POCL_MAX_PTHREAD_COUNT")
DEVICE = "software device"
CASE_SCOPE = "a pass, awaited; best of 15 rounds that alternate with the peers after a pause"


def run_program(program, arguments, **environment):
    """Lines of JSON that the program prints."""
    done = subprocess.run(
        [program, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TREADLE_DEVICE": "soft", **environment},
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join([program, *arguments])} ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def case_records(rows):
    """Records of the cases, and the means over them."""
    records, against = [], {"openmp": [], "pocl": []}
    for row in rows:
        name = row["case"]
        for peer, ratios in against.items():
            if peer in row:
                ratios.append(row[peer] / row["softdev"])
        times = {peer: row[peer] for peer in PEERS if peer in row}
        entry = {"milliseconds": times, "work": row["work"], "right": row["right"]}
        ratio = row["openmp"] / row["softdev"]
        records.append(
            common.record(
                f"{name}: speed against OpenMP",
                ratio,
                "x",
                CASE_SCOPE,
                DEVICE,
                (">=", 0.5),
                **entry,
            )
        )
        if "pocl" in row:
            ratio = row["pocl"] / row["softdev"]
            records.append(
                common.record(
                    f"{name}: speed against PoCL", ratio, "x", CASE_SCOPE, DEVICE, (">=", 1)
                )
            )
        if "one_core" in row:
            records.append(
                common.record(
                    f"{name}: all cores against scalar code on one",
                    row["one_core"] / row["softdev"],
                    "x",
                    CASE_SCOPE,
                    DEVICE,
                )
            )
    for peer, goal in (("openmp", 1.0), ("pocl", 1.5)):
        if against[peer]:
            what = f"geometric mean of {len(against[peer])} against {peer}"
            mean = geometric_mean(against[peer])
            records.append(common.record(what, mean, "x", CASE_SCOPE, DEVICE, (">=", goal)))
    return records


def show_cases(rows):
    """The table for people: milliseconds, and the software device's speed as a multiple of the peers'."""
    print(
        f"{'case':18} {'OpenMP':>9} {'PoCL':>9} {'softdev':>9}  {'x OpenMP':>8} {'x PoCL':>8}  another way on a CPU"
    )
    for row in rows:
        ours, theirs, pocl = row["softdev"], row["openmp"], row.get("pocl")
        columns = [
            f"{row['case']:18}",
            f"{theirs:9.3f}",
            f"{pocl:9.3f}" if pocl else " " * 8 + "-",
            f"{ours:9.3f} ",
            f"{theirs / ours:8.2f}",
            f"{pocl / ours:8.2f}" if pocl else " " * 7 + "-",
            f" {row['best_on_cpu']:.3f}" if "best_on_cpu" in row else "",
        ]
        print(" ".join(columns).rstrip() + ("" if row["right"] else "  WRONG"))


def first_launches(program):
    """Compile, load, launch and await, in a fresh process: nothing cached, then cached on disk."""
    records = []
    goals = {10: 60, 200: 150, 2000: 5000}
    with tempfile.TemporaryDirectory(prefix="treadle-bench-") as folder:
        for lines, goal in goals.items():
            file = os.path.join(folder, f"{lines}.cu")
            with open(file, "w", encoding="utf-8") as out:
                out.write(sources.kernel(lines))
            cold, warm = math.inf, math.inf
            for attempt in range(5 if lines < 2000 else 2):
                cache = os.path.join(folder, f"cache-{lines}-{attempt}")
                run = ["--first", file, "work"]
                cold = min(cold, run_program(program, run, TREADLE_CACHE_DIR=cache)[-1]["value"])
                warm = min(warm, run_program(program, run, TREADLE_CACHE_DIR=cache)[-1]["value"])
            scope = "compile, load, launch and await in a fresh process, best of the runs"
            what = f"first launch of a kernel of {lines} lines"
            records.append(
                common.record(f"{what}, nothing cached", cold, "ms", scope, DEVICE, ("<=", goal))
            )
            goal = ("<=", 3) if lines < 2000 else None
            records.append(
                common.record(f"{what}, cached on disk", warm, "ms", scope, DEVICE, goal)
            )
    return records


FACT_GOALS = {
    "empty launch of one block, C++": ("<=", 2),
    "memory beyond the arrays, grid of 1e6 blocks": ("<=", 64),
}


def facts(program):
    return [
        common.record(
            row["what"],
            row["value"],
            row["unit"],
            "best of the runs",
            DEVICE,
            FACT_GOALS.get(row["what"]),
        )
        for row in run_program(program, ["--facts"])
    ]


def empty_launch_from_python():
    import treadle as td
    from treadle import cuda

    cuda.Device("soft:0").use()
    empty = td.RawKernel('extern "C" __global__ void empty() {}', "empty")
    seconds = common.per_call_seconds(
        lambda: empty((1,), (1,), ()), 1000, rounds=30, wait=cuda.synchronize
    )
    scope = "host time of one call, without waiting inside; best of 30 rounds of 1000"
    what = "empty launch of one block, Python"
    return common.record(what, seconds * 1e6, "us", scope, DEVICE, ("<=", 5))


def main():
    parser = argparse.ArgumentParser(prog="./dev bench softdev", description=__doc__)
    parser.add_argument("--program", required=True, help="the built bench_softdev")
    parser.add_argument("--only", action="append", default=[], help="this case (may be repeated)")
    parser.add_argument(
        "--busy",
        action="store_true",
        help="one core and processor time instead of all cores and wall clock: for a busy machine",
    )
    parser.add_argument("--json", default=os.path.join(common.ROOT, "bench/results/softdev.json"))
    options = parser.parse_args()
    load = os.getloadavg()[0]
    arguments = [os.path.join(HERE, "kernels"), *options.only]
    cores = dict.fromkeys(ONE_CORE, "1") if options.busy else {}
    if options.busy:
        arguments.append("--processor-time")
    head, *rows = run_program(options.program, arguments, **cores)
    show_cases(rows)
    records = case_records(rows)
    if not options.only:
        records += first_launches(options.program) + facts(options.program)
        records.append(empty_launch_from_python())
    common.show(records)
    if options.only:
        return 0
    result = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": {**common.machine(), "load_before": load},
        "device": {"name": "soft:0", "description": head["device"], "evidence": DEVICE},
        "pocl": head["pocl"],
        "clock": "processor time, one core" if options.busy else "wall clock, all cores",
        "records": records,
    }
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    print(f"written: {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
