"""Which of several signatures takes given argument types."""

import numpy as np

from . import types as ty


def cost(have, want):
    """0 exact, then rising with what a conversion may change; None when there is none."""
    if have == want:
        return 0
    if isinstance(have, ty.Scalar) and isinstance(want, ty.Scalar):
        if np.can_cast(have.dtype, want.dtype, "safe"):
            return 1 if have.kind == want.kind else 2
        return (
            10
            if np.can_cast(have.dtype, want.dtype, "same_kind")
            else 20
            if not have.is_complex
            else None
        )
    if isinstance(want, ty.CPointer):
        return (
            1 if isinstance(have, ty.Scalar) and have.is_integer and have.bitwidth == 64 else None
        )
    if have.is_array and want.is_array:
        if (have.dtype, have.ndim) != (want.dtype, want.ndim) or (
            want.mutable and not have.mutable
        ):
            return None
        return (
            (0 if have.layout == want.layout else 1) if want.layout in ("A", have.layout) else None
        )
    if have.is_tuple and want.is_tuple and len(have) == len(want):
        costs = [cost(a, b) for a, b in zip(have, want)]
        return None if None in costs else sum(costs)
    return None


def best(signatures, types, function=None):
    """The cheapest signature, or None. TypeError when several are equally good, and a function is given,
    which the message names; without one the first is taken."""
    found = []
    for signature in signatures:
        if len(signature) != len(types):
            continue
        costs = [cost(a, b) for a, b in zip(types, signature)]
        if None not in costs:
            found.append((sum(costs), signature))
    if not found:
        return None
    least = min(c for c, _ in found)
    chosen = [s for c, s in found if c == least]
    if len(chosen) > 1 and function is not None:
        listed = "".join(f"\n({', '.join(map(repr, s))}) -> none" for s in chosen)
        raise TypeError(
            f"Ambiguous overloading for {function!r} ({', '.join(map(repr, types))}):{listed}\ntake these arguments "
            f"equally well; make one argument's type exact, as in numpy.float32(x)"
        )
    return chosen[0]
