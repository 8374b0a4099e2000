"""Operations as objects with NumPy's ufunc interface: ``treadle.add(x, y, where=m)``, ``treadle.add.reduce(x)``.

An operation that is a ufunc in NumPy is a ``ufunc`` here; its loops, dtypes and casts are those of tables/ops.def.
"""

import numpy as np

from . import _treadle
from ._manipulation import axes_of, axis_of, copyto, moveaxis, own
from ._treadle import ndarray

_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_SCANS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}
# Operations whose order of application does not matter, so that halves of an axis can be combined at once.
_ASSOCIATIVE = {
    "add", "multiply", "minimum", "maximum", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
    "bitwise_xor", "fmax", "fmin", "gcd", "lcm", "hypot", "logaddexp", "logaddexp2",
}  # fmt: skip


class ufunc:
    """An element-wise operation with broadcasting and NumPy's promotion.

    Calls take ``out=``, ``where=``, ``casting=``, ``order=`` and ``dtype=`` as NumPy's ufuncs do.
    """

    nout = 1

    def __init__(self, name, run, oracle, doc):
        self.__name__ = name
        self._run = run
        self._numpy = oracle
        self.nin = oracle.nin
        self.__doc__ = doc

    def __repr__(self):
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self):
        return self.__name__

    @property
    def nargs(self):
        return self.nin + self.nout

    @property
    def types(self):
        """The loops in NumPy's notation, as ``"dd->d"``."""
        known = {d.char for d in _treadle.dtypes} | {"l", "L", "q", "Q"}
        return [t for t in self._numpy.types if set(t) - set("->") <= known]

    @property
    def ntypes(self):
        return len(self.types)

    @property
    def identity(self):
        return self._numpy.identity

    @property
    def signature(self):
        return None

    def __call__(self, *args, **options):
        if not options and len(args) == self.nin:
            return self._run(*args)
        return self._call(args, **options)

    def _call(
        self, args, *, out=None, where=True, casting="same_kind", order="K", dtype=None, subok=True
    ):
        if len(args) != self.nin:
            if len(args) != self.nargs:
                raise TypeError(
                    f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments but "
                    f"{len(args)} were given"
                )
            if out is not None:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            *args, out = args
        if where is True and casting == "same_kind" and order == "K":
            return self._run(*args, out=out, dtype=dtype)
        return self._general(args, out, where, casting, order, dtype)

    def _general(self, args, out, where, casting, order, dtype):
        if isinstance(out, tuple):
            (out,) = out
        if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
            raise ValueError(
                f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '{casting}')"
            )
        if casting != "same_kind":
            args = self._cast(args, out, casting, dtype)
        if where is True:
            if casting == "unsafe" and out is not None:
                copyto(out, self._run(*args, dtype=dtype), "unsafe")
                return out
            return _in_order(self._run(*args, out=out, dtype=dtype), order, out)
        return self._masked(args, out, where, casting, order, dtype)

    def _cast(self, args, out, casting, dtype):
        """Operands in the dtypes of the loop that NumPy's rules choose; TypeError where ``casting`` forbids one."""
        kinds = [a.dtype if isinstance(a, (ndarray, np.generic)) else type(a) for a in args]
        wanted = None if out is None else out.dtype
        fixed = {} if dtype is None else {"signature": (None,) * self.nin + (np.dtype(dtype),)}
        loop = self._numpy.resolve_dtypes((*kinds, wanted), casting=casting, **fixed)
        return [
            a.astype(d) if isinstance(a, (ndarray, np.generic)) and a.dtype != d else a
            for a, d in zip(args, loop)
        ]

    def _masked(self, args, out, where, casting, order, dtype):
        if not isinstance(where, (ndarray, bool, np.bool_)):
            raise TypeError(
                f"{self.__name__}: where must be a treadle array of bool, not {type(where).__name__}; "
                "use treadle.asarray(mask)"
            )
        if isinstance(where, ndarray) and where.dtype != bool:
            raise TypeError(
                f"Cannot cast array data from {where.dtype!r} to dtype('bool') according to the rule 'safe'"
            )
        result = self._run(*args, dtype=dtype)
        if out is None:
            shape = np.broadcast_shapes(result.shape, getattr(where, "shape", ()))
            return _in_order(
                result if shape == result.shape else result._broadcast_to(shape).copy(), order, None
            )
        if not np.can_cast(result.dtype, out.dtype, casting):
            raise TypeError(
                f"Cannot cast ufunc '{self.__name__}' output from {result.dtype!r} to {out.dtype!r} "
                f"with casting rule '{casting}'"
            )
        copyto(out, result, "unsafe", where)
        return out

    # ---- methods of binary operations ----

    def _binary(self, method):
        if self.nin != 2:
            raise ValueError(f"{method} only supported for binary functions")

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
        """The operation between all elements along axes (all when ``axis`` is None)."""
        self._binary("reduce")
        array = own(array, f"{self.__name__}.reduce")
        if isinstance(out, tuple):
            (out,) = out
        if array.ndim == 0 and axis == 0:
            axis = ()
        axes = tuple(range(array.ndim)) if axis is None else axes_of(axis, array.ndim)
        if where is not True:
            array = self._neutral(array, where, initial, dtype)
        reduction = _REDUCTIONS.get(self.__name__)
        if reduction and not (initial is not None and self.identity is None and array.size == 0):
            options = (
                {} if dtype is None or self.__name__.startswith("logical") else {"dtype": dtype}
            )
            if options and self.identity is None:
                array, options = array.astype(dtype, copy=False), {}
            result = getattr(_treadle, reduction)(array, axes, keepdims=keepdims, **options)
        else:
            result = self._reduce_by_halves(array, axes, dtype, keepdims, initial)
        if initial is not None:
            result = self._run(result, initial)
        if out is None:
            return result
        copyto(out, result)
        return out

    def _neutral(self, array, where, initial, dtype):
        """``array`` with the identity where the mask is false."""
        neutral = self.identity if initial is None else initial
        if neutral is None:
            raise ValueError(
                f"reduction operation '{self.__name__}' does not have an identity, so to use a where mask one has "
                "to specify 'initial'"
            )
        shape = np.broadcast_shapes(array.shape, where.shape)
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        return _treadle.where(where, array, neutral)._broadcast_to(shape)

    def _reduce_by_halves(self, array, axes, dtype, keepdims, initial):
        if len(axes) > 1 and self.__name__ not in _ASSOCIATIVE:
            raise ValueError(
                f"reduction operation '{self.__name__}' is not reorderable, so at most one axis may be specified"
            )
        kept = [k for k in range(array.ndim) if k not in axes]
        rest = [array.shape[k] for k in kept]
        lines = array.transpose([*axes, *kept])._reshape(
            [-1 if array.size else _count(array, axes), *rest]
        )
        n = lines.shape[0]
        if n == 0:
            neutral = self.identity if initial is None else initial
            if neutral is None:
                raise ValueError(
                    f"zero-size array to reduction operation {self.__name__} which has no identity"
                )
            result = _treadle.full(rest, neutral, dtype or self._run(lines, lines).dtype)
        elif self.__name__ in _ASSOCIATIVE:
            while (n := lines.shape[0]) > 1:
                half = n // 2
                both = self._run(lines[:half], lines[n - half :], dtype=dtype)
                lines = both if n % 2 == 0 else _joined(both, lines[half : half + 1])
            result = lines[0]
        else:
            result = lines[0]
            for k in range(1, n):
                result = self._run(result, lines[k], dtype=dtype)
        if dtype is not None:
            result = result.astype(dtype, copy=False)
        elif n == 1:
            result = result.astype(self._run(result, result).dtype)
        if keepdims:
            result = result._reshape(
                [1 if k in axes else array.shape[k] for k in range(array.ndim)]
            )
        return result

    def accumulate(self, array, axis=0, dtype=None, out=None):
        """The results of ``reduce`` over the first element, the first two, and so on along ``axis``."""
        self._binary("accumulate")
        array = own(array, f"{self.__name__}.accumulate")
        if array.ndim == 0:
            raise TypeError("cannot accumulate on a scalar")
        axis = axis_of(axis, array.ndim)
        scan = _SCANS.get(self.__name__)
        if scan:
            from ._scans import accumulate

            return accumulate(scan, array, axis, dtype, out)
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        lines = moveaxis(array, axis, 0)
        n = lines.shape[0]
        result = lines.astype(self._run(lines, lines).dtype)
        if self.__name__ in _ASSOCIATIVE:
            step = 1
            while step < n:
                result[step:] = self._run(result[:-step], result[step:])
                step *= 2
        else:
            for k in range(1, n):
                result[k] = self._run(result[k - 1], lines[k])
        result = moveaxis(result, 0, axis)
        if out is None:
            return result
        out = out[0] if isinstance(out, tuple) else out
        copyto(out, result)
        return out

    def outer(self, A, B, /, **kwargs):
        """The operation between every element of ``A`` and every element of ``B``."""
        self._binary("outer")
        if isinstance(A, ndarray):
            A = A._reshape(A.shape + (1,) * getattr(B, "ndim", 0))
        return self(A, B, **kwargs)

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        """The reductions of ``array[indices[i]:indices[i + 1]]`` along ``axis``; the last goes to the end.

        Where the next index is not larger, the result is the element itself. IndexError for indices out of bounds; a
        treadle array of indices is waited for.
        """
        self._binary("reduceat")
        array = own(array, f"{self.__name__}.reduceat")
        if array.ndim == 0:
            raise TypeError("cannot reduceat on a scalar")
        from ._ufunc_segments import reduceat

        dtype = None if dtype is None else np.dtype(dtype)
        result = reduceat(self, self.__name__ in _ASSOCIATIVE, array, indices, axis, dtype)
        if out is None:
            return result
        out = out[0] if isinstance(out, tuple) else out
        copyto(out, result)
        return out

    def at(self, a, indices, b=None, /):
        """``a[indices] = op(a[indices], b)`` in place; an element that is named twice is changed twice, in order.

        ``b`` is a treadle array that broadcasts to ``a[indices]``, or a number. As in NumPy, each result is cast to the
        dtype of ``a``, whatever its own.
        """
        own(a, f"{self.__name__}.at")
        if (b is None) != (self.nin == 1):
            raise ValueError(
                f"second operand {'needed for ufunc' if b is None else 'provided when ufunc takes only one'}"
            )
        if not a.flags.writeable:
            raise ValueError("array is read-only")
        b = b if b is None or isinstance(b, ndarray) else _number(b)
        scatter = _SCATTERS.get(self.__name__)
        if scatter and a.dtype.kind in "iufc" and self._stays(a, b):
            if (
                self.__name__ == "subtract"
            ):  # the negative in the array's dtype: of unsigned integers it wraps
                b = -b if isinstance(b, ndarray) else np.negative(np.asarray(b, a.dtype))[()]
            getattr(_treadle, scatter)(a, indices, b)
            return
        from ._ufunc_segments import at

        at(self, a, indices, b)

    def _stays(self, a, b):
        """Does the operation of an array and ``b`` keep the array's dtype, without a cast of ``b``?"""
        if isinstance(b, ndarray):
            return b.dtype == a.dtype
        return self.resolve(a.dtype, b) == a.dtype

    def resolve(self, dtype, number):
        """The dtype that a number becomes when the operation meets an array of ``dtype``."""
        kind = number.dtype if isinstance(number, np.generic) else type(number)
        return self._numpy.resolve_dtypes((dtype, kind, None))[1]


# Operations that atomic updates do in any order; sums of floating-point numbers then differ in their last digits.
_SCATTERS = {
    "add": "scatter_add", "subtract": "scatter_add", "minimum": "scatter_min", "maximum": "scatter_max",
}  # fmt: skip


def _number(b):
    """A number, or host data, as a number or an array of the device."""
    if isinstance(b, (bool, int, float, complex, np.generic)):
        return b
    from ._creation import asarray

    return asarray(b)


def _count(array, axes):
    count = 1
    for k in axes:
        count *= array.shape[k]
    return count


def _joined(a, b):
    from ._manipulation import concatenate

    return concatenate([a, b])


def _in_order(result, order, out):
    if out is not None or order in ("K", None):
        return result
    if order not in ("C", "F", "A"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    wrong = not (result.flags.f_contiguous if order == "F" else result.flags.c_contiguous)
    return result.copy(order) if wrong and order != "A" else result


def operations():
    """{name: function} of every operation; those that NumPy has as a ufunc are ufuncs."""
    rows = {row["name"]: row for row in _treadle._operation_rows()}
    aliases = _treadle._operation_aliases
    made = {}
    for name in _treadle.operations:
        run = getattr(_treadle, name)
        row = rows[aliases.get(name, name)]
        oracle = getattr(np, row["numpy"], None)
        if isinstance(oracle, np.ufunc) and oracle.nout == 1:
            first = aliases.get(name, name)
            made[name] = made.get(first) or ufunc(first, run, oracle, run.__doc__)
        else:
            made[name] = run
    return made
