"""./dev refuses bad usage and a bare machine with a cure, and leaves no half-written state.

Nothing is installed: apt, pip and Python are small stand-ins.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose path has a space, without a build."""
    root = tmp_path / "a checkout"
    root.mkdir()
    shutil.copy(ROOT / "dev", root)
    shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    return root


def programs(folder: Path, **scripts: str) -> str:
    """A PATH with the usual tools and these scripts before them."""
    folder.mkdir(exist_ok=True)
    for name, text in scripts.items():
        path = folder / name.replace("_", "-")
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def dev(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    ignored = ("CI", "VIRTUAL_ENV", "TREADLE_PYTHON")
    kept = {name: value for name, value in os.environ.items() if name not in ignored}
    return subprocess.run(
        [str(root / "dev"), *arguments],
        env={**kept, **environment},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "usage:"),
        (("nonsense",), "there is no command 'nonsense'"),
        (("--nonsense", "tour"), "unknown option --nonsense"),
        (("-j", "many", "tour"), "-j needs a number"),
        (("test", "-k"), "-k needs an expression"),
        (("test", "--offline"), "test does not know --offline"),
        (("build", "now"), "build takes no argument"),
        (("clean", "everything"), "clean takes nothing or --all"),
    ],
)
def test_bad_usage(checkout: Path, arguments: tuple[str, ...], message: str) -> None:
    reply = dev(checkout, *arguments)
    assert (reply.returncode, reply.stdout) == (2, "")
    assert message in reply.stderr
    assert not (checkout / ".dev-log").exists()


def test_help_names_every_command(checkout: Path) -> None:
    reply = dev(checkout, "help")
    commands = re.findall(r"^command_(\w+)\(\)", (ROOT / "dev").read_text(), flags=re.MULTILINE)
    assert reply.returncode == 0 and len(commands) >= 7
    for command in commands:
        assert re.search(rf"^  {command}\b", reply.stdout, flags=re.MULTILINE), command


def test_missing_packages_give_one_line_to_type(checkout: Path, tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", dpkg_query="exit 1\n", apt_get="exit 9\n", id="echo 1000\n")
    reply = dev(checkout, "tour", PATH=path)
    assert reply.returncode == 1
    line = re.search(r"^  (sudo .*)$", reply.stderr, flags=re.MULTILINE).group(1)
    for package in ("python3-venv", "g++", "ninja-build", "llvm-19-dev", "libclang-19-dev"):
        assert f" {package}" in line


def test_failed_step_shows_its_end_and_its_log(checkout: Path, tmp_path: Path) -> None:
    apt = "for n in $(seq 1 50); do echo line $n; done; echo no network >&2; exit 100\n"
    path = programs(
        tmp_path / "bin", dpkg_query="exit 1\n", dpkg="exit 0\n", apt_get=apt, id="echo 0\n"
    )
    reply = dev(checkout, "lint", PATH=path)
    assert reply.returncode == 1
    assert (
        "no network" in reply.stderr
        and "line 50" in reply.stderr
        and "line 5\n" not in reply.stderr
    )
    log = checkout / re.search(r"(\.dev-log/\S+\.log)", reply.stderr).group(1)
    assert "line 5\n" in log.read_text()


def test_offline_says_what_each_python_lacks(checkout: Path, tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", python3="echo 'has no nanobind' >&2; exit 1\n")
    reply = dev(checkout, "--offline", "build", TREADLE_PYTHON="python3", PATH=path)
    assert reply.returncode == 1
    assert "python3 has no nanobind" in reply.stderr and "TREADLE_PYTHON=" in reply.stderr
    assert not (checkout / "build").exists() and not (checkout / ".venv").exists()


def test_a_failed_environment_is_made_again(checkout: Path, tmp_path: Path) -> None:
    """pip fails at the first call: the second starts over, and a mark exists only after success."""
    fake = """case "$*" in
  *"-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
  *"pip install"*) if [ -e broken ]; then exit 1; fi; echo installed >>pip-calls ;;
  *"-m pip"*) [ -e .venv/bin/python ] ;;
  *tools/lint*) echo linted ;;
  -c*) echo "$0" ;;
esac
"""
    path = programs(tmp_path / "bin", dpkg_query="echo install ok installed\n", python3=fake)
    environment = {"PATH": path, "TREADLE_PYTHON": "python3"}
    (checkout / "broken").touch()
    first = dev(checkout, "lint", **environment)
    assert first.returncode == 1 and "Python packages failed" in first.stderr
    assert not list((checkout / ".venv").glob(".dev-mark*"))
    (checkout / "broken").unlink()
    for _ in range(2):
        reply = dev(checkout, "lint", **environment)
        assert (reply.returncode, reply.stdout.splitlines()[-1]) == (0, "linted"), reply.stderr
    assert (
        checkout / "pip-calls"
    ).read_text() == "installed\n"  # the third call did no set-up work


def test_foreign_environment_is_left_alone(checkout: Path, tmp_path: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv/keep").touch()
    path = programs(tmp_path / "bin", dpkg_query="echo install ok installed\n")
    reply = dev(checkout, "lint", PATH=path)
    assert reply.returncode == 1 and ".venv is not ours" in reply.stderr
    assert (checkout / ".venv/keep").exists()


def test_clean(checkout: Path) -> None:
    for name in ("build/x", ".dev-log/x", ".venv/x"):
        (checkout / name).mkdir(parents=True)
    assert dev(checkout, "clean").returncode == 0
    assert not (checkout / "build").exists() and (checkout / ".venv").exists()
    assert dev(checkout, "clean", "--all").returncode == 0
    assert not (checkout / ".venv").exists() and (checkout / "dev").exists()
