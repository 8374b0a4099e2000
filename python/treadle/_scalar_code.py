"""A Python function of numbers as a CUDA C++ device function.

The function's syntax tree is walked once or more, until the types of its variables stand. A type is NumPy's dtype, and
every operation takes the loop that NumPy's ufunc of that name would take; its body is that of tables/ops.def. A number
written in the program is *weak*, as in NumPy: it takes the dtype of what it meets. What a name outside of the function
means is looked up when the function is read, and calls whose arguments are all known run at once, in Python.
"""

import ast
import builtins
import inspect
import linecache
import math

import numpy as np

from . import _treadle

CUDA_NAMES = {
    "?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short", "i": "int",
    "I": "unsigned int", "q": "long long", "Q": "unsigned long long", "e": "td_half", "f": "float", "d": "double",
    "F": "td_complex<float>", "D": "td_complex<double>",
}  # fmt: skip
_WEAK_DTYPES = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(float),
    complex: np.dtype(complex),
}
_BINARY = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder", ast.Pow: "power", ast.LShift: "left_shift", ast.RShift: "right_shift",
    ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
}  # fmt: skip
_UNARY = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert"}
_COMPARE = {
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.GtE: "greater_equal",
}  # fmt: skip
_MATH = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "pow": "power", "fabs": "fabs",
}  # fmt: skip


class Number:
    """An expression of a number: its text and dtype, and the Python type of a weak one."""

    def __init__(self, code, dtype, weak=None, constant=None):
        self.code, self.dtype, self.weak, self.constant = code, dtype, weak, constant

    @property
    def kind(self):
        return self.weak or self.dtype


class Known:
    """Something that is known when the function is read, and is no number: a function, a dtype, a module."""

    def __init__(self, value):
        self.value = value


def cuda_name(dtype):
    return CUDA_NAMES[_char(dtype)]


def is_compiled(dtype):
    """Has the dtype arithmetic in the generated text?"""
    return _char(dtype) in CUDA_NAMES and np.dtype(dtype).isbuiltin == 1


def _char(dtype):
    char = np.dtype(dtype).char
    return {"l": "q", "L": "Q"}.get(char, char)


def literal(value, dtype):
    """A number as CUDA C++ of that dtype, to the last bit."""
    value = np.dtype(dtype).type(value)
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "c":
        part = np.dtype("f4" if dtype.itemsize == 8 else "f8")
        return f"{cuda_name(dtype)}({literal(value.real, part)}, {literal(value.imag, part)})"
    if dtype.kind == "f":
        if dtype.itemsize == 2:
            return f"td_half_bits({value.view(np.uint16)})"
        if dtype.itemsize == 4:
            return f"__uint_as_float({value.view(np.uint32)}u)"
        return (
            f"__longlong_as_double({value.view(np.int64)}ll)"
            if value != -0.0 or value
            else ("__longlong_as_double(0x8000000000000000ull)" if np.signbit(value) else "0.0")
        )
    if dtype.kind == "u":
        return f"({cuda_name(dtype)}){int(value)}ull"
    return (
        f"({cuda_name(dtype)})({int(value) + 1}ll - 1)"
        if value < 0
        else f"({cuda_name(dtype)}){int(value)}ll"
    )


def cast(number, dtype):
    """The text of a number in another dtype."""
    if number.constant is not None and not isinstance(number.constant, np.generic):
        return literal(number.constant, dtype)
    if number.dtype == dtype:
        return number.code
    return f"td_cast<{cuda_name(dtype)}>({number.code})"


def join(a, b, what):
    """The kind that values of kinds a and b have in common: a weak one gives way; TypeError for two dtypes."""
    if isinstance(a, tuple) or isinstance(b, tuple):
        if not (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)):
            raise TypeError(f"{what}: a tuple and something else, or tuples of different lengths")
        return tuple(join(x, y, what) for x, y in zip(a, b))
    if a == b:
        return a
    if isinstance(a, type) and isinstance(b, type):
        return max(a, b, key=[bool, int, float, complex].index)
    if isinstance(a, type):
        a, b = b, a
    if isinstance(b, type):
        return np.result_type(a, _sample(b)) if b is not bool or a.kind == "b" else a
    raise TypeError(f"{what}: {a} != {b}")


def _sample(weak):
    return weak(1)


def dtype_of_kind(kind):
    return _WEAK_DTYPES[kind] if isinstance(kind, type) else kind


# ---- the source of a function ----


def tree_of(function):
    """(syntax tree of a function or lambda, file, variables from outside)."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise TypeError(f"{function!r} is not a Python function; its source cannot be read")
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise ValueError(
            f"the source of {function.__name__} cannot be read: write the function in a file or a notebook cell"
        )
    nodes = [
        node
        for node in ast.walk(ast.parse("".join(lines)))
        if isinstance(node, (ast.Lambda, ast.FunctionDef)) and _first_line(node) == code.co_firstlineno
        and getattr(node, "name", "<lambda>") == code.co_name
    ]  # fmt: skip
    if len(nodes) != 1:
        raise ValueError(
            f"Multiple callables are found near the definition of {function.__name__}; give each a line of its own"
            if nodes
            else f"the source of {function.__name__} has changed"
        )
    outside = dict(inspect.getclosurevars(function).nonlocals)
    return nodes[0], code.co_filename, {**vars(builtins), **function.__globals__, **outside}


def _first_line(node):
    decorators = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


# ---- the walk ----


class Module:
    """The functions that one kernel needs, each once."""

    def __init__(self):
        self.texts, self.names, self.open = [], {}, []
        self.rows = {row["name"]: row for row in _treadle._operation_rows()}

    def operation(self, name, loop, result):
        key = (name, *map(_char, loop))
        if key not in self.names:
            self.names[key] = f"td_row{len(self.names)}_{name}"
            arguments = ", ".join(f"{cuda_name(t)} {x}" for t, x in zip(loop, "xyz"))
            body = self.rows[name]["body"]
            self.texts.append(
                f"TD_FN {cuda_name(result)} {self.names[key]}({arguments}) {{ return {body}; }}\n"
            )
        return self.names[key]

    def function(self, function, kinds):
        """(name, kind of the result) of a Python function of arguments of these kinds."""
        key = (function, *kinds)
        if key not in self.names:
            if key in self.open:
                raise TypeError(f"{function.__name__} calls itself, which a kernel cannot do here")
            self.open.append(key)
            walk = Walk(self, function, kinds)
            name = f"td_function{len(self.names)}"
            self.texts.append(walk.text(name))
            self.open.pop()
            self.names[key] = name, walk.result
        return self.names[key]

    def text(self):
        return "// float16 complex td_operations\n" + "".join(self.texts)


class Walk(ast.NodeVisitor):
    """One function for arguments of given kinds: ``result`` is the kind of what it returns, ``text`` its text."""

    def __init__(self, module, function, kinds):
        self.module, self.function = module, function
        self.tree, self.file, self.outside = tree_of(function)
        names = [a.arg for a in self.tree.args.posonlyargs + self.tree.args.args]
        given = list(kinds)
        if self.tree.args.vararg or self.tree.args.kwarg or self.tree.args.kwonlyargs:
            raise TypeError(f"{function.__name__}: only plain arguments can be compiled")
        missing = len(names) - len(given)
        defaults = function.__defaults__ or ()
        if missing < 0 or missing > len(defaults):
            raise TypeError(
                f"{function.__name__}() takes {len(names)} arguments, {len(given)} were given"
            )
        self.arguments = dict(zip(names, given))
        self.defaults = (
            dict(zip(names[len(given) :], defaults[len(defaults) - missing :])) if missing else {}
        )
        self.kinds, self.result, self.count = dict(self.arguments), None, 0
        for _ in range(8):
            before = dict(self.kinds), self.result
            self.run()
            if before == (self.kinds, self.result):
                return
        raise TypeError(f"{function.__name__}: the types of its variables do not come to rest")

    # -- texts --

    def run(self):
        self.lines, self.known, self.depth, self.assigned = [], {}, 0, set(self.arguments)
        for name, value in self.defaults.items():
            self.assign_name(name, self.wrap(value), None)
        if isinstance(self.tree, ast.Lambda):
            self.give(self.visit(self.tree.body))
            return
        body = self.tree.body
        for statement in body:
            self.visit(statement)
        if not _ends(body):
            raise TypeError(
                f"{self.function.__name__} may end without a return: every path must return a value"
            )

    def declare(self, kind, name):
        """Declarations of a variable; a tuple is one variable for each part."""
        if isinstance(kind, tuple):
            return "".join(self.declare(part, f"{name}_{k}") for k, part in enumerate(kind))
        return f"  {cuda_name(dtype_of_kind(kind))} {name} = {{}};\n"

    def text(self, name):
        parameters = [f"{cuda_name(dtype_of_kind(k))} v_{n}" for n, k in self.arguments.items()]
        results = self.result if isinstance(self.result, tuple) else (self.result,)
        parameters += [f"{cuda_name(dtype_of_kind(k))}& td_out{i}" for i, k in enumerate(results)]
        locals_ = "".join(
            self.declare(k, f"v_{n}") for n, k in self.kinds.items() if n not in self.arguments
        )
        return f"TD_FN void {name}({', '.join(parameters)}) {{\n{locals_}{''.join(self.lines)}}}\n"

    def emit(self, text, node=None):
        if node is not None and hasattr(node, "lineno"):
            self.lines.append(f'#line {node.lineno} "{self.file}"\n')
        self.lines.append("  " + text + "\n")

    def fail(self, node, text):
        return TypeError(f"{self.file}:{node.lineno}: {self.function.__name__}: {text}")

    # -- values --

    def wrap(self, value):
        if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
            dtype = (
                _WEAK_DTYPES[type(value)] if type(value) in _WEAK_DTYPES else np.dtype(type(value))
            )
            return Number(
                literal(value, dtype) if _fits(value, dtype) else None, dtype, type(value), value
            )
        if isinstance(value, np.generic) and value.dtype.char in CUDA_NAMES | {"l": 0, "L": 0}:
            return Number(literal(value, value.dtype), value.dtype, None, value)
        if isinstance(value, tuple):
            return tuple(self.wrap(v) for v in value)
        return Known(value)

    def kind_of(self, value, node):
        if isinstance(value, tuple):
            return tuple(self.kind_of(v, node) for v in value)
        if isinstance(value, Known):
            raise self.fail(node, f"{value.value!r} is not a number")
        return value.kind

    def number(self, value, node):
        if not isinstance(value, Number):
            raise self.fail(
                node,
                f"{'a tuple' if isinstance(value, tuple) else repr(value.value)} is not a number",
            )
        return value

    def truth(self, value, node):
        value = self.number(value, node)
        return value.code if value.dtype.kind == "b" else f"td_truth({value.code})"

    def apply(self, name, values, node, dtype=None):
        """An operation of tables/ops.def in the loop that NumPy's ufunc takes."""
        row = self.module.rows.get(name)
        ufunc = getattr(np, row["numpy"], None) if row else None
        if not isinstance(ufunc, np.ufunc) or ufunc.nout != 1:
            raise self.fail(node, f"{name} cannot be used in a kernel")
        values = [self.number(v, node) for v in values]
        if all(v.constant is not None for v in values) and dtype is None:
            with np.errstate(all="ignore"):
                return self.wrap(_fold(ufunc, values))
        kinds = [v.kind for v in values]
        if all(isinstance(k, type) for k in kinds) or dtype is not None:
            kinds = [dtype_of_kind(k) for k in kinds]
        if name in _COMPARE.values():
            kinds = [
                np.dtype(np.int64) if not _representable(v, kinds) else k
                for v, k in zip(values, kinds)
            ]
        fixed = {} if dtype is None else {"signature": (None,) * ufunc.nin + (np.dtype(dtype),)}
        *loop, result = ufunc.resolve_dtypes((*kinds, None), **fixed)
        if any(_char(t) not in CUDA_NAMES for t in (*loop, result)):
            raise self.fail(node, f"{name} has no loop for {', '.join(map(str, kinds))}")
        code = ", ".join(cast(v, t) for v, t in zip(values, loop))
        weak = None
        if all(v.weak for v in values):
            weak = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[result.kind]
        return Number(f"{self.module.operation(name, loop, result)}({code})", result, weak)

    # -- expressions --

    def visit(self, node):
        method = getattr(self, "visit_" + type(node).__name__, None)
        if method is None:
            raise self.fail(node, f"{type(node).__name__} cannot be compiled")
        return method(node)

    def visit_Constant(self, node):
        return self.wrap(node.value)

    def visit_Name(self, node):
        name = node.id
        if name in self.known:
            return self.known[name]
        if name in self.kinds and (name in self.assigned or self.depth):
            return self.read(self.kinds[name], f"v_{name}")
        if name in self.kinds:
            raise self.fail(node, f"{name} is read before it is assigned")
        if name not in self.outside:
            raise self.fail(node, f"name {name!r} is not defined")
        return self.wrap(self.outside[name])

    def read(self, kind, code):
        if isinstance(kind, tuple):
            return tuple(self.read(part, f"{code}_{k}") for k, part in enumerate(kind))
        return Number(code, dtype_of_kind(kind), kind if isinstance(kind, type) else None)

    def visit_Attribute(self, node):
        value = self.visit(node.value)
        if isinstance(value, Known):
            return self.wrap(getattr(value.value, node.attr))
        value = self.number(value, node)
        if node.attr in ("real", "imag"):
            if value.dtype.kind == "c":
                part = np.dtype("f4" if value.dtype.itemsize == 8 else "f8")
                return Number(f"{value.code}.{node.attr[:2]}", part)
            return value if node.attr == "real" else self.wrap(value.dtype.type(0))
        raise self.fail(node, f"numbers have no attribute {node.attr!r} here")

    def visit_Tuple(self, node):
        return tuple(self.visit(e) for e in node.elts)

    def visit_Subscript(self, node):
        value, index = self.visit(node.value), self.visit(node.slice)
        constant = index.constant if isinstance(index, Number) else getattr(index, "value", None)
        if isinstance(value, tuple) and isinstance(constant, (int, np.integer)):
            return value[constant]
        if isinstance(value, Known) and constant is not None:
            return self.wrap(value.value[constant])
        raise self.fail(node, "only tuples can be indexed, by integers that are written out")

    def visit_BinOp(self, node):
        name = _BINARY.get(type(node.op))
        if name is None:
            raise self.fail(node, f"the operator {type(node.op).__name__} cannot be compiled")
        return self.apply(name, [self.visit(node.left), self.visit(node.right)], node)

    def visit_UnaryOp(self, node):
        value = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return Number(f"!{self.truth(value, node)}", np.dtype(bool), bool)
        return self.apply(_UNARY[type(node.op)], [value], node)

    def visit_Compare(self, node):
        values = [self.visit(v) for v in (node.left, *node.comparators)]
        parts = []
        for op, a, b in zip(node.ops, values, values[1:]):
            if type(op) not in _COMPARE:
                raise self.fail(node, f"the comparison {type(op).__name__} cannot be compiled")
            if not isinstance(op, (ast.Eq, ast.NotEq)) and any(
                self.number(v, node).dtype.kind == "c" for v in (a, b)
            ):
                raise self.fail(node, "complex numbers have no order")
            parts.append(self.apply(_COMPARE[type(op)], [a, b], node))
        if len(parts) == 1:
            return parts[0]
        return Number("(" + " && ".join(p.code for p in parts) + ")", np.dtype(bool))

    def visit_BoolOp(self, node):
        values = [self.number(self.visit(v), node) for v in node.values]
        result = values[-1]
        for value in reversed(values[:-1]):
            kind = join(value.kind, result.kind, "operands of and/or have different types")
            dtype = dtype_of_kind(kind)
            first, other = cast(value, dtype), cast(result, dtype)
            pair = (other, first) if isinstance(node.op, ast.And) else (first, other)
            code = f"({self.truth(value, node)} ? {pair[0]} : {pair[1]})"
            result = Number(code, dtype, kind if isinstance(kind, type) else None)
        return result

    def visit_IfExp(self, node):
        test = self.truth(self.visit(node.test), node)
        a, b = (self.number(self.visit(v), node) for v in (node.body, node.orelse))
        kind = join(
            a.kind, b.kind, "Data type mismatch of the two values of a conditional expression"
        )
        dtype = dtype_of_kind(kind)
        code = f"({test} ? {cast(a, dtype)} : {cast(b, dtype)})"
        return Number(code, dtype, kind if isinstance(kind, type) else None)

    def visit_Call(self, node):
        function = self.visit(node.func)
        if not isinstance(function, Known):
            raise self.fail(node, "a number is called")
        function = function.value
        values = [self.visit(a) for a in node.args]
        options = {k.arg: self.visit(k.value) for k in node.keywords}
        known = [_plain(v) for v in (*values, *options.values())]
        name = getattr(function, "__name__", "")
        row = _MATH.get(name, name) if getattr(function, "__module__", "") == "math" else name
        row = _treadle._operation_aliases.get(row, row)
        if all(v is not _NOT_KNOWN for v in known) and not (row in self.module.rows and values):
            return self.wrap(
                function(*known[: len(values)], **dict(zip(options, known[len(values) :])))
            )
        if isinstance(function, type) and (
            issubclass(function, np.generic) or function in _WEAK_DTYPES
        ):
            return self.convert(function, values, node)
        if function in (builtins.min, builtins.max):
            return self.extreme(function, values, node)
        if row in self.module.rows:
            dtype = options.pop("dtype", Known(None))
            if options:
                raise self.fail(node, f"{name} takes no {next(iter(options))}= in a kernel")
            if function is not getattr(math, name, None):
                return self.apply(row, values, node, getattr(dtype, "value", None))
            double = np.dtype(float)  # as Python's math: in float64, whatever comes
            values = [Number(cast(self.number(v, node), double), double) for v in values]
            result = self.apply(row, values, node)
            return Number(cast(result, double), double, float)
        if inspect.isfunction(function) and not options:
            return self.call(function, values, node)
        raise self.fail(node, f"{name or function!r} cannot be called in a kernel")

    def convert(self, function, values, node):
        if len(values) != 1:
            raise self.fail(node, f"{function.__name__} takes one number")
        value = self.number(values[0], node)
        dtype = _WEAK_DTYPES[function] if function in _WEAK_DTYPES else np.dtype(function)
        if value.dtype.kind == "c" and dtype.kind not in "bc":
            raise self.fail(
                node, f"a complex number does not become {function.__name__}; take .real"
            )
        return Number(cast(value, dtype), dtype, function if function in _WEAK_DTYPES else None)

    def extreme(self, function, values, node):
        values = list(values[0]) if len(values) == 1 and isinstance(values[0], tuple) else values
        best = self.number(values[0], node)
        for value in values[1:]:
            value = self.number(value, node)
            name = "less" if function is builtins.min else "greater"
            kinds = [v.kind for v in (best, value)]
            weak = all(isinstance(k, type) for k in kinds)
            dtype = np.result_type(*(_sample(k) if isinstance(k, type) else k for k in kinds))
            a, b = cast(best, dtype), cast(value, dtype)
            test = self.apply(name, [Number(b, dtype), Number(a, dtype)], node)
            best = Number(f"({test.code} ? {b} : {a})", dtype, join(*kinds, "") if weak else None)
        return best

    def call(self, function, values, node):
        kinds = [self.kind_of(v, node) for v in values]
        if any(isinstance(k, tuple) for k in kinds):
            raise self.fail(node, "tuples cannot be handed to a function")
        name, kind = self.module.function(function, kinds)
        self.count += 1
        result = self.read(kind, f"c_{self.count}")
        self.lines.append(self.declare(kind, f"c_{self.count}"))
        outs = result if isinstance(result, tuple) else (result,)
        given = [cast(v, dtype_of_kind(k)) for v, k in zip(values, kinds)]
        self.emit(f"{name}({', '.join([*given, *(o.code for o in outs)])});", node)
        return result

    # -- statements --

    def block(self, statements):
        self.depth += 1
        for statement in statements:
            self.visit(statement)
        self.depth -= 1

    def assign_name(self, name, value, node):
        if isinstance(value, Known):
            if self.depth or name in self.arguments or name in self.kinds:
                raise TypeError(
                    f"{self.function.__name__}: {name} is assigned {value.value!r}, which is not a number"
                )
            self.known[name] = value
            return
        kind = self.kind_of(value, node or self.tree)
        before = self.kinds.get(name)
        if before is not None:
            kind = join(before, kind, f"Data type mismatch of variable: `{name}`")
            if name in self.arguments and kind != before:
                raise TypeError(f"Data type mismatch of variable: `{name}`: {before} != {kind}")
        self.known.pop(name, None)
        self.kinds[name] = kind
        self.assigned.add(name)
        self.store(f"v_{name}", kind, value, node)

    def store(self, code, kind, value, node):
        if isinstance(kind, tuple):
            for k, (part, v) in enumerate(zip(kind, value)):
                self.store(f"{code}_{k}", part, v, node)
            return
        self.emit(f"{code} = {cast(value, dtype_of_kind(kind))};", node)

    def assign(self, target, value, node):
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, node)
            return
        if not isinstance(target, (ast.Tuple, ast.List)):
            raise self.fail(node, "only names and tuples of names can be assigned")
        if not isinstance(value, tuple) or len(value) != len(target.elts):
            raise self.fail(node, f"a tuple of {len(target.elts)} values is needed")
        for part, v in zip(target.elts, self.copied(value, node)):
            self.assign(part, v, node)

    def copied(self, value, node):
        """Values of their own, so that x, y = y, x works."""
        if isinstance(value, tuple):
            return tuple(self.copied(v, node) for v in value)
        if isinstance(value, Known) or value.constant is not None:
            return value
        self.count += 1
        name = f"t_{self.count}"
        self.emit(f"const {cuda_name(value.dtype)} {name} = {value.code};", node)
        return Number(name, value.dtype, value.weak)

    def visit_Assign(self, node):
        value = self.visit(node.value)
        for target in node.targets:
            self.assign(target, value, node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.assign(node.target, self.visit(node.value), node)

    def visit_AugAssign(self, node):
        if not isinstance(node.target, ast.Name):
            raise self.fail(node, "only names can be assigned")
        left = self.visit_Name(node.target)
        self.assign_name(
            node.target.id,
            self.apply(_BINARY[type(node.op)], [left, self.visit(node.value)], node),
            node,
        )

    def give(self, value, node=None):
        node = node or self.tree
        if isinstance(value, tuple) and any(isinstance(v, tuple) for v in value):
            raise self.fail(node, "a tuple of tuples is returned")
        kind = self.kind_of(value, node)
        self.result = (
            kind
            if self.result is None
            else join(self.result, kind, "Data type mismatch of return values")
        )
        kinds = self.result if isinstance(self.result, tuple) else (self.result,)
        for k, (v, t) in enumerate(zip(value if isinstance(value, tuple) else (value,), kinds)):
            self.emit(f"td_out{k} = {cast(v, dtype_of_kind(t))};", node)
        self.emit("return;")

    def visit_Return(self, node):
        if node.value is None:
            raise self.fail(node, "a return without a value")
        self.give(self.visit(node.value), node)

    def visit_If(self, node):
        self.emit(f"if ({self.truth(self.visit(node.test), node)}) {{", node)
        self.block(node.body)
        self.emit("} else {")
        self.block(node.orelse)
        self.emit("}")

    def loop_body(self, node):
        if node.orelse:
            raise self.fail(node, "else of a loop cannot be compiled")
        self.block(node.body)
        self.emit("}")

    def visit_While(self, node):
        self.emit("while (true) {", node)
        self.depth += 1
        self.emit(f"if (!({self.truth(self.visit(node.test), node)})) break;", node)
        self.depth -= 1
        self.loop_body(node)

    def visit_For(self, node):
        call = node.iter
        ranged = isinstance(call, ast.Call) and isinstance(self.visit(call.func), Known)
        if (
            not ranged
            or self.visit(call.func).value is not range
            or not isinstance(node.target, ast.Name)
        ):
            raise self.fail(node, "only loops of a name over range(...) can be compiled")
        bounds = [self.number(self.visit(a), node) for a in call.args]
        if (
            not 1 <= len(bounds) <= 3
            or call.keywords
            or any(b.dtype.kind not in "biu" for b in bounds)
        ):
            raise self.fail(node, "range takes one to three integers")
        start, stop, step = (
            [self.wrap(0)] * (len(bounds) == 1) + bounds + [self.wrap(1)] * (len(bounds) < 3)
        )[:3]
        self.count += 1
        n, long = self.count, np.dtype(np.int64)
        for name, value in (("stop", stop), ("step", step), ("at", start)):
            self.emit(f"long long {name}_{n} = {cast(value, long)};", node)
        self.emit(
            f"for (; step_{n} > 0 ? at_{n} < stop_{n} : step_{n} < 0 && at_{n} > stop_{n}; at_{n} += step_{n}) {{"
        )
        self.depth += 1
        self.assign_name(node.target.id, Number(f"at_{n}", long, int), node)
        self.depth -= 1
        self.loop_body(node)

    def visit_Expr(self, node):
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            raise self.fail(node, "an expression whose value is not used")

    def visit_Pass(self, node):
        pass

    def visit_Break(self, node):
        self.emit("break;", node)

    def visit_Continue(self, node):
        self.emit("continue;", node)


_NOT_KNOWN = object()


def _plain(value):
    """The Python value of what is known, else _NOT_KNOWN."""
    if isinstance(value, Known):
        return value.value
    if isinstance(value, tuple):
        parts = [_plain(v) for v in value]
        return _NOT_KNOWN if any(p is _NOT_KNOWN for p in parts) else tuple(parts)
    return _NOT_KNOWN if value.constant is None else value.constant


def _fold(ufunc, values):
    """The result for constants; Python numbers stay weak."""
    result = ufunc(*(v.constant for v in values))
    return result.item() if all(v.weak for v in values) else result


def _fits(value, dtype):
    return dtype.kind != "i" or -(2**63) <= value < 2**63


def _representable(number, kinds):
    """Does the dtype that a Python integer would take hold it?"""
    if number.weak is not int or number.constant is None:
        return True
    others = [k for k in kinds if not isinstance(k, type) and k.kind in "iu"]
    return all(np.iinfo(k).min <= number.constant <= np.iinfo(k).max for k in others)


def _ends(statements):
    """Do all paths through the statements return?"""
    for statement in statements:
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If) and _ends(statement.body) and _ends(statement.orelse):
            return True
    return False
