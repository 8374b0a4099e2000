"""Launches the kernels of one file of GPUVerify's test suite twice: gpuverify_launch.py kernel.cu

The second line of the file has the launch, `__requires(name == value)` the values of arguments. Pointers lead to 16 MiB
of zeros each. The exit status is 0 when nothing fails and both launches leave the same memory.
"""

import re
import sys
from pathlib import Path

import numpy as np
import treadle as td
from treadle import cuda

WORDS = 4 << 20  # int32 behind each pointer

# What the verifier reads and the compiler does not, in front of a statement or inside of an expression.
ANNOTATIONS = (
    "__requires __ensures __invariant __global_invariant __assert __assume __function_wide_invariant"
    " __function_wide_candidate_invariant __candidate_invariant __requires_fresh_array"
    " __reads_from __writes_to __no_read __no_write"
)
PROLOGUE = "".join(
    [
        *(f"#define {name}(...) ((void)0)\n" for name in ANNOTATIONS.split()),
        "#define __axiom(...)\n",
        "typedef unsigned int uint;\n",  # nvcc takes it from the host's headers
    ]
)
# Headers that the verifier includes by itself.
HEADERS = {"cooperative_groups": "cooperative_groups.h", "curand": "curand_kernel.h"}


def numbers(option, text):
    found = re.search(option + r"=\[?([\d,]+)", text)
    sizes = [int(part) for part in found.group(1).split(",") if part] if found else [1]
    return tuple(sizes)


class Memory:
    """The arrays behind the pointers of a launch."""

    def __init__(self):
        self.arrays = []

    def array(self, depth=1):
        content = np.zeros(WORDS, np.int32)
        if depth > 1:
            content.view(np.uint64)[:] = self.array(depth - 1).data.ptr
        self.arrays.append(td.asarray(content))
        return self.arrays[-1]

    def argument(self, param, known):
        if param["kind"] == "pointer":
            return self.array(param["type"].count("*")).data
        if param["kind"] == "scalar":
            return param["dtype"].type(known.get(param["name"], 1))
        words = [self.array().data.ptr for _ in range(param["size"] // 8)]
        content = np.array(words, np.uint64).tobytes().ljust(param["size"], b"\0")
        return np.frombuffer(content, dtype=f"V{param['size']}")[0]


def launch(kernel, grid, block, known):
    """What memory holds afterwards. Addresses differ from launch to launch: without arrays of such."""
    memory = Memory()
    kernel(grid, block, tuple(memory.argument(param, known) for param in kernel.params))
    cuda.synchronize()
    pointers = [array.data.ptr for array in memory.arrays]
    contents = [td.asnumpy(array) for array in memory.arrays]
    return [c.tobytes() for c in contents if c.view(np.uint64)[-1] not in pointers]


def main(path):
    text = Path(path).read_text(errors="replace")
    block, grid = numbers("--blockDim", text), numbers("--gridDim", text)
    if np.prod(block) > 1024:
        block = (1024,)  # the most that CUDA allows
    sizes = dict(
        zip(("blockDim.x", "blockDim.y", "gridDim.x"), (*block, 1)[:2] + grid[:1], strict=True)
    )
    known = {}
    for name, value in re.findall(r"__requires\(\s*(\w+)\s*==\s*([\w.]+)\s*\)", text):
        if value.isdigit() or value in sizes:
            known[name] = int(value) if value.isdigit() else sizes[value]
    options = tuple(re.findall(r"-D\w+(?:=\w+)?", text.split("\n", 2)[1]))
    includes = "".join(f"#include <{file}>\n" for word, file in HEADERS.items() if word in text)
    module = td.RawModule(f"{PROLOGUE}{includes}#line 1\n{text}", options=options)
    for name in module.kernel_names:
        kernel = module.get_function(name)
        if launch(kernel, grid, block, known) != launch(kernel, grid, block, known):
            print(f"{name}: two launches leave different memory")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
