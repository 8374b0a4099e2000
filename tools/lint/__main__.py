"""./dev lint and ./dev fmt: runs the checks that are named, or all.

Exit 0 only if every one of them ran and passed.
"""

import argparse
import sys
from pathlib import Path

import formatters
import includes
import links
import sizes
import words

# name: (function of (root, fix) that returns problems, what it holds true)
CHECKS = {
    "includes": (
        lambda root, fix: includes.check(root),
        "folders include only what tools/layers.txt allows",
    ),
    "sizes": (lambda root, fix: sizes.check(root), "files and functions are short"),
    "words": (lambda root, fix: words.check(root), "no note-to-self, no registry address"),
    "links": (lambda root, fix: links.check(root), "links of the documents lead somewhere"),
    "cpp": (formatters.cpp_format, "clang-format 19"),
    "python": (formatters.python_format, "Ruff"),
    "shell": (formatters.shell, "ShellCheck"),
}
FIXERS = ("cpp", "python")
SHOWN = 40


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev lint", description=__doc__.splitlines()[0])
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join(CHECKS))
    parser.add_argument("--fix", action="store_true", help="format instead of checking")
    parser.add_argument(
        "--offline",
        action="store_true",
        help="a check whose program is missing is skipped, and said",
    )
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    unknown = [name for name in arguments.checks if name not in CHECKS]
    if unknown:
        parser.error(f"there is no check {unknown[0]!r}; the checks are {', '.join(CHECKS)}")
    names = arguments.checks or (FIXERS if arguments.fix else CHECKS)
    results = [run(name, arguments) for name in names]
    return 0 if all(results) else 1


def run(name: str, arguments: argparse.Namespace) -> bool:
    function, meaning = CHECKS[name]
    try:
        problems = function(arguments.root, arguments.fix)
    except formatters.Missing as missing:
        print(f"  {name:9} {'SKIPPED' if arguments.offline else 'FAIL'}: {missing}")
        return arguments.offline
    print(f"  {name:9} {'FAIL' if problems else 'ok':4}  {meaning}")
    for problem in problems[:SHOWN]:
        print(f"    {problem}")
    if len(problems) > SHOWN:
        print(f"    and {len(problems) - SHOWN} more")
    return not problems


if __name__ == "__main__":
    sys.exit(main())
