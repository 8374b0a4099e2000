"""What a kernel in Python says when it is wrong: at compile time, and with debug=True while it runs."""

import numpy as np
import treadle as td
from treadle import cuda


@cuda.jit
def misspelled(x):
    i = cuda.grid(1)
    if i < x.sise:
        x[i] = 0


def shifted(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


def mean(x, counts, out):
    i = cuda.grid(1)
    if counts[i] < 0:
        raise ValueError(f"counts[{i}] is {counts[i]}")
    out[i] = x[i] / counts[i]


def message(kind, launch):
    """The text of the error that a launch raises."""
    try:
        launch()
    except kind as error:
        return str(error)
    raise AssertionError("no error")


x, out = td.arange(8.0), td.zeros(8)
text = message(TypeError, lambda: misspelled[1, 8](x))
print(text, end="\n\n")
assert "did you mean 'size'?" in text

text = message(IndexError, lambda: cuda.jit(debug=True)(shifted)[1, 8](x, out))
print(text, end="\n\n")
assert "index 8 is out of bounds for axis 0 of 'x' with shape (8,)" in text
assert "tid=[7, 0, 0]" in text

checked = cuda.jit(debug=True)(mean)
counts = td.asarray(np.array([1, 2, 3, 4, 5, 0, 7, 8]))
text = message(ZeroDivisionError, lambda: checked[1, 8](x, counts, out))
print(text, end="\n\n")
counts[2] = -3
counts[5] = 1
text = message(ValueError, lambda: checked[1, 8](x, counts, out))
print(text)
assert text.endswith("counts[2] is -3")
