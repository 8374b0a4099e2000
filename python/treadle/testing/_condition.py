"""Decorators for tests whose outcome depends on random numbers: they run several times."""

import functools
import os

__all__ = ["repeat", "repeat_with_success_at_least", "retry"]


def _again(args, method):
    """Calls ``setUp`` or ``tearDown`` of the test's object between two runs."""
    getattr(args[0], method, lambda: None)() if args else None


def repeat_with_success_at_least(times, min_success):
    """Runs the test ``times`` times; it passes when ``min_success`` runs did. The last failure is raised otherwise."""
    if not 1 <= min_success <= times:
        raise ValueError(f"min_success is {min_success}, which must be from 1 to times, {times}")

    def decorate(function):
        @functools.wraps(function)
        def test(*args, **kwargs):
            passed, error = 0, None
            for run in range(times):
                if run:
                    _again(args, "tearDown")
                    _again(args, "setUp")
                try:
                    function(*args, **kwargs)
                    passed += 1
                except Exception as failure:
                    error = failure
                left = times - run - 1
                if passed >= min_success:
                    return
                if passed + left < min_success:
                    error.add_note(f"{passed} of {run + 1} runs passed") if hasattr(
                        error, "add_note"
                    ) else None
                    raise error

        return test

    return decorate


def repeat(times, intensive_times=None):
    """Runs the test ``times`` times, all of which must pass; ``intensive_times`` with CUPY_TEST_INTENSIVE=1."""
    if intensive_times is not None and os.environ.get("CUPY_TEST_INTENSIVE", "0") not in ("0", ""):
        times = intensive_times
    return repeat_with_success_at_least(times, times)


def retry(times):
    """Runs the test up to ``times`` times, until it passes once."""
    return repeat_with_success_at_least(times, 1)
