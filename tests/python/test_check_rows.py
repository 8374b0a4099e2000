"""``treadle check``: every row with a machine that shows its pattern. What is expected is the exact set of rows: the
neighbours must not hold."""

import re

import pytest
from check_machines import UUID, bare, compile_standin, host, judged, rests_on_what_was_checked
from treadle.check.judge import ROW_FAILED

COMPAT = "/usr/local/cuda/compat"
STUBS = "/usr/local/cuda-13.0/lib64/stubs"


def no_driver(m):
    """A machine whose driver library is absent."""
    for name in (
        "libcuda.so.1",
        "libcuda.so.580.65.06",
        "libnvidia-ml.so.1",
        "libnvidia-ml.so.580.65.06",
    ):
        m.remove(f"/usr/lib/x86_64-linux-gnu/{name}")
    m.options["gpu"] = []
    return m


def no_device(m, code=100):
    m.options["gpu"] = []
    return m.answer(init=code)


def unloaded(m):
    """A GPU, library and packages, and no kernel module."""
    no_device(m).remove("/proc/driver").modules("ext4").remove("/dev")
    return m.card(driver="").answer(nvml=9).packages("nvidia-driver-580", "libnvidia-compute-580")


def module_file(m):
    return m.file("/lib/modules/6.8.0-60-generic/modules.dep", "updates/dkms/nvidia.ko.zst:\n")


def secure_boot(m):
    name = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    return m.file(f"/sys/firmware/efi/efivars/{name}", b"\6\0\0\0\1")


def failed_at(m, step):
    m.options["gpu"] = [
        {"device": "cuda", "step": step, "status": "FAIL", "code": 0, "detail": "no"}
    ]
    return m


def stub(m):
    no_driver(m).library("libcuda.so.1", STUBS, "").env(LD_LIBRARY_PATH=STUBS)
    return m.answer(init=34, version_code=34)


def compat(m):
    return (
        no_device(m, 804).library("libcuda.so.1", COMPAT, "590.44.01").env(LD_LIBRARY_PATH=COMPAT)
    )


def told(m, *symptoms, **options):
    m.options.update(symptoms=symptoms, **options)
    return m


def switches(m):
    return no_device(m, 802).card("0000:05:00.0", kind="0x068000")


def forked(m):
    cuda = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06"
    m.process(40, files=[cuda], nodes=["nvidiactl"]).process(41, 40, 0x40, [cuda], ["nvidiactl"])
    return told(m, "CUDA_ERROR_NOT_INITIALIZED", pid=41)


def wsl(m):
    """WSL 2 as it should be: the Windows driver's library, /dev/dxg."""
    no_driver(m).wsl().remove("/dev").remove("/proc/driver").modules("ext4").remove(
        "/sys/bus/pci/devices/0000:01:00.0"
    )
    m.options.pop("gpu")
    return m.nodes("dxg").library("libcuda.so.1", "/usr/lib/wsl/lib", "")


def shadowed_wsl(m):
    wsl(m).library("libcuda.so.1").packages("libnvidia-compute-580").remove("/usr/lib/wsl")
    return no_device(m)


def container(m):
    return m.docker().append(
        "/proc/self/mountinfo",
        "23 22 8:1 / /usr/lib/x86_64-linux-gnu/libcuda.so.1 ro - ext4 x ro\n",
    )


def library_gone_in_container(m):
    return no_driver(m).docker()


def two_libcudas(m):
    m.process(50, files=["/a/libcuda.so.580.65.06", "/b/libcuda.so.1"])
    return told(m, "35", pid=50)


# (row, a name, base machine, change, strength, text of the conclusion, other rows that rightly hold as well)
ROWS = [
    ("1", "nothing", bare, lambda m: m, "certain", "no visible NVIDIA GPU", ()),
    ("2", "card only", bare, lambda m: m.card(driver=""), "certain", "0000:01:00.0", ()),
    ("2", "packages", bare, lambda m: m.card(driver="").packages("nvidia-driver-580"), "certain",
     "packages of its driver are installed", ()),
    ("4", "pod", bare, lambda m: m.file("/proc/self/cgroup", "0::/kubepods.slice/cri-containerd-0123456789ab.scope\n"),
     "certain", "without access", ()),
    ("3", "kernel side", host, no_driver, "certain", "580.65.06 runs", ()),
    ("3", "container with nodes", host, library_gone_in_container, "certain", "not visible", ()),
    ("4", "container", bare, lambda m: m.docker(), "certain", "without access to a GPU", ()),
    ("4", "container on a GPU host", bare, lambda m: m.docker().loaded().card(), "certain", "without access", ()),
    ("5", "capabilities", host, lambda m: library_gone_in_container(m).env(NVIDIA_DRIVER_CAPABILITIES="utility,video"),
     "certain", "NVIDIA_DRIVER_CAPABILITIES=utility,video", ()),
    ("6", "stub", host, stub, "certain", "stubs/libcuda.so.1", ()),
    ("6", "stub elsewhere", host, lambda m: no_device(m).answer(init=34, version_code=34), "certain",
     "both answer", ()),
    ("7", "runtime", bare, lambda m: m.library("libcudart.so.13", "/usr/local/cuda/lib64", "").answer(
        runtime_code=35, runtime_driver=0), "certain", "no driver library at all", ("1",)),
    ("7", "told", bare, lambda m: told(m, "cudaErrorInsufficientDriver"), "certain", "was reported", ("1",)),
    ("8", "runtime", host, lambda m: m.library("libcudart.so.13", "/usr/local/cuda-13.0/lib64", "").answer(
        runtime_code=35, version=12020), "certain", "CUDA up to 12.2", ("10",)),
    ("8", "wheel", host, lambda m: told(m.answer(version=12080).distribution("cupy-cuda13x", "14.0"), "35"), "certain",
     "cupy-cuda13x needs a driver for CUDA 13", ("10",)),
    ("9", "two files", host, two_libcudas, "certain", "/a/libcuda.so.580.65.06 and /b/libcuda.so.1", ()),
    ("10", "told", host, lambda m: told(m.answer(version=12080), "222"), "likely", "NVRTC 13.0 is newer", ()),
    ("10", "note", host, lambda m: m.answer(version=12080), "certain", "NVRTC 13.0 is newer", ()),
    ("11", "new GPU", host, lambda m: told(m.answer(capability=120, archs="75 80 90"), "209"), "certain",
     "first CUDA for it is 12.8", ()),
    ("12", "old GPU", host, lambda m: told(m.answer(capability=61), "no kernel image is available"), "certain",
     "last CUDA for it is 12.9", ()),
    ("13", "empty", host, lambda m: no_device(m).env(CUDA_VISIBLE_DEVICES=""), "certain", "hides all 1", ()),
    ("13", "-1 by Slurm", host, lambda m: no_device(m).env(CUDA_VISIBLE_DEVICES="-1", SLURM_JOB_ID="7"), "certain",
     "Slurm", ()),
    ("13", "no NVML", host, lambda m: no_device(m).answer(nvml=9).env(CUDA_VISIBLE_DEVICES="-1"), "likely",
     "hides all GPUs",
     ()),
    ("14", "index", host, lambda m: no_device(m).env(CUDA_VISIBLE_DEVICES="3"), "certain", "entry 1 ('3')", ()),
    ("14", "uuid", host, lambda m: no_device(m).env(CUDA_VISIBLE_DEVICES="GPU-dead"), "certain", UUID, ()),
    ("14", "second entry", host, lambda m: m.env(CUDA_VISIBLE_DEVICES=UUID[:12] + ",9"), "certain",
     "entry 2 ('9')", ()),
    ("15", "none", host, lambda m: no_device(container(m).remove("/dev")).env(NVIDIA_VISIBLE_DEVICES="none"), "certain",
     "'none'", ()),
    ("15", "void, no library", bare, lambda m: m.docker().env(NVIDIA_VISIBLE_DEVICES="void"), "certain", "'void'", ()),
    ("16", "shadow", host, shadowed_wsl, "certain", "libcuda.so.580.65.06, shadows", ()),
    ("17", "no dxg", host, lambda m: no_device(wsl(m).remove("/dev")), "certain", "old kernel", ()),
    ("17", "WSL 1", bare, lambda m: m.wsl("4.4.0-19041-Microsoft"), "certain", "WSL 1", ()),
    ("18", "nouveau", host, lambda m: no_device(unloaded(m).card(driver="nouveau").modules("nouveau")), "certain",
     "nouveau owns", ()),
    ("19", "no module", host, lambda m: unloaded(m).file("/lib/modules/6.8.0-60-generic/modules.dep"), "certain",
     "6.8.0-60-generic", ()),
    ("20", "log", host, lambda m: secure_boot(module_file(unloaded(m))).log(
        "Loading of module with unavailable key is rejected", "nvidia: key was rejected by service"), "certain",
     "nvidia: key", ()),
    ("20", "another module's key", host, lambda m: secure_boot(module_file(unloaded(m))).log(
        "Loading of module with unavailable key is rejected"), "likely", "refused by", ()),
    ("20", "no log", host, lambda m: secure_boot(module_file(unloaded(m))).remove("/var/log"), "likely",
     "refused by Secure Boot", ()),
    ("21", "flavour", host, lambda m: no_device(m).answer(nvml_count=0).log(
        "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1c82) installed in this system is not supported by open "
        "nvidia.ko because it does not include the required GPU System Processor"), "certain", "open nvidia.ko", ()),
    ("22", "adapter", host, lambda m: no_device(m).answer(nvml_count=0).log(
        "NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x62:0x40:2477)"), "cannot tell", "0x62:0x40", ()),
    ("23", "NVML", host, lambda m: m.loaded("575.57.08").answer(nvml=18), "certain", "575.57.08", ()),
    ("24", "CUDA", host, lambda m: no_device(m, 803).loaded("575.57.08").answer(nvml=18), "certain",
     "refuses the pair", ("23",)),
    ("25", "GeForce", host, lambda m: compat(m).answer(gpu="NVIDIA GeForce RTX 4090"), "certain", "RTX 4090", ()),
    ("25", "no name", host, lambda m: compat(m).answer(nvml=9), "likely", "not known", ()),
    ("26", "stopped", host, switches, "certain", "does not run", ()),
    ("26", "fabric state", host, lambda m: no_device(m, 802).answer(fabric=1).file("/proc/9/comm", "nv-fabricmanage\n"),
     "likely", "runs, and", ()),
    ("27", "no switch", host, lambda m: no_device(m, 802), "cannot tell", "cause is unknown", ()),
    ("28", "module", host, lambda m: no_device(m, 999).modules("nvidia"), "certain", "module nvidia_uvm", ()),
    ("28", "node", host, lambda m: no_device(container(m), 999).remove("/dev/nvidia-uvm"), "certain",
     "node /dev/nvidia-uvm", ()),
    ("29", "suspend", host, lambda m: no_device(m, 999).log("PM: suspend entry (deep)", "PM: suspend exit"), "likely",
     "PM: suspend entry", ()),
    ("30", "mode", host, lambda m: no_device(m.nodes(mode=0o660, answer="EACCES")), "certain", "0660", ()),
    ("D4", "SELinux", host, lambda m: no_device(m.nodes(answer="EACCES")), "likely", "SELinux", ()),
    ("31", "policy", host, lambda m: no_device(container(m).nodes(answer="EPERM")).answer(nvml=999), "certain",
     "device policy", ()),
    ("32", "MIG", host, lambda m: no_device(m).answer(mig=1, instances=0), "certain", "no compute instance", ()),
    ("33", "MIG", host, lambda m: m.answer(mig=1, instances=7), "certain", "7 MIG instances", ()),
    ("34", "prohibited", host, lambda m: m.answer(context=46, mode=2), "certain", "prohibited", ()),
    ("34", "exclusive", host, lambda m: m.answer(context=46, mode=3, processes=1), "certain", "1 other process", ()),
    ("34", "hidden", host, lambda m: container(m).answer(context=46, mode=3), "likely", "container hides", ()),
    ("35", "no socket", host, lambda m: no_device(m, 805).env(CUDA_MPS_PIPE_DIRECTORY="/tmp/mps"), "certain",
     "no control socket", ()),
    ("36", "fork", host, forked, "certain", "Process 41", ()),
    ("37", "config", host, lambda m: m.card(config=b"\xff" * 64), "certain", "all ones", ()),
    ("37", "NVML", host, lambda m: no_device(m, 999).answer(nvml_device=15), "certain", "NVML says", ()),
    ("37", "log", host, lambda m: m.log("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."), "certain",
     "fallen off", ()),
    ("38", "code", host, lambda m: m.answer(copy=214), "certain", "214", ()),
    ("38", "log", host, lambda m: m.log("NVRM: Xid (PCI:0000:01:00): 94, pid=12, Contained ECC error"), "certain",
     "Xid", ()),
    ("38", "remap", host, lambda m: m.answer(remap=1), "certain", "waits for a reset", ()),
    ("39", "two", host, lambda m: m.distribution("cupy-cuda13x").distribution("cupy"), "certain", "cupy-cuda13x", ()),
    ("39", "owners", host, lambda m: m.distribution("cupy-cuda13x").owned("cupy-fork", "cupy"), "certain",
     "cupy-fork", ()),
    ("39", "PyCUDA", host, lambda m: m.owned("pycuda", "pycuda").owned("pycuda-mine", "pycuda"), "certain",
     "distributions of PyCUDA", ()),
    ("40", "absent", host, lambda m: m.remove("/usr/local/cuda-13.0"), "certain", "libnvrtc", ()),
    ("40", "wheel's", bare, lambda m: m.distribution("cupy-cuda12x"), "certain", "libnvrtc.so.12", ("1",)),
    ("40", "builtins", host, lambda m: m.remove("/usr/local/cuda-13.0/lib64/libnvrtc-builtins.so.13.0").file(
        "/usr/local/cuda-13.0/lib64/libnvrtc-builtins.so.13.1"), "certain", "13.1 beside it", ()),
    ("41", "arch", host, lambda m: m.remove("/usr/local/cuda-13.0/bin").toolkit("12.6", (50, 60, 90)).answer(
        capability=120), "certain", "first that does is of CUDA 12.8", ()),
    ("41", "compiler", host, lambda m: m.host_compiler("16.1.0"), "certain", "GCC 16", ()),
    ("42", "runtimes", host, lambda m: told(m.process(
        60, files=["/a/libcudart.so.12", "/b/libcudart.so.13"]), "invalid resource handle", pid=60), "cannot tell",
     "/a/libcudart.so.12 and /b/libcudart.so.13", ()),
    ("43", "no pattern", host, lambda m: no_device(m, 304), "cannot tell", "No known pattern", ()),
    ("43", "told", host, lambda m: told(m, "719"), "cannot tell", "No known pattern", ()),
    ("L1", "not a library", host, lambda m: no_device(m).file(
        "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06", "not ELF"), "certain", "refuses", ()),
    ("L4", "WSL", host, lambda m: no_device(wsl(m).remove("/usr/lib/wsl")), "certain", "paravirtualisation", ()),
    ("L7", "stub beside", host, lambda m: m.library("libcuda.so", STUBS, "").env(LD_LIBRARY_PATH=STUBS), "certain",
     "Numba", ()),
    ("L6", "hidden", host, lambda m: m.env(TREADLE_LIBCUDA="none"), "certain", "hidden from Treadle", ()),
    ("D1", "ENXIO", host, lambda m: no_device(m.nodes(answer="ENXIO")), "certain", "no working driver", ()),
    ("I1", "two installers", host, lambda m: m.packages("nvidia-driver-580").file("/usr/bin/nvidia-uninstall"),
     "certain", "nvidia-driver-580", ()),
    ("I2", "versions", host, lambda m: m.file("/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14"), "certain",
     "550.54.14", ()),
    ("I3", "WSL", host, lambda m: wsl(m).packages("nvidia-driver-580"), "certain", "belongs to Windows", ()),
    ("I4", "WSL", host, lambda m: wsl(m).packages("cuda", "libnvidia-compute-580", automatic=["libnvidia-compute-580"]),
     "likely", "in WSL", ("I3",)),
    ("I4", "run-file", host, lambda m: m.packages(
        "cuda-13-0", "nvidia-driver-580", automatic=["nvidia-driver-580"]).file("/usr/bin/nvidia-uninstall"), "likely",
     "run-file", ("I1",)),
    ("I5", "image", host, lambda m: no_device(m, 803).docker().loaded("575.57.08").packages("libnvidia-compute-580"),
     "likely", "hides the one of the host", ("24",)),
    ("V1", "vfio", bare, lambda m: m.card(driver="vfio-pci"), "certain", "virtual machine", ("2",)),
    ("D3", "changed", host, lambda m: m.answer(garble=1), "certain", "came back changed", ()),
    ("P4", "no cuBLAS", host, lambda m: failed_at(m, "matrix product"), "certain", "libcublas", ()),
    ("P5", "hidden", host, lambda m: m.env(TREADLE_LIBRARY_PATH="none"), "certain", "hidden from Treadle", ()),
    ("40", "Treadle's run", host, lambda m: failed_at(m.remove("/usr/local/cuda-13.0"), "compile"), "certain",
     "No libnvrtc", ()),
    ("T3", "name", host, lambda m: m.env(TREADLE_DEVICE="gpu"), "certain", "'gpu' names no device", ()),
    ("T4", "no GPU", bare, lambda m: m.env(TREADLE_DEVICE="cuda"), "certain", "none was verified", ("1",)),
    ("P1", "majors", host, lambda m: m.distribution("cupy-cuda13x").distribution("nvidia-cublas-cu12"), "certain",
     "CUDA 12: nvidia-cublas-cu12", ()),
    ("P2", "twice", host, lambda m: m.distribution("numba-cuda", "0.1").distribution("numba-cuda", "0.2"), "certain",
     "0.1 and 0.2", ()),
]  # fmt: skip


@pytest.fixture(scope="session")
def standin(tmp_path_factory):
    return compile_standin(tmp_path_factory.mktemp("standin"))


@pytest.mark.parametrize(
    ("row", "base", "change", "strength", "text", "others"),
    [(r[0], *r[2:]) for r in ROWS],
    ids=[f"{r[0]}-{r[1]}" for r in ROWS],
)
def test_row(tmp_path, standin, row, base, change, strength, text, others):
    evidence, verdict = judged(change(base(tmp_path, standin)))
    found = {f.row.id: f for f in verdict.findings}
    shown = {id: f.conclusion for id, f in found.items()}
    assert set(found) == {row, *others}, shown
    assert found[row].strength == strength, shown
    assert re.search(re.escape(text), found[row].conclusion), shown
    rests_on_what_was_checked(evidence, verdict)
    assert not [u for u in verdict.unjudged if u.why.startswith(ROW_FAILED)]


def test_every_row_of_the_table_has_a_machine():
    from treadle.check.rows import ROWS as TABLE

    tested = {r[0] for r in ROWS}
    elsewhere = {"L2", "L3", "L5", "D2", "P3", "T1", "T2"}  # test_check_probes.py
    assert {row.id for row in TABLE} - elsewhere <= tested
    assert {str(n) for n in range(1, 44)} <= tested


@pytest.mark.parametrize("base", [host, container, wsl])
def test_a_healthy_machine_has_no_finding(tmp_path, standin, base):
    fake = host(tmp_path, standin)
    evidence, verdict = judged(base(fake) if base is not host else fake)
    assert [f.row.id for f in verdict.findings] == []
    assert verdict.gpu.passed and verdict.software.passed and verdict.exit_status(True) == 0
    assert evidence["E1"].values["version"] in ("580.65.06", "")
