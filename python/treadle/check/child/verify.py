"""Imports Treadle and compares its results with NumPy's, on the software device and then on an NVIDIA GPU.

Records: ``{"facts": {"import": …}}``, and for each device one ``{"device", "step", "status", "detail"}`` per step.
"""

import json
import os
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
from loader import mapped, say, step  # noqa: E402

del sys.path[0]

KERNEL = r"""
// out[i] = a[i] * a[i] + i
extern "C" __global__ void check_kernel(const int* a, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * a[i] + i;
}
"""
COUNT = 1003
STEPS = ("create", "matrix product", "compile", "launch", "copy back", "compare")
LIBRARIES = (
    "libtreadle", "libcuda.so", "libnvrtc", "libcublas", "libcusolver", "libcufft", "libLLVM", "libclang",
    "libopenblas", "libblas", "liblapack", "libfftw",
)  # fmt: skip
DRIVER_RUNGS = ("driver library", "cuInit", "device count")


def import_treadle(request):
    """The package, or None. The parent's own sys.path is used, so that both see the same packages."""
    sys.path[:] = request["sys_path"]
    if request["package"] not in sys.path:
        sys.path.insert(0, request["package"])
    with step("import numpy") as facts:
        try:
            import numpy

            facts["numpy"] = numpy.__version__
        except Exception as error:
            facts["import_error"] = f"NumPy cannot be imported: {type(error).__name__}: {error}"
            return None
    with step("import treadle") as facts:
        try:
            import treadle

            facts["treadle"], facts["extension"] = treadle.__version__, treadle._treadle.__file__
        except Exception as error:
            facts["import_error"] = why_not(error, request)
            return None
    return treadle


def why_not(error, request):
    """Python calls an extension that is missing a circular import; say what lies there instead."""
    import sysconfig

    cause = error.__cause__ or error
    folder = os.path.join(request["package"], "treadle")
    files = (
        [n for n in os.listdir(folder) if n.startswith("_treadle.")]
        if os.path.isdir(folder)
        else []
    )
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ""
    if isinstance(cause, ImportError) and not {"_treadle" + suffix, "_treadle.abi3.so"} & set(
        files
    ):
        there = f"there is {', '.join(files)}" if files else "there is none"
        return f"Treadle cannot be imported: {folder} has no extension _treadle{suffix} for this Python ({there})"
    return f"Treadle cannot be imported: {type(cause).__name__}: {cause}"


def verify(td, name):
    """Takes the steps on a device until one fails; true when none did. The output is filled with another value first,
    so that nothing which was there before can be taken for a result."""
    import numpy as np

    host = np.arange(COUNT, dtype=np.int32) - 500
    square = np.linspace(-1, 1, 64 * 48, dtype=np.float32).reshape(64, 48)
    state = {}

    def create():
        state["device"] = td.cuda.Device(name)
        state["device"].use()
        state["a"] = td.asarray(host)
        state["out"] = td.full(COUNT, -1, np.int32)
        return f"{state['device'].name}: {state['device'].description}"

    def product():
        x = td.asarray(square)
        got = td.asnumpy(x @ x.T)
        worst = float(np.abs(got - square.astype(np.float64) @ square.T.astype(np.float64)).max())
        if not worst <= 1e-3:
            raise ValueError(f"differs from NumPy's by {worst:g}")
        return f"64x48 by 48x64 float32: largest difference from NumPy {worst:.1e}"

    def compile_():
        state["kernel"] = td.RawKernel(KERNEL, "check_kernel")
        state["kernel"].compile()
        return "check_kernel"

    def launch():
        state["kernel"]((COUNT // 128 + 1,), (128,), (state["a"], state["out"], COUNT))
        state["device"].synchronize()
        return f"{COUNT} elements"

    def copy_back():
        state["host"] = td.asnumpy(state["out"])
        return f"{state['host'].nbytes} bytes"

    def compare():
        wrong = int((state["host"] != host * host + np.arange(COUNT)).sum())
        if wrong:
            raise ValueError(f"{wrong} of {COUNT} elements differ from NumPy's")
        return f"{COUNT} elements equal to NumPy's"

    kind = name.partition(":")[0]
    for label, take in zip(STEPS, (create, product, compile_, launch, copy_back, compare)):
        say(begin=f"{label} on {name}")
        try:
            say(device=kind, step=label, status="PASS", detail=take())
        except Exception as error:
            code = getattr(error, "code", 0)
            say(device=kind, step=label, status="FAIL", code=code, detail=str(error))
            return False
        say(end=f"{label} on {name}")
    return True


def main():
    request = json.loads(sys.argv[1])
    td = import_treadle(request)
    if td is None:
        return
    import treadle.cuda  # noqa: F401

    if "soft" in request["kinds"] and not verify(td, "soft:0"):
        discover(td, "soft")
    note_libraries()
    if (
        sys.stdin.readline().strip() != "cuda"
    ):  # the driver library hangs or crashes: its probe has found that out
        return
    ladder = discover(td, "cuda")
    if all(r["status"] == "PASS" for r in ladder if r["name"] in DRIVER_RUNGS):
        verify(td, "cuda:0")
    note_libraries()


def note_libraries():
    """The compilers, mathematical libraries and drivers that this process has really loaded."""
    with step("read the maps") as facts:
        facts["loaded"] = mapped(LIBRARIES)


def discover(td, kind):
    """Treadle's own discovery: the driver library that it takes, its compiler."""
    with step(f"discovery of {kind}") as facts:
        facts[f"ladder_{kind}"] = ladder = td._treadle._ladder(kind)
    return ladder


if __name__ == "__main__":
    main()
