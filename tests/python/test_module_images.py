"""RawModule(path=): modules from files of compiled code."""

import pickle
import subprocess

import numpy as np
import pytest
import treadle as td

SOURCE = """
extern "C" __global__ void scale(float* out, const float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * factor;
}
__device__ int counter = 41;
extern "C" __global__ void count() { counter += 1; }
__global__ void mangled(int* p) { *p = 1; }
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    file = tmp_path_factory.mktemp("images") / "scale.image"
    file.write_bytes(td.RawModule(code=SOURCE).image)
    return file


def check_scale(module):
    x, out = td.arange(100, dtype="f4"), td.zeros(100, "f4")
    module.get_function("scale")((1,), (128,), (out, x, np.float32(2.5), np.int32(100)))
    np.testing.assert_array_equal(td.asnumpy(out), np.arange(100, dtype="f4") * 2.5)


def test_an_image_that_was_kept(image):
    module = td.RawModule(path=str(image))
    check_scale(module)
    check_scale(td.RawModule(path=image))
    module.get_function("count")((1,), (1,), ())
    pointer = module.get_global("counter")
    counter = td.ndarray((1,), np.int32, pointer)
    assert int(counter[0]) == 42
    assert module.code == ""
    assert module.image == image.read_bytes()


def test_a_module_from_an_image_is_pickled(image):
    check_scale(pickle.loads(pickle.dumps(td.RawModule(path=image))))


def test_kernels_are_known_by_their_symbols(image):
    with pytest.raises(ValueError, match=r"scale\.image has no kernel 'mangled'.*mangled"):
        td.RawModule(path=image).get_function("mangled")
    out = td.zeros(1, "i4")
    td.RawModule(path=image).get_function("_Z7mangledPi")((1,), (1,), (out,))
    assert int(out[0]) == 1


def test_sizes_of_arguments_are_checked(image):
    kernel = td.RawModule(path=image).get_function("scale")
    x = td.zeros(4, "f4")
    with pytest.raises(TypeError):
        kernel((1,), (4,), (x, x))
    with pytest.raises(TypeError):
        kernel((1,), (4,), (x, x, np.float64(2), np.int32(4)))


def test_what_no_driver_can_load(tmp_path, image):
    with pytest.raises(FileNotFoundError):
        td.RawModule(path=tmp_path / "absent")
    broken = tmp_path / "broken"
    for content in (b"", b"no image at all", image.read_bytes()[:200]):
        broken.write_bytes(content)
        with pytest.raises(td.CUDAError, match="cuModuleLoadDataEx"):
            td.RawModule(path=broken).get_function("scale")
    with pytest.raises(TypeError, match=r"code=.*path="):
        td.RawModule()
    with pytest.raises(TypeError, match=r"code=.*path="):
        td.RawModule(code=SOURCE, path=image)
    with pytest.raises(ValueError, match="compiles nothing"):
        td.RawModule(path=image, options=("-DX",))


def test_a_cubin_of_another_compiler(tmp_path, software):
    source, cubin = tmp_path / "k.cu", tmp_path / "k.cubin"
    source.write_text(SOURCE)
    try:
        subprocess.run(
            ["nvcc", "-arch=sm_90", "-cubin", source, "-o", cubin], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nvcc is not here")
    if software:
        with pytest.raises(td.CUDAError, match="software device loads"):
            td.RawModule(path=cubin).get_function("scale")
    else:
        check_scale(td.RawModule(path=cubin))
