"""Relative links of Markdown files lead to files and headings that exist."""

import re
from pathlib import Path
from urllib.parse import unquote

from sources import files

_LINK = re.compile(
    r"\]\(\s*<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\s*\)|<img[^>]*\ssrc=\"([^\"]+)\"|<a[^>]*\shref=\"([^\"]+)\""
)


def check(root: Path) -> list[str]:
    problems = []
    for path in files(root, ".md"):
        text = without_code((root / path).read_text())
        for match in _LINK.finditer(text):
            link = next(group for group in match.groups() if group)
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue  # elsewhere
            name, _, anchor = link.partition("#")
            target = root / path.parent / unquote(name) if name else root / path
            where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
            if not target.exists():
                problems.append(f"{where}: {link} does not exist")
            elif (
                anchor
                and target.suffix == ".md"
                and unquote(anchor) not in anchors(target.read_text())
            ):
                problems.append(f"{where}: {link}: there is no such heading")
    return problems


def without_code(text: str) -> str:
    """Code blocks and code spans made blank; lines keep their numbers."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))  # noqa: E731
    return re.sub(
        r"`[^`\n]*`", blank, re.sub(r"^(```|~~~)(?:.|\n)*?^\1", blank, text, flags=re.MULTILINE)
    )


def anchors(text: str) -> set[str]:
    """Names of headings as GitHub makes them."""
    names: set[str] = set()
    text = re.sub(r"^(```|~~~)(?:.|\n)*?^\1", "", text, flags=re.MULTILINE)
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", text, flags=re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        name, number = slug, 0
        while name in names:
            number += 1
            name = f"{slug}-{number}"
        names.add(name)
    return names
