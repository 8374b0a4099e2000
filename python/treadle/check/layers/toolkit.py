"""Toolkits and CUDA libraries: E15, E16, E17. An installed toolkit is only what has files here; the driver's "CUDA
version" is none."""

import os
import re

from ..._libraries import wheel_folders
from ..children import FINISHED
from ..evidence import Fact

# kind: file name pattern, the major version in group 1
KINDS = {
    "nvrtc": r"libnvrtc\.so\.(\d+)$",
    "cudart": r"libcudart\.so\.(\d+)(?:\.0)?$",
    "nvJitLink": r"libnvJitLink\.so\.(\d+)$",
    "nvvm": r"libnvvm\.so\.(\d+)$",
    "curand": r"libcurand\.so\.(\d+)$",
    "cublas": r"libcublas\.so\.(\d+)$",
}
SYSTEM_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib64",
)
TOOLKIT_PARTS = ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "nvvm/lib64")


def toolkit_roots(machine):
    """(root, found via), in the order in which Treadle looks."""
    roots = [(machine.environ[v], v) for v in ("CUDA_PATH", "CUDA_HOME") if machine.environ.get(v)]
    roots.append(("/usr/local/cuda", "/usr/local"))
    numbered = []
    for name in machine.names("/usr/local"):
        match = re.fullmatch(r"cuda-(\d+)(?:\.(\d+))?", name)
        if match:
            numbered.append((int(match[1]), int(match[2] or 0), f"/usr/local/{name}"))
    roots += [(path, "/usr/local") for *_, path in sorted(numbered, reverse=True)]
    roots += [("/opt/cuda", "/opt"), ("/usr/lib/cuda", "distribution")]
    return [(root, via) for root, via in roots if machine.exists(root)]


def folders(machine):
    """(folder, found via) in Treadle's order: its own variable, wheels, toolkits, the system's loader."""
    named = machine.environ.get("TREADLE_LIBRARY_PATH", "")
    listed = [(f, "TREADLE_LIBRARY_PATH") for f in named.split(":") if f and named != "none"]
    listed += [(machine.name_of(f), "wheel") for f in wheel_folders(machine.python_path)]
    for root, via in toolkit_roots(machine):
        listed += [(f"{root}/{part}", via) for part in TOOLKIT_PARTS]
    listed += [
        (f, "LD_LIBRARY_PATH") for f in machine.environ.get("LD_LIBRARY_PATH", "").split(":") if f
    ]
    for name in ("ld.so.conf", *(f"ld.so.conf.d/{n}" for n in machine.names("/etc/ld.so.conf.d"))):
        lines = machine.text_or(f"/etc/{name}").splitlines()
        listed += [(line.strip(), "ld.so.conf") for line in lines if line.startswith("/")]
    listed += [(f, "system folder") for f in SYSTEM_FOLDERS]
    return listed + [(machine.name_of(f), "conda") for f in conda_folders(machine.python_path)]


def conda_folders(python_path):
    """PREFIX/lib of the conda environments that the packages belong to. Only programs of conda look there."""
    sites = (entry for entry in python_path if os.path.basename(entry) == "site-packages")
    prefixes = dict.fromkeys(os.path.abspath(os.path.join(site, "../../..")) for site in sites)
    return [f"{prefix}/lib" for prefix in prefixes if os.path.isdir(f"{prefix}/conda-meta")]


def find_libraries(machine):
    """{kind: [{file, real, via, major}]}, each real file once, stubs left out."""
    found = {kind: [] for kind in KINDS}
    for folder, via in folders(machine):
        if "/stubs" in folder:
            continue
        for name in machine.names(folder):
            for kind, pattern in KINDS.items():
                match = re.match(pattern, name)
                if not match:
                    continue
                real = machine.real_path(f"{folder}/{name}")
                if all(entry["real"] != real for entry in found[kind]):
                    found[kind].append(
                        {
                            "file": f"{folder}/{name}",
                            "real": real,
                            "via": via,
                            "major": int(match[1]),
                        }
                    )
    return found


def builtins_beside(machine, file):
    """[(major, minor)] of the NVRTC companion libraries in the folder of a libnvrtc."""
    names = machine.names(os.path.dirname(file))
    found = (re.match(r"libnvrtc-builtins\.so\.(\d+)\.(\d+)", name) for name in names)
    return sorted({(int(m[1]), int(m[2])) for m in found if m})


def library_fact(machine, found, nvrtc, runtime):
    """E15. nvrtc, runtime: outcomes of the children that asked the first of each kind, or None."""
    values = {"libraries": {kind: entries for kind, entries in found.items() if entries}}
    values["majors"] = {
        kind: sorted({e["major"] for e in entries}) for kind, entries in found.items()
    }
    why, said = [], []
    if nvrtc is not None:
        first = found["nvrtc"][0]
        asked = {"file": first["real"], "via": first["via"], **nvrtc.facts}
        asked["builtins"] = [
            list(pair) for pair in builtins_beside(machine, machine.name_of(first["real"]))
        ]
        values["nvrtc"] = asked
        version = ".".join(map(str, asked.get("version", []))) or "of unknown version"
        said.append(f"first NVRTC: {version} ({first['real']}, {first['via']})")
        if nvrtc.ended != FINISHED:
            why.append(nvrtc.problem)
    if runtime is not None:
        values["runtime"] = {"file": found["cudart"][0]["real"], **runtime.facts}
        if runtime.ended != FINISHED:
            why.append(runtime.problem)
    others = [f"{kind} {', '.join(map(str, majors))}" for kind, majors in values["majors"].items()
              if majors and kind != "nvrtc"]  # fmt: skip
    said += [f"sonames found: {'; '.join(others)}"] if others else []
    return Fact("E15", values, why="; ".join(why), text="; ".join(said) or "no CUDA library found")


class Tools:
    """Starts nvcc and the host compiler for their versions; ``fact()`` collects. E16."""

    def __init__(self, machine):
        self.machine = machine
        self.roots = toolkit_roots(machine)
        self.nvcc = self.which("nvcc") or next(
            (f"{r}/bin/nvcc" for r, _ in self.roots if self.runnable(f"{r}/bin/nvcc")), ""
        )
        self.host = machine.environ.get("NVCC_CCBIN") or self.which("g++") or self.which("c++")
        if self.host and "/" not in self.host:
            self.host = self.which(self.host)
        self.asked = {}
        if self.nvcc:
            self.asked["nvcc"] = machine.program([self.nvcc, "--version"])
            self.asked["archs"] = machine.program([self.nvcc, "--list-gpu-arch"])
        if self.host:
            self.asked["host"] = machine.program([self.host, "--version"])

    def runnable(self, path):
        return os.access(self.machine.path(path), os.X_OK) and not os.path.isdir(
            self.machine.path(path)
        )

    def which(self, name):
        for folder in self.machine.environ.get("PATH", "").split(":"):
            if folder.startswith("/") and self.runnable(f"{folder}/{name}"):
                return f"{folder}/{name}"
        return ""

    def fact(self):
        toolkits = {}
        for root, via in self.roots:
            toolkits.setdefault(
                self.machine.real_path(root), {"version": self.version_of(root), "via": via}
            )
        values = {"toolkits": [{"root": root, **facts} for root, facts in toolkits.items()]}
        outcomes = {key: child.outcome() for key, child in self.asked.items()}
        why = [f"{key}: {o.detail}" for key, o in outcomes.items() if o.ended != FINISHED]
        texts = {key: o.text for key, o in outcomes.items() if o.ended == FINISHED}
        release = re.search(r"release (\d+)\.(\d+)", texts.get("nvcc", ""))
        if release:
            values["nvcc"] = {"file": self.nvcc, "version": [int(release[1]), int(release[2])]}
            archs = re.findall(r"compute_(\d+)", texts.get("archs", ""))
            if archs:
                values["nvcc"]["archs"] = sorted({int(a) for a in archs})
            limits = self.host_limits()
            if limits:
                values["nvcc"]["newest_gcc"] = limits
        first_line = texts.get("host", "").partition("\n")[0]
        version = re.search(r"\s(\d+)\.\d+", re.sub(r"\([^)]*\)", "", first_line))
        if version:
            values["host"] = {"file": self.host, "name": first_line, "major": int(version[1]),
                              "gcc": "clang" not in first_line.lower()}  # fmt: skip
        said = [f"toolkit {t['version'] or '?'} in {t['root']}" for t in values["toolkits"]] or [
            "no toolkit"
        ]
        if release:
            said.append(f"nvcc {release[1]}.{release[2]} ({self.nvcc})")
        if first_line:
            said.append(f"host compiler {first_line}")
        return Fact("E16", values, why="; ".join(why), text="; ".join(said))

    def version_of(self, root):
        match = re.search(
            r'"cuda"\s*:\s*\{[^}]*"version"\s*:\s*"([\d.]+)"',
            self.machine.text_or(f"{root}/version.json"),
        )
        match = match or re.search(
            r"CUDA Version ([\d.]+)", self.machine.text_or(f"{root}/version.txt")
        )
        match = match or re.search(r"cuda-([\d.]+)$", self.machine.real_path(root))
        return match[1] if match else ""

    def host_limits(self):
        """The newest GCC that this nvcc takes, by its own header host_config.h."""
        root = os.path.dirname(os.path.dirname(self.machine.real_path(self.nvcc)))
        for place in ("include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"):
            match = re.search(
                r"__GNUC__\s*>\s*(\d+)", self.machine.text_or(f"{root}/{place}/crt/host_config.h")
            )
            if match:
                return int(match[1])
        return None


def match_fact(init, libraries, tools):
    """E17. What the GPUs are, beside what the compilers know: numbers like 90 for 9.0."""
    gpus = [
        d["capability"][0] * 10 + d["capability"][1]
        for d in init.values.get("devices", ())
        if "capability" in d
    ]
    if not gpus:
        return Fact("E17", why="no GPU's compute capability is known")
    values = {"gpus": gpus}
    nvrtc = libraries.values.get("nvrtc", {}).get("archs")
    if nvrtc:
        values["nvrtc"] = nvrtc
    nvcc = tools.values.get("nvcc", {}).get("archs")
    if nvcc:
        values["nvcc"] = nvcc
    text = f"GPUs of sm_{', sm_'.join(map(str, gpus))}"
    for name, archs in (("NVRTC", nvrtc), ("nvcc", nvcc)):
        if archs:
            text += f"; {name} knows sm_{archs[0]} to sm_{archs[-1]}"
    return Fact("E17", values, why="no NVRTC or nvcc said what it knows", text=text)
