"""Runs the C++ tests (CTest) and the Python tests (pytest) of one build and adds their results up.

The last line is 'N passed, N failed' with ', N skipped' where there were any; it counts single
tests of both runners. A runner that was asked to run and executed nothing is a failure, a test
program that ends without a report is one too.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Handlers of the software device take SIGSEGV; warps run on stacks of their own.
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0:allow_user_segv_handler=1:use_sigaltstack=0:"
    "detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __iadd__(self, other: "Count") -> "Count":
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


class UsageError(Exception):
    pass


# ---- selection ----


def parse_expression(text: str):
    """A pytest -k expression as a function of a name: words are substrings, joined by and, or, not, parentheses."""
    words = re.findall(r"\(|\)|[^\s()]+", text)
    source = []
    for word in words:
        if word in ("and", "or", "not", "(", ")"):
            source.append(word)
        else:
            source.append(f"({word.lower()!r} in name)")
    try:
        tree = ast.parse(" ".join(source) or "and", mode="eval")
        if any(isinstance(node, ast.Call) for node in ast.walk(tree)):  # two words side by side
            raise SyntaxError
        code = compile(tree, "-k", "eval")
    except SyntaxError:
        raise UsageError(
            f"-k {text!r} is not an expression such as 'reduce and not slow'"
        ) from None
    return lambda name: bool(eval(code, {"__builtins__": {}}, {"name": name.lower()}))


def ctest_list(build: Path) -> list[dict]:
    reply = subprocess.run(
        ["ctest", "--test-dir", str(build), "--show-only=json-v1"],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(reply.stdout)["tests"]


def gtest_names(command: list[str]) -> list[str]:
    """Suite.Test names of a GoogleTest program; none for another program."""
    if "GTEST" not in program_kind(command):
        return []
    reply = subprocess.run(
        [*command, "--gtest_list_tests"], capture_output=True, text=True, timeout=60
    )
    names, suite = [], ""
    for line in reply.stdout.splitlines():
        line = line.split("#")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + line.strip())
        elif line.endswith("."):
            suite = line
    return names


def program_kind(command: list[str]) -> str:
    """'GTEST' where the program holds GoogleTest, so that no other program is started just to ask it."""
    try:
        return "GTEST" if b"gtest_list_tests" in Path(command[0]).read_bytes() else ""
    except OSError:
        return ""


def select_ctests(tests: list[dict], expression: str) -> tuple[list[str], list[str]]:
    """Names of the CTest tests to run, and the GoogleTest filter, empty where the programs run whole."""
    wanted = parse_expression(expression)
    programs, cases, whole = [], [], []
    for test in tests:
        command = test.get("command", [""])
        names = gtest_names(command)
        chosen = [name for name in names if wanted(f"{test['name']}.{name}")]
        if chosen:
            programs.append(test["name"])
            cases += chosen
        elif not names and wanted(test["name"]):
            whole.append(test["name"])
    return programs + whole, cases


# ---- runners ----


def junit_count(file: Path) -> Count:
    """Sum over the test cases of a JUnit or GoogleTest report."""
    count = Count()
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            count.skipped += 1
        else:
            count.passed += 1
    return count


def ctest_count(ctest_report: Path, gtest_reports: Path) -> Count:
    """Single GoogleTest cases where a program reported them, whole programs elsewhere."""
    count = Count()
    reported = {file.stem for file in gtest_reports.glob("*.xml")}
    for file in gtest_reports.glob("*.xml"):
        count += junit_count(file)
    for case in ElementTree.parse(ctest_report).getroot().iter("testcase"):
        failed = case.get("status") == "fail" or case.find("failure") is not None
        if case.get("name") not in reported:
            if failed:
                count.failed += 1
            elif case.get("status") == "run":
                count.passed += 1
            else:
                count.skipped += 1
        elif failed and junit_count(gtest_reports / f"{case.get('name')}.xml").failed == 0:
            count.failed += 1  # all cases passed, the program did not: a crash at exit, a leak
    return count


def run_ctest(build: Path, expression: str, environment: dict, reports: Path) -> Count | None:
    """None where nothing was selected."""
    tests = ctest_list(build)
    command = [
        "ctest",
        "--test-dir",
        str(build),
        "--output-on-failure",
        "--output-junit",
        str(reports / "ctest.xml"),
    ]
    environment = {**environment, "GTEST_OUTPUT": f"xml:{reports / 'gtest'}/"}
    if expression:
        names, cases = select_ctests(tests, expression)
        if not names:
            return None
        command += ["-R", "^(" + "|".join(re.escape(name) for name in names) + ")$"]
        if cases:
            environment["GTEST_FILTER"] = ":".join(cases)
    (reports / "gtest").mkdir()
    status = subprocess.run(command, env=environment, cwd=ROOT).returncode
    count = ctest_count(reports / "ctest.xml", reports / "gtest") if tests else Count()
    if status != 0 and count.failed == 0:
        count.failed += 1
    return count


def run_pytest(expression: str, sanitize: bool, environment: dict, reports: Path) -> Count | None:
    report = reports / "pytest.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-ra", "tests", f"--junitxml={report}"]
    if sanitize:
        command += ["--ignore", "tests/tools"]
    if expression:
        command += ["-k", expression]
    status = subprocess.run(command, env=environment, cwd=ROOT).returncode
    if status == 5 and expression:
        return None  # nothing was selected
    count = junit_count(report) if report.exists() else Count()
    if status != 0 and count.failed == 0:
        count.failed += 1
    return count


def sanitizer_preload(environment: dict) -> dict | None:
    """The environment in which an ordinary Python can load our sanitized libraries; None where that does not work."""
    libraries = []
    for name in ("libasan.so", "libubsan.so"):
        reply = subprocess.run(["c++", f"-print-file-name={name}"], capture_output=True, text=True)
        libraries.append(reply.stdout.strip())
    preload = {**environment, "LD_PRELOAD": " ".join(libraries), "PYTHONMALLOC": "malloc"}
    trial = subprocess.run(
        [sys.executable, "-c", "import treadle"], env=preload, capture_output=True, text=True
    )
    if trial.returncode == 0:
        return preload
    print(
        "With the sanitizers' libraries preloaded, `import treadle` fails:\n" + trial.stderr[-2000:]
    )
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("-k", dest="expression", default="")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument(
        "--offline", action="store_true", help="a machine without GoogleTest is not a failure"
    )
    arguments = parser.parse_args()
    reports = Path(tempfile.mkdtemp(prefix="treadle-tests-"))
    try:
        if arguments.expression:
            parse_expression(arguments.expression)
        return run_all(arguments, reports)
    except UsageError as error:
        print(f"dev: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(reports, ignore_errors=True)


def run_all(arguments: argparse.Namespace, reports: Path) -> int:
    build = arguments.build.resolve()
    environment = {**os.environ, **(SANITIZER_OPTIONS if arguments.sanitize else {})}
    notes, empty = [], []
    if arguments.sanitize:
        notes.append(
            "Tests of the scripts (tests/tools) were left out: they do not run sanitized code."
        )

    print("==== C++ tests", flush=True)
    if arguments.offline and not ctest_list(build):
        notes.append("The C++ tests did NOT run: GoogleTest is not on this machine.")
        cpp = None
    else:
        cpp = run_ctest(build, arguments.expression, environment, reports)
        if cpp is not None and cpp.passed + cpp.failed == 0:
            empty.append("CTest")

    print("==== Python tests", flush=True)
    python_environment = sanitizer_preload(environment) if arguments.sanitize else environment
    if python_environment is None:
        notes.append("The Python tests did NOT run under the sanitizers (see above).")
        python = None
    else:
        python = run_pytest(arguments.expression, arguments.sanitize, python_environment, reports)
        if python is not None and python.passed + python.failed == 0:
            empty.append("pytest")

    total = Count()
    for name, count in (("C++", cpp), ("Python", python)):
        print(f"{name} tests: {count if count is not None else 'none selected or not run'}")
        total += count or Count()
    if cpp is None and python is None:
        empty.append("Every runner")
    for name in empty:
        print(f"{name} executed no test: that is a failure.")
    for note in notes:
        print(note)
    total.failed += len(empty)
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
