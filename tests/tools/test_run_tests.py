"""tools/run_tests.py adds up what both runners report; a run without tests is a failure."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("run_tests", ROOT / "tools/run_tests.py")
run_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_tests)

GTEST = """<testsuites><testsuite name="A">
<testcase name="a" status="run"/><testcase name="b" status="run"><failure/></testcase>
<testcase name="c" status="run"><skipped/></testcase><testcase name="d" status="notrun"/>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("expression", "name", "wanted"),
    [
        ("reduce", "unit.Array.Reduce", True),
        ("reduce and not array", "unit.Array.Reduce", False),
        ("(scan or reduce) and unit", "unit.Array.Reduce", True),
        ("not reduce", "unit.Array.Scan", True),
        ("it's", "unit.Array.Scan", False),
    ],
)
def test_expression(expression: str, name: str, wanted: bool) -> None:
    assert run_tests.parse_expression(expression)(name) is wanted


@pytest.mark.parametrize("expression", ["and", "a b", "(a", "not"])
def test_bad_expression(expression: str) -> None:
    with pytest.raises(run_tests.UsageError, match="is not an expression"):
        run_tests.parse_expression(expression)


def ctest_report(*cases: tuple[str, str]) -> str:
    rows = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in cases)
    return f"<testsuite>{rows}</testsuite>"


def test_ctest_count(tmp_path: Path) -> None:
    """GoogleTest programs count by case, others as one; a program that fails beyond its cases counts once more."""
    gtest = tmp_path / "gtest"
    gtest.mkdir()
    (gtest / "cases.xml").write_text(GTEST)
    (gtest / "leaks.xml").write_text('<testsuite><testcase name="a" status="run"/></testsuite>')
    report = tmp_path / "ctest.xml"
    report.write_text(
        ctest_report(
            ("cases", "fail"),
            ("leaks", "fail"),
            ("example", "run"),
            ("crash", "fail"),
            ("off", "disabled"),
        )
    )
    count = run_tests.ctest_count(report, gtest)
    assert (count.passed, count.failed, count.skipped) == (1 + 1 + 1, 1 + 1 + 1, 2 + 1)
    assert str(count) == "3 passed, 3 failed, 3 skipped"


class Arguments:
    build = Path(".")
    expression = ""
    sanitize = False
    offline = False


@pytest.mark.parametrize(
    ("cpp", "python", "status", "last"),
    [
        ((3, 0, 0), (4, 0, 1), 0, "7 passed, 0 failed, 1 skipped"),
        ((3, 1, 0), (4, 0, 0), 1, "7 passed, 1 failed"),
        ((0, 0, 0), (4, 0, 0), 1, "4 passed, 1 failed"),
        ((3, 0, 0), (0, 0, 5), 1, "3 passed, 1 failed, 5 skipped"),
        (None, (2, 0, 0), 0, "2 passed, 0 failed"),
        (None, None, 1, "0 passed, 1 failed"),
    ],
)
def test_sum(monkeypatch, capfd, tmp_path, cpp, python, status, last) -> None:
    reply = lambda values: lambda *_: run_tests.Count(*values) if values else None  # noqa: E731
    monkeypatch.setattr(run_tests, "run_ctest", reply(cpp))
    monkeypatch.setattr(run_tests, "run_pytest", reply(python))
    assert run_tests.run_all(Arguments, tmp_path) == status
    assert capfd.readouterr().out.splitlines()[-1] == last


def test_selection_goes_down_to_single_cases(tmp_path: Path) -> None:
    """A GoogleTest program is asked for its cases; another program is taken or left whole, and not started."""
    cases = tmp_path / "cases"
    cases.write_text(
        "#!/bin/sh\n# --gtest_list_tests\n"
        "printf 'Array.\\n  Reduce\\n  Scan\\nAll/P.\\n  Each/0  # GetParam() = 1\\n'\n"
    )
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\ntouch started\n")
    for path in (cases, other):
        path.chmod(0o755)
    tests = [
        {"name": "unit_array", "command": [str(cases)]},
        {"name": "example_array", "command": [str(other)]},
    ]
    select = run_tests.select_ctests
    assert select(tests, "scan") == (["unit_array"], ["Array.Scan"])
    assert select(tests, "unit_array and not scan")[1] == ["Array.Reduce", "All/P.Each/0"]
    assert select(tests, "example") == (["example_array"], [])
    assert select(tests, "nothing") == ([], [])
    assert not (tmp_path / "started").exists()
