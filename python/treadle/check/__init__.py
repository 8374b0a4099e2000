"""``treadle check``: does it work here, and if not, why: evidence, what follows from it, what to do.

    treadle check [--require-gpu] [--json | --report] [--timeout SECONDS] [--error CODE|TEXT] [--pid PID]

Plain, it answers whether the Python packages can be imported and the software device works. With ``--require-gpu``:
whether an NVIDIA GPU has created arrays, multiplied matrices, compiled and launched a kernel and copied its results
back, and NumPy's are equal. It reads, and changes nothing; it needs no root and no network. What could hang runs in
child processes with a time limit.

Exit status: 0, what was asked for is usable; 1, the GPU is unusable and the software device works; 2, nothing works;
3, the tool itself failed.

Nothing here imports Treadle's extension: the check must say why it cannot be imported.
"""

import argparse
import contextlib
import json
import os
import shutil
import sys
import traceback

from .gather import gather
from .machine import Machine
from .verdict import TOOL_FAILED, conclude


def parser():
    p = argparse.ArgumentParser(
        prog="treadle check",
        description="Says whether Treadle and the GPU work here, from evidence; changes nothing.",
        epilog="Exit status: 0 what was asked for is usable, 1 the GPU is unusable and the software device works, "
        "2 nothing works, 3 the tool itself failed. Every row: docs/check.md.",
    )
    p.add_argument(
        "--require-gpu", action="store_true", help="anything but a verified NVIDIA GPU is a failure"
    )
    form = p.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    form.add_argument(
        "--report", action="store_true",
        help="print Markdown for a bug tracker; host, user and hardware ids are redacted",
    )  # fmt: skip
    p.add_argument("--timeout", type=seconds, default=20.0, metavar="SECONDS",
                   help="how long the driver may take to answer (default 20)")  # fmt: skip
    p.add_argument("--error", action="append", default=[], metavar="CODE|TEXT", dest="errors",
                   help="what your program said: 222, or 'no kernel image …'; may be repeated")  # fmt: skip
    p.add_argument("--pid", type=process_id, help="also look into a running process of yours")
    p.add_argument(
        "--verbose", action="store_true", help="also list the rows that could not be judged"
    )
    return p


def seconds(text):
    value = float(text)
    if not 0.1 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.1 and 3600 seconds")
    return value


def process_id(text):
    if not text.isdigit() or not os.path.exists(f"/proc/{text}"):
        raise argparse.ArgumentTypeError(f"no process {text} is to be seen here")
    return int(text)


def main(argv=None):
    """Runs the check; returns the exit status."""
    try:
        options = parser().parse_args(argv)
    except SystemExit as end:  # argparse's 2 means something else here
        return TOOL_FAILED if end.code else 0
    try:
        machine = Machine(limit=options.timeout, pid=options.pid, symptoms=options.errors)
        progress = progress_line(options)
        evidence = gather(machine, progress)
        progress("")
        verdict = conclude(evidence)
        with contextlib.suppress(BrokenPipeError):  # `… | head`: the reader has seen enough
            write(text_of(evidence, verdict, options))
        return verdict.exit_status(options.require_gpu)
    except KeyboardInterrupt:
        print("\ntreadle check: interrupted", file=sys.stderr)
        return TOOL_FAILED
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), 1
        )  # so that the flush at exit has somewhere to go
        return TOOL_FAILED
    except OSError as error:
        print(f"treadle check: the tool itself failed: {error}", file=sys.stderr)
        return TOOL_FAILED
    except Exception:
        traceback.print_exc()
        print(
            "treadle check: the tool itself failed; please report the lines above", file=sys.stderr
        )
        return TOOL_FAILED


def text_of(evidence, verdict, options):
    from . import output

    if options.json:
        return json.dumps(output.as_json(evidence, verdict, options.require_gpu), indent=1)
    if options.report:
        return output.redacted(output.as_markdown(evidence, verdict, options.require_gpu))
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    return output.as_text(evidence, verdict, options.require_gpu, max(width, 60), options.verbose)


def write(text):
    """Prints in whatever the locale can show; a closed standard output is the tool's failure."""
    if sys.stdout is None:
        raise OSError("standard output is closed")
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
    except OSError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), 1
        )  # so that the flush at exit has somewhere to go
        raise


def progress_line(options):
    """One line that is rewritten, on a terminal only."""
    if options.json or options.report or not sys.stderr or not sys.stderr.isatty():
        return lambda text: None

    def show(text):
        line = f"  {text} …" if text else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    return show
