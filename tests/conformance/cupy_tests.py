#!/usr/bin/env python3
"""Runs CuPy's own tests, from a checkout, against treadle under the name cupy.

    PYTHONPATH=build/python python3 tests/conformance/cupy_tests.py /path/to/cupy creation_tests logic_tests/test_ops.py

One parameter and dtype in fifteen is taken, always the same ones, unless --all. The last lines count passed / failed /
skipped per file; -v names what failed, and why in a line. The exit status is 0 when every failure is in
cupy_known_failures.txt, with its reason, and everything in that list that ran still fails. No file of CuPy is loaded
but its tests.
"""

import argparse
import os
import sys
from pathlib import Path

from known import KnownFailures, Tally, report

HERE = Path(__file__).resolve().parent
# The folders that the arrays' functions are held against.
FOLDERS = [
    "core_tests", "indexing_tests", "manipulation_tests", "creation_tests", "logic_tests", "sorting_tests",
    "statistics_tests", "math_tests", "linalg_tests", "fft_tests", "random_tests", "functional_tests",
    "binary_tests", "io_tests", "lib_tests", "misc_tests", "padding_tests", "polynomial_tests",
]  # fmt: skip


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument(
        "parts", nargs="*", default=FOLDERS, help="folders or files below tests/cupy_tests"
    )
    parser.add_argument("-k", dest="words", help="pytest's choice of tests")
    parser.add_argument("-v", dest="verbose", action="store_true", help="name what failed")
    parser.add_argument("--all", action="store_true", help="every parameter and dtype")
    options = parser.parse_args(argv)
    root = options.checkout.resolve() / "tests/cupy_tests"
    os.environ["CUPY_TEST_RANDOM_SUBSAMPLE"] = "0" if options.all else "1"
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
    if options.verbose:
        for test, reason in sorted(tally.reasons.items()):
            print(f"{test}: {reason}")
    return report(tally.outcomes, KnownFailures(HERE / "cupy_known_failures.txt"))


if __name__ == "__main__":
    sys.exit(main())
