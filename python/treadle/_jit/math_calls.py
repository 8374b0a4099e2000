"""math, cmath and NumPy's functions of numbers."""

import math

import numpy as np

from . import arrays, builtins
from . import types as ty
from .values import Value, number

# name of the function in CUDA C++ -> the objects that mean it. float32 stays float32; everything else is computed in
# float64.
_REAL = {
    "acos": (math.acos, np.arccos), "acosh": (math.acosh, np.arccosh), "asin": (math.asin, np.arcsin),
    "asinh": (math.asinh, np.arcsinh), "atan": (math.atan, np.arctan), "atanh": (math.atanh, np.arctanh),
    "cos": (math.cos, np.cos), "cosh": (math.cosh, np.cosh), "sin": (math.sin, np.sin), "sinh": (math.sinh, np.sinh),
    "tan": (math.tan, np.tan), "tanh": (math.tanh, np.tanh), "exp": (math.exp, np.exp), "exp2": (np.exp2,),
    "expm1": (math.expm1, np.expm1), "log": (np.log,), "log2": (math.log2, np.log2), "log10": (math.log10, np.log10),
    "log1p": (math.log1p, np.log1p), "sqrt": (math.sqrt, np.sqrt), "erf": (math.erf,), "erfc": (math.erfc,),
    "lgamma": (math.lgamma,), "tgamma": (math.gamma,), "fabs": (math.fabs, np.fabs), "cbrt": (np.cbrt,),
    "rint": (np.rint,),
}  # fmt: skip
_REAL2 = {
    "atan2": (math.atan2, np.arctan2), "hypot": (math.hypot, np.hypot), "fmod": (math.fmod, np.fmod),
    "copysign": (math.copysign, np.copysign), "remainder": (math.remainder,), "nextafter": (np.nextafter,),
}  # fmt: skip
for _holder, _name in ((_REAL, "exp2"), (_REAL, "cbrt"), (_REAL2, "nextafter")):
    if hasattr(math, _name):
        _holder[_name] += (getattr(math, _name),)


# What Numba takes along when a function of two numbers has a float32 form.
_SMALL = (ty.boolean, ty.int8, ty.int16, ty.uint8, ty.float16, ty.bfloat16, ty.float32)


def real_type(c, name, values, node):
    """float32 when all are, else float64."""
    for v in values:
        if not isinstance(v.type, ty.Scalar) or v.type.is_complex:
            cure = "use cmath" if v.type.is_complex else ""
            raise c.error(f"{name} does not take {v.type}", node, cure)
    if values[0].type.is_half and all(v.type == values[0].type for v in values):
        return values[0].type
    if any(v.type == ty.float32 for v in values) and all(v.type in _SMALL for v in values):
        return ty.float32
    return ty.float64


def apply_real(c, name, values, node):
    type_ = real_type(c, name, values, node)
    if type_.is_half and name == "nextafter":
        return Value(type_, f"tdpy::half_nextafter({', '.join(v.code for v in values)})")
    if type_.is_half:
        single = apply_real(c, name, [c.convert(v, ty.float32) for v in values], node)
        return c.convert(single, type_)
    codes = ", ".join(c.convert(v, type_).code for v in values)
    return Value(type_, f"::{name}{'f' if type_ == ty.float32 else ''}({codes})")


def elementwise(c, name, args, node, apply, nin):
    """A ufunc of arrays inside a kernel: every thread writes all of the output array."""
    if len(args) != nin + 1 or not args[-1].type.is_array:
        raise c.error(
            f"numpy.{name} of arrays needs its output array as last argument in kernels: "
            f"numpy.{name}({', '.join('abc'[:nin])}, out)",
            node,
        )
    out = c.keep(args[-1])
    values = [c.keep(a) for a in args[:-1]]
    c.temps += 1
    k = f"k{c.temps}"
    items = [
        Value(v.type.dtype, arrays.item(v.type, f"tdpy::spread({v.code}, {out.code}, {k})"))
        if v.type.is_array
        else v
        for v in values
    ]
    found = []
    careful, c.careful = c.careful, False
    lines = c.block(lambda: found.append(c.convert(apply(*items), out.type.dtype)))
    c.careful = careful
    c.emit(f"for (long long {k} = 0; {k} < {out.code}.size(); ++{k}) {{")
    c.out += lines
    c.emit(f"{out.code}.flat({k}) = {found[0].code};")
    c.emit("}")
    return out


def real(function, name, nin):
    def apply(c, values, node):
        if nin == 1 and values[0].type.is_complex and isinstance(function, np.ufunc):
            from .complex_calls import apply_ufunc

            found = apply_ufunc(c, function, values[0], node)
            if found is not None:
                return found
        return apply_real(c, name, values, node)

    def handler(c, args, kwargs, node):
        return builtins.ufunc_or(c, function, args, kwargs, node, lambda *v: apply(c, v, node), nin)

    return handler


def log(c, args, kwargs, node):
    args = builtins.count(c, "log", args, kwargs, node, 1, 2)
    value = apply_real(c, "log", args[:1], node)
    if len(args) == 1:
        return value
    base = apply_real(c, "log", args[1:], node)
    type_ = ty.promote(value.type, base.type)
    return Value(type_, f"({c.convert(value, type_).code} / {c.convert(base, type_).code})")


def to_integer(name):
    def handler(c, args, kwargs, node):
        (x,) = builtins.count(c, name, args, kwargs, node, 1)
        if not isinstance(x.type, ty.Scalar) or x.type.is_complex:
            raise c.error(f"{name} does not take {x.type}", node)
        if not x.type.is_float:
            unsigned = x.type.is_integer and not x.type.signed
            return c.convert(x, ty.uint64 if unsigned else ty.int64)
        return Value(ty.int64, f"(long long)::{name}({c.convert(x, ty.float64).code})")

    return handler


def test(name, function):
    def apply(c, x, node):
        if not isinstance(x.type, ty.Scalar):
            raise c.error(f"{name} does not take {x.type}", node)
        if x.type.is_complex:
            x = c.keep(x)
            joined = "&&" if name == "isfinite" else "||"
            parts = [Value(ty.float64, f"(double){x.code}.{p}") for p in ("re", "im")]
            return Value(
                ty.boolean,
                f"({apply(c, parts[0], node).code} {joined} {apply(c, parts[1], node).code})",
            )
        if not x.type.is_float:
            return number(name == "isfinite")
        x = c.keep(c.convert(x, ty.float32) if x.type.is_half else x)
        return Value(
            ty.boolean,
            {
                "isnan": f"({x.code} != {x.code})",
                "isinf": f"(!({x.code} - {x.code} == 0) && {x.code} == {x.code})",
                "isfinite": f"({x.code} - {x.code} == 0)",
            }[name],
        )

    def handler(c, args, kwargs, node):
        return builtins.ufunc_or(c, function, args, kwargs, node, lambda x: apply(c, x, node), 1)

    return handler


def extreme(name, function):
    def handler(c, args, kwargs, node):
        return builtins.ufunc_or(
            c,
            function,
            args,
            kwargs,
            node,
            lambda a, b: builtins.least_or_greatest(c, name, a, b, node),
            2,
        )

    return handler


def scaled(handlers, factor, functions):
    def make(function):
        def apply(c, x, node):
            type_ = real_type(c, function.__name__, [x], node)
            return Value(type_, f"({c.convert(x, type_).code} * {number(factor, type_).code})")

        return lambda c, args, kwargs, node: builtins.ufunc_or(
            c, function, args, kwargs, node, lambda x: apply(c, x, node), 1
        )

    for function in functions:
        handlers[function] = make(function)


def square(c, args, kwargs, node):
    from . import operators

    def apply(x):
        x = c.keep(x)
        return operators.by_symbol(c, "*", x, x, node)

    return builtins.ufunc_or(c, np.square, args, kwargs, node, apply, 1)


def pair(name, types):
    """modf and frexp: a value and a second result through a pointer."""

    def handler(c, args, kwargs, node):
        (x,) = builtins.count(c, name, args, kwargs, node, 1)
        type_ = real_type(c, name, [x], node)
        second = types or type_
        c.temps += 1
        out = f"t{c.temps}"
        c.emit(f"{second.cpp} {out};")
        suffix = "f" if type_ == ty.float32 else ""
        first = c.temp(f"::{name}{suffix}({c.convert(x, type_).code}, &{out})", type_)
        return c.make_tuple([Value(type_, first), Value(second, out)])

    return handler


def ldexp(c, args, kwargs, node):
    x, e = builtins.count(c, "ldexp", args, kwargs, node, 2)
    type_ = real_type(c, "ldexp", [x], node)
    suffix = "f" if type_ == ty.float32 else ""
    return Value(
        type_, f"::ldexp{suffix}({c.convert(x, type_).code}, {c.convert(e, ty.int32).code})"
    )


def register(handlers):
    """Adds these functions to the table of calls."""
    for table, nin in ((_REAL, 1), (_REAL2, 2)):
        for name, functions in table.items():
            for function in functions:
                handlers[function] = real(function, name, nin)
    handlers[math.log] = log
    for name in ("ceil", "floor", "trunc"):
        handlers[getattr(math, name)] = to_integer(name)
        ufunc = getattr(np, name)
        handlers[ufunc] = real(ufunc, name, 1)
    for name in ("isnan", "isinf", "isfinite"):
        for module in (math, np):
            handlers[getattr(module, name)] = test(name, getattr(module, name))
    handlers[np.fmin], handlers[np.fmax] = extreme("min", np.fmin), extreme("max", np.fmax)
    scaled(handlers, 180 / math.pi, (math.degrees, np.degrees, np.rad2deg))
    scaled(handlers, math.pi / 180, (math.radians, np.radians, np.deg2rad))
    handlers[np.square] = square
    handlers[math.modf], handlers[math.frexp] = pair("modf", None), pair("frexp", ty.int32)
    handlers[math.ldexp] = handlers[np.ldexp] = ldexp
    for name in ("logical_and", "logical_or", "logical_xor"):
        function = getattr(np, name)

        def logical(c, args, kwargs, node, function=function, name=name):
            symbol = {"logical_and": "&&", "logical_or": "||", "logical_xor": "!="}[name]

            def apply(a, b):
                return Value(
                    ty.boolean, f"({c.truth(a, node).code} {symbol} {c.truth(b, node).code})"
                )

            return builtins.ufunc_or(c, function, args, kwargs, node, apply, 2)

        handlers[function] = logical
