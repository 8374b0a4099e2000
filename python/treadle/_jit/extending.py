"""``numba.extending``: of the ways to add to Numba's compiler, the one that means the same here."""


def register_jitable(*args, **options):
    """A function that kernels may call: every Python function is one. ``@register_jitable`` and
    ``@register_jitable(inline="always")`` return it unchanged.
    """
    if len(args) == 1 and callable(args[0]) and not options:
        return args[0]
    return lambda function: function


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"numba.extending.{name} adds to Numba's own compiler, which Treadle does not have: write a device function, "
        f"or CUDA C++ with cuda.declare_device; register_jitable is the one name of the module that is here"
    )
