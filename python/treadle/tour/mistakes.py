"""Step 5. What goes wrong, on purpose. Each mistake must be seen, and the process must be able to go on."""

import json
import os
import subprocess
import sys

import numpy as np

import treadle as td

from .context import Output, blocks_for, kernel, random_floats
from .report import Mismatch

BLOCK = 256


def go_on(run):
    """A launch after the mistake: the proof that the process can go on."""
    n = 1000
    a, b = random_floats(n, seed=1), random_floats(n, seed=2)
    out = Output(n, np.float32)
    kernel("vector_add.cu", "vector_add")(
        (4,), (BLOCK,), (td.asarray(a), td.asarray(b), out.array, n)
    )
    run.expect(out.read(), a + b)


def refused(error, words, call):
    """Calls ``call``, which must raise ``error`` with all of ``words`` in its message; returns the message."""
    try:
        call()
    except error as caught:
        message = str(caught)
        missing = [word for word in words if word not in message]
        if missing:
            raise Mismatch(f"refused, but the message does not say {missing}: {message}") from None
        return message
    raise Mismatch(f"was not refused; expected {error}")


def missing_bounds_check(run):
    """The array is the front of a larger one, so that the foreign writes land where they can be counted."""
    n, room = 1000, 1024
    memory = td.full(room + BLOCK, -1, np.float32)
    blocks = blocks_for(n, BLOCK)
    kernel("mistakes.cu", "no_bounds_check")((blocks,), (BLOCK,), (memory[:n], n))
    expected = np.full(room + BLOCK, -1, np.float32)
    expected[: blocks * BLOCK] = 1
    run.expect(memory, expected)
    foreign = int(np.count_nonzero(td.asnumpy(memory)[n:] != -1))
    if foreign != blocks * BLOCK - n:
        raise Mismatch(f"{foreign} foreign elements were written, expected {blocks * BLOCK - n}")
    go_on(run)
    return {"elements": n, "threads": blocks * BLOCK, "foreign writes detected": foreign}


def far_access(run):
    """In a process of its own: after this error an NVIDIA GPU asks for a new process."""
    command = [sys.executable, "-m", "treadle.tour.far_access", run.device.name]
    path = os.pathsep.join(
        [os.path.dirname(os.path.dirname(td.__file__)), os.environ.get("PYTHONPATH", "")]
    )
    child = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
    )
    try:
        seen = json.loads(child.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise Mismatch(
            f"the child ended with status {child.returncode}: {child.stderr[-800:]}"
        ) from None
    for fact in ("first error", "error of the next call"):
        if seen[fact] != "CUDA_ERROR_ILLEGAL_ADDRESS":
            raise Mismatch(f"{fact} was {seen[fact]}, expected CUDA_ERROR_ILLEGAL_ADDRESS")
    if run.device.is_software and seen["after reset"] != "a launch compared equal":
        raise Mismatch(f"after a reset of the software device: {seen['after reset']}")
    go_on(run)
    return seen


def strided_view(run):
    x = td.asarray(random_floats(100, 20))
    out = Output(1000, np.float32)
    launch = kernel("square.cu", "square")
    message = refused(
        (TypeError, ValueError),
        ["'x'", "contiguous"],
        lambda: launch((4,), (BLOCK,), (x[:, :10], out.array, 1000)),
    )
    if not out.untouched():
        raise Mismatch("the refused launch wrote something")
    launch((4,), (BLOCK,), (x[:, :10].copy(), out.array, 1000))
    run.expect(out.read(), (td.asnumpy(x)[:, :10] ** 2).ravel())
    return {"message": message}


def float_for_int(run):
    x, out = td.asarray(random_floats(1000)), Output(1000, np.float32)
    message = refused(
        (TypeError, ValueError), ["'n'", "int"],
        lambda: kernel("square.cu", "square")((4,), (BLOCK,), (x, out.array, 999.5)),
    )  # fmt: skip
    if not out.untouched():
        raise Mismatch("the refused launch wrote something")
    go_on(run)
    return {"message": message}


def block_of_1025(run):
    x, out = td.asarray(random_floats(1025)), Output(1025, np.float32)
    message = refused(
        (ValueError, td.CUDAError), ["1025", "1024"],
        lambda: kernel("square.cu", "square")((1,), (1025,), (x, out.array, 1025)),
    )  # fmt: skip
    if not out.untouched():
        raise Mismatch("the refused launch wrote something")
    go_on(run)
    return {"message": message}


def does_not_compile(run):
    broken = kernel("broken.cu", "broken")
    try:
        broken((1,), (32,), (td.zeros(32, np.float32), 32))
    except td.CompileError as error:
        text = f"{error}\n{error.log}"
    else:
        raise Mismatch("the kernel compiled")
    line = next(
        (line for line in text.splitlines() if "broken.cu" in line and "undeclared_name" in line),
        None,
    )
    if line is None or not ("broken.cu:4" in line or "broken.cu(4)" in line):
        raise Mismatch(f"the message does not show line 4 of broken.cu: {text}")
    go_on(run)
    return {"message": line.strip()}


STEPS = (
    ("mistakes: no bounds check", missing_bounds_check),
    ("mistakes: an access far out of bounds", far_access),
    ("mistakes: a strided view", strided_view),
    ("mistakes: a float for an int", float_for_int),
    ("mistakes: a block of 1025 threads", block_of_1025),
    ("mistakes: a kernel that does not compile", does_not_compile),
)
