"""assert, raise and bounds checks: what a kernel compiled with debug=True reports at its launch."""

import ast

from . import types as ty
from .values import Value

# The first thread that fails fills the record and leaves the kernel.
DECLARATION = """
struct td_report { int site; int thread[3]; int block[3]; long long values[4]; };
__device__ td_report td_reported;
__device__ __noinline__ void td_fail(int site, long long a, long long b, long long c, long long d) {
  if (atomicCAS(&td_reported.site, 0, site) == 0) {
    td_reported.thread[0] = threadIdx.x; td_reported.thread[1] = threadIdx.y; td_reported.thread[2] = threadIdx.z;
    td_reported.block[0] = blockIdx.x; td_reported.block[1] = blockIdx.y; td_reported.block[2] = blockIdx.z;
    td_reported.values[0] = a; td_reported.values[1] = b; td_reported.values[2] = c; td_reported.values[3] = d;
    __threadfence();
  }
}
"""


def site(c, node, kind, *facts):
    """The number of a place that may fail."""
    key = (id(node), kind, *map(str, facts))
    known = c.unit.site_numbers.get(key)
    if known is None:
        line = c.function.first_line + node.lineno - 1
        c.unit.sites.append((kind, c.function.file, line, c.function.name, facts))
        known = c.unit.site_numbers[key] = len(c.unit.sites)
    return known


def leave(c, number, *values):
    words = ", ".join([str(number), *values, *["0"] * (4 - len(values))])
    return f'td_fail({words}); asm volatile("exit;");'


def assertion(c, node):
    if not c.unit.debug:
        return
    test = c.truth(c.expression(node.test), node.test)
    message = None
    if node.msg is not None:
        value = c.expression(node.msg)
        message = value.const if value.is_const else "?"
    number = site(c, node, AssertionError, () if message is None else (message,))
    c.emit(f"if (!({test.code})) {{ {leave(c, number)} }}")


def raising(c, node):
    if node.exc is None:
        raise c.unsupported("raise without an exception cannot be used in kernels", node)
    kind, args = _exception(c, node.exc)
    if c.unit.debug:
        c.emit("{ " + leave(c, site(c, node, kind, args)) + " }")
        # For the compiler of the text every path of a function returns.
        if c.kind == "kernel":
            c.emit("return;")
        elif (c.assumed or c.result) is not None:
            c.emit(f"return {(c.assumed or c.result).cpp}{{}};")
        c.env = None


def _exception(c, node):
    call_args = []
    if isinstance(node, ast.Call):
        for part in node.args:
            value = c.expression(part)
            if not value.is_const:
                raise c.error("the arguments of an exception must be constants in kernels", part)
            call_args.append(value.const)
        node = node.func
    kind = c.expression(node)
    if not (
        kind.is_const and isinstance(kind.const, type) and issubclass(kind.const, BaseException)
    ):
        raise c.error("raise takes an exception class", node)
    return kind.const, tuple(call_args)


def checked_index(c, base, axis, i, node):
    """An index that is tested against its axis."""
    i = c.keep(c.convert(i, ty.int64))
    n = f"{base.code}.shape[{axis}]"
    name = ast.unparse(node.value) if isinstance(node, ast.Subscript) else "the array"
    shape = [f"{base.code}.shape[{k}]" for k in range(min(base.type.ndim, 3))]
    number = site(c, node, IndexError, name, axis, base.type.ndim)
    c.emit(f"if ({i.code} < -{n} || {i.code} >= {n}) {{ {leave(c, number, i.code, *shape)} }}")
    return f"tdpy::wrap({i.code}, {n})"


__all__ = ["DECLARATION", "Value", "assertion", "checked_index", "raising"]
