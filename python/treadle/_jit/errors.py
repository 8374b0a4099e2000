"""Errors of kernels written in Python: where, what, which types, what to do."""

import difflib
import linecache
import os

from ..errors import CompileError, InternalError


class KernelError(CompileError):
    """A Python function that cannot become a kernel."""


class TypingError(KernelError, TypeError):
    """An operation that its operands' types do not have."""


class NeedsConstant(TypingError):
    """A value that must be known when the kernel is compiled. A call of a device function that fails with it is
    compiled again with the constants among its arguments known inside.
    """


class BadValueError(TypingError, ValueError):
    """A constant that an operation does not take, though it has the right type."""


class UnsupportedError(KernelError):
    """Python that kernels do not have."""


class LoweringError(KernelError):
    """Text that the compiler of the device refuses."""


LITERAL = (
    "RequireLiteralValue: "  # Numba's name for a value that must be known when a kernel is compiled
)


def suggestion(name, names):
    """Text that offers the name that was probably meant, or ""."""
    names = [n for n in names if isinstance(n, str) and not n.startswith("_")]
    same = [n for n in names if n.lower() == name.lower()]
    near = same or difflib.get_close_matches(name, names, 1, 0.7)
    return f"did you mean '{near[0]}'?" if near else ""


def unexpected(c, error):
    """The error for whatever a walk of a function raised that is no KernelError."""
    frame = error.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    file = os.path.basename(frame.tb_frame.f_code.co_filename)
    if isinstance(error, TypeError) and file == "types.py":  # it speaks of the program's types
        return TypingError(place(c.function, c.node, str(error)))
    text = f"Treadle's compiler failed here, please report it: {type(error).__name__}: {error}"
    return InternalError(place(c.function, c.node, text))


def place(function, node, message, cure="", types=()):
    """The message with file, line, the line's text and a caret below ``node``."""
    line = function.first_line + node.lineno - 1 if node is not None else function.first_line
    text = linecache.getline(function.file, line).rstrip("\n")
    lines = [f"{function.file}:{line}: in {function.kind} '{function.name}': {message}"]
    if text.strip() and node is not None:
        begin = node.col_offset + function.indent
        same_line = getattr(node, "end_lineno", node.lineno) == node.lineno
        end = node.end_col_offset + function.indent if same_line else len(text)
        lines += ["  " + text, "  " + " " * begin + "^" * max(1, min(end, len(text)) - begin)]
    for name, type_ in types:
        lines.append(f"  {name} has type {type_}")
    if cure:
        lines.append(f"  {cure}")
    return "\n".join(lines)
