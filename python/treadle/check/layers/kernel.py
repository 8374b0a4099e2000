"""The kernel's side: loaded driver, PCI devices, device nodes, modules, Secure Boot, log. E5, E6, E7, E11, E12, E13."""

import os
import re
import stat

from ..evidence import Fact

SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
MODULES = ("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm", "nouveau", "vfio_pci")
LOG_FILES = ("/var/log/dmesg", "/var/log/kern.log", "/var/log/messages", "/var/log/syslog")
LOG_WORDS = re.compile(
    r"NVRM|nvidia|nouveau|Xid|module verification|Lockdown:|key was rejected|key not available|"
    r"Loading of (unsigned )?module|PM: suspend (entry|exit)|PM: (hibernation|resume)|suspend entry",
    re.I,
)
MAX_LOG_LINES = 200


def loaded_driver(machine):
    """E5. The version that the running kernel module has."""
    text = machine.text_or("/proc/driver/nvidia/version")
    sysfs = machine.text_or("/sys/module/nvidia/version")
    match = re.search(r"(?:Kernel Module|Module)\D*?\s(\d{3,}\.\d+(?:\.\d+)?)", text)
    version = match[1] if match else sysfs
    present = bool(text or sysfs) or machine.exists("/proc/driver/nvidia/version")
    values = {"present": present, "version": version, "open_flavour": "Open Kernel Module" in text}
    said = (
        f"NVIDIA kernel driver {version or '(version unreadable)'}"
        if present
        else "no NVIDIA kernel driver loaded"
    )
    return Fact("E5", values, text=said + (", open flavour" if values["open_flavour"] else ""))


def pci(machine):
    """E6. Display-class devices of vendor 0x10de and what drives them; NVSwitches (bridges of the same vendor)."""
    folder = "/sys/bus/pci/devices"
    if not machine.exists(folder):
        return Fact("E6", why=f"{folder} is not there")
    gpus, switches = [], 0
    for slot in machine.names(folder):
        vendor, kind = (machine.text_or(f"{folder}/{slot}/{name}") for name in ("vendor", "class"))
        if vendor != "0x10de":
            continue
        if kind.startswith("0x0680"):
            switches += 1
        if not kind.startswith("0x03"):
            continue
        gpus.append({
            "slot": slot, "device": machine.text_or(f"{folder}/{slot}/device"),
            "driver": machine.link(f"{folder}/{slot}/driver"), "lost": lost(machine, f"{folder}/{slot}/config"),
        })  # fmt: skip
    text = "; ".join(
        f"{g['slot']} device {g['device'] or '?'}, driver {g['driver'] or 'none'}"
        + (", configuration space reads all ones" if g["lost"] else "")
        for g in gpus
    )
    text = text or "no NVIDIA display device"
    if switches:
        text += f"; {switches} NVSwitch(es)"
    return Fact("E6", {"gpus": gpus, "switches": switches}, text=text)


def lost(machine, config):
    """A device that fell off the bus answers every read with ones."""
    try:
        with open(machine.path(config), "rb") as file:
            return file.read(4) == b"\xff\xff\xff\xff"
    except OSError:
        return False


def nodes(machine):
    """E7. Existence, mode, owner and open() of each node."""
    names = ["nvidiactl", "nvidia-uvm", "dxg"]
    names += [n for n in machine.names("/dev") if re.fullmatch(r"nvidia\d+", n)]
    found = {}
    for name in names:
        path = "/dev/" + name
        try:
            info = os.stat(machine.path(path))
        except OSError:
            continue
        found[path] = {"mode": f"{stat.S_IMODE(info.st_mode):04o}", "group": group_name(machine, info.st_gid),
                       "owner": info.st_uid}  # fmt: skip
    problem = ""
    if found:
        outcome = machine.open_nodes(list(found))
        problem = outcome.problem
        for path, answer in outcome.facts.items():
            found[path]["open"] = answer
    opened = {path: node["open"] for path, node in found.items() if "open" in node}
    text = ", ".join(
        f"{path} {node['mode']} open: {node.get('open', 'no answer')}"
        for path, node in found.items()
    )
    values = {"nodes": found, "gpus": sum(bool(re.fullmatch(r"/dev/nvidia\d+", p)) for p in found),
              "dxg": "/dev/dxg" in found, "hung": bool(problem)}  # fmt: skip
    if len(opened) == len(found):
        values["opened"] = opened
    return Fact(
        "E7",
        values,
        why=problem,
        text=(text or "none of NVIDIA's nodes, no /dev/dxg") + (f"; {problem}" if problem else ""),
    )


def group_name(machine, number):
    for line in machine.text_or("/etc/group").splitlines():
        parts = line.split(":")
        if len(parts) > 2 and parts[2] == str(number):
            return parts[0]
    return str(number)


def modules(machine):
    """E11. Loaded modules, and whether a module file was built for the kernel that runs."""
    try:
        lines = machine.text("/proc/modules").splitlines()
    except OSError as error:
        if not machine.names("/sys/module"):
            return Fact("E11", why=f"/proc/modules: {error.strerror}; /sys/module is empty")
        lines = []
    loaded = {line.split()[0] for line in lines if line.split()}
    release = machine.text_or("/proc/sys/kernel/osrelease")
    values = {"loaded": [name for name in MODULES if name in loaded], "release": release}
    # A module can also be part of the kernel, or hidden from a container's /proc; sysfs has it too.
    values["loaded"] += [
        n for n in MODULES if n not in loaded and machine.exists(f"/sys/module/{n}")
    ]
    folder = f"/lib/modules/{release}"
    if release and machine.exists(folder):
        values["module_files"] = module_files(machine, folder)
    text = "loaded: " + (", ".join(values["loaded"]) or "none of " + ", ".join(MODULES))
    files = values.get("module_files")
    if files is not None:
        text += f"; file for kernel {release}: {files[0] if files else 'none'}"
    return Fact("E11", values, why=f"{folder} is not readable here", text=text)


def module_files(machine, folder):
    """nvidia.ko of this kernel: by depmod's list, or in the folders where DKMS and the installers put it."""
    found = re.findall(
        r"^([^\s:]*/nvidia\.ko[^\s:]*):", machine.text_or(f"{folder}/modules.dep"), re.M
    )
    for place in ("updates/dkms", "updates", "extra", "extra/nvidia", "kernel/drivers/video", "weak-updates",
                  "kernel/nvidia", "misc"):  # fmt: skip
        for name in machine.names(f"{folder}/{place}"):
            if re.fullmatch(r"nvidia\.ko(\.\w+)?", name) and f"{place}/{name}" not in found:
                found.append(f"{place}/{name}")
    return found


def secure_boot(machine):
    """E12."""
    values, why = {}, []
    try:
        with open(machine.path(SECURE_BOOT), "rb") as file:
            values["secure_boot"] = file.read(8)[-1:] == b"\1"
    except OSError as error:
        if machine.exists("/sys/firmware/efi"):
            why.append(f"the SecureBoot variable: {error.strerror}")
        elif machine.exists("/sys/firmware"):
            values["secure_boot"] = False  # no UEFI, no Secure Boot
        else:
            why.append("/sys/firmware is not there")
    match = re.search(r"\[(\w+)\]", machine.text_or("/sys/kernel/security/lockdown"))
    if match:
        values["lockdown"] = match[1]
    text = (
        f"Secure Boot {'on' if values['secure_boot'] else 'off'}" if "secure_boot" in values else ""
    )
    if "lockdown" in values:
        text = f"{text}, lockdown {values['lockdown']}".lstrip(", ")
    return Fact("E12", values, why="; ".join(why), text=text)


def kernel_log(machine):
    """E13. Lines about the driver, modules' signatures and suspend, since the last boot."""
    refused = []
    for source, read in (("/dev/kmsg", kmsg), *((name, last_boot) for name in LOG_FILES)):
        try:
            lines = read(machine, source)
        except OSError as error:
            refused.append(f"{source}: {error.strerror}")
            continue
        kept = [line.strip()[:400] for line in lines if LOG_WORDS.search(line)][-MAX_LOG_LINES:]
        return Fact(
            "E13",
            {"source": source, "lines": kept},
            text=f"{len(kept)} lines of interest in {source}",
        )
    return Fact("E13", why="; ".join(refused))


def last_boot(machine, name):
    lines = machine.tail(name).splitlines()
    for n in range(len(lines) - 1, -1, -1):
        if "Linux version " in lines[n]:
            return lines[n:]
    return lines


def kmsg(machine, name):
    """The kernel's ring buffer, one record a read, without waiting for more."""
    file = os.open(machine.path(name), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    lines = []
    try:
        while len(lines) < 200_000:
            try:
                record = os.read(file, 8192)
            except BrokenPipeError:  # overwritten while we read: goes on with the next
                continue
            except BlockingIOError:
                break
            if not record:
                break
            lines += record.decode(errors="replace").splitlines()
    finally:
        os.close(file)
    return lines
