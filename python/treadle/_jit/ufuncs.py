"""``vectorize`` and ``guvectorize``: Python functions of elements, or of sub-arrays, applied over whole arrays.

For each number of loop axes one kernel is written as Python text that calls the user's function, and compiled like any
other kernel: a thread computes one element, or one sub-array, of the results.
"""

import functools
import linecache
import re
import warnings

import numpy as np

from .. import _manipulation
from .._treadle import ndarray
from ..cuda._foreign import as_cuda_array, is_foreign
from ..cuda._structured import StructuredArray
from . import pickling
from . import types as ty
from .calls import Reinterpreted
from .dispatcher import Dispatcher
from .signatures import normalize


def _plain(array):
    return ndarray.__getitem__(array, ...)


@functools.cache
def _texts():
    return iter(range(1 << 30))


def _define(name, text, values):
    """A Python function from text that its compiler can read again."""
    file = f"<treadle {name} {next(_texts())}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = dict(values)
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def _loop_text(name, parameters, counted, axes, call):
    """A kernel with one thread for each point of the loop axes of ``counted``."""
    lines = [f"def {name}({', '.join(parameters)}):", "    i = __cuda__.grid(1)", "    n = 1"]
    lines += [f"    n *= {counted}.shape[{k}]" for k in range(axes)]
    lines.append("    if i < n:")
    for k in reversed(range(1, axes)):
        lines += [
            f"        i{k} = i % {counted}.shape[{k}]",
            f"        i = i // {counted}.shape[{k}]",
        ]
    if axes:
        lines.append("        i0 = i")
    return "\n".join([*lines, f"        {call}", ""])


def _index(axes, inner=0):
    parts = [f"i{k}" for k in range(axes)] + [":"] * inner
    return f"[{', '.join(parts)}]" if parts else "[()]"


# How an input meets a signature, best first: dtypes, is it a number of the host, the input.


def _is_same(have, want, scalar, value):
    return have == want


def _is_safe(have, want, scalar, value):
    return np.can_cast(have, want, "safe")


def _is_near(have, want, scalar, value):
    return np.can_cast(have, want, "same_kind" if scalar else "safe")


def _is_of_kind(have, want, scalar, value):
    """Host arrays are converted as NumPy does within a kind."""
    return np.can_cast(have, want, "same_kind")


def _is_exact(have, want, scalar, value):
    """A number of the host becomes what has its value: 15.0 an integer."""
    if _is_of_kind(have, want, scalar, value):
        return True
    with np.errstate(all="ignore"):
        return bool(
            scalar and have.kind in "biuf" and want.kind in "biuf" and value.astype(want) == value
        )


class _Function:
    """What vectorize and guvectorize share: the user's function, signatures and kernels."""

    def __init__(self, py_func, signatures, options):
        functools.update_wrapper(self, py_func)
        self.py_func, self.signatures = py_func, signatures
        self.core = Dispatcher(py_func, None, device=True)
        self.options, self.kernels = options, {}

    def __reduce__(self):
        return _rebuild, (type(self), pickling.pack(self.py_func), *self._facts())

    def _facts(self):
        """What the constructor takes behind the function."""
        return self.signatures, self.options

    def _stage(self, value):
        """(array or 0-d NumPy array, is it on the device). Dates are staged on the host."""
        if isinstance(value, ndarray):
            return _plain(value), True
        if isinstance(value, StructuredArray) and value.dtype.kind in "mM":
            return value.copy_to_host(), True
        if is_foreign(value):
            return self._stage(as_cuda_array(value))
        return np.asarray(value), False

    def _choose(self, staged, count):
        """The argument types of the best signature for the inputs."""
        dtypes = [a.dtype for a, _ in staged]
        scalar = [a.ndim == 0 and not on_device for a, on_device in staged]

        def fits(rule, signature):
            wanted = [_element(t).dtype for t in signature.args[:count]]
            return all(map(rule, dtypes, wanted, scalar, (a for a, _ in staged)))

        for rule in (_is_same, _is_safe, _is_near, _is_of_kind, _is_exact):
            for signature in self.signatures:
                if fits(rule, signature):
                    return signature
        raise TypeError(
            f"No matching version: '{self.__name__}' is compiled for {', '.join(map(str, self.signatures))}, not for "
            f"{', '.join(map(str, dtypes))}"
        )

    def _convert(self, value, on_device, dtype, place):
        if value.dtype == dtype:
            return value
        if on_device and not np.can_cast(value.dtype, dtype, "safe"):
            raise TypeError(
                f"'{self.__name__}' does not support .astype() of device arrays by itself: argument {place} has dtype "
                f"{value.dtype}, the signature {dtype}; pass x.astype({str(dtype)!r})"
            )
        return value.astype(dtype)

    def _finish(self, results, dtypes, out, on_device, stream, scalar):
        from ..cuda import _devicearray as arrays

        given = []
        for result, target, dtype in zip(results, out, dtypes):
            if isinstance(target, np.ndarray):
                arrays.copy_to_host(result, target.view(result.dtype), stream)
                if stream:
                    stream.synchronize()
                given.append(target)
            elif target is not None:
                given.append(target)
            elif on_device and dtype == result.dtype:
                given.append(arrays.wrap(result, stream))
            else:
                host = arrays.copy_to_host(result, stream=stream)
                if stream:
                    stream.synchronize()
                if on_device:
                    given.append(arrays.to_device(host.view(dtype), stream))
                    continue
                host = host.view(dtype)
                given.append(host[()] if scalar else host)
        return given[0] if len(given) == 1 else tuple(given)

    def _results(self, shapes, dtypes, out, stream):
        """Device arrays to compute into: those given, or new ones."""
        from ..cuda import _devicearray as arrays

        results = []
        with arrays.on(stream):
            for shape, dtype, target in zip(shapes, dtypes, out):
                if target is not None and not isinstance(target, np.ndarray):
                    target = as_cuda_array(target)
                    if _long_axes(target.shape) != _long_axes(shape) or target.dtype != dtype:
                        raise ValueError(
                            f"out has shape {target.shape} and dtype {target.dtype}, the result {shape} and {dtype}"
                        )
                    results.append(_plain(target)._reshape(shape))
                else:
                    if target is not None and _long_axes(target.shape) != _long_axes(shape):
                        raise ValueError(f"out has shape {target.shape}, the result {shape}")
                    results.append(_plain(arrays.device_array(shape, _in_memory(dtype))))
        return results

    def _upload(self, value):
        from .._creation import asarray

        if not isinstance(value, np.ndarray):
            return value
        return asarray(np.asarray(value, order="C").view(_in_memory(value.dtype)))


def _ours(array):
    """The device array over another library's, as what is computed into it and returned; others as they are."""
    return as_cuda_array(array) if is_foreign(array) else array


def _in_memory(dtype):
    """The dtype that elements have on the device: dates are counts of their unit."""
    return np.dtype(np.int64) if np.dtype(dtype).kind in "mM" else dtype


def _seen_as(types, result=None):
    """(text around each argument, text in front of the call, values of the names in them): elements that are dates
    are read as dates from the counts in memory, and written as counts.
    """
    values, wraps = {}, []
    for k, type_ in enumerate(types):
        if isinstance(_element(type_), ty.Time):
            values[f"__as{k}__"] = Reinterpreted(_element(type_))
        wraps.append((f"__as{k}__(", ")") if f"__as{k}__" in values else ("", ""))
    if isinstance(result, ty.Time):
        values["__count__"] = Reinterpreted(ty.int64)
    return wraps, "__count__" if "__count__" in values else "", values


def _long_axes(shape):
    """Axes of length 1 do not count where a result is given."""
    return [n for n in shape if n != 1]


def _element(type_):
    return type_.dtype if isinstance(type_, ty.Array) else type_


class UFunc(_Function):
    """A function of elements, applied with NumPy's broadcasting: made by ``vectorize``."""

    @property
    def nin(self):
        return self.py_func.__code__.co_argcount

    def __call__(self, *args, out=None, stream=0):
        """The results: on the device when an argument is there, else on the host."""
        from ..cuda import _devicearray as arrays

        if out is None and len(args) == self.nin + 1:
            *args, out = args
        out = _ours(out)
        if len(args) != self.nin:
            raise TypeError(f"'{self.__name__}' takes {self.nin} arguments, not {len(args)}")
        staged = [self._stage(a) for a in args]
        dtypes = [a.dtype for a, _ in staged]
        if self.signatures:
            signature = self._choose(staged, self.nin)
        else:
            signature = ty.Signature(None, [ty.from_dtype(d) for d in dtypes])
        result_type = signature.return_type
        if result_type is None or result_type is ty.none:
            result_type = self.core.compile_device(signature.args)
        shape = np.broadcast_shapes(*(a.shape for a, _ in staged))
        results = self._results([shape], [result_type.dtype], [out], stream)
        with arrays.on(stream):
            inputs = []
            for k, ((value, on_device), type_) in enumerate(zip(staged, signature.args)):
                value = self._upload(self._convert(value, on_device, type_.dtype, k))
                inputs.append(
                    value if value.shape == shape else _manipulation.broadcast_to(value, shape)
                )
            self._launch(results[0], inputs, stream, (*signature.args, result_type))
        on_device = any(d for _, d in staged)
        return self._finish(results, [result_type.dtype], [out], on_device, stream, not shape)

    def _launch(self, result, inputs, stream, types):
        everything = [result, *inputs]
        if result.size == 0:
            return
        if all(a.flags.c_contiguous for a in everything):
            everything = [a.reshape(-1) for a in everything]
        axes = everything[0].ndim
        key = (axes, tuple(t for t in types if isinstance(t, ty.Time)) and types)
        kernel = self.kernels.get(key)
        if kernel is None:
            names = [f"a{k}" for k in range(len(inputs))]
            at = _index(axes)
            wraps, count, values = _seen_as(types[:-1], types[-1])
            items = (f"{before}{n}{at}{behind}" for n, (before, behind) in zip(names, wraps))
            call = f"out{at} = {count}(__core__({', '.join(items)}))"
            text = _loop_text("kernel", ["out", *names], "out", axes, call)
            from .. import cuda

            function = _define("kernel", text, {"__cuda__": cuda, "__core__": self.core, **values})
            function.__name__ = f"vectorized_{self.__name__}"
            kernel = self.kernels[key] = Dispatcher(_named(function), None)
        kernel.forall(result.size, stream=stream)(*everything)

    def reduce(self, arg, stream=0):
        """Combines the elements of a 1-D array of the host or the device into one, in no certain order."""
        from .. import cuda
        from ..cuda import _devicearray as arrays

        if self.nin != 2:
            raise ValueError(
                f"'{self.__name__}' takes {self.nin} arguments; only a function of two can reduce"
            )
        value, on_device = self._stage(arg)
        if value.ndim != 1:
            raise ValueError(f"reduce takes a 1-D array, not one of {value.ndim} dimensions")
        if not value.size:
            raise TypeError("Reduction on an empty array.")
        with arrays.on(stream):
            parts = value.copy() if on_device else self._upload(value)
            parts = arrays.wrap(parts, stream)
            n = parts.size
            while n > 1:
                half = n // 2
                self(parts[:half], parts[n - half : n], out=parts[:half], stream=stream)
                n -= half
        if stream:
            stream.synchronize()
        assert cuda
        return parts[0]


def _rebuild(cls, *facts):
    return cls(*facts)


def _named(function):
    """The function under its new name in its own text too."""
    code = function.__code__
    function.__code__ = code.replace(co_name="kernel")
    return function


_LAYOUT = re.compile(r"\(([^()]*)\)")


def _layout(text):
    """[names of the core axes] of inputs and of outputs of ``(m,n),(n)->(m)``."""
    sides = text.split("->")
    if len(sides) != 2:
        raise ValueError(f"layout {text!r}: write inputs -> outputs, such as '(n),(n)->()'")
    return [
        [[n.strip() for n in part.split(",") if n.strip()] for part in _LAYOUT.findall(side)]
        for side in sides
    ]


class GUFunc(_Function):
    """A function of sub-arrays, applied over the leading axes: made by ``guvectorize``."""

    launches_itself = True

    def __init__(self, py_func, signatures, layout, options):
        super().__init__(py_func, signatures, options)
        self.signature = layout
        self.inputs, self.outputs = _layout(layout)
        self.nin, self.nout = len(self.inputs), len(self.outputs)
        for s in signatures:
            if s.return_type not in (None, ty.none):
                raise TypeError(
                    f"guvectorized functions cannot return values: signature {s} specifies {s.return_type} return type"
                )
            if len(s.args) != self.nin + self.nout:
                raise TypeError(
                    f"signature {s} has {len(s.args)} arguments, the layout {layout!r} {self.nin + self.nout}"
                )
            self.core.compile_device(s.args)

    def __call__(self, *args, out=None, stream=0):
        """The results: on the device when an input is there, else on the host. ``out``: an array, or a tuple of
        them."""
        from ..cuda import _devicearray as arrays

        n, m = self.nin, self.nout
        if len(args) not in (n, n + m):
            plural = "" if len(args) == 1 else "s"
            raise TypeError(
                f"gufunc accepts {n} positional arguments (inputs only) or {n + m} positional arguments (inputs and "
                f"outputs). Got {len(args)} positional argument{plural}."
            )
        if len(args) == n + m:
            if out is not None:
                raise ValueError("cannot specify argument 'out' as both positional and keyword")
            args, out = args[:n], args[n:]
        outs = list(out) if isinstance(out, (tuple, list)) else [out] * m if out is None else [out]
        outs = [_ours(array) for array in outs]
        staged = [self._stage(a) for a in args]
        signature = self._choose(staged, n)
        loop, sizes = self._sizes([a for a, _ in staged])
        shapes = [loop + tuple(sizes[name] for name in names) for names in self.outputs]
        dtypes = [_element(t).dtype for t in signature.args[n:]]
        results = self._results(shapes, dtypes, outs, stream)
        with arrays.on(stream):
            inputs = []
            for k, ((value, on_device), type_) in enumerate(zip(staged, signature.args)):
                value = self._upload(self._convert(value, on_device, _element(type_).dtype, k))
                core = value.shape[value.ndim - len(self.inputs[k]) :]
                inputs.append(
                    _manipulation.broadcast_to(value, loop + core)
                    if value.shape != loop + core
                    else value
                )
            self._launch(signature, loop, inputs, results, stream)
        on_device = any(d for _, d in staged)
        return self._finish(results, dtypes, outs, on_device, stream, not any(shapes))

    def _facts(self):
        return self.signatures, self.signature, self.options

    def _sizes(self, inputs):
        """(shape of the loop, lengths of the core axes by name)."""
        sizes, loops = {}, []
        for value, names in zip(inputs, self.inputs):
            if value.ndim < len(names):
                raise ValueError(
                    f"an input of {value.ndim} dimensions has no core axes ({', '.join(names)})"
                )
            split = value.ndim - len(names)
            loops.append(value.shape[:split])
            for name, length in zip(names, value.shape[split:]):
                if sizes.setdefault(name, length) != length:
                    raise ValueError(
                        f"core axis '{name}' has the lengths {sizes[name]} and {length}"
                    )
        for names in self.outputs:
            for name in names:
                if name not in sizes:
                    raise ValueError(f"core axis '{name}' of an output is not one of an input")
        return np.broadcast_shapes(*loops), sizes

    def _launch(self, signature, loop, inputs, results, stream):
        # One more axis in front makes a loop where there is none.
        if not loop:
            inputs, results = [a[None] for a in inputs], [a[None] for a in results]
        axes = max(len(loop), 1)
        key = (axes, signature)
        arrays, parts, names = [], [], []
        for k, (array, core, type_) in enumerate(
            zip([*inputs, *results], [*self.inputs, *self.outputs], signature.args)
        ):
            inner = len(core)
            if isinstance(type_, ty.Array) and type_.ndim > inner:
                array, inner = (
                    array[..., None],
                    inner + 1,
                )  # '()' that the function sees as a 1-element array
            arrays.append(array)
            names.append(f"a{k}")
            parts.append(f"a{k}{_index(axes, inner)}")
        kernel = self.kernels.get(key)
        if kernel is None:
            from .. import cuda

            wraps, _, values = _seen_as(signature.args)
            parts = (before + part + behind for part, (before, behind) in zip(parts, wraps))
            call = f"__core__({', '.join(parts)})"
            text = _loop_text("kernel", names, f"a{len(inputs)}", axes, call)
            function = _define("kernel", text, {"__cuda__": cuda, "__core__": self.core, **values})
            kernel = self.kernels[key] = Dispatcher(function, None)
        count = int(np.prod(loop, dtype=np.int64)) if loop else 1
        if count:
            kernel.forall(count, stream=stream)(*arrays)


def _listed(signatures):
    if isinstance(signatures, (str, ty.Signature)) or (
        isinstance(signatures, tuple) and signatures and isinstance(signatures[0], ty.Type)
    ):
        signatures = [signatures]
    found = []
    for one in signatures:
        args, result = normalize(one)
        found.append(ty.Signature(result, args))
    return found


def vectorize(ftylist_or_function=(), target="cuda", **options):
    """Makes a NumPy-like function of a function of elements.

    ``@vectorize(["float32(float32, float32)"])`` compiles for these types; ``@vectorize`` for those of each call.
    """
    if "nopython" in options:
        warnings.warn("nopython kwarg for cuda target is redundant", RuntimeWarning, stacklevel=2)
        options.pop("nopython")
    for name in ("identity", "cache"):
        options.pop(name, None)
    if options:
        raise KeyError(
            f"Unrecognized options. Perhaps you mean: @vectorize without {', '.join(options)}"
        )
    if callable(ftylist_or_function) and not isinstance(
        ftylist_or_function, (ty.Type, ty.Signature)
    ):
        return UFunc(_python(ftylist_or_function), [], options)
    signatures = _listed(ftylist_or_function)

    def decorate(function):
        made = UFunc(_python(function), signatures, options)
        for s in signatures:
            made.core.compile_device(s.args)
        return made

    return decorate


def guvectorize(ftylist, signature, target="cuda", **options):
    """Makes a function over arrays of a function of sub-arrays, whose last arguments are the results.

    ``signature`` names the axes: ``"(m,n),(n,p)->(m,p)"``.
    """
    if options.pop("nopython", True) is not True:
        raise TypeError("nopython flag must be True")
    for name in ("identity", "cache", "writable_args"):
        options.pop(name, None)
    if options:
        raise TypeError(
            f"The following target options are not supported: {', '.join(repr(name) for name in options)}"
        )
    return lambda function: GUFunc(_python(function), _listed(ftylist), signature, options)


def _python(function):
    return getattr(function, "py_func", function)
