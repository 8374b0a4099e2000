"""Folds of a whole array by one thread: ``a.sum()``, ``np.mean(a)``, ``np.argmax(a)`` …"""

import numpy as np

from .. import _treadle
from . import arrays
from . import types as ty
from .values import Value

NAMES = ("sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax", "all", "any")
NAN_NAMES = ("nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd")


def _float_of(dtype):
    """The type in which the mean of elements is taken."""
    return dtype if dtype in (ty.float32, ty.float64) or dtype.is_complex else ty.float64


def _part_of(type_):
    if not type_.is_complex:
        return type_
    return ty.float32 if type_ == ty.complex64 else ty.float64


def _total_of(dtype):
    if dtype.is_integer or dtype.is_boolean:
        return ty.uint64 if dtype.is_integer and not dtype.signed else ty.int64
    return ty.float32 if dtype.is_half else dtype


def fold(c, base, name, node):
    """The value of a fold of an array."""
    dtype = base.type.dtype
    if not isinstance(dtype, ty.Scalar):
        raise c.error(f"{name} does not take an array of {dtype}", node)
    if dtype.is_complex and name in ("min", "max", "argmin", "argmax"):
        raise c.error(f"{name} does not take an array of {dtype}", node)
    c.unit.need(_treadle._python_part("folds"))
    a = c.keep(base).code
    if name in ("sum", "prod"):
        type_ = _total_of(dtype)
        value = Value(type_, f"tdpy::fold_{name}<{type_.cpp}>({a})")
        return c.convert(value, dtype) if dtype.is_half else value
    if name == "mean":
        type_ = _float_of(dtype)
        return Value(type_, f"tdpy::fold_mean<{type_.cpp}>({a})")
    if name in ("var", "std"):
        type_ = _float_of(dtype)
        part = _part_of(type_)
        code = f"tdpy::fold_var<{type_.cpp}, {part.cpp}>({a})"
        return Value(part, f"::sqrt({code})" if name == "std" else code)
    if name in ("min", "max", "argmin", "argmax"):
        place = f"tdpy::fold_place<{'true' if 'max' in name else 'false'}>({a})"
        return (
            Value(ty.int64, place)
            if "arg" in name
            else Value(dtype, arrays.item(base.type, f"{a}.flat({place})"))
        )
    if name == "any":
        return Value(ty.boolean, f"(tdpy::fold_count({a}) != 0)")
    return Value(ty.boolean, f"tdpy::fold_all({a})")


def nan_fold(c, base, name, node):
    """The value of a fold of an array that leaves NaN out."""
    dtype = base.type.dtype
    if not isinstance(dtype, ty.Scalar) or not (dtype.is_float or dtype.is_complex):
        return fold(c, base, name.removeprefix("nan"), node)  # nothing is NaN
    if dtype.is_half or (dtype.is_complex and name in ("nanmin", "nanmax")):
        raise c.error(f"{name} does not take an array of {dtype}", node)
    c.unit.need(_treadle._python_part("folds"))
    a, cpp = c.keep(base).code, dtype.cpp
    if name in ("nansum", "nanprod"):
        plain, filler = name.removeprefix("nan"), "0" if name == "nansum" else "1"
        code = f"tdpy::without_nan<{cpp}>({a}, {cpp}({filler}))"
        return Value(dtype, f"tdpy::fold_{plain}<{cpp}>({code})")
    if name == "nanmean":
        return Value(dtype, f"tdpy::fold_nanmean<{cpp}, {cpp}>({a})")
    if name in ("nanvar", "nanstd"):
        part = _part_of(dtype)
        code = f"tdpy::fold_nanvar<{cpp}, {cpp}, {part.cpp}>({a})"
        return Value(part, f"::sqrt({code})" if name == "nanstd" else code)
    place = f"tdpy::fold_nanplace<{'true' if name == 'nanmax' else 'false'}>({a})"
    return Value(dtype, arrays.item(base.type, f"{a}.flat({place})"))


def method(name):
    def handler(c, base, args, kwargs, node):
        if args or kwargs:
            raise c.error(f"{name} in a kernel takes no arguments: it folds the whole array", node)
        return Value(*_kept(c, fold(c, base, name, node)))

    return handler


def _kept(c, value):
    return value.type, c.temp(value.code, value.type)


def _function(name, of=fold):
    def handler(c, args, kwargs, node):
        if kwargs or len(args) != 1 or not args[0].type.is_array:
            raise c.error(f"numpy.{name} in a kernel takes one array and folds all of it", node)
        return Value(*_kept(c, of(c, args[0], name, node)))

    return handler


def _count_nonzero(c, args, kwargs, node):
    if kwargs or len(args) != 1 or not args[0].type.is_array:
        raise c.error("numpy.count_nonzero in a kernel takes one array", node)
    c.unit.need(_treadle._python_part("folds"))
    return Value(ty.int64, c.temp(f"tdpy::fold_count({c.keep(args[0]).code})", ty.int64))


def register(handlers):
    for name in NAMES:
        handlers[getattr(np, name)] = _function(name)
    for name in NAN_NAMES:
        handlers[getattr(np, name)] = _function(name, nan_fold)
    handlers[np.amin], handlers[np.amax] = _function("min"), _function("max")
    handlers[np.count_nonzero] = _count_nonzero
