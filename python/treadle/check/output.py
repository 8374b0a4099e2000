"""The verdict for people, for programs, and for a bug tracker."""

import os
import re
import textwrap

from . import advice
from .evidence import FACTS
from .judge import BLOCKS, NOTE

LAYERS = list(dict.fromkeys(layer for layer, _ in FACTS.values()))
FORMAT = 1  # of the JSON object; a change that removes or redefines a field raises it


def as_json(evidence, verdict, require_gpu):
    """One object. The three answers are booleans; what each rests on is under "verified"."""
    family = evidence["E22"].values.get("family", "")
    checks = {
        "packages": verdict.packages, "software_device": verdict.software, "gpu": verdict.gpu,
    }  # fmt: skip
    return {
        "format": FORMAT,
        "mode": "require-gpu" if require_gpu else "plain",
        "environment_ready": verdict.environment_ready,
        "software_device_verified": verdict.software.passed,
        "gpu_verified": verdict.gpu.passed,
        "exit_status": verdict.exit_status(require_gpu),
        "verified": {
            key: {"status": c.status, "reason": c.reason, "evidence": list(c.evidence), "steps": c.steps}
            for key, c in checks.items()
        },
        "observed": [fact.as_json() for fact in evidence],
        "concluded": [
            {"row": f.row.id, "symptom": f.row.symptom, "strength": f.strength, "weight": f.weight,
             "conclusion": f.conclusion, "evidence": list(f.evidence), "not_available": list(f.lacking)}
            for f in verdict.findings
        ],
        "advised": [
            {"row": f.row.id, "advice": advice.texts(f.advice, family), "reports": list(f.row.sources)}
            for f in verdict.findings
        ],
        "not_judged": [{"row": u.row.id, "evidence": u.evidence, "why": u.why} for u in verdict.unjudged],
    }  # fmt: skip


def urgency(finding):
    """What keeps Treadle itself from starting comes first, notes come last."""
    return (finding.row.id != "T1", {BLOCKS: 0, NOTE: 2}.get(finding.weight, 1))


def wrapped(text, first, width):
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=" " * len(first),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


MEANINGS = {
    0: "what was asked for is usable",
    1: "the GPU is unusable, the software device works",
    2: "nothing that was asked for works",
}


def as_text(evidence, verdict, require_gpu, width=100, everything=False):
    """The table for people: what was verified, what follows, what was seen, what was not."""
    family = evidence["E22"].values.get("family", "")
    lines = ["Verified"]
    for check in (verdict.packages, verdict.software, verdict.gpu):
        lines.append(wrapped(check.reason, f"  {check.status:8} {check.name:16} ", width))
    lines += ["", "Concluded"]
    for f in sorted(verdict.findings, key=urgency):
        lines.append(wrapped(f.conclusion, f"  row {f.row.id:3} {f.strength}: ", width))
        rests = f"           rests on {', '.join(f.evidence)}"
        if f.lacking:
            rests += f"; would be stronger with {', '.join(f.lacking)}"
        if len(f.evidence) < 15:
            lines.append(rests)
        lines += [
            wrapped(text, "           advice: ", width) for text in advice.texts(f.advice, family)
        ]
    if not verdict.findings:
        lines.append("  nothing stands out")
    for title, checked in (("Observed", True), ("Not checked", False)):
        lines += ["", title]
        layer = ""
        for fact in sorted(
            (f for f in evidence if f.checked == checked), key=lambda f: LAYERS.index(f.layer)
        ):
            if fact.layer != layer:
                layer = fact.layer
                lines.append(f"  {layer}")
            text = fact.text if checked else fact.why
            lines.append(textwrap.fill(
                f"{fact.title}: {text}", width, initial_indent=f"    {fact.id:4} ", subsequent_indent=" " * 11,
                break_long_words=False, break_on_hyphens=False,
            ))  # fmt: skip
    if everything:
        lines += ["", "Rows that could not be judged"]
        lines += [f"  row {u.row.id:3} {u.evidence}: {u.why}" for u in verdict.unjudged]
    status = verdict.exit_status(require_gpu)
    return "\n".join([*lines, "", f"Exit status {status}: {MEANINGS[status]}."])


def as_markdown(evidence, verdict, require_gpu):
    """A report for a bug tracker: everything in one text, nothing folded away."""
    family = evidence["E22"].values.get("family", "")
    mode = "`treadle check --require-gpu`" if require_gpu else "`treadle check`"
    out = [
        "### " + mode,
        "",
        f"Exit status {verdict.exit_status(require_gpu)}.",
        "",
        "| verified | | |",
        "|---|---|---|",
    ]
    for c in (verdict.packages, verdict.software, verdict.gpu):
        out.append(f"| {c.name} | {c.status} | {cell(c.reason)} |")
    out += ["", "| row | strength | concluded | rests on |", "|---|---|---|---|"]
    for f in verdict.findings:
        out.append(f"| {f.row.id} | {f.strength} | {cell(f.conclusion)} | {' '.join(f.evidence)} |")
    out += ["", "Advised:", ""]
    for f in verdict.findings:
        out += [f"- row {f.row.id}: {text}" for text in advice.texts(f.advice, family)]
    out += ["", "| | observed | |", "|---|---|---|"]
    for fact in evidence:
        text = cell(fact.text) if fact.checked else f"not checked: {cell(fact.why)}"
        out.append(f"| {fact.id} | {fact.title} | {text} |")
    log = evidence["E13"].values.get("lines", [])
    if log:
        out += [
            "",
            f"The kernel's log (last {min(len(log), 40)} lines of interest):",
            "",
            "```",
            *log[-40:],
            "```",
        ]
    return "\n".join(out)


def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


# Words that identify nobody although they may be somebody's host or user name.
COMMON = {
    "root", "user", "localhost", "cuda", "nvidia", "gpu", "python", "treadle", "linux", "debian", "ubuntu", "lib",
    "usr", "local", "home", "docker", "driver", "kernel",
}  # fmt: skip
PATTERNS = (
    (r"\b(GPU|MIG)-[0-9a-fA-F][0-9a-fA-F/-]{7,}", r"\1-(redacted)"),
    (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "(redacted id)"),
    (r"\b[0-9a-f]{32,64}\b", "(redacted id)"),
    (r"\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b", "(redacted address)"),
    (r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}\b(?!\.\d)", "(redacted address)"),
    (r"(/home/|/Users/|/root\b)(?:[^/\s:;,|]*)", "~"),
    (r"(?i)(serial(?: number)?\s*[:=]?\s*)\w{6,}", r"\1(redacted)"),
    (r"(SLURM_JOB_ID|PBS_JOBID|LSB_JOBID)=[^\s,]+", r"\1=(redacted)"),
)


def redacted(text, names=None):
    """The text without host name, user names, home folders and hardware ids."""
    for pattern, by in PATTERNS:
        text = re.sub(pattern, by, text)
    for name, by in personal_names() if names is None else names:
        if len(name) > 1 and name.lower() not in COMMON:
            text = re.sub(
                rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", by, text, flags=re.I
            )
    return text


def personal_names():
    """(name, what stands for it), longest first: the full host name before its first part."""
    import socket

    host = socket.gethostname()
    users = {os.environ.get(v, "") for v in ("USER", "LOGNAME", "SUDO_USER", "USERNAME")}
    try:
        import pwd

        users.add(pwd.getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError):
        pass
    pairs = [(host, "(host)"), (host.partition(".")[0], "(host)"), *((u, "(user)") for u in users)]
    return sorted(pairs, key=lambda pair: -len(pair[0]))
