"""Probes of ``treadle check``: libraries that hang or crash, files that are damaged, evidence that is missing."""

import json
import os
import subprocess
import sys
import time

import pytest
from check_machines import bare, compile_standin, host, judged, passed, rests_on_what_was_checked
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from treadle.check import children, output
from treadle.check.evidence import FACTS, Evidence, Fact
from treadle.check.gather import READERS
from treadle.check.judge import ROW_FAILED
from treadle.check.layers import python, surroundings, toolkit
from treadle.check.verdict import conclude

quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="session")
def standin(tmp_path_factory):
    return compile_standin(tmp_path_factory.mktemp("standin"))


def rows(verdict):
    return {f.row.id: f for f in verdict.findings}


# ---- libraries that do not behave ----


def test_a_driver_that_sleeps(tmp_path, standin):
    fake = host(tmp_path, standin).answer(sleep=600)
    fake.options.update(limit=1.0, gpu=[])
    begun = time.monotonic()
    evidence, verdict = judged(fake)
    assert time.monotonic() - begun < 30
    assert set(rows(verdict)) == {"L2"} and rows(verdict)["L2"].strength == "cannot tell"
    assert "no answer within 1 s" in rows(verdict)["L2"].conclusion
    assert evidence["E3"].values["version"] == 13000  # learnt before cuInit
    assert verdict.gpu.status == "SKIPPED" and "row L2" in verdict.gpu.reason


@pytest.mark.parametrize(
    ("answer", "word"), [({"abort": 1}, "SIGABRT"), ({"exit": 3}, "exit status 3")]
)
def test_a_driver_that_ends_the_process(tmp_path, standin, answer, word):
    fake = host(tmp_path, standin).answer(**answer)
    fake.options["gpu"] = []
    _, verdict = judged(fake)
    assert set(rows(verdict)) == {"L3"}
    assert word in rows(verdict)["L3"].conclusion and "in cuInit" in rows(verdict)["L3"].conclusion


def test_a_driver_that_hangs_later(tmp_path, standin):
    """Not in cuInit, but where the first context is made."""
    fake = host(tmp_path, standin).answer(context_sleep=600)
    fake.options.update(limit=1.0, gpu=[])
    _, verdict = judged(fake)
    assert (
        set(rows(verdict)) == {"L2"}
        and "cuDevicePrimaryCtxRetain of" in rows(verdict)["L2"].conclusion
    )


def test_a_driver_that_hangs_while_it_is_loaded(tmp_path, standin):
    fake = host(tmp_path, standin)
    fake.options.update(limit=1.0, gpu=[])
    source = tmp_path / "slow.c"
    source.write_text(
        "#include <unistd.h>\n__attribute__((constructor)) static void f(void) { sleep(600); }\n"
    )
    library = fake.path("/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=120)
    evidence, verdict = judged(fake)
    assert set(rows(verdict)) == {"L2"} and "dlopen libcuda.so.1" in rows(verdict)["L2"].conclusion
    assert not evidence["E1"].checked


def test_a_driver_without_functions(tmp_path, standin):
    """Any other library by that name: no pattern is known, and nothing is concluded from it."""
    fake = host(tmp_path, standin)
    fake.options["gpu"] = []
    source = tmp_path / "empty.c"
    source.write_text("int nothing;\n")
    library = fake.path("/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06")
    subprocess.run(["gcc", "-shared", "-o", library, source], check=True, timeout=120)
    evidence, verdict = judged(fake)
    assert set(rows(verdict)) == {"43"}
    assert "has no cuInit" in evidence["E3"].text


def test_a_device_node_that_hangs(tmp_path, standin):
    fake = host(tmp_path, standin)
    machine = fake.machine()
    machine._open_nodes = lambda paths: {}
    machine.open_nodes = lambda paths: children.Outcome(
        "timed out", "no answer within 1 s", [{"begin": "open x"}]
    )
    from treadle.check.gather import gather

    evidence = gather(machine)
    assert "D2" in rows(conclude(evidence))
    assert "no answer" in evidence["E7"].text


def test_nodes_are_opened_in_a_child(tmp_path, standin):
    fake = host(tmp_path, standin)
    machine = fake.machine()
    machine._open_nodes = None
    facts = machine.open_nodes(["/dev/nvidia0", "/dev/nvidia9"]).facts
    assert facts == {"/dev/nvidia0": "ok", "/dev/nvidia9": "ENOENT"}


@pytest.mark.parametrize("limit", [2.0])
def test_the_command_with_a_driver_that_sleeps(tmp_path, standin, limit):
    """The whole command on this machine: the sleeping driver comes first in LD_LIBRARY_PATH."""
    (tmp_path / "libcuda.so.1").write_bytes(standin.read_bytes())
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "STANDIN_SLEEP": "600"}
    for name in ("TREADLE_LIBCUDA", "TREADLE_DEVICE"):
        env.pop(name, None)
    command = [sys.executable, "-m", "treadle", "check", "--json", "--timeout", str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=100)
    report = json.loads(done.stdout)
    assert "L2" in [c["row"] for c in report["concluded"]], done.stdout
    assert report["gpu_verified"] is False
    assert done.returncode == (0 if report["software_device_verified"] else 2)


# ---- Treadle's own answers ----


def test_treadle_uses_another_library(tmp_path, standin):
    fake = host(tmp_path, standin)
    ladder = [{"name": "driver library", "status": "PASS", "detail": "/opt/other/libcuda.so.1"},
              {"name": "compiler", "status": "PASS", "detail": "NVRTC 13.0, /opt/other/libnvrtc.so.13"}]  # fmt: skip
    fake.options["gpu"] = [*passed("cuda", "cuda:0"), {"facts": {"ladder_cuda": ladder}}]
    _, verdict = judged(fake)
    assert set(rows(verdict)) == {"L5", "P3"} and verdict.gpu.passed
    assert "/opt/other/libcuda.so.1" in rows(verdict)["L5"].conclusion


def records(**changes):
    """A verification's records, with something changed."""
    soft = passed("soft", "soft:0")
    return [{"facts": {"numpy": "2", "treadle": "0", **changes.get("facts", {})}}, *changes.get("soft", soft),
            *changes.get("more", [])]  # fmt: skip


def verdict_of(tmp_path, standin, given):
    machine = bare(tmp_path, standin).machine()
    machine._verify = given
    from treadle.check.gather import gather

    return conclude(gather(machine))


def test_a_software_device_that_computes_wrongly(tmp_path, standin):
    wrong = [
        *passed("soft", "soft:0")[:-1],
        {"device": "soft", "step": "compare", "status": "FAIL", "detail": "3 differ"},
    ]
    verdict = verdict_of(tmp_path, standin, records(soft=wrong))
    assert verdict.software.status == "FAIL" and "3 differ" in verdict.software.reason
    assert set(rows(verdict)) == {"1", "T2"}
    assert verdict.exit_status(False) == 2 and verdict.exit_status(True) == 2


def test_steps_that_are_missing_are_no_pass(tmp_path, standin):
    for kept in range(5):
        verdict = verdict_of(
            tmp_path / str(kept), standin, records(soft=passed("soft", "soft:0")[:kept])
        )
        assert not verdict.software.passed and not verdict.environment_ready


def test_a_build_without_software_device(tmp_path, standin):
    ladder = [
        {
            "name": "driver library",
            "status": "FAIL",
            "detail": "this build has no software device (…)",
        }
    ]
    failed = [
        {"device": "soft", "step": "create", "status": "FAIL", "detail": "this build has none"}
    ]
    facts = {"ladder_soft": ladder}
    alone = verdict_of(tmp_path / "a", standin, records(soft=failed, facts=facts))
    assert alone.software.status == "SKIPPED" and alone.exit_status(False) == 2
    assert set(rows(alone)) == {"1"}
    given = records(soft=failed, facts=facts, more=passed("cuda", "cuda:0"))
    with_gpu = verdict_of(tmp_path / "b", standin, given)
    assert with_gpu.exit_status(False) == 0 and with_gpu.exit_status(True) == 0


def test_a_device_that_crashes_does_not_hide_the_other(tmp_path, standin):
    """The child died in a step on the software device: the GPU is tried in a child of its own."""
    crashed = [
        {"facts": {"numpy": "2", "treadle": "0"}},
        *passed("soft", "soft:0")[:2],
        {"begin": "compile on soft:0"},
    ]
    asked = []

    class Given:
        def __init__(self, kinds):
            self.kinds = kinds

        def tell(self, line):
            asked.append((self.kinds, line))

        def outcome(self):
            if "soft" in self.kinds:
                return children.Outcome("killed", "ended by signal SIGSEGV", list(crashed))
            steps = [{"begin": "import numpy"}, {"end": "import numpy"}, *passed("cuda", "cuda:0")]
            return children.Outcome("finished", records=steps)

        def end(self):
            return ""

    from treadle.check.gather import gather

    machine = host(tmp_path, standin).machine()
    machine.verification = lambda kinds=("soft", "cuda"): Given(kinds)
    verdict = conclude(gather(machine))
    assert asked == [(("soft", "cuda"), "cuda"), (["cuda"], "cuda")]
    assert (
        verdict.gpu.passed
        and verdict.software.status == "FAIL"
        and "SIGSEGV" in verdict.software.reason
    )
    assert set(rows(verdict)) == {"T2"}


def test_an_import_that_fails(tmp_path, standin):
    verdict = verdict_of(
        tmp_path, standin, [{"facts": {"import_error": "NumPy cannot be imported"}}]
    )
    assert set(rows(verdict)) == {"1", "T1"} and verdict.exit_status(False) == 2
    assert verdict.gpu.status == verdict.software.status == "SKIPPED"


@pytest.mark.parametrize(
    ("said", "codes"),
    [("222", [222]), ("CUDA error 222 at x.cu:31", [222]), ("cudaError: 35", [35]), ("code=46(busy)", [46]),
     ("Xid 79", []), ("no kernel image", []), ("numba 0.62", []), ("", [])],
)  # fmt: skip
def test_what_the_user_saw(tmp_path, said, codes):
    from treadle.check.machine import Machine

    assert surroundings.symptoms(Machine(tmp_path, {}, symptoms=[said])).values["codes"] == codes


# ---- children ----


def child(code, limit=10.0, **options):
    return children.Child([sys.executable, "-c", code], os.environ, limit, **options)


def running(group):
    """Processes of a group that are not merely waiting to be buried."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[2] == str(group) and fields[0] not in "ZX":
            found.append(number)
    return found


def test_outcomes_of_children():
    assert child('print(\'\\x1e{"facts": {"a": 1}}\')').outcome().facts == {"a": 1}
    assert (
        child("import sys; sys.exit('last words')").outcome().detail == "exit status 1: last words"
    )
    assert (
        child("import os; os.kill(os.getpid(), 11)").outcome().detail == "ended by signal SIGSEGV"
    )
    assert children.Child(["/no/such/file"], {}, 1).outcome().ended == "not started"
    told = child("print(input())", talk=True)
    told.tell("a line")
    assert told.outcome().text == "a line\n"


def test_a_child_and_its_children_are_ended():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    asked = child(code, limit=1.0)
    assert asked.outcome().ended == "timed out"
    time.sleep(0.2)
    assert not running(asked._process.pid)


def test_a_child_that_writes_without_end():
    out = child("import os\nwhile True: os.write(1, b'x' * (1 << 20))", limit=20.0).outcome()
    assert out.ended == "failed" and "File too large" in out.detail  # Python ignores SIGXFSZ
    assert len(out.text) <= children.MAX_OUTPUT


@quick
@given(st.text(max_size=200))
def test_records_of_any_text(text):
    for record in children.records_of(text + '\x1e{"facts": {}}\n\x1e{"cut'):
        assert isinstance(record, dict)


# ---- damaged files ----

FILES = (
    "/proc/driver/nvidia/version", "/proc/modules", "/proc/sys/kernel/osrelease", "/proc/self/cgroup",
    "/proc/self/mountinfo", "/etc/os-release", "/etc/group", "/var/lib/dpkg/status", "/var/lib/apt/extended_states",
    "/var/log/kern.log", "/sys/kernel/security/lockdown", "/sys/bus/pci/devices/x/vendor",
    "/sys/bus/pci/devices/x/class",
    "/sys/bus/pci/devices/x/config",
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
    "/lib/modules/k/modules.dep", "/usr/local/cuda/version.json", "/usr/local/cuda/version.txt", "/proc/7/maps",
    "/proc/7/stat", "/proc/7/comm", "/etc/ld.so.conf.d/a.conf", "/usr/lib/sysimage/rpm/rpmdb.sqlite",
)  # fmt: skip
WORDS = st.sampled_from([
    b"0x10de", b"0x030000", b"NVRM version: ", b"Kernel Module  580", b"nvidia", b"Package: ", b"Version: ", b"ID=",
    b"Status: install ok installed", b"ID_LIKE=", b"microsoft", b"k", b":", b"\n", b"\n\n", b" ", b"\0", b"[", b"-",
    b"\xff\xff\xff\xff", b"S 1 2 3", b"/usr/lib/libcuda.so.1", b"Xid 79", b"Linux version ", b"SQLite format 3\0",
    b'{"cuda": {"version": "13',
])  # fmt: skip
CONTENT = st.one_of(st.binary(max_size=60), st.lists(WORDS, max_size=12).map(b"".join))


@quick
@given(st.dictionaries(st.sampled_from(FILES), CONTENT, max_size=12))
def test_readers_take_any_file(tmp_path_factory, files):
    """Readers never raise, and what they say is JSON."""
    from treadle.check.machine import Machine

    root = tmp_path_factory.mktemp("root")
    for name, content in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    machine = Machine(root, {}, python_path=[], open_nodes=lambda paths: {}, pid=7)
    for id, read in (*READERS, ("E20", surroundings.process)):
        fact = read(machine)
        assert fact.id == id and (fact.checked or fact.why)
        json.dumps(fact.as_json())
    toolkit.find_libraries(machine)


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_unreadable_files(tmp_path, standin):
    fake = host(tmp_path, standin)
    for name in ("/proc/modules", "/var/lib/dpkg/status", "/var/log/kern.log"):
        fake.path(name).chmod(0)
    evidence, verdict = judged(fake)
    assert not evidence["E13"].checked and "Permission denied" in evidence["E13"].why
    rests_on_what_was_checked(evidence, verdict)


def test_an_empty_root(tmp_path):
    from treadle.check.gather import gather
    from treadle.check.machine import Machine

    evidence = gather(Machine(tmp_path, {}, python_path=[], verify=[]))
    verdict = conclude(evidence)
    rests_on_what_was_checked(evidence, verdict)
    assert not {"1", "2", "3", "4"} & set(
        rows(verdict)
    )  # neither PCI devices nor the kernel's name are known
    for fact in evidence:
        assert fact.checked or fact.why
    json.dumps(output.as_json(evidence, verdict, False))


# ---- missing evidence ----


@pytest.fixture(scope="module")
def gathered(tmp_path_factory, standin):
    """Evidence of machines that show a dozen patterns."""
    from test_check_rows import ROWS

    found = []
    for number, (_, _, base, change, *_) in enumerate(ROWS[::4]):
        found.append(judged(change(base(tmp_path_factory.mktemp(f"m{number}"), standin)))[0])
    return found


@quick
@given(data=st.data())
def test_no_conclusion_rests_on_what_is_missing(gathered, data):
    """Take any facts and any values away, mix machines: rows do not fail, and cite only what was checked."""
    evidence = Evidence()
    source = data.draw(st.sampled_from(gathered))
    for id in FACTS:
        fact = data.draw(st.sampled_from([source, source, source, *gathered]))[id]
        if data.draw(st.booleans()) and data.draw(st.booleans()):
            evidence.add(Fact(id, why="taken away"))
            continue
        keys = sorted(fact.values)
        gone = data.draw(st.sets(st.sampled_from(keys), max_size=2)) if keys else set()
        evidence.add(
            Fact(id, {k: v for k, v in fact.values.items() if k not in gone}, fact.why, fact.text)
        )
    verdict = conclude(evidence)
    rests_on_what_was_checked(evidence, verdict)
    assert not [u for u in verdict.unjudged if u.why.startswith(ROW_FAILED)], verdict.unjudged
    json.dumps(output.as_json(evidence, verdict, True))
    output.as_text(evidence, verdict, False)
    output.redacted(output.as_markdown(evidence, verdict, True))


# ---- small readers ----


@pytest.mark.parametrize(
    ("name", "version", "major"),
    [("cupy-cuda12x", "13", 12), ("cupy-cuda112", "9", 11), ("nvidia-cublas-cu12", "12.1", 12),
     ("jax-cuda13-plugin", "1", 13), ("nvidia-cuda-nvrtc", "13.0.48", 13), ("cuda-bindings", "12.9", 12),
     ("pycuda", "2026.1", None), ("numba-cuda", "0.2", None)],
)  # fmt: skip
def test_cuda_majors(name, version, major):
    assert python.cuda_major(name, version, "/nowhere") == major


def test_libraries_of_conda(tmp_path):
    from treadle.check.machine import Machine

    site = tmp_path / "env/lib/python3.12/site-packages"
    site.mkdir(parents=True)
    (tmp_path / "env/lib/libnvrtc.so.12").write_bytes(b"")
    machine = Machine(tmp_path, {}, python_path=[str(site)])
    assert toolkit.find_libraries(machine)["nvrtc"] == []
    (tmp_path / "env/conda-meta").mkdir()
    assert [f["via"] for f in toolkit.find_libraries(machine)["nvrtc"]] == ["conda"]


def test_torch_says_its_cuda(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/version.py").write_text(
        "__version__ = '2.9'\ncuda: Optional[str] = '12.8'\n"
    )
    assert python.cuda_major("torch", "2.9", str(tmp_path)) == 12


def test_a_table_of_rpm(tmp_path):
    import sqlite3

    from treadle.check.layers import packages
    from treadle.check.machine import Machine

    (tmp_path / "var/lib/rpm").mkdir(parents=True)
    base = sqlite3.connect(tmp_path / "var/lib/rpm/rpmdb.sqlite")
    base.execute("CREATE TABLE Name (key TEXT, hnum INTEGER)")
    base.executemany("INSERT INTO Name VALUES (?, 1)", [("akmod-nvidia",), ("bash",), ("cuda",)])
    base.commit()
    base.close()
    values = packages.packages(Machine(tmp_path, {})).values
    assert (
        values["manager"] == "rpm"
        and list(values["drivers"]) == ["akmod-nvidia"]
        and list(values["metas"]) == ["cuda"]
    )


def test_packages_of_pacman(tmp_path):
    from treadle.check.layers import packages
    from treadle.check.machine import Machine

    (tmp_path / "var/lib/pacman/local/nvidia-utils-580.65.06-1").mkdir(parents=True)
    values = packages.packages(Machine(tmp_path, {})).values
    assert values["manager"] == "pacman" and values["drivers"] == {"nvidia-utils": "580.65.06-1"}
