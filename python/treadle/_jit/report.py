"""What a kernel compiled with debug=True reports: raised at the launch."""

import numpy as np

from .. import _treadle

_DTYPE = np.dtype(
    [("site", "i4"), ("thread", "i4", 3), ("block", "i4", 3), ("pad", "i4"), ("values", "i8", 4)]
)


class KernelRuntimeError(RuntimeError):
    """An error of a running kernel, with thread and block."""

    def __init__(self, message, tid=None, ctaid=None):
        self.tid, self.ctaid, self.msg = tid, ctaid, message
        super().__init__(message)


def look(compiled):
    """Waits for the launch and raises its report."""
    memory = _treadle.ndarray(
        (_DTYPE.itemsize,), np.uint8, memptr=compiled.module.get_global("td_reported")
    )
    report = memory.get().view(_DTYPE)[0]
    number = int(report["site"])
    if number == 0:
        return
    memory.fill(0)
    kind, file, line, name, facts = compiled.sites[number - 1]
    thread, block = tuple(map(int, report["thread"])), tuple(map(int, report["block"]))
    where = f"{file}:{line}: kernel function '{name}': thread {thread} of block {block}"
    if kind is IndexError:
        array, axis, ndim = facts
        index, *shape = map(int, report["values"])
        raise IndexError(
            f"{where}: index {index} is out of bounds for axis {axis} of {array} with shape "
            f"({', '.join(map(str, shape[:ndim]))}"
            f"{',' if ndim == 1 else ''})"
        )
    args = facts[0] if facts and isinstance(facts[0], tuple) else facts
    text = ", ".join(map(str, args))
    raise kind(
        f"tid={list(thread)} ctaid={list(block)}: {text} ({where})"
        if text
        else f"tid={list(thread)} ctaid={list(block)} ({where})"
    )
