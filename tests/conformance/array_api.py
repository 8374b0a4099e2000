#!/usr/bin/env python3
"""Runs data-apis/array-api-tests, from a checkout with its submodule, against treadle.

    PYTHONPATH=build/python python3 tests/conformance/array_api.py /path/to/array-api-tests [--max-examples 20] [-k add]

The suite needs pytest, hypothesis, ndindex and pytest-json-report. The last lines count passed / failed / skipped per
file. The exit status is 0 when every failure is in array_api_known_failures.txt, with its reason, and everything in
that list that ran still fails.
"""

import argparse
import os
import sys
from pathlib import Path

from known import KnownFailures, Tally, report

HERE = Path(__file__).resolve().parent


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
    tally = Tally(lambda nodeid: nodeid.split("array_api_tests/")[-1])
    arguments = [*files, "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "--disable-deadline",
                 "--max-examples", options.max_examples, "--derandomize"]  # fmt: skip
    if options.words:
        arguments += ["-k", options.words]
    pytest.main(arguments, plugins=[tally])
    return report(tally.outcomes, KnownFailures(HERE / "array_api_known_failures.txt"))


if __name__ == "__main__":
    sys.exit(main())
