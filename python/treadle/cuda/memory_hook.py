"""Hooks that are told what the memory pools do."""

import contextlib
import threading

from .. import _treadle

__all__ = ["MemoryHook"]

_local = threading.local()
_lock = threading.Lock()
_active = 0


def _hooks():
    if not hasattr(_local, "hooks"):
        _local.hooks = {}
    return _local.hooks


def _tell(kind, device_id, asked, size, address):
    for hook in tuple(_hooks().values()):
        if kind == "reserve":
            hook.alloc_preprocess(device_id=device_id, mem_size=size)
            hook.alloc_postprocess(device_id=device_id, mem_size=size, mem_ptr=address)
        elif kind == "allocate":
            hook.malloc_preprocess(device_id=device_id, size=asked, mem_size=size)
            hook.malloc_postprocess(
                device_id=device_id, size=asked, mem_size=size, mem_ptr=address, pmem_id=address
            )
        else:
            hook.free_preprocess(
                device_id=device_id, mem_size=size, mem_ptr=address, pmem_id=address
            )
            hook.free_postprocess(
                device_id=device_id, mem_size=size, mem_ptr=address, pmem_id=address
            )


def _count(change):
    global _active
    with _lock:
        before, _active = _active, _active + change
        if (before > 0) != (_active > 0):
            _treadle._observe_memory(_tell if _active else None)


class MemoryHook(contextlib.AbstractContextManager):
    """Base class of hooks: override what you want to hear of, and use an object in a ``with`` statement.

    ``alloc_*`` is called when a pool asks the driver for memory, ``malloc_*`` for each request, ``free_*`` when
    memory comes back. Both of a pair are called after the fact, on the thread that did it, without any lock. Since
    arrays are allocated when their values are needed, requests come then.
    """

    name = "MemoryHook"

    def __enter__(self):
        if self.name in _hooks():
            raise KeyError(f"memory hook {self.name} is in place already")
        _hooks()[self.name] = self
        _count(1)
        return self

    def __exit__(self, *_):
        del _hooks()[self.name]
        _count(-1)

    def alloc_preprocess(self, **kwargs):
        """``device_id``, ``mem_size``."""

    def alloc_postprocess(self, **kwargs):
        """``device_id``, ``mem_size``, ``mem_ptr`` (0: pools do not say which part of theirs is new)."""

    def malloc_preprocess(self, **kwargs):
        """``device_id``, ``size`` (asked for), ``mem_size`` (rounded)."""

    def malloc_postprocess(self, **kwargs):
        """As before, and ``mem_ptr``, ``pmem_id``."""

    def free_preprocess(self, **kwargs):
        """``device_id``, ``mem_size``, ``mem_ptr``, ``pmem_id``."""

    def free_postprocess(self, **kwargs):
        """As before."""
