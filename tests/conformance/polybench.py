"""PolyBench-GPU (github.com/sgrauerg/polybenchGpu): CUDA/*, each compared with its own CPU code, at sizes of ours."""

import re
import shutil
from pathlib import Path

from corpus import Program

# The programs count the elements that differ by more than their own threshold.
CHECK = (
    r"(?s)(Non-Matching CPU-GPU Outputs|Number of misses)[^\n]*: 0\b(?!.*Non-Matching[^\n]*: [1-9])"
)
SIZES = {
    "3DCONV": 32,
    "FDTD-2D": 128,
    "ADI": 64,
    "DOITGEN": 32,
    "GEMVER": 256,
    "CORR": 256,
    "COVAR": 256,
}
STEPS = 3  # time steps of the stencils


def shrink(folder, size):
    """The data set of a program: every #define of an extent becomes `size`."""
    for path in list(folder.glob("*.cuh")) + list(folder.glob("*.cu")):
        text = path.read_text(errors="replace")
        text = re.sub(
            r"(#\s*define\s+(?:NI|NJ|NK|NL|NM|NX|NY|NP|NQ|NR|N|M|LENGTH)\s+)\d+",
            rf"\g<1>{size}",
            text,
        )
        text = re.sub(r"(#\s*define\s+(?:TMAX|TSTEPS|tmax)\s+)\d+", rf"\g<1>{STEPS}", text)
        path.write_text(text)


def programs(checkout, work, compiler):
    root = Path(checkout)
    for source in sorted(path for path in (root / "CUDA").iterdir() if path.is_dir()):
        name = source.name
        target = work / name / "CUDA" / name

        def prepare(source=source, target=target, name=name):
            shutil.rmtree(target.parent.parent, ignore_errors=True)
            target.parent.mkdir(parents=True)
            shutil.copytree(source, target)
            (target.parent.parent / "common").symlink_to((root / "common").resolve())
            shrink(target, SIZES.get(name, 128))

        main = next((p.name for p in sorted(source.glob("*.cu"))), "")
        yield Program(
            name,
            target,
            [f"{compiler} -O3 -I../../common {main} -o main"],
            ["./main"],
            prepare=prepare,
            skip="" if main else "has no CUDA source",
            expected=CHECK,
        )
