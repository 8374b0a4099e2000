"""What the tests of inline PTX share: kernels around an asm statement, operands, Python's integers as the oracle."""

import numpy as np
import treadle as td

RNG = np.random.default_rng(17)

DTYPES = {
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "s16": np.int16,
    "s32": np.int32,
    "s64": np.int64,
    "b16": np.uint16,
    "b32": np.uint32,
    "b64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.uint16,
    "bf16": np.uint16,
    "f16x2": np.uint32,
    "bf16x2": np.uint32,
}
C_TYPES = {
    np.uint16: "unsigned short",
    np.int16: "short",
    np.uint32: "unsigned",
    np.int32: "int",
    np.uint64: "unsigned long long",
    np.int64: "long long",
    np.float32: "float",
    np.float64: "double",
}


def constraint(dtype):
    """The letter for a register that holds such a value."""
    return (
        {2: "h", 4: "r", 8: "l"}[np.dtype(dtype).itemsize]
        if np.dtype(dtype).kind in "iu"
        else ("f" if dtype is np.float32 else "d")
    )


def run(asm, outputs, inputs, block=64):
    """Runs the asm statement in one thread for each element: %0 ... are outputs, then inputs. Returns the outputs."""
    n = len(inputs[0]) if inputs else block
    arrays = [td.asarray(np.zeros(n, t)) for t in outputs] + [td.asarray(a) for a in inputs]
    types = [*outputs, *(a.dtype.type for a in inputs)]
    parameters = ", ".join(f"{C_TYPES[t]}* p{k}" for k, t in enumerate(types))
    loads = "".join(f"{C_TYPES[t]} v{k} = p{k}[i]; " for k, t in enumerate(types))
    stores = "".join(f"p{k}[i] = v{k}; " for k in range(len(outputs)))
    operands = [f'"{constraint(t)}"(v{k})' for k, t in enumerate(types)]
    outs = ", ".join('"+' + o[1:] for o in operands[: len(outputs)])
    source = (
        f'extern "C" __global__ void k({parameters}, int n) {{\n'
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  {loads}\n"
        f'  asm volatile("{asm}" : {outs} : {", ".join(operands[len(outputs) :])});\n  {stores}\n}}'
    )
    td.RawKernel(source, "k")(((n + block - 1) // block,), (block,), (*arrays, np.int32(n)))
    return [td.asnumpy(a) for a in arrays[: len(outputs)]]


def bits_of(name):
    return 8 * np.dtype(DTYPES[name]).itemsize


def wrap(value, name):
    """The integer in a register of that type."""
    bits = bits_of(name)
    value &= (1 << bits) - 1
    return value - (1 << bits) if name[0] == "s" and value >> (bits - 1) else value


def integers(name, n=400, salt=0):
    """Boundary values first, then random numbers of all sizes."""
    info = np.iinfo(DTYPES[name])
    edges = [0, 1, 2, info.max, info.max - 1, info.min, info.min + 1, info.max // 2, info.max // 3]
    rng = np.random.default_rng(len(name) * 100 + salt)
    edges = rng.permutation(np.array(edges * 8, object))
    sizes = rng.integers(1, bits_of(name) + 1, n - len(edges))
    random = [wrap(int(rng.integers(0, 2**63)) * 2 + 1 >> (64 - int(s)), name) for s in sizes]
    return np.array([*edges, *random], DTYPES[name])


def check_integers(instruction, name, arity, oracle, result=None, kinds=()):
    """`oracle` takes Python's integers; `kinds` are types of operands that differ from the instruction's."""
    result = result or name
    names = [(kinds[k] if k < len(kinds) and kinds[k] else name) for k in range(arity)]
    inputs = [integers(t, salt=k) for k, t in enumerate(names)]
    operands = ", ".join(f"%{k}" for k in range(arity + 1))
    (got,) = run(f"{instruction} {operands};", [DTYPES[result]], inputs)
    rows = zip(*(map(int, a) for a in inputs), strict=True)
    expected = np.array([wrap(int(oracle(*row)), result) for row in rows], DTYPES[result])
    np.testing.assert_array_equal(got, expected, err_msg=instruction)


def signed(x, bits):
    return x - (1 << bits) if x >> (bits - 1) else x


def clamp(x, name):
    info = np.iinfo(DTYPES[name])
    return min(max(x, int(info.min)), int(info.max))


ORDER = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED_ORDER = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def floats(t, n=400, salt=0):
    """Specials, denormals and random numbers of all magnitudes."""
    dtype = DTYPES[t]
    info = np.finfo(dtype)
    rng = np.random.default_rng(salt)
    special = np.array(
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            np.inf,
            -np.inf,
            np.nan,
            info.max,
            -info.max,
            info.tiny,
            info.smallest_subnormal,
            0.5,
            2.5,
        ],
        dtype,
    )
    random = rng.standard_normal(n - 8 * len(special)) * 2.0 ** rng.integers(
        -30, 30, n - 8 * len(special)
    )
    return np.concatenate([rng.permutation(np.tile(special, 8)), random.astype(dtype)])


def float_order(name, a, b):
    unordered = np.isnan(a) | np.isnan(b)
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    base = name[:2]
    return ORDER[base](a, b) & ~unordered if len(name) == 2 else ORDER[base](a, b) | unordered


def launch(source, block, *arrays, grid=1, name="k"):
    """Runs a kernel on copies of the arrays; returns them as it left them."""
    on_device = [td.asarray(a) for a in arrays]
    td.RawKernel(source, name)((grid,), (block,), tuple(on_device))
    return [td.asnumpy(a) for a in on_device]
