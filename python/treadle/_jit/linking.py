"""CUDA C++ beside Python: sources that kernels are compiled with, and their functions by name."""

import os
import re

from .. import _treadle
from . import types as ty
from .errors import TypingError


class LinkableCode:
    """Code for ``link=``: CUDA C++ text (``CUSource``). Other kinds say that they cannot be compiled in."""

    kind, default_name = "linkable code", "<unnamed>"

    def __init__(
        self, data=None, name=None, setup_callback=None, teardown_callback=None, nrt=False
    ):
        if setup_callback is not None or teardown_callback is not None:
            raise NotImplementedError(
                "setup and teardown callbacks of linked code are not supported; use treadle.RawModule for globals"
            )
        self.data, self._name = data, name

    @property
    def name(self):
        return self._name or self.default_name

    @staticmethod
    def from_path(path):
        """The code of a file, by the ending of its name."""
        ending = os.path.splitext(path)[1][1:]
        cls = _BY_ENDING.get(ending)
        if cls is None:
            raise RuntimeError(
                f"Don't know how to link file with extension .{ending}: give CUDA C++ in a .cu file"
            )
        with open(path, "rb") as file:
            return cls(file.read(), os.path.abspath(path))

    @classmethod
    def from_path_or_obj(cls, path_or_obj):
        """``path_or_obj`` itself, or the code of the file that it names."""
        return (
            cls.from_path(os.fspath(path_or_obj))
            if not isinstance(path_or_obj, LinkableCode)
            else path_or_obj
        )

    def text(self):
        """CUDA C++ text."""
        raise NotImplementedError(
            f"{self.name}: {type(self).__name__} cannot be linked to kernels, which are compiled from CUDA C++ text "
            f"in one piece; give the CUDA C++ source (CUSource, or a .cu file)"
        )


class CUSource(LinkableCode):
    """CUDA C++ text."""

    default_name = "<unnamed-cu>"

    def text(self):
        """The text, with marks of its own lines."""
        data = self.data.decode() if isinstance(self.data, bytes) else self.data
        name = self.name.replace("\\", "\\\\").replace('"', '\\"')
        return f'#line 1 "{name}"\n{data}\n'

    @property
    def folder(self):
        """Where its #include directives look."""
        return os.path.dirname(self._name) if self._name else None


class PTXSource(LinkableCode):
    """PTX text."""


class Cubin(LinkableCode):
    """Machine code of a GPU."""


class Fatbin(LinkableCode):
    """Machine code of several GPUs."""


class Archive(LinkableCode):
    """A library of object files."""


class Object(LinkableCode):
    """An object file."""


class LTOIR(LinkableCode):
    """Intermediate code of NVIDIA's linker."""


_BY_ENDING = {
    "cu": CUSource, "ptx": PTXSource, "cubin": Cubin, "fatbin": Fatbin, "a": Archive, "o": Object, "ltoir": LTOIR,
}  # fmt: skip


def listed(link):
    """The members of ``link=``: one item or a collection of them."""
    items = list(link) if isinstance(link, (list, tuple, set, frozenset)) else [link]
    return [LinkableCode.from_path_or_obj(item) for item in items]


def add(unit, link):
    """Puts sources in front of a kernel's text, each once."""
    for code in listed(link):
        text = code.text()
        if text not in unit.linked:
            unit.linked.append(text)
            unit.need(text)
            folder = getattr(code, "folder", None)
            if folder:
                unit.include_folders.append(folder)


class DeclaredFunction:
    """A device function of CUDA C++ that kernels call: made by ``declare_device``.

    ABI "c": the function as CUDA C++ has it. ABI "numba": it returns 0 and writes its result through its first
    parameter.
    """

    def __init__(self, name, signature, link=(), use_cooperative=False, abi="numba"):
        if abi not in ("numba", "c"):
            raise NotImplementedError(
                f"declare_device('{name}'): abi must be 'numba' or 'c', not {abi!r}"
            )
        self.name, self.__name__, self.signature, self.abi = name, name, signature, abi
        self.sig = signature
        self.link = list(link) if isinstance(link, (list, tuple, set)) else [link]
        self.use_cooperative = use_cooperative

    @property
    def parameters(self):
        """The C++ types of its parameters by the declaration."""
        found = [p for t in self.signature.args for p in _parameters(t)]
        if self.abi == "numba":
            result = self.signature.return_type
            found.insert(0, "void*" if result is ty.none else f"{_spelling(result)}*")
        return found

    @property
    def result(self):
        """The C++ type that it returns by the declaration."""
        result = self.signature.return_type
        if self.abi == "numba":
            return "int"
        return "void" if result is ty.none else _spelling(result)

    def declare(self, unit):
        """Its sources in a kernel's text, and its declaration unless they have one, which may name the same bits by
        other types.
        """
        unit.need(_treadle._python_part("declared"))
        add(unit, self.link)
        unit.cooperative = unit.cooperative or self.use_cooperative
        if not any(_mentions(text, self.name) for text in unit.linked):
            unit.need(
                f'extern "C" __device__ {self.result} {self.name}({", ".join(self.parameters)});'
            )

    def arguments(self, c, value, type_, node):
        """Texts of the parameters that one argument gives."""
        if isinstance(type_, ty.Array):
            return _array_arguments(c, value, type_, node)
        return [self._scalar(c, value, type_, node)]

    def _scalar(self, c, value, type_, node):
        if isinstance(type_, ty.CPointer):
            if not isinstance(value.type, ty.CPointer):
                raise c.error(
                    f"'{self.name}' takes a pointer, not {value.type}",
                    node,
                    "give ffi.from_buffer(array)",
                )
            return value.code
        if not isinstance(value.type, ty.Scalar):
            raise c.error(f"'{self.name}' takes {type_}, not {value.type}", node)
        return c.convert(value, type_).code

    def call_text(self, c, codes):
        """Text of a call; a statement before it when the result comes through a pointer."""
        result = self.signature.return_type
        if self.abi == "c":
            return self._call(self.result, codes)
        if result is ty.none:
            return self._call("void", ["nullptr", *codes])
        c.temps += 1
        name = f"t{c.temps}"
        c.emit(f"{_spelling(result)} {name};")
        c.emit(self._call("void", [f"&{name}", *codes]) + ";")
        return name

    def _call(self, result, codes):
        given = [f"({type_})({code})" for type_, code in zip(self.parameters, codes)]
        return f"tdpy::call_declared<{result}, {self.name}>({', '.join([self.name, *given])})"

    def __call__(self, *args):
        raise RuntimeError(f"'{self.name}' is a device function of CUDA C++; call it from a kernel")


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def _mentions(text, name):
    """True when CUDA C++ text has something called ``name``, outside of its comments."""
    return re.search(rf"\b{re.escape(name)}\s*\(", _COMMENT.sub(" ", text)) is not None


def _spelling(type_):
    if type_.cpp is None or type_.is_array or type_.is_tuple:
        raise TypingError(f"a function of CUDA C++ cannot return {type_}")
    return type_.cpp


def _parameters(type_):
    """The C++ parameters that stand for one of Numba's: an array is seven words or more."""
    if isinstance(type_, ty.Array):
        words = ["long long"] * (2 * type_.ndim)
        return ["void*", "void*", "long long", "long long", f"{type_.dtype.cpp}*", *words]
    if type_.cpp is None:
        raise TypingError(f"a function of CUDA C++ cannot take {type_}")
    return [type_.cpp]


def _array_arguments(c, value, type_, node):
    if not value.type.is_array or (value.type.dtype, value.type.ndim) != (type_.dtype, type_.ndim):
        raise c.error(f"the function takes {type_}, not {value.type}", node)
    a = c.keep(value).code
    words = [f"{a}.shape[{k}]" for k in range(type_.ndim)] + [
        f"{a}.strides[{k}]" for k in range(type_.ndim)
    ]
    count = " * ".join(f"{a}.shape[{k}]" for k in range(type_.ndim)) or "1"
    size = type_.dtype.dtype.itemsize
    return ["nullptr", "nullptr", count, str(size), f"({type_.dtype.cpp}*){a}.data", *words]
