"""CUDA for Python that runs with or without a GPU.

Arrays with NumPy's semantics (``treadle.asarray``, ``treadle.sqrt`` …), kernels in CUDA C++
(``treadle.RawKernel``), and devices, streams and events (``treadle.cuda``). The same program runs on
an NVIDIA GPU and, without one, on the software device. ``TREADLE_DEVICE`` chooses: ``auto``
(default), ``cuda[:N]`` or ``soft[:N]``.
"""

import importlib as _importlib
import importlib.util as _importlib_util

try:
    import numpy as _np

    from . import _libraries, _treadle
except ImportError as _error:
    from ._start import without_core as _without_core

    _without_core(_error)  # raises

_libraries.announce()

from . import _array as _array  # noqa: E402  (gives ndarray its Python methods)
from . import _array_api, _ufunc  # noqa: E402
from ._along_axes import *  # noqa: E402
from ._array_api import *  # noqa: E402
from ._creation import *  # noqa: E402
from ._einsum import *  # noqa: E402
from ._elementwise import *  # noqa: E402
from ._explain import *  # noqa: E402
from ._files import *  # noqa: E402
from ._flat import *  # noqa: E402
from ._functions import *  # noqa: E402
from ._histograms import *  # noqa: E402
from ._index_tricks import *  # noqa: E402
from ._indexing import *  # noqa: E402
from ._manipulation import *  # noqa: E402
from ._memoize import *  # noqa: E402
from ._memory import get_default_memory_pool, get_default_pinned_memory_pool  # noqa: E402
from ._padding import *  # noqa: E402
from ._pinned import *  # noqa: E402
from ._polynomials import *  # noqa: E402
from ._printing import (  # noqa: E402
    array2string,
    array_repr,
    array_str,
    base_repr,
    binary_repr,
    format_float_positional,
    format_float_scientific,
    get_printoptions,
    printoptions,
    set_printoptions,
)
from ._products import *  # noqa: E402
from ._quantiles import *  # noqa: E402
from ._scans import *  # noqa: E402
from ._sets import *  # noqa: E402
from ._signal import *  # noqa: E402
from ._sorting import *  # noqa: E402
from ._statistics import *  # noqa: E402
from ._treadle import RawKernel, RawModule, __version__, ndarray  # noqa: E402
from ._user_kernels import *  # noqa: E402
from ._vectorize import *  # noqa: E402
from ._windows import *  # noqa: E402
from .errors import (  # noqa: E402
    CompileError,
    CUDAError,
    InternalError,
    LaunchLimitError,
    OutOfMemoryError,
)

# Every operation and reduction of the tables; a function of _functions.py of the same name knows more and stays.
for _name, _operation in _ufunc.operations().items():
    globals().setdefault(_name, _operation)
for _name in _treadle.reductions:
    globals().setdefault(_name, getattr(_treadle, _name))
ufunc = _ufunc.ufunc

# The device's dtypes are NumPy's own objects.
for _dtype in _treadle.dtypes:
    globals()[_dtype.type.__name__] = _dtype.type
bool = bool_ = _np.bool_
for _name in (
    "byte", "short", "intc", "int_", "intp", "long", "longlong", "ubyte", "ushort", "uintc", "uint", "uintp", "ulong",
    "ulonglong", "half", "single", "double", "csingle", "cdouble", "generic", "number", "integer", "signedinteger",
    "unsignedinteger", "inexact", "floating", "complexfloating",
):  # fmt: skip
    globals()[_name] = getattr(_np, _name)
dtype = _np.dtype
iterable, ndindex = _np.iterable, _np.ndindex
mintypecode, typename, row_stack = _np.mintypecode, _np.typename, vstack  # noqa: F405
DataSource, format_parser = _np.lib.npyio.DataSource, _np.rec.format_parser
newaxis = None
__array_api_version__ = _array_api.VERSION
pi, e, inf, nan, euler_gamma = _np.pi, _np.e, _np.inf, _np.nan, _np.euler_gamma

_LAZY = (
    "benchmarking",
    "cuda",
    "exceptions",
    "fft",
    "lib",
    "linalg",
    "polynomial",
    "profiler",
    "random",
    "config",
    "testing",
    "tour",
)


def __getattr__(name):
    if name == "benchmark":
        return _importlib.import_module(f"{__name__}.benchmarking").benchmark
    if name == "bfloat16":  # ml_dtypes' scalar class
        return _treadle._dtype("bfloat16").type
    if name in _LAZY and _importlib_util.find_spec(f"{__name__}.{name}"):
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_LAZY, "benchmark"])


def show_config():
    """Prints versions, the device, its driver and memory."""
    _importlib.import_module(f"{__name__}.config").show_config()


def is_available():
    """True when an NVIDIA GPU can be used."""
    from . import cuda

    return len([d for d in cuda.devices() if not d.is_software]) > 0


def get_array_module(*args):
    """``treadle`` when one of the arguments is a treadle array, else ``numpy``."""
    for arg in args:
        if isinstance(arg, ndarray):
            return _importlib.import_module(__name__)
    return _np
