"""Streams in detail, host functions, capture and graphs, the functions of treadle.cuda.runtime, the profiler."""

import threading
import time

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle.cuda import runtime


def same(mine, wanted):
    np.testing.assert_array_equal(td.asnumpy(mine), wanted)


# ---- streams ----


def test_stream_facts():
    stream = cuda.Stream(non_blocking=True, priority=-1)
    assert stream.non_blocking and stream.priority == -1 and stream.ptr != 0
    assert cuda.Stream(priority=100).priority == 0  # the nearest limit
    assert not cuda.Stream().non_blocking
    assert stream.device == cuda.Device() and stream.device_id == cuda.Device().id
    assert cuda.Stream.null == cuda.Stream(null=True) and cuda.Stream.null.ptr == 0
    with pytest.raises(ValueError, match="only one"):
        cuda.Stream(null=True, non_blocking=True)
    with pytest.raises(ValueError, match="priority"):
        cuda.Stream(ptds=True, priority=0)


def test_each_thread_has_its_own_stream():
    mine, others = cuda.Stream.ptds, []
    assert mine == cuda.Stream(ptds=True)
    thread = threading.Thread(target=lambda: others.append(cuda.Stream.ptds.ptr))
    thread.start()
    thread.join()
    assert others[0] != mine.ptr
    with mine:
        x = td.arange(5) + 1
    mine.synchronize()
    same(x, np.arange(5) + 1)


def test_external_stream():
    owner = cuda.Stream(non_blocking=True)
    borrowed = cuda.ExternalStream(owner.ptr)
    assert borrowed == owner and isinstance(borrowed, cuda.Stream)
    with borrowed:
        assert cuda.get_current_stream() == owner
        x = td.arange(5) * 2
    borrowed.synchronize()
    same(x, np.arange(5) * 2)
    del borrowed
    owner.synchronize()  # still there
    assert cuda.ExternalStream(1).ptr == 0


def test_host_function_keeps_its_place():
    stream = cuda.Stream(non_blocking=True)
    seen = []

    def slow(value):
        time.sleep(0.05)
        seen.append(value)

    stream.launch_host_func(slow, 1)
    stream.launch_host_func(seen.append, 2)
    event = cuda.Event()
    event.record(stream)
    event.synchronize()
    assert seen == [1, 2]
    stream.add_callback(lambda s, status, arg: seen.append((s.ptr, status, arg)), "x")
    stream.synchronize()
    assert seen[2] == (stream.ptr, 0, "x")
    with pytest.raises(TypeError, match="int"):
        stream.launch_host_func(3)


def test_host_function_that_raises_is_reported(monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda args: seen.append(args.exc_type))
    stream = cuda.Stream(non_blocking=True)
    stream.launch_host_func(lambda _: 1 // 0)
    stream.synchronize()
    assert seen == [ZeroDivisionError]


# ---- graphs ----


def capture(stream, work):
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        try:
            result = work()
        finally:
            graph = stream.end_capture()
    assert not stream.is_capturing()
    return graph, result


def test_graph_replays_array_work():
    stream = cuda.Stream(non_blocking=True)
    x, out = td.arange(10.0), td.zeros(10)
    cuda.synchronize()
    graph, total = capture(stream, lambda: ((out.fill(0), out.__iadd__(x * x + 1)), out.sum())[1])
    graph.upload(stream)
    for k in range(3):
        x += k
        cuda.synchronize()
        graph.launch(stream)
        stream.synchronize()
        wanted = (td.asnumpy(x)) ** 2 + 1
        same(out, wanted)
        same(total, wanted.sum())
    assert graph.node_count > 0 and graph.graph and graph.graphExec


def test_graph_of_kernels_and_a_host_function():
    kernel = td.RawKernel(
        'extern "C" __global__ void step(int* o) { o[threadIdx.x] += threadIdx.x; }', "step"
    )
    out, calls = td.zeros(32, np.int32), []
    kernel.compile()
    cuda.synchronize()
    stream = cuda.Stream(non_blocking=True)

    def work():
        kernel((1,), (32,), (out,))
        stream.launch_host_func(calls.append, "done")

    graph, _ = capture(stream, work)
    stream.synchronize()
    assert calls == []
    same(out, np.zeros(32, np.int32))
    for _ in range(4):
        graph.launch(stream)
    stream.synchronize()
    assert calls == ["done"] * 4
    same(out, 4 * np.arange(32, dtype=np.int32))


def test_memory_of_a_graph_is_not_used_for_anything_else():
    stream = cuda.Stream(non_blocking=True)
    x = td.ones(100_000, np.float32)
    out = td.zeros((), np.float32)
    cuda.synchronize()

    def work():
        temporary = x + 1
        temporary.flush()
        td.sum(temporary * 2, out=out)  # `temporary` dies here

    graph, _ = capture(stream, work)
    with stream:
        others = [td.full(100_000, 7, np.float32) for _ in range(20)]
        for other in others:
            other.flush()
        graph.launch()
        stream.synchronize()
    for other in others:
        assert float(other.min()) == float(other.max()) == 7
    assert float(out) == 400_000
    pool = td.get_default_memory_pool()
    before = pool.used_bytes()
    del graph
    assert pool.used_bytes() < before


def test_graph_outlives_its_arrays():
    stream = cuda.Stream(non_blocking=True)
    x = td.arange(1000.0)
    cuda.synchronize()
    graph, y = capture(stream, lambda: (x + 1).copy())
    del y
    with stream:
        z = td.zeros(1000)
        z.flush()
        graph.launch()
        stream.synchronize()
    same(z, np.zeros(1000))


def test_refused_captures():
    with pytest.raises(td.CUDAError):
        cuda.Stream.null.begin_capture()
    stream = cuda.Stream(non_blocking=True)
    with pytest.raises(td.CUDAError):
        stream.end_capture()
    with pytest.raises(ValueError, match="mode"):
        stream.begin_capture(5)
    stream.begin_capture(runtime.streamCaptureModeRelaxed)
    with pytest.raises(td.CUDAError):
        stream.begin_capture()
    stream.end_capture()


# ---- runtime ----


def test_runtime_devices(software):
    assert runtime.getDeviceCount() == sum(d.is_software == software for d in cuda.devices())
    assert runtime.getDevice() == cuda.Device().id
    runtime.setDevice(runtime.getDevice())
    runtime.deviceSynchronize()
    facts = runtime.getDeviceProperties(0)
    assert (
        isinstance(facts["name"], bytes) and facts["totalGlobalMem"] == cuda.Device(0).mem_info[1]
    )
    assert facts["warpSize"] == 32 and len(facts["maxGridSize"]) == 3
    major = runtime.deviceGetAttribute(runtime.cudaDevAttrComputeCapabilityMajor, 0)
    assert facts["major"] == major == int(cuda.Device(0).compute_capability[:-1])
    assert runtime.driverGetVersion() == cuda.driver.get_version() >= 11000
    assert runtime.runtimeGetVersion() >= 11000 and not runtime.is_hip
    bus = runtime.deviceGetPCIBusId(0)
    assert bus == cuda.Device(0).pci_bus_id and cuda.Device.from_pci_id(bus).id == 0
    assert runtime.deviceGetByPCIBusId(bus) == 0
    assert runtime.deviceCanAccessPeer(0, 0) == 0
    free, total = runtime.memGetInfo()
    assert 0 < free <= total


def test_limits():
    before = runtime.deviceGetLimit(runtime.cudaLimitStackSize)
    runtime.deviceSetLimit(runtime.cudaLimitStackSize, 8192)
    assert runtime.deviceGetLimit(runtime.cudaLimitStackSize) >= 8192
    runtime.deviceSetLimit(runtime.cudaLimitStackSize, before)
    with pytest.raises(runtime.CUDARuntimeError) as caught:
        runtime.deviceGetLimit(99)
    assert caught.value.status == caught.value.code != 0


def test_runtime_memory():
    host = np.arange(100, dtype=np.float32)
    back = np.zeros_like(host)
    a, b = runtime.malloc(host.nbytes), runtime.mallocManaged(host.nbytes)
    runtime.memcpy(a, host.ctypes.data, host.nbytes, runtime.memcpyHostToDevice)
    stream = runtime.streamCreate()
    runtime.memcpyAsync(b, a, host.nbytes, runtime.memcpyDeviceToDevice, stream)
    runtime.streamSynchronize(stream)
    assert runtime.streamQuery(stream) == 0
    runtime.memset(a, 0, 40)
    runtime.memcpy(back.ctypes.data, b, host.nbytes, runtime.memcpyDeviceToHost)
    np.testing.assert_array_equal(back, host)
    runtime.memcpy(back.ctypes.data, a, host.nbytes, runtime.memcpyDeviceToHost)
    np.testing.assert_array_equal(back, np.where(np.arange(100) < 10, 0, host))
    runtime.free(a)
    runtime.free(b)
    runtime.free(0)
    with pytest.raises(ValueError, match="not an address"):
        runtime.free(a)
    runtime.streamDestroy(stream)


def test_runtime_events():
    stream = runtime.streamCreateWithFlags(runtime.streamNonBlocking)
    first, last = runtime.eventCreate(), runtime.eventCreate()
    runtime.eventRecord(first, stream)
    runtime.eventRecord(last, stream)
    runtime.streamWaitEvent(stream, last)
    runtime.eventSynchronize(last)
    assert runtime.eventQuery(last) == 0
    assert runtime.eventElapsedTime(first, last) >= 0
    for event in (first, last):
        runtime.eventDestroy(event)
    runtime.streamDestroy(stream)
    with pytest.raises(ValueError):
        runtime.streamDestroy(stream)


def test_profiler_and_nvtx_may_be_called():
    with cuda.profiler.profile():
        cuda.nvtx.RangePush("work")
        cuda.nvtx.Mark("here")
        cuda.nvtx.RangePop()
    with cuda.nvtx.range("work"):
        pass
    assert not cuda.nvtx.available


# ---- benchmark ----


def test_benchmark(software):
    from treadle.profiler import benchmark, time_range

    calls = []
    result = benchmark(lambda x, y: calls.append(x + y), (1,), {"y": 2}, n_repeat=7, n_warmup=3)
    assert calls == [3] * 10
    assert result.cpu_times.shape == (7,) and result.gpu_times.shape == (1, 7)
    assert (result.cpu_times >= 0).all() and (result.gpu_times >= 0).all()
    text = str(benchmark(td.sin, (td.ones(1000),), n_repeat=2, name="sines"))
    assert "sines" in text and "CPU" in text and ("soft-" in text) == software
    assert benchmark(time.sleep, (0.02,), n_warmup=0, max_duration=0.05).cpu_times.size < 10
    x = td.ones(1_000_000)
    slow = benchmark(lambda: td.exp(x), n_repeat=3)
    assert slow.gpu_times.min() > 1e-6  # the value was computed
    with pytest.raises(ValueError, match="n_repeat"):
        benchmark(time.sleep, (0,), n_repeat=0)
    with pytest.raises(ValueError, match="tuple"):
        benchmark(time.sleep, 0)

    @time_range()
    def named():
        return 5

    assert named() == 5 and named.__name__ == "named"
    with time_range("block", sync=True):
        pass


def test_show_config(capsys):
    td.show_config()
    text = capsys.readouterr().out
    assert td.__version__ in text and cuda.Device().name in text and cuda.Device().evidence in text


# ---- streams of other libraries, by the protocol ----


class ForeignStream:
    def __init__(self, answer):
        self.answer = answer

    def __cuda_stream__(self):
        return self.answer


def test_stream_by_the_protocol():
    import gc
    import weakref

    owner = cuda.Stream(non_blocking=True)
    foreign = ForeignStream((0, owner.ptr))
    alive = weakref.ref(foreign)
    stream = cuda.Stream.from_external(foreign)
    assert stream == owner and stream.is_non_blocking
    del foreign
    gc.collect()
    assert alive()
    del stream
    gc.collect()
    assert alive() is None
    for answer in (1, (0,), (0, "1"), (1, 0)):
        with pytest.raises(TypeError):
            cuda.Stream.from_external(ForeignStream(answer))
    with pytest.raises(TypeError, match="__cuda_stream__"):
        cuda.Stream.from_external(object())


def test_devices_have_an_order(software_built, python):
    done = python(
        "from treadle import cuda\nfrom treadle.cuda.device import Device\n"
        "a, b = Device(0), Device(1)\nprint(a < b, b > a, a <= a, a >= b, cuda.runtime.getDeviceCount())",
        TREADLE_SOFT_DEVICES="2",
        TREADLE_DEVICE="soft:0",
    )
    assert done.stdout.split() == ["True", "True", "True", "False", "2"], done.stderr
