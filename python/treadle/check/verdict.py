"""What was verified, the exit status, and the sentence when no row explains a failure.

PASS: the steps ran and their results compared equal. FAIL: one did not. SKIPPED: nothing ran, with the reason.
"""

from dataclasses import dataclass, field

from .judge import BLOCKS, UNKNOWN, Finding, Row, judge
from .rows import ROWS

PASS, FAIL, SKIPPED = "PASS", "FAIL", "SKIPPED"
USABLE, SOFTWARE_ONLY, NOTHING, TOOL_FAILED = 0, 1, 2, 3
STEPS = ("create", "matrix product", "compile", "launch", "copy back", "compare")

NO_PATTERN = Row(
    "43", "none of the rows holds, and the GPU is unusable", "all of it", lambda e: None,
    "No known pattern explains this; the evidence is listed.", ("attach report",),
)  # fmt: skip


@dataclass
class Check:
    """One question, its answer, and the ids of the evidence."""

    name: str
    status: str
    reason: str
    evidence: tuple
    steps: list = field(default_factory=list)

    @property
    def passed(self):
        return self.status == PASS


@dataclass
class Verdict:
    packages: Check
    software: Check
    gpu: Check
    findings: list
    unjudged: list
    has_software: bool

    @property
    def environment_ready(self):
        """The packages can be imported and the software device works (in a build without it: a GPU)."""
        return self.packages.passed and (
            self.software.passed or (not self.has_software and self.gpu.passed)
        )

    def exit_status(self, require_gpu):
        if require_gpu:
            return USABLE if self.gpu.passed else SOFTWARE_ONLY if self.software.passed else NOTHING
        return USABLE if self.environment_ready else NOTHING


def conclude(evidence):
    """Everything that follows from the evidence."""
    findings, unjudged = judge(ROWS, evidence)
    treadle = evidence["E24"]
    packages = imports(treadle)
    absent = not_built(treadle)
    software = device_check(treadle, "soft", "the software device", packages)
    if packages.passed and absent:
        software = Check("software device", SKIPPED, absent, ("E24",))
    gpu = device_check(treadle, "cuda", "an NVIDIA GPU", packages)
    if gpu.status == SKIPPED:
        gpu = Check(
            "NVIDIA GPU",
            SKIPPED,
            reason_without_gpu(findings, treadle, packages),
            evidence_of(evidence, findings),
        )
    if unexplained(evidence, gpu, findings):
        used = tuple(fact.id for fact in evidence if fact.checked)
        lacking = tuple(fact.id for fact in evidence if not fact.checked)
        findings.append(
            Finding(
                NO_PATTERN, UNKNOWN, BLOCKS, NO_PATTERN.conclusion, NO_PATTERN.advice, used, lacking
            )
        )
    return Verdict(packages, software, gpu, findings, unjudged, not absent)


def not_built(treadle):
    """Why this build has no software device; '' when it has. Its discovery fails on the first rung only then."""
    for rung in treadle.values.get("ladder_soft", ()):
        if rung["name"] == "driver library" and rung["status"] == FAIL:
            return rung["detail"]
    return ""


def imports(treadle):
    if treadle.values.get("imported"):
        versions = [treadle.values.get(key, "?") for key in ("treadle", "numpy")]
        reason = "Treadle {} and NumPy {} can be imported".format(*versions)
        return Check("Python packages", PASS, reason, ("E24",))
    return Check(
        "Python packages", FAIL, treadle.values.get("import_error") or treadle.why, ("E24",)
    )


def device_check(treadle, kind, label, packages):
    """PASS only when every step is recorded as passed."""
    name = "software device" if kind == "soft" else "NVIDIA GPU"
    steps = treadle.values.get(kind, [])
    if not packages.passed:
        return Check(name, SKIPPED, "Treadle cannot be imported", ("E24",))
    failed = [step for step in steps if step["status"] != PASS]
    begun = treadle.values.get("step", "")
    if not failed and [step["step"] for step in steps] == list(STEPS):
        reason = f"{steps[0]['detail']}; array, matrix product, kernel and copy back are equal to NumPy's"
        return Check(name, PASS, reason, ("E24",), steps)
    if failed:
        return Check(name, FAIL, f"{failed[0]['step']}: {failed[0]['detail']}", ("E24",), steps)
    if steps or begun.endswith(f" on {kind}:0") or begun == f"discovery of {kind}":
        return Check(
            name, FAIL, f"{begun or label}: {treadle.values.get('detail', '')}", ("E24",), steps
        )
    return Check(name, SKIPPED, f"{label} was not reached", ("E24",), steps)


def reason_without_gpu(findings, treadle, packages):
    if not packages.passed:
        return "Treadle cannot be imported"
    blocking = [f for f in findings if f.weight == BLOCKS and f.row.id != "7"]
    if blocking:
        return f"row {blocking[0].row.id}: {blocking[0].conclusion}"
    for rung in treadle.values.get("ladder_cuda", ()):
        if rung["status"] == FAIL:
            return f"{rung['name']}: {rung['detail']}"
    return "no NVIDIA GPU was found"


def evidence_of(evidence, findings):
    ids = {id for f in findings if f.weight == BLOCKS for id in f.evidence}
    if evidence["E24"].checked:
        ids.add("E24")
    return tuple(fact.id for fact in evidence if fact.id in ids)


def unexplained(evidence, gpu, findings):
    """A GPU that should work and does not, or a symptom that the user gave, and no row that blocks."""
    if any(f.weight == BLOCKS for f in findings) or (gpu.passed and not evidence["E0"].checked):
        return False
    if gpu.status == FAIL or evidence["E0"].checked:
        return True
    library = evidence["E1"].values
    hardware = evidence["E6"].values.get("gpus") or evidence["E5"].values.get("present")
    return bool(hardware or library.get("opened"))
