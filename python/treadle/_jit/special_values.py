"""Values that are no numbers: dates and their differences, characters, members of enumerations.

Dates: NaT spreads through arithmetic and is unequal to everything, as in NumPy; operands of several units meet in the
finer one. Characters compare as NumPy's S and U elements do, with trailing zeros left out.
"""

import enum

import numpy as np

from .. import _treadle
from . import types as ty
from .values import UNKNOWN, Value, literal, number

_ORDER = ("==", "!=", "<", "<=", ">", ">=")


def constant(c, found):
    """The value of a date, an enumeration's member or characters of the surrounding program; else None."""
    if isinstance(found, (np.datetime64, np.timedelta64)):
        type_ = ty.from_dtype(found.dtype)
        return Value(type_, literal(int(found.view(np.int64)), ty.int64))
    if isinstance(found, enum.Enum):
        type_ = ty.EnumMember(type(found))
        try:
            place = type_.place(found)
        except ValueError:
            text = f"{found!r} is no single member of {type(found).__name__}"
            raise c.error(text, None, "IntFlag and IntEnum are integers in kernels") from None
        return Value(type_, literal(place, ty.int64), found)
    if isinstance(found, (np.str_, np.bytes_)):
        return Value(ty.Opaque(f"Literal[str]({found})"), "", found.item())
    return None


def argument(value):
    """(type, number that stands for it) of a date or an enumeration's member as an argument; else None."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return ty.from_dtype(value.dtype), int(value.view(np.int64))
    if isinstance(value, enum.Enum) and not isinstance(value, int):
        type_ = ty.EnumMember(type(value))
        return type_, type_.place(value)
    return None


def pack_word(type_, word):
    """The argument as the launcher takes it."""
    value = _Word(type_.name, word.to_bytes(8, "little", signed=True))
    value.__treadle_type__ = type_
    return value


class _Word(_treadle._PackedValue):
    """A parameter of eight bytes."""


def stored(c, value, type_, node):
    """The value as one of the types of this module; None when ``type_`` is none of them."""
    have = value.type
    if isinstance(type_, ty.CharSequence):
        source = _chars(value, type_.wide)
        if source is None:
            raise c.error(f"a value of type {have} cannot be stored as characters {type_}", node)
        if source.type == type_:
            return source
        return Value(type_, f"tdpy::resized<{type_.cpp}>({source.code})")
    if isinstance(type_, ty.Time):
        if isinstance(have, ty.Time) and have.is_date == type_.is_date:
            return _in_unit(c, value, type_, node)
        raise c.error(f"a value of type {have} cannot be stored as {type_}", node)
    return None


# ---- characters ----


def _chars(value, wide=None):
    """The value as characters in memory, or None."""
    if isinstance(value.type, ty.CharSequence):
        return value
    if value.is_const and isinstance(value.const, (str, bytes)):
        text = value.const
        codes = list(text) if isinstance(text, bytes) else [ord(ch) for ch in text]
        is_wide = isinstance(text, str) and (wide is not False or max(codes, default=0) > 255)
        type_ = ty.CharSequence(f"{'U' if is_wide else 'S'}{max(len(codes), 1)}")
        items = ", ".join(f"{code}u" for code in codes or [0])
        if not is_wide:
            items = ", ".join(f"(unsigned char){code}" for code in codes or [0])
        return Value(type_, f"{type_.cpp}{{{{{items}}}}}")
    return None


def length(c, value):
    """len() of characters."""
    return Value(ty.int64, f"tdpy::length({value.code})", UNKNOWN, 32)


# ---- dates ----


def _unit(type_):
    return np.dtype(f"m8[{np.datetime_data(type_.dtype)[1]}{np.datetime_data(type_.dtype)[0]}]")


def _common(c, a, b, node):
    """The unit that both fit in, as a timedelta dtype."""
    try:
        return np.promote_types(_unit(a), _unit(b))
    except TypeError:
        text = f"{a} and {b} have no common unit: months and years have no fixed length"
        raise c.error(text, node) from None


def _with_unit(type_, unit, date):
    count, name = np.datetime_data(unit)[::-1]
    return ty.Time(f"{'M8' if date else 'm8'}[{count if count > 1 else ''}{name}]")


def _in_unit(c, value, type_, node):
    if value.type == type_:
        return value
    old, new = _unit(value.type), _unit(type_)
    if _common(c, value.type, type_, node) != new:
        text = f"{value.type} cannot become {type_} without a loss"
        raise c.error(text, node, "store it in a finer unit")
    factor = int(np.ones(1, old).astype(new).view(np.int64)[0])
    return Value(type_, f"tdpy::time_scale({value.code}, {factor}ll)")


def binary(c, symbol, left, right, node):
    """Arithmetic of dates; None when no operand is one."""
    a, b = left.type, right.type
    times = [isinstance(t, ty.Time) for t in (a, b)]
    if not any(times):
        return None
    if all(times):
        return _two_times(c, symbol, left, right, node)
    time, other = (left, right) if times[0] else (right, left)
    if isinstance(other.type, ty.Scalar) and not time.type.is_date and not other.type.is_complex:
        if symbol == "*":
            wide = ty.float64 if other.type.is_float else ty.int64
            return Value(time.type, f"tdpy::time_scale({time.code}, {c.convert(other, wide).code})")
        if symbol in ("/", "//") and time is left:
            name = "time_divide" if symbol == "/" else "time_floor"
            wide = ty.float64 if other.type.is_float else ty.int64
            return Value(time.type, f"tdpy::{name}({time.code}, {c.convert(other, wide).code})")
    raise c.error(f"operator {symbol} does not take {a} and {b}", node)


def _two_times(c, symbol, left, right, node):
    a, b = left.type, right.type
    unit = _common(c, a, b, node)
    kinds = (a.is_date, b.is_date)
    x = _in_unit(c, left, _with_unit(a, unit, a.is_date), node).code
    y = _in_unit(c, right, _with_unit(b, unit, b.is_date), node).code
    if symbol == "+" and kinds != (True, True):
        return Value(_with_unit(a, unit, any(kinds)), f"tdpy::time_add({x}, {y})")
    if symbol == "-" and kinds != (False, True):
        return Value(_with_unit(a, unit, kinds == (True, False)), f"tdpy::time_sub({x}, {y})")
    if kinds == (False, False):
        if symbol == "/":
            return Value(ty.float64, f"tdpy::time_ratio({x}, {y})")
        if symbol == "//":
            return Value(ty.int64, f"tdpy::time_floor_ratio({x}, {y})")
        if symbol == "%":
            return Value(_with_unit(a, unit, False), f"tdpy::time_mod({x}, {y})")
    raise c.error(f"operator {symbol} does not take {a} and {b}", node)


def sign(value, symbol):
    """-x and +x of a difference of dates."""
    return value if symbol == "+" else Value(value.type, f"tdpy::time_scale({value.code}, -1ll)")


# ---- comparison ----


def compare(c, symbol, left, right, node):
    """Comparison of dates, characters and members; None when there are none."""
    a, b = left.type, right.type
    if isinstance(a, ty.Time) and isinstance(b, ty.Time) and a.is_date == b.is_date:
        unit = _common(c, a, b, node)
        type_ = _with_unit(a, unit, a.is_date)
        x, y = (c.keep(_in_unit(c, v, type_, node)).code for v in (left, right))
        known = f"tdpy::known({x}, {y})"
        if symbol == "!=":
            return Value(ty.boolean, f"(!{known} || {x} != {y})")
        return Value(ty.boolean, f"({known} && {x} {symbol} {y})")
    if isinstance(a, ty.CharSequence) or isinstance(b, ty.CharSequence):
        x, y = _chars(left, _is_wide(b)), _chars(right, _is_wide(a))
        if x is not None and y is not None:
            return Value(ty.boolean, f"(tdpy::order({x.code}, {y.code}) {symbol} 0)")
    if isinstance(a, ty.EnumMember) and isinstance(b, ty.EnumMember):
        if symbol not in ("==", "!="):
            raise c.error(f"comparison {symbol} does not take members of an Enum", node)
        if a.cls is not b.cls:
            return number(symbol == "!=")
        if left.is_const and right.is_const:
            return number((left.const is right.const) == (symbol == "=="))
        return Value(ty.boolean, f"({left.code} {symbol} {right.code})")
    member = isinstance(a, ty.EnumMember) or isinstance(b, ty.EnumMember)
    return number(symbol == "!=") if member and symbol in ("==", "!=") else None


def _is_wide(type_):
    return type_.wide if isinstance(type_, ty.CharSequence) else None


# ---- enumerations ----


def enum_attribute(c, base, name, node):
    """.value and .name of a member."""
    if name == "name" and base.is_const:
        return c.constant(base.const.name)
    if name != "value":
        raise c.error(f"a member of {base.type.cls.__name__} has no attribute '{name}' here", node)
    if base.is_const:
        return c.constant(base.const.value)
    values = [c.constant(member.value) for member in base.type.cls]
    type_ = values[0].type
    for value in values[1:]:
        type_ = ty.unify(type_, value.type) if type_ is not None else None
    if type_ is None or type_.cpp is None or type_ is ty.none:
        text = f"the values of {base.type.cls.__name__} have no common type in kernels"
        raise c.error(text, node)
    base = c.keep(base)
    code = c.convert(values[-1], type_).code
    for place in range(len(values) - 2, -1, -1):
        code = f"({base.code} == {place} ? {c.convert(values[place], type_).code} : {code})"
    return Value(type_, code)
