"""Writes tests/python/data/numba_arithmetic.txt: what Numba makes of Python's operators, by pairs of types.

    python -m venv venv && venv/bin/pip install numba
    venv/bin/python tools/numba_arithmetic.py > tests/python/data/numba_arithmetic.txt

A row is ``kind name type type = result : value value …``: the type that Numba's CPU target gives to the operation and
its results on the samples of SAMPLES, zipped. ``-`` is a pair of types that Numba refuses. The table lets the tests of
cuda.jit compare with Numba where Numba is not installed.
"""

import builtins
import cmath
import math
import operator
import warnings

import numpy as np

try:
    import numba
    from numba import types
    from numba.core.registry import cpu_target
except ImportError:  # the tests take the samples from here
    numba = None

TYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
)
VALUED = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "complex128"]
SAMPLES = {
    "b": ([True, False, True, False, True, True], [True, True, False, False, True, True]),
    "i": ([7, -7, -7, 7, 0, 100], [2, 2, -3, -3, 5, 0]),
    "u": ([7, 200, 0, 13, 255, 6], [2, 3, 5, 255, 16, 0]),
    "f": ([7.5, -7.5, -7.5, math.nan, 0.0, -0.0], [2.0, 2.0, -3.25, 1.0, math.nan, 0.0]),
    "c": ([1 + 2j, -1.5 - 2j, 3 + 0j, -0.5j, 2 + 0j, 1 - 1j], [2 - 1j, 1j, -2 + 0j, 0.5 + 0.5j, 3 + 0j, 1 + 0j]),
}  # fmt: skip
BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
CALLS = {"min": builtins.min, "max": builtins.max, "divmod": builtins.divmod}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}
UNARY_CALLS = {
    "abs": builtins.abs, "int": builtins.int, "float": builtins.float, "bool": builtins.bool, "round": builtins.round,
    "complex": builtins.complex, "math.floor": math.floor, "math.ceil": math.ceil, "math.trunc": math.trunc,
    "math.sqrt": math.sqrt, "math.sin": math.sin, "math.isnan": math.isnan, "math.fabs": math.fabs,
    "math.degrees": math.degrees, "cmath.phase": cmath.phase, "cmath.sqrt": cmath.sqrt,
}  # fmt: skip
BINARY_CALLS = {"math.pow": math.pow, "math.atan2": math.atan2, "math.hypot": math.hypot, "math.fmod": math.fmod,
                "math.copysign": math.copysign}  # fmt: skip
NEGATIVE = ("-1", "-2")
DIVISIONS = ("/", "//", "%", "divmod", "math.fmod")
# Operations that have samples of their own.
GROUPS = (DIVISIONS, NEGATIVE, ("**", "math.pow"), ("<<", ">>"))
WHOLE = ("int", "round", "math.floor", "math.ceil", "math.trunc")
EXPONENTS = ["0", "1", "2", "3", "-1", "-2", "0.5", "2.0"]

if numba is not None:
    context = cpu_target.typing_context
    context.refresh()
    all_types = [getattr(types, "boolean" if t == "bool" else t) for t in TYPES.split()]


def samples(type_, side, symbol):
    """The sample operands of a type on one side of an operation."""
    return samples_of(numba.np.numpy_support.as_dtype(type_), side, symbol)


def samples_of(dtype, side, symbol):
    """samples, by NumPy dtype."""
    values = SAMPLES[dtype.kind][side]
    if side == 1 and symbol in ("<<", ">>"):
        values = [abs(int(v)) % 32 for v in values]
    if side == 1 and symbol in ("**", "math.pow") and dtype.kind in "iu":
        values = [abs(v) % 4 for v in values]
    if side == 1 and symbol in DIVISIONS and dtype.kind in "biu":
        values = [v or 1 for v in values]  # a zero divisor raises on the CPU
    if symbol in NEGATIVE:
        values = [v or 1 for v in values]
    return np.array(values).astype(dtype)


def result_type(function, args):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return context.resolve_function_type(function, args, {}).return_type
    except Exception:
        return None


def text(value):
    if isinstance(value, tuple):
        return "(" + ",".join(map(text, value)) + ")"
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    return repr(value.item() if isinstance(value, np.generic) else value).replace(" ", "")


def expression(kind, name):
    """Python text of an operation on a and b."""
    if kind == "binary":
        return f"a {name} b"
    if kind == "unary":
        return f"{name} a"
    if kind == "power":
        return f"a ** {name}"
    if kind == "cast":
        return f"np.{name}(a)"
    return f"{name}(a, b)" if name in CALLS | BINARY_CALLS else f"{name}(a)"


def evaluate(operations, args):
    """(kind, name) -> (type, results): one function that returns all results as a tuple."""
    names = ", ".join("ab"[: len(args)])
    body = ", ".join(expression(*operation) for operation in operations)
    namespace = {"math": math, "cmath": cmath, "np": np}
    exec(f"def f({names}):\n    return ({body},)", namespace)
    function = numba.njit(namespace["f"], error_model="numpy")
    function.compile(tuple(args))
    columns = [samples(t, k, operations[0][1]) for k, t in enumerate(args)]
    inputs = list(zip(*columns))
    results = [function(*row) for row in inputs]
    types_ = function.nopython_signatures[0].return_type
    listed = list(types_.types) if hasattr(types_, "types") else [types_.dtype] * types_.count
    found = {}
    for k, (kind, name) in enumerate(operations):
        whole = name in WHOLE or ("int" in name and kind == "cast")
        # A NaN has no integer.
        values = [
            "?" if whole and np.isnan(row[0]) else text(r[k]) for r, row in zip(results, inputs)
        ]
        found[kind, name] = (listed[k], values)
    return found


def accepted(kind, name, function, args):
    if kind == "power":
        function, args = operator.pow, (*args, numba.typeof(eval(name)))
    elif kind == "cast":
        return numba.np.numpy_support.as_dtype(args[0]).kind != "c"
    return result_type(function, tuple(args))


def rows(operations, args, valued):
    known = {(k, n): accepted(k, n, f, args) for k, n, f in operations}
    results = {}
    if valued:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            usable = [o for o, t in known.items() if t]
            groups = [[o for o in usable if o[1] in g] for g in GROUPS]
            groups.append([o for o in usable if not any(o[1] in g for g in GROUPS)])
            for group in groups:
                if not group:
                    continue
                try:
                    results |= evaluate(group, args)
                except numba.core.errors.NumbaError:
                    for operation in group:
                        try:
                            results |= evaluate([operation], args)
                        except numba.core.errors.NumbaError:
                            known[operation] = None
    for (kind, name), type_ in known.items():
        found = []
        if (kind, name) in results:
            type_, found = results[kind, name]
        elif kind in ("power", "cast"):
            continue
        line = f"{kind} {name} {' '.join(map(str, args))} = {str(type_).replace(' ', '') if type_ else '-'}"
        print(line + (" : " + " ".join(found) if found else ""), flush=True)


def main():
    kept = [t for t in all_types if ("bool" if t == types.boolean else str(t)) in VALUED]
    for a in all_types:
        for b in all_types:
            print(f"join = {a} {b} = {context.unify_types(a, b) or '-'}")
    for a in all_types:
        operations = [("unary", n, f) for n, f in UNARY.items()]
        operations += [("call", n, f) for n, f in UNARY_CALLS.items()]
        operations += [("power", n, None) for n in EXPONENTS]
        operations += [
            ("cast", "bool_" if t == types.boolean else str(t), None) for t in all_types[:11]
        ]
        rows(operations, [a], a in kept)
    for a in all_types:
        for b in all_types:
            operations = [("binary", n, f) for n, f in BINARY.items()]
            operations += [("call", n, f) for n, f in (CALLS | BINARY_CALLS).items()]
            rows(operations, [a, b], a in kept and b in kept)


if __name__ == "__main__":
    main()
