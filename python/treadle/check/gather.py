"""Collects all evidence: children are started first, files are read while they work, then answers are taken."""

from .children import FINISHED, KILLED
from .evidence import Evidence, Fact
from .layers import driver, kernel, packages, python, surroundings, toolkit

# Facts of files alone: (ids, function of the machine).
READERS = (
    ("E0", surroundings.symptoms),
    ("E5", kernel.loaded_driver),
    ("E6", kernel.pci),
    ("E7", kernel.nodes),
    ("E8", surroundings.environment),
    ("E9", surroundings.container),
    ("E10", surroundings.wsl),
    ("E11", kernel.modules),
    ("E12", kernel.secure_boot),
    ("E13", kernel.kernel_log),
    ("E14", python.package_fact),
    ("E21", packages.packages),
    ("E22", surroundings.distribution),
    ("E23", surroundings.services),
)


def gather(machine, progress=lambda text: None):
    """Evidence about a machine. Never raises for what it finds: a probe that fails is a fact that was not checked."""
    evidence = Evidence()
    children = []

    def start(make, *arguments, **options):
        child = make(*arguments, **options)
        children.append(child)
        return child

    try:
        progress("asking the driver library")
        asked_driver = start(machine.probe, "driver")
        asked_management = start(machine.probe, "management")
        asked_treadle = start(machine.verification)
        libraries = toolkit.find_libraries(machine)
        tools = toolkit.Tools(machine)
        children += tools.asked.values()
        asked_libraries = [
            start(machine.probe, kind, file=libraries[name][0]["real"]) if libraries[name] else None
            for kind, name in (("nvrtc", "nvrtc"), ("runtime", "cudart"))
        ]
        for id, read in READERS:
            evidence.add(guarded(id, read, machine))
        progress("waiting for the driver library")
        answer = asked_driver.outcome()
        usable = answer.ended == FINISHED
        asked_treadle.tell("cuda" if usable else "")
        found = driver.driver_facts(answer)
        for fact in found + driver.management_facts(asked_management.outcome()):
            evidence.add(fact)
        answers = [child and child.outcome() for child in asked_libraries]
        evidence.add(toolkit.library_fact(machine, libraries, *answers))
        evidence.add(tools.fact())
        evidence.add(toolkit.match_fact(evidence["E3"], evidence["E15"], evidence["E16"]))
        evidence.add(guarded("E20", surroundings.process, machine, answer.facts.get("mapped", [])))
        progress("running Treadle")
        verified = asked_treadle.outcome()
        step = verified.step  # where it died, if it did
        if usable and verified.ended == KILLED and step.endswith(" on soft:0"):
            # The crash of one device says nothing about the other.
            again = start(machine.verification, ["cuda"])
            again.tell("cuda")
            verified.records += again.outcome().records
        evidence.add(python.treadle_fact(verified, step))
    finally:
        for child in children:
            child.end()
    return evidence


def guarded(id, read, *arguments):
    """A reader that meets what it does not understand says so; the others go on."""
    try:
        return read(*arguments)
    except Exception as error:
        return Fact(id, why=f"the probe failed: {type(error).__name__}: {error}")
