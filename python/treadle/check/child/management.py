"""Asks NVML: driver version, devices, modes, MIG, memory faults, NVSwitch fabric, other processes."""

import ctypes

from loader import open_by_name, step

MAX_INSTANCES = 16


class FabricInfo(ctypes.Structure):  # nvmlGpuFabricInfo_t
    _fields_ = [("cluster", ctypes.c_ubyte * 16), ("status", ctypes.c_uint),
                ("clique", ctypes.c_uint), ("state", ctypes.c_ubyte)]  # fmt: skip


def probe(request):
    with step("dlopen libnvidia-ml.so.1") as facts:
        nvml, facts["library"] = open_by_name("libnvidia-ml.so.1", request)
    if nvml is None or not hasattr(nvml, "nvmlInit_v2"):
        return
    with step("nvmlInit") as facts:
        facts["init"] = init = nvml.nvmlInit_v2()
    if init != 0:
        return
    with step("driver version") as facts:
        facts["driver_version"] = text(nvml, "nvmlSystemGetDriverVersion")
    count = ctypes.c_uint(0)
    with step("device count") as facts:
        facts["count_code"] = nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
        facts["count"] = count.value
    devices = []
    for index in range(count.value):
        with step(f"device {index}") as facts:
            devices.append(device(nvml, index))
            facts["devices"] = devices
    with step("nvmlShutdown"):
        nvml.nvmlShutdown()


def text(nvml, name, *arguments):
    buffer = ctypes.create_string_buffer(128)
    call = getattr(nvml, name, None)
    if call is None or call(*arguments, buffer, ctypes.c_uint(128)) != 0:
        return None
    return buffer.value.decode(errors="replace")


def numbers(nvml, name, handle, count, *before):
    """Output values of a call, or None where the library or the GPU does not know it."""
    call = getattr(nvml, name, None)
    values = [ctypes.c_uint(0) for _ in range(count)]
    if call is None or call(handle, *before, *map(ctypes.byref, values)) != 0:
        return None
    return [value.value for value in values]


def device(nvml, index):
    handle = ctypes.c_void_p()
    found = {
        "index": index,
        "code": nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)),
    }
    if found["code"] != 0:
        return found
    for key, name in (("name", "nvmlDeviceGetName"), ("uuid", "nvmlDeviceGetUUID")):
        found[key] = text(nvml, name, handle)
    rows = (  # key, function, outputs, which output
        ("compute_mode", "nvmlDeviceGetComputeMode", 1, 0),
        ("mig_mode", "nvmlDeviceGetMigMode", 2, 0),
        ("retired_pending", "nvmlDeviceGetRetiredPagesPendingStatus", 1, 0),
        ("remap_pending", "nvmlDeviceGetRemappedRows", 4, 2),
        ("remap_failed", "nvmlDeviceGetRemappedRows", 4, 3),
    )
    for key, name, count, which in rows:
        values = numbers(nvml, name, handle, count)
        if values is not None:
            found[key] = values[which]
    found.update(memory_errors(nvml, handle))
    if found.get("mig_mode") == 1:
        found["mig_instances"] = instances(nvml, handle)
    fabric = FabricInfo()
    call = getattr(nvml, "nvmlDeviceGetGpuFabricInfo", None)
    if call is not None and call(handle, ctypes.byref(fabric)) == 0:
        found["fabric_state"] = fabric.state
    count = ctypes.c_uint(0)
    call = getattr(nvml, "nvmlDeviceGetComputeRunningProcesses_v3", None)
    if call is not None and call(handle, ctypes.byref(count), None) in (0, 7):  # 7: more than none
        found["processes"] = count.value
    return found


def memory_errors(nvml, handle):
    """Uncorrected ECC errors since the last reset (volatile)."""
    total = ctypes.c_ulonglong(0)
    call = getattr(nvml, "nvmlDeviceGetTotalEccErrors", None)
    if call is None or call(handle, 1, 0, ctypes.byref(total)) != 0:
        return {}
    return {"uncorrected": total.value}


def instances(nvml, handle):
    """MIG devices (GPU instance with a compute instance) of one GPU, by UUID."""
    found = []
    for index in range(MAX_INSTANCES):
        instance = ctypes.c_void_p()
        call = getattr(nvml, "nvmlDeviceGetMigDeviceHandleByIndex", None)
        if call is not None and call(handle, index, ctypes.byref(instance)) == 0:
            found.append(text(nvml, "nvmlDeviceGetUUID", instance))
    return found
