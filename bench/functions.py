"""Every array function beside NumPy (beside CuPy on a GPU that has it): one table, slowest first.

    ./dev bench --only functions --device soft
    PYTHONPATH=build/python python bench/functions.py [--match TEXT] [--rounds N] [--size N]

The libraries alternate, and the best of the rounds counts: another process then disturbs both
alike. A ratio is the peer's time by ours; the ratio of processor times (all threads) stands beside it.
"""

import argparse
import time

import common
import functions_table as table
import numpy as np

LEAST = 1 / 3  # slower than this needs a line in docs/arrays.md
SPENT = 1.0  # seconds after which a call gets no further round


def host_data(n):
    rng = np.random.default_rng(1)
    x, y, z = (rng.random(n, np.float32) for _ in range(3))
    side = int(n**0.5)
    A, B = (rng.random((512, 512), np.float32) for _ in range(2))
    i, j = (rng.integers(0, 1000, n, dtype=np.int32) for _ in range(2))
    v = x.copy()
    v[::100] = np.nan
    T = x[: n // 64 * 64].reshape(-1, 64)
    X, Y = (rng.random(10_000_000, np.float32) for _ in range(2))
    return {
        "x": x,
        "y": y,
        "z": z,
        "w": rng.random(n),
        "i": i,
        "j": j,
        "k": rng.integers(0, n, n),
        "b": rng.random(n) < 0.5,
        "u": rng.integers(0, 256, n, dtype=np.uint8),
        "c": (x + 1j * y).astype(np.complex64),
        "v": v,
        "s": np.sort(x),
        "M": x[: side * side].reshape(side, side).copy(),
        "T": T.copy(),
        "kt": np.argsort(T, axis=1),
        "A": A,
        "S": rng.random((2000, 8, 8), np.float32),
        "B": B,
        "P": A @ A.T + 512 * np.eye(512, dtype=np.float32),
        "X": X,
        "Y": Y,
        "XB": X < 0.5,
    }


def names(xp, data, n):
    found = {name: getattr(xp, name) for name in dir(xp) if not name.startswith("__")}
    return found | data | {"n": n}


def clocks(call, wait):
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    for part in result if isinstance(result, (tuple, list)) else (result,):
        if hasattr(part, "flush"):
            part.flush()
    wait()
    return time.perf_counter() - wall, time.process_time() - cpu


def compare(calls, wait, rounds):
    """Best (wall, processor) seconds of each of the calls, which alternate."""
    best = [[float("inf")] * 2 for _ in calls]
    clocks(calls[0], wait)  # compiles
    common.wait_for_compiles()
    clocks(calls[0], wait)
    spent = 0.0
    for turn in range(rounds):
        for times, call in zip(best, calls):
            wall, cpu = clocks(call, wait)
            spent += wall
            times[:] = min(times[0], wall), min(times[1], cpu)
        if turn >= 2 and spent > SPENT:
            break
    return best


def expressions(match):
    rows = [(kind, call) for kind, text in table.TABLES.items() for call in table.split_calls(text)]
    rows += [("random", f"rng.{call}") for call in table.split_calls(table.RANDOM)]
    rows = [("goals", call) for call in table.GOALS] + [r for r in rows if r[1] not in table.GOALS]
    return [(kind, call) for kind, call in rows if not match or any(m in call for m in match)]


def peer_of(device):
    """(name, module, its arrays, how to wait)"""
    if device.is_software:
        return "NumPy", np, lambda a: a.copy(), lambda: None
    try:
        import cupy
    except ImportError:
        return None
    return "CuPy", cupy, cupy.asarray, cupy.cuda.Device().synchronize


def measured(device, match=(), rounds=9, size=1_000_000):
    """(kind, call, ours, peer's), each pair (wall, processor) seconds."""
    import treadle as td

    peer = peer_of(device)
    if peer is None:
        print("functions: SKIPPED(CuPy is not installed)")
        return
    _, xp, copy, peer_wait = peer
    host = host_data(size)
    own = names(td, {k: td.asarray(v) for k, v in host.items()}, size)
    own["rng"] = td.random.default_rng(1)
    other = names(xp, {k: copy(v) for k, v in host.items()}, size)
    other["rng"] = xp.random.default_rng(1)

    def wait():
        device.synchronize()
        peer_wait()

    for kind, call in expressions(match):
        code = compile(f"lambda: {call}", call, "eval")
        try:
            calls = [eval(code, own), eval(code, other)]
            ours, theirs = compare(calls, wait, rounds)
        except Exception as error:  # a function that one of the libraries lacks or spells otherwise
            print(f"{call}: SKIPPED({type(error).__name__}: {str(error)[:90]})")
            continue
        yield kind, call, ours, theirs


def run(device, **options):
    peer = peer_of(device)
    rows = []
    for kind, call, ours, theirs in measured(device, **options):
        goal = table.GOALS.get(call, LEAST)
        rows.append(
            common.record(
                f"functions: {call}",
                theirs[0] / ours[0],
                "x",
                f"{kind}; best of rounds, wall clock; the times of {peer[0]} by ours",
                device.evidence,
                (">=", goal) if device.is_software else None,
                ms=1e3 * ours[0],
                peer_ms=1e3 * theirs[0],
                processor=theirs[1] / max(ours[1], 1e-9),
            )
        )
    return sorted(rows, key=lambda row: row["value"])


def main():
    from treadle import cuda

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--match", action="append", default=[], help="only calls with this text")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=int, default=1_000_000)
    options = parser.parse_args()
    print(f"{'wall':>6} {'cpu':>6} {'ms':>9} {'peer ms':>9}")
    for row in run(cuda.Device(), **vars(options)):
        print(
            f"{row['value']:6.2f} {row['processor']:6.2f} {row['ms']:9.3f} {row['peer_ms']:9.3f} "
            f"{'' if row.get('met', True) else '<'} {row['what'][11:]}"
        )


if __name__ == "__main__":
    main()
