"""What the benchmark programs share: clocks, records, tables.

A record is a dictionary: what was measured, the scope in words, the device's evidence words, a value
and its unit, and the goal where the project has set one. Times of the software device are never
given without that name.
"""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def record(what, value, unit, scope, device="", goal=None, **more):
    """One measurement. ``goal`` is (relation, number), with relation "<=" or ">="."""
    row = {"what": what, "value": value, "unit": unit, "scope": scope, "device": device}
    if goal is not None:
        relation, bound = goal
        met = value is not None and (value <= bound if relation == "<=" else value >= bound)
        row |= {"goal": f"{relation} {bound:g}", "met": met}
    return row | more


def wait_for_compiles():
    """What was launched before has its final kernels from the next launch on."""
    from treadle import config

    config.wait_for_compiles()


def warm(work, calls):
    """Calls ``work`` until every kernel is the one that it keeps."""
    from treadle import cuda

    for _ in range(calls):
        kept = work()
    cuda.synchronize()  # launches what is pending
    wait_for_compiles()
    kept = work()
    cuda.synchronize()
    del kept


def median_seconds(work, repeats=5, warm_up=1):
    """Median wall clock of a call."""
    warm(work, warm_up)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def per_call_seconds(work, calls, rounds=5, wait=lambda: None):
    """Best of some rounds of many calls: the time of one call, without waiting for the device inside a round."""
    warm(work, min(calls, 200))
    best = float("inf")
    for _ in range(rounds):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - start) / calls)
    wait()
    return best


def event_seconds(work, repeats=20, warm_up=5):
    """Median time between two events around one call; what the call returns lives until the second event."""
    from treadle import cuda

    warm(work, warm_up)
    times = []
    for _ in range(repeats):
        start, end = cuda.Event(), cuda.Event()
        start.record()
        kept = work()
        end.record()
        end.synchronize()
        times.append(cuda.get_elapsed_time(start, end) / 1e3)
        del kept
    return statistics.median(times)


def fresh_process(code, repeats=1, **environment):
    """Output of a new Python process, best of some runs by the number on its last line."""
    best = None
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **environment},
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        value = float(done.stdout.split()[-1])
        best = value if best is None else min(best, value)
    return best


def compile_program(source, name, flags=()):
    """Compiles a C++ program with OpenMP; returns its path (in a folder that lives as long as the process)."""
    folder = tempfile.TemporaryDirectory(prefix="treadle-bench-")
    compile_program.folders.append(folder)
    path = os.path.join(folder.name, name)
    command = ["c++", "-O3", "-march=native", "-fopenmp", "-std=c++20", *flags, source, "-o", path]
    subprocess.run(command, check=True)
    return path


compile_program.folders = []


def machine():
    """Facts that make a figure comparable."""
    model = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as text:
            model = next(
                (line.partition(":")[2].strip() for line in text if line.startswith("model name")),
                "",
            )
    except OSError:
        pass
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def note(text):
    """A remark that is no record."""
    print(text, file=sys.stderr, flush=True)


def show(rows):
    """An aligned table of records."""
    names = ["what", "value", "unit", "GB/s", "times ours", "goal", "met", "device", "scope"]
    names = [name for name in names if any(name in row for row in rows)]
    cells = [names] + [[_text(row.get(name, "")) for name in names] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def _text(value):
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
