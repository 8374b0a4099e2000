"""<curand_kernel.h>: NVIDIA's sequences, skipping ahead, the distributions, and what is refused.

Where the toolkit of a GPU has the header, the same tests run with NVIDIA's own.
"""

import functools
import math
import os
import subprocess
import sys

import numpy as np
import pytest
import treadle as td
from hypothesis import given, settings
from hypothesis import strategies as st

XORWOW, PHILOX, MRG = "curandState", "curandStatePhilox4_32_10_t", "curandStateMRG32k3a"
PSEUDO = [XORWOW, PHILOX, MRG]
M32 = 2**32 - 1
COUNTS = st.integers(0, 2**64 - 1) | st.integers(0, 300)

# Thread t: sequence first + t from the offset on; `before` may change the state, then `draw` gives n values.
DRAWS = r"""
#include <curand_kernel.h>
extern "C" __global__ void draws(unsigned long long seed, unsigned long long first, unsigned long long offset,
                                 unsigned long long count, unsigned long long sequences, T* out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  STATE state;
  curand_init(seed, first + t, offset, &state);
  BEFORE;
  for (int i = 0; i < n; ++i) out[(size_t)t * n + i] = DRAW;
}
"""


def with_macros(source, macros):
    """The kernel, macros behind NVIDIA's header, whose own parameters have such names."""
    return td.RawKernel(source.replace("h>\n", "h>\n" + macros, 1), "draws")


@functools.cache
def kernel(state, draw, dtype, before):
    names = {"uint32": "unsigned", "uint64": "unsigned long long", "float32": "float"}
    macros = {"STATE": state, "DRAW": draw, "T": names.get(dtype, "double"), "BEFORE": before}
    text = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    return with_macros(DRAWS, text)


def draws(state, n, seed, first=0, offset=0, *, draw="curand(&state)", dtype=np.uint32, threads=1,
          before="", count=0, sequences=0):  # fmt: skip
    """(threads, n) values; before: C++ with `count` and `sequences` between curand_init and the values."""
    block = min(threads, 128)
    out = td.zeros((threads, n), dtype)
    words = [np.uint64(v) for v in (seed, first, offset, count, sequences)]
    kernel(state, draw, np.dtype(dtype).name, before)(
        (threads // block,), (block,), (*words, out, n)
    )
    return td.asnumpy(out)


# state, seed, sequence, offset, six numbers: what NVIDIA's header (CUDA 13.0) gives on a host.
KNOWN = [
    (XORWOW, 0, 0, 0, [3179217846, 1883133293, 2220552389, 674260989, 306521119, 1986458431]),
    (XORWOW, 1, 0, 0, [2898200796, 3111669439, 2179589753, 379598403, 3593604917, 525081800]),
    (XORWOW, 1234, 7, 3, [324612358, 2988894868, 2223688508, 906701663, 1924992985, 1459886507]),
    (XORWOW, 1311768467463790320, 0, 1, [1683698917, 4246992159, 3394647409, 664781119, 1071465452, 2372559090]),
    (XORWOW, 42, 1048576, 12345, [2342302, 3347821371, 1886569169, 3862382386, 120009730, 3503477019]),
    (XORWOW, 42, 1099511627781, 8589934599, [1737431111, 1981197497, 2646867754, 4273627295, 865285487, 2010257394]),
    (XORWOW, 2**64 - 1, 3, 2**64 - 1, [1669041247, 355275428, 2877451030, 4109129947, 4043309399, 140788210]),
    (XORWOW, 99, 4294967295, 2, [766168840, 1017647561, 3369918085, 2319281568, 1149204433, 354198682]),
    (XORWOW, 7, 1125899906842623, 1, [455797643, 894078617, 4185394653, 4203040732, 2580546204, 1215999334]),
    (PHILOX, 0, 0, 0, [1713891541, 3781805453, 3159862348, 2600524760, 4175744164, 1555169499]),
    (PHILOX, 1, 0, 0, [3823634032, 3842641596, 2515673792, 3054873127, 2886210587, 3754282174]),
    (PHILOX, 1234, 7, 3, [502001991, 843890362, 2897886456, 3571722420, 296027329, 3990533219]),
    (PHILOX, 1311768467463790320, 0, 1, [2016955328, 3388702910, 725345501, 949852570, 1620899095, 91273984]),
    (PHILOX, 42, 1048576, 12345, [2309267831, 2254489880, 4190159615, 199642561, 834899062, 269134276]),
    (PHILOX, 42, 1099511627781, 8589934599, [3485477513, 1681222159, 3028323468, 3185892430, 3174859633, 9250292]),
    (PHILOX, 2**64 - 1, 3, 2**64 - 1, [3857207400, 217328721, 1852795470, 1945393720, 2253021779, 3510364315]),
    (PHILOX, 99, 4294967295, 2, [4152649308, 3294748190, 304114459, 872061503, 2112826888, 4159654587]),
    (PHILOX, 7, 1125899906842623, 1, [1543987496, 2564306774, 2760379884, 3254707979, 2380142668, 3616633026]),
    (MRG, 0, 0, 0, [545508615, 1368065476, 1327943825, 3546985268, 951893240, 2290915747]),
    (MRG, 1, 0, 0, [1860102995, 403207181, 975854239, 891564283, 2719027692, 151811380]),
    (MRG, 1234, 7, 3, [1969104259, 1035914143, 885815260, 4192688416, 2559931890, 3701172847]),
    (MRG, 1311768467463790320, 0, 1, [1715376066, 1278840360, 197499217, 1632314500, 1725192041, 2120081532]),
    (MRG, 42, 1048576, 12345, [1320261061, 445693000, 828697693, 1967846906, 1452986195, 1316626398]),
    (MRG, 42, 1099511627781, 8589934599, [1840385821, 895199246, 2969031637, 4196912180, 4247117611, 1804659201]),
    (MRG, 2**64 - 1, 3, 2**64 - 1, [488984074, 2948225376, 929628237, 2178142962, 3218924042, 2427992744]),
    (MRG, 99, 4294967295, 2, [1249602228, 4109985855, 773481036, 705772101, 2412784777, 2085130964]),
    (MRG, 7, 1125899906842623, 1, [1526434372, 357813317, 2354182912, 2934545694, 3076256281, 2523058242]),
]  # fmt: skip


@pytest.mark.parametrize("state, seed, sequence, offset, numbers", KNOWN)
def test_known_numbers(state, seed, sequence, offset, numbers):
    assert draws(state, 6, seed, sequence, offset).tolist() == [numbers]


# Random123's known answers for philox4x32-10: counter, key, block.
PHILOX_BLOCKS = [
    ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([M32] * 4, [M32] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
     [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
]  # fmt: skip


@pytest.mark.parametrize("counter, key, block", PHILOX_BLOCKS)
def test_philox_of_the_paper(counter, key, block):
    position = (counter[1] << 32 | counter[0]) * 4
    sequence = counter[3] << 32 | counter[2]
    # Offsets have 64 bits: the upper two bits of the counter's lower half are skipped in two steps.
    step = position // 4
    numbers = draws(
        PHILOX, 4, key[1] << 32 | key[0], sequence, step, count=step,
        before="skipahead(count, &state); skipahead(count, &state); skipahead(count, &state)",
    )  # fmt: skip
    assert numbers.tolist() == [block]


# ---- models of the other two, skipping by powers of the matrix of a step


def xorwow_step(v):
    t = v[0] ^ v[0] >> 2
    return [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & M32]


def to_bits(v):
    return [word >> i & 1 for word in v for i in range(32)]


@functools.cache
def xorwow_power(k):
    """The matrix of 2^k steps. Row i: the 160 bits from bit i alone."""
    if k > 0:
        half = xorwow_power(k - 1)
        return half @ half % 2
    rows = []
    for i in range(160):
        v = [0] * 5
        v[i // 32] = 1 << i % 32
        rows.append(to_bits(xorwow_step(v)))
    return np.array(rows, np.float32)


def xorwow(seed, sequence, offset, n):
    low = 1099087573 * ((seed & M32) ^ 0xAAD26B49) & M32
    high = 2591861531 * (seed >> 32 ^ 0xF7DCEFDD) & M32
    d = 6615241 + low + high + 362437 * offset
    v = [123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low]
    bits = np.array(to_bits([word & M32 for word in v]), np.float32)
    for k in range(132):
        if (sequence << 67) + offset >> k & 1:
            bits = bits @ xorwow_power(k) % 2
    v = [sum(int(bits[32 * j + i]) << i for i in range(32)) for j in range(5)]
    numbers = []
    for _ in range(n):
        v = xorwow_step([word & M32 for word in v])
        d += 362437
        numbers.append((v[4] + d) & M32)
    return numbers


M1, M2 = 2**32 - 209, 2**32 - 22853
A1 = [[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]]
A2 = [[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]]


def times(m):
    return lambda a, b: [[sum(x * y for x, y in zip(row, column, strict=True)) % m
                          for column in zip(*b, strict=True)] for row in a]  # fmt: skip


def skip(step, n, s, multiply):
    while n:
        if n & 1:
            s = multiply(step, s)
        step = multiply(step, step)
        n >>= 1
    return s


def mrg32k3a(seed, subsequence, offset, n):
    x, y = ((seed & M32) ^ 0x55555555, seed >> 32 ^ 0xAAAAAAAA) if seed else (1, 1)
    s1 = [[x * 12345 % M1], [y * 12345 % M1], [x * 12345 % M1]]
    s2 = [[y * 12345 % M2], [x * 12345 % M2], [y * 12345 % M2]]
    steps = (subsequence << 76) + offset
    s1, s2 = skip(A1, steps, s1, times(M1)), skip(A2, steps, s2, times(M2))
    numbers = []
    for _ in range(n):
        s1, s2 = times(M1)(A1, s1), times(M2)(A2, s2)
        z = s1[2][0] - s2[2][0]
        numbers.append(int((z if z > 0 else z + M1) * 1.000000048662))
    return numbers


@settings(max_examples=30, deadline=None)
@given(seed=COUNTS, sequence=COUNTS, offset=COUNTS)
def test_xorwow_is_marsaglias(seed, sequence, offset):
    assert draws(XORWOW, 3, seed, sequence, offset).tolist() == [xorwow(seed, sequence, offset, 3)]


@settings(max_examples=30, deadline=None)
@given(seed=COUNTS, subsequence=st.integers(0, 2**51 - 1), offset=COUNTS)
def test_mrg32k3a_is_lecuyers(seed, subsequence, offset):
    want = mrg32k3a(seed, subsequence, offset, 3)
    assert draws(MRG, 3, seed, subsequence, offset).tolist() == [want]


# ---- skipping


@pytest.mark.parametrize("state", PSEUDO)
@settings(max_examples=25, deadline=None)
@given(seed=COUNTS, count=st.integers(0, 200))
def test_skipping_is_drawing(state, seed, count):
    skipped = draws(state, 5, seed, count=count, before="skipahead(count, &state)")
    drawn = draws(state, 5, seed, count=count,
                  before="for (int i = 0; i < count; ++i) curand(&state)")  # fmt: skip
    assert skipped.tolist() == drawn.tolist()
    assert skipped.tolist() == draws(state, 5, seed, offset=count).tolist()


@pytest.mark.parametrize("state", PSEUDO)
@settings(max_examples=25, deadline=None)
@given(a=COUNTS, b=COUNTS, sequences=st.integers(0, 2**50))
def test_skips_add_up(state, a, b, sequences):
    sequence = "subsequence" if state == MRG else "sequence"
    before = f"skipahead_{sequence}(sequences, &state); skipahead(count, &state)"
    parts = draws(state, 3, 9, 3, a, count=b, sequences=sequences, before=before)
    other = draws(state, 3, 9, 3 + sequences, b, count=a, before="skipahead(count, &state)")
    assert parts.tolist() == other.tolist()


def test_mrg32k3a_sequences_are_far_subsequences():
    before = "skipahead_sequence(count, &state)"
    assert draws(MRG, 3, 5, count=3, before=before).tolist() == [mrg32k3a(5, 3 << 51, 0, 3)]


# ---- uniform numbers are functions of the integers


@pytest.mark.parametrize("state", [XORWOW, PHILOX])
def test_uniform_numbers(state):
    x = draws(state, 64, 11, 5, 1, threads=32)
    single = draws(state, 64, 11, 5, 1, threads=32, draw="curand_uniform(&state)", dtype=np.float32)
    want = x.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    assert np.array_equal(single, want)
    double = draws(
        state, 32, 11, 5, 1, threads=32, draw="curand_uniform_double(&state)", dtype=np.float64
    )
    if state == XORWOW:
        want = wide_uniform(x[:, ::2], x[:, 1::2])
    else:
        want = x[:, :32] * 2.0**-32 + 2.0**-32
    assert np.array_equal(double, want)


def wide_uniform(x, y):
    return (x ^ y.astype(np.uint64) << np.uint64(21)) * 2.0**-53 + 2.0**-54


def test_uniform_numbers_of_mrg32k3a():
    s = draws(MRG, 64, 11, threads=32, draw="curand_uniform_double(&state)", dtype=np.float64)
    whole = draws(MRG, 64, 11, threads=32, draw="curand_MRG32k3a(&state)", dtype=np.float64)
    assert np.array_equal(s, whole * 2.3283065498378288e-10)
    f = draws(MRG, 64, 11, threads=32, draw="curand_uniform(&state)", dtype=np.float32)
    assert np.array_equal(f, s.astype(np.float32))
    assert whole.min() >= 1 and whole.max() <= M1 and np.array_equal(whole, np.floor(whole))


FOURS = """(i % 4 == 0 ? (v = DRAW4(&state), v.x) : i % 4 == 1 ? v.y : i % 4 == 2 ? v.z : v.w)"""
TWOS = """(i % 2 == 0 ? (v = DRAW2(&state), v.x) : v.y)"""


@pytest.mark.parametrize("place", range(4))
def test_philox_by_four(place):
    def get(call, vector, dtype, n=16):
        draw = FOURS.replace("DRAW4", call) if vector[-1] == "4" else TWOS.replace("DRAW2", call)
        return draws(PHILOX, n, 8, 2, place, draw=draw, dtype=dtype, before=f"{vector} v")[0]

    x = draws(PHILOX, 32, 8, 2, place)[0]
    assert np.array_equal(get("curand4", "uint4", np.uint32), x[:16])
    want = x[:16].astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    assert np.array_equal(get("curand_uniform4", "float4", np.float32), want)
    wide = wide_uniform(x[::2], x[1::2])
    assert np.array_equal(get("curand_uniform2_double", "double2", np.float64), wide)
    assert np.array_equal(get("curand_uniform4_double", "double4", np.float64), wide)
    four = get("curand_normal4", "float4", np.float32)
    assert np.array_equal(four, get("curand_normal2", "float2", np.float32))
    np.testing.assert_allclose(four, box_muller(x[0:16:2], x[1:16:2]), atol=3e-6)
    four = get("curand_normal4_double", "double4", np.float64)
    assert np.array_equal(four, get("curand_normal2_double", "double2", np.float64))
    np.testing.assert_allclose(four, box_muller_of(wide[::2], wide[1::2]), atol=1e-14)


# ---- normal numbers


def box_muller_of(u, v):
    radius = np.sqrt(-2 * np.log(u))
    pairs = np.stack([radius * np.sin(2 * np.pi * v), radius * np.cos(2 * np.pi * v)], -1)
    return pairs.reshape(*pairs.shape[:-2], -1)


def box_muller(x, y):
    return box_muller_of((x + 0.5) * 2.0**-32, (y + 0.5) * 2.0**-32)


@pytest.mark.parametrize("state", PSEUDO)
def test_normal_numbers(state):
    def get(draw, dtype, before="", n=32):
        return draws(state, n, 3, threads=64, draw=draw, dtype=dtype, before=before)

    double = get("curand_uniform_double(&state)", np.float64, n=64)
    if state == MRG:
        single, wide = double[:, :32].astype(np.float32).astype(np.float64), double
    else:
        x = get("curand(&state)", np.uint32, n=64)
        single = (x + 0.5) * 2.0**-32
        wide = wide_uniform(x[:, ::2], x[:, 1::2])
    want = box_muller_of(single[:, 0:32:2], single[:, 1:32:2])
    normal = get("curand_normal(&state)", np.float32)
    np.testing.assert_allclose(normal, want, atol=4e-6)
    twos = get(TWOS.replace("DRAW2", "curand_normal2"), np.float32, "float2 v")
    assert np.array_equal(normal, twos)
    log = get("curand_log_normal(&state, 0.5f, 0.25f)", np.float32)
    np.testing.assert_allclose(log, np.exp(0.5 + 0.25 * normal), rtol=1e-6)
    log = get(
        TWOS.replace("DRAW2(&state)", "curand_log_normal2(&state, 0.5f, 0.25f)"),
        np.float32,
        "float2 v",
    )
    np.testing.assert_allclose(log, np.exp(0.5 + 0.25 * normal), rtol=1e-6)

    want = box_muller_of(wide[:, 0:32:2], wide[:, 1:32:2])
    normal = get("curand_normal_double(&state)", np.float64)
    np.testing.assert_allclose(normal, want, atol=1e-14)
    twos = get(TWOS.replace("DRAW2", "curand_normal2_double"), np.float64, "double2 v")
    assert np.array_equal(normal, twos)
    log = get("curand_log_normal_double(&state, 0.5, 0.25)", np.float64)
    np.testing.assert_allclose(log, np.exp(0.5 + 0.25 * normal), rtol=1e-14)


def test_a_waiting_number_is_of_its_kind_only():
    # A log-normal number does not take what a normal one has left, and throws it away.
    mixed = draws(
        XORWOW, 4, 3, dtype=np.float32,
        draw="(i == 1 ? curand_log_normal(&state, 0.f, 1.f) : curand_normal(&state))",
    )[0]  # fmt: skip
    x = draws(XORWOW, 6, 3)[0]
    pairs = box_muller(x[::2], x[1::2])
    np.testing.assert_allclose(mixed, [pairs[0], np.exp(pairs[2]), pairs[4], pairs[5]], rtol=1e-4)


# ---- statistics, with fixed seeds


def chi_square(observed, expected):
    """Standard deviations of the chi-square sum from its mean."""
    degrees = len(observed) - 1
    return (((observed - expected) ** 2 / expected).sum() - degrees) / math.sqrt(2 * degrees)


@pytest.mark.parametrize("state", PSEUDO)
def test_uniform_statistics(state):
    u = draws(state, 256, 2024, threads=1024, draw="curand_uniform(&state)", dtype=np.float32)
    assert u.min() > 0 and u.max() <= 1
    n = u.size
    assert abs(u.mean() - 0.5) < 5 * math.sqrt(1 / 12 / n)
    assert abs(u.astype(np.float64).var() - 1 / 12) < 5 * math.sqrt(1 / 180 / n)
    assert abs(chi_square(np.histogram(u, 512, (0, 1))[0], n / 512)) < 5
    # Neighbours in a sequence, and numbers of neighbouring sequences, are independent.
    for a, b in ((u[:, :-1], u[:, 1:]), (u[:-1], u[1:])):
        pairs = np.histogram2d(a.ravel(), b.ravel(), 16, [[0, 1], [0, 1]])[0].ravel()
        assert abs(chi_square(pairs, a.size / 256)) < 5
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 5 / math.sqrt(a.size)


@pytest.mark.parametrize("state", [*PSEUDO, "curandStateSobol32"])
@pytest.mark.parametrize(
    "draw, dtype", [("curand_normal", np.float32), ("curand_normal_double", np.float64)]
)
def test_normal_statistics(state, draw, dtype):
    if state == "curandStateSobol32":
        x = sobol(32, 0, 1, 2**16, draw=f"{draw}(&state)", dtype=dtype)
    else:
        x = draws(state, 64, 7, threads=1024, draw=f"{draw}(&state)", dtype=dtype)
    x = np.sort(x.ravel().astype(np.float64))
    n = x.size
    assert abs(x.mean()) < 5 / math.sqrt(n) and abs(x.var() - 1) < 5 * math.sqrt(2 / n)
    distribution = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x[::16]])
    # Kolmogorov and Smirnov: above 2 / sqrt(n) with a probability of 7e-4.
    assert np.abs(distribution - (np.arange(n)[::16] + 0.5) / n).max() < 2 / math.sqrt(n)


def poisson_probabilities(mean, size):
    k = np.arange(size)
    return np.exp(k * math.log(mean) - mean - np.array([math.lgamma(i + 1) for i in k]))


@pytest.mark.parametrize("mean", [0.3, 7.0, 63.0, 64.0, 300.0, 3999.0, 5000.0])
@pytest.mark.parametrize("state", PSEUDO)
def test_poisson_statistics(state, mean):
    check_poisson(draws(state, 64, 5, threads=512, draw=f"curand_poisson(&state, {mean})"), mean)


# State, mean, six numbers and the integer behind them, from the same header with seed 11, sequence 5, offset 1. Between
# 64 and 4000 a last place of exp may decide otherwise: about once in a thousand numbers.
POISSON = [
    (XORWOW, 7, [4, 4, 4, 10, 9, 6, 3727540540]),
    (XORWOW, 100, [98, 91, 99, 74, 90, 90, 864290834]),
    (XORWOW, 1000, [995, 972, 999, 919, 969, 969, 864290834]),
    (XORWOW, 3900, [3891, 3845, 3898, 3742, 3840, 3839, 864290834]),
    (XORWOW, 5000, [4849, 4880, 4994, 5072, 5125, 5007, 648956071]),
    (PHILOX, 7, [7, 10, 5, 5, 11, 8, 3033961]),
    (PHILOX, 100, [95, 101, 100, 102, 103, 111, 2912199429]),
    (PHILOX, 1000, [985, 1005, 1001, 1006, 1012, 1036, 2912199429]),
    (PHILOX, 3900, [3871, 3911, 3902, 3913, 3923, 3972, 2912199429]),
    (PHILOX, 5000, [5034, 5023, 5053, 5103, 5034, 4867, 3733656176]),
    (MRG, 7, [4, 7, 7, 10, 10, 8, 1386429305]),
    (MRG, 100, [100, 83, 95, 89, 114, 81, 1546934221]),
    (MRG, 1000, [1003, 947, 985, 967, 1044, 941, 1546934221]),
    (MRG, 3900, [3906, 3778, 3797, 3871, 3836, 3987, 101275901]),
    (MRG, 5000, [4924, 5008, 5062, 5043, 4975, 5199, 159047593]),
]  # fmt: skip


@pytest.mark.parametrize("state, mean, numbers", POISSON)
def test_known_poisson_numbers(state, mean, numbers):
    draw = f"(i < 6 ? curand_poisson(&state, {mean}.0) : curand(&state))"
    assert draws(state, 7, 11, 5, 1, draw=draw).tolist() == [numbers]


@pytest.mark.parametrize("mean", [7.0, 300.0, 5000.0])
def test_poisson_by_four(mean):
    draw = FOURS.replace("DRAW4(&state)", f"curand_poisson4(&state, {mean})")
    four = draws(PHILOX, 64, 5, threads=512, draw=draw, before="uint4 v")
    check_poisson(four, mean)
    if mean < 4000:
        single = draws(PHILOX, 64, 5, threads=512, draw=f"curand_poisson(&state, {mean})")
        assert np.array_equal(four, single)


def check_poisson(x, mean):
    n = x.size
    assert abs(x.mean() - mean) < 5 * math.sqrt(mean / n)
    assert abs(x.var() / mean - 1) < 5 * math.sqrt((2 + 1 / mean) / n)
    observed = np.bincount(x.ravel(), minlength=int(mean + 20 * math.sqrt(mean) + 20))
    expected = n * poisson_probabilities(mean, len(observed))
    often = expected > 8
    assert abs(chi_square(observed[often], expected[often])) < 5


# ---- quasirandom numbers

# Joe and Kuo, new-joe-kuo-6.21201: degree, polynomial, first numbers of dimensions 2 to 8.
JOE_KUO = [(1, 0, [1]), (2, 1, [1, 3]), (3, 1, [1, 3, 1]), (3, 2, [1, 1, 1]), (4, 1, [1, 1, 3, 3]),
           (4, 4, [1, 3, 5, 13]), (5, 2, [1, 1, 5, 5, 17])]  # fmt: skip


def direction_vectors(dimension, bits):
    """Of dimension 0 to 7, the most significant first."""
    if dimension == 0:
        return [1 << (bits - 1 - k) for k in range(bits)]
    s, a, m = JOE_KUO[dimension - 1]
    v = [m[k] << (bits - 1 - k) for k in range(s)]
    for k in range(s, bits):
        x = v[k - s] ^ v[k - s] >> s
        for j in range(1, s):
            if a >> (s - 1 - j) & 1:
                x ^= v[k - j]
        v.append(x)
    return v


SOBOL = r"""
#include <curand_kernel.h>
extern "C" __global__ void draws(WORD* vectors, WORD constant, WORD offset, WORD count, T* out, int n) {
  STATE state;
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(vectors SCRAMBLE, offset + t * (WORD)n, &state);
  skipahead(count, &state);
  for (int i = 0; i < n; ++i) out[(size_t)t * n + i] = DRAW;
}
"""


@functools.cache
def sobol_kernel(bits, scrambled, draw, dtype):
    words = {"uint32": "unsigned", "uint64": "unsigned long long", "float32": "float"}
    text = (
        f"#define STATE curandState{'Scrambled' if scrambled else ''}Sobol{bits}_t\n"
        f"#define WORD {words[f'uint{bits}']}\n#define T {words.get(dtype, 'double')}\n"
        f"#define SCRAMBLE {', constant' if scrambled else ''}\n#define DRAW {draw}\n"
    )
    return with_macros(SOBOL, text)


def sobol(bits, dimension, threads, n, *, constant=0, offset=0, count=0, draw="curand(&state)",
          dtype=None):  # fmt: skip
    """(threads, n): each thread continues the one before."""
    word = np.dtype(f"uint{bits}").type
    dtype = np.dtype(dtype or word)
    vectors = td.asarray(np.array(direction_vectors(dimension, bits), word))
    out = td.zeros((threads, n), dtype)
    k = sobol_kernel(bits, constant != 0, draw, dtype.name)
    k((1,), (threads,), (vectors, word(constant), word(offset), word(count), out, n))
    return td.asnumpy(out)


def sobol_number(vectors, i):
    x, gray = 0, i ^ i >> 1
    for k, v in enumerate(vectors):
        if gray >> k & 1:
            x ^= v
    return x


@pytest.mark.parametrize("bits", [32, 64])
@settings(max_examples=20, deadline=None)
@given(
    dimension=st.integers(0, 7),
    offset=COUNTS,
    count=COUNTS,
    constant=st.just(0) | st.integers(1, 2**32 - 1),
)
def test_sobol_numbers(bits, dimension, offset, count, constant):
    size = 2**bits
    x = sobol(bits, dimension, 2, 3, offset=offset % size, count=count % size, constant=constant)
    vectors = direction_vectors(dimension, bits)
    want = [sobol_number(vectors, (offset + count + i) % size) ^ constant for i in range(6)]
    assert x.ravel().tolist() == want


@pytest.mark.parametrize("dimension", range(8))
@pytest.mark.parametrize("bits", [32, 64])
def test_sobol_fills_every_interval_once(bits, dimension):
    cells = sobol(bits, dimension, 64, 64).ravel() >> (bits - 12)
    assert np.array_equal(np.sort(cells), np.arange(4096))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("constant", [0, 0x12345678])
def test_sobol_distributions(bits, constant):
    def get(draw, dtype=None):
        return sobol(bits, 3, 32, 32, constant=constant, draw=draw, dtype=dtype).ravel()

    x = get("curand(&state)")
    upper = (x >> np.uint64(32)).astype(np.uint32) if bits == 64 else x
    want = upper.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    assert np.array_equal(get("curand_uniform(&state)", np.float32), want)
    double = get("curand_uniform_double(&state)", np.float64)
    want = (x >> np.uint64(11)) * 2.0**-53 + 2.0**-54 if bits == 64 else (x + 1.0) * 2.0**-32
    assert np.array_equal(double, want)

    # The inverse of the distribution: its value has the probability of the number.
    middle = (x >> np.uint64(11)) * 2.0**-53 + 2.0**-54 if bits == 64 else (x + 0.5) * 2.0**-32
    normal = get("curand_normal_double(&state)", np.float64)
    below = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in normal])
    np.testing.assert_allclose(below, middle, rtol=1e-13)
    single = get("curand_normal(&state)", np.float32)
    below = np.array([0.5 * math.erfc(-float(v) / math.sqrt(2)) for v in single])
    np.testing.assert_allclose(below, (upper + 0.5) * 2.0**-32, rtol=1e-5)
    log = get("curand_log_normal_double(&state, 0.5, 0.25)", np.float64)
    np.testing.assert_allclose(log, np.exp(0.5 + 0.25 * normal), rtol=1e-14)
    log = get("curand_log_normal(&state, 0.5f, 0.25f)", np.float32)
    np.testing.assert_allclose(log, np.exp(0.5 + 0.25 * single), rtol=1e-6)

    for mean in (0.7, 40.0, 900.0):
        k = get(f"curand_poisson(&state, {mean})", np.uint32).astype(int)
        total = np.cumsum(poisson_probabilities(mean, int(mean + 20 * math.sqrt(mean) + 20)))
        assert (middle <= total[k] + 1e-9).all()
        assert (middle >= np.where(k > 0, total[k - 1], 0) - 1e-9).all()
    k = get("curand_poisson(&state, 2000.0)", np.uint32).astype(int)
    assert np.abs(k - (2000 + math.sqrt(2000) * normal)).max() <= 0.5 + 1e-9


# ---- headers and refusals


def test_state_in_global_memory_goes_on(device):
    source = r"""
    #include <curand_kernel.h>
    extern "C" __global__ void start(curandState* states) { curand_init(1, threadIdx.x, 0, states + threadIdx.x); }
    extern "C" __global__ void go(curandState* states, unsigned* out) {
      out[threadIdx.x] = curand(states + threadIdx.x);
    }"""
    states = td.zeros((64, 12), np.uint32)  # 48 bytes each
    module = td.RawModule(source)
    module.get_function("start")((1,), (64,), (states,))
    want = draws(XORWOW, 3, 1, threads=64)
    for i in range(3):
        out = td.zeros(64, np.uint32)
        module.get_function("go")((1,), (64,), (states, out))
        assert np.array_equal(td.asnumpy(out), want[:, i])


@pytest.mark.parametrize(
    "line, words",
    [
        ("curandStateMtgp32* s = nullptr;", "MTGP32 needs tables"),
        ("curandState s; o[0] = curand_discrete(&s, (curandDiscreteDistribution_t)0);", "use curand_poisson"),
    ],
)  # fmt: skip
def test_what_needs_the_library_is_refused(software, line, words):
    if not software:
        pytest.skip("NVIDIA's own header has it")
    source = '#include <curand_kernel.h>\nextern "C" __global__ void k(int* o) {\n' + line + "\n}"
    with pytest.raises(td.CompileError, match=words) as caught:
        td.RawKernel(source, "k")((1,), (1,), (td.zeros(1, np.int32),))
    assert "(3" in str(caught.value) or ":3" in str(caught.value), caught.value


PROGRAM = r"""
#include <cstdio>
#include <curand.h>
#include <curand_kernel.h>
__global__ void k(unsigned* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(1234, 7, 3 + threadIdx.x, &state);
  out[threadIdx.x] = curand(&state);
}
int main() {
  unsigned* out;
  cudaMallocManaged(&out, 16);
  k<<<1, 4>>>(out);
  cudaDeviceSynchronize();
  std::printf("%u %u %u %u\n", out[0], out[1], out[2], out[3]);
#ifdef HOST
  curandGenerator_t generator;
  return curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
#endif
}
"""


def test_in_programs(software, tmp_path):
    if not software:
        pytest.skip("programs of `treadle cc` run on the software device")
    (tmp_path / "random.cu").write_text(PROGRAM)

    def cc(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "treadle", "cc", *arguments, "random.cu"],
            cwd=tmp_path, env={**os.environ, "TREADLE_DEVICE": "soft"}, capture_output=True, text=True,
        )  # fmt: skip

    done = cc("--run", "-lcurand")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "502001991 843890362 2897886456 3571722420\n"
    done = cc("-DHOST", "-c")
    assert done.returncode != 0
    assert "random.cu:18" in done.stderr and "curandCreateGenerator" in done.stderr
