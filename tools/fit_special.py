#!/usr/bin/env python3
"""Prints the polynomials of src/compile/include/td_special.h and td_bessel.h.

Each interpolates its function at Chebyshev points, computed with 50 digits, in powers of t. Needs mpmath, which nothing
else here does: python -m pip install mpmath.
"""

import mpmath as mp

mp.mp.dps = 50
ONE = mp.mpf(1)


def chebyshev(f, low, high, terms):
    """Coefficients of the Chebyshev polynomials in t, which is -1 to 1 while the argument is low to high."""
    n = terms + 20
    points = [mp.cos(mp.pi * (k + ONE / 2) / n) for k in range(n)]
    values = [f((low + high) / 2 + (high - low) / 2 * x) for x in points]
    result = [
        2 * mp.fsum(values[k] * mp.cos(j * mp.pi * (k + ONE / 2) / n) for k in range(n)) / n
        for j in range(terms)
    ]
    result[0] /= 2
    return result


def powers(coefficients):
    """The same polynomial in powers of t."""
    total = [mp.mpf(0)] * len(coefficients)
    before, current = [ONE], [mp.mpf(0), ONE]
    for j, c in enumerate(coefficients):
        polynomial = before if j == 0 else current
        if j >= 2:
            polynomial = [mp.mpf(0)] + [2 * v for v in current]
            for i, v in enumerate(before):
                polynomial[i] -= v
            before, current = current, polynomial
        for i, v in enumerate(polynomial):
            total[i] += c * v
    return total


def fit(f, low, high, terms):
    return powers(chebyshev(f, mp.mpf(low), mp.mpf(high), terms))


def emit(name, comment, coefficients):
    values = [float(v) for v in coefficients]
    print(f"// {comment}\n__TD_FN double {name}(double t) {{\n  double p = {values[-1].hex()};")
    for v in reversed(values[:-1]):
        print(f"  p = __builtin_fma(p, t, {v.hex()});")
    print("  return p;\n}\n")


def erfcx(x):
    if x < 25:
        return mp.exp(x * x) * mp.erfc(x)
    if x < 10**4:
        return mp.quad(lambda u: 2 / mp.sqrt(mp.pi) * mp.exp(-u * u - 2 * x * u), [0, 0.1, 0.5, 3])
    return 1 / (x * mp.sqrt(mp.pi)) * (1 - 1 / (2 * x * x) + 3 / (4 * x**4))


def erfcinv_of_exp(s):
    """erfcinv(exp(-s^2)), by Newton's method on the logarithm."""
    x = s * mp.mpf("0.9") if s >= 1 else mp.mpf("0.5")
    for _ in range(60):
        slope = -2 / mp.sqrt(mp.pi) * mp.exp(-x * x) / mp.erfc(x)
        step = (mp.log(mp.erfc(x)) + s * s) / slope
        x -= step
        if abs(step) < mp.mpf(10) ** -45:
            break
    return x


def error_functions():
    k = mp.mpf("3.75")

    def scaled_erfcx(t):
        x = k * (1 + t) / (1 - t)
        return (1 + 2 * x / mp.sqrt(mp.pi)) * erfcx(x)

    emit(
        "__td_erfcx_fit",
        "(1 + 2x / sqrt(pi)) erfcx(x) for x >= 0 and t = (x - 3.75) / (x + 3.75)",
        fit(scaled_erfcx, -1, 1, 26),
    )
    emit(
        "__td_erfinv_fit",
        "erfinv(y) / y for |y| <= 0.5 and t = 8 y^2 - 1",
        fit(lambda z: mp.erfinv(mp.sqrt(z)) / mp.sqrt(z), 0, 0.25, 15),
    )
    for i, (low, high, terms) in enumerate(
        (("0.8325", "2.5", 26), ("2.5", "8", 28), ("8", "27.5", 28))
    ):
        middle, half = (mp.mpf(low) + mp.mpf(high)) / 2, (mp.mpf(high) - mp.mpf(low)) / 2
        emit(
            f"__td_erfcinv_fit{i}",
            f"erfcinv(exp(-s^2)) for s from {low} to {high} and t = (s - {mp.nstr(middle, 8)}) / {mp.nstr(half, 8)}",
            fit(erfcinv_of_exp, low, high, terms),
        )


def modified_bessel_functions():
    for n in (0, 1):
        emit(
            f"__td_bessel_i{n}_fit",
            f"sqrt(x) exp(-x) I{n}(x) for x >= 8 and t = 16 / x - 1",
            fit(
                lambda u, n=n: mp.besseli(n, 1 / u) * mp.exp(-1 / u) * mp.sqrt(1 / u),
                0,
                ONE / 8,
                26,
            ),
        )
        emit(
            f"__td_bessel_i{n}_series",
            f"I{n}(x){' / (x/2)' if n else ''} for x <= 8 and t = x^2 / 4: the first terms of the power series",
            [1 / (mp.factorial(i) * mp.factorial(i + n)) for i in range(26)],
        )


def near_zeros(name, f, starts):
    """f(x) / (x - zero) around each zero: the zero is `high` + `low`, t = x - high."""
    radius = mp.mpf("0.15")
    for i, start in enumerate(starts):
        zero = mp.findroot(f, mp.mpf(start))
        high = float(zero)
        low = float(zero - mp.mpf(high))
        c = chebyshev(
            lambda t, h=high, w=low: f(mp.mpf(h) + radius * t) / (radius * t - mp.mpf(w)),
            -ONE,
            ONE,
            26,
        )
        terms = max(k for k in range(len(c)) if abs(c[k]) > mp.mpf(2) ** -56 * abs(c[0])) + 1
        coefficients = [v / radius**k for k, v in enumerate(powers(c[:terms]))]
        emit(
            f"__td_{name}_near{i}",
            f"{name}(x) / (x - zero) for t = x - {high!r}, |t| < 0.15; the zero is {low.hex()} above {high!r}",
            coefficients,
        )


error_functions()
near_zeros("j0", lambda x: mp.besselj(0, x), ["2.404", "5.520"])
near_zeros("j1", lambda x: mp.besselj(1, x), ["3.8317", "7.0156"])
near_zeros("y0", lambda x: mp.bessely(0, x), ["0.8936", "3.9577", "7.0861"])
near_zeros("y1", lambda x: mp.bessely(1, x), ["2.1971", "5.4297"])
modified_bessel_functions()
