"""Asks a compiler library (NVRTC) and a runtime library (cudart) that were found by their full paths."""

import ctypes

from loader import described, file_of, step


def _open(request):
    with step("dlopen") as facts:
        try:
            library = ctypes.CDLL(request["root"] + request["file"])
        except OSError as error:
            facts["error"] = str(error)
            return None
        facts["library"] = described(file_of(library), request)
    return library


def nvrtc(request):
    library = _open(request)
    if library is None:
        return
    major, minor, count = ctypes.c_int(0), ctypes.c_int(0), ctypes.c_int(0)
    with step("nvrtcVersion") as facts:
        if library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0:
            facts["version"] = [major.value, minor.value]
    with step("nvrtcGetSupportedArchs") as facts:
        if hasattr(library, "nvrtcGetNumSupportedArchs") and (
            library.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
        ):
            archs = (ctypes.c_int * max(count.value, 1))()
            if library.nvrtcGetSupportedArchs(archs) == 0:
                facts["archs"] = sorted(archs[: count.value])
    with step("compile an empty kernel") as facts:
        program, source = ctypes.c_void_p(), b'extern "C" __global__ void k() {}'
        created = library.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None)
        if created == 0:
            facts["compiled"] = library.nvrtcCompileProgram(program, 0, None)


def runtime(request):
    library = _open(request)
    if library is None:
        return
    value = ctypes.c_int(0)
    for key, name in (
        ("runtime", "cudaRuntimeGetVersion"),
        ("driver", "cudaDriverGetVersion"),
        ("count", "cudaGetDeviceCount"),
    ):
        with step(name) as facts:
            facts[key + "_code"] = getattr(library, name)(ctypes.byref(value))
            facts[key] = value.value
