"""``vectorize``: a Python function of numbers as one kernel over arrays."""

import numpy as np

from ._creation import asarray
from ._row_code import inner, is_compiled, outer
from ._treadle import ndarray
from ._user_kernels import ElementwiseKernel

__all__ = ["vectorize"]


class vectorize:
    """A Python function of numbers, called for every element of arrays that broadcast: one kernel.

    The function is compiled, not called: it may use arithmetic, comparisons, ``if``, ``while``, ``for … in range``,
    tuples, the functions of this module that work element by element, those of ``math``, ``min``, ``max``, dtypes as
    casts, and other such Python functions, by the compiler of ``cuda.jit`` with NumPy's types. It is compiled once for
    each combination of dtypes. Several results come as a tuple of arrays.

    ``otypes`` gives the dtypes of the results; ``cache`` changes nothing. ``excluded`` and ``signature`` are
    NotImplementedError. TypeError names the line of what cannot be compiled.
    """

    def __init__(self, pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        if excluded is not None:
            raise NotImplementedError(
                "vectorize: excluded is not supported; a name from outside of the function is a constant of it"
            )
        if signature is not None:
            raise NotImplementedError(
                "vectorize: signature is not supported; the function gets one number of each array"
            )
        self.pyfunc, self.cache, self.excluded, self.signature = pyfunc, cache, excluded, signature
        self.__doc__ = doc or pyfunc.__doc__
        self.__name__ = getattr(pyfunc, "__name__", "function")
        self.otypes = None if otypes is None else "".join(np.dtype(t).char for t in otypes)
        self._kernels = {}

    def __call__(self, *args):
        if not args:
            raise ValueError("vectorize: a function is called with at least one array or number")
        dtypes = tuple(_dtype_of(x) for x in args)
        kernel = self._kernels.get(dtypes)
        if kernel is None:
            kernel = self._kernels[dtypes] = _compile(self.pyfunc, dtypes, self.otypes)
        if not any(isinstance(x, ndarray) for x in args):
            args = [asarray(x) for x in args]
        return kernel(*args)

    def __repr__(self):
        return f"<treadle.vectorize of {self.__name__}>"


def _dtype_of(x):
    if isinstance(x, (ndarray, np.generic)):
        if not is_compiled(x.dtype):
            raise TypeError(
                f"vectorize does not take {x.dtype}; convert it first, x.astype('float32')"
            )
        return x.dtype
    if isinstance(x, (bool, int, float, complex)):
        return np.dtype(type(x))
    raise TypeError(
        f"vectorize takes treadle arrays and numbers, not {type(x).__name__}; use treadle.asarray(x) first"
    )


def _compile(function, dtypes, otypes):
    """The kernel of a function for arguments of these dtypes."""
    from ._jit.numpy_rules import compile_function

    preamble, lines, results = compile_function(function, dtypes)
    found = [r.type.dtype for r in results]
    if otypes is not None and len(otypes) != len(found):
        raise ValueError(
            f"vectorize: otypes names {len(otypes)} results, the function gives {len(found)}"
        )
    wanted = found if otypes is None else [np.dtype(c) for c in otypes]
    given = [f"const auto a{k} = td_leave({inner(f'in{k}', t)});" for k, t in enumerate(dtypes)]
    stores = [
        f"out{k} = {outer(f'td_enter({r.code})', r.type.dtype, w)};"
        for k, (r, w) in enumerate(zip(results, wanted))
    ]
    return ElementwiseKernel(
        ", ".join(f"{t.name} in{k}" for k, t in enumerate(dtypes)),
        ", ".join(f"{t.name} out{k}" for k, t in enumerate(wanted)),
        "\n".join([*given, *lines, *stores]), "vectorized", preamble=preamble, options=("--fmad=false",),
    )  # fmt: skip
