"""C pointers in kernels: ``p[i]``, and arrays over them by ``carray`` and ``farray``."""

from . import arrays
from . import types as ty
from .stubs import carray, farray
from .values import Value


def _place(c, base, index, node):
    if len(index) != 1 or not isinstance(index[0], Value) or not index[0].type.is_integer:
        raise c.error("a pointer takes one integer as index", node)
    return f"{c.keep(base).code}[{index[0].code}]"


def load(c, base, index, node):
    return arrays.fetch(c, base.type.dtype, _place(c, base, index, node))


def store(c, base, index, value, node):
    arrays.put(c, base.type.dtype, _place(c, base, index, node), value, node)


def _over(name):
    def handler(c, args, kwargs, node):
        from .device_calls import element_type

        given = dict(zip(("ptr", "shape", "dtype"), args)) | kwargs
        pointer, shape = given.get("ptr"), given.get("shape")
        if pointer is None or shape is None or not isinstance(pointer.type, ty.CPointer):
            raise c.error(f"{name} takes a pointer, a shape and dtype=", node)
        dtype = pointer.type.dtype
        if given.get("dtype") is not None and given["dtype"].type is not ty.none:
            dtype = element_type(c, given["dtype"], node)
        lengths = c.tuple_items(c.keep(shape), node) if shape.type.is_tuple else [shape]
        lengths = [c.convert(n, ty.int64).code for n in lengths]
        if name == "farray":
            lengths = lengths[::-1]
        sizes = "".join(f", {n}" for n in lengths)
        type_ = ty.Array(dtype, len(lengths), "C")
        code = f"tdpy::over<{dtype.cpp}>(({dtype.cpp}*){pointer.code}{sizes})"
        value = Value(type_, c.temp(code, type_))
        if name == "carray" or len(lengths) < 2:
            return value
        return arrays.transposed(c, value, range(len(lengths))[::-1])

    return handler


def register(handlers):
    handlers[carray], handlers[farray] = _over("carray"), _over("farray")
