"""Holds the table of allowed includes (tools/layers.txt) true."""

import re
from pathlib import Path

from sources import CPP, blank, files

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">\n]+)[">]', re.MULTILINE)


class Layers:
    """The parsed table: folders with what they may include, and names of outside headers."""

    def __init__(self, file: Path):
        self.allowed: dict[str, list[str]] = {}
        self.outside: dict[str, list[str]] = {}
        for number, line in enumerate(file.read_text().splitlines(), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            left, colon, right = line.partition(":")
            if not colon:
                raise SystemExit(f"{file}:{number}: expected 'folder: what it may include'")
            if left.startswith("outside "):
                self.outside[left.removeprefix("outside ").strip()] = right.split()
            else:
                self.allowed[left.strip()] = right.split()

    def unit(self, path: Path) -> str | None:
        """The longest folder of the table that holds the file."""
        found = [folder for folder in self.allowed if path.is_relative_to(folder)]
        return max(found, key=len) if found else None

    def outside_unit(self, header: str) -> str | None:
        for name, prefixes in self.outside.items():
            if any(
                header == prefix or (prefix.endswith("/") and header.startswith(prefix))
                for prefix in prefixes
            ):
                return name
        return None

    def permits(self, unit: str, target: str) -> bool:
        if unit == target:
            return True
        for rule in self.allowed[unit]:
            if rule in (target, "*") or (rule.endswith("/*") and target.startswith(rule[:-1])):
                return True
        return False


def check(root: Path) -> list[str]:
    layers = Layers(root / "tools/layers.txt")
    problems = []
    for path in files(root, *CPP, ".def"):
        unit = layers.unit(path)
        if unit is None:
            problems.append(f"{path}: tools/layers.txt has no row for this folder")
            continue
        text = blank((root / path).read_text(errors="replace"), strings=False)
        for match in _INCLUDE.finditer(text):
            where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
            target = target_unit(root, layers, path, match.group(2), quoted=match.group(1) == '"')
            if target == "":
                problems.append(
                    f"{where}: {match.group(2)} is neither in this checkout nor known to tools/layers.txt"
                )
            elif target is not None and not layers.permits(unit, target):
                problems.append(f"{where}: {unit} may not include {target} ({match.group(2)})")
    return problems


def target_unit(root: Path, layers: Layers, path: Path, header: str, quoted: bool) -> str | None:
    """The unit that a header belongs to; None for a system header, "" for an unknown one."""
    outside = layers.outside_unit(header)
    if outside is not None and not (root / path.parent / header).is_file():
        return outside
    # <vector> is the system's, though a device header may have that name too.
    folders = (path.parent, Path("src"), Path("include"), Path("tables"), Path("."))
    for folder in folders if quoted else (Path("include"),):
        if (root / folder / header).is_file():
            found = (root / folder / header).resolve().relative_to(root.resolve())
            return layers.unit(found)
    return "" if quoted else None
