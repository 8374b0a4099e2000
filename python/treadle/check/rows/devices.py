"""Rows 13 to 22 and 26 to 29: a driver library that shows no device, or does not start."""

from ..judge import CERTAIN, LIKELY, UNKNOWN, WARNS, Row, match
from . import signs as s
from .library import asked_for_none


def hidden_by_variable(e):
    value = s.variable(e, "CUDA_VISIBLE_DEVICES")
    if value is None or value.strip() not in ("", "-1") or not s.no_device(e):
        return None
    count = e.maybe("E4.count")
    if count == 0:
        return None
    setter = e("E8.schedulers")
    return match(
        LIKELY if count is None else CERTAIN, value=value, count="all GPUs" if count is None else f"all {count} GPU(s)",
        setter=f" It runs under {setter[0]}, which sets this variable." if setter else "",
    )  # fmt: skip


def bad_entry(value, devices):
    """(position, entry) of the first that names no GPU; the CUDA runtime ignores everything from there on."""
    names = [d["uuid"] for d in devices if d.get("uuid")]
    for position, entry in enumerate(part.strip() for part in value.split(",")):
        if entry.isdigit():
            good = int(entry) < len(devices)
        else:
            good = len(entry) > 4 and any(name.lower().startswith(entry.lower()) for name in names)
            good = good or entry.startswith("MIG-")  # names of instances are NVML's to judge: E19
        if not good:
            return position, entry
    return None


def wrong_entry(e):
    value = s.variable(e, "CUDA_VISIBLE_DEVICES")
    if value is None or value.strip() in ("", "-1") or not e("E1.opened") or e("E2.stub"):
        return None
    bad = bad_entry(value, e("E4.devices"))
    if bad is None or not e("E4.devices"):
        return None
    position, entry = bad
    names = ", ".join(str(d.get("uuid") or d["index"]) for d in e("E4.devices"))
    if s.no_device(e):
        return match(value=value, position=position + 1, entry=entry, names=names)
    if (
        position == 0 or e("E3.count") != position
    ):  # CUDA shows others: the entry is not what it is taken for
        return None
    return match(weight=WARNS, value=value, position=position + 1, entry=entry, names=names)


def container_wants_none(e):
    if not e("E9.inside") or not asked_for_none(e) or e("E7.gpus"):
        return None
    if not s.no_library(e) and not s.no_device(e):
        return None
    return match(value=s.variable(e, "NVIDIA_VISIBLE_DEVICES"))


def linux_driver_in_wsl(e):
    if not e("E10.inside") or not s.no_device(e) or e("E1.file").startswith("/usr/lib/wsl/"):
        return None
    if not e("E21.drivers"):
        return None
    return match(file=e("E1.real"), packages=", ".join(e("E21.drivers")))


def no_paravirtualisation(e):
    if (
        not e("E10.inside") or e("E9.inside") or e("E7.dxg")
    ):  # a container may only lack the node: row 4
        return None
    if not s.no_library(e) and not s.no_device(e):
        return None
    kind = (
        "this is WSL 1, which has none"
        if e("E10.generation") == 1
        else "an old kernel, or no Windows driver"
    )
    return match(kind=kind)


def nouveau(e):
    if not s.no_device(e) or not e("E6.gpus"):
        return None
    if "nouveau" not in [gpu["driver"] for gpu in e("E6.gpus")] or "nvidia" in e("E11.loaded"):
        return None
    return match()


def not_loaded(e):
    """100, or NVML's 'not loaded', with a GPU and no kernel driver, outside of containers and WSL."""
    if e("E5.present") or e("E9.inside") or e("E10.inside") or not e("E6.gpus"):
        return False
    if "nvidia" in e("E11.loaded") or {"nouveau", "vfio-pci"} & {g["driver"] for g in e("E6.gpus")}:
        return False
    if e.knows("E4.init") and e("E4.init") == s.NVML_NO_DRIVER:
        return True
    return s.no_device(e)


def module_not_built(e):
    if not not_loaded(e) or not e("E21.drivers") or e("E11.module_files"):
        return None
    return match(release=e("E11.release"), packages=", ".join(e("E21.drivers")))


REFUSED = (r"key was rejected", r"key not available", r"Loading of (unsigned )?module.*(rejected|restricted)",
           r"Lockdown:.*unsigned module", r"module verification failed.*nvidia.*required key")  # fmt: skip


def unsigned_module(e):
    if not not_loaded(e) or not e("E11.module_files") or not e("E12.secure_boot"):
        return None
    if not e.knows("E13.lines"):
        e.maybe("E13.lines")
        return match(LIKELY, said="")
    line = s.log_has(e, *REFUSED)
    if not line:
        return None
    named = s.log_has(
        e, *(rf"nvidia.*({p})|({p}).*nvidia" for p in REFUSED)
    )  # else another module may be meant
    return match(CERTAIN if named else LIKELY, said=f" The kernel's log says: {named or line}")


FLAVOUR = (
    r"not supported by (the )?open nvidia\.ko", r"not supported by the NVIDIA .*driver release",
    r"installed in this system is\s+not supported", r"requires use of the NVIDIA open kernel modules",
)  # fmt: skip


def sees_nothing(e):
    """CUDA or NVML found no device, or no driver."""
    if e.knows("E4.init") and (
        e("E4.init") == s.NVML_NO_DRIVER or (e("E4.init") == 0 and e("E4.count") == 0)
    ):
        return True
    return s.no_device(e)


def wrong_flavour(e):
    if not sees_nothing(e):
        return None
    line = s.log_has(e, *FLAVOUR)
    return match(line=line) if line else None


def init_adapter(e):
    if not sees_nothing(e):
        return None
    line = s.log_has(e, r"RmInitAdapter failed", r"rm_init_adapter failed")
    if not line or s.log_has(e, *FLAVOUR):
        return None
    return match(UNKNOWN, line=line)


def fabric_states(e):
    """0: not supported, 1: not started, 2: in progress, 3: completed."""
    return [d["fabric_state"] for d in e("E19.devices") if "fabric_state" in d]


def has_switches(e):
    return e("E6.switches") > 0 or (e.knows("E19.devices") and any(fabric_states(e)))


def fabric_manager(e):
    if not s.seen(e, s.NOT_READY) or not has_switches(e):
        return None
    states = fabric_states(e) if e.knows("E19.devices") else []
    if states and all(state == 3 for state in states):
        return None
    if "nv-fabricmanager" in e("E23.running"):
        return match(
            LIKELY,
            what="runs, and the fabric is not ready (it may be of another version than the driver)",
        )
    if e("E9.inside") or not e("E23.all"):
        return match(LIKELY, what="is not seen (processes of others are hidden here)")
    return match(what="does not run")


def not_ready_without_switches(e):
    if not s.seen(e, s.NOT_READY) or has_switches(e):
        return None
    states = fabric_states(e)
    if not states or any(states):
        return None
    return match(UNKNOWN)


def unified_memory(e):
    if not s.seen(e, s.UNKNOWN_ERROR) or e("E10.inside"):  # WSL has none of these
        return None
    no_node = "/dev/nvidia-uvm" not in e("E7.nodes")
    no_module = not e("E9.inside") and "nvidia_uvm" not in e("E11.loaded")
    if not no_node and not no_module:
        return None
    what = (
        "the module nvidia_uvm is not loaded"
        if no_module
        else "the node /dev/nvidia-uvm is missing"
    )
    return match(what=what, advice=("uvm node",) if e("E9.inside") else ("uvm module",))


def after_suspend(e):
    if not s.seen(e, s.UNKNOWN_ERROR) or "/dev/nvidia-uvm" not in e("E7.nodes"):
        return None
    if not e("E9.inside") and "nvidia_uvm" not in e("E11.loaded"):
        return None
    line = s.log_has(e, r"PM: suspend (entry|exit)", r"PM: resume", r"PM: hibernation")
    return match(LIKELY, line=line) if line else None


ROWS = (
    Row("13", "error 100, no device", "CUDA_VISIBLE_DEVICES is empty or -1; NVML lists GPUs (without NVML: likely)",
        hidden_by_variable,
        "CUDA_VISIBLE_DEVICES={value!r} hides {count} from CUDA.{setter}", ("unset visible",)),
    Row("14", "error 100, no device", "CUDA_VISIBLE_DEVICES names an index or UUID that NVML does not list",
        wrong_entry,
        "CUDA_VISIBLE_DEVICES={value!r} is invalid from entry {position} ({entry!r}) on: CUDA ignores that entry and "
        "all behind it. NVML lists: {names}.", ("fix visible",)),
    Row("15", "error 100, no device, in a container", "a container; NVIDIA_VISIBLE_DEVICES is void, none or empty; "
        "no /dev/nvidiaN", container_wants_none,
        "The container asked for no GPU: NVIDIA_VISIBLE_DEVICES={value!r}.", ("container gpus", "container variable")),
    Row("16", "error 100, no device, in WSL",
        "WSL; the library is not that of /usr/lib/wsl/lib; a Linux driver package is installed", linux_driver_in_wsl,
        "A Linux display driver's library, {file}, shadows the one of the Windows driver (packages: {packages}).",
        ("wsl remove driver",), sources=("numba/numba#9032", "numba/numba#7104")),
    Row("17", "error 100, no device, or no library, in WSL",
        "WSL, not in a container; /dev/dxg is not there", no_paravirtualisation,
        "This WSL has no GPU paravirtualisation (/dev/dxg is missing): {kind}.", ("wsl update",)),
    Row("18", "error 100, no device", "the PCI device is bound to nouveau; the module nvidia is not loaded", nouveau,
        "The open driver nouveau owns the GPU.", ("blacklist nouveau",)),
    Row("19", "error 100, or nvidia-smi 'couldn't communicate'",
        "a GPU; a driver package is installed; no module nvidia is loaded, and none was built for this kernel",
        module_not_built,
        "The module nvidia was not built for the running kernel {release} (installed: {packages}).",
        ("rebuild module",)),
    Row("20", "error 100, or nvidia-smi 'couldn't communicate'",
        "a module file for this kernel that is not loaded; Secure Boot is on; the kernel's log says that a key was "
        "rejected (without a readable log, or without the module's name: likely)", unsigned_module,
        "The unsigned kernel module is refused by Secure Boot.{said}", ("sign module",),
        sources=("canonical/nvidia-graphics-drivers#61",)),
    Row("21", "error 100; NVML finds no devices",
        "the kernel's log: not supported by the open module, or by this driver release", wrong_flavour,
        "The kernel module is of the wrong flavour or branch for this GPU: {line}", ("other flavour",),
        sources=("negativo17/nvidia-driver#158",)),
    Row("22", "error 100; RmInitAdapter failed", "the kernel's log says it", init_adapter,
        "The GPU did not initialise ({line}). Firmware, power, BIOS or a pass-through to a virtual machine: which one "
        "cannot be told.", ("power cycle",)),
    Row("26", "error 802, system not ready", "error 802; an NVSwitch machine; the fabric is not ready", fabric_manager,
        "This machine has NVSwitches, and the fabric manager {what}.", ("fabric manager",),
        sources=("pytorch/pytorch#35710", "jax-ml/jax#34113")),
    Row("27", "error 802 on a GPU without NVSwitch", "error 802; NVML: fabric not supported",
        not_ready_without_switches,
        "The system is not ready, and it is not the fabric manager: this GPU has no fabric. The cause is unknown; a "
        "problem of the kernel's address layout described in the release notes of CUDA 12.9 and 13.0 is one "
        "candidate.", ("release notes",), sources=("wilicc/gpu-burn#133",)),
    Row("28", "error 999, unknown error", "error 999; the module nvidia_uvm or the node /dev/nvidia-uvm is missing",
        unified_memory, "CUDA's unified memory driver is not available: {what}.", ("uvm module",),
        sources=("pytorch/pytorch#49081",)),
    Row("29", "error 999, unknown error", "error 999; nvidia_uvm is loaded; the kernel's log shows a suspend since "
        "the start", after_suspend,
        "The machine was suspended since it started ({line}): likely the known fault of nvidia_uvm after a suspend.",
        ("reload uvm",), sources=("pop-os/default-settings#64",)),
)  # fmt: skip
