"""The syntax tree of a Python function, and the values of the names that it does not define.

Source text is needed: a function that ``exec`` made keeps none unless its code was registered with ``linecache``.
"""

import ast
import builtins
import inspect
import linecache
import sys
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
        _know_command_line(code)
        if self.name == "<lambda>":
            return _find_lambda(self, code)
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
        tree = ast.parse(dedented)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
                return node
            if isinstance(node, ast.AsyncFunctionDef) and node.name == code.co_name:
                text = "async cannot be used in kernels: they are plain functions"
                raise UnsupportedError(place(self, node, text))
        raise UnsupportedError(
            f"the source of {self.kind} '{self.name}' cannot be read (no 'def {code.co_name}' in {self.file}:"
            f"{self.first_line}); define the function in a file or a notebook cell, not by exec()"
        )

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
                if name == self.py_func.__name__:
                    return self.py_func
                raise KeyError(name) from None
        scope = self.py_func.__globals__
        if name in scope:
            return scope[name]
        if name == self.py_func.__name__:  # a function that is compiled while it is being defined
            return self.py_func
        return vars(builtins)[name]


def _know_command_line(code):
    """python -c: the text is an argument of the interpreter, which does not keep it for tracebacks before 3.13."""
    given = getattr(sys, "orig_argv", [])
    if code.co_filename == "<string>" and "<string>" not in linecache.cache and "-c" in given[:-1]:
        text = given[given.index("-c") + 1]
        linecache.cache["<string>"] = (len(text), None, text.splitlines(True), "<string>")


def _find_lambda(function, code):
    """The lambda with this code among those that begin on its line."""
    file = "".join(linecache.getlines(code.co_filename, function.py_func.__globals__))
    try:
        tree = ast.parse(file)
    except SyntaxError:  # a cell of a notebook, with lines that are not Python
        tree = ast.Module([], [])
    found = [
        n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and n.lineno == code.co_firstlineno
    ]
    found = [n for n in found if _holds(n, code)]
    if found and (len(found) == 1 or hasattr(code, "co_positions")):
        function.first_line, function.indent = 1, 0
        return found[-1]  # of lambdas inside one another the innermost comes last
    raise UnsupportedError(
        f"the source of the lambda of {function.file}:{code.co_firstlineno} cannot be read; write it as a def"
        + (", or each on a line of its own" if found else "")
    )


def _holds(node, code):
    """True when the code's instructions may stand in the lambda."""
    names = tuple(a.arg for a in node.args.args)
    if names != code.co_varnames[: code.co_argcount]:
        return False
    if not hasattr(code, "co_positions"):  # before Python 3.11
        return True
    begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    places = [p for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
    return all(begin <= (p[0], p[2]) and (p[1], p[3]) <= end for p in places)
