"""Printed kernels on disk: a kernel that was compiled before needs neither this compiler nor the device's.

The key is everything that the text depends on: the function's code with its constants and lines, the values of the
globals and closure variables that it reads (functions among them by the same rule), argument types, options, and this
compiler itself. A function that reads something whose value has no certain form is compiled anew in each process.
"""

import enum
import functools
import hashlib
import json
import os
import types as pytypes

import numpy as np

from .. import _treadle
from . import stubs
from . import types as ty

# Modules whose contents never change: a name is enough.
_FIXED = {"math", "cmath", "operator", "numpy", "builtins"}
_FIXED_PREFIXES = ("treadle.", "numba")


class Unstorable(Exception):
    """A value without a certain form."""


@functools.cache
def compiler_version():
    """What tells this compiler from another: the files of this folder."""
    folder = os.path.dirname(os.path.abspath(__file__))
    facts = [_treadle.__version__]
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            status = os.stat(os.path.join(folder, name))
            facts.append((name, status.st_size, status.st_mtime_ns))
    parts = ("complex", "folds", "bfloat16", "declared")
    texts = "".join([_treadle._python_prelude(), *map(_treadle._python_part, parts)])
    facts.append(hashlib.sha256(texts.encode()).digest())
    return facts


class Freezer:
    """The form of a function and of all that it reads."""

    def __init__(self):
        self.seen = {}

    def function(self, function):
        known = self.seen.get(id(function))
        if known is not None:
            return ("again", known)
        self.seen[id(function)] = len(self.seen)
        code = function.__code__
        cells = []
        for cell in function.__closure__ or ():
            try:
                cells.append(self.value(cell.cell_contents, code.co_names))
            except ValueError:
                cells.append("empty")
        scope = function.__globals__
        names = _names(code)
        read = [(n, self.value(scope[n], names)) for n in names if n in scope]
        defaults = [self.value(v, ()) for v in function.__defaults__ or ()]
        defaults += [(k, self.value(v, ())) for k, v in (function.__kwdefaults__ or {}).items()]
        return (self.code(code), cells, read, defaults)

    def code(self, code):
        constants = [
            self.code(c) if isinstance(c, pytypes.CodeType) else (type(c).__name__, repr(c))
            for c in code.co_consts
        ]
        return (
            code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_filename,
            code.co_firstlineno, code.co_argcount, code.co_flags, list(code.co_lines()),
        )  # fmt: skip

    def value(self, value, names):
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return (type(value).__module__, type(value).__qualname__, repr(value))
        if isinstance(value, np.generic):
            return ("scalar", str(value.dtype), value.tobytes())
        if isinstance(value, tuple):
            kind = type(value)
            return (
                "tuple",
                kind.__module__,
                kind.__qualname__,
                [self.value(v, names) for v in value],
            )
        if isinstance(value, np.ndarray) and value.dtype != object:
            return (
                "array",
                repr(value.dtype),
                value.shape,
                hashlib.sha256(value.tobytes()).digest(),
            )
        if isinstance(value, np.dtype):
            return ("dtype", repr(value))
        if isinstance(value, ty.Type):
            return ("type", value.name)
        if isinstance(value, (stubs.Intrinsic, stubs.Special, stubs.Dim3, stubs.Namespace)):
            return ("stub", value.__name__)
        inner = getattr(value, "py_func", value)
        if isinstance(inner, pytypes.FunctionType):
            if inner.__module__.startswith("treadle."):
                return ("ours", inner.__module__, inner.__qualname__)
            return ("function", self.function(inner))
        if isinstance(value, pytypes.ModuleType):
            return self.module(value, names)
        if isinstance(value, type):
            if issubclass(value, enum.Enum):
                return (
                    "enum",
                    value.__qualname__,
                    [(m.name, self.value(m.value, ())) for m in value],
                )
            if (
                value.__module__ in _FIXED
                or issubclass(value, BaseException)
                or hasattr(value, "_fields")
            ):
                return ("class", value.__module__, value.__qualname__)
        if isinstance(value, enum.Enum):
            return ("member", self.value(type(value), ()), value.name)
        if isinstance(value, (pytypes.BuiltinFunctionType, np.ufunc)):
            return ("builtin", getattr(value, "__module__", ""), value.__name__)
        raise Unstorable

    def module(self, module, names):
        name = module.__name__
        if name in _FIXED or name.startswith(_FIXED_PREFIXES) or name == "treadle":
            return ("module", name)
        # Any name that the function has may be an attribute of the module.
        read = [(n, self.value(getattr(module, n), names)) for n in names if hasattr(module, n)]
        return ("module", name, read)


def _names(code):
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            names += _names(constant)
    return tuple(dict.fromkeys(names))


def key_of(dispatcher, types):
    """The key of a variant, or None when it must not be stored."""
    if dispatcher.debug or dispatcher.bounds or dispatcher.link or dispatcher.extensions:
        return None
    try:
        form = Freezer().function(dispatcher.py_func)
    except (Unstorable, RecursionError):
        return None
    options = (
        dispatcher.fastmath,
        dispatcher.targetoptions["opt"],
        dispatcher.max_registers,
        dispatcher.launch_bounds,
        dispatcher.cooperative,
    )
    facts = (compiler_version(), form, [t.name for t in types], [t.cpp for t in types], options)
    return hashlib.sha256(repr(facts).encode()).digest()


def load(key):
    """What was stored under a key: a dictionary, or None."""
    found = _treadle._load_python_kernel(key)
    if found is None:
        return None
    try:
        entry = json.loads(found)
    except ValueError:  # damaged: it is written anew
        return None
    return (
        entry if isinstance(entry, dict) and entry.keys() >= {"text", "entry", "options"} else None
    )


def save(key, **entry):
    """Stores a dictionary of texts, numbers and lists under a key."""
    _treadle._store_python_kernel(key, json.dumps(entry).encode())
