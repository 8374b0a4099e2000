"""Printed kernels on disk: what is found again, what must not be."""

import os
import stat

import pytest

PROGRAM = """
import sys
import numpy as np
import treadle as td
from treadle import cuda
sys.path.insert(0, {folder!r})
import kernels
out = td.zeros(1)
kernels.kernel[1, 1](out)
print(out.item(), "treadle._jit.compiler" in sys.modules)
"""

KERNELS = """
from treadle import cuda
import settings
FACTOR = 3
def inner(x):
    return x * FACTOR + settings.OFFSET
@cuda.jit
def kernel(out):
    out[0] = inner(2)
"""


@pytest.fixture
def run(python, tmp_path):
    """Runs the program with these two files; answers its value, and whether the compiler was loaded."""
    count = iter(range(100))

    def run(kernels=KERNELS, offset=0):
        for name, text in (("kernels.py", kernels), ("settings.py", f"OFFSET = {offset}\n")):
            path = tmp_path / name
            path.write_text(text)
            os.utime(path, (1e9 + next(count),) * 2)  # so that no stale .pyc is taken for it
        done = python(
            PROGRAM.format(folder=str(tmp_path)), TREADLE_CACHE_DIR=str(tmp_path / "cache")
        )
        assert done.returncode == 0, done.stderr
        value, loaded = done.stdout.split()
        return float(value), loaded == "True"

    return run


def test_a_kernel_is_found_again(run):
    assert run() == (6, True)
    assert run() == (6, False)


def test_what_a_kernel_reads_is_part_of_its_key(run):
    assert run() == (6, True)
    assert run(KERNELS.replace("FACTOR = 3", "FACTOR = 4")) == (8, True)
    assert run(KERNELS.replace("x * FACTOR", "x - FACTOR")) == (-1, True)
    assert run(offset=10) == (16, True)
    assert run(offset=10) == (16, False)


def test_lines_are_part_of_the_key(run):
    assert run() == (6, True)
    assert run("\n" + KERNELS) == (6, True)


def test_a_damaged_entry_is_written_anew(run, tmp_path):
    assert run() == (6, True)
    entries = [p for p in (tmp_path / "cache").rglob("*") if p.is_file() and "python" in p.parts]
    assert entries
    for path in entries:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert run() == (6, True)
    assert run() == (6, False)
