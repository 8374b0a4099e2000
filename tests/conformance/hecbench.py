"""HeCBench (github.com/zjin-lcf/HeCBench): src/*-cuda, built by the programs' own Makefiles."""

import bz2
import re
import shutil
from pathlib import Path

from corpus import Program

HERE = Path(__file__).parent

# "Thirty programs to start with": each exercises something different of the device language.
FIRST = [
    "vadd", "bitonic-sort", "scan", "bscan", "shuffle", "vote", "atomicIntrinsics",
    "atomicAggregate", "atomicCAS", "bincount", "softmax", "simpleSpmv", "radixsort",
    "quicksort", "fwt", "dct8x8", "convolutionSeparable", "laplace3d", "nbody", "mandelbrot",
    "black-scholes", "nqueen", "chacha20", "secp256k1", "bh", "threadfence", "gemv", "dp4a",
    "assert", "wmma",
]  # fmt: skip

LIBRARY = re.compile(
    r'#\s*include\s*[<"]((?:cublas|cusparse|cufft|cusolver|cudnn|nccl|cutlass|cute|thrust|cub|nvml|mpi|ATen|torch'
    r"|boost|gdal|gsl|nvshmem|cudf|npp|cuda/(?!std)|tbb)[\w/.]*|curand\.h)"
)
# Programs whose own success reads like a failure.
EXPECTED = {"assert": r"failed as expected"}
# Names of arguments that only repeat the same work.
REPEAT = re.compile(
    r"repeat|iterations?|iters?\b|trials?|runs\b|repetitions?|number of times", re.IGNORECASE
)


def read_table(name):
    """name: value, one a line; # starts a comment."""
    rows = {}
    for line in (HERE / name).read_text().splitlines():
        line = line.split("#", 1)[0].strip()
        if line:
            key, _, value = line.partition(":")
            rows.setdefault(key.strip(), []).append(value.strip())
    return rows


def sources(folder):
    for path in sorted(folder.rglob("*")):
        if (
            path.suffix in (".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".c", ".inc", ".cuda")
            and path.is_file()
        ):
            yield path


def library_of(folder):
    for path in sources(folder):
        if match := LIBRARY.search(path.read_text(errors="replace")):
            return match.group(1)
    return ""


def edit(folder, rows):
    """Makes the constants of hecbench_edits.txt smaller; one that is not there any more is an error."""
    for row in rows:
        name, _, change = row.partition(": ")
        old, _, new = change.partition(" -> ")
        path = folder / name
        text = path.read_text(errors="surrogateescape")
        if old not in text:
            raise ValueError(f"{path} has no '{old}'; mend hecbench_edits.txt")
        path.write_text(text.replace(old, new, 1), errors="surrogateescape")


def make_folder(source, target, edits):
    """The program's folder alone is copied, with smaller constants and unpacked data; its neighbours are links."""

    def prepare():
        shutil.rmtree(target.parent, ignore_errors=True)
        target.parent.mkdir(parents=True)
        for neighbour in source.parent.iterdir():
            if neighbour != source:
                (target.parent / neighbour.name).symlink_to(neighbour.resolve())
        shutil.copytree(source, target, symlinks=True)
        edit(target, edits)
        for packed in target.glob("*.bz2"):
            packed.with_suffix("").write_bytes(bz2.decompress(packed.read_bytes()))

    return prepare


def usage_position(folder):
    """Which argument is named as a number of repetitions by the program's own usage text."""
    for path in sources(folder):
        for text in re.findall(
            r'"[^"\n]*[Uu]sage[^"\n]*"(?:\s*"[^"\n]*")*', path.read_text(errors="replace")
        ):
            arguments = re.findall(r"<([^<>]*)>", text)
            for position, name in enumerate(arguments):
                if REPEAT.search(name):
                    return position
    return None


def run_lines(folder, table_rows):
    """The commands of the Makefile's target `run`, with the table's arguments or fewer repetitions."""
    makefile = next(
        (folder / name for name in ("Makefile", "makefile") if (folder / name).exists()), None
    )
    text = makefile.read_text() if makefile else ""
    found = re.search(r"^run\s*:.*\n((?:\t.*\n?|#.*\n)*)", text, re.MULTILINE)
    lines = [line.strip() for line in (found.group(1).splitlines() if found else [])]
    lines = [
        re.sub(r"^[@-]", "", line)
        for line in lines
        if line and not line.lstrip("@-").startswith("#")
    ]
    program = (re.search(r"^\s*program\s*:?=\s*(\S+)", text, re.MULTILINE) or [None, "main"])[1]
    lines = [
        line.replace("$(LAUNCHER)", "")
        .replace("$(program)", program)
        .replace("${program}", program)
        .strip()
        for line in lines
    ]
    lines = [re.sub(r"\$\(\w+\)", lambda m: variable(text, m.group(0)), line) for line in lines]
    if table_rows:
        binary = next(
            (w for line in lines for w in line.split() if w.startswith("./")), "./" + program
        )
        return [f"{binary} {row}" for row in table_rows]
    position = usage_position(folder)
    if position is None:
        return lines[:1]
    shorter = []
    for line in lines[:1]:
        words = line.split()
        start = next((i for i, w in enumerate(words) if w.startswith("./")), None)
        if (
            start is not None
            and start + 1 + position < len(words)
            and words[start + 1 + position].isdigit()
        ):
            words[start + 1 + position] = str(min(int(words[start + 1 + position]), 2))
        shorter.append(" ".join(words))
    return shorter


def variable(makefile, use):
    match = re.search(rf"^\s*{use[2:-1]}\s*[:?]?=\s*(.*)$", makefile, re.MULTILINE)
    return match.group(1).strip() if match else ""


def programs(checkout, work, compiler):
    table = read_table("hecbench_arguments.txt")
    edits = read_table("hecbench_edits.txt")
    skips = read_table("hecbench_skipped.txt")
    source_root = Path(checkout) / "src"
    for source in sorted(source_root.glob("*-cuda")):
        name = source.name.removesuffix("-cuda")
        target = work / name / "src" / source.name
        skip = ""
        if library := library_of(source):
            skip = f"uses {library}"
        elif name in skips:
            skip = skips[name][0]
        elif not (source / "Makefile").exists():
            skip = "has no Makefile"
        yield Program(
            name,
            target,
            [f"make CC='{compiler}' NVCC='{compiler}' ARCH=sm_60 -B"],
            prepare=make_folder(source, target, edits.get(name, [])),
            find_run=lambda target=target, name=name: run_lines(target, table.get(name)),
            skip=skip,
            expected=EXPECTED.get(name, ""),
        )
