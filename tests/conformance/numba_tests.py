#!/usr/bin/env python3
"""Runs numba-cuda's own tests, from a checkout, against treadle under the name numba.cuda.

    PYTHONPATH=build/python python3 tests/conformance/numba_tests.py /path/to/numba-cuda cudapy/test_math.py -v

Without names of files all run that need nothing of Numba's inside: INTERNALS lists what makes a file one about the
compiler, with the reason. Every file runs in a process of its own. The last lines count passed / failed / skipped
per file;
-v names what failed, and why in a line. The exit status is 0 when every failure is in numba_known_failures.txt, with
its
reason, and everything in that list that ran still fails.
"""

import argparse
import ast
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from known import KnownFailures, Tally, report

HERE = Path(__file__).resolve().parent
FOLDERS = ("cudapy", "cudadrv", "doc_examples")
# What a test file imports that only Numba's own compiler can have: prefix -> what the file is about.
INTERNALS = {
    "llvmlite": "LLVM text of Numba's compiler",
    "numba.cuda.codegen": "Numba's code generator",
    "numba.cuda.cgutils": "Numba's code generator",
    "numba.cuda.cudaimpl": "Numba's lowering",
    "numba.cuda.cudadecl": "Numba's typing templates",
    "numba.cuda.descriptor": "Numba's compiler target",
    "numba.cuda.flags": "Numba's compiler flags",
    "numba.cuda.datamodel": "Numba's data models",
    "numba.cuda.extending": "extensions of Numba's compiler",
    "numba.core.extending": "extensions of Numba's compiler",
    "numba.extending": "extensions of Numba's compiler",
    "numba.cuda.core.analysis": "Numba's IR",
    "numba.cuda.core.annotations": "Numba's IR",
    "numba.cuda.core.bytecode": "Numba's IR",
    "numba.cuda.core.caching": "Numba's cache files",
    "numba.cuda.core.callconv": "Numba's calling convention",
    "numba.cuda.core.compiler": "Numba's pass pipeline",
    "numba.cuda.core.compiler_machinery": "Numba's pass pipeline",
    "numba.cuda.core.controlflow": "Numba's IR",
    "numba.cuda.core.imputils": "Numba's lowering",
    "numba.cuda.core.inline_closurecall": "Numba's IR",
    "numba.cuda.core.ir": "Numba's IR",
    "numba.cuda.core.ir_utils": "Numba's IR",
    "numba.cuda.core.options": "Numba's compiler options",
    "numba.cuda.core.postproc": "Numba's IR",
    "numba.cuda.core.pythonapi": "Numba's boxing",
    "numba.cuda.core.rewrites": "Numba's IR",
    "numba.cuda.core.tracing": "Numba's tracing of itself",
    "numba.cuda.core.typed_passes": "Numba's pass pipeline",
    "numba.cuda.core.untyped_passes": "Numba's pass pipeline",
    "numba.cuda.core.target_extension": "Numba's compiler target",
    "numba.core.target_extension": "Numba's compiler target",
    "numba.cuda.typing.templates": "Numba's typing templates",
    "numba.cuda.typing.cffi_utils": "Numba's typing of cffi",
    "numba.cuda.typeconv": "Numba's table of conversions",
    "numba.cuda.libdevicefuncs": "Numba's table of libdevice",
    "numba.cuda.itanium_mangler": "Numba's names of symbols",
    "numba.cuda.serialize": "Numba's pickling of itself",
    "numba.cuda.cloudpickle": "Numba's pickling of itself",
    "numba.cuda.memory_management": "memory that Numba's kernels allocate",
    "numba.cuda.simulator": "Numba's simulator",
    "numba.cuda.cuda_paths": "how Numba finds libraries",
    "numba.cuda.cudadrv.nvvm": "libNVVM, which Treadle does not use",
    "numba.cuda.cudadrv.nvrtc": "Numba's binding of NVRTC",
    "numba.cuda.cudadrv.libs": "how Numba finds libraries",
    "numba.cuda.cudadrv.runtime": "Numba's binding of the runtime",
    "numba.cuda.cudadrv.dummyarray": "Numba's stand-in for NumPy's views",
    "numba.cuda.compiler.run_frontend": "Numba's IR",
    "numba.cuda.compiler.CompilerBase": "Numba's pass pipeline",
    "numba.cuda.deviceufunc": "Numba's ufunc engine",
    "numba.cuda._internal": "generated bindings of CUDA headers",
    "numba.cuda.tests.cudasim": "Numba's simulator",
    "numba.core.": "Numba's inside",
}  # fmt: skip
# Files about Numba's compiler that need no import to say so.
ABOUT_THE_COMPILER = {
    "cudapy/test_debuginfo.py": "debug information as LLVM text",
    "cudapy/test_debuginfo_types.py": "debug information as LLVM text",
    "cudapy/test_lineinfo.py": "line information as LLVM text",
    "cudapy/test_fastmath.py": "fast instructions in Numba's assembly",
    "cudapy/test_inspect.py": "texts of Numba's compiler",
    "cudapy/test_compiler.py": "compile(): PTX and LTO-IR of Numba's compiler",
    "cudapy/test_caching.py": "Numba's cache files",
    "cudapy/test_numba_interop.py": "Numba's CPU compiler beside it",
}


def imports(path):
    """The modules and names that a file imports anywhere, in full; not those for Numba's simulator."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("ENABLE_CUDASIM"):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def internal(path, name):
    """Why a file is about Numba's inside, or None."""
    if name in ABOUT_THE_COMPILER:
        return ABOUT_THE_COMPILER[name]
    for found in imports(path):
        for prefix, reason in INTERNALS.items():
            if found == prefix or found.startswith(prefix + "."):
                return f"{reason} ({found})"
    return None


def choose(tests, parts):
    """(file, reason to leave it out or None) of what was asked for."""
    files = []
    for part in parts or FOLDERS:
        path = tests / part
        files += sorted(path.glob("test_*.py")) if path.is_dir() else [path]
    for path in files:
        name = path.relative_to(tests).as_posix()
        yield name, None if parts and path.suffix else internal(path, name)


def run_file(tests, name, words, timeout):
    """(outcomes, reasons, why skipped) of one file, by test, run in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "tally.json"
        command = [sys.executable, __file__, "--one", str(tests), name, "--result", str(result)]
        command += ["-k", words] if words else []
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout, env=os.environ
            )
            died = f"the process ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"
        except subprocess.TimeoutExpired:
            died = f"no end after {timeout} s"
        found = json.loads(result.read_text()) if result.exists() else {}
    outcomes, reasons = found.get("outcomes", {}), found.get("reasons", {})
    if not found.get("complete"):
        test = found.get("running") or f"{name}::all"
        outcomes[test], reasons[test] = "failed", died
        for missed in found.get("collected", []):
            if missed not in outcomes:
                outcomes[missed], reasons[missed] = "failed", "not reached: " + died
    return outcomes, reasons, found.get("skips", {})


class Writer(Tally):
    """Keeps what is known on disk, for the case that a test takes the process with it."""

    def __init__(self, result):
        super().__init__()
        self.result, self.running, self.collected, self.complete = result, None, [], False

    def pytest_collection_modifyitems(self, items):
        self.collected = [item.nodeid for item in items]
        self.write()

    def pytest_runtest_logstart(self, nodeid):
        self.running = nodeid
        self.write()

    def pytest_sessionfinish(self):
        self.complete = True
        self.write()

    def write(self):
        facts = {
            n: getattr(self, n)
            for n in ("outcomes", "reasons", "skips", "running", "collected", "complete")
        }
        self.result.write_text(json.dumps(facts))


def run_one(options):
    os.environ["NUMBA_CUDA_TESTS"] = str(options.checkout)
    os.environ.setdefault("TREADLE_SOFT_DEVICES", "2")  # some tests are about two devices
    path = [str(HERE / "numba_site"), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, path))  # of processes that tests start
    sys.path.insert(0, str(HERE))
    os.chdir(options.checkout)
    import pytest

    arguments = ["-q", "--noconftest", "--no-header", "--tb=short", "-p", "numba_names", "-p", "no:cacheprovider",
                 "-c", os.devnull, "--rootdir", str(options.checkout), "-W", "ignore", "-r", "N",
                 *(["--no-summary"] if options.result else []), *options.parts]  # fmt: skip
    if options.words:
        arguments += ["-k", options.words]
    pytest.main(arguments, plugins=[Writer(Path(options.result or os.devnull))])
    return 0


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument(
        "parts", nargs="*", help="folders or files below numba_cuda/numba/cuda/tests"
    )
    parser.add_argument("-k", dest="words", help="pytest's choice of tests")
    parser.add_argument("-v", dest="verbose", action="store_true", help="name what failed")
    parser.add_argument("-j", dest="jobs", type=int, default=1, help="files at a time")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one file")
    parser.add_argument("--save", type=Path, help="write outcomes and reasons as JSON")
    parser.add_argument(
        "--one", action="store_true", help="run these files here, with pytest's own output"
    )
    parser.add_argument("--result", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args(argv)
    inside = options.checkout.resolve() / "numba_cuda/numba/cuda/tests"
    if options.one:
        options.checkout = inside if inside.exists() else options.checkout.resolve()
        return run_one(options)
    chosen = list(choose(inside, options.parts))
    outcomes, reasons, skips = {}, {}, {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        names = [name for name, reason in chosen if reason is None]
        for found in pool.map(lambda n: run_file(inside, n, options.words, options.timeout), names):
            for all_files, one_file in zip((outcomes, reasons, skips), found):
                all_files.update(one_file)
    if options.save:
        facts = {"outcomes": outcomes, "reasons": reasons, "skips": skips}
        options.save.write_text(json.dumps(facts, indent=1))
    if options.verbose:
        for test, reason in sorted(reasons.items()):
            print(f"{test}: {reason}")
    for name, reason in chosen:
        if reason:
            print(f"left out: {name}: {reason}")
    for reason, count in collections.Counter(skips.values()).most_common():
        print(f"skipped: {count}: {reason}")
    return report(outcomes, KnownFailures(HERE / "numba_known_failures.txt"))


if __name__ == "__main__":
    sys.exit(main())
