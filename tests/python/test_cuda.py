"""treadle.cuda: devices, streams, events, memory; and errors of the driver as Python exceptions."""

import threading

import numpy as np
import pytest
import treadle as td
from treadle import cuda

ADD_ONE = """
extern "C" __global__ void add_one(int* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] += 1;
}
"""


def test_device(device, software):
    assert device == cuda.Device(device.id) == cuda.Device(device.name)
    assert device in cuda.devices()
    assert device.evidence == ("software device" if software else "NVIDIA GPU")
    assert len(device.compute_capability) >= 2 and device.compute_capability.isdigit()
    assert device.attributes["MaxThreadsPerBlock"] == device.attribute(1) == 1024
    assert device.attributes["WarpSize"] == 32
    free, total = device.mem_info
    assert 0 < free <= total
    assert str(device) == device.name and device.name in repr(device)
    with device as entered:
        assert entered is device and cuda.Device() == device


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "soft:-1"])
def test_unknown_device_names(name):
    with pytest.raises((ValueError, td.CUDAError)):
        cuda.Device(name)


def test_device_that_is_not_there():
    with pytest.raises((ValueError, td.CUDAError), match="99"):
        cuda.Device(99)


def test_availability(software):
    assert cuda.is_available()
    assert cuda.gpu_available() or software


def test_streams_order_their_work():
    kernel = td.RawKernel(ADD_ONE, "add_one")
    x = td.zeros(10_000, np.int32)
    cuda.synchronize()
    stream = cuda.Stream(non_blocking=True)
    with stream:
        assert cuda.get_current_stream() == stream
        for _ in range(20):
            kernel((40,), (256,), (x, 10_000))
        event = stream.record()
    assert cuda.get_current_stream() != stream
    event.synchronize()
    assert event.done and stream.done
    assert (td.asnumpy(x) == 20).all()


def test_event_between_streams():
    kernel = td.RawKernel(ADD_ONE, "add_one")
    x = td.zeros(100_000, np.int32)
    cuda.synchronize()
    first, second = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    with first:
        for _ in range(10):
            kernel((400,), (256,), (x, 100_000))
        event = first.record()
    second.wait_event(event)
    with second:
        kernel((400,), (256,), (x, 100_000))
    second.synchronize()
    assert (td.asnumpy(x) == 11).all()


def test_elapsed_time():
    start, end = cuda.Event(), cuda.Event()
    start.record()
    x = td.ones(1_000_000, np.float32)
    for _ in range(5):
        x = td.sqrt(x + 1)
    end.record()
    end.synchronize()
    assert cuda.get_elapsed_time(start, end) > 0
    assert cuda.get_elapsed_time(start, start) == 0


def test_elapsed_time_needs_recorded_events():
    """As CUDA defines it: cuEventElapsedTime answers CUDA_ERROR_INVALID_HANDLE."""
    with pytest.raises(td.CUDAError) as caught:
        cuda.get_elapsed_time(cuda.Event(), cuda.Event())
    assert caught.value.name == "CUDA_ERROR_INVALID_HANDLE" and caught.value.code == 400
    assert "cuEventElapsedTime" in caught.value.call
    without = cuda.Event(disable_timing=True)
    without.record()
    without.synchronize()
    with pytest.raises(td.CUDAError):
        cuda.get_elapsed_time(without, without)


def test_memory_pool_counts_and_gives_back():
    pool = td.get_default_memory_pool()
    cuda.synchronize()
    before = pool.used_bytes()
    x = td.zeros(1 << 20, np.uint8)
    x.flush()
    assert pool.used_bytes() >= before + (1 << 20)
    del x
    cuda.synchronize()
    assert pool.used_bytes() == before


def test_pool_gives_everything_back(python):
    done = python(
        "import treadle as td, numpy as np\n"
        "pool = td.get_default_memory_pool()\n"
        "x = [td.zeros(n << 10, np.uint8) for n in (1, 100, 5000)]\n"
        "[a.flush() for a in x]; td.cuda.synchronize()\n"
        "assert pool.used_bytes() >= 5101 << 10\n"
        "del x; td.cuda.synchronize()\n"
        "print(pool.used_bytes(), pool.total_bytes() > 0)\n"
        "pool.free_all_blocks(); print(pool.total_bytes())\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "True", "0"]


def test_pool_limit_with_a_free_block_in_the_way(python):
    """cupy/cupy#7678: nothing is in use, so the larger allocation succeeds."""
    done = python(
        "import treadle as td, numpy as np\n"
        "pool = td.get_default_memory_pool(); pool.set_limit(64 << 20)\n"
        "x = td.empty(32 << 20, np.uint8); x[0] = 1; x.flush(); del x\n"
        "y = td.empty(48 << 20, np.uint8); y[0] = 1; y.flush()\n"
        "assert pool.total_bytes() <= 64 << 20, pool.total_bytes()\n"
        "try:\n    z = td.empty(48 << 20, np.uint8); z[0] = 1; z.flush()\n"
        "except td.OutOfMemoryError as e:\n"
        "    print('refused', isinstance(e, MemoryError), '48' in str(e) or '50331648' in str(e))\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["refused", "True", "True"]


def test_out_of_memory_states_sizes():
    with pytest.raises(td.OutOfMemoryError) as caught:
        td.empty(1 << 48, np.uint8).data.ptr  # noqa: B018
    assert isinstance(caught.value, MemoryError) and isinstance(caught.value, td.CUDAError)
    assert caught.value.name == "CUDA_ERROR_OUT_OF_MEMORY"
    x = td.ones(10)
    assert float(x.sum()) == 10


def test_second_thread_uses_the_same_device():
    """cupy/cupy#4618: no "no currently active context"."""
    results = []

    def work():
        x = td.arange(1000, dtype=np.int64)
        results.append(int((x * 2).sum()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [999_000] * 4


def test_arrays_cross_threads():
    x = td.arange(1000, dtype=np.int64) + 1
    seen = []
    thread = threading.Thread(target=lambda: seen.append(td.asnumpy(x * 2)))
    thread.start()
    thread.join()
    assert np.array_equal(seen[0], 2 * (np.arange(1000) + 1))


def test_the_gil_is_released_while_waiting():
    source = """
    extern "C" __global__ void slow(float* o, int rounds) {
      float x = o[0];
      for (int i = 0; i < rounds; ++i) x = x * 0.999f + 1.0f;
      o[0] = x;
    }
    """
    kernel = td.RawKernel(source, "slow")
    out = td.zeros(1, np.float32)
    kernel((1,), (1,), (out, 10))
    cuda.synchronize()
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    kernel((1,), (1,), (out, 30_000_000))
    before = counted[0]
    cuda.synchronize()
    during = counted[0] - before
    stop.set()
    thread.join()
    assert during > 1000


FAULT = """
import json, numpy as np, treadle as td
from treadle import cuda
k = td.RawKernel('extern "C" __global__ void bad(float* o, long long at) { *(float*)at = 1.0f; }', "bad")
x = td.zeros(4, np.float32)
cuda.synchronize()
names = []
def attempt(call):
    try:
        call(); names.append("none")
    except td.CUDAError as e:
        names.append(e.name); messages.append(str(e))
messages = []
k((1,), (1,), (x, ADDRESS))
attempt(cuda.synchronize)
attempt(cuda.synchronize)
attempt(lambda: td.asnumpy(x))
attempt(lambda: td.empty(1 << 20).flush() or cuda.synchronize())
print(json.dumps([names, messages]))
"""


@pytest.mark.parametrize("address", ["8", "x.data.ptr + (1 << 40)", "2**46"])
def test_fault_is_sticky_and_a_fresh_process_is_clean(python, address):
    """cair/tmu#68: 700 at the next call and at every later one; never a crash of the host."""
    import json

    done = python(FAULT.replace("ADDRESS", address))
    assert done.returncode == 0, done.stderr
    names, messages = json.loads(done.stdout.splitlines()[-1])
    assert names == ["CUDA_ERROR_ILLEGAL_ADDRESS"] * 4
    assert "bad" in messages[0]  # the kernel is named
    assert python("import treadle as td; assert float(td.ones(3).sum()) == 3").returncode == 0


def test_reset_of_the_software_device(python, software):
    if not software:
        pytest.skip("an NVIDIA GPU asks for a new process after a fault")
    code = FAULT.replace("ADDRESS", "8").rsplit("print", 1)[0] + (
        "cuda.Device().reset()\n"
        "try: td.asnumpy(x); print('alive')\n"
        "except td.CUDAError as e: print('dead')\n"
        "print(float(td.ones(3).sum()))\n"
        "k2 = td.RawKernel('extern \"C\" __global__ void good(float* o) { o[0] = 5; }', 'good')\n"
        "y = td.zeros(1, np.float32); k2((1,), (1,), (y,)); print(y.item())\n"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["dead", "3.0", "5.0"]
