"""Which packages and installers put a driver here, by the package managers' own files. E21."""

import re
import sqlite3
from contextlib import closing
from urllib.parse import quote

from ..evidence import Fact
from .driver import version_of_file

# Packages that hold the display driver's user-mode part.
DRIVER = re.compile(
    r"^(nvidia-driver(-\d+.*)?|libnvidia-compute(-\d+.*)?|libcuda1(-\d+)?|nvidia-utils(-\d+.*)?|"
    r"nvidia-driver-cuda(-libs)?|nvidia-open|xorg-x11-drv-nvidia(-cuda)?(-libs)?|nvidia-compute(-utils)?-G0\d|"
    r"(kmod|akmod)-nvidia.*|nvidia(-open|-lts|-dkms|-open-dkms)?|nvidia-(legacy|tesla)-.*-driver|nvidia-headless-\d+.*|"
    r"nvidia-(open-)?driver-G0\d.*|cuda-drivers-\d+|nvidia-kernel-(open-)?dkms|nvidia-dkms-\d+.*)$"
)
LIBRARY = re.compile(
    r"^(libnvidia-compute|libcuda1|nvidia-utils|nvidia-driver|xorg-x11-drv-nvidia|nvidia-compute)"
)
META = re.compile(
    r"^(cuda|cuda-\d+-\d+|cuda-runtime-\d+-\d+|cuda-demo-suite-\d+-\d+|cuda-drivers|"
    r"nvidia-cuda-toolkit)$"
)
RUN_FILE_SIGNS = (
    "/usr/bin/nvidia-uninstall",
    "/usr/bin/nvidia-installer",
    "/usr/sbin/nvidia-uninstall",
)
RUN_FILE_LOG = "/var/log/nvidia-installer.log"
LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib64/nvidia",
    "/usr/lib/x86_64-linux-gnu/nvidia/current", "/lib/x86_64-linux-gnu",
)  # fmt: skip


def packages(machine):
    """E21. Driver and meta-packages with their versions, which of them apt installed by itself, traces of NVIDIA's
    run-file installer, and the driver libraries that lie in the system's folders."""
    manager, found, why = installed(machine)
    traces = [name for name in RUN_FILE_SIGNS if machine.exists(name)]
    libraries = library_files(machine)
    values = {"run_file": traces, "run_file_log": machine.exists(RUN_FILE_LOG), "libraries": libraries,
              "versions": sorted({v for f in libraries if (v := version_of_file(f))})}  # fmt: skip
    said = []
    if found is not None:
        values["manager"] = manager
        values["drivers"] = {n: v for n, v in found.items() if DRIVER.match(n)}
        values["metas"] = {n: v for n, v in found.items() if META.match(n)}
        automatic = automatically_installed(machine)
        values["automatic"] = sorted(automatic & set(values["drivers"]))
        names = [*values["drivers"], *values["metas"]]
        said.append(f"{manager}: " + (", ".join(names) or "no driver package"))
    if traces:
        said.append("run-file installer: " + ", ".join(traces))
    if libraries:
        said.append("libraries: " + ", ".join(libraries))
    return Fact("E21", values, why=why, text="; ".join(said) or why)


def installed(machine):
    """(manager, {package: version}, '') or ('', None, why)."""
    for manager, read in (("dpkg", dpkg), ("pacman", pacman), ("rpm", rpm)):
        try:
            found = read(machine)
        except (OSError, sqlite3.Error) as error:
            return "", None, f"{manager}'s database: {error}"
        if found is not None:
            return manager, found, ""
    return "", None, "no package database of dpkg, rpm or pacman"


def dpkg(machine):
    name = "/var/lib/dpkg/status"
    if not machine.exists(name):
        return None
    found = {}
    for entry in machine.text(name, 64 << 20).split("\n\n"):
        if "nvidia" not in entry and "cuda" not in entry:
            continue
        fields = dict(re.findall(r"^(Package|Status|Version): (.*)$", entry, re.M))
        if fields.get("Status", "").endswith(" installed"):
            found[fields.get("Package", "")] = fields.get("Version", "")
    return found


def automatically_installed(machine):
    entries = machine.text_or("/var/lib/apt/extended_states").split("\n\n")
    automatic = (e for e in entries if re.search(r"^Auto-Installed: 1", e, re.M))
    return {m[1] for e in automatic if (m := re.search(r"^Package: (\S+)", e, re.M))}


def pacman(machine):
    entries = machine.names("/var/lib/pacman/local")
    if not entries:
        return None
    parts = [entry.rsplit("-", 2) for entry in entries]
    return {p[0]: "-".join(p[1:]) for p in parts if len(p) == 3}


def rpm(machine):
    """Names only: the headers are binary, but the index of names is a table."""
    for name in ("/usr/lib/sysimage/rpm/rpmdb.sqlite", "/var/lib/rpm/rpmdb.sqlite"):
        if machine.exists(name):
            address = f"file:{quote(machine.path(name))}?mode=ro&immutable=1"
            with closing(sqlite3.connect(address, uri=True)) as base:
                rows = base.execute("SELECT key FROM Name").fetchall()
            return {(r[0].decode() if isinstance(r[0], bytes) else str(r[0])): "" for r in rows}
    if machine.exists("/var/lib/rpm/Packages"):
        raise OSError("of a format that is not read here")
    return None


def library_files(machine):
    found = {}
    for folder in LIBRARY_FOLDERS:
        for name in machine.names(folder):
            if re.fullmatch(r"libcuda\.so\.\d{3,}[\d.]*", name):
                found.setdefault(machine.real_path(f"{folder}/{name}"))
    return list(found)
