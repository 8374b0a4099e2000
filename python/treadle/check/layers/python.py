"""Python packages with CUDA in them (E14) and Treadle itself (E24)."""

import os
import re

from ..children import FINISHED
from ..evidence import Fact

INTERESTING = re.compile(
    r"^(cupy(-.*)?|numba(-cuda)?|pycuda|torch|jax(lib)?|jax-cuda\d+-.*|tensorflow|cuda-(python|bindings|core|pathfinder)|"
    r"nvidia-.*|treadle|numpy)$"
)
CUPY = re.compile(r"^cupy(-cuda\w+|-rocm-.*)?$")
STEPS = ("create", "matrix product", "compile", "launch", "copy back", "compare")


def distributions(python_path):
    """{name: [(version, folder)]} by the names of the metadata folders: nothing is imported."""
    found = {}
    for folder in dict.fromkeys(os.path.realpath(entry or ".") for entry in python_path):
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for entry in sorted(names):
            match = re.fullmatch(r"(.+?)-(\d[^-]*)(?:-py.*)?\.(dist-info|egg-info)", entry)
            if match:
                name = re.sub(r"[-_.]+", "-", match[1]).lower()
                found.setdefault(name, []).append((match[2], folder))
    return found


def owners_of(machine, package):
    """Distributions of that name, or with it in theirs, whose RECORD lists the package's own __init__.py."""
    found = []
    for folder in dict.fromkeys(os.path.realpath(entry or ".") for entry in machine.python_path):
        try:
            names = [
                n for n in os.listdir(folder) if package in n.lower() and n.endswith(".dist-info")
            ]
        except OSError:
            continue
        for entry in sorted(names):
            try:
                with open(os.path.join(folder, entry, "RECORD"), errors="replace") as file:
                    if re.search(rf"^{package}/__init__\.py,", file.read(8 << 20), re.M):
                        found.append(re.sub(r"[-_.]+", "-", entry.partition("-")[0]).lower())
            except OSError:
                continue
    return list(dict.fromkeys(found))


def cuda_major(name, version, folder):
    """The CUDA major that a distribution was made for, or None where nothing says so."""
    match = re.search(r"-cu(?:da)?(\d+)x?$", name) or re.match(r"jax-cuda(\d+)-", name)
    if match:
        digits = match[1]  # cuda12x, cu13, and the old cuda112
        return int(digits[:2]) if len(digits) > 2 else int(digits)
    if name in ("cuda-python", "cuda-bindings") or re.match(
        r"nvidia-cuda-(runtime|nvrtc|nvcc)$", name
    ):
        return int(version.partition(".")[0])
    if name == "torch":
        try:
            with open(os.path.join(folder, "torch", "version.py"), errors="replace") as file:
                match = re.search(r"^cuda\b[^=\n]*=\s*['\"](\d+)", file.read(65536), re.M)
        except OSError:
            return None
        return int(match[1]) if match else None
    return None


def package_fact(machine):
    """E14."""
    listed, majors, many = {}, {}, {}
    for name, places in sorted(distributions(machine.python_path).items()):
        if not INTERESTING.match(name):
            continue
        listed[name] = [version for version, _ in places]
        if len({folder for _, folder in places}) < len(places):
            many[name] = listed[name]  # two versions' metadata in one folder: a damaged upgrade
        major = cuda_major(name, *places[0])
        if major is not None:
            majors[name] = major
    owners = {part: owners_of(machine, part) for part in ("cupy", "pycuda")}
    cupy = list(dict.fromkeys([*(name for name in listed if CUPY.match(name)), *owners["cupy"]]))
    values = {
        "distributions": listed,
        "cupy": cupy,
        "owners": owners,
        "majors": majors,
        "twice": many,
    }
    text = ", ".join(
        f"{name} {versions[0]}"
        for name, versions in listed.items()
        if not name.startswith("nvidia-")
    )
    parts = sum(name.startswith("nvidia-") for name in listed)
    text += f", {parts} nvidia-* packages" if parts else ""
    return Fact("E14", values, text=text.lstrip(", ") or "no CUDA package")


def treadle_fact(outcome, step):
    """E24: import, and for each kind of device the steps that were taken. step: where the first child ended."""
    facts = outcome.facts
    values = {"ended": outcome.ended, "step": step, "detail": outcome.detail}
    for key in ("numpy", "treadle", "extension", "import_error", "loaded"):
        if key in facts:
            values[key] = facts[key]
    for kind in ("soft", "cuda"):
        values[kind] = [r for r in outcome.records if r.get("device") == kind]
        if f"ladder_{kind}" in facts:
            values[f"ladder_{kind}"] = facts[f"ladder_{kind}"]
    rungs = {r["name"]: r for r in values.get("ladder_cuda", ())}
    driver, compiler = rungs.get("driver library"), rungs.get("compiler")
    if driver and driver["status"] == "PASS":
        values["driver_file"] = driver["detail"]
    if compiler and compiler["status"] == "PASS":
        values["compiler"] = compiler["detail"]
    if "treadle" in values:
        values["imported"] = True
    elif "import_error" in values or outcome.ended != FINISHED:
        values["imported"] = False
        values.setdefault("import_error", outcome.problem)
    text = values.get("import_error", "")
    if "treadle" in values:
        text = f"Treadle {values['treadle']}, NumPy {values.get('numpy', '?')}"
        files = [os.path.basename(path) for path in values.get("loaded", ())]
        text += f"; loaded: {', '.join(files)}" if files else ""
    return Fact("E24", values, why=outcome.problem, text=text)
