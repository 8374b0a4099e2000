"""``cuda.jit``: a Python function, its compiled variants by argument types, and its launches."""

import functools
import inspect
import math
import os
import sys
import threading
import types as pytypes

import numpy as np

from .. import _treadle
from ..errors import CompileError
from . import linking, pickling, settings
from . import types as ty
from .linking import DeclaredFunction

_LOCK = threading.RLock()


class ShortTraces:
    """Errors of the program's kernels leave without the frames of this compiler."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, CompileError):
            raise error.with_traceback(None) from None


class Dispatcher(_treadle._PythonKernel):
    """A Python function that is launched on a device, or called from kernels.

    ``kernel[grid, block, stream, shared_bytes](*args)`` launches it. Each new list of argument types compiles one
    variant.
    """

    def __init__(self, py_func, signatures=None, *, device=False, debug=False, fastmath=False, link=(),
                 max_registers=None, launch_bounds=None, inline=False, opt=True, cache=False, lineinfo=False,
                 extensions=(), cooperative=False, boundscheck=False, carveout=None):  # fmt: skip
        parameters = inspect.signature(py_func, follow_wrapped=False).parameters.values()
        collects = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
        super().__init__(-1 if collects else len(parameters))  # -1: arguments are always bound
        functools.update_wrapper(self, py_func)
        self.py_func, self.is_device, self.debug, self.fastmath = py_func, device, debug, fastmath
        self.boundscheck = boundscheck
        self.bounds = (
            debug or boundscheck or os.environ.get("TREADLE_BOUNDSCHECK", "") not in ("", "0")
        )
        self.link, self.max_registers, self.launch_bounds = (
            tuple(linking.listed(link)),
            max_registers,
            launch_bounds,
        )
        self.cooperative, self.carveout, self.cache = cooperative, carveout, cache
        self.extensions = list(extensions)
        self.targetoptions = {
            "debug": debug, "fastmath": fastmath, "device": device, "opt": opt, "lineinfo": lineinfo, "inline": inline,
            "max_registers": max_registers, "launch_bounds": launch_bounds, "link": list(self.link),
            "extensions": self.extensions,
        }  # fmt: skip
        self._compiled = {}  # argument types -> Compiled
        self._device_results = {}
        self._results = {}  # of the signatures of a device function: argument types -> type of the result
        self._reporting = []
        self._explicit, self.specializations = None, {}
        if signatures is not None:
            self._explicit = [tuple(s.args) for s in signatures]
            for signature in signatures:
                self._compile_signature(signature)

    # ---- launching ----

    def configure(self, *config):
        """``configure(grid, block, stream=0, shared_bytes=0)``: a launch that waits for its arguments."""
        return self._configure(config)

    def _configure(self, config):
        name = self.py_func.__name__
        if not isinstance(config, tuple) or not 2 <= len(config) <= 4:
            raise ValueError(
                f"kernel '{name}': a launch is kernel[griddim, blockdim], and optionally a stream and the bytes of "
                f"dynamic shared memory, not kernel[{str(config).strip('()')}]"
            )
        grid, block = _extent(config[0], "griddim"), _extent(config[1], "blockdim")
        stream = to_stream(config[2]) if len(config) > 2 else None
        shared = config[3] if len(config) > 3 else 0
        if isinstance(shared, bool) or not isinstance(shared, (int, np.integer)) or shared < 0:
            raise TypeError(
                f"kernel '{name}': the bytes of dynamic shared memory are an integer, not {shared!r}; a launch is "
                f"kernel[griddim, blockdim, stream, sharedmem]"
            )
        if settings.CUDA_LOW_OCCUPANCY_WARNINGS:
            self._warn_of_small_grid(math.prod(grid))
        return _treadle._PythonLaunch(self, grid, block, stream, int(shared))

    def _warn_of_small_grid(self, blocks):
        """A device is filled by two blocks for each multiprocessor."""
        from .arguments import warn

        filled = 2 * _treadle.Device().attribute(16)
        if blocks < filled and not settings.DISABLE_PERFORMANCE_WARNINGS:
            warn(
                f"Grid size {blocks} will likely result in GPU under-utilization due to low occupancy."
            )

    def __call__(self, *args, **kwargs):
        raise ValueError(
            f"Kernel launch configuration was not specified. Use the syntax:\n\n"
            f"{self.py_func.__name__}[griddim, blockdim](arg0, arg1, ..., argN)\n\n"
            f"or, for n elements, {self.py_func.__name__}.forall(n)(arg0, ..., argN)"
        )

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        """A one-dimensional launch of at least ``ntasks`` threads, in blocks of ``tpb`` (0: of the highest occupancy,
        256 where that is as good). ValueError: ``ntasks`` or ``tpb`` is negative.
        """
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        if tpb < 0:
            raise ValueError(f"forall: tpb, the threads of a block, is {tpb}; it is 0 or more")
        return _treadle._PythonLaunch.over_tasks(
            self, int(ntasks), int(tpb), to_stream(stream), int(sharedmem)
        )

    def _bind(self, args, kwargs):
        """Arguments in the order of the parameters, keywords and defaults filled in."""
        signature = inspect.signature(self.py_func, follow_wrapped=False)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"kernel '{self.py_func.__name__}': {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _variant(self, args):
        """What the launcher asks for a new list of argument types: (kernel, dtypes or None, cooperative, reports)."""
        from .arguments import typeof

        with _LOCK, ShortTraces():
            types = tuple(typeof(a) for a in args)
            compiled = self._choose(types)
            dtypes = None
            if compiled.types != types:
                dtypes = _leaf_dtypes(compiled.types)
            number = 0
            if compiled.sites:
                self._reporting.append(compiled)
                number = len(self._reporting)
            return compiled.kernel, dtypes, compiled.cooperative, number

    def _choose(self, types):
        """The variant for argument types: the best of the given signatures, else a new one."""
        if self._explicit is None:
            found = self._compiled.get(types)
            return found or self._compile(types)
        from .overloads import best

        chosen = best(self._explicit, types, self.py_func)
        if chosen is None:
            known = "\n".join(f"  ({', '.join(map(str, s))})" for s in self._explicit)
            raise TypeError(
                f"No matching definition for argument type(s) {', '.join(map(str, types))}: kernel "
                f"'{self.py_func.__name__}' was "
                f"compiled for\n{known}"
            )
        return self._compiled[chosen]

    def _compile(self, types):
        from .variant import make

        if self.is_device:
            raise RuntimeError(
                f"Cannot compile a device function as a kernel: '{self.py_func.__name__}' is a device function; call "
                f"it from a kernel"
            )
        compiled = make(self, types)
        if self.carveout is not None:
            compiled.kernel.preferred_shared_memory_carveout = self.carveout
        self._compiled[types] = compiled
        if settings.DUMP_ASSEMBLY:
            title = f"ASSEMBLY {self.py_func.__name__} {', '.join(map(str, types))}"
            print(f"--{title}".ljust(80, "-"), self.inspect_asm(types), "=" * 80, sep="\n")
        return compiled

    def _compile_signature(self, signature):
        if self.is_device:
            self._results[tuple(signature.args)] = signature.return_type
            self.compile_device(signature.args, signature.return_type)
        else:
            if signature.return_type is not ty.none:
                raise TypeError(
                    f"CUDA kernel must have void return type, not {signature.return_type}"
                )
            self._compile(tuple(signature.args))

    def _launch_adapted(self, launch, args):
        from .arguments import Adapted

        with Adapted(args, self, launch) as adapted:
            if not launch.launch(adapted):
                bad = next(i for i, a in enumerate(adapted) if a is args[i])
                raise TypeError(
                    f"argument {bad} of kernel '{self.py_func.__name__}' is a {type(args[bad]).__name__}, which "
                    f"kernels cannot take"
                )

    def _look(self, number, stream=None):
        """Raises what a kernel compiled with debug=True reported."""
        from .report import look

        look(self._reporting[number - 1], stream)

    # ---- what there is ----

    @property
    def signatures(self):
        """The argument types of the variants compiled so far."""
        return list(self._device_results if self.is_device else self._compiled)

    @property
    def overloads(self):
        """The variants compiled so far, by argument types; of a device function the types of its results."""
        return dict(self._device_results if self.is_device else self._compiled)

    @property
    def specialized(self):
        return self._explicit is not None and len(self._explicit) == 1

    def specialize(self, *args):
        """A dispatcher with one variant, for these types, or the types of these values."""
        from .arguments import typeof

        types = tuple(a if isinstance(a, ty.Type) else typeof(a) for a in args)
        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        found = self.specializations.get(types)
        if found is None:
            found = Dispatcher(self.py_func, [ty.void(*types)], **self._keywords())
            self.specializations[types] = found
        return found

    def _keywords(self):
        """The keywords that make the same dispatcher again."""
        return {
            **self.targetoptions, "cache": self.cache, "cooperative": self.cooperative,
            "boundscheck": self.boundscheck, "carveout": self.carveout,
        }  # fmt: skip

    def compile(self, signature):
        """Compiles the variant for a signature now."""
        from .signatures import normalize

        args, _ = normalize(signature)
        found = self._compiled.get(tuple(args))
        with ShortTraces():
            return found or self._compile(tuple(args))

    def compile_device(self, args, return_type=None):
        """Checks a device function for argument types; its result's type."""
        from .build import check_device

        key = tuple(args)
        if key not in self._device_results:
            self._device_results[key] = check_device(self, key, return_type)
        return self._device_results[key]

    def _one(self, signature):
        if signature is not None:
            from .signatures import normalize

            return self._compiled[tuple(normalize(signature)[0])]
        return None

    def _facts(self, read, signature):
        one = self._one(signature)
        if one is not None:
            return read(one)
        if self.specialized:
            return read(next(iter(self._compiled.values())))
        return {types: read(c) for types, c in self._compiled.items()}

    def _texts(self, read, signature):
        one = self._one(signature)
        return read(one) if one is not None else {t: read(c) for t, c in self._compiled.items()}

    def inspect_source(self, signature=None):
        """The generated CUDA C++ text, of one variant or of all by argument types."""
        return self._texts(lambda c: c.text, signature)

    def device_source(self, *types, name=None):
        """CUDA C++ text of the function for argument types (or a signature), as ``extern "C" __device__`` of its
        own name or ``name``: what stands behind the text, such as a kernel of ``RawModule``, can call it. Arrays
        are ``tdpy::array``.
        """
        from .build import print_device

        if len(types) == 1 and isinstance(types[0], ty.Signature):
            types = types[0].args
        return print_device(self, types, None, name)[0]

    def inspect_asm(self, signature=None):
        """The PTX of one variant or of all by argument types, which NVRTC makes of the text, for the current device's
        compute capability. NotSupported without NVRTC.
        """
        from .compile_only import compile_ptx_for_current_device
        from .variant import options_of

        if self.is_device:
            options = {"device": True, "opt": self.targetoptions["opt"]}

            def of(types):
                return compile_ptx_for_current_device(self.py_func, types, **options)[0]

            return (
                of(signature) if signature is not None else {t: of(t) for t in self._device_results}
            )
        device = _treadle.Device()
        cc = 10 * device.attribute(75) + device.attribute(76)
        return self._texts(lambda c: _treadle._ptx_of(c.text, options_of(self), cc), signature)

    def inspect_llvm(self, signature=None):
        """There is none: see ``inspect_source`` and ``inspect_asm``."""
        raise NotImplementedError(
            "kernels are CUDA C++ text, not LLVM's: inspect_source() gives the text, inspect_asm() the PTX of it"
        )

    def inspect_sass(self, signature=None):
        """Not given: machine code of a GPU."""
        if self.is_device:
            raise RuntimeError("Cannot inspect SASS of a device function")
        raise NotImplementedError(
            "inspect_sass: write inspect_asm() to a file and use ptxas and nvdisasm of the CUDA toolkit"
        )

    def inspect_types(self, file=None, signature=None):
        """Prints the types of every name of each variant."""
        for types, c in self._compiled.items():
            print(f"{self.py_func.__name__} ({', '.join(map(str, types))})", file=file)
            for name, type_ in c.variables.items():
                print(f"  {name}: {type_}", file=file)

    def get_regs_per_thread(self, signature=None):
        """Registers of each thread."""
        return self._facts(lambda c: c.kernel.num_regs, signature)

    def get_const_mem_size(self, signature=None):
        """Bytes of constant memory."""
        return self._facts(lambda c: c.kernel.const_size_bytes, signature)

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of static shared memory of each block."""
        return self._facts(lambda c: c.kernel.shared_size_bytes, signature)

    def get_max_threads_per_block(self, signature=None):
        """The most threads that a block of this kernel can have."""
        return self._facts(lambda c: c.kernel.max_threads_per_block, signature)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of local memory of each thread."""
        return self._facts(lambda c: c.kernel.local_size_bytes, signature)

    def __get__(self, obj, objtype=None):
        if obj is None:
            return self
        return pytypes.MethodType(self, obj)

    def __reduce__(self):
        found = sys.modules.get(self.py_func.__module__)
        for part in self.py_func.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is self:  # decorated at the top of a module: its name is enough
            return self.py_func.__qualname__
        return _rebuild, (
            pickling.pack(self.py_func),
            self._explicit,
            self._results,
            self._keywords(),
        )

    def __repr__(self):
        kind = "device function" if self.is_device else "kernel"
        return f"<cuda.jit {kind} {self.py_func.__module__}.{self.py_func.__qualname__}>"


def _rebuild(py_func, explicit, results, keywords):
    signatures = None
    if explicit is not None:
        signatures = [ty.Signature(results.get(args, ty.void), args) for args in explicit]
    return Dispatcher(py_func, signatures, **keywords)


def _extent(value, name):
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(values) <= 3:
        raise ValueError(f"{name} must be a sequence of 1, 2 or 3 integers, got {list(values)}")
    for v in values:
        if isinstance(v, bool) or not isinstance(v, (int, np.integer)):
            cure = "; use // for an integer quotient" if isinstance(v, float) else ""
            raise TypeError(f"{name} must be a sequence of integers, got {list(values)}{cure}")
        if v < 0:
            raise ValueError(f"{name} must be positive, got {list(values)}")
    return tuple(int(v) for v in values)


def to_stream(stream):
    """A stream object, 0 or None, or a foreign stream."""
    if stream is None or (isinstance(stream, int) and stream == 0):
        return None
    if isinstance(stream, _treadle.Stream):
        return stream
    if isinstance(stream, int):
        return _treadle.ExternalStream(stream)
    return _treadle.Stream.from_external(stream)


def _leaf_dtypes(types):
    leaves = []

    def walk(t):
        if isinstance(t, ty.Scalar):
            leaves.append(t.dtype)
        elif t.is_tuple:
            for item in t.types:
                walk(item)
        elif t is not ty.none:
            leaves.append(None)

    for t in types:
        walk(t)
    return leaves


_CARVEOUTS = {"default": -1, "MaxL1": 0, "MaxShared": 100}


def check_carveout(value):
    """Percent of the memory that shared memory and the L1 cache share; -1: the driver decides. None stays None."""
    if value is None:
        return None
    if isinstance(value, str):
        names = {name.lower(): percent for name, percent in _CARVEOUTS.items()}
        if value.lower() not in names:
            raise ValueError(
                f"Invalid carveout value: {value!r}; it is one of {', '.join(_CARVEOUTS)} or -1 to 100"
            )
        return names[value.lower()]
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"shared_memory_carveout must be a string or an integer, not {value!r}")
    if not -1 <= value <= 100:
        raise ValueError(f"shared_memory_carveout is {value}; it must be between -1 and 100")
    return value


def jit(func_or_sig=None, device=False, inline="never", forceinline=False, link=(), debug=None, opt=None,
        lineinfo=False, cache=False, **kws):  # fmt: skip
    """Makes a kernel of a Python function.

    ``@cuda.jit``, ``@cuda.jit(device=True)``, ``@cuda.jit("void(float32[:], int32)")`` or a list of signatures.
    Keywords:
    ``device`` (a function that kernels call), ``fastmath``, ``debug`` (assert, raise and array indices are checked
    and reported at the launch), ``max_registers``, ``launch_bounds`` (threads, blocks), ``link`` (CUDA C++ sources),
    ``opt`` (False: the device's compiler optimises nothing), ``cache``, ``inline``, ``lineinfo``
    (always on). Returns a Dispatcher. Raises TypingError at the first launch, or here when there is a signature.
    """
    from .signatures import signatures_of

    boundscheck = bool(kws.pop("boundscheck", False))
    for gone in ("argtypes", "restype", "bind"):
        if gone in kws:
            from .errors import KernelError

            raise KernelError(
                f"jit() has no keyword {gone}=; give a signature: @cuda.jit('void(float32[:])')"
            )
    known = {
        "fastmath",
        "max_registers",
        "launch_bounds",
        "lto",
        "extensions",
        "cooperative",
        "shared_memory_carveout",
    }
    unknown = set(kws) - known
    if unknown:
        raise TypeError(
            f"jit() got an unexpected keyword argument {sorted(unknown)[0]!r}; it takes {', '.join(sorted(known))}"
        )
    kws.pop("lto", None)
    carveout = check_carveout(kws.pop("shared_memory_carveout", None))
    bounds = kws.get("launch_bounds")
    if isinstance(bounds, tuple) and len(bounds) > 3:
        raise ValueError(f"Got {len(bounds)} launch bounds: {bounds}; a launch has at most 3")
    options = {
        "device": device, "debug": bool(debug), "inline": inline, "link": link,
        "lineinfo": lineinfo, "cache": cache, "opt": opt is None or bool(opt), **kws,
    }  # fmt: skip

    def decorate(function, signatures=None):
        if isinstance(function, Dispatcher):
            function = function.py_func
        if not isinstance(function, pytypes.FunctionType):
            raise TypeError(f"cuda.jit takes a Python function (def or lambda), not {function!r}")
        with ShortTraces():
            return Dispatcher(
                function, signatures or None, boundscheck=boundscheck, carveout=carveout, **options
            )

    if func_or_sig is None:
        return decorate
    if isinstance(func_or_sig, (str, ty.Signature, tuple, list)):
        signatures = signatures_of(func_or_sig)
        return lambda function: decorate(function, signatures)
    if not callable(func_or_sig):
        raise TypeError(f"cuda.jit takes a function or a signature, not {func_or_sig!r}")
    return decorate(func_or_sig)


def declare_device(name, sig, link=(), use_cooperative=False, abi="numba"):
    """A device function of CUDA C++ that kernels can call: its name and signature; ``link``: its sources."""
    from .signatures import normalize

    args, result = normalize(sig)
    if result is None:
        raise TypeError(
            f"Return type required: declare_device('{name}') takes a signature such as 'int32(float32)'"
        )
    return DeclaredFunction(name, ty.Signature(result, args), link, use_cooperative, abi)
