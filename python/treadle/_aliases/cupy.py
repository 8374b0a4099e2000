"""``cupy``: the modules of Treadle themselves; loaded again under another name, the native part would spoil the
first."""

import importlib.util

MODULES = {"cupy": "treadle"}


def imported():
    """CuPy's kernels take views by their data pointers, and programs rely on it; Treadle says so, and does the same."""
    from treadle import config

    config.strided_arguments = "warn"


def search(name):
    """cupy.x is treadle.x, for public names."""
    own = "treadle" + name[len("cupy") :]
    if any(part.startswith("_") for part in own.split(".")):
        return None
    try:
        return own if importlib.util.find_spec(own) else None
    except ImportError:
        return None
