"""The text of one variant."""

import inspect

from .. import _treadle
from . import debugging, linking
from . import types as ty
from .capture import Function
from .compiler import FunctionCompiler, Unit, parameter
from .values import Value


def entry_name(py_func):
    """The kernel's name in its text; messages show what stands behind ``py__`` (author_name in src/base/text.h)."""
    return "py__" + "".join(ch if ch.isalnum() and ch.isascii() else "_" for ch in py_func.__name__)


def flatten(name, type_, declared, statements):
    """The value of a parameter, from kernel parameters of plain types."""
    if type_ is ty.none:
        return Value(ty.none, "", None)
    if isinstance(type_, ty.Record):
        declared.append(f"char* {name}")  # records are passed by reference
        return Value(type_, f"{type_.cpp}{{{name}}}")
    if type_.is_array:
        # Words of their own: the compilers know more of them than of a structure's fields.
        axes = range(max(type_.ndim, 1))
        shape, strides = ([f"{name}{word}{k}" for k in axes] for word in ("shape", "stride"))
        declared.append(f"{type_.pointer}* {name}data")
        declared.extend(f"long long {word}" for word in (*shape, *strides))
        statements.append(
            f"{type_.cpp} {name} = {{{name}data, {{{', '.join(shape)}}}, {{{', '.join(strides)}}}}};"
        )
        return Value(type_, name)
    if not type_.is_tuple:
        declared.append(f"{type_.cpp} {name}")
        return Value(type_, name)
    items = [flatten(f"{name}{k}_", t, declared, statements) for k, t in enumerate(type_.types)]
    codes = ", ".join(i.code or "tdpy::none{}" for i in items)
    if type_.uniform:
        code = f"{type_.cpp}{{{{{codes}}}}}"
    else:
        code = f"{type_.cpp}({codes})" if items else f"{type_.cpp}{{}}"
    statements.append(f"const {type_.cpp} {name} = {code};")
    return Value(type_, name)


def new_unit(dispatcher):
    unit = Unit(debug=dispatcher.debug, bounds=dispatcher.bounds)
    unit.cooperative = dispatcher.cooperative
    linking.add(unit, dispatcher.link)
    return unit


def preamble(unit):
    """What stands in front of an entry: prelude, linked sources, constants, device functions."""
    text = [_treadle._python_prelude()]
    if unit.dynamic_shared:
        text.append(
            "extern __shared__ __align__(16) char td_dynamic_shared[];\n__device__ unsigned td_dynamic_bytes() {\n "
            ' unsigned n;\n  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(n));\n  return n;\n}'
        )
    if unit.sites or unit.debug or unit.bounds:
        text.append(debugging.DECLARATION)
    text += [*unit.sources, *unit.globals, *unit.text]
    return text


def joined(text):
    """The lines of a source; behind the prelude, the first of them, what bfloat16 needs where it occurs."""
    body = "\n".join(text[1:])
    parts = [_treadle._python_part("bfloat16")] if ty.bfloat16.cpp in body else []
    return "\n".join([text[0], *parts, body])


def print_kernel(dispatcher, types):
    """(text, the kernel's name in it, unit, types by name) of a variant."""
    unit = new_unit(dispatcher)
    function = Function(dispatcher.py_func, "kernel")
    compiler = FunctionCompiler(unit, dispatcher.py_func, "kernel", function)
    parameters = function.parameters
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        text = f"a kernel cannot take **{parameters[-1].name}"
        raise compiler.error(text, function.node.args.kwarg, "name the parameters")
    if len(parameters) != len(types):
        raise TypeError(
            f"kernel '{function.name}' takes {len(parameters)} arguments, not {len(types)}"
        )
    declared, prologue, values = [], [], {}
    for p, type_ in zip(parameters, types):
        value = flatten(p.name + "_", type_, declared, prologue)
        values[p.name] = value
        if value.code == p.name + "_":
            compiler.variables[value.code] = type_
    lines = compiler.walk(values)
    entry = entry_name(dispatcher.py_func)
    bounds = ""
    if dispatcher.launch_bounds:
        given = dispatcher.launch_bounds
        numbers = given if isinstance(given, tuple) else (given,)
        bounds = f"__launch_bounds__({', '.join(map(str, numbers))}) "
    text = preamble(unit)
    text.append(f'extern "C" __global__ void {bounds}{entry}({", ".join(declared)}) {{')
    flag = ["bool td_failed = false;"] if compiler.fails else []
    text += [*prologue, *flag, *lines, "}", ""]
    source = joined(text)
    variables = {n.rstrip("_"): t for n, t in compiler.variables.items()}
    return source, entry, unit, variables


def walk_device(dispatcher, args):
    """(unit, compiler, lines) of a device function."""
    unit = new_unit(dispatcher)
    compiler = FunctionCompiler(unit, dispatcher.py_func)
    values = {}
    for p, type_ in zip(compiler.function.parameters, args):
        values[p.name] = parameter(p.name, type_)
        compiler.variables[p.name + "_"] = type_
    lines = compiler.walk(values)
    return unit, compiler, lines


def check_device(dispatcher, args, return_type):
    """Compiles a device function for its types' sake; the type of its result."""
    _, compiler, _ = walk_device(dispatcher, args)
    return compiler.result or ty.none


def print_device(dispatcher, args, return_type, name=None):
    """(text, unit, type of the result) of a device function that stands for itself, by the rules of C."""
    unit, compiler, lines = walk_device(dispatcher, args)
    result = compiler.result or ty.none
    if result is ty.none:
        lines = ["return;" if line == "return {};" else line for line in lines]
    listed = [
        f"{t.cpp} {p.name}_" for p, t in zip(compiler.function.parameters, args) if t is not ty.none
    ]
    name = name or "".join(ch if ch.isalnum() else "_" for ch in dispatcher.py_func.__name__)
    text = preamble(unit)
    text.append(
        f'extern "C" __device__ {result.cpp if result is not ty.none else "void"} {name}({", ".join(listed)}) {{'
    )
    flag = ["bool td_failed = false;"] if compiler.fails else []
    text += [*flag, *lines, "}", ""]
    return joined(text), unit, result
