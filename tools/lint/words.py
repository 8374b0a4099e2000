"""No note-to-self, no address of a package registry."""

import re
from pathlib import Path

from sources import files

# (pattern, why). The patterns do not match themselves.
WORDS = [
    (r"\b(TO[D]O|FIX[M]E|XX[X])\b", "finish it, or file it; no note-to-self stays in the sources"),
    (
        r"(?i)\b[\w.-]*(pypi|pythonhosted|debian|ubuntu|conda|npmjs|crates|rubygems|apt\.llvm)\.(org|com|io|dev)\b",
        "names a package registry's host; say the package's name instead",
    ),
]
# The licence is quoted as it stands.
EXEMPT = {"LICENSE"}


def check(root: Path) -> list[str]:
    problems = []
    for path in files(root):
        if str(path) in EXEMPT:
            continue
        data = (root / path).read_bytes()
        if b"\0" in data[:4096]:
            continue  # not text
        for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
            for pattern, why in WORDS:
                match = re.search(pattern, line)
                if match:
                    problems.append(f"{path}:{number}: '{match.group(0)}': {why}")
    return problems
