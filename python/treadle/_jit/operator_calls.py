"""Functions of the module operator that are not operators of two numbers: is_, contains, getitem, setitem, concat …"""

import operator

from . import operators
from . import types as ty
from .values import Value


def _two(c, name, args, kwargs, node, n=2):
    from .builtins import count

    return count(c, f"operator.{name}", args, kwargs, node, n)


def _is(positive):
    def handler(c, args, kwargs, node):
        a, b = _two(c, "is_" if positive else "is_not", args, kwargs, node)
        return operators.identity(c, a, b, positive, node)

    return handler


def _contains(c, args, kwargs, node):
    items, x = _two(c, "contains", args, kwargs, node)
    return operators.membership(c, x, items, True, node)


def _index(c, index, node):
    return c.tuple_items(c.keep(index), node) if index.type.is_tuple else [index]


def _getitem(c, args, kwargs, node):
    base, index = _two(c, "getitem", args, kwargs, node)
    return c.load_item(base, _index(c, index, node), node)


def _setitem(c, args, kwargs, node):
    base, index, value = _two(c, "setitem", args, kwargs, node, 3)
    c.store_item(base, _index(c, index, node), value, node)
    return Value(ty.none, "", None)


def _concat(c, args, kwargs, node):
    a, b = _two(c, "concat", args, kwargs, node)
    if not (a.type.is_tuple and b.type.is_tuple):
        raise c.error(f"operator.concat takes tuples in kernels, not {a.type} and {b.type}", node)
    return operators.by_symbol(c, "+", a, b, node)


def _to_index(c, args, kwargs, node):
    (x,) = _two(c, "index", args, kwargs, node, 1)
    if not (x.type.is_integer or x.type.is_boolean):
        raise c.error(f"operator.index takes an integer, not {x.type}", node)
    return x


def register(handlers):
    handlers[operator.is_], handlers[operator.is_not] = _is(True), _is(False)
    handlers[operator.contains] = _contains
    handlers[operator.getitem], handlers[operator.setitem] = _getitem, _setitem
    handlers[operator.concat] = handlers[operator.iconcat] = _concat
    handlers[operator.index] = _to_index
