"""Attributes of arrays that are not values: ``a.flat``, ``a.flags``, ``a.ctypes``."""

from . import arrays, debugging
from . import types as ty
from .values import UNKNOWN, Value, number


class Part:
    """Something of an array, at compile time only."""

    def __init__(self, base):
        self.base = base

    def attribute(self, c, name, node):
        raise c.error(f"'{self.name}' of an array has no attribute '{name}' in kernels", node)

    def load(self, c, index, node):
        raise c.error(f"'{self.name}' of an array cannot be indexed in kernels", node)

    def store(self, c, index, value, node):
        raise c.error(f"'{self.name}' of an array cannot be assigned in kernels", node)


class Flat(Part):
    """The elements in C order."""

    name = "flat"

    def place(self, c, index, node):
        if len(index) != 1 or not isinstance(index[0], Value) or not index[0].type.is_integer:
            raise c.error("a.flat takes one integer in kernels", node)
        i = c.convert(index[0], ty.int64)
        code = i.code
        if c.unit.bounds:
            code = debugging.checked_place(c, i, f"{self.base.code}.size()", node)
        elif i.bits is None:
            code = f"tdpy::wrap({c.keep(i).code}, {self.base.code}.size())"
        return f"{self.base.code}.flat({code})"

    def load(self, c, index, node):
        code = arrays.item(self.base.type, self.place(c, index, node))
        return arrays.fetch(c, self.base.type.dtype, code)

    def store(self, c, index, value, node):
        arrays.put(c, self.base.type.dtype, self.place(c, index, node), value, node)

    def each(self, c):
        """The length's text and a function of a counter's text, for loops."""
        base = self.base
        return f"{base.code}.size()", lambda k: arrays.fetch(
            c, base.type.dtype, arrays.item(base.type, f"{base.code}.flat({k})")
        )


class Flags(Part):
    """What the type tells of the layout."""

    name = "flags"

    def attribute(self, c, name, node):
        type_ = self.base.type
        one = type_.ndim <= 1 and type_.layout in "CF"
        known = {
            "c_contiguous": type_.layout == "C" or one,
            "f_contiguous": type_.layout == "F" or one,
            "contiguous": type_.layout in "CF",
        }
        if name not in known:
            return super().attribute(c, name, node)
        return number(known[name])


class CTypes(Part):
    """The address."""

    name = "ctypes"

    def attribute(self, c, name, node):
        if name != "data":
            return super().attribute(c, name, node)
        return Value(ty.uint64, f"(unsigned long long){self.base.code}.data", UNKNOWN)


PARTS = {"flat": Flat, "flags": Flags, "ctypes": CTypes}


def part(name, base):
    """The Value of an attribute."""
    return Value(ty.Opaque(name), base.code, PARTS[name](base))
