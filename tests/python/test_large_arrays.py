"""More than 2^31 elements, and shapes whose elements no memory holds.

Places behind 2^31 are where an index of 32 bits would be wrong: every test looks at some. What takes long runs only
with TREADLE_TEST_LARGE=1: about 3 minutes on two cores.
"""

import os

import numpy as np
import pytest
import treadle as td

N = 2**31 + 1000
HIGH, LAST = 2**31 + 10, N - 3  # the two spikes behind 2^31
large = pytest.mark.skipif(
    not os.environ.get("TREADLE_TEST_LARGE"), reason="takes long; TREADLE_TEST_LARGE=1 runs it"
)


def free_gib():
    return td.cuda.Device().mem_info[0] / 2**30


@pytest.fixture(scope="module")
def spikes():
    """int8 zeros but for x[17] = 3, x[HIGH] = -7 and x[LAST] = 5."""
    td.get_default_memory_pool().free_all_blocks()
    if free_gib() < 6:
        pytest.skip(f"needs 6 GiB of device memory; {free_gib():.1f} GiB are free")
    x = td.zeros(N, np.int8)
    x[17], x[HIGH], x[LAST] = 3, -7, 5
    yield x
    del x
    td.get_default_memory_pool().free_all_blocks()


@pytest.fixture
def windows():
    """The same, but only what lies near the spikes is written: the rest costs no time."""
    if free_gib() < 4:
        pytest.skip(f"needs 4 GiB of device memory; {free_gib():.1f} GiB are free")
    x = td.empty(N, np.int8)
    for place in (0, N // 2 - 1000, 2**31 - 1000):
        x[place : place + 2000] = 0
    x[17], x[HIGH], x[LAST] = 3, -7, 5
    return x


@pytest.fixture(autouse=True)
def give_back():
    yield
    td.get_default_memory_pool().free_all_blocks()


def host(*numbers):
    return [int(x) for x in numbers]


def test_elements_and_slices(windows):
    x = windows
    assert x.size == N and x.nbytes == N
    assert host(x[17], x[HIGH], x[LAST], x[-3], x[HIGH - N]) == [3, -7, 5, 5, -7]
    assert td.asnumpy(x[HIGH - 2 : HIGH + 2]).tolist() == [0, 0, -7, 0]
    assert td.asnumpy(x[::-1][:4]).tolist() == [0, 0, 5, 0]
    assert td.asnumpy(x[LAST:HIGH:-7][:2]).tolist() == [5, 0]
    assert td.asnumpy(x[: 2 * (N // 2)].reshape(2, -1)[1, HIGH - N // 2 :][:2]).tolist() == [-7, 0]
    with pytest.raises(IndexError, match=str(N)):
        x[N]


def test_index_arrays(windows):
    x = windows
    places = td.asarray([LAST, 17, HIGH, -1, HIGH - N])
    assert td.asnumpy(x[places]).tolist() == [5, 3, -7, 0, -7]
    assert td.asnumpy(td.take(x, places[:3])).tolist() == [5, 3, -7]
    x[td.asarray([N - 10, 2**31 + 501])] = td.asarray([1, 2], np.int8)
    assert host(x[N - 10], x[2**31 + 501]) == [1, 2]
    td.scatter_add(x, td.asarray([N - 10, N - 10]), td.asarray([1, -2], np.int8))
    x[2**31 + 500 : 2**31 + 502] = 0
    assert host(x[N - 10], x[2**31 + 501]) == [0, 0]
    with pytest.raises(IndexError, match=str(N)):
        x[td.asarray([0, N])]


@large
def test_places_of_extremes(spikes):
    assert host(spikes.argmax(), spikes.argmin()) == [LAST, HIGH]
    assert td.asnumpy(spikes[: 2 * (N // 2)].reshape(2, -1).argmax(1)).tolist() == [
        17,
        LAST - N // 2,
    ]


@large
def test_binary_search():
    s = td.zeros(N, np.int8)
    s[HIGH:], s[LAST:] = 1, 2
    assert td.asnumpy(td.searchsorted(s, td.asarray([0, 1, 2, 3], np.int8))).tolist() == [
        0,
        HIGH,
        LAST,
        N,
    ]
    right = td.searchsorted(s, td.asarray([0, 1, 2], np.int8), "right")
    assert td.asnumpy(right).tolist() == [HIGH, LAST, N]


@large
def test_reductions(spikes):
    x = spikes
    assert host(x.sum(), x.max(), x.min(), td.count_nonzero(x)) == [1, 5, -7, 3]
    assert bool((x == 5).any()) and not bool((x == 6).any())
    assert int(x[::2].sum()) == -7 and int(x[1::2].sum()) == 8
    assert td.asnumpy(x.reshape(4, -1).T.sum(0)).tolist() == [3, 0, 0, -2]
    assert int((x[1:] == x[:-1]).sum()) == N - 1 - 6
    assert float(x.mean()) == 1 / N


@large
def test_results_with_as_many_elements(spikes):
    x = spikes
    assert td.asnumpy(td.nonzero(x)[0]).tolist() == [17, HIGH, LAST]
    assert td.asnumpy(x[x != 0]).tolist() == [3, -7, 5]
    differs = x != 0
    assert host(differs.sum(), differs.argmax()) == [3, 17]
    del differs
    chosen = td.where(x > 0, x, np.int8(1))
    assert host(chosen[17], chosen[HIGH], chosen[LAST]) == [3, 1, 5]
    del chosen
    x += 1
    assert td.asnumpy(x[-4:]).tolist() == [1, 6, 1, 1]
    x -= 1
    assert td.asnumpy(x[-4:]).tolist() == [0, 5, 0, 0]


@large
def test_scans(spikes):
    places = td.asarray([0, 16, 17, HIGH - 1, HIGH, LAST - 1, LAST, N - 1])
    running = td.cumsum(spikes, dtype=np.int8)
    assert td.asnumpy(running[places]).tolist() == [0, 0, 3, 3, -4, -4, 1, 1]
    del running
    highest = td.maximum.accumulate(spikes)
    assert td.asnumpy(highest[places]).tolist() == [0, 0, 3, 3, 3, 3, 5, 5]


@large
def test_moves(spikes):
    x, half = spikes, N // 2
    turned = x.reshape(2, half).T.copy()
    assert host(turned[17, 0], turned[HIGH - half, 1], turned[LAST - half, 1]) == [3, -7, 5]
    assert int(turned.sum()) == 1
    del turned
    back = x[::-1].copy()
    assert host(back[2], back[N - 1 - HIGH], back[N - 18]) == [5, -7, 3]
    del back
    rolled = td.roll(x, 5)
    assert host(rolled[2], rolled[22], rolled[HIGH + 5]) == [5, 3, -7]
    del rolled
    joined = td.concatenate([x[: 2**30 + 7], x[2**30 + 7 :]])
    assert host(joined[17], joined[HIGH], joined[LAST], joined.sum()) == [3, -7, 5, 1]


@large
def test_sort_and_counts(spikes):
    ordered = spikes.copy()
    ordered.sort()
    assert host(ordered[0], ordered[1], ordered[-3], ordered[-2], ordered[-1]) == [-7, 0, 0, 3, 5]
    del ordered
    counts = td.asnumpy(td.bincount(spikes.view(np.uint8), minlength=256))
    assert counts[[0, 3, 5, 249]].tolist() == [N - 3, 1, 1, 1]
    found, _ = td.histogram(spikes.view(np.uint8), 4, (0, 256))
    assert td.asnumpy(found).tolist() == [N - 1, 0, 0, 1]


@large
def test_random_numbers():
    drawn = td.random.default_rng(1).integers(0, 2, N, dtype=np.uint8)
    assert abs(float(drawn.mean()) - 0.5) < 1e-3
    assert 0.4 < td.asnumpy(drawn[-1000:]).mean() < 0.6


# ---- shapes that are never made ----

TRILLION = 10**12


def endless():
    return td.broadcast_to(td.ones(1, np.float32), (TRILLION,))


def test_views_of_a_broadcast_cost_nothing():
    used = td.get_default_memory_pool().used_bytes()
    x = endless()
    assert x.size == TRILLION and x.nbytes == 4 * TRILLION
    assert float(x[TRILLION // 2 : TRILLION // 2 + 9].sum()) == 9
    assert td.asnumpy(x.reshape(10**6, 10**6)[-2:, :2]).tolist() == [[1, 1], [1, 1]]
    rows = td.broadcast_to(td.asarray([1, 2], np.int8)[:, None], (2, 2**40))
    assert host(rows[:, :10].sum(), rows[1, 2**39]) == [30, 2]
    assert td.asnumpy((rows[:, -3:] * 2)[1]).tolist() == [4, 4, 4]
    del x, rows
    assert td.get_default_memory_pool().used_bytes() - used < 2**20


@large
def test_reductions_of_a_broadcast_read_nothing_else():
    x = td.broadcast_to(td.ones(1, np.int8), (2**33,))
    assert host(x.sum(), x.max(), x.argmax()) == [2**33, 1, 0]


REFUSED = {
    "element-wise": lambda: endless() + 1,
    "outer": lambda: td.ones((10**6, 1)) + td.ones((1, 10**6)),
    "copy": lambda: endless().copy(),
    "asnumpy": lambda: td.asnumpy(endless()),
    "zeros": lambda: td.zeros(TRILLION),
    "empty": lambda: td.empty(TRILLION),
    "nonzero": lambda: td.nonzero(endless()),
    "cumsum": lambda: td.cumsum(endless()),
    "tile": lambda: td.tile(td.ones(1000), 10**9),
    "repeat": lambda: td.repeat(td.ones(1000), 10**9),
    "arange": lambda: td.arange(TRILLION),
    "random": lambda: td.random.default_rng(1).random(TRILLION),
    "matmul": lambda: td.matmul(endless()[: 10**6, None], endless()[None, : 10**6]),
    "pad": lambda: td.pad(td.ones(3), TRILLION),
    "fft": lambda: td.fft.fft(endless()),
    "take": lambda: td.take(td.ones(3), td.broadcast_to(td.zeros(1, np.int64), (TRILLION,))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_more_than_the_memory_is_refused(name):
    """A MemoryError with the size for who asks for the value; others work, and nothing stays allocated."""
    pool = td.get_default_memory_pool()
    used = pool.used_bytes()
    with pytest.raises(MemoryError, match=r"[TG]iB"):
        made = REFUSED[name]()
        _ = made.data.ptr
    assert float(td.ones(3).sum()) == 3
    made = None
    td.cuda.Device().synchronize()
    assert pool.used_bytes() - used < 2**20


def test_sizes_that_no_integer_holds():
    with pytest.raises(ValueError, match="64 bits"):
        td.zeros((2**40, 2**40))
    with pytest.raises(ValueError, match="64 bits"):
        td.zeros(2**62)
    with pytest.raises(ValueError, match="too long"):
        td.sort(endless())
