"""cuda.jit: what a mistake is told. Every message has the place, the line with a caret, types and a cure."""

import functools
import linecache
import math
import random
import traceback

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle.errors import CompileError

numbers = [1, 2, 3]
table = {"a": 1}


class Thing:
    def method(self):
        return 1


thing = Thing()


@cuda.jit(device=True)
def scaled(x, by=2):
    return x * by


@cuda.jit
def one_kernel(a):
    a[0] = 1


def refused(body, *args, kind=CompileError):
    with pytest.raises(kind) as caught:
        cuda.jit(body)[1, 1](*(args or (td.zeros(4),)))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert len(frames) <= 4, frames  # no trace of the compiler's own calls
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    return str(caught.value)


# Each: the body; the marked text of its line; what the message says; the cure.


def run_time_shape(a):
    s = cuda.shared.array(cuda.blockDim.x, np.int32)
    s[0] = 1


def run_time_shape_of_a_tuple(a):
    n = a.shape[0]
    s = cuda.local.array((n, 2), np.int32)
    s[0, 0] = 1


def run_time_axes(a):
    i = cuda.grid(a.shape[0])
    a[i] = 1


def alignment_as_text(a):
    s = cuda.local.array(4, np.int32, "16")
    a[0] = s[0]


def alignment_of_three(a):
    s = cuda.local.array(4, np.int32, 3)
    a[0] = s[0]


def unknown_dtype(a):
    s = cuda.local.array(4, "int33")
    a[0] = s[0]


def vote_with_a_float_mask(a):
    a[0] = cuda.all_sync(a[0], 1)


def vote_of_a_float(a):
    a[0] = cuda.ballot_sync(0xFFFFFFFF, a[0])


def hinted_load_at_a_float(a):
    a[0] = cuda.ldcs(a, 1.0)


def hinted_load_with_two_indices(a):
    a[0] = cuda.ldcs(a, (1, 2))


@cuda.jit(device=True)
def tower(n):
    if n <= 0:
        return None
    return n, tower(n - 1)


@cuda.jit(device=True)
def only_itself(n):
    return only_itself(n)


def returns_a_growing_tuple(a):
    tower(100)


def runs_away(a):
    only_itself(1)


def returns(a):
    return a[0]


def unsupported_object(a):
    a[0] = thing.method()


def unsupported_global(a):
    a[0] = numbers[cuda.threadIdx.x]


def changes_type(a):
    x = 0
    for i in range(3):
        x = (i, i)
    a[0] = x


def misses_argument(a):
    a[0] = scaled()


def too_many_arguments(a):
    a[0] = scaled(1, 2, 3)


def unknown_keyword(a):
    a[0] = scaled(1, bye=3)


def makes_list(a):
    x = [1, 2]
    a[0] = x[0]


def makes_dict(a):
    x = {"a": 1}
    a[0] = x["a"]


def makes_set(a):
    x = {1, 2}
    a[0] = 1 in x


def calls_list(a):
    x = list()  # noqa: C408
    a[0] = x


def formats(a):
    print(f"x = {a[0]}")


def formats_by_percent(a):
    print("x = %d" % a[0])  # noqa: UP031


def formats_by_method(a):
    print("x = {}".format(a[0]))  # noqa: UP032


def float_index(a):
    a[cuda.grid(1) / 2] = 1


def unknown_array_attribute(a):
    a[0] = a.shpae[0]


def unknown_name_of_cuda(a):
    i = cuda.threadidx.x
    a[i] = 1


def unknown_call_of_cuda(a):
    cuda.syncthread()


def unknown_name_of_math(a):
    a[0] = math.sqr(2.0)


def undefined_name(a):
    index = 0
    a[index] = idnex  # noqa: F821


def undefined_global(a):
    a[0] = scalde(1)  # noqa: F821


def read_before_assigned(a):
    a[0] = y  # noqa: F821
    y = 1  # noqa: F841


def allocates(a):
    x = np.zeros(3)
    a[0] = x[0]


def sums(a):
    a[0] = sum(a)


def whole_arrays(a):
    a[0] = (a + 1)[0]


def compares_arrays(a):
    if a == 1:
        a[0] = 1


def stores_an_array(a):
    a[0] = a


def too_many_indices(a):
    a[0, 1] = 1


def catches(a):
    try:  # noqa: SIM105
        a[0] = 1
    except ValueError:
        pass


def with_block(a):
    with a:
        pass


def yields(a):
    yield a[0]


def defines_a_class(a):
    class Inner:
        pass


def defines_a_function(a):
    def inner(x):
        return x

    a[0] = inner(1)


def has_a_lambda(a):
    f = lambda x: x  # noqa: E731
    a[0] = f(1)


def imports(a):
    import math as m

    a[0] = m.pi


def declares_a_global(a):
    global numbers
    numbers = 1


def comprehends(a):
    x = [i for i in range(3)]  # noqa: C416
    a[0] = x[0]


async def is_async(a):
    a[0] = 1


def launches(a):
    one_kernel[1, 1](a)


def draws(a):
    a[0] = random.random()


def draws_with_numpy(a):
    a[0] = np.random.rand()


def iterates_over_a_number(a):
    for i in 5:
        a[i] = 1


def range_of_float(a):
    for i in range(2.5):
        a[i] = 1


def unpacks_wrongly(a):
    x, y = 1, 2, 3
    a[0] = x + y


def stores_complex(a):
    a[0] = 1j


def orders_complex(a):
    a[0] = 1j < 2j


def shifts_a_float(a):
    a[0] = a[0] << 1


def multiplies_matrices(a):
    a[0] = a @ a


def assigns_to_a_tuple(a):
    t = (1, 2)
    t[0] = 3


def tuple_index_too_large(a):
    a[0] = (1, 2)[5]


def indexes_mixed_tuple(a):
    t = (1, 2.5)
    a[0] = t[cuda.threadIdx.x]


def grid_of_four(a):
    a[0] = cuda.grid(4)


def step_of_zero(a):
    a[::0] = 1


def large_shared_array(a):
    s = cuda.shared.array(1_000_000, np.float32)
    s[0] = 1


def shape_is_float(a):
    s = cuda.shared.array(2.5, np.float32)
    s[0] = 1


def dtype_is_nothing(a):
    s = cuda.shared.array(4, "flaot")
    s[0] = 1


def atomic_on_a_number(a):
    cuda.atomic.add(a[0], 0, 1)


def atomic_of_a_dtype_without(a):
    cuda.atomic.and_(a, 0, 1)


def prints_an_array(a):
    print(a)


def raises_text(a):
    raise "no"  # noqa: B016


def double_star(a):
    a[0] = scaled(**table)


def assigns_attribute(a):
    a.shape = (1,)


def key_error(a):
    a[0] = table["b"]


def calls_a_number(a):
    a[0] = a[0](1)


MISTAKES = [
    (run_time_shape, "cuda.shared.array(cuda.blockDim.x, np.int32)", "must be a constant", "dynamic shared memory"),
    (run_time_shape_of_a_tuple, "cuda.local.array((n, 2), np.int32)", "must be a constant", "use a literal"),
    (run_time_axes, "cuda.grid(a.shape[0])", "RequireLiteralValue: cuda.grid takes the number of dimensions", ""),
    (alignment_as_text, 'cuda.local.array(4, np.int32, "16")', "RequireLiteralValue: alignment must be a constant", ""),
    (alignment_of_three, "cuda.local.array(4, np.int32, 3)", "Alignment must be a positive power of two", ""),
    (unknown_dtype, 'cuda.local.array(4, "int33")', "Invalid NumPy dtype specified: 'int33'", "use numpy.float32"),
    (vote_with_a_float_mask, "cuda.all_sync(a[0], 1)", "Mask type must be an integer, not float64", ""),
    (vote_of_a_float, "cuda.ballot_sync(0xFFFFFFFF, a[0])", "Predicate must be an integer or boolean", "compare it"),
    (hinted_load_at_a_float, "cuda.ldcs(a, 1.0)", "float64 is not a valid index", "an index is an integer"),
    (hinted_load_with_two_indices, "cuda.ldcs(a, (1, 2))", "Expected 1 indices, got 2", ""),
    (returns, "return a[0]", "must have void return type", "write the result to an array"),
    (unsupported_object, "thing.method()", "'Thing.method'", "call a function"),
    (unsupported_global, "numbers[cuda.threadIdx.x]", "global list", "use a tuple or an array"),
    (changes_type, "x", "'x' has type int64 on one path and UniTuple(int64 x 2) on another", "use two names"),
    (misses_argument, "scaled()", "misses its argument 'x'", ""),
    (too_many_arguments, "scaled(1, 2, 3)", "takes 2 arguments, not 3", ""),
    (unknown_keyword, "scaled(1, bye=3)", "no parameter 'bye'", ""),
    (makes_list, "[1, 2]", "a list cannot be used", "cuda.local.array"),
    (makes_dict, '{"a": 1}', "a dict cannot be used", "tuples"),
    (makes_set, "{1, 2}", "a set cannot be used", "use a tuple"),
    (calls_list, "list()", "'list' cannot be called", "cuda.local.array"),
    (formats, 'f"x = {a[0]}"', "string formatting", "print('x =', x)"),
    (formats_by_percent, '"x = %d" % a[0]', "operator % does not take", "print('x =', x)"),
    (formats_by_method, '"x = {}".format(a[0])', "'format'", "print('x =', x)"),
    (float_index, "a[cuda.grid(1) / 2]", "must be an integer, not float64", "use //"),
    (unknown_array_attribute, "a.shpae", "no attribute 'shpae'", "did you mean 'shape'?"),
    (unknown_name_of_cuda, "cuda.threadidx", "no attribute 'threadidx'", "did you mean 'threadIdx'?"),
    (unknown_call_of_cuda, "cuda.syncthread", "no attribute 'syncthread'", "did you mean 'syncthreads'?"),
    (unknown_name_of_math, "math.sqr", "module 'math' has no attribute 'sqr'", "did you mean 'sqrt'?"),
    (undefined_name, "idnex", "name 'idnex' is not defined", "did you mean 'index'?"),
    (undefined_global, "scalde", "name 'scalde' is not defined", "did you mean 'scaled'?"),
    (read_before_assigned, "y", "'y' is used before it is assigned", ""),
    (allocates, "np.zeros(3)", "'numpy.zeros' cannot be called", "cuda.local.array"),
    (sums, "sum(a)", "'sum' cannot be called", "write the loop"),
    (whole_arrays, "a + 1", "array(float64, 1d, C) and int64", "index the arrays"),
    (compares_arrays, "a == 1", "array(float64, 1d, C) and int64", "index the arrays"),
    (stores_an_array, "a[0]", "array(float64, 1d, C)", ""),
    (too_many_indices, "a[0, 1]", "2 indices for an array of 1 dimensions", ""),
    (catches, "try:", "try/except", "if"),
    (with_block, "with a:", "with cannot be used", ""),
    (yields, "yield a[0]", "yield cannot be used", "array"),
    (defines_a_class, "class Inner:", "class definition", "named tuple"),
    (defines_a_function, "def inner(x):", "a function inside the kernel", "outside of the kernel"),
    (has_a_lambda, "lambda x: x", "a lambda inside the kernel", "outside of the kernel"),
    (imports, "import math as m", "import cannot be used", "top of the file"),
    (declares_a_global, "global numbers", "global cannot be used", "array"),
    (comprehends, "[i for i in range(3)]", "list comprehension", "loop"),
    (is_async, "async def is_async(a):", "async", ""),
    (launches, "one_kernel[1, 1](a)", "cannot be launched in a kernel", "from the host"),
    (draws, "random.random()", "'Random.random'", "xoroshiro128p"),
    (draws_with_numpy, "np.random.rand()", "'RandomState.rand'", "xoroshiro128p"),
    (iterates_over_a_number, "5", "int64 cannot be iterated", ""),
    (range_of_float, "range(2.5)", "range takes integers, not float64", "int(…)"),
    (unpacks_wrongly, "x, y", "cannot unpack 3 values into 2 names", ""),
    (stores_complex, "a[0] = 1j", "a complex128 cannot become a float64", ".real"),
    (orders_complex, "1j < 2j", "comparison < does not take complex128", "abs()"),
    (shifts_a_float, "a[0] << 1", "operator << does not take float64 and int64", ""),
    (multiplies_matrices, "a @ a", "matrix product", "write the loops"),
    (assigns_to_a_tuple, "t[0]", "a tuple's items cannot be assigned", "cuda.local.array"),
    (tuple_index_too_large, "(1, 2)[5]", "tuple index 5 is out of range for 2 items", ""),
    (indexes_mixed_tuple, "t[cuda.threadIdx.x]", "indexed by a constant only", "literal_unroll"),
    (grid_of_four, "cuda.grid(4)", "a constant 1, 2 or 3", ""),
    (step_of_zero, "a[::0]", "step cannot be zero", ""),
    (large_shared_array, "cuda.shared.array(1_000_000, np.float32)", "4000000 bytes", ""),
    (shape_is_float, "cuda.shared.array(2.5, np.float32)", "must be integers, not 2.5", ""),
    (dtype_is_nothing, 'cuda.shared.array(4, "flaot")', "Invalid NumPy dtype specified: 'flaot'", "float32"),
    (atomic_on_a_number, "cuda.atomic.add(a[0], 0, 1)", "takes an array, not float64", ""),
    (atomic_of_a_dtype_without, "cuda.atomic.and_(a, 0, 1)", "arrays of float64", ""),
    (prints_an_array, "print(a)", "print does not take array(float64, 1d, C)", "print numbers"),
    (raises_text, '"no"', "raise takes an exception class", ""),
    (double_star, "scaled(**table)", "** in a call", "write the keywords out"),
    (assigns_attribute, "a.shape", "cannot be assigned", ""),
    (key_error, 'table["b"]', "KeyError: 'b'", ""),
    (calls_a_number, "a[0](1)", "a value of type float64 cannot be called", "operator"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m[0].__name__)
def test_a_mistake_is_told_with_its_line_a_caret_and_a_cure(mistake):
    body, marked, what, cure = mistake
    text = refused(body)
    assert what in text
    assert cure in text
    first, line, caret, *_ = text.split("\n")
    number = int(first.split(":")[1])
    assert first.startswith(f"{__file__}:{number}: in kernel '{body.__name__}'")
    assert line == "  " + linecache.getline(__file__, number).rstrip()
    begin = len(caret) - len(caret.lstrip())
    assert line[begin:].startswith(marked)


def test_an_error_in_a_device_function_tells_who_called():
    @cuda.jit(device=True)
    def inner(x):
        return x.foo

    def outer(a):
        a[0] = inner(a[0])

    text = refused(outer)
    assert "in device function 'inner': 'x' of type float64 has no attribute 'foo'" in text
    assert "in kernel 'outer': called from here" in text and "inner(a[0])" in text


def test_what_a_launch_is_given():
    a = td.zeros(4)

    def told(kind, text, config, *args):
        with pytest.raises(kind) as caught:
            one_kernel[config](*(args or (a,)))
        assert text in str(caught.value)

    told(
        ValueError,
        "griddim must be a sequence of 1, 2 or 3 integers, got [1, 2, 3, 4]",
        ((1, 2, 3, 4), 1),
    )
    told(ValueError, "blockdim must be a sequence of 1, 2 or 3 integers, got []", (1, ()))
    told(TypeError, "griddim must be a sequence of integers, got [2.0]; use //", (2.0, 3))
    told(TypeError, "blockdim must be a sequence of integers, got [None]", (1, None))
    told(ValueError, "griddim must be positive, got [-1]", (-1, 1))
    told(ValueError, "grid dimension x is 0", (0, 1))
    told(ValueError, "block dimension x is 0", (1, 0))
    told(ValueError, "2000 threads, 976 more than this device's limit of 1024", (1, 2000))
    told(ValueError, "kernel[griddim, blockdim]", (1,))
    told(ValueError, "not kernel[1, 1, 0, 0, 0]", (1, 1, 0, 0, 0))
    told(TypeError, "dynamic shared memory are an integer, not 1.5", (1, 1, 0, 1.5))
    told(ValueError, "1000000 bytes of dynamic shared memory", (1, 1, 0, 10**6))
    told(TypeError, "__cuda_stream__", (1, 1, "stream"))
    told(TypeError, "too many positional arguments", (1, 1), a, a)
    told(TypeError, "cannot take a list", (1, 1), [1, 2])
    told(TypeError, "'a' of type int64 has no items that can be assigned", (1, 1), 3)
    with pytest.raises(TypeError, match="missing a required argument: 'a'"):
        one_kernel[1, 1]()
    with pytest.raises(ValueError, match="launch configuration was not specified"):
        one_kernel(a)
    with pytest.raises(RuntimeError, match="'scaled' is a device function; call it from a kernel"):
        scaled[1, 1](1)
    one_kernel[1, 1](a)
    assert a.tolist() == [1, 0, 0, 0]


def test_what_jit_is_given():
    for wrong in (len, Thing, functools.partial(len), 5):
        with pytest.raises(TypeError, match=r"cuda\.jit takes"):
            cuda.jit(wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'fastmaht'"):
        cuda.jit(fastmaht=True)
    with pytest.raises(TypeError, match="'flaot32' is no type"):
        cuda.jit("void(flaot32[:])")
    with pytest.raises(TypeError, match="cannot be read"):
        cuda.jit("void(float32[:]")
    with pytest.raises(TypeError, match="void return type"):
        cuda.jit("int32(int32)")(returns)
    with pytest.raises(
        TypeError, match=r"No matching definition for argument type\(s\) array\(float64, 1d, C\)"
    ):
        cuda.jit("void(int32[::1])")(one_kernel.py_func)[1, 1](td.zeros(4))


def test_a_signature_tells_mistakes_at_the_decorator():
    with pytest.raises(CompileError, match="no attribute 'shpae'") as caught:
        cuda.jit("void(float64[:])")(unknown_array_attribute)
    assert len(traceback.extract_tb(caught.value.__traceback__)) <= 4


def test_sources_of_notebook_cells_and_none():
    scope = {"cuda": cuda}
    cell = "@cuda.jit\ndef cell(a):\n    a[0] = a.foo\n"
    name = "<ipython-input-7-0123456789ab>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
    exec(compile(cell, name, "exec"), scope)
    with pytest.raises(CompileError) as caught:
        scope["cell"][1, 1](td.zeros(1))
    assert str(caught.value).startswith(f"{name}:3: in kernel 'cell'")
    assert "    a[0] = a.foo\n" in str(caught.value)
    exec("@cuda.jit\ndef lost(a):\n    a[0] = 1\n", scope)
    with pytest.raises(
        CompileError, match=r"source of kernel 'lost' cannot be read .* not by exec\(\)"
    ):
        scope["lost"][1, 1](td.zeros(1))


def test_functions_behind_decorators_and_star_parameters():
    def passes(function):
        @functools.wraps(function)
        def inner(*args):
            return function(*args)

        return inner

    @cuda.jit
    @passes
    def wrapped(a, b):
        a[0] = b

    @cuda.jit
    def several(a, *rest):
        a[0] = len(rest)
        for x in rest:
            a[1] += x

    @cuda.jit
    def keywords(a, *, b=2.5):
        a[0] = b

    a = td.zeros(2)
    wrapped[1, 1](a, 5)
    assert a.tolist() == [5, 0]
    several[1, 1](a, 1, 2.5, 3)
    assert a.tolist() == [3, 6.5]
    several[1, 1](a)
    assert a.tolist() == [0, 6.5]
    keywords[1, 1](a)
    assert a[0].item() == 2.5
    keywords[1, 1](a, b=4)
    assert a[0].item() == 4


def test_recursion_without_a_type_is_told_at_the_function():
    text = refused(returns_a_growing_tuple)
    assert "in device function 'tower': Return type of recursive function does not converge" in text
    text = refused(runs_away)
    assert "in device function 'only_itself': cannot type infer runaway recursion" in text
    assert "return a value that does not call the function" in text
