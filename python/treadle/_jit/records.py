"""Records: one element of a structured array is a reference to its bytes.

A field may stand at any address, so every access looks at its address: whole at a multiple of its alignment, byte by
byte elsewhere. A field that is an array, and one field of all elements of an array, are views with the same rule
(``tdpy::loose``).
"""

from . import arrays
from . import types as ty
from .errors import suggestion
from .values import Value


def _field(c, dtype, name, node):
    """(dtype, offset) of a field of a structured dtype."""
    fields = dtype.fields
    if isinstance(name, int):
        if not -len(fields) <= name < len(fields):
            raise c.error(f"this record has {len(fields)} fields, not a field {name}", node)
        name = dtype.names[name]
    if name not in fields:
        raise c.error(
            f"this record has no field '{name}'; it has {', '.join(fields)}",
            node,
            suggestion(name, fields),
        )
    return fields[name][:2]


def _over(c, address, dtype):
    """The array that a sub-array field is."""
    element, shape = dtype.subdtype
    type_ = ty.Array(ty.from_dtype(element), len(shape), "C", aligned=False)
    lengths = "".join(f", {n}ll" for n in shape)
    return Value(
        type_,
        c.temp(f"tdpy::over<{type_.item_cpp}>(({type_.item_cpp}*)({address}){lengths})", type_),
    )


def load_field(c, base, name, node):
    """The value of a field; records and arrays in it are references."""
    dtype, offset = _field(c, base.type.dtype, name, node)
    base = c.keep(base)
    if dtype.subdtype is not None:
        return _over(c, f"{base.code}.data + {offset}", dtype)
    kind = ty.from_dtype(dtype)
    if isinstance(kind, ty.Record):
        return Value(kind, f"{kind.cpp}{{{base.code}.data + {offset}}}")
    return arrays.fetch(c, kind, f"tdpy::field<{kind.cpp}>({base.code}.data + {offset})")


def store_field(c, base, name, value, node):
    """Stores a number, an array or a record in a field."""
    dtype, offset = _field(c, base.type.dtype, name, node)
    base = c.keep(base)
    if dtype.subdtype is not None:
        arrays.fill(c, load_field(c, base, name, node), value, node)
        return
    kind = ty.from_dtype(dtype)
    if isinstance(kind, ty.Record):
        copy_record(c, f"{kind.cpp}{{{base.code}.data + {offset}}}", kind, value, node)
        return
    code = arrays.stored(c, value, kind, node).code
    c.emit(f"tdpy::set_field<{kind.cpp}>({base.code}.data + {offset}, {code});")


def copy_record(c, target, type_, value, node):
    """Copies the bytes of a record of the same type; a tuple is stored field by field."""
    if value.type.is_tuple and len(value.type) == len(type_.dtype.names):
        place = Value(type_, c.temp(target, type_))
        for name, item in zip(type_.dtype.names, c.tuple_items(c.keep(value), node)):
            store_field(c, place, name, item, node)
        return
    if value.type != type_:
        raise c.error(f"a value of type {value.type} cannot be stored as a {type_}", node)
    c.emit(f"tdpy::copy_bytes<{type_.dtype.itemsize}>({target}.data, {value.code}.data);")


def fill(c, target, value, loop, k, node):
    """Every record of a view gets a record, or a tuple of its fields, or that of an array which broadcasts to it."""
    type_ = target.type.dtype
    source = c.keep(value)
    if source.type.is_array:
        if source.type.dtype != type_ or source.type.ndim > target.type.ndim:
            text = f"a value of type {source.type} cannot be stored in records {type_}"
            raise c.error(text, node, "the records must have the same fields")
        if c.unit.bounds:
            from .debugging import checked_shapes

            checked_shapes(c, source, target, node)
    c.emit(loop + " {")
    if source.type.is_array:
        c.temps += 1
        one = f"t{c.temps}"
        c.emit(f"auto {one} = tdpy::spread({source.code}, {target.code}, {k});")
        source = Value(type_, f"{type_.cpp}{{(char*)&{one}}}")
    copy_record(c, f"{type_.cpp}{{(char*)&{target.code}.flat({k})}}", type_, source, node)
    c.emit("}")


def field_of_all(c, base, name, node):
    """The view of one field of every element of an array of records."""
    dtype, offset = _field(c, base.type.dtype.dtype, name, node)
    inner = ()
    if dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
    outer = base.type.ndim
    type_ = ty.Array(ty.from_dtype(dtype), outer + len(inner), "A", not base.type.mutable, False)
    c.temps += 1
    view = f"t{c.temps}"
    c.emit(f"{type_.cpp} {view};")
    c.emit(f"{view}.data = ({type_.pointer}*)((char*){base.code}.data + {offset});")
    for k in range(max(outer, 1)):
        if k < type_.ndim or not type_.ndim:
            c.emit(
                f"{view}.shape[{k}] = {base.code}.shape[{k}]; {view}.strides[{k}] = {base.code}.strides[{k}];"
            )
    step = dtype.itemsize
    for k in range(len(inner) - 1, -1, -1):
        c.emit(f"{view}.shape[{outer + k}] = {inner[k]}; {view}.strides[{outer + k}] = {step};")
        step *= inner[k]
    return Value(type_, view)
