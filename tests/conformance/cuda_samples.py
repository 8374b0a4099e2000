"""NVIDIA/cuda-samples: every sample of one folder whose sources need neither graphics nor a library of the toolkit."""

import json
import re
import shlex
import shutil
from pathlib import Path

from corpus import Program

NEEDS = re.compile(
    r'#\s*include\s*[<"]((?:cublas|cusparse|cufft|cusolver|nvrtc|npp|nvjpeg|thrust|cub/|curand\.h|curand_(?!kernel)'
    r"|GL/|helper_gl|vulkan|d3d|mpi\.h|nvml|nvscibuf|EGL|cudaEGL|FreeImage|nvJitLink|rendercheck)[\w./]*)"
)
DRIVER = re.compile(
    r"\bcu(Init|ModuleLoad|ModuleLoadData|LaunchKernel|CtxCreate|MemCreate|DeviceGet)\w*\s*\("
)

WAIVED = 2  # EXIT_WAIVED of the samples
# Samples whose own success reads like a failure.
EXPECTED = {"simpleAssert": r"Device assert failed as expected"}
SEVERAL_DEVICES = re.compile(r"\b(cudaDeviceCanAccessPeer|cudaDeviceEnablePeerAccess)\b")


def sources_of(folder):
    text = (folder / "CMakeLists.txt").read_text()
    match = re.search(r"add_executable\(\s*\w+\s+([^)]*)\)", text)
    return match.group(1).split() if match else []


def programs(checkout, work, compiler):
    root = Path(checkout).resolve()
    arguments = (
        json.loads((root / "test_args.json").read_text())
        if (root / "test_args.json").exists()
        else {}
    )
    for listing in sorted(root.glob("Samples/*/*/CMakeLists.txt")):
        folder = listing.parent
        name = folder.name
        files = sources_of(folder)
        target = work / name / "Samples" / folder.parent.name / name
        texts = "".join(
            p.read_text(errors="replace")
            for p in folder.rglob("*")
            if p.suffix in (".cu", ".cuh", ".h", ".hpp", ".cpp", ".c") and p.is_file()
        )
        skip = ""
        if not files:
            skip = "its sources are not listed in one place"
        elif match := NEEDS.search(texts):
            skip = f"uses {match.group(1)}"
        elif DRIVER.search(texts):
            skip = "uses the driver API"
        elif "cdp" in name:
            skip = "launches kernels from kernels"

        def prepare(folder=folder, target=target, name=name):
            shutil.rmtree(work / name, ignore_errors=True)
            target.parent.mkdir(parents=True)
            shutil.copytree(folder, target, symlinks=True)
            (work / name / "Common").symlink_to(root / "Common")

        row = arguments.get(name, {})
        runs = row.get("runs", [row]) if isinstance(row, dict) else [{}]
        devices = "TREADLE_SOFT_DEVICES=2 " if SEVERAL_DEVICES.search(texts) else ""
        lines = [
            devices + "./main " + " ".join(shlex.quote(a) for a in run.get("args", []))
            for run in runs
        ]
        flags = "-Xcompiler -fopenmp" if "OpenMP" in listing.read_text() else ""
        build = f"{compiler} -O3 -rdc=true -I../../../Common -I. -Iinc {flags} -o main {' '.join(files)}"
        yield Program(
            name,
            target,
            [build],
            lines,
            prepare=prepare,
            skip=skip,
            expected=EXPECTED.get(name, ""),
            waived=WAIVED,
        )
