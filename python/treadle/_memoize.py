"""``memoize``: results that are kept per arguments, and per device where they belong to one (modules, tables)."""

import functools
import weakref

from . import _treadle

__all__ = ["clear_memo", "memoize"]

_memories = weakref.WeakSet()


class _Memory(dict):
    __hash__ = object.__hash__


def memoize(for_each_device=False):
    """A decorator: a function's result is kept and given again for the same arguments, which must be hashable.

    for_each_device: keep one result per device that is current at the call, as values that live on a device need.
    ``clear_memo()`` forgets all of them.

    >>> @treadle.memoize(for_each_device=True)
    ... def table(n):
    ...     return treadle.arange(n)
    """

    def decorate(function):
        memory = _Memory()
        _memories.add(memory)

        @functools.wraps(function)
        def remembered(*args, **kwargs):
            device = _treadle.Device().name if for_each_device else None
            key = (device, args, tuple(sorted(kwargs.items())))
            if key not in memory:
                memory[key] = function(*args, **kwargs)
            return memory[key]

        return remembered

    return decorate


def clear_memo():
    """Forgets every result that ``memoize`` has kept."""
    for memory in list(_memories):
        memory.clear()
