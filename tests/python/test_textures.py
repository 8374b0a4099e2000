"""`treadle.cuda.texture`: arrays of texels, texture and surface objects in raw kernels, against NumPy."""

import numpy as np
import pytest
import treadle as td
from hypothesis import given, settings
from hypothesis import strategies as st
from treadle.cuda import texture

READ = """
extern "C" __global__ void read(cudaTextureObject_t image, const float2* at, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(image, at[i].x, at[i].y);
}
"""
MODES = ["wrap", "clamp", "mirror", "border"]  # by CUDA's numbers
FLOAT = texture.ChannelFormatDescriptor(32, 0, 0, 0, texture.cudaChannelFormatKindFloat)


def indices(i, mode, size):
    """The texels of indices, -1 outside of a border."""
    if mode == "border":
        return np.where((i < 0) | (i >= size), -1, i)
    if mode == "clamp":
        return np.clip(i, 0, size - 1)
    period = size if mode == "wrap" else 2 * size
    i = np.mod(i, period)
    return np.where(i < size, i, 2 * size - 1 - i)


def bilinear(image, at, mode):
    """What linear filtering gives: weights of eight bits, products rounded so that they add up to one."""
    height, width = image.shape
    padded = np.zeros((height + 1, width + 1), np.float64)  # the last row and column are the border
    padded[:-1, :-1] = image
    places = []
    for axis, size in ((0, width), (1, height)):
        texels = np.floor(at[:, axis].astype(np.float64) * 2**21) / 2**21 * size
        fixed = np.floor(256 * texels - 127.5).astype(np.int64)
        first, weight = fixed >> 8, fixed & 255
        if mode == "clamp":
            weight = np.where((first < 0) | (first >= size - 1), 0, weight)
        places.append((indices(first, mode, size), indices(first + 1, mode, size), weight))
    (left, right, a), (top, bottom, b) = places
    both = (a * b + 128) >> 8
    total = padded[top, left] * (256 - a - b + both) + padded[top, right] * (a - both)
    total += padded[bottom, left] * (b - both) + padded[bottom, right] * both
    return (total / 256).astype(np.float32)


def read(kernel, image, at):
    out = td.empty(len(at), np.float32)
    kernel((-(-len(at) // 128),), (128,), (image, td.asarray(at), out, len(at)))
    return td.asnumpy(out)


@pytest.fixture(scope="module")
def kernel():
    return td.RawKernel(READ, "read")


def over(array, **modes):
    resource = texture.ResourceDescriptor(texture.cudaResourceTypeArray, cuArr=array)
    return texture.TextureObject(resource, texture.TextureDescriptor(**modes))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 90), st.integers(1, 40), st.sampled_from(MODES), st.integers(0, 2**32 - 1))
def test_bilinear_filtering(kernel, width, height, mode, seed):
    random = np.random.default_rng(seed)
    # Multiples of 2^-8 keep every sum exact, so that nothing is rounded but the weights.
    image = (random.integers(-4000, 4000, (height, width)) / 256).astype(np.float32)
    array = texture.CUDAarray(FLOAT, width, height)
    array.copy_from(image)
    sampled = over(
        array,
        addressModes=[MODES.index(mode)] * 2,
        filterMode=texture.cudaFilterModeLinear,
        normalizedCoords=True,
    )
    at = random.uniform(-1.5, 2.5, (500, 2)).astype(np.float32)
    at[:100] = np.round(at[:100] * (2 * width, 2 * height)) / (
        2 * width,
        2 * height,
    )  # borders and centres
    np.testing.assert_array_equal(read(kernel, sampled, at), bilinear(image, at, mode))


@pytest.mark.parametrize("on_device", [False, True])
def test_images_go_in_and_come_back(on_device):
    form = texture.ChannelFormatDescriptor(8, 8, 8, 8, texture.cudaChannelFormatKindUnsigned)
    image = np.random.default_rng(1).integers(0, 256, (4, 7, 5 * 4), dtype=np.uint8)
    array = texture.CUDAarray(form, 5, 7, 4)
    assert (array.ndim, array.nbytes, form.get_channel_format()["w"]) == (3, image.size, 8)
    with td.cuda.Stream() as stream:
        array.copy_from(td.asarray(image) if on_device else image, stream=stream)
        back = td.empty(image.shape, np.uint8) if on_device else np.empty_like(image)
        array.copy_to(back, stream=stream)
    np.testing.assert_array_equal(td.asnumpy(back) if on_device else back, image)


def test_textures_over_memory(kernel):
    numbers = td.arange(64 * 9, dtype=np.float32)
    at = np.array([[0.5, 0.5], [3.5, 2.5], [60, 8], [63.9, 8.9]], np.float32)
    resource = texture.ResourceDescriptor(
        texture.cudaResourceTypePitch2D,
        arr=numbers,
        chDesc=FLOAT,
        width=60,
        height=9,
        pitchInBytes=256,
    )
    clamped = texture.TextureDescriptor(addressModes=[texture.cudaAddressModeClamp] * 2)
    found = read(kernel, texture.TextureObject(resource, clamped), at)
    assert found.tolist() == [0, 2 * 64 + 3, 8 * 64 + 59, 8 * 64 + 59]
    fetch = td.RawKernel(
        'extern "C" __global__ void fetch(cudaTextureObject_t t, float* out) {'
        " out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x * 100); }",
        "fetch",
    )
    out = td.empty(4, np.float32)
    linear = texture.ResourceDescriptor(
        texture.cudaResourceTypeLinear, arr=numbers, chDesc=FLOAT, sizeInBytes=300 * 4
    )
    fetch((1,), (4,), (texture.TextureObject(linear, texture.TextureDescriptor()), out))
    assert td.asnumpy(out).tolist() == [0, 100, 200, 0]


def test_surfaces_are_written():
    write = td.RawKernel(
        'extern "C" __global__ void write(cudaSurfaceObject_t s) {'
        " surf2Dwrite(threadIdx.x + 10.0f * threadIdx.y, s, 4 * threadIdx.x, threadIdx.y); }",
        "write",
    )
    array = texture.CUDAarray(FLOAT, 6, 3, flags=texture.cudaArraySurfaceLoadStore)
    resource = texture.ResourceDescriptor(texture.cudaResourceTypeArray, cuArr=array)
    write((1,), (6, 3), (texture.SurfaceObject(resource),))
    image = np.empty((3, 6), np.float32)
    array.copy_to(image)
    np.testing.assert_array_equal(image, np.arange(6) + 10 * np.arange(3)[:, None])


def test_mistakes_say_what_is_wrong(kernel):
    array = texture.CUDAarray(FLOAT, 6, 3)
    with pytest.raises(ValueError, match="does not fit into a CUDAarray of 72 bytes of float32"):
        array.copy_from(np.zeros((3, 5), np.float32))
    with pytest.raises(ValueError, match="not C-contiguous"):
        array.copy_from(np.zeros((6, 3), np.float32).T)
    with pytest.raises(ValueError, match="must come first and be alike"):
        texture.ChannelFormatDescriptor(8, 16, 0, 0, texture.cudaChannelFormatKindSigned)
    with pytest.raises(ValueError, match="3 channels with 32 bits"):
        texture.CUDAarray(texture.ChannelFormatDescriptor(32, 32, 32, 0, 2), 4)
    with pytest.raises(ValueError, match="address mode 9"):
        over(array, addressModes=[9])
    with pytest.raises(ValueError, match="needs cuArr"):
        texture.ResourceDescriptor(texture.cudaResourceTypeArray)
    with pytest.raises(td.CUDAError, match="cuArray3DCreate"):
        texture.CUDAarray(FLOAT, 1 << 20)
    with pytest.raises((TypeError, ValueError), match="image"):
        kernel(
            (1,), (1,), (np.float32(1), td.zeros((1, 2), np.float32), td.zeros(1, np.float32), 1)
        )
