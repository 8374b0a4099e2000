"""``treadle cc``: compiles, links and runs CUDA C++ programs for the software device."""

import sys

from . import _treadle


def main(argv=None):
    sys.stdout.flush()
    return _treadle._compile_program(list(sys.argv[1:] if argv is None else argv))
