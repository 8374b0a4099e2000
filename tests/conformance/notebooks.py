#!/usr/bin/env python3
"""Runs Jupyter notebooks about numba.cuda or CuPy with Treadle under those names, cell by cell, unmodified.

    PYTHONPATH=build/python python3 tests/conformance/notebooks.py CHECKOUT_OR_NOTEBOOK … [-v]

Each notebook runs in a process of its own through `treadle run`. A cell is run as IPython would run it: %timeit and
%time run their statement once, %%time and %%timeit the rest of the cell, the value of a last expression is shown;
other magics and commands of the shell are left out. Nothing of Jupyter is needed.

    ran      the cell came to its end
    failed   it raised something that is not in notebooks_known_failures.txt's list of what the notebook means to show
    skipped  a module that is not installed is missing, or a cell that was skipped made a name that it needs

A notebook shows results to people, so most cells have no check of their own; those that have (assert, numpy.testing)
raise when it fails. The exit status is 1 when a cell failed without a reason in the list.
"""

import argparse
import ast
import builtins
import json
import linecache
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from known import KnownFailures

HERE = Path(__file__).resolve().parent
MAGIC = re.compile(r"^(\s*)%(?!%)(\w+)(.*)$")
TIMED = ("time", "timeit")
TIMEIT_OPTIONS = re.compile(r"^(\s*-[nrtcpqo]\s*\d*)+\s")


def plain(source):
    """A cell as Python: lines that only IPython reads become what they run, or `pass`. None: no Python at all."""
    lines = source.split("\n")
    if lines[0].startswith("%%"):
        name = lines[0][2:].split()[0]
        if name not in TIMED:
            return None
        lines = ["pass", *lines[1:]]  # the numbers of the lines stay
    out = []
    for line in lines:
        magic = MAGIC.match(line)
        if magic and magic[2] in TIMED:
            line = magic[1] + TIMEIT_OPTIONS.sub("", magic[3] + " ").strip()
        elif magic or line.lstrip().startswith("!") or re.match(r"^\s*\w+\?+$", line):
            line = (magic[1] if magic else "") + "pass"
        out.append(line)
    return "\n".join(out)


def missing_module(error, absent):
    """Why a cell cannot run here through no fault of its own, or None."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"module {error.name} is not installed"
    name = isinstance(error, NameError) and error.name
    return f"'{name}' comes from a cell that was skipped" if name in absent else None


def names_made(tree):
    """What a cell would have defined."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((a.asname or a.name).partition(".")[0] for a in node.names)


def run_cell(source, name, scope):
    """Executes one cell in the notebook's namespace."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), scope)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), scope)
        if value is not None:
            print(repr(value))


def run_here(path, result):
    """Runs a notebook in this process; writes (outcome, reason) by cell."""
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    scope = {"__name__": "__main__", "__builtins__": builtins}
    sys.modules["__main__"].__dict__.update(scope)
    scope = sys.modules["__main__"].__dict__
    os.chdir(path.parent)
    sys.path.insert(0, "")
    absent, outcomes = set(), []
    for number, cell in enumerate(cells, 1):
        source = plain("".join(cell["source"]))
        outcome = ("ran", "")
        if source is None:
            outcome = ("skipped", "a magic of IPython that is not Python")
        else:
            try:
                run_cell(source, f"{path.name}[{number}]", scope)
            except BaseException as error:  # whatever the cell raises, SystemExit too
                why = missing_module(error, absent)
                outcome = ("skipped" if why else "failed", why or _line(error))
                if why:
                    absent.update(names_made(ast.parse(source)))
                else:
                    traceback.print_exc()
        outcomes.append(outcome)
        result.write_text(json.dumps(outcomes))


def _line(error):
    return " ".join(f"{type(error).__name__}: {error}".split())


def run(path, timeout):
    """[(outcome, reason)] of a notebook's cells, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "cells.json"
        command = [
            sys.executable,
            "-m",
            "treadle",
            "run",
            __file__,
            "--here",
            str(result),
            str(path.resolve()),
        ]
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=timeout,
            )
            text, died = done.stdout, f"the process ended with {done.returncode}"
        except subprocess.TimeoutExpired as late:
            text, died = (late.stdout or b"").decode(errors="replace"), f"no end after {timeout} s"
        outcomes = json.loads(result.read_text()) if result.exists() else []
    cells = sum(c["cell_type"] == "code" for c in json.loads(path.read_text())["cells"])
    outcomes += [("failed", died)] * (len(outcomes) < cells)
    outcomes += [("failed", "not reached")] * (cells - len(outcomes))
    return outcomes, text


def notebooks(places):
    for place in places:
        found = sorted(place.rglob("*.ipynb")) if place.is_dir() else [place]
        yield from ((n, n.relative_to(place.parent if place.is_file() else place)) for n in found)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="+", type=Path, help="checkouts, folders or notebooks")
    parser.add_argument("-v", dest="verbose", action="store_true", help="show what cells print")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one notebook")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.here:
        run_here(options.places[0], options.here)
        return 0
    known = KnownFailures(HERE / "notebooks_known_failures.txt")
    bad = 0
    for path, name in notebooks(options.places):
        outcomes, text = run(path, options.timeout)
        counts = {w: sum(o == w for o, _ in outcomes) for w in ("ran", "failed", "skipped")}
        print(f"{name}: " + ", ".join(f"{n} {w}" for w, n in counts.items() if n), flush=True)
        for number, (outcome, reason) in enumerate(outcomes, 1):
            if outcome == "ran":
                continue
            row = known.row_of(f"{path.name}::{number}") if outcome == "failed" else None
            why = row and row[1]
            bad += outcome == "failed" and why is None
            print(f"  [{number}] {outcome}: {reason:.300}" + (f"  | {why}" if why else ""))
        if options.verbose:
            print("".join(f"    {line}\n" for line in text.splitlines()), end="")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
