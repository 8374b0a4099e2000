"""Functions of numbers by NumPy's rules, for ``treadle.vectorize``: the dtypes are those of NumPy's ufuncs.

A number that the program writes out is *weak*, as in NumPy: it takes the dtype of what it meets. Every operation
takes the
loop that NumPy's ufunc of that name would take, and its body is that of tables/ops.def, the one that arrays have.
"""

import builtins
import math

import numpy as np

from .. import _treadle
from .._row_code import MARKER, row_function, rows, ufunc_of
from . import types as ty
from .compiler import FunctionCompiler
from .values import Value, number, type_of_number

# Between the types of python.cuh and those of the bodies.
BORDER = """
template <class T> TD_FN T td_enter(T x) { return x; }
TD_FN td_half td_enter(tdpy::half x) { return td_half((float)x); }
template <class T> TD_FN td_complex<T> td_enter(tdpy::complex<T> z) { return td_complex<T>(z.re, z.im); }
template <class T> TD_FN T td_leave(T x) { return x; }
TD_FN tdpy::half td_leave(td_half x) { return tdpy::half((float)x); }
template <class T> TD_FN tdpy::complex<T> td_leave(td_complex<T> z) { return tdpy::complex<T>(z.re, z.im); }
"""

_BINARY = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder", "**": "power",
    "<<": "left_shift", ">>": "right_shift", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor",
}  # fmt: skip
_UNARY = {"-": "negative", "+": "positive", "~": "invert"}
_COMPARE = {
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}
_MATH = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "pow": "power",
}  # fmt: skip
_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def kind_of(value):
    """The Python type of a weak number, the dtype of any other."""
    return _PYTHON[value.type.dtype.kind] if value.weak else value.type.dtype


def meet(a, b):
    """(type, weak) of what is one of two numbers: a weak one gives way. None where there is none."""
    if a.weak == b.weak:
        type_ = ty.promote(a.type, b.type) if a.type != b.type else a.type
        return type_, a.weak
    weak, firm = (a, b) if a.weak else (b, a)
    sample = _PYTHON[weak.type.dtype.kind](1)
    dtype = firm.type.dtype if isinstance(sample, bool) else np.result_type(firm.type.dtype, sample)
    return ty.from_dtype(dtype), False


def known(value):
    """The number itself: a Python number when it is weak, else a NumPy scalar."""
    return value.const if value.weak else value.type.dtype.type(value.const)


class NumpyCompiler(FunctionCompiler):
    """One function by NumPy's rules."""

    numpy = True

    def __init__(self, unit, py_func, kind="function", source=None):
        super().__init__(unit, py_func, kind, source)
        self.meeting = None
        self.result_weak = True

    # ---- where paths meet ----

    def join_values(self, name, a, b):
        if not (isinstance(a.type, ty.Scalar) and isinstance(b.type, ty.Scalar)) or (
            a.weak == b.weak and a.type == b.type
        ):
            joined = super().join_values(name, a, b)
            joined.weak = a.weak and b.weak
            return joined
        type_, weak = meet(a, b)
        return Value(type_, self.variable(name, type_), weak=weak)

    def common(self, a, b, node):
        if isinstance(a.type, ty.Scalar) and isinstance(b.type, ty.Scalar):
            type_, self.meeting = meet(a, b)
            return type_
        self.meeting = False
        return super().common(a, b, node)

    def _met(self, method, node):
        self.meeting = None
        value = method(node)
        if self.meeting is not None:
            value.weak = self.meeting
        return value

    def on_IfExp(self, node):
        return self._met(super().on_IfExp, node)

    def on_BoolOp(self, node):
        return self._met(super().on_BoolOp, node)

    def join_result(self, value):
        wanted = self.result
        if wanted is None or not (
            isinstance(wanted, ty.Scalar) and isinstance(value.type, ty.Scalar)
        ):
            self.result_weak = value.weak and wanted is None
            return value.type if wanted is None else ty.unify(wanted, value.type)
        type_, self.result_weak = meet(Value(wanted, "", weak=self.result_weak), value)
        return type_

    # ---- operations ----

    def apply(self, name, values, node, dtype=None):
        """An operation of tables/ops.def in the loop that NumPy's ufunc takes."""
        ufunc = ufunc_of(name)
        if ufunc is None:
            raise self.error(f"{name} cannot be used in a kernel", node)
        for v in values:
            if not isinstance(v.type, ty.Scalar):
                raise self.error(f"{name} does not take {v.type}", node)
        if len(values) != ufunc.nin:
            raise self.error(f"{name} takes {ufunc.nin} arguments, not {len(values)}", node)
        if all(v.is_const for v in values) and dtype is None:
            with np.errstate(all="ignore"):
                result = ufunc(*(known(v) for v in values))
            return self.known_number(result.item() if all(v.weak for v in values) else result)
        loop, result = self.loop_of(ufunc, values, node, dtype)
        codes = ", ".join(self.exact(v, t, node).code for v, t in zip(values, loop))
        weak = all(v.weak for v in values)
        if weak:  # Python's numbers have one size
            wide = type_of_number(_PYTHON[result.dtype.kind](1))
            code = f"{self.body(name, loop, result)}({codes})"
            return Value(
                wide, code if wide == result else f"tdpy::to<{wide.cpp}>({code})", weak=True
            )
        return Value(result, f"{self.body(name, loop, result)}({codes})")

    def loop_of(self, ufunc, values, node, dtype):
        kinds = [kind_of(v) for v in values]
        if all(isinstance(k, type) for k in kinds) or dtype is not None:
            kinds = [v.type.dtype for v in values]
        if (
            ufunc.__name__ in _COMPARE.values()
        ):  # an integer that the other's dtype cannot hold is compared as it is
            kinds = [
                np.dtype(np.int64) if _outside(v, values) else k for v, k in zip(values, kinds)
            ]
        fixed = {} if dtype is None else {"signature": (None,) * ufunc.nin + (np.dtype(dtype),)}
        try:
            *loop, result = ufunc.resolve_dtypes((*kinds, None), **fixed)
            return [ty.from_dtype(t) for t in loop], ty.from_dtype(result)
        except TypeError:
            raise self.error(
                f"{ufunc.__name__} has no loop for {', '.join(str(v.type) for v in values)}", node
            ) from None

    def exact(self, value, type_, node):
        """A weak number as the dtype that it takes, which must hold it."""
        if value.weak and value.is_const and type_.is_integer and _outside(value, [Value(type_)]):
            raise self.error(f"{value.const} does not fit into {type_}", node)
        if value.is_const and value.weak:
            return number(known(Value(type_, "", type_.dtype.type(value.const))), type_)
        return self.convert(value, type_)

    def body(self, name, loop, result):
        """The name of the device function that holds the row's body for a loop."""
        key = ("row", name, *loop)
        symbol = self.unit.functions.get(key)
        if symbol is None:
            symbol = self.unit.functions[key] = self.unit.unique(f"td_{name}")
            self.unit.text.append(
                row_function("row_" + symbol, name, [t.dtype for t in loop], result.dtype)
            )
            listed = ", ".join(f"{t.cpp} {x}" for t, x in zip(loop, "xyz"))
            given = ", ".join(f"td_enter({x})" for _, x in zip(loop, "xyz"))
            self.unit.text.append(
                f"TD_FN {result.cpp} {symbol}({listed}) {{ return td_leave(row_{symbol}({given})); }}"
            )
        return symbol

    def known_number(self, value):
        if isinstance(value, np.generic):
            return number(
                value.item() if value.dtype.char != "e" else float(value),
                ty.from_dtype(value.dtype),
            )
        return number(value)

    def by_symbol(self, symbol, left, right, node):
        return self.apply(_BINARY[symbol], [left, right], node)

    def unary_by_symbol(self, symbol, value, node):
        return self.apply(_UNARY[symbol], [value], node)

    def compare_by_symbol(self, symbol, left, right, node):
        if symbol not in ("==", "!=") and (left.type.is_complex or right.type.is_complex):
            raise self.error(
                f"comparison {symbol} does not take {left.type} and {right.type}", node
            )
        return self.apply(_COMPARE[symbol], [left, right], node)

    # ---- calls ----

    def call_known(self, target, args, kwargs, node):
        """A call that NumPy's rules decide, or None."""
        if target in (builtins.min, builtins.max):
            return self.extreme("less" if target is builtins.min else "greater", args, node)
        if target in (builtins.abs, builtins.pow):
            return self.apply("absolute" if target is builtins.abs else "power", args, node)
        if (
            target in (builtins.int, builtins.float, builtins.bool, builtins.complex)
            and len(args) == 1
        ):
            type_ = type_of_number(target(1))
            if args[0].type.is_complex and type_.is_number and not type_.is_complex:
                raise self.error(
                    f"a complex number does not become {target.__name__}", node, "take .real"
                )
            value = self.convert(args[0], type_)
            return Value(type_, value.code, value.const, value.bits, weak=True)
        name = getattr(target, "__name__", "")
        of_math = getattr(math, name, None) is target
        row = _MATH.get(name, name) if of_math else name
        row = _treadle._operation_aliases.get(row, row)
        if row not in rows() or not (of_math or _is_operation(target)):
            plain = target is np.dtype and not kwargs and all(a.is_const for a in args)
            return self.constant(target(*(a.const for a in args))) if plain else None
        dtype = kwargs.pop("dtype", None)
        if kwargs:
            raise self.error(f"{name} takes no {next(iter(kwargs))}= in a kernel", node)
        if not of_math:
            return self.apply(row, args, node, None if dtype is None else dtype.const)
        doubles = [self.convert(a, ty.float64) for a in args]  # as Python's math: whatever comes
        doubles = [Value(ty.float64, v.code, v.const) for v in doubles]
        value = self.convert(self.apply(row, doubles, node), ty.float64)
        return Value(ty.float64, value.code, value.const, weak=True)

    def extreme(self, name, args, node):
        if len(args) == 1 and args[0].type.is_tuple:
            args = self.tuple_items(self.keep(args[0]), node)
        best = args[0]
        for value in args[1:]:
            type_, weak = meet(best, value)
            a, b = self.keep(self.convert(best, type_)), self.keep(self.convert(value, type_))
            test = self.apply(name, [b, a], node)
            best = Value(type_, f"({test.code} ? {b.code} : {a.code})", weak=weak)
        return best


def _is_operation(target):
    return isinstance(target, np.ufunc) or getattr(target, "__module__", "").startswith("treadle")


def _outside(value, values):
    """True for a weak integer that an integer dtype among the others cannot hold."""
    if not (value.weak and value.is_const and isinstance(value.const, int)) or isinstance(
        value.const, bool
    ):
        return False
    firm = [v.type for v in values if v is not value and v.type.is_integer and not v.weak]
    return any(not np.iinfo(t.dtype).min <= value.const <= np.iinfo(t.dtype).max for t in firm)


def compile_function(py_func, dtypes):
    """(preamble, statements, results) of a call ``py_func(in0, in1, …)`` of numbers: results are Values."""
    from .calls import call_python
    from .compiler import Unit

    unit = Unit()
    c = NumpyCompiler(unit, py_func)
    types = [ty.from_dtype(t) for t in dtypes]
    args = [Value(t, f"a{k}") for k, t in enumerate(types)]
    c.node = c.function.node
    result = call_python(c, py_func, args, {}, c.node)
    results = c.tuple_items(c.keep(result), c.node) if result.type.is_tuple else [result]
    for r in results:
        if not isinstance(r.type, ty.Scalar):
            raise c.error(f"the function returns {r.type}, which is no number", c.node)
    preamble = MARKER + _treadle._python_prelude() + BORDER + "\n".join([*unit.globals, *unit.text])
    return preamble, c.out, results
