"""for loops: over ranges, arrays, tuples, enumerate and zip."""

import ast

from . import arrays, ranges
from . import types as ty
from .array_parts import Flat
from .debugging import checked_step
from .values import UNKNOWN, Value, number

_UNROLL = 64


def iterate(c, node):
    """Emits a ``for`` statement."""
    call = node.iter
    if isinstance(call, ast.Call):
        target = c.expression(call.func)
        if target.is_const and target.const is range:
            over_range(c, node, call)
            return
    source = c.expression(node.iter)
    parts = items_of(c, source, node.iter)
    if parts[0] == "known":
        unrolled(c, node, parts[1])
    else:
        counted(c, node, *parts[1:])


def items_of(c, source, node):
    """("known", values) or ("counted", length text, function of a counter -> Value)."""
    type_ = source.type
    if type_.is_tuple:
        source = c.keep(source)
        if type_.uniform and len(type_) > _UNROLL and isinstance(type_.types[0], ty.Scalar):
            return (
                "counted",
                f"{len(type_)}ll",
                lambda k: Value(type_.types[0], f"tdpy::item({source.code}, {k})"),
            )
        return "known", c.tuple_items(source, node)
    if type_.is_array:
        if type_.ndim == 0:
            raise c.error("a 0-dimensional array cannot be iterated over", node)
        source = c.keep(source)
        return (
            "counted",
            f"{source.code}.shape[0]",
            lambda k: arrays.load(c, source, [Value(ty.int64, k, UNKNOWN, 47)], node),
        )
    const = source.const if source.is_const else None
    if isinstance(const, Flat):
        return ("counted", *const.each(c))
    if isinstance(const, tuple) and const and const[0] == "enumerate":
        start = const[2]
        inner = items_of(c, const[1], node)
        if inner[0] == "known":
            return "known", [
                c.make_tuple([c.binary(ast.Add(), start, number(i), node), v])
                for i, v in enumerate(inner[1])
            ]
        return (
            "counted",
            inner[1],
            lambda k: c.make_tuple(
                [
                    c.keep(c.binary(ast.Add(), start, Value(ty.int64, k, UNKNOWN, 47), node)),
                    inner[2](k),
                ]
            ),
        )
    if isinstance(const, tuple) and const and const[0] == "zip":
        inners = [items_of(c, part, node) for part in const[1]]
        if all(i[0] == "known" for i in inners):
            return "known", [c.make_tuple(list(row)) for row in zip(*(i[1] for i in inners))]
        return "counted", _shortest(inners), lambda k: c.make_tuple([_at(c, i, k) for i in inners])
    if isinstance(const, tuple) and const and const[0] == "range":
        start, stop, step, type_ = const[1:]
        count = f"tdpy::steps({start.code}, {stop.code}, {step.code})"
        return (
            "counted",
            count,
            lambda k: Value(type_, f"({type_.cpp})({start.code} + {k} * {step.code})"),
        )
    raise c.error(f"a value of type {type_} cannot be iterated over", node)


def _shortest(inners):
    code = None
    for inner in inners:
        text = f"{len(inner[1])}ll" if inner[0] == "known" else inner[1]
        code = text if code is None else f"tdpy::least({code}, {text})"
    return code


def _at(c, inner, k):
    if inner[0] == "counted":
        return inner[2](k)
    row = c.keep(c.make_tuple(inner[1]))
    return Value(row.type.types[0], f"tdpy::item({row.code}, {k})")


def unrolled(c, node, values):
    """A tuple's items one after the other: each may have its own type."""
    if len(values) > _UNROLL:
        raise c.error(
            f"a loop over {len(values)} items of several types is too long", node, "use an array"
        )
    outer = c.copies
    plain = not node.orelse and not _leaves(node)
    if plain:
        for k, value in enumerate(values):
            if c.env is None:
                break
            c.copies = (*outer, k)
            c.assign(node.target, value)
            c.statements(node.body)
        c.copies = outer
        return
    # break and continue leave through labels: one round of a loop for each item. Every break converts to the types
    # that the names have behind the last item, so the whole is walked until these are known.
    ends = c.unit.unique("after")
    entry, final = c.env, None
    for _ in range(20):
        c.env, before, done = dict(entry), final, []
        lines = c.block(lambda done=done, final=final: _items(c, node, values, ends, final, done))
        c.copies = outer
        final = c.join(c.env, *done)
        if _types(final) == _types(before):
            break
    c.emit("{")
    c.out += lines
    c.transfer(c.env, final)
    c.emit("}")
    c.emit(f"{ends}:;")
    c.env = final


def _items(c, node, values, ends, final, done):
    """Every item's round, then the loop's else; ``done`` gets the environments of the breaks."""
    outer = c.copies
    for k, value in enumerate(values):
        if c.env is None:
            break

        def body(loop, value=value):
            c.assign(node.target, value)
            c.statements(node.body)
            loop.backs.append(c.env)
            c.env = None

        c.copies = (*outer, k)
        done.append(_once(c, body, ends, final))
    if node.orelse and c.env is not None:
        c.statements(node.orelse)


def _leaves(node):
    """True when the body has a break or continue of this loop."""
    stack = list(node.body)
    while stack:
        part = stack.pop()
        if isinstance(part, (ast.Break, ast.Continue)):
            return True
        if not isinstance(part, (ast.For, ast.While)):
            stack += [n for n in ast.iter_child_nodes(part) if isinstance(n, ast.stmt)]
        else:
            stack += part.orelse
    return False


def _once(c, body, ends, final):
    """One item's round, in which ``break`` goes to ``ends``. Returns the environment of the breaks."""
    from .compiler import Loop

    loop = Loop()
    loop.label, loop.exit = ends, final
    entry = c.env
    for _ in range(20):
        c.env = dict(entry)
        before = loop.head
        loop.backs, loop.breaks = [], []
        c.loop_stack.append(loop)
        lines = c.block(lambda: body(loop))
        c.loop_stack.pop()
        loop.head = c.join(*loop.backs)
        if _types(loop.head) == _types(before):
            break
    c.emit("do {")
    c.out += lines
    c.emit("} while (false);")
    c.env = loop.head
    return c.join(*loop.breaks)


def _types(env):
    return None if env is None else {k: v.type for k, v in env.items()}


def counted(c, node, count, item):
    c.temps += 1
    k, n = f"k{c.temps}", f"n{c.temps}"

    def body(loop):
        ended = dict(c.env)
        c.assign(node.target, item(k))
        c.statements(node.body)
        return ended

    c.emit(f"{{ const long long {n} = {count};")
    c.loop(node, body, node.orelse, f"for (long long {k} = 0; {k} < {n}; ++{k}) {{")
    c.emit("}")


def range_bounds(c, args, node):
    """start, stop, step as Values of the range's type, kept."""
    if not 1 <= len(args) <= 3:
        raise c.error(f"range takes one to three numbers, not {len(args)}", node)
    for a in args:
        if not (a.type.is_integer or a.type.is_boolean):
            raise c.error(
                f"range takes integers, not {a.type}",
                node,
                "int(…) makes one" if a.type.is_float else "",
            )
    start, stop, step = (
        (number(0), args[0], number(1))
        if len(args) == 1
        else (*args, number(1))
        if len(args) == 2
        else args
    )
    given = [a for a in args if not a.is_const] or args
    if c.numpy:  # the numbers of a range are Python's own
        type_ = ty.int64
    elif all(a.type.bitwidth <= 32 and a.type.signed and not a.is_const for a in given):
        type_ = ty.int32
    elif all(a.type == ty.uint64 for a in args):
        type_ = ty.uint64
    else:
        type_ = ty.int64
    values = [c.keep(c.convert(v, type_)) for v in (start, stop, step)]
    for v, source in zip(values, (start, stop, step)):
        if v.bits is None:
            v.bits = source.bits
        if v.least is None and type_.signed and type_.bitwidth >= source.type.bitwidth:
            v.least = source.least
    return (*values, type_)


def over_range(c, node, call):
    args, kwargs = c.arguments(call)
    if kwargs:
        raise c.error("range takes no keywords", call)
    start, stop, step, type_ = range_bounds(c, args, call)
    if step.is_const and step.const == 0:
        raise c.error("range: the step must not be zero", call)
    c.temps += 1
    k = f"k{c.temps}"
    start, stop = c.fix(start), c.fix(stop)
    if step.is_const:
        rises = step.const > 0
        test = f"{k} {'<' if rises else '>'} {stop.code}"
    else:
        bits = step.bits
        step = checked_step(c, c.fix(step), call)
        step.bits = bits
        test = f"({step.code} > 0 ? {k} < {stop.code} : {step.code} < 0 && {k} > {stop.code})"
    if not step.is_const and step.bits is not None:
        # Not negative: a step of zero makes no round, as one that leads away.
        end = c.temp(f"{step.code} > 0 ? {stop.code} : {start.code}", type_)
        test = f"{k} < {end}"
    bits = None
    rises = step.const > 0 if step.is_const else step.bits is not None
    if rises and start.bits is not None:
        bits = (
            stop.bits if stop.bits is not None else type_.bitwidth - 2 if type_ == ty.int64 else 31
        )
        bits = max(bits, start.bits)
    elif (
        step.is_const
        and step.const < 0
        and start.bits is not None
        and stop.is_const
        and stop.const >= -1
    ):
        bits = start.bits
    least = ranges.of_counter(start, stop, step, rises)

    def body(loop):
        ended = dict(c.env)
        c.assign(node.target, Value(type_, k, UNKNOWN, bits, weak=True, least=least))
        c.statements(node.body)
        return ended

    c.loop(
        node,
        body,
        node.orelse,
        f"for ({type_.cpp} {k} = {start.code}; {test}; {k} += {step.code}) {{",
    )
