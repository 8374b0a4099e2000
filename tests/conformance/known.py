"""Known failures of a suite that nobody here wrote: a list with reasons, and the report that holds a run against it.

A list has lines ``pattern | reason``, where * in a pattern stands for any text. Behind a line ``[outside]`` stand
tests of what Treadle does not have on purpose; they fail too, but say nothing about the functions that it has. Behind
``[elsewhere]`` stand tests like these that fail on some machines only, by what the reason names: no news when they
pass.
"""

import collections
import fnmatch


class KnownFailures:
    def __init__(self, path):
        self.rows = []  # (pattern, reason, is it outside)
        self.elsewhere = set()  # patterns of tests that fail on some machines only
        part = "[inside]"
        for line in path.read_text().splitlines():
            if line.strip() in ("[outside]", "[inside]", "[elsewhere]"):
                part = line.strip()
            elif line.strip() and not line.startswith("#"):
                pattern, bar, reason = line.partition(" | ")
                if not bar:
                    raise ValueError(f"{path}: no reason in {line!r}")
                self.rows.append((pattern.strip(), reason.strip(), part != "[inside]"))
                if part == "[elsewhere]":
                    self.elsewhere.add(pattern.strip())

    def row_of(self, test):
        return next((row for row in self.rows if matches(test, row[0])), None)

    def fixed(self, outcomes):
        """Patterns of which tests ran and none failed."""
        for pattern, _, _ in self.rows:
            hit = [outcome for test, outcome in outcomes.items() if matches(test, pattern)]
            if "passed" in hit and "failed" not in hit and pattern not in self.elsewhere:
                yield pattern


def matches(test, pattern):
    return fnmatch.fnmatchcase(test, pattern.replace("[", "[[]"))


class Tally:
    """A pytest plugin: the outcome of every test, and the first line of why it failed."""

    def __init__(self, name=lambda nodeid: nodeid):
        self.name, self.outcomes, self.reasons, self.skips = name, {}, {}, {}

    def pytest_runtest_logreport(self, report):
        test = self.name(report.nodeid)
        if report.failed:
            self.outcomes[test] = "failed"
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash else str(report.longrepr)
            self.reasons[test] = text.splitlines()[0][:200]
        elif report.when == "call" or report.skipped:
            self.outcomes.setdefault(test, report.outcome)
        if report.skipped and isinstance(report.longrepr, tuple):
            self.skips[test] = report.longrepr[2].removeprefix("Skipped: ")

    def pytest_collectreport(self, report):
        if report.failed:
            test = self.name(report.nodeid) + "::collection"
            self.outcomes[test] = "failed"
            self.reasons[test] = str(report.longrepr).splitlines()[-1][:200]


def report(outcomes, known):
    """Prints counts per file and what the list does not know. The exit status: 0 when it knows every failure, none of
    its patterns only passed, and something ran."""
    from treadle import cuda

    per_file = collections.defaultdict(collections.Counter)
    new = []
    for test, outcome in outcomes.items():
        counts = per_file[test.partition("::")[0]]
        counts[outcome] += 1
        if outcome == "failed":
            row = known.row_of(test)
            new += [] if row else [test]
            counts["outside"] += bool(row and row[2])
    fixed = list(known.fixed(outcomes))
    print(f"\n{'file':50} passed failed (outside) skipped")
    total = sum(per_file.values(), collections.Counter())
    device = cuda.Device()
    per_file = dict(sorted(per_file.items()))
    for name, c in [*per_file.items(), (f"all, on {device.name} ({device.evidence})", total)]:
        print(f"{name:50} {c['passed']:6} {c['failed']:6} {c['outside']:9} {c['skipped']:7}")
    counted = total["passed"] + total["failed"] - total["outside"]
    print(f"{100 * total['passed'] / max(1, counted):.1f} % of what is not outside passed")
    for test in new:
        print(f"FAIL, not in the list of known failures: {test}")
    for pattern in fixed:
        print(f"passes now, take it from the list: {pattern}")
    return 1 if new or fixed or not total["passed"] else 0
