"""Opens a library as every other program of the machine would, and says which file that was.

Runs in the probes' child process only; needs nothing but the standard library.
"""

import ctypes
import json
import os
import sys
from contextlib import contextmanager

# Where the system's loader looks, for a root that stands in for a machine.
DEFAULT_FOLDERS = (
    "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
)  # fmt: skip
RTLD_DI_LINKMAP = 2


def say(**record):
    sys.stdout.write("\x1e" + json.dumps(record) + "\n")
    sys.stdout.flush()


@contextmanager
def step(name):
    """Says that a step begins, and what it found when it ends. The last step begun is where a child died."""
    facts = {}
    say(begin=name)
    yield facts
    say(end=name, facts=facts)


class LinkMap(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("name", ctypes.c_char_p)]


def file_of(library):
    """The file that dlopen took, by the link map."""
    self = ctypes.CDLL(None)
    where = ctypes.POINTER(LinkMap)()
    self.dlinfo.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    if self.dlinfo(library._handle, RTLD_DI_LINKMAP, ctypes.byref(where)) or not where:
        return ""
    return os.fsdecode(where.contents.name or b"")


def folders_of(text):
    return [part for part in text.replace(";", ":").split(":") if part]


def open_by_name(name, request):
    """(library or None, facts): name, file, real file, size, how it was found; or the loader's message."""
    root = request["root"]
    try:
        library = ctypes.CDLL(_place(name, request) if root else name)
    except OSError as error:
        message = str(error)
        absent = "No such file or directory" in message
        return None, {"name": name, "opened": False, "error": message.replace(root or "\0", ""),
                      "absent": absent}  # fmt: skip
    file = file_of(library)
    return library, {"name": name, "opened": True, **described(file, request)}


def described(file, request):
    root = request["root"]
    real = os.path.realpath(file)
    try:
        size = os.stat(real).st_size
    except OSError:
        size = None
    inside = file[len(root) :] if root and file.startswith(root) else file
    folder = os.path.dirname(inside)
    how = "the system's loader"
    if folder in [os.path.normpath(f) for f in folders_of(request["library_path"])]:
        how = "LD_LIBRARY_PATH"
    elif inside in os.environ.get("LD_PRELOAD", "").replace(" ", ":").split(":"):
        how = "LD_PRELOAD"
    return {"file": inside, "real": real[len(root) :] if root and real.startswith(root) else real,
            "size": size, "how": how}  # fmt: skip


def _place(name, request):
    """The loader's search, made by hand below a root that is not this machine's."""
    root = request["root"]
    for folder in [*folders_of(request["library_path"]), *DEFAULT_FOLDERS]:
        path = os.path.join(root + folder, name)
        if os.path.exists(path):
            return path
    return os.path.join(root, "No such file or directory", name)


def mapped(words, pid="self"):
    """Files mapped into a process whose names start with one of the words."""
    found = []
    with open(f"/proc/{pid}/maps", errors="replace") as maps:
        for line in maps:
            file = line.rstrip("\n").partition("/")
            path = "/" + file[2]
            if file[1] and os.path.basename(path).startswith(tuple(words)) and path not in found:
                found.append(path)
    return found
