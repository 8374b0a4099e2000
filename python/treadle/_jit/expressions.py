"""Expressions: names, constants, operators, comparisons, subscripts, attributes, calls."""

import ast
import types as pytypes

import numpy as np

from ..cuda._foreign import is_captured
from . import (
    arrays,
    operators,
    optional,
    pointers,
    ranges,
    records,
    special_values,
    stubs,
    vector_types,
)
from . import types as ty
from .array_parts import Part
from .debugging import checked_count, checked_item
from .errors import NeedsConstant, suggestion
from .values import UNKNOWN, Value, number, type_of_number


class Expressions:
    """What FunctionCompiler does with expressions. Methods return a Value; statements that must run first are
    emitted.
    """

    def expression(self, node):
        before, self.node = self.node, node
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            from .compiler import _NAMES, CURES

            name = type(node).__name__
            raise self.unsupported(
                f"{_NAMES.get(name, name)} cannot be used in kernels", node, CURES.get(name, "")
            )
        value = method(node)
        self.node = before
        return value

    # ---- names and constants ----

    def on_Name(self, node):
        if node.id in self.env:
            value = self.env[node.id]
            if type(value.type).__name__ == "Conflict":
                raise self.error(
                    f"'{node.id}' has type {value.type}",
                    node,
                    "a name may change its type only where both types fit in one; use two names",
                )
            if value.is_const and isinstance(value.type, ty.Scalar):
                return value.named(number(value.const, value.type).code)
            return value
        try:
            found = self.function.look_up(node.id)
        except KeyError:
            assigned = any(
                isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)
                for n in ast.walk(self.function.node)
            )
            raise self.error(
                f"'{node.id}' is used before it is assigned"
                if assigned
                else f"NameError: name '{node.id}' is not defined",
                node,
                "" if assigned else suggestion(node.id, [*self.env, *self.function.names()]),
            ) from None
        return self.constant(found, node.id)

    def on_Constant(self, node):
        value = node.value
        if value is None:
            return Value(ty.none, "", None)
        type_ = type_of_number(value)
        if type_ is None:
            if isinstance(value, (str, bytes)):
                return Value(ty.Opaque(f"Literal[str]({value})"), "", value)
            raise self.error(f"{value!r} cannot be used in kernels", node)
        return number(value)

    def constant(self, found, name=""):
        """The value of a global or a closure variable, frozen now."""
        if found is None:
            return Value(ty.none, "", None)
        if not isinstance(found, np.void) and type_of_number(found) is not None:
            return number(found)
        if isinstance(found, tuple):
            items = [self.constant(item, name) for item in found]
            return self.make_tuple(items, type(found) if hasattr(found, "_fields") else None)
        if is_captured(found):
            return arrays.captured_array(self, found)
        if isinstance(found, np.ndarray):
            return arrays.constant_array(self, found, name)
        special = special_values.constant(self, found)
        if special is not None:
            return special
        if isinstance(found, np.void):
            return arrays.constant_record(self, found, name)
        if isinstance(found, stubs.Special):
            return Value(ty.int32, found.text, UNKNOWN, found.bits)
        return Value(ty.Opaque(getattr(found, "__name__", type(found).__name__)), "", found)

    # ---- tuples ----

    def on_Tuple(self, node):
        items = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                items += self.tuple_items(self.expression(element.value), element)
            else:
                items.append(self.expression(element))
        return self.make_tuple(items)

    def make_tuple(self, items, cls=None):
        """A tuple value; the items stay known one by one in ``const`` when all of them are."""
        types = [v.type for v in items]
        type_ = ty.Tuple(types, cls)
        known = all(v.is_const for v in items)
        const = UNKNOWN
        if known:
            values = [v.const for v in items]
            const = cls(*values) if cls else tuple(values)
        if any(t.cpp is None for t in types):
            type_.cpp = None
            return Value(type_, "", const, items=list(items))
        codes = [v.code or "tdpy::none{}" for v in items]
        if type_.uniform:
            code = f"{type_.cpp}{{{{{', '.join(codes)}}}}}"
        else:
            code = f"{type_.cpp}({', '.join(codes)})" if codes else f"{type_.cpp}{{}}"
        return Value(type_, code, const, items=list(items))

    def tuple_items(self, value, node, count=None):
        """The items of a tuple value, or of an array of a known count."""
        if value.type.is_tuple:
            if count is not None and len(value.type) != count:
                raise self.error(f"cannot unpack {len(value.type)} values into {count} names", node)
            return [self.tuple_item(value, i) for i in range(len(value.type))]
        if value.type.is_array and count is not None:
            base = self.keep(value)
            checked_count(self, base, count, node)
            return [arrays.load(self, base, [number(i)], node) for i in range(count)]
        raise self.error(f"cannot unpack a value of type {value.type}", node)

    def tuple_item(self, value, i):
        type_ = value.type.types[i]
        if value.is_const:
            item = value.const[i]
            if isinstance(type_, ty.Scalar):
                return number(item, type_)
            if type_.cpp is None or type_ is ty.none:
                return Value(type_, "", item)
        if value.items is not None:
            return value.items[i]
        return Value(
            type_, f"tdpy::get<{i}>({value.code})", value.const[i] if value.is_const else UNKNOWN
        )

    # ---- operators ----

    def on_BinOp(self, node):
        left = self.expression(node.left)
        if self.careful and not _plain(node.right):
            left = self.keep(left)
        return self.binary(node.op, left, self.expression(node.right), node)

    def binary(self, op, left, right, node):
        left, right = optional.given(left), optional.given(right)
        return operators.binary(self, op, left, right, node)

    def on_UnaryOp(self, node):
        return operators.unary(self, node.op, self.expression(node.operand), node)

    def on_Compare(self, node):
        left = self.expression(node.left)
        if len(node.ops) == 1:
            if self.careful and not _plain(node.comparators[0]):
                left = self.keep(left)
            return operators.compare(
                self, node.ops[0], left, self.expression(node.comparators[0]), node
            )
        return self.chain(left, list(zip(node.ops, node.comparators)), node)

    def chain(self, left, pairs, node):
        """a < b < c: what stands to the right of a comparison that fails is not evaluated."""
        op, right_node = pairs[0]
        right = self.expression(right_node)
        if len(pairs) > 1:
            right = self.keep(right)
        test = self.truth(operators.compare(self, op, left, right, node), node)
        if len(pairs) == 1 or (test.is_const and not test.const):
            return test
        if test.is_const:
            return self.chain(right, pairs[1:], node)
        found = []
        lines = self.block(lambda: found.append(self.chain(right, pairs[1:], node)))
        rest = found[0]
        if not lines:
            return Value(ty.boolean, f"({test.code} && {rest.code})")
        self.temps += 1
        name = f"t{self.temps}"
        self.emit(f"bool {name} = {test.code};")
        self.emit(f"if ({name}) {{")
        self.out += [*lines, f"{name} = {rest.code};", "}"]
        return Value(ty.boolean, name)

    def on_BoolOp(self, node):
        values = node.values
        value = self.expression(values[0])
        for other in values[1:]:
            known = values[: values.index(other)]
            value = self.short_circuit(isinstance(node.op, ast.And), value, other, known)
        return value

    def short_circuit(self, conjunction, left, right_node, before):
        """``left and right`` or ``left or right``; ``before``: the operands that left is made of."""
        test = self.truth(left)
        if test.is_const:
            return self.expression(right_node) if bool(test.const) == conjunction else left
        found = []
        with ranges.knowing(self, before, conjunction):
            lines = self.block(lambda: found.append(self.expression(right_node)))
        right = found[0]
        if left.type == right.type == ty.boolean and not lines:
            return Value(ty.boolean, f"({test.code} {'&&' if conjunction else '||'} {right.code})")
        type_ = self.common(left, right, right_node)
        self.temps += 1
        name = f"t{self.temps}"
        left = self.keep(left)
        test = self.truth(left)
        self.emit(f"{type_.cpp} {name} = {self.convert(left, type_).code};")
        self.emit(f"if ({test.code if conjunction else '!(' + test.code + ')'}) {{")
        self.out += lines
        self.emit(f"{name} = {self.convert(right, type_).code};")
        self.emit("}")
        return Value(type_, name)

    def common(self, a, b, node):
        type_ = ty.unify(a.type, b.type)
        if type_ is None or type_.cpp is None:
            raise self.error(f"this is {a.type} or {b.type}; both must fit in one type", node)
        return type_

    def on_IfExp(self, node):
        test = self.truth(self.expression(node.test), node.test)
        if test.is_const:
            return self.expression(node.body if test.const else node.orelse)
        found, lines = [], []
        for holds, part in ((True, node.body), (False, node.orelse)):
            with ranges.knowing(self, [node.test], holds):
                lines.append(self.block(lambda part=part: found.append(self.expression(part))))
        type_ = self.common(found[0], found[1], node)
        codes = [self.convert(v, type_).code for v in found]
        if not lines[0] and not lines[1]:
            return Value(type_, f"({test.code} ? {codes[0]} : {codes[1]})")
        self.temps += 1
        name = f"t{self.temps}"
        self.emit(f"{type_.cpp} {name};")
        self.emit(f"if ({test.code}) {{")
        self.out += [
            *lines[0],
            f"{name} = {codes[0]};",
            "} else {",
            *lines[1],
            f"{name} = {codes[1]};",
            "}",
        ]
        return Value(type_, name)

    def on_NamedExpr(self, node):
        self.assign_name(node.target.id, self.keep(self.expression(node.value)))
        return self.env[node.target.id]

    def truth(self, value, node=None):
        """The value as a condition."""
        if value.is_const and not isinstance(value.type, ty.Scalar):
            return number(bool(value.const))
        type_ = value.type
        if isinstance(type_, ty.Optional):
            value = self.keep(value)
            inner = self.truth(optional.given(value), node)
            return Value(ty.boolean, f"({optional.present(value).code} && {inner.code})")
        if type_ == ty.boolean:
            return value
        if isinstance(type_, ty.Scalar):
            if value.is_const:
                return number(bool(value.const))
            return Value(ty.boolean, f"tdpy::to<bool>({value.code})")
        if type_ is ty.none:
            return number(False)
        if type_.is_tuple:
            return number(len(type_) > 0)
        if type_.is_array:
            return Value(ty.boolean, f"({value.code}.size() != 0)")
        raise self.error(f"a value of type {type_} is neither true nor false", node)

    def convert(self, value, type_):
        """The value as another type that it fits in, or that a store casts to."""
        if value.type == type_:
            return value
        if isinstance(type_, ty.Optional):
            return optional.made(self, value, type_)
        value = optional.given(value)
        if value.type == type_:
            return value
        special = special_values.stored(self, value, type_, None)
        if special is not None:
            return special
        if isinstance(type_, ty.Scalar) and isinstance(value.type, ty.Scalar):
            if value.type.is_complex and not type_.is_complex and not type_.is_boolean:
                raise self.error(
                    f"a {value.type} cannot become a {type_}", None, "take .real or abs() first"
                )
            if value.is_const and not (type_.is_integer and value.type.is_float):
                const = _cast(value.const, type_)
                if const is not None:
                    return number(const, type_)
            bits = value.bits if type_.is_integer and type_.bitwidth > (value.bits or 99) else None
            plain = not (type_.is_boolean or type_.is_half or value.type.is_half)
            if plain and not (type_.is_complex or value.type.is_complex):
                return Value(type_, f"({type_.cpp})({value.code})", UNKNOWN, bits)
            return Value(type_, f"tdpy::to<{type_.cpp}>({value.code})", UNKNOWN, bits)
        if type_.is_array and value.type.is_array:
            return Value(type_, f"({type_.cpp})({value.code})")
        if type_.is_tuple and value.type.is_tuple and len(type_) == len(value.type):
            value = self.keep(value)
            items = [self.convert(i, t) for i, t in zip(self.tuple_items(value, None), type_)]
            return self.make_tuple(items, type_.cls)
        raise self.error(f"a value of type {value.type} cannot become {type_}")

    # ---- subscripts and attributes ----

    def on_Subscript(self, node):
        base = self.expression(node.value)
        return self.load_item(base, self.index_values(node.slice), node)

    def index_values(self, node, keep=False):
        """A list of Value, ``slice`` tuples ("slice", start, stop, step), Ellipsis and None."""
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        items = []
        for part in nodes:
            if isinstance(part, ast.Slice):
                bounds = [
                    None if b is None else self.keep(self.expression(b))
                    for b in (part.lower, part.upper, part.step)
                ]
                bounds = [None if b is None or b.type is ty.none else b for b in bounds]
                items.append(("slice", *bounds))
            elif isinstance(part, ast.Constant) and part.value is Ellipsis:
                items.append(Ellipsis)
            else:
                value = optional.given(self.expression(part))
                if value.type is ty.none:
                    items.append(None)
                elif value.is_const and value.const is Ellipsis:
                    items.append(Ellipsis)
                elif value.type.is_tuple and len(nodes) == 1:
                    items += self.tuple_items(self.keep(value), part)
                else:
                    items.append(self.keep(value) if keep or self.careful else value)
        return items

    def load_item(self, base, index, node):
        type_ = base.type
        if type_.is_tuple:
            return self.tuple_subscript(base, index, node)
        if type_.is_array:
            return arrays.load(self, base, index, node)
        if isinstance(type_, ty.Record):
            return records.load_field(self, base, self.field_name(index, node), node)
        if isinstance(type_, ty.CPointer):
            return pointers.load(self, base, index, node)
        if base.is_const and type_.cpp is None:
            if isinstance(base.const, Part):
                return base.const.load(self, index, node)
            if all(isinstance(i, Value) and i.is_const for i in index):
                key = tuple(i.const for i in index)
                try:
                    return self.constant(base.const[key[0] if len(key) == 1 else key])
                except Exception as error:  # whatever [] of an object of the program raises
                    text = f"{type(error).__name__}: {error}"
                    raise self.error(text, node) from None
            if isinstance(base.const, (list, dict)):
                raise self.error(
                    f"a global {type(base.const).__name__} cannot be used in kernels",
                    node,
                    "use a tuple or an array",
                )
        raise self.error(f"{_named(node)} of type {type_} cannot be indexed", node)

    def field_name(self, index, node):
        if len(index) == 1 and isinstance(index[0], Value) and isinstance(index[0].const, str):
            return index[0].const
        if len(index) == 1 and isinstance(index[0], Value) and isinstance(index[0].const, int):
            return index[0].const
        raise self.error("a record's field is named by a constant string", node)

    def tuple_subscript(self, base, index, node):
        if len(index) != 1:
            raise self.error("a tuple takes one index", node)
        count = len(base.type)
        if isinstance(index[0], tuple):
            bounds = [None if b is None else b.const for b in index[0][1:]]
            if UNKNOWN in bounds:
                raise self.error("the bounds of a tuple's slice must be constants", node)
            kept = self.keep(base)
            return self.make_tuple([self.tuple_item(kept, i) for i in range(count)[slice(*bounds)]])
        i = index[0]
        if not isinstance(i, Value) or not (i.type.is_integer or i.type.is_boolean):
            raise self.error("a tuple's index must be an integer", node)
        if i.is_const:
            if not -count <= int(i.const) < count:
                raise self.error(
                    f"tuple index {int(i.const)} is out of range for {count} items", node
                )
            return self.tuple_item(base, int(i.const) % count)
        if not base.type.uniform:
            raise self.error(
                f"a {base.type} can be indexed by a constant only",
                node,
                "its items have several types; iterate over it with literal_unroll",
                NeedsConstant,
            )
        base = self.keep(base)
        i = checked_item(self, i, count, node)
        return Value(base.type.types[0], f"tdpy::item({base.code}, {i.code})")

    def store_item(self, base, index, value, node):
        if base.type.is_array:
            arrays.store(self, base, index, value, node)
        elif isinstance(base.type, ty.Record):
            records.store_field(self, base, self.field_name(index, node), value, node)
        elif isinstance(base.type, ty.CPointer):
            pointers.store(self, base, index, value, node)
        elif base.is_const and isinstance(base.const, Part):
            base.const.store(self, index, value, node)
        elif base.type.is_tuple:
            raise self.error(
                "a tuple's items cannot be assigned",
                node,
                "tuples are immutable; use cuda.local.array",
            )
        else:
            text = f"{_named(node)} of type {base.type} has no items that can be assigned"
            raise self.error(text, node)

    def on_Attribute(self, node):
        return self.attribute(self.expression(node.value), node.attr, node)

    def attribute(self, base, name, node):
        type_ = base.type
        if type_.is_array:
            return arrays.attribute(self, base, name, node)
        if isinstance(type_, ty.Record):
            return records.load_field(self, base, name, node)
        if type_.is_tuple and type_.cls is not None and name in type_.cls._fields:
            return self.tuple_item(base, type_.cls._fields.index(name))
        if isinstance(type_, ty.EnumMember):
            return special_values.enum_attribute(self, base, name, node)
        if type_.is_number and name in ("real", "imag"):
            return operators.part(self, base, name)
        if base.is_const and isinstance(base.const, Part):
            return base.const.attribute(self, name, node)
        if base.is_const and type_.cpp is None:
            from .builtins import ATTRIBUTES

            handler = ATTRIBUTES.get((_hashable(base.const), name))
            if handler is not None:
                return handler(self, node)
            try:
                return self.constant(getattr(base.const, name), name)
            except AttributeError:
                pass
            owner = getattr(base.const, "__name__", repr(base.const))
            kind = "module" if isinstance(base.const, pytypes.ModuleType) else "object"
            names = [*dir(base.const), *getattr(base.const, "_JIT", ())]
            raise self.error(
                f"{kind} '{owner}' has no attribute '{name}' that kernels can use",
                node,
                suggestion(name, names),
            )
        found = vector_types.field(self, base, name)
        if found is not None:
            return found
        raise self.error(f"{_named(node)} of type {type_} has no attribute '{name}'", node)

    def store_attribute(self, base, name, value, node):
        if isinstance(base.type, ty.Record):
            records.store_field(self, base, name, value, node)
        else:
            raise self.error(
                f"attribute '{name}' of a value of type {base.type} cannot be assigned", node
            )

    # ---- calls ----

    def on_Call(self, node):
        from . import builtins

        if isinstance(node.func, ast.Attribute):
            base = self.expression(node.func.value)
            if base.type.cpp is not None and base.type is not ty.none:
                args, kwargs = self.arguments(node)
                return builtins.method(self, base, node.func.attr, args, kwargs, node)
            target = self.attribute(base, node.func.attr, node.func)
        else:
            target = self.expression(node.func)
        if not target.is_const:
            text = f"a value of type {target.type} cannot be called"
            raise self.error(text, node, "is an operator missing before the parenthesis?")
        args, kwargs = self.arguments(node)
        self.node = node
        python = isinstance(getattr(target.const, "py_func", target.const), pytypes.FunctionType)
        if not python and target.const is not print:
            args = [optional.given(a) for a in args]
        return builtins.call(self, target.const, args, kwargs, node)

    def arguments(self, node):
        args = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                args += self.tuple_items(self.keep(self.expression(part.value)), part)
            else:
                value = self.expression(part)
                args.append(
                    value
                    if _plain(part)
                    else self.keep(value)
                    if self.calls_inside(node)
                    else value
                )
        kwargs = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.unsupported(
                    "** in a call cannot be used in kernels", node, "write the keywords out"
                )
            kwargs[keyword.arg] = self.expression(keyword.value)
        return args, kwargs

    def calls_inside(self, node):
        """True when an argument is itself a call, before which the others are read."""
        return any(
            isinstance(n, (ast.Call, ast.NamedExpr)) for part in node.args for n in ast.walk(part)
        )


def _plain(node):
    return isinstance(node, (ast.Constant, ast.Name))


def _named(node):
    """What a subscript or an attribute is taken of."""
    name = getattr(node, "value", None)
    return f"'{ast.unparse(name)}'" if isinstance(name, ast.Name) else "a value"


def _hashable(value):
    try:
        hash(value)
    except TypeError:
        return None
    return value


def _cast(value, type_):
    """A known number as a type, or None when C++ must do it."""
    if isinstance(value, (complex, np.complexfloating)) and not type_.is_complex:
        return None
    with np.errstate(all="ignore"):
        if type_.is_integer:
            if isinstance(value, (float, np.floating)):
                return None
            bits = type_.bitwidth
            value = int(value) & (2**bits - 1)
            return value - 2**bits if type_.signed and value >= 2 ** (bits - 1) else value
        if type_.is_boolean:
            return bool(value)
        if type_.is_float:
            return type_.nearest(value)
        return complex(value)
