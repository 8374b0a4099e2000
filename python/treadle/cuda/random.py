"""Random numbers for kernels written in Python: xoroshiro128+ by Blackman and Vigna, one state for each thread.

The states of an array lie 2**64 steps apart. Numba's names and its sequences:

    states = create_xoroshiro128p_states(threads, seed=1)
    ...
    x = xoroshiro128p_uniform_float32(states, cuda.grid(1))      # in a kernel
"""

import math

import numpy as np

from .._jit import types as _ty

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
xoroshiro128p_type = _ty.from_dtype(xoroshiro128p_dtype)
_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
_MASK = 2**64 - 1


# ---- on the host: the states' start ----


def _seeded(seed):
    """SplitMix64 of the seed, in both words."""
    z = (seed + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _rotate(x, k):
    k = np.uint64(k)
    return (x << k) | (x >> (np.uint64(64) - k))


def _jumped(s0, s1):
    """The states 2**64 steps on."""
    out0, out1 = np.zeros_like(s0), np.zeros_like(s1)
    for word in _JUMP:
        for bit in range(64):
            if word >> bit & 1:
                out0 ^= s0
                out1 ^= s1
            s1 ^= s0
            s0, s1 = _rotate(s0, 55) ^ s1 ^ (s1 << np.uint64(14)), _rotate(s1, 36)
    return out0, out1


def _applied(columns, s0, s1):
    """A linear map of 128 bits, by the images of the bits, on many states."""
    out0, out1 = np.zeros_like(s0), np.zeros_like(s1)
    for k in range(128):
        bit = ((s0 if k < 64 else s1) >> np.uint64(k % 64)) & np.uint64(1)
        mask = np.uint64(0) - bit
        out0 ^= mask & columns[0][k]
        out1 ^= mask & columns[1][k]
    return out0, out1


def _power(columns, exponent, state):
    """The map ``exponent`` times on one state."""
    while exponent:
        if exponent & 1:
            state = _applied(columns, *state)
        columns = _applied(columns, *columns)
        exponent >>= 1
    return state


def _states(n, seed, subsequence_start):
    """n states, each a jump behind the one before: every round doubles their number, by a map twice as far."""
    ones = np.uint64(1) << np.arange(64, dtype=np.uint64)
    zeros = np.zeros(64, np.uint64)
    columns = _jumped(np.concatenate([ones, zeros]), np.concatenate([zeros, ones]))
    start = np.array([_seeded(int(seed) & _MASK)], np.uint64)
    s0, s1 = _power(columns, int(subsequence_start), (start, start.copy()))
    while len(s0) < n:
        more = _applied(columns, s0[: n - len(s0)], s1[: n - len(s1)])
        s0, s1 = np.concatenate([s0, more[0]]), np.concatenate([s1, more[1]])
        columns = _applied(columns, *columns)
    states = np.empty(n, xoroshiro128p_dtype)
    states["s0"], states["s1"] = s0[:n], s1[:n]
    return states


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """A device array of ``n`` states; the first is ``subsequence_start`` times 2**64 steps behind the seed's."""
    from . import to_device

    return to_device(_states(n, seed, subsequence_start), stream=stream)


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """Writes fresh states into a device array of them."""
    states.copy_to_device(_states(len(states), seed, subsequence_start), stream=stream)


# ---- in kernels ----


def _rotl(x, k):
    return (x << np.uint32(k)) | (x >> np.uint32(64 - k))


def init_xoroshiro128p_state(states, index, seed):
    """The state of a seed."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint32(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint32(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint32(31))
    states[index]["s0"] = z
    states[index]["s1"] = z


def xoroshiro128p_next(states, index):
    """The next 64 random bits."""
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    result = s0 + s1
    s1 ^= s0
    states[index]["s0"] = _rotl(s0, 55) ^ s1 ^ (s1 << np.uint32(14))
    states[index]["s1"] = _rotl(s1, 36)
    return result


def xoroshiro128p_jump(states, index):
    """2**64 steps on."""
    s0, s1 = np.uint64(0), np.uint64(0)
    for i in range(2):
        for b in range(64):
            if np.uint64(_JUMP[i]) & (np.uint64(1) << np.uint32(b)):
                s0 ^= states[index]["s0"]
                s1 ^= states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = s0
    states[index]["s1"] = s1


def uint64_to_unit_float64(x):
    """The upper 53 bits as a number in [0, 1)."""
    return (np.uint64(x) >> np.uint32(11)) * (1.0 / (1 << 53))


def uint64_to_unit_float32(x):
    """The same as float32."""
    return np.float32(uint64_to_unit_float64(x))


def xoroshiro128p_uniform_float32(states, index):
    """A float32 from [0, 1)."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


def xoroshiro128p_uniform_float64(states, index):
    """A float64 from [0, 1)."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


_TWO_PI_FLOAT32 = np.float32(2 * math.pi)


def xoroshiro128p_normal_float32(states, index):
    """A normal float32, by Box and Muller; two steps."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(np.float32(-2.0) * math.log(u1)) * math.cos(_TWO_PI_FLOAT32 * u2)


def xoroshiro128p_normal_float64(states, index):
    """A normal float64, by Box and Muller of two float32, as in Numba; two steps."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-2.0 * math.log(u1)) * math.cos(2 * math.pi * u2)


__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_state",
    "init_xoroshiro128p_states",
    "uint64_to_unit_float32",
    "uint64_to_unit_float64",
    "xoroshiro128p_dtype",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_type",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]
