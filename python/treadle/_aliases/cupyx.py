"""``cupyx``: what stands beside NumPy's names in CuPy. Treadle has those in its own modules."""

import importlib

# names of cupyx that are names of treadle
_NAMES = (
    "empty_like_pinned", "empty_pinned", "scatter_add", "scatter_max", "scatter_min", "zeros_like_pinned",
    "zeros_pinned",
)  # fmt: skip


def rsqrt(x):
    """1 / sqrt(x), elementwise: an array of the shape of ``x`` and the floating-point dtype of its root."""
    import treadle

    return treadle.reciprocal(treadle.sqrt(x))


def _root(module):
    def find(name):
        if name not in _NAMES:
            raise AttributeError(
                f"cupyx.{name} has no counterpart in Treadle; docs/from-cupy.md lists what there is"
            )
        return getattr(importlib.import_module("treadle"), name)

    module.__file__ = __file__
    module.rsqrt = rsqrt
    module.__all__ = [*_NAMES, "rsqrt"]
    module.__getattr__ = find


MODULES = {"cupyx": _root, "cupyx.profiler": "treadle.profiler"}
