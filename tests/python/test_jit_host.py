"""The host side of cuda.jit: arguments, launches, streams, events, contexts by Numba's names."""

import asyncio
import math
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle._jit import settings
from treadle._jit.arguments import NumbaPerformanceWarning


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@pytest.fixture
def quiet(monkeypatch):
    monkeypatch.setattr(settings, "CUDA_WARN_ON_IMPLICIT_COPY", 0)


def test_host_arrays_are_copied_and_told():
    host = np.arange(5.0)
    with pytest.warns(NumbaPerformanceWarning, match="copy overhead") as caught:
        add_one[1, 32](host)
    assert caught[0].filename == __file__
    assert host.tolist() == [1, 2, 3, 4, 5]


def test_hints_say_which_way_host_arrays_go():
    @cuda.jit
    def put(source, target, both):
        i = cuda.grid(1)
        target[i] = source[i]
        source[i] = -1
        both[i] += source[i]

    source, target, both = np.arange(4.0), np.full(4, 7.0), np.ones(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        put[1, 4](cuda.In(source), cuda.Out(target), cuda.InOut(both))
    assert source.tolist() == target.tolist() == [0, 1, 2, 3]
    assert both.tolist() == [0] * 4


def test_a_frozen_host_array_is_read_only(quiet):
    frozen = np.arange(3.0)
    frozen.flags.writeable = False

    @cuda.jit
    def total(x, out):
        out[0] = x[0] + x[1] + x[2]

    out = np.zeros(1)
    total[1, 1](frozen, out)
    assert out[0] == 3 and frozen.tolist() == [0, 1, 2]


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "empty"])
def test_host_arrays_of_every_layout(quiet, layout):
    @cuda.jit
    def scale(x):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            x[i, j] = 10 * i + j

    base = np.zeros((6, 8))
    host = {"C": base, "F": np.asfortranarray(base), "strided": base[::2, 1::3], "reversed": base[::-1, ::-2],
            "empty": base[:0]}[layout]  # fmt: skip
    scale[1, (8, 8)](host)
    want = [[10 * i + j for j in range(host.shape[1])] for i in range(host.shape[0])]
    assert host.tolist() == want


def test_extensions_see_every_argument():
    seen = []

    class Double:
        def prepare_args(self, type_, value, stream, retr):
            seen.append(str(type_))
            retr.append(lambda: seen.append("after"))
            return type_, value * 2 if isinstance(value, int) else value

    @cuda.jit(extensions=[Double()])
    def put(x, n):
        x[0] = n

    x = np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        put[1, 1](x, 21)
    assert x[0] == 42
    assert seen == ["array(float64, 1d, C)", "int64", "after", "after"]


def test_what_no_kernel_takes_is_named():
    with pytest.raises(TypeError, match="'add_one' cannot take a dict"):
        add_one[1, 1]({})


def test_device_functions_are_not_launched():
    @cuda.jit(device=True)
    def half(x):
        return x / 2

    with pytest.raises(RuntimeError, match="Cannot compile a device function as a kernel"):
        half[1, 1](1)


def test_device_functions_with_signatures_convert():
    @cuda.jit("int32(int32, int32)", device=True)
    def pack(a, b):
        return (a << 8) | b

    @cuda.jit
    def call(x, out):
        out[0] = pack(x[0], x[1])

    out = td.zeros(1, np.int64)
    call[1, 1](td.asarray([1.9, 2.0], np.float32), out)
    assert out.get()[0] == 258
    assert list(pack.overloads) == [(cuda.types.int32, cuda.types.int32)]

    @cuda.jit
    def wrong(x, out):
        out[0] = pack(x[0], x[1])

    with pytest.raises(TypeError, match="Invalid use of type 'pack' with parameters"):
        wrong[1, 1](td.asarray([1j, 2j]), out)


# ---- launches over elements, occupancy ----


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 100_003])
def test_forall_reaches_every_element(n):
    x = td.zeros(n)
    add_one.forall(n)(x)
    assert x.get().tolist() == [1.0] * n
    with pytest.raises(ValueError, match="negative task count: -1"):
        add_one.forall(-1)


def test_forall_asks_the_device_for_the_block_size():
    @cuda.jit(launch_bounds=64)
    def put(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = cuda.blockDim.x

    x = td.zeros(1000)
    put.forall(1000)(x)
    assert x.get()[0] == 64
    y = td.zeros(1000)
    add_one.forall(1000, tpb=37)(y)
    assert y.get().tolist() == [1.0] * 1000


def test_a_cooperative_launch_fits_the_device():
    @cuda.jit
    def both(x):
        x[cuda.grid(1)] = 1
        cuda.cg.this_grid().sync()

    both.compile((cuda.types.float64[::1],))
    compiled = both.overloads[(cuda.types.float64[::1],)]
    most = compiled.max_cooperative_grid_blocks(64)
    processors = cuda.get_current_device().MULTIPROCESSOR_COUNT
    assert most >= processors and most % processors == 0
    assert compiled.max_cooperative_grid_blocks((64, 2)) <= most


def test_small_grids_warn_when_asked(monkeypatch):
    add_one[1, 1](td.zeros(1))
    monkeypatch.setattr(settings, "CUDA_LOW_OCCUPANCY_WARNINGS", 1)
    with pytest.warns(NumbaPerformanceWarning, match="Grid size 1 will likely .* low occupancy"):
        add_one[1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_one[4096, 32]


def test_carveout_and_launch_bounds_are_checked():
    for wrong in (150, -2):
        with pytest.raises(ValueError, match="must be between -1 and 100"):
            cuda.jit(shared_memory_carveout=wrong)
    with pytest.raises(ValueError, match="Invalid carveout value"):
        cuda.jit(shared_memory_carveout="much")
    with pytest.raises(ValueError, match="Got 4 launch bounds"):
        cuda.jit(launch_bounds=(1, 2, 3, 4))
    kernel = cuda.jit(shared_memory_carveout="MaxShared")(add_one.py_func)
    x = td.zeros(4)
    kernel[1, 4](x)
    assert x.get().tolist() == [1] * 4


def test_specializations_are_kept():
    f4 = cuda.types.float32[::1]
    kernel = cuda.jit(add_one.py_func)
    one = kernel.specialize(f4)
    assert kernel.specialize(td.zeros(3, np.float32)) is one and one.specialized
    with pytest.raises(RuntimeError, match="already specialized"):
        one.specialize(f4)


def plain(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@pytest.mark.parametrize("copy", [lambda k: k.specialize(td.zeros(3)),
                                  lambda k: pickle.loads(pickle.dumps(k))], ids=["specialize", "pickle"])  # fmt: skip
def test_copies_of_a_kernel_keep_every_keyword(copy):
    keywords = {"cooperative": True, "boundscheck": True, "shared_memory_carveout": 50, "fastmath": True, "opt": True,
                "max_registers": 32, "launch_bounds": (64, 2), "lineinfo": True, "cache": True}  # fmt: skip
    kernel = cuda.jit(**keywords)(plain)
    made = copy(kernel)
    assert made._keywords() == kernel._keywords() and made.targetoptions == kernel.targetoptions
    assert (made.cooperative, made.boundscheck, made.carveout) == (True, True, 50)
    x = td.zeros(3)
    made[1, 4](x)
    assert x.get().tolist() == [1, 1, 1]
    (compiled,) = made.overloads.values()
    assert compiled.cooperative and compiled.kernel.preferred_shared_memory_carveout == 50


# ---- streams and events ----


def test_streams_order_copies_and_launches():
    stream = cuda.stream()
    host = cuda.pinned_array(1000)
    host[:] = np.arange(1000)
    with stream.auto_synchronize():
        device = cuda.to_device(host, stream=stream)
        add_one[4, 256, stream](device)
        result = device.copy_to_host(cuda.pinned_array_like(host), stream=stream)
    assert device.stream == stream
    np.testing.assert_array_equal(result, np.arange(1000) + 1)


def test_a_host_array_follows_the_launch_stream(quiet):
    stream = cuda.stream()
    x = np.zeros(8)
    add_one[1, 8, stream](x)
    assert x.tolist() == [1] * 8


def test_callbacks_and_async_done():
    stream = cuda.stream()
    told = []
    stream.add_callback(lambda s, status, arg: told.append((s == stream, status, arg)), "here")
    stream.synchronize()
    assert told == [(True, 0, "here")]

    async def work(value):
        own = cuda.stream()
        device = cuda.to_device(np.full(10, value), stream=own)
        add_one[1, 32, own](device)
        assert await own.async_done() is own
        return device.copy_to_host(stream=own).mean()

    async def all_of_them():
        return await asyncio.gather(*(work(float(v)) for v in range(4)))

    assert asyncio.run(all_of_them()) == [1, 2, 3, 4]


def test_events_measure():
    start, end = cuda.event(), cuda.event()
    start.record()
    add_one[1, 32](td.zeros(32))
    end.record(stream=0)
    end.wait(stream=cuda.stream())
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    assert cuda.event_elapsed_time(start, end) == start.elapsed_time(end)


def test_default_and_foreign_streams():
    x = td.zeros(4)
    own = cuda.stream()
    for stream in (cuda.default_stream(), cuda.legacy_default_stream(), cuda.per_thread_default_stream(),
                   cuda.external_stream(own.handle), cuda.external_stream(own), 0, None):  # fmt: skip
        add_one[1, 4, stream](x)
        cuda.synchronize()
    assert x.get().tolist() == [7] * 4


# ---- devices and contexts ----


def test_devices_and_contexts():
    device = cuda.get_current_device()
    assert device in list(cuda.gpus) and len(cuda.list_devices()) == len(cuda.gpus)
    assert cuda.select_device(device.id) == device and cuda.gpus.current == device
    major, minor = device.compute_capability
    assert major == device.COMPUTE_CAPABILITY_MAJOR and (major, minor) >= (7, 0)
    assert device.WARP_SIZE == 32 and device.MAX_THREADS_PER_BLOCK == 1024
    with pytest.raises(AttributeError, match="no attribute 'NO_SUCH'"):
        _ = device.NO_SUCH
    context = cuda.current_context()
    assert context.device == device
    free, total = context.get_memory_info()
    assert 0 < free <= total
    with cuda.gpus[device.id] as inside:
        assert inside == context
    assert cuda.is_available() and cuda.is_supported_version() and cuda.cuda_error() is None
    assert cuda.is_float16_supported() and cuda.is_bfloat16_supported() == (major >= 8)

    @cuda.require_context
    def twice(x):
        """Doubles."""
        return 2 * x

    assert twice(4) == 8 and twice.__doc__ == "Doubles."


def test_detect_lists_devices(capsys):
    assert cuda.detect()
    out = capsys.readouterr().out
    assert f"Found {len(cuda.gpus)} CUDA devices" in out and "Compute Capability" in out


def test_what_is_done_otherwise_says_how():
    with pytest.raises(NotImplementedError, match="other processes"):
        cuda.open_ipc_array(b"", 1, "f4")
    x = cuda.to_device(np.arange(3))
    for asked in (x.get_ipc_handle, lambda: cuda.current_context().get_ipc_handle(x.gpu_data)):
        with pytest.raises(NotImplementedError, match="other processes"):
            asked()
    with pytest.raises(NotImplementedError, match=r"inspect_source\(\)"):
        add_one.inspect_llvm()


def test_profiling_and_deferred_cleanup_are_contexts():
    with cuda.profiling(), cuda.defer_cleanup():
        add_one[1, 1](td.zeros(1))
    cuda.profile_start()
    cuda.profile_stop()
    cuda.close()


def test_kernels_of_a_module_travel_in_pickles():
    again = pickle.loads(pickle.dumps(add_one))
    x = td.zeros(3)
    again[1, 3](x)
    assert x.get().tolist() == [1, 1, 1]


def local_kernels():
    scale = 3

    def helper(x):
        return x * scale

    inner = cuda.jit(device=True)(helper)

    @cuda.jit("void(float64[:])")
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = inner(x[i]) + np.float64(math.pi)

    @cuda.jit
    def factorial(x, n):
        x[0] = product(n)

    @cuda.jit(device=True)
    def product(n):
        if n <= 1:
            return 1
        return n * product(n - 1)

    @cuda.vectorize(["float64(float64)"])
    def tripled(x):
        return helper(x)

    return kernel, factorial, tripled


def test_kernels_inside_of_functions_travel_in_pickles():
    def once(kernel):
        return pickle.loads(pickle.dumps(kernel))

    for again in (once, lambda kernel: once(once(kernel))):
        kernel, factorial, tripled = map(again, local_kernels())
        x = td.ones(2)
        kernel[1, 2](x)
        assert np.allclose(x.get(), 3 + math.pi)
        factorial[1, 1](x, 5)
        assert x.get()[0] == 120
        assert tripled(np.arange(3.0)).tolist() == [0, 3, 6]
        assert kernel.signatures == local_kernels()[0].signatures


def test_kernels_inside_of_functions_travel_to_other_processes(tmp_path):
    kernel, _, _ = local_kernels()
    file = tmp_path / "kernel"
    file.write_bytes(pickle.dumps(kernel[1, 2]))
    text = f"""
import pickle, numpy
launch = pickle.load(open({str(file)!r}, "rb"))
x = numpy.ones(2)
launch(x)
print(launch.griddim, launch.blockdim, *x)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True
    )
    assert done.stdout.split(") ")[-1].split() == [str(3 + math.pi)] * 2, done.stderr


def test_callbacks_run_before_each_launch_and_do_not_travel():
    seen = []
    launch = add_one[1, 3]
    launch.pre_launch_callbacks.append(
        lambda kernel, config: seen.append((kernel.name, config.blockdim))
    )
    x = td.zeros(3)
    launch(x)
    launch(x)
    assert [shape for _, shape in seen] == [(3, 1, 1)] * 2 and x.get().tolist() == [2, 2, 2]
    with pytest.raises(pickle.PicklingError, match="callbacks"):
        pickle.dumps(launch)
    with pytest.raises(pickle.PicklingError, match="stream"):
        pickle.dumps(add_one[1, 1, cuda.stream()])


def test_a_launch_beyond_the_limits_is_both_kinds_of_error():
    with pytest.raises(
        td.LaunchLimitError, match=r"kernel 'add_one': block has 2048 threads"
    ) as caught:
        add_one[1, 2048](td.zeros(1))
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, td.CUDAError)
    assert caught.value.name == "CUDA_ERROR_INVALID_VALUE" and "py_" not in str(caught.value)


def test_forall_chooses_once_and_takes_what_launches_take():
    x = td.zeros(1000)
    launch = add_one.forall(1000)
    for _ in range(3):
        launch(x)
    assert (x.get() == 3).all() and launch.tasks == 1000
    add_one.forall(0)(x)
    host = np.zeros(5)
    add_one.forall(5, 32, cuda.stream())(host)
    assert (host == 1).all()
    with pytest.raises(ValueError, match="negative task count"):
        add_one.forall(-1)
    with pytest.raises(ValueError, match="threads of a block"):
        add_one.forall(1, -1)
    with pytest.raises(td.LaunchLimitError):
        add_one.forall(4096, 2048)(x)
    with pytest.raises(td.LaunchLimitError, match="grid dimension x is 4294967295"):
        add_one.forall(2**60)(x)


FORKS = """
import os
import numpy as np
from treadle import cuda
from treadle.errors import CUDAError

cuda.to_device(np.arange(3)).copy_to_host()
child = os.fork()
if not child:
    try:
        print(cuda.to_device(np.arange(3)).copy_to_host().tolist(), flush=True)
    except CUDAError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_forked_process_is_told_how_to_be_started(software):
    command = [sys.executable, "-W", "ignore", "-c", FORKS]
    done = subprocess.run(command, capture_output=True, text=True)
    wanted = "[0, 1, 2]" if software else "CUDA initialized before forking"
    assert wanted in done.stdout, done.stdout + done.stderr
