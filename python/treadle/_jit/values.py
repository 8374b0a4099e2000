"""What the compiler knows of an expression: its type, its text, and what is certain of its value."""

import enum

import numpy as np

from . import types as ty

UNKNOWN = object()
_MAX_BITS = 62


class Value:
    """``type``, ``code`` (C++), ``const`` (the Python value when it is known), ``bits``: 0 <= value < 2**bits if
    given, ``least``: least <= value if given (not negative). ``weak``: a number of Python's own, which by NumPy's
    rules takes the dtype of what it meets. ``items``: of a tuple whose items are known one by one.
    """

    __slots__ = ("bits", "code", "const", "items", "least", "type", "weak")

    def __init__(
        self, type_, code="", const=UNKNOWN, bits=None, weak=False, items=None, least=None
    ):
        self.type, self.code, self.const, self.weak, self.items = type_, code, const, weak, items
        self.least = least
        self.bits = bits if bits is not None and bits <= _MAX_BITS else None

    @property
    def is_const(self):
        return self.const is not UNKNOWN

    @property
    def floor(self):
        """A number that the value, an integer, is not below; None when none is known."""
        if self.is_const:
            return int(self.const) if isinstance(self.const, int) else None
        return self.least if self.least is not None else 0 if self.bits is not None else None

    def named(self, code):
        """The same value, kept in the variable ``code``."""
        items = self.items
        if items is not None and self.type.cpp is not None:
            items = [
                i if i.type.cpp is None or i.code == "" else i.named(f"tdpy::get<{k}>({code})")
                for k, i in enumerate(items)
            ]
        return Value(self.type, code, self.const, self.bits, self.weak, items, self.least)

    def __repr__(self):
        return f"<{self.type}: {self.code or self.const!r}>"


def same_const(a, b):
    """True when both are known to be the same value of the same Python type."""
    if a is b:
        return True
    if a is UNKNOWN or b is UNKNOWN or type(a) is not type(b):
        return False
    try:
        equal = a == b
        return bool(equal) and (not isinstance(a, float) or repr(a) == repr(b))
    except Exception:  # whatever == of an object raises: not known to be the same
        return False


def literal(value, type_):
    """C++ text of a number of a type."""
    kind = type_.kind
    if kind == "b":
        return "true" if value else "false"
    if kind in "iu":
        value = int(value)
        suffix = {4: "u" if kind == "u" else "", 8: "ull" if kind == "u" else "ll"}.get(
            type_.bitwidth // 8, ""
        )
        if kind == "i" and value == -(2 ** (type_.bitwidth - 1)) and type_.bitwidth >= 32:
            return f"({value + 1}{suffix} - 1)"
        text = f"{value}{suffix}"
        if not suffix and type_.bitwidth < 32:
            return f"({type_.cpp}){text if value >= 0 else '(' + text + ')'}"
        return text if value >= 0 else f"({text})"
    if kind == "c":
        part = ty.float32 if type_.bitwidth == 64 else ty.float64
        return f"{type_.cpp}({literal(value.real, part)}, {literal(value.imag, part)})"
    value = float(value)
    if type_ == ty.bfloat16:
        return f"tdpy::bfloat16::of_bits({type_.bits(value)})"
    if type_.bitwidth == 16:
        return f"tdpy::half::of_bits({int(np.float16(value).view(np.uint16))})"
    single = type_.bitwidth == 32
    if value != value:
        return (
            "__int_as_float(0x7fc00000)" if single else "__longlong_as_double(0x7ff8000000000000ll)"
        )
    if value in (float("inf"), float("-inf")):
        sign = "-" if value < 0 else ""
        text = (
            "__int_as_float(0x7f800000)" if single else "__longlong_as_double(0x7ff0000000000000ll)"
        )
        return f"({sign}{text})" if sign else text
    # Nine or seventeen significant digits give the same number back.
    text = repr(np.float32(value).item()) if single else repr(value)
    if "e" not in text and "." not in text:
        text += ".0"
    text += "f" if single else ""
    return f"({text})" if text.startswith("-") else text


def type_of_number(value):
    """The type of a Python or NumPy number, or None."""
    if isinstance(value, (bool, np.bool_)):
        return ty.boolean
    if isinstance(value, np.generic):
        try:
            found = ty.from_dtype(value.dtype)
        except TypeError:
            return None
        return found if isinstance(found, ty.Scalar) else None
    if isinstance(value, enum.IntEnum):
        value = int(value)
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return ty.int64
        return ty.uint64 if 0 <= value < 2**64 else None
    if isinstance(value, float):
        return ty.float64
    if isinstance(value, complex):
        return ty.complex128
    return None


def bits_of(value):
    """The bound of a known non-negative integer."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
        return int(value).bit_length()
    return None


def number(value, type_=None):
    """A known number."""
    weak = type_ is None and type(value) in (bool, int, float, complex)
    type_ = type_ or type_of_number(value)
    if isinstance(value, (np.generic, enum.IntEnum)):
        value = int(value) if isinstance(value, enum.IntEnum) else value.item()
    return Value(type_, literal(value, type_), value, bits_of(value), weak)
