"""Arrays from host data, constants, ranges and functions, and back to the host. All transfers are explicit."""

import contextlib
import math
import operator

import numpy as np

from . import _treadle
from ._kinds import kind_of
from ._treadle import Device, ndarray

__all__ = [
    "arange", "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "asnumpy",
    "empty", "empty_like", "eye", "frombuffer", "fromfile", "fromfunction", "fromiter", "fromstring", "full",
    "full_like", "geomspace", "identity", "linspace", "logspace", "meshgrid", "mgrid", "ogrid", "ones", "ones_like",
    "tri", "vander", "zeros", "zeros_like",
]  # fmt: skip


def on_device(device):
    """``with on_device(device):`` arrays are made there; None is the current device.

    A device is a ``treadle.cuda.Device`` or its name, as ``"cuda:0"``.
    """
    if device is None:
        return contextlib.nullcontext()
    return device if isinstance(device, Device) else Device(device)


def order_of(order, allowed="CFAK"):
    """ "C", "F", "A" or "K" from a letter of either case, or None for "K"; ValueError for another."""
    if order is None:
        return "K" if "K" in allowed else "C"
    if isinstance(order, str) and order.upper() in allowed and len(order) == 1:
        return order.upper()
    names = ", ".join(f"'{x}'" for x in allowed)
    raise ValueError(f"order must be one of {names} (got {order!r})")


# ---- from data ----


def asarray(a, dtype=None, order=None, *, device=None, copy=None, blocking=False):
    """An array on the current device, or on ``device``, with the values of ``a``.

    ``a`` may be anything that ``numpy.asarray`` takes, nested lists that hold device arrays, an object of the DLPack
    protocol or the CUDA array interface on a GPU, or an array that is on the device already: that one is returned as
    it is, without any copy, unless ``dtype``, ``order`` or ``device`` differ or ``copy`` is true. The host memory may
    be reused when the call returns; with ``blocking`` the data are also on the device by then.
    """
    order = order_of(order)
    if order in "KA":
        order = None
    if isinstance(a, ndarray):
        return _from_device(a, dtype, order, copy, device)
    if hasattr(a, "__dlpack_device__") and a.__dlpack_device__()[0] in (2, 13):
        return _from_device(_interchange().from_dlpack(a), dtype, order, copy, device)
    if hasattr(a, "__cuda_array_interface__") and not _treadle.Device(device).is_software:
        with on_device(device):
            return _from_device(_interface(a), dtype, order, copy, device)
    if copy is False:
        raise ValueError("host data cannot be on the device without a copy; leave copy=None")
    try:
        host = np.asarray(a, dtype=dtype, order=order)
    except TypeError:
        if not _holds_arrays(a):
            raise
        with on_device(device):
            return _from_device(_assemble(a), dtype, order, None, None)
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    with on_device(device):
        if host.flags.f_contiguous and not host.flags.c_contiguous:
            return _treadle._upload(host.T, blocking).T
        return _treadle._upload(host, blocking)


def _interface(a):
    from . import _memory

    return _memory.from_cuda_array_interface(a)


def _interchange():
    from . import _array_api

    return _array_api


def _holds_arrays(a):
    return isinstance(a, (list, tuple)) and any(
        isinstance(x, ndarray) or _holds_arrays(x) for x in a
    )


def _assemble(items):
    """A nested list with device arrays in it, stacked."""
    from ._manipulation import stack

    parts = [
        x if isinstance(x, ndarray) else _assemble(x) if _holds_arrays(x) else asarray(x)
        for x in items
    ]
    shapes = {x.shape for x in parts}
    if len(shapes) > 1:
        raise ValueError(
            f"array: the parts of a nested list must have one shape, not {sorted(shapes)}; "
            "use concatenate for parts of different lengths"
        )
    kind = np.result_type(*(x.dtype for x in parts))
    return stack(parts, out=_treadle.empty((len(parts), *parts[0].shape), kind))


def _from_device(a, dtype, order, copy, device):
    if device is not None:
        target = on_device(device)
        if target != a.device:
            if copy is False:
                raise ValueError(
                    f"asarray: the array is on {a.device.name}, so that one on {target.name} is a copy; "
                    "leave copy=None"
                )
            a, copy = transferred(a, target), None
    wrong_order = (order == "C" and not a.flags.c_contiguous) or (
        order == "F" and not a.flags.f_contiguous
    )
    same_type = dtype is None or np.dtype(dtype) == a.dtype
    if copy is False and (wrong_order or not same_type):
        raise ValueError("a copy is needed for this dtype or order; leave copy=None")
    result = a if same_type else a.astype(dtype)
    if (order == "C" and not result.flags.c_contiguous) or (
        order == "F" and not result.flags.f_contiguous
    ):
        return result.copy(order)
    return result.copy(order or "K") if copy and result is a else result


def transferred(a, device):
    """A copy of ``a`` on another device, through the host."""
    host = asnumpy(a, order="K")
    with device:
        return asarray(host)


def array(
    a, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, device=None, blocking=False
):
    """As ``asarray``, but a new array unless ``copy`` is None; at least ``ndmin`` dimensions.

    With ``copy=False`` ValueError where a copy is needed.
    """
    if copy is False and not isinstance(a, ndarray):
        raise ValueError(
            "Unable to avoid copy while creating an array as requested: host data cannot be on the device without one; "
            "use copy=None, or asarray"
        )
    result = asarray(a, dtype, order, device=device, copy=copy, blocking=blocking)
    if result.ndim < ndmin:
        result = result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, blocking=False):
    """As ``asarray``: there are no subclasses."""
    return asarray(a, dtype, order, device=device, copy=copy, blocking=blocking)


def ascontiguousarray(a, dtype=None, *, device=None):
    """``a`` itself when it is C-contiguous and of this dtype, else a C-contiguous copy; at least one dimension."""
    result = asarray(a, dtype, "C", device=device)
    return result.reshape(1) if result.ndim == 0 else result


def asfortranarray(a, dtype=None, *, device=None):
    """``a`` itself when it is F-contiguous and of this dtype, else an F-contiguous copy; at least one dimension."""
    result = asarray(a, dtype, "F", device=device)
    return result.reshape(1) if result.ndim == 0 else result


def asarray_chkfinite(a, dtype=None, order=None):
    """As ``asarray``; ValueError when a value is NaN or infinite. Waits for the values."""
    result = asarray(a, dtype, order)
    if kind_of(result.dtype) in "fc" and not bool(_treadle.all(_treadle.isfinite(result))):
        raise ValueError("array must not contain infs or NaNs")
    return result


def frombuffer(buffer, dtype=float, count=-1, offset=0, *, device=None):
    """A 1-D array with the bytes of a host buffer, copied."""
    return asarray(np.frombuffer(buffer, dtype, count, offset), device=device)


def fromiter(iterable, dtype, count=-1, *, device=None):
    """A 1-D array with the values of an iterable."""
    return asarray(np.fromiter(iterable, dtype, count), device=device)


def fromfile(file, dtype=float, count=-1, sep="", offset=0):
    """A 1-D array read from a text or binary file by ``numpy.fromfile``."""
    return asarray(np.fromfile(file, dtype, count, sep, offset))


def fromstring(string, dtype=float, count=-1, *, sep):
    """A 1-D array from numbers in a string, read by ``numpy.fromstring``."""
    return asarray(np.fromstring(string, dtype, count, sep=sep))


def fromfunction(function, shape, *, dtype=float, **kwargs):
    """``function`` of the coordinate arrays of ``shape``."""
    grid = meshgrid(*(arange(n, dtype=dtype) for n in shape), indexing="ij")
    return function(*grid, **kwargs)


def asnumpy(a, out=None, *, order="C", stream=None, blocking=True):
    """The values of ``a`` as a NumPy array.

    ``out`` receives them in place (same shape and dtype, any strides). With ``blocking=False`` the copy is only
    enqueued: synchronise the stream before you read ``out``.
    """
    if not isinstance(a, ndarray):
        host = np.asarray(a)
        if out is None:
            return host
        np.copyto(out, host)
        return out
    if out is None:
        out = np.empty(a.shape, a.dtype, "F" if _wants_f(a, order) else "C")
    elif not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    if stream is None:
        _treadle._download(a, out, blocking)
    else:
        with stream:
            _treadle._download(a, out, blocking)
    return out


def _wants_f(a, order):
    return order == "F" or (
        order in ("K", "A") and a.flags.f_contiguous and not a.flags.c_contiguous
    )


# ---- constants ----


def empty(shape, dtype=None, order="C", *, device=None):
    """A new array, not initialised."""
    if device is None:
        return _treadle.empty(shape, dtype, order if order == "C" else order_of(order, "CF"))
    with on_device(device):
        return _treadle.empty(shape, dtype, order if order == "C" else order_of(order, "CF"))


def zeros(shape, dtype=None, order="C", *, device=None):
    """A new array filled with zeros."""
    if device is None:
        return _treadle.zeros(shape, dtype, order if order == "C" else order_of(order, "CF"))
    with on_device(device):
        return _treadle.zeros(shape, dtype, order if order == "C" else order_of(order, "CF"))


def ones(shape, dtype=None, order="C", *, device=None):
    """A new array filled with ones."""
    if device is None:
        return _treadle.ones(shape, dtype, order if order == "C" else order_of(order, "CF"))
    with on_device(device):
        return _treadle.ones(shape, dtype, order if order == "C" else order_of(order, "CF"))


def full(shape, fill_value, dtype=None, order="C", *, device=None):
    """A new array filled with ``fill_value``: a number, or an array that broadcasts to ``shape``."""
    order = order_of(order, "CF")
    with on_device(device):
        if not isinstance(fill_value, (ndarray, np.generic, bool, int, float, complex)):
            fill_value = asarray(fill_value)
        if isinstance(fill_value, complex) and dtype is not None and np.dtype(dtype).kind != "c":
            fill_value = fill_value.real
        if order == "C":
            return _treadle.full(shape, fill_value, dtype)
        if dtype is None:
            dtype = (
                fill_value.dtype
                if isinstance(fill_value, ndarray)
                else np.asarray(fill_value).dtype
            )
        result = _treadle.empty(shape, dtype, order)
        _treadle._copy_into(result, fill_value)
        return result


def axis_order(arrays):
    """Axes of arrays of as many dimensions from the slowest to the fastest in memory; C order where they disagree."""
    order = []  # the fastest first
    for k in reversed(range(arrays[0].ndim)):
        place = len(order)
        for i in range(len(order) - 1, -1, -1):
            steps = [(abs(a.strides[order[i]]), abs(a.strides[k])) for a in arrays]
            steps = [(inner, outer) for inner, outer in steps if inner and outer]
            if any(inner <= outer for inner, outer in steps):
                break
            if steps:
                place = i
        order.insert(place, k)
    return order[::-1]


def empty_ordered(shape, dtype, axes):
    """A new array whose axes stand in memory in this order, the slowest first."""
    packed = _treadle.empty([shape[k] for k in axes], dtype, "C")
    return packed.transpose([axes.index(k) for k in range(len(axes))]) if axes else packed


def _like(a, dtype, order, shape):
    """A new array like ``a`` with its axis order (``order="K"``), not initialised."""
    own = a if isinstance(a, ndarray) else asarray(a)
    dtype = own.dtype if dtype is None else dtype
    if shape is not None:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
    shown = own.shape if shape is None else shape
    fortran = own.flags.f_contiguous and not own.flags.c_contiguous
    order = order_of(order)
    if order == "A":
        order = "F" if fortran else "C"
    elif order == "K" and (own.flags.forc or len(shown) != own.ndim):
        order = "F" if fortran and len(shown) == own.ndim else "C"
    if order in ("C", "F"):
        return _treadle.empty(shown, dtype, order)
    return empty_ordered(shown, dtype, axis_order([own]))


def empty_like(a, dtype=None, order="K", subok=None, shape=None, *, device=None):
    """A new array of the shape, dtype and axis order of ``a``, not initialised."""
    with on_device(device if device is not None or not isinstance(a, ndarray) else a.device):
        return _like(a, dtype, order, shape)


def _filled_like(a, value, dtype, order, shape, device):
    result = empty_like(a, dtype, order, None, shape, device=device)
    _treadle._copy_into(result, value)
    return result


def zeros_like(a, dtype=None, order="K", subok=None, shape=None, *, device=None):
    """As ``empty_like``, filled with zeros."""
    return _filled_like(a, False, dtype, order, shape, device)


def ones_like(a, dtype=None, order="K", subok=None, shape=None, *, device=None):
    """As ``empty_like``, filled with ones."""
    return _filled_like(a, True, dtype, order, shape, device)


def full_like(a, fill_value, dtype=None, order="K", subok=None, shape=None, *, device=None):
    """As ``empty_like``, filled with ``fill_value``: a number, or an array that broadcasts."""
    if not isinstance(fill_value, (ndarray, np.generic, bool, int, float, complex)):
        fill_value = asarray(fill_value, device=device)
    if isinstance(fill_value, complex) and np.dtype(dtype or a.dtype).kind != "c":
        fill_value = fill_value.real
    return _filled_like(a, fill_value, dtype, order, shape, device)


def eye(N, M=None, k=0, dtype=None, order="C", *, device=None):
    """Ones on the k-th diagonal of an N x M matrix, zeros elsewhere."""
    N, k = operator.index(N), operator.index(k)
    M = N if M is None else operator.index(M)
    k = max(-N, min(M, k))  # further off there is nothing either
    with on_device(device):
        if order == "F":
            return _treadle.eye(N if M is None else M, N, -k, dtype).T
        return _treadle.eye(N, M, k, dtype)


def identity(n, dtype=None):
    """The n x n identity matrix."""
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=float):
    """Ones at and below the k-th diagonal of an N x M matrix, zeros elsewhere."""
    M = N if M is None else M
    rows, columns = arange(N).reshape(-1, 1), arange(-k, M - k)
    return _treadle.greater_equal(rows, columns).astype(dtype, copy=False)


def vander(x, N=None, increasing=False):
    """Powers of a vector as columns, highest first unless ``increasing``."""
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    N = x.size if N is None else N
    exponents = arange(N) if increasing else arange(N - 1, -1, -1)
    dtype = np.promote_types(x.dtype, int)
    return _treadle.power(x.astype(dtype).reshape(-1, 1), exponents.astype(dtype))


# ---- ranges ----


def _host(x):
    """A bound as a number of the host; a 0-d array is waited for."""
    if isinstance(x, ndarray):
        return x.item() if x.ndim == 0 else asnumpy(x)
    return x


def arange(start, stop=None, step=1, dtype=None, *, device=None):
    """Evenly spaced values in ``[start, stop)``, as ``numpy.arange``: integers are exact up to 64 bits.

    ZeroDivisionError when ``step`` is zero; OverflowError when a bound does not fit ``dtype``.
    """
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    start, stop, step = _host(start), _host(stop), _host(step)
    if step == 0:
        raise ZeroDivisionError("arange: step must not be zero")
    if dtype is None:
        dtype = np.result_type(np.intp, *(np.asarray(x).dtype for x in (start, stop, step)))
    dtype = np.dtype(dtype)
    if kind_of(dtype) not in "biufc":
        raise TypeError(f"arange: dtype {dtype} is not supported; use an integer or floating dtype")
    with on_device(device):
        if dtype.kind == "c":
            count = math.ceil(
                min(((stop - start) / step).real, ((stop - start) / step).imag or math.inf)
            )
            return _treadle._sequence(0, 1, max(count, 0), dtype) * step + start
        length = (stop - start) / step
        if math.isnan(length):
            raise ValueError("arange: cannot compute length")
        if length > 2**63 - 1:
            raise ValueError("arange: Maximum allowed size exceeded")
        count = max(math.ceil(length), 0)
        if kind_of(dtype) == "f":
            return _treadle._sequence(float(start), float(step), count, dtype)
        if dtype.kind == "b" and count > 2:
            raise TypeError(
                "arange() is only supported for booleans when the result has at most length 2."
            )
        # The first two elements are cut to the dtype, and their difference is the step.
        ends = np.array([start, start + step][:count], dtype)
        if count <= 2:
            return _treadle._upload(ends, False)
        return _treadle._sequence(int(ends[0]), int(ends[1]) - int(ends[0]), count, dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """``num`` evenly spaced samples from ``start`` to ``stop``, along a new ``axis`` where these are arrays."""
    num = int(num.__index__())
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    parts = num - 1 if endpoint else num
    with on_device(device):
        if _plain(start) and _plain(stop):
            start, stop = float(start), float(stop)
            step = (stop - start) / parts if parts > 0 else math.nan
            if step != 0 and math.isfinite(stop - start):
                samples = _treadle.linspace(start, stop, num, endpoint, dtype)
                return (samples, np.float64(step)) if retstep else samples
        samples, step = _samples(start, stop, num, parts, endpoint, dtype, axis)
    return (samples, step) if retstep else samples


def _plain(x):
    return type(x) in (int, float, bool, np.float64)


def _samples(start, stop, num, parts, endpoint, dtype, axis):
    """linspace between arrays, with NumPy's roundings."""
    own = [x if isinstance(x, ndarray) else np.asarray(x) for x in (start, stop)]
    common = np.result_type(*(x.dtype for x in own), float(num))
    if all(type(x) in (int, float, complex, bool) for x in (start, stop)):
        common = np.result_type(start, stop, float(num), np.float64)
    dtype = common if dtype is None else np.dtype(dtype)
    start, stop = (
        (x if isinstance(x, ndarray) else asarray(x)).astype(common, copy=False) for x in own
    )
    delta = stop - start
    y = arange(num, dtype=common).reshape((-1,) + (1,) * delta.ndim)
    if parts > 0:
        step = delta / parts
        y = _treadle.where(_treadle.equal(step, 0), y / parts * delta, y * step)
    else:
        step = full((), math.nan)
        y = y * delta
    y = y + start
    if endpoint and num > 1:
        y[-1, ...] = stop
    if axis != 0:
        from ._manipulation import moveaxis

        y = moveaxis(y, 0, axis)
    if dtype.kind in "iu":
        y = _treadle.floor(y)
    return y.astype(dtype, copy=False), step


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """``base`` to the power of ``num`` evenly spaced exponents."""
    if not _plain(base) and (not isinstance(base, np.generic)):
        base = asarray(base)
        if base.ndim:
            from ._manipulation import expand_dims

            shape = np.broadcast_shapes(*(np.shape(x) if not isinstance(x, ndarray) else x.shape
                                          for x in (start, stop)), base.shape)  # fmt: skip
            base = expand_dims(base._broadcast_to(shape), axis)
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    result = _treadle.power(base, exponents)
    return result if dtype is None else result.astype(dtype, copy=False)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """``num`` samples whose ratio is constant, from ``start`` to ``stop``; neither may be zero."""
    start, stop = asarray(start), asarray(stop)
    if bool(_treadle.any(_treadle.equal(start, 0))) or bool(_treadle.any(_treadle.equal(stop, 0))):
        raise ValueError("Geometric sequence cannot include zero")
    common = np.result_type(
        start.dtype, stop.dtype, float(num), np.zeros((), dtype) if dtype else 0.0
    )
    if common.kind in "iub":
        common = np.dtype(float)
    dtype = common if dtype is None else np.dtype(dtype)
    shape = np.broadcast_shapes(start.shape, stop.shape)
    start = start.astype(common)._broadcast_to(shape)
    stop = stop.astype(common)._broadcast_to(shape)
    out_sign = _treadle.sign(start)
    start, stop = start / out_sign, stop / out_sign
    result = logspace(_treadle.log10(start), _treadle.log10(stop), num, endpoint, 10.0, common)
    if num > 0:
        result[0, ...] = start
        if num > 1 and endpoint:
            result[-1, ...] = stop
    result = result * out_sign
    if axis != 0:
        from ._manipulation import moveaxis

        result = moveaxis(result, 0, axis)
    return result.astype(dtype, copy=False)


# ---- coordinates ----


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of a grid from its axes. With ``sparse`` they keep length one along the other axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    xi = [asarray(x) for x in xi]
    n = len(xi)
    grid = [x.reshape((1,) * i + (-1,) + (1,) * (n - 1 - i)) for i, x in enumerate(xi)]
    if indexing == "xy" and n > 1:
        grid[0] = grid[0].reshape((1, -1) + (1,) * (n - 2))
        grid[1] = grid[1].reshape((-1, 1) + (1,) * (n - 2))
    if not sparse:
        shape = np.broadcast_shapes(*(x.shape for x in grid))
        grid = [x._broadcast_to(shape) for x in grid]
    return tuple(x.copy("C") for x in grid) if copy else tuple(grid)


class _Grid:
    """``mgrid[0:3, 0:1:5j]``: coordinates of slices; an imaginary step counts samples, ends included."""

    def __init__(self, sparse):
        self._sparse = sparse

    def __getitem__(self, key):
        if not isinstance(key, tuple):
            return slice_samples(key)
        starts = [0 if s.start is None else s.start for s in key]
        steps = [1 if s.step is None else s.step for s in key]
        counts = [
            int(abs(step))
            if isinstance(step, complex)
            else math.ceil((_host(s.stop) - _host(start)) / _host(step))
            for s, start, step in zip(key, starts, steps)
        ]
        plain = [abs(step) if isinstance(step, complex) else step for step in steps]
        given = [*starts, *(s.stop for s in key), *plain]
        dtype = np.result_type(0, *(x.dtype if isinstance(x, ndarray) else x for x in given))
        lines = []
        for k, (s, start, step, count) in enumerate(zip(key, starts, steps, counts)):
            before, behind = (None,) * k, (None,) * (len(key) - k - 1)
            line, spacing = arange(count, dtype=dtype), _spacing(s.stop, start, step)
            if self._sparse:
                lines.append((line * spacing + start)[(*before, slice(None), *behind)])
            else:
                lines.append(line[(*before, slice(None), *behind)] * spacing + start)
        if self._sparse:
            return tuple(lines)
        shape = np.broadcast_shapes(*(line.shape for line in lines))
        grid = empty((len(lines), *shape), dtype)
        for k, line in enumerate(lines):
            grid[k] = line
        return grid


def _spacing(stop, start, step):
    """The distance of samples; an imaginary step counts them, both ends included."""
    if not isinstance(step, complex):
        return step
    count = int(abs(step))
    return (stop - start) / float(count - 1) if count != 1 else count


def slice_samples(s):
    """The samples of one slice, along the last axis where its bounds are arrays."""
    start, step = 0 if s.start is None else s.start, s.step
    if not isinstance(step, complex):
        return arange(start, s.stop, step)
    given = [x.dtype if isinstance(x, ndarray) else x for x in (start, s.stop, abs(step))]
    line = arange(int(abs(step)), dtype=np.result_type(*given))
    return line * _spacing(s.stop, start, step) + start


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)
