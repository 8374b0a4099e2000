"""Kernels in pickles. A function at the top of a module travels by its name; one inside of a function with its code,
the names that it reads and its text, which its kernel is compiled from at the other end.

The code is Python's own (marshal): both ends need the same version of Python.
"""

import builtins
import copyreg
import importlib
import linecache
import marshal
import pickle
import sys
import types as pytypes

from .. import _treadle


class _Travelling:
    """A function within a pickle."""

    def __init__(self, function):
        self.function = function

    def __reduce__(self):
        function = self.function
        if _is_known(function):
            return _by_name, (function.__module__, function.__qualname__)
        code = function.__code__
        cells = [_pack(_content(c, function), function) for c in function.__closure__ or ()]
        names = _names(code)
        scope = {n: _pack(v, function) for n, v in function.__globals__.items() if n in names}
        text = linecache.getlines(code.co_filename, function.__globals__)
        facts = (
            function.__module__,
            function.__qualname__,
            function.__defaults__,
            function.__kwdefaults__,
        )
        return _make, (marshal.dumps(code), cells, scope, text, facts)


class _Module:
    """A module that a function reads."""

    def __init__(self, name):
        self.name = name


class _Itself:
    """The function that is being pickled, or its kernel, where it calls itself."""


def pack(function):
    """What stands for a Python function in a pickle; loading gives the function."""
    return _Travelling(function)


def _content(cell, function):
    try:
        return cell.cell_contents
    except ValueError:
        raise pickle.PicklingError(
            f"'{function.__qualname__}' reads a name of the function around it that has no value yet"
        ) from None


def _pack(value, function):
    """What stands for a value that ``function`` reads."""
    if getattr(value, "py_func", value) is function:
        return _Itself()
    if isinstance(value, pytypes.FunctionType):
        return _Travelling(value)
    return _Module(value.__name__) if isinstance(value, pytypes.ModuleType) else value


def _unpack(value, function):
    if isinstance(value, _Module):
        return importlib.import_module(value.name)
    return function if isinstance(value, _Itself) else value


def _find(module, name):
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_known(function):
    """True for a function that its module has under its name, decorated or not."""
    found = _find(function.__module__, function.__qualname__)
    return found is not None and getattr(found, "py_func", found) is function


def _names(code):
    """What a code and those inside of it read of the module."""
    names = set(code.co_names)
    for part in code.co_consts:
        if isinstance(part, pytypes.CodeType):
            names |= _names(part)
    return names


def _by_name(module, name):
    importlib.import_module(module)
    found = _find(module, name)
    if found is None:
        raise pickle.UnpicklingError(f"module '{module}' has no function '{name}' here")
    return getattr(found, "py_func", found)


def _make(code, cells, scope, text, facts):
    code = marshal.loads(code)
    file = code.co_filename
    if text and not linecache.getlines(file):  # another machine: the text came along
        linecache.cache[file] = (sum(map(len, text)), None, text, file)
    module, name, defaults, kwdefaults = facts
    space = {"__name__": module, "__builtins__": builtins}
    contents = [pytypes.CellType() for _ in cells]
    function = pytypes.FunctionType(code, space, code.co_name, defaults, tuple(contents))
    function.__kwdefaults__, function.__qualname__, function.__module__ = kwdefaults, name, module
    space.update((n, _unpack(v, function)) for n, v in scope.items())
    for cell, value in zip(contents, cells):
        cell.cell_contents = _unpack(value, function)
    return function


def _reduce_launch(launch):
    if launch.pre_launch_callbacks:
        raise pickle.PicklingError(
            "Cannot pickle configured launches with pre-launch callbacks; pickle the kernel, and configure it again"
        )
    if launch.stream is not None:
        raise pickle.PicklingError(
            "a launch on a stream cannot be pickled: streams belong to one process; pickle the kernel"
        )
    if launch.tasks is not None:
        return _treadle._PythonLaunch.over_tasks, (
            launch.kernel, launch.tasks, launch.blockdim[0], None, launch.sharedmem,
        )  # fmt: skip
    shape = (launch.griddim, launch.blockdim, None, launch.sharedmem)
    return _treadle._PythonLaunch, (launch.kernel, *shape)


copyreg.pickle(_treadle._PythonLaunch, _reduce_launch)
