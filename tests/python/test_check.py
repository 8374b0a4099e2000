"""``treadle check`` as a user runs it on this machine: answers, exit statuses, forms of output, wrong input."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import treadle
from treadle.check import output
from treadle.check.verdict import STEPS

PACKAGE = Path(treadle.__file__).parent


@pytest.fixture
def check(python):
    def run(*arguments, **environment):
        return python("", "-m", "treadle", "check", *arguments, **environment)

    return run


def gpu_here():
    return any(not d.is_software for d in treadle.cuda.devices())


def test_software_device_is_verified_by_results(check, software_built):
    done = check("--json", TREADLE_LIBCUDA="none")
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert report["environment_ready"] is True and report["software_device_verified"] is True
    steps = report["verified"]["software_device"]["steps"]
    assert [s["step"] for s in steps] == list(STEPS) and all(s["status"] == "PASS" for s in steps)
    assert report["verified"]["software_device"]["evidence"] == ["E24"]
    assert "1003 elements equal" in steps[-1]["detail"]
    facts = {fact["id"]: fact for fact in report["observed"]}
    loaded = [os.path.basename(file) for file in facts["E24"]["values"]["loaded"]]
    assert "libtreadle_cc.so" in loaded  # it compiled: no cache answered


def test_nothing_is_written(check, software_built, tmp_path):
    """Neither a cache nor anything else in the folders that programs write to."""
    folders = {
        "HOME": tmp_path,
        "XDG_CACHE_HOME": tmp_path / "x",
        "TREADLE_CACHE_DIR": tmp_path / "c",
    }
    done = check(TREADLE_LIBCUDA="none", **{name: str(folder) for name, folder in folders.items()})
    assert done.returncode == 0 and list(tmp_path.iterdir()) == []


def test_a_hidden_gpu_is_skipped_with_its_reason(check, software_built):
    done = check("--json", "--require-gpu", TREADLE_LIBCUDA="none")
    report = json.loads(done.stdout)
    assert done.returncode == report["exit_status"] == 1
    assert report["gpu_verified"] is False
    gpu = report["verified"]["gpu"]
    assert gpu["status"] == "SKIPPED" and gpu["reason"] and gpu["evidence"]
    assert "L6" in [c["row"] for c in report["concluded"]]


def test_this_machine(check):
    """A GPU that Treadle can use is verified; without one no answer says so."""
    done = check("--json", "--require-gpu")
    report = json.loads(done.stdout)
    assert report["gpu_verified"] is gpu_here()
    assert done.returncode == (0 if gpu_here() else 1)
    known = {fact["id"] for fact in report["observed"] if fact["status"] == "observed"}
    for finding in report["concluded"]:
        assert set(finding["evidence"]) <= known
    if not gpu_here():
        assert report["verified"]["gpu"]["status"] == "SKIPPED"
        assert [c for c in report["concluded"] if c["weight"] == "blocks"]


def test_the_driver_is_no_toolkit(check):
    report = json.loads(check("--json").stdout)
    facts = {fact["id"]: fact for fact in report["observed"]}
    for toolkit in facts["E16"]["values"].get("toolkits", ()):
        assert os.path.isdir(toolkit["root"])
    if "version" in facts["E3"]["values"]:
        assert "not an installed toolkit" in facts["E3"]["text"]


def test_text_keeps_the_layers_apart(check, software_built):
    done = check(TREADLE_LIBCUDA="none")
    text = done.stdout
    assert done.returncode == 0 and done.stderr == ""
    headings = [
        "Verified",
        "Concluded",
        "Observed",
        "  driver library",
        "  kernel driver",
        "  toolkit",
        "Not checked",
    ]
    places = [text.index(f"\n{h}\n") if h != "Verified" else text.index(h) for h in headings]
    assert places == sorted(places)
    assert text.endswith("Exit status 0: what was asked for is usable.\n")
    assert "PASS     software device" in text and "SKIPPED  NVIDIA GPU" in text


def test_report_is_redacted(check, software_built):
    home = "/home/somebody/tools"
    done = check("--report", USER="somebody", LD_LIBRARY_PATH=home, CUDA_PATH=home, SLURM_JOB_ID="4711",
                 CUDA_VISIBLE_DEVICES="GPU-12345678-1234-1234-1234-123456789abc", TREADLE_LIBCUDA="none")  # fmt: skip
    assert done.returncode == 0
    assert "| software device | PASS |" in done.stdout
    for secret in ("somebody", "4711", "12345678-1234", os.uname().nodename):
        assert not re.search(rf"\b{secret}\b", done.stdout)
    assert "CUDA_VISIBLE_DEVICES=GPU-(redacted)" in done.stdout


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("GPU-12345678-1234-1234-1234-123456789abc,1", "GPU-(redacted),1"),
        ("/home/ann/x:/root/y", "~/x:~/y"),
        ("node17.example.net and NODE17", "(host) and (host)"),
        ("ann's annals", "(user)'s annals"),
        ("mac 00:1b:2c:3d:4e:5f ip 10.1.2.3", "mac (redacted address) ip (redacted address)"),
        ("/docker/" + "0f" * 32, "/docker/(redacted id)"),
        ("libcuda.so.580.65.06 at 0000:01:00.0", "libcuda.so.580.65.06 at 0000:01:00.0"),
    ],
)
def test_redaction(text, after):
    names = [
        ("node17.example.net", "(host)"),
        ("node17", "(host)"),
        ("ann", "(user)"),
        ("root", "(user)"),
    ]
    assert output.redacted(text, names) == after


@pytest.mark.parametrize(
    "arguments",
    [["--nonsense"], ["--timeout", "soon"], ["--timeout", "-1"], ["--timeout", "nan"], ["--pid", "x"],
     ["--pid", "999999999"], ["--json", "--report"], ["extra"]],
)  # fmt: skip
def test_wrong_arguments(check, arguments):
    done = check(*arguments)
    assert done.returncode == 3 and done.stdout == ""
    assert "usage: treadle check" in done.stderr and "Traceback" not in done.stderr


def test_the_tool_itself_fails(monkeypatch, capsys):
    from treadle import check

    for error, words in (
        (OSError("no fork"), "failed: no fork"),
        (ZeroDivisionError(), "please report"),
    ):

        def gather(*_, error=error):
            raise error

        monkeypatch.setattr(check, "gather", gather)
        assert check.main([]) == 3
        assert words in capsys.readouterr().err
    monkeypatch.setattr(check, "gather", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert check.main([]) == 3 and "interrupted" in capsys.readouterr().err


def test_help(check):
    done = check("--help")
    assert done.returncode == 0 and "--require-gpu" in done.stdout


def test_another_process(check, software_built):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        done = check(
            "--json", "--pid", str(other.pid), "--error", "no such error", TREADLE_LIBCUDA="none"
        )
        other.communicate(b"\n")
    facts = {fact["id"]: fact for fact in json.loads(done.stdout)["observed"]}
    assert facts["E20"]["values"]["pid"] == other.pid and facts["E20"]["values"]["forked"] is False
    assert facts["E0"]["values"]["texts"] == ["no such error"]


class TestDamagedInstallations:
    """The check runs where Treadle cannot be imported, and says why: exit status 2."""

    @pytest.fixture
    def copy(self, tmp_path):
        """The package without its extension."""
        folder = tmp_path / "treadle"
        shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("*.so*", "__pycache__", "prelude"),
                        ignore_dangling_symlinks=True)  # fmt: skip
        return folder

    def run(self, copy, *command):
        env = {**os.environ, "PYTHONPATH": str(copy.parent), "TREADLE_LIBCUDA": "none"}
        return subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, env=env, timeout=120
        )

    def test_no_extension(self, copy):
        done = self.run(copy, "-m", "treadle", "check", "--json")
        report = json.loads(done.stdout)
        assert done.returncode == 2 and report["environment_ready"] is False
        assert "has no extension _treadle" in report["verified"]["packages"]["reason"]
        assert "T1" in [c["row"] for c in report["concluded"]]
        assert report["verified"]["software_device"]["status"] == "SKIPPED"
        assert self.run(copy, "-m", "treadle", "check", "--require-gpu").returncode == 2

    def test_the_installed_command(self, copy):
        """What pip writes: a script that imports the package before it looks at its arguments."""
        script = copy.parent / "treadle-bin/treadle"
        script.parent.mkdir()
        script.write_text("import sys\nfrom treadle.__main__ import main\nsys.exit(main())\n")
        done = self.run(copy, str(script), "check", "--require-gpu", "--json")
        assert done.returncode == 2 and "has no extension _treadle" in done.stdout
        assert self.run(copy, str(script), "check", "--nonsense").returncode == 3
        assert self.run(copy, str(script), "tour").returncode == 1

    def test_extension_of_another_build(self, copy):
        import sysconfig

        (copy / ("_treadle" + sysconfig.get_config_var("EXT_SUFFIX"))).write_bytes(
            b"\x7fELF damaged"
        )
        done = self.run(copy, "-m", "treadle", "check")
        assert done.returncode == 2 and "FAIL     Python packages" in done.stdout
        assert done.stdout.index("row T1") < done.stdout.index("Observed")

    def test_without_numpy(self, copy):
        done = self.run(copy, "-S", "-m", "treadle", "check", "--report")
        assert done.returncode == 2 and "NumPy cannot be imported" in done.stdout

    def test_everything_else_says_where_to_look(self, copy):
        done = self.run(copy, "-c", "import treadle")
        assert done.returncode == 1 and "`python -m treadle check` finds out why" in done.stderr
        done = self.run(copy, "-c", "import sys; sys.argv = ['x', 'check']; import treadle")
        assert done.returncode == 1 and done.stdout == ""

    def test_a_crash_of_the_extension_is_a_fact(self, copy):
        """A child that dies while it imports Treadle ends itself only."""
        import sysconfig

        name = "_treadle" + sysconfig.get_config_var("EXT_SUFFIX")
        source = copy.parent / "x.c"
        source.write_text("void *PyInit__treadle(void) { __builtin_trap(); }\n")
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-o", copy / name, source], check=True, timeout=120
        )
        code = (
            "import sys; sys.path.insert(0, {!r}); sys.modules['treadle'] = m = type(sys)('treadle'); "
            "m.__path__ = [{!r}]; from treadle.check import main; sys.exit(main([]))"
        )
        done = self.run(copy, "-c", code.format(str(copy.parent), str(copy)))
        assert done.returncode == 2
        assert "SIGILL" in done.stdout or "SIGTRAP" in done.stdout


def test_damaged_surroundings(check, software_built):
    for environment in (
        {"PATH": ""}, {"PATH": "/nowhere::relative:/etc/passwd"}, {"LC_ALL": "C"}, {"LC_ALL": "xx_YY.bad"},
        {"PYTHONIOENCODING": "ascii"}, {"COLUMNS": "0"}, {"COLUMNS": "7"}, {"HOME": "/nowhere"}, {"TMPDIR": "/nowhere"},
        {"LD_LIBRARY_PATH": ":::/etc:\n"},
        {"CUDA_PATH": "/etc/passwd"}, {"CUDA_VISIBLE_DEVICES": ",,é,"},
        {"NVCC_CCBIN": "/etc/passwd"}, {"TREADLE_DEVICE": "nonsense"},
    ):  # fmt: skip
        done = check(**{"TREADLE_LIBCUDA": "none", **environment})
        assert done.returncode == 0, (environment, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr


def test_closed_output(software_built):
    env = {**os.environ, "TREADLE_LIBCUDA": "none"}
    command = f"{sys.executable} -m treadle check"
    piped = "2>&- | head -1 > /dev/null; exit ${PIPESTATUS[0]}"
    for redirection, status in ((">&-", 3), ("> /dev/full", 3), (piped, 0)):
        line = ["bash", "-c", f"{command} {redirection}"]
        done = subprocess.run(line, capture_output=True, text=True, env=env, timeout=120)
        assert done.returncode == status, (redirection, done.stderr)
        assert "Traceback" not in done.stderr
