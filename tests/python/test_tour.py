"""``treadle tour`` as a user runs it: its report, its exit status, and that it needs nothing of NVIDIA."""

import json

import pytest

HIDDEN = {
    "TREADLE_LIBCUDA": "none", "TREADLE_LIBRARY_PATH": "none", "CUDA_PATH": None, "CUDA_HOME": None,
    "LD_LIBRARY_PATH": None,
}  # fmt: skip
KEYS = {"name", "status", "reason", "device", "figures", "asked"}


def tour(python, *arguments, **environment):
    return python("", "-m", "treadle", "tour", *arguments, **environment)


@pytest.fixture(scope="module")
def soft_tour(tmp_path_factory):
    """One complete tour on the software device with every NVIDIA file hidden and an empty cache."""
    import os
    import subprocess
    import sys

    env = {
        **os.environ,
        "TREADLE_DEVICE": "auto",
        "TREADLE_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
    }
    for key, value in HIDDEN.items():
        env.pop(key, None)
        if value is not None:
            env[key] = value
    command = [sys.executable, "-m", "treadle", "tour", "--json"]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=env)


@pytest.fixture(scope="module")
def report(soft_tour):
    return json.loads(soft_tour.stdout)


def need_software(software):
    if not software:
        pytest.skip("this run is about a GPU")


def test_tour_passes_with_every_nvidia_file_hidden(soft_tour, report, software):
    need_software(software)
    failed = [
        (step["name"], step["reason"])
        for step in report["steps"]
        if step["asked"] and step["status"] != "PASS"
    ]
    assert failed == []
    assert soft_tour.returncode == 0 and report["verdict"] == "PASS" and report["problems"] == []
    assert (
        report["device"]["name"] == "soft:0" and report["device"]["evidence"] == "software device"
    )


def test_report_schema(report, software):
    need_software(software)
    for step in report["steps"]:
        assert set(step) == KEYS
        assert step["status"] in ("PASS", "FAIL", "SKIPPED")
        assert step["device"] in ("software device", "NVIDIA GPU")
        assert isinstance(step["figures"], dict)
        assert bool(step["reason"]) == (step["status"] != "PASS")
        if step["device"] == "NVIDIA GPU":
            assert step["status"] == "SKIPPED" and not step["asked"]


def test_every_part_of_the_tour_is_there(report, software):
    need_software(software)
    names = [step["name"] for step in report["steps"] if step["asked"]]
    assert len(names) == len(set(names))
    counts = {}
    for name in names:
        group = name.partition(":")[0]
        counts[group] = counts.get(group, 0) + 1
    assert counts == {
        "discovery": 9,
        "arrays": 4,
        "launches": 10,
        "blocks": 6,
        "mistakes": 6,
        "time": 4,
    }
    figures = {step["name"]: step["figures"] for step in report["steps"]}
    assert figures["launches: vector addition of 10003"] == {
        "blocks": 40,
        "threads": 10240,
        "idle": 237,
    }
    assert figures["launches: vector addition of 0"] == {"blocks": 0, "threads": 0, "idle": 0}
    assert figures["arrays: quantities times prices"]["sum"] == 105
    assert figures["mistakes: no bounds check"]["foreign writes detected"] == 24
    assert [row["threads a block"] for row in figures["time: block-size sweep"]["sweep"]] == [
        32,
        64,
        128,
        256,
        512,
        1024,
    ]
    assert [row["elements"] for row in figures["time: size sweep against NumPy"]["sweep"]] == [
        10**k for k in range(3, 8)
    ]


def test_software_time_is_never_called_gpu_time(report, software):
    need_software(software)
    for step in report["steps"]:
        if step["name"].startswith("time:"):
            assert step["figures"]["kind"].startswith("software device time")
    text = json.dumps([step for step in report["steps"] if step["asked"]])
    assert "GPU time" not in text


def test_requiring_a_gpu_without_one_fails(python):
    done = tour(python, "--require-gpu", "--json", **HIDDEN)
    report = json.loads(done.stdout)
    assert done.returncode == 1 and report["verdict"] == "FAIL"
    assert (
        "an NVIDIA GPU was required" in report["problems"] and "nothing ran" in report["problems"]
    )
    assert any(step["status"] == "FAIL" for step in report["steps"])


def test_requiring_a_gpu_on_the_software_device_fails(python, software):
    need_software(software)
    done = tour(python, "--require-gpu", "--device", "soft", "--step", "quantities")
    assert done.returncode == 1 and "an NVIDIA GPU was required" in done.stdout


def test_a_device_that_is_not_there_fails(python):
    done = tour(python, "--device", "cuda:77", "--json", **HIDDEN)
    assert done.returncode == 1 and json.loads(done.stdout)["verdict"] == "FAIL"
    assert tour(python, "--device", "nonsense").returncode != 0


def test_nothing_executed_is_not_a_success(python, device):
    done = tour(python, "--device", device.name, "--step", "no step has this name")
    assert done.returncode == 1 and "nothing ran" in done.stdout


def test_steps_can_be_chosen_and_text_is_quiet_in_a_pipe(python, device):
    done = tour(python, "--device", device.name, "--step", "vector addition")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASS ") == 6 and "\r" not in done.stdout and "\033" not in done.stdout
    assert device.evidence in done.stdout
    assert "0 failed" in done.stdout.splitlines()[-1]


def test_command_line(python):
    assert python("", "-m", "treadle").returncode == 2
    assert "tour" in python("", "-m", "treadle", "--help").stdout
    assert python("", "-m", "treadle", "--version").stdout.strip()
    assert python("", "-m", "treadle", "no-such-command").returncode == 2


def test_info(python, device):
    done = python("", "-m", "treadle", "info", "--json")
    facts = json.loads(done.stdout)
    assert done.returncode == 0
    assert all(rung["status"] == "PASS" for rung in facts["ladders"][device.name.partition(":")[0]])
