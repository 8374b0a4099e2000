"""The error of a kernel's text, by CuPy's names."""

from ..errors import CompileError

__all__ = ["CompileError", "CompileException", "NVRTCError"]

CompileException = CompileError
NVRTCError = CompileError
