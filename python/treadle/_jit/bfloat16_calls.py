"""``cuda.bf16``: functions of bfloat16, by Numba's names.

Arithmetic and mathematics compute in float and round once; ``hfma`` is exact until its one rounding. The conversions
name a side: ``_rn`` to the nearest (even), ``_rz`` towards zero, ``_rd`` down, ``_ru`` up. Integers that a bfloat16 is
too large for become the nearest that there is.
"""

from . import types as ty
from .stubs import Intrinsic
from .values import Value

_B = ty.bfloat16
# name -> text in terms of floats x, y: a result that is rounded
_ARITHMETIC = {
    "hneg": "-{x}", "habs": "::fabsf({x})", "hsin": "::sinf({x})", "hcos": "::cosf({x})", "hlog": "::logf({x})",
    "hlog2": "::log2f({x})", "hlog10": "::log10f({x})", "hexp": "::expf({x})", "hexp2": "::exp2f({x})",
    "hexp10": "::exp10f({x})", "hsqrt": "::sqrtf({x})", "hrsqrt": "1.0f / ::sqrtf({x})", "hrcp": "1.0f / {x}",
    "hfloor": "::floorf({x})", "hceil": "::ceilf({x})", "htrunc": "::truncf({x})", "hrint": "::rintf({x})",
    "htanh": "::tanhf({x})", "htanh_approx": "::tanhf({x})",
    "hadd": "{x} + {y}", "hsub": "{x} - {y}", "hmul": "{x} * {y}", "hdiv": "{x} / {y}",
    "hadd_rn": "{x} + {y}", "hsub_rn": "{x} - {y}", "hmul_rn": "{x} * {y}",
    "hadd_sat": "__saturatef({x} + {y})", "hsub_sat": "__saturatef({x} - {y})", "hmul_sat": "__saturatef({x} * {y})",
}  # fmt: skip
# name -> (type of the result, text in terms of the bfloat16s x, y, z)
_FUSED = "tdpy::bfloat16_fma({x}, {y}, {z})"
_OTHER = {
    "hfma": (_B, _FUSED),
    "hfma_sat": (_B, f"tdpy::bfloat16(__saturatef((float){_FUSED}))"),
    "hfma_relu": (_B, f"tdpy::bfloat16_extreme<true, true>({_FUSED}, tdpy::bfloat16(0.0f))"),
    "hmax": (_B, "tdpy::bfloat16_extreme<true, false>({x}, {y})"),
    "hmin": (_B, "tdpy::bfloat16_extreme<false, false>({x}, {y})"),
    "hmax_nan": (_B, "tdpy::bfloat16_extreme<true, true>({x}, {y})"),
    "hmin_nan": (_B, "tdpy::bfloat16_extreme<false, true>({x}, {y})"),
    "hisinf": (ty.int32, "tdpy::bfloat16_isinf({x})"),
    "hisnan": (ty.boolean, "((float){x} != (float){x})"),
    "bfloat16_to_float32": (ty.float32, "(float){x}"),
    "bfloat16_as_uint16": (ty.uint16, "{x}.bits"),
    "bfloat16_as_int16": (ty.int16, "(short){x}.bits"),
}
# Comparisons are false where an operand is NaN; those with u at the end are true there.
_COMPARE = {
    "heq": "{x} == {y}", "hne": "{x} < {y} || {x} > {y}", "hgt": "{x} > {y}", "hge": "{x} >= {y}", "hlt": "{x} < {y}",
    "hle": "{x} <= {y}", "hequ": "!({x} < {y} || {x} > {y})", "hneu": "!({x} == {y})", "hgtu": "!({x} <= {y})",
    "hgeu": "!({x} < {y})", "hltu": "!({x} >= {y})", "hleu": "!({x} > {y})",
}  # fmt: skip
_SIDES = {"rn": "nearest", "rz": "zero", "rd": "below", "ru": "above"}
# integer -> the word of CUDA's functions that convert a float, the type that these give
_WIDE = {
    ty.int8: "int", ty.uint8: "uint", ty.int16: "int", ty.uint16: "uint", ty.int32: "int", ty.uint32: "uint",
    ty.int64: "ll", ty.uint64: "ull",
}  # fmt: skip


def _handler(name, taken, result, text):
    """A function of numbers: they are converted to the types ``taken``."""

    def handler(c, args, kwargs, node):
        from .builtins import count

        args = count(c, f"bf16.{name}", args, kwargs, node, len(taken))
        for a in args:
            if not isinstance(a.type, ty.Scalar) or a.type.is_complex:
                raise c.error(f"bf16.{name} does not take {a.type}", node)
        values = [c.keep(c.convert(a, t)) for a, t in zip(args, taken)]
        return Value(result, text.format(**{key: v.code for key, v in zip("xyz", values)}))

    return handler


def _operands(text):
    return [_B] * sum("{" + key + "}" in text for key in "xyz")


def _computed():
    for name, text in _ARITHMETIC.items():
        floats = text.replace("{x}", "(float){x}").replace("{y}", "(float){y}")
        yield name, _operands(text), _B, f"tdpy::bfloat16({floats})"
    for name, text in _COMPARE.items():
        floats = text.replace("{x}", "(float){x}").replace("{y}", "(float){y}")
        yield name, _operands(text), ty.boolean, f"({floats})"
    for name, (result, text) in _OTHER.items():
        yield name, _operands(text), result, text


def _converted():
    for type_ in (ty.float32, ty.float64):
        yield f"{type_}_to_bfloat16", [type_], _B, "tdpy::bfloat16({x})"
    for type_ in (ty.int16, ty.uint16):
        yield f"{type_}_as_bfloat16", [type_], _B, "tdpy::bfloat16::of_bits((unsigned short){x})"
    for type_ in (ty.float32, *_WIDE):
        for end, side in _SIDES.items():
            if type_.bitwidth > 8:
                text = f"tdpy::bfloat16::rounded<tdpy::toward::{side}>({{x}})"
                yield f"{type_}_to_bfloat16_{end}", [type_], _B, text
            if type_.is_integer and (type_.bitwidth > 8 or end == "rz"):
                text = f"__float2{_WIDE[type_]}_{end}((float){{x}})"
                if type_.bitwidth < 32:
                    text = f"tdpy::clip<{type_.cpp}>({text})"
                yield f"bfloat16_to_{type_}_{end}", [_B], type_, text


_ROWS = {name: row for name, *row in (*_computed(), *_converted())}
FUNCTIONS = {name: Intrinsic(f"bf16.{name}") for name in _ROWS}


def register(handlers):
    for name, (taken, result, text) in _ROWS.items():
        handlers[FUNCTIONS[name]] = _handler(name, taken, result, text)
