"""Rows 1 to 9, 23 to 25: which driver library there is, and whether it fits."""

from ..judge import LIKELY, NOTE, UNKNOWN, WARNS, Row, match
from . import signs as s


def nothing_here(e):
    if not s.no_library(e) or e("E9.inside") or e("E10.inside"):
        return None
    if e("E6.gpus") or e("E5.present"):
        return None
    return match()


def gpu_without_driver(e):
    if (
        not s.no_library(e)
        or e("E9.inside")
        or e("E10.inside")
        or not e("E6.gpus")
        or e("E5.present")
    ):
        return None
    what = "its driver is not installed (or not for this root)"
    packages = e("E21.drivers") if e.knows("E21.drivers") else {}
    if packages:
        what = f"packages of its driver are installed ({', '.join(packages)}), but neither module nor library is there"
    return match(gpu=e("E6.gpus")[0]["slot"], what=what)


def kernel_side_only(e):
    if not s.no_library(e) or not e("E5.present"):
        return None
    if not e("E9.inside"):
        return match(version=e("E5.version"))
    if not (e("E7.nodes") or e("E9.driver_mounts")) or lacks_compute(e) or asked_for_none(e):
        return None  # rows 4, 5 and 15
    return match(version=e("E5.version"), advice=("container gpus",))


def no_gpu_given(e):
    if not s.no_library(e) or not e("E9.inside"):
        return None
    if e("E7.nodes") or e("E9.driver_mounts") or asked_for_none(e):
        return None
    return match()


def asked_for_none(e):
    return s.variable(e, "NVIDIA_VISIBLE_DEVICES") in ("", "none", "void")


def lacks_compute(e):
    wanted = s.variable(e, "NVIDIA_DRIVER_CAPABILITIES")
    return wanted is not None and not {"compute", "all"} & set(wanted.replace(" ", "").split(","))


def no_compute_capability(e):
    if not s.no_library(e) or not e("E9.inside") or not e("E7.gpus") or not lacks_compute(e):
        return None
    return match(value=s.variable(e, "NVIDIA_DRIVER_CAPABILITIES"))


def stub(e):
    if not e("E1.opened") or not e("E2.stub"):
        return None
    return match(file=e("E1.real"), signs="; ".join(e("E2.signs")), how=e("E1.how"))


def unversioned_stub(e):
    """Some programs (Numba) open libcuda.so first."""
    found = e("E1.unversioned")
    if not e("E1.opened") or e("E2.stub") or not found["opened"] or found["real"] == e("E1.real"):
        return None
    if "/stubs/" not in found["file"] and "/stubs/" not in found["real"]:
        return None
    return match(stub=found["real"], file=e("E1.real"))


def runtime_without_library(e):
    """The answer of a real runtime library, or the user's 35 with no driver library here."""
    if not s.no_library(e):
        return None
    runtime = e("E15.runtime") if e.knows("E15.runtime") else {}
    if runtime.get("count_code") == s.OLD_DRIVER and runtime.get("driver") == 0:
        weight = "" if s.told(e, s.OLD_DRIVER) else NOTE
        return match(
            weight=weight, said=f"{runtime['file']} answers 35, and 0 for the driver's version"
        )
    if s.told(e, s.OLD_DRIVER):
        return match(said="error 35 was reported")
    return None


def old_driver(e):
    """35 because the driver's CUDA major is below the client's: of the runtime library, or of wheels here."""
    if not e("E1.opened") or e("E2.stub"):
        return None
    version, major, client = e("E3.version"), *client_major(e)
    if major is None or version // 1000 >= major:
        return None
    runtime = e("E15.runtime") if e.knows("E15.runtime") else {}
    if runtime.get("count_code") == s.OLD_DRIVER or s.told(e, s.OLD_DRIVER):
        return match(driver=s.cuda(version), client=client, major=major)
    return match(weight=WARNS, driver=s.cuda(version), client=client, major=major)


def client_major(e):
    """(major, its name) of the newest CUDA that something here was made for."""
    runtime = e("E15.runtime") if e.knows("E15.runtime") else {}
    if runtime.get("runtime_code") == 0 and runtime.get("runtime"):
        return runtime["runtime"] // 1000, runtime["file"]
    majors = e("E14.majors") if e.knows("E14.majors") else {}
    if majors:
        name = max(majors, key=majors.get)
        return majors[name], name
    return None, ""


def other_library_first(e):
    if not s.told(e, s.OLD_DRIVER) and not (
        e.knows("E15.runtime") and e("E15.runtime").get("count_code") == s.OLD_DRIVER
    ):
        return None
    files = list(dict.fromkeys(e("E20.cuda")))
    if len(files) < 2:
        return None
    if e("E1.opened"):
        version, major = e("E3.version"), client_major(e)[0]
        if major is not None and version // 1000 < major:
            return None
    return match(files=" and ".join(files))


def management_mismatch(e):
    if not e("E4.opened") or e("E4.init") != s.NVML_MISMATCH or not s.versions_differ(e):
        return None
    return match(loaded=e("E5.version"), library=s.library_version(e), advice=mismatch_advice(e))


def cuda_mismatch(e):
    if not s.seen(e, s.MISMATCH) or not s.versions_differ(e):
        return None
    return match(loaded=e("E5.version"), library=s.library_version(e), advice=mismatch_advice(e))


def mismatch_advice(e):
    return ("container restart",) if e.knows("E9.inside") and e("E9.inside") else ("reload driver",)


def compatibility_library(e):
    if not s.seen(e, s.COMPAT) or not e("E1.opened"):
        return None
    if "/compat/" not in e("E1.real") and "/compat/" not in e("E1.file"):
        return None
    names = [d.get("name") or "" for d in e.maybe("E4.devices", [])]
    geforce = [n for n in names if "GeForce" in n]
    if geforce:
        return match(file=e("E1.real"), gpu=geforce[0])
    return match(
        LIKELY, file=e("E1.real"), gpu=names[0] if names else "this GPU (its name is not known)"
    )


def does_not_load(e):
    """The file is there, and the loader refuses it."""
    if e("E1.opened") or e("E1.absent"):
        return None
    return match(error=e("E1.error"))


def file_name(e):
    """Which file; only the name where dlopen itself did not return."""
    return e("E1.real") if e.knows("E1.real") else "libcuda.so.1"


def no_answer(e):
    if e("E3.ended") != "timed out":
        return None
    return match(UNKNOWN, step=e("E3.step"), detail=e("E3.detail"), file=file_name(e))


def dies(e):
    if e("E3.ended") not in ("killed", "failed"):
        return None
    step = e("E3.step") or "an unknown step"
    return match(step=step, detail=e("E3.detail"), file=file_name(e))


def wsl_without_library(e):
    if not s.no_library(e) or not e("E10.inside") or not e("E7.dxg"):
        return None
    return match()


def other_file(e):
    """Treadle's own discovery took another file than the loader gives to other programs."""
    if not e.knows("E24.driver_file") or not e("E1.opened"):
        return None
    if e("E24.driver_file") == e("E1.real"):
        return None
    return match(treadle=e("E24.driver_file"), loader=e("E1.real"))


def hidden(e):
    if s.variable(e, "TREADLE_LIBCUDA") not in ("", "none"):
        return None
    return match()


ROWS = (
    Row("1", "libcuda.so.1 cannot be opened",
        "it is not found; no NVIDIA PCI device; no kernel driver; neither WSL nor a container", nothing_here,
        "There is no NVIDIA driver library here and no visible NVIDIA GPU.", ("use software device",)),
    Row("2", "libcuda.so.1 cannot be opened",
        "it is not found; an NVIDIA PCI device is there; no kernel driver is loaded", gpu_without_driver,
        "An NVIDIA GPU is present ({gpu}), and {what}.",
        ("install driver",)),
    Row("3", "libcuda.so.1 cannot be opened", "it is not found; the kernel driver is loaded", kernel_side_only,
        "The kernel driver {version} runs, and its user-mode library is not visible: a partial installation, or a "
        "container without the driver mounted.", ("install library",)),
    Row("4", "libcuda.so.1 cannot be opened in a container",
        "a container; no NVIDIA device node; no driver file mounted", no_gpu_given,
        "This container was started without access to a GPU. Whether its host has one cannot be seen from here.",
        ("container gpus",), sources=("leejet/stable-diffusion.cpp#1352",)),
    Row("5", "a container has device nodes and no libcuda.so.1",
        "a container; /dev/nvidiaN is there; NVIDIA_DRIVER_CAPABILITIES lacks compute", no_compute_capability,
        "The driver was given to this container without its compute part (NVIDIA_DRIVER_CAPABILITIES={value}).",
        ("container capabilities",)),
    Row("6", "error 34, stub library",
        "the file lies in a folder named stubs, or cuInit and cuDriverGetVersion both answer 34", stub,
        "The toolkit's link-time stub {file} was loaded instead of a driver ({signs}; found by {how}).",
        ("remove stubs",), sources=("numba/numba#9732", "numba/numba#8985", "NVIDIA/warp#219")),
    Row("7", "error 35, insufficient driver",
        "the runtime library says 0 for the driver's version (or 35 was reported); libcuda.so.1 is not found",
        runtime_without_library,
        "Error 35 does not mean an old driver here: there is no driver library at all ({said}).",
        ("see library rows",)),
    Row("8", "error 35, insufficient driver",
        "the driver's CUDA version is below the major version of the runtime library or wheel", old_driver,
        "The driver supports CUDA up to {driver}, and {client} needs a driver for CUDA {major}.",
        ("newer driver or older wheel",), sources=("NVIDIA/cutlass#2866", "cupy/cupy#9252")),
    Row("9", "error 35, insufficient driver",
        "the driver's version is not too old; two files libcuda are mapped by the process", other_library_first,
        "Two driver libraries are loaded in one process: {files}. Error 35 can come from the first of them.",
        ("one libcuda",)),
    Row("23", "NVML: driver/library version mismatch",
        "nvmlInit answers 18; the loaded module and the library files have different versions",
        management_mismatch,
        "The loaded kernel module is {loaded}, the library is {library}: usually packages were changed under a "
        "loaded module.", ("reload driver",),
        sources=("NVIDIA/nvidia-container-toolkit#171", "NVIDIA/nvidia-container-toolkit#394")),
    Row("24", "error 803, system driver mismatch",
        "error 803; the loaded module and the library files have different versions", cuda_mismatch,
        "CUDA refuses the pair of kernel module {loaded} and library {library}: usually packages were changed under "
        "a loaded module.", ("reload driver",)),
    Row("25", "error 804, compatibility not supported",
        "error 804; the library's path holds /compat/; NVML names a GeForce (without the name: likely)",
        compatibility_library,
        "The forward-compatibility library {file} was chosen on {gpu}, which may not use it.", ("no compat",),
        sources=("NVIDIA/nvidia-docker#1515", "QuipNetwork/quip-miner#24")),
    Row("L1", "libcuda.so.1 is there and does not load", "the loader's message is not 'no such file'",
        does_not_load, "The loader refuses the driver library: {error}", ("loader message",)),
    Row("L2", "cuInit, or another call of the driver, does not return",
        "the child that called it was ended at its time limit", no_answer,
        "{step} of {file} did not return ({detail}). Whether it hangs or is only slow cannot be told.",
        ("init hangs",)),
    Row("L3", "the driver library ends the process", "the child that asked the library died", dies,
        "The driver library {file} ends the process that uses it, in {step} ({detail}).", ("library dies",)),
    Row("L4", "libcuda.so.1 cannot be opened in WSL", "WSL; /dev/dxg is there; the library is not found",
        wsl_without_library,
        "WSL has GPU paravirtualisation (/dev/dxg), and the driver library of the Windows driver is not visible.",
        ("wsl library",)),
    Row("L5", "Treadle and other programs use different driver libraries",
        "Treadle's own discovery took another file than the loader gives by name", other_file,
        "Treadle uses {treadle}; other programs get {loader}.", ("one libcuda",), WARNS),
    Row("L7", "error 34 in programs that open libcuda.so",
        "libcuda.so.1 is a driver; libcuda.so lies in a folder named stubs", unversioned_stub,
        "libcuda.so.1 is the driver {file}, and libcuda.so (which Numba opens first) is the toolkit's stub {stub}.",
        ("remove stubs",), WARNS, sources=("numba/numba#9732",)),
    Row("L6", "Treadle does not look for the NVIDIA driver", "TREADLE_LIBCUDA is empty or 'none'", hidden,
        "The NVIDIA driver is hidden from Treadle by TREADLE_LIBCUDA.", ("unset libcuda",)),
)  # fmt: skip
