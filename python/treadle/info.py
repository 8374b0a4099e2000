"""``treadle info``: the discovery ladders of both kinds of device, and the settings that led there."""

import argparse
import json

from . import _treadle, config


def main(argv=None):
    p = argparse.ArgumentParser(
        prog="treadle info", description="Shows what Treadle found on this machine."
    )
    p.add_argument("--json", action="store_true", help="print one JSON object")
    options = p.parse_args(argv)
    facts = config.show()
    facts["ladders"] = {kind: _treadle._ladder(kind) for kind in ("cuda", "soft")}
    if options.json:
        print(json.dumps(facts, indent=1))
    else:
        print_text(facts)
    usable = [
        kind
        for kind, rungs in facts["ladders"].items()
        if all(r["status"] == "PASS" for r in rungs)
    ]
    return 0 if usable else 1


def print_text(facts):
    print(f"treadle {facts['version']} ({facts['extension']})")
    for key, value in facts["environment"].items():
        print(f"  {key}={value}")
    for folder in facts["library folders"]:
        print(f"  library folder {folder}")
    for kind, rungs in facts["ladders"].items():
        print({"cuda": "NVIDIA GPU", "soft": "software device"}[kind])
        for rung in rungs:
            print(f"  {rung['status']:8} {rung['name']:15} {rung['detail']}")
