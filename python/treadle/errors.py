"""The error classes that have no counterpart in Python.

Everything else is raised as the Python class of the same meaning: ValueError, TypeError, IndexError and
NotImplementedError.
"""


class CUDAError(RuntimeError):
    """A driver call failed. ``code`` is the CUresult, ``name`` its CUDA spelling, ``call`` the function."""

    def __init__(self, message="", code=0, name="", call=""):
        super().__init__(message)
        self.code = self.status = code
        self.name = name
        self.call = call

    def __reduce__(self):
        return type(self), (str(self), self.code, self.name, self.call)


class OutOfMemoryError(CUDAError, MemoryError):
    """Device memory is exhausted; the message states the sizes asked for, in use, cached and free."""


class LaunchLimitError(CUDAError, ValueError):
    """A launch that the limits of the device or of the kernel do not allow; the message names the limit."""


class CompileError(RuntimeError):
    """A kernel's source does not compile. ``log`` is the compiler's full output with the user's own lines."""

    def __init__(self, message="", log=""):
        super().__init__(message)
        self.log = log

    def __reduce__(self):
        return type(self), (str(self), self.log)


class InternalError(RuntimeError):
    """A broken invariant of Treadle's own: please report it."""


for _cls in (CUDAError, OutOfMemoryError, LaunchLimitError, CompileError, InternalError):
    _cls.__module__ = "treadle"
