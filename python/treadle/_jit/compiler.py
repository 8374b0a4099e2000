"""One Python function for one list of argument types: types are followed through it, and C++ text comes out.

The statements are walked in order with an environment: for each name the type that it has *here*. Where paths meet, the
environments are joined: a name whose types differ gets the type that both fit in, and the paths convert at their
ends. A
loop's body is walked until the environment at its head no longer changes; only the last walk's text is kept. So a
name may
change its type along the way, as in Python, and every C++ variable still has one: a name has one C++ variable per type.
"""

import ast

from . import optional, ranges
from . import types as ty
from .capture import Function
from .errors import KernelError, TypingError, UnsupportedError, place, unexpected
from .expressions import Expressions
from .values import UNKNOWN, Value, same_const


class Conflict(ty.Type):
    """The type of a name whose types on several paths do not fit together; an error where it is read."""

    code = "x"

    def __init__(self, first, second):
        super().__init__(f"{first} on one path and {second} on another")
        self.first, self.second = first, second


class Unit:
    """What one kernel's translation unit holds: its functions, constants and options."""

    def __init__(self, *, debug=False, bounds=False):
        self.debug, self.bounds = debug, bounds
        self.functions = {}  # (py_func, types) -> Instance
        self.text = []  # of device functions, callees first
        self.globals = []  # declarations of constants
        self.sources = []  # CUDA C++ sources to put in front
        self.linked = []  # those among them that the program gave
        self.include_folders = []  # where their #include directives look
        self.keep = []  # objects whose addresses the text holds
        self.captured = {}  # array object -> name
        self.cooperative = False
        self.names = 0
        self.dynamic_shared = False
        self.sites, self.site_numbers = [], {}  # what debug code may report

    def need(self, source):
        """Puts CUDA C++ text in front, once."""
        if source not in self.sources:
            self.sources.append(source)

    def unique(self, stem):
        self.names += 1
        return f"{stem}_{self.names}"


class Instance:
    """A device function compiled for argument types. ``result`` is None while nothing is known of it."""

    def __init__(self, symbol):
        self.symbol, self.result, self.recursive, self.done = symbol, None, False, False
        self.fails = False  # takes td_failed as its last parameter


class Loop:
    """What the walks of a loop have found: the environments at its head and after it."""

    def __init__(self):
        self.head = self.exit = None
        self.backs, self.breaks = [], []
        self.label = None


class FunctionCompiler(Expressions):
    numpy = False  # True: by NumPy's rules of types, not Numba's

    def __init__(self, unit, py_func, kind="device function", source=None):
        self.unit, self.kind = unit, kind
        self.function = source or Function(py_func, kind)
        self.out = []
        self.env = {}
        self.variables = {}  # C++ name -> type
        self.declared, self.shared_text = {}, {}  # shared and local memory: by place, declarations
        self.loops = {}  # by node and copy
        self.copies = ()  # which items' rounds of unrolled loops are being written
        self.loop_stack = []
        self.result = None
        self.temps = 0
        self.instance = None
        self.node = None
        self.careful = False
        self.fails = False  # a thread may end in it, or in a function that it calls

    # ---- errors ----

    def error(self, message, node=None, cure="", kind=TypingError, types=()):
        """The exception that tells where, what and what to do."""
        return kind(place(self.function, node or self.node, message, cure, types))

    def unsupported(self, message, node=None, cure=""):
        """The exception for Python that kernels do not have."""
        return self.error(message, node, cure, UnsupportedError)

    # ---- text ----

    def emit(self, line):
        self.out.append(line)

    def temp(self, code, type_):
        self.temps += 1
        name = f"t{self.temps}"
        self.emit(f"const {type_.cpp} {name} = {code};")
        return name

    def keep(self, value):
        """The value in a temporary, unless it is a name or a literal already."""
        if value.type.cpp is None or value.type is ty.none or value.code.isidentifier():
            return value
        if value.is_const and not value.type.is_tuple:
            return value
        if value.items is not None and value.type.types:
            return self.make_tuple([self.keep(i) for i in value.items], value.type.cls)
        return value.named(self.temp(value.code, value.type))

    def block(self, body):
        """Text of what ``body()`` emits."""
        outer, self.out = self.out, []
        try:
            body()
            return self.out
        finally:
            self.out = outer

    # ---- names ----

    def variable(self, name, type_):
        """The C++ variable of a name for one type."""
        optional.need(self, type_)
        plain = name + "_"
        taken = self.variables.get(plain)
        if taken is None or taken == type_:
            self.variables[plain] = type_
            return plain
        code = f"{name}_{type_.code}"
        n = 2
        while self.variables.get(code, type_) != type_:
            code = f"{name}_{type_.code}_{n}"
            n += 1
        self.variables[code] = type_
        return code

    def assign_name(self, name, value):
        if isinstance(value.type, Conflict):
            raise self.error(f"this has type {value.type}")
        if value.type.cpp is None or value.type is ty.none:
            self.env[name] = value
            return
        code = self.variable(name, value.type)
        if value.code != code:
            self.emit(f"{code} = {value.code};")
        self.env[name] = value.named(code)

    # ---- joining ----

    def join(self, *envs):
        """The environment where several paths meet; None paths do not arrive."""
        envs = [e for e in envs if e is not None]
        if not envs:
            return None
        merged = dict(envs[0])
        for env in envs[1:]:
            for name, value in env.items():
                merged[name] = (
                    self.join_values(name, merged[name], value) if name in merged else value
                )
        for name in merged:
            if any(name not in env for env in envs):
                merged[name] = Value(merged[name].type, merged[name].code)
                if merged[name].type.cpp is None:
                    merged[name] = next(e[name] for e in envs if name in e)
        return merged

    def join_values(self, name, a, b):
        for value in (a, b):
            if isinstance(value.type, Conflict):
                return value
        if a.type == b.type:
            const = a.const if same_const(a.const, b.const) else UNKNOWN
            if a.type.cpp is None and const is UNKNOWN:
                return Value(Conflict(_describe(a), _describe(b)))
            bits = None if None in (a.bits, b.bits) else max(a.bits, b.bits)
            return Value(a.type, a.code, const, bits, least=ranges.lower(a, b))
        type_ = ty.unify(a.type, b.type)
        if type_ is None or type_.cpp is None:
            return Value(Conflict(_describe(a), _describe(b)))
        return Value(type_, self.variable(name, type_))

    def transfer(self, env, target):
        """Conversions at the end of a path with ``env`` that goes on with ``target``."""
        if env is None or target is None:
            return
        for name, value in target.items():
            have = env.get(name)
            if have is None or isinstance(value.type, Conflict) or value.type.cpp is None:
                continue
            if value.type is ty.none or ty.unify(have.type, value.type) is None:
                continue  # the next walk of the loop finds the type, or the conflict if it is read
            if have.type != value.type and have.type.cpp is not None:
                code = self.variable(name, value.type)
                self.emit(f"{code} = {self.convert(have, value.type).code};")

    # ---- statements ----

    def statements(self, nodes):
        for node in nodes:
            if self.env is None:
                return
            self.statement(node)

    def statement(self, node):
        self.node = node
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            raise self.unsupported(
                f"{_NAMES.get(type(node).__name__, type(node).__name__)} cannot be used in kernels",
                node,
                CURES.get(type(node).__name__, ""),
            )
        self.line(node)
        # Reads before a call that writes stay before it.
        self.careful = any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in ast.walk(node))
        method(node)

    def line(self, node):
        self.emit(
            f'#line {self.function.first_line + node.lineno - 1} "{_c_string(self.function.file)}"'
        )

    def do_Pass(self, node):
        pass

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return  # a docstring or an ellipsis
        value = self.expression(node.value)
        if value.code and not value.code.isidentifier() and value.type.cpp:
            self.emit(f"(void)({value.code});")

    def do_Assign(self, node):
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node):
        if node.value is not None:
            self.assign(node.target, self.expression(node.value))

    def do_AugAssign(self, node):
        target = node.target
        if isinstance(target, ast.Name):
            old = self.expression(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            self.assign(target, self.binary(node.op, old, self.expression(node.value), node))
        elif isinstance(target, ast.Subscript):
            base = self.keep(self.expression(target.value))
            index = self.index_values(target.slice, keep=True)
            old = self.load_item(base, index, target)
            value = self.binary(node.op, old, self.expression(node.value), node)
            self.store_item(base, index, value, target)
        else:
            old = self.expression(
                ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
            )
            self.assign(target, self.binary(node.op, old, self.expression(node.value), node))

    def assign(self, target, value):
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value)
        elif isinstance(target, ast.Subscript):
            base = self.expression(target.value)
            self.store_item(base, self.index_values(target.slice), value, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        elif isinstance(target, ast.Attribute):
            self.store_attribute(self.expression(target.value), target.attr, value, target)
        else:
            raise self.unsupported(
                f"assignment to {type(target).__name__} cannot be used in kernels", target
            )

    def unpack(self, target, value):
        if any(isinstance(t, ast.Starred) for t in target.elts):
            raise self.unsupported("a starred target cannot be used in kernels", target)
        items = [self.fix(v) for v in self.tuple_items(value, target, len(target.elts))]
        for part, item in zip(target.elts, items):
            self.assign(part, item)

    def fix(self, value):
        """In a temporary even when it is a variable, which an assignment may change."""
        if (
            value.type.cpp is None
            or value.type is ty.none
            or (value.is_const and not value.type.is_tuple)
        ):
            return value
        return value.named(self.temp(value.code, value.type))

    def do_Return(self, node):
        value = self.expression(node.value) if node.value is not None else Value(ty.none, "", None)
        if self.kind == "kernel":
            if value.type is not ty.none:
                raise self.error(
                    f"kernel must have void return type, but this returns a value of type {value.type}",
                    node,
                    "a kernel returns nothing: write the result to an array argument",
                )
            self.emit("return;")
        else:
            self.give_back(value, node)
        self.env = None

    def give_back(self, value, node):
        if value.type.cpp is None:
            raise self.error(f"a device function cannot return {_describe(value)}", node)
        wanted = self.result
        falls_off = not isinstance(node, ast.Return)
        if falls_off and value.type is ty.none and wanted not in (None, ty.none):
            raise self.error(
                f"a path of '{self.function.name}' ends without a return, another gives {wanted}",
                node,
            )
        self.result = self.join_result(value)
        if self.result is None:
            self.result = wanted
            growing = ""
            if self.instance is not None and self.instance.recursive:
                growing = "Return type of recursive function does not converge: "
            raise self.error(
                f"{growing}this returns {value.type}, and another return of '{self.function.name}' gives {wanted}",
                node,
                "let all returns give the same type",
            )
        if self.instance is not None and self.instance.result is None:
            self.instance.result = self.result  # a call of the function by itself may go on
        final = self.assumed or self.result
        if final is ty.none:
            self.emit("return {};")
        else:
            self.emit(
                f"return {self.convert(value, final).code};"
                if ty.unify(value.type, final) == final
                else f"return {final.cpp}{{}};"
            )

    def join_result(self, value):
        """The type of the results so far and this one."""
        return value.type if self.result is None else ty.unify(self.result, value.type)

    def do_If(self, node):
        test = self.truth(self.expression(node.test), node.test)
        if test.is_const:
            self.statements(node.body if test.const else node.orelse)
            return
        entry = self.env
        arms = []
        for holds, body in ((True, node.body), (False, node.orelse)):
            self.env = dict(entry)
            self.env.update(ranges.facts(self, node.test, holds))
            lines = self.block(lambda body=body: self.statements(body))
            arms.append((lines, self.env))
        merged = self.join(*(env for _, env in arms))
        for lines, env in arms:
            lines += self.block(lambda env=env: self.transfer(env, merged))
        self.emit(f"if ({test.code}) {{")
        self.out += arms[0][0]
        if arms[1][0]:
            self.emit("} else {")
            self.out += arms[1][0]
        self.emit("}")
        self.env = merged

    def do_Break(self, node):
        loop = self.loop_stack[-1]
        loop.breaks.append(self.env)
        self.transfer(self.env, loop.exit)
        if loop.label:
            self.emit(f"goto {loop.label};")
        else:
            self.emit("break;")
        self.env = None

    def do_Continue(self, node):
        loop = self.loop_stack[-1]
        loop.backs.append(self.env)
        self.transfer(self.env, loop.head)
        self.emit("continue;")
        self.env = None

    def loop(self, node, body, orelse, open_text):
        """Walks a loop to its fixed point. ``body(loop)`` emits one round and returns the environment with which
        the loop ends by itself, or None; ``open_text`` begins the C++ loop.
        """
        loop = self.loops.setdefault((id(node), self.copies), Loop())
        entry = self.env
        if orelse:  # each time that the loop is written
            loop.label = self.unit.unique("after")
        for _ in range(50):
            head = self.join(entry, loop.head)
            loop.head, loop.backs, loop.breaks = head, [], []
            self.env = dict(head)
            self.loop_stack.append(loop)
            ended = []
            lines = self.block(lambda ended=ended: ended.append(body(loop)))
            back = self.env
            lines += self.block(lambda back=back: self.transfer(back, loop.head))
            self.loop_stack.pop()
            new_head = self.join(head, back, *loop.backs)
            self.widen(head, new_head)
            tail_env, tail = ended[0], []
            if orelse and tail_env is not None:
                self.env = dict(tail_env)
                tail = self.block(lambda: self.statements(orelse))
                tail_env = self.env
            exit_ = self.join(tail_env, *loop.breaks)
            tail += self.block(lambda e=tail_env, x=exit_: self.transfer(e, x))
            stable = _same_env(new_head, head) and _same_env(exit_, loop.exit)
            loop.head, loop.exit = new_head, exit_
            if stable:
                break
        else:
            raise self.error("the types of this loop's variables do not settle", node)
        self.transfer(entry, loop.head)
        self.emit(open_text)
        self.out += lines
        self.emit("}")
        if tail:
            self.emit("{")
            self.out += tail
            self.emit("}")
        if loop.label:
            self.emit(f"{loop.label}:;")
        self.env = loop.exit

    def widen(self, old, new):
        """A bound that grows from round to round is no bound."""
        for name, value in new.items():
            before = old.get(name)
            if before is None:
                continue
            if before.bits != value.bits:
                value = Value(value.type, value.code, value.const, least=value.least)
            if before.least != value.least:
                value = Value(value.type, value.code, value.const, value.bits)
            new[name] = value

    def do_While(self, node):
        def body(loop):
            self.node = node
            test = self.truth(self.expression(node.test), node.test)
            ended = dict(self.env)
            if test.is_const and test.const:
                ended = None
            elif test.is_const:
                self.emit("break;")
                self.env = None
                return ended
            else:
                arriving = None if node.orelse else ended
                ending = self.block(lambda env=arriving: self.transfer(env, loop.exit))
                if ending:
                    self.emit(f"if (!({test.code})) {{")
                    self.out += ending
                    self.emit("break; }")
                else:
                    self.emit(f"if (!({test.code})) break;")
                self.env.update(ranges.facts(self, node.test, True))
            self.statements(node.body)
            return ended

        self.loop(node, body, node.orelse, "for (;;) {")

    def do_For(self, node):
        self.node = node
        from .iteration import iterate

        iterate(self, node)

    def do_Assert(self, node):
        from .debugging import assertion

        assertion(self, node)

    def do_Raise(self, node):
        from .debugging import raising

        raising(self, node)

    def do_Delete(self, node):
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise self.unsupported("only names can be deleted in kernels", target)
            self.env.pop(target.id, None)

    # ---- whole functions ----

    assumed = None

    def walk(self, args):
        """Text of the body for the parameters' values (name -> Value)."""
        try:
            return self._walk(args)
        except KernelError:
            raise
        except Exception as error:
            found = unexpected(self, error)
            raise found from (None if isinstance(found, KernelError) else error)

    def _walk(self, args):
        node = self.function.node
        for _ in range(10):
            self.result, self.env, self.temps = None, dict(args), 0
            self.shared_text, self.declared = {}, {}
            body = self.block(lambda: self._body(node))
            result = self.result or ty.none
            if result == self.assumed or self.kind == "kernel":
                break
            self.assumed = result
            if self.instance is not None:
                self.instance.result = result
        parameters = {v.code for v in args.values()}
        declared = [
            f"{type_.cpp} {name}{{}};"
            for name, type_ in self.variables.items()
            if name not in parameters
        ]
        return declared + list(self.shared_text.values()) + body

    def _body(self, node):
        if isinstance(node, ast.Lambda):
            self.node = node.body
            self.careful = True
            self.give_back(self.expression(node.body), node.body)
            return
        self.statements(node.body)
        if self.env is not None and self.kind != "kernel":
            self.give_back(Value(ty.none, "", None), node)


def _same_env(a, b):
    if a is None or b is None:
        return a is b
    if a.keys() != b.keys():
        return False
    return all(
        v.type == b[k].type
        and (v.bits, v.least) == (b[k].bits, b[k].least)
        and v.is_const == b[k].is_const
        and (v.items is None) == (b[k].items is None)
        for k, v in a.items()
    )


def _describe(value):
    if value.type.cpp is None and value.is_const:
        return repr(getattr(value.const, "__name__", value.const))
    return str(value.type)


def _c_string(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


_NAMES = {
    "Try": "try/except", "TryStar": "try/except", "With": "with", "AsyncWith": "with", "ClassDef": "a class definition",
    "FunctionDef": "a function inside the kernel", "AsyncFunctionDef": "async", "AsyncFor": "async",
    "Import": "import", "ImportFrom": "import", "Global": "global", "Nonlocal": "nonlocal", "Match": "match",
    "Yield": "yield", "YieldFrom": "yield", "ListComp": "a list comprehension", "SetComp": "a set comprehension",
    "DictComp": "a dict comprehension", "GeneratorExp": "a generator expression", "List": "a list", "Set": "a set",
    "Dict": "a dict", "JoinedStr": "string formatting", "FormattedValue": "string formatting", "Await": "await",
    "Starred": "a starred expression", "Lambda": "a lambda inside the kernel",
}  # fmt: skip

_OUTSIDE = "define it outside of the kernel, which may then call it"
CURES = {
    "List": "use a tuple of fixed length or cuda.local.array", "Dict": "pass arrays, tuples or named tuples",
    "Set": "use a tuple, or a boolean array", "JoinedStr": "print takes the values as arguments: print('x =', x)",
    "ListComp": "write a loop over cuda.local.array", "GeneratorExp": "write the loop", "Lambda": _OUTSIDE,
    "FunctionDef": _OUTSIDE, "ClassDef": "group values in a named tuple or a structured array",
    "Import": "import at the top of the file", "ImportFrom": "import at the top of the file",
    "Global": "globals are frozen when a kernel is compiled; share a value through an array",
    "Nonlocal": "outer names are frozen when a kernel is compiled; share a value through an array",
    "Try": "test the condition with if; raise is reported with debug=True", "Match": "use if and elif",
    "Yield": "write the values to an array", "YieldFrom": "write the values to an array",
}  # fmt: skip


def parameter(name, type_, code=None):
    """The value of a parameter."""
    return (
        Value(type_, code or name + "_")
        if type_.cpp and type_ is not ty.none
        else Value(type_, "", None)
    )
