"""NumPy's ufuncs that are neither an operator nor a function of math: sign, conjugate, maximum, logaddexp, gcd …"""

import math

import numpy as np

from . import builtins, math_calls, operators
from . import types as ty
from .values import Value, number


def _numbers(c, name, values, node, kinds="biuf"):
    for v in values:
        if not isinstance(v.type, ty.Scalar) or v.type.kind not in kinds:
            raise c.error(f"{name} does not take {v.type}", node)


def _through_float(c, values, type_, apply):
    """float16 and bfloat16 compute in float32."""
    if not type_.is_half:
        return apply([c.convert(v, type_) for v in values], type_)
    found = apply([c.convert(v, ty.float32) for v in values], ty.float32)
    return c.convert(found, type_) if found.type == ty.float32 else found


def _sign(c, node, x):
    _numbers(c, "sign", [x], node)

    def apply(values, type_):
        v = c.keep(values[0])
        nan = f"{v.code} != {v.code} ? {v.code} : " if type_.is_float else ""
        below = "0" if not (type_.signed or type_.is_float) else f"({v.code} < 0)"
        return Value(type_, f"({nan}({type_.cpp})(({v.code} > 0) - {below}))")

    return _through_float(c, [x], ty.int64 if x.type.is_boolean else x.type, apply)


def _conjugate(c, node, x):
    if not x.type.is_complex:
        _numbers(c, "conjugate", [x], node)
        return x
    x = c.keep(x)
    return Value(x.type, f"{x.type.cpp}({x.code}.re, -{x.code}.im)")


def _positive(c, node, x):
    _numbers(c, "positive", [x], node, "iufc")
    return x


def _reciprocal(c, node, x):
    one = number(1, x.type) if x.type.is_integer else number(1)
    if x.type.is_integer:
        return operators.by_symbol(c, "//", one, x, node)
    return operators.by_symbol(c, "/", Value(x.type, f"{x.type.cpp}(1.0f)"), x, node)


def _signbit(c, node, x):
    _numbers(c, "signbit", [x], node)
    if not x.type.is_float:
        return operators.compare_by_symbol(c, "<", x, number(0), node)
    x = c.convert(x, ty.float32) if x.type.is_half else x
    bits = "__float_as_int" if x.type == ty.float32 else "__double_as_longlong"
    return Value(ty.boolean, f"({bits}({x.code}) < 0)")


def _spacing(c, node, x):
    type_ = math_calls.real_type(c, "spacing", [x], node)
    x = c.keep(c.convert(x, type_))
    if type_.is_half:
        far = number(math.inf, type_).code  # NumPy's of float16 goes up, others away from zero
        if type_ == ty.bfloat16:
            far = f"{type_.cpp}(::copysignf({number(math.inf, ty.float32).code}, (float){x.code}))"
        return Value(
            type_, f"{type_.cpp}((float)tdpy::half_nextafter({x.code}, {far}) - (float){x.code})"
        )
    f = "f" if type_ == ty.float32 else ""
    far = f"::copysign{f}({number(math.inf, type_).code}, {x.code})"
    return Value(type_, f"(::nextafter{f}({x.code}, {far}) - {x.code})")


def _heaviside(c, node, x, at_zero):
    type_ = math_calls.real_type(c, "heaviside", [x, at_zero], node)

    def apply(values, type_):
        x, zero = (c.keep(v) for v in values)
        return Value(
            type_,
            f"({x.code} != {x.code} ? {x.code} : {x.code} == 0 ? {zero.code} : ({type_.cpp})({x.code} > 0))",
        )

    return _through_float(c, [x, at_zero], type_, apply)


def _log_of_sum(two):
    """log(e^x + e^y) and log2(2^x + 2^y) without overflow."""

    def apply(c, node, x, y):
        type_ = math_calls.real_type(c, "logaddexp2" if two else "logaddexp", [x, y], node)

        def text(values, type_):
            a, b = (c.keep(v) for v in values)
            f = "f" if type_ == ty.float32 else ""
            d = c.temp(f"{a.code} - {b.code}", type_)
            scale = number(1 / math.log(2), type_).code + " * " if two else ""
            power = f"::exp{'2' if two else ''}{f}(-::fabs{f}({d}))"
            same = number(1.0 if two else math.log(2), type_).code
            return Value(
                type_,
                f"({a.code} == {b.code} ? {a.code} + {same} : {d} != {d} ? {d} : "
                f"::fmax{f}({a.code}, {b.code}) + {scale}::log1p{f}({power}))",
            )

        return _through_float(c, [x, y], type_, text)

    return apply


def _float_power(c, node, x, y):
    wide = ty.complex128 if x.type.is_complex or y.type.is_complex else ty.float64
    return operators.by_symbol(c, "**", c.convert(x, wide), c.convert(y, wide), node)


def _extreme(name):
    """maximum and minimum: NaN wins."""

    def apply(c, node, a, b):
        _numbers(c, name, [a, b], node)
        type_ = ty.promote(a.type, b.type)
        if not type_.is_float:
            return builtins.least_or_greatest(c, name[:3], a, b, node)

        def text(values, type_):
            x, y = (c.keep(v) for v in values)
            symbol = "<" if name == "minimum" else ">"
            return Value(
                type_,
                f"({x.code} {symbol} {y.code} || {x.code} != {x.code} ? {x.code} : {y.code})",
            )

        return _through_float(c, [a, b], type_, text)

    return apply


def _ordered(symbol):
    """Complex numbers are compared by their real parts, equal ones by their imaginary parts."""

    def apply(c, node, a, b):
        if not (a.type.is_complex or b.type.is_complex):
            return operators.compare_by_symbol(c, symbol, a, b, node)
        type_ = ty.promote(a.type, b.type)
        x, y = (c.keep(c.convert(v, type_)).code for v in (a, b))
        return Value(
            ty.boolean,
            f"(({x}.re {symbol[0]} {y}.re && {x}.im == {x}.im && {y}.im == {y}.im) || "
            f"({x}.re == {y}.re && {x}.im {symbol} {y}.im))",
        )

    return apply


def _complex_extreme(name, real):
    """The larger or smaller by that order. maximum and minimum give NaN, fmax and fmin the other operand."""

    def apply(c, node, a, b):
        if not (a.type.is_complex or b.type.is_complex):
            return real(c, node, a, b)
        type_ = ty.promote(a.type, b.type)
        a, b = (c.keep(c.convert(v, type_)) for v in (a, b))
        first = _ordered("<=" if "min" in name else ">=")(c, node, a, b).code
        x, y = a.code, b.code
        one, other = (x, y) if name.startswith("f") else (y, x)
        return Value(
            type_,
            f"({other} != {other} ? {other if name[0] == 'm' else one} : {one} != {one} ? "
            f"{one if name[0] == 'm' else other} : {first} ? {x} : {y})",
        )

    return apply


def _number_wins(name):
    return lambda c, node, a, b: builtins.least_or_greatest(c, name, a, b, node)


def _divisor(name):
    def apply(c, node, a, b):
        _numbers(c, name, [a, b], node, "iu")
        type_ = ty.promote(a.type, b.type)
        if not type_.is_integer:
            raise c.error(f"{name} does not take {a.type} and {b.type}", node)
        x, y = c.convert(a, ty.int64), c.convert(b, ty.int64)
        return Value(ty.int64, f"tdpy::{name}({x.code}, {y.code})")

    return apply


def _absolute(c, node, x):
    return builtins.HANDLERS[abs](c, [x], {}, node)


_UNARY = {
    np.sign: _sign, np.conjugate: _conjugate, np.positive: _positive, np.reciprocal: _reciprocal,
    np.signbit: _signbit, np.spacing: _spacing, np.absolute: _absolute,
}  # fmt: skip
_BINARY = {
    np.heaviside: _heaviside, np.logaddexp: _log_of_sum(False), np.logaddexp2: _log_of_sum(True),
    np.float_power: _float_power,
    np.maximum: _complex_extreme("maximum", _extreme("maximum")),
    np.minimum: _complex_extreme("minimum", _extreme("minimum")),
    np.fmax: _complex_extreme("fmax", _number_wins("max")),
    np.fmin: _complex_extreme("fmin", _number_wins("min")),
    np.less: _ordered("<"), np.less_equal: _ordered("<="), np.greater: _ordered(">"),
    np.greater_equal: _ordered(">="),
    np.gcd: _divisor("gcd"), np.lcm: _divisor("lcm"), math.gcd: _divisor("gcd"), math.lcm: _divisor("lcm"),
}  # fmt: skip


def _handler(function, apply, nin):
    return lambda c, args, kwargs, node: builtins.ufunc_or(
        c, function, args, kwargs, node, lambda *v: apply(c, node, *v), nin
    )


def register(handlers):
    for table, nin in ((_UNARY, 1), (_BINARY, 2)):
        for function, apply in table.items():
            handlers[function] = _handler(function, apply, nin)
