"""Ready-made memory hooks."""

import collections
import os
import sys
import traceback

from .memory_hook import MemoryHook

__all__ = ["DebugPrintHook", "LineProfileHook"]

# Where the package's own files are; a program's folder may have its name too.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class DebugPrintHook(MemoryHook):
    """Prints a line of JSON for each event of the pools."""

    name = "DebugPrintHook"

    def __init__(self, file=sys.stdout, flush=True):
        self.file, self.flush = file, flush

    def _print(self, name, **facts):
        text = ",".join(
            f'"{key}":{value}' if isinstance(value, int) else f'"{key}":"{value}"'
            for key, value in facts.items()
        )
        print(f'{{"hook":"{name}",{text}}}', file=self.file, flush=self.flush)

    def alloc_postprocess(self, **facts):
        self._print("alloc", **facts)

    def malloc_postprocess(self, **facts):
        self._print("malloc", **facts)

    def free_postprocess(self, **facts):
        self._print("free", **facts)


class LineProfileHook(MemoryHook):
    """Counts bytes by the line of the program that made the pools allocate them.

    Arrays are allocated when their values are needed, so a line is charged with the work that it made happen.
    """

    name = "LineProfileHook"

    def __init__(self, max_depth=0):
        self.max_depth = max_depth
        self.used, self.acquired = collections.Counter(), collections.Counter()

    def _line(self):
        frames = [
            frame for frame in traceback.extract_stack() if not frame.filename.startswith(_PACKAGE)
        ]
        frame = frames[-1] if frames else None
        return (frame.filename, frame.lineno, frame.name) if frame else ("?", 0, "?")

    def malloc_postprocess(self, **facts):
        self.used[self._line()] += facts["mem_size"]

    def alloc_postprocess(self, **facts):
        self.acquired[self._line()] += facts["mem_size"]

    def print_report(self, file=sys.stdout):
        """Prints bytes used and bytes asked of the driver for each line."""
        for (filename, number, function), used in self.used.most_common():
            acquired = self.acquired[filename, number, function]
            print(f"{filename}:{number}:{function} {used} B used, {acquired} B acquired", file=file)
