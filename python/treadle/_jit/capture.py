"""The syntax tree of a Python function, and the values of the names that it does not define.

Source text is needed: a function that ``exec`` made keeps none unless its code was registered with ``linecache``.
"""

import ast
import builtins
import inspect
import textwrap

from .errors import UnsupportedError, place


class Function:
    """A function's tree: ``node`` (a FunctionDef or a Lambda), with lines relative to ``first_line`` of ``file``."""

    def __init__(self, py_func, kind):
        self.py_func, self.kind = py_func, kind
        self.name = py_func.__name__
        self.file = py_func.__code__.co_filename
        self.first_line = py_func.__code__.co_firstlineno
        self.indent = 0
        self._closure = None
        self.node = self._read()

    def _read(self):
        code = self.py_func.__code__
        try:
            lines, first = inspect.getsourcelines(code)
        except (OSError, TypeError) as error:
            raise UnsupportedError(
                f"the source of {self.kind} '{self.name}' cannot be read ({error}); define the function in a file "
                f"or a notebook "
                "cell, not by exec()"
            ) from None
        text = "".join(lines)
        self.first_line = max(first, 1)
        dedented = textwrap.dedent(text)
        self.indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        if self.name == "<lambda>":
            return _find_lambda(dedented, code, self)
        tree = ast.parse(dedented)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
                return node
            if isinstance(node, ast.AsyncFunctionDef) and node.name == code.co_name:
                text = "async cannot be used in kernels: they are plain functions"
                raise UnsupportedError(place(self, node, text))
        raise UnsupportedError(f"no 'def {code.co_name}' in {self.file}:{self.first_line}")

    @property
    def parameters(self):
        """(name, default or inspect.Parameter.empty) of each parameter, in order."""
        return list(inspect.signature(self.py_func, follow_wrapped=False).parameters.values())

    def names(self):
        """Every name that the function could read."""
        return [
            *self.py_func.__code__.co_freevars,
            *self.py_func.__globals__,
            *vars(builtins),
        ]

    def look_up(self, name):
        """The value of a free name: closure, globals, builtins. KeyError when there is none."""
        if self._closure is None:
            cells = self.py_func.__closure__ or ()
            self._closure = dict(zip(self.py_func.__code__.co_freevars, cells))
        if name in self._closure:
            try:
                return self._closure[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        scope = self.py_func.__globals__
        return scope[name] if name in scope else vars(builtins)[name]


def _find_lambda(text, code, function):
    """The lambda with the same code among those of a piece of a statement."""
    # The piece may begin or end inside an expression: drop what stands around the lambda.
    start = 0
    while (start := text.find("lambda", start)) >= 0:
        for end in range(len(text), start, -1):
            try:
                tree = ast.parse("(" + text[start:end].strip().rstrip(",") + ")", mode="eval")
            except SyntaxError:
                continue
            node = tree.body
            if isinstance(node, ast.Tuple):
                node = node.elts[0]
            if isinstance(node, ast.Lambda) and _same_code(node, code):
                line = text.count("\n", 0, start)
                column = start - (text.rfind("\n", 0, start) + 1) - 1
                for part in ast.walk(node):
                    if hasattr(part, "lineno"):
                        if part.lineno == 1:
                            part.col_offset += column
                            part.end_col_offset += column
                        part.lineno += line
                        part.end_lineno += line
                return node
            break
        start += 6
    raise UnsupportedError(
        f"the lambda of {function.file}:{function.first_line} cannot be read; write it as a def"
    )


def _same_code(node, code):
    names = tuple(a.arg for a in node.args.args)
    if names != code.co_varnames[: code.co_argcount]:
        return False
    again = compile(ast.Expression(node), "", "eval").co_consts[0]
    return again.co_code == code.co_code and len(again.co_consts) == len(code.co_consts)
