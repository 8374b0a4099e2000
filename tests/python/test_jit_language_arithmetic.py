"""cuda.jit: the types and values of Python's operators, beside Numba's by a table (tools/numba_arithmetic.py)."""

import cmath
import collections
import importlib.util
import linecache
import math
import pathlib

import numpy as np
import pytest
import treadle as td
from treadle import cuda

HERE = pathlib.Path(__file__).parent
Row = collections.namedtuple("Row", "kind name types result values")

# Where we differ from Numba on purpose; the reason beside it.
DIFFERENT = {
    # Numba's choice follows from the order of its overloads; Python's meaning is kept instead.
    ("call", "abs", ("bool",)): "int64",
    ("unary", "~", ("bool",)): "int64",
    # An overload of floats of one size comes first in Numba.
    ("binary", "**", ("bool", "int32")): "int64",
}


def rows():
    found = []
    for line in (HERE / "data" / "numba_arithmetic.txt").read_text().splitlines():
        left, _, right = line.partition(" : ")
        *head, result = left.split()
        operation, types = head[:2], head[2:-1]
        found.append(Row(*operation, tuple(types), result, right.split()))
    return found


ROWS = rows()
COUNTER = iter(range(10**9))


def function_of(source, name="f"):
    """The function of a source text that tracebacks and the compiler can read."""
    file = f"<generated {next(COUNTER)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {"math": math, "cmath": cmath, "np": np, "cuda": cuda}
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]


def expression(row, a="a", b="b"):
    if row.kind == "binary":
        return f"({a} {row.name} {b})"
    if row.kind == "unary":
        return f"({row.name} {a})"
    if row.kind == "power":
        return f"({a} ** {row.name})"
    if row.kind == "cast":
        return f"np.{row.name}({a})"
    return f"{row.name}({a}, {b})" if len(row.types) == 2 else f"{row.name}({a})"


def type_of(row):
    """The type that our compiler gives to the operation; "-" when it refuses."""
    from treadle._jit.build import check_device
    from treadle._jit.errors import KernelError

    names = ", ".join("ab"[: len(row.types)])
    function = function_of(f"def f({names}):\n    return {expression(row)}\n")
    dispatcher = cuda.jit(function, device=True)
    types = tuple(getattr(cuda.types, "boolean" if t == "bool" else t) for t in row.types)
    try:
        return str(check_device(dispatcher, types, None)).replace(" ", "")
    except KernelError:
        return "-"


def _odd(row):
    """Pairs for which Numba takes the first overload that fits, not the one of // and % or of the other functions."""
    a, b = (np.dtype(t) for t in row.types)
    if row.name == "divmod":
        return {a.kind, b.kind} in ({"i", "u"}, {"b", "u"})
    return "f" not in (a.kind, b.kind)


@pytest.mark.parametrize("kind", ["binary", "unary", "power", "cast", "call"])
def test_types(kind):
    wrong = []
    for row in ROWS:
        if row.kind != kind or row.result == "-":
            continue
        if row.name in ("divmod", "math.copysign", "math.atan2", "math.hypot") and _odd(row):
            continue
        wanted = DIFFERENT.get((row.kind, row.name, row.types), row.result)
        found = type_of(row)
        if found != wanted:
            wrong.append(f"{row.name} {row.types}: {found}, Numba {row.result}")
    assert not wrong, "\n".join(wrong)


def test_types_where_paths_meet():
    from treadle._jit import types as ty

    wrong = []
    for row in ROWS:
        if row.kind == "join":
            a, b = (getattr(ty, "boolean" if t == "bool" else t) for t in row.types)
            if str(ty.unify(a, b)) != row.result:
                wrong.append((row.types, ty.unify(a, b), row.result))
    assert not wrong


def samples(type_, side, name):
    path = HERE.parents[1] / "tools" / "numba_arithmetic.py"
    return _oracle(path).samples_of(np.dtype(type_), side, name)


_LOADED = {}


def _oracle(path):
    if path not in _LOADED:
        spec = importlib.util.spec_from_file_location("numba_arithmetic", path)
        _LOADED[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(_LOADED[path])
    return _LOADED[path]


OUT = {"b": 0, "i": 0, "u": 1, "f": 2, "c": 3}


@pytest.mark.parametrize(
    "first", [r.types[0] for r in ROWS if r.kind == "cast" and r.name == "int8"]
)
def test_values(first):
    """All operations on one first type in one kernel; results by the kind of their type."""
    chosen = [r for r in ROWS if r.types[0] == first and r.values and not _tuple(r)]
    lines, inputs, names = [], {}, {}
    for k, row in enumerate(chosen):
        words = []
        for side, type_ in enumerate(row.types):
            data = samples(type_, side, row.name)
            key = (type_, data.tobytes())
            if key not in inputs:
                inputs[key] = (f"x{len(inputs)}", data)
            words.append(f"{inputs[key][0]}[i]")
        names[k] = OUT[np.dtype(row.result).kind]
        lines.append(f"    o{names[k]}[{k}, i] = {expression(row, *words)}\n")
    arguments = [f"o{n}" for n in range(4)] + [name for name, _ in inputs.values()]
    source = f"def f({', '.join(arguments)}):\n    i = cuda.grid(1)\n" + "".join(lines)
    kernel = cuda.jit(function_of(source))
    outs = [td.zeros((len(chosen), 6), t) for t in (np.int64, np.uint64, np.float64, np.complex128)]
    kernel[1, 6](*outs, *[td.asarray(data) for _, data in inputs.values()])
    hosts = [o.get() for o in outs]
    wrong = []
    for k, row in enumerate(chosen):
        for i, word in enumerate(row.values):
            taken = [samples(t, s, row.name)[i] for s, t in enumerate(row.types)]
            if word == "?" or not _comparable(row, taken):
                continue
            wanted = (int, int, float, complex)[names[k]](word.strip("()"))
            found = hosts[names[k]][k, i]
            if not _close(found, wanted, np.dtype(row.result)):
                wrong.append(f"{row.name} {row.types} {taken}: {found}, Numba {word}")
    assert not wrong, "\n".join(wrong)


def _comparable(row, taken):
    """False where Numba's CPU target has another result for a reason."""
    if row.name in ("min", "max"):  # Numba's CUDA target gives the operand that is not NaN
        return not any(x != x for x in taken)
    if row.kind == "cast" and row.name.startswith("u"):  # undefined, on the CPU and on the GPU
        return not taken[0] < 0
    if row.kind == "unary" and row.types == ("uint8",):  # computed in 8 bits, though typed uint64
        return row.name not in "-~"
    if row.kind == "unary" and row.types == ("bool",):
        return row.name != "~"
    if row.name == "**" and row.types[1:] == ("complex128",):  # 0 ** z
        return taken[0] != 0
    return True


def _tuple(row):
    return "(" in row.result


def _close(found, wanted, dtype):
    if dtype.kind in "biu":
        return int(found) == wanted
    if found != found or wanted != wanted:
        return (found != found) == (wanted != wanted)
    if found == wanted:
        return True
    single = dtype in (np.float32, np.complex64)
    return abs(found - wanted) <= (1e-6 if single else 1e-14) * max(abs(wanted), 1e-300) + (
        0 if dtype.kind == "f" else 1e-15
    )
