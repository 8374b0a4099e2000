"""GPUVerify's test suite (github.com/mc-imperial/gpuverify), testsuite/CUDA: kernels without a host program.

Those marked `pass`, which have neither races nor faults, must run without an error and give the same memory twice. The
others stay out: what GPUVerify proves of them is a race, a failed assertion or a limit of its own.
"""

import re
import shlex
import sys
from pathlib import Path

from corpus import Program

HERE = Path(__file__).parent


def reason_to_skip(text):
    first = text.split("\n", 1)[0].strip()
    if first != "//pass":
        return f"marked {first.lstrip('/')}"
    kernels = " ".join(re.findall(r"__global__[^{;]*", text))
    for name in re.findall(r"typedef[^;(]*\(\s*\*\s*(\w+)\s*\)\s*\(", text):
        if re.search(rf"\b{name}\b", kernels):
            return f"a kernel takes a device function ({name}), which no host can name"
    for name in re.findall(r"__device__[^;{}()]*\b(\w+)\s*\([^;{}]*\)\s*;", text):
        if not re.search(rf"\b{name}\s*\([^;{{}}()]*\)\s*{{", text):
            return f"calls {name}(), which has no body"
    return ""


def programs(checkout, work, compiler):
    root = Path(checkout).resolve() / "testsuite" / "CUDA"
    for source in sorted(root.rglob("*.cu")):
        words = [sys.executable, str(HERE / "gpuverify_launch.py"), str(source)]
        yield Program(
            str(source.parent.relative_to(root)),
            work,
            [],
            [shlex.join(words)],
            skip=reason_to_skip(source.read_text(errors="replace")),
            checked=True,
        )
