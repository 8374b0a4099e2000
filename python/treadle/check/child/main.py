"""Runs one probe that loads libraries: ``main.py KIND REQUEST``. Started by Machine.probe, isolated, by file name."""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def main():
    import libraries
    import management

    import driver

    kinds = {
        "driver": driver.probe,
        "management": management.probe,
        "nvrtc": libraries.nvrtc,
        "runtime": libraries.runtime,
        "nodes": nodes,
    }
    kinds[sys.argv[1]](json.loads(sys.argv[2]))


def nodes(request):
    """open() of every device node, closed at once; an errno is a fact."""
    import errno

    from loader import step

    for path in request["paths"]:
        with step(f"open {path}") as facts:
            try:
                os.close(os.open(request["root"] + path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK))
                facts[path] = "ok"
            except OSError as error:
                facts[path] = errno.errorcode.get(error.errno, str(error.errno))


if __name__ == "__main__":
    main()
