"""Traps of driver packages, and rows about Treadle itself."""

import re

from ..judge import LIKELY, NOTE, WARNS, Row, match
from . import signs as s


def two_installers(e):
    if not e("E21.run_file") or not e("E21.drivers"):
        return None
    several = e("E21.versions")
    both = (
        f" Libraries of {len(several)} versions lie side by side: {', '.join(several)}."
        if len(several) > 1
        else ""
    )
    return match(packages=", ".join(e("E21.drivers")), sign=e("E21.run_file")[0], both=both)


def several_versions(e):
    """Without a run-file's traces the second version's origin is not known."""
    if len(e("E21.versions")) < 2 or (
        e("E21.run_file") and e.knows("E21.drivers") and e("E21.drivers")
    ):
        return None
    return match(versions=", ".join(e("E21.versions")))


def driver_in_wsl(e):
    """Row 16 is the same package when it already does harm."""
    if not e("E10.inside") or not e("E21.drivers"):
        return None
    if (
        e.knows("E1.file")
        and not e("E1.file").startswith("/usr/lib/wsl/")
        and e.knows("E3.init")
        and s.no_device(e)
    ):
        return None
    return match(packages=", ".join(e("E21.drivers")))


def pulled_in(e):
    """A meta-package brought the display driver to a place where it does harm."""
    if not e("E21.metas") or not e("E21.automatic"):
        return None
    where = ""
    if e("E10.inside"):
        where = "in WSL, where the driver belongs to Windows"
    elif e("E9.inside"):
        where = "in a container, where the driver belongs to the host"
    elif e("E21.run_file"):
        where = "beside a driver of NVIDIA's run-file installer"
    if not where:
        return None
    return match(
        LIKELY, meta=", ".join(e("E21.metas")), packages=", ".join(e("E21.automatic")), where=where
    )


def driver_in_container(e):
    """The image's own driver library hides the host's."""
    if not e("E9.inside") or e("E10.inside") or not e("E21.drivers"):
        return None
    if not e("E5.present") or not s.versions_differ(e):
        return None
    return match(
        LIKELY,
        packages=", ".join(e("E21.drivers")),
        library=s.library_version(e),
        loaded=e("E5.version"),
    )


def bound_elsewhere(e):
    gpus = [gpu for gpu in e("E6.gpus") if gpu["driver"] == "vfio-pci"]
    if not gpus:
        return None
    return match(slot=gpus[0]["slot"], weight="" if len(gpus) == len(e("E6.gpus")) else NOTE)


def cannot_import(e):
    if e("E24.imported"):
        return None
    return match(error=e("E24.import_error"))


def software_fails(e):
    if not e("E24.imported"):
        return None
    ladder = e("E24.ladder_soft") if e.knows("E24.ladder_soft") else []
    if any(rung["name"] == "driver library" and rung["status"] == "FAIL" for rung in ladder):
        return None  # this build has none
    failed = [step for step in e("E24.soft") if step["status"] == "FAIL"]
    if failed:
        return match(step=failed[0]["step"], detail=failed[0]["detail"])
    if e("E24.ended") != "finished" and e("E24.step").endswith("on soft:0"):
        return match(step=e("E24.step"), detail=e("E24.detail"))
    return None


def no_such_device(e):
    value = s.variable(e, "TREADLE_DEVICE")
    if not value or re.fullmatch(r"auto|(cuda|soft)(:\d+)?", value):
        return None
    return match(value=value)


def asked_for_gpu(e):
    """Programs of this environment ask for a GPU, and its verification did not pass."""
    value = s.variable(e, "TREADLE_DEVICE") or ""
    if not re.fullmatch(r"cuda(:\d+)?", value) or not e("E24.imported"):
        return None
    steps = e("E24.cuda")
    if steps and all(step["status"] == "PASS" for step in steps):
        return None
    return match(value=value)


ROWS = (
    Row("I1", "a package manager's driver and a run-file driver",
        "driver packages, and the run-file installer's own uninstaller", two_installers,
        "Two installers have put a driver here: packages ({packages}) and NVIDIA's run-file ({sign}). Each upgrade of "
        "one overwrites files of the other.{both}", ("one installer",), WARNS),
    Row("I2", "driver libraries of several versions", "more than one libcuda.so.VERSION in the system's folders",
        several_versions, "Driver libraries of several versions lie in the system's folders: {versions}.",
        ("one installer",), WARNS),
    Row("I3", "a Linux display driver inside WSL", "WSL; a driver package is installed", driver_in_wsl,
        "A Linux display driver is installed inside WSL ({packages}). The driver belongs to Windows; this one can only "
        "hide it.", ("wsl remove driver",), WARNS),
    Row("I4", "a display driver pulled in by a meta-package",
        "a CUDA meta-package; a driver package that was installed automatically; WSL, a container or a run-file driver",
        pulled_in, "The meta-package {meta} has pulled in a display driver ({packages}) {where}.", ("toolkit only",),
        WARNS),
    Row("I5", "a driver inside a container's image",
        "a container; driver packages in it; the library's version is not the loaded module's", driver_in_container,
        "The image brings driver packages of its own ({packages}): its library {library} hides the one of the host's "
        "driver {loaded}.", ("image without driver",)),
    Row("V1", "no device; the GPU belongs to a virtual machine", "the PCI device is bound to vfio-pci",
        bound_elsewhere, "The GPU {slot} is reserved for a virtual machine (bound to vfio-pci).", ("unbind vfio",)),
    Row("T1", "Treadle cannot be imported", "a child process that imports it failed", cannot_import, "{error}",
        ("reinstall treadle",)),
    Row("T3", "Treadle refuses the name of a device", "TREADLE_DEVICE is not auto, soft[:N] or cuda[:N]",
        no_such_device, "TREADLE_DEVICE={value!r} names no device: Treadle refuses it.", ("fix device",), WARNS),
    Row("T4", "Treadle asks for a GPU that is not there", "TREADLE_DEVICE is cuda[:N]; no GPU was verified",
        asked_for_gpu, "TREADLE_DEVICE={value!r} asks for an NVIDIA GPU, and none was verified: programs will not fall "
        "back to the software device.", ("fix device",), WARNS),
    Row("T2", "the software device does not work", "a step of its verification failed", software_fails,
        "The software device failed at '{step}': {detail}", ("report treadle",), WARNS),
)  # fmt: skip
