"""Linear algebra, Fourier transforms and random numbers: a signal found in noise."""

import treadle as td

rng = td.random.default_rng(7)
n = 4096
time = td.arange(n, dtype=td.float64) / n
signal = 3 * td.sin(2 * td.pi * 50 * time) + rng.standard_normal(n)

# The strongest frequency of the spectrum.
spectrum = td.absolute(td.fft.rfft(signal))
peak = int(td.argmax(spectrum))
print(f"strongest frequency: {peak}")

# Its amplitudes by least squares: columns of sine, cosine and a constant.
angle = 2 * td.pi * peak * time
columns = td.stack([td.sin(angle), td.cos(angle), td.ones(n)], 1)
weights, residuals, rank, _ = td.linalg.lstsq(columns, signal)
amplitude = float(td.linalg.norm(weights[:2]))
print(f"amplitude: {amplitude:.2f}, noise: {float(residuals[0]) / n:.2f}")
assert peak == 50 and abs(amplitude - 3) < 0.2 and int(rank) == 3
