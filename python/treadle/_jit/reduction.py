"""``cuda.reduce``: a reduction of a 1-D array by a Python function of two elements."""

import functools

import numpy as np

from .._treadle import ndarray
from ..cuda._foreign import as_cuda_array, is_foreign
from . import types as ty
from .dispatcher import Dispatcher

_BLOCK = 128


@functools.cache
def _kernel(function, element):
    """A block combines the elements of its stride into one; ``use_init`` takes the value in front of all."""
    from .. import cuda

    combine = Dispatcher(function, None, device=True)

    def reduce_block(values, partial, init, use_init):
        shared = cuda.shared.array(_BLOCK, element)
        t = cuda.threadIdx.x
        n = values.size
        i = cuda.grid(1)
        step = cuda.gridsize(1)
        if i < n:
            total = values[i]
            i += step
            while i < n:
                total = combine(total, values[i])
                i += step
            shared[t] = total
        cuda.syncthreads()
        # How many threads of this block have a value.
        count = min(_BLOCK, n - cuda.blockIdx.x * cuda.blockDim.x)
        while count > 1:
            half = (count + 1) // 2
            if t + half < count:
                shared[t] = combine(shared[t], shared[t + half])
            cuda.syncthreads()
            count = half
        if t == 0:
            if use_init and cuda.blockIdx.x == 0:
                partial[0] = combine(shared[0], init)
            else:
                partial[cuda.blockIdx.x] = shared[0]

    return Dispatcher(reduce_block, None)


class Reduce:
    """A reduction by a function of two elements: ``sum = cuda.reduce(lambda a, b: a + b)``.

    The function must be associative and commutative: elements are combined in no certain order.
    """

    def __init__(self, functor):
        self._functor = getattr(functor, "py_func", functor)

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """The elements of a 1-D array of the host or the device combined with ``init``.

        ``size``: how many of them. ``res``: a device array whose first element takes the result, which then stays
        there.
        TypeError for an array of another number of dimensions.
        """
        from ..cuda import _devicearray as arrays

        arr, res = (as_cuda_array(a) if is_foreign(a) else a for a in (arr, res))
        if arr.ndim != 1:
            raise TypeError("only support 1D array")
        if size is not None:
            arr = arr[:size]
        init = arr.dtype.type(init)
        if arr.size < 1:
            return init
        values = arr if isinstance(arr, ndarray) else arrays.to_device(arr, stream)
        blocks = min((arr.size + _BLOCK - 1) // _BLOCK, 256)
        partial = arrays.device_array(blocks, arr.dtype, stream=stream)
        kernel = _kernel(self._functor, ty.from_dtype(np.dtype(arr.dtype)))
        kernel[blocks, _BLOCK, stream](values, partial, init, True)
        if blocks > 1:
            kernel[1, _BLOCK, stream](partial, partial, init, False)
        if res is not None:
            with arrays.on(stream):
                ndarray.__setitem__(res, slice(0, 1), partial[:1])
                res.flush()
            return None
        if stream:
            stream.synchronize()
        return partial[0]


reduce = Reduce
