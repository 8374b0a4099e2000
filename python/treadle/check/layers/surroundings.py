"""What surrounds the process: symptoms given, variables, container, WSL, distribution, services, another process.
E0, E8, E9, E10, E20, E22, E23."""

import os
import re

from ..evidence import Fact

VARIABLES = (
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "CUDA_PATH", "CUDA_HOME",
    "TREADLE_DEVICE", "TREADLE_LIBCUDA", "TREADLE_LIBRARY_PATH", "SLURM_JOB_ID", "SLURM_JOB_GPUS", "PBS_JOBID",
    "LSB_JOBID", "container",
)  # fmt: skip
# A file of the driver among the mounts: a library, a node, the program that every runtime injects.
DRIVER_FILES = (
    r"/\S*/(?:libcuda|libnvidia-[\w-]+)\.so[\w.]*",
    r"/dev/nvidia[\w-]*",
    r"/dev/dxg",
    r"/proc/driver/nvidia\S*",
    r"/\S*/nvidia-smi",
)
SCHEDULERS = (("SLURM_JOB_ID", "Slurm"), ("PBS_JOBID", "PBS"), ("LSB_JOBID", "LSF"))
SERVICES = ("nv-fabricmanager", "nvidia-persistenced", "nvidia-cuda-mps", "nvidia-imex")


def symptoms(machine):
    """E0. What `--error` gave: CUDA codes ("222", "error 222", "status: 222") and everything else as text."""
    if not machine.symptoms:
        return Fact("E0", why="no --error was given")
    codes, texts = [], []
    for said in machine.symptoms:
        code = re.search(
            r"(?:^|(?:error|code|status|result)\W{1,3})(\d{1,3})(?:\W|$)", said.strip(), re.I
        )
        if code:
            codes.append(int(code[1]))
        if not said.strip().isdigit():
            texts.append(said.strip())
    said = ", ".join([f"error {c}" for c in codes] + texts)
    return Fact("E0", {"codes": codes, "texts": texts}, text=f"reported by the user: {said}")


def environment(machine):
    """E8."""
    values = {name: machine.environ[name] for name in VARIABLES if name in machine.environ}
    schedulers = [label for name, label in SCHEDULERS if name in machine.environ]
    text = ", ".join(f"{k}={v}" for k, v in values.items()) or "none of the variables is set"
    return Fact(
        "E8", {"variables": values, "schedulers": schedulers, "mps": mps(machine)}, text=text
    )


def mps(machine):
    """The MPS server's pipe folder, when the variable names one: is there a control socket, and whose is it?"""
    folder = machine.environ.get("CUDA_MPS_PIPE_DIRECTORY")
    if not folder:
        return {"asked": False}
    found = {"asked": True, "folder": folder, "exists": machine.exists(folder)}
    try:
        owner = os.stat(machine.path(folder + "/control")).st_uid
    except OSError as error:
        return {**found, "control": False, "why": error.strerror}
    return {**found, "control": True, "own": owner == machine.user, "owner": owner}


def container(machine):
    """E9."""
    signs = [name for name in ("/.dockerenv", "/run/.containerenv") if machine.exists(name)]
    cgroup = machine.text_or("/proc/self/cgroup") + machine.text_or("/proc/1/cgroup")
    named = re.search(
        r"/docker/|docker-[0-9a-f]{12}|kubepods|cri-containerd|libpod|/lxc[./]|crio-", cgroup
    )
    if named:
        signs.append(f"the cgroup's name holds {named[0].strip('/')}")
    if machine.environ.get("container"):
        signs.append("the variable container is set")
    if "KUBERNETES_SERVICE_HOST" in machine.environ:
        signs.append("KUBERNETES_SERVICE_HOST is set")
    mounts = machine.text_or("/proc/self/mountinfo") or machine.text_or("/proc/self/mounts")
    driver = sorted(set(re.findall(rf"\s({'|'.join(DRIVER_FILES)})(?=\s)", mounts)))
    values = {"inside": bool(signs), "signs": signs, "driver_mounts": driver[:40]}
    text = "yes: " + "; ".join(signs) if signs else "no sign of one"
    if signs:
        text += f"; {len(driver)} driver files mounted"
    return Fact("E9", values, text=text)


def wsl(machine):
    """E10. The kernel's own name says it: '…-Microsoft' is WSL 1, '…-microsoft-standard-WSL2' is WSL 2."""
    try:
        release = machine.text("/proc/sys/kernel/osrelease").strip()
    except OSError as error:
        return Fact("E10", why=f"/proc/sys/kernel/osrelease: {error.strerror}")
    inside = "microsoft" in release.lower()
    generation = 0 if not inside else 1 if "Microsoft" in release and "WSL2" not in release else 2
    return Fact("E10", {"inside": inside, "generation": generation, "release": release},
                text=f"WSL {generation}, kernel {release}" if inside else f"no, kernel {release}")  # fmt: skip


def distribution(machine):
    """E22. The family decides which advice is printed."""
    text = machine.text_or("/etc/os-release") or machine.text_or("/usr/lib/os-release")
    entries = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.M))
    if not entries.get("ID"):
        return Fact("E22", why="/etc/os-release names no distribution")
    names = [entries["ID"], *entries.get("ID_LIKE", "").split()]
    families = {"ubuntu": "ubuntu", "debian": "debian", "fedora": "fedora", "rhel": "rhel", "centos": "rhel",
                "suse": "suse", "opensuse": "suse", "arch": "arch"}  # fmt: skip
    family = next((families[n] for n in names if n in families), "")
    if not family and any(n.startswith(("opensuse", "sles")) for n in names):
        family = "suse"
    label = entries.get("PRETTY_NAME") or entries["ID"]
    return Fact("E22", {"id": entries["ID"], "family": family, "name": label}, text=label)


def services(machine):
    """E23. Daemons of NVIDIA's among the processes that can be seen."""
    numbers = [n for n in machine.names("/proc") if n.isdigit()]
    if not numbers:
        return Fact("E23", why="/proc shows no processes")
    names = {machine.text_or(f"/proc/{number}/comm") for number in numbers}
    # The kernel cuts names after 15 characters; MPS has a control daemon and a server.
    found = [s for s in SERVICES if any(n.startswith(s[:15]) for n in names)]
    text = (
        ", ".join(found) or "none of " + ", ".join(SERVICES)
    ) + f" among {len(numbers)} processes"
    # With /proc mounted hidepid, a user sees no process of root, not even the first.
    return Fact("E23", {"running": found, "seen": len(numbers), "all": "1" in numbers}, text=text)


LIBRARIES = ("libcuda", "libcudart", "libnvrtc", "libcublas.")
FORKED_WITHOUT_EXEC = 0x40  # PF_FORKNOEXEC of /proc/PID/stat, field 9


def process(machine, driver_maps=()):
    """E20. The CUDA libraries of `--pid`, or of the probe's own process after it opened libcuda.so.1."""
    if machine.pid is None:
        if not driver_maps:
            return Fact("E20", why="no --pid was given, and the driver library was not opened")
        values = {"pid": None, "cuda": list(driver_maps), "runtimes": []}
        return Fact("E20", values, text="libcuda in the probe: " + ", ".join(driver_maps))
    try:
        maps = machine.text(f"/proc/{machine.pid}/maps", 16 << 20)
        status = machine.text(f"/proc/{machine.pid}/stat")
    except OSError as error:
        return Fact("E20", why=f"/proc/{machine.pid}: {error.strerror}")
    files = mapped_files(maps)
    fields = status.rpartition(")")[2].split()  # the name before may hold anything
    values = {"pid": machine.pid, "cuda": of(files, "libcuda.so"), "runtimes": of(files, "libcudart"),
              "files": files}  # fmt: skip
    if len(fields) > 6 and fields[1].isdigit() and fields[6].isdigit():
        parent = int(fields[1])
        values["forked"] = bool(int(fields[6]) & FORKED_WITHOUT_EXEC)
        values["parent_cuda"] = of(
            mapped_files(machine.text_or(f"/proc/{parent}/maps")), "libcuda.so"
        )
        values["inherited_nodes"] = inherited(machine, machine.pid, parent)
    return Fact(
        "E20", values, text=f"process {machine.pid}: " + (", ".join(files) or "no CUDA library")
    )


def mapped_files(maps):
    paths = re.findall(r"\s(/[^\n]*)", maps)
    kept = dict.fromkeys(p.strip() for p in paths if os.path.basename(p).startswith(LIBRARIES))
    return list(kept)


def of(files, start):
    return [f for f in files if os.path.basename(f).startswith(start)]


def inherited(machine, pid, parent):
    """True when the process has a device node open under the same number as its parent has."""

    def nodes(number):
        folder = f"/proc/{number}/fd"
        found = ((fd, machine.link(f"{folder}/{fd}")) for fd in machine.names(folder))
        return {(fd, node) for fd, node in found if node.startswith("nvidia")}

    return bool(nodes(pid) & nodes(parent))
