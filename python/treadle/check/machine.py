"""Where the probes look: this machine, or a folder that stands in for one.

Every probe reads through a ``Machine``: paths get the root's prefix, the environment is a mapping, device nodes are
opened by a function, and children are started by it. Tests give a folder with proc, sys, dev and libraries, and
describe a machine that nobody has.
"""

import json
import os
import sys

from .children import Child, Outcome, python_command

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_TEXT = 1 << 20
VERIFICATION_SECONDS = (
    60  # beside the driver's own time: imports, compilers, a first kernel on a busy machine
)


class Machine:
    """root: prefix of every path. environ: the environment that is judged. python_path: folders of installed
    distributions. limit: seconds for each child. pid: another process to look into. symptoms: what the user saw.
    open_nodes(paths) -> {path: 'ok' | errno name}: replaces the child that opens device nodes.
    verify: records of the verification, replaces the child that runs Treadle."""

    def __init__(
        self, root="/", environ=None, *, python_path=None, limit=20.0, pid=None, symptoms=(),
        open_nodes=None, verify=None, user=None,
    ):  # fmt: skip
        self.root = os.path.abspath(root)
        self.environ = dict(os.environ if environ is None else environ)
        self.python_path = list(sys.path if python_path is None else python_path)
        self.limit, self.pid, self.symptoms = limit, pid, tuple(symptoms)
        self.user = os.getuid() if user is None else user
        self._open_nodes, self._verify = open_nodes, verify

    @property
    def real(self):
        return self.root == "/"

    def path(self, name):
        """Where the machine's file lies. Names come from files and variables too; no file has a NUL in its name."""
        name = name.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return name if self.real else self.root + name

    def name_of(self, path):
        """The path as the machine itself calls it."""
        return path if self.real else path.removeprefix(self.root)

    def text(self, name, limit=MAX_TEXT):
        """The file's text, undecodable bytes replaced. OSError as usual."""
        with open(self.path(name), "rb") as file:
            return file.read(limit).decode(errors="replace")

    def text_or(self, name, default=""):
        try:
            return self.text(name).strip("\n\0 ")
        except OSError:
            return default

    def tail(self, name, limit=MAX_TEXT):
        """The end of a file that may be long."""
        with open(self.path(name), "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - limit))
            return file.read(limit).decode(errors="replace")

    def names(self, folder):
        """The folder's entries, sorted; none when it cannot be read."""
        try:
            return sorted(os.listdir(self.path(folder)))
        except OSError:
            return []

    def exists(self, name):
        return os.path.exists(self.path(name))

    def link(self, name):
        """Last part of what a link points to, '' when there is none."""
        try:
            return os.path.basename(os.readlink(self.path(name)))
        except OSError:
            return ""

    def real_path(self, name):
        return self.name_of(os.path.realpath(self.path(name)))

    # ---- children ----

    def child_environ(self):
        """The environment of a child. That of a stand-in root names files which are not there."""
        if self.real:
            return self.environ
        kept = {k: v for k, v in self.environ.items() if k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
        return {**kept, "PATH": os.environ.get("PATH", os.defpath)}

    def probe(self, kind, **request):
        """Starts check/child/main.py, which loads libraries and asks them."""
        request.update(
            root="" if self.real else self.root,
            library_path=self.environ.get("LD_LIBRARY_PATH", ""),
        )
        command = python_command(os.path.join(HERE, "child", "main.py"), kind, json.dumps(request))
        return Child(command, self.child_environ(), self.limit)

    def program(self, command, limit=5.0):
        """Starts another program of the machine (nvcc, a host compiler) for its version."""
        return Child([self.path(command[0]), *command[1:]], self.child_environ(), limit)

    def open_nodes(self, paths):
        """{path: 'ok' or the name of open()'s errno}, in a child: opening a node of a sick driver can hang."""
        if self._open_nodes is not None:
            return Outcome("finished", records=[{"facts": self._open_nodes(paths)}])
        return self.probe("nodes", paths=paths).outcome()

    def verification(self, kinds=("soft", "cuda")):
        """Starts the child that imports Treadle and compares its results with NumPy's. It waits for a line before it
        goes to the GPU: "cuda" lets it go on."""
        if self._verify is not None:
            return _Given(self._verify)
        package = os.path.dirname(os.path.dirname(HERE))
        request = {"sys_path": sys.path, "package": package, "kinds": kinds}
        command = python_command(os.path.join(HERE, "child", "verify.py"), json.dumps(request))
        # Without caches: what is verified is compiled, and nothing is written.
        caches = {"TREADLE_CACHE_DIR": "", "CUDA_CACHE_DISABLE": "1"}
        environ = {**self.environ, **caches, "TREADLE_DEVICE": "soft"}
        return Child(command, environ, self.limit + VERIFICATION_SECONDS, talk=True)


class _Given:
    def __init__(self, records):
        self._records = records

    def outcome(self):
        return Outcome("finished", records=list(self._records))

    def tell(self, line):
        pass

    def end(self):
        return ""
