"""``treadle sweep``: the command line of the three sweeps."""

import argparse
import os
import sys

from . import images, run, terminal
from .sources import Problem

_EPILOG = """examples:
  treadle sweep size add sum matmul             powers of ten, NumPy beside the device
  treadle sweep size script.py:work --save work.html
  treadle sweep reuse chain --size 1000000
  treadle sweep block kernels.cu:blur --size 1000000 --save blur.svg
  treadle sweep block script.py:add --signature 'float32[::1], float32[::1]'

On the software device every time is CPU time of the software device, and says so."""


def main(argv=None):
    options = _parser().parse_args(argv)
    progress = _Progress(sys.stderr)
    try:
        for name in options.save:
            _check_name(name)
        reports = [one(progress) for one in _SWEEPS[options.sweep](options)]
        progress.clear()
        _show(reports, options)
    except BrokenPipeError:  # who reads the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        progress.clear()
        print("treadle sweep: stopped; nothing was written", file=sys.stderr)
        return 130
    except (Problem, ValueError, TypeError, ImportError, OSError) as error:
        progress.clear()
        print(f"treadle sweep: {error}", file=sys.stderr)
        return 2
    except MemoryError as error:
        progress.clear()
        print(f"treadle sweep: not enough memory ({error}); give smaller sizes", file=sys.stderr)
        return 1
    except (
        RuntimeError
    ) as error:  # of the work: a kernel that does not compile, a launch that failed
        progress.clear()
        print(f"treadle sweep: {error}", file=sys.stderr)
        return 1
    return 0


def _parser():
    p = argparse.ArgumentParser(
        prog="treadle sweep", description="Measures how times change: over sizes, over uses of the same data, over "
        "block sizes.", epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    kinds = p.add_subparsers(dest="sweep", required=True, metavar="size | reuse | block")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--rounds", type=int, metavar="N", help="every setting is measured once a round (default 5; "
                        "3 with --quick)")  # fmt: skip
    common.add_argument(
        "--seconds", type=float, metavar="S", help="of each setting in each round (0.2)"
    )
    common.add_argument("--quick", action="store_true", help="shorter, with wider intervals")
    common.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the order and of the resamples (0)"
    )
    common.add_argument("--save", action="append", default=[], metavar="FILE",
                        help=".html (a page with everything), .json, .svg, or .png and .pdf with matplotlib; "
                        "may be repeated")  # fmt: skip
    common.add_argument("--json", action="store_true", help="print a JSON list, one object a sweep")
    common.add_argument("--no-plot", action="store_true", help="no plot in the terminal")
    size = kinds.add_parser(
        "size", parents=[common], help="NumPy and the device over sizes, and where they cross"
    )
    size.add_argument(
        "work",
        nargs="*",
        default=["add"],
        help="add, chain, sum, matmul, copy or SCRIPT.py:FUNCTION (add)",
    )
    size.add_argument("--sizes", metavar="N,N,…", help="numbers of elements (powers of ten)")
    size.add_argument("--largest", type=_count, metavar="N", help="the last power of ten")
    reuse = kinds.add_parser(
        "reuse", parents=[common], help="uploaded for every use or once, fused or op by op"
    )
    reuse.add_argument("work", nargs="*", default=["chain"], help="as for size (chain)")
    reuse.add_argument(
        "--size", type=_count, default=100_000, metavar="N", help="elements (100000)"
    )
    reuse.add_argument("--uses", metavar="K,K,…", help="numbers of uses (1,2,5,… 1000)")
    reuse.add_argument(
        "--share", type=float, default=0.1, help="transfers matter above this part of a use (0.1)"
    )
    block = kinds.add_parser("block", parents=[common], help="a kernel over block sizes 32 to 1024")
    block.add_argument("kernel", help="FILE.cu:KERNEL or SCRIPT.py:KERNEL")
    block.add_argument(
        "--blocks",
        metavar="T,T,…",
        help="threads of a block (32,64,96,128,192,256,384,512,768,1024)",
    )
    block.add_argument("--size", type=_count, default=1_000_000, metavar="N",
                       help="elements of made-up arrays, value of made-up integers (1000000)")  # fmt: skip
    block.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE",
                       help="of the kernel: n=7, x=0.5, out=float32[512,512]")  # fmt: skip
    block.add_argument(
        "--grid", type=_count, metavar="N", help="blocks (one thread for each element)"
    )
    block.add_argument(
        "--shared",
        type=int,
        default=0,
        metavar="BYTES",
        help="dynamic shared memory of a block (0)",
    )
    block.add_argument("--signature", metavar="TYPES", help="argument types of a cuda.jit kernel")
    block.add_argument(
        "--option", action="append", default=[], metavar="TEXT", help="of the compiler"
    )
    return p


def _count(text):
    """A positive integer, also as 1e6 or 1_000_000."""
    try:
        value = float(text) if "e" in text.lower() else int(text)
        if value < 1 or value != int(value):
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number") from None
    return int(value)


def _counts(text, name):
    try:
        return [_count(part.strip()) for part in text.split(",")]
    except argparse.ArgumentTypeError as error:
        raise Problem(f"{name}: {error}") from None


def _check_name(name):
    if name.endswith((".html", ".json")):
        folder = os.path.dirname(name) or "."
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"there is no folder '{folder}' for '{name}'")
        return
    try:
        images.check(name)
    except ValueError:
        endings = ", ".join((".html", ".json", *images.FORMATS))
        raise Problem(f"--save {name}: the ending must be one of {endings}") from None


def _common(options, rounds):
    if options.rounds is not None and options.rounds < 1:
        raise Problem(f"--rounds is {options.rounds}; it must be at least 1")
    return {
        "rounds": options.rounds or (3 if options.quick else rounds), "seed": options.seed,
        "policy": run.policy_of(options.quick, options.seconds),
    }  # fmt: skip


def _works(options):
    from .workloads import WORKLOADS, of_script

    return [WORKLOADS[name] if name in WORKLOADS else of_script(name) for name in options.work]


def _sizes(options):
    from .sizes import default_sizes, sweep_sizes

    common = _common(options, 5)
    for work in _works(options):
        sizes = (
            _counts(options.sizes, "--sizes")
            if options.sizes
            else default_sizes(work, options.largest)
        )
        yield lambda progress, work=work, sizes=sizes: sweep_sizes(
            work, sizes, progress=progress, **common
        )


def _reuse(options):
    from .reuse import USES, sweep_reuse

    common = _common(options, 5)
    uses = _counts(options.uses, "--uses") if options.uses else USES
    for work in _works(options):
        yield lambda progress, work=work: sweep_reuse(
            work, options.size, uses, share=options.share, progress=progress, **common
        )  # fmt: skip


def _blocks(options):
    from .blocks import BLOCKS, sweep_blocks
    from .launches import launchable, read_argument
    from .sources import find_launchable

    kernel, name = find_launchable(options.kernel, options.option, options.signature)
    blocks = _counts(options.blocks, "--blocks") if options.blocks else BLOCKS
    ready = launchable(kernel, options.size, dict(map(read_argument, options.arg)), name)
    common = _common(options, 5)
    yield lambda progress: sweep_blocks(
        ready, blocks, grid=options.grid, shared=options.shared, progress=progress, **common
    )  # fmt: skip


_SWEEPS = {"size": _sizes, "reuse": _reuse, "block": _blocks}


def _show(reports, options):
    for name in options.save:
        for number, report in enumerate(reports, 1):
            stem, dot, ending = name.rpartition(".")
            report.save(name if len(reports) == 1 else f"{stem}-{number}{dot}{ending}")
    if options.json:
        print("[" + ",\n".join(report.json() for report in reports) + "]")
        return
    width, encoding = terminal.width_of(), sys.stdout.encoding
    print("\n\n".join(report.text(width, encoding, not options.no_plot) for report in reports))


class _Progress:
    """One line on a terminal; nothing elsewhere."""

    def __init__(self, stream):
        self.stream, self.on = stream, stream.isatty()

    def __call__(self, done, total, text):
        if self.on:
            self.stream.write(
                f"\r\x1b[K{100 * done // max(total, 1):3} %  {text[: terminal.width_of(self.stream) - 8]}"
            )
            self.stream.flush()

    def clear(self):
        if self.on:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
