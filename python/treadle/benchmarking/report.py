"""Measurements as tables for people and as dictionaries for programs."""

import math

from . import statistics

__all__ = ["SCOPE_WORDS", "as_dict", "as_text", "in_bytes", "in_percent", "in_seconds", "table"]

SCOPE_WORDS = {
    "device": "device, data resident",
    "end_to_end": "end to end",
    "submission": "host submission",
    "graph": "device, graph replays",
}
_HOST_WORDS = {"device": "host, data in its memory", "end_to_end": "end to end"}


def in_seconds(seconds):
    """A time with the unit that suits it: 12.3 us."""
    if not math.isfinite(seconds):
        return "?"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= size:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(seconds / 1e-9)} ns"


def _digits(value):
    """Four digits, never as a power of ten."""
    whole = len(str(int(abs(value))))
    return f"{value:.{max(0, 4 - whole)}f}"


def in_bytes(count):
    """A number of bytes with the unit that suits it: 4.00 MB (powers of 1000)."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def in_percent(fraction):
    """A fraction in percent: 0.53 %, 12 %, 420 %."""
    value = 100 * fraction
    return f"{value:.2g} %" if value < 10 else f"{value:.0f} %"


def table(rows):
    """Lines of aligned columns; the first row is the head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]


# ---- text ----


def as_text(found):
    """The table of a measurement."""
    lines = [f"{found.name}    on {found.device['name']}: {place(found.device)}"]
    if found.where == "device":
        lines.append(f"times are {found.device['time']}")
    if found.arguments:
        lines.append(
            "arguments " + ", ".join(map(_argument, found.arguments)) + " (this size only)"
        )
    lines += ["", *("  " + line for line in table(_rows(found))), ""]
    lines += _facts(found)
    lines += remarks(found.findings)
    return "\n".join(lines)


def remarks(findings):
    """A line for each kind of finding; "not converged" stands in the table."""
    kinds = {}
    for finding in findings:
        if finding.kind != "not-converged":
            kinds.setdefault(finding.kind, []).append(finding)
    for same in kinds.values():
        places = "; ".join(finding.where for finding in same if finding.where)
        yield f"! {places + ': ' if places else ''}{same[0].text}"


def place(device):
    """Kind and name of a device."""
    if not device["description"] or device["description"].startswith(device["evidence"]):
        return device["description"] or device["evidence"]
    return f"{device['evidence']} ({device['description']})"


def _argument(row):
    if row["kind"] == "array":
        return f"{row['dtype']}{row['shape']}"
    return row.get("value", row["dtype"])


def _rows(found):
    words = _HOST_WORDS if found.where == "host" else SCOPE_WORDS
    rows = [("time", "cache", "median", "95 % interval", "samples", "outliers", "")]
    for series in found.times:
        if not len(series.samples_s):
            rows.append((words[series.scope], series.cache, "none", "", "0", "", _verdict(series)))
            continue
        middle = series.interval
        between = "-"
        if math.isfinite(middle.high - middle.low):
            between = f"{in_seconds(middle.low)} to {in_seconds(middle.high)}"
        rows.append((
            words[series.scope], series.cache, in_seconds(middle.median), between, _samples(series),
            _outliers(series), _verdict(series) + _speed(found, series),
        ))  # fmt: skip
    level = found.times[0].policy.level if found.times else 0.95
    rows[0] = (*rows[0][:3], f"{100 * level:g} % interval", *rows[0][4:])
    return rows


def _samples(series):
    text = str(len(series.samples_s))
    if series.calls_per_sample > 1:
        text += f" of {series.calls_per_sample}"
    return text + (f", {series.discarded} discarded" if series.discarded else "")


def _outliers(series):
    found = statistics.outliers(series.samples_s)
    parts = [
        f"{number} {word}"
        for number, word in (
            (found.low_severe + found.low_mild, "low"),
            (found.high_mild, "high"),
            (found.high_severe, "far"),
        )
        if number
    ]
    return ", ".join(parts) or "none"


def _verdict(series):
    if series.converged:
        return ""
    if not len(series.samples_s):
        return "no sample that counts"
    width = series.interval.relative_half_width
    return "not converged" + (f" (± {in_percent(width)})" if math.isfinite(width) else "")


def _speed(found, series):
    speed = found.bandwidth(series)
    if speed is None:
        return ""
    text = f"  {speed[0] / 1e9:.3g} GB/s ({speed[1]} bytes)"
    if found.peak_bytes_per_s:
        text += f", {100 * speed[0] / found.peak_bytes_per_s:.0f} % of the memory's peak"
    return text


def _facts(found):
    yield f"result      {found.checked}"
    if found.upload_bytes is not None:
        yield (
            f"moved       end to end: {in_bytes(found.upload_bytes)} to the device, "
            f"{in_bytes(found.download_bytes)} back"
        )
    if found.first_call_s is not None:
        loaded = found.first_call_modules
        modules = (
            "" if loaded is None else f"; {_plural(loaded, 'module', 'modules')} compiled or loaded"
        )
        inside = (
            f" (compiling and allocating are in it{modules})" if found.where == "device" else ""
        )
        yield f"first call  {in_seconds(found.first_call_s)}{inside}"
    if found.counts is not None:
        yield "each call   " + _counted(found.counts)
    if "conditions" in found.record:
        conditions = found.record["conditions"]
        if isinstance(conditions, str):
            yield f"clocks      {conditions}"
        else:
            yield (
                f"clocks      SM {conditions['sm_mhz']} MHz (default {conditions['default_sm_mhz']}), "
                f"{conditions['power_w']} W, {conditions['temperature_c']} °C"
            )


def _counted(counts):
    parts = [_plural(counts.launches, "launch", "launches")]
    for number, one, more in (
        (counts.library_calls, "call of a math library", "calls of math libraries"),
        (counts.graph_launches, "graph", "graphs"),
        (counts.waits, "wait", "waits"),
        (counts.modules_loaded, "module loaded", "modules loaded"),
    ):
        if number > 0:
            parts.append(_plural(number, one, more))
    for size, words in (
        (counts.uploaded_bytes, "to the device"),
        (counts.downloaded_bytes, "to the host"),
        (counts.copied_bytes, "copied"),
        (counts.filled_bytes, "filled"),
        (counts.planned_read_bytes, "read by generated kernels"),
        (counts.planned_written_bytes, "written by them"),
    ):
        if size:
            parts.append(f"{in_bytes(size)} {words}")
    return ", ".join(parts)


def _plural(number, one, more):
    return f"{number} {one if number == 1 else more}"


# ---- dictionaries ----


def as_dict(found):
    """A measurement as JSON's types. Times are seconds, sizes bytes."""
    from .measurement import FORMAT

    return {
        "format": FORMAT,
        "name": found.name,
        "device": found.device,
        "where": found.where,
        "arguments": found.arguments,
        "results": found.results,
        "checked": found.checked,
        "times": [_series(found, series) for series in found.times],
        "first_call_s": found.first_call_s,
        "first_call_modules": found.first_call_modules,
        "warm_up_s": found.warm_up_s,
        "settled": found.settled,
        "empty_s": found.empty_s,
        "upload_bytes": found.upload_bytes,
        "download_bytes": found.download_bytes,
        "bytes_moved": found.bytes_moved,
        "counts": None
        if found.counts is None
        else vars(found.counts) | {"failed": list(found.counts.failed)},
        "instructions": None,  # neither device counts them
        "findings": [finding._asdict() for finding in found.findings],
        "record": found.record,
    }


def _series(found, series):
    row = {
        "scope": series.scope,
        "cache": series.cache,
        "unit": "s",
        "samples": [float(x) for x in series.samples_s],
        "calls_per_sample": series.calls_per_sample,
        "converged": series.converged,
        "discarded": series.discarded,
        "gaps": series.gaps,
        "waits_inside": series.waits_inside,
        "conditions": [one._asdict() for one in series.conditions if hasattr(one, "_asdict")],
    }
    if len(series.samples_s):
        middle = series.interval
        whole = math.isfinite(middle.high - middle.low)
        speed = found.bandwidth(series)
        row |= {
            "median": middle.median,
            "low": middle.low if whole else None,
            "high": middle.high if whole else None,
            "level": middle.level,
            "outliers": statistics.outliers(series.samples_s)._asdict(),
            "bytes_per_s": speed and speed[0],
            "bytes_are": speed and speed[1],
        }
    return row
