"""What `treadle bench` measures: a function of a script, its regions, a raw kernel, an expression."""

import contextlib
import functools
import io
import os
import runpy
import sys
import time
import traceback

import numpy as np

from . import guards, regions
from .comparison import compare, on_host
from .expressions import evaluator, free_names
from .kernel_arguments import arithmetic, generate
from .measurement import benchmark

__all__ = [
    "UsageError",
    "bench_expression",
    "bench_function",
    "bench_kernel",
    "bench_regions",
    "load",
]


class UsageError(Exception):
    """Something about the command line that cannot be; the message says what to write instead."""


def load(text):
    """(the function of ``script.py:function``, its name). The script runs, but not as ``__main__``."""
    path, colon, name = text.rpartition(":")
    if not colon or not path:
        raise UsageError(f"{text!r} names no function; write script.py:function")
    if not os.path.isfile(path):
        raise UsageError(f"there is no file {path!r}")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    found = runpy.run_path(path, run_name="treadle_bench")
    if not callable(found.get(name)):
        have = [key for key, value in found.items() if callable(value) and not key.startswith("_")]
        raise UsageError(f"{path} has no function {name!r}; it has: {', '.join(have) or 'none'}")
    return found[name], name


def bench_function(text, options, more):
    """``script.py:function``, called without arguments; beside another one with ``--against``."""
    work, name = load(text)
    work, reference = _told(work, name), _reference(options)
    if options.against:
        other, its_name = load(options.against)
        return _compared(work, _told(other, its_name), (), options, more, reference=reference)
    return benchmark(work, name=name, reference=reference, **more)


def _told(work, name):
    """The function; what it raises is shown with its own lines, and is no error of the command line."""

    @functools.wraps(work)
    def call():
        try:
            return work()
        except Exception as error:
            traceback.print_exc()
            raise guards.Refused(
                "failed-work", f"{name} raised {type(error).__name__}: {error}"
            ) from None

    return call


def _compared(a, b, args, options, more, **others):
    caches = more["cache"]
    cache = caches if isinstance(caches, str) else "hot"
    return compare(a, b, *args, cache=cache, policy=more["policy"], **others)


def _reference(options):
    return load(options.reference)[0] if options.reference else None


def bench_expression(text, options, more):
    """Every name that is no function of Treadle's is an array of random numbers of one size and dtype.

    The reference is NumPy's result of the same expression, unless NumPy has not all of its functions.
    """
    try:
        names = free_names(text)
    except SyntaxError as error:
        raise UsageError(f"{text!r} is no expression: {error.msg}") from None
    if not names:
        raise UsageError(f"{text!r} has no arrays: names like a and b are made into arrays")
    shape = tuple(_size(part) for part in options.size.split(","))
    rng = np.random.default_rng(options.seed)
    made = f"{options.dtype}[{','.join(map(str, shape))}]"
    try:
        arrays = {name: generate(made, rng).value for name in names}
    except ValueError as error:
        raise UsageError(f"--dtype {options.dtype}: {error}") from None
    with_numpy = evaluator(text, tuple(names), "host")
    if options.numpy:
        with_treadle = evaluator(text, tuple(names), "device")
        with_numpy.__name__, with_treadle.__name__ = "NumPy", text
        return _compared(on_host(with_numpy), with_treadle, arrays.values(), options, more)
    reference = _reference(options)
    if reference is None:
        with contextlib.suppress(NameError, AttributeError, TypeError), np.errstate(all="ignore"):
            reference = np.asarray(with_numpy(*arrays.values()))
    return benchmark(text, reference=reference, **arrays, **more)


def _size(text):
    """A size; 1e7 is one too."""
    try:
        return arithmetic(text)
    except ValueError as error:
        raise UsageError(f"--size: {error}") from None


def bench_kernel(path, options, more):
    """A kernel of a CUDA C++ file with generated arguments."""
    from .. import RawKernel

    if not options.kernel:
        raise UsageError("a CUDA C++ file needs --kernel NAME")
    with open(path, encoding="utf-8") as file:
        kernel = RawKernel(file.read(), options.kernel, tuple(options.option), file_name=path)
    rng = np.random.default_rng(options.seed)
    try:
        made = [generate(text, rng) for text in options.arg]
    except ValueError as error:
        raise UsageError(f"--arg: {error}") from None
    inputs, outputs = _ways(kernel, made)
    block = _extent(options.block, "--block")
    grid = _extent(options.grid, "--grid") if options.grid else _covering(made, block)
    return benchmark(
        lambda *args: kernel(grid, block, args, shared_mem=options.shared), *(one.value for one in made),
        name=f"{options.kernel}<<<{_shown(grid)}, {_shown(block)}>>>", inputs=inputs, outputs=outputs,
        reference=_reference(options), **more,
    )  # fmt: skip


def _ways(kernel, made):
    """Positions of the inputs, and those of the outputs or None: as said, else as the signature's const says."""
    params = kernel.params
    inputs, outputs, told = [], [], False
    for i, one in enumerate(made):
        if not isinstance(one.value, np.ndarray) or i >= len(params):
            continue
        constant = params[i]["type"].startswith("const ") or " const" in params[i]["type"]
        way = one.way or ("in" if constant else "inout")
        told = told or one.way in ("out", "inout")
        if way != "out":
            inputs.append(i)
        if way != "in":
            outputs.append(i)
    return tuple(inputs), (tuple(outputs) if told else None)


def _extent(text, option):
    try:
        found = tuple(arithmetic(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
    if not 1 <= len(found) <= 3 or 0 in found:
        raise UsageError(
            f"{option} {text}: write one to three sizes of at least 1, as 256 or 16,16"
        )
    return found


def _covering(made, block):
    """One thread for each element of the largest array."""
    largest = max((one.value.size for one in made if isinstance(one.value, np.ndarray)), default=1)
    threads = int(np.prod(block))
    return (max(1, -(-largest // threads)),)


def _shown(extent):
    return ",".join(map(str, extent))


def bench_regions(path, arguments, seconds, progress):
    """Runs a script again and again, as ``__main__``, until its regions have enough samples; their measurements."""
    if not os.path.isfile(path):
        raise UsageError(f"there is no file {path!r}")
    regions.forget()
    begin, passes, enough = time.perf_counter(), 0, 30
    kept, sys.argv = sys.argv, [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        while True:
            quiet = contextlib.redirect_stdout(io.StringIO() if passes else sys.stdout)
            with quiet, contextlib.suppress(_EndOfScript), _exits(path):
                runpy.run_path(path, run_name="__main__")
            passes += 1
            have, spent = regions.entries(), time.perf_counter() - begin
            if not regions.known():
                raise UsageError(
                    f'{path} has no marked region; write `with td.benchmark.region("name"):` around the work, '
                    f"or name a function: {path}:function"
                )
            progress(path, "pass", passes, None)
            if have >= enough or (spent > 3 * seconds and have >= 12) or spent > 30 * seconds:
                return list(regions.collect().values())
    finally:
        sys.argv = kept


class _EndOfScript(Exception):
    pass


@contextlib.contextmanager
def _exits(path):
    """A script may end with sys.exit(); a status other than 0, and what it raises, is its failure."""
    try:
        yield
    except SystemExit as end:
        if end.code not in (None, 0):
            raise guards.Refused("failed-script", f"{path} ended with status {end.code}") from None
        raise _EndOfScript from None
    except Exception as error:
        traceback.print_exc()
        raise guards.Refused(
            "failed-script", f"{path} raised {type(error).__name__}: {error}"
        ) from None
