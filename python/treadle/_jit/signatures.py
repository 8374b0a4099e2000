"""Signatures as text: ``void(float32[:, ::1], int32)``."""

import ast

from . import types as ty


def _names():
    return {n: v for n, v in vars(ty).items() if isinstance(v, ty.Type)} | {
        "Array": ty.Array, "Tuple": lambda items: ty.Tuple(items), "UniTuple": ty.UniTuple,
        "CPointer": ty.CPointer, "None": ty.none,
        "float": ty.float64, "int": ty.int64, "bool": ty.boolean, "complex": ty.complex128,
    }  # fmt: skip


def parse(text):
    """The type or signature that a text names. Only names, calls, indices and literals are evaluated."""
    names = _names()

    def value(node):
        if isinstance(node, ast.Name):
            if node.id not in names:
                raise TypeError(f"signature {text!r}: {node.id!r} is no type")
            return names[node.id]
        if isinstance(node, ast.Call):
            return value(node.func)(*[value(a) for a in node.args])
        if isinstance(node, ast.Subscript):
            return value(node.value)[value(node.slice)]
        if isinstance(node, (ast.Tuple, ast.List)):
            return tuple(value(e) for e in node.elts)
        if isinstance(node, ast.Slice):
            return slice(
                *[None if p is None else value(p) for p in (node.lower, node.upper, node.step)]
            )
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            return value(ast.Name(node.attr))
        raise TypeError(f"signature {text!r} cannot be read")

    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise TypeError(f"signature {text!r} cannot be read: {error.msg}") from None
    return value(tree.body)


def normalize(signature):
    """(argument types, return type or None) of a signature in any form."""
    if isinstance(signature, str):
        signature = parse(signature)
    if isinstance(signature, ty.Signature):
        return tuple(signature.args), signature.return_type
    if isinstance(signature, (tuple, list)):
        for t in signature:
            if not isinstance(t, ty.Type):
                raise TypeError(
                    f"invalid signature: {signature!r} (type: {type(signature)!r}): {t!r} is not a type"
                )
        return tuple(signature), None
    if isinstance(signature, ty.Type):
        return (signature,), None
    raise TypeError(
        f"invalid signature: {signature!r} (type: {type(signature)!r}); give a text such as 'void(float32[:])'"
    )


def signatures_of(value):
    """The signatures that the first argument of jit() names."""

    def one(item):
        args, result = normalize(item)
        return ty.Signature(ty.none if result is None else result, args)

    if isinstance(value, list):
        return [one(v) for v in value]
    return [one(value)]
