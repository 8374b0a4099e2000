"""``numba.core.errors``: Numba's names of errors and warnings."""

from .arguments import NumbaPerformanceWarning, NumbaWarning
from .errors import KernelError, LoweringError, TypingError, UnsupportedError

NumbaError = KernelError
CompilerError = ConstantInferenceError = InternalError = DeprecationError = IRError = KernelError
NumbaTypeError = NumbaValueError = NumbaAttributeError = NumbaIndexError = NumbaKeyError = (
    TypingError
)
NumbaAssertionError = NumbaNotImplementedError = RequireLiteralValue = LiteralTypingError = (
    TypingError
)
UntypedAttributeError = TypingError
ForbiddenConstruct = LoweringError
UnsupportedBytecodeError = ByteCodeSupportError = UnsupportedError
NumbaRuntimeError = KernelError


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Something that will not work for ever."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Something that may not work for ever."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """Options that contradict each other."""


class NumbaDebugInfoWarning(NumbaWarning):
    """Debug information that is missing."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """Something that may change."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """A conversion that may lose something."""


__all__ = [
    "KernelError",
    "LoweringError",
    "NumbaPerformanceWarning",
    "NumbaWarning",
    "TypingError",
    "UnsupportedError",
]
