"""``treadle.cuda.occupancy``: how many blocks of a kernel a multiprocessor holds, and why not more.

The rules are C++ (``src/base/occupancy.cpp``), the figures of each compute capability a table
(``tables/multiprocessors.def``). This module finds out what a kernel needs and names the answer's parts.
"""

import dataclasses
import operator

from . import _treadle

__all__ = ["Occupancy", "capabilities", "occupancy"]

UNKNOWN_REGISTERS = "the kernel's registers are not known, so they limit nothing here"


def capabilities():
    """Compute capabilities that the calculator knows, ascending: ``((7, 5), (8, 0), ...)``."""
    return tuple((m.major, m.minor) for m in _treadle._multiprocessors())


@dataclasses.dataclass(frozen=True)
class Occupancy:
    """What one multiprocessor holds of a kernel. Sizes are bytes; limits are numbers of resident blocks."""

    compute_capability: tuple  # (9, 0)
    block: int  # threads
    dynamic_shared: int  # of each block
    registers: int  # of a thread; 0: not known
    static_shared: int  # of each block
    max_threads: int | None  # of a block, by __launch_bounds__
    source: str  # where registers and shared memory come from: "given", "driver" or "NVRTC"
    blocks: int  # resident; 0: a block does not fit at all
    warps_per_block: int
    active_warps: int
    max_warps: int
    limits: dict  # blocks that each resource leaves room for; None: it limits nothing
    limited_by: tuple  # every resource that gives `blocks`
    registers_per_block: int  # allocated
    shared_per_block: int  # allocated, with what the system keeps
    shared_of_multiprocessor: int  # set apart as shared memory
    needs_opt_in: bool  # more than 48 KB: the kernel has to ask for it
    best_block: int  # threads of a block with the highest occupancy; 0: no block fits
    notes: tuple  # what a reader should know
    _on: object = dataclasses.field(repr=False, compare=False, default=None)
    _needs: object = dataclasses.field(repr=False, compare=False, default=None)

    @property
    def fraction(self):
        """Resident warps over those that a multiprocessor holds, 0 to 1."""
        return self.active_warps / self.max_warps

    def shared_that_fits(self, blocks=None):
        """The most dynamic shared memory, in bytes, with which ``blocks`` blocks (default: as many as now) stay
        resident; None when something else keeps them from it. ValueError for fewer than one block.
        """
        if blocks is None:
            blocks = self.blocks
            if not blocks:
                return None
        found = _treadle._shared_that_fits(
            self._on, self._needs, self.block, _integer("blocks", blocks)
        )
        return None if found < 0 else found

    def table(self, sizes=None):
        """The same kernel with other block sizes (default: every multiple of a warp that the kernel takes, or its
        largest block if that is less than a warp): a list of `Occupancy`.
        """
        if sizes is None:
            most = min(self._on.block_threads, self._needs.max_threads)
            sizes = range(32, most + 1, 32) if most >= 32 else [most]
        return [
            _computed(self._on, self._needs, size, self.dynamic_shared, self.source, self.notes)
            for size in sizes
        ]

    def as_dict(self):
        """Plain values, for JSON."""
        out = {
            f.name: getattr(self, f.name) for f in dataclasses.fields(self) if not f.name.startswith("_")
        }  # fmt: skip
        out["compute_capability"] = "{}.{}".format(*self.compute_capability)
        out["occupancy"] = self.fraction
        out["limited_by"], out["notes"] = list(self.limited_by), list(self.notes)
        return out


def occupancy(kernel=None, block=None, *, dynamic_shared=0, compute_capability=None, registers=None, shared=None,
              max_threads=None, barriers=None, carve_out=None, signature=None):  # fmt: skip
    """The `Occupancy` of a kernel, or of given numbers: no kernel runs.

    ``kernel``              a ``RawKernel``, a ``cuda.jit`` kernel, or None: then ``registers`` are needed
    ``block``               threads of a block; default: 256, or as many as the kernel takes
    ``dynamic_shared``      bytes of dynamic shared memory of each block
    ``compute_capability``  ``(9, 0)`` or ``"9.0"``; default: the current device's
    ``registers``           of a thread; 0: not known. Default: the driver's figure for the current device, NVRTC's for
                            another compute capability or where the device has no registers (the software device)
    ``shared``              bytes of static shared memory of each block
    ``max_threads``         of a block, as ``__launch_bounds__`` gives them
    ``barriers``            named barriers of a block, 0 to 16
    ``carve_out``           preferred share of shared memory in percent; default: as much as there is
    ``signature``           of a ``cuda.jit`` kernel with several compiled variants, or none yet

    TypeError: something that is no kernel, or a kernel whose variant is not said. ValueError: a number out of range,
    an unknown compute capability. NotImplementedError: NVRTC is needed (not the device's capability) and missing.
    """
    on = _multiprocessor(compute_capability)
    needs, source, notes = _needs_of(kernel, signature, on, compute_capability, registers)
    given = {
        "registers": registers, "shared": shared, "max_threads": max_threads, "barriers": barriers,
        "carve_out": carve_out,
    }  # fmt: skip
    for name, value in given.items():
        if value is not None:
            setattr(needs, name, _integer(name, value))
    if not needs.registers:
        notes = (*notes, UNKNOWN_REGISTERS)
    if block is None:
        block = min(256, needs.max_threads)
    return _computed(
        on,
        needs,
        _integer("block", block),
        _integer("dynamic_shared", dynamic_shared),
        source,
        notes,
    )


def _computed(on, needs, block, dynamic_shared, source, notes):
    found = _treadle._occupancy(on, needs, block, dynamic_shared)
    best, _ = _treadle._best_block_on(on, needs, 1, dynamic_shared)
    found["limited_by"] = tuple(found["limited_by"])
    unbounded = needs.max_threads > on.block_threads
    return Occupancy(
        compute_capability=(on.major, on.minor), block=block, dynamic_shared=dynamic_shared, registers=needs.registers,
        static_shared=needs.shared, max_threads=None if unbounded else needs.max_threads, source=source,
        best_block=best, notes=notes, _on=on, _needs=needs, **found,
    )  # fmt: skip


def _integer(name, value):
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if not 0 <= number < 1 << 31 and name != "carve_out":
        raise ValueError(f"{name} is {number}; it must be from 0 to {(1 << 31) - 1}")
    return number


def parse_capability(value):
    """``(9, 0)`` of "9.0", "90", "sm_90", 90 or (9, 0); ValueError for anything else."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return operator.index(value[0]), operator.index(value[1])
    text = str(value).lower().removeprefix("sm_").removeprefix("compute_")
    major, dot, minor = text.partition(".")
    if not dot:
        major, minor = text[:-1], text[-1:]
    if not (major.isdecimal() and minor.isdecimal()):
        raise ValueError(f"compute capability {value!r} cannot be read; write 9.0 or (9, 0)")
    return int(major), int(minor)


def _multiprocessor(capability):
    if capability is None:
        return _treadle._multiprocessor_of(_treadle.Device())
    return _treadle._multiprocessor(*parse_capability(capability))


def kernel_of(kernel, signature=None):
    """The compiled kernel behind a ``RawKernel`` or one variant of a ``cuda.jit`` kernel."""
    if isinstance(kernel, _treadle.RawKernel):
        return kernel
    if not isinstance(kernel, _treadle._PythonKernel):
        raise TypeError(
            f"kernel must be a RawKernel or a cuda.jit kernel, not {type(kernel).__name__}; without a kernel give "
            "registers= and shared="
        )
    if signature is not None:
        return kernel.compile(signature).kernel
    variants = list(kernel.overloads.values())
    if len(variants) != 1:
        have = "; ".join(", ".join(map(str, types)) for types in kernel.overloads) or "none"
        raise TypeError(
            f"kernel '{kernel.py_func.__name__}' has {len(variants)} compiled variants ({have}); say which with "
            "signature=, as 'float32[::1], int32'"
        )
    return variants[0].kernel


def _needs_of(kernel, signature, on, capability, registers):
    """(what a block needs, where that is from, notes)."""
    if kernel is None:
        if registers is None:
            raise TypeError("give a kernel, or registers= (0 when they are not known)")
        return _treadle._KernelNeeds(), "given", ()
    kernel = kernel_of(kernel, signature)
    device = _treadle.Device()
    own = capability is None or (on.major, on.minor) == (device.attribute(75), device.attribute(76))
    reported = None
    if own:
        reported = _treadle._kernel_needs(kernel)
        if reported.registers or registers is not None:
            return reported, "driver", ()
    try:
        found = _treadle._compiled_needs(kernel, 10 * on.major + on.minor)
    except NotImplementedError as error:
        if reported is None:
            raise
        return reported, "driver", (str(error),)
    if reported:
        found.carve_out = reported.carve_out
    return found, "NVRTC", ()
