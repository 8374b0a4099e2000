"""What cuda.* means inside a kernel: indices, memory, barriers, warps, atomic operations, integer functions, print."""

import numpy as np

from . import arrays, stubs
from . import types as ty
from .errors import LITERAL, BadValueError, NeedsConstant, TypingError
from .values import UNKNOWN, Value, number

_GRID_BITS = {"x": 42, "y": 27, "z": 23}


def register(handlers):
    handlers[stubs.grid] = _grid
    handlers[stubs.gridsize] = _gridsize
    handlers[stubs.shared.array] = lambda c, a, k, n: _array(c, a, k, n, "shared")
    handlers[stubs.local.array] = lambda c, a, k, n: _array(c, a, k, n, "local")
    handlers[stubs.const.array_like] = _constant
    for name, (result, text, types) in _SIMPLE.items():
        handlers[getattr(stubs, name)] = _simple(name, result, text, types)
    for name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"):
        handlers[getattr(stubs, name)] = _shuffle(name)
    for name in ("match_any_sync", "match_all_sync", "eq_sync"):
        handlers[getattr(stubs, name)] = _match(name)
    for name in ("popc", "clz", "ffs", "brev"):
        handlers[getattr(stubs, name)] = _integer(name)
    handlers[stubs.fma] = _fma
    handlers[stubs.cbrt] = _cbrt
    handlers[stubs.selp] = _selp
    for name in _ATOMICS:
        handlers[getattr(stubs.atomic, name)] = _atomic(name)
    handlers[stubs.atomic.cas] = _cas
    handlers[stubs.atomic.compare_and_swap] = _compare_and_swap
    for name in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv"):
        handlers[getattr(stubs, name)] = _cached_load(name)
    for name in ("stcg", "stcs", "stwb", "stwt"):
        handlers[getattr(stubs, name)] = _cached_store(name)


def _args(c, name, args, kwargs, node, least, most=None):
    from .builtins import count

    return count(c, name, args, kwargs, node, least, most)


# ---- indices ----


def _along(c, node, name, args, kwargs, one, bits):
    (n,) = _args(c, name, args, kwargs, node, 1)
    if not n.is_const or not isinstance(n.const, (int, np.integer)) or not 1 <= n.const <= 3:
        kind = TypingError if n.is_const else NeedsConstant
        raise c.error(
            f"{LITERAL}cuda.{name} takes the number of dimensions, a constant 1, 2 or 3",
            node,
            "",
            kind,
        )
    items = [Value(ty.int64, one(axis), UNKNOWN, bits[axis]) for axis in "xyz"[: int(n.const)]]
    return items[0] if len(items) == 1 else c.make_tuple(items)


def _grid(c, args, kwargs, node):
    return _along(
        c, node, "grid", args, kwargs,
        lambda axis: f"(long long)((unsigned long long)blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis})",
        _GRID_BITS,
    )  # fmt: skip


def _gridsize(c, args, kwargs, node):
    return _along(
        c, node, "gridsize", args, kwargs,
        lambda axis: f"(long long)((unsigned long long)blockDim.{axis} * gridDim.{axis})",
        {axis: bits + 1 for axis, bits in _GRID_BITS.items()},
    )  # fmt: skip


# ---- memory ----


_DYNAMIC = "; or shape 0 and the launch's dynamic shared memory: kernel[grid, block, stream, bytes]"


def _array(c, args, kwargs, node, space):
    names = ["shape", "dtype", "alignment"]
    given = dict(zip(names, args)) | kwargs
    unknown = set(given) - set(names)
    if unknown or "shape" not in given or "dtype" not in given:
        raise c.error(f"cuda.{space}.array takes shape, dtype and alignment=", node)
    shape, dtype = given["shape"], given["dtype"]
    if not shape.is_const:
        raise c.error(
            f"the shape of cuda.{space}.array must be a constant, not a value that is known at run time only", node,
            "use a literal or a global number"
            + (_DYNAMIC if space == "shared" else ""),
            NeedsConstant,
        )  # fmt: skip
    lengths = shape.const if isinstance(shape.const, tuple) else (shape.const,)
    if not all(
        isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0 for n in lengths
    ):
        raise c.error(
            f"the shape of cuda.{space}.array must be integers, not {shape.const!r}", node
        )
    element = element_type(c, dtype, node)
    alignment = _alignment(c, given.get("alignment"), node)
    if space == "shared" and tuple(lengths) == (0,):
        return arrays.dynamic_shared(c, element)
    if space == "local" and 0 in lengths:
        raise c.error("cuda.local.array needs a shape without 0", node)
    return arrays.declare(c, node, lengths, element, space, alignment)


def _alignment(c, value, node):
    if value is None or value.type is ty.none:
        return None
    n = value.const
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
        kind = TypingError if value.is_const else NeedsConstant
        raise c.error(f"{LITERAL}alignment must be a constant integer", node, "", kind)
    if n <= 0 or n & (n - 1) or n % 8:
        raise c.error(
            f"Alignment must be a positive power of two and a multiple of the size of a pointer (8), not {n}",
            node,
            "",
            BadValueError,
        )
    return int(n)


def element_type(c, value, node):
    """The type that a dtype argument names."""
    from .builtins import cast_target

    target = value.const
    found = cast_target(target)
    if found is not None:
        return found
    if isinstance(target, (ty.Record,)):
        return target
    try:
        return ty.from_dtype(target)
    except TypeError:
        pass
    raise c.error(
        f"Invalid NumPy dtype specified: {target!r}: kernels have no such dtype",
        node,
        "use numpy.float32 or numba-style types such as float32",
    )


def _constant(c, args, kwargs, node):
    (x,) = _args(c, "const.array_like", args, kwargs, node, 1)
    if not x.type.is_array or x.type.mutable:
        raise c.error("cuda.const.array_like takes a NumPy array of the surrounding program", node)
    return x


# ---- barriers, fences, warps ----

_SIMPLE = {
    # name: result, text, argument types
    "syncthreads": (None, "__syncthreads()", ()),
    "syncthreads_count": (ty.int32, "__syncthreads_count({})", (ty.int32,)),
    "syncthreads_and": (ty.int32, "__syncthreads_and({})", (ty.int32,)),
    "syncthreads_or": (ty.int32, "__syncthreads_or({})", (ty.int32,)),
    "syncwarp": (None, "__syncwarp({})", (ty.uint32,)),
    "threadfence": (None, "__threadfence()", ()),
    "threadfence_block": (None, "__threadfence_block()", ()),
    "threadfence_system": (None, "__threadfence_system()", ()),
    "all_sync": (ty.boolean, "__all_sync({}, {})", (ty.uint32, ty.int32)),
    "any_sync": (ty.boolean, "__any_sync({}, {})", (ty.uint32, ty.int32)),
    "ballot_sync": (ty.uint32, "__ballot_sync({}, {})", (ty.uint32, ty.int32)),
    "activemask": (ty.uint32, "__activemask()", ()),
    "lanemask_lt": (ty.uint32, "tdpy::lanemask_lt()", ()),
    "nanosleep": (None, "__nanosleep({})", (ty.uint32,)),
}


_VOTES = ("all_sync", "any_sync", "ballot_sync")


def _check_vote(c, name, mask, predicate, node):
    if not mask.type.is_integer:
        raise c.error(f"cuda.{name}: Mask type must be an integer, not {mask.type}", node)
    if not (predicate.type.is_integer or predicate.type.is_boolean):
        text = f"cuda.{name}: Predicate must be an integer or boolean, not {predicate.type}"
        raise c.error(text, node, "compare it: x != 0")


def _simple(name, result, text, types):
    def handler(c, args, kwargs, node):
        least = 0 if name == "syncwarp" else len(types)
        args = _args(c, name, args, kwargs, node, least, len(types))
        if name == "syncwarp" and not args:
            args = [number(0xFFFFFFFF)]
        codes = []
        if name in _VOTES:
            _check_vote(c, name, *args, node)
        for value, type_ in zip(args, types):
            if not isinstance(value.type, ty.Scalar):
                raise c.error(f"cuda.{name} does not take {value.type}", node)
            if type_ == ty.int32:  # a predicate
                codes.append(f"(int){c.truth(value).code}")
            else:
                codes.append(c.convert(value, type_).code)
        code = text.format(*codes)
        if result is None:
            c.emit(code + ";")
            return Value(ty.none, "", None)
        code = f"({code} != 0)" if result == ty.boolean else f"({result.cpp}){code}"
        return Value(result, c.temp(code, result))

    return handler


def _carried(c, value, node, name):
    """A number that a warp exchanges: 32 or 64 bits."""
    if value.type == ty.boolean:
        return c.convert(value, ty.int32)
    if not isinstance(value.type, ty.Scalar) or value.type.is_complex or value.type.is_half:
        raise c.error(
            f"cuda.{name} does not take {value.type}",
            node,
            "it takes integers and floats of 32 and 64 bits",
        )
    if value.type.is_integer and value.type.bitwidth < 32:
        return c.convert(value, ty.int32)
    return value


def _shuffle(name):
    def handler(c, args, kwargs, node):
        mask, value, by = _args(c, name, args, kwargs, node, 3)
        value = _carried(c, value, node, name)
        mask = c.convert(mask, ty.uint32)
        by = c.convert(by, ty.int32)
        return Value(
            value.type, c.temp(f"__{name}({mask.code}, {value.code}, {by.code})", value.type)
        )

    return handler


def _match(name):
    def handler(c, args, kwargs, node):
        mask, value = _args(c, name, args, kwargs, node, 2)
        mask = c.convert(mask, ty.uint32)
        value = _carried(c, value, node, name)
        if name == "match_any_sync":
            return Value(
                ty.uint32, c.temp(f"__match_any_sync({mask.code}, {value.code})", ty.uint32)
            )
        c.temps += 1
        pred = f"t{c.temps}"
        c.emit(f"int {pred};")
        found = c.temp(f"__match_all_sync({mask.code}, {value.code}, &{pred})", ty.uint32)
        if name == "eq_sync":
            return Value(ty.boolean, f"({pred} != 0)")
        return c.make_tuple([Value(ty.uint32, found), Value(ty.boolean, f"({pred} != 0)")])

    return handler


# ---- integers, floats ----


def _integer(name):
    def handler(c, args, kwargs, node):
        (x,) = _args(c, name, args, kwargs, node, 1)
        if not (x.type.is_integer or x.type.is_boolean):
            raise c.error(f"cuda.{name} takes an integer, not {x.type}", node)
        wide = x.type.bitwidth == 64
        type_ = ty.uint64 if wide else ty.uint32
        code = c.convert(x, type_).code
        suffix = "ll" if wide else ""
        if name == "brev":
            result = type_ if not x.type.signed else ty.int64 if wide else ty.int32
            return Value(result, f"({result.cpp})__brev{suffix}({code})")
        if name == "clz" and x.type.bitwidth < 32:
            code = c.convert(c.convert(x, ty.int32), ty.uint32).code
        return Value(
            ty.int32,
            f"__{name}{suffix}({'(long long)' if wide and name in ('clz', 'ffs') else ''}{code})",
            UNKNOWN,
            7,
        )

    return handler


def _fma(c, args, kwargs, node):
    from .math_calls import real_type

    args = _args(c, "fma", args, kwargs, node, 3)
    type_ = real_type(c, "fma", args, node)
    codes = ", ".join(c.convert(a, type_).code for a in args)
    return Value(type_, f"::fma{'f' if type_ == ty.float32 else ''}({codes})")


def _cbrt(c, args, kwargs, node):
    from .math_calls import apply_real

    return apply_real(c, "cbrt", _args(c, "cbrt", args, kwargs, node, 1), node)


def _selp(c, args, kwargs, node):
    test, a, b = _args(c, "selp", args, kwargs, node, 3)
    type_ = c.common(a, b, node)
    return Value(
        type_, f"({c.truth(test).code} ? {c.convert(a, type_).code} : {c.convert(b, type_).code})"
    )


# ---- atomic operations ----

_ATOMICS = {
    # name: which elements
    "add": "iuf", "sub": "iuf", "max": "iuf", "min": "iuf", "nanmax": "iuf", "nanmin": "iuf",
    "and_": "iu", "or_": "iu", "xor": "iu", "exch": "iuf", "inc": "u", "dec": "u",
}  # fmt: skip


def _target(c, name, array, index, node, kinds):
    """C++ text of the address of the element, and its type."""
    if not array.type.is_array:
        raise c.error(f"cuda.atomic.{name} takes an array, not {array.type}", node)
    if not array.type.mutable:
        raise c.error(f"cuda.atomic.{name}: this array is read-only", node)
    dtype = array.type.dtype
    if not isinstance(dtype, ty.Scalar) or dtype.kind not in kinds or dtype.bitwidth < 32:
        words = {
            "iuf": "32- and 64-bit integers and floats",
            "iu": "32- and 64-bit integers",
            "u": "uint32 and uint64",
        }[kinds]
        raise c.error(f"cuda.atomic.{name} does not take arrays of {dtype}; it takes {words}", node)
    array = c.keep(array)
    items = c.tuple_items(c.keep(index), node) if index.type.is_tuple else [index]
    if len(items) != array.type.ndim:
        raise c.error(
            f"cuda.atomic.{name}: {len(items)} indices for an array of {array.type.ndim} dimensions",
            node,
        )
    for i in items:
        if not (i.type.is_integer or i.type.is_boolean):
            raise c.error(f"cuda.atomic.{name}: an index must be an integer, not {i.type}", node)
    address = f"&{arrays.element(c, array, items, node)}"
    return address if array.type.aligned else f"({dtype.cpp}*){address}", dtype


def _atomic(name):
    kinds = _ATOMICS[name]

    def handler(c, args, kwargs, node):
        array, index, value = _args(c, f"atomic.{name}", args, kwargs, node, 3)
        address, dtype = _target(c, name, array, index, node, kinds)
        if not isinstance(value.type, ty.Scalar) or value.type.is_complex:
            raise c.error(f"cuda.atomic.{name} does not take {value.type}", node)
        code = f"tdpy::atomic_{name.rstrip('_')}({address}, {c.convert(value, dtype).code})"
        return Value(dtype, c.temp(code, dtype))

    return handler


def _cas(c, args, kwargs, node):
    array, index, old, new = _args(c, "atomic.cas", args, kwargs, node, 4)
    address, dtype = _target(c, "cas", array, index, node, "iu")
    code = (
        f"tdpy::atomic_cas({address}, {c.convert(old, dtype).code}, {c.convert(new, dtype).code})"
    )
    return Value(dtype, c.temp(code, dtype))


def _compare_and_swap(c, args, kwargs, node):
    array, old, new = _args(c, "atomic.compare_and_swap", args, kwargs, node, 3)
    return _cas(c, [array, number(0), old, new], kwargs, node)


def _hinted(c, name, array, index, node):
    """The address of an element that a load or store with a hint takes, or None: it is read or written plainly."""
    pointer = isinstance(array.type, ty.CPointer)
    if not (array.type.is_array or pointer):
        raise c.error(f"cuda.{name} takes an array, not {array.type}", node)
    items = c.tuple_items(c.keep(index), node) if index.type.is_tuple else [index]
    dtype = array.type.dtype
    if not isinstance(dtype, ty.Scalar) or dtype.kind not in "iuf":
        raise c.error(
            f"cuda.{name}: {name} requires array of integer or float type, not {dtype}", node
        )
    if pointer and len(items) == 1 and items[0].type.is_integer:
        return f"({array.code} + {items[0].code})", items
    _check_indices(c, name, array.type.ndim, index, items, node)
    if not array.type.aligned:
        return None, items
    return f"&{arrays.element(c, array, items, node)}", items


def _check_indices(c, name, ndim, index, items, node):
    for i in items:
        if not i.type.is_integer:
            text = f"cuda.{name}: {i.type} is not a valid index"
            raise c.error(text, node, "an index is an integer")
    if len(items) != ndim:
        got = f"{len(items)}" if index.type.is_tuple else "a scalar"
        raise c.error(f"cuda.{name}: Expected {ndim} indices, got {got}", node)


def _cached_load(name):
    def handler(c, args, kwargs, node):
        array, index = _args(c, name, args, kwargs, node, 2)
        array = c.keep(array)
        address, items = _hinted(c, name, array, index, node)
        if address is None:
            return arrays.load(c, array, items, node)
        dtype = array.type.dtype
        c.temps += 1
        c.emit(f"{dtype.cpp} t{c.temps};")
        c.emit(f"tdpy::bits_of<{dtype.bitwidth // 8}>::{name}(t{c.temps}, {address});")
        return Value(dtype, f"t{c.temps}")

    return handler


def _cached_store(name):
    def handler(c, args, kwargs, node):
        array, index, value = _args(c, name, args, kwargs, node, 3)
        array = c.keep(array)
        address, items = _hinted(c, name, array, index, node)
        writeable = getattr(array.type, "mutable", True)
        if address is None or not writeable or not isinstance(value.type, ty.Scalar):
            arrays.store(c, array, items, value, node)
        else:
            dtype = array.type.dtype
            code = c.convert(value, dtype).code
            c.emit(f"tdpy::bits_of<{dtype.bitwidth // 8}>::{name}({address}, {code});")
        return Value(ty.none, "", None)

    return handler


# ---- print ----


def print_values(c, args, node):
    if len(args) > 32:
        raise c.error(f"print takes 32 values at most in kernels, not {len(args)}", node)
    form, values = [], []

    def add(value):
        if value.is_const and isinstance(value.const, stubs.Dim3):
            axes = [c.constant(getattr(value.const, axis)) for axis in "xyz"]
            value = c.make_tuple(axes)
        type_ = value.type
        if value.is_const and isinstance(value.const, str):
            form.append(value.const.replace("%", "%%"))
        elif type_.is_tuple:
            form.append("(")
            items = c.tuple_items(c.keep(value), node)
            for k, item in enumerate(items):
                if k:
                    form.append(", ")
                add(item)
            form.append(",)" if len(items) == 1 else ")")
        elif type_ is ty.none:
            form.append("None")
        elif isinstance(type_, ty.Scalar):
            if type_.is_boolean:
                form.append("%s")
                values.append(f'({value.code} ? "True" : "False")')
            elif type_.is_complex:
                kept = c.keep(value)
                form.append("(%g%+gj)")
                values.extend(f"(double){kept.code}.{p}" for p in ("re", "im"))
            elif type_.is_float:
                form.append("%f")
                values.append(c.convert(value, ty.float64).code)
            else:
                form.append("%lld" if type_.signed else "%llu")
                values.append(c.convert(value, ty.int64 if type_.signed else ty.uint64).code)
        else:
            raise c.error(
                f"print does not take {type_} in kernels",
                node,
                "test a value that may be None with 'is not None' first"
                if isinstance(type_, ty.Optional)
                else "print numbers, strings and tuples of them",
            )

    for k, value in enumerate(args):
        if k:
            form.append(" ")
        add(value)
    text = (
        "".join(form)
        .replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("\n", "\\n")
        .replace("\t", "\\t")
    )
    c.emit(f'printf("{text}\\n"{"".join(", " + v for v in values)});')
    return Value(ty.none, "", None)
