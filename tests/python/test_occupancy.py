"""The occupancy calculator: NVIDIA's own calculator as the oracle where it is installed, the driver of the device, and
what must hold whatever the numbers are. The command's output, files and errors."""

import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import treadle as td
from treadle import _treadle, cuda, occupancy_command
from treadle.occupancy import capabilities, parse_capability

HERE = Path(__file__).parent
PLACES = [
    f"{root}/include" for root in (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda", "/usr")
    if root
]  # fmt: skip
LIMITS = {"threads": 1, "registers": 2, "shared": 4, "blocks": 8, "barriers": 16}
UNLIMITED = 2**31 - 1
SOURCE = """
extern "C" __global__ void __launch_bounds__(128) bounded(float* a) {
  __shared__ float tile[64];
  tile[threadIdx.x & 63] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = tile[63 - (threadIdx.x & 63)];
}
extern "C" __global__ void plain(float* a) { a[threadIdx.x] *= 2; }
"""


# ---- against the driver ----


def test_random_launches_have_the_drivers_numbers():
    program = HERE.parent / "conformance/occupancy.py"
    done = subprocess.run(
        [sys.executable, program, "--inputs", "200"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" 0 different") == 4


# ---- against NVIDIA's calculator ----


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """A function that gives lines of questions to NVIDIA's calculator."""
    place = next((p for p in PLACES if Path(p, "cuda_occupancy.h").exists()), None)
    compiler = shutil.which("g++") or shutil.which("c++")
    if place is None:
        pytest.skip(f"no cuda_occupancy.h in {', '.join(PLACES)}: NVIDIA's calculator is not here")
    if compiler is None:
        pytest.skip("no C++ compiler")
    program = tmp_path_factory.mktemp("oracle") / "oracle"
    subprocess.run(
        [compiler, "-O1", "-w", f"-I{place}", "-o", program, HERE / "occupancy_oracle.cpp"], check=True
    )  # fmt: skip

    def answers(lines):
        reply = subprocess.run(
            [program], input="\n".join(lines), capture_output=True, text=True, check=True
        )
        return [tuple(map(int, line.split())) for line in reply.stdout.splitlines()]

    return answers


def draw(rng, on):
    """A kernel and a launch; the block is one that the kernel takes."""
    fixed = rng.choice([0, rng.randrange(49152), rng.randrange(2000)])
    needs = _treadle._KernelNeeds(
        rng.choice([rng.randrange(1, 256), rng.randrange(1, 70)]), fixed, rng.choice([1024, rng.randrange(1, 1025)]),
        rng.choice([1, 0, rng.randrange(17)]), rng.choice([-1, 0, 100, rng.randrange(101)]),
    )  # fmt: skip
    block = min(rng.choice([rng.randrange(1, 1025), 32 * rng.randrange(1, 33)]), needs.max_threads)
    dynamic = rng.choice([0, rng.randrange(49152), rng.randrange(240 * 1024)])
    return needs, block, dynamic, rng.randrange(1, on.blocks + 1)


def line_of(on, needs, block, dynamic, blocks=1):
    return " ".join(map(str, (
        on.major, on.minor, on.threads, on.shared, on.block_shared, on.reserved_shared, needs.registers, needs.shared,
        needs.max_threads, needs.barriers, needs.carve_out, block, dynamic, blocks,
    )))  # fmt: skip


@pytest.mark.parametrize("capability", capabilities(), ids=lambda c: f"{c[0]}.{c[1]}")
def test_same_as_nvidias_calculator(ask, capability):
    rng = random.Random(f"occupancy {capability}")
    on = _treadle._multiprocessor(*capability)
    asked = [draw(rng, on) for _ in range(600)]
    for case, answer in zip(asked, ask([line_of(on, *case) for case in asked]), strict=True):
        needs, block, dynamic, _ = case
        status, blocks, factors, *limits, registers, shared, best_status, best, grid, _, _ = answer
        found = _treadle._occupancy(on, needs, block, dynamic)
        mine = [UNLIMITED if v is None else v for v in found["limits"].values()]
        assert status == best_status == 0
        text = line_of(on, *case)
        assert (found["blocks"], mine) == (blocks, limits), text
        assert (found["registers_per_block"], found["shared_per_block"]) == (registers, shared), (
            text
        )
        assert _treadle._best_block_on(on, needs, 7, dynamic) == (best, grid), text
        bits = sum(LIMITS[name] for name in found["limited_by"])
        if bits & LIMITS["barriers"]:  # there it keeps what limited before it looked at barriers
            assert factors & LIMITS["barriers"], text
        else:
            assert bits == factors, text


@pytest.mark.parametrize("capability", capabilities(), ids=lambda c: f"{c[0]}.{c[1]}")
def test_shared_memory_that_fits_is_the_most(ask, capability):
    """With it NVIDIA's calculator says that the blocks are resident; with one unit more it does not."""
    rng = random.Random(f"fits {capability}")
    on = _treadle._multiprocessor(*capability)
    cases, lines = [], []
    for _ in range(400):
        needs, block, _, blocks = draw(rng, on)
        fits = _treadle._shared_that_fits(on, needs, block, blocks)
        cases.append((needs, blocks, fits))
        lines.append(line_of(on, needs, block, max(fits, 0)))
        lines.append(line_of(on, needs, block, fits + 1))
    answers = ask(lines)
    for number, (_, blocks, fits) in enumerate(cases):
        resident, more = answers[2 * number][1], answers[2 * number + 1][1]
        if fits < 0:
            assert resident < blocks, lines[2 * number]
        else:
            assert resident >= blocks, lines[2 * number]
            assert more < blocks, lines[2 * number]
    assert any(fits >= 0 for _, _, fits in cases)


# ---- without it ----


def test_no_limit_is_exceeded_by_what_is_resident():
    rng = random.Random(11)
    for on in _treadle._multiprocessors():
        for _ in range(200):
            needs, block, dynamic, _ = draw(rng, on)
            found = _treadle._occupancy(on, needs, block, dynamic)
            blocks = found["blocks"]
            assert found["limited_by"]
            assert blocks * found["warps_per_block"] * 32 <= on.threads
            assert blocks * found["registers_per_block"] <= on.registers
            assert (
                blocks * found["shared_per_block"] <= found["shared_of_multiprocessor"] <= on.shared
            )
            assert found["shared_of_multiprocessor"] // 1024 in on.carve_outs_kb


def test_a_larger_need_never_fits_more_blocks():
    rng = random.Random(12)
    for on in _treadle._multiprocessors():
        for _ in range(100):
            needs, block, dynamic, _ = draw(rng, on)
            needs.carve_out = -1
            before = _treadle._occupancy(on, needs, block, dynamic)["blocks"]
            needs.registers, needs.shared = min(needs.registers + 1, 255), needs.shared + 200
            assert _treadle._occupancy(on, needs, block, dynamic)["blocks"] <= before


def test_known_figures():
    """Worked by hand: 40 registers are 10240 for 8 warps, and 65536 / 10240 = 6 (each quarter holds 12 warps)."""
    found = cuda.occupancy(registers=40, shared=256, block=256, compute_capability=(9, 0))
    assert (found.blocks, found.active_warps, found.fraction) == (6, 48, 0.75)
    assert found.limited_by == ("registers",)
    assert found.limits == {
        "threads": 8,
        "registers": 6,
        "shared": 182,
        "blocks": 32,
        "barriers": 64,
    }
    assert found.shared_that_fits(6) == 233472 // 6 // 128 * 128 - 1024 - 256
    assert found.shared_that_fits(7) is None


def test_every_tie_is_named():
    found = cuda.occupancy(registers=32, block=64, compute_capability="7.5")
    assert found.blocks == 16
    assert found.limited_by == ("threads", "blocks")


def test_unknown_registers_limit_nothing_and_say_so():
    found = cuda.occupancy(registers=0, block=1024, compute_capability=(8, 0))
    assert found.limits["registers"] is None and found.blocks == 2
    assert any("not known" in note for note in found.notes)


# ---- of kernels, and the driver of this device ----


def nvrtc_here():
    try:
        _treadle._ptx_of("", [], 90)
    except NotImplementedError:
        return False
    return True


@pytest.mark.parametrize("name", ["bounded", "plain"])
def test_same_as_this_devices_driver(name):
    kernel = td.RawModule(code=SOURCE).get_function(name)
    on, needs = _treadle._multiprocessor_of(cuda.Device()), _treadle._kernel_needs(kernel)
    for block in (1, 31, 32, 33, 64, 96, 128, 256, 1000, 1024):
        if (
            block > needs.max_threads
        ):  # no launch: ours is 0, a driver may answer as if there were no bound
            continue
        for dynamic in (0, 1, 1000, 40000, 49000):
            allowed = dynamic <= kernel.max_dynamic_shared_size_bytes  # else no launch: 0
            mine = allowed and _treadle._occupancy(on, needs, block, dynamic)["blocks"]
            assert _treadle._active_blocks(kernel, block, dynamic) == mine, (block, dynamic)
    processors = cuda.Device().attributes["MultiProcessorCount"]
    assert _treadle._best_block(kernel, 0) == _treadle._best_block_on(on, needs, processors, 0)


def test_what_nvrtc_says_of_a_kernel():
    if not nvrtc_here():
        pytest.skip("no NVRTC")
    kernel = td.RawModule(code=SOURCE).get_function("bounded")
    found = cuda.occupancy(kernel, compute_capability="8.6")
    assert (found.source, found.static_shared, found.max_threads, found.block) == (
        "NVRTC",
        256,
        128,
        128,
    )
    assert 4 <= found.registers <= 64
    assert cuda.occupancy(kernel, 256, compute_capability="8.6").limited_by[0] == "threads"
    assert [row.block for row in found.table()] == [32, 64, 96, 128]


def test_a_python_kernel_needs_its_variant_named():
    @cuda.jit
    def add(a, b):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += b[i]

    with pytest.raises(TypeError, match=r"0 compiled variants.*signature="):
        cuda.occupancy(add)
    assert cuda.occupancy(add, signature="float32[::1], float32[::1]").blocks >= 1
    a = cuda.to_device(np.ones(4, np.float32))
    add[1, 32](a, a)
    assert cuda.occupancy(add, 64).block == 64


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ({}, TypeError, "registers="),
        ({"registers": 32, "block": 0}, ValueError, "block size is 0"),
        ({"registers": -1}, ValueError, "registers is -1"),
        ({"registers": 70000}, ValueError, "70000"),
        ({"registers": 32, "barriers": 17}, ValueError, "0 to 16"),
        ({"registers": 32, "carve_out": 101}, ValueError, "0 to 100 percent"),
        ({"registers": 32, "block": 2.5}, TypeError, "block must be an integer"),
        ({"registers": 32, "compute_capability": "6.1"}, ValueError, "known are 7.5"),
        ({"registers": 32, "compute_capability": "new"}, ValueError, "write 9.0"),
        ({"kernel": len}, TypeError, "RawKernel"),
    ],
)
def test_bad_arguments_say_what_to_give(arguments, error, words):
    with pytest.raises(error, match=words):
        cuda.occupancy(**arguments)


def test_capabilities_are_read_in_every_spelling():
    assert {parse_capability(s) for s in ("12.1", "121", "sm_121", 121, (12, 1))} == {(12, 1)}


# ---- the command ----


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = occupancy_command.main([str(a) for a in arguments])
    return status, out.getvalue(), err.getvalue()


def test_command_prints_json_for_programs():
    status, out, _ = run(
        "--registers", 40, "--static-shared", 256, "--cc", "9.0,8.6", "--json", "--table"
    )
    first, second = json.loads(out)
    assert status == 0 and (first["blocks"], second["compute_capability"]) == (6, "8.6")
    assert [row["block"] for row in first["table"]] == list(range(32, 1025, 32))
    assert first["table"][7]["occupancy"] == first["occupancy"] == 0.75


def test_command_shows_limits_and_a_plot():
    status, out, _ = run("--registers", 40, "--cc", "9.0", "--table")
    assert status == 0
    assert "6 blocks = 48 of 64 warps: 75 % occupancy" in out and "limited by     registers" in out
    assert "threads of a block" in out and "   1024       1     32     50.0 %  registers" in out
    assert "\x1b" not in out and max(map(len, out.splitlines())) <= 110


def test_command_writes_a_whole_svg(tmp_path):
    import xml.etree.ElementTree as ElementTree

    picture = tmp_path / "o.svg"
    assert run("--registers", 40, "--cc", "all", "--plot", picture)[0] == 0
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    assert "prefers-color-scheme" in picture.read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["o.svg"]


def test_command_takes_kernels_of_files(tmp_path):
    source, script = tmp_path / "k.cu", tmp_path / "s.py"
    source.write_text(SOURCE)
    script.write_text(
        "from treadle import cuda\n@cuda.jit\ndef twice(a):\n    a[cuda.grid(1)] *= 2\n"
    )
    assert json.loads(run(f"{source}:plain", "--json")[1])[0]["kernel"] == "plain"
    assert "say which kernel" in run(source)[2] and "bounded, plain" in run(source)[2]
    assert "has no kernel 'other'" in run(f"{source}:other")[2]
    assert run(f"{script}:twice", "--signature", "float32[::1]", "--json")[0] == 0
    assert "--signature" in run(f"{script}:twice")[2]
    assert "it has" in run(f"{script}:thrice")[2]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "or give --registers"),
        (["missing.cu:f"], "there is no file 'missing.cu'"),
        (["--registers", "32", "--cc", "9"], "write 9.0"),
        (["--registers", "32", "--plot", "x.gif"], ".svg, .png, .pdf"),
        (["--registers", "32", "--plot", "/no/such/folder/x.svg"], "there is no folder"),
    ],
)
def test_command_refuses_with_a_cure(arguments, words):
    status, out, err = run(*arguments)
    assert status == 2 and out == "" and words in err and "Traceback" not in err
