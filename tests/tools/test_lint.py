"""Each check of ./dev lint finds the fault that it is for, and nothing where there is none."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = (ROOT / "tools/layers.txt").read_text()


def lint(root: Path, check: str) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools/lint"), "--root", str(root), check]
    reply = subprocess.run(command, capture_output=True, text=True)
    assert reply.stderr == ""
    return reply.returncode, reply.stdout


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def cpp_function(name: str, lines: int) -> str:
    return f"int {name}(int x) {{\n" + "  x += 1;\n" * (lines - 2) + "}\n"


# (check, file, text, what the report must hold; None where the text is fault-free)
ROWS = [
    ("includes", "src/driver/a.cpp", '#include "base/log.h"\n', None),
    ("includes", "src/driver/a.cpp", '#include <vector>\n\n#include "array/node.h"\n', "a.cpp:3"),
    ("includes", "src/driver/a.cpp", '#include "softdev/run/arena.h"\n', "may not include"),
    (
        "includes",
        "src/softdev/run/a.cpp",
        '#include "driver/state.h"\n',
        "may not include src/driver",
    ),
    ("includes", "src/softdev/run/a.cpp", '#include "llvm/IR/Module.h"\n', "may not include llvm"),
    ("includes", "src/softdev/simt/a.cpp", '#include "llvm/IR/Module.h"\n', None),
    ("includes", "src/softdev/api/a.cpp", '#include "softdev/run/arena.h"\n', None),
    ("includes", "src/base/a.h", '#include "../driver/state.h"\n', "may not include src/driver"),
    ("includes", "src/driver/a.cpp", "#include <cuda.h>\n", "may not include nvidia"),
    ("includes", "src/base/a.h", "#include <log.h>\n#include <cuda.h>\n", "a.h:2"),
    ("includes", "src/compile/include/cuda.h", '#include "vector_types.h"\n', "neither in"),
    ("includes", "src/base/log.h", '#include "driver/state.h"\n#include <array/node.h>\n', ":1: "),
    ("includes", "src/driver/a.cpp", '// #include "array/node.h"\n', None),
    ("includes", "src/driver/a.cpp", 'auto s = R"(\n#include "array/node.h"\n)";\n', None),
    ("includes", "src/driver/a.cpp", '#include "nowhere.h"\n', "neither in this checkout"),
    ("includes", "python/src/a.cpp", '#include "treadle/array.h"\n', None),
    ("includes", "python/src/a.cpp", '#include "base/log.h"\n', "may not include src/base"),
    ("includes", "elsewhere/a.cpp", "", "no row for this folder"),
    ("sizes", "src/a.cpp", cpp_function("f", 100), None),
    ("sizes", "src/a.cpp", "\n\n" + cpp_function("f", 101), "src/a.cpp:3: src/a.cpp:f has 101"),
    ("sizes", "src/a.cpp", "namespace td {\n" + cpp_function("f", 90) * 3 + "}\n", None),
    ("sizes", "src/a.cpp", "class A {\n" + cpp_function("f", 101) + "};\n", "src/a.cpp:f has 101"),
    ("sizes", "src/a.cpp", "int a;\n" * 801, "has 801 lines, 800"),
    ("sizes", "src/a.cpp", 'auto s = "}";\n' + cpp_function("f", 101), "has 101"),
    ("sizes", "a.py", "def f():\n" + "    g()\n" * 99, None),
    (
        "sizes",
        "a.py",
        "class A:\n    def f(self):\n" + "        g()\n" * 100,
        "a.py:2: a.py:f has 101",
    ),
    ("words", "a.py", "x = 1  # to do it well\n", None),
    ("words", "a.py", "\nx = 1  # TO" + "DO\n", "a.py:2"),
    ("words", "a.md", "from https://py" + "pi.org/simple\n", "registry"),
    (
        "links",
        "docs/a.md",
        "# One Two\n[x](#one-two) [y](../src/driver/state.h) [z](https://a.b)\n",
        None,
    ),
    ("links", "docs/a.md", "\n[x](gone.md)\n", "docs/a.md:2: gone.md does not exist"),
    ("links", "docs/a.md", "# One\n[x](a.md#two)\n", "no such heading"),
    ("links", "docs/a.md", "```\n[x](gone.md)\n```\n", None),
    ("links", "docs/a.md", '<img src="gone.svg">\n', "gone.svg does not exist"),
]


@pytest.mark.parametrize(("check", "file", "text", "fault"), ROWS)
def test_check(tmp_path: Path, check: str, file: str, text: str, fault: str | None) -> None:
    write(tmp_path, "tools/layers.txt", LAYERS)
    headers = (
        "src/driver/state.h",
        "src/base/log.h",
        "src/array/node.h",
        "src/softdev/run/arena.h",
    )
    for name in (*headers, "include/treadle/array.h"):
        write(tmp_path, name, "#pragma once\n")
    write(tmp_path, file, text)
    status, output = lint(tmp_path, check)
    assert (status, fault or "ok") == (1 if fault else 0, fault or "ok"), output
    assert (fault or " ok ") in output


def test_size_exception_needs_a_reason_and_a_use(tmp_path: Path) -> None:
    write(tmp_path, "a.cpp", cpp_function("f", 120))
    write(tmp_path, "tools/lint/sizes.txt", "a.cpp:f | one table that must stay together\n")
    assert lint(tmp_path, "sizes")[0] == 0
    write(tmp_path, "a.cpp", cpp_function("f", 20))
    status, output = lint(tmp_path, "sizes")
    assert status == 1 and "needs no exception" in output
    write(tmp_path, "tools/lint/sizes.txt", "a.cpp:f |\n")
    command = [sys.executable, str(ROOT / "tools/lint"), "--root", str(tmp_path), "sizes"]
    reply = subprocess.run(command, capture_output=True, text=True)
    assert reply.returncode == 1 and "needs its reason" in reply.stderr


def run_formatter(root: Path, check: str) -> tuple[int, str]:
    status, output = lint(root, check)
    if "was not found" in output:
        assert status == 1  # a check that did not run is no success
        pytest.skip(output.strip())
    return status, output


@pytest.mark.parametrize(
    ("check", "file", "good", "bad"),
    [
        ("cpp", "a.cpp", "int f() { return 1; }\n", "int  f( ){return 1;}\n"),
        ("python", "a.py", "x = [1, 2]\n", "x = [1,2]\n"),
        ("python", "a.py", "import os\n\nprint(os.sep)\n", "import os\n"),
        ("shell", "a", '#!/bin/sh\necho "$1"\n', "#!/bin/sh\necho $1\n"),
    ],
)
def test_formatter(tmp_path: Path, check: str, file: str, good: str, bad: str) -> None:
    write(tmp_path, ".clang-format", "BasedOnStyle: Google\n")
    write(tmp_path, file, good)
    status, output = run_formatter(tmp_path, check)
    assert status == 0, output
    write(tmp_path, file, bad)
    status, output = run_formatter(tmp_path, check)
    assert status == 1 and file in output, output


def test_unknown_check_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools/lint"), "--root", str(tmp_path), "nonsense"]
    reply = subprocess.run(command, capture_output=True, text=True)
    assert reply.returncode == 2 and "nonsense" in reply.stderr


def test_archive_without_git_is_read_without_the_build(tmp_path: Path) -> None:
    write(tmp_path, "build/a.md", "[x](gone.md)\n")
    write(tmp_path, ".venv/lib/a.md", "[x](gone.md)\n")
    assert lint(tmp_path, "links")[0] == 0
    write(tmp_path, "docs/a.md", "[x](gone.md)\n")
    assert lint(tmp_path, "links")[0] == 1
