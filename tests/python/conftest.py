"""The device that the tests run on, and proof that they did.

TREADLE_TEST_DEVICE names it ("soft", "cuda:0", "auto", the default). A run fails when another kind of device answered,
or when no kernel ran on it: a proof kernel is launched and compared before the first test and after the last.
"""

import os
import re
import subprocess
import sys

WANTED = os.environ.get("TREADLE_TEST_DEVICE") or os.environ.get("TREADLE_DEVICE") or "auto"
os.environ["TREADLE_DEVICE"] = WANTED
# Tests count kernels: what is launched must not depend on when a compiler is done.
os.environ.setdefault("TREADLE_BACKGROUND_COMPILES", "0")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import treadle as td  # noqa: E402
from treadle import cuda  # noqa: E402

PROOF = 'extern "C" __global__ void proof(int* out) { out[threadIdx.x] = 7 * threadIdx.x + 1; }'


def proof_of_execution():
    """Launches a kernel and compares; the device's name."""
    out = td.full(64, -1, np.int32)
    td.RawKernel(PROOF, "proof")((1,), (64,), (out,))
    if not np.array_equal(td.asnumpy(out), 7 * np.arange(64) + 1):
        raise AssertionError("the proof kernel did not compute what it must")
    return cuda.Device().name


def pytest_report_header(config):
    device = cuda.Device()
    return f"treadle {td.__version__} on {device.name}: {device.evidence} ({device.description})"


def pytest_sessionstart(session):
    device = cuda.Device()
    if WANTED != "auto" and device.name.partition(":")[0] != WANTED.partition(":")[0]:
        raise pytest.UsageError(
            f"TREADLE_TEST_DEVICE asks for {WANTED}, but {device.name} answered"
        )
    proof_of_execution()


def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    try:
        name = proof_of_execution()
        passed = len(reporter.stats.get("passed", ())) if reporter else 1
        problem = "" if passed or session.config.option.collectonly else "no test passed"
    except Exception as error:
        name, problem = WANTED, f"after the last test the device does not work any more: {error}"
    if problem and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if reporter:
        reporter.write_line(f"kernels ran on {name}: {problem or cuda.Device().evidence}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Parts of the toolkit may be missing beside NVRTC; the software device brings its own headers."""
    try:
        return (yield)
    except (td.CompileError, AssertionError) as error:  # of this process, or of a program's
        missing = re.search(r'cannot open source file "((nv|cuda|crt)/[\w/.]+)"', str(error))
        if not missing or cuda.Device().is_software:
            raise
        pytest.skip(f"the toolkit beside NVRTC has no <{missing[1]}>")


@pytest.fixture(scope="session")
def device():
    """The device of this run."""
    return cuda.Device()


@pytest.fixture(scope="session")
def software(device):
    """True when this run is on the software device."""
    return device.is_software


@pytest.fixture(scope="session")
def also_by_nvrtc():
    """A function that compiles the texts of a kernel by NVRTC too, where it is installed, whatever the device."""

    def compile_all(kernel):
        try:
            found = kernel.inspect_asm()
        except RuntimeError as error:
            if "no compiler for NVIDIA GPUs" not in str(error):
                raise
            return
        assert found
        for ptx in found.values():
            assert f".entry py__{kernel.__name__}" in ptx

    return compile_all


@pytest.fixture(scope="session")
def software_built():
    """For tests that start processes on the software device, whatever device this run is about."""
    if not any(device.is_software for device in cuda.devices()):
        pytest.skip("this build has no software device")


@pytest.fixture
def python():
    """Runs Python code in a fresh process on the same device; returns the finished process."""

    def run(code, *args, **environment):
        env = {**os.environ, "TREADLE_DEVICE": cuda.Device().name}
        env.update({key: value for key, value in environment.items() if value is not None})
        for key, value in environment.items():
            if value is None:
                env.pop(key, None)
        command = [sys.executable, "-c", code, *args] if code else [sys.executable, *args]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)

    return run
