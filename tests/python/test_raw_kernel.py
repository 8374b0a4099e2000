"""RawKernel and RawModule: launches, and every argument checked against the kernel's own signature.

The public reports whose right value is tested here are named by repository and number.
"""

import numpy as np
import pytest
import treadle as td
from treadle import cuda

REFUSED = (TypeError, ValueError)

SOURCE = r"""
extern "C" __global__ void store_float(float* o, float v) { o[0] = v; }
extern "C" __global__ void store_double(double* o, double v) { o[0] = v; }
extern "C" __global__ void store_int(int* o, int v) { o[0] = v; }
extern "C" __global__ void store_byte(unsigned char* o, unsigned char v) { o[0] = v; }
extern "C" __global__ void store_bool(unsigned char* o, bool v) { o[0] = v ? 1 : 0; }
extern "C" __global__ void store_long(long long* o, long long v) { o[0] = v; }
extern "C" __global__ void fifth(float* o, const float* p) { o[0] = p[4]; }
extern "C" __global__ void store_four(float* o, const int4 t) { o[0] = t.x; o[1] = t.y; o[2] = t.z; o[3] = t.w; }
extern "C" __global__ void where_am_i(int* o) {
  o[0] = gridDim.x; o[1] = gridDim.y; o[2] = gridDim.z; o[3] = blockDim.x; o[4] = blockDim.y; o[5] = blockDim.z;
}
extern "C" __global__ void is_null(int* o, const float* p) { o[0] = p == nullptr; }
extern "C" __global__ void add_one(int* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] += 1;
}
extern "C" __global__ void use_dynamic(int* o) {
  extern __shared__ int room[];
  room[threadIdx.x] = threadIdx.x;
  __syncthreads();
  o[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def module():
    return td.RawModule(code=SOURCE)


@pytest.fixture
def kernel(module):
    return module.get_function


# ---- scalars are converted to the parameter's type when exact ----


@pytest.mark.parametrize(
    "name, dtype, given, stored",
    [
        ("store_float", np.float32, 2.0, 2.0),  # cupy/cupy#8485
        ("store_float", np.float32, 0.1, np.float32(0.1)),
        ("store_float", np.float32, np.float32(2.5), 2.5),
        ("store_float", np.float32, 7, 7.0),
        ("store_double", np.float64, 2.0, 2.0),
        ("store_double", np.float64, 7, 7.0),  # an int into a double, same report
        ("store_int", np.int32, -5, -5),
        ("store_int", np.int32, np.int32(-5), -5),
        ("store_int", np.int32, True, 1),
        ("store_byte", np.uint8, 255, 255),
        ("store_bool", np.uint8, True, 1),
        ("store_long", np.int64, 2**62 + 1, 2**62 + 1),
        ("store_long", np.int64, np.int64(-(2**62)), -(2**62)),
    ],
)
def test_scalar_arrives(kernel, name, dtype, given, stored):
    out = td.zeros(1, dtype)
    kernel(name)((1,), (1,), (out, given))
    assert out.item() == stored


@pytest.mark.parametrize(
    "name, dtype, given",
    [
        ("store_int", np.int32, 2.5),
        ("store_int", np.int32, 2**31),
        ("store_int", np.int32, "7"),
        ("store_byte", np.uint8, 256),
        ("store_byte", np.uint8, -1),
        ("store_long", np.int64, 2**63),
        ("store_float", np.float32, 1j),
        ("store_int", np.int32, [1]),
    ],
)
def test_scalar_that_does_not_fit_is_refused(kernel, name, dtype, given):
    out = td.full(1, 77, dtype)
    with pytest.raises((*REFUSED, OverflowError)) as caught:
        kernel(name)((1,), (1,), (out, given))
    assert "'v'" in str(caught.value) or "argument 1" in str(caught.value)
    assert out.item() == 77


def test_scalar_of_another_exact_type_is_refused(kernel):
    out = td.full(1, 77, np.float32)
    with pytest.raises(REFUSED, match="v"):
        kernel("store_float")((1,), (1,), (out, np.float64(0.1)))
    assert out.item() == 77


def test_struct_by_value_is_aligned(kernel):
    """inducer/pycuda#484: int4 is aligned to 16 bytes, so the parameter starts at offset 16."""
    four = np.array((1, 2, 3, 4), dtype=[("x", "i4"), ("y", "i4"), ("z", "i4"), ("w", "i4")])
    out = td.zeros(4, np.float32)
    kernel("store_four")((1,), (1,), (out, four))
    assert td.asnumpy(out).tolist() == [1, 2, 3, 4]


def test_struct_of_another_size_is_refused(kernel):
    three = np.array((1, 2, 3), dtype=[("x", "i4"), ("y", "i4"), ("z", "i4")])
    with pytest.raises(REFUSED):
        kernel("store_four")((1,), (1,), (td.zeros(4, np.float32), three))


# ---- arrays ----


@pytest.mark.parametrize("count", [0, 1, 3])
def test_wrong_argument_count_is_refused(kernel, count):
    """cupy/cupy#8485: one argument too few must not crash."""
    arguments = (td.zeros(1, np.float32), 1.0, 2.0)[:count]
    with pytest.raises(REFUSED, match="2"):
        kernel("store_float")((1,), (1,), arguments)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.float16])
def test_wrong_dtype_behind_a_pointer_is_refused(kernel, dtype):
    with pytest.raises(REFUSED, match="'o'"):
        kernel("store_float")((1,), (1,), (td.zeros(1, dtype), 1.0))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, :4],
        lambda x: x.T,
        lambda x: td.broadcast_to(x[0, :1], (8,)),
        lambda x: x[:, ::-1],
    ],
    ids=["columns", "transposed", "broadcast", "reversed"],
)
def test_view_that_is_not_contiguous_is_refused(kernel, view):
    """cupy/cupy#7267 and #3095: CuPy gives the kernel the base memory, silently."""
    x = td.arange(10, dtype=np.float32).reshape(2, 5)
    out = td.full(1, -1, np.float32)
    with pytest.raises(REFUSED, match=r"'p'.*contiguous"):
        kernel("fifth")((1,), (1,), (out, view(x)))
    assert out.item() == -1


def test_strided_is_the_opt_in(kernel):
    """cupy/cupy#7267: pointer semantics on request: p[4] of x[:, :4] is 4.0, the logical element 4 is 5.0."""
    x = td.arange(10, dtype=np.float32).reshape(2, 5)
    out = td.zeros(1, np.float32)
    kernel("fifth")((1,), (1,), (out, x[:, :4]), strided=True)
    assert out.item() == 4.0
    kernel("fifth")((1,), (1,), (out, x[:, :4].copy()))
    assert out.item() == 5.0


def test_contiguous_view_in_the_middle(kernel):
    x = td.arange(100, dtype=np.float32)
    out = td.zeros(1, np.float32)
    kernel("fifth")((1,), (1,), (out, x[50:]))
    assert out.item() == 54.0


def test_pending_work_is_done_before_the_launch(kernel):
    x = td.arange(10, dtype=np.float32)
    out = td.zeros(1, np.float32)
    kernel("fifth")((1,), (1,), (out, x * 2 + 1))
    assert out.item() == 9.0


def test_host_array_is_refused_with_the_cure(kernel):
    with pytest.raises(TypeError, match="asarray"):
        kernel("store_float")((1,), (1,), (np.zeros(10, np.float32), 1.0))


def test_none_is_the_null_pointer(kernel):
    out = td.zeros(1, np.int32)
    kernel("is_null")((1,), (1,), (out, None))
    assert out.item() == 1


def test_read_only_array_for_a_written_parameter_is_refused(kernel):
    x = td.broadcast_to(td.zeros(4, np.float32), (4,))
    with pytest.raises(REFUSED, match="'o'"):
        kernel("store_float")((1,), (1,), (x, 1.0))


def test_device_pointer(kernel):
    x = td.zeros(4, np.float32)
    kernel("store_float")((1,), (1,), (x.data + 8, 3.0))
    assert td.asnumpy(x).tolist() == [0, 0, 3, 0]


# ---- launch shapes ----


@pytest.mark.parametrize(
    "grid, block, seen",
    [
        ((2,), (3,), (2, 1, 1, 3, 1, 1)),
        ((2, 3), (4, 5), (2, 3, 1, 4, 5, 1)),
        ((2, 3, 4), (5, 6, 7), (2, 3, 4, 5, 6, 7)),
        (2, 3, (2, 1, 1, 3, 1, 1)),
        ([2], [3], (2, 1, 1, 3, 1, 1)),
        ((np.int64(2),), (np.int32(3),), (2, 1, 1, 3, 1, 1)),
    ],
)
def test_shapes(kernel, grid, block, seen):
    out = td.zeros(6, np.int32)
    kernel("where_am_i")(grid, block, (out,))
    assert tuple(td.asnumpy(out)) == seen


@pytest.mark.parametrize(
    "grid, block, words",
    [
        ((1,), (1025, 1, 1), "1025.*1024"),  # numba/numba#1055
        ((1,), (1, 1, 65), "65.*64"),
        ((1, 1, 65536), (1,), "65536.*65535"),  # tinygrad/tinygrad#625
        ((1,), (32, 33), "1056.*1024"),
    ],
)
def test_limits_are_named(kernel, grid, block, words):
    out = td.full(6, -1, np.int32)
    with pytest.raises((ValueError, td.CUDAError), match=words):
        kernel("where_am_i")(grid, block, (out,))
    assert (td.asnumpy(out) == -1).all()
    kernel("where_am_i")((1,), (1,), (out,))  # the context is still usable
    assert out[3].item() == 1


@pytest.mark.parametrize(
    "grid, block", [((0,), (1,)), ((1,), (0,)), ((-1,), (1,)), ((), (1,)), ((1, 1, 1, 1), (1,))]
)
def test_impossible_shapes_are_refused(kernel, grid, block):
    with pytest.raises((ValueError, td.CUDAError)):
        kernel("where_am_i")(grid, block, (td.zeros(6, np.int32),))


def test_wide_grid(kernel):
    n = 70000 * 32
    x = td.zeros(n, np.int32)
    kernel("add_one")((70000,), (32,), (x, n))
    assert int(x.sum()) == n


def test_dynamic_shared_memory(kernel):
    out = td.zeros(64, np.int32)
    kernel("use_dynamic")((1,), (64,), (out,), shared_mem=256)
    assert td.asnumpy(out).tolist() == list(range(63, -1, -1))


def test_stream_keyword(kernel):
    stream = cuda.Stream(non_blocking=True)
    x = td.zeros(1000, np.int32)
    cuda.synchronize()
    before = cuda.get_current_stream()
    for _ in range(10):
        kernel("add_one")((4,), (256,), (x, 1000), stream=stream)
    assert cuda.get_current_stream() == before
    stream.synchronize()
    assert (td.asnumpy(x) == 10).all()


def test_keywords(kernel):
    x = td.zeros(4, np.int32)
    kernel("add_one")(grid=(1,), block=(4,), args=(x, 4))
    assert (td.asnumpy(x) == 1).all()
    with pytest.raises(TypeError, match="colour"):
        kernel("add_one")((1,), (4,), (x, 4), colour=3)
    with pytest.raises(TypeError, match="tuple"):
        kernel("add_one")((1,), (4,), x)
    with pytest.raises(TypeError):
        kernel("add_one")((1,), (4,))


# ---- compilation ----


def test_compile_error_shows_the_users_line():
    kernel = td.RawKernel('extern "C" __global__ void k(int* o) {\n  o[0] = 1;\n  o[1] = nowhere;\n}\n', "k",
                          file_name="mine.cu")  # fmt: skip
    with pytest.raises(td.CompileError) as caught:
        kernel((1,), (1,), (td.zeros(2, np.int32),))
    text = str(caught.value) + caught.value.log
    assert "nowhere" in text
    assert "mine.cu:3" in text or "mine.cu(3)" in text


def test_line_directive_is_respected():
    source = '#line 41 "story.py"\nextern "C" __global__ void k(int* o) {\n  o[0] = nowhere;\n}\n'
    with pytest.raises(td.CompileError) as caught:
        td.RawKernel(source, "k")((1,), (1,), (td.zeros(2, np.int32),))
    text = str(caught.value) + caught.value.log
    assert "story.py:42" in text or "story.py(42)" in text


def test_unknown_kernel_names_those_that_exist():
    with pytest.raises((ValueError, AttributeError), match="add_one"):
        td.RawModule(code=SOURCE).get_function("add_two")
    with pytest.raises(ValueError, match="add_one"):
        td.RawKernel(SOURCE, "add_two")((1,), (1,), ())


def test_options_and_macros():
    source = 'extern "C" __global__ void k(int* o) { o[0] = ANSWER; }'
    out = td.zeros(1, np.int32)
    td.RawKernel(source, "k", options=("-DANSWER=42",))((1,), (1,), (out,))
    assert out.item() == 42
    td.RawKernel(source, "k", ("-DANSWER=43",))((1,), (1,), (out,))
    assert out.item() == 43


def test_template_instances():
    source = "template <class T> __global__ void fill(T* o, T v, int n) { for (int i = 0; i < n; ++i) o[i] = v; }"
    module = td.RawModule(code=source, name_expressions=("fill<float>", "fill<int>"))
    for name, dtype in (("fill<float>", np.float32), ("fill<int>", np.int32)):
        out = td.zeros(3, dtype)
        module.get_function(name)((1,), (1,), (out, dtype(5), 3))
        assert (td.asnumpy(out) == 5).all()


def test_attributes_and_parameters(kernel):
    k = kernel("store_float")
    assert 1 <= k.max_threads_per_block <= 1024
    assert k.shared_size_bytes == 0
    assert k.local_size_bytes >= 0
    assert k.num_regs >= 0
    assert set(k.attributes) >= {"num_regs", "max_threads_per_block"}
    assert [p["size"] for p in k.params] == [8, 4]


def test_parameter_names_and_types(kernel, software):
    params = kernel("store_float").params
    assert [p["name"] for p in params] == ["o", "v"]
    assert params[0]["kind"] == "pointer" and params[0]["dtype"] == np.float32
    assert params[1]["kind"] == "scalar" and params[1]["dtype"] == np.float32


def test_static_shared_memory_is_counted():
    source = (
        'extern "C" __global__ void k(int* o) '
        "{ __shared__ int s[100]; s[threadIdx.x] = 1; __syncthreads(); o[0] = s[0]; }"
    )
    assert td.RawKernel(source, "k").shared_size_bytes == 400


def test_device_variable():
    module = td.RawModule(code='__device__ int counter; extern "C" __global__ void bump() { atomicAdd(&counter, 1); } '
                               'extern "C" __global__ void read(int* o, const int* c) { o[0] = *c; }')  # fmt: skip
    pointer = module.get_global("counter")
    assert pointer.nbytes == 4
    module.get_function("bump")((2,), (50,), ())
    out = td.zeros(1, np.int32)
    module.get_function("read")((1,), (1,), (out, pointer))
    assert out.item() == 100


# ---- CuPy's attributes ----


def test_facts_of_a_kernel():
    code = 'extern "C" __global__ void k(int* o) { o[threadIdx.x] = N; }'
    kernel = td.RawKernel(code, "k", ("-DN=5",), backend="nvrtc", jitify=False)
    assert kernel.code == code and kernel.options == ("-DN=5",) and kernel.name == "k"
    assert not kernel.enable_cooperative_groups
    kernel.compile()
    assert kernel.kernel is kernel and kernel.ptr != 0
    for name in (
        "max_threads_per_block", "shared_size_bytes", "const_size_bytes", "local_size_bytes", "num_regs",
        "ptx_version", "binary_version", "max_dynamic_shared_size_bytes",
    ):  # fmt: skip
        assert kernel.attributes[name] == getattr(kernel, name) >= 0
    with pytest.raises(ValueError, match="backend"):
        td.RawKernel(code, "k", backend="gcc")


def test_dynamic_shared_memory_can_be_asked_for_before(kernel):
    use = kernel("use_dynamic")
    most = td.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
    use.max_dynamic_shared_size_bytes = 64 << 10
    assert use.max_dynamic_shared_size_bytes >= 64 << 10
    with pytest.raises(ValueError, match="more than"):
        use.max_dynamic_shared_size_bytes = most + 1
    use.preferred_shared_memory_carveout = 50
    out = td.zeros(64, np.int32)
    use((1,), (64,), (out,), shared_mem=60 << 10)
    np.testing.assert_array_equal(td.asnumpy(out), np.arange(64)[::-1])


TEMPLATES = r"""
__constant__ float factor[4];
__device__ int counter = 3;
template <class T, int N> __global__ void scale(T* x) { x[threadIdx.x] = x[threadIdx.x] * (T)factor[N]; }
extern "C" __global__ void count(int* o) { *o = atomicAdd(&counter, 1); }
"""


def test_module_with_templates_and_globals():
    names = ["scale<float, 1>", "scale<int, 2>", "factor"]
    module = td.RawModule(code=TEMPLATES, options=("-std=c++14",), name_expressions=names)
    assert module.code == TEMPLATES and module.name_expressions == tuple(names)
    module.compile()
    factor = module.get_global("factor")
    assert isinstance(factor, cuda.MemoryPointer) and factor.nbytes == 16
    over = td.ndarray((4,), np.float32, factor)
    over[...] = td.asarray([1, 10, 100, 1000], dtype=np.float32)
    floats, ints = td.arange(4, dtype=np.float32), td.arange(4, dtype=np.int32)
    module.get_function(names[0])((1,), (4,), (floats,))
    module.get_function(names[1])((1,), (4,), (ints,))
    np.testing.assert_array_equal(td.asnumpy(floats), 10 * np.arange(4, dtype=np.float32))
    np.testing.assert_array_equal(td.asnumpy(ints), 100 * np.arange(4))
    out = td.zeros((), np.int32)
    module.get_function("count")((1,), (1,), (out,))
    assert int(out) == 3
    counter = td.ndarray((), np.int32, module.get_global("counter"))
    del module
    assert int(counter) == 4
    with pytest.raises(ValueError, match="no kernel"):
        td.RawModule(code=TEMPLATES).get_function("scale<double, 0>")


GRID_SYNC = r"""
#include <cooperative_groups.h>
extern "C" __global__ void pass_on(int* o) {
  if (threadIdx.x == 0) o[blockIdx.x] = blockIdx.x + 1;
  cooperative_groups::this_grid().sync();
  int next = o[(blockIdx.x + 1) % gridDim.x];
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) o[blockIdx.x] = next;
}
"""


@pytest.mark.parametrize("threads", [1, 2, 32, 33])
@pytest.mark.parametrize("as_module", [False, True])
def test_cooperative_launch(as_module, threads):
    options = {"enable_cooperative_groups": True}
    if as_module:
        kernel = td.RawModule(code=GRID_SYNC, **options).get_function("pass_on")
    else:
        kernel = td.RawKernel(GRID_SYNC, "pass_on", **options)
    assert kernel.enable_cooperative_groups
    out = td.zeros(2, np.int32)
    kernel((2,), (threads,), (out,))
    np.testing.assert_array_equal(td.asnumpy(out), [2, 1])


def test_mixed_up_scalars_never_arrive_as_other_bytes(kernel):
    """cupy/cupy#8485 and #7267 once more, in one place: a value arrives, or the launch is refused."""
    out = td.zeros(1, np.float32)
    kernel("store_float")((1,), (1,), (out, 2.0))
    assert float(out[0]) == 2.0
    with pytest.raises(TypeError, match="takes 2 arguments"):
        kernel("store_float")((1,), (1,), (out,))
    x = td.arange(10, dtype=np.float32).reshape(2, 5)
    for view in (x[:, :4], x.T, td.broadcast_to(x[0], (3, 5))):
        with pytest.raises(ValueError):
            kernel("fifth")((1,), (1,), (out, view))


def test_threads_that_leave_an_inner_loop_early_skip_what_stands_behind_it():
    """The place behind the loop is where both meet: a value that tells them apart differs from lane to lane."""
    source = r"""
    extern "C" __global__ void leave(const int* x, int* early, int* late, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      for (int p = 0; p < n; ++p) {
        for (int q = 0; q < n; ++q)
          if (x[i * 8 + p + q] > 5) goto next;
        late[i * 4 + p] += 1;
        continue;
      next:
        early[i * 4 + p] += 1;
      }
    }
    extern "C" __global__ void skip(const int* x, int* early, int* late, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      for (int p = 0; p < 3; ++p) {
        for (int q = 0; q < 3; ++q)
          if (x[i * 8 + p + q] > 5) goto next;
        late[i * 4 + p] += 1;
      next:;
      }
    }"""
    x = np.random.default_rng(0).integers(-10, 20, (70, 8)).astype(np.int32)
    found = np.stack([(x[:, p : p + 3] > 5).any(axis=1) for p in range(3)], axis=1)
    for name in ("leave", "skip"):
        early, late = td.zeros((70, 4), np.int32), td.zeros((70, 4), np.int32)
        td.RawKernel(source, name)((2,), (35,), (td.asarray(x), early, late, np.int32(3)))
        np.testing.assert_array_equal(late.get()[:, :3], ~found)
        if name == "leave":
            np.testing.assert_array_equal(early.get()[:, :3], found)


@pytest.mark.parametrize(
    "letter,name", [("b", "char"), ("h", "short"), ("f", "float"), ("d", "double")]
)
def test_reading_backwards(letter, name):
    """Lanes in falling order, also where a warp is not whole, from registers of the launch and from a loop."""
    source = f"""
    extern "C" __global__ void back(const {name}* x, {name}* y, int n) {{
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = x[n - 1 - i];
      for (int k = i; k < n; k += gridDim.x * blockDim.x) y[n + k] = x[-k + n - 1] + x[~k + n];
    }}"""
    kernel = td.RawKernel(source, "back")
    for n in (1, 31, 100, 1000):
        x = np.arange(n).astype(letter)
        for block in (32, 50, 256):
            y = td.zeros(2 * n, letter)
            kernel((-(-n // block),), (block,), (td.asarray(x), y, n))
            same = np.concatenate([x[::-1], (2 * x[::-1]).astype(letter)])
            np.testing.assert_array_equal(y.get(), same)
