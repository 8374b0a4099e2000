"""``cuda.cg``: the group of all threads of the grid. A kernel that waits for it is launched cooperatively."""

from . import types as ty
from .stubs import Intrinsic
from .values import Value

this_grid = Intrinsic("cg.this_grid", "The group of all threads of the grid.")


class GridGroup(ty.Type):
    """All threads of a grid. The value is empty: the device knows its grid."""

    cpp = "tdpy::grid_group"
    code = "gg"


grid_group = GridGroup("GridGroup")


def _this_grid(c, args, kwargs, node):
    from .builtins import count

    count(c, "this_grid", args, kwargs, node, 0)
    c.unit.cooperative = True
    return Value(grid_group, "tdpy::grid_group{}")


def method(c, base, name, args, kwargs, node):
    """A call of the group's method; None for other values."""
    if base.type != grid_group or name != "sync":
        return None
    from .builtins import count

    count(c, "sync", args, kwargs, node, 0)
    c.unit.cooperative = True
    c.unit.need("#include <cooperative_groups.h>")
    c.emit("cooperative_groups::this_grid().sync();")
    return Value(ty.none, "", None)


def register(handlers):
    handlers[this_grid] = _this_grid
