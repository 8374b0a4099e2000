"""The user-mode driver library and NVML: E1, E2, E3, E4, E18, E19."""

import re

from ..children import FINISHED, KILLED, TIMED_OUT
from ..evidence import Fact

STUB_CODE = 34
STUB_BYTES = 1 << 20  # the stub has about 100 KB, a driver library tens of MB


def version_of_file(path):
    """'550.54.14' of …/libcuda.so.550.54.14; '' when the name holds none."""
    match = re.search(r"\.so\.(\d{3,}\.\d+(?:\.\d+)*)$", path or "")
    return match[1] if match else ""


def cuda_version(number):
    return f"{number // 1000}.{number % 1000 // 10}"


def library_facts(found):
    """E1 and E2 of what the child found."""
    facts, library = found.facts, found.facts.get("library")
    if library is None:
        return Fact("E1", why=found.problem), Fact("E2", why=found.problem)
    values = {**library, "mapped": facts.get("mapped", [])}
    if "unversioned" in facts:
        values["unversioned"] = facts["unversioned"]
    if not library["opened"]:
        text = f"not opened: {library['error']}"
        return Fact("E1", values, text=text), Fact("E2", why="libcuda.so.1 was not opened")
    values["version"] = version_of_file(library["real"])
    text = f"{library['real']}, found by {library['how']}"
    signs = []
    if "/stubs/" in library["real"] or "/stubs/" in library["file"]:
        signs.append("its folder is named stubs")
    if facts.get("version_code") == STUB_CODE and facts.get("init") == STUB_CODE:
        signs.append("cuInit and cuDriverGetVersion both answer 34")
    small = library["size"] is not None and library["size"] < STUB_BYTES
    stub = Fact("E2", {"stub": bool(signs), "signs": signs, "small": small},
                text="; ".join(signs) or "no sign of a stub")  # fmt: skip
    return Fact("E1", values, text=text), stub


def init_fact(found):
    """E3: a code, or the way in which the child did not get one."""
    facts, library = found.facts, found.facts.get("library")
    if library is not None and not library["opened"]:
        return Fact("E3", why="libcuda.so.1 was not opened")
    values = {"ended": found.ended, "step": found.step, "detail": found.detail}
    for key in ("version", "version_code", "init", "count", "count_code", "devices", "missing"):
        if key in facts:
            values[key] = facts[key]
    said = []
    if "version" in values:
        said.append(
            f"driver for CUDA up to {cuda_version(values['version'])} (not an installed toolkit)"
        )
    if "init" in values:
        said.append(f"cuInit answered {values['init']}")
    if "count" in values:
        said.append(f"{values['count']} device(s)")
    if found.problem:
        said.append(found.problem)
    if "missing" in values:
        said.append(f"the library has no {values['missing']}")
    for gpu in values.get("devices", ()):
        said.append(
            f"{gpu.get('name', '?')} {'.'.join(map(str, gpu.get('capability', [])))}".strip()
        )
    why = "" if "init" in values else f"cuInit gave no answer: {found.problem or 'not called'}"
    return Fact("E3", values, why=why, text=", ".join(said))


def use_fact(found):
    """E18: the first call that failed, or a value that came back equal."""
    use = found.facts.get("use")
    died = found.ended in (TIMED_OUT, KILLED) and found.facts.get("count", 0) > 0
    if use is None and not died:
        return Fact(
            "E18", why="there is no device to use" if found.ended == FINISHED else found.problem
        )
    values = dict(use or {})
    if found.ended != FINISHED and found.step:
        values.update(call=found.step, code=None, ended=found.ended)
        return Fact("E18", values, text=found.problem)
    good = values.get("equal", False)
    text = "4 bytes came back equal" if good else f"{values['call']} answered {values['code']}"
    return Fact("E18", values, text=text)


def driver_facts(found):
    first, stub = library_facts(found)
    return [first, stub, init_fact(found), use_fact(found)]


def management_facts(found):
    """E4 and E19."""
    facts, library = found.facts, found.facts.get("library")
    if library is None:
        return [Fact("E4", why=found.problem), Fact("E19", why=found.problem)]
    if not library["opened"]:
        why = "NVML was not opened"
        return [Fact("E4", {"opened": False, "error": library["error"]}, why=why,
                     text=f"not opened: {library['error']}"), Fact("E19", why=why)]  # fmt: skip
    values = {"opened": True, "file": library["real"], "version": version_of_file(library["real"])}
    for key in ("init", "driver_version", "count", "count_code"):
        if facts.get(key) is not None:
            values[key] = facts[key]
    devices = facts.get("devices", [])
    if "count" in values and found.ended == FINISHED:
        values["devices"] = [
            {k: d[k] for k in ("index", "code", "name", "uuid") if d.get(k) is not None}
            for d in devices
        ]
    said = [library["real"], f"nvmlInit answered {values.get('init', 'nothing')}"]
    if "driver_version" in values:
        said.append(f"driver {values['driver_version']}")
    if "count" in values:
        said.append(f"{values['count']} device(s)")
    if found.problem:
        said.append(found.problem)
    e4 = Fact("E4", values, why=found.problem, text=", ".join(said))
    if not devices:
        return [e4, Fact("E19", why=found.problem or "NVML showed no device")]
    return [e4, Fact("E19", {"devices": devices}, why=found.problem, text=modes(devices))]


def modes(devices):
    names = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
    said = []
    for d in devices:
        parts = [f"compute mode {names.get(d.get('compute_mode'), 'unknown')}"]
        if "mig_mode" in d:
            parts.append(f"MIG {'on' if d['mig_mode'] == 1 else 'off'}")
        if "mig_instances" in d:
            parts.append(f"{len(d['mig_instances'])} instance(s)")
        if d.get("uncorrected"):
            parts.append(f"{d['uncorrected']} uncorrected memory errors")
        said.append(f"GPU {d['index']}: " + ", ".join(parts))
    return "; ".join(said)
