"""Random kernels for cuda.jit, and an interpreter of them: the same source, run by Python on typed numbers.

``program(seed)`` gives the text of a kernel and of the device functions that it calls; each thread works on its own row
of two input and two output arrays. ``expected(text, rows)`` runs the text as plain Python, with numbers that follow
Numba's typing: integers compute in 64 bits and wrap, int32 with float32 is float64, comparisons are exact.
"""

import ast
import random

import numpy as np

ROWS, COLUMNS = 16, 8
INTEGERS = ["np.int32", "np.int64", "np.uint8", "np.uint32", "np.int16", "np.uint64"]


# ---- programs ----


class Writer:
    """Writes one function. Names: k* integers, x* floats, m* either, t* tuples, v* arrays."""

    def __init__(self, rng, functions, kind):
        self.rng, self.functions, self.kind = rng, functions, kind
        self.lines, self.depth, self.loops, self.count = [], 1, 0, 0
        self.names = {"k": [], "x": [], "m": [], "t": [], "v": []}
        self.fixed = set()  # counters of while loops

    def emit(self, line):
        self.lines.append("    " * self.depth + line)

    def choose(self, *options):
        return self.rng.choice(options)

    def new(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    # -- expressions --

    def integer(self, depth=0):
        r = self.rng.random()
        if depth > 3 or r < 0.3:
            names = self.names["k"]
            if names and self.rng.random() < 0.7:
                return self.rng.choice(names)
            return str(self.choose(0, 1, 2, 3, 5, 7, -1, -4, 100, 12345, 2**31, -(2**40)))
        a = self.integer(depth + 1)
        if r < 0.55:
            return f"({a} {self.choose('+', '-', '*', '+', '-', '&', '|', '^')} {self.integer(depth + 1)})"
        if r < 0.65:
            return f"({a} {self.choose('//', '%')} {self.integer(depth + 1)})"
        if r < 0.7:
            return f"({a} {self.choose('<<', '>>')} ({self.integer(depth + 1)} & 31))"
        if r < 0.74:
            return f"({self.choose('-', '~', '+')}{a})"
        if r < 0.78:
            return f"{self.rng.choice(INTEGERS)}({a})"
        if r < 0.82:
            return (
                f"{self.choose('min', 'max')}(np.int64({a}), np.int64({self.integer(depth + 1)}))"
            )
        if r < 0.85:
            return f"(np.int64({a}) if {self.test(depth + 1)} else np.int64({self.integer(depth + 1)}))"
        if r < 0.88:
            return f"int(min(max({self.real(depth + 1)}, -1e6), 1e6))"
        if r < 0.9:
            return f"abs({a})"
        if r < 0.92:
            return f"(({a}) ** {self.choose(0, 1, 2, 3)})"
        if r < 0.95 and self.names["t"]:
            return f"{self.rng.choice(self.names['t'])}[{self.choose(0, 1, 2, -1)}]"
        if r < 0.97 and self.functions and depth < 2:
            return self.call("k", depth)
        return self.element("ai", depth)

    def real(self, depth=0):
        r = self.rng.random()
        if depth > 3 or r < 0.3:
            names = self.names["x"] + self.names["m"]
            if names and self.rng.random() < 0.7:
                return self.rng.choice(names)
            return str(self.choose(0.5, 1.0, -2.25, 3.0, 1e3, -0.1, 0.0))
        a = self.real(depth + 1)
        b = self.real(depth + 1) if self.rng.random() < 0.7 else self.integer(depth + 1)
        if r < 0.6:
            return f"({a} {self.choose('+', '-', '*', '/')} {b})"
        if r < 0.66:
            return f"({self.integer(depth + 1)} / {self.integer(depth + 1)})"
        if r < 0.71:
            return f"({a} {self.choose('//', '%')} {b})"
        if r < 0.75:
            return f"np.float32({a})"
        if r < 0.78:
            return f"float({b})"
        if r < 0.82:
            return f"{self.choose('min', 'max')}({a}, {b})"
        if r < 0.85:
            return f"(np.float64({a}) if {self.test(depth + 1)} else np.float64({self.real(depth + 1)}))"
        if r < 0.88:
            return f"abs({a})"
        if r < 0.91:
            return f"math.sqrt(abs({a}))"
        if r < 0.93:
            return f"(-{a})"
        if r < 0.96 and self.functions and depth < 2:
            return self.call("x", depth)
        if r < 0.98 and self.names["v"]:
            return f"{self.rng.choice(self.names['v'])}[({self.integer(depth + 1)}) % 4]"
        return self.element("af", depth)

    def element(self, array, depth):
        if self.kind == "kernel":
            index = self.choose("({}) % 8", "-1 - ({}) % 8").format(self.integer(depth + 1))
            return f"{array}[i, {index}]"
        return "3" if array == "ai" else "1.5"

    def test(self, depth=0):
        r = self.rng.random()
        compare = self.choose("<", "<=", ">", ">=", "==", "!=")
        if depth > 3 or r < 0.4:
            return f"({self.integer(depth + 1)} {compare} {self.integer(depth + 1)})"
        if r < 0.6:
            return f"({self.real(depth + 1)} {compare} {self.choose(self.real, self.integer)(depth + 1)})"
        if r < 0.7:
            return f"({self.integer(depth + 1)} < {self.integer(depth + 1)} <= {self.integer(depth + 1)})"
        if r < 0.8:
            return f"(not {self.test(depth + 1)})"
        return f"({self.test(depth + 1)} {self.choose('and', 'or')} {self.test(depth + 1)})"

    def call(self, kind, depth):
        fitting = [f for f in self.functions if f[1] == kind]
        if not fitting:
            return "2" if kind == "k" else "2.5"
        name, _, parameters, optional = self.rng.choice(fitting)
        args = [
            self.integer(depth + 2) if p[0] == "k" else self.real(depth + 2) for p in parameters
        ]
        if optional and self.rng.random() < 0.5:
            args.pop()
        elif optional and self.rng.random() < 0.5:
            args[-1] = f"{parameters[-1]}={args[-1]}"
        return f"{name}({', '.join(args)})"

    # -- statements --

    def block(self, size):
        known = {kind: list(names) for kind, names in self.names.items()}
        self.depth += 1
        before = len(self.lines)
        for _ in range(size):
            self.statement()
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1
        self.names = known  # what a block defines is known in it only

    def statement(self):
        r = self.rng.random()
        room = self.depth < 4
        if r < 0.3:
            self.assign()
        elif r < 0.42:
            self.update()
        elif r < 0.52 and room:
            self.emit(f"if {self.test()}:")
            self.block(self.rng.randint(1, 3))
            if self.rng.random() < 0.3:
                self.emit(f"elif {self.test()}:")
                self.block(self.rng.randint(1, 2))
            if self.rng.random() < 0.6:
                self.emit("else:")
                self.block(self.rng.randint(1, 3))
        elif r < 0.64 and room:
            self.loop()
        elif r < 0.7:
            self.tuple()
        elif r < 0.76 and self.names["m"]:
            name = self.rng.choice(self.names["m"])
            self.emit(f"{name} = {self.choose(f'({self.integer()}) & 1023', self.real())}")
        elif r < 0.8 and self.loops:
            self.emit(f"if {self.test()}:")
            self.emit(f"    {self.choose('break', 'continue')}")
        elif self.kind == "kernel":
            self.store()
        elif r < 0.86:
            self.emit(f"if {self.test()}:")
            self.emit(f"    return {self.result()}")
        else:
            self.assign()

    def result(self):
        return (
            f"np.int64({self.integer()})" if self.returns == "k" else f"np.float64({self.real()})"
        )

    def assign(self):
        kind = self.choose("k", "k", "x", "x")
        names = [n for n in self.names[kind] if n not in self.fixed]
        value = f"np.int64({self.integer()})" if kind == "k" else f"np.float64({self.real()})"
        if names and self.rng.random() < 0.5:
            self.emit(f"{self.rng.choice(names)} = {value}")
            return
        name = self.new(kind)
        if self.depth == 1 and self.rng.random() < 0.5:  # any type of its kind, once
            value = self.integer() if kind == "k" else self.real()
            self.fixed.add(name)
        self.emit(f"{name} = {value}")
        self.names[kind].append(name)

    def update(self):
        kind = self.choose("k", "x")
        names = [n for n in self.names[kind] if n not in self.fixed]
        if not names:
            return
        if kind == "k":
            self.emit(
                f"{self.rng.choice(names)} {self.choose('+', '-', '*', '^', '//', '%')}= np.int64({self.integer()})"
            )
        else:
            self.emit(f"{self.rng.choice(names)} {self.choose('+', '-', '*')}= {self.real()}")

    def tuple(self):
        first = f"np.int64({self.integer()})"
        if self.rng.random() < 0.4:
            name = self.new("t")
            self.emit(f"{name} = ({first}, np.int64({self.integer()}), np.int64({self.integer()}))")
            self.names["t"].append(name)
            return
        a, b = self.new("k"), self.new("x")
        self.emit(f"{a}, {b} = {first}, np.float64({self.real()})")
        self.names["k"].append(a)
        self.names["x"].append(b)
        if self.depth > 1:
            self.fixed.discard(a)

    def loop(self):
        r = self.rng.random()
        counter, other = self.new("k"), None
        self.loops += 1
        if r < 0.3:
            bound, start = self.rng.randint(1, 4), self.rng.randint(-2, 1)
            self.emit(f"for {counter} in range({start}, {bound}):")
        elif r < 0.55:
            step = self.choose("1", "2", "-1", "-3")
            self.emit(
                f"for {counter} in range(({self.integer()}) % 5, ({self.integer()}) % 7, {step}):"
            )
        elif r < 0.7 and self.names["t"]:
            other = self.new("k")
            self.emit(f"for {other}, {counter} in enumerate({self.rng.choice(self.names['t'])}):")
        elif r < 0.8 and self.kind == "kernel":
            other = self.new("x")
            self.emit(f"for {counter}, {other} in zip(ai[i, 2:6], af[i, ::-2]):")
            self.emit(f"    out_f[i, 7] += {other} * 0.5 + {counter}")
        else:
            self.emit(f"{counter} = ({self.integer()}) % 5 + 1")
            self.emit(f"while {counter} > 0 and {self.test()}:")
            self.emit(f"    {counter} -= 1")
        inside = [name for name in (counter, other) if name]
        for name in inside:
            self.fixed.add(name)
            self.names[name[0]].append(name)
        self.block(self.rng.randint(1, 3))
        self.loops -= 1
        for name in inside:  # a loop need not run
            self.names[name[0]].remove(name)
        if self.rng.random() < 0.25:
            self.emit("else:")
            self.block(1)

    def store(self):
        if self.rng.random() < 0.5:
            self.emit(
                f"out_i[i, ({self.integer()}) % 7] {self.choose('=', '+=', '^=')} {self.integer()}"
            )
        elif self.names["v"] and self.rng.random() < 0.4:
            self.emit(f"{self.rng.choice(self.names['v'])}[({self.integer()}) % 4] = {self.real()}")
        else:
            self.emit(f"out_f[i, ({self.integer()}) % 7] {self.choose('=', '+=')} {self.real()}")


def _function(rng, number, functions):
    returns = rng.choice("kx")
    parameters = [f"{rng.choice('kx')}p{j}" for j in range(rng.randint(1, 3))]
    optional = rng.random() < 0.4
    writer = Writer(rng, functions, "device")
    writer.returns = returns
    for p in parameters:
        writer.names[p[0]].append(p)
        writer.fixed.add(p)
    for _ in range(rng.randint(1, 4)):
        writer.statement()
    writer.emit(f"return {writer.result()}")
    listed = list(parameters)
    if optional:
        listed[-1] += "=" + ("3" if listed[-1][0] == "k" else "0.25")
    text = [f"def f{number}({', '.join(listed)}):", *writer.lines, "", ""]
    functions.append((f"f{number}", returns, parameters, optional))
    return text


def program(seed):
    """The text of a random program with the kernel ``kernel(ai, af, s, z, out_i, out_f)``."""
    rng = random.Random(seed)
    functions, lines = [], []
    for number in range(rng.randint(0, 3)):
        lines += _function(rng, number, functions)
    writer = Writer(rng, functions, "kernel")
    writer.names["k"] += ["i", "s"]
    writer.names["x"] += ["z"]
    writer.fixed |= {"i", "s", "z"}
    writer.emit("i = cuda.grid(1)")
    writer.emit("m0 = 1")
    writer.names["m"].append("m0")
    if rng.random() < 0.5:
        writer.emit("v0 = cuda.local.array(4, np.float64)")
        writer.emit("v0[:] = 0.25")
        writer.names["v"].append("v0")
    for _ in range(rng.randint(5, 14)):
        writer.statement()
    for k, name in enumerate(writer.names["k"][-3:]):
        writer.emit(f"out_i[i, {k}] ^= {name}")
    for k, name in enumerate((writer.names["x"] + writer.names["m"])[-3:]):
        writer.emit(f"out_f[i, {k}] += {name}")
    return "\n".join([*lines, "def kernel(ai, af, s, z, out_i, out_f):", *writer.lines, ""])


# ---- the interpreter's numbers ----


def _dtype(x):
    if isinstance(x, Number):
        return x.value.dtype
    return np.dtype(bool if isinstance(x, bool) else np.int64 if isinstance(x, int) else np.float64)


def _plain(x):
    return x.value if isinstance(x, Number) else x


def _wrapped(value, dtype):
    """An integer modulo the range of a dtype."""
    bits = dtype.itemsize * 8
    value &= 2**bits - 1
    return dtype.type(value - 2**bits if dtype.kind == "i" and value >= 2 ** (bits - 1) else value)


def cast(x, dtype):
    """The number as a dtype, as C++ converts it."""
    dtype = np.dtype(dtype)
    value = _plain(x)
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind in "iu":
        whole = int(value)
        if _dtype(x).kind == "f":
            limits = np.iinfo(dtype)
            return Number(dtype.type(min(max(whole, limits.min), limits.max)))
        return Number(_wrapped(whole, dtype))
    with np.errstate(all="ignore"):
        return Number(dtype.type(int(value) if _dtype(x).kind in "biu" else value))


def _arithmetic(symbol, a, b):
    ta, tb = _dtype(a), _dtype(b)
    signed = ta.kind in "ib" or tb.kind in "ib"
    if symbol in ("<<", ">>"):
        signed = ta.kind in "ib"
    if "f" not in (ta.kind, tb.kind) and symbol != "/":
        if ta.kind == tb.kind == "b" and symbol in "&|^":
            return {"&": bool(a) & bool(b), "|": bool(a) | bool(b), "^": bool(a) ^ bool(b)}[symbol]
        dtype = np.dtype(np.int64 if signed else np.uint64)
        shift = int(_plain(b))
        x, y = int(cast(a, dtype).value), int(cast(b, dtype).value)
        if symbol in ("//", "%"):
            result = 0 if y == 0 else x // y if symbol == "//" else x % y
        elif symbol in ("<<", ">>", "**"):
            result = {"<<": lambda: x << shift, ">>": lambda: x >> shift, "**": lambda: x**shift}[
                symbol
            ]()
        else:
            result = {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}[
                symbol
            ]
        return Number(_wrapped(result, dtype))
    dtype = np.dtype(np.float64) if "f" not in (ta.kind, tb.kind) else np.promote_types(ta, tb)
    x, y = cast(a, dtype).value, cast(b, dtype).value
    with np.errstate(all="ignore"):
        function = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide,
                    "%": np.remainder, "**": np.power}[symbol]  # fmt: skip
        return Number(dtype.type(function(x, y)))


def _compare(symbol, a, b):
    x, y = _plain(a), _plain(b)
    if "f" in (_dtype(a).kind, _dtype(b).kind):
        dtype = np.promote_types(_dtype(a), _dtype(b))
        x, y = cast(a, dtype).value, cast(b, dtype).value
    else:
        x, y = int(x), int(y)
    return bool(
        {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[symbol]
    )


class Number:
    """A typed number: a NumPy scalar that computes by Numba's rules."""

    __hash__ = None

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return bool(self.value != 0)

    def __index__(self):
        return int(self.value)

    def __neg__(self):
        if self.value.dtype.kind == "f":
            return Number(-self.value)
        wide = np.dtype(np.uint64 if self.value.dtype.kind == "u" else np.int64)
        return Number(_wrapped(-int(self.value), wide))

    def __pos__(self):
        return self

    def __invert__(self):
        wide = np.dtype(np.uint64 if self.value.dtype.kind == "u" else np.int64)
        return Number(_wrapped(~int(self.value), wide))

    def __abs__(self):
        if self.value.dtype.kind != "f":
            return Number(_wrapped(abs(int(self.value)), self.value.dtype))
        return Number(abs(self.value))

    def __float__(self):
        return float(self.value)

    def __repr__(self):
        return f"{self.value.dtype}:{self.value}"


def _operators():
    arithmetic = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%"}
    arithmetic |= {"pow": "**", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}
    for name, symbol in arithmetic.items():
        setattr(Number, f"__{name}__", lambda a, b, s=symbol: _arithmetic(s, a, b))
        setattr(Number, f"__r{name}__", lambda a, b, s=symbol: _arithmetic(s, b, a))
    for name, symbol in {
        "lt": "<",
        "le": "<=",
        "gt": ">",
        "ge": ">=",
        "eq": "==",
        "ne": "!=",
    }.items():
        setattr(Number, f"__{name}__", lambda a, b, s=symbol: _compare(s, a, b))


_operators()


class Elements:
    """An array whose elements are Numbers."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        if isinstance(index, Number):
            index = int(index)
        found = self.array[index]
        return Elements(found) if isinstance(found, np.ndarray) else Number(found)

    def __setitem__(self, index, value):
        value = cast(value, self.array.dtype)
        self.array[index] = _plain(value)

    def __iter__(self):
        return (Number(x) for x in self.array)


def _extreme(symbol):
    def function(a, b):
        dtype = np.promote_types(_dtype(a), _dtype(b))
        x, y = cast(a, dtype), cast(b, dtype)
        if dtype.kind == "f" and (_plain(x) != _plain(x) or _plain(y) != _plain(y)):
            return y if _plain(x) != _plain(x) else x
        return y if _compare(symbol, y, x) else x

    return function


class _Numpy:
    int16, int32, int64 = (lambda x, d=d: cast(x, d) for d in (np.int16, np.int32, np.int64))
    uint8, uint32, uint64 = (lambda x, d=d: cast(x, d) for d in (np.uint8, np.uint32, np.uint64))
    float32, float64 = (lambda x, d=d: cast(x, d) for d in (np.float32, np.float64))
    int16, int32, int64, uint8, uint32, uint64, float32, float64 = map(
        staticmethod, (int16, int32, int64, uint8, uint32, uint64, float32, float64)
    )


class _Math:
    @staticmethod
    def sqrt(x):
        dtype = np.dtype(np.float32) if _dtype(x) == np.float32 else np.dtype(np.float64)
        with np.errstate(all="ignore"):
            return Number(dtype.type(np.sqrt(cast(x, dtype).value)))


def _float(x):
    return x if isinstance(x, Number) and x.value.dtype.kind == "f" else cast(x, np.float64)


def _int(x):
    return x if _dtype(x).kind in "iu" else cast(x, np.int64)


class _Literals(ast.NodeTransformer):
    """Numbers of the text become typed ones; those in slices stay."""

    def visit_Constant(self, node):
        if type(node.value) not in (int, float):
            return node
        return ast.Call(ast.Name("number", ast.Load()), [node], [])

    def visit_Slice(self, node):
        return node


def expected(text, ai, af, s, z):
    """(out_i, out_f) of the program, each row by one run of the text."""
    out_i, out_f = np.zeros((ROWS, COLUMNS), np.int64), np.zeros((ROWS, COLUMNS))
    row = 0

    class Cuda:
        class local:
            @staticmethod
            def array(shape, dtype):
                return Elements(np.zeros(shape, np.float64))

        @staticmethod
        def grid(axes):
            return Number(np.int64(row))

    scope = {"cuda": Cuda, "np": _Numpy, "math": _Math, "min": _extreme("<"), "max": _extreme(">"),
             "int": _int, "float": _float}  # fmt: skip
    scope["range"] = lambda *bounds: (Number(np.int64(k)) for k in range(*map(int, bounds)))
    scope["enumerate"] = lambda items: zip(scope["range"](len(items)), items)
    scope["number"] = lambda x: Number(np.int64(x) if isinstance(x, int) else np.float64(x))
    tree = ast.fix_missing_locations(_Literals().visit(ast.parse(text)))
    exec(compile(tree, "<program>", "exec"), scope)
    args = [Elements(x) for x in (ai, af)] + [Number(np.int64(s)), Number(np.float64(z))]
    for turn in range(ROWS):
        row = turn
        scope["kernel"](*args, Elements(out_i), Elements(out_f))
    return out_i, out_f


def inputs(seed):
    """Arrays and numbers of a program."""
    rng = np.random.default_rng(seed)
    small = rng.integers(-20, 20, (ROWS, COLUMNS))
    wide = rng.integers(-(2**31), 2**31, (ROWS, COLUMNS))
    ai = np.where(rng.random((ROWS, COLUMNS)) < 0.8, small, wide)
    ai = ai.astype([np.int32, np.int64, np.uint8, np.uint64, np.int16][seed % 5])
    af = (rng.integers(-64, 64, (ROWS, COLUMNS)) / 8).astype(
        [np.float64, np.float32][seed // 5 % 2]
    )
    return ai, af, int(rng.integers(-9, 9)), float(rng.integers(-9, 9)) / 4


def differences(got, want):
    """Text of the first element that differs, or ""."""
    for name, a, b in zip(("out_i", "out_f"), got, want):
        wrong = (a != b) & ~((a != a) & (b != b))
        if wrong.any():
            place = tuple(map(int, np.argwhere(wrong)[0]))
            return f"{name}{list(place)} is {a[place]!r}, want {b[place]!r}"
    return ""
