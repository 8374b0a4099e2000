"""`treadle cc`: our own programs of tests/programs, compiled, linked and run; wrong command lines; wrong sources."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "programs"


pytestmark = pytest.mark.usefixtures("software_built")


@pytest.fixture
def cc(tmp_path):
    """cc(argument, …) in an empty folder: the finished process."""

    def run(*arguments, cwd=tmp_path, **environment):
        return subprocess.run(
            [sys.executable, "-m", "treadle", "cc", *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, "TREADLE_DEVICE": "soft", **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


@pytest.mark.parametrize(
    "name", ["launches", "memory", "errors", "graphs", "habits", "textures", "inline_ptx"]
)
def test_programs_run(cc, name):
    done = cc("--run", "-std=c++17", PROGRAMS / f"{name}.cu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{name} ok")


def test_habits_of_nvcc_with_its_options(cc):
    options = ["-O3", "-rdc=true", "--default-stream", "per-thread"]
    done = cc("--run", *options, PROGRAMS / "habits.cu")
    assert (done.returncode, done.stdout) == (0, "habits ok\n"), done.stdout + done.stderr
    assert done.stderr.count("all threads share the legacy default stream") == 1


def test_files_compiled_apart_share_device_code(cc, tmp_path):
    for name in ("two_main", "two_device"):
        done = cc("-O1", "-dc", PROGRAMS / f"{name}.cu")
        assert done.returncode == 0 and (tmp_path / f"{name}.o").exists(), done.stderr
    done = cc("-c", PROGRAMS / "host_part.cpp", "-o", "host.o")
    assert done.returncode == 0, done.stderr
    done = cc("-rdc=true", "two_main.o", "two_device.o", "host.o", "-o", "two")
    assert done.returncode == 0, done.stderr
    for _ in range(2):  # linked by the first start, found in the cache by the second
        ran = subprocess.run([tmp_path / "two"], capture_output=True, text=True)
        assert (ran.returncode, ran.stdout) == (0, "two files: 1327 79 1\n"), ran.stderr


MISSING = """
extern __device__ int nowhere(int x);
__global__ void k(int* out) { *out = nowhere(1); }
int main() {
  k<<<1, 1>>>(nullptr);
  return cudaGetLastError() == cudaErrorInvalidKernelImage ? 3 : 0;
}
"""


def test_missing_device_function_is_named_at_the_first_launch(cc, tmp_path):
    (tmp_path / "missing.cu").write_text(MISSING)
    done = cc("--run", "-rdc=true", "missing.cu")
    assert done.returncode == 3
    assert "'nowhere(int)' is called, but no file of the program defines it" in done.stderr


ARGUMENTS = r"""
#include <cstdio>
#include <cstdlib>
#ifndef LEVEL
#error LEVEL
#endif
#ifdef _OPENMP
#error "not asked for"
#endif
int main(int argc, char** argv) {
  std::printf("%d %d %s %d\n", LEVEL, argc, argc > 1 ? argv[1] : "", __CUDACC_VER_MAJOR__ >= 12);
  return argc > 2 ? std::atoi(argv[2]) : 0;
}
"""


def test_arguments_and_status_of_the_program(cc, tmp_path):
    (tmp_path / "text.txt").write_text(ARGUMENTS)
    options = ["-x", "cu", "-DLEVEL=3", "-O3", "-arch=sm_90", "-gencode", "arch=compute_80,code=sm_80", "-lineinfo",
               "--use_fast_math", "-Xcompiler", "-Wall,-Wextra", "-Xptxas", "-v", "-lcudart"]  # fmt: skip
    done = cc("--run", *options, "text.txt", "--", "two words", "7")
    assert (done.returncode, done.stdout) == (7, "3 3 two words 1\n"), done.stderr
    assert done.stderr.count("have no effect") == 1


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "there is no input file"),
        (["missing.cu"], "there is no file 'missing.cu'"),
        (["-Q", "a.cu"], "option '-Q' is not known"),
        (["a.cu", "-o"], "option '-o' needs a value"),
        (["a.cu", "-std=c++99"], "option '-std=c++99': known are"),
        (["a.txt"], "has no known ending"),
        (["-ptx", "a.cu"], "the software device has no PTX"),
        (["a.cu", "-lcublas"], "libcublas is a library of NVIDIA's toolkit"),
        (["--run", "-c", "a.cu"], "--run needs a whole program"),
        (["a.cu", "--", "x"], "'--' ends the options only with --run"),
        (["-rdc=maybe", "a.cu"], "its value must be true or false"),
    ],
)
def test_wrong_command_lines(cc, arguments, words):
    done = cc(*arguments)
    assert done.returncode in (1, 2) and words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "source, line, words",
    [
        ("int main() { return undeclared; }", 1, "undeclared identifier 'undeclared'"),
        ("\n__global__ void k(int* p) { p = 3.5; }\nint main() {}", 2, "incompatible type"),
        ("void host();\n__global__ void k() {\n  host();\n}\nint main() {}", 3, "__host__ function"),
        ("#include <cublas_v2.h>\nint main() {}", 1, "<cublas_v2.h> is known, but not supported"),
        ("__device__ int other(int);\n__global__ void k(int* p) { *p = other(1); }\nint main() {}", 2,
         "'other(int)' is called but has no body"),
        ('__global__ void k(int* p) {\n  asm("neg.s32 %0, 1;\\n\\t"\n      "frob %0;" : "=r"(*p));\n}\nint main() {}',
         3, "inline PTX: instruction 'frob' is not known"),
        ("__global__ void k() {}\n__global__ void l() {\n  k<<<1, 1>>>();\n}\nint main() {}", 3,
         "launching a kernel from a kernel is known, but not supported"),
    ],
)  # fmt: skip
def test_wrong_sources_show_the_line(cc, tmp_path, source, line, words):
    (tmp_path / "bad.cu").write_text(source)
    done = cc("bad.cu", "-o", "bad")
    assert done.returncode == 1 and not (tmp_path / "bad").exists()
    assert words in done.stderr and f"bad.cu:{line}" in done.stderr


def test_a_gpu_is_not_pretended(cc, tmp_path):
    done = cc("--run", PROGRAMS / "errors.cu", TREADLE_DEVICE="cuda")
    assert done.returncode == 1 and "has code for the software device only" in done.stderr


def test_launch_brackets_with_blanks(cc, tmp_path):
    source = "__global__ void k(int* p) { *p = 5; }\nint main() {\n  int *p, v = 0;\n  cudaMalloc(&p, 4);\n"
    source += "  k << <1, 1 >> > (p);\n  cudaMemcpy(&v, p, 4, cudaMemcpyDefault);\n  return v;\n}\n"
    (tmp_path / "blanks.cu").write_text(source)
    assert cc("--run", "blanks.cu").returncode == 5


@pytest.mark.parametrize(
    "name, argument, words",
    [
        ("saxpy", "100000", "PASS: 100000 elements, 0 wrong"),
        ("enlarge", "3", "PASS: 192 x 144 pixels"),
    ],
)
def test_the_examples_run(cc, name, argument, words):
    example = Path(__file__).parents[2] / "examples" / "programs" / f"{name}.cu"
    done = cc("--run", "-O2", example, "--", argument)
    assert done.returncode == 0 and done.stdout.startswith(words), done.stdout + done.stderr
