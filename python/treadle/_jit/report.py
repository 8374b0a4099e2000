"""What a kernel compiled with debug=True reports: raised at the launch."""

import linecache
import os
import struct

import numpy as np

from .. import _treadle

_DTYPE = np.dtype(
    [("site", "i4"), ("thread", "i4", 3), ("block", "i4", 3), ("pad", "i4"), ("values", "i8", 8)]
)


class KernelRuntimeError(RuntimeError):
    """An error of a running kernel, with thread and block: where the raised class cannot be made of a message."""

    def __init__(self, message, tid=None, ctaid=None):
        self.tid, self.ctaid, self.msg = tid, ctaid, message
        super().__init__(message)


def look(compiled, stream=None):
    """Waits for the launch and raises its report."""
    (stream or _treadle.get_current_stream()).synchronize()
    memory = _treadle.ndarray(
        (_DTYPE.itemsize,), np.uint8, memptr=compiled.module.get_global("td_reported")
    )
    report = memory.get().view(_DTYPE)[0]
    number = int(report["site"])
    if number == 0:
        return
    memory.fill(0)
    _treadle.get_current_stream().synchronize()
    raise _exception(compiled.sites[number - 1], report) from None


def _exception(site, report):
    tid, ctaid = list(map(int, report["thread"])), list(map(int, report["block"]))
    words = list(map(int, report["values"]))
    where = (
        f"In function '{site.name}', file {os.path.abspath(site.file)}, line {site.line}, "
        f"tid={tid} ctaid={ctaid}"
    )
    args = [_value(a, words) for a in site.args]
    args = (f"{where}: {args[0]}", *args[1:]) if args else (where,)
    try:
        error = site.kind(*args)
    except Exception:  # a class of the program with other parameters
        error = KernelRuntimeError(f"{site.kind.__name__}: {', '.join(map(str, args))}", tid, ctaid)
    error.tid, error.ctaid = tuple(tid), tuple(ctaid)
    _show_line(error, site)
    return error


def _value(arg, words):
    if not isinstance(arg, list):
        return arg
    values = [part if isinstance(part, str) else _read(part, words) for part in arg]
    return values[0] if len(values) == 1 else "".join(map(str, values))


def _read(slot, words):
    """The number of a slot; as text when it has a format."""
    word = words[slot.at]
    if slot.how == "complex":
        value = complex(_double(word), _double(words[slot.at + 1]))
    elif slot.how == "float":
        value = _double(word)
    elif slot.how == "bool":
        value = bool(word)
    else:
        value = word if slot.how == "int" else word % 2**64
    if slot.conversion >= 0:
        value = {"r": repr, "s": str, "a": ascii}[chr(slot.conversion)](value)
    return format(value, slot.spec) if slot.spec else value


def _double(word):
    return struct.unpack("d", struct.pack("q", word))[0]


def _show_line(error, site):
    """The line with a caret, as a note of the exception (Python 3.11 and later)."""
    text = linecache.getline(site.file, site.line).rstrip("\n")
    if text.strip() and hasattr(error, "add_note"):
        end = len(text) if site.end is None else min(site.end, len(text))
        error.add_note(f"  {text}\n  {' ' * site.begin}{'^' * max(1, end - site.begin)}")
