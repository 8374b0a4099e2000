"""The array API standard's own: namespace, devices, DLPack; and the comparing decorators of treadle.testing."""

import pickle

import numpy as np
import pytest
import treadle as td
from treadle import testing


def test_namespace():
    x = td.arange(3)
    assert x.__array_namespace__() is td
    assert x.__array_namespace__(api_version="2024.12") is td
    with pytest.raises(ValueError, match="2019"):
        x.__array_namespace__(api_version="2019.01")
    info = td.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["integral"] == np.int64
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}
    assert info.capabilities()["boolean indexing"]


def test_dlpack():
    x = td.arange(6.0).reshape(2, 3)[:, ::-1]
    np.testing.assert_array_equal(td.from_dlpack(np.arange(4)).get(), np.arange(4))
    view = td.from_dlpack(x)
    x[0, 0] = 9
    assert float(view[0, 0]) == 9
    assert not td.shares_memory(td.from_dlpack(x, copy=True), x)
    with pytest.raises(BufferError, match="copy"):
        td.from_dlpack(np.arange(4), copy=False)
    np.testing.assert_array_equal(np.from_dlpack(td.from_dlpack(x, copy=True).get()), x.get())


def test_dlpack_of_the_host(software):
    if not software:
        pytest.skip("memory of a GPU is not memory of the host")
    x = td.arange(6)
    host = np.from_dlpack(x)
    x += 1
    td.cuda.Device().synchronize()
    np.testing.assert_array_equal(host, np.arange(1, 7))
    assert not np.from_dlpack(td.broadcast_to(x, (2, 6))).flags.writeable
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)


def test_other_devices(software_built, python):
    done = python(
        "import treadle as td\n"
        "x = td.arange(4)\n"
        "y = x.to_device('soft:1')\n"
        "assert y.device.name == 'soft:1' and y.tolist() == [0, 1, 2, 3]\n"
        "assert x.to_device(x.device) is x\n"
        "assert td.zeros(3, device=y.device).device == y.device\n"
        "assert td.zeros_like(y).device == y.device\n"
        "assert td.asarray(x, device='soft:1').device == y.device\n"
        "try:\n    td.asarray(x, device='soft:1', copy=False)\n"
        "except ValueError:\n    print('refused')\n",
        TREADLE_SOFT_DEVICES="2",
        TREADLE_DEVICE="soft",
    )
    assert done.stdout == "refused\n", done.stderr


def test_dtypes():
    assert td.finfo(td.ones(1, td.complex64)).bits == 32
    assert type(td.finfo("f4").eps) is float
    assert td.iinfo(td.arange(3)).max == 2**63 - 1
    assert td.isdtype(td.float32, ("integral", "real floating"))
    assert td.can_cast(td.ones(1, "i2"), "f4")
    assert not td.can_cast("f8", "i4")


def test_views():
    x = td.arange(8, dtype="i4")
    np.testing.assert_array_equal(x.view("u1").get(), np.arange(8, dtype="i4").view("u1"))
    assert x[::2].view("u4").shape == (4,)
    with pytest.raises(ValueError, match="contiguous"):
        x[::2].view("i8")
    z = td.zeros(3, td.complex64)
    z.real, z.imag = 1, td.arange(3)
    np.testing.assert_array_equal(z.get(), 1 + 1j * np.arange(3))
    with pytest.raises(TypeError, match="imaginary"):
        x.imag = 1
    assert pickle.loads(x.dumps()).tolist() == x.tolist()


def test_copyto_with_a_mask():
    x = td.zeros((2, 3))
    td.copyto(x, 5, where=td.asarray([True, False, True]))
    assert x.tolist() == [[5, 0, 5], [5, 0, 5]]
    with pytest.raises(TypeError, match="same_kind"):
        td.copyto(td.zeros(3, "i4"), td.ones(3))
    with pytest.raises(TypeError):
        td.copyto(td.zeros(3, "i4"), 1.5)


def test_comparing_decorators():
    @testing.for_all_dtypes(no_bool=True)
    @testing.numpy_cupy_allclose(rtol={"default": 1e-6, np.float16: 1e-3})
    def equal(xp, dtype):
        return testing.shaped_arange((2, 3), xp, dtype) * 2

    equal()

    @testing.numpy_cupy_array_equal()
    def different(xp):
        return xp.asarray([1 if xp is td else 2])

    with pytest.raises(AssertionError):
        different()

    @testing.numpy_cupy_array_equal()
    def other_dtype(xp):
        return xp.zeros(2, "f4" if xp is td else "f8")

    with pytest.raises(AssertionError, match="dtype"):
        other_dtype()

    @testing.numpy_cupy_allclose(accept_error=ValueError)
    def raises(xp):
        return xp.zeros(3).reshape(2)

    raises()

    @testing.numpy_cupy_allclose()
    def raises_unexpectedly(xp):
        return xp.zeros(3).reshape(2)

    with pytest.raises(AssertionError, match="does not expect"):
        raises_unexpectedly()
