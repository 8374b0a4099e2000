"""What comparisons say of names: inside of ``if i > 0:`` the value of ``i`` is at least 1, inside of ``if x is not
None:`` x is a number.

So ``a[i - 1]`` there needs no look at the sign of its index. Facts are kept in the Values of names, as ``least``; they
hold for one path and are joined where paths meet.
"""

import ast
import contextlib

from . import optional
from .values import Value

_ABOVE = {ast.Gt: 1, ast.GtE: 0, ast.Eq: 0}  # name OP bound: the name is at least bound + this
_FLIPPED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Eq: ast.Eq}
_NEGATED = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.NotEq: ast.Eq, ast.Eq: ast.NotEq,
    ast.Is: ast.IsNot,
}  # fmt: skip


def lower(a, b):
    """The bound of a value that is ``a`` or ``b``."""
    floors = (a.floor, b.floor)
    if None in floors or (a.least is None and b.least is None):
        return None
    return min(floors) if min(floors) >= 0 else None


def of_counter(start, stop, step, rises):
    """The bound of a range's counter."""
    floor = start.floor
    if not rises and step.is_const and stop.floor is not None:
        floor = stop.floor + 1
    return floor if (rises or step.is_const) and floor is not None and floor >= 0 else None


def facts(c, test, holds):
    """{name: Value} of the names of the environment of which more is known when the condition ``test`` is true, or
    false where not ``holds``."""
    if any(isinstance(n, ast.NamedExpr) for n in ast.walk(test)):
        return {}
    found = {}
    for left, op, right in _comparisons(test, holds):
        if op in (ast.IsNot, ast.NotEq) and isinstance(left, ast.Name) and _is_none(right):
            value = c.env.get(left.id)
            if value is not None and value.type != optional.given(value).type:
                found[left.id] = optional.given(value)
            continue
        for name, sign, bound in ((left, op, right), (right, _FLIPPED.get(op), left)):
            if isinstance(name, ast.Name) and sign in _ABOVE:
                _note(c, found, name.id, bound, _ABOVE[sign])
    return found


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def _note(c, found, name, bound, more):
    value = found.get(name) or c.env.get(name)
    floor = _floor(c, bound)
    if value is None or floor is None or value.is_const or not value.type.is_integer:
        return
    least = floor + more
    if least >= 0 and (value.floor is None or value.floor < least):
        found[name] = Value(
            value.type, value.code, value.const, value.bits, value.weak, least=least
        )


def _floor(c, node):
    """The lower bound of an operand, where it is a number or a name."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = node.operand
        known = isinstance(inner, ast.Constant) and type(inner.value) is int
        return -inner.value if known else None
    if isinstance(node, ast.Name) and node.id in c.env:
        value = c.env[node.id]
        return value.floor if value.type.is_integer else None
    return None


def _comparisons(test, holds):
    """(left, operator, right) that are all true when ``test`` is, or is not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _comparisons(test.operand, not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        for part in test.values:
            yield from _comparisons(part, holds)
    elif isinstance(test, ast.Name) and holds:
        yield test, ast.IsNot, ast.Constant(None)
    elif isinstance(test, ast.Compare):
        operands = [test.left, *test.comparators]
        if holds:
            yield from ((a, type(op), b) for a, op, b in zip(operands, test.ops, operands[1:]))
        elif len(test.ops) == 1:
            yield operands[0], _NEGATED.get(type(test.ops[0])), operands[1]


@contextlib.contextmanager
def knowing(c, tests, holds):
    """Within it the names have what ``tests`` say of them when each is true, or false."""
    before = dict(c.env)
    for test in tests:
        c.env.update(facts(c, test, holds))
    told = {name: value for name, value in c.env.items() if value is not before[name]}
    yield
    for name, value in told.items():
        if c.env is not None and c.env.get(name) is value:
            c.env[name] = before[name]
