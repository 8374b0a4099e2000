"""Memory managers of other libraries by Numba's interface: who is asked, with what, and when memory goes back."""

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle.cuda import _driver_names as driver


class Counting(cuda.HostOnlyCUDAMemoryManager):
    """Memory of the driver, with a record of what was asked for and what is alive."""

    interface_version = 1
    made = 0

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.alive, self.sizes, self.resets, self.ready = set(), [], 0, False

    def initialize(self):
        self.ready = True
        Counting.made += 1

    def memalloc(self, size):
        assert self.ready
        memory = td.cuda.Memory(max(size, 1))
        number = len(self.sizes)
        self.sizes.append(size)
        self.alive.add(number)
        return driver.MemoryPointer(
            self.context,
            memory.ptr,
            size,
            owner=memory,
            finalizer=lambda: self.alive.remove(number),
        )

    def get_memory_info(self):
        return cuda.MemoryInfo(free=32, total=64)

    def get_ipc_handle(self, memory):
        return f"handle of {memory.size}"

    def reset(self):
        self.resets += 1


@pytest.fixture
def context():
    found = cuda.current_context()
    before = found.memory_manager
    yield found
    found.memory_manager = before


def test_arrays_take_their_memory_from_the_plug_in(context):
    manager = context.memory_manager = Counting(context=context)
    assert manager.ready and context.memory_manager is manager
    x = cuda.to_device(np.arange(10.0))
    y = cuda.device_array_like(x)
    assert sum(manager.sizes) >= 160 and len(manager.alive) >= 2

    @cuda.jit
    def double(a, b):
        i = cuda.grid(1)
        if i < a.size:
            b[i] = 2 * a[i]

    double[1, 32](x, y)
    assert y.copy_to_host().tolist() == (2 * np.arange(10.0)).tolist()
    assert context.get_memory_info() == (32, 64)
    assert y.get_ipc_handle()._ipc_handle.startswith("handle of")
    assert context.get_ipc_handle(y.gpu_data).startswith("handle of")
    context.reset()
    assert manager.resets == 1
    del x, y
    cuda.synchronize()
    assert not manager.alive


def test_after_a_plug_in_memory_comes_from_where_it_came_before(context):
    own = context.memory_manager
    manager = context.memory_manager = Counting(context=context)
    context.memory_manager = own
    asked = len(manager.sizes)
    assert cuda.to_device(np.ones(1000)).sum() == 1000
    assert len(manager.sizes) == asked and context.memory_manager is own


def test_a_plug_in_of_another_version_is_refused(context):
    class Newer(Counting):
        interface_version = 2

    with pytest.raises(RuntimeError, match="version 2 - version 1 required"):
        cuda.set_memory_manager(Newer)
    with pytest.raises(RuntimeError, match="requires a context"):
        Counting()
    with pytest.raises(TypeError, match="takes a class of managers"):
        cuda.set_memory_manager(None)
    with pytest.raises(TypeError, match="abstract"):
        cuda.BaseCUDAMemoryManager(context=context)


def test_a_finalizer_runs_once_when_the_last_pointer_goes(context):
    calls = []
    memory = td.cuda.Memory(64)
    pointer = driver.MemoryPointer(context, memory.ptr, 64, finalizer=lambda: calls.append(1))
    second = pointer.own()
    array = td.ndarray((8,), np.float64, memptr=pointer)
    del pointer, second
    assert not calls
    del array
    cuda.synchronize()
    assert calls == [1]
