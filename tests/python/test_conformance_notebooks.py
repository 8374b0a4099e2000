"""The runner of notebooks: what it makes of magics, values, missing modules and errors."""

import json
import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[1] / "conformance" / "notebooks.py"

CELLS = [
    "import numpy as np\nfrom numba import cuda\n%matplotlib inline\n!nvidia-smi",
    "@cuda.jit\ndef add(a, b):\n    i = cuda.grid(1)\n    if i < a.size:\n        b[i] += a[i]",
    "a, b = np.ones(8), np.zeros(8)\n%timeit -n 3 add[1, 32](a, b)\nb.sum()",
    "%%time\nadd[1, 32](a, b)\nassert b[0] == 2",
    "%%html\n<b>not Python</b>",
    "import a_module_that_nobody_has as missing",
    "missing.draw(b)",
    "assert b[0] == 3, 'a check that fails'",
    "for k in range(2):\n    %time add[1, 32](a, b)\nassert b[0] == 4",
]


def test_a_notebook_runs_cell_by_cell(tmp_path):
    cells = [
        {"cell_type": "code", "source": text.splitlines(True), "outputs": []} for text in CELLS
    ]
    cells.insert(0, {"cell_type": "markdown", "source": ["words"]})
    (tmp_path / "lesson.ipynb").write_text(json.dumps({"cells": cells}))
    done = subprocess.run(
        [sys.executable, str(RUNNER), str(tmp_path), "-v"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "lesson.ipynb: 5 ran, 1 failed, 3 skipped", done.stdout + done.stderr
    assert "  [5] skipped: a magic of IPython that is not Python" in lines
    assert "  [6] skipped: module a_module_that_nobody_has is not installed" in lines
    assert "  [7] skipped: 'missing' comes from a cell that was skipped" in lines
    assert "  [8] failed: AssertionError: a check that fails" in lines
    assert any("np.float64(8.0)" in line for line in lines)  # the value of a last expression
    assert done.returncode == 1
