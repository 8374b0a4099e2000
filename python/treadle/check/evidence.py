"""Observed facts, and the view through which rows read them.

A fact is an id (E1 … E23), a title, and either values or the reason why it was not checked. Rows read facts through a
``View``, which notes what was read. So a conclusion lists exactly what it rests on, and cannot rest on a fact that
was not checked: reading one raises ``NotChecked``.
"""

from dataclasses import dataclass, field

# id: (layer, title)
FACTS = {
    "E0": ("symptom", "--error"),
    "E1": ("driver library", "libcuda.so.1"),
    "E2": ("driver library", "is it a link-time stub"),
    "E3": ("driver library", "cuInit, version, devices"),
    "E4": ("management library", "NVML"),
    "E5": ("kernel driver", "loaded driver"),
    "E6": ("hardware", "PCI devices"),
    "E7": ("kernel driver", "device nodes"),
    "E8": ("environment", "variables"),
    "E9": ("container", "container"),
    "E10": ("container", "Windows Subsystem for Linux"),
    "E11": ("kernel driver", "kernel modules"),
    "E12": ("kernel driver", "Secure Boot and lockdown"),
    "E13": ("kernel driver", "kernel log"),
    "E14": ("Python packages", "of this interpreter"),
    "E15": ("toolkit", "CUDA libraries"),
    "E16": ("toolkit", "toolkits and compilers"),
    "E17": ("toolkit", "compiler against GPU"),
    "E18": ("driver library", "context, memory and copy on the first GPU"),
    "E19": ("management library", "modes, MIG and memory faults"),
    "E20": ("process", "CUDA libraries in a process"),
    "E21": ("kernel driver", "driver packages and installers"),
    "E22": ("system", "distribution"),
    "E23": ("process", "services"),
    "E24": ("treadle", "versions and libraries really loaded"),
}


class NotChecked(Exception):
    """A row asked for a fact that is not known."""

    def __init__(self, id, why):
        super().__init__(f"{id} was not checked: {why}")
        self.id, self.why = id, why


@dataclass
class Fact:
    """``values`` are JSON's types. A key that could not be learnt is absent; ``why`` says why. With no values at all
    the fact was not checked."""

    id: str
    values: dict = field(default_factory=dict)
    why: str = ""
    text: str = ""  # one line for people

    @property
    def checked(self):
        return bool(self.values)

    @property
    def layer(self):
        return FACTS[self.id][0]

    @property
    def title(self):
        return FACTS[self.id][1]

    def as_json(self):
        return {
            "id": self.id, "layer": self.layer, "title": self.title,
            "status": "observed" if self.checked else "not checked",
            "why": self.why, "text": self.text, "values": self.values,
        }  # fmt: skip


class Evidence:
    """The facts by id. Every id has one, checked or not."""

    def __init__(self, facts=()):
        self._facts = {id: Fact(id, why="no probe looked") for id in FACTS}
        for fact in facts:
            self.add(fact)

    def add(self, fact):
        self._facts[fact.id] = fact

    def __getitem__(self, id):
        return self._facts[id]

    def __iter__(self):
        return iter(self._facts.values())


class View:
    """What one row reads. ``e("E1.opened")`` is a value; ``e.maybe(…)`` one that only strengthens a conclusion."""

    def __init__(self, evidence):
        self._evidence = evidence
        self.used, self.lacking = [], []

    def __call__(self, name):
        id, _, key = name.partition(".")
        fact = self._evidence[id]
        if key not in fact.values:
            raise NotChecked(id, fact.why or f"{key} is not known")
        if id not in self.used:
            self.used.append(id)
        return fact.values[key]

    def maybe(self, name, default=None):
        try:
            return self(name)
        except NotChecked as missing:
            if missing.id not in self.lacking:
                self.lacking.append(missing.id)
            return default

    def peek(self, name, default=None):
        """The value without citing it: for evidence that is cited only when it speaks for the row."""
        id, _, key = name.partition(".")
        return self._evidence[id].values.get(key, default)

    def knows(self, name):
        """Whether the fact is known; reads nothing."""
        id, _, key = name.partition(".")
        return key in self._evidence[id].values
