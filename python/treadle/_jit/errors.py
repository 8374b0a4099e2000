"""Errors of kernels written in Python: where, what, which types, what to do."""

import linecache

from ..errors import CompileError


class KernelError(CompileError):
    """A Python function that cannot become a kernel."""


class TypingError(KernelError, TypeError):
    """An operation that its operands' types do not have."""


class UnsupportedError(KernelError):
    """Python that kernels do not have."""


class LoweringError(KernelError):
    """Text that the compiler of the device refuses."""


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
