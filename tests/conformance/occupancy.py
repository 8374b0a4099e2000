"""Treadle's occupancy calculator against the driver's own functions, over random launches of real kernels.

    python tests/conformance/occupancy.py [--inputs N] [--seed N] [--json FILE]

Kernels of many register counts, launch bounds and static shared memory are compiled; each input is one of them with a
random block, dynamic shared memory and carve-out. Compared are resident blocks, the best block size, and the shared
memory that still fits. Blocks above the launch bounds are not asked for: no launch has them. Exit status 1: a
difference. On the software device it compares the calculator with that device's own driver functions.
"""

import argparse
import collections
import json
import random
import sys

import treadle as td
from treadle import _treadle, cuda

LIVE = (1, 10, 24, 48, 110, 200)  # floats that a thread holds at a time
BOUNDS = (0, 64, 96, 256, 512, 1024)  # 0: no launch bounds
SHARED = (0, 0, 4, 1000, 5000, 16384, 30000, 49152)

KERNEL = """
extern "C" __global__ void {bounds} {name}(float* a) {{
  float x[{live}];
  #pragma unroll
  for (int i = 0; i < {live}; ++i) x[i] = a[i * 64 + threadIdx.x];
  {tile}
  #pragma unroll 1
  for (int k = 0; k < 9; ++k) {{
    #pragma unroll
    for (int i = 0; i < {live}; ++i) x[i] = x[i] * x[({live} - 1 + i) % {live}] + x[(i * 7 + 3) % {live}];
  }}
  #pragma unroll
  for (int i = 0; i < {live}; ++i) a[i * 64 + threadIdx.x] = x[i];
}}"""
TILE = (
    "__shared__ char tile[{bytes}]; tile[threadIdx.x % {bytes}] = a[0]; __syncthreads(); "
    "x[0] += tile[threadIdx.x / 2 % {bytes}];"
)


def kernels(rng):
    """Functions of all register needs and launch bounds, some of them with fewer registers than they want."""
    sources = {}
    for live in LIVE:
        for bound in BOUNDS:
            shared = rng.choice(SHARED)
            name = f"k{live}_{bound}_{shared}"
            sources[name] = KERNEL.format(
                name=name, live=live, bounds=f"__launch_bounds__({bound})" if bound else "",
                tile=TILE.format(bytes=shared) if shared else "",
            )  # fmt: skip
    for limit in (None, 24, 40, 64, 128):
        names = list(sources) if limit is None else rng.sample(list(sources), 6)
        options = () if limit is None else (f"-maxrregcount={limit}",)
        module = td.RawModule(code="\n".join(sources[name] for name in names), options=options)
        yield from (module.get_function(name) for name in names)


class Comparison:
    """Counts what agrees and keeps what does not."""

    def __init__(self, device):
        self.on = _treadle._multiprocessor_of(device)
        self.processors = device.attributes["MultiProcessorCount"]
        self.count, self.different = collections.Counter(), []

    def note(self, kind, equal, **facts):
        self.count[kind] += 1
        if not equal:
            self.different.append({"kind": kind, **facts})

    def blocks(self, kernel, block, dynamic):
        needs = _treadle._kernel_needs(kernel)
        if block > needs.max_threads:
            return
        mine = _treadle._occupancy(self.on, needs, block, dynamic)["blocks"]
        driver = _treadle._active_blocks(kernel, block, dynamic)
        self.note("resident blocks", mine == driver, kernel=kernel.name, block=block, dynamic=dynamic,
                  carve_out=needs.carve_out, mine=mine, driver=driver)  # fmt: skip

    def best(self, kernel, dynamic):
        """The driver leaves the carve-out aside here."""
        kernel.preferred_shared_memory_carveout = -1
        needs = _treadle._kernel_needs(kernel)
        try:
            driver = tuple(_treadle._best_block(kernel, dynamic))
        except RuntimeError:
            driver = (0, 0)  # no block fits
        mine = tuple(_treadle._best_block_on(self.on, needs, self.processors, dynamic))
        facts = {"kernel": kernel.name, "dynamic": dynamic, "mine": mine, "driver": driver}
        self.note("best block", mine == driver, **facts)

    def shared(self, kernel, block, blocks):
        """So much fits that one byte more would not; and the driver's number, which leaves the reserve out."""
        needs = _treadle._kernel_needs(kernel)
        fits = _treadle._shared_that_fits(self.on, needs, block, blocks)
        if fits < 0 or block > needs.max_threads:
            return
        most = self.on.block_shared - needs.shared
        resident = _treadle._active_blocks(kernel, block, fits)
        more = _treadle._active_blocks(kernel, block, fits + 1) if fits < most else 0
        facts = {"kernel": kernel.name, "block": block, "blocks": blocks, "mine": fits}
        self.note(
            "shared that fits",
            resident >= blocks > more,
            **facts,
            resident=resident,
            with_one_more=more,
        )
        available = _treadle._available_shared(kernel, blocks, block)
        self.note(
            "shared available",
            available == min(fits + self.on.reserved_shared, most),
            **facts,
            driver=available,
        )


def compare(inputs, seed):
    """The `Comparison` over so many random inputs."""
    rng = random.Random(seed)
    found, functions = Comparison(cuda.Device()), list(kernels(rng))
    for _ in range(inputs):
        kernel = rng.choice(functions)
        most = found.on.block_shared - kernel.shared_size_bytes
        kernel.max_dynamic_shared_size_bytes = most
        kernel.preferred_shared_memory_carveout = rng.choice(
            [-1, -1, 0, 25, 50, 100, rng.randrange(101)]
        )
        block = rng.choice([rng.randrange(1, 1025), 32 * rng.randrange(1, 33)])
        block = min(block, rng.choice([1024, _treadle._kernel_needs(kernel).max_threads]))
        dynamic = rng.choice(
            [0, 0, rng.randrange(49152), rng.randrange(found.on.block_shared + 2000)]
        )
        found.blocks(kernel, block, dynamic)
        found.shared(kernel, block, rng.randrange(1, 33))
        found.best(kernel, dynamic)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--json", metavar="FILE", help="write counts and differences there")
    options = parser.parse_args()
    found = compare(options.inputs, options.seed)
    for kind, number in found.count.items():
        wrong = sum(row["kind"] == kind for row in found.different)
        print(f"{kind:18} {number:6} compared, {wrong} different")
    if options.json:
        record = {
            "device": cuda.Device().description, "inputs": options.inputs, "compared": found.count,
            "different": found.different,
        }  # fmt: skip
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.write("\n")
    return 1 if found.different else 0


if __name__ == "__main__":
    sys.exit(main())
