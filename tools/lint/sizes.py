"""Files of at most 800 lines, functions of at most 100.

sizes.txt lists exceptions, each with its reason.
"""

import ast
import re
from pathlib import Path

from sources import CPP, PYTHON, blank, files

FILE_LINES = 800
FUNCTION_LINES = 100
# A brace after one of these opens no function.
_SCOPE = re.compile(r"\b(namespace|extern|class|struct|union|enum)\b")


def check(root: Path) -> list[str]:
    excuses = read_excuses(root / "tools/lint/sizes.txt")
    problems, used = [], set()
    for path in [*files(root, *CPP, *PYTHON, "CMakeLists.txt", ".cmake"), Path("dev")]:
        if not (root / path).is_file():
            continue
        text = (root / path).read_text(errors="replace")
        found = [(str(path), 1, text.count("\n"), FILE_LINES)]
        found += [
            (f"{path}:{name}", line, lines, FUNCTION_LINES)
            for name, line, lines in functions(path, text)
        ]
        for key, line, lines, limit in found:
            if lines <= limit:
                continue
            if key in excuses:
                used.add(key)
            else:
                problems.append(f"{path}:{line}: {key} has {lines} lines, {limit} are allowed")
    problems += [f"tools/lint/sizes.txt: {key} needs no exception" for key in excuses.keys() - used]
    return problems


def read_excuses(file: Path) -> dict[str, str]:
    """Lines 'path | reason' and 'path:function | reason'."""
    excuses = {}
    for number, line in enumerate(file.read_text().splitlines() if file.exists() else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, _, reason = line.partition("|")
        if not reason.strip():
            raise SystemExit(f"{file}:{number}: an exception needs its reason: 'path | reason'")
        excuses[key.strip()] = reason.strip()
    return excuses


def functions(path: Path, text: str) -> list[tuple[str, int, int]]:
    """(name, first line, number of lines) of each function."""
    return (
        python_functions(text)
        if path.suffix == ".py"
        else cpp_functions(text)
        if path.suffix in CPP
        else []
    )


def python_functions(text: str) -> list[tuple[str, int, int]]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return [(node.name, node.lineno, node.end_lineno - node.lineno + 1) for node in nodes]


def cpp_functions(text: str) -> list[tuple[str, int, int]]:
    """Brace counting: a body is a brace outside every other function whose head has parentheses and opens no scope."""
    text = re.sub(
        r"^[ \t]*#(?:\\\n|[^\n])*",
        lambda m: re.sub(r"[^\n]", " ", m.group(0)),
        blank(text),
        flags=re.M,
    )
    found, open_braces, head_start = [], [], 0
    for match in re.finditer(r"[{};]", text):
        at, sign = match.start(), match.group(0)
        if sign == "{":
            head = text[head_start:at]
            inside = any(kind == "function" for kind, _, _ in open_braces)
            is_function = not inside and "(" in head and not _SCOPE.search(head.split("(")[0])
            first = head_start + len(head) - len(head.lstrip())
            name = re.search(r"([~\w:]+|operator[^\w\s]+)\s*\(", head)
            open_braces.append(
                ("function" if is_function else "scope", name.group(1) if name else "?", first)
            )
        elif sign == "}" and open_braces:
            kind, name, first = open_braces.pop()
            if kind == "function":
                line = text.count("\n", 0, first) + 1
                found.append((name, line, text.count("\n", first, at) + 1))
        head_start = at + 1
    return found
