"""``numba.cuda.launchconfig``: the launch that a kernel is compiled for, while it is compiled."""

import threading

_state = threading.local()


def current_launch_config():
    """The launch that is compiling a kernel on this thread, or None."""
    return getattr(_state, "launch", None)


def ensure_current_launch_config():
    """The launch that is compiling a kernel on this thread; RuntimeError outside of one."""
    found = current_launch_config()
    if found is None:
        raise RuntimeError("No launch config set for this thread")
    return found
