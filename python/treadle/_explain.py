"""What lazy fusion is about to launch, for people and for programs."""

from . import _treadle

__all__ = ["explain"]

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _bytes(count):
    unit = 0
    while count >= 1024 and unit + 1 < len(_UNITS):
        count, unit = count / 1024, unit + 1
    return f"{count:.3g} {_UNITS[unit]}" if unit and count < 1000 else f"{count:.0f} {_UNITS[unit]}"


class Explanation:
    """The planned kernels. Prints as a table; ``kernels`` is a list of dictionaries, ``json()`` their text.

    Of each kernel: ``kind``, ``shape`` (what it iterates over), ``operations`` (names, in order),
    ``reads`` and ``writes`` (operands in memory) with ``bytes_read`` and ``bytes_written``, and
    ``cut``: why this work is not part of an earlier kernel. ``other`` counts the kernels of pending work
    that the asked arrays do not need, but that a flush launches too.
    """

    def __init__(self, kernels):
        self.kernels = [
            {k: v for k, v in row.items() if k != "wanted"} for row in kernels if row["wanted"]
        ]
        self.other = len(kernels) - len(self.kernels)

    def as_dict(self):
        """Everything as one dictionary, with totals."""
        return {
            "kernels": self.kernels,
            "bytes_read": sum(row["bytes_read"] for row in self.kernels),
            "bytes_written": sum(row["bytes_written"] for row in self.kernels),
            "other_kernels": self.other,
        }

    def json(self):
        """``as_dict()`` as JSON."""
        import json

        return json.dumps(self.as_dict())

    def __len__(self):
        return len(self.kernels)

    def __str__(self):
        if not self.kernels:
            text = "nothing to launch: the value is in memory"
        else:
            head = ("kernel", "shape", "operations", "reads", "writes", "why a kernel of its own")
            rows = [head]
            for number, row in enumerate(self.kernels):
                names = row["operations"]
                shown = " ".join(names[:6]) + (f" … {names[-1]}" if len(names) > 6 else "")
                rows.append((
                    f"{number} {row['kind']}",
                    str(tuple(row["shape"])),
                    f"{len(names)}: {shown}",
                    f"{row['reads']}: {_bytes(row['bytes_read'])}",
                    f"{row['writes']}: {_bytes(row['bytes_written'])}",
                    row["cut"] or ("the first" if number == 0 else ""),
                ))  # fmt: skip
            widths = [max(map(len, column)) for column in zip(*rows)]
            text = "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        if self.other:
            text += f"\nand {self.other} kernels of other pending work"
        return text

    __repr__ = __str__


def explain(*arrays):
    """The kernels that would be launched if the values of ``arrays`` were asked for now.

    Computes and launches nothing. The result prints as a table of kernels with the bytes they read and
    write, how many operations each fuses, and why a chain of operations was cut into several:

    >>> x = td.ones((1000, 1000), np.float32) * 2
    >>> print(td.explain(td.sqrt(x + 1).sum()))

    ``.json()`` and ``.kernels`` are the same for programs. Shapes: any; dtypes: any. A ``TypeError`` for
    what is not a device array.
    """
    for array in arrays:
        if not isinstance(array, _treadle.ndarray):
            raise TypeError(
                f"explain() takes arrays of the device, not {type(array).__name__}; asarray() makes one"
            )
    return Explanation(_treadle._explain(list(arrays)))
