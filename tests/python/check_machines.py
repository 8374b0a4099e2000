"""Machines that nobody has, for tests of ``treadle check``: folders with proc, sys, dev and libraries that answer what
a test says. ``host()`` is a healthy machine with one GPU; a test takes something away from it, or adds a fault."""

import os
import shutil
import subprocess
from pathlib import Path

from treadle.check.gather import gather
from treadle.check.machine import Machine
from treadle.check.verdict import STEPS, conclude

DRIVER = "580.65.06"
KERNEL = "6.8.0-60-generic"
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
UUID = "GPU-00000001-1111-4222-8333-444444444444"
SOURCE = Path(__file__).parent / "data/standin_driver.c"


def compile_standin(folder):
    """The stand-in for NVIDIA's libraries, as a shared library; a large one, as drivers are."""
    library = folder / "standin.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE], check=True, timeout=120
    )
    with library.open("r+b") as file:
        file.truncate(2 << 20)
    return library


def passed(kind, name):
    return [{"device": kind, "step": step, "status": "PASS", "detail": name} for step in STEPS]


class Fake:
    """A root that is being built."""

    def __init__(self, root, standin):
        self.root, self.standin = Path(root), standin
        self.environ, self.answers, self.options = {}, {}, {}
        self.gpu_code = 0
        self.file("/proc/sys/kernel/osrelease", KERNEL + "\n")
        self.file("/proc/modules", "ext4 1 0 - Live 0x0\n")
        self.file("/proc/self/cgroup", "0::/user.slice\n")
        self.file("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n")
        self.file("/proc/1/comm", "systemd\n")
        self.file("/etc/os-release", 'ID=ubuntu\nID_LIKE=debian\nPRETTY_NAME="Ubuntu 24.04"\n')
        self.file(
            "/var/lib/dpkg/status", "Package: bash\nStatus: install ok installed\nVersion: 5\n\n"
        )
        self.file("/var/log/kern.log", "Linux version 6.8.0\n")
        (self.root / "sys/firmware").mkdir(parents=True)
        (self.root / "sys/bus/pci/devices").mkdir(parents=True)
        (self.root / "site").mkdir()

    def path(self, name):
        return self.root / name.lstrip("/")

    def file(self, name, text=""):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self

    def remove(self, name):
        path = self.path(name)
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        return self

    def append(self, name, text):
        return self.file(name, self.path(name).read_text() + text)

    def env(self, **values):
        self.environ.update({key: str(value) for key, value in values.items()})
        return self

    def answer(self, **values):
        """What the stand-in library answers."""
        return self.env(**{f"STANDIN_{key.upper()}": value for key, value in values.items()})

    def library(self, name, folder=LIBRARIES, version=DRIVER):
        """libcuda.so.1 or another, as a link to a file with its version, as drivers install it."""
        real = f"{folder}/{name.removesuffix('.1')}.{version}" if version else f"{folder}/{name}"
        path = self.path(real)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.standin, path)
        if version:
            link = self.path(f"{folder}/{name}")
            link.unlink(missing_ok=True)
            os.symlink(path.name, link)
        return self

    def card(
        self, slot="0000:01:00.0", driver="nvidia", kind="0x030200", config=b"\xde\x10\x30\x23"
    ):
        folder = f"/sys/bus/pci/devices/{slot}"
        for name, text in (
            ("vendor", "0x10de\n"),
            ("class", kind + "\n"),
            ("device", "0x2330\n"),
            ("config", config),
        ):
            self.file(f"{folder}/{name}", text)
        link = self.path(f"{folder}/driver")
        link.unlink(missing_ok=True)
        if driver:
            os.symlink(f"../../../bus/pci/drivers/{driver}", link)
        return self

    def nodes(self, *names, mode=0o666, answer="ok"):
        for name in names or ("nvidia0", "nvidiactl", "nvidia-uvm"):
            self.file(f"/dev/{name}")
            self.path(f"/dev/{name}").chmod(mode)
            self.answers[f"/dev/{name}"] = answer
        return self

    def modules(self, *names):
        return self.file("/proc/modules", "".join(f"{name} 1 0 - Live 0x0\n" for name in names))

    def loaded(self, version=DRIVER):
        return self.file(
            "/proc/driver/nvidia/version",
            f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Sun Jul 20 2025\nGCC version: gcc\n",
        )

    def packages(self, *names, automatic=()):
        text = "".join(
            f"Package: {n}\nStatus: install ok installed\nVersion: 580\n\n" for n in names
        )
        self.append("/var/lib/dpkg/status", text)
        states = "".join(
            f"Package: {n}\nArchitecture: amd64\nAuto-Installed: 1\n\n" for n in automatic
        )
        return self.file("/var/lib/apt/extended_states", states)

    def distribution(self, name, version="1.0"):
        (self.root / "site" / f"{name.replace('-', '_')}-{version}.dist-info").mkdir()
        return self

    def owned(self, name, package):
        """A distribution whose RECORD lists a package's __init__.py."""
        self.distribution(name)
        record = f"site/{name.replace('-', '_')}-1.0.dist-info/RECORD"
        return self.file(record, f"{package}/__init__.py,sha256=x,1\n{package}/y.py,,\n")

    def log(self, *lines):
        return self.file("/var/log/kern.log", "\n".join(["Linux version 6.8.0", *lines]) + "\n")

    def docker(self):
        return self.file("/.dockerenv")

    def wsl(self, release="5.15.167.4-microsoft-standard-WSL2"):
        return self.file("/proc/sys/kernel/osrelease", release)

    def toolkit(self, version="13.0", archs=(75, 80, 90, 100, 120), newest_gcc=15):
        """nvcc as a script, NVRTC and its builtins beside it."""
        root = f"/usr/local/cuda-{version}"
        listed = "\\n".join(f"compute_{a}" for a in archs)
        self.file(f"{root}/bin/nvcc", "#!/bin/sh\n"
                  f"[ \"$1\" = --version ] && echo 'Cuda compilation tools, release {version}, V{version}.1' || "
                  f"printf '{listed}\\n'\n")  # fmt: skip
        self.path(f"{root}/bin/nvcc").chmod(0o755)
        self.file(
            f"{root}/include/crt/host_config.h", f"#if __GNUC__ > {newest_gcc}\n#error no\n#endif\n"
        )
        major = version.partition(".")[0]
        self.library(f"libnvrtc.so.{major}", f"{root}/lib64", "")
        return self.file(f"{root}/lib64/libnvrtc-builtins.so.{version}")

    def host_compiler(self, version="13.3.0"):
        self.file("/usr/bin/g++", f"#!/bin/sh\necho 'g++ (Ubuntu {version}-1) {version}'\n")
        self.path("/usr/bin/g++").chmod(0o755)
        return self.env(PATH="/usr/bin")

    def process(self, pid, parent=1, flags=0, files=(), nodes=()):
        maps = "".join(
            f"7f0000000000-7f0000001000 r-xp 00000000 08:01 1 {' ' * 20}{f}\n" for f in files
        )
        self.file(f"/proc/{pid}/maps", maps)
        self.file(f"/proc/{pid}/stat", f"{pid} (a (b) c) S {parent} 1 1 0 -1 {flags} 0 0\n")
        self.path(f"/proc/{pid}/fd").mkdir()
        for number, node in enumerate(nodes, 7):
            os.symlink(f"/dev/{node}", self.path(f"/proc/{pid}/fd/{number}"))
        return self

    def machine(self):
        gpu = self.options.pop("gpu", None)
        records = [{"facts": {"numpy": "2", "treadle": "0"}}, *passed("soft", "soft:0")]
        records += passed("cuda", "cuda:0") if gpu is None else gpu
        self.options.setdefault("limit", 20)
        return Machine(
            self.root, self.environ, python_path=[str(self.root / "site")],
            open_nodes=lambda paths: {p: self.answers.get(p, "ok") for p in paths}, verify=records, **self.options,
        )  # fmt: skip


def judged(fake):
    """(evidence, verdict)"""
    evidence = gather(fake.machine())
    return evidence, conclude(evidence)


def rests_on_what_was_checked(evidence, verdict):
    """Every conclusion lists evidence, and none that was not checked."""
    for finding in verdict.findings:
        assert finding.evidence, finding
        for id in finding.evidence:
            assert evidence[id].checked, f"row {finding.row.id} rests on {id}: {evidence[id].why}"
        assert not set(finding.evidence) & set(finding.lacking)


def bare(root, standin):
    """No GPU, no driver."""
    fake = Fake(root, standin)
    fake.options["gpu"] = []
    return fake


def host(root, standin):
    """A GPU with everything right."""
    fake = Fake(root, standin)
    fake.card().nodes().modules("nvidia", "nvidia_uvm").loaded()
    fake.library("libcuda.so.1").library("libnvidia-ml.so.1")
    return fake.toolkit().host_compiler()
