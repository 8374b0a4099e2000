"""The formatters and linters of others: clang-format 19, Ruff, ShellCheck."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from sources import CPP, PYTHON, files


class Missing(Exception):
    """The program that a check needs is not there."""


def clang_format_program() -> str:
    for name in ("clang-format-19", "clang-format"):
        program = shutil.which(name)
        if program:
            version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if re.search(r"version 19\.", version):
                return program
    raise Missing("clang-format 19 was not found (Debian package clang-format-19)")


def ruff_command() -> list[str]:
    command = [sys.executable, "-m", "ruff"]
    if subprocess.run([*command, "--version"], capture_output=True).returncode != 0:
        raise Missing("Ruff was not found (Python package ruff)")
    return command


def cpp_format(root: Path, fix: bool) -> list[str]:
    program = clang_format_program()
    names = [
        str(path) for path in files(root, *CPP) if path.suffix != ".cu"
    ]  # .cu: kernels to show
    if not names:
        return []
    reply = subprocess.run(
        [program, "-i" if fix else "--dry-run", *names], cwd=root, capture_output=True, text=True
    )
    places = re.findall(
        r"^(.+?):(\d+):\d+: (?:warning|error): code should be clang-formatted", reply.stderr, re.M
    )
    first: dict[str, str] = {}
    for name, line in places:
        first.setdefault(name, line)
    counts = Counter(name for name, _ in places)
    problems = [
        f"{name}:{first[name]}: {count} places differ from ./dev fmt"
        for name, count in counts.items()
    ]
    if reply.returncode != 0 and not problems:
        problems.append(reply.stderr.strip())
    return problems


def python_format(root: Path, fix: bool) -> list[str]:
    ruff = ruff_command()
    names = [str(path) for path in files(root, *PYTHON)]
    if not names:
        return []
    problems = []
    for arguments in (["check", "--quiet", "--output-format=concise"], ["format", "--quiet"]):
        mode = (
            (["--fix"] if fix else []) if arguments[0] == "check" else ([] if fix else ["--check"])
        )
        reply = subprocess.run(
            [*ruff, *arguments, *mode, *names], cwd=root, capture_output=True, text=True
        )
        if reply.returncode != 0:
            lines = (reply.stdout + reply.stderr).splitlines()
            problems += [line for line in lines if line.strip()] or [f"ruff {arguments[0]} failed"]
    if not fix and "format" in " ".join(problems):
        problems.append("./dev fmt formats them")
    return problems


def shell(root: Path, fix: bool) -> list[str]:
    del fix  # ShellCheck only reports
    program = shutil.which("shellcheck")
    if not program:
        raise Missing("ShellCheck was not found (Debian package shellcheck)")
    scripts = [path for path in files(root) if is_shell(root / path)]
    problems = []
    for path in scripts:
        reply = subprocess.run(
            [program, "-f", "gcc", str(path)], cwd=root, capture_output=True, text=True
        )
        problems += (reply.stdout + reply.stderr).splitlines()
    return problems


def is_shell(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(80)
    return line.startswith(b"#!") and re.search(rb"\b(sh|bash|dash)\s*$", line) is not None
