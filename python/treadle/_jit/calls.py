"""Calls of other functions: Python functions become device functions; CUDA C++ functions are called by name."""

import ast
import types as pytypes

from .. import _treadle
from . import debugging
from . import types as ty
from .capture import Function
from .errors import KernelError, NeedsConstant, TypingError
from .values import UNKNOWN, Value, number


class Reinterpreted:
    """Called in the kernels that vectorize writes: a number, or an array of numbers, is read as another type of the
    same C++ type, such as a count of days as a date.
    """

    def __init__(self, type_):
        self.type = type_

    def apply(self, value):
        type_ = self.type
        if value.type.is_array:
            have = value.type
            type_ = ty.Array(type_, have.ndim, have.layout, not have.mutable, have.aligned)
        return Value(type_, value.code)


def call_function(c, target, args, kwargs, node):
    from .dispatcher import DeclaredFunction, Dispatcher

    if isinstance(target, Reinterpreted):
        return target.apply(args[0])
    if getattr(target, "launches_itself", False):
        name = target.__name__
        raise c.error(
            f"Untyped global name '{name}': a guvectorize function launches a kernel and cannot be called in one",
            node,
            "call a device function, @cuda.jit(device=True), with the sub-arrays",
        )

    if isinstance(target, DeclaredFunction):
        return call_declared(c, target, args, kwargs, node)
    if isinstance(target, _treadle._PythonLaunch):
        raise c.unsupported(
            "a kernel cannot be launched in a kernel",
            node,
            "launch both from the host, one after the other, or call a device function",
        )
    inner = getattr(target, "py_func", target)
    if isinstance(inner, pytypes.FunctionType):
        if isinstance(target, Dispatcher) and target.is_device and target._explicit:
            return call_signature(c, target, args, kwargs, node)
        return call_python(c, inner, args, kwargs, node)
    if isinstance(inner, pytypes.MethodType) and _is_from_buffer(inner):
        array = args[0]
        if not array.type.is_array:
            raise c.error(f"from_buffer takes an array, not {array.type}", node)
        return Value(
            ty.CPointer(array.type.dtype), f"({array.type.dtype.cpp}*){c.keep(array).code}.data"
        )
    if isinstance(inner, (pytypes.MethodType, pytypes.BuiltinMethodType)):
        refuse_method(c, inner, node)
    if isinstance(inner, type) and issubclass(inner, tuple) and hasattr(inner, "_fields"):
        items = [*args, *(kwargs[f] for f in inner._fields[len(args) :] if f in kwargs)]
        if len(items) != len(inner._fields):
            raise c.error(
                f"{inner.__name__} takes {len(inner._fields)} values, not {len(items)}", node
            )
        return c.make_tuple(items, inner)
    name = getattr(inner, "__name__", repr(inner))
    module = getattr(inner, "__module__", None)
    full = f"{module}.{name}" if module and module != "builtins" else name
    cures = {
        "list": "use a tuple or cuda.local.array", "dict": "pass arrays or named tuples", "set": "use a tuple",
        "str": "print takes numbers as they are",
        "sum": "write the loop",
        "sorted": "sort a local array in place", "reversed": "count down with range", "array": "use cuda.local.array",
        "zeros": "use cuda.local.array and fill it", "empty": "use cuda.local.array",
        "ones": "use cuda.local.array and fill it",
        "input": "", "open": "",
    }  # fmt: skip
    raise c.error(
        f"'{full}' cannot be called in kernels",
        node,
        cures.get(name, "call a function of math or cuda, or a @cuda.jit(device=True) function"),
    )


def refuse_method(c, method, node):
    """Methods of objects of the surrounding program: their state is not on the device."""
    owner, name = getattr(method, "__self__", None), method.__name__
    if owner is None or isinstance(owner, pytypes.ModuleType):
        return
    if isinstance(owner, str):
        cure = "print takes the values as arguments: print('x =', x)"
        raise c.unsupported(f"a string's method '{name}' cannot be called in kernels", node, cure)
    module = type(owner).__module__
    cure = "call a function, and pass it what it needs of the object"
    if module.split(".")[0] == "random" or module.startswith("numpy.random"):
        cure = "draw numbers with cuda.random's xoroshiro128p functions"
    raise c.unsupported(
        f"a bound method, '{type(owner).__name__}.{name}', cannot be called in kernels", node, cure
    )


def _is_from_buffer(method):
    """ffi.from_buffer of a cffi.FFI: an array's address."""
    return method.__name__ == "from_buffer" and type(method.__self__).__module__ == "cffi.api"


def call_signature(c, target, args, kwargs, node):
    """A call of a device function that has signatures: the arguments are converted to those of the best one."""
    from .overloads import best

    function = Function(target.py_func, "device function")
    bound = [value for _, value in bind(c, function, args, kwargs, node)]
    types = tuple(v.type for v in bound)
    chosen = best(target._explicit, types)
    if chosen is None:
        known = ", ".join(f"({', '.join(map(str, s))})" for s in target._explicit)
        raise c.error(
            f"Invalid use of type '{target.__name__}' with parameters ({', '.join(map(str, types))}): it is "
            f"compiled for {known}",
            node,
        )
    converted = [
        c.convert(v, t) if isinstance(t, ty.Scalar) and v.type != t else v
        for v, t in zip(bound, chosen)
    ]
    result = call_python(c, target.py_func, converted, {}, node)
    wanted = target._results.get(chosen)
    if wanted not in (None, ty.none) and isinstance(wanted, ty.Scalar) and result.type != wanted:
        return c.convert(result, wanted)
    return result


def bind(c, function, args, kwargs, node):
    """The arguments by parameter, defaults filled in."""
    bound = []
    rest = dict(kwargs)
    parameters = function.parameters
    for k, p in enumerate(parameters):
        if p.kind is p.VAR_POSITIONAL:
            bound.append((p.name, c.make_tuple([c.keep(a) for a in args[k:]])))
            args = args[:k]
            continue
        if p.kind is p.VAR_KEYWORD:
            raise c.error(f"'{function.name}' takes **{p.name}, which kernels do not have", node)
        if k < len(args):
            if p.name in rest:
                raise c.error(f"'{function.name}' got two values for '{p.name}'", node)
            bound.append((p.name, args[k]))
        elif p.name in rest:
            bound.append((p.name, rest.pop(p.name)))
        elif p.default is not p.empty:
            bound.append((p.name, c.constant(p.default, p.name)))
        else:
            raise c.error(f"'{function.name}' misses its argument '{p.name}'", node)
    most = sum(p.kind is not p.VAR_POSITIONAL for p in parameters)
    if len(args) > most:
        raise c.error(f"'{function.name}' takes {most} arguments, not {len(args)}", node)
    if rest:
        raise c.error(f"'{function.name}' has no parameter '{next(iter(rest))}'", node)
    return bound


def call_python(c, py_func, args, kwargs, node, frozen=None):
    from .compiler import Instance, parameter

    unit = c.unit
    inner = type(c)(unit, py_func)
    bound = bind(c, inner.function, args, kwargs, node) if frozen is None else frozen
    # A constant that has no run-time value is part of the key; numbers are passed at run time,
    # unless they are frozen.
    key = (py_func, tuple(_key(v, frozen is not None) for _, v in bound))
    instance = unit.functions.get(key)
    run_time = [
        (name, v)
        for name, v in bound
        if v.type.cpp is not None
        and v.type is not ty.none
        and not (frozen is not None and _may_freeze(v))
    ]
    if instance is None:
        instance = unit.functions[key] = Instance(
            unit.unique("".join(ch if ch.isalnum() else "_" for ch in inner.function.name))
        )
        inner.instance = instance
        values = {
            name: parameter(name, v.type) if (name, v) in run_time else v for name, v in bound
        }
        for name, v in run_time:
            inner.variables[name + "_"] = v.type
        # Raises by itself: known before the walk, so that calls of itself hand the flag on.
        instance.fails = any(isinstance(n, ast.Raise) for n in ast.walk(inner.function.node))
        try:
            lines = inner.walk(values)
            if inner.fails and not instance.fails:
                instance.fails = True
                lines = inner.walk(values) if instance.recursive else lines
        except KernelError as error:
            unit.functions.pop(key, None)
            again = frozen is None and not instance.recursive
            again = again and any(_may_freeze(v) for _, v in bound)
            if again and isinstance(error, TypingError):
                known = [(name, _frozen(c, v)) for name, v in bound]
                try:
                    return call_python(c, py_func, args, kwargs, node, known)
                except KernelError:
                    if isinstance(error, NeedsConstant):
                        raise
            text = str(error)
            from .errors import place

            if text.count("called from here") < 4:
                raise type(error)(
                    text + "\n" + place(c.function, node, "called from here")
                ) from None
            raise
        result = inner.result or ty.none
        instance.result, instance.done = result, True
        listed = [f"{v.type.cpp} {name}_" for name, v in run_time]
        listed = ", ".join([*listed, debugging.FAILED] if instance.fails else listed)
        head = f"__device__ {result.cpp} {instance.symbol}({listed})"
        if instance.recursive:
            unit.text.append(head + ";")
        unit.text.append(head + " {\n" + "\n".join(lines) + "\n}")
    elif not instance.done:
        instance.recursive = True
        if instance.result is None:
            # Nothing is known yet: another return decides; this path is walked again.
            raise unknown_result(c, inner.function.name, node)
    result = instance.result
    codes = [v.code for _, v in run_time]
    codes = ", ".join([*codes, "td_failed"] if instance.fails else codes)
    code = f"{instance.symbol}({codes})"
    value = Value(ty.none, "", None)
    if result is ty.none:
        c.emit(code + ";")
    else:
        value = Value(result, c.temp(code, result))
    if instance.fails:
        debugging.hand_on(c)
    return value


def unknown_result(c, name, node):
    return c.error(
        f"cannot type infer runaway recursion: the type that '{name}' returns depends on itself",
        node,
        "return a value that does not call the function before the recursive call",
    )


def _may_freeze(value):
    """True for numbers that are known, and tuples of them."""
    return (
        value.is_const
        and value.type.cpp is not None
        and (
            isinstance(value.type, ty.Scalar)
            or (value.type.is_tuple and all(isinstance(t, ty.Scalar) for t in value.type))
        )
    )


def _frozen(c, value):
    """A known value without the caller's names."""
    if not _may_freeze(value):
        return value
    if isinstance(value.type, ty.Scalar):
        return number(value.const, value.type)
    return c.make_tuple([number(x, t) for x, t in zip(value.const, value.type)], value.type.cls)


def _key(value, freeze=False):
    if freeze and _may_freeze(value):
        return (value.type, "known", value.const)
    if value.type.cpp is None:
        const = value.const
        try:
            hash(const)
        except TypeError:
            const = id(const)
        return (value.type.name, const)
    return value.type


def call_declared(c, target, args, kwargs, node):
    signature = target.signature
    if kwargs or len(args) != len(signature.args):
        raise c.error(
            f"'{target.name}' takes {len(signature.args)} arguments, not {len(args)}", node
        )
    target.declare(c.unit)
    codes = []
    for value, type_ in zip(args, signature.args):
        codes += target.arguments(c, value, type_, node)
    result = signature.return_type
    code = target.call_text(c, codes)
    if result is ty.none:
        c.emit(code + ";")
        return Value(ty.none, "", None)
    return Value(result, c.temp(code, result), UNKNOWN)
