"""Array expressions as text: ``td.benchmark("sqrt(a * a + 1)", a=x)`` and ``treadle bench -e``."""

import inspect

__all__ = ["as_work", "free_names"]


def free_names(text):
    """The names of an expression that Treadle does not have, in the order of their first use: its arrays.

    SyntaxError for a text that is no expression.
    """
    import ast

    import treadle

    found = []
    for node in ast.walk(ast.parse(text, "<expression>", "eval")):
        if isinstance(node, ast.Name) and not hasattr(treadle, node.id) and node.id not in found:
            found.append(node.id)
    order = [(text.find(name), name) for name in found]
    return [name for _, name in sorted(order)]


def as_work(work, args, arrays, where="device"):
    """(function, its arguments, a name): of an expression, a function of its arrays that evaluates it anew each time.

    TypeError for an expression whose arrays are not given by keyword, or keywords of something that is none.
    """
    if not isinstance(work, str):
        if arrays:
            raise TypeError(
                f"benchmark() has no option {next(iter(arrays))!r}; arguments of the work are given by position, "
                "and by keyword only to an expression as text"
            )
        return work, args, label_of(work)
    if args:
        raise TypeError(
            "the arrays of an expression are given by keyword: benchmark('a + b', a=x, b=y)"
        )
    missing = [name for name in free_names(work) if name not in arrays]
    if missing:
        raise TypeError(f"the expression {work!r} needs {missing[0]}= (an array or a number)")
    return evaluator(work, tuple(arrays), where), tuple(arrays.values()), work


def evaluator(text, names, where):
    """A function of the named values. On the host the functions are NumPy's."""
    import numpy

    import treadle

    code = compile(text, "<expression>", "eval")
    functions = dict(vars(numpy if where == "host" else treadle))
    for name in code.co_names:
        if name not in functions and name not in names and hasattr(treadle, name):
            functions[name] = getattr(treadle, name)  # a module that is loaded when it is asked for

    def work(*values):
        return eval(code, functions, dict(zip(names, values)))

    return work


def label_of(work):
    """A name for a function: its own, or the text of a lambda where that can be found."""
    name = getattr(work, "__name__", type(work).__name__)
    if name != "<lambda>":
        return name
    try:
        line = inspect.getsource(work).strip()
    except (OSError, TypeError):
        return name
    text = _lambda_in(line.splitlines()[0]) or name
    return text if len(text) <= 60 else text[:57] + "…"


def _lambda_in(line):
    """The first lambda of a line, to the comma or bracket that ends it."""
    begin = line.find("lambda")
    if begin < 0:
        return ""
    depth, body = 0, False
    for i in range(begin, len(line)):
        c = line[i]
        body = body or (c == ":" and depth == 0)
        depth += (c in "([{") - (c in ")]}")
        if depth < 0 or (c == "," and depth == 0 and body):
            return line[begin:i].strip()
    return line[begin:].strip()
