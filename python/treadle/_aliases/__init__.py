"""Other libraries' names for Treadle: within a process that asked for it, ``import numba`` finds this package.

Nothing is installed under those names. ``install("numba", "cupy")`` puts one finder in front of the import system; it
answers for the modules of a library that Treadle has a counterpart of, and raises ModuleNotFoundError, with what to do,
for the others. A module of an alias either is a module of Treadle itself or is made of a few names of it.
"""

import importlib
import importlib.abc
import importlib.util
import sys
import types

from . import texts

# root name -> module of this package with MODULES, and what a user is told once
LIBRARIES = {
    "numba": "kernels of numba.cuda run on Treadle",
    "cupy": "cupy is Treadle",
    "cupyx": "",
    "pycuda": "",
}

# where a user reads what a name has
PAGES = {
    "numba": "from-numba.md",
    "cupy": "from-cupy.md",
    "cupyx": "from-cupy.md",
    "pycuda": "run.md",
}


class Missing(ModuleNotFoundError):
    """A module that Treadle has no counterpart of."""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of one library's alias in a table: full name -> module name of Treadle, or a function that
    gives the names of a new module."""

    def __init__(self, root, told):
        self.root, self.told = root, told
        self.table = importlib.import_module(f"{__name__}.{root}").MODULES
        self.specs, self.makers = {}, {}

    def find_spec(self, name, path=None, target=None):
        if name != self.root and not name.startswith(self.root + "."):
            return None
        entry = self.table.get(name)
        if entry is None:
            entry = self.search(name)
        if entry is None:
            parent = sys.modules.get(name.rpartition(".")[0])
            if getattr(parent, "__path__", None):
                return None  # a folder that somebody put there
            raise Missing(
                f"Treadle has no counterpart of the module '{name}'; docs/{PAGES[self.root]} lists what it has",
                name=name,
            )
        self.makers[name] = entry
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def search(self, name):
        """The counterpart of a module that the table does not list."""
        search = getattr(sys.modules[f"{__name__}.{self.root}"], "search", None)
        return search and search(name)

    def create_module(self, spec):
        entry = self.makers[spec.name]
        if isinstance(entry, str):
            found = importlib.import_module(entry)
            self.specs[spec.name] = found.__spec__  # the import system is about to replace it
            return found
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        name = module.__spec__.name
        if name in self.specs:
            module.__spec__ = self.specs.pop(name)
        else:
            module.__path__ = []
            self.makers.pop(name)(module)
        if name == self.root and self.told:
            say(f"treadle: {self.told}")
            self.told = ""
        if name == self.root:
            getattr(sys.modules[f"{__name__}.{self.root}"], "imported", lambda: None)()


def say(text):
    print(text, file=sys.stderr, flush=True)


def install(*roots, quiet=False):
    """Makes ``import numba`` (or another name of LIBRARIES) find Treadle's counterpart in this process.

    ``cupy`` brings ``cupyx``, and kernels take views by their plain data pointers, with a warning.
    """
    if "cupy" in roots:
        roots = (*roots, "cupyx")
    for root in roots:
        if root not in LIBRARIES:
            raise ValueError(f"no alias '{root}'; there are {', '.join(LIBRARIES)}")
        if finder(root) is None:
            for name in [n for n in sys.modules if n == root or n.startswith(root + ".")]:
                del sys.modules[name]
            sys.meta_path.insert(0, Finder(root, "" if quiet else LIBRARIES[root]))
            if root == "numba":
                texts.keep()


def finder(root):
    """The finder that is installed for a name, or None."""
    return next((f for f in sys.meta_path if isinstance(f, Finder) and f.root == root), None)
