"""Rows 10 to 12, 39 to 41, and the two runtimes: compilers, toolkits and Python packages against the driver and GPU."""

from ..judge import BLOCKS, LIKELY, NOTE, UNKNOWN, WARNS, Row, match
from . import signs as s

# Compute capability: the first CUDA toolkit that compiles for it (NVIDIA's release notes of the toolkits).
FIRST_CUDA = {
    70: "9.0", 72: "9.2", 75: "10.0", 80: "11.0", 86: "11.1", 87: "11.4", 89: "11.8", 90: "11.8", 100: "12.8",
    101: "12.8", 120: "12.8", 103: "12.9", 121: "12.9", 88: "13.0", 110: "13.0",
}  # fmt: skip
# Compute capability up to which …: the last CUDA major and minor that compiles for it.
LAST_CUDA = ((21, "8.0"), (32, "10.2"), (37, "11.8"), (72, "12.9"))


def ptx(major, minor):
    """A number that orders CUDA versions by their PTX: 12.6 has that of 12.5 (PTX ISA 8.5, its release history)."""
    return (12, 5) if (major, minor) == (12, 6) else (major, minor)


def newer_compiler(e):
    """PTX of a compiler that is newer than the driver."""
    if not e("E1.opened") or e("E2.stub"):
        return None
    driver = e("E3.version")
    nvrtc = e("E15.nvrtc") if e.knows("E15.nvrtc") else {}
    nvcc = e("E16.nvcc") if e.knows("E16.nvcc") else {}
    for name, version in (("NVRTC", nvrtc.get("version")), ("nvcc", nvcc.get("version"))):
        if version and ptx(*version) > ptx(driver // 1000, driver % 1000 // 10):
            text = ".".join(map(str, version))
            if s.seen(e, s.UNSUPPORTED_PTX):
                return match(LIKELY, compiler=f"{name} {text}", driver=s.cuda(driver))
            return match(weight=NOTE, compiler=f"{name} {text}", driver=s.cuda(driver))
    return None


def gpu_newer(e):
    for compiler, archs in known(e):
        new = [gpu for gpu in e("E17.gpus") if gpu > archs[-1]]
        if new:
            weight = "" if s.seen(e, s.NO_BINARY) else WARNS
            return match(weight=weight, gpu=s.sm(new[0]), compiler=compiler, newest=s.sm(archs[-1]),
                         first=FIRST_CUDA.get(new[0], "a later one than this page knows"))  # fmt: skip
    return None


def gpu_older(e):
    for compiler, archs in known(e):
        old = [gpu for gpu in e("E17.gpus") if gpu < archs[0]]
        if old:
            weight = "" if s.seen(e, s.NO_BINARY) else WARNS
            last = next((version for top, version in LAST_CUDA if old[0] <= top), "one before it")
            return match(
                weight=weight, gpu=s.sm(old[0]), compiler=compiler, oldest=s.sm(archs[0]), last=last
            )
    return None


def known(e):
    """(compiler, what it knows), NVRTC only: nvcc is row 41."""
    if e("E17.gpus") and e.knows("E17.nvrtc"):
        return [("NVRTC", e("E17.nvrtc"))]
    return []


def two_cupys(e):
    cupy = e("E14.cupy")
    if len(cupy) < 2:
        pycuda = e("E14.owners")["pycuda"]
        return (
            match(what="PyCUDA", names=", ".join(pycuda), one="pycuda") if len(pycuda) > 1 else None
        )
    major = e("E3.version") // 1000 if e.knows("E3.version") else None
    return match(
        what="CuPy",
        names=", ".join(cupy),
        one=f"cupy-cuda{major}x" if major else "the one that fits your driver's CUDA major",
    )


def nvrtc_missing(e):
    entries = e("E15.libraries").get("nvrtc", [])
    absent = sorted(wanted_majors(e) - {entry["major"] for entry in entries})
    if absent:
        return match(
            what=f"libnvrtc.so.{absent[0]} is not found, and {wanted_by(e, absent[0])} needs it"
        )
    if not entries:
        if not s.told_text(e, "nvrtc") and not (e.knows("E3.count") and e("E3.count")):
            return None
        weight = BLOCKS if s.gpu_failed(e) else ""
        return match(weight=weight, what="No libnvrtc.so.12 or .13 is found")
    nvrtc = e("E15.nvrtc")
    version = nvrtc.get("version")
    if not version or list(version) in nvrtc["builtins"]:
        return None
    if not nvrtc["builtins"] and nvrtc.get("compiled") in (None, 0):
        return None  # none beside it, and it compiles: found elsewhere
    others = ", ".join(".".join(map(str, b)) for b in nvrtc["builtins"]) or "none"
    text = ".".join(map(str, version))
    return match(what=f"NVRTC {text} ({nvrtc['file']}) has builtins of version {others} beside it")


def cublas_missing(e):
    if not s.gpu_failed(e, "matrix product") or e("E15.libraries").get("cublas"):
        return None
    return match()


def hidden_libraries(e):
    return match() if s.variable(e, "TREADLE_LIBRARY_PATH") == "none" else None


def wanted_majors(e):
    """Majors that an installed CuPy was made for: it opens libnvrtc by that soname."""
    return {major for name, major in e("E14.majors").items() if name.startswith("cupy-cuda")}


def wanted_by(e, major):
    return next(
        name for name, m in e("E14.majors").items() if m == major and name.startswith("cupy-cuda")
    )


def nvcc_too_old(e):
    nvcc = e("E16.nvcc") if e.knows("E16.nvcc") else {}
    if not nvcc:
        return None
    version = ".".join(map(str, nvcc["version"]))
    if nvcc.get("archs") and e.knows("E17.gpus"):
        missing = [gpu for gpu in e("E17.gpus") if gpu not in nvcc["archs"]]
        if missing and missing[0] > nvcc["archs"][-1]:
            first = FIRST_CUDA.get(missing[0], "a later one")
            what = f"nvcc {version} does not know the GPU's sm_{missing[0]}; the first that does is of CUDA {first}"
            return match(what=what, advice=("newer nvcc",))
    host = e("E16.host") if e.knows("E16.host") else {}
    if nvcc.get("newest_gcc") and host.get("gcc") and host["major"] > nvcc["newest_gcc"]:
        found = f"the host compiler is GCC {host['major']} ({host['file']})"
        what = f"{found}, and nvcc {version} takes GCC up to {nvcc['newest_gcc']}"
        return match(what=what, advice=("older host compiler",))
    return None


def two_runtimes(e):
    files = e("E20.runtimes")
    if len(files) < 2:
        return None
    if s.told(e, 400):
        return match(UNKNOWN, files=" and ".join(files))
    return match(UNKNOWN, weight=WARNS, files=" and ".join(files))


def mixed_majors(e):
    majors = e("E14.majors")
    if len(set(majors.values())) < 2:
        return None
    by = {}
    for name, major in majors.items():
        by.setdefault(major, []).append(name)
    said = "; ".join(
        f"CUDA {m}: {', '.join(names[:4])}{' …' if len(names) > 4 else ''}"
        for m, names in sorted(by.items())
    )
    return match(majors=said)


def twice_installed(e):
    twice = e("E14.twice")
    if not twice:
        return None
    return match(names=", ".join(f"{n} {' and '.join(v)}" for n, v in twice.items()))


def other_nvrtc(e):
    """Treadle's discovery and this check's list of libraries disagree: said, not hidden."""
    if not e.knows("E24.compiler") or not e.knows("E15.nvrtc"):
        return None
    if e("E15.nvrtc")["file"] in e("E24.compiler"):
        return None
    return match(treadle=e("E24.compiler"), first=e("E15.nvrtc")["file"])


ROWS = (
    Row("10", "error 222, unsupported PTX version",
        "the version of NVRTC or nvcc is above the driver's CUDA version; without error 222: a note", newer_compiler,
        "{compiler} is newer than the driver (CUDA up to {driver}): the driver cannot compile its PTX. Code that was "
        "compiled for this GPU (cubin) is not affected.", ("cubin or newer driver",),
        sources=("openmm/openmm#3585", "NVIDIA/nvbandwidth#61")),
    Row("11", "error 209, no kernel image for the GPU", "the GPU's compute capability is above the compiler's list",
        gpu_newer,
        "The GPU ({gpu}) is newer than this {compiler}, which knows GPUs up to {newest}. The first CUDA for it is "
        "{first}.", ("newer toolkit",), sources=("cupy/cupy#9106", "cupy/cupy#9121")),
    Row("12", "error 209, no kernel image for the GPU", "the GPU's compute capability is below the compiler's list",
        gpu_older,
        "This {compiler} does not support the GPU ({gpu}) any more, it begins at {oldest}. The last CUDA for it is "
        "{last}.", ("older toolkit",)),
    Row("39", "CuPy misbehaves after an installation",
        "more than one distribution of CuPy, or owner of the folder cupy or pycuda",
        two_cupys,
        "Several distributions of {what} are installed over one another ({names}): their files overwrite each other, "
        "and what works is undefined. One is right: {one}.", ("one cupy",), WARNS,
        sources=("cupy/cupy#3552", "gpustack/gpustack#5459")),
    Row("40", "libnvrtc.so.N is not found, or 'failed to load builtins'",
        "the soname is absent, or the builtins beside NVRTC are of another minor version", nvrtc_missing,
        "{what}. This is not a matter of the driver.", ("install nvrtc",), WARNS, sources=("cupy/cupy#8317",)),
    Row("41", "nvcc: 'sm_XY is not defined', or 'unsupported GNU version'",
        "the GPU is not in nvcc's list, or the host compiler is newer than nvcc's own header allows", nvcc_too_old,
        "nvcc does not fit: {what}.", ("newer nvcc",), WARNS,
        sources=("inducer/pycuda#437", "NVlabs/instant-ngp#1562")),
    Row("42", "two CUDA runtimes in one process", "the process maps more than one libcudart", two_runtimes,
        "One process has two CUDA runtimes: {files}. Handles do not cross between them; whether this causes an "
        "error (such as 'invalid resource handle') cannot be told from the outside.", ("one runtime",),
        sources=("NVIDIA/cuda-quantum#4236",)),
    Row("P1", "Python packages of two CUDA majors", "the names or metadata of packages here name more than one major",
        mixed_majors, "Packages made for different CUDA majors share this environment ({majors}).", ("one major",),
        NOTE),
    Row("P2", "a package is installed twice", "two versions' metadata of one package in one folder", twice_installed,
        "The metadata of two versions lie in one folder: {names}. An installation was interrupted or overwritten.",
        ("reinstall",), WARNS),
    Row("P4", "matrix products fail on the GPU", "that step of Treadle's run failed; no libcublas is found",
        cublas_missing, "No libcublas.so.12 or .13 is found, and matrix products on a GPU need it.",
        ("install cublas",)),
    Row("P5", "Treadle does not look for NVIDIA's libraries", "TREADLE_LIBRARY_PATH is 'none'", hidden_libraries,
        "NVIDIA's libraries (NVRTC, cuBLAS and so on) are hidden from Treadle by TREADLE_LIBRARY_PATH.",
        ("unset library path",)),
    Row("P3", "Treadle compiles with another NVRTC than the first one found",
        "Treadle's discovery names another file than the search of this check", other_nvrtc,
        "Treadle compiles with {treadle}; this check finds {first} first.", ("report difference",), NOTE),
)  # fmt: skip
