"""Operations as objects with NumPy's ufunc interface: ``treadle.add(x, y, where=m)``, ``treadle.add.reduce(x)``.

An operation that is a ufunc in NumPy is a ``ufunc`` here; its loops, dtypes and casts are those of tables/ops.def.
"""

import numpy as np

from . import _treadle
from ._manipulation import axes_of, axis_of, copyto, own
from ._treadle import ndarray
from ._ufunc_lines import ASSOCIATIVE, accumulate_lines, count_along, reduce_lines

_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_SCANS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}
_ABSENT = object()


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

    def reduce(
        self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_ABSENT, where=True
    ):
        """The operation between all elements along axes (all when ``axis`` is None).

        ``initial`` stands in front of the elements, in the place of the identity; None says that there is none.
        ``where`` leaves elements out. The result is cast to any dtype of ``out``.
        """
        self._binary("reduce")
        array, out = own(array, f"{self.__name__}.reduce"), _single(out)
        if array.ndim == 0 and axis in (0, -1):
            axis = ()
        axes = tuple(range(array.ndim)) if axis is None else axes_of(axis, array.ndim)
        dtype = self._computed_dtype(array, dtype, out)
        if self.__name__ not in _REDUCTIONS:
            self._check_loop(array.dtype if dtype is None else dtype)
        where = where if where is True or isinstance(where, ndarray) else _mask(where)
        if where is not True:
            array = array._broadcast_to(np.broadcast_shapes(array.shape, where.shape))
        identity = self.identity if initial is _ABSENT else None
        initial = None if initial is _ABSENT else initial
        if initial is None and identity is None:
            self._check_not_empty(array, axes, where)
        result = self._reduced(array, axes, dtype, keepdims, initial, where)
        return _delivered(result, out)

    def _computed_dtype(self, array, dtype, out):
        """NumPy's rule: without ``dtype`` it is what the array and the output have in common."""
        if dtype is not None or out is None or self._gives_bool:
            return dtype
        return np.result_type(array.dtype, out.dtype)

    def _check_loop(self, dtype):
        """TypeError where the operation has no loop for elements of ``dtype``."""
        nothing = _treadle.empty((0,), dtype)
        self._run(nothing, nothing)

    @property
    def _gives_bool(self):
        return all(t.endswith("?") for t in self._numpy.types if "O" not in t)

    def _check_not_empty(self, array, axes, where):
        if where is not True:
            raise ValueError(
                f"reduction operation '{self.__name__}' does not have an identity, so to use a where mask one has "
                "to specify 'initial'"
            )
        if count_along(array, axes) == 0:
            raise ValueError(
                f"zero-size array to reduction operation {self.__name__} which has no identity"
            )

    def _reduced(self, array, axes, dtype, keepdims, initial, where):
        reduction = _REDUCTIONS.get(self.__name__)
        if not reduction:
            return reduce_lines(self, array, axes, dtype, keepdims, initial, where)
        run = getattr(_treadle, reduction)
        if reduction in ("all", "any"):
            result = run(array, axes, keepdims=keepdims, where=where)
            return result if initial is None else self._run(result, initial)
        if reduction in ("sum", "prod"):
            return run(array, axes, dtype, None, keepdims, initial, where)
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        return run(array, axes, None, keepdims, initial, where)

    def accumulate(self, array, axis=0, dtype=None, out=None):
        """The results of ``reduce`` over the first element, the first two, and so on along ``axis``."""
        self._binary("accumulate")
        array, out = own(array, f"{self.__name__}.accumulate"), _single(out)
        if axis is None and array.ndim == 1:
            axis = 0
        if axis is None:
            raise ValueError("accumulate does not allow multiple axes; give one axis")
        axis = axis_of(axis, array.ndim or 1)
        if array.ndim == 0:
            raise TypeError("cannot accumulate on a scalar")
        scan = _SCANS.get(self.__name__)
        if scan:
            from ._scans import accumulate

            return accumulate(scan, array, axis, dtype, out)
        dtype = self._computed_dtype(array, dtype, out)
        return _delivered(accumulate_lines(self, array, axis, dtype), out)

    def outer(self, A, B, /, **kwargs):
        """The operation between every element of ``A`` and every element of ``B``."""
        self._binary("outer")
        A, B = (x if isinstance(x, ndarray) else np.asarray(x)[()] for x in (A, B))
        if isinstance(A, ndarray):
            A = A._reshape(A.shape + (1,) * B.ndim)
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

        dtype = self._computed_dtype(
            array, None if dtype is None else np.dtype(dtype), _single(out)
        )
        result = reduceat(self, self.__name__ in ASSOCIATIVE, array, indices, axis, dtype)
        return _delivered(result, _single(out))

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


def _single(out):
    """The output array of an operation with one result, which NumPy also takes as a tuple."""
    return out[0] if isinstance(out, tuple) else out


def _mask(where):
    from ._creation import asarray

    return asarray(np.asarray(where, dtype=bool))


def _delivered(result, out):
    """``result``, or ``out`` with it: what reduces is cast to any dtype."""
    if out is None:
        return result
    own(out, "out=")
    if out.shape != result.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the shape {result.shape}"
        )
    copyto(out, result, "unsafe")
    return out


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
