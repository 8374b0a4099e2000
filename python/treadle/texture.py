"""CUDA arrays, texture and surface objects, by CuPy's names (`treadle.cuda.texture`).

A kernel takes an object where its parameter is a `cudaTextureObject_t` or `cudaSurfaceObject_t` (64 bits).
The constants are CUDA's.
"""

import numpy as np

from . import _treadle
from ._treadle import TexelArray, TexelObject

cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat = range(3)
(
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D,
) = range(4)
cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder = range(4)
cudaFilterModePoint, cudaFilterModeLinear = range(2)
cudaReadModeElementType, cudaReadModeNormalizedFloat = range(2)
cudaArrayDefault, cudaArrayLayered, cudaArraySurfaceLoadStore = 0, 1, 2
cudaArrayCubemap, cudaArrayTextureGather = 4, 8


class ChannelFormatDescriptor:
    """Bits of each channel (all alike; absent ones are 0) and their kind, a `cudaChannelFormatKind…`."""

    def __init__(self, x, y, z, w, f):
        bits = [x, y, z, w]
        count = sum(b != 0 for b in bits)
        if count == 0 or any(b != (x if i < count else 0) for i, b in enumerate(bits)):
            raise ValueError(
                f"channels of {x}, {y}, {z} and {w} bits: the present ones must come first and be alike"
            )
        self._format = (x, count, int(f))
        self._channels = bits

    def get_channel_format(self):
        """The bits and the kind by name: x, y, z, w, f."""
        return dict(zip("xyzw", self._channels), f=self._format[2])

    @property
    def dtype(self):
        """The NumPy dtype of one channel."""
        return np.dtype(f"{'iuf'[self._format[2]]}{self._format[0] // 8}")


class CUDAarray(TexelArray):
    """An array of `width` x `height` x `depth` texels; height 0 makes a line, depth 0 a plane.

    `flags` is a sum of `cudaArray…`. Images are C-contiguous arrays of NumPy or treadle with width * channels numbers
    in a row.
    """

    def __init__(self, desc, width, height=0, depth=0, flags=0):
        super().__init__(*desc._format, width, height, depth, flags)
        self.desc, self.width, self.height, self.depth, self.flags = (
            desc,
            width,
            height,
            depth,
            flags,
        )

    @property
    def ndim(self):
        """1, 2 or 3; layers count as a dimension."""
        return 3 if self.depth else 2 if self.height else 1

    def _check(self, image):
        if image.nbytes != self.nbytes or np.dtype(image.dtype) != self.desc.dtype:
            raise ValueError(
                f"an image of {image.nbytes} bytes of {image.dtype} does not fit into a CUDAarray of {self.nbytes} "
                f"bytes of {self.desc.dtype}; a row has width times channels numbers"
            )
        if not image.flags.c_contiguous:
            raise ValueError("the image is not C-contiguous; copy it with ascontiguousarray first")
        return image

    def copy_from(self, in_arr, stream=None):
        """Copies a whole image into the array, on `stream` (else the current one)."""
        self._copy(self._upload, in_arr, stream)

    def copy_to(self, out_arr, stream=None):
        """Copies the array into an image that exists, on `stream` (else the current one)."""
        self._copy(self._download, out_arr, stream)

    def _copy(self, copy, image, stream):
        self._check(image)
        if stream is None:
            return copy(image)
        with stream:
            return copy(image)


class ResourceDescriptor:
    """What a texture or surface is made over.

    `restype` says which of the others count: `cudaResourceTypeArray` cuArr, a CUDAarray; `cudaResourceTypeLinear` arr,
    chDesc and sizeInBytes; `cudaResourceTypePitch2D` arr, chDesc, width, height (texels) and pitchInBytes. `arr` is a
    treadle array.
    """

    def __init__(
        self,
        restype,
        cuArr=None,
        arr=None,
        chDesc=None,
        sizeInBytes=0,
        width=0,
        height=0,
        pitchInBytes=0,
    ):
        if restype == cudaResourceTypeMipmappedArray:
            raise NotImplementedError(
                "mipmapped arrays are not supported from Python; C++ programs have them"
            )
        if restype == cudaResourceTypeArray and not isinstance(cuArr, CUDAarray):
            raise ValueError("cudaResourceTypeArray needs cuArr, a CUDAarray")
        if restype in (cudaResourceTypeLinear, cudaResourceTypePitch2D):
            if not isinstance(arr, _treadle.ndarray) or chDesc is None:
                raise ValueError("textures over memory need arr, a treadle array, and chDesc")
            end = sizeInBytes if restype == cudaResourceTypeLinear else pitchInBytes * height
            if end > arr.nbytes:
                raise ValueError(
                    f"the texture's {end} bytes are more than the array's {arr.nbytes}"
                )
        self.restype, self.cuArr, self.arr, self.chDesc = restype, cuArr, arr, chDesc
        self.sizeInBytes, self.width, self.height, self.pitchInBytes = (
            sizeInBytes,
            width,
            height,
            pitchInBytes,
        )


class TextureDescriptor:
    """How coordinates and texels are read.

    `addressModes` are `cudaAddressMode…` of up to three axes, `filterMode` a `cudaFilterMode…`, `readMode` a
    `cudaReadMode…`; `borderColors` has up to four numbers.
    """

    def __init__(
        self,
        addressModes=None,
        filterMode=cudaFilterModePoint,
        readMode=cudaReadModeElementType,
        sRGB=None,
        borderColors=None,
        normalizedCoords=None,
        maxAnisotropy=None,
    ):
        self._modes = _treadle._texture_modes(
            tuple(addressModes or ()),
            filterMode == cudaFilterModeLinear,
            readMode == cudaReadModeNormalizedFloat,
            bool(normalizedCoords),
            bool(sRGB),
            tuple(borderColors or ()),
            maxAnisotropy or 0,
        )


class TextureObject(TexelObject):
    """A texture object; `ptr` is its handle. It keeps its array alive."""

    def __init__(self, ResDesc, TexDesc):
        self.ResDesc, self.TexDesc = ResDesc, TexDesc
        modes = TexDesc._modes
        if ResDesc.restype == cudaResourceTypeArray:
            made = _treadle._texture_of_array(ResDesc.cuArr, modes)
        elif ResDesc.restype == cudaResourceTypeLinear:
            made = _treadle._texture_of_memory(
                ResDesc.arr, ResDesc.sizeInBytes, *ResDesc.chDesc._format, modes
            )
        else:
            size = ResDesc.width, ResDesc.height, ResDesc.pitchInBytes
            made = _treadle._texture_of_rows(ResDesc.arr, *size, *ResDesc.chDesc._format, modes)
        super().__init__(made)


class SurfaceObject(TexelObject):
    """A surface object over a CUDAarray made with `cudaArraySurfaceLoadStore`; `ptr` is its handle."""

    def __init__(self, ResDesc):
        if ResDesc.restype != cudaResourceTypeArray:
            raise ValueError("a surface is made over a CUDAarray")
        self.ResDesc = ResDesc
        super().__init__(_treadle._surface_of_array(ResDesc.cuArr))
