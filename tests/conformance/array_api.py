#!/usr/bin/env python3
"""Runs data-apis/array-api-tests, from a checkout with its submodule, against treadle.

    PYTHONPATH=build/python python3 tests/conformance/array_api.py /path/to/array-api-tests [--max-examples 20] [-k add]

The suite needs pytest, hypothesis, ndindex and pytest-json-report. The last lines count passed / failed / skipped per
file. The exit status is 0 when every failure is in array_api_known_failures.txt, with its reason, and everything in
that list that ran still fails.
"""

import argparse
import collections
import fnmatch
import os
import sys
from pathlib import Path

KNOWN = Path(__file__).parent / "array_api_known_failures.txt"


def known_failures():
    """[(pattern, reason)] from lines 'pattern | reason', where * stands for any text."""
    rows = []
    for line in KNOWN.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = line.partition(" | ")
            rows.append((pattern.strip(), reason.strip()))
    return rows


def matches(test, pattern):
    return fnmatch.fnmatchcase(test, pattern.replace("[", "[[]"))


class Tally:
    """A pytest plugin: the outcome of every test."""

    def __init__(self):
        self.outcomes = {}

    def pytest_runtest_logreport(self, report):
        test = report.nodeid.split("array_api_tests/")[-1]
        if report.failed:
            self.outcomes[test] = "failed"
        elif report.when == "call" or report.skipped:
            self.outcomes.setdefault(test, report.outcome)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "checkout", type=Path, help="folder of array-api-tests, its submodule array-api inside"
    )
    parser.add_argument(
        "--max-examples", default="20", help="examples that hypothesis draws for a test"
    )
    parser.add_argument("-k", dest="words", help="pytest's choice of tests")
    parser.add_argument("--files", nargs="*", default=[""], help="parts of file names, as linalg")
    options = parser.parse_args(argv)
    root = options.checkout.resolve()
    if not (root / "array-api/src").is_dir():
        parser.error(
            f"{root}/array-api has no src: fetch the submodule data-apis/array-api into it"
        )
    os.environ["ARRAY_API_TESTS_MODULE"] = "treadle"
    os.environ.setdefault("ARRAY_API_TESTS_VERSION", "2025.12")
    os.chdir(root)
    sys.path.insert(0, str(root))
    import pytest

    files = [
        str(f.relative_to(root))
        for f in sorted((root / "array_api_tests").glob("test_*.py"))
        if any(part in f.name for part in options.files)
    ]
    tally = Tally()
    arguments = [*files, "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "--disable-deadline",
                 "--max-examples", options.max_examples, "--derandomize"]  # fmt: skip
    if options.words:
        arguments += ["-k", options.words]
    pytest.main(arguments, plugins=[tally])
    return report(tally.outcomes)


def report(outcomes):
    from treadle import cuda

    per_file = collections.defaultdict(collections.Counter)
    for test, outcome in outcomes.items():
        per_file[test.partition("::")[0]][outcome] += 1
    rows = known_failures()
    failed = [test for test, outcome in outcomes.items() if outcome == "failed"]
    new = [test for test in failed if not any(matches(test, p) for p, _ in rows)]
    fixed = [
        pattern
        for pattern, _ in rows
        if any(matches(t, pattern) for t in outcomes)
        and not any(matches(t, pattern) and outcomes[t] == "failed" for t in outcomes)
    ]
    print(f"\n{'file':50} passed failed skipped")
    for name, counts in sorted(per_file.items()):
        print(f"{name:50} {counts['passed']:6} {counts['failed']:6} {counts['skipped']:7}")
    total = sum(per_file.values(), collections.Counter())
    device = cuda.Device()
    print(
        f"{'all, on ' + device.name + ' (' + device.evidence + ')':50} {total['passed']:6} {total['failed']:6} "
        f"{total['skipped']:7}"
    )
    for test in new:
        print(f"FAIL, not in the list of known failures: {test}")
    for pattern in fixed:
        print(f"passes now, take it from the list: {pattern}")
    return 1 if new or fixed or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
