"""The three sweeps with made-up times: what they find, refuse, write and print. No test has a time in it."""

import json
import math
import re

import numpy as np
import pytest
import treadle as td
from made_up_times import MadeUp
from treadle import cuda
from treadle.sweep import blocks, cli, launches, reuse, run, sizes, workloads
from treadle.sweep.sources import Problem

ADD = workloads.WORKLOADS["add"]
CHAIN = workloads.WORKLOADS["chain"]
SIZES = [10, 100, 1000, 10_000, 100_000, 1_000_000]


def line(host=1e-9, start=1e-5, slope=1e-10, transfer=5e-5, byte=4e-10):
    """Times that grow with the number of elements. Resident they cross at start / (host - slope)."""

    def model(work, args, scope, where):
        n = args[0].size
        if where == "host":
            return host * n
        return start + slope * n + (transfer + byte * n if scope == "end_to_end" else 0)

    return model


def size_sweep(seed=0, **options):
    return sizes.sweep_sizes(ADD, SIZES, measure=MadeUp(line(), seed=seed), seed=seed, **options)


# ---- sizes ----


def test_size_sweep_finds_both_crossovers():
    data = size_sweep().as_dict()
    resident, whole = data["crossover"]["resident"], data["crossover"]["end_to_end"]
    assert resident["state"] == whole["state"] == "found"
    assert resident["low"] * 0.9 <= 1e-5 / 9e-10 <= resident["high"] * 1.1
    assert whole["low"] * 0.9 <= 6e-5 / 5e-10 <= whole["high"] * 1.1


def test_repeated_size_sweeps_have_overlapping_intervals():
    found = [size_sweep(seed).data["crossover"]["end_to_end"] for seed in range(5)]
    assert max(f["low"] for f in found) <= min(f["high"] for f in found)


def test_sizes_are_added_where_the_curves_cross():
    plain, fine = size_sweep(refine=0).data["sizes"], size_sweep(refine=2).data["sizes"]
    assert plain == SIZES and set(fine) > set(SIZES)
    assert all(1000 < n < 1_000_000 for n in set(fine) - set(SIZES))


def test_every_setting_is_measured_once_a_round_in_changing_order():
    measure = MadeUp(line())
    sizes.sweep_sizes(ADD, SIZES, measure=measure, rounds=4, refine=0)
    order = [args[0].size for args, _, where in measure.calls if where == "host"]
    rounds = [order[i : i + len(SIZES)] for i in range(0, len(order), len(SIZES))]
    assert len(rounds) == 4 and all(sorted(r) == SIZES for r in rounds)
    assert len({tuple(r) for r in rounds}) > 1


def test_times_say_which_device_they_are_of(software):
    report = size_sweep()
    expected = "CPU time of the software device" if software else "NVIDIA GPU"
    assert (
        expected in report.label
        and expected in report.text()
        and report.figures[0].note == report.label
    )
    assert ("not a GPU time" in report.label) == software


@pytest.mark.parametrize(
    "host, words",
    [
        (lambda a, b: a + b + 1, "largest difference"),
        (lambda a, b: (a + b).astype(np.float64), "different precisions"),
        (lambda a, b: (a + b)[:-1], "shape"),
    ],
)
def test_work_with_different_results_is_not_timed(host, words):
    work = workloads.of_function(lambda a, b: a + b, host=host, name="other")
    measure = MadeUp(line())
    with pytest.raises(Problem, match=words):
        sizes.sweep_sizes(work, [10, 100], measure=measure)
    assert not measure.calls


@pytest.mark.parametrize("name", list(workloads.WORKLOADS))
def test_works_compute_the_same_in_both_places(name):
    work = workloads.WORKLOADS[name]
    sizes.check_results(work, [10, 1000])
    if work.steps:
        arrays = work.inputs(1000)
        got = work.steps(*map(td.asarray, arrays))
        assert run.different(got, work.host(*arrays), work.tolerance) == ""


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda a: td.asarray(a) * 2, "not compute on the host"),
        (lambda a: np.asarray(td.asnumpy(a)) * 2, "on the device"),
    ],
)
def test_work_in_the_wrong_place_is_not_timed(function, words):
    with pytest.raises(Problem, match=words):
        sizes.check_results(workloads.of_function(function, name="wrong"), [10])


def test_inputs_may_be_one_array():
    work = workloads.of_function(lambda a: a + 1, inputs=lambda n: np.ones(n, np.float64))
    assert [a.dtype for a in work.inputs(3)] == [np.float64]
    sizes.check_results(work, [3])


def test_a_function_gets_one_array_for_each_parameter():
    work = workloads.of_function(lambda x, y, z=None: x * y)
    assert [a.shape for a in work.inputs(7)] == [(7,), (7,)]
    with pytest.raises(Problem, match="takes no arrays"):
        workloads.of_function(lambda: 1)


# ---- reuse ----


def uses_model(transfer=1e-3, use=2e-5, op_by_op=3.0):
    """A transfer, and then so much for each use; the number of uses is read from the repeated work."""

    def model(work, args, scope, where):
        if where == "host":
            return 5e-5
        k = work.__closure__[1].cell_contents if work.__name__ == "work" else 1
        each = use * (
            op_by_op if CHAIN.steps in [c.cell_contents for c in work.__closure__ or ()] else 1
        )
        return transfer + k * each

    return model


def reuse_sweep(model, **options):
    return reuse.sweep_reuse(CHAIN, 1000, measure=MadeUp(model), **options).as_dict()


def test_reuse_sweep_finds_where_transfers_stop_to_matter():
    data = reuse_sweep(uses_model())
    found, wins = data["transfers_stop_to_matter"], data["faster_than_numpy"]
    truth = 1e-3 * 0.9 / (0.1 * 2e-5)  # transfers are a tenth of transfer + k * use
    assert found["low"] * 0.85 <= truth <= found["high"] * 1.15
    assert wins["low"] * 0.85 <= 1e-3 / 3e-5 <= wins["high"] * 1.15
    each = data["seconds_of_a_use_without_transfers"]
    assert each["low"] * 0.95 <= 2e-5 <= each["high"] * 1.05
    ratio = data["op_by_op_over_fused"]
    assert ratio["low"] * 0.95 <= (1e-3 + 6e-2) / (1e-3 + 2e-2) <= ratio["high"] * 1.05


def test_reuse_sweep_says_when_transfers_always_matter():
    report = reuse.sweep_reuse(
        CHAIN, 1000, [1, 2, 5], measure=MadeUp(uses_model(transfer=10.0), noise=1e-4, drift=1e-4)
    )
    assert report.data["transfers_stop_to_matter"]["state"] == "never"
    assert "even with 5 uses" in report.findings[0]


def test_repeated_work_computes_every_use():
    calls = []

    def function(a):
        calls.append(a)
        return a + 1

    out = reuse._repeated(function, 7)(td.asarray(np.ones(3, np.float32)))
    assert len(calls) == 7 and (out.get() == 2).all()


# ---- block sizes ----

SOURCE = """
extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
extern "C" __global__ void who(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = blockDim.x;
}
extern "C" __global__ void __launch_bounds__(128) bounded(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}
extern "C" __global__ void untold(void* x) {}
"""


@pytest.fixture(scope="module")
def module():
    return td.RawModule(code=SOURCE)


def by_block(times):
    def model(work, args, scope, where):
        return times[work.__kwdefaults__["b"]]

    return MadeUp(model, noise=0.05, drift=0.01)


def test_block_sweep_says_which_sizes_are_as_good(module):
    kernel = launches.launchable(module.get_function("scale"), 1000)
    times = {64: 3e-5, 128: 1e-5, 256: 1e-5, 512: 1.3e-5}
    report = blocks.sweep_blocks(kernel, times, measure=by_block(times))
    data = report.as_dict()
    assert data["best"] in (128, 256) and data["indistinguishable"] == [128, 256]
    rows = {row["block"]: row for row in data["blocks"]}
    assert rows[64]["grid"] == 16 and rows[64]["to_best"]["low"] > 1
    processors = cuda.Device().attributes["MultiProcessorCount"]
    assert rows[64]["waves"] == 16 / (rows[64]["blocks"] * processors)
    assert rows[64]["occupancy"] == cuda.occupancy(kernel.compiled, 64).fraction
    assert data["record"]["properties"]["MultiProcessorCount"] == processors


def test_block_sizes_with_other_results_or_no_room_are_not_timed(module):
    times = dict.fromkeys((64, 96, 128, 256), 1e-5)
    kernel = launches.launchable(module.get_function("bounded"), 1000)
    data = blocks.sweep_blocks(kernel, times, measure=by_block(times)).as_dict()
    assert [row["block"] for row in data["blocks"]] == [64, 96, 128] and "threads" in data[
        "refused"
    ]["256"]
    with pytest.raises(Problem, match="results differ from those with 64 threads"):
        blocks.sweep_blocks(
            launches.launchable(module.get_function("who"), 1000), times, measure=by_block(times)
        )


def test_arguments_are_made_up_or_given(module):
    kernel = module.get_function("scale")
    made = launches.launchable(kernel, 50).arguments
    assert [getattr(a, "shape", None) for a in made] == [(50,), (50,), (), ()] and made[3] == 50
    given = dict(map(launches.read_argument, ("n=7", "y=float32[3*3]", "2=float32=0.5")))
    made = launches.launchable(kernel, 50, given).arguments
    assert made[1].shape == (9,) and made[2] == 0.5 and made[3] == 7
    with pytest.raises(Problem, match="no parameter 'm'; it has x, y, a, n"):
        launches.launchable(kernel, 50, {"m": 1})
    with pytest.raises(Problem, match="--arg x=float32"):
        launches.launchable(module.get_function("untold"), 50)


@pytest.mark.parametrize(
    "text", ["n", "n=", "=7", "n=seven", "n=float33[4]", "n=int8=1000", "n=True"]
)
def test_bad_arguments_show_how(text):
    with pytest.raises(Problem, match=re.escape(f"--arg {text}: ")):
        launches.read_argument(text)


def test_python_kernels_are_launched_too():
    @cuda.jit("void(float32[::1], int32)")
    def add(a, b):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += b

    times = {32: 1e-5, 64: 2e-5}
    report = blocks.sweep_blocks(launches.launchable(add, 100), times, measure=by_block(times))
    assert report.data["best"] == 32


# ---- the command ----


@pytest.fixture
def quick(monkeypatch):
    """The command with made-up times."""
    monkeypatch.setattr(run, "take", MadeUp(line()))


def command(capsys, *arguments):
    status = cli.main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_command_prints_json_and_is_quiet_in_a_pipe(quick, capsys):
    status, out, err = command(capsys, "size", "add", "sum", "--largest", "1e4", "--json")
    first, second = json.loads(out)
    assert status == 0 and err == "" and (first["work"], second["work"]) == ("add", "sum")
    assert first["sizes"][0] == 10 and first["record"]["seed"] == 0


def test_command_draws_in_the_terminal(quick, capsys):
    status, out, _ = command(capsys, "size", "add", "--largest", "1e5")
    assert (
        status == 0
        and "elements" in out
        and "vertical: time of a call" in out
        and "\x1b" not in out
    )
    assert "the device is faster from" in out


def test_command_writes_whole_files_that_load_nothing(quick, capsys, tmp_path):
    page, picture, numbers = tmp_path / "p.html", tmp_path / "p.svg", tmp_path / "p.json"
    saves = [part for path in (page, picture, numbers) for part in ("--save", path)]
    assert command(capsys, "size", "add", "--largest", "1e4", *saves)[0] == 0
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>") and text.rstrip().endswith("</html>")
    assert "<script" not in text and "prefers-color-scheme:dark" in text and "<svg" in text
    assert not re.search(r"(src|href)\s*=|url\(|@import", text)
    assert set(re.findall(r'https?://[^"\s<]+', text)) <= {"http://www.w3.org/2000/svg"}
    assert json.loads(numbers.read_text())["work"] == "add"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.html", "p.json", "p.svg"]


def test_interruption_leaves_nothing(monkeypatch, capsys, tmp_path):
    calls = []

    def interrupted(*args, **options):
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return MadeUp(line())(*args, **options)

    monkeypatch.setattr(run, "take", interrupted)
    status, out, err = command(capsys, "size", "add", "--save", tmp_path / "p.html")
    assert (
        status == 130
        and out == ""
        and "nothing was written" in err
        and not list(tmp_path.iterdir())
    )


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["size", "nothing"], "there are add, chain, sum, matmul, copy"),
        (["size", "missing.py:f"], "there is no file 'missing.py'"),
        (["size", "--sizes", "10,x"], "--sizes: 'x' is not a positive whole number"),
        (["size", "--sizes", "10"], "at least two sizes"),
        (["size", "--rounds", "0"], "--rounds is 0"),
        (["size", "--seconds", "-1"], "max_seconds is -1"),
        (["size", "--save", "x.gif"], ".html, .json, .svg"),
        (["size", "--save", "/no/such/x.html"], "there is no folder"),
        (["reuse", "--uses", "3"], "at least two numbers of uses"),
        (["reuse", "--share", "2"], "between 0 and 1"),
        (["block", "missing.cu:f"], "there is no file 'missing.cu'"),
    ],
)
def test_command_refuses_with_a_cure(quick, capsys, arguments, words):
    status, out, err = command(capsys, *arguments)
    assert status == 2 and out == "" and words in err and "Traceback" not in err


def test_command_sweeps_a_users_function_and_kernel(capsys, tmp_path):
    """With real measurements, short ones."""
    script = tmp_path / "mine.py"
    script.write_text(
        "from treadle import cuda\n"
        "def work(a):\n    return a * 2\n"
        "@cuda.jit\ndef add(a, b):\n    i = cuda.grid(1)\n    if i < a.size:\n        a[i] += b[i]\n"
    )
    short = ("--quick", "--rounds", "1", "--seconds", "0.01", "--json")
    status, out, err = command(capsys, "size", f"{script}:work", "--sizes", "10,1000", *short)
    assert status == 0, err
    assert all(row["median"] > 0 for rows in json.loads(out)[0]["seconds"].values() for row in rows)
    status, out, err = command(
        capsys, "block", f"{script}:add", "--signature", "float32[::1], float32[::1]", "--blocks", "64,128", "--size",
        "1000", *short,
    )  # fmt: skip
    assert status == 0, err
    assert json.loads(out)[0]["kernel"] == "add"
    status, out, err = command(capsys, "reuse", "chain", "--size", "100", "--uses", "1,3", *short)
    assert status == 0 and math.isfinite(
        json.loads(out)[0]["seconds_of_a_use"]["once"][0]["median"]
    ), err
    assert "--signature" in command(capsys, "block", f"{script}:add")[2]
