"""Asks the driver library: version, cuInit, devices, and a context with four bytes there and back on the first GPU."""

import ctypes
from itertools import pairwise

from loader import mapped, open_by_name, step

COMPUTE_MAJOR, COMPUTE_MINOR = 75, 76  # CUdevice_attribute


def probe(request):
    with step("dlopen libcuda.so.1") as facts:
        cuda, facts["library"] = open_by_name("libcuda.so.1", request)
    if cuda is not None:
        ask(cuda)
    with step("read the maps") as facts:  # before this probe itself opens a second one
        facts["mapped"] = [path.removeprefix(request["root"]) for path in mapped(("libcuda.so",))]
    with step("dlopen libcuda.so") as facts:
        _, facts["unversioned"] = open_by_name("libcuda.so", request)


def ask(cuda):
    for name in ("cuInit", "cuDriverGetVersion", "cuDeviceGetCount"):
        if not hasattr(cuda, name):
            with step("look up the functions") as facts:
                facts["missing"] = name
            return
    value = ctypes.c_int(0)
    with step("cuDriverGetVersion") as facts:
        facts["version_code"] = cuda.cuDriverGetVersion(ctypes.byref(value))
        if facts["version_code"] == 0:
            facts["version"] = value.value
    with step("cuInit") as facts:
        facts["init"] = init = cuda.cuInit(0)
    if init != 0:
        return
    with step("cuDeviceGetCount") as facts:
        facts["count_code"] = cuda.cuDeviceGetCount(ctypes.byref(value))
        count = facts["count"] = value.value if facts["count_code"] == 0 else 0
    with step("ask the devices") as facts:
        facts["devices"] = [device(cuda, n) for n in range(count)]
    if count:
        use(cuda)


def device(cuda, ordinal):
    value, name, uuid = ctypes.c_int(0), ctypes.create_string_buffer(256), (ctypes.c_ubyte * 16)()
    found = {"ordinal": ordinal}
    handle = ctypes.c_int(0)
    if cuda.cuDeviceGet(ctypes.byref(handle), ordinal) != 0:
        return found
    if cuda.cuDeviceGetName(name, 256, handle) == 0:
        found["name"] = name.value.decode(errors="replace")
    parts = []
    for attribute in (COMPUTE_MAJOR, COMPUTE_MINOR):
        if cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, handle) == 0:
            parts.append(value.value)
    if len(parts) == 2:
        found["capability"] = parts
    get_uuid = getattr(cuda, "cuDeviceGetUuid_v2", None) or getattr(cuda, "cuDeviceGetUuid", None)
    if get_uuid and get_uuid(uuid, handle) == 0:
        digits = bytes(uuid).hex()
        cuts = (0, 8, 12, 16, 20, 32)
        found["uuid"] = "GPU-" + "-".join(digits[a:b] for a, b in pairwise(cuts))
    return found


def use(cuda):
    """Primary context, allocation, copy there and back; each call's code until the first that is not 0."""
    sent, received = ctypes.c_uint(0x7EAD1E), ctypes.c_uint(0)
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    calls = (
        ("cuDevicePrimaryCtxRetain", (ctypes.byref(context), ctypes.c_int(0))),
        ("cuCtxSetCurrent", (context,)),
        ("cuMemAlloc_v2", (ctypes.byref(memory), ctypes.c_size_t(4))),
        ("cuMemcpyHtoD_v2", (memory, ctypes.byref(sent), ctypes.c_size_t(4))),
        ("cuMemcpyDtoH_v2", (ctypes.byref(received), memory, ctypes.c_size_t(4))),
        ("cuMemFree_v2", (memory,)),
    )
    for name, arguments in calls:
        with step(name) as facts:
            code = getattr(cuda, name)(*arguments)
            facts["use"] = {"call": name, "code": code}
        if code != 0:
            return
    with step("compare") as facts:
        facts["use"] = {"call": "compare", "code": 0, "equal": sent.value == received.value}
