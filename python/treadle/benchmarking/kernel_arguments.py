"""Generated arguments of a raw kernel: ``--arg float32[1<<20] --arg int32=1048576``.

ARG    = [in:|out:|inout:] DTYPE "[" SIZES "]" ["=" FILL]      an array
       | DTYPE "=" NUMBER                                      a number
SIZES  = sizes with commas: integers with + - * // << ** and brackets
FILL   = random (default: [0, 1), or 0 to 99 for integers) | arange | a number
"""

import ast
import operator
import re

import numpy as np

__all__ = ["Argument", "arithmetic", "generate"]

_ARRAY = re.compile(r"(?:(in|out|inout):)?(\w+)\[([^\]]*)\](?:=(\S+))?")
_NUMBER = re.compile(r"(\w+)=(\S+)")
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}
_MOST = 1 << 48  # elements; more is a slip


class Argument:
    """One argument: ``value`` (a NumPy array or number) and ``way`` ("in", "out", "inout", or "" for "not said")."""

    def __init__(self, value, way=""):
        self.value, self.way = value, way


def arithmetic(text):
    """The integer that a size like ``1<<20`` or ``3*1024`` means.

    ValueError for anything but integers and + - * // << ** and brackets, and for what is negative or beyond 2^48.
    """

    def value(node):
        if (
            isinstance(node, ast.Constant)
            and type(node.value) in (int, float)
            and node.value == int(node.value)
        ):
            return int(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = value(node.left), value(node.right)
            if type(node.op) in (ast.LShift, ast.Pow) and not 0 <= right <= 64:
                raise ValueError
            if type(node.op) is ast.FloorDiv and right == 0:
                raise ValueError
            return _OPERATORS[type(node.op)](left, right)
        raise ValueError

    try:
        found = value(ast.parse(text.strip(), mode="eval").body)
        if not 0 <= found <= _MOST:
            raise ValueError
    except (ValueError, SyntaxError, OverflowError):
        raise ValueError(
            f"{text!r} is no size; sizes are integers like 1048576, 1<<20 or 3*1024"
        ) from None
    return found


def generate(text, rng):
    """The `Argument` that ``text`` describes, with random values drawn from ``rng``. ValueError with what is wrong."""
    array = _ARRAY.fullmatch(text)
    if array:
        way, name, sizes, fill = array.groups()
        shape = tuple(arithmetic(size) for size in sizes.split(",")) if sizes.strip() else ()
        return Argument(_filled(_dtype(name, text), shape, fill or "random", rng, text), way or "")
    number = _NUMBER.fullmatch(text)
    if number:
        dtype = _dtype(number[1], text)
        return Argument(_number(dtype, number[2], text))
    raise ValueError(
        f"{text!r} is no argument; write an array as float32[1<<20] and a number as int32=7"
    )


def _dtype(name, text):
    from .. import _treadle

    try:
        return _treadle._dtype(
            {"float": "float32", "double": "float64", "int": "int32"}.get(name, name)
        )
    except (TypeError, ValueError):
        raise ValueError(f"{text!r}: {name!r} is no dtype; write float32, int32, …") from None


def _number(dtype, text, whole):
    try:
        if dtype.kind in "iu":
            value = arithmetic(text.lstrip("-")) * (-1 if text.startswith("-") else 1)
            if not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
                raise ValueError
        else:
            value = complex(text) if dtype.kind == "c" else float(text)
        return dtype.type(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{whole!r}: {text!r} is no {dtype}") from None


def _filled(dtype, shape, fill, rng, text):
    if fill == "arange":
        return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape).astype(dtype)
    if fill != "random":
        return np.full(shape, _number(dtype, fill, text), dtype)
    if dtype.kind in "iub":
        return rng.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.random(shape) + 1j * rng.random(shape)).astype(dtype)
    return rng.random(shape, np.float64 if dtype.itemsize > 4 else np.float32).astype(dtype)
