"""Rodinia (github.com/yuhc/gpu-rodinia): cuda/*. The checkout holds no data; what a program reads is made here."""

import random
import shutil
from pathlib import Path

from corpus import Program

# cudaThreadSynchronize and friends are names of old toolkits.
FLAGS = "-O3 -I. -I../util -I../../common/inc"


def numbers(path, count, low, high, seed=1):
    rng = random.Random(seed)
    path.write_text("".join(f"{rng.uniform(low, high):.4f}\n" for _ in range(count)))


def graph(folder, nodes=4096, degree=4):
    """bfs: node count, (start, degree) of each node, source, edge count, (target, weight) of each edge."""
    rng = random.Random(2)
    text = [str(nodes)] + [f"{i * degree} {degree}" for i in range(nodes)]
    text += ["", "0", "", str(nodes * degree)]
    text += [f"{rng.randrange(nodes)} {rng.randrange(1, 10)}" for _ in range(nodes * degree)]
    (folder / "graph.txt").write_text("\n".join(text) + "\n")


def heat(folder):
    numbers(folder / "temp", 128 * 128, 320, 345)
    numbers(folder / "power", 128 * 128, 0, 0.01, 3)


def heat3d(folder):
    numbers(folder / "temp", 64 * 64 * 8, 320, 345)
    numbers(folder / "power", 64 * 64 * 8, 0, 0.01, 3)


def points(folder):
    rng = random.Random(4)
    rows = (" ".join([str(i)] + [f"{rng.random():.6f}" for _ in range(34)]) for i in range(2000))
    (folder / "points.txt").write_text("\n".join(rows) + "\n")


def hurricanes(folder):
    """nn: fixed columns; latitude and longitude are what counts."""
    rng = random.Random(5)
    lines = []
    for i in range(2000):
        lat, lon = rng.uniform(7, 63), rng.uniform(0, 358)
        date = f"{1950 + i % 50:4} {i % 12 + 1:2} {i % 28 + 1:2} {i % 24:2}"
        lines.append(
            f"{date} {i % 99:3} {'NAME':>10} {lat:5.1f} {lon:5.1f} {50:4}"[:48].ljust(48) + "\n"
        )
    (folder / "cane.db").write_text("".join(lines))
    (folder / "list").write_text("cane.db\n")


def picture(folder):
    """dwt2d: 192 x 192 pixels of 24 bits, where the program looks for them."""
    rng = random.Random(6)
    pixels = bytes(rng.randrange(256) for _ in range(192 * 192 * 3))
    place = folder / "../../data/dwt2d"
    place.mkdir(parents=True, exist_ok=True)
    (place / "192.bmp").write_bytes(pixels)


def text_bytes(folder):
    rng = random.Random(7)
    words = [rng.choice("etaoinshrdlu ") for _ in range(256 * 1024)]
    (folder / "input.in").write_text("".join(words))


def tree(folder):
    rng = random.Random(8)
    keys = rng.sample(range(1, 1 << 20), 10000)
    (folder / "keys.txt").write_text("\n".join([str(len(keys))] + [str(k) for k in keys]) + "\n")
    (folder / "command.txt").write_text("j 1000 100\n\nk 1000\n")


def constants(folder):
    numbers(folder / "y.txt", 91, 0, 1)


def mesh(folder, side=32):
    """cfd: a closed square mesh; each element has an area and four neighbours with normals."""
    lines = [str(side * side)]
    wind = {0: (1, 0), 1: (-1, 0), 2: (0, 1), 3: (0, -1)}
    for y in range(side):
        for x in range(side):
            row = ["1.0"]
            for dx, dy in wind.values():
                inside = 0 <= x + dx < side and 0 <= y + dy < side
                neighbour = (
                    (y + dy) * side + x + dx + 1
                    if inside
                    else (-2 if x + dx < 0 or x + dx >= side else -1)
                )
                row += [str(neighbour), f"{-dx}.0", f"{-dy}.0", "0.0"]
            lines.append(" ".join(row))
    (folder / "mesh").write_text("\n".join(lines) + "\n")


# name: (sources in the folder, further flags, data, run lines); a dict of them where a folder holds several programs.
ROWS = {
    "b+tree": (
        "main.c kernel/kernel_gpu_cuda_wrapper.cu kernel/kernel_gpu_cuda_wrapper_2.cu util/*/*.c util/*/*.cu",
        "",
        tree,
        ["./main file keys.txt command command.txt"],
    ),
    "backprop": ("backprop.c facetrain.c imagenet.c backprop_cuda.cu", "", None, ["./main 4096"]),
    "bfs": ("bfs.cu", "", graph, ["./main graph.txt"]),
    "cfd": ("euler3d.cu", "-I../hybridsort -Dblock_length=192", mesh, ["./main mesh"]),
    "cfd-double": (
        "euler3d_double.cu",
        "-I../hybridsort -Dblock_length=192",
        mesh,
        ["./main mesh"],
    ),
    "dwt2d": (
        "main.cu dwt.cu components.cu dwt_cuda/*.cu",
        "",
        picture,
        ["./main 192.bmp -d 192x192 -f -5 -l 3"],
    ),
    "gaussian": ("gaussian.cu", "", None, ["./main -s 64 -q"]),
    "heartwall": ("main.cu AVI/avilib.c AVI/avimod.c", "-I./AVI", None, []),
    "hotspot": ("hotspot.cu", "", heat, ["./main 128 2 4 temp power out"]),
    "hotspot3D": ("3D.cu", "", heat3d, ["./main 64 8 10 power temp out"]),
    "huffman": (
        "main_test_cu.cu cpuencode.cpp stats_logger.cpp",
        "-DTESTING",
        text_bytes,
        ["./main input.in"],
    ),
    "hybridsort": ("main.cu bucketsort.cu mergesort.cu", "", None, ["./main r"]),
    "kmeans": (
        "cluster.c getopt.c kmeans.c kmeans_clustering.c kmeans_cuda.cu rmse.c",
        "",
        points,
        ["./main -o -i points.txt"],
    ),
    "lavaMD": (
        "main.c kernel/kernel_gpu_cuda_wrapper.cu util/*/*.c util/*/*.cu",
        "",
        None,
        ["./main -boxes1d 3"],
    ),
    "leukocyte": ("", "", None, []),
    "lud": (
        "cuda/lud.cu cuda/lud_kernel.cu common/common.c",
        "-I./common",
        None,
        ["./main -s 128 -v"],
    ),
    "mummergpu": ("", "", None, []),
    "myocyte": ("main.cu", "", constants, ["./main 10 1 0"]),
    "nn": ("nn_cuda.cu", "", hurricanes, ["./main list -r 5 -lat 30 -lng 90"]),
    "nw": ("needle.cu", "", None, ["./main 256 10"]),
    "particlefilter-float": (
        "ex_particle_CUDA_float_seq.cu",
        "",
        None,
        ["./main -x 64 -y 64 -z 5 -np 500"],
    ),
    "particlefilter-naive": (
        "ex_particle_CUDA_naive_seq.cu",
        "",
        None,
        ["./main -x 64 -y 64 -z 5 -np 500"],
    ),
    "pathfinder": ("pathfinder.cu", "", None, ["./main 2000 50 20"]),
    "srad_v1": ("main.cu", "", None, ["./main 3 0.5 64 64"]),
    "srad_v2": ("srad.cu", "", None, ["./main 128 128 0 31 0 31 0.5 2"]),
    "streamcluster": (
        "streamcluster_cuda_cpu.cpp streamcluster_cuda.cu",
        "",
        None,
        ["./main 5 10 16 512 512 100 none output.txt 1"],
    ),
}
FOLDERS = {
    "cfd-double": "cfd",
    "particlefilter-float": "particlefilter",
    "particlefilter-naive": "particlefilter",
    "srad_v1": "srad/srad_v1",
    "srad_v2": "srad/srad_v2",
}
SKIPPED = {
    "heartwall": "reads a video that the checkout does not hold",
    "leukocyte": "reads a video that the checkout does not hold",
    "hybridsort": "includes OpenGL headers",
    "kmeans": "uses texture references, which CUDA 12 removed",
    "mummergpu": "uses texture references, which CUDA 12 removed",
}


def programs(checkout, work, compiler):
    root = Path(checkout).resolve()
    for name, (files, flags, data, lines) in ROWS.items():
        folder = FOLDERS.get(name, name)
        source = root / "cuda" / folder
        target = work / name / "cuda" / folder

        def prepare(source=source, target=target, name=name, data=data):
            shutil.rmtree(work / name, ignore_errors=True)
            target.parent.mkdir(parents=True)
            shutil.copytree(source, target, symlinks=True)
            if not (work / name / "cuda" / "util").exists():
                (work / name / "cuda" / "util").symlink_to(root / "cuda" / "util")
            (work / name / "common").symlink_to(root / "common")
            if not (work / name / "cuda" / "hybridsort").exists():  # has the samples' helper_cuda.h
                (work / name / "cuda" / "hybridsort").symlink_to(root / "cuda" / "hybridsort")
            if data:
                data(target)

        # nvcc takes C files with CUDA calls as C++.
        build = [f"{compiler} {FLAGS} {flags} -o main {files}"]
        yield Program(name, target, build, lines, prepare=prepare, skip=SKIPPED.get(name, ""))
