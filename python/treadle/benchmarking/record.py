"""What a measured time depends on: device, driver, compiler, clocks, machine, versions, flags, source, seed."""

import datetime
import functools
import os
import platform
import subprocess
import sys

import numpy as np

from .. import _treadle, config

__all__ = ["environment", "time_label"]


def time_label(device):
    """What kind of time a device's is, in words that cannot be mistaken."""
    if device.is_software:
        return "CPU time of the software device, not a GPU time"
    return f"{device.evidence} time"


def environment(device, watch=None, policy=None, folder=None):
    """A dictionary for a record. ``device`` is None for work on the host. ``folder``: of the program that is measured,
    whose commit is noted."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        **({} if device is None else _device(device, watch)),
        "machine": _machine(),
        "versions": {
            "treadle": _treadle.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "settings": {"fusion": config.fusion, "tf32": config.tf32, **config.show()["environment"]},
        "commit": _commit(folder or os.getcwd()),
        "command": sys.argv,
        "seed": None if policy is None else policy.seed,
    }


def _device(device, watch):
    rungs = _rungs(device.name.partition(":")[0])
    return {
        "device": {
            "name": device.name,
            "evidence": device.evidence,
            "description": device.description,
            "time": time_label(device),
            "compute_capability": device.compute_capability,
            "driver": rungs.get("driver library", ""),
            "driver_version": _treadle._driver_version(device),
            "multiprocessors": device.attributes.get("MultiProcessorCount"),
            "cache_bytes": device.attributes.get("L2CacheSize"),
        },
        "compiler": rungs.get("compiler", ""),
        "conditions": _conditions(watch),
    }


@functools.cache
def _rungs(kind):
    """Driver, compiler and the rest, as `treadle info` finds them."""
    return {rung["name"]: rung["detail"] for rung in _treadle._ladder(kind)}


def _conditions(watch):
    if watch is None or watch.problem:
        return f"not recorded: {watch.problem if watch else 'nothing reads them'}"
    return watch()._asdict()


def _machine():
    model = platform.processor()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as text:
            names = (
                line.partition(":")[2].strip() for line in text if line.startswith("model name")
            )
            model = next(names, model)
    except OSError:
        pass
    found = {"cpu": model, "cores": available_cores(), "system": platform.platform()}
    if hasattr(os, "getloadavg"):
        found["load"] = os.getloadavg()[0]
    return found


def available_cores():
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@functools.cache
def _commit(folder):
    """The commit of the folder's repository, with "+changes" where files differ; None outside of one."""
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        return commit + ("+changes" if _git(folder, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder, *command):
    done = subprocess.run(
        ["git", "-C", folder, *command], capture_output=True, text=True, timeout=5, check=True
    )
    return done.stdout.strip()
