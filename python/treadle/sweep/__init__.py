"""``treadle sweep``: times over sizes, over uses of the same data, and over block sizes.

    from treadle import sweep
    report = sweep.over_sizes(my_function)          # NumPy beside the device; where they cross
    report = sweep.over_uses("chain")               # uploaded for every use or once
    report = sweep.over_blocks(my_kernel, 1 << 20)  # block sizes, occupancy, which are as good
    print(report.text()); report.save("report.html")

Each answers a `report.Report`. `treadle sweep --help` is the same for a terminal.
"""

__all__ = ["over_blocks", "over_sizes", "over_uses"]


def over_sizes(work="add", sizes=None, *, inputs=None, host=None, **options):
    """The size sweep of a function of arrays, or of the work with a name: add, chain, sum, matmul, copy.

    ``sizes``    numbers of elements; default: powers of ten
    ``inputs``   ``n -> tuple of NumPy arrays``; default: n random float32 for each parameter of the function
    ``host``     the function's counterpart for NumPy arrays; default: the function itself
    ``options``  of `sizes.sweep_sizes`: ``rounds``, ``policy``, ``seed``, ``refine``, ``progress``

    `sources.Problem`: results that differ between host and device, or sizes that cannot be swept.
    """
    from .sizes import sweep_sizes

    return sweep_sizes(_work(work, inputs, host), sizes, **options)


def over_uses(work="chain", size=100_000, uses=None, *, inputs=None, host=None, **options):
    """The reuse sweep of ``size`` elements, as `over_sizes`; ``options`` of `reuse.sweep_reuse`, such as ``share``."""
    from .reuse import USES, sweep_reuse

    return sweep_reuse(_work(work, inputs, host), size, USES if uses is None else uses, **options)


def over_blocks(kernel, elements=1_000_000, arguments=None, blocks=None, **options):
    """The block-size sweep of a ``RawKernel``, or of a ``cuda.jit`` kernel with one compiled variant.

    ``elements``   of arrays that are made up, and the value of integers that are (`launches.launchable`)
    ``arguments``  parameter's name -> value, in place of what would be made up
    ``blocks``     block sizes; default: 32 to 1024
    ``options``    of `blocks.sweep_blocks`: ``grid``, ``shared``, ``rounds``, ``policy``, ``seed``, ``progress``

    `sources.Problem`: fewer than two block sizes give a launch with the same results.
    """
    from .blocks import BLOCKS, sweep_blocks
    from .launches import launchable

    ready = launchable(kernel, elements, arguments)
    return sweep_blocks(ready, BLOCKS if blocks is None else blocks, **options)


def _work(work, inputs, host):
    from .sources import Problem
    from .workloads import WORKLOADS, of_function

    if not isinstance(work, str):
        return of_function(work, inputs, host)
    if work not in WORKLOADS:
        raise Problem(
            f"there is no work '{work}'; there are {', '.join(WORKLOADS)}, or give a function"
        )
    return WORKLOADS[work]
