"""Keeps the texts that a program gives to exec() and compile(): kernels are read from their source text."""

import builtins
import itertools
import linecache
import sys

_numbers = itertools.count(1)
_exec, _compile = builtins.exec, builtins.compile


def _named(text):
    name = f"<exec {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return name


def _exec_kept(source, globals=None, locals=None, /, **options):
    if isinstance(source, str):
        source = _compile(source, _named(source), "exec", dont_inherit=True)
    if globals is None:
        frame = sys._getframe(1)
        globals = frame.f_globals
        locals = frame.f_locals if locals is None else locals
    return _exec(source, globals, globals if locals is None else locals, **options)


def _compile_kept(source, filename, mode, flags=0, dont_inherit=False, *args, **options):
    # What inspect and linecache find in a file stays as it is.
    if (
        isinstance(source, str)
        and str(filename).startswith("<")
        and filename not in linecache.cache
    ):
        filename = _named(source)
    return _compile(source, filename, mode, flags, True, *args, **options)


def keep():
    """From now on, for the whole process."""
    builtins.exec, builtins.compile = _exec_kept, _compile_kept
