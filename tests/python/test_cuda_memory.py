"""Memory by hand: pools, allocators, hooks, pinned memory, arrays over memory, the CUDA array interface."""

import ctypes
import gc

import numpy as np
import pytest
import treadle as td
from treadle import cuda


def same(mine, wanted):
    np.testing.assert_array_equal(td.asnumpy(mine), wanted)


# ---- pools ----


def test_own_pool():
    pool = cuda.MemoryPool()
    assert (pool.used_bytes(), pool.total_bytes(), pool.n_free_blocks()) == (0, 0, 0)
    a = pool.malloc(1000)
    assert a.ptr and a.nbytes == 1000 and a.mem.size == 1000
    assert pool.used_bytes() == 1024 and pool.total_bytes() >= 1024
    del a
    assert pool.used_bytes() == 0 and pool.n_free_blocks() > 0 and pool.free_bytes() > 0
    pool.free_all_blocks()
    assert pool.total_bytes() == 0 and pool.n_free_blocks() == 0


@pytest.mark.parametrize("kind", [None, cuda.malloc_managed])
def test_limit_with_a_free_block_in_the_way(kind):
    """cupy/cupy#7678: nothing is in use, so the larger allocation succeeds."""
    pool = cuda.MemoryPool(kind)
    pool.set_limit(size=64 << 20)
    assert pool.get_limit() == 64 << 20
    a = pool.malloc(32 << 20)
    del a
    b = pool.malloc(48 << 20)
    assert b.ptr and pool.total_bytes() <= 64 << 20
    with pytest.raises(td.OutOfMemoryError):
        pool.malloc(48 << 20)
    pool.set_limit()
    assert pool.get_limit() == 0
    c = pool.malloc(48 << 20)
    assert c.ptr


def test_limit_as_a_fraction():
    pool = cuda.MemoryPool()
    pool.set_limit(fraction=0.25)
    assert pool.get_limit() == int(0.25 * cuda.Device().mem_info[1])
    for wrong in (
        {"fraction": 1.5},
        {"fraction": -0.1},
        {"size": -1},
        {"size": 1, "fraction": 0.5},
    ):
        with pytest.raises(ValueError):
            pool.set_limit(**wrong)


def test_blocks_outlive_their_pool():
    a = cuda.MemoryPool().malloc(1 << 20)
    gc.collect()
    a.memset(3, 1 << 20)
    same(td.ndarray((5,), np.uint8, a), np.full(5, 3, np.uint8))


# ---- allocators ----


def test_using_allocator():
    pool = cuda.MemoryPool()
    with cuda.using_allocator(pool.malloc):
        x = td.arange(1000.0)
        y = x + 1
        assert cuda.get_allocator().__self__ is pool
        assert cuda.alloc(100).mem.size == 100
    same(y, np.arange(1000.0) + 1)  # allocated late, but where it was made
    assert pool.used_bytes() == 2 * 8192
    z = y + 1
    z.flush()
    assert pool.used_bytes() == 2 * 8192
    del x, y
    assert pool.used_bytes() == 0
    same(z, np.arange(1000.0) + 2)


def test_managed_arrays_are_host_memory_too():
    with cuda.using_allocator(cuda.malloc_managed):
        x = td.arange(100, dtype=np.int32) * 2
        x.flush()
    cuda.synchronize()
    host = np.ctypeslib.as_array((ctypes.c_int32 * 100).from_address(x.data.ptr))
    np.testing.assert_array_equal(host, 2 * np.arange(100))


def test_allocator_of_pythons():
    sizes = []

    def allocator(size):
        sizes.append(size)
        return cuda.MemoryPointer(cuda.Memory(size), 0)

    with cuda.using_allocator(allocator):
        x = td.ones(77, np.float32)
        same(x, np.ones(77, np.float32))
    assert 77 * 4 in sizes
    with cuda.using_allocator(lambda size: None), pytest.raises(TypeError, match="MemoryPointer"):
        td.ones(3).data.ptr  # noqa: B018


def test_set_allocator():
    pool, before = cuda.MemoryPool(), cuda.get_allocator()
    try:
        cuda.set_allocator(pool.malloc)
        x = td.zeros(1000)
        x.flush()
        assert pool.used_bytes() >= 8000
        cuda.set_allocator(None)  # the driver itself
        used = td.get_default_memory_pool().used_bytes()
        y = td.zeros(1000)
        y.flush()
        assert td.get_default_memory_pool().used_bytes() == used
        same(x + y, np.zeros(1000))
    finally:
        cuda.set_allocator(before)
    with cuda.using_allocator(pool.malloc), pytest.raises(ValueError, match="using_allocator"):
        cuda.set_allocator(None)
    with pytest.raises(TypeError, match="function"):
        cuda.set_allocator(3)


# ---- hooks ----


class Counter(cuda.MemoryHook):
    name = "Counter"

    def __init__(self):
        self.events = []

    def malloc_postprocess(self, **facts):
        self.events.append(("malloc", facts["size"], facts["mem_size"]))

    def free_postprocess(self, **facts):
        self.events.append(("free", facts["mem_size"]))

    def alloc_postprocess(self, **facts):
        self.events.append(("alloc", facts["mem_size"]))


def test_hook():
    pool, counter = cuda.MemoryPool(), Counter()
    with counter:
        a = pool.malloc(1000)
        del a
        a = pool.malloc(1000)
        with pytest.raises(KeyError):
            counter.__enter__()
    del a
    assert counter.events == [
        ("alloc", 2 << 20), ("malloc", 1000, 1024), ("free", 1024), ("malloc", 1000, 1024),
    ]  # fmt: skip


def test_ready_made_hooks():
    import io

    text = io.StringIO()
    pool = cuda.MemoryPool()
    with cuda.memory_hooks.DebugPrintHook(file=text), cuda.memory_hooks.LineProfileHook() as lines:
        pool.malloc(1000)
    assert '"hook":"malloc"' in text.getvalue() and '"size":1000' in text.getvalue()
    lines.print_report(file=text)
    assert "test_cuda_memory.py" in text.getvalue()


# ---- pointers and arrays over memory ----


def test_pointer_copies():
    host, back = np.arange(100, dtype=np.int16), np.zeros(100, np.int16)
    a, b = cuda.alloc(200), cuda.alloc(200)
    a.copy_from_host(host.ctypes.data_as(ctypes.c_void_p), 200)
    stream = cuda.Stream(non_blocking=True)
    stream.wait_event(cuda.get_current_stream().record())
    b.copy_from_device_async(a, 200, stream)
    b.memset_async(0, 20, stream)
    stream.synchronize()
    (b + 20).copy_to_host(back.ctypes.data, 180)
    np.testing.assert_array_equal(back[:90], host[10:])
    assert (a + 20 - 20).ptr == a.ptr == int(a) and (a + 20).nbytes == 180
    with pytest.raises(ValueError, match="do not fit"):
        a.copy_from(b, 201)


def test_array_over_memory():
    memory = cuda.alloc(800)
    x = td.ndarray((10, 10), np.float64, memory)
    x[...] = np.arange(100).reshape(10, 10).tolist() if False else td.arange(100.0).reshape(10, 10)
    same(td.ndarray((5,), np.float64, memory + 80), np.arange(10.0, 15.0))
    same(td.ndarray((3, 2), np.float64, memory, strides=(16, 8)), np.arange(6.0).reshape(3, 2))
    same(td.ndarray((3, 2), np.float64, memory, order="F"), np.arange(6.0).reshape(2, 3).T)
    same(td.ndarray((3,), np.float64, memory + 80, strides=(-8,)), [10, 9, 8])
    same(td.ndarray((3,), np.float64, memory, strides=(0,)), [0, 0, 0])
    assert td.ndarray((2, 3)).dtype == np.float64 and td.ndarray(4, np.int8).shape == (4,)
    for wrong in (
        lambda: td.ndarray((101,), np.float64, memory),
        lambda: td.ndarray((3,), np.float64, memory + 8, strides=(-8,)),
        lambda: td.ndarray((3,), np.float64, memory + 4),
        lambda: td.ndarray((3,), np.float64, memory, strides=(4,)),
        lambda: td.ndarray((3,), np.float64, memory, strides=(8, 8)),
        lambda: td.ndarray((3,), order="X"),
        lambda: td.ndarray((-3,)),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError, match="MemoryPointer"):
        td.ndarray((3,), np.float64, 12345)


def test_data_of_an_array():
    x = td.arange(10.0)
    view = x[3:]
    assert view.data.ptr == x.data.ptr + 24 and view.data.mem.ptr == x.data.mem.ptr
    assert x.data.device == x.device and x.data.mem.size == 80
    memory = view.data.mem  # keeps it alive
    del x, view
    same(td.ndarray((10,), np.float64, cuda.MemoryPointer(memory, 0)), np.arange(10.0))


def test_unowned_memory_keeps_its_owner():
    class Owner:
        pass

    owner, gone = Owner(), []
    import weakref

    weakref.finalize(owner, gone.append, True)
    base = td.arange(10.0)
    x = td.ndarray(
        (5,), np.float64, cuda.MemoryPointer(cuda.UnownedMemory(base.data.ptr, 80, owner), 40)
    )
    del owner
    gc.collect()
    assert not gone
    x += 100
    same(base, np.r_[np.arange(5.0), np.arange(105.0, 110.0)])
    del x
    gc.collect()
    cuda.synchronize()
    assert gone


# ---- pinned memory ----


def test_pinned_memory():
    pool = cuda.PinnedMemoryPool()
    memory = pool.malloc(1000)
    assert memory.size() == 1000 and memory.ptr
    host = np.frombuffer(memory, np.float32, 200)
    host[...] = 3
    same(td.asarray(host), np.full(200, 3, np.float32))
    address = memory.ptr
    del memory
    assert host[0] == 3 and pool.n_free_blocks() == 0  # the array holds it
    del host
    assert pool.n_free_blocks() == 1 and pool.malloc(900).ptr == address
    pool.free_all_blocks()
    assert pool.n_free_blocks() == 0
    assert td.get_default_pinned_memory_pool() is cuda.get_default_pinned_memory_pool()


def test_pinned_arrays():
    x = td.empty_pinned((3, 4), np.int16, order="F")
    assert isinstance(x, np.ndarray) and x.strides == (2, 6)
    x[...] = np.arange(12).reshape(3, 4)
    same(td.asarray(x), np.arange(12, dtype=np.int16).reshape(3, 4))
    assert (td.zeros_pinned(5) == 0).all() and td.zeros_pinned(5).dtype == np.float64
    assert td.empty_like_pinned(td.ones((2, 3), np.float32)).dtype == np.float32
    assert td.zeros_like_pinned(x).strides == x.strides
    assert td.empty_pinned((0, 3)).shape == (0, 3)


# ---- the CUDA array interface ----


class Exporter:
    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "data": (array.data.ptr, False),
            "strides": array.strides, "stream": 1, "version": 3, **changes,
        }  # fmt: skip


def test_interface_is_absent_on_the_software_device(software):
    x = td.arange(3)
    assert hasattr(x, "__cuda_array_interface__") != software
    if not software:
        face = x.__cuda_array_interface__
        assert face["version"] == 3 and face["data"] == (x.data.ptr, False) and face["stream"] == 1
        same(td.asarray(Exporter(x)), np.arange(3))


@pytest.mark.parametrize(
    "view", [lambda a: a, lambda a: a.T, lambda a: a[::-1, 1::2], lambda a: a[:0]]
)
def test_taking_an_interface(view):
    from treadle._memory import from_cuda_array_interface

    x = td.arange(12.0).reshape(3, 4)
    y = from_cuda_array_interface(Exporter(view(x)))
    same(y, td.asnumpy(view(x)))
    if y.size:
        y += 1
        same(x.sum(), np.arange(12.0).sum() + y.size)
    plain = from_cuda_array_interface(Exporter(x, strides=None, stream=None))
    same(plain, td.asnumpy(x))
    frozen = from_cuda_array_interface(Exporter(x, data=(x.data.ptr, True)))
    with pytest.raises(ValueError, match="read-only"):
        frozen += 1
    with pytest.raises(ValueError, match="stream 0"):
        from_cuda_array_interface(Exporter(x, stream=0))


def test_an_allocator_may_fill_the_memory_that_it_answers():
    original, sizes = cuda.get_allocator(), []

    def filled(size):
        memory = original(size)
        sizes.append(size)
        td.ndarray((memory.mem.size // 4,), np.float32, memory).fill(td.nan)
        return memory

    host = np.arange(2000, dtype=np.float32)
    with cuda.using_allocator(filled):
        x = td.asarray(host)
        y = td.sqrt(x * x + 1).sum() + td.cumsum(x)[-1] - td.sort(x)[0]
    expected = np.sqrt(host * host + 1).sum() + np.cumsum(host)[-1]
    np.testing.assert_allclose(td.asnumpy(y), expected, rtol=1e-5)
    assert len(sizes) > 2
