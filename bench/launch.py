"""The cost of a launch from Python beside the bare driver call and, where it is installed, CuPy."""

import ctypes
import os
import subprocess
import tempfile

import common
import numpy as np
import treadle as td
from treadle import cuda

SOURCE = r"""
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
"""


def ours():
    kernel = td.RawKernel(SOURCE, "add")
    x, y, z = td.ones(1000, np.float32), td.ones(1000, np.float32), td.zeros(1000, np.float32)
    n, grid, block = np.int32(1000), (4,), (256,)
    raw = common.per_call_seconds(
        lambda: kernel(grid, block, (x, y, z, n)), 20_000, wait=cuda.synchronize
    )
    python_int = common.per_call_seconds(
        lambda: kernel(grid, block, (x, y, z, 1000)), 20_000, wait=cuda.synchronize
    )
    assert (td.asnumpy(z) == 2).all()
    array_add = common.per_call_seconds(lambda: (x + y).flush(), 5_000, wait=cuda.synchronize)
    array_sum = common.per_call_seconds(lambda: x.sum().flush(), 5_000, wait=cuda.synchronize)
    return {
        "RawKernel, np.int32": raw,
        "RawKernel, int": python_int,
        "x + y": array_add,
        "x.sum()": array_sum,
    }


def cupy():
    try:
        import cupy as cp
    except ImportError:
        return {}
    kernel = cp.RawKernel(SOURCE, "add")
    x, y, z = cp.ones(1000, cp.float32), cp.ones(1000, cp.float32), cp.zeros(1000, cp.float32)
    n, wait = np.int32(1000), cp.cuda.runtime.deviceSynchronize
    return {
        "RawKernel, np.int32": common.per_call_seconds(
            lambda: kernel((4,), (256,), (x, y, z, n)), 20_000, wait=wait
        ),
        "x + y": common.per_call_seconds(lambda: x + y, 5_000, wait=wait),
        "x.sum()": common.per_call_seconds(lambda: x.sum(), 5_000, wait=wait),
    }


BARE = r"""
#include <dlfcn.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
// The bare driver: the same kernel, launched in a loop from C++. Usage: bare CUBIN
typedef int (*fn)(...);
static void* lib;
template <class T> T sym(const char* n) { return reinterpret_cast<T>(dlsym(lib, n)); }
static void check(int r, const char* what) { if (r) { std::fprintf(stderr, "%s: %d\n", what, r); std::exit(1); } }
int main(int, char** argv) {
  lib = dlopen("libcuda.so.1", RTLD_NOW);
  if (!lib) return 2;
  check(sym<int (*)(unsigned)>("cuInit")(0), "cuInit");
  int dev; void* ctx; void* mod; void* f; unsigned long long a[3];
  check(sym<int (*)(int*, int)>("cuDeviceGet")(&dev, 0), "cuDeviceGet");
  check(sym<int (*)(void**, int)>("cuDevicePrimaryCtxRetain")(&ctx, dev), "retain");
  check(sym<int (*)(void*)>("cuCtxSetCurrent")(ctx), "current");
  check(sym<int (*)(void**, const char*)>("cuModuleLoad")(&mod, argv[1]), "load");
  check(sym<int (*)(void**, void*, const char*)>("cuModuleGetFunction")(&f, mod, "add"), "function");
  for (auto& p : a) check(sym<int (*)(unsigned long long*, size_t)>("cuMemAlloc_v2")(&p, 4096), "alloc");
  int n = 1000;
  void* params[] = {&a[0], &a[1], &a[2], &n};
  auto launch = sym<int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                            void**)>("cuLaunchKernel");
  auto sync = sym<int (*)()>("cuCtxSynchronize");
  double best = 1e9;
  for (int round = 0; round < 6; ++round) {
    check(sync(), "sync");
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20000; ++i) check(launch(f, 4, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr), "launch");
    double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / 20000;
    if (us < best) best = us;
  }
  check(sync(), "sync");
  std::printf("%f\n", best);
}
"""


def cubin(device):
    """The kernel as cubin through NVRTC; None without it."""
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"):
        try:
            nvrtc = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        return None
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE.encode(), b"add.cu", 0, None, None)
    options = (ctypes.c_char_p * 1)(f"-arch=sm_{device.compute_capability}".encode())
    if nvrtc.nvrtcCompileProgram(program, 1, options):
        return None
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, image)
    return image.raw


def bare_command(device, folder):
    """The bare launch loop, built: argv; None on the software device and without NVRTC."""
    image = None if device.is_software else cubin(device)
    if image is None:
        return None
    source, binary = os.path.join(folder, "bare.cpp"), os.path.join(folder, "add.cubin")
    with open(source, "w", encoding="utf-8") as text:
        text.write(BARE)
    with open(binary, "wb") as file:
        file.write(image)
    program = os.path.join(folder, "bare")
    subprocess.run(["c++", "-O2", "-std=c++17", source, "-o", program, "-ldl"], check=True)
    return [program, binary]


def bare(command):
    """Seconds of one cuLaunchKernel."""
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(result.stdout) / 1e6


PASSES = 3


def measure(device):
    """The best of several passes that alternate between the peers: the host's clock rate drifts."""
    mine, theirs, floor = {}, {}, None
    with tempfile.TemporaryDirectory() as folder:
        command = bare_command(device, folder)
        for _ in range(PASSES):
            for best, found in ((mine, ours()), (theirs, cupy())):
                for name, seconds in found.items():
                    best[name] = min(seconds, best.get(name, seconds))
            if command:
                seconds = bare(command)
                floor = seconds if floor is None else min(seconds, floor)
    return mine, theirs, floor


def run(device):
    mine, theirs, floor = measure(device)
    scope = (
        "host time of one call, kernel of 1000 elements, without waiting inside; "
        f"best of 5 rounds in each of {PASSES} passes that alternate with the peers"
    )
    rows = []
    if floor is not None:
        rows.append(
            common.record(
                "launch: bare cuLaunchKernel from C++", 1e6 * floor, "us", scope, device.evidence
            )
        )
    for name, seconds in mine.items():
        goal = ("<=", 1.4 * 1e6 * floor) if floor and name == "RawKernel, np.int32" else None
        rows.append(
            common.record(f"launch: {name}", 1e6 * seconds, "us", scope, device.evidence, goal)
        )
    for name, seconds in theirs.items():
        rows.append(common.record(f"launch: CuPy {name}", 1e6 * seconds, "us", scope, "NVIDIA GPU"))
    return rows
