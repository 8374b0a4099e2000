"""``treadle check``: machines that nearly show a row's pattern. What is missing must keep the row from holding."""

import pytest
from check_machines import UUID, bare, compile_standin, host, judged, rests_on_what_was_checked
from test_check_rows import (
    COMPAT,
    STUBS,
    container,
    failed_at,
    module_file,
    no_device,
    no_driver,
    secure_boot,
    shadowed_wsl,
    switches,
    told,
    two_libcudas,
    unloaded,
    wsl,
)
from treadle.check.judge import BLOCKS, NOTE, ROW_FAILED, WARNS

CUDA = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06"
OPEN_ONLY = "NVRM: GPU installed in this system is not supported by open nvidia.ko"
SUSPEND = "PM: suspend entry (deep)"
FIRST_VISIBLE = "CUDA_VISIBLE_DEVICES"


def forked(m, flags, files, parent_files, nodes=()):
    m.process(40, files=parent_files, nodes=nodes).process(41, 40, flags, files, nodes)
    return told(m, "3", pid=41)


def ladder(m, driver, compiler):
    from check_machines import passed

    rungs = [{"name": "driver library", "status": "PASS", "detail": driver},
             {"name": "compiler", "status": "PASS", "detail": compiler}]  # fmt: skip
    m.options["gpu"] = [*passed("cuda", "cuda:0"), {"facts": {"ladder_cuda": rungs}}]
    return m


def mps_socket(m, user):
    m.file("/tmp/mps/control").env(CUDA_MPS_PIPE_DIRECTORY="/tmp/mps")
    m.options["user"] = user
    return no_device(m, 805)


def visible(m, value):
    return m.env(CUDA_VISIBLE_DEVICES=value)


def no_uvm_in_container(m):
    return no_device(container(m), 999).modules("nvidia")


# (what is different, base machine, change, exact set of rows)
NEAR = [
    # the library is there, or is not, for another reason
    ("kernel driver without a card", bare, lambda m: m.loaded(), {"3"}),
    ("a card in a container", bare, lambda m: m.card().docker(), {"4"}),
    ("a card in WSL", bare, lambda m: m.wsl().card().nodes("dxg"), {"L4"}),
    ("container in WSL", bare, lambda m: m.wsl().docker(), {"4"}),
    ("a container with data of that name", bare, lambda m: m.docker().append(
        "/proc/self/mountinfo", "23 22 8:1 /srv/nvidia-data /data/nvidia rw - ext4 x rw\n"), {"4"}),
    ("a shell below a container service", bare,
     lambda m: m.file("/proc/self/cgroup", "0::/system.slice/docker.service\n"),
     {"1"}),
    ("container with mounts only", host, lambda m: container(no_driver(m)).remove("/dev"), {"3"}),
    ("container with mounts, none wanted", host,
     lambda m: container(no_driver(m)).remove("/dev").nodes("nvidiactl").env(NVIDIA_VISIBLE_DEVICES="none"), {"15"}),
    ("compute is among the capabilities", host,
     lambda m: no_driver(m).docker().env(NVIDIA_DRIVER_CAPABILITIES="utility, compute"), {"3"}),
    ("all capabilities", host, lambda m: no_driver(m).docker().env(NVIDIA_DRIVER_CAPABILITIES="all"), {"3"}),
    ("capabilities lack compute, the library is there", host,
     lambda m: m.docker().env(NVIDIA_DRIVER_CAPABILITIES="utility"), set()),
    ("capabilities outside of a container", host,
     lambda m: no_driver(m).env(NVIDIA_DRIVER_CAPABILITIES="utility"), {"3"}),
    ("capabilities, no nodes", bare, lambda m: m.docker().env(NVIDIA_DRIVER_CAPABILITIES="utility"), {"4"}),
    ("dxg without WSL", host, lambda m: no_driver(m).nodes("dxg"), {"3"}),
    ("libcuda.so is the same file", host, lambda m: m.library("libcuda.so.1").file("/x"), set()),
    ("libcuda.so is another driver", host,
     lambda m: m.library("libcuda.so", "/opt/d", "").env(LD_LIBRARY_PATH="/opt/d"), set()),
    ("both are stubs", host,
     lambda m: no_driver(m).library("libcuda.so.1", STUBS, "").library("libcuda.so", STUBS, "").env(
        LD_LIBRARY_PATH=STUBS).answer(init=34, version_code=34), {"6"}),
    ("34 from cuInit alone", host, lambda m: no_device(m, 34), {"43"}),
    ("a runtime without library that says 100", bare,
     lambda m: m.library("libcudart.so.13", "/usr/local/cuda/lib64", "").answer(runtime_code=100, runtime_driver=0),
     {"1"}),
    ("a runtime that knows a driver", bare,
     lambda m: m.library("libcudart.so.13", "/usr/local/cuda/lib64", "").answer(runtime_code=35, runtime_driver=12000),
     {"1"}),
    ("an old driver and nothing newer", host, lambda m: m.remove("/usr/local").answer(version=12080), {"40"}),
    ("two libcudas and no error 35", host, lambda m: told(two_libcudas(m)), set()),
    ("error 35 and one libcuda", host, lambda m: told(m, "35"), {"43"}),
    ("two libcudas and an old driver", host,
     lambda m: two_libcudas(m).answer(version=12020).distribution("cupy-cuda13x"), {"8", "10"}),
    ("NVML 18 and equal versions", host, lambda m: no_device(m, 304).answer(nvml=18), {"43"}),
    ("803 and equal versions", host, lambda m: no_device(m, 803), {"43"}),
    ("804 and no compat folder", host, lambda m: no_device(m, 804), {"43"}),
    ("a compat folder that works", host,
     lambda m: m.library("libcuda.so.1", COMPAT, "590.44.01").env(LD_LIBRARY_PATH=COMPAT), set()),
    ("Treadle found the same files", host,
     lambda m: ladder(m, CUDA, "NVRTC 13.0, /usr/local/cuda-13.0/lib64/libnvrtc.so.13"), set()),
    # no device
    ("hidden, and NVML has none", host, lambda m: visible(no_device(m), "").answer(nvml_count=0), {"43"}),
    ("no variable", host, lambda m: no_device(m), {"43"}),
    ("an empty variable, and a device", host, lambda m: visible(m, ""), set()),
    ("a valid index", host, lambda m: visible(no_device(m), "0"), {"43"}),
    ("a MIG name", host, lambda m: visible(no_device(m), "MIG-0"), {"43"}),
    ("a prefix that is too short", host, lambda m: visible(no_device(m), "GPU-"), {"14"}),
    ("a bad first entry, and a device", host, lambda m: visible(m, "7"), set()),
    ("a bad entry, and another count", host, lambda m: visible(m, f"{UUID},9").answer(count=2), set()),
    ("an index, and NVML has none", host, lambda m: visible(no_device(m), "3").answer(nvml_count=0), {"43"}),
    ("an index, and a stub", host, lambda m: visible(no_device(m), "3").answer(init=34, version_code=34), {"6"}),
    ("none wanted, no container", host, lambda m: no_device(m).env(NVIDIA_VISIBLE_DEVICES="none"), {"43"}),
    ("none wanted, nodes there", host, lambda m: no_device(container(m)).env(NVIDIA_VISIBLE_DEVICES="none"), {"43"}),
    ("none wanted, and it works", host,
     lambda m: container(m).remove("/dev").env(NVIDIA_VISIBLE_DEVICES="none"), set()),
    ("another library in WSL, no package", host,
     lambda m: no_device(wsl(m).library("libcuda.so.1").remove("/usr/lib/wsl")), {"43"}),
    ("WSL's library, a package, no device", host, lambda m: no_device(wsl(m).packages("nvidia-driver-580")),
     {"I3", "43"}),
    ("another library in WSL that works", host, lambda m: works(shadowed_wsl(m)), {"I3"}),
    ("no dxg, and it works", host, lambda m: wsl(m).remove("/dev"), set()),
    ("nouveau on another card", host,
     lambda m: m.card("0000:02:00.0", driver="nouveau").modules("nouveau", "nvidia"), set()),
    ("nouveau and nvidia", host, lambda m: no_device(m).card(driver="nouveau").modules("nouveau", "nvidia"), {"43"}),
    ("nouveau, and it works", host, lambda m: m.card(driver="nouveau").modules("nouveau"), set()),
    ("the module is there", host, lambda m: no_device(m).packages("nvidia-driver-580").file(
        "/lib/modules/6.8.0-60-generic/modules.dep"), {"43"}),
    ("not built, in a container", host,
     lambda m: unloaded(m).file("/lib/modules/6.8.0-60-generic/modules.dep").docker(),
     {"43"}),
    ("not built, in WSL", host, lambda m: unloaded(m).wsl().nodes("dxg").file(
        "/lib/modules/5.15.167.4-microsoft-standard-WSL2/modules.dep"), {"16"}),
    ("not built, no card", host, lambda m: unloaded(m).remove("/sys/bus/pci/devices/0000:01:00.0").file(
        "/lib/modules/6.8.0-60-generic/modules.dep"), {"43"}),
    ("not built, no package", host, lambda m: unloaded(m).file("/lib/modules/6.8.0-60-generic/modules.dep").file(
        "/var/lib/dpkg/status", ""), {"43"}),
    ("not built, bound to vfio", host, lambda m: unloaded(m).card(driver="vfio-pci").file(
        "/lib/modules/6.8.0-60-generic/modules.dep"), {"V1"}),
    ("modules unreadable", host, unloaded, {"43"}),
    ("built, and no Secure Boot", host, lambda m: module_file(unloaded(m)), {"43"}),
    ("Secure Boot, and a log without refusals", host, lambda m: secure_boot(module_file(unloaded(m))), {"43"}),
    ("Secure Boot, and it works", host, lambda m: secure_boot(module_file(m)).remove("/var/log"), set()),
    ("a flavour's message, and it works", host, lambda m: m.log(OPEN_ONLY), set()),
    ("a flavour's message, NVML has none", host,
     lambda m: no_device(m, 999).answer(nvml_count=0).log(OPEN_ONLY), {"21"}),
    ("a flavour's message, NVML has no driver", host,
     lambda m: no_device(m, 999).answer(nvml=9).log(OPEN_ONLY), {"21"}),
    ("a flavour's message, NVML sees it", host, lambda m: no_device(m, 304).log(OPEN_ONLY), {"43"}),
    ("flavour and adapter", host, lambda m: no_device(m).log(OPEN_ONLY, "NVRM: RmInitAdapter failed! (0x22)"), {"21"}),
    ("adapter, and it works", host, lambda m: m.log("NVRM: RmInitAdapter failed! (0x22)"), set()),
    ("802 and a fabric that is ready", host, lambda m: switches(m).answer(fabric=3), {"43"}),
    ("switches and another error", host, lambda m: switches(m).answer(init=304), {"43"}),
    ("802 and no NVML", host, lambda m: no_device(m, 802).answer(nvml=9), {"43"}),
    ("802, and processes are hidden", host,
     lambda m: switches(m).remove("/proc/1").file("/proc/77/comm", "sh"), {"26"}),
    ("802 in a container", host, lambda m: switches(container(m)), {"26"}),
    ("999 in WSL", host, lambda m: no_device(wsl(m), 999), {"43"}),
    ("999 in a container whose modules are hidden", host, no_uvm_in_container, {"43"}),
    ("999 in a container after a suspend", host, lambda m: no_uvm_in_container(m).log(SUSPEND), {"29"}),
    ("a suspend and another error", host, lambda m: no_device(m, 304).log(SUSPEND), {"43"}),
    ("a suspend without the module", host, lambda m: no_device(m, 999).modules("nvidia").log(SUSPEND), {"28"}),
    ("a suspend without the node", host, lambda m: no_device(m, 999).remove("/dev/nvidia-uvm").log(SUSPEND), {"28"}),
    # use
    ("EACCES of another node", host, lambda m: wsl(m).nodes("dxg", answer="EACCES"), set()),
    ("EPERM outside of a container", host, lambda m: no_device(m.nodes(answer="EPERM")), {"43"}),
    ("EPERM that the mode explains", host, lambda m: no_device(container(m).nodes(mode=0o600, answer="EPERM")), {"43"}),
    ("MIG with instances, no device", host, lambda m: no_device(m).answer(mig=1, instances=2), {"43"}),
    ("no MIG, no device", host, lambda m: no_device(m).answer(mig=0), {"43"}),
    ("MIG without instances, and it works", host, lambda m: m.answer(mig=1), set()),
    ("two of many", host, lambda m: m.answer(mig=1, instances=7, count=2), set()),
    ("one of one", host, lambda m: m.answer(mig=1, instances=1), set()),
    ("MIG and a failure", host, lambda m: no_device(m, 304).answer(mig=1, instances=7), {"43"}),
    ("46 in the default mode", host, lambda m: failed_at(m.answer(context=46), "create"), {"43"}),
    ("an exclusive mode that works", host, lambda m: m.answer(mode=3), set()),
    ("805 without the variable", host, lambda m: no_device(m, 805), {"43"}),
    ("805 and a socket of ours", host, lambda m: mps_socket(m, 0), None),  # the owner of the file decides
    ("805 and a socket of another user", host, lambda m: mps_socket(m, 54321), {"35"}),
    ("an MPS folder without an error", host, lambda m: m.env(CUDA_MPS_PIPE_DIRECTORY="/tmp/mps"), set()),
    ("error 3 and exec", host, lambda m: forked(m, 0, [CUDA], [CUDA]), {"43"}),
    ("error 3, no CUDA in it", host, lambda m: forked(m, 0x40, [], [CUDA]), {"43"}),
    ("error 3, no CUDA in the parent", host, lambda m: forked(m, 0x40, [CUDA], []), {"43"}),
    ("a fork without an error", host, lambda m: told(forked(m, 0x40, [CUDA], [CUDA])), set()),
    ("a lost GPU cannot be seen", host, lambda m: m.answer(nvml=9).remove("/var/log"), set()),
    ("memory errors are counted", host, lambda m: m.answer(ecc=2), {"38"}),
    # compilers
    ("CUDA 12.6 has the PTX of 12.5", host,
     lambda m: m.remove("/usr/local").toolkit("12.6").answer(nvrtc=126, version=12050, runtime=12050), set()),
    ("no builtins, and it compiles", host,
     lambda m: m.remove("/usr/local/cuda-13.0/lib64/libnvrtc-builtins.so.13.0"), set()),
    ("no builtins, and it does not compile", host,
     lambda m: m.remove("/usr/local/cuda-13.0/lib64/libnvrtc-builtins.so.13.0").answer(compile=7), {"40"}),
    ("NVRTC was named", bare, lambda m: told(m, "libnvrtc.so.12: cannot open"), {"1", "40"}),
    ("no NVRTC and no GPU", bare, lambda m: m, {"1"}),
    ("a failed product, and cuBLAS", host,
     lambda m: failed_at(m.library("libcublas.so.13", "/usr/local/cuda-13.0/lib64", ""), "matrix product"), {"43"}),
    ("another step failed", host, lambda m: failed_at(m, "copy back"), {"43"}),
    ("another compiler than GCC", host,
     lambda m: m.file("/usr/bin/g++", "#!/bin/sh\necho clang version 99.1.0\n"), set()),
    ("a GPU between those that nvcc knows", host, lambda m: m.answer(capability=86), set()),
    ("one CuPy", host, lambda m: m.distribution("cupy-cuda13x").distribution("cupyx-helper"), set()),
    ("one runtime", host, lambda m: told(m.process(60, files=["/a/libcudart.so.12"]), pid=60), set()),
    # installations
    ("a run-file driver alone", host, lambda m: m.file("/usr/bin/nvidia-uninstall"), set()),
    ("packages alone", host, lambda m: m.packages("nvidia-driver-580", "libnvidia-compute-580"), set()),
    ("a removed package", host, lambda m: m.file("/usr/bin/nvidia-uninstall").append(
        "/var/lib/dpkg/status", "Package: nvidia-driver-580\nStatus: deinstall ok config-files\n\n"), set()),
    ("both and two versions", host, lambda m: m.packages("nvidia-driver-580").file("/usr/bin/nvidia-uninstall").file(
        "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14"), {"I1"}),
    ("a meta-package where it belongs", host,
     lambda m: m.packages("cuda", "nvidia-driver-580", automatic=["nvidia-driver-580"]), set()),
    ("a driver chosen by hand, in WSL", host, lambda m: wsl(m).packages("cuda", "nvidia-driver-580"), {"I3"}),
    ("automatic, no meta-package, in WSL", host, lambda m: wsl(m).packages(
        "nvidia-driver-580", automatic=["nvidia-driver-580"]), {"I3"}),
    ("a meta-package in a container", host, lambda m: container(m).packages(
        "cuda-13-0", "libnvidia-compute-580", automatic=["libnvidia-compute-580"]), {"I4"}),
    ("an image's driver of the same version", host, lambda m: m.docker().packages("libnvidia-compute-580"), set()),
    ("another version, no package", host, lambda m: no_device(m, 803).docker().loaded("575.57.08"), {"24"}),
    ("another version, not in a container", host,
     lambda m: no_device(m, 803).loaded("575.57.08").packages("libnvidia-compute-580"), {"24"}),
    ("a second card for a virtual machine", host, lambda m: m.card("0000:02:00.0", driver="vfio-pci"), {"V1"}),
    ("cuda asked for, and there", host, lambda m: m.env(TREADLE_DEVICE="cuda:0"), set()),
    ("the software device asked for", bare, lambda m: m.env(TREADLE_DEVICE="soft:1"), {"1"}),
]  # fmt: skip


def works(m):
    m.options.pop("gpu", None)
    return m.answer(init=0)


@pytest.fixture(scope="session")
def standin(tmp_path_factory):
    return compile_standin(tmp_path_factory.mktemp("standin"))


@pytest.mark.parametrize(
    ("base", "change", "expected"), [n[1:] for n in NEAR], ids=[n[0] for n in NEAR]
)
def test_near_miss(tmp_path, standin, base, change, expected):
    import os

    if expected is None:
        expected = {"43"} if os.getuid() == 0 else {"35"}
    evidence, verdict = judged(change(base(tmp_path, standin)))
    assert {f.row.id for f in verdict.findings} == expected, [
        f.conclusion for f in verdict.findings
    ]
    rests_on_what_was_checked(evidence, verdict)
    assert not [u for u in verdict.unjudged if u.why.startswith(ROW_FAILED)]


RUNTIME = "/usr/local/cuda-13.0/lib64"


@pytest.mark.parametrize(
    ("row", "change", "weight"),
    [
        ("8", lambda m: m.answer(version=12080).distribution("cupy-cuda13x"), WARNS),
        ("8", lambda m: told(m.answer(version=12080).distribution("cupy-cuda13x"), "35"), BLOCKS),
        (
            "8",
            lambda m: m.answer(version=12080, runtime_code=35).library(
                "libcudart.so.13", RUNTIME, ""
            ),
            BLOCKS,
        ),
        ("10", lambda m: m.answer(version=12080), NOTE),
        ("10", lambda m: told(m.answer(version=12080), "unsupported toolchain"), BLOCKS),
        ("11", lambda m: m.answer(capability=130), WARNS),
        ("11", lambda m: told(m.answer(capability=130), "209"), BLOCKS),
        ("12", lambda m: m.answer(capability=61), WARNS),
        ("14", lambda m: m.env(CUDA_VISIBLE_DEVICES="0,9"), WARNS),
        ("38", lambda m: m.answer(ecc=1), WARNS),
        ("38", lambda m: m.answer(copy=214), BLOCKS),
        ("40", lambda m: m.remove("/usr/local/cuda-13.0"), WARNS),
        ("40", lambda m: failed_at(m.remove("/usr/local/cuda-13.0"), "compile"), BLOCKS),
        (
            "42",
            lambda m: told(
                m.process(60, files=["/a/libcudart.so.12", "/b/libcudart.so.13"]), pid=60
            ),
            WARNS,
        ),
        (
            "37",
            lambda m: m.log("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."),
            WARNS,
        ),
        (
            "37",
            lambda m: no_device(m).log(
                "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."
            ),
            BLOCKS,
        ),
        ("V1", lambda m: m.card("0000:02:00.0", driver="vfio-pci"), NOTE),
    ],
)
def test_weight(tmp_path, standin, row, change, weight):
    """A pattern whose symptom nobody has seen does not explain an unusable GPU."""
    _, verdict = judged(change(host(tmp_path, standin)))
    assert {f.row.id: f.weight for f in verdict.findings}[row] == weight


def test_a_mismatch_in_a_container_is_cured_outside(tmp_path, standin):
    _, verdict = judged(container(no_device(host(tmp_path, standin), 803).loaded("575.57.08")))
    assert [f.advice for f in verdict.findings] == [("container restart",)]
