"""Random kernels through cuda.jit beside the same text run by Python on typed numbers.

TREADLE_FUZZ=1000 asks for more programs, TREADLE_FUZZ_FROM for other ones.
"""

import importlib.util
import os

import jit_programs
import pytest
import treadle as td
from treadle import cuda
from treadle._jit import store, variant

COUNT, FIRST = (
    int(os.environ.get("TREADLE_FUZZ", "40")),
    int(os.environ.get("TREADLE_FUZZ_FROM", "0")),
)


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    """Products and sums are rounded one by one, and nothing is stored."""
    usual = variant.options_of
    monkeypatch.setattr(variant, "options_of", lambda d: [*usual(d), "-fmad=false"])
    monkeypatch.setattr(store, "key_of", lambda *_: None)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_a_random_program_computes_what_python_computes(seed, tmp_path):
    text = jit_programs.program(seed)
    path = tmp_path / f"program_{seed}.py"
    path.write_text("import math\n\nimport numpy as np\nfrom treadle import cuda\n\n\n" + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ai, af, s, z = jit_programs.inputs(seed)
    out_i = td.zeros((jit_programs.ROWS, jit_programs.COLUMNS), "i8")
    out_f = td.zeros((jit_programs.ROWS, jit_programs.COLUMNS))
    kernel = cuda.jit(module.kernel)
    kernel[2, jit_programs.ROWS // 2](td.asarray(ai), td.asarray(af), s, z, out_i, out_f)
    want = jit_programs.expected(text, ai, af, s, z)
    found = jit_programs.differences((out_i.get(), out_f.get()), want)
    assert not found, f"{found}\n{text}"
