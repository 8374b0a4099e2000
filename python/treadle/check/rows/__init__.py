"""All rows, in the order of the documentation; the last one holds when no other explains an unusable GPU."""

from . import compilers, devices, installation, library, use


def _order(row):
    return ("", int(row.id)) if row.id.isdigit() else (row.id[0], int(row.id[1:]))


ROWS = tuple(
    sorted(
        (*library.ROWS, *devices.ROWS, *use.ROWS, *compilers.ROWS, *installation.ROWS), key=_order
    )
)
