"""All rows, in the order of the documentation; the last one holds when no other explains an unusable GPU."""

from . import compilers, devices, installation, library, use


def _order(row):
    return (0, int(row.id)) if row.id.isdigit() else (1, 0)


ROWS = tuple(
    sorted(
        (*library.ROWS, *devices.ROWS, *use.ROWS, *compilers.ROWS, *installation.ROWS), key=_order
    )
)
