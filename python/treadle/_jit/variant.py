"""A compiled variant: from the store of printed kernels when it was printed before, else from the compiler."""

import weakref

from .. import _treadle
from ..errors import CompileError
from . import settings, store


class Compiled:
    """A variant: its argument types, text, module and kernel."""

    def __init__(self, types, module, kernel, text, variables, unit=None):
        self.types = self.argument_types = types
        self.module, self.kernel, self.text, self.variables = module, kernel, text, variables
        self.sites = unit.sites if unit else []
        self.cooperative = bool(unit and unit.cooperative)
        self.keep = unit.keep if unit else []
        self.dispatcher = None

    @property
    def typemap(self):
        """The type of every name of the function; read again where the kernel came from the store."""
        if any(isinstance(t, str) for t in self.variables.values()):
            from .build import print_kernel

            self.variables = print_kernel(self.dispatcher, self.types)[3]
        return self.variables

    @property
    def _type_annotation(self):
        return self

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """The most blocks of a cooperative launch, all of which must be on the device at once."""
        threads = 1
        for n in blockdim if isinstance(blockdim, (tuple, list)) else (blockdim,):
            threads *= n
        blocks = _treadle._active_blocks(self.kernel, threads, dynsmemsize)
        return blocks * _treadle.Device().attribute(_MULTIPROCESSORS)


_MULTIPROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT


def options_of(dispatcher):
    """Options of the device's compiler."""
    options = ["-use_fast_math"] if dispatcher.fastmath else []
    if dispatcher.max_registers:
        options.append(f"--maxrregcount={dispatcher.max_registers}")
    if not dispatcher.targetoptions["opt"]:
        options.append("-G")
    return options


def folder_options(unit):
    """Where linked sources find what they include."""
    extra = settings.CUDA_NVRTC_EXTRA_SEARCH_PATHS if unit.sources else ""
    folders = [*filter(None, extra.split(":")), *dict.fromkeys(unit.include_folders)]
    return [f"-I{folder}" for folder in folders]


def load(dispatcher, text, entry, options):
    """(module, kernel) of a text."""
    name = dispatcher.py_func.__name__
    module = _treadle.RawModule(text, options=tuple(options), file_name=f"kernel '{name}'")
    try:
        return module, module.get_function(entry)
    except CompileError as error:
        from .errors import LoweringError

        code = dispatcher.py_func.__code__
        raise LoweringError(
            f"{code.co_filename}:{code.co_firstlineno}: kernel '{name}': {error}"
        ) from None


def make(dispatcher, types):
    """The variant of a dispatcher for argument types."""
    made = _make(dispatcher, types)
    made.dispatcher = weakref.proxy(dispatcher)
    return made


def _make(dispatcher, types):
    key = store.key_of(dispatcher, types)
    found = store.load(key) if key else None
    if found:
        module, kernel = load(dispatcher, found["text"], found["entry"], found["options"])
        return Compiled(types, module, kernel, found["text"], found.get("variables", {}))
    from .build import print_kernel

    text, entry, unit, variables = print_kernel(dispatcher, types)
    options = options_of(dispatcher) + folder_options(unit)
    module, kernel = load(dispatcher, text, entry, options)
    if key and not (unit.sources or unit.keep or unit.sites or unit.cooperative):
        names = {name: str(type_) for name, type_ in variables.items()}
        store.save(key, text=text, entry=entry, options=options, variables=names)
    return Compiled(types, module, kernel, text, variables, unit)
