"""The ``treadle`` command: ``treadle tour`` and friends, one lazily loaded module a command."""

import sys
from importlib import import_module

# command: (module with main(argv) -> exit status, one line of help)
COMMANDS = {
    "tour": ("treadle.tour", "run CUDA kernels and arrays on this machine, checked and timed"),
    "cc": ("treadle.cc", "compile and run CUDA C++ programs without a GPU"),
    "run": ("treadle.run", "run a program written for numba.cuda or cupy, unchanged"),
    "check": ("treadle.check", "does it work here, and if not, why: evidence, conclusions, advice"),
    "occupancy": ("treadle.occupancy_command", "how many blocks of a kernel fit, and why not more"),
    "sweep": (
        "treadle.sweep.cli",
        "times over sizes, over uses of the same data, over block sizes",
    ),
    "bench": ("treadle.benchmarking.cli", "how fast: three times of your work, with intervals"),
    "info": ("treadle.info", "what was found: devices, driver, compiler, libraries"),
}


def usage():
    lines = [f"  {name:9} {text}" for name, (_, text) in COMMANDS.items()]
    return (
        "usage: treadle COMMAND [OPTIONS]\n\n"
        + "\n".join(lines)
        + "\n\n`treadle COMMAND --help` says more.\n"
    )


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    if argv and argv[0] in COMMANDS:
        return import_module(COMMANDS[argv[0]][0]).main(argv[1:])
    if argv and argv[0] == "--version":
        from treadle import __version__

        print(__version__)
        return 0
    asked_for_help = bool(argv) and argv[0] in ("-h", "--help", "help")
    print(usage(), end="", file=sys.stdout if asked_for_help else sys.stderr)
    return 0 if asked_for_help else 2


if __name__ == "__main__":
    sys.exit(main())
