"""Records: one element of a structured array is a reference to its bytes."""

from . import arrays
from . import types as ty
from .values import Value


def _field(c, base, name, node):
    fields = base.type.dtype.fields
    if isinstance(name, int):
        name = base.type.dtype.names[name]
    if name not in fields:
        raise c.error(f"this record has no field '{name}'; it has {', '.join(fields)}", node)
    return fields[name][:2]


def load_field(c, base, name, node):
    dtype, offset = _field(c, base, name, node)
    base = c.keep(base)
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        kind = ty.from_dtype(element)
        lengths = "".join(f", {n}ll" for n in shape)
        type_ = ty.Array(kind, len(shape), "C")
        return Value(
            type_,
            c.temp(
                f"tdpy::over<{kind.cpp}>(({kind.cpp}*)({base.code}.data + {offset}){lengths})",
                type_,
            ),
        )
    kind = ty.from_dtype(dtype)
    if isinstance(kind, ty.Record):
        return Value(kind, f"{kind.cpp}{{{base.code}.data + {offset}}}")
    return arrays.fetch(c, kind, f"tdpy::field<{kind.cpp}>({base.code}.data + {offset})")


def store_field(c, base, name, value, node):
    dtype, offset = _field(c, base, name, node)
    base = c.keep(base)
    if dtype.subdtype is not None:
        arrays.fill(c, load_field(c, base, name, node), value, node)
        return
    kind = ty.from_dtype(dtype)
    if isinstance(kind, ty.Record):
        copy_record(c, f"{kind.cpp}{{{base.code}.data + {offset}}}", kind, value, node)
        return
    if not isinstance(value.type, ty.Scalar):
        raise c.error(
            f"a value of type {value.type} cannot be stored in field '{name}' of type {kind}", node
        )
    c.emit(
        f"tdpy::set_field<{kind.cpp}>({base.code}.data + {offset}, {c.convert(value, kind).code});"
    )


def copy_record(c, target, type_, value, node):
    if value.type != type_:
        raise c.error(f"a value of type {value.type} cannot be stored as a {type_}", node)
    c.emit(f"tdpy::copy_bytes<{type_.dtype.itemsize}>({target}.data, {value.code}.data);")
