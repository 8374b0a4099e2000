"""Calls: Python's functions, numbers' types, the device's functions, other kernels' functions."""

import builtins as py
import math
import operator

import numpy as np

from . import (
    arrays,
    bfloat16_calls,
    complex_calls,
    cooperative,
    device_calls,
    folds,
    half_calls,
    iteration,
    libdevice,
    math_calls,
    operator_calls,
    operators,
    pointers,
    special_values,
    stubs,
    vector_types,
)
from . import types as ty
from .values import UNKNOWN, Value, number

HANDLERS = {}
ATTRIBUTES = {}


def handles(*targets):
    """The decorated function prints calls of these objects."""

    def register(function):
        for target in targets:
            HANDLERS[target] = function
        return function

    return register


for _dim in (stubs.threadIdx, stubs.blockIdx, stubs.blockDim, stubs.gridDim):
    for _axis in "xyz":
        _special = getattr(_dim, _axis)
        ATTRIBUTES[_dim, _axis] = lambda c, node, s=_special: c.constant(s)


def call(c, target, args, kwargs, node):
    """A call of a known object."""
    if c.numpy and (found := c.call_known(target, args, kwargs, node)) is not None:
        return found
    try:
        handler = HANDLERS.get(target)
    except TypeError:
        handler = None
    if handler is not None:
        return handler(c, args, kwargs, node)
    found = cast_target(target)
    if found is not None:
        return cast(c, found, args, kwargs, node)
    from .calls import call_function

    return call_function(c, target, args, kwargs, node)


def cast_target(target):
    """The type that calling ``target`` converts to, or None."""
    if isinstance(target, ty.Scalar):
        return target
    if isinstance(target, type) and issubclass(target, np.generic):
        try:
            return ty.from_dtype(target)
        except TypeError:
            return None
    return None


def cast(c, type_, args, kwargs, node):
    no_keywords(c, str(type_), kwargs, node)
    if len(args) != 1:
        raise c.error(f"{type_}(…) takes one number", node)
    if isinstance(args[0].type, ty.Time) and type_ == ty.int64:
        return Value(type_, args[0].code)
    if not isinstance(args[0].type, ty.Scalar):
        raise c.error(f"{type_}(…) does not take {args[0].type}", node)
    value = c.convert(args[0], type_)
    return Value(type_, value.code, value.const, value.bits) if value.weak else value


def no_keywords(c, name, kwargs, node):
    if kwargs:
        raise c.error(f"{name} does not take the keyword '{next(iter(kwargs))}' in kernels", node)


def count(c, name, args, kwargs, node, least, most=None):
    no_keywords(c, name, kwargs, node)
    most = least if most is None else most
    if not least <= len(args) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise c.error(f"{name} takes {wanted} arguments, not {len(args)}", node)
    return args


# ---- Python's functions ----


@handles(py.len)
def _len(c, args, kwargs, node):
    (x,) = count(c, "len", args, kwargs, node, 1)
    if x.type.is_tuple:
        return number(len(x.type))
    if x.type.is_array:
        if x.type.ndim == 0:
            raise c.error("a 0-dimensional array has no len()", node)
        return arrays.length(c.keep(x), 0)
    if x.is_const and isinstance(x.const, str):
        return number(len(x.const))
    if isinstance(x.type, ty.CharSequence):
        return special_values.length(c, c.keep(x))
    raise c.error(f"a value of type {x.type} has no len()", node)


@handles(py.range)
def _range(c, args, kwargs, node):
    no_keywords(c, "range", kwargs, node)
    return Value(ty.Opaque("range"), "", ("range", *iteration.range_bounds(c, args, node)))


@handles(py.enumerate)
def _enumerate(c, args, kwargs, node):
    start = kwargs.pop("start", args[1] if len(args) > 1 else number(0))
    count(c, "enumerate", args, kwargs, node, 1, 2)
    return Value(ty.Opaque("enumerate"), "", ("enumerate", args[0], start))


@handles(py.zip)
def _zip(c, args, kwargs, node):
    count(c, "zip", args, kwargs, node, 1, 100)
    return Value(ty.Opaque("zip"), "", ("zip", args))


@handles(py.tuple)
def _tuple(c, args, kwargs, node):
    (x,) = count(c, "tuple", args, kwargs, node, 1)
    if not x.type.is_tuple:
        raise c.error(f"tuple(…) does not take {x.type}", node, "its length must be known")
    return x


@handles(stubs.literal_unroll)
def _unroll(c, args, kwargs, node):
    return count(c, "literal_unroll", args, kwargs, node, 1)[0]


@handles(py.int)
def _int(c, args, kwargs, node):
    (x,) = count(c, "int", args, kwargs, node, 1)
    if not isinstance(x.type, ty.Scalar) or x.type.is_complex:
        raise c.error(f"int(…) does not take {x.type}", node)
    if x.is_const and isinstance(x.const, (int, float)) and abs(x.const) < 2**63:
        return number(int(x.const))
    return x if x.type.is_integer else c.convert(x, ty.int64)


@handles(py.float)
def _float(c, args, kwargs, node):
    (x,) = count(c, "float", args, kwargs, node, 1)
    if x.is_const and isinstance(x.const, str):  # float("nan"), float("-inf")
        try:
            return number(float(x.const))
        except ValueError:
            raise c.error(f"float({x.const!r}): that text is no number", node) from None
    if not isinstance(x.type, ty.Scalar) or x.type.is_complex:
        raise c.error(f"float(…) does not take {x.type}", node)
    return x if x.type in (ty.float32, ty.float64) else c.convert(x, ty.float64)


@handles(py.bool)
def _bool(c, args, kwargs, node):
    return c.truth(count(c, "bool", args, kwargs, node, 1)[0], node)


@handles(py.complex)
def _complex(c, args, kwargs, node):
    args = count(c, "complex", args, kwargs, node, 1, 2)
    if len(args) == 1 and args[0].type.is_complex:
        return c.convert(args[0], ty.complex128)
    single = all(a.type == ty.float32 for a in args)
    part = ty.float32 if single else ty.float64
    parts = ", ".join(c.convert(a, part).code for a in args)
    type_ = ty.complex64 if single else ty.complex128
    return Value(type_, f"{type_.cpp}({parts})")


@handles(py.abs, np.abs, np.absolute, operator.abs)
def _abs(c, args, kwargs, node):
    (x,) = count(c, "abs", args, kwargs, node, 1)
    type_ = x.type
    if not isinstance(type_, ty.Scalar):
        raise c.error(f"abs(…) does not take {type_}", node)
    if x.is_const and isinstance(x.const, (int, float)) and type_.bitwidth == 64:
        return number(abs(x.const), type_)
    if type_.is_complex:
        part = ty.float32 if type_ == ty.complex64 else ty.float64
        x = c.keep(x)
        return Value(part, f"::hypot({x.code}.re, {x.code}.im)")
    if type_.is_half:
        return Value(type_, f"{type_.cpp}(::fabsf((float){x.code}))")
    if type_.is_float:
        return Value(type_, f"::{'fabsf' if type_ == ty.float32 else 'fabs'}({x.code})")
    if type_.signed:
        x = c.keep(x)
        return Value(
            type_, f"({x.code} < 0 ? ({type_.cpp})tdpy::neg<long long>({x.code}) : {x.code})"
        )
    return c.convert(x, ty.int64) if type_.is_boolean else x


def _extreme(name):
    def handler(c, args, kwargs, node):
        no_keywords(c, name, kwargs, node)
        if len(args) == 1 and args[0].type.is_tuple:
            args = c.tuple_items(c.keep(args[0]), node)
        if len(args) < 1 or (len(args) == 1 and not isinstance(args[0].type, ty.Scalar)):
            raise c.error(f"{name} takes several numbers or a tuple", node)
        value = args[0]
        for other in args[1:]:
            value = least_or_greatest(c, name, value, other, node)
        return value

    return handler


HANDLERS[py.min], HANDLERS[py.max] = _extreme("min"), _extreme("max")


def least_or_greatest(c, name, a, b, node):
    """The smaller or larger of two numbers; of floats the one that is not NaN."""
    if (
        not (isinstance(a.type, ty.Scalar) and isinstance(b.type, ty.Scalar))
        or a.type.is_complex
        or b.type.is_complex
    ):
        raise c.error(f"{name} does not take {a.type} and {b.type}", node)
    type_ = ty.promote(a.type, b.type)
    if a.is_const and b.is_const and not type_.is_float:
        return number((min if name == "min" else max)(a.const, b.const), type_)
    x, y = c.convert(a, type_), c.convert(b, type_)
    if type_.is_half:
        return Value(type_, f"{type_.cpp}(::f{name}f((float){x.code}, (float){y.code}))")
    if type_.is_float:
        return Value(type_, f"::f{name}{'f' if type_ == ty.float32 else ''}({x.code}, {y.code})")
    x, y = c.keep(x), c.keep(y)
    known = [v.bits for v in (a, b) if v.bits is not None]
    bits = (min if name == "min" else max)(known) if len(known) == 2 else None
    return Value(
        type_,
        f"({y.code} {'<' if name == 'min' else '>'} {x.code} ? {y.code} : {x.code})",
        UNKNOWN,
        bits,
    )


@handles(math.pow)
def _math_pow(c, args, kwargs, node):
    a, b = count(c, "math.pow", args, kwargs, node, 2)
    for v in (a, b):
        if not isinstance(v.type, ty.Scalar) or v.type.is_complex:
            raise c.error(f"math.pow does not take {v.type}", node)
    type_ = operators.result_type("+", a.type, b.type)
    if not type_.is_float or b.type.is_integer:
        type_ = ty.float64
    return operators.power_of_floats(c, a, b, type_)


@handles(py.pow, operator.pow)
def _pow(c, args, kwargs, node):
    a, b = count(c, "pow", args, kwargs, node, 2)
    return operators.by_symbol(c, "**", a, b, node)


@handles(py.divmod)
def _divmod(c, args, kwargs, node):
    a, b = (c.keep(v) for v in count(c, "divmod", args, kwargs, node, 2))
    return c.make_tuple(
        [operators.by_symbol(c, "//", a, b, node), operators.by_symbol(c, "%", a, b, node)]
    )


@handles(py.round)
def _round(c, args, kwargs, node):
    args = count(c, "round", args, kwargs, node, 1, 2)
    x = args[0]
    if not isinstance(x.type, ty.Scalar) or x.type.is_complex:
        raise c.error(f"round(…) does not take {x.type}", node)
    if x.type.is_integer or x.type.is_boolean:
        return c.convert(x, ty.int64)
    if len(args) == 1 or args[1].type is ty.none:
        return Value(ty.int64, f"(long long)::rint({c.convert(x, ty.float64).code})")
    return Value(
        x.type, f"tdpy::round_to<{x.type.cpp}>({x.code}, {c.convert(args[1], ty.int64).code})"
    )


@handles(py.print)
def _print(c, args, kwargs, node):
    no_keywords(c, "print", kwargs, node)
    return device_calls.print_values(c, args, node)


@handles(py.slice)
def _slice(c, args, kwargs, node):
    raise c.unsupported(
        "slice(…) cannot be used in kernels", node, "write the slice in the index: a[1:3]"
    )


@handles(py.isinstance)
def _isinstance(c, args, kwargs, node):
    x, kinds = count(c, "isinstance", args, kwargs, node, 2)
    wanted = kinds.const if isinstance(kinds.const, tuple) else (kinds.const,)
    type_ = x.type
    holds = any(
        (k is int and type_.is_integer) or (k is float and type_.is_float) or (k is bool and type_.is_boolean)
        or (k is complex and type_.is_complex) or (k is tuple and type_.is_tuple) or cast_target(k) == type_
        for k in wanted
    )  # fmt: skip
    return number(bool(holds))


for _symbol, _functions in {
    "+": (operator.add, operator.iadd, np.add), "-": (operator.sub, operator.isub, np.subtract),
    "*": (operator.mul, operator.imul, np.multiply), "/": (operator.truediv, operator.itruediv, np.true_divide),
    "//": (operator.floordiv, operator.ifloordiv, np.floor_divide), "%": (operator.mod, operator.imod, np.remainder),
    "**": (operator.ipow, np.power), "&": (operator.and_, operator.iand, np.bitwise_and),
    "|": (operator.or_, operator.ior, np.bitwise_or), "^": (operator.xor, operator.ixor, np.bitwise_xor),
    "<<": (operator.lshift, operator.ilshift, np.left_shift), ">>": (operator.rshift, operator.irshift, np.right_shift),
}.items():  # fmt: skip
    for _f in _functions:
        HANDLERS[_f] = lambda c, args, kwargs, node, s=_symbol, f=_f: ufunc_or(
            c, f, args, kwargs, node, lambda a, b: operators.by_symbol(c, s, a, b, node), 2
        )
for _symbol, _functions in {
    "==": (operator.eq, np.equal), "!=": (operator.ne, np.not_equal), "<": (operator.lt, np.less),
    "<=": (operator.le, np.less_equal), ">": (operator.gt, np.greater), ">=": (operator.ge, np.greater_equal),
}.items():  # fmt: skip
    for _f in _functions:
        HANDLERS[_f] = lambda c, args, kwargs, node, s=_symbol, f=_f: ufunc_or(
            c, f, args, kwargs, node, lambda a, b: operators.compare_by_symbol(c, s, a, b, node), 2
        )
for _symbol, _functions in {
    "-": (operator.neg, np.negative), "+": (operator.pos, np.positive), "~": (operator.invert, operator.inv, np.invert)
}.items():  # fmt: skip
    for _f in _functions:
        HANDLERS[_f] = lambda c, args, kwargs, node, s=_symbol, f=_f: ufunc_or(
            c, f, args, kwargs, node, lambda a: operators.unary_by_symbol(c, s, a, node), 1
        )


def _negated(c, x, node):
    test = c.truth(x, node)
    return number(not test.const) if test.is_const else Value(ty.boolean, f"(!{test.code})")


for _f in (operator.not_, np.logical_not):
    HANDLERS[_f] = lambda c, args, kwargs, node, f=_f: ufunc_or(
        c, f, args, kwargs, node, lambda x: _negated(c, x, node), 1
    )


@handles(operator.truth)
def _truth(c, args, kwargs, node):
    return c.truth(count(c, "truth", args, kwargs, node, 1)[0], node)


def ufunc_or(c, function, args, kwargs, node, apply, nin):
    """A function of numbers; a NumPy ufunc also takes arrays with an output array as last argument."""
    name = getattr(function, "__name__", str(function))
    no_keywords(c, name, kwargs, node)
    if isinstance(function, np.ufunc) and any(a.type.is_array for a in args):
        return math_calls.elementwise(c, name, args, node, apply, nin)
    if len(args) != nin:
        raise c.error(f"{name} takes {nin} arguments, not {len(args)}", node)
    return apply(*args)


def method(c, base, name, args, kwargs, node):
    """A call of a method of a run-time value."""
    from . import methods

    return methods.call(c, base, name, args, kwargs, node)


for _module in (
    math_calls, device_calls, complex_calls, half_calls, bfloat16_calls, vector_types, cooperative, libdevice, folds,
    operator_calls, pointers
):  # fmt: skip
    _module.register(HANDLERS)

from . import numpy_calls  # noqa: E402  it replaces rows of the tables above

numpy_calls.register(HANDLERS)
