# SPDX-License-Identifier: Apache-2.0
"""Every form in which warren tells of a timed run, brought to one: objects of commands, rows of suites, rows of bench/results, and rows beside rivals."""
from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .documents import Document

LISTS_OF_ROWS = ("results", "rows", "runs", "sampled", "accuracy")
# A time in seconds stands under one of these, the first that is there.
TIMES = {"epoch_seconds": 1.0, "warren_seconds": 1.0, "median": 1.0, "median_seconds": 1.0, "mean_seconds": 1.0, "seconds": 1.0, "milliseconds": 1e-3}
RATES = ("warren_rate", "gigabytes_per_second")
# What else ran the same work: its time or rate stands under one of these, after the rival's name if that has no field of its own.
RIVAL_TIMES = {"native_seconds": ("its C++ alone", 1.0), "python_seconds": ("from Python", 1.0), "cusparse_milliseconds": ("cuSPARSE", 1e-3),
               "gap_median_seconds": ("GAP", 1.0), "by_hand_seconds": ("a kernel by hand", 1.0)}
RIVAL_RATES = {"native_rate": "its C++ alone", "python_rate": "from Python", "by_hand_gigabytes_per_second": "a kernel by hand"}
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True)
class Rival:
    """`ratio`: how many times as fast warren was. One of `seconds` and `rate` is known."""

    name: str
    ratio: float
    seconds: float | None = None
    rate: float | None = None


@dataclass(frozen=True)
class Run:
    """`work` says what was done, without the devices; `hardware` on which of them. `fields` has all that is known of it, those of the document, too."""

    document: str
    work: str
    hardware: str
    devices: int
    seconds: float | None  # The median of `times`, or of an epoch.
    times: list[float]
    rate: float | None
    unit: str
    rivals: list[Rival]
    fields: dict[str, Any] = field(repr=False)


def rows_of(data: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(name, rows) of a document's lists of rows."""
    if isinstance(data, list):
        yield "rows", data
        return
    for name, value in data.items():
        if name in LISTS_OF_ROWS and is_rows(value):
            yield name, value


def is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def runs_of(document: Document) -> list[Run]:
    data = document.data
    outer = {name: value for name, value in data.items() if name not in LISTS_OF_ROWS} if isinstance(data, dict) else {}
    lists = [rows for _, rows in rows_of(data)]
    found = [run for rows in lists for row in rows for run in _runs(document.name, {**_without(outer, row), **row})]
    return found or _runs(document.name, outer)


def _without(outer: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """The document's own times are of all rows together."""
    return {name: value for name, value in outer.items() if name not in TIMES}


def _runs(document: str, fields: dict[str, Any]) -> list[Run]:
    """Rows of bench/results hold the object of the run in `result`, and that may hold rows again. Times by strategy are a run each."""
    inner = fields.get("result")
    if isinstance(inner, dict):
        told = {name: value for name, value in fields.items() if name != "result"}
        rows = inner.get("results")
        first = rows[0] if isinstance(rows, list) and is_rows(rows) else {}
        kept = {name: value for name, value in inner.items() if name != "results"}
        return _runs(document, {**kept, **first, **told, "kind": first.get("work") or inner.get("command"), "device": inner.get("device")})
    if isinstance(fields.get("results"), list):
        rows = [row for row in fields["results"] if isinstance(row, dict)]
        return [run for row in rows for run in _runs(document, {**{name: value for name, value in fields.items() if name != "results"}, **row})]
    if isinstance(fields.get("seconds"), dict):
        times = {name: value for name, value in fields["seconds"].items() if number(value) is not None}
        return [run for name, value in times.items() for run in _runs(document, {**fields, "strategy": name, "seconds": [value]})]
    run = _run(document, fields)
    return [run] if run else []


def _run(document: str, fields: dict[str, Any]) -> Run | None:
    seconds, times = _time(fields)
    rate = next((value for value in (number(fields.get(name)) for name in RATES) if value), None)
    if seconds is None and rate is None:
        return None
    unit = str(fields.get("unit") or "GB/s")
    return Run(document, _work(fields), hardware_of(fields), _devices(fields), seconds, times, rate, unit, list(_rivals(fields, seconds, rate)), fields)


def number(value: Any) -> float | None:
    """None for what is none, and for integers that are too large to draw."""
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
    return float(value) if is_one else None


def numbers(value: Any) -> list[float]:
    return [one for one in (number(element) for element in value) if one is not None] if isinstance(value, list) else []


def _time(fields: dict[str, Any]) -> tuple[float | None, list[float]]:
    times = [value for value in numbers(fields.get("seconds")) if value > 0]
    for name, scale in TIMES.items():
        value = number(fields.get(name))
        if value is not None and value > 0:
            return value * scale, times
    return (statistics.median(times), times) if times else (None, [])


def _devices(fields: dict[str, Any]) -> int:
    count = fields.get("devices")
    if isinstance(count, int) and not isinstance(count, bool) and 0 < count < 10**6:
        return count
    said = re.match(r"(\d{1,4}) x ", hardware_text(fields))
    return int(said[1]) if said else 1


def hardware_text(fields: dict[str, Any]) -> str:
    for name in ("hardware", "model", "machine", "device"):
        value = fields.get(name)
        if isinstance(value, str) and ("NVIDIA" in value or "AMD" in value or name == "hardware"):
            return value
    return ""


def hardware_of(fields: dict[str, Any]) -> str:
    """The GPU's or CPU's name, without how many."""
    machine = fields.get("machine")
    on_cpu = fields.get("device") == "cpu"
    if isinstance(machine, dict):
        gpus = machine.get("gpus")
        if isinstance(gpus, list) and gpus and not on_cpu:
            return str(gpus[0])
        if on_cpu and machine.get("cpu"):
            return str(machine["cpu"])
    text = re.sub(r"^\d+ x ", "", hardware_text(fields))
    return re.sub(r", \d+ ranks?$", "", text) or ("CPU" if on_cpu else str(fields.get("device") or "unknown device"))


def _work(fields: dict[str, Any]) -> str:
    """As the row says; else the command, its graph, and what else tells runs of it apart."""
    said = fields.get("work")
    if isinstance(said, str) and ("hardware" in fields or "rival" in fields):
        graph = fields.get("graph")
        return f"{said}, {graph}" if "rival" in fields and isinstance(graph, str) else said
    command = fields.get("suite") or said or fields.get("operation") or fields.get("benchmark") or fields.get("training") or fields.get("command") or "run"
    words = [re.sub(r"^warren ", "", str(command)).split(" ")[0]]
    for name in ("model", "graph", "dataset", "operation", "loop", "fetch", "pattern", "product", "strategy", "type", "mode", "method", "edges_placement", "order", "placement"):
        value = fields.get(name)
        if isinstance(value, str) and value not in words and "NVIDIA" not in value and value not in ("sync", "device", "ranges", "natural", "none"):
            words.append(value)
    words += [f"{name}={fields[name]}" for name in ("k", "row_bytes", "layers", "hidden", "batch") if number(fields.get(name)) is not None]
    return " ".join(words)


def _rivals(fields: dict[str, Any], seconds: float | None, rate: float | None) -> Iterator[Rival]:
    called = fields.get("rival")
    for name, (form, scale) in RIVAL_TIMES.items():
        value = number(fields.get(name))
        if value and value > 0 and seconds:
            yield Rival(f"{called}, {form}" if called else form, value * scale / seconds, seconds=value * scale)
    for name, form in RIVAL_RATES.items():
        value = number(fields.get(name))
        if value and value > 0 and rate:
            yield Rival(f"{called}, {form}" if called else form, rate / value, rate=value)
    beside = fields.get("beside")
    said = re.fullmatch(r"(.{1,200}): ([\d.,]+) (ns|us|µs|ms|s)", beside) if isinstance(beside, str) else None
    if said and seconds:
        theirs = _of_digits(said[2])
        if theirs:
            yield Rival(said[1], theirs * UNITS[said[3]] / seconds, seconds=theirs * UNITS[said[3]])


def _of_digits(digits: str) -> float | None:
    try:
        return float(digits.replace(",", ""))
    except ValueError:
        return None
