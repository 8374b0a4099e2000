"""What happens when NumPy or Treadle's extension cannot be imported."""

import os
import sys


def without_core(error):
    """Raises ``error`` with the hint where to look. In a process that was started as ``treadle check`` the check runs
    here instead and ends the process: it needs neither, and it is what finds out why they are missing."""
    arguments = check_arguments(sys.argv, sys.orig_argv)
    if arguments is None:
        hint = f"{error}; `python -m treadle check` finds out why"
        raise ImportError(hint, name=error.name, path=error.path) from error
    from .check import main

    raise SystemExit(main(arguments))


def check_arguments(argv, original):
    """The arguments behind ``check`` in a process that is ``python -m treadle check …`` or ``treadle check …``.
    None in any other.

    While Python looks for a module to run, ``sys.argv[0]`` is "-m" and the module's name stands before the other
    arguments in ``sys.orig_argv``.
    """
    if argv[1:2] != ["check"]:
        return None
    as_module = argv[0] == "-m" and original[-len(argv)].endswith("treadle")
    as_command = os.path.basename(argv[0]) == "treadle"
    return argv[2:] if as_module or as_command else None
