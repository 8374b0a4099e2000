"""Methods of arrays, numbers and records in kernels."""

import numpy as np

from . import arrays, folds
from . import types as ty
from .errors import suggestion
from .values import UNKNOWN, Value


def call(c, base, name, args, kwargs, node):
    type_ = base.type
    if type_.is_array:
        handler = _ARRAY.get(name)
        if handler is None:
            raise c.error(
                f"arrays in kernels have no method '{name}'", node, suggestion(name, _ARRAY)
            )
        return handler(c, c.keep(base), args, kwargs, node)
    if name == "conjugate" and isinstance(type_, ty.Scalar):
        if not type_.is_complex:
            return base
        base = c.keep(base)
        return Value(type_, f"{type_.cpp}({base.code}.re, -{base.code}.im)")
    if name == "bit_count" and (type_.is_integer or type_.is_boolean):
        return _bit_count(c, base)
    if type_.is_tuple and name in ("index", "count"):
        raise c.unsupported(f"a tuple's method '{name}' cannot be used in kernels", node)
    from . import cooperative

    found = cooperative.method(c, base, name, args, kwargs, node)
    if found is None:
        raise c.error(f"a value of type {type_} has no method '{name}' that kernels can use", node)
    return found


def _bit_count(c, base):
    """Ones of the absolute value."""
    if base.type.signed:
        base = c.keep(c.convert(base, ty.int64))
        base = Value(ty.int64, f"({base.code} < 0 ? tdpy::neg({base.code}) : {base.code})")
    return Value(ty.int32, f"__popcll({c.convert(base, ty.uint64).code})", UNKNOWN, 7)


def _shape(c, args, node):
    items = (
        c.tuple_items(c.keep(args[0]), node) if len(args) == 1 and args[0].type.is_tuple else args
    )
    return [c.keep(c.convert(i, ty.int64)) for i in items]


def _reshape(c, base, args, kwargs, node):
    shape = _shape(c, args, node)
    if base.type.layout != "C" and base.type.ndim > 1:
        raise c.error("reshape in a kernel takes C-contiguous arrays", node)
    type_ = base.type.with_layout(base.type.layout if base.type.ndim > 1 else "C", len(shape))
    known = [f"({s.code} < 0 ? 1ll : {s.code})" for s in shape]
    rest = f"({base.code}.size() / ({' * '.join(known) or '1'}))"
    sizes = ", ".join(f"({s.code} < 0 ? {rest} : {s.code})" for s in shape)
    return Value(
        type_, c.temp(f"tdpy::over<{base.type.pointer}>({base.code}.data, {sizes})", type_)
    )


def _ravel(c, base, args, kwargs, node):
    if base.type.layout != "C":
        raise c.error("ravel in a kernel takes C-contiguous arrays", node)
    type_ = base.type.with_layout("C", 1)
    return Value(
        type_,
        c.temp(f"tdpy::over<{base.type.pointer}>({base.code}.data, {base.code}.size())", type_),
    )


def _transpose(c, base, args, kwargs, node):
    if not args:
        return arrays.transposed(c, base, range(base.type.ndim)[::-1])
    order = c.tuple_items(args[0], node) if len(args) == 1 and args[0].type.is_tuple else args
    if not all(o.is_const for o in order):
        raise c.error("the axes of transpose must be constants", node)
    return arrays.transposed(c, base, [int(o.const) % base.type.ndim for o in order])


def _view(c, base, args, kwargs, node):
    from .builtins import cast_target

    target = args[0].const if args else None
    dtype = cast_target(target) or (ty.from_dtype(target) if isinstance(target, np.dtype) else None)
    if dtype is None:
        raise c.error("view takes a dtype", node)
    old, new = ty.as_dtype(base.type).itemsize, ty.as_dtype(dtype).itemsize
    type_ = ty.Array(
        dtype, base.type.ndim, base.type.layout, not base.type.mutable, base.type.aligned
    )
    c.temps += 1
    name = f"t{c.temps}"
    c.emit(f"{type_.cpp} {name}; {name}.data = ({type_.pointer}*){base.code}.data;")
    last = base.type.ndim - 1
    for k in range(base.type.ndim):
        scaled = k == last and old != new
        c.emit(
            f"{name}.shape[{k}] = {base.code}.shape[{k}]{f' * {old} / {new}' if scaled else ''};"
        )
        c.emit(f"{name}.strides[{k}] = {new if scaled else f'{base.code}.strides[{k}]'};")
    return Value(type_, name)


def _item(c, base, args, kwargs, node):
    if args:
        return arrays.load(c, base, args, node)
    return arrays.fetch(c, base.type.dtype, arrays.item(base.type, f"{base.code}.flat(0)"))


_ARRAY = {
    "reshape": _reshape, "ravel": _ravel, "flatten": _ravel, "transpose": _transpose, "view": _view, "item": _item,
    **{name: folds.method(name) for name in folds.NAMES},
}  # fmt: skip
