"""Which files the checks read, and C++ text with comments and literals blanked out."""

import re
import subprocess
from pathlib import Path

# Kinds of files by suffix.
CPP = (".h", ".cpp", ".cuh", ".cu")
PYTHON = (".py",)
# Folders that hold no source, where Git is not there to say so.
OURS_NOT = {".git", ".venv", ".dev-log", ".ruff_cache", ".pytest_cache", "__pycache__", "build"}


def files(root: Path, *suffixes: str) -> list[Path]:
    """Tracked files and new ones that Git does not ignore, relative to the root; those with a suffix, or all."""
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    if listing.returncode == 0:
        names = sorted(set(filter(None, listing.stdout.split("\0"))))
    else:  # an unpacked archive
        found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        names = sorted(str(path) for path in found if not OURS_NOT & set(path.parts))
    return [
        Path(name)
        for name in names
        if (not suffixes or name.endswith(suffixes)) and (root / name).is_file()
    ]


# In order: raw strings, comments, strings, characters (not the ' between digits).
_LITERAL = re.compile(
    r'R"(?P<tag>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=tag)"|//[^\n]*|/\*(?:.|\n)*?\*/'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\''
)


def blank(text: str, strings: bool = True) -> str:
    """The text with comments and raw strings made blank, other literals too if `strings`."""

    def replace(match: re.Match) -> str:
        found = match.group(0)
        if not strings and found[0] in "\"'":
            return found
        return re.sub(r"[^\n]", " ", found)

    return _LITERAL.sub(replace, text)
