"""CUDA C++ beside Python kernels, and what a kernel compiles to."""

import re

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle.cuda import types as ty


@cuda.jit(device=True)
def plus(a, b):
    return a + b


TIMES = """
extern "C" __device__ int times(int* result, int a, int b) { *result = a * b; return 0; }
extern "C" __device__ float half_of(float a) { return a / 2; }
extern "C" __device__ int total(double* result, void*, void*, long long n, long long size, double* data,
                                long long shape, long long stride) {
  *result = 0;
  for (long long i = 0; i < shape; ++i) *result += *(double*)((char*)data + i * stride);
  return 0;
}
"""


def test_functions_of_a_text():
    source = cuda.CUSource(TIMES)
    times = cuda.declare_device("times", "int32(int32, int32)", link=source)
    half_of = cuda.declare_device("half_of", ty.float32(ty.float32), link=[source], abi="c")
    total = cuda.declare_device("total", "float64(float64[:])", link=source)

    @cuda.jit(device=True)
    def inner(x):
        return times(x, 3) + times(x, 1)

    @cuda.jit
    def kernel(x, y, out):
        out[0] = inner(x[1])
        out[1] = half_of(x[1])
        out[2] = total(y[::2])

    out = td.zeros(3)
    kernel[1, 1](td.asarray([1, 5], np.int32), td.arange(6.0), out)
    assert out.get().tolist() == [20, 2.5, 6]


def test_functions_of_a_file_with_its_headers(tmp_path):
    (tmp_path / "three.h").write_text("#define THREE 3\n")
    (tmp_path / "triple.cu").write_text(
        '#include "three.h"\nextern "C" __device__ int triple(int* r, int a) { *r = THREE * a; return 0; }\n'
    )
    triple = cuda.declare_device("triple", "int32(int32)")

    @cuda.jit(link=[str(tmp_path / "triple.cu")])
    def kernel(out):
        out[0] = triple(5)

    out = td.zeros(1)
    kernel[1, 1](out)
    assert out.get()[0] == 15


OWN_TYPES = """
// only here: first_bits(float)
extern "C" __device__ int doubled(unsigned* result, unsigned a) { *result = 2 * a; return 0; }
extern "C" __device__ int by_reference(long long& result, const double* a) { result = (long long)a[1]; return 0; }
struct Half { unsigned short bits; };
extern "C" __device__ Half negated(Half h) { return Half{(unsigned short)(h.bits ^ 0x8000)}; }
extern "C" __device__ int stored(void*, int* flag) { *flag += 1; return 0; }
__device__ unsigned long long plain(unsigned long long a) { return a + 1; }
template <class T> __device__ T* data_of(T* data) { return data; }
extern "C" __device__ const double* doubles(void*, void*, long, long, double* data, long, long) { return data; }
extern "C" __device__ void* words(void*, void*, long, long, void* data, long, long) { return data_of(data); }
"""


def test_a_function_may_name_the_same_bits_by_other_types(also_by_nvrtc):
    source = cuda.CUSource(OWN_TYPES)
    doubled = cuda.declare_device("doubled", "int32(int32)", link=source)
    by_reference = cuda.declare_device(
        "by_reference", ty.int64(ty.CPointer(ty.float64)), link=source
    )
    negated = cuda.declare_device("negated", "float16(float16)", link=source, abi="c")
    stored = cuda.declare_device("stored", ty.void(ty.CPointer(ty.uint32)), link=source)
    plain = cuda.declare_device("plain", "int64(int64)", link=source, abi="c")
    address = ty.CPointer(ty.float64)(ty.float64[:])
    doubles = cuda.declare_device("doubles", address, link=source, abi="c")
    address = ty.CPointer(ty.uint32)(ty.uint32[:])
    words = cuda.declare_device("words", address, link=source, abi="c")

    @cuda.jit
    def kernel(out, values, flag, half):
        out[0] = doubled(21)
        out[1] = by_reference(doubles(values))
        half[0] = negated(half[0])
        stored(words(flag))
        out[2] = plain(-5)

    out, flag = td.zeros(3, np.int64), td.zeros(1, np.uint32)
    half = td.asarray([1.5], np.float16)
    kernel[1, 1](out, td.asarray([3.0, 7.0]), flag, half)
    assert out.get().tolist() == [42, 7, -4] and flag.get()[0] == 1 and half.get()[0] == -1.5
    also_by_nvrtc(kernel)


@pytest.mark.parametrize(
    "signature, words",
    [
        ("int32(int32, int32)", "another number of parameters"),
        ("int32(int64)", "another size than declared"),
        ("int32(float32)", "of another kind than declared"),
    ],
)
def test_a_declaration_of_other_bits_is_refused(signature, words):
    wrong = cuda.declare_device("doubled", signature, link=cuda.CUSource(OWN_TYPES))
    count = len(wrong.signature.args)

    @cuda.jit
    def kernel(out):
        out[0] = wrong(1) if count == 1 else wrong(1, 2)

    with pytest.raises(td.errors.CompileError, match=words):
        kernel[1, 1](td.zeros(1))


def test_mistakes_of_a_linked_text_name_its_line(tmp_path):
    (tmp_path / "wrong.cu").write_text(
        '\n\nextern "C" __device__ int wrong() { return nothing; }\n'
    )
    wrong = cuda.declare_device("wrong", "int32()", link=str(tmp_path / "wrong.cu"), abi="c")

    @cuda.jit
    def kernel(out):
        out[0] = wrong()

    with pytest.raises(td.errors.CompileError, match=r"wrong\.cu.*3"):
        kernel[1, 1](td.zeros(1))


def test_what_cannot_be_declared():
    with pytest.raises(TypeError, match="Return type required"):
        cuda.declare_device("f", (ty.float32,))
    with pytest.raises(NotImplementedError, match="abi must be 'numba' or 'c'"):
        cuda.declare_device("f", "int32()", abi="fortran")
    with pytest.raises(RuntimeError, match=r"how to link file with extension \.foo"):
        cuda.jit(link=["x.foo"])(plus.py_func)
    with pytest.raises(RuntimeError, match="call it from a kernel"):
        cuda.declare_device("f", "int32()")()

    @cuda.jit(link=[cuda.PTXSource(b"")])
    def kernel():
        pass

    with pytest.raises(NotImplementedError, match=r"give the CUDA C[+][+] source"):
        kernel[1, 1]()


def test_source_of_a_kernel():
    @cuda.jit
    def kernel(x):
        x[0] = plus(x[0], 1)

    kernel[1, 1](td.zeros(1))
    (text,) = kernel.inspect_source().values()
    assert "__global__ void py__kernel(" in text and "test_jit_linking.py" in text
    assert kernel.inspect_source((ty.float64[::1],)) == text
    assert "plus(float a_, float b_)" in cuda.compile_source(
        plus, (ty.float32, ty.float32), device=True
    )
    with pytest.raises(TypeError, match="must have void return type"):
        cuda.compile_source(kernel, "int32(float32[:])")
    with pytest.raises(RuntimeError, match="Cannot inspect SASS of a device function"):
        plus.inspect_sass((ty.int32, ty.int32))


def test_ptx_comes_from_nvrtc():
    try:
        ptx, result = cuda.compile_ptx(
            plus, (ty.float32, ty.float32), device=True, abi_info={"abi_name": "mine"}
        )
    except RuntimeError as error:
        pytest.skip(f"no NVRTC: {error}")
    assert (
        result == ty.float32
        and re.search(r"\.func[^;{]*mine", ptx)
        and "add.f32" in ptx
        and ".target sm_75" in ptx
    )

    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] = 1

    kernel[1, 1](td.zeros(1))
    assert ".entry py__kernel" in next(iter(kernel.inspect_asm().values()))
    fresh, _ = cuda.compile_ptx(kernel, "void(float64[:])", cc=(9, 0))
    assert ".target sm_90" in fresh
