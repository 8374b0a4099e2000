"""Lists of known failures: what they know, and what they report as fixed."""

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[1] / "conformance" / "known.py"

LIST = """
# a comment
[outside]
a.py::*_llvm | another compiler

[inside]
b.py::test_one | a fault
[elsewhere]
c.py::test_header | needs a header
"""


@pytest.fixture
def read(tmp_path):
    spec = importlib.util.spec_from_file_location("known", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def known(text):
        (tmp_path / "list.txt").write_text(text)
        return module.KnownFailures(tmp_path / "list.txt")

    return known


def test_what_a_list_knows(read):
    known = read(LIST)
    assert known.row_of("a.py::test_llvm") == ("a.py::*_llvm", "another compiler", True)
    assert known.row_of("b.py::test_one") == ("b.py::test_one", "a fault", False)
    assert known.row_of("c.py::test_header")[2] is True
    assert known.row_of("b.py::test_two") is None
    with pytest.raises(ValueError, match="no reason"):
        read("d.py::test_x")


def test_what_passes_is_reported_unless_it_depends_on_the_machine(read):
    known = read(LIST)
    passed = dict.fromkeys(["a.py::x_llvm", "b.py::test_one", "c.py::test_header"], "passed")
    assert list(known.fixed(passed)) == ["a.py::*_llvm", "b.py::test_one"]
    assert list(known.fixed(passed | {"a.py::y_llvm": "failed"})) == ["b.py::test_one"]
    assert list(known.fixed({"b.py::test_one": "skipped"})) == []
