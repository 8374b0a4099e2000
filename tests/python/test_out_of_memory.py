"""A full device: errors name sizes and the cure, nothing leaks, and work that fits goes on."""

import gc
import os
import random

import numpy as np
import pytest
import treadle as td
from treadle import cuda

MIB = 1 << 20


@pytest.fixture
def limit():
    """Sets how much more memory the default pool may hold than now; lifts the limit afterwards."""
    pool = td.get_default_memory_pool()
    td.ones(4).sum().item()
    gc.collect()
    pool.free_all_blocks()
    yield lambda size: pool.set_limit(size=pool.used_bytes() + size)
    pool.set_limit()
    gc.collect()
    pool.free_all_blocks()


def mebibytes(count):
    """An array of so many MiB that holds memory."""
    x = td.empty(count * MIB, np.uint8)
    x.fill(1)
    x.flush()
    return x


def fill_up(count=4):
    arrays = []
    try:
        while len(arrays) < 10000:
            arrays.append(mebibytes(count))
    except td.OutOfMemoryError as error:
        return arrays, str(error)
    pytest.fail("10000 arrays fit")


def test_error_names_sizes_and_cure(limit):
    limit(64 * MIB)
    arrays, message = fill_up()
    assert 12 <= len(arrays) <= 16
    assert "4 MiB were asked for" in message and "limit" in message and "free arrays" in message
    assert f"{sum(a.nbytes for a in arrays) // MIB}" in message
    assert isinstance(td.OutOfMemoryError("x"), MemoryError)


def test_memory_comes_back(limit):
    """Allocate, fail, free, go on: the pool is as before, and one block takes all the room."""
    pool = td.get_default_memory_pool()
    limit(64 * MIB)
    before = pool.used_bytes()
    counts = set()
    for _ in range(50):
        arrays, _ = fill_up()
        counts.add(len(arrays))
        assert td.asnumpy(arrays[-1][-3:]).tolist() == [1, 1, 1]
        del arrays
        assert pool.used_bytes() == before
        whole = mebibytes(56)
        assert int(whole[::MIB].sum()) == 56
        del whole
    assert len(counts) == 1
    pool.free_all_blocks()
    assert pool.total_bytes() - before < 4 * MIB


def test_a_thousand_failures_leave_nothing(limit):
    """Fused launches, other streams, captures and pinned memory, failing over and over: nothing stays in use."""
    pool, pinned = td.get_default_memory_pool(), cuda.PinnedMemoryPool()
    x, stream = td.ones(2 * MIB), cuda.Stream(non_blocking=True)
    x.flush()
    pool.free_all_blocks()
    before = pool.used_bytes()
    limit(8 * MIB)

    def fused():
        ((x + 1) * x - 3).flush()

    def on_a_stream():
        with stream:
            (x * 2).flush()

    def captured():
        with stream:
            stream.begin_capture()
            try:
                (x[:1000] + 1).flush()
                (x * 3).flush()
            finally:
                stream.end_capture()

    def after_pinned():
        host = pinned.malloc(5000)
        host.ptr  # noqa: B018 - it is there until the error leaves this function
        td.sqrt(x).flush()

    for k in range(1000):
        with pytest.raises(td.OutOfMemoryError, match="16 MiB were asked for"):
            (fused, on_a_stream, captured, after_pinned)[k % 4]()
        if k % 100 == 0:
            gc.collect()
        if k % 10 == 9:
            cuda.Device().synchronize()
            assert float(x[:3].sum()) == 3
            assert pool.used_bytes() == before, k
            assert pinned.n_free_blocks() == 1, k
    pool.free_all_blocks()
    assert pool.total_bytes() - before < 4 * MIB


def test_the_device_itself_is_full():
    """Without a limit: the driver says no, and gives all of it again."""
    gc.collect()
    pool = td.get_default_memory_pool()
    pool.free_all_blocks()
    free, _ = cuda.Device().mem_info
    for _ in range(3):
        blocks = []
        with pytest.raises(td.OutOfMemoryError, match=r"are free; free arrays"):
            while len(blocks) < 100:
                blocks.append(pool.malloc(free // 16))
        assert 8 <= len(blocks) <= 32  # others may take or free memory meanwhile
        del blocks
        pool.free_all_blocks()
        assert cuda.Device().mem_info[0] > free - 64 * MIB
        assert float(td.ones(1000).sum()) == 1000


OPERATIONS = {
    "element-wise": lambda x: td.sqrt(x) + 1,
    "copy": lambda x: x[::-1].copy(),
    "cumsum": lambda x: td.cumsum(x),
    "sort": lambda x: td.sort(x),
    "argsort": lambda x: td.argsort(x),
    "concatenate": lambda x: td.concatenate([x, x]),
    "take": lambda x: x[td.arange(x.size)[::-1]],
    "mask": lambda x: x[x > -1],
    "nonzero": lambda x: td.nonzero(x + 1),
    "matmul": lambda x: td.matmul(x[:4096, None], x[None, :4096]),
    "fft": lambda x: td.fft.fft(x),
    "inverse": lambda x: td.linalg.inv(td.eye(1500)),
    "random": lambda x: td.random.default_rng(1).random(x.size),
    "unique": lambda x: td.unique(x),
    "sum along an axis": lambda x: td.broadcast_to(x, (3, x.size)).sum(0),
    "where": lambda x: td.where(x > 0, x, 1.0),
    "tile": lambda x: td.tile(x, 2),
    "var": lambda x: td.var(x.reshape(-1, 1), axis=1),
    "arange": lambda x: td.arange(x.size),
    "upload": lambda x: td.asarray(np.ones(x.size)),
}


def touch(made):
    for part in made if isinstance(made, tuple) else (made,):
        part.flush()


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_fail_and_leave_nothing(name, limit):
    """16 MiB of operand, 8 MiB of room: an OutOfMemoryError; with room again the same call works."""
    pool = td.get_default_memory_pool()
    x = td.zeros(2 * MIB)
    x.flush()
    pool.free_all_blocks()
    before = pool.used_bytes()
    limit(8 * MIB)
    for _ in range(2):
        with pytest.raises(td.OutOfMemoryError, match="asked for"):
            touch(OPERATIONS[name](x))
        gc.collect()
        assert float(x[:3].sum()) == 0  # small work goes on
        assert pool.used_bytes() == before
    pool.set_limit()
    touch(OPERATIONS[name](x))


def test_chains_need_no_room_between(limit):
    """Ten operations of 16 MiB each in a fused chain: room for the result is enough."""
    if not td.config.fusion:
        pytest.skip("fusion is off")
    x = td.ones(2 * MIB)
    x.flush()
    td.get_default_memory_pool().free_all_blocks()
    limit(18 * MIB)
    y = x
    for k in range(10):
        y = y * 2 + k
    y.flush()
    host = np.ones(4)
    for k in range(10):
        host = host * 2 + k
    last = td.asnumpy(y[-4:])
    assert last.tolist() == host.tolist()
    del y
    total = float(((x + 1) * (x - 1) + 3).sum())
    assert total == 3 * x.size


def test_one_value_fails_and_others_do_not(limit):
    """What shares a kernel with a value that does not fit is computed; the error comes where the value is asked for."""
    x = td.ones(2 * MIB)
    small = td.zeros(2 * MIB, np.int8)
    x.flush(), small.flush()
    td.get_default_memory_pool().free_all_blocks()
    limit(8 * MIB)
    too_large = x * 3
    x += 1
    small += 5
    assert int(small[0]) == 5
    assert float(x[-1]) == 2 and float(x.sum()) == 2 * x.size
    with pytest.raises(td.OutOfMemoryError, match="16 MiB were asked for"):
        td.asnumpy(too_large)
    with pytest.raises(td.OutOfMemoryError, match="16 MiB were asked for"):
        float((too_large + x).sum())  # and what is computed from it
    del too_large
    cuda.Device().synchronize()


def test_waiting_for_the_device_reports(limit):
    """Who asks for no value, as a benchmark does, gets the error from waiting; unless the value is gone."""
    x = td.ones(2 * MIB)
    x.flush()
    td.get_default_memory_pool().free_all_blocks()
    limit(8 * MIB)
    y = x * 2
    with pytest.raises(td.OutOfMemoryError):
        cuda.Device().synchronize()
    del y
    cuda.Device().synchronize()
    _ = x * 2
    del _
    cuda.Device().synchronize()
    assert float(x[0]) == 1


def test_random_sizes_do_not_fragment():
    """A thousand blocks of random sizes that come and go: the pool holds little more than the most that was in use."""
    count = 1_000_000 if os.environ.get("TREADLE_TEST_LARGE") else 20_000
    pool, numbers = cuda.MemoryPool(), random.Random(3)
    live, peak, held = [], 0, 0
    for k in range(count):
        live.append(pool.malloc(numbers.randint(1, 4 * MIB)))
        if len(live) > 1000:
            i = numbers.randrange(len(live))
            live[i] = live[-1]
            live.pop()
        if k % 16 == 0:
            peak, held = max(peak, pool.used_bytes()), max(held, pool.total_bytes())
    assert held <= 1.2 * peak, (held, peak)
    live.clear()
    assert pool.used_bytes() == 0
    pool.free_all_blocks()
    assert pool.total_bytes() == 0
