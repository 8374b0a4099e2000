"""Kernels from an expression: ``ElementwiseKernel``, ``ReductionKernel``, and ``fuse``."""

import functools
from collections import namedtuple

from . import _treadle

__all__ = ["ElementwiseKernel", "ReductionKernel", "fuse"]

ParameterInfo = namedtuple("ParameterInfo", "name ctype dtype raw is_const")


class _UserKernel:
    """What both kinds of kernel have in common: facts about their parameters and texts."""

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self._made_of = args, kwargs
        return self

    def __reduce__(self):
        args, kwargs = self._made_of
        return functools.partial(type(self), **kwargs), args

    def _set_parameters(self):
        self.in_params = tuple(ParameterInfo(**row) for row in self._kernel.in_params)
        self.out_params = tuple(ParameterInfo(**row) for row in self._kernel.out_params)
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.__name__ = self.name

    @property
    def cached_codes(self):
        """The CUDA C++ texts made so far: a dictionary from the parameters' dtypes to the text."""
        return dict(self._kernel.codes())

    _cached_codes = cached_codes

    @property
    def cached_code(self):
        """One of ``cached_codes``; KeyError before the first call."""
        codes = self.cached_codes
        if not codes:
            raise KeyError(f"kernel {self.name!r} has no text yet; it is made by the first call")
        return next(iter(codes.values()))

    def _count(self, args):
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}: it takes {self.nin}, or {self.nargs} with its "
                f"outputs, but got {len(args)}"
            )


def _on_stream(stream, run):
    if stream is None:
        return run()
    with stream:
        return run()


class ElementwiseKernel(_UserKernel):
    """A kernel from the expression for one element.

    ``in_params`` and ``out_params`` list the parameters: ``"T x, raw U y, float32 z"``. A type of one letter
    is a placeholder that the arguments decide; ``raw`` hands the whole array to the expression, to be
    indexed as ``y[i]``. ``operation`` is CUDA C++ that reads the inputs and assigns the outputs; ``i`` is
    the index in C order, ``n`` the number of indices. ``preamble`` stands in front of the kernel,
    ``loop_prep`` and ``after_loop`` in front of and behind each thread's loop, ``options`` go to the
    compiler. ``reduce_dims`` is accepted: axes are merged where that changes nothing.

    Call it with the inputs, or with inputs and outputs. Inputs broadcast as in NumPy, whatever their layout;
    an output overlapping an input acts as if all inputs had been read first. ``size=`` gives the number
    of indices when every array is raw.

    Raises TypeError for a dtype that does not match or cannot be inferred, ValueError for shapes, ``size``
    and read-only outputs, CompileError with the expression's own line.
    """

    def __init__(
        self, in_params, out_params, operation, name="kernel", reduce_dims=True, preamble="", no_return=False,
        return_tuple=False, *, options=(), loop_prep="", after_loop="",
    ):  # fmt: skip
        self._kernel = _treadle._ElementwiseKernel(
            in_params, out_params, operation, name, preamble, loop_prep, after_loop, list(options)
        )
        self.operation, self.name, self.reduce_dims, self.preamble = (
            operation,
            name,
            reduce_dims,
            preamble,
        )
        self.no_return, self.return_tuple = no_return, return_tuple
        self.kwargs = {
            key: value
            for key, value in (
                ("options", options),
                ("loop_prep", loop_prep),
                ("after_loop", after_loop),
            )
            if value
        }
        self._set_parameters()

    def __call__(self, *args, size=None, block_size=128, stream=None):
        self._count(args)
        if size is not None and size < 0:
            raise ValueError(f"size is {size}; it must not be negative")
        call = functools.partial(
            self._kernel.__call__, args, -1 if size is None else size, block_size
        )
        outputs = _on_stream(stream, call)
        if self.no_return:
            return None
        return outputs[0] if self.nout == 1 and not self.return_tuple else outputs

    def __repr__(self):
        return f"<treadle.ElementwiseKernel {self.name}>"


class ReductionKernel(_UserKernel):
    """A reduction from three expressions.

    ``map_expr`` makes a value of one element, ``reduce_expr`` combines two values ``a`` and ``b`` (it must
    not care about order), ``post_map_expr`` assigns the outputs from the result ``a``. ``identity`` is the
    neutral value, or None: an empty reduction is then a ValueError. ``reduce_type`` is the type of
    ``a`` and ``b``, by default that of the first output.

    Call it with the inputs (or inputs and output), ``axis=`` (None, an int or a tuple), ``keepdims=`` and
    ``out=``. Arrays of any layout are read in place. The order in which elements are combined depends on
    shapes and device only, so that a result repeats exactly.

    Raises TypeError, ValueError, AxisError and CompileError as ``ElementwiseKernel`` does.
    """

    def __init__(
        self, in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name="reduce_kernel",
        reduce_type=None, reduce_dims=True, preamble="", options=(),
    ):  # fmt: skip
        self._kernel = _treadle._ReductionKernel(
            in_params, out_params, map_expr, reduce_expr, post_map_expr,
            None if identity is None else str(identity), name, reduce_type or "", preamble, list(options),
        )  # fmt: skip
        self.name, self.reduce_dims, self.preamble, self.options = (
            name,
            reduce_dims,
            preamble,
            options,
        )
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = "" if identity is None else str(identity)
        self._set_parameters()
        self.reduce_type = self.out_params[0].ctype if reduce_type is None else reduce_type

    def __call__(self, *args, out=None, axis=None, keepdims=False, stream=None):
        self._count(args)
        if out is not None:
            if len(args) != self.nin:
                raise ValueError("cannot specify 'out' as both a positional and a keyword argument")
            args += tuple(out) if isinstance(out, tuple) else (out,)
            self._count(args)
        outputs = _on_stream(
            stream, functools.partial(self._kernel.__call__, args, axis, bool(keepdims))
        )
        return outputs[0] if self.nout == 1 else outputs

    def __repr__(self):
        return f"<treadle.ReductionKernel {self.name}>"


def fuse(*args, **kwargs):
    """Decorator that other libraries need to make one kernel of a function of arrays.

    Treadle fuses array expressions without being asked, so the function is returned as it is, with a
    ``clear_cache`` method. ``kernel_name=`` names it; lambdas can be given directly: ``fuse(lambda x: x * x + 1)``.
    """
    kernel_name = kwargs.pop("kernel_name", None)
    if kwargs:
        raise TypeError(f"fuse() got an unexpected keyword argument {next(iter(kwargs))!r}")
    if len(args) > 1 or (args and not callable(args[0])):
        raise TypeError("fuse() takes one function, or keywords only")

    def wrap(function):
        @functools.wraps(function)
        def fused(*values):
            return function(*values)

        if kernel_name is not None:
            fused.__name__ = kernel_name
        fused.clear_cache = lambda: None
        return fused

    return wrap(args[0]) if args else wrap


# ---- pickling: a kernel is its texts ----


def _make_raw_kernel(code, name, options, cooperative):
    return _treadle.RawKernel(code, name, options, enable_cooperative_groups=cooperative)


def _make_raw_module(code, options, expressions, cooperative):
    return _treadle.RawModule(
        code, options=options, name_expressions=expressions, enable_cooperative_groups=cooperative
    )


_treadle.RawKernel.__reduce__ = lambda self: (
    _make_raw_kernel,
    (self.code, self.name, self.options, self.enable_cooperative_groups),
)


def _make_module_from_image(image, file_name, cooperative):
    return _treadle._module_from_image(image, file_name, cooperative)


def _reduce_module(self):
    if not self.code:
        return _make_module_from_image, (
            self.image, self._file_name, self.enable_cooperative_groups,
        )  # fmt: skip
    return _make_raw_module, (
        self.code, self.options, self.name_expressions, self.enable_cooperative_groups,
    )  # fmt: skip


_treadle.RawModule.__reduce__ = _reduce_module
