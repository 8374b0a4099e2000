"""Rows 30 to 38: permissions, MIG, other users, forks, faults of the hardware."""

from ..judge import LIKELY, NOTE, WARNS, Row, match
from . import signs as s


def refused(e, code):
    return [path for path, answer in e("E7.opened").items() if answer == code and "nvidia" in path]


def open_to_all(e, path):
    return int(e("E7.nodes")[path]["mode"], 8) & 0o006 == 0o006


def permissions(e):
    paths = [p for p in refused(e, "EACCES") if not open_to_all(e, p)]
    if not paths:
        return None
    node = e("E7.nodes")[paths[0]]
    return match(path=paths[0], mode=node["mode"], group=node["group"])


def device_policy(e):
    paths = [p for p in refused(e, "EPERM") if open_to_all(e, p)]
    if not paths or not e("E9.inside"):
        return None
    return match(path=paths[0], mode=e("E7.nodes")[paths[0]]["mode"])


def security_module(e):
    paths = [p for p in refused(e, "EACCES") if open_to_all(e, p)]
    return match(LIKELY, path=paths[0], mode=e("E7.nodes")[paths[0]]["mode"]) if paths else None


def node_without_driver(e):
    paths = refused(e, "ENXIO") + refused(e, "ENODEV")
    if not paths:
        return None
    return match(path=paths[0])


def changed_bytes(e):
    if not e.knows("E18.equal") or e("E18.equal"):
        return None
    return match()


def node_hangs(e):
    if not e("E7.hung"):
        return None
    return match()


def mig_devices(e):
    return [d for d in e("E19.devices") if d.get("mig_mode") == 1]


def mig_without_instances(e):
    devices = mig_devices(e)
    if (
        not devices
        or any(d.get("mig_instances") for d in devices)
        or len(devices) < len(e("E19.devices"))
    ):
        return None
    if not s.no_device(e):
        return None
    return match()


def one_of_many(e):
    count = sum(len(d.get("mig_instances", ())) for d in mig_devices(e))
    if count < 2 or e("E3.init") != 0 or e("E3.count") != 1:
        return None
    return match(count=count)


def held(e):
    if not s.seen(e, s.UNAVAILABLE):
        return None
    modes = [d for d in e("E19.devices") if d.get("compute_mode") in (1, 2, 3)]
    if not modes:
        return None
    d = modes[0]
    if d["compute_mode"] == 2:
        return match(what="its compute mode is 'prohibited': no process may use it", gpu=d["index"])
    others = d.get("processes", 0)
    if others:
        return match(
            what=f"its compute mode is 'exclusive', and {others} other process(es) use it",
            gpu=d["index"],
        )
    hidden = " (a container hides the host's processes)" if e("E9.inside") else ""
    return match(
        LIKELY,
        what=f"its compute mode is 'exclusive'; no other process is seen{hidden}",
        gpu=d["index"],
    )


def mps(e):
    if not s.seen(e, *s.MPS_CODES):
        return None
    found = e("E8.mps")
    if not found["asked"]:
        return None
    if not found["control"]:
        return match(folder=found["folder"], what="no control socket is there")
    if not found["own"]:
        return match(
            folder=found["folder"], what=f"its server belongs to another user ({found['owner']})"
        )
    return None


def forked(e):
    if not s.told(e, 3):
        return None
    if not e("E20.forked") or not e("E20.cuda") or not e("E20.parent_cuda"):
        return None
    if e("E20.inherited_nodes"):
        return match(
            pid=e("E20.pid"),
            when="after CUDA was started there (it holds the parent's device nodes)",
        )
    return match(
        LIKELY,
        pid=e("E20.pid"),
        when="that has the driver loaded; whether CUDA was started before is not seen",
    )


def lost_gpu(e):
    if any(gpu["lost"] for gpu in e("E6.gpus")):
        return match(what="its PCI configuration space reads all ones")
    if e.knows("E4.devices") and any(d["code"] == s.NVML_LOST for d in e("E4.devices")):
        return match(what="NVML says that it is lost (15)")
    line = s.log_has(e, r"Xid.*\b79\b", r"fallen off the bus") if e.knows("E13.lines") else ""
    if line:
        works = e.knows("E18.equal") and e("E18.equal")
        return match(weight=WARNS if works else "", what=f"the kernel's log says: {line}")
    if not e.knows("E4.devices") and not e.knows("E13.lines"):
        e("E13.lines")
    return None


def memory_fault(e):
    pending = (
        [d for d in e("E19.devices") if d.get("remap_pending") or d.get("retired_pending")]
        if e.knows("E19.devices")
        else []
    )
    if pending:
        return match(what=f"GPU {pending[0]['index']} waits for a reset to take memory out of use")
    if s.seen(e, s.ECC):
        return match(what="error 214, an uncorrectable memory error, was seen")
    failed = (
        [d for d in e("E19.devices") if d.get("uncorrected") or d.get("remap_failed")]
        if e.knows("E19.devices")
        else []
    )
    if failed:
        return match(
            weight=WARNS, what=f"GPU {failed[0]['index']} counts uncorrected memory errors"
        )
    line = s.log_has(e, r"Xid.*?:\s*(48|63|64|94|95)\b")
    return match(weight=WARNS, what=f"the kernel's log says: {line}") if line else None


ROWS = (
    Row("30", "the GPU works for root only", "open() of a device node answers EACCES; its mode excludes others",
        permissions,
        "The file mode of {path} ({mode}, group {group}) refuses this user.", ("join group",)),
    Row("31", "NVML 'Unknown Error' in a container that worked before",
        "open() of a device node answers EPERM though its mode allows everybody; a container", device_policy,
        "The container's device policy refuses {path} (its mode {mode} would allow it). Typically a daemon-reload of "
        "the host has revoked it; what did cannot be seen from here.", ("recreate container",),
        sources=("NVIDIA/nvidia-docker#1730", "mattshma/bigdata#150")),
    Row("32", "no device; MIG is on", "NVML: MIG on, no instance; CUDA shows no device", mig_without_instances,
        "MIG is on, and no compute instance exists.", ("mig instances",), sources=("wilicc/gpu-burn#36",)),
    Row("33", "one device of many with MIG", "NVML lists several MIG instances; CUDA shows one device", one_of_many,
        "{count} MIG instances exist, and a process sees one of them: that is how MIG works.", ("mig choose",), NOTE,
        sources=("pytorch/pytorch#102715",)),
    Row("34", "error 46, busy or unavailable", "error 46; NVML: compute mode exclusive or prohibited", held,
        "GPU {gpu} cannot be used: {what}.", ("wait or mode",), sources=("NVIDIA/DIGITS#2005",)),
    Row("35", "errors 805 to 810", "CUDA_MPS_PIPE_DIRECTORY is set; its control socket is absent or another user's",
        mps, "The MPS server of {folder} cannot be reached: {what}.", ("mps",)),
    Row("36", "error 3, not initialized, in a worker process",
        "error 3 was reported; the process (--pid) was forked, without exec, from one that has the driver loaded",
        forked, "Process {pid} was forked from a process {when}: CUDA does not survive a fork.", ("spawn",),
        sources=("inducer/pycuda#137",)),
    Row("37", "GPU is lost, Xid 79", "NVML's error 15, the kernel's log, or a PCI configuration space of all ones",
        lost_gpu, "A GPU dropped off the bus: {what}. Why (power, heat, riser, firmware) cannot be determined in "
        "software.", ("power and temperature",)),
    Row("38", "error 214, or Xid 48, 63, 64, 94, 95", "the code, the kernel's log, or NVML's counters", memory_fault,
        "The GPU's memory has a fault: {what}.", ("reset gpu",)),
    Row("D1", "a device node without a driver", "open() of a device node answers ENXIO or ENODEV",
        node_without_driver, "The device node {path} has no working driver behind it.", ("reload driver",)),
    Row("D4", "a device node is refused though its mode allows it", "open() answers EACCES; the mode allows everybody",
        security_module, "{path} is refused although its mode ({mode}) allows it: an access policy such as SELinux or "
        "AppArmor.", ("access policy",)),
    Row("D3", "data is changed on its way", "four bytes copied to the first GPU and back are not equal", changed_bytes,
        "Four bytes that were copied to the first GPU and back came back changed.", ("reset gpu",)),
    Row("D2", "a device node hangs", "open() of a device node did not return within the time limit", node_hangs,
        "open() of a device node does not return: the kernel driver does not answer.", ("init hangs",)),
)  # fmt: skip
