"""Signs that several rows ask for."""

STUB, NO_DEVICE, UNAVAILABLE, NO_BINARY, ECC, OLD_DRIVER = 34, 100, 46, 209, 214, 35
UNSUPPORTED_PTX, NOT_READY, MISMATCH, COMPAT, UNKNOWN_ERROR = 222, 802, 803, 804, 999
MPS_CODES = range(805, 811)
NVML_NO_DRIVER, NVML_LOST, NVML_MISMATCH, NVML_UNKNOWN = 9, 15, 18, 999

# CUDA's names, where people paste them instead of the number.
NAMES = {
    3: ("CUDA_ERROR_NOT_INITIALIZED", "initialization error"),
    34: ("CUDA_ERROR_STUB_LIBRARY", "stub library"),
    35: ("cudaErrorInsufficientDriver", "driver version is insufficient"),
    46: ("CUDA_ERROR_DEVICE_UNAVAILABLE", "busy or unavailable"),
    100: ("CUDA_ERROR_NO_DEVICE", "no CUDA-capable device"),
    209: ("CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image"),
    214: ("CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC"),
    222: ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "unsupported toolchain", "unsupported PTX version"),
    400: ("CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"),
    802: ("CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"),
    803: (
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "unsupported display driver / cuda driver combination",
    ),
    804: ("CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted"),
    999: ("CUDA_ERROR_UNKNOWN", "unknown error"),
}


def told(e, *codes):
    """Whether the user reported one of these codes, as a number or by CUDA's name or message."""
    texts = " ".join(e.peek("E0.texts", [])).lower()
    names = [name.lower() for code in codes for name in NAMES.get(code, ())]
    if set(codes) & set(e.peek("E0.codes", [])) or any(name in texts for name in names):
        return e("E0.codes") is not None  # and so cited
    return False


def told_text(e, word):
    return word in " ".join(e.peek("E0.texts", [])).lower() and e("E0.texts") is not None


def no_library(e):
    """libcuda.so.1 is not there (a library that is there and does not load is something else)."""
    return not e("E1.opened") and e("E1.absent")


def init_code(e):
    """cuInit's answer. NotChecked when it gave none."""
    return e("E3.init")


def no_device(e):
    """The library works and shows no device: error 100, or a count of 0."""
    if not e("E1.opened") or e("E2.stub"):
        return False
    code = init_code(e)
    return code == NO_DEVICE or (code == 0 and e("E3.count") == 0)


def unusable(e):
    """cuInit failed, or shows no device."""
    return e("E1.opened") and (init_code(e) != 0 or e("E3.count") == 0)


def gpu_failed(e, *steps):
    """Whether Treadle's own run on the GPU failed, at one of the steps when some are given."""
    failed = [step["step"] for step in gpu_steps(e) if step["status"] == "FAIL"]
    return bool(failed) and (not steps or failed[0] in steps)


def gpu_steps(e):
    return e("E24.cuda") if e.knows("E24.cuda") else []


def seen(e, *codes):
    """One of these codes was seen: by cuInit, by the use of the first GPU, by Treadle's own run, or by the user. What
    saw it is cited."""
    if e.peek("E3.init") in codes:
        return e("E3.init") in codes
    if e.peek("E18.code") in codes:
        return e("E18.code") in codes
    if any(step.get("code") in codes for step in e.peek("E24.cuda", [])):
        return bool(e("E24.cuda"))
    return told(e, *codes)


def version_tuple(text):
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def library_version(e):
    """Version of the user-mode side, by file name: libcuda's, else NVML's; '' when neither says it."""
    version = e("E1.version") if e.knows("E1.version") else ""
    if not version and e.knows("E4.version"):
        version = e("E4.version")
    return version


def versions_differ(e):
    """The loaded module and the library files are of different versions."""
    loaded, library = e("E5.version"), library_version(e)
    return bool(loaded and library) and version_tuple(loaded) != version_tuple(library)


def log_has(e, *patterns):
    """The first line of the kernel's log that holds one of the patterns, '' when none does. NotChecked without it."""
    import re

    for line in e("E13.lines"):
        if any(re.search(p, line, re.I) for p in patterns):
            return line
    return ""


def variable(e, name):
    return e("E8.variables").get(name)


def sm(number):
    return f"{number // 10}.{number % 10}"


def cuda(number):
    return f"{number // 1000}.{number % 1000 // 10}"
