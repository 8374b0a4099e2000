"""Operators of numbers: the type of the result by Numba's rules, the text in terms of python.cuh."""

import ast
import operator

from . import optional, special_values
from . import types as ty
from .debugging import checked_divisor
from .values import UNKNOWN, Value, number

ARITHMETIC = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
BITS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>"}
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_PYTHON = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def wide(*types):
    """The integer in which integers are computed: 64 bits, signed if one of them is."""
    return ty.int64 if any(t.signed or t.is_boolean for t in types) else ty.uint64


def result_type(symbol, a, b):
    """The type of ``a symbol b`` of two Scalars, or None where there is none."""
    if a.is_float or b.is_float or a.is_complex or b.is_complex:
        if symbol in ["&", "|", "^", "<<", ">>"]:
            return None
        if (a.is_complex or b.is_complex) and symbol in ("//", "%"):
            return None
        # Numba lets 16-bit unsigned integers meet floats in 64 bits only.
        return ty.promote(*(ty.float64 if t == ty.uint16 else t for t in (a, b)))
    if symbol == "/":
        return ty.float64
    if a == b == ty.boolean and symbol in ("&", "|", "^"):
        return ty.boolean
    if symbol in ("<<", ">>"):
        return ty.int64 if a.signed or a.is_boolean else ty.uint64
    return wide(a, b)


def binary(c, op, left, right, node):
    symbol = ARITHMETIC.get(type(op)) or BITS.get(type(op))
    if symbol is None:
        raise c.unsupported(
            "the matrix product @ cannot be used in kernels", node, "write the loops"
        )
    return by_symbol(c, symbol, left, right, node)


def by_symbol(c, symbol, left, right, node=None):
    a, b = left.type, right.type
    if symbol == "+" and a.is_tuple and b.is_tuple:
        left, right = c.keep(left), c.keep(right)
        return c.make_tuple(c.tuple_items(left, node) + c.tuple_items(right, node))
    if symbol == "*" and a.is_tuple and right.is_const and b.is_integer:
        return c.make_tuple(c.tuple_items(c.keep(left), node) * int(right.const))
    special = special_values.binary(c, symbol, left, right, node)
    if special is not None:
        return special
    if not (isinstance(a, ty.Scalar) and isinstance(b, ty.Scalar)):
        cure = ""
        if a.is_array or b.is_array:
            cure = "index the arrays: operations on whole arrays cannot be used in kernels"
        elif left.is_const and isinstance(left.const, str):
            cure = "print takes the values as arguments: print('x =', x)"
        raise c.error(f"operator {symbol} does not take {a} and {b}", node, cure)
    if c.numpy:
        return c.by_symbol(symbol, left, right, node)
    type_ = result_type(symbol, a, b)
    if type_ is None:
        raise c.error(f"operator {symbol} does not take {a} and {b}", node)
    right = checked_divisor(c, symbol, right, node)
    folded = fold(symbol, left, right, type_)
    if folded is not None:
        return folded
    return _text(c, symbol, left, right, type_)


def _in_range(value, type_):
    """A known integer as an integer of 64 bits."""
    value = int(value) % 2**64
    return value - 2**64 if type_.signed and value >= 2**63 else value


def fold(symbol, left, right, type_):
    """The result when both operands are known Python numbers and Python's result fits the type."""
    if not (left.is_const and right.is_const) or type_.bitwidth not in (1, 64):
        return None
    if not isinstance(left.const, (bool, int, float)) or not isinstance(
        right.const, (bool, int, float)
    ):
        return None
    if symbol in ("<<", "**") and abs(right.const) > 64:
        return None
    x, y = left.const, right.const
    if type_.is_float:
        x, y = float(x), float(y)
    elif type_.is_integer:  # uint64 meets int64 in int64
        x = _in_range(x, type_)
        y = y if symbol in ("<<", ">>", "**") else _in_range(y, type_)
    try:
        value = _PYTHON[symbol](x, y)
    except (ArithmeticError, ValueError):
        return None
    if type_.is_integer:
        limits = (-(2**63), 2**63) if type_.signed else (0, 2**64)
        if not isinstance(value, int) or not limits[0] <= value < limits[1]:
            return None
    elif type_.is_float:
        if isinstance(value, complex):
            return None
        value = float(value)
    return number(value, type_)


def _bits(symbol, left, right):
    x, y = left.bits, right.bits
    if symbol == "&":
        return min(b for b in (x, y) if b is not None) if (x, y) != (None, None) else None
    if symbol == "%" and y is not None:
        return y
    if symbol == "-":  # not above what it is subtracted from
        return x if _least(symbol, left, right) is not None else None
    if x is None or y is None:
        return None
    if symbol == "+":
        return max(x, y) + 1
    if symbol == "*":
        return x + y
    if symbol in ("|", "^"):
        return max(x, y)
    if symbol in ("//", ">>"):
        return x
    if symbol == "<<" and right.is_const:
        return x + int(right.const)
    return None


def _least(symbol, left, right):
    """A bound below the result, not negative: of what cannot overflow."""
    x, y = left.floor, right.floor
    if symbol == "-" and x is not None and right.is_const and y is not None:
        return x - y if y >= 0 and x >= y else None
    bounded = left.bits is not None and right.bits is not None
    if bounded and symbol == "+":
        return x + y
    if bounded and symbol == "*":
        return x * y
    return None


def _text(c, symbol, left, right, type_):
    power = right
    x, y = c.convert(left, type_), c.convert(right, type_)
    cpp = type_.cpp
    if type_.is_integer or type_.is_boolean:
        bits = _bits(symbol, left, right) if type_ == ty.int64 else None
        least = _least(symbol, left, right) if type_ == ty.int64 else None
        if symbol in ("+", "-", "*"):
            small = bits is not None and bits <= 62
            if symbol == "-" and type_ == ty.int64:
                small = least is not None or None not in (left.bits, right.bits)
            if small:  # cannot overflow: the compiler may know it
                code = f"({x.code} {symbol} {y.code})"
            else:
                name = {"+": "add", "-": "sub", "*": "mul"}[symbol]
                code = f"tdpy::{name}<{cpp}>({x.code}, {y.code})"
        elif symbol in ("//", "%"):
            name = "floordiv" if symbol == "//" else "mod"
            plain = (
                left.bits is not None and right.is_const and right.const > 0 and type_ == ty.int64
            )
            code = f"tdpy::{name}{'_plain' if plain else ''}({x.code}, {y.code})"
        elif symbol == "**":
            code = f"tdpy::ipow<{cpp}>({x.code}, {c.convert(power, ty.int64).code})"
        elif symbol in ("<<", ">>"):
            name = "shl" if symbol == "<<" else "shr"
            code = f"tdpy::{name}({x.code}, {c.convert(power, ty.int64).code})"
        else:
            code = f"({cpp})({x.code} {symbol} {y.code})"
        if symbol != "-" and (bits is None or bits > 62):
            least = None
        return Value(type_, code, UNKNOWN, bits, least=least)
    if symbol == "**":
        return _power(c, left, right, type_)
    if type_.is_half:
        return _half(c, symbol, x, y, type_)
    if symbol in ("//", "%"):
        return Value(type_, f"tdpy::{'floordiv' if symbol == '//' else 'mod'}({x.code}, {y.code})")
    return Value(type_, f"({x.code} {symbol} {y.code})")


def _half(c, symbol, x, y, type_):
    x, y = c.convert(x, ty.float32), c.convert(y, ty.float32)
    return Value(type_, f"{type_.cpp}({_text(c, symbol, x, y, ty.float32).code})")


def _power(c, left, right, type_):
    if right.is_const and right.type.is_integer:
        # A float to a known whole power keeps the float's type and multiplies.
        type_ = left.type if left.type.is_float or left.type.is_complex else type_
        base = c.keep(c.convert(left, type_))
        if right.const == 2 and type_.bitwidth != 16:
            return Value(type_, f"({base.code} * {base.code})")
        if not type_.is_complex and not type_.is_half:
            return Value(type_, f"tdpy::powi<{type_.cpp}>({base.code}, {right.code})")
    if right.type.is_integer and left.type.is_float and not left.type.is_half:
        return power_of_floats(c, left, right, left.type)
    if type_.is_complex:
        from .complex_calls import power

        return power(c, c.convert(left, type_), c.convert(right, type_), type_)
    return power_of_floats(c, left, right, type_)


def power_of_floats(c, left, right, type_):
    """left ** right, computed as floats of one type."""
    x, y = c.convert(left, type_), c.convert(right, type_)
    if type_.is_half:
        return Value(type_, f"{type_.cpp}(::powf((float){x.code}, (float){y.code}))")
    return Value(type_, f"::pow{'f' if type_ == ty.float32 else ''}({x.code}, {y.code})")


def unary(c, op, value, node):
    if isinstance(op, ast.Not):
        test = c.truth(value, node)
        return number(not test.const) if test.is_const else Value(ty.boolean, f"(!{test.code})")
    symbol = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(op)]
    return unary_by_symbol(c, symbol, value, node)


def unary_by_symbol(c, symbol, value, node=None):
    value = optional.given(value)
    type_ = value.type
    if isinstance(type_, ty.Time) and not type_.is_date:
        return special_values.sign(value, symbol)
    if not isinstance(type_, ty.Scalar) or (symbol == "~" and (type_.is_float or type_.is_complex)):
        raise c.error(f"operator {symbol} does not take {type_}", node)
    if c.numpy:
        return c.unary_by_symbol(symbol, value, node)
    if type_.is_boolean:
        if symbol == "~":
            return Value(ty.int64, f"(~(long long){value.code})")
        value = c.convert(value, ty.int64)
        type_ = ty.int64
    if symbol == "+":
        return c.convert(value, wide(type_)) if type_.is_integer else value
    if value.is_const and isinstance(value.const, (int, float)) and type_.bitwidth == 64:
        result = -value.const if symbol == "-" else ~value.const
        if type_ == ty.uint64 and result != -(2**63):  # which is the literal of the least integer
            return number(result % 2**64, type_)
        if type_.is_float or -(2**63) <= result < 2**63:
            return number(result, type_ if type_.is_float else ty.int64)
    if type_.is_integer:
        type_ = wide(type_)
        value = c.convert(value, type_)
        return Value(
            type_, f"tdpy::neg<{type_.cpp}>({value.code})" if symbol == "-" else f"(~{value.code})"
        )
    if type_.is_half:
        return Value(type_, f"{type_.cpp}(-(float){value.code})")
    return Value(type_, f"(-{value.code})")


def compare(c, op, left, right, node):
    if isinstance(op, (ast.Is, ast.IsNot)):
        return identity(c, left, right, isinstance(op, ast.Is), node)
    if isinstance(op, (ast.In, ast.NotIn)):
        return membership(c, left, right, isinstance(op, ast.In), node)
    return compare_by_symbol(c, COMPARE[type(op)], left, right, node)


def compare_by_symbol(c, symbol, left, right, node=None):
    if ty.none in (left.type, right.type) and symbol in ("==", "!="):
        return identity(c, left, right, symbol == "==", node)
    left, right = optional.given(left), optional.given(right)
    a, b = left.type, right.type
    if a.is_tuple and b.is_tuple:
        return _compare_tuples(c, symbol, left, right, node)
    special = special_values.compare(c, symbol, left, right, node)
    if special is not None:
        return special
    if not (isinstance(a, ty.Scalar) and isinstance(b, ty.Scalar)):
        if left.is_const and right.is_const and symbol in ("==", "!="):
            return number((left.const == right.const) == (symbol == "=="))
        if ty.none in (a, b) and symbol in ("==", "!="):
            return number((a == b) == (symbol == "=="))
        cure = "index the arrays" if a.is_array or b.is_array else ""
        raise c.error(f"comparison {symbol} does not take {a} and {b}", node, cure)
    if (a.is_complex or b.is_complex) and symbol not in ("==", "!="):
        raise c.error(
            f"comparison {symbol} does not take {a} and {b}",
            node,
            "complex numbers have no order; compare abs()",
        )
    if c.numpy:
        return c.compare_by_symbol(symbol, left, right, node)
    if left.is_const and right.is_const:
        return number(bool(_PYTHON[symbol](left.const, right.const)))
    integers = not (a.is_float or b.is_float or a.is_complex or b.is_complex)
    if integers:
        signs = {t.signed or t.is_boolean for t in (a, b)}
        if len(signs) == 2:
            return _mixed(c, symbol, left, right)
        type_ = ty.boolean if a == b == ty.boolean else wide(a, b)
        if a == b and a.bitwidth >= 32:
            type_ = a
    else:
        type_ = result_type("+", a, b)
    x, y = c.convert(left, type_), c.convert(right, type_)
    if type_.is_half:
        x, y = c.convert(x, ty.float32), c.convert(y, ty.float32)
    return Value(ty.boolean, f"({x.code} {symbol} {y.code})")


def _mixed(c, symbol, left, right):
    """A signed and an unsigned integer: compared by value."""
    if left.bits is not None or right.bits is not None:
        known = left if left.type.signed or left.type.is_boolean else right
        if known.bits is not None:
            x, y = c.convert(left, ty.uint64), c.convert(right, ty.uint64)
            return Value(ty.boolean, f"({x.code} {symbol} {y.code})")
    x = c.convert(left, wide(left.type))
    y = c.convert(right, wide(right.type))
    text = {
        "==": f"tdpy::same({x.code}, {y.code})", "!=": f"(!tdpy::same({x.code}, {y.code}))",
        "<": f"tdpy::less({x.code}, {y.code})", ">": f"tdpy::less({y.code}, {x.code})",
        "<=": f"(!tdpy::less({y.code}, {x.code}))", ">=": f"(!tdpy::less({x.code}, {y.code}))",
    }  # fmt: skip
    return Value(ty.boolean, text[symbol])


def _compare_tuples(c, symbol, left, right, node):
    if symbol not in ("==", "!="):
        left, right = c.keep(left), c.keep(right)
        items = list(zip(c.tuple_items(left, node), c.tuple_items(right, node)))
        strict = symbol[0]
        short = (
            len(left.type) < len(right.type) if strict == "<" else len(left.type) > len(right.type)
        )
        equal = len(left.type) == len(right.type) and len(symbol) == 2
        code = "true" if short or equal else "false"
        for x, y in reversed(items):
            first = compare_by_symbol(c, strict, x, y, node).code
            same = compare_by_symbol(c, "==", x, y, node).code
            code = f"({first} || ({same} && {code}))"
        return Value(ty.boolean, code)
    if len(left.type) != len(right.type):
        return number(symbol == "!=")
    left, right = c.keep(left), c.keep(right)
    terms = [
        compare_by_symbol(c, "==", x, y, node)
        for x, y in zip(c.tuple_items(left, node), c.tuple_items(right, node))
    ]
    if all(t.is_const for t in terms):
        return number(all(t.const for t in terms) == (symbol == "=="))
    code = "(" + " && ".join(t.code for t in terms) + ")"
    return Value(ty.boolean, code if symbol == "==" else f"(!{code})")


def identity(c, left, right, positive, node):
    if ty.none in (left.type, right.type):
        for value in (left, right):
            if isinstance(value.type, ty.Optional):
                code = optional.present(c.keep(value)).code
                return Value(ty.boolean, f"(!{code})" if positive else code)
        return number((left.type == right.type) == positive)
    if left.is_const and right.is_const and left.type.cpp is None:
        return number((left.const is right.const) == positive)
    return compare_by_symbol(c, "==" if positive else "!=", left, right, node)


def membership(c, left, right, positive, node):
    if not right.type.is_tuple:
        cure = "write a loop that compares" if right.type.is_array else ""
        raise c.error(f"'in' takes a tuple, not {right.type}", node, cure)
    left, right = c.keep(left), c.keep(right)
    terms = [compare_by_symbol(c, "==", left, item, node) for item in c.tuple_items(right, node)]
    if any(t.is_const and t.const for t in terms):
        return number(positive)
    code = "(" + (" || ".join(t.code for t in terms if not t.is_const) or "false") + ")"
    return Value(ty.boolean, code if positive else f"(!{code})")


def part(c, value, name):
    """.real and .imag"""
    if not value.type.is_complex:
        return value if name == "real" else number(0, value.type)
    type_ = ty.float32 if value.type.bitwidth == 64 else ty.float64
    return Value(type_, f"{c.keep(value).code}.{'re' if name == 'real' else 'im'}")
