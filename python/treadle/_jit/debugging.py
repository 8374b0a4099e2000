"""assert, raise and the checks of debug kernels: what a thread reports, and how it ends.

A thread that fails writes the report if no other has, and leaves its kernel: it returns, and every function between
hands the failure on through ``td_failed``, a reference that functions which may fail take. So a failed thread counts
as ended at barriers, as any thread that has returned does, and no instruction is needed that leaves a thread from
within a call.
"""

import ast

from . import types as ty
from .values import Value

# The first thread that fails fills the report.
DECLARATION = """
struct td_words { long long values[8]; };
struct td_report { int site; int thread[3]; int block[3]; td_words words; };
__device__ td_report td_reported;
__device__ __noinline__ void td_fail(int site, td_words words) {
  if (atomicCAS(&td_reported.site, 0, site) == 0) {
    td_reported.thread[0] = threadIdx.x; td_reported.thread[1] = threadIdx.y; td_reported.thread[2] = threadIdx.z;
    td_reported.block[0] = blockIdx.x; td_reported.block[1] = blockIdx.y; td_reported.block[2] = blockIdx.z;
    td_reported.words = words;
    __threadfence();
  }
}
"""
_WORDS = 8  # of a report
FAILED = "bool& td_failed"


class Site:
    """A place that may fail: the exception, the function, and how its text is made of the reported words.

    ``args`` are the exception's arguments; one is a constant or a list of constants and Slots that is joined.
    """

    def __init__(self, c, node, kind, args):
        self.kind, self.args = kind, args
        self.file, self.name = c.function.file, c.function.name
        self.line = c.function.first_line + node.lineno - 1
        self.begin = node.col_offset + c.function.indent
        one_line = node.end_lineno == node.lineno
        self.end = node.end_col_offset + c.function.indent if one_line else None


class Slot:
    """A number that the thread reports: which words, how they are read, how it is written."""

    def __init__(self, at, how, spec="", conversion=-1):
        self.at, self.how, self.spec, self.conversion = at, how, spec, conversion


class _Words:
    """The C++ texts of the words of one report."""

    def __init__(self):
        self.codes = []

    def add(self, c, value, node, spec="", conversion=-1):
        type_ = value.type
        if not isinstance(type_, ty.Scalar):
            raise c.error(
                f"the message of an exception cannot hold a value of type {type_} in kernels",
                node,
                "numbers and constants can be reported",
            )
        wide = 2 if type_.is_complex else 1
        at = len(self.codes)
        if at + wide > _WORDS:
            raise c.error(f"an exception can report {_WORDS} numbers in kernels", node)
        if type_.is_complex:
            kept = c.keep(value)
            self.codes += [f"__double_as_longlong((double){kept.code}.{p})" for p in ("re", "im")]
            return Slot(at, "complex", spec, conversion)
        if type_.is_float:
            code = c.convert(value, ty.float64).code
            self.codes.append(f"__double_as_longlong({code})")
            return Slot(at, "float", spec, conversion)
        self.codes.append(f"(long long)({value.code})")
        how = "bool" if type_.is_boolean else "int" if type_.signed else "uint"
        return Slot(at, how, spec, conversion)


def leave(c, node, kind, args, codes=()):
    """Text with which a thread reports a failure and ends."""
    key = (id(node), kind, repr(args) if not _slots(args) else id(node))
    number = c.unit.site_numbers.get(key)
    if number is None:
        c.unit.sites.append(Site(c, node, kind, args))
        number = c.unit.site_numbers[key] = len(c.unit.sites)
    return f"td_fail({number}, {{{{{', '.join(codes)}}}}}); {end(c)}"


def _slots(args):
    return any(isinstance(part, Slot) for a in args if isinstance(a, list) for part in a)


def end(c):
    """Text with which a thread ends without a report."""
    c.fails = True
    return "return;" if c.kind == "kernel" else "td_failed = true; return {};"


def hand_on(c):
    """After a call of a function that may fail."""
    c.fails = True
    c.emit("if (td_failed) return;" if c.kind == "kernel" else "if (td_failed) return {};")


def assertion(c, node):
    if not c.unit.debug:
        return
    test = c.truth(c.expression(node.test), node.test)
    if test.is_const and test.const:
        return
    words, args, found = _Words(), [], []
    if node.msg is not None:
        found = c.block(lambda: args.append(_argument(c, node.msg, words)))
    c.emit(f"if (!({test.code})) {{")
    c.out += found
    c.emit(leave(c, node, AssertionError, tuple(args), words.codes) + " }")


def raising(c, node):
    if node.exc is None:
        raise c.unsupported("raise without an exception cannot be used in kernels", node)
    words = _Words()
    kind, args = _exception(c, node.exc, words)
    text = leave(c, node, kind, args, words.codes) if c.unit.debug else end(c)
    c.emit(f"{{ {text} }}")
    c.env = None


def _exception(c, node, words):
    args = []
    called = node.func if isinstance(node, ast.Call) else node
    kind = c.expression(called)
    target = kind.const if kind.is_const else None
    if isinstance(target, BaseException) and called is node:
        return type(target), target.args
    if not (isinstance(target, type) and issubclass(target, BaseException)):
        raise c.error("raise takes an exception class, or a call of one", node)
    if called is not node:
        if node.keywords:
            raise c.error("an exception takes no keywords in kernels", node)
        args = [_argument(c, part, words) for part in node.args]
    return target, tuple(args)


def _argument(c, node, words):
    """A constant, or a list of constants and Slots."""
    if isinstance(node, ast.JoinedStr):
        return [_piece(c, part, words) for part in node.values]
    value = c.expression(node)
    if value.is_const:
        return value.const
    return [words.add(c, value, node)]


def _piece(c, node, words):
    if isinstance(node, ast.Constant):
        return node.value
    spec = ""
    if node.format_spec is not None:
        if not all(isinstance(part, ast.Constant) for part in node.format_spec.values):
            raise c.error("a format must be a constant in kernels", node)
        spec = "".join(part.value for part in node.format_spec.values)
    value = c.expression(node.value)
    if value.is_const:
        return format(value.const, spec)
    return words.add(c, value, node.value, spec, node.conversion)


# ---- checks ----


def check(c, condition, node, kind, message, values=()):
    """``condition`` (C++) must not hold. ``message``: constants and Values that the report brings home."""
    words = _Words()
    parts = [words.add(c, p, node) if isinstance(p, Value) else str(p) for p in message]
    c.emit(f"if ({condition}) {{ {leave(c, node, kind, (parts,), words.codes)} }}")


def name_of(node):
    """The expression that is indexed, as it stands in the source."""
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return f"'{ast.unparse(node.value)}'"
    if isinstance(node, ast.Call) and node.args:
        part = node.args[0]
        return f"'{ast.unparse(part)}'"
    return "the array"


def checked_index(c, base, axis, i, node):
    """An index that is tested against its axis."""
    from .arrays import length

    i = c.keep(c.convert(i, ty.int64))
    n = f"{base.code}.shape[{axis}]"
    message = [
        "index ",
        i,
        f" is out of bounds for axis {axis} of {name_of(node)} with ",
    ]
    ndim = base.type.ndim
    if ndim < _WORDS:  # one word is the index
        message.append("shape (")
        for k in range(ndim):
            message += [length(base, k), ", " if k < ndim - 1 else ",)" if ndim == 1 else ")"]
    else:
        message += ["length ", length(base, axis)]
    below = "" if i.bits is not None and not i.is_const else f"{i.code} < -{n} || "
    check(c, f"{below}{i.code} >= {n}", node or c.node, IndexError, message)
    return f"tdpy::wrap({i.code}, {n})"


def checked_place(c, i, size, node):
    """An index into the elements of an array in C order, tested."""
    i = c.keep(i)
    count = c.keep(Value(ty.int64, size))
    message = ["index ", i, f" is out of bounds for {name_of(node)} with ", count, " elements"]
    check(c, f"{i.code} < -{count.code} || {i.code} >= {count.code}", node, IndexError, message)
    return f"tdpy::wrap({i.code}, {count.code})"


def checked_item(c, i, count, node):
    """A run-time index of a tuple, tested in debug kernels."""
    if not c.unit.bounds:
        return i
    i = c.keep(c.convert(i, ty.int64))
    message = ["tuple index out of range: index ", i, f" of {count} items of {name_of(node)}"]
    check(c, f"{i.code} < -{count} || {i.code} >= {count}", node, IndexError, message)
    return i


def checked_shapes(c, source, target, node):
    """An array that is assigned to a view must broadcast to it."""
    from .arrays import length

    extra = target.type.ndim - source.type.ndim
    for axis in range(source.type.ndim):
        have, want = length(source, axis), length(target, axis + extra)
        message = ["could not broadcast ", have, " items of the input into ", want]
        message.append(f" along axis {axis + extra} of {name_of(node)}")
        wrong = f"{have.code} != 1 && {have.code} != {want.code}"
        check(c, wrong, node or c.node, ValueError, message)


def checked_count(c, base, count, node):
    """An array that is unpacked has as many items as names."""
    if c.unit.bounds:
        from .arrays import length

        have = length(base, 0)
        message = ["cannot unpack ", have, f" items into {count} names"]
        check(c, f"{have.code} != {count}", node, ValueError, message)


def checked_step(c, step, node):
    """The step of a slice or a range is not zero."""
    if not c.unit.bounds or (step.is_const and step.const):
        return step
    step = c.keep(step)
    check(c, f"{step.code} == 0", node, ValueError, ["the step must not be zero"])
    return step


def checked_divisor(c, symbol, value, node):
    """In debug kernels a division by zero is Python's error."""
    if not c.unit.debug or symbol not in ("/", "//", "%"):
        return value
    if value.is_const and value.const:
        return value
    value = c.keep(value)
    message = "division by zero"
    if value.type.is_integer and symbol != "/":
        message = "integer division or modulo by zero"
    elif symbol != "/":
        message = "float floor division by zero" if symbol == "//" else "float modulo by zero"
    check(c, f"!tdpy::to<bool>({value.code})", node or c.node, ZeroDivisionError, [message])
    return value
