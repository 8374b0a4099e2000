"""``numba`` and ``numba.cuda``: what programs with CUDA kernels use of them.

A function that Numba would compile for the CPU (njit, jit, vectorize for the CPU) runs as plain Python here; kernels
may
call it as a device function.
"""

import contextlib
import functools
import importlib
import os
import sys

VERSION = "0.61.2"  # the Numba whose names these are


def _forward(module, source, names=None):
    """Names of ``source`` that are looked up when they are asked for, as its own __getattr__ may make them."""

    def find(name):
        if name.startswith("__") or (names is not None and name not in names):
            raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
        return getattr(importlib.import_module(source), name)

    module.__getattr__ = find


def _type_names():
    from treadle._jit import types

    return {n: v for n, v in vars(types).items() if isinstance(v, types.Type) and n != "unset"}


def _submodule(name):
    return importlib.import_module(name)


# ---- numba ----


def _root(module):
    module.__version__ = VERSION
    module.version_info = tuple(int(part) for part in VERSION.split("."))
    module.__file__ = __file__
    vars(module).update(_type_names())
    vars(module).update(
        jit=_plain, njit=_plain, generated_jit=_plain, cfunc=_plain, stencil=_plain, prange=range,
        vectorize=_vectorize, guvectorize=_guvectorize, typeof=_typeof, literally=lambda x: x,
        set_num_threads=lambda n: None, get_num_threads=lambda: 1, float_=_type_names()["float64"],
    )  # fmt: skip
    parts = {
        "cuda",
        "types",
        "config",
        "errors",
        "core",
        "np",
        "typing",
        "extending",
        "experimental",
    }

    def find(name):
        if name in parts:
            return _submodule(f"numba.{name}")
        if name == "literal_unroll":
            from treadle._jit.stubs import literal_unroll

            return literal_unroll
        raise AttributeError(
            f"module 'numba' has no attribute '{name}': Treadle stands for numba.cuda, not for Numba's CPU compiler"
        )

    module.__getattr__ = find


@functools.cache
def _tell_plain():
    from treadle._aliases import say

    say("treadle: functions that numba compiles for the CPU (njit, jit) run as plain Python")


def _plain(*args, **options):
    """njit and jit: the function itself."""
    if len(args) == 1 and callable(args[0]) and not options and not _is_type(args[0]):
        return _itself(args[0])
    if options.get("target") == "cuda":
        from treadle import cuda

        options.pop("target")
        return cuda.jit(*args, **options)
    return _itself


def _itself(function):
    _tell_plain()
    with contextlib.suppress(AttributeError):  # an object that takes no attributes
        function.py_func = function
    return function


def _is_type(value):
    from treadle._jit import types

    return isinstance(value, (types.Type, types.Signature))


def _typeof(value):
    from treadle._jit.arguments import typeof

    return typeof(value)


def _vectorize(*args, target="cpu", **options):
    if target == "cuda":
        from treadle import cuda

        return cuda.vectorize(*args, **options)
    import numpy as np

    def decorate(function):
        _tell_plain()
        return functools.wraps(function)(np.vectorize(function))

    if len(args) == 1 and callable(args[0]) and not _is_type(args[0]):
        return decorate(args[0])
    return decorate


def _guvectorize(*args, target="cpu", **options):
    if target == "cuda":
        from treadle import cuda

        return cuda.guvectorize(*args, **options)
    raise NotImplementedError(
        "guvectorize for the CPU is Numba's compiler, which Treadle does not have; give target='cuda'"
    )


# ---- numba.cuda ----


def _cuda(module):
    module.__file__ = os.path.join(os.path.dirname(__file__), "numba.py")
    vars(module).update(_type_names())
    module.implementation = "Treadle"
    module.HAS_NUMBA = False
    module.numba_cuda_default_ptx_cc = (7, 5)
    own = {"config": "numba.cuda.core.config", "typing": "numba.cuda.typing", "np": "numba.cuda.np",
           "compiler": "numba.cuda.compiler", "core": "numba.cuda.core", "cudadrv": "numba.cuda.cudadrv",
           "launchconfig": "numba.cuda.launchconfig", "utils": "numba.cuda.utils", "extending": "numba.cuda.extending",
           "args": "numba.cuda.args", "dispatcher": "numba.cuda.dispatcher", "errors": "numba.cuda.errors",
           "misc": "numba.cuda.misc", "testing": "numba.cuda.testing", "random": "numba.cuda.random",
           "devicearray": "numba.cuda.cudadrv.devicearray", "driver": "numba.cuda.cudadrv.driver",
        "vector_types": "numba.cuda.vector_types"}  # fmt: skip

    def find(name):
        if name in own:
            return _submodule(own[name])
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module("treadle.cuda"), name)

    module.__getattr__ = find


def _numpy_support(module):
    import numpy as np

    from treadle._jit import types

    module.from_dtype, module.as_dtype = types.from_dtype, types.as_dtype
    module.numpy_version = tuple(int(part) for part in np.__version__.split(".")[:2])
    for name, order in (("carray", "C"), ("farray", "F")):
        setattr(module, name, _intrinsic(name) or functools.partial(_array_at, order=order))


def _array_at(ptr, shape, dtype=None, order="C"):
    """A NumPy array over memory of the host that a pointer of ctypes, or an address with a dtype, names."""
    import ctypes

    import numpy as np

    if isinstance(ptr, int):
        address = ptr
    elif isinstance(ptr, ctypes.c_void_p):
        address = ptr.value
    else:
        address = ctypes.cast(ptr, ctypes.c_void_p).value
        dtype = dtype or np.dtype(ptr._type_)
    if dtype is None:
        raise TypeError("an address needs a dtype")
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = (ctypes.c_char * size).from_address(address)
    return np.ndarray(shape, dtype, buffer, order=order)


def _intrinsic(name):
    from treadle._jit import stubs

    return getattr(stubs, name, None)


def _typing(module):
    from treadle._jit import types

    module.typeof = _submodule("numba.cuda.typing.typeof")
    module.signature = lambda result, *args: types.Signature(result, args)


def _typeof_module(module):
    module.typeof = _typeof


def _vector_types(module):
    from treadle._jit.vector_types import vector_types

    module.vector_types = dict(vector_types)


def _utils(module):
    module.PYVERSION = sys.version_info[:2]


def _empty(module):
    """A package whose modules are what matters."""
    name = module.__name__

    def find(part):
        if f"{name}.{part}" in MODULES:
            return _submodule(f"{name}.{part}")
        raise AttributeError(f"module '{name}' has no attribute '{part}'")

    module.__getattr__ = find


def _of(source, *names):
    """A module with some names of a module of Treadle."""

    def make(module):
        _forward(module, source, names or None)

    return make


MODULES = {
    "numba": _root,
    "numba.cuda": _cuda,
    "numba_cuda": _empty,
    "numba.cuda.random": "treadle.cuda.random",
    "numba.cuda.libdevice": "treadle.cuda.libdevice",
    "numba.cuda.bf16": "treadle.cuda.bf16",
    "numba.cuda.stubs": "treadle._jit.stubs",
    "numba.cuda.args": _of("treadle._jit.arguments"),
    "numba.cuda.dispatcher": _of("treadle._jit.dispatcher"),
    "numba.cuda.decorators": _of("treadle._jit.dispatcher", "jit", "declare_device"),
    "numba.cuda.api": _of("treadle.cuda"),
    "numba.cuda.errors": _of("treadle._jit.numba_errors"),
    "numba.cuda.vectorizers": _of("treadle._jit.ufuncs"),
    "numba.cuda.deviceufunc": _of("treadle._jit.ufuncs"),
    "numba.cuda.compiler": _of("treadle._jit.compile_only"),
    "numba.cuda.launchconfig": _of("treadle._jit.launch_config"),
    "numba.cuda.extending": _of("treadle._jit.extending"),
    "numba.cuda.vector_types": _vector_types,
    "numba.cuda.kernels": _empty,
    "numba.cuda.kernels.transpose": _of("treadle.cuda._devicearray", "transpose"),
    "numba.cuda.kernels.reduction": _of("treadle._jit.reduction"),
    "numba.cuda.misc": _empty,
    "numba.cuda.misc.special": _of("treadle._jit.stubs", "literal_unroll"),
    "numba.cuda.utils": _utils,
    "numba.cuda.cudadrv": _empty,
    "numba.cuda.cudadrv.driver": _of("treadle.cuda._driver_names"),
    "numba.cuda.cudadrv.devices": _of("treadle.cuda._contexts"),
    "numba.cuda.cudadrv.devicearray": _of("treadle.cuda._devicearray"),
    "numba.cuda.cudadrv.error": _of("treadle.cuda._driver_names"),
    "numba.cuda.cudadrv.linkable_code": _of("treadle._jit.linking"),
    "numba.cuda.core": _empty,
    "numba.cuda.np": _empty,
    "numba.core": _empty,
    "numba.np": _empty,
    "numba.core.typing": _typing,
    "numba.typing": _typing,
    "numba.cuda.typing": _typing,
    "numba.core.typing.typeof": _typeof_module,
    "numba.cuda.typing.typeof": _typeof_module,
    "numba.extending": _of("treadle._jit.extending"),
    "numba.core.extending": _of("treadle._jit.extending"),
    "numba.experimental": _empty,
}
for _prefix in ("numba", "numba.core", "numba.cuda", "numba.cuda.core"):
    MODULES[f"{_prefix}.types"] = "treadle._jit.types"
    MODULES[f"{_prefix}.config"] = "treadle._jit.settings"
    MODULES.setdefault(f"{_prefix}.errors", "treadle._jit.numba_errors")
for _prefix in ("numba.np", "numba.cuda.np"):
    MODULES[f"{_prefix}.numpy_support"] = _numpy_support
