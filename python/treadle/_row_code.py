"""The bodies of tables/ops.def as CUDA C++ text, for kernels that are printed in Python."""

import functools

import numpy as np

from . import _treadle

CUDA_NAMES = {
    "?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short", "i": "int",
    "I": "unsigned int", "q": "long long", "Q": "unsigned long long", "e": "td_half", "f": "float", "d": "double",
    "F": "td_complex<float>", "D": "td_complex<double>",
}  # fmt: skip
# A user kernel whose preamble has these words gets the types and functions that the bodies need.
MARKER = "// float16 complex td_operations\n"


def _char(dtype):
    char = np.dtype(dtype).char
    return {"l": "q", "L": "Q"}.get(char, char)


def cuda_name(dtype):
    """The C++ type of a dtype in the bodies."""
    return CUDA_NAMES[_char(dtype)]


def is_compiled(dtype):
    """Has the dtype arithmetic in the generated text?"""
    return _char(dtype) in CUDA_NAMES and np.dtype(dtype).isbuiltin == 1


def cast(code, dtype, wanted):
    """A number of one dtype as another."""
    return code if dtype == wanted else f"td_cast<{cuda_name(wanted)}>({code})"


def inner(code, dtype):
    """A parameter of a user kernel as the type that the bodies have."""
    return f"td_half((float){code})" if dtype.char == "e" else f"({cuda_name(dtype)}){code}"


def outer(code, dtype, wanted):
    """A number of the bodies' type as what a parameter of a user kernel takes."""
    value = cast(code, dtype, wanted)
    return f"float16((float){value})" if wanted.char == "e" else value


@functools.cache
def rows():
    """The rows of tables/ops.def by name."""
    return {row["name"]: row for row in _treadle._operation_rows()}


def ufunc_of(name):
    """NumPy's ufunc of one result that a row goes by, or None."""
    row = rows().get(name)
    ufunc = getattr(np, row["numpy"], None) if row else None
    return ufunc if isinstance(ufunc, np.ufunc) and ufunc.nout == 1 else None


def row_function(symbol, name, loop, result):
    """Text of a device function with the row's body for operands of the loop's dtypes."""
    arguments = ", ".join(f"{cuda_name(t)} {x}" for t, x in zip(loop, "xyz"))
    return f"TD_FN {cuda_name(result)} {symbol}({arguments}) {{ return {rows()[name]['body']}; }}\n"
