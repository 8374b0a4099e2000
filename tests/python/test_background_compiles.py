"""New fused kernels are compiled in the background while their steps are launched one by one.

Whether steps or the fused kernel ran is read from the log of launches; nothing here depends on how long a compiler
takes. Expressions get a number of their own where a test needs one that the process has not seen.
"""

import itertools
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
import treadle as td
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from treadle import _treadle, config, cuda

STEPS = "the fused kernel is being compiled"


@pytest.fixture(scope="module", autouse=True)
def nothing_cached(tmp_path_factory):
    """Kernels that an earlier run of these tests has compiled are not found."""
    before = os.environ.get("TREADLE_CACHE_DIR")
    os.environ["TREADLE_CACHE_DIR"] = str(tmp_path_factory.mktemp("nothing"))
    yield
    if before is None:
        del os.environ["TREADLE_CACHE_DIR"]
    else:
        os.environ["TREADLE_CACHE_DIR"] = before


@pytest.fixture(autouse=True)
def background():
    with config.set(background_compiles=True):
        yield
    config.wait_for_compiles()


def logged(work):
    """What ``work`` returns, flushed, and the kernels that it launched."""
    td.zeros(1).flush()
    _treadle._log_kernels(True)
    _treadle._take_logged_kernels()
    try:
        results = work()
        for result in results if isinstance(results, (list, tuple)) else [results]:
            result.flush()
        return results, _treadle._take_logged_kernels()
    finally:
        _treadle._log_kernels(False)


def in_steps(log):
    return [row["cut"] == STEPS for row in log]


def bits(array):
    """The bits of an array, with one pattern for all NaN: which of two NaN an operation hands on is open."""
    host = td.asnumpy(array) if isinstance(array, td.ndarray) else np.asarray(array)
    if host.dtype.kind == "c":
        host = np.stack([host.real, host.imag])
    if host.dtype.kind in "iub":
        return host.tobytes()
    host = np.where(np.isnan(host), np.ones((), host.dtype) * np.nan, host).astype(host.dtype)
    return host.tobytes()


CHAINS = itertools.permutations(["add", "subtract", "multiply", "maximum", "minimum"])
SEEN = itertools.count()


def new_chain():
    """A chain of six ready-made steps that this process has not launched before."""
    names = next(CHAINS)

    def chain(x, y):
        z = x
        for name in names:
            z = getattr(td, name)(z, y)
        return td.sqrt(abs(z))

    return chain


def alone(chain, x, y):
    with config.set(fusion=False):
        return td.asnumpy(chain(x, y))


def data(n=1000, dtype=np.float32):
    rng = np.random.default_rng(5)
    return td.asarray(rng.uniform(-3, 3, n).astype(dtype)), td.asarray(
        rng.uniform(0.5, 2, n).astype(dtype)
    )


# ---- what runs ----


def test_the_first_call_runs_in_steps_and_a_later_one_fused():
    x, y = data()
    chain = new_chain()
    want = alone(chain, x, y)  # a GPU may have no ready-made kernels: now each step has one
    config.wait_for_compiles()
    before = config.compile_counts()["sources"]["compiled"]

    def first():
        z = chain(x, y)
        assert len(td.explain(z)) == 1  # the plan
        return z

    z, log = logged(first)
    assert in_steps(log) == [True] * 7
    assert [row["operations"][0] for row in log][-2:] == ["absolute", "sqrt"]
    assert bits(z) == bits(want)
    config.wait_for_compiles()
    assert config.compile_counts()["sources"]["compiled"] == before + 1
    z, log = logged(lambda: chain(x, y))
    assert in_steps(log) == [False] and len(log[0]["operations"]) == 7
    assert bits(z) == bits(want)
    assert config.compile_counts()["sources"]["compiled"] == before + 1


def test_steps_are_counted_as_launches():
    x, y = data()
    chain = new_chain()
    alone(chain, x, y)
    before = _treadle._generated_launches()
    chain(x, y).flush()
    assert _treadle._generated_launches() == before + 7
    config.wait_for_compiles()
    chain(x, y).flush()
    assert _treadle._generated_launches() == before + 8


def test_a_kernel_that_has_not_come_serves_many_calls():
    x, y = data()
    chain = new_chain()
    want = alone(chain, x, y)
    for _ in range(50):
        assert bits(chain(x, y)) == bits(want)
    config.wait_for_compiles()
    _, log = logged(lambda: chain(x, y))
    assert in_steps(log) == [False]


def test_off_waits_for_the_compiler():
    x, y = data()
    chain = new_chain()
    want = alone(chain, x, y)
    with config.set(background_compiles=False):
        z, log = logged(lambda: chain(x, y))
    assert in_steps(log) == [False] and bits(z) == bits(want)


def test_off_also_for_a_kernel_that_is_on_its_way():
    x, y = data()
    chains = [new_chain() for _ in range(4)]
    want = [alone(chain, x, y) for chain in chains]
    for chain in chains:
        _, log = logged(lambda: chain(x, y))  # noqa: B023
        assert all(in_steps(log))
    with config.set(background_compiles=False):
        for chain, right in zip(reversed(chains), reversed(want)):
            z, log = logged(lambda: chain(x, y))  # noqa: B023
            assert in_steps(log) == [False] and bits(z) == bits(right)


def test_environment_switches_it_off(python):
    code = "import treadle as td; print(td.config.background_compiles, td.config.show()['background_compiles'])"
    assert python(code, TREADLE_BACKGROUND_COMPILES="0").stdout.split() == ["False", "False"]
    assert python(code, TREADLE_BACKGROUND_COMPILES=None).stdout.split() == ["True", "True"]


def test_a_step_without_a_kernel_is_no_gain():
    x, y = data(dtype=np.float32)
    x, y = x.astype(np.int16), y.astype(np.int16)
    n = next(SEEN)
    _, log = logged(lambda: (x << y) + ((y ^ x) >> td.int16(n % 3)))
    assert in_steps(log) == [False]


def test_reductions_wait():
    x, y = data()
    chain = new_chain()
    want = alone(chain, x, y)
    total, log = logged(lambda: chain(x, y).sum())
    assert in_steps(log) == [False] and log[0]["kind"] == "reduction"
    np.testing.assert_allclose(float(total), want.astype(float).sum(), rtol=1e-5)


def test_a_captured_graph_holds_the_fused_kernel():
    x, y = data()
    chain = new_chain()
    want = alone(chain, x, y)
    cuda.synchronize()
    stream = cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        z = chain(x, y)
        z.flush()
        graph = stream.end_capture()
    assert graph.node_count == 1
    graph.launch(stream)
    stream.synchronize()
    assert bits(z) == bits(want)


def test_compiling_in_the_background_leaves_a_capture_alone():
    x, y = data()
    chains = [new_chain() for _ in range(3)]
    want = [alone(chain, x, y) for chain in chains]
    cuda.synchronize()
    stream = cuda.Stream(non_blocking=True)
    one = td.asarray(np.float32(1))
    (x + one).flush()
    for chain in chains:
        chain(x, y).flush()  # under way while the stream is captured
    cuda.synchronize()
    with stream:
        stream.begin_capture()
        z = x + one
        z.flush()
        config.wait_for_compiles()
        graph = stream.end_capture()
    graph.launch(stream)
    stream.synchronize()
    assert bits(z) == bits(td.asnumpy(x) + np.float32(1))
    for chain, right in zip(chains, want):
        assert bits(chain(x, y)) == bits(right)


# ---- memory ----


def test_large_values_in_between_wait_for_the_compiler(device):
    limits = device.attributes
    clock = limits["ClockRate"] or 1_000_000
    traffic = 0.01 * 2 * 1e3 * clock * limits["MultiProcessorCount"]
    n = int(traffic / 2) + 1024  # of bytes: more than may be written and read again
    x, small = td.ones(n, np.bool_), td.ones(1000, np.bool_)
    x.flush(), small.flush()
    results = {}
    for values in (small, x):
        with config.set(fusion=False):
            (~(~(values ^ values)) ^ values).flush()
        results[values.size] = logged(lambda: ~(~(values ^ values)) ^ values)  # noqa: B023
    assert all(in_steps(results[1000][1]))
    assert in_steps(results[n][1]) == [False]
    assert bool(results[n][0].all())


def test_no_room_for_values_in_between(python):
    """The limit leaves room for operands and result. In a process of its own: the pool must be empty."""
    code = """
import numpy as np, treadle as td
n = 1 << 22
x, y = td.ones(n, np.float32), td.full(n, 2, np.float32)
x.flush(), y.flush()
with td.config.set(fusion=False): x * y, x + y, x - y
td.cuda.synchronize()
pool = td.get_default_memory_pool()
pool.free_all_blocks()
pool.set_limit(pool.used_bytes() + 4 * n)
td._treadle._log_kernels(True)
z = (x * y + x) - y
z.flush()
print([row["cut"] for row in td._treadle._take_logged_kernels()], float(z[7]))
"""
    done = python(code, TREADLE_BACKGROUND_COMPILES="1")
    assert done.stdout.split("\n")[0] == "[''] 1.0", (done.stdout, done.stderr)


# ---- values ----

FLOATS = ["float16", "float32", "float64"]
OTHERS = ["bool", "int8", "uint8", "int32", "int64", "uint64", "complex64", "complex128"]
UNARY = [
    "negative",
    "absolute",
    "square",
    "sqrt",
    "exp",
    "sin",
    "tanh",
    "reciprocal",
    "floor",
    "logical_not",
    "sign",
]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal", "power", "arctan2",
          "floor_divide", "remainder", "bitwise_xor", "logical_and", "copysign"]  # fmt: skip
VIEWS = {
    "whole": lambda a: a,
    "reversed": lambda a: a[::-1],
    "transposed": lambda a: a.T,
    "row": lambda a: a[:1],
    "column": lambda a: a[:, :1],
    "every second": lambda a: a.repeat(2, axis=1)[:, ::2],
    "fortran": lambda a: a.T.copy().T,
}


@st.composite
def chains(draw):
    """(operands as (dtype, view), steps as (operation, numbers of values), number of results)"""
    bf = ["bfloat16"] if _has_bfloat16() else []
    dtypes = draw(st.sampled_from([FLOATS + bf, FLOATS + bf + OTHERS]))
    operands = draw(
        st.lists(
            st.tuples(st.sampled_from(dtypes), st.sampled_from(list(VIEWS))), min_size=1, max_size=3
        )
    )
    steps = []
    for k in range(draw(st.integers(2, 7))):
        name = draw(st.sampled_from(UNARY + BINARY))
        pick = st.integers(-2, len(operands) + k - 1)  # negative: a number
        first = st.integers(0, len(operands) + k - 1)
        steps.append((name, draw(first), draw(pick) if name in BINARY else None))
    return operands, steps, draw(st.integers(1, 3)), draw(st.integers(0, 1 << 30))


def _has_bfloat16():
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        return False
    return True


def compute(operands, steps, results):
    values = list(operands)
    for name, a, b in steps:
        try:
            if b is None:
                value = getattr(td, name)(values[a])
            else:
                value = getattr(td, name)(values[a], 2 - b if b < 0 else values[b])
        except (TypeError, ValueError, OverflowError):  # an operation that its dtypes do not have
            value = values[a]
        values.append(value)
    return [v for v in values[len(operands) :] if isinstance(v, td.ndarray)][-results:]


SPLIT = {"in steps": 0, "fused": 0}


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(chains())
def test_values_have_the_same_bits(program):
    kinds, steps, results, seed = program
    rng = np.random.default_rng(seed)
    operands = []
    for dtype, view in kinds:
        host = (
            rng.uniform(-4, 4, (12, 12))
            if dtype not in ("bool", "uint8", "uint64")
            else rng.integers(0, 4, (12, 12))
        )
        operands.append(VIEWS[view](td.asarray(host).astype(dtype)))
    with config.set(fusion=False):
        want = [bits(v) for v in compute(operands, steps, results)]
    config.wait_for_compiles()
    for _ in range(2):
        got, log = logged(lambda: compute(operands, steps, results))
        SPLIT["in steps" if any(in_steps(log)) else "fused"] += 1
        assert [bits(v) for v in got] == want
        config.wait_for_compiles()


def test_both_ways_were_taken():
    """Of the test before this one: it compares nothing unless steps ran. What earlier runs compiled is not split."""
    if sum(SPLIT.values()) < 50:
        pytest.skip("the test of bits did not run")
    assert SPLIT["in steps"] > 0 and SPLIT["fused"] > 0


def both_ways(work, *operands):
    """Checks the results and arrays of ``work(xp, *arrays)`` against NumPy. True where it ran in steps at first."""
    outcome = []
    for turn in range(3):
        mine, theirs = [td.asarray(a) for a in operands], [a.copy() for a in operands]
        with config.set(fusion=turn > 0):
            got, log = logged(lambda: work(td, *mine))  # noqa: B023
        want = work(np, *theirs)
        for a, b in zip([*got, *mine], [*want, *theirs]):
            np.testing.assert_array_equal(td.asnumpy(a), b)
        config.wait_for_compiles()
        outcome.append(any(in_steps(log)))
    assert outcome[0] is False and outcome[2] is False
    return outcome[1]


def whole(*shape):
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(np.float64)


def test_in_place():
    def work(xp, x, y):
        x += y * 3
        x *= y
        z = x - y
        y -= z
        return x, z

    assert both_ways(work, whole(40, 30), whole(40, 30))


def test_in_place_over_memory_that_is_read_elsewhere():
    def work(xp, x):
        old = x + 1
        x[:] = old * x - 5
        new = x * old
        x -= new
        return old, new

    assert both_ways(work, whole(500))


def test_overlapping_views_in_place():
    def work(xp, b, a):
        b[1:] += b[:-1] * 2
        b[:-1] = b[1:] * 3 - b[:-1]
        a += a.T
        a[::2] *= a[1::2] + 1
        return ()

    both_ways(work, whole(100), whole(20, 20))


def test_values_overwritten_within_a_kernel():
    def work(xp, x, y):
        x[:] = y + 4
        z = x * 2
        x[:] = y - z
        x += 1
        return (z,)

    assert both_ways(work, whole(300), whole(300))


def test_strided_results_and_scalars():
    def work(xp, x, y):
        x[::2] = y[::2] * y[1::2] + 7 - x[1::2]
        x[:, 1:3] *= 2 + y[:, 4:6]
        return xp.where(x > 0, x, y) * (x > 1), xp.full((64, 8), 3.0) * x + y

    both_ways(work, whole(64, 8), whole(64, 8))


def test_bytes_that_are_true():
    raw = td.asarray(np.arange(-3, 13, dtype=np.int8)).view(np.bool_)
    results = []
    for fusion in (False, True):
        with config.set(fusion=fusion):
            results.append(td.asnumpy((raw ^ True) | (raw & raw) ^ raw))
    np.testing.assert_array_equal(*results)


# ---- threads, processes, failures ----


def test_threads_with_chains_of_their_own():
    x, y = data()
    work = [[new_chain() for _ in range(3)] for _ in range(4)]
    want = [[bits(alone(chain, x, y)) for chain in chains] for chains in work]
    wrong = []

    def run(chains, right):
        for _ in range(20):
            for chain, one in zip(chains, right):
                if bits(chain(x, y)) != one:
                    wrong.append(chain)

    threads = [threading.Thread(target=run, args=pair) for pair in zip(work, want)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


PROGRAM = """
import os, sys
import numpy as np, treadle as td
x, y = (td.asarray(np.linspace(a, a + 1, 1000, dtype=np.float32)) for a in (1, 2))
with td.config.set(fusion=False): x + y, x * y, x - y, td.sqrt(x)
def chain(k):
    z = x
    for bit in range(6): z = z * y if k >> bit & 1 else z + y
    return td.sqrt(z) - x
def kernels(work):
    td._treadle._log_kernels(True)
    td._treadle._take_logged_kernels()
    work().flush()
    return len(td._treadle._take_logged_kernels())
"""


def run(code, *args, **environment):
    environment = {
        "TREADLE_BACKGROUND_COMPILES": "1",
        "TREADLE_DEVICE": cuda.Device().name,
        **environment,
    }
    command = [sys.executable, "-c", PROGRAM + code, *map(str, args)]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )


def check(done, *words):
    assert done.returncode == 0 and done.stderr == "", (done.returncode, done.stderr)
    assert done.stdout.split() == [str(word) for word in words]


TWICE = """
before = kernels(lambda: chain(5))
td.config.wait_for_compiles()
print(before, kernels(lambda: chain(5)), kernels(lambda: chain(5)))
"""


@pytest.fixture
def cache(tmp_path):
    """A cache folder that has the kernels of the steps, as the package has them for the software device."""
    folder = tmp_path / "cache"
    folder.mkdir()
    check(run("", TREADLE_CACHE_DIR=str(folder)))
    return folder


def test_a_process_finds_the_kernel_of_another(cache):
    check(run(TWICE, TREADLE_CACHE_DIR=str(cache)), 8, 1, 1)
    check(run(TWICE, TREADLE_CACHE_DIR=str(cache)), 1, 1, 1)


@pytest.mark.parametrize("folder", ["", "/dev/null/cache"])
def test_a_kernel_comes_without_a_cache_folder(folder, software):
    if not software:
        pytest.skip("without a cache folder a GPU's steps may have no kernels")
    count = "print(*(row[way] for way in ('compiled', 'ready') for row in td.config.compile_counts().values()))"
    done = run(TWICE + count, TREADLE_CACHE_DIR=folder)
    if done.stdout.split()[-2:] == ["0", "0"]:
        pytest.skip(
            "this build has no ready-made kernels (TREADLE_READY=OFF), so the steps were compiled too"
        )
    check(done, 8, 1, 1, 1, 1, *done.stdout.split()[-2:])


def test_damaged_entries_are_made_anew(cache):
    check(run(TWICE, TREADLE_CACHE_DIR=str(cache)), 8, 1, 1)
    for path in cache.rglob("*"):
        if path.is_file() and path.parent.name in ("image", "object"):
            path.write_bytes(path.read_bytes()[:-100])
    check(run("", TREADLE_CACHE_DIR=str(cache)))  # the steps'
    check(run(TWICE, TREADLE_CACHE_DIR=str(cache)), 8, 1, 1)


def test_exits_with_compilations_under_way(cache):
    code = """
for k in range(int(sys.argv[1])): chain(k).flush()
print("end", flush=True)
if sys.argv[2] == "raise": raise SystemExit(4)
if sys.argv[2] == "thread":
    import threading
    threading.Thread(target=lambda: [chain(40 + k).flush() for k in range(3)], daemon=True).start()
"""
    for number, way in enumerate(["", "raise", "thread"] * 4):
        folder = cache.parent / f"copy{number}"
        shutil.copytree(cache, folder)
        done = run(code, number, way, TREADLE_CACHE_DIR=str(folder))
        assert done.returncode == (4 if way == "raise" else 0), (number, way, done)
        assert (done.stdout, done.stderr) == ("end\n", ""), (number, way)


def test_a_fork_has_what_is_under_way(cache, software):
    if not software:
        pytest.skip("a process that is forked cannot go on with a GPU")
    code = """
before = [kernels(lambda: chain(k)) for k in range(3)]
td.cuda.synchronize()  # a child's context fails if its device was at work
pid = os.fork()
if pid == 0:
    again = kernels(lambda: chain(2))
    new = kernels(lambda: chain(9))
    td.config.wait_for_compiles()
    ok = new == 8 and again in (1, 8) and [kernels(lambda: chain(k)) for k in (0, 1, 2, 9)] == [1] * 4
    os._exit(0 if ok else 3)
status = os.waitpid(pid, 0)[1]
td.config.wait_for_compiles()
print(*before, status, *[kernels(lambda: chain(k)) for k in range(3)])
"""
    for _ in range(6):
        folder = cache.parent / "forked"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(cache, folder)
        check(run(code, TREADLE_CACHE_DIR=str(folder)), 8, 8, 8, 0, 1, 1, 1)


def test_a_failure_is_raised_by_the_next_call(cache, software, tmp_path):
    """The compiler has the right build ID, so that everything cached is found, and cannot be opened."""
    if not software:
        pytest.skip("about the compiler of the software device")
    maps = run(
        "print(*(line.split()[-1] for line in open('/proc/self/maps') if 'libtreadle.so' in line))"
    )
    beside = os.path.join(os.path.dirname(maps.stdout.split()[0]), "libtreadle_cc.so")
    library = os.environ.get("TREADLE_CC") or beside
    broken = tmp_path / "libtreadle_cc.so"
    with open(library, "rb") as file:
        content = bytearray(file.read())
    content[18] ^= 0xFF  # e_machine
    broken.write_bytes(content)
    code = """
print(kernels(lambda: chain(5)))
td.config.wait_for_compiles()
for _ in range(2):
    try: td.asnumpy(chain(5))
    except NotImplementedError as error: print(sys.argv[1] in str(error))
print(kernels(lambda: x + y))
"""
    environment = {"TREADLE_CACHE_DIR": str(cache), "TREADLE_CC": str(broken)}
    check(run(code, broken, **environment), 8, True, True, 1)
    environment["TREADLE_BACKGROUND_COMPILES"] = "0"
    off = run("chain(5).flush()", **environment)
    assert str(broken) in off.stderr
