"""The life of a process: a light start, no compiler when everything is cached, a clean end."""

import os
import subprocess
import sys

import pytest

HEAVY = ("pandas", "scipy", "matplotlib", "rich", "torch", "cupy", "numba", "asyncio", "multiprocessing", "unittest",
         "importlib.metadata", "treadle.tour", "treadle.cuda", "treadle.random", "subprocess", "json")  # fmt: skip


def test_import_loads_nothing_heavy_and_opens_no_device(python):
    done = python(
        "import sys, numpy\nbefore = set(sys.modules)\nimport treadle\n"
        "print(*sorted(set(sys.modules) - before))\n"
        "print(treadle._treadle._compiler_loaded())\n"
        "maps = open('/proc/self/maps').read()\n"
        "print([name for name in ('libLLVM', 'libclang', 'libtreadle_cc', 'libnvrtc', 'libcuda.so', 'libcublas')"
        " if name in maps])\n",
        TREADLE_DEVICE="soft:0",
    )
    assert done.returncode == 0, done.stderr
    modules, loaded, libraries = done.stdout.splitlines()
    assert not set(modules.split()) & set(HEAVY)
    assert loaded == "False" and libraries == "[]"


CACHED = """
import numpy as np, treadle as td
k = td.RawKernel('extern "C" __global__ void twice(float* o) { o[threadIdx.x] = 2.0f * threadIdx.x; }', "twice")
o = td.zeros(32, np.float32)
k((1,), (32,), (o,))
x = td.sqrt(td.arange(100, dtype=np.float32) * 3 + 1).sum()
assert abs(float(x) - np.sqrt(np.arange(100) * 3 + 1).sum()) < 0.01 and td.asnumpy(o)[5] == 10
print(td._treadle._compiler_loaded())
"""


def test_second_start_loads_no_compiler(python, software, tmp_path):
    if not software:
        pytest.skip("about the compiler of the software device")
    cache = str(tmp_path / "cache")
    runs = [python(CACHED, TREADLE_CACHE_DIR=cache) for _ in range(2)]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr + runs[1].stderr
    assert [run.stdout.split()[-1] for run in runs] == ["True", "False"]


def test_damaged_cache_entries_are_made_anew(python, tmp_path):
    cache = tmp_path / "cache"
    assert python(CACHED, TREADLE_CACHE_DIR=str(cache)).returncode == 0
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    done = python(CACHED, TREADLE_CACHE_DIR=str(cache))
    assert done.returncode == 0, done.stderr


EXITS = {
    "live arrays and pending work": "x = td.ones(1000); y = td.sqrt(x + 1) * 2",
    "live pool": "x = td.zeros(1 << 20); x.flush(); td.get_default_memory_pool()",  # inducer/pycuda#74
    "running kernel": (
        'k = td.RawKernel(\'extern "C" __global__ void k(float* o, int n) '
        "{ float x = 1; for (int i = 0; i < n; ++i) x = x * 0.9f + 1; o[0] = x; }', 'k')\n"
        "o = td.zeros(1, 'f4'); k((1,), (1,), (o, 3000000))"
    ),
    "objects in a cycle": (
        "class A: pass\n"
        "a = A(); a.a = a; a.x = td.ones(5); a.s = td.cuda.Stream(); a.e = td.cuda.Event()"
    ),
    "a view of a dead name": "v = td.ones((100, 100))[3:5]; v += 1",
    "a daemon thread": (
        "import threading, time\n"
        "def work():\n    while True: (td.ones(10) + 1).flush()\n"
        "threading.Thread(target=work, daemon=True).start(); time.sleep(0.3)"
    ),
    "an error": "try: td.zeros(3) + td.zeros(4)\nexcept ValueError as e: kept = e",
    "inside a stream": "s = td.cuda.Stream(); s.__enter__(); x = td.ones(5) + 1",
}


@pytest.mark.parametrize("name", EXITS)
def test_exit_is_clean(python, name):
    done = python("import treadle as td\n" + EXITS[name] + "\nprint('end')")
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stdout.strip() == "end"
    assert done.stderr == ""


DRAWS = """
import sys, treadle as td
for seed in range(int(sys.argv[1])):
    generator = td.random.default_rng(seed)
    for _ in range(500):
        int(generator.integers(0, 5))
"""


def test_exit_while_the_compiler_is_opened_behind_the_launches_back(software, tmp_path):
    if not software:
        pytest.skip("about the compiler of the software device")
    script = tmp_path / "draws.py"
    script.write_text(DRAWS)

    def run(draws, special):
        cache = {"TREADLE_CACHE_DIR": str(tmp_path / "cache"), "TREADLE_SOFT_SPECIAL": special}
        cache["TREADLE_DEVICE"] = "soft"  # which of "auto" would be told
        done = subprocess.run(
            [sys.executable, script, str(draws)],
            env=dict(os.environ, **cache),
            capture_output=True,
            timeout=120,
        )
        assert done.returncode == 0 and done.stderr == b"", (draws, done.returncode, done.stderr)

    run(1, "never")  # what is left to compile is code for one block size
    for draws in (2, 4, 6, 8):
        run(draws, "when worth it")


def test_fork_without_use_is_fine_and_use_after_fork_is_named(python):
    code = """
import os, treadle as td
float(td.ones(3).sum())
pid = os.fork()
if pid == 0:
    os._exit(7)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), float(td.ones(3).sum()))
"""
    done = python(code)
    assert done.stdout.split() == ["7", "3.0"], done.stderr


def test_threads_launch_at_once(python):
    code = """
import threading, numpy as np, treadle as td
k = td.RawKernel('extern "C" __global__ void k(int* o, int v) { o[blockIdx.x * blockDim.x + threadIdx.x] = v; }', 'k')
bad = []
def work(v):
    for i in range(50):
        o = td.empty(512, np.int32)
        k((4,), (128,), (o, v + i))
        if not (td.asnumpy(o) == v + i).all(): bad.append((v, i))
threads = [threading.Thread(target=work, args=(1000 * t,)) for t in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(bad)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
