"""The tour's own judgement: a wrong result, a wrong message or a missing error must make a step fail."""

import io

import numpy as np
import pytest
import treadle as td
from treadle import cuda, tour
from treadle.tour import context, mistakes, report, timing


@pytest.fixture
def run():
    return context.Context(cuda.Device())


def test_wrong_values_are_a_mismatch(run):
    with pytest.raises(report.Mismatch, match=r"1 of 3 elements differ; the first at \(1,\)"):
        run.expect(td.asarray([1.0, 2.0, 3.0]), [1.0, 2.5, 3.0], rtol=1e-5)
    with pytest.raises(report.Mismatch, match="shape"):
        run.expect(td.zeros(3), np.zeros((3, 1)))
    with pytest.raises(report.Mismatch):
        run.expect(td.full(3, np.nan), np.zeros(3), rtol=1, atol=1)
    assert run.verified == 0
    assert run.expect(td.ones(3), np.ones(3)) == 0.0 and run.verified == 1


def test_poison_and_guard():
    out = context.Output((2, 3), np.float32)
    assert out.untouched()
    out.array[0, 0] = 1
    assert not out.untouched()
    out.whole[6] = 1
    with pytest.raises(report.Mismatch, match="behind the output"):
        out.read()


def test_refusals_are_demanded():
    with pytest.raises(report.Mismatch, match="was not refused"):
        mistakes.refused(ValueError, [], lambda: None)
    with pytest.raises(report.Mismatch, match="does not say"):
        mistakes.refused(ValueError, ["cure"], lambda: int("x"))
    with pytest.raises(TypeError):
        mistakes.refused(ValueError, [], lambda: len(3))


def test_outcomes_of_a_step(run):
    def skip(run):
        raise report.Skip("no reason")

    def fail(run):
        raise RuntimeError("broken")

    assert tour.take("a", lambda run: {"n": 1}, run).status == "PASS"
    assert tour.take("a", skip, run).status == "SKIPPED"
    outcome = tour.take("a", fail, run)
    assert (
        outcome.status == "FAIL"
        and outcome.reason == "RuntimeError: broken"
        and outcome.device == run.evidence
    )


@pytest.mark.parametrize(
    "statuses, verified, code", [("PP", 1, 0), ("PF", 1, 1), ("PS", 1, 1), ("PP", 0, 1), ("", 1, 1)]
)
def test_exit_status(run, statuses, verified, code):
    words = {"P": "PASS", "F": "FAIL", "S": "SKIPPED"}
    out = report.Reporter(False, io.StringIO())
    for letter in statuses:
        out.add(report.Result("step", words[letter]))
    run.verified = verified
    assert tour.conclude(out, run, tour.parser().parse_args([])) == code


def test_a_terminal_sees_progress_and_a_pipe_does_not(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    for stream, live in ((Terminal(), True), (io.StringIO(), False)):
        out = report.Reporter(False, stream)
        out.progress("a long step")
        out.add(
            report.Result(
                "a long step", "PASS", "", "software device", {"t": [{"n": 1, "ms": 2.0}]}
            )
        )
        assert ("\r" in stream.getvalue()) is live
        assert "n  ms" in stream.getvalue()


def test_crossover():
    rows = [
        {"elements": 10, "NumPy/device": 0.5},
        {"elements": 20, "NumPy/device": 2.0},
        {"elements": 30, "NumPy/device": 3},
    ]
    assert timing.crossover(rows) == "the device is faster from 20 elements on"
    assert "NumPy is faster" in timing.crossover(rows[:1])
