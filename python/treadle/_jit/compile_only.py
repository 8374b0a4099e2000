"""``compile_ptx`` and relatives: what a function compiles to, without a launch.

PTX comes from NVRTC, which reads the CUDA C++ text that Treadle prints; no GPU is needed, but NVRTC is.
"""

from .. import _treadle
from . import types as ty
from .build import print_device, print_kernel
from .dispatcher import Dispatcher
from .signatures import normalize
from .variant import folder_options, options_of


def _printed(pyfunc, sig, device, abi_info, options):
    """(text, compiler options, type of the result)."""
    pyfunc = getattr(pyfunc, "py_func", pyfunc)
    args, wanted = normalize(sig)
    dispatcher = Dispatcher(pyfunc, None, device=device, **options)
    if device:
        name = (abi_info or {}).get("abi_name")
        text, unit, result = print_device(dispatcher, tuple(args), wanted, name)
    else:
        if wanted not in (None, ty.none):
            raise TypeError(f"CUDA kernel must have void return type, not {wanted}")
        text, _, unit, _ = print_kernel(dispatcher, tuple(args))
        result = ty.none
    flags = options_of(dispatcher) + folder_options(unit)
    # Without it functions that nothing calls are dropped.
    return text, [*flags, "-rdc=true"] if device else flags, result


def compile_source(pyfunc, sig, device=False, debug=False, fastmath=False):
    """The CUDA C++ text of a kernel, or of a device function, for a signature."""
    return _printed(pyfunc, sig, device, None, {"debug": debug, "fastmath": fastmath})[0]


def compile_ptx(pyfunc, sig, debug=None, lineinfo=False, device=False, fastmath=False, cc=None, opt=None, abi="numba",
                abi_info=None, forceinline=False, launch_bounds=None):  # fmt: skip
    """(PTX text, type of the result) of a kernel, or of a device function, for a signature.

    ``cc``: the compute capability as a pair; default: 7.5. Device functions follow the rules of C, whatever ``abi``
    says.
    TypeError when a kernel returns something; NotSupported without NVRTC.
    """
    options = {
        "debug": bool(debug), "fastmath": fastmath, "launch_bounds": launch_bounds, "opt": opt is None or bool(opt),
    }  # fmt: skip
    text, flags, result = _printed(pyfunc, sig, device, abi_info, options)
    major, minor = cc or (7, 5)
    return _treadle._ptx_of(text, flags, 10 * major + minor), result


def compile_ptx_for_current_device(pyfunc, sig, **options):
    """``compile_ptx`` for the compute capability of the current device."""
    from ..cuda._contexts import get_current_device

    return compile_ptx(pyfunc, sig, cc=get_current_device().compute_capability, **options)


def compile(pyfunc, sig, output="ptx", device=True, abi="c", **options):
    """``compile_ptx``; NotImplementedError for ``output="ltoir"``."""
    if output != "ptx":
        raise NotImplementedError(
            f"compile(output={output!r}): PTX is what can be made; give output='ptx'"
        )
    return compile_ptx(pyfunc, sig, device=device, abi=abi, **options)


def compile_for_current_device(pyfunc, sig, output="ptx", device=True, abi="c", **options):
    """``compile`` for the compute capability of the current device."""
    from ..cuda._contexts import get_current_device

    return compile(
        pyfunc, sig, output, device, abi, cc=get_current_device().compute_capability, **options
    )


def compile_all(pyfunc, sig, output="ptx", device=True, abi="c", **options):
    """([PTX], type of the result): linked sources are part of the text."""
    text, result = compile(pyfunc, sig, output, device, abi, **options)
    return [text], result
