"""``pycuda``: not there yet; the import says so."""


def _refuse(module):
    raise ModuleNotFoundError(
        "pycuda's names are not part of Treadle yet; use treadle.RawModule and treadle.RawKernel for CUDA C++ sources",
        name="pycuda",
    )


MODULES = {"pycuda": _refuse}


def search(name):
    return _refuse
