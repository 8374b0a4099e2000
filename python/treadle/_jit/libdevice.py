"""``cuda.libdevice``: NVIDIA's libdevice functions by their names without ``__nv_``.

A row is a signature and the functions that have it: ``f`` float32, ``d`` float64, ``h`` ``i`` ``l`` integers of 16, 32
and 64 bits; a letter behind ``*`` is a result through a pointer, which a call returns in a tuple behind the first
result. The names of CUDA C++ follow from libdevice's by ``cpp_name``.
"""

from . import types as ty
from .stubs import Intrinsic
from .values import Value

_ROUNDED = "_rd _rn _ru _rz"
_TABLE = """
d:d  acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs
     floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv rcbrt rint round rsqrt sin sinh sinpi
     sqrt tan tanh tgamma trunc y0 y1 drcp# dsqrt#
d:dd atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder dadd# ddiv# dmul#
d:d*d modf
d:ddd fma fma#
d:dd*i remquo
d:di ldexp powi scalbn
d:d*i frexp
d:i  int2double_rn uint2double_rn
d:id jn yn
d:ii hiloint2double
d:l  ll2double# ull2double# longlong_as_double
f:d  double2float#
f:f  acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif erfcf erfcinvf erfcxf erff erfinvf exp10f
     exp2f expf expm1f fabsf fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf
     floorf frsqrt_rn j0f j1f lgammaf log10f log1pf log2f logbf logf nearbyintf normcdff normcdfinvf rcbrtf rintf
     roundf rsqrtf saturatef sinf sinhf sinpif sqrtf tanf tanhf tgammaf truncf y0f y1f frcp# fsqrt#
f:ff atan2f copysignf fast_fdividef fast_powf fdimf fmaxf fminf fmodf hypotf nextafterf powf remainderf fadd# fdiv#
     fmul# fsub#
f:f*f modff
f:fff fmaf fmaf#
f:ff*i remquof
f:fi ldexpf powif scalbnf
f:f*i frexpf
f:h  half2float
f:i  int2float# uint2float# int_as_float
f:if jnf ynf
f:l  ll2float# ull2float#
h:f  float2half_rn
i:d  double2hiint double2loint double2int# double2uint# ilogb isfinited isinfd isnand signbitd
i:f  finitef float2int# float2uint# float_as_int ilogbf isinff isnanf signbitf
i:i  abs brev clz ffs popc
i:ii hadd max min mul24 mulhi rhadd uhadd umax umin umul24 umulhi urhadd
i:iii byte_perm sad usad
i:l  clzll ffsll popcll
l:d  double2ll# double2ull# double_as_longlong llrint llround
l:f  float2ll# float2ull# llrintf llroundf
l:l  brevll llabs
l:ll llmax llmin mul64hi ullmax ullmin umul64hi
:d*d*d sincos sincospi
:f*f*f fast_sincosf sincosf sincospif
"""
_LETTERS = {"f": ty.float32, "d": ty.float64, "h": ty.int16, "i": ty.int32, "l": ty.int64}
_SPECIAL = {
    "max": "::max((int){}, (int){})", "min": "::min((int){}, (int){})",
    "umax": "::max((unsigned){}, (unsigned){})", "umin": "::min((unsigned){}, (unsigned){})",
    "llmax": "::max((long long){}, (long long){})", "llmin": "::min((long long){}, (long long){})",
    "ullmax": "::max((unsigned long long){}, (unsigned long long){})",
    "ullmin": "::min((unsigned long long){}, (unsigned long long){})",
    "abs": "({0} < 0 ? tdpy::neg<int>({0}) : {0})", "llabs": "({0} < 0 ? tdpy::neg<long long>({0}) : {0})",
    "powi": "tdpy::powi<double>({}, {})", "powif": "tdpy::powi<float>({}, {})",
    "half2float": "tdpy::half::to((unsigned short){})", "float2half_rn": "(short)tdpy::half::from({})",
    "finitef": "tdpy::finite({})", "isfinited": "tdpy::finite({})", "isnand": "({0} != {0})", "isnanf": "({0} != {0})",
    "isinfd": "tdpy::infinite({})", "isinff": "tdpy::infinite({})",
    "signbitd": "(__double_as_longlong({}) < 0)", "signbitf": "(__float_as_int({}) < 0)",
}  # fmt: skip
_SINGLE_UNDERSCORES = [
    "hiloint2double",
    "longlong_as_double",
    "saturatef",
    "byte_perm",
    "sad",
    "usad",
    "hadd",
    "rhadd",
    "uhadd",
    "urhadd",
    "mul24",
    "mulhi",
    "umul24",
    "umulhi",
    "mul64hi",
    "umul64hi",
    "brev",
    "brevll",
    "clz",
    "clzll",
    "ffs",
    "ffsll",
    "popc",
    "popcll",
    "double_as_longlong",
    "float_as_int",
    "int_as_float",
    "double2hiint",
    "double2loint",
]


def cpp_name(name):
    """The function of CUDA C++ that libdevice's ``name`` stands for."""
    if name.startswith("fast_"):
        return "__" + name[5:]
    if name in _SINGLE_UNDERSCORES or name[-3:] in _ROUNDED.split():
        return "__" + name
    return "::" + name


def _rows():
    joined = _TABLE.strip().replace("\n     ", " ")
    for line in joined.splitlines():
        signature, *names = line.split()
        for name in names:
            ends = _ROUNDED.split() if name.endswith("#") else [""]
            for end in ends:
                yield name.rstrip("#") + end, signature


def _handler(name, signature):
    result, taken = signature.split(":")
    inputs, *outputs = taken.split("*")
    # Every letter behind a star is one result; more letters before the next star are inputs.
    in_types = [_LETTERS[ch] for ch in inputs]
    out_types = [_LETTERS[o[0]] for o in outputs]

    def handler(c, args, kwargs, node):
        from .builtins import count

        args = count(c, f"libdevice.{name}", args, kwargs, node, len(in_types))
        for a in args:
            if not isinstance(a.type, ty.Scalar) or a.type.is_complex:
                raise c.error(f"libdevice.{name} does not take {a.type}", node)
        codes = [c.keep(c.convert(a, t)).code for a, t in zip(args, in_types)]
        outs = []
        for t in out_types:
            c.temps += 1
            outs.append(f"t{c.temps}")
            c.emit(f"{t.cpp} {outs[-1]};")
        if name in _SPECIAL:
            code = _SPECIAL[name].format(*codes)
        else:
            code = f"{cpp_name(name)}({', '.join(codes + ['&' + o for o in outs])})"
        values = [Value(t, o) for t, o in zip(out_types, outs)]
        if not result:
            c.emit(code + ";")
            return c.make_tuple(values)
        first = _LETTERS[result]
        if not outs:
            return Value(first, f"({first.cpp}){code}")
        return c.make_tuple([Value(first, c.temp(code, first)), *values])

    return handler


def register(handlers):
    for name, signature in _rows():
        handlers[FUNCTIONS[name]] = _handler(name, signature)


FUNCTIONS = {name: Intrinsic(f"libdevice.{name}") for name, _ in _rows()}
