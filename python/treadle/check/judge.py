"""Rows and what follows from them: a row's predicate reads evidence, and what it concludes lists what it read."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .evidence import NotChecked, View

CERTAIN, LIKELY, UNKNOWN = "certain", "likely", "cannot tell"
# What a finding means: it explains why the GPU cannot be used; a fault or trap beside that; good to know.
BLOCKS, WARNS, NOTE = "blocks", "warns", "note"


ROW_FAILED = "the row itself failed"


@dataclass(frozen=True)
class Match:
    """A row's predicate holds: how surely, with which words for the conclusion."""

    strength: str = CERTAIN
    words: dict = field(default_factory=dict)
    weight: str = ""  # instead of the row's
    advice: tuple = ()  # instead of the row's: keys of advice.TEXTS


def match(strength=CERTAIN, weight="", advice=(), **words):
    return Match(strength, words, weight, advice)


@dataclass(frozen=True)
class Row:
    """One known pattern. ``when(e)`` gives a Match or None. ``conclusion`` is the strongest sentence that the evidence
    supports, with {words} of the match. ``advice``: keys of advice.TEXTS. ``sources``: public reports."""

    id: str
    symptom: str
    evidence: str  # in words, for the documentation
    when: Callable
    conclusion: str
    advice: tuple
    weight: str = BLOCKS
    sources: tuple = ()


@dataclass(frozen=True)
class Finding:
    row: Row
    strength: str
    weight: str
    conclusion: str
    advice: tuple
    evidence: tuple  # ids that it rests on
    lacking: tuple  # ids that would have made it stronger


@dataclass(frozen=True)
class Unjudged:
    """A row that could not be judged, because of evidence that was not checked."""

    row: Row
    evidence: str
    why: str


def judge(rows, evidence):
    """(findings, rows that could not be judged)"""
    findings, unjudged = [], []
    for row in rows:
        view = View(evidence)
        try:
            found = row.when(view)
        except NotChecked as missing:
            unjudged.append(Unjudged(row, missing.id, missing.why))
            continue
        except Exception as error:  # ours: the other rows still hold
            unjudged.append(Unjudged(row, "", f"{ROW_FAILED}: {type(error).__name__}: {error}"))
            continue
        if found is None:
            continue
        findings.append(
            Finding(
                row, found.strength, found.weight or row.weight, row.conclusion.format(**found.words),
                found.advice or row.advice, in_order(view.used),
                in_order(i for i in view.lacking if i not in view.used),
            )
        )  # fmt: skip
    return findings, unjudged


def in_order(ids):
    return tuple(sorted(ids, key=lambda id: int(id[1:])))
