"""Arrays inside kernels: elements, slices as views, attributes, constant and captured arrays."""

import numpy as np

from ..cuda._foreign import as_cuda_array
from . import optional, records, special_values
from . import types as ty
from .arguments import typeof
from .debugging import checked_step
from .errors import suggestion
from .values import UNKNOWN, Value, number

_LENGTH_BITS = 47  # no array is longer than the address space


def length(base, axis):
    return Value(ty.int64, f"{base.code}.shape[{axis}]", UNKNOWN, _LENGTH_BITS)


def _expand(c, base, index, node):
    """One item for each axis or new axis: the ellipsis becomes whole slices."""
    ndim = base.type.ndim
    used = sum(i is not None and i is not Ellipsis for i in index)
    if used > ndim:
        raise c.error(f"{used} indices for an array of {ndim} dimensions ({base.type})", node)
    for i in index:
        if isinstance(i, Value) and not (i.type.is_integer or i.type.is_boolean):
            cure = "use // for an integer quotient, or int(…)" if i.type.is_float else ""
            raise c.error(f"an array's index must be an integer, not {i.type}", node, cure)
    whole = ("slice", None, None, None)
    if Ellipsis in [i for i in index if not isinstance(i, Value)]:
        at = next(k for k, i in enumerate(index) if i is Ellipsis)
        return index[:at] + [whole] * (ndim - used) + index[at + 1 :]
    return index + [whole] * (ndim - used)


def position(c, base, axis, i, node):
    """C++ text of an index along one axis: negative ones count from the end; checked where asked for."""
    if c.unit.bounds:
        from .debugging import checked_index

        return checked_index(c, base, axis, i, node)
    if i.is_const:
        value = int(i.const)
        return f"{value}" if value >= 0 else f"({base.code}.shape[{axis}] - {-value})"
    if not i.type.signed or (i.floor is not None and i.floor >= 0):
        return f"(long long)({i.code})" if i.type != ty.int64 else i.code
    return f"tdpy::wrap({i.code}, {base.code}.shape[{axis}])"


def element(c, base, index, node):
    """C++ text of the element that an index for every axis names."""
    places = [position(c, base, axis, i, node) for axis, i in enumerate(index)]
    return f"{base.code}.at({', '.join(places)})"


def load(c, base, index, node):
    base = c.keep(base)
    if _is_field(base, index):
        return records.field_of_all(c, base, index[0].const, node)
    full = _expand(c, base, index, node)
    if all(isinstance(i, Value) for i in full) and len(full) == base.type.ndim:
        return fetch(c, base.type.dtype, item(base.type, element(c, base, full, node)))
    return view(c, base, full, node)


def item(type_, code):
    """C++ text of the value of an element."""
    return code if type_.aligned else f"{code}.value()"


def fetch(c, dtype, code):
    """The value of an element; a record is a reference to it."""
    if isinstance(dtype, ty.Record):
        return Value(dtype, f"{dtype.cpp}{{(char*)&{code}}}")
    value = Value(dtype, code)
    return value.named(c.temp(code, dtype)) if c.careful else value


def _layout(type_, full):
    """The layout of a view by Numba's rule: only the innermost index may be a slice, without a step."""
    if type_.layout != "C" or any(i is None for i in full):
        return "A"
    k = 0
    while k < len(full) and isinstance(full[k], Value):
        k += 1
    rest = full[k:]
    if not rest or rest[0][3] is not None:
        return "A"
    return "C" if all(part[1:] == (None, None, None) for part in rest[1:]) else "A"


def view(c, base, full, node):
    axes = [i for i in full if not isinstance(i, Value)]
    type_ = base.type.with_layout(_layout(base.type, full), len(axes))
    c.temps += 1
    name = f"t{c.temps}"
    qualifier = "" if type_.mutable else "const "
    c.emit(f"{type_.cpp} {name};")
    c.emit(f"{{ {qualifier}char* at = ({qualifier}char*){base.code}.data;")
    axis = out = 0
    for item in full:
        if item is None:
            c.emit(f"{name}.shape[{out}] = 1; {name}.strides[{out}] = 0;")
            out += 1
            continue
        if isinstance(item, Value):
            c.emit(f"at += {position(c, base, axis, item, node)} * {base.code}.strides[{axis}];")
        else:
            start, stop, step = item[1:]
            if (start, stop, step) == (None, None, None):
                c.emit(
                    f"{name}.shape[{out}] = {base.code}.shape[{axis}]; {name}.strides[{out}] = "
                    f"{base.code}.strides[{axis}];"
                )
            else:
                words = [
                    text
                    for bound in (start, stop)
                    for text in (
                        ("true", c.convert(bound, ty.int64).code)
                        if bound is not None
                        else ("false", "0")
                    )
                ]
                if step is not None and step.is_const and step.const == 0:
                    raise c.error("slice step cannot be zero", node)
                step_code = (
                    checked_step(c, c.convert(step, ty.int64), node).code
                    if step is not None
                    else "1"
                )
                c.emit(
                    f"const tdpy::span s{axis} = tdpy::slice({base.code}.shape[{axis}], {', '.join(words)}, "
                    f"{step_code});"
                )
                c.emit(
                    f"at += s{axis}.start * {base.code}.strides[{axis}]; {name}.shape[{out}] = s{axis}.count; "
                    f"{name}.strides[{out}] = s{axis}.step * {base.code}.strides[{axis}];"
                )
            out += 1
        axis += 1
    if not axes:
        c.emit(f"{name}.shape[0] = 1; {name}.strides[0] = 0;")
    c.emit(f"{name}.data = ({type_.pointer}*)at; }}")
    return Value(type_, name)


def store(c, base, index, value, node):
    base = c.keep(base)
    if _is_field(base, index):
        fill(c, records.field_of_all(c, base, index[0].const, node), value, node)
        return
    if not base.type.mutable:
        raise c.error(
            f"this array is read-only ({base.type})",
            node,
            "constant arrays cannot be written; use cuda.local.array",
        )
    full = _expand(c, base, index, node)
    if all(isinstance(i, Value) for i in full) and len(full) == base.type.ndim:
        put(c, base.type.dtype, element(c, base, full, node), value, node)
        return
    target = view(c, base, full, node)
    fill(c, target, value, node)


def put(c, dtype, code, value, node):
    if isinstance(dtype, ty.Record):
        records.copy_record(c, f"{dtype.cpp}{{(char*)&{code}}}", dtype, value, node)
        return
    c.emit(f"{code} = {stored(c, value, dtype, node).code};")


def stored(c, value, dtype, node):
    """The value as an element of an array or a field."""
    value = optional.given(value)
    found = special_values.stored(c, value, dtype, node)
    if found is not None:
        return found
    if not isinstance(value.type, ty.Scalar):
        raise c.error(f"a value of type {value.type} cannot be stored as a {dtype}", node)
    return c.convert(value, dtype)


def fill(c, target, value, node):
    """Every element of a view gets a number, or the elements of an array that broadcasts to it."""
    type_ = target.type
    c.temps += 1
    n = c.temps
    loop = f"for (long long k{n} = 0; k{n} < {target.code}.size(); ++k{n})"
    if isinstance(type_.dtype, ty.Record):
        records.fill(c, target, value, loop, f"k{n}", node)
        return
    if not (value.type.is_tuple or value.type.is_array):
        value = c.keep(stored(c, value, type_.dtype, node))
        c.emit(f"{loop} {target.code}.flat(k{n}) = {value.code};")
        return
    if value.type.is_tuple:
        for i, part in enumerate(c.tuple_items(c.keep(value), node)):
            store(c, target, [number(i)], part, node)
        return
    if not value.type.is_array:
        raise c.error(
            f"a value of type {value.type} cannot be stored in an array of {type_.dtype}", node
        )
    if value.type.ndim > type_.ndim:
        raise c.error(
            f"an array of {value.type.ndim} dimensions cannot be stored in a view of {type_.ndim}",
            node,
        )
    source = c.keep(value)
    if c.unit.bounds:
        from .debugging import checked_shapes

        checked_shapes(c, source, target, node)
    code = item(value.type, f"tdpy::spread({source.code}, {target.code}, k{n})")
    one = stored(c, Value(value.type.dtype, code), type_.dtype, node)
    c.emit(f"{loop} {target.code}.flat(k{n}) = {one.code};")


_ATTRIBUTES = (
    "shape", "strides", "ndim", "size", "itemsize", "nbytes", "dtype", "T", "real", "imag", "flat", "flags",
    "ctypes",
)  # fmt: skip


def attribute(c, base, name, node):
    type_ = base.type
    base = c.keep(base)
    if isinstance(type_.dtype, ty.Record) and name in type_.dtype.dtype.fields:
        return records.field_of_all(c, base, name, node)
    if name in ("shape", "strides"):
        items = [
            Value(
                ty.int64,
                f"{base.code}.{name}[{k}]",
                UNKNOWN,
                _LENGTH_BITS if name == "shape" else None,
            )
            for k in range(type_.ndim)
        ]
        return c.make_tuple(items)
    if name == "ndim":
        return number(type_.ndim)
    if name == "size":
        if type_.ndim == 1:
            return length(base, 0)
        return Value(ty.int64, f"{base.code}.size()", UNKNOWN, _LENGTH_BITS)
    if name == "itemsize":
        return number(ty.as_dtype(type_).itemsize)
    if name == "nbytes":
        return Value(
            ty.int64,
            f"({base.code}.size() * {ty.as_dtype(type_).itemsize}ll)",
            UNKNOWN,
            _LENGTH_BITS,
        )
    if name == "dtype":
        return Value(ty.Opaque("dtype"), "", ty.as_dtype(type_))
    if name == "T":
        return transposed(c, base, range(type_.ndim)[::-1])
    if name in ("real", "imag") and type_.dtype.is_complex:
        return _part(c, base, name)
    if name == "real":
        return base
    if name == "imag":
        raise c.error(
            "the imaginary part of real arrays is no array in kernels", node, "it is 0 everywhere"
        )
    if name in array_parts.PARTS:
        return array_parts.part(name, base)
    raise c.error(
        f"arrays in kernels have no attribute '{name}'", node, suggestion(name, _ATTRIBUTES)
    )


def transposed(c, base, order):
    order = list(order)
    swapped = {"C": "F", "F": "C"}.get(base.type.layout, "A")
    layout = (
        base.type.layout
        if len(order) < 2
        else swapped
        if order == list(range(len(order)))[::-1]
        else "A"
    )
    type_ = base.type.with_layout(layout)
    c.temps += 1
    name = f"t{c.temps}"
    c.emit(f"{type_.cpp} {name}; {name}.data = {base.code}.data;")
    for out, axis in enumerate(order):
        c.emit(
            f"{name}.shape[{out}] = {base.code}.shape[{axis}]; {name}.strides[{out}] = {base.code}.strides[{axis}];"
        )
    return Value(type_, name)


def _part(c, base, name):
    part = ty.float32 if base.type.dtype.bitwidth == 64 else ty.float64
    type_ = ty.Array(part, base.type.ndim, "A", not base.type.mutable)
    c.temps += 1
    result = f"t{c.temps}"
    offset = 0 if name == "real" else 1
    c.emit(f"{type_.cpp} {result}; {result}.data = ({part.cpp}*){base.code}.data + {offset};")
    for k in range(base.type.ndim):
        c.emit(
            f"{result}.shape[{k}] = {base.code}.shape[{k}]; {result}.strides[{k}] = {base.code}.strides[{k}];"
        )
    return Value(type_, result)


from . import array_parts  # noqa: E402  it uses this module

# ---- arrays that a kernel declares or captures ----


def declare(c, node, shape, dtype, space, alignment=None):
    """A shared or local array of a known shape; one for each place of the source."""
    key = (id(node), tuple(shape), dtype)
    known = c.declared.get(key)
    if known is None:
        known = c.declared[key] = c.unit.unique(space)
        count = int(np.prod(shape, dtype=object)) if shape else 1
        size = ty.as_dtype(dtype).itemsize
        limit = 227 * 1024 if space == "shared" else 512 * 1024
        if count * size > limit:
            raise c.error(
                f"a {space} array of {count * size} bytes ({'x'.join(map(str, shape))} {dtype}) is larger than the "
                f"{limit} that a "
                f"{'block' if space == 'shared' else 'thread'} can have",
                node,
            )
        align = f"__align__({alignment}) " if alignment else ""
        word = "__shared__ " if space == "shared" else ""
        stored_as = ty.Array(dtype, 1, "C").item_cpp
        if isinstance(dtype, ty.Record) and not alignment:
            align = "__align__(16) "
        text = f"{word}{align}{stored_as} {known}[{max(count, 1)}];"
        if space == "shared":
            # Types with constructors may not stand in shared memory: raw bytes of the same size.
            whole = not isinstance(dtype, ty.Record) and size in (1, 2, 4, 8)
            boundary = alignment or (8 if whole else 16)
            text = f"{word}__align__({boundary}) char {known}[{max(count, 1) * size}];"
        c.shared_text[known] = text
    type_ = ty.Array(dtype, len(shape), "C")
    sizes = ", ".join(f"{int(n)}ll" for n in shape)
    kind = type_.item_cpp
    code = f"tdpy::over<{kind}>(({kind}*){known}{', ' + sizes if sizes else ''})"
    return Value(type_, code)


def dynamic_shared(c, dtype):
    """The dynamic shared memory of the launch as an array of one axis."""
    c.unit.dynamic_shared = True
    size = ty.as_dtype(dtype).itemsize
    type_ = ty.Array(dtype, 1, "C")
    kind = type_.item_cpp
    code = (
        f"tdpy::over<{kind}>(({kind}*)td_dynamic_shared, (long long)(td_dynamic_bytes() / {size}))"
    )
    return Value(type_, code)


def constant_array(c, array, name):
    """A host array, frozen now, in constant memory; large ones in global memory."""
    known = c.unit.captured.get(id(array))
    if known is None:
        dtype = ty.from_dtype(array.dtype)
        layout = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "C"
        flat = array.ravel(order=layout)
        symbol = c.unit.unique("constant")
        if array.nbytes > 1 << 20:
            raise c.error(
                f"the host array '{name}' of {array.nbytes} bytes is too large to be frozen in a kernel",
                None,
                "pass it as an argument",
            )
        word = "__constant__" if array.nbytes <= 32 * 1024 else "__device__"
        unsigned = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
        unit = next(u for u in (8, 4, 2, 1) if array.dtype.itemsize % u == 0)
        words = np.frombuffer(np.ascontiguousarray(flat).tobytes(), f"u{unit}")
        suffix = {8: "ull", 4: "u"}.get(unit, "")
        body = ", ".join(f"{w}{suffix}" for w in words.tolist()) or "0"
        c.unit.globals.append(
            f"{word} __align__(16) const {unsigned[unit]} {symbol}[] = {{{body}}};"
        )
        c.unit.keep.append(array)
        known = c.unit.captured[id(array)] = (symbol, dtype, layout, array.shape)
    symbol, dtype, layout, shape = known
    type_ = ty.Array(dtype, len(shape), "C", True)
    lengths = "".join(f", {n}ll" for n in (shape if layout == "C" else shape[::-1]))
    value = Value(type_, f"tdpy::over<{type_.pointer}>(({type_.pointer}*){symbol}{lengths})")
    return (
        value
        if layout == "C" or len(shape) < 2
        else transposed(c, c.keep(value), range(len(shape))[::-1])
    )


def constant_record(c, record, name):
    value = constant_array(c, np.array([record], record.dtype), name)
    return load(c, c.keep(value), [number(0)], None)


def captured_array(c, found):
    """A device array of the surrounding program, Treadle's or another library's: by address, so later writes are
    seen.
    """
    known = c.unit.captured.get(id(found))
    if known is None:
        array = as_cuda_array(found)
        type_, symbol = typeof(array), c.unit.unique("captured")
        known = c.unit.captured[id(found)] = type_, f"{symbol}()"
        c.unit.keep += [found, array]
        shape = ", ".join(f"{n}ll" for n in array.shape) or "1"
        strides = ", ".join(f"{n}ll" for n in array.strides) or "0"
        address = array.device_ctypes_pointer.value or 0
        c.unit.globals.append(
            f"__device__ {type_.cpp} {symbol}() "
            f"{{ return {{({type_.pointer}*){address}ull, {{{shape}}}, {{{strides}}}}}; }}"
        )
    return Value(*known)


def _is_field(base, index):
    """True for a['name'] of an array of records."""
    known = len(index) == 1 and isinstance(index[0], Value) and isinstance(index[0].const, str)
    return known and isinstance(base.type.dtype, ty.Record)
