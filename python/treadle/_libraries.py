"""Where the wheel packages of NVIDIA's libraries put their files.

Folders are only listed here; nothing is opened until a device asks for a library.
"""

import os
import sys


def wheel_folders(entries=None):
    """The ``nvidia/*/lib`` folders of every entry of ``sys.path`` (or of the folders given), in that order."""
    found = []
    for entry in sys.path if entries is None else entries:
        root = os.path.join(entry or os.getcwd(), "nvidia")
        try:
            names = sorted(os.listdir(root))
        except OSError:
            continue
        for name in names:
            folder = os.path.join(root, name, "lib")
            if os.path.isdir(folder):
                found.append(folder)
    return found


def announce():
    """Tells the core about the folders."""
    from . import _treadle

    _treadle._set_library_search_path(wheel_folders())
