"""``cuda.fp16``: functions of float16. Every one computes in float and rounds once.

For + - * / and the square root the float's 24 bits are enough that the second rounding changes nothing; ``hfma`` goes
through ``tdpy::half_fma``, which is exact until its one rounding.
"""

from . import types as ty
from .stubs import Namespace
from .values import Value

# name -> text in terms of floats x, y
_UNARY = {
    "hneg": "-{x}", "habs": "::fabsf({x})", "hsin": "::sinf({x})", "hcos": "::cosf({x})", "hlog": "::logf({x})",
    "hlog2": "::log2f({x})", "hlog10": "::log10f({x})", "hexp": "::expf({x})", "hexp2": "::exp2f({x})",
    "hexp10": "::exp10f({x})", "hsqrt": "::sqrtf({x})", "hrsqrt": "::rsqrtf({x})", "hrcp": "1.0f / {x}",
    "hfloor": "::floorf({x})", "hceil": "::ceilf({x})", "htrunc": "::truncf({x})", "hrint": "::rintf({x})",
    "htanh": "::tanhf({x})",
}  # fmt: skip
_BINARY = {
    "hadd": "{x} + {y}", "hsub": "{x} - {y}", "hmul": "{x} * {y}", "hdiv": "{x} / {y}", "hmax": "::fmaxf({x}, {y})",
    "hmin": "::fminf({x}, {y})",
}  # fmt: skip
_COMPARE = {
    "heq": "==",
    "hne": "!=",
    "hgt": ">",
    "hge": ">=",
    "hlt": "<",
    "hle": "<=",
}

fp16 = Namespace("fp16", [*_UNARY, *_BINARY, *_COMPARE, "hfma"], "Functions of float16.")


def _halves(c, name, args, kwargs, node, n):
    from .builtins import count

    args = count(c, f"fp16.{name}", args, kwargs, node, n)
    for a in args:
        if not isinstance(a.type, ty.Scalar) or a.type.is_complex:
            raise c.error(f"fp16.{name} does not take {a.type}", node)
    return [c.convert(a, ty.float16) for a in args]


def _computed(name, text, n):
    def handler(c, args, kwargs, node):
        halves = _halves(c, name, args, kwargs, node, n)
        words = {key: f"(float){h.code}" for key, h in zip("xy", halves)}
        return Value(ty.float16, f"tdpy::half({text.format(**words)})")

    return handler


def _compared(name, symbol):
    def handler(c, args, kwargs, node):
        x, y = _halves(c, name, args, kwargs, node, 2)
        return Value(ty.boolean, f"((float){x.code} {symbol} (float){y.code})")

    return handler


def _fma(c, args, kwargs, node):
    codes = ", ".join(h.code for h in _halves(c, "hfma", args, kwargs, node, 3))
    return Value(ty.float16, f"tdpy::half_fma({codes})")


def register(handlers):
    for name, text in _UNARY.items():
        handlers[getattr(fp16, name)] = _computed(name, text, 1)
    for name, text in _BINARY.items():
        handlers[getattr(fp16, name)] = _computed(name, text, 2)
    for name, symbol in _COMPARE.items():
        handlers[getattr(fp16, name)] = _compared(name, symbol)
    handlers[fp16.hfma] = _fma
