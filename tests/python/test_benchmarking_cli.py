"""``treadle bench``: what it measures, its record, its exit status."""

import json

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle.benchmarking import cli, regions
from treadle.benchmarking.kernel_arguments import arithmetic, generate

QUICK = ["--seconds", "0.05", "--cache", "hot", "--target", "50"]

AXPY = r"""
#ifndef MORE
#define MORE 1
#endif
extern "C" __global__ void axpy(float s, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = s * x[i] + MORE;
}"""


def record(tmp_path, *arguments):
    path = tmp_path / "out.json"
    status = cli.main([*arguments, *QUICK, "--json", str(path)])
    return status, json.loads(path.read_text())["measurements"] if path.exists() else None


def test_an_expression_is_compared_with_numpy_and_measured(tmp_path, capsys):
    status, (found,) = record(
        tmp_path, "-e", "sqrt(a * a + b)", "--size", "1e4", "--dtype", "float64"
    )
    assert status in (cli.DONE, cli.UNDECIDED)
    assert [row["dtype"] for row in found["arguments"]] == ["float64"] * 2
    assert found["arguments"][0]["shape"] == [10_000]
    assert found["checked"].startswith("equal to the reference")
    assert {row["scope"] for row in found["times"]} == {"device", "end_to_end", "submission"}
    assert found["record"]["seed"] == 0 and found["record"]["device"]["name"] == cuda.Device().name
    text = capsys.readouterr().out
    assert "median" in text and cuda.Device().evidence in text
    if cuda.Device().is_software:
        assert "CPU time of the software device, not a GPU time" in text


def test_a_kernel_file_gets_generated_arguments(tmp_path):
    (tmp_path / "axpy.cu").write_text(AXPY)
    (tmp_path / "ref.py").write_text(
        "def axpy(s, x, y, n):\n    y[:] = s * x\ndef wrong(s, x, y, n):\n    y[:] = 0\n"
    )
    command = [
        *(
            str(tmp_path / "axpy.cu"),
            "--kernel",
            "axpy",
            "--arg",
            "float=2.5",
            "--arg",
            "float32[1<<12]",
        ),
        *(
            "--arg",
            "out:float32[1<<12]=0",
            "--arg",
            "int32=4096",
            "--block",
            "128",
            "--option=-DMORE=0",
        ),
    ]
    status, (found,) = record(tmp_path, *command, "--reference", f"{tmp_path / 'ref.py'}:axpy")
    assert status in (cli.DONE, cli.UNDECIDED) and found["name"] == "axpy<<<32, 128>>>"
    assert found["counts"]["launches"] == 1
    assert (found["upload_bytes"], found["download_bytes"]) == (4 * 4096, 4 * 4096)
    assert cli.main([*command, *QUICK, "--reference", f"{tmp_path / 'ref.py'}:wrong"]) == cli.FAILED


def test_a_function_of_a_script(tmp_path):
    (tmp_path / "work.py").write_text(
        "import numpy as np, treadle as td\nx = td.asarray(np.ones(1000, np.float32))\ndef step():\n    return x * 2\n"
    )
    status, (found,) = record(tmp_path, f"{tmp_path / 'work.py'}:step")
    assert status in (cli.DONE, cli.UNDECIDED) and found["name"] == "step"


def test_two_functions_and_an_expression_and_numpy_in_turns(tmp_path, capsys):
    (tmp_path / "work.py").write_text(
        "import numpy as np, treadle as td\nx = td.asarray(np.ones(1000, np.float32))\n"
        "def one():\n    return x * 2\ndef two():\n    return x + x\ndef wrong():\n    return x * 3\n"
        "def broken():\n    return x[10**6]\n"
    )
    path, out = str(tmp_path / "work.py"), tmp_path / "out.json"
    command = [*QUICK, "--json", str(out), f"{path}:one", "--against"]
    assert cli.main([*command, f"{path}:two"]) in (cli.DONE, cli.UNDECIDED)
    found = json.loads(out.read_text())["comparisons"][0]
    assert (found["a"]["name"], found["b"]["name"]) == ("one", "two")
    assert [row["scope"] for row in found["ratios"]] == ["device", "end_to_end"]
    assert cli.main([*command, f"{path}:wrong"]) == cli.FAILED
    assert cli.main([*command, f"{path}:broken"]) == cli.FAILED
    assert "broken raised IndexError" in capsys.readouterr().err
    status = cli.main(["-e", "sqrt(a + 1)", "--size", "1000", "--numpy", *QUICK])
    assert status in (cli.DONE, cli.UNDECIDED) and "a  NumPy" in capsys.readouterr().out


def test_regions_of_a_script(tmp_path, capsys):
    (tmp_path / "work.py").write_text(
        "import sys, numpy as np, treadle as td\n"
        "x = td.asarray(np.arange(float(sys.argv[1])))\n"
        "before = x + 1\n"
        "with td.benchmark.region('kept'):\n    y = x * 2\n"
        "with td.benchmark.region('dropped'):\n    x * 2\n"
        "print('said once')\nsys.exit(0)\n"
    )
    path = tmp_path / "out.json"
    options = ["--seconds", "0.2", "--target", "50", "--json", str(path)]
    assert (
        cli.main([*options, str(tmp_path / "work.py"), "--", "1000"]) == cli.FAILED
    )  # one has no time
    kept, dropped = json.loads(path.read_text())["measurements"]
    assert {row["scope"] for row in kept["times"]} == {"device", "end_to_end", "submission"}
    assert kept["counts"]["launches"] == 1  # and not that of `before`
    assert not dropped["times"] and dropped["findings"][0]["kind"] == "nothing-launched"
    assert capsys.readouterr().out.count("said once") == 1


def test_a_region_in_a_program(tmp_path):
    regions.forget()
    x = td.asarray(np.ones(1000))
    for _ in range(20):
        with td.benchmark.region("step"):
            y = td.sqrt(x * x + 1)
    found = td.benchmark.regions()["step"]
    assert found.counts.launches == 1 and len(found.time().samples_s) >= 6
    with pytest.raises(ZeroDivisionError), td.benchmark.region("step"):
        1 / 0  # noqa: B018
    assert len(td.benchmark.regions()["step"].time().samples_s) == len(found.time().samples_s)
    again = td.benchmark.region("again")
    with pytest.raises(RuntimeError, match="inside of itself"), again, again:
        pass
    with pytest.raises(ValueError, match="name"):
        td.benchmark.region("")
    assert np.allclose(td.asnumpy(y), 2**0.5)
    regions.forget()


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "nothing to measure"),
        (["-e", "a +"], "no expression"),
        (["-e", "1 + 2"], "no arrays"),
        (["-e", "a", "x.py"], "give one"),
        (["-e", "a + 1", "--size", "x"], "--size"),
        (["-e", "a + 1", "--dtype", "float31"], "--dtype"),
        (["-e", "a + 1", "--target", "0"], "target"),
        (["missing.py"], "no file 'missing.py'"),
        (["missing.py:f"], "no file 'missing.py'"),
        (["SCRIPT:nothing"], "no function 'nothing'"),
        (["SCRIPT"], "no marked region"),
        (["KERNEL"], "--kernel"),
        (["KERNEL", "--kernel", "axpy", "--arg", "float99[3]"], "float99"),
        (["KERNEL", "--kernel", "axpy", "--arg", "float32[3]", "--block", "0"], "--block"),
        (["KERNEL", "--kernel", "axpy", "--arg", "float32[3]"], "TypeError"),
        (["SCRIPT:f", "--reference", "x"], "script.py:function"),
    ],
)
def test_wrong_use_is_said_with_the_cure(tmp_path, capsys, arguments, words):
    (tmp_path / "s.py").write_text("def f(): pass\n")
    (tmp_path / "k.cu").write_text(AXPY)
    named = [
        a.replace("SCRIPT", str(tmp_path / "s.py")).replace("KERNEL", str(tmp_path / "k.cu"))
        for a in arguments
    ]
    assert cli.main(named) == cli.WRONG_USE
    assert words in capsys.readouterr().err


def test_what_fails_has_no_time(tmp_path, capsys):
    (tmp_path / "s.py").write_text("def f(): pass\n")
    assert cli.main([f"{tmp_path / 's.py'}:f", *QUICK]) == cli.FAILED
    assert "no time (nothing-launched)" in capsys.readouterr().err
    (tmp_path / "k.cu").write_text('extern "C" __global__ void k(float* p) { p[0] = x; }')
    assert cli.main([str(tmp_path / "k.cu"), "--kernel", "k", "--arg", "float32[1]"]) == cli.FAILED
    assert "identifier" in capsys.readouterr().err


def test_compare_of_saved_runs_has_an_exit_status(tmp_path, capsys):
    path = tmp_path / "a.json"
    assert cli.main(["-e", "a + 1", "--size", "1000", *QUICK, "--json", str(path)]) in (
        cli.DONE,
        cli.UNDECIDED,
    )
    found = json.loads(path.read_text())

    def saved(name, factor):
        rows = json.loads(json.dumps(found))
        for row in rows["measurements"][0]["times"]:
            row["samples"] = [factor * (1 + 1e-4 * i) for i in range(30)]
        (tmp_path / name).write_text(json.dumps(rows))
        return str(tmp_path / name)

    one, two = saved("one.json", 1.0), saved("two.json", 2.0)
    assert cli.main(["compare", one, one]) == cli.DONE
    assert cli.main(["compare", two, one]) == cli.DONE
    assert cli.main(["compare", one, two]) == cli.FAILED
    assert "slower" in capsys.readouterr().out
    assert cli.main(["compare", one, str(tmp_path / "none.json")]) == cli.WRONG_USE
    assert cli.main(["compare", "--json", one, two]) == cli.FAILED
    capsys.readouterr()


def test_the_record_goes_to_standard_output_alone(capsys):
    cli.main(["-e", "a + 1", "--size", "1000", *QUICK, "--json", "-"])
    assert json.loads(capsys.readouterr().out)["measurements"][0]["name"] == "a + 1"


@pytest.mark.parametrize(
    "text, value",
    [
        ("12", 12),
        ("1<<20", 1 << 20),
        ("3*(2+2)", 12),
        ("2**10-1", 1023),
        ("1e3", 1000),
        ("9//2", 4),
    ],
)
def test_sizes(text, value):
    assert arithmetic(text) == value


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "1.5", "2**99", "1//0", "__import__('os')", "1<<-1", "9**9**9"]
)
def test_what_is_no_size(text):
    with pytest.raises(ValueError, match="is no size"):
        arithmetic(text)


def test_generated_arguments():
    rng = np.random.default_rng(0)
    one = generate("out:float32[4,3]=0", rng)
    assert (
        one.way == "out"
        and one.value.shape == (4, 3)
        and one.value.dtype == np.float32
        and not one.value.any()
    )
    assert generate("int64[5]=arange", rng).value.tolist() == [0, 1, 2, 3, 4]
    assert generate("int32=-7", rng).value == np.int32(-7)
    assert generate("complex64[3]", rng).value.imag.any()
    same = [generate("float64[9]", np.random.default_rng(3)).value for _ in range(2)]
    assert np.array_equal(*same)
    for bad in ("float32", "float32[", "uint8=300", "int32=x", "float32[2]=y", "both:int32[1]"):
        with pytest.raises(ValueError, match=r"argument|no|dtype"):
            generate(bad, rng)
