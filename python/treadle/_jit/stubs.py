"""The names that kernels use: ``cuda.grid``, ``cuda.threadIdx``, ``cuda.atomic.add`` …

They have a meaning in kernels only; the compiler recognises the objects, under whatever name a program holds them.
"""


class Intrinsic:
    """A function of kernels."""

    def __init__(self, name, doc=""):
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f"cuda.{self.__name__} can be called in a kernel only")

    def __repr__(self):
        return f"<cuda.{self.__name__}>"

    def __reduce__(self):
        return _find, (self.__name__,)


class Special:
    """A value that the device provides: ``text`` is its C++ expression."""

    def __init__(self, name, text, bits, doc=""):
        self.__name__, self.text, self.bits, self.__doc__ = name, text, bits, doc

    def __repr__(self):
        return f"<cuda.{self.__name__}>"


class Dim3:
    """Three of them."""

    def __init__(self, name, bits, doc=""):
        self.__name__, self.__doc__ = name, doc
        for axis, b in zip("xyz", bits):
            setattr(self, axis, Special(f"{name}.{axis}", f"(int){name}.{axis}", b))

    def __repr__(self):
        return f"<cuda.{self.__name__}>"


class Namespace:
    """A group of intrinsics."""

    def __init__(self, name, members, doc=""):
        self.__name__, self.__doc__ = name, doc
        for member in members:
            setattr(
                self, member.rstrip("_") if member in () else member, Intrinsic(f"{name}.{member}")
            )

    def __repr__(self):
        return f"<cuda.{self.__name__}>"


def _find(name):
    from . import stubs

    target = stubs
    for part in name.split("."):
        target = getattr(target, part)
    return target


threadIdx = Dim3("threadIdx", (10, 10, 6), "Index of the thread in its block.")
blockIdx = Dim3("blockIdx", (31, 16, 16), "Index of the block in the grid.")
blockDim = Dim3("blockDim", (11, 11, 7), "Threads of a block along each axis.")
gridDim = Dim3("gridDim", (31, 17, 17), "Blocks of the grid along each axis.")
laneid = Special("laneid", "tdpy::laneid()", 5, "Index of the thread in its warp.")
warpsize = Special("warpsize", "32", 6, "Threads of a warp.")

grid = Intrinsic("grid", "grid(n): the thread's index in the grid, or a tuple of n of them.")
gridsize = Intrinsic("gridsize", "gridsize(n): threads of the grid along each axis.")
shared = Namespace("shared", ["array"], "Shared memory.")
local = Namespace("local", ["array"], "Memory of one thread.")
const = Namespace("const", ["array_like"], "Constant memory.")
atomic = Namespace(
    "atomic",
    ["add", "sub", "max", "min", "nanmax", "nanmin", "and_", "or_", "xor", "exch", "cas", "inc", "dec",
     "compare_and_swap"],
    "Updates of one element that no other thread can come between; they return the old value.",
)  # fmt: skip

_FUNCTIONS = """syncthreads syncthreads_count syncthreads_and syncthreads_or syncwarp threadfence threadfence_block
threadfence_system shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync all_sync any_sync eq_sync ballot_sync
match_any_sync match_all_sync activemask lanemask_lt popc clz ffs brev fma cbrt selp nanosleep ldca ldcg ldcs ldlu ldcv
stcg stcs stwb stwt"""
for _name in _FUNCTIONS.split():
    globals()[_name] = Intrinsic(_name)


carray = Intrinsic(
    "carray", "carray(pointer, shape, dtype=None): an array in C order over a pointer."
)
farray = Intrinsic(
    "farray", "farray(pointer, shape, dtype=None): an array in F order over a pointer."
)


def literal_unroll(items):
    """Iterates over a tuple of several types, one copy of the loop's body for each item."""
    return items
