"""Device arrays by Numba's names: copies, views, elements, page-locked, mapped and managed arrays, records."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import treadle as td
from treadle import CUDAError, cuda
from treadle.cuda._devicearray import DeviceNDArray


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (2, 3, 4)])
def test_there_and_back(dtype, shape):
    rng = np.random.default_rng(7)
    host = rng.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
    for order in "CF":
        given = np.asarray(host, order=order)
        device = cuda.to_device(given)
        back = device.copy_to_host()
        np.testing.assert_array_equal(back, given)
        assert back.dtype == given.dtype
        assert device.is_c_contiguous() == given.flags.c_contiguous
        assert device.is_f_contiguous() == given.flags.f_contiguous
        like = cuda.device_array_like(device)
        assert (like.shape, like.dtype, like.strides) == (
            device.shape,
            device.dtype,
            device.strides,
        )


def test_it_is_a_treadle_array():
    device = cuda.to_device(np.arange(5.0))
    assert isinstance(device, td.ndarray) and isinstance(device, DeviceNDArray)
    assert (device * 2 + 1).get().tolist() == [1, 3, 5, 7, 9]
    assert float(td.sin(device).sum()) == pytest.approx(np.sin(np.arange(5.0)).sum())
    np.testing.assert_array_equal(np.asarray(device), np.arange(5.0))
    np.testing.assert_array_equal(td.asarray(device[::2]).get(), [0, 2, 4])
    assert td.zeros(3).copy_to_host().tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="copy=False"):
        np.array(device, copy=False)


def test_elements_come_to_the_host():
    host = np.arange(12, dtype=np.int32).reshape(3, 4)
    device = cuda.to_device(host)
    assert device[1, 2] == 6 and type(device[1, 2]) is np.int32
    assert device[-1, -1] == 11 and device.getitem((0, 1), stream=cuda.stream()) == 1
    assert isinstance(device[1], DeviceNDArray) and device[1].copy_to_host().tolist() == [
        4,
        5,
        6,
        7,
    ]
    assert [row.copy_to_host().tolist() for row in device] == host.tolist()
    for wrong in (3, -4):
        with pytest.raises(IndexError):
            device[wrong]


def test_views_share_memory():
    device = cuda.to_device(np.arange(24.0).reshape(4, 6))
    for view in (
        device[1:, ::2],
        device[::-1],
        device.T,
        device.reshape(6, 4),
        device.ravel(),
        device[:, 2],
    ):
        assert isinstance(view, DeviceNDArray)
    device[::-1][0] = 100
    assert device.copy_to_host()[3].tolist() == [100] * 6
    device.ravel()[0] = -1
    assert device[0, 0] == -1
    with pytest.raises(NotImplementedError, match="requires copying"):
        device[:, ::2].ravel()
    assert device.view(np.uint64).copy_to_host()[3, 0] == np.float64(100).view(np.uint64)


def test_stores_check_their_shape():
    device = cuda.to_device(np.zeros(5))
    device[1:3] = [7, 8]
    device.setitem(4, 9, stream=cuda.stream())
    cuda.synchronize()
    assert device.copy_to_host().tolist() == [0, 7, 8, 0, 9]
    with pytest.raises(ValueError, match="Can't assign 3-D array to 1-D self"):
        device[:] = np.ones((1, 2, 3))
    with pytest.raises(ValueError, match="sequence with size 2 to array axis 0 with dimension 5"):
        device[:] = [1, 3]


def test_copies_between_layouts():
    c = np.arange(12.0).reshape(3, 4)
    device = cuda.to_device(c)
    device.copy_to_device(np.asfortranarray(c + 1))
    np.testing.assert_array_equal(device.copy_to_host(), c + 1)
    with pytest.raises(ValueError, match="incompatible strides"):
        device.copy_to_device(cuda.to_device(np.asfortranarray(c)))
    with pytest.raises(ValueError, match="incompatible shape"):
        device.copy_to_device(np.zeros((4, 3)))
    with pytest.raises(TypeError, match="incompatible dtype"):
        device.copy_to_device(np.zeros((3, 4), np.float32))
    with pytest.raises(ValueError, match="non-contiguous buffer"):
        device[:, 1].copy_to_device(np.zeros(3))
    out = np.empty((3, 4), order="F")
    assert device.copy_to_host(out) is out
    np.testing.assert_array_equal(out, c + 1)
    with pytest.raises(ValueError, match="incompatible shape"):
        device.copy_to_host(np.empty((4, 4)))
    np.testing.assert_array_equal(device[::-1, ::2].copy_to_host(), (c + 1)[::-1, ::2])


def test_to_device_into_an_array_and_without_copy():
    device = cuda.device_array(4, np.int32)
    assert cuda.to_device(np.arange(4, dtype=np.int32), to=device) is device
    assert device.copy_to_host().tolist() == [0, 1, 2, 3]
    assert cuda.to_device(np.zeros(7), copy=False).shape == (7,)
    assert cuda.to_device(device) is device
    with pytest.raises(ValueError, match="non-contiguous buffer"):
        cuda.to_device(np.arange(10)[::2])
    for wrong in (1.5, [1.5], np.array([1.5])):
        with pytest.raises(TypeError):
            cuda.device_array(wrong)


def test_split_and_bind():
    device = cuda.to_device(np.arange(10))
    assert [p.copy_to_host().tolist() for p in device.split(4)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]
    with pytest.raises(ValueError, match="only support 1d array"):
        next(cuda.to_device(np.zeros((2, 2))).split(1))
    stream = cuda.stream()
    bound = device.bind(stream)
    assert bound.stream == stream and device.stream == 0 and bound[2:].stream == stream


# ---- memory that host and device share ----


def test_mapped_and_managed_arrays_need_no_copy():
    for make in (cuda.mapped_array, cuda.managed_array):
        for dtype in ("i4", "f8", "c8"):
            host = make((2, 8), dtype)
            host[...] = 1
            add_one[1, 32](host[1])
            cuda.synchronize()
            assert host[0].tolist() == [1] * 8 and host[1].tolist() == [2] * 8
            view = make((4, 6), dtype, order="F")
            assert view.flags.f_contiguous and (view[::2] * 1).shape == (2, 6)


def test_pinned_and_mapped_contexts():
    host = np.arange(4096.0)
    with cuda.pinned(host):
        device = cuda.to_device(host, stream=cuda.stream())
        np.testing.assert_array_equal(device.copy_to_host(), host)
    with cuda.mapped(host) as device:
        with pytest.raises(CUDAError, match="ALREADY_REGISTERED"), cuda.pinned(host):
            pass
        add_one[16, 256](device)
        cuda.synchronize()
    np.testing.assert_array_equal(host, np.arange(4096.0) + 1)
    with cuda.mapped(host[::-1]) as device:
        add_one[16, 256](device)
        cuda.synchronize()
    np.testing.assert_array_equal(host, np.arange(4096.0) + 2)
    pinned = cuda.pinned_array_like(host)
    pinned[:] = 3
    np.testing.assert_array_equal(cuda.to_device(pinned).copy_to_host(), pinned)


# ---- records and other dtypes ----

POINT = np.dtype(
    [("x", "f8"), ("n", "i4"), ("z", "c8"), ("name", "U4"), ("grid", "f4", (2, 3))], align=True
)


def points(n):
    host = np.zeros(n, POINT)
    host["x"], host["n"], host["z"] = np.arange(n), np.arange(n) * 2, 1j * np.arange(n)
    host["grid"] = np.arange(6 * n).reshape(n, 2, 3)
    host["name"] = "ab"
    return host


def test_structured_arrays_there_and_back():
    for host in (points(4), points(4)[::2].copy(), points(0), points(6).reshape(2, 3)):
        device = cuda.to_device(host)
        assert (device.shape, device.dtype) == (host.shape, host.dtype)
        np.testing.assert_array_equal(device.copy_to_host(), host)
    device = cuda.to_device(points(4))
    np.testing.assert_array_equal(device["x"].copy_to_host(), np.arange(4.0))
    np.testing.assert_array_equal(device[1:3]["grid"].copy_to_host(), points(4)["grid"][1:3])
    np.testing.assert_array_equal(device[::-1].copy_to_host(), points(4)[::-1])


def test_records_of_a_device_array():
    device = cuda.to_device(points(4))
    record = device[2]
    assert record["x"] == 2 and record["z"] == 2j and record["name"] == "ab"
    record["x"], record["name"] = 7, "xyz"
    record["grid"][1, 2] = -1
    device[3] = points(4)[1]
    back = device.copy_to_host()
    assert back[2]["x"] == 7 and back[2]["name"] == "xyz" and back[2]["grid"][1, 2] == -1
    assert back[3] == points(4)[1]
    with pytest.raises(TypeError, match="incompatible dtype"):
        device.copy_to_device(np.zeros(4))


def test_kernels_take_structured_arrays_and_records():
    @cuda.jit
    def move(p, one):
        i = cuda.grid(1)
        if i < p.size:
            p[i].x += one.x
            p[i]["n"] = i
        if i == 0:
            one.n = 99

    host, one = points(5), points(3)[2]
    device = cuda.to_device(host)
    move[1, 32](device, one)
    back = device.copy_to_host()
    assert back["x"].tolist() == [2, 3, 4, 5, 6] and back["n"].tolist() == [0, 1, 2, 3, 4]
    assert one["n"] == 99  # records come back, as arrays do
    on_device = cuda.to_device(points(3)[1])
    move[1, 32](cuda.to_device(host), on_device)
    assert on_device.copy_to_host()["n"] == 99


def test_dates_and_characters_travel():
    for host in (
        np.array(["2020-01-01", "NaT"], "M8[D]"),
        np.array([b"ab", b"c"]),
        np.array(["x", "yz"]),
    ):
        device = cuda.to_device(host)
        np.testing.assert_array_equal(device.copy_to_host(), host)
        assert device[0] == host[0]


# ---- arrays of other libraries ----


def test_arrays_by_dlpack():
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    own, host = td.arange(6.0), np.arange(6.0)
    for array in (
        own,
        host,
    ):  # where the memory is decides: on the device as it is, on the host there and back
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            add_one[1, 32](Foreign(array))
    assert own.get().tolist() == host.tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(TypeError, match="the host's; copy it with to_device"):
        cuda.as_cuda_array(Foreign(host))
    assert cuda.is_cuda_array(own) and not cuda.is_cuda_array(np.zeros(3))
    with pytest.raises(TypeError, match="cuda array interface"):
        cuda.as_cuda_array([1, 2])


TWO_DEVICES = """
import numpy as np
from treadle import cuda

values = np.arange(10, dtype=np.float32)
with cuda.gpus[0]:
    first = cuda.to_device(values)
with cuda.gpus[1]:
    second = cuda.to_device(np.zeros_like(values))
with cuda.gpus[0]:
    second.copy_to_device(first)
    print(second.copy_to_host().tolist() == values.tolist(), second.device.id)
    second.copy_to_device(2 * values)
    print(second.copy_to_host().tolist() == (2 * values).tolist(), second.device.id)


@cuda.require_context
def switches(number):
    with cuda.gpus[number]:
        return cuda.current_context().device.id


print(switches(0))
try:
    switches(1)
except RuntimeError as error:
    print(error)
with cuda.gpus[1]:
    print(switches(1))
"""


@pytest.mark.skipif(
    not any(d.is_software for d in cuda.devices()), reason="this build has no software device"
)
def test_arrays_are_copied_between_devices():
    environment = {**os.environ, "TREADLE_DEVICE": "soft", "TREADLE_SOFT_DEVICES": "2"}
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES], capture_output=True, text=True, env=environment
    )
    told = "Cannot switch CUDA-context. A function with @cuda.require_context runs on soft:0"
    assert done.stdout.splitlines() == ["True 1", "True 1", "0", told, "1"], (
        done.stdout + done.stderr
    )
