#!/usr/bin/env python3
"""Runs CuPy's own tests, from a checkout, against treadle under the name cupy.

    PYTHONPATH=build/python python3 tests/conformance/cupy_tests.py /path/to/cupy creation_tests logic_tests/test_ops.py

CUPY_TEST_RANDOM_SUBSAMPLE=1 takes one parameter and dtype in fifteen. The last lines count passed / failed / skipped
per file; -v names what failed, and why in a line. No file of CuPy is loaded but its tests.
"""

import argparse
import collections
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Tally:
    """A pytest plugin: the outcome of every test, and the last line of what failed."""

    def __init__(self):
        self.outcomes, self.reasons = {}, {}

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.outcomes[report.nodeid] = "failed"
            crash = getattr(report.longrepr, "reprcrash", None)
            self.reasons[report.nodeid] = (
                crash.message if crash else str(report.longrepr)
            ).splitlines()[0][:200]
        elif report.when == "call" or report.skipped:
            self.outcomes.setdefault(report.nodeid, report.outcome)

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes[report.nodeid + "::collection"] = "failed"
            self.reasons[report.nodeid + "::collection"] = str(report.longrepr).splitlines()[-1][
                :200
            ]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("parts", nargs="+", help="folders or files below tests/cupy_tests")
    parser.add_argument("-k", dest="words", help="pytest's choice of tests")
    parser.add_argument("-v", dest="verbose", action="store_true", help="name what failed")
    options = parser.parse_args(argv)
    root = options.checkout.resolve() / "tests/cupy_tests"
    sys.path.insert(0, str(HERE))
    os.chdir(root)
    import pytest

    tally = Tally()
    arguments = ["-q", "--noconftest", "--no-header", "--tb=short", "--show-capture=no", "-p", "cupy_names", "-p",
                 "no:cacheprovider", "-c", os.devnull, "--rootdir", str(root), "-W", "ignore",
                 "--import-mode=importlib", "-r", "N", "--no-summary",
                 "--continue-on-collection-errors", *options.parts]  # fmt: skip
    if options.words:
        arguments += ["-k", options.words]
    pytest.main(arguments, plugins=[tally])
    per_file = collections.defaultdict(collections.Counter)
    for test, outcome in tally.outcomes.items():
        per_file[test.partition("::")[0]][outcome] += 1
    if options.verbose:
        for test, reason in sorted(tally.reasons.items()):
            print(f"{test}: {reason}")
    print(f"\n{'file':50} passed failed skipped")
    for name, counts in sorted(per_file.items()):
        print(f"{name:50} {counts['passed']:6} {counts['failed']:6} {counts['skipped']:7}")
    total = sum(per_file.values(), collections.Counter())
    share = 100 * total["passed"] / max(1, total["passed"] + total["failed"])
    print(
        f"{'all':50} {total['passed']:6} {total['failed']:6} {total['skipped']:7}   {share:.1f} % passed"
    )
    return 0 if total["passed"] and not total["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
