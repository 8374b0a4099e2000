"""The CUDA array interface: what device arrays say of themselves, and what is done with other libraries' arrays.

Arrays of the software device do not have it, as their memory is not CUDA's. Here only Treadle reads what Treadle says,
so they get it for a test, and everything runs on both kinds of device.
"""

import contextlib
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import treadle as td
from treadle import _treadle, cuda
from treadle._jit import settings
from treadle.cuda import types as ty

RECORD = np.dtype([("a", np.int8), ("b", np.float64)], align=True)


@pytest.fixture(autouse=True)
def interfaces(monkeypatch, software):
    if software:
        shown = property(_treadle._interface_facts)
        monkeypatch.setattr(td.ndarray, "__cuda_array_interface__", shown)


class Foreign:
    """An array of another library."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


@contextlib.contextmanager
def held_up(stream):
    """Work of a stream that does not end before the function that is given is called."""
    gate = threading.Event()
    stream.launch_host_func(lambda _: gate.wait())
    try:
        yield gate.set
    finally:
        gate.set()
        stream.synchronize()


def in_thread(action):
    """(thread, list that gets the result) of an action that may wait."""
    found = []
    thread = threading.Thread(target=lambda: found.append(action()))
    thread.start()
    return thread, found


# ---- what arrays say ----


def named(array):
    return array.__cuda_array_interface__["stream"]


MAKERS = {
    "device": lambda **how: cuda.device_array(10, **how),
    "strided": lambda **how: cuda.device_array((4, 6), **how)[1:, ::2],
    "uploaded": lambda **how: cuda.to_device(np.arange(5), **how),
    "mapped": lambda **how: cuda.mapped_array(10, **how),
    "managed": lambda **how: cuda.managed_array(10, **how),
    "part of mapped": lambda **how: cuda.mapped_array(10, **how)[2:5],
    "records": lambda **how: cuda.device_array(3, RECORD, **how),
    "one record": lambda **how: cuda.to_device(np.zeros(3, RECORD), **how)[1],
}


@pytest.mark.parametrize("kind", MAKERS)
def test_the_stream_of_an_array_is_named(kind):
    stream = cuda.stream()
    assert named(MAKERS[kind]()) is None
    assert named(MAKERS[kind](stream=stream)) == int(stream) != 0
    assert named(MAKERS[kind](stream=cuda.default_stream())) == 1


def test_arrays_of_no_stream_name_the_current_one():
    x, stream = td.arange(4), cuda.Stream(non_blocking=True)
    assert named(x) == 1
    with stream:
        assert named(x) == named(td.arange(4) + 1) == stream.ptr


def test_nothing_is_to_be_waited_for_when_no_stream_is_named():
    x, stream = cuda.to_device(np.zeros(3)), cuda.Stream(non_blocking=True)

    def read():
        with stream:
            return named(x), stream.done

    with held_up(stream) as go_on:
        thread, found = in_thread(read)
        thread.join(0.05)
        assert thread.is_alive()
        go_on()
        thread.join()
    assert found == [(None, True)]


def test_a_named_stream_waits_for_the_current_one():
    current, own = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    x = cuda.to_device(np.zeros(3), stream=own)
    own.synchronize()
    with held_up(current) as go_on:
        with current:
            assert named(x) == own.ptr
        assert not own.done
        go_on()
        own.synchronize()


def test_inside_of_a_capture_its_stream_is_named():
    x, stream = cuda.to_device(np.zeros(3)), cuda.Stream(non_blocking=True)
    y = x.bind(cuda.Stream(non_blocking=True))
    with stream:
        stream.begin_capture()
        try:
            assert named(x) == named(y) == stream.ptr
        finally:
            stream.end_capture()


def test_facts_of_records():
    x = cuda.to_device(np.zeros((2, 3), RECORD))
    face = x[1:].__cuda_array_interface__
    assert face["shape"] == (1, 3) and face["typestr"] == "|V16" and face["descr"] == RECORD.descr
    assert face["data"] == (x.__cuda_array_interface__["data"][0] + 3 * RECORD.itemsize, False)
    assert "descr" not in cuda.to_device(np.zeros(2, "M8[s]")).__cuda_array_interface__
    assert cuda.device_array(0, RECORD).__cuda_array_interface__["data"] == (0, False)
    assert cuda.device_array(0).__cuda_array_interface__["data"] == (0, False)


# ---- arrays over the memory of others ----

VIEWS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1, 1::2],
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, "M8[ms]", RECORD], ids=str)
def test_another_librarys_array_becomes_a_device_array(view, dtype):
    host = np.zeros((3, 4), dtype)
    host.reshape(-1).view(np.uint8)[...] = np.arange(host.nbytes) % 100
    mine = cuda.to_device(host)
    foreign = Foreign(VIEWS[view](mine))
    found = cuda.as_cuda_array(foreign)
    assert cuda.is_cuda_array(foreign) and cuda.is_cuda_array(found)
    assert found.dtype == host.dtype and found.shape == VIEWS[view](host).shape
    np.testing.assert_array_equal(found.copy_to_host(), VIEWS[view](host))
    if found.size:
        assert found.device_ctypes_pointer.value == foreign.__cuda_array_interface__["data"][0]
        found.copy_to_device(np.zeros(found.shape, dtype)) if view == "contiguous" else None
        same = VIEWS[view](mine).copy_to_host()
        np.testing.assert_array_equal(found.copy_to_host(), same)


def test_an_array_over_foreign_memory_keeps_it_alive():
    class Library(Foreign):
        gone = False

        def __del__(self):
            Library.gone = True

    found = cuda.as_cuda_array(Library(cuda.to_device(np.arange(5))))
    part = found[1:4]
    del found
    assert not Library.gone and part.copy_to_host().tolist() == [1, 2, 3]
    del part
    assert Library.gone


def test_the_stream_of_an_imported_array():
    stream = cuda.stream()
    assert cuda.as_cuda_array(Foreign(cuda.device_array(3))).stream == 0
    found = cuda.as_cuda_array(Foreign(cuda.device_array(3, stream=stream)))
    assert found.stream == stream and found.stream.external and int(found.stream) == int(stream)
    assert not stream.external and cuda.external_stream(stream.ptr).external
    mapped = cuda.mapped_array(3, stream=stream)
    mapped[:] = 2
    assert cuda.as_cuda_array(mapped).stream is stream
    assert cuda.as_cuda_array(mapped).copy_to_host().tolist() == [2, 2, 2]


def test_the_host_waits_for_the_stream_of_an_imported_array(monkeypatch):
    stream = cuda.Stream(non_blocking=True)
    foreign = Foreign(cuda.device_array(3, stream=stream))
    with held_up(stream) as go_on:
        thread, found = in_thread(lambda: cuda.as_cuda_array(foreign) is None or stream.done)
        thread.join(0.05)
        assert thread.is_alive()
        assert not cuda.as_cuda_array(foreign, sync=False).stream.done
        monkeypatch.setattr(settings, "CUDA_ARRAY_INTERFACE_SYNC", 0)
        assert not cuda.as_cuda_array(foreign).stream.done
        go_on()
        thread.join()
    assert found == [True]


def test_read_only_arrays_stay_so():
    x = cuda.to_device(np.arange(3))
    address = x.__cuda_array_interface__["data"][0]
    found = cuda.as_cuda_array(Foreign(x, data=(address, True)))
    assert cuda.as_cuda_array(found).flags.writeable is False
    with pytest.raises(ValueError, match="read-only"):
        found += 1


def test_what_is_no_array_of_another_library():
    class Anything:
        def __getattr__(self, name):
            return name

    assert not cuda.is_cuda_array(Anything()) and not cuda.is_cuda_array(np.zeros(3))
    assert not cuda.is_cuda_array(Foreign)
    with pytest.raises(TypeError, match="doesn't implement the cuda array interface"):
        cuda.as_cuda_array(Anything())
    x = cuda.device_array(3)
    with pytest.raises(ValueError, match="stream 0 is ambiguous"):
        cuda.as_cuda_array(Foreign(x, stream=0))
    with pytest.raises(NotImplementedError, match="Masked arrays are not supported"):
        cuda.as_cuda_array(Foreign(x, mask=x))


def test_stores_from_foreign_arrays():
    values = np.arange(6.0)
    foreign = Foreign(cuda.to_device(values))
    x, y = cuda.device_array(6), cuda.device_array(6)
    x[:] = foreign
    y.copy_to_device(foreign)
    shared = cuda.to_device(foreign)
    assert x.copy_to_host().tolist() == y.copy_to_host().tolist() == values.tolist()
    shared[2] = 9
    assert foreign.array.copy_to_host()[2] == 9
    assert cuda.reduce(lambda a, b: a + b)(foreign) == values.sum() + 7


# ---- kernels ----


@cuda.jit
def add(x, by):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += by


def test_kernels_take_foreign_arrays():
    x = cuda.to_device(np.arange(4))
    add[1, 32](Foreign(x), 5)
    add[1, 32](Foreign(x[::2]), 10)
    assert x.copy_to_host().tolist() == [15, 6, 17, 8]
    records = cuda.to_device(np.zeros(2, RECORD))

    @cuda.jit
    def fill(records):
        i = cuda.grid(1)
        records[i].a, records[i].b = i, i / 2

    fill[1, 2](Foreign(records))
    assert records.copy_to_host().tolist() == [(0, 0), (1, 0.5)]
    assert fill.signatures[0][0].dtype.dtype.fields == RECORD.fields


def test_a_launch_waits_on_the_device_for_the_stream_of_an_argument(monkeypatch):
    producer, mine = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    x = cuda.to_device(np.arange(4), stream=producer)
    add[1, 4, mine](Foreign(x), 0)  # compiled
    mine.synchronize()
    foreign = Foreign(x)
    with held_up(producer) as go_on:
        add[1, 4, mine](foreign, 5)  # returns
        assert not mine.done
        go_on()
        mine.synchronize()
    assert x.copy_to_host().tolist() == [5, 6, 7, 8]
    monkeypatch.setattr(settings, "CUDA_ARRAY_INTERFACE_SYNC", 0)
    with held_up(producer):
        add[1, 4, mine](foreign, 1)
        mine.synchronize()


CAPTURED = {
    "numba": lambda host: cuda.to_device(host),
    "treadle": lambda host: td.asarray(host),
    "foreign": lambda host: Foreign(cuda.to_device(host)),
}


def mapped(host):
    found = cuda.mapped_array_like(host)
    found[...] = host
    return found


@pytest.mark.parametrize("maker", [*CAPTURED.values(), mapped], ids=[*CAPTURED, "mapped"])
def test_captured_arrays_are_taken_by_address(maker):
    table = maker(np.arange(6, dtype=np.float32).reshape(2, 3))
    one = maker(np.array(5.0))

    @cuda.jit(device=True)
    def look(i, j):
        return table[i, j] + one[()]

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = look(i // 3, i % 3)
        table[i // 3, i % 3] = -i

    out = cuda.device_array(6)
    for wanted in ([5, 6, 7, 8, 9, 10], [5, 4, 3, 2, 1, 0]):
        kernel[1, 6](out)
        assert out.copy_to_host().tolist() == wanted


def test_captured_records_and_read_only_arrays():
    records = cuda.to_device(np.array([(1, 2.5), (3, 4.5)], RECORD))
    frozen = cuda.to_device(np.arange(2.0))
    frozen = Foreign(frozen, data=(frozen.__cuda_array_interface__["data"][0], True))

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = records[i].b + frozen[i]
        records[i].a = 7

    out = cuda.device_array(2)
    kernel[1, 2](out)
    assert out.copy_to_host().tolist() == [2.5, 5.5]
    assert records.copy_to_host()["a"].tolist() == [7, 7]

    @cuda.jit
    def writes():
        frozen[0] = 1

    with pytest.raises(TypeError, match="read-only"):
        writes[1, 1]()


def test_element_functions_take_and_fill_foreign_arrays():
    @cuda.vectorize(["f8(f8, f8)"], target="cuda")
    def total(a, b):
        return a + b

    @cuda.guvectorize(["(f8[:], f8[:])"], "(n)->()", target="cuda")
    def first(a, out):
        out[0] = a[0]

    host = np.arange(6.0).reshape(2, 3)
    x, out = Foreign(cuda.to_device(host)), Foreign(cuda.device_array((2, 3)))
    np.testing.assert_array_equal(total(x, 6).copy_to_host(), host + 6)
    found = total(host, 1, out=out)
    np.testing.assert_array_equal(found.copy_to_host(), host + 1)
    assert found.device_ctypes_pointer.value == out.array.device_ctypes_pointer.value
    heads = Foreign(cuda.device_array(2))
    assert first(x, out=heads).copy_to_host().tolist() == [0, 3]
    assert heads.array.copy_to_host().tolist() == [0, 3]


def test_types_of_foreign_arrays():
    from treadle._jit.arguments import typeof

    x = cuda.to_device(np.zeros((2, 3), np.float32))
    assert typeof(Foreign(x)) == typeof(x) == ty.float32[:, ::1]
    assert typeof(Foreign(x[:, ::2])) == ty.float32[:, :]


# ---- comparisons ----


@pytest.mark.parametrize(
    "other", [None, 0, "stream", object(), 1.5], ids=lambda x: type(x).__name__
)
def test_handles_differ_from_everything_else(other):
    memory = cuda.alloc(16)
    pointer = _treadle.DevicePointer(memory.ptr)
    for mine in (cuda.stream(), cuda.Stream.null, cuda.Device(), cuda.Event(), memory, pointer):
        assert (mine == other) is False and (mine != other) is True
        assert mine == mine and mine in [other, mine]
    assert memory == memory + 0 and memory != memory + 1
    with pytest.raises(TypeError, match="unsupported operand"):
        memory + "a"


# ---- several devices ----

TWO_DEVICES = """
import numpy as np
from treadle import _treadle, cuda
import treadle as td

td.ndarray.__cuda_array_interface__ = property(_treadle._interface_facts)

class Foreign:
    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__
        self.array = array

with cuda.gpus[1]:
    stream = cuda.stream()
    made = [cuda.to_device(np.arange(3)), cuda.to_device(np.arange(3), stream=stream)]
with cuda.gpus[0]:
    for array in made:
        found = cuda.as_cuda_array(Foreign(array))
        print(found.device.id, found.copy_to_host().tolist())
    print(found.stream == stream, found.stream.device.id)
"""


@pytest.mark.skipif(
    not any(d.is_software for d in cuda.devices()), reason="this build has no software device"
)
def test_the_memory_says_which_device_it_is_of():
    environment = {**os.environ, "TREADLE_DEVICE": "soft", "TREADLE_SOFT_DEVICES": "2"}
    command = [sys.executable, "-c", TWO_DEVICES]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    wanted = ["1 [0, 1, 2]", "1 [0, 1, 2]", "True 1"]
    assert done.stdout.splitlines() == wanted, done.stdout + done.stderr
