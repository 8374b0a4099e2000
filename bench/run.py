"""Runs the benchmarks: ``./dev bench [--only NAME] [--json FILE] [--device NAME]``.

Prints one table. The JSON file holds the machine, the device and the records; measured runs that are
worth keeping lie in ``bench/results``. The exit status says whether the programs ran, not whether
goals were met: those are in the table.
"""

import argparse
import importlib
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import common

PROGRAMS = (
    "start",
    "launch",
    "arrays",
    "indexing",
    "sorting",
    "products",
    "jit_launch",
    "jit_kernels",
    "jit_simulator",
    "software",
)
ON_REQUEST = ("functions", "tool")  # minutes


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description="Runs the benchmarks.")
    parser.add_argument(
        "--only",
        choices=PROGRAMS + ON_REQUEST,
        action="append",
        help="run this program (may be repeated)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the records to FILE")
    parser.add_argument("--device", help="cuda[:N] or soft[:N]")
    options = parser.parse_args()

    from treadle import cuda

    device = cuda.Device(options.device) if options.device else cuda.Device()
    device.use()
    print(f"{device.name}: {device.evidence} ({device.description})", flush=True)
    rows = []
    for name in options.only or PROGRAMS:
        print(f"… {name}", file=sys.stderr, flush=True)
        rows += importlib.import_module(name).run(device)
    common.show(rows)
    if options.json:
        write(options.json, device, rows)
    return 0


def write(path, device, rows):
    facts = {"name": device.name, "description": device.description, "evidence": device.evidence}
    result = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": common.machine(),
        "device": facts,
        "records": rows,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
