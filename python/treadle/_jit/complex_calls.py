"""cmath, and NumPy's functions of complex numbers."""

import cmath

import numpy as np

from .. import _treadle
from . import types as ty
from .values import Value

_UNARY = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "log10": np.log10, "sin": np.sin,
    "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh, "log": np.log, "log2": np.log2,
    "log1p": np.log1p, "exp2": np.exp2, "expm1": np.expm1,
}  # fmt: skip
_NAMES = {ufunc: name for name, ufunc in _UNARY.items()}


def complex_type(*types):
    """The complex type that numbers of these types fit in."""
    single = all(
        (t.bitwidth <= 16 and t != ty.uint16) or t in (ty.float32, ty.complex64) for t in types
    )
    return ty.complex64 if single else ty.complex128


def part_of(type_):
    return ty.float32 if type_ == ty.complex64 else ty.float64


def need(c):
    c.unit.need(_treadle._python_part("complex"))


def apply(c, name, x, node):
    """A function of one complex number."""
    if not isinstance(x.type, ty.Scalar):
        raise c.error(f"cmath.{name} does not take {x.type}", node)
    need(c)
    type_ = complex_type(x.type)
    return Value(type_, f"tdpy::c{name}({c.convert(x, type_).code})")


def apply_ufunc(c, function, x, node):
    """A NumPy ufunc of a complex number, or None when it has no complex form here."""
    name = _NAMES.get(function)
    return None if name is None else apply(c, name, x, node)


def power(c, x, y, type_):
    need(c)
    return Value(type_, f"tdpy::cpow({x.code}, {y.code})")


def _function(name):
    def handler(c, args, kwargs, node):
        from .builtins import count

        (x,) = count(c, f"cmath.{name}", args, kwargs, node, 1)
        return apply(c, name, x, node)

    return handler


def _log(c, args, kwargs, node):
    from .builtins import count

    args = count(c, "cmath.log", args, kwargs, node, 1, 2)
    value = apply(c, "log", args[0], node)
    if len(args) == 1:
        return value
    from .operators import by_symbol

    return by_symbol(c, "/", value, apply(c, "log", args[1], node), node)


def _phase(c, args, kwargs, node):
    from .builtins import count

    (z,) = count(c, "cmath.phase", args, kwargs, node, 1)
    need(c)
    type_ = complex_type(z.type)
    return Value(part_of(type_), f"tdpy::phase({c.convert(z, type_).code})")


def _polar(c, args, kwargs, node):
    from .builtins import HANDLERS, count

    (z,) = count(c, "cmath.polar", args, kwargs, node, 1)
    z = c.keep(c.convert(z, complex_type(z.type)))
    return c.make_tuple([HANDLERS[abs](c, [z], {}, node), _phase(c, [z], {}, node)])


def _rect(c, args, kwargs, node):
    from .builtins import count

    r, phi = count(c, "cmath.rect", args, kwargs, node, 2)
    need(c)
    type_ = complex_type(r.type, phi.type)
    part = part_of(type_)
    return Value(type_, f"tdpy::rect({c.convert(r, part).code}, {c.convert(phi, part).code})")


def _isclose(c, args, kwargs, node):
    raise c.unsupported("isclose cannot be used in kernels", node, "compare abs(a - b)")


def register(handlers):
    for name in _UNARY:
        function = getattr(cmath, name, None)
        if function is not None:
            handlers[function] = _function(name)
    handlers[cmath.log], handlers[cmath.phase] = _log, _phase
    handlers[cmath.polar], handlers[cmath.rect] = _polar, _rect
    handlers[np.angle] = _phase
    from . import math_calls

    for name in ("isnan", "isinf", "isfinite"):
        handlers[getattr(cmath, name)] = math_calls.test(name, getattr(np, name))
