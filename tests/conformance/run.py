#!/usr/bin/env python3
"""Runs a corpus of CUDA programs through `treadle cc` on the software device.

    PYTHONPATH=build/python python3 tests/conformance/run.py hecbench /path/to/HeCBench [--only vadd,scan] [--first]

Each program is built by its own rules, run with arguments of our table, and judged by its own words. The last lines
count passed / ran (no check of its own) / failed / skipped; failures that are in the list of known ones have their
reason there.
"""

import argparse
import collections
import concurrent.futures
import importlib
import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from corpus import Runner  # noqa: E402

CORPORA = {
    "hecbench": "hecbench",
    "rodinia": "rodinia",
    "cuda-samples": "cuda_samples",
    "polybench": "polybench",
    "gpuverify": "gpuverify",
}


def known_failures(corpus):
    path = HERE / f"{CORPORA[corpus]}_known_failures.txt"
    rows = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        line = line.split("#", 1)[0].strip()
        if line:
            name, _, reason = line.partition(":")
            rows[name.strip()] = reason.strip()
    return rows


def parse(argv):
    p = argparse.ArgumentParser(
        description="Runs a corpus of CUDA programs on the software device."
    )
    p.add_argument("corpus", choices=sorted(CORPORA))
    p.add_argument("checkout", help="folder of the corpus")
    p.add_argument("--only", help="names, separated by commas")
    p.add_argument(
        "--first", action="store_true", help="HeCBench: the thirty programs to start with"
    )
    p.add_argument("--work", help="folder for builds (default: a temporary one)")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument(
        "--build-limit", type=float, default=300, help="seconds of processor time a build may take"
    )
    p.add_argument(
        "--limit", type=float, default=60, help="seconds of processor time a run may take"
    )
    p.add_argument("--keep", action="store_true", help="keep the build folders")
    p.add_argument("--json", help="file for the results")
    p.add_argument("--verbose", action="store_true", help="print the output of failures")
    return p.parse_args(argv)


def main(argv=None):
    options = parse(argv)
    if not Path(options.checkout).is_dir():
        sys.exit(f"{options.checkout} is not a folder; name a checkout of {options.corpus}")
    with tempfile.TemporaryDirectory(prefix="treadle-conformance-") as temporary:
        runner = Runner(options.work or temporary, options.build_limit, options.limit, options.keep)
        module = importlib.import_module(CORPORA[options.corpus])
        programs = list(module.programs(options.checkout, runner.work, runner.compiler))
        if options.only or options.first:
            wanted = set(options.only.split(",")) if options.only else set(module.FIRST)
            if missing := wanted - {p.name for p in programs}:
                sys.exit(f"no such program in this checkout: {', '.join(sorted(missing))}")
            programs = [p for p in programs if p.name in wanted]
        results = run_all(runner, programs, options)
    return report(options, results)


def run_all(runner, programs, options):
    known = known_failures(options.corpus)
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(runner, programs):
            results.append(result)
            note = result.reason
            if result.status == "failed" and result.name in known:
                note += f"  [known: {known[result.name]}]"
            seconds = f"{result.build_seconds:6.1f} {result.run_seconds:6.1f}"
            print(f"{result.status:8} {result.name:32} {seconds}  {note}")
            if options.verbose and result.status == "failed":
                print(result.output[-3000:])
            sys.stdout.flush()
    return results


def report(options, results):
    count = collections.Counter(result.status for result in results)
    runnable = len(results) - count["skipped"]
    good = count["passed"] + count["ran"]
    print(
        f"\n{options.corpus}: {count['passed']} passed, {count['ran']} ran (no check of their own), "
        f"{count['failed']} failed, {count['skipped']} skipped; "
        f"{100 * good / max(runnable, 1):.1f} % of {runnable} good"
    )
    if options.json:
        rows = [{k: v for k, v in vars(result).items() if k != "output"} for result in results]
        Path(options.json).write_text(
            json.dumps({"corpus": options.corpus, "results": rows}, indent=1) + "\n"
        )
    known = known_failures(options.corpus)
    unknown = [r.name for r in results if r.status == "failed" and r.name not in known]
    if unknown:
        print("failures that no list explains: " + ", ".join(unknown))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
