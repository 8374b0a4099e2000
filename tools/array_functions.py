#!/usr/bin/env python3
"""Writes docs/array-functions.md: every array function, and whether NumPy, CuPy and Treadle have it.

    PYTHONPATH=build/python python3 tools/array_functions.py [--check]

NumPy and Treadle are asked; CuPy's names are those of tables/cupy_names.txt. With --check nothing is written: exit 1
when the page is not what would be written, 77 when it was written with another NumPy than the one installed.
"""

import argparse
import importlib
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/array-functions.md"

# Names of NumPy and CuPy that Treadle leaves out on purpose.
LEFT_OUT = {
    "removed from NumPy 2": (
        "alltrue cumproduct find_common_type in1d issctype issubclass_ issubsctype msort obj2sctype product round_ "
        "safe_eval sctype2char set_string_function sometrue trapz asfarray disp who fromDlpack "
        "make_aligned_dtype"
    ),
    "Philox is the one bit generator": "MRG32k3a XORWOW",
    "nothing to configure": "config",
}
HEAD = """# Array functions

What NumPy, CuPy and Treadle have, by name. Written by [tools/array_functions.py](../tools/array_functions.py); do not
edit it. NumPy's names are those of NumPy {numpy}. CuPy's names are those of
[tables/cupy_names.txt](../tables/cupy_names.txt), where * marks the ones used most.
A name that Treadle has follows NumPy's signature and dtypes; where values may differ, [Arrays](arrays.md) says so.
"""


OTHER_NUMPY = 77  # exit status: the page is of another NumPy than the one installed


def numpy_version():
    """Major and minor version of the NumPy that is installed; a patch release has no new names."""
    import numpy as np

    return ".".join(np.__version__.split(".")[:2])


def cupy_names():
    """{namespace: {name: is it starred}}"""
    spaces, current = {}, {}
    for line in (ROOT / "tables/cupy_names.txt").read_text().splitlines():
        if line.startswith("["):
            current = spaces.setdefault(line.strip("[]"), {})
        elif not line.startswith("#"):
            current.update((name.rstrip("*"), name.endswith("*")) for name in line.split())
    return spaces


def public(module):
    """Functions, classes and index objects of a module, no sub-modules, dtypes or constants."""
    import numpy as np

    def wanted(name, value):
        if name.startswith("_") or isinstance(value, types.ModuleType):
            return False
        if isinstance(value, type) and issubclass(value, (np.generic, BaseException)):
            return False
        return callable(value) or type(value).__name__ in ("_Grid", "_Joiner", "IndexExpression")

    names = getattr(module, "__all__", None) or dir(module)
    found = {name: getattr(module, name) for name in names if hasattr(module, name)}
    return {name: value for name, value in found.items() if wanted(name, value)}


def note(value):
    """The first sentence of the docstring; that of a binding is a signature and says nothing."""
    text = (getattr(value, "__doc__", None) or "").strip().split("\n")[0]
    if type(value).__name__ == "ufunc":
        return "element by element"
    if ") ->" in text:
        return ""
    return text.replace("|", "\\|")


def section(title, mine, numpy_names, cupy):
    reasons = {name: why for why, names in LEFT_OUT.items() for name in names.split()}
    rows = [f"\n## {title}\n", "| name | NumPy | CuPy | Treadle | note |", "|---|---|---|---|---|"]
    for name in sorted(set(mine) | set(cupy), key=str.lower):
        starred = "*" if cupy.get(name) else ""
        has = name in mine
        words = note(mine[name]) if has else reasons.get(name, "")
        marks = ["yes" if x else "" for x in (name in numpy_names, name in cupy, has)]
        rows.append(f"| `{name}`{starred} | {marks[0]} | {marks[1]} | {marks[2]} | {words} |")
    both = sum(name in mine for name in cupy)
    starred = [name for name, star in cupy.items() if star]
    most = (
        f", {sum(name in mine for name in starred)} of the {len(starred)} used most"
        if starred
        else ""
    )
    more = len(set(mine) - set(cupy))
    rows.insert(1, f"{both} of CuPy's {len(cupy)} names{most}; {more} names that CuPy lacks.\n")
    return rows


def page():
    import numpy as np

    lines = [HEAD.format(numpy=numpy_version())]
    for space, cupy in cupy_names().items():
        part = space.partition(".")[2]
        mine = importlib.import_module(f"treadle.{part}" if part else "treadle")
        theirs = getattr(np, part) if part else np
        found = public(mine)
        found |= {
            name: getattr(mine, name) for name in cupy if name in vars(mine)
        }  # exceptions too
        lines += section(space.replace("cupy", "treadle"), found, public(theirs), cupy)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    options = parser.parse_args()
    text = page()
    if not options.check:
        PAGE.write_text(text)
        return 0
    current = PAGE.read_text()
    if current == text:
        return 0
    if f"those of NumPy {numpy_version()}." not in current:
        print(f"the page was not written with NumPy {numpy_version()}", file=sys.stderr)
        return OTHER_NUMPY
    print("docs/array-functions.md is not current; run tools/array_functions.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
