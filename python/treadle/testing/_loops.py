"""Decorators that run a test's body for each of several dtypes, orders or axes."""

import functools
import itertools
import os
import random

import numpy as np

from ._compare import _wraps_partial as _wraps_partial
from ._compare import _wraps_partial_xp as _wraps_partial_xp  # tests import them from here
from ._compare import without_arguments

__all__ = [
    "for_CF_orders", "for_all_dtypes", "for_all_dtypes_combination", "for_complex_dtypes", "for_contiguous_axes",
    "for_dtypes", "for_dtypes_combination", "for_float_dtypes", "for_int_dtypes", "for_int_dtypes_combination",
    "for_orders", "for_signed_dtypes", "for_signed_dtypes_combination", "for_unsigned_dtypes",
    "for_unsigned_dtypes_combination",
]  # fmt: skip

_SIGNED = (np.int8, np.int16, np.int32, np.int64)
_UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
_FLOATS = (np.float64, np.float32, np.float16)
_COMPLEX = (np.complex64, np.complex128)
_MIXED_SAMPLE = 24  # combinations of dtypes that are tried unless CUPY_TEST_FULL_COMBINATION=1


def _each(function, choices, hidden):
    """The test that calls ``function`` with each dictionary of ``choices()``."""

    @functools.wraps(function)
    def test(*args, **kwargs):
        for chosen in choices():
            try:
                function(*args, **kwargs, **chosen)
            except Exception as error:
                shown = ", ".join(f"{k}={getattr(v, '__name__', v)}" for k, v in chosen.items())
                error.add_note(f"with {shown}") if hasattr(error, "add_note") else None
                raise

    return without_arguments(test, function, hidden)


def _subsample(items):
    """All, or one in fifteen with CUPY_TEST_RANDOM_SUBSAMPLE=1."""
    items = list(items)
    if os.environ.get("CUPY_TEST_RANDOM_SUBSAMPLE", "0") in ("0", "") or len(items) < 3:
        return items
    count = max(1, len(items) // 15) if len(items) > 30 else min(len(items), 3)
    return random.Random(len(items)).sample(items, count)


def for_dtypes(dtypes, name="dtype"):
    """Runs the test with each dtype."""
    return lambda function: _each(function, lambda: ({name: d} for d in _subsample(dtypes)), {name})


def _all(no_float16=False, no_bool=False, no_complex=False):
    found = [d for d in _FLOATS if not (no_float16 and d is np.float16)]
    found += [*_SIGNED, *_UNSIGNED]
    if not no_bool:
        found.append(np.bool_)
    if not no_complex:
        found += _COMPLEX
    return found


def for_all_dtypes(name="dtype", no_float16=False, no_bool=False, no_complex=False):
    """Runs the test with every dtype."""
    return for_dtypes(_all(no_float16, no_bool, no_complex), name)


def for_float_dtypes(name="dtype", no_float16=False):
    """Runs the test with every floating dtype."""
    return for_dtypes([d for d in _FLOATS if not (no_float16 and d is np.float16)], name)


def for_signed_dtypes(name="dtype"):
    """Runs the test with every signed integer."""
    return for_dtypes(_SIGNED, name)


def for_unsigned_dtypes(name="dtype"):
    """Runs the test with every unsigned integer."""
    return for_dtypes(_UNSIGNED, name)


def for_int_dtypes(name="dtype", no_bool=False):
    """Runs the test with every integer, and bool."""
    return for_dtypes([*_SIGNED, *_UNSIGNED, *([] if no_bool else [np.bool_])], name)


def for_complex_dtypes(name="dtype"):
    """Runs the test with every complex dtype."""
    return for_dtypes(_COMPLEX, name)


def for_dtypes_combination(types, names=("dtype",), full=None):
    """Runs the test with combinations of dtypes: all with ``full``, else a sample."""
    types, names = list(types), list(names)
    if full is None:
        full = os.environ.get("CUPY_TEST_FULL_COMBINATION", "0") not in ("0", "")

    def choices():
        combinations = list(itertools.product(types, repeat=len(names)))
        if not full and len(combinations) > _MIXED_SAMPLE:
            combinations = random.Random(len(combinations)).sample(combinations, _MIXED_SAMPLE)
        return (dict(zip(names, c)) for c in _subsample(combinations))

    return lambda function: _each(function, choices, set(names))


def for_all_dtypes_combination(
    names=("dtyes",), no_float16=False, no_bool=False, full=None, no_complex=False
):
    """As ``for_dtypes_combination`` over every dtype."""
    return for_dtypes_combination(_all(no_float16, no_bool, no_complex), names, full)


def for_signed_dtypes_combination(names=("dtype",), full=None):
    """As ``for_dtypes_combination`` over signed integers."""
    return for_dtypes_combination(_SIGNED, names, full)


def for_unsigned_dtypes_combination(names=("dtype",), full=None):
    """As ``for_dtypes_combination`` over unsigned integers."""
    return for_dtypes_combination(_UNSIGNED, names, full)


def for_int_dtypes_combination(names=("dtype",), no_bool=False, full=None):
    """As ``for_dtypes_combination`` over integers, and bool."""
    types = [*_SIGNED, *_UNSIGNED, *([] if no_bool else [np.bool_])]
    return for_dtypes_combination(types, names, full)


def for_orders(orders, name="order"):
    """Runs the test with each memory order."""
    return lambda function: _each(function, lambda: ({name: o} for o in orders), {name})


def for_CF_orders(name="order"):
    """Runs the test with the orders "C" and "F"."""
    return for_orders(["C", "F"], name)


def for_contiguous_axes(name="axis"):
    """Runs the test with the axes from the last (C order) or the first (F order) on; a class gives shape and order."""

    def decorate(function):
        @functools.wraps(function)
        def test(self, *args, **kwargs):
            n = len(self.shape)
            order = getattr(self, "order", "C")
            for i in range(1, n):
                axis = tuple(range(n - i, n)) if order in ("c", "C") else tuple(range(i))
                function(self, *args, **kwargs, **{name: axis})

        return without_arguments(test, function, {name})

    return decorate
