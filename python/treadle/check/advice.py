"""What to do, by key: the texts of advice.txt. Where distributions differ, each family has a line of its own."""

import os
import re

FAMILIES = ("debian", "ubuntu", "fedora", "rhel", "suse", "arch")


def read():
    """{key: {family: text}}; family "" is for all that have none of their own."""
    found, texts, family = {}, {}, ""
    with open(os.path.join(os.path.dirname(__file__), "advice.txt"), encoding="utf-8") as file:
        for line in file:
            named = re.match(rf"({'|'.join(FAMILIES)}): ", line)
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith("["):
                texts, family = found.setdefault(line.strip("[]\n"), {}), ""
                continue
            if named:
                family, line = named[1], line[named.end() :]
            texts[family] = f"{texts.get(family, '')} {line.strip()}".strip()
    return found


TEXTS = read()


def texts(keys, family):
    """The advice of a finding for a distribution's family."""
    return [TEXTS[key].get(family) or TEXTS[key][""] for key in keys]
