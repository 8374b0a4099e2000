"""Page-locked host memory, where CuPy has it."""

from .._memory import (
    PinnedMemoryPointer,
    PinnedMemoryPool,
    alloc_pinned_memory,
    set_pinned_memory_allocator,
)

__all__ = [
    "PinnedMemoryPointer",
    "PinnedMemoryPool",
    "alloc_pinned_memory",
    "set_pinned_memory_allocator",
]
