"""``treadle bench``: times of a function, a script's regions, a raw kernel, an expression; saved runs compared."""

import argparse
import json
import os
import sys

from .._whole_files import write_whole
from ..errors import CompileError, CUDAError
from . import programs, saved
from .comparison import Comparison
from .guards import Refused
from .measurement import FORMAT
from .report import in_percent
from .sampling import ALL_SCOPES, SCOPES, Policy

DONE, FAILED, WRONG_USE, UNDECIDED = 0, 1, 2, 3

USAGE = """\
treadle bench SCRIPT.py:FUNCTION        a function without arguments
treadle bench SCRIPT.py [-- ARGUMENTS …]   the regions that it marks: with td.benchmark.region("name"):
treadle bench FILE.cu --kernel NAME --arg float32[1<<20] … [--grid N] [--block N]
treadle bench -e "sqrt(a * a + 1)" --size 1e7 --dtype float32
treadle bench compare OLD.json NEW.json"""

EXIT = """exit status: 0 measured (compare: nothing is slower), 1 refused or failed (compare: something is slower or
cannot be compared), 2 wrong use, 3 measured, but not converged (compare: undecided)"""


def parser():
    p = argparse.ArgumentParser(prog="treadle bench", usage=USAGE, description=__doc__, epilog=EXIT,
                                formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    p.add_argument("what", nargs="?", help="SCRIPT.py:FUNCTION, SCRIPT.py or FILE.cu")
    p.add_argument("-e", dest="expression", metavar="TEXT", help="an expression of arrays")
    p.add_argument(
        "--size", default="1e6", help="elements of an expression's arrays, as 1e7 or 1000,1000"
    )
    p.add_argument("--dtype", default="float32", help="of an expression's arrays")
    p.add_argument("--kernel", metavar="NAME", help="the kernel of FILE.cu")
    p.add_argument("--arg", action="append", default=[], metavar="ARG",
                   help="[in:|out:|inout:]float32[SIZES][=random|arange|NUMBER] or int32=NUMBER")  # fmt: skip
    p.add_argument(
        "--grid",
        metavar="X[,Y[,Z]]",
        help="blocks (default: a thread for each element of the largest array)",
    )
    p.add_argument("--block", default="256", metavar="X[,Y[,Z]]", help="threads of a block")
    p.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="FLAG",
        help="of the compiler: --option=-DN=3",
    )
    p.add_argument("--shared", type=int, default=0, metavar="BYTES", help="dynamic shared memory")
    p.add_argument(
        "--reference",
        metavar="SCRIPT.py:FUNCTION",
        help="what the result must be, from NumPy arrays",
    )
    p.add_argument("--against", metavar="SCRIPT.py:FUNCTION", help="measure two functions in turns")
    p.add_argument(
        "--numpy",
        action="store_true",
        help="measure an expression and NumPy's evaluation of it in turns",
    )
    p.add_argument(
        "--bytes", type=float, metavar="N", help="bytes that one call moves in device memory"
    )
    p.add_argument(
        "--cache", choices=("hot", "cold", "both"), default="both", help="state of the cache"
    )
    p.add_argument("--graph", action="store_true", help="also the device's time of graph replays")
    p.add_argument("--seconds", type=float, default=1.0, help="at most, for each time")
    p.add_argument(
        "--target", type=float, default=0.5, metavar="PERCENT", help="half width of the interval"
    )
    p.add_argument("--seed", type=int, default=0, help="of generated values and intervals")
    p.add_argument(
        "--json",
        metavar="FILE",
        help="write the record there (-: to standard output, without the table)",
    )
    return p


def main(argv=None):
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv[:1] == ["compare"]:
        return compare_main(argv[1:])
    own = argv.index("--") if "--" in argv else len(argv)
    options = parser().parse_args(argv[:own])
    options.arguments = argv[own + 1 :]  # the script's
    try:
        found = measure(options)
    except programs.UsageError as error:
        print(f"treadle bench: {error}", file=sys.stderr)
        return WRONG_USE
    except (ValueError, TypeError) as error:
        print(f"treadle bench: {type(error).__name__}: {error}", file=sys.stderr)
        return WRONG_USE
    except Refused as error:
        print(f"treadle bench: no time ({error.kind}): {error}", file=sys.stderr)
        return FAILED
    except (CUDAError, CompileError, OSError) as error:
        print(f"treadle bench: no time: {error}", file=sys.stderr)
        return FAILED
    show(found, options.json)
    if isinstance(found[0], Comparison):
        return UNDECIDED if any(row.verdict == "undecided" for row in found[0].ratios) else DONE
    if any(not one.times for one in found):
        return FAILED
    return DONE if all(one.converged for one in found) else UNDECIDED


def measure(options):
    """The measurements that the options ask for."""
    progress = _progress()
    try:
        policy = Policy(target=options.target / 100, max_seconds=options.seconds, seed=options.seed)
    except ValueError as error:
        raise programs.UsageError(str(error)) from None
    more = {
        "policy": policy,
        "cache": ("hot", "cold") if options.cache == "both" else options.cache,
        "progress": progress,
        "scopes": ALL_SCOPES if options.graph else SCOPES,
        "bytes_moved": None if options.bytes is None else int(options.bytes),
    }
    try:
        return _measure(options, more, progress)
    finally:
        progress.end()


def _measure(options, more, progress):
    if options.graph and (options.against or options.numpy or _marks_regions(options)):
        raise programs.UsageError(
            "--graph is for one function, kernel or expression; leave it out here"
        )
    if options.expression is not None:
        if options.what:
            raise programs.UsageError(
                f"an expression and {options.what!r} are two things to measure; give one"
            )
        return [programs.bench_expression(options.expression, options, more)]
    what = options.what
    if not what:
        raise programs.UsageError(f"there is nothing to measure\n{USAGE}")
    if not what.endswith((".py", ".cu")) and ".py:" in what:
        return [programs.bench_function(what, options, more)]
    if not os.path.isfile(what):
        raise programs.UsageError(f"there is no file {what!r}")
    if options.kernel or what.endswith(".cu"):
        return [programs.bench_kernel(what, options, more)]
    return programs.bench_regions(what, options.arguments, options.seconds, progress)


def _marks_regions(options):
    what = options.what or ""
    return options.expression is None and what.endswith(".py") and not options.kernel


def show(found, path):
    """The tables, or the record, or both."""
    if path != "-":
        print("\n\n".join(map(str, found)))
    if path:
        kind = "comparisons" if isinstance(found[0], Comparison) else "measurements"
        text = json.dumps({"format": FORMAT, kind: [one.to_dict() for one in found]}, indent=1)
        if path == "-":
            print(text)
        else:
            write_whole(path, text + "\n")


class _progress:
    """One line on a terminal that says how far it is; nothing in a pipe."""

    def __init__(self):
        self.shown = sys.stderr.isatty()

    def __call__(self, what, state, count, interval):
        if self.shown:
            width = "" if interval is None else f", ± {in_percent(interval.relative_half_width)}"
            print(f"\r{what} {state}: {count}{width}\033[K", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def compare_main(argv):
    p = argparse.ArgumentParser(prog="treadle bench compare", description=saved.__doc__, epilog=EXIT,
                                formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    p.add_argument("old")
    p.add_argument("new")
    p.add_argument(
        "--margin", type=float, default=1.0, metavar="PERCENT", help="less is no difference"
    )
    p.add_argument("--json", action="store_true", help="rows as JSON")
    options = p.parse_args(argv)
    try:
        old, new = saved.read(options.old), saved.read(options.new)
    except (OSError, ValueError) as error:
        print(f"treadle bench compare: {error}", file=sys.stderr)
        return WRONG_USE
    rows = saved.compare_saved(old, new, options.margin / 100)
    if options.json:
        print(
            json.dumps(
                [row._asdict() | {"ratio": row.ratio and row.ratio._asdict()} for row in rows],
                indent=1,
            )
        )
    else:
        print(saved.as_text(rows, old, new))
    verdicts = {row.verdict for row in rows}
    if verdicts & {"slower", "refused"} or not rows:
        return FAILED
    return UNDECIDED if "undecided" in verdicts else DONE
