"""Kernels named on a command line: ``kernels.cu:name`` and ``script.py:name``."""

import os
import runpy
import sys

from .. import _treadle

__all__ = ["Problem", "find_kernel", "find_launchable", "load_script"]

_CUDA = (".cu", ".cuh", ".cpp", ".cc", ".txt")


class Problem(Exception):
    """What was asked for cannot be done; the message says what to change."""


def find_kernel(text, options=(), signature=None):
    """(the kernel, the name to show) for ``file:kernel``; ``Problem`` says what is wrong with it.

    Of a CUDA C++ file with one kernel the name may be left out. A Python file is executed, as ``import`` would.
    """
    path, name = _split(text)
    if path.endswith(".py"):
        return _python_kernel(path, name, signature), name
    if signature is not None:
        raise Problem("--signature belongs to a cuda.jit kernel; CUDA C++ says its types itself")
    if not path.endswith(_CUDA):
        raise Problem(f"'{path}' is neither CUDA C++ ({', '.join(_CUDA)}) nor Python (.py)")
    return _cuda_kernel(path, name, options)


def _split(text):
    if os.path.isfile(text):
        return text, ""
    path, colon, name = text.partition(":")
    if not os.path.isfile(path):
        raise Problem(f"there is no file '{path}'")
    return path, name if colon else ""


def _cuda_kernel(path, name, options):
    with open(path, encoding="utf-8", errors="replace") as file:
        source = file.read()
    instances = [name] if "<" in name else None
    module = _treadle.RawModule(
        source, options=tuple(options), name_expressions=instances, file_name=path
    )
    if not name:
        names = module.kernel_names
        if len(names) != 1:
            have = f"its kernels are {', '.join(sorted(names))}" if names else "it has no kernels"
            raise Problem(f"say which kernel, as '{path}:NAME'; {have}")
        name = names[0]
    try:
        return module.get_function(name), name
    except ValueError as error:
        raise Problem(str(error)) from None


def load_script(path, name, others=None):
    """What a Python file calls ``name`` at its top; with ``others`` also a list of those, None for what is not there.

    ``Problem`` when ``name`` is not there; errors of the file pass.
    """
    if not name:
        raise Problem(f"say which function, as '{path}:NAME'")
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        space = runpy.run_path(path, run_name=os.path.splitext(os.path.basename(path))[0])
    except SystemExit as error:
        raise Problem(
            f"'{path}' ended the program ({error}) when it was read; put what it runs behind if __name__ == '__main__'"
        ) from None
    if name not in space:
        known = [key for key, value in space.items() if callable(value) and not key.startswith("_")]
        raise Problem(
            f"'{path}' defines no '{name}' at its top; it has {', '.join(known) or 'no functions'}"
        )
    return space[name] if others is None else (space[name], [space.get(other) for other in others])


def _python_kernel(path, name, signature):
    from ..occupancy import kernel_of

    found = load_script(path, name)
    try:
        return kernel_of(found, signature)
    except TypeError as error:
        cure = ""
        if isinstance(found, _treadle._PythonKernel) and signature is None:
            cure = "; here: --signature 'float32[::1], int32'"
        raise Problem(f"{path}:{name}: {error}{cure}") from None


def find_launchable(text, options=(), signature=None):
    """(what can be launched, its name): as `find_kernel`, but of a Python file the ``cuda.jit`` kernel itself."""
    path, name = _split(text)
    if not path.endswith(".py"):
        return find_kernel(text, options, signature)
    found = load_script(path, name)
    if isinstance(found, _treadle.RawKernel):
        return found, name
    if not isinstance(found, _treadle._PythonKernel):
        raise Problem(f"{path}:{name} is neither a cuda.jit kernel nor a RawKernel")
    if signature is not None:
        from .._jit.signatures import normalize

        try:
            found = found.specialize(*normalize(signature)[0])
        except TypeError as error:
            raise Problem(f"--signature: {error}") from None
    elif len(found.overloads) != 1:
        raise Problem(
            f"kernel '{name}' has {len(found.overloads)} compiled variants; say which with --signature, as "
            "'float32[::1], int32'"
        )
    return found, name
