"""``treadle run script.py``: runs a program that imports numba.cuda or cupy on Treadle, unchanged."""

import builtins
import linecache
import os
import runpy
import sys
import types
import zipfile

USAGE = """usage: treadle run [--alias NAMES] (SCRIPT | -m MODULE | -c TEXT) [ARGUMENTS …]

Runs a Python program with other libraries' names for Treadle: `import numba`, `from numba import cuda`, `import cupy`
and `import cupyx` find Treadle. ARGUMENTS are the program's own (sys.argv[1:]). TREADLE_DEVICE chooses the device.

  --alias NAMES   which names (default: numba,cupy,pycuda)
  -m MODULE       runs a module, as python -m does
  -c TEXT         runs a text, as python -c does
"""


def main(argv=None):
    argv = list(sys.argv[1:] if argv is None else argv)
    names = "numba,cupy,pycuda"
    while argv and argv[0].startswith("-") and argv[0] not in ("-m", "-c"):
        option = argv.pop(0)
        if option in ("-h", "--help"):
            print(USAGE, end="")
            return 0
        if option == "--alias" and argv:
            names = argv.pop(0)
        elif option.startswith("--alias="):
            names = option.partition("=")[2]
        elif option == "--":
            break
        else:
            print(f"treadle run: unknown option '{option}'\n\n{USAGE}", end="", file=sys.stderr)
            return 2
    if not argv or (argv[0] in ("-m", "-c") and len(argv) < 2):
        print(USAGE, end="", file=sys.stderr)
        return 2
    from . import _aliases

    try:
        _aliases.install(*filter(None, names.split(",")))
    except ValueError as error:
        print(f"treadle run: {error}", file=sys.stderr)
        return 2
    _run(argv)
    return 0


def _run(argv):
    """The program as __main__: sys.argv and sys.path as python itself sets them."""
    if argv[0] == "-m":
        sys.argv = argv[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    elif argv[0] == "-c":
        name = "<treadle run -c>"
        # Kernels are read from their source text.
        linecache.cache[name] = (len(argv[1]), None, argv[1].splitlines(True), name)
        sys.path.insert(0, "")
        _execute(argv[1], name, ["-c", *argv[2:]])
    elif os.path.isfile(argv[0]) and not zipfile.is_zipfile(argv[0]):
        sys.path.insert(0, os.path.dirname(os.path.abspath(argv[0])))
        with open(argv[0], "rb") as file:
            _execute(file.read(), argv[0], argv)
    elif os.path.exists(argv[0]):
        sys.argv = argv
        runpy.run_path(argv[0], run_name="__main__")
    else:
        print(f"treadle run: there is no file '{argv[0]}'", file=sys.stderr)
        raise SystemExit(2)


def _execute(text, name, argv):
    sys.argv = argv
    module = types.ModuleType("__main__")
    module.__file__, module.__builtins__ = name, builtins
    sys.modules["__main__"] = module
    exec(compile(text, name, "exec"), module.__dict__)
