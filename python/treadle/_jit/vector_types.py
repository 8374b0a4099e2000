"""CUDA's vector types: ``cuda.float32x3(x, y, z)`` or ``cuda.float3(xy, z)``; fields x, y, z, w can be read."""

from . import types as ty
from .stubs import Intrinsic
from .values import Value

_FIELDS = "xyzw"
# C's names of the element types.
_ALIASES = {
    "int8": ("char",), "uint8": ("uchar",), "int16": ("short",), "uint16": ("ushort",), "int32": ("int",),
    "uint32": ("uint",), "int64": ("long", "longlong"), "uint64": ("ulong", "ulonglong"), "float32": ("float",),
    "float64": ("double",),
}  # fmt: skip


class Vector(ty.Type):
    """One to four numbers of one type."""

    def __init__(self, base, count):
        super().__init__(f"{base}x{count}")
        self.base, self.count = base, count
        self.cpp = f"tdpy::vec<{base.cpp}, {count}>"
        self.code = f"v{count}{base.code}"
        # Numba's names.
        self.base_type, self.num_elements, self.attr_names = base, count, tuple(_FIELDS[:count])
        self.user_facing_object = None


class Constructor(Intrinsic):
    """Makes vectors of ``type`` from numbers and shorter vectors."""

    def __init__(self, type_, aliases):
        super().__init__(type_.name)
        self.type = type_
        self.aliases = tuple(f"{alias}{type_.count}" for alias in aliases)


def _make(type_):
    def handler(c, args, kwargs, node):
        from .builtins import no_keywords

        no_keywords(c, type_.name, kwargs, node)
        items = []
        for value in args:
            if isinstance(value.type, Vector):
                kept = c.keep(value)
                items += [field(c, kept, f) for f in _FIELDS[: value.type.count]]
            elif isinstance(value.type, ty.Scalar) and not value.type.is_complex:
                items.append(value)
            else:
                raise c.error(f"{type_.name}(…) does not take {value.type}", node)
        if len(items) != type_.count:
            raise c.error(f"{type_.name}(…) takes {type_.count} numbers, not {len(items)}", node)
        codes = ", ".join(c.convert(i, type_.base).code for i in items)
        return Value(type_, f"{type_.cpp}{{{codes}}}")

    return handler


def field(c, base, name):
    """A field of a vector, or None."""
    if not isinstance(base.type, Vector) or name not in _FIELDS[: base.type.count]:
        return None
    return Value(base.type.base, f"{c.keep(base).code}.{name}")


CONSTRUCTORS = {}
vector_types = {}  # name -> type
for _name, _aliases in _ALIASES.items():
    for _n in range(1, 5):
        _made = Constructor(Vector(getattr(ty, _name), _n), _aliases)
        _made.type.user_facing_object = _made
        vector_types[_made.type.name] = _made.type
        CONSTRUCTORS[f"{_name}x{_n}"] = _made
        for _alias in _aliases:
            CONSTRUCTORS[f"{_alias}{_n}"] = _made


def register(handlers):
    for constructor in CONSTRUCTORS.values():
        handlers[constructor] = _make(constructor.type)
