"""``treadle occupancy``: the calculator of `occupancy` for a terminal, as a table, a plot or JSON."""

import argparse
import json
import sys

from .occupancy import capabilities, occupancy, parse_capability
from .sweep import images, terminal
from .sweep.figures import Axis, Figure, Series
from .sweep.sources import Problem, find_kernel

_EPILOG = """examples:
  treadle occupancy kernels.cu:blur --block 256 --shared 8192
  treadle occupancy script.py:add --signature 'float32[::1], float32[::1]' --cc 8.6
  treadle occupancy --registers 40 --static-shared 4096 --cc all

Nothing is launched. Registers are the driver's for the current device; for another compute capability, and where there
is no GPU, NVRTC's, if it is installed."""


def main(argv=None):
    options = _parser().parse_args(argv)
    try:
        for name in options.plot:
            images.check(name)
        answers = _answers(options)
        if options.json:
            print(json.dumps([_as_json(found, options) for found in answers], indent=1))
        else:
            print("\n\n".join(_text(found, options) for found in answers))
        for name in options.plot:
            images.save(figure(answers, options.name), name)
    except (Problem, ValueError, TypeError, NotImplementedError, ImportError, OSError) as error:
        print(f"treadle occupancy: {error}", file=sys.stderr)
        return 2
    except RuntimeError as error:  # a kernel that does not compile
        print(f"treadle occupancy: {error}", file=sys.stderr)
        return 1
    return 0


def _parser():
    p = argparse.ArgumentParser(
        prog="treadle occupancy",
        description="Says how many blocks of a kernel a multiprocessor holds, and everything that limits them.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument(
        "kernel", nargs="?", help="FILE.cu:KERNEL or SCRIPT.py:KERNEL; without: --registers"
    )
    p.add_argument(
        "--block",
        type=int,
        metavar="THREADS",
        help="threads of a block (256, or what the kernel takes)",
    )
    p.add_argument(
        "--shared",
        type=int,
        default=0,
        metavar="BYTES",
        help="dynamic shared memory of a block (0)",
    )
    p.add_argument("--cc", default=None, metavar="X.Y", help="compute capability, several with commas, or 'all' "
                   "(default: the current device's)")  # fmt: skip
    p.add_argument(
        "--registers", type=int, metavar="N", help="registers of a thread, in place of the kernel's"
    )
    p.add_argument(
        "--static-shared", type=int, metavar="BYTES", help="static shared memory, likewise"
    )
    p.add_argument("--max-threads", type=int, metavar="N", help="most threads of a block, likewise")
    p.add_argument("--barriers", type=int, metavar="N", help="named barriers of a block, likewise")
    p.add_argument(
        "--carve-out", type=int, metavar="PERCENT", help="preferred share of shared memory (all)"
    )
    p.add_argument(
        "--signature",
        metavar="TYPES",
        help="argument types of a cuda.jit kernel: 'float32[::1], int32'",
    )
    p.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="TEXT",
        help="of the compiler, as --option=-DN=4",
    )
    p.add_argument("--table", action="store_true", help="every block size from 32 to 1024")
    p.add_argument("--plot", action="append", default=[], metavar="FILE",
                   help="write a picture: .svg, or .png and .pdf with matplotlib")  # fmt: skip
    p.add_argument("--no-plot", action="store_true", help="no plot in the terminal")
    p.add_argument(
        "--json", action="store_true", help="print a JSON list, one object a compute capability"
    )
    return p


def _answers(options):
    kernel, options.name = None, f"a kernel of {options.registers} registers"
    if options.kernel is not None:
        signature = options.signature
        kernel, options.name = find_kernel(options.kernel, options.option, signature)
    elif options.registers is None:
        raise Problem("name a kernel (FILE.cu:KERNEL or SCRIPT.py:KERNEL), or give --registers")
    if options.cc is None:
        asked = [None]
    elif options.cc == "all":
        asked = list(capabilities())
    else:
        asked = [parse_capability(text.strip()) for text in options.cc.split(",")]
    found = []
    for capability in asked:
        try:
            found.append(_one(kernel, capability, options))
        except NotImplementedError as error:
            if options.cc != "all":
                raise
            print(
                f"treadle occupancy: left out {capability[0]}.{capability[1]}: {error}",
                file=sys.stderr,
            )
    if not found:
        raise Problem("no compute capability is left; give --registers")
    return found


def _one(kernel, capability, options):
    return occupancy(
        kernel, options.block, dynamic_shared=options.shared, compute_capability=capability,
        registers=options.registers, shared=options.static_shared, max_threads=options.max_threads,
        barriers=options.barriers, carve_out=options.carve_out,
    )  # fmt: skip


def _as_json(found, options):
    out = {"kernel": options.name, **found.as_dict(), "shared_that_fits": found.shared_that_fits()}
    if options.table:
        out["table"] = [
            {
                key: row[key]
                for key in ("block", "blocks", "active_warps", "occupancy", "limited_by")
            }
            for row in (found.as_dict() for found in found.table())
        ]
    return out


def _bytes(number):
    if number and number % 1024 == 0:
        return f"{number // 1024} KB"
    return f"{number:,} B".replace(",", " ")


def _names(found):
    return ", ".join({"shared": "shared memory"}.get(name, name) for name in found.limited_by)


def _text(found, options):
    major, minor = found.compute_capability
    source = {"driver": "the driver", "NVRTC": "NVRTC", "given": "the command line"}[found.source]
    registers = found.registers or "not known"
    bound = f", at most {found.max_threads} threads a block" if found.max_threads else ""
    lines = [
        f"{options.name} on compute capability {major}.{minor}",
        f"  needs          registers a thread: {registers}; static shared memory: {_bytes(found.static_shared)}{bound}"
        f" (from {source})",
        f"  block          {found.block} threads, {found.warps_per_block} warps, {_bytes(found.dynamic_shared)} of "
        "dynamic shared memory",
        f"  resident       {found.blocks} blocks = {found.active_warps} of {found.max_warps} warps: "
        f"{100 * found.fraction:.0f} % occupancy",
        f"  limited by     {_names(found)}",
        "  blocks by      " + ", ".join(
            f"{name} {'∞' if limit is None else limit}" for name, limit in found.limits.items()
        ),
        f"  a block takes  {found.registers_per_block} registers, {_bytes(found.shared_per_block)} of "
        f"{_bytes(found.shared_of_multiprocessor)} shared memory (with what the system keeps)",
    ]  # fmt: skip
    lines += _advice(found)
    lines += [f"  note           {note}" for note in found.notes]
    if options.table:
        lines += ["", *_table(found)]
    if not options.no_plot:
        lines += [
            "",
            terminal.draw(
                figure([found], options.name), terminal.width_of(), 12, sys.stdout.encoding
            ),
        ]
    return "\n".join(lines)


def _advice(found):
    if found.best_block:
        best = found.table([found.best_block])[0]
        yield (
            f"  best block     {best.block} threads: {best.active_warps} warps, {100 * best.fraction:.0f} %"
            + (" (no better than now)" if best.fraction <= found.fraction else "")
        )
    else:
        yield "  best block     none: no block of this kernel fits"
    spare = found.shared_that_fits()
    if spare is not None:
        yield f"  shared memory  up to {_bytes(spare)} of it may be dynamic with {found.blocks} blocks resident"
    if found.needs_opt_in:
        yield "  opt in         above 48 KB the kernel has to ask: max_dynamic_shared_size_bytes (Treadle does)"


def _table(found):
    yield "  block  blocks  warps  occupancy  limited by"
    for row in found.table():
        mark = " <" if row.block == found.block else ""
        yield (
            f"  {row.block:5}  {row.blocks:6}  {row.active_warps:5}  {100 * row.fraction:7.1f} %  {_names(row)}{mark}"
        )


def figure(answers, name):
    """Occupancy over block sizes, a series for each compute capability."""
    series = []
    for found in answers:
        rows = found.table()
        series.append(
            Series(
                "compute capability {}.{}".format(*found.compute_capability),
                tuple(r.block for r in rows), tuple(100 * r.fraction for r in rows),
            )
        )  # fmt: skip
    return Figure(
        f"Occupancy of {name}", Axis("threads of a block", plain=True, lowest=0, ticks=(32, *range(128, 1025, 128))),
        Axis("resident warps", "%", lowest=0, highest=100), tuple(_merged(series)),
    )  # fmt: skip


def _merged(series):
    """Equal curves are one, with all their names."""
    found = {}
    for one in series:
        found.setdefault(one.y, []).append(one)
    for group in found.values():
        names = ", ".join(one.name.rpartition(" ")[2] for one in group)
        yield Series(f"compute capability {names}", group[0].x, group[0].y)
