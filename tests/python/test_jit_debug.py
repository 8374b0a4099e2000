"""cuda.jit with debug=True: indices, divisions, assert and raise are checked and reported at the launch."""

import gc
import inspect
import itertools
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
import treadle as td
from treadle import cuda


class OddError(Exception):
    """Takes two arguments, which a message alone does not make."""

    def __init__(self, first, second):
        super().__init__(first, second)


def message_of(kind, kernel, *args, grid=1, block=1):
    with pytest.raises(kind) as caught:
        kernel[grid, block](*args)
    assert type(caught.value) is kind
    return str(caught.value)


def line_of(function, text):
    """The line of the file that holds ``text``, the first in the function."""
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


def test_an_index_out_of_bounds_names_array_index_shape_thread_and_line():
    @cuda.jit(debug=True)
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i + 1]

    text = message_of(IndexError, kernel, td.zeros(8), td.zeros(8), grid=2, block=4)
    assert "index 8 is out of bounds for axis 0 of 'x' with shape (8,)" in text
    assert "tid=[3, 0, 0] ctaid=[1, 0, 0]" in text
    line = line_of(kernel.py_func, "x[i + 1]")
    assert f"In function 'kernel', file {__file__}, line {line}" in text


def bad_load(a, i):
    a[0] = a[i + 9]


def bad_store(a, i):
    a[i + 9] = 1


def bad_update(a, i):
    a[i - 99] += 1


def bad_view(a, i):
    a[1:3][i + 2] = 1


def bad_atomic(a, i):
    cuda.atomic.add(a, i + 9, 1)


def bad_shared(a, i):
    s = cuda.shared.array((2, 9), np.float32)
    s[i + 2, 0] = 1


def bad_local(a, i):
    mine = cuda.local.array(5, np.int32)
    a[0] = mine[i + 9]


def bad_constant(a, i):
    a[4] = 1


def bad_in_condition(a, i):
    if i == 0 and a[i + 9] > 0:
        a[0] = 1


def bad_in_loop(a, i):
    k = 0
    while a[k] == 0:
        k += 1


def bad_in_enumerate(a, i):
    for k, x in enumerate(a):
        a[k + 1] = x


def bad_in_choice(a, i):
    a[0] = 1 if i else a[i + 9]


def bad_tuple(a, i):
    a[0] = (1, 2, 3)[i + 9]


@pytest.mark.parametrize(
    "body",
    [bad_load, bad_store, bad_update, bad_view, bad_atomic, bad_shared, bad_local, bad_constant,
     bad_in_condition, bad_in_loop, bad_in_enumerate, bad_in_choice, bad_tuple],
)  # fmt: skip
def test_every_kind_of_index_is_checked(body):
    a = td.zeros(4)
    text = message_of(IndexError, cuda.jit(debug=True)(body), a, 0)
    assert f"In function '{body.__name__}'" in text
    assert "out of bounds" in text or "out of range" in text
    a[:] = 1
    a.get()  # the device goes on


def test_negative_indices_that_wrap_are_no_faults():
    @cuda.jit(debug=True)
    def kernel(a):
        a[-1] = a[-4] + 1
        a[1:][-3] = 5

    a = td.zeros(4)
    kernel[1, 1](a)
    assert a.tolist() == [0, 5, 0, 1]


def test_a_short_circuit_guards_an_index():
    @cuda.jit(debug=True)
    def kernel(a, n):
        i = cuda.threadIdx.x
        if i < n and a[i] == 0:
            a[i] = i
        if i < n < a[i] + 99:
            a[i] += 1

    a = td.zeros(4)
    kernel[1, 32](a, 4)
    assert a.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "how",
    [{"boundscheck": True}, {"debug": True}, None],
    ids=["boundscheck", "debug", "TREADLE_BOUNDSCHECK"],
)
def test_ways_to_ask_for_bounds(how, monkeypatch):
    if how is None:
        monkeypatch.setenv("TREADLE_BOUNDSCHECK", "1")
    text = message_of(IndexError, cuda.jit(**(how or {}))(bad_load), td.zeros(4), 0)
    assert "index 9 is out of bounds for axis 0 of 'a' with shape (4,)" in text
    special = cuda.jit(**(how or {}))(bad_load).specialize(td.zeros(4), 0)
    assert "index 9 " in message_of(IndexError, special, td.zeros(4), 0)


def test_bounds_alone_do_not_divide_as_python():
    @cuda.jit(boundscheck=True)
    def kernel(a):
        a[0] = 1 / a[1]

    a = td.zeros(2)
    kernel[1, 1](a)
    assert a[0].item() == np.inf


REAL = [np.int32, np.uint8, np.int64, np.float32, np.float64]


@pytest.mark.parametrize(
    ("dtype", "symbol"), [*itertools.product(REAL, ["/", "//", "%"]), (np.complex64, "/")]
)
def test_division_by_zero(dtype, symbol):
    source = {"/": lambda x, y: x / y, "//": lambda x, y: x // y, "%": lambda x, y: x % y}[symbol]

    def body(x, out):
        out[0] = source(x[0], x[1])
        out[1] = 7

    x, out = td.asarray(np.array([3, 0], dtype)), td.zeros(2, np.complex128)
    assert "zero" in message_of(ZeroDivisionError, cuda.jit(debug=True)(body), x, out)
    assert out.tolist() == [0, 0]  # the thread ended there
    x[1] = 2
    cuda.jit(debug=True)(body)[1, 1](x, out)
    assert out[0].item() == {"/": 1.5, "//": 1, "%": 1}[symbol]


def test_raise_and_assert_carry_messages_and_numbers():
    @cuda.jit(debug=True)
    def kernel(x, what):
        i = cuda.threadIdx.x
        if what == 0 and i == 2:
            raise ValueError
        if what == 1 and i == 2:
            raise ValueError("no good", 5)
        if what == 2:
            assert i < 2, "too many"
        if what == 3:
            assert x[i] < 2
        if what == 4 and i == 2:
            raise KeyError(f"x[{i}] = {x[i]:.3f}, {x[i] > 1!r:>6}, {i * 1j}")
        if what == 5 and i == 2:
            raise OverflowError(x[i])
        if what == 6:
            raise OddError("one", "two")
        if what == 7:
            raise OddError("one")

    x = td.arange(4.0)
    kernel[1, 4](x, 99)
    where = "tid=[2, 0, 0] ctaid=[0, 0, 0]"
    assert message_of(ValueError, kernel, x, 0, block=4).endswith(where)
    with pytest.raises(ValueError, match="no good") as caught:
        kernel[1, 4](x, 1)
    assert caught.value.args[0].endswith(f"{where}: no good") and caught.value.args[1:] == (5,)
    assert caught.value.tid == (2, 0, 0) and caught.value.ctaid == (0, 0, 0)
    assert message_of(AssertionError, kernel, x, 2, block=4).endswith("too many")
    assert "line" in message_of(AssertionError, kernel, x, 3, block=4)
    text = message_of(KeyError, kernel, x, 4, block=4)
    assert "x[2] = 2.000,   True, 2j" in text
    assert message_of(OverflowError, kernel, x, 5, block=4).endswith(": 2.0")
    assert "one" in message_of(OddError, kernel, x, 6)
    from treadle._jit.report import KernelRuntimeError

    assert "OddError" in message_of(KernelRuntimeError, kernel, x, 7)


def test_failures_in_device_functions_end_the_thread():
    @cuda.jit(device=True)
    def factorial(n):
        if n < 0:
            raise ValueError("negative")
        if n < 2:
            return 1
        return n * factorial(n - 1)

    @cuda.jit(device=True)
    def outer(n):
        return factorial(n) + 1

    @cuda.jit(device=True)
    def nothing(n):
        outer(n)

    @cuda.jit(debug=True)
    def kernel(out):
        i = cuda.threadIdx.x
        nothing(3 - i)
        out[i] = outer(3 - i)

    out = td.zeros(5, np.int64)
    text = message_of(ValueError, kernel, out, block=5)
    assert "negative" in text and "In function 'factorial'" in text and "tid=[4, 0, 0]" in text
    assert out.tolist() == [7, 3, 2, 2, 0]


def test_raise_ends_the_thread_without_debug_too():
    @cuda.jit(device=True)
    def positive(x):
        if x < 0:
            raise ValueError("negative")
        return x

    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        if i == 3:
            raise IndexError
        out[i] = positive(x[i]) + 1

    out = td.zeros(4)
    kernel[1, 4](td.asarray(np.array([1.0, -1, 2, 3])), out)
    assert out.tolist() == [2, 0, 3, 0]


def test_threads_that_have_failed_do_not_hold_barriers():
    @cuda.jit(debug=True)
    def kernel(out):
        i = cuda.threadIdx.x
        s = cuda.shared.array(64, np.int32)
        s[i] = i
        if i % 2:
            raise RuntimeError("odd")
        cuda.syncthreads()
        out[i] = s[62 - i]

    out = td.zeros(64, np.int32)
    message_of(RuntimeError, kernel, out, block=64)
    assert out[::2].tolist() == list(range(62, -1, -2))


def test_nothing_is_lost_over_kernels_streams_and_threads():
    first, second = (cuda.jit(debug=True)(bad_load) for _ in range(2))
    a = td.zeros(16)
    stream = td.cuda.Stream(non_blocking=True)
    for index, fine in ((20, False), (0, True), (20, False), (21, False)):
        for kernel in (first, second):
            for config in ((1, 1), (1, 1, stream), (1, 1)):
                if fine:
                    kernel[config](a, index)
                else:
                    with pytest.raises(IndexError, match=f"index {index + 9} "):
                        kernel[config](a, index)
    found = []

    def work(index):
        for _ in range(20):
            try:
                first[1, 1](a, index)
                found.append((index, None))
            except IndexError as error:
                found.append((index, f"index {index + 9} " in str(error)))

    threads = [threading.Thread(target=work, args=(index,)) for index in (0, 30, 40)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(ok is (None if index == 0 else True) for index, ok in found) and len(found) == 60


def test_other_checks_of_arrays():
    @cuda.jit(debug=True)
    def kernel(a, what, zero):
        if what == 0:
            a[::zero] = 1
        if what == 1:
            for i in range(0, 3, zero):
                a[i] = 1
        if what == 2:
            x, y = a
            a[0] = x + y
        if what == 3:
            a[0:2] = a[1:4]

    a = td.zeros(4)
    for what, text in enumerate(("step", "step", "cannot unpack 4", "broadcast 3")):
        assert text in message_of(ValueError, kernel, a, what, 0)


def test_a_launch_keeps_its_kernel():
    def one(a):
        a[0] += 1

    a = td.zeros(1)
    cuda.jit(one)[1, 1](a)
    kernel = cuda.jit(one)
    launch, alive = kernel[1, 1], weakref.ref(kernel)
    del kernel
    gc.collect()
    launch(a)
    assert a[0].item() == 2
    del launch
    gc.collect()
    assert alive() is None


FAR = """
import treadle as td
from treadle import cuda


@cuda.jit
def far(a):
    i = cuda.grid(1)
    a[i + 10**12] = 1


far[1, 32](td.zeros(4))
cuda.synchronize()
"""


def test_a_fault_names_the_kernel_and_how_to_learn_its_line(tmp_path):
    file = tmp_path / "far.py"
    file.write_text(FAR)

    def run(**environment):
        done = subprocess.run(
            [sys.executable, str(file)],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
        return done.stderr

    told = run(TREADLE_BOUNDSCHECK="0")
    assert (
        "CUDA_ERROR_ILLEGAL_ADDRESS" in told and "kernel 'far' at " in told and "py__" not in told
    )
    assert "with TREADLE_BOUNDSCHECK=1 a bad index in Python is reported with its line" in told
    told = run(TREADLE_BOUNDSCHECK="1")
    assert "IndexError" in told and "line 9" in told and "a[i + 10**12] = 1" in told
