# SPDX-License-Identifier: Apache-2.0
"""Charts of a single run, by the fields that its JSON has."""
from __future__ import annotations

import re
import statistics
from collections import defaultdict
from typing import Any

from . import charts
from .charts import Chart
from .runs import number, numbers

# What the first and the second column of `top` and others mean, by command.
SCORES = {"pagerank": "rank", "bc": "betweenness", "core": "core number", "triangles": "triangles"}
PARTS = ("aggregate", "dense", "communicate", "other")  # They add up to an epoch's work.


def charts_of(data: Any) -> list[Chart]:
    """Of an object of the command line, of a result, or of a timeline; none where nothing in it can be drawn."""
    if not isinstance(data, dict):
        return []
    return [chart for draw in (training, levels, degrees, distribution, top, parts_of_time, memory, volume, links, between_ranks, timeline) for chart in draw(data)]


def training(data: dict[str, Any]) -> list[Chart]:
    epochs = [epoch for epoch in data["epochs"] if isinstance(epoch, dict)] if isinstance(data.get("epochs"), list) else []
    found = []
    for title, y, percent, names in (("Loss", "loss", False, {"loss": "training", "validation_loss": "validation"}),
                                     ("Accuracy", _measure(data), True, {"train_accuracy": "training", "validation_accuracy": "validation", "test_accuracy": "test"}),
                                     ("Mean reciprocal rank", "mean reciprocal rank", False, {"validation_mrr": "validation", "test_mrr": "test"})):
        series = []
        for name, called in names.items():
            pairs = [(number(epoch.get("epoch")) or float(place), number(epoch.get(name))) for place, epoch in enumerate(epochs, 1)]
            if any(value is not None for _, value in pairs):
                series.append((called, pairs))
        if not series:
            continue
        extra = []
        best, chance = number(data.get("best_epoch")), number(data.get("chance"))
        if best and best > 0:
            extra.append(charts.rule_at("x", best, "best" if title == "Accuracy" else ""))
        if percent and chance:
            extra.append(charts.rule_at("y", chance, "chance"))
        text = f"{title} of each epoch{'; the dashed upright line is the best epoch by validation' if best else ''}{', the level one what one answer for all reaches' if percent and chance else ''}."
        found.append(charts.lines(title if title != "Accuracy" else y[0].upper() + y[1:], text, "epoch", y, series, percent=percent, zero=percent, whole=True, extra=extra))
    seconds = [(number(epoch.get("epoch")) or float(place), number(epoch.get("seconds"))) for place, epoch in enumerate(epochs, 1)]
    known = [value for _, value in seconds if value]
    if len(known) > 1:
        unit, per_second = charts.scaled_time([statistics.median(known)])
        found.append(charts.lines("Time of an epoch", "Time of each epoch, evaluation aside.", "epoch", f"time ({unit})",
                                  [("time", [(x, None if y is None else y * per_second) for x, y in seconds])], whole=True))
    return found


def _measure(data: dict[str, Any]) -> str:
    return "area under the ROC curve" if data.get("task") == "link" else "accuracy"


def levels(data: dict[str, Any]) -> list[Chart]:
    counts = numbers(data.get("levels"))
    if not counts:
        return []
    text = f"Vertices by their depth, the number of edges on the shortest path from the source {charts.short(data.get('source_name', data.get('source', '')), 40)}."
    return [charts.columns("Levels of the search", text, "depth", "vertices", [(depth, count) for depth, count in enumerate(counts)])]


def degrees(data: dict[str, Any]) -> list[Chart]:
    counts = data.get("degree_counts")
    if not (isinstance(counts, list) and len(counts) == 2):
        return []
    pairs = [(degree, count) for degree, count in zip(numbers(counts[0]), numbers(counts[1]))]
    some = [(degree, count) for degree, count in pairs if degree > 0 and count > 0]
    none = sum(count for degree, count in pairs if degree == 0)
    if not some:
        return []
    is_bucketed = data.get("degree_buckets") == "log2"
    each = "from each power of two up to the next, out-edges" if is_bucketed else "each number of out-edges"
    text = f"How many vertices have {each}, on logarithmic axes.{f' {none:,.0f} vertices have none.' if none else ''}"
    thin = [(x, y) for x, y in charts.thinned(some)[0] if y is not None]
    return [charts.cloud("Degree distribution", text, "out-edges of a vertex", "vertices", [("vertices", x, y, f"degree {x:,.0f}{f' to {2 * x - 1:,.0f}' if is_bucketed and x > 1 else ''}") for x, y in thin])]


def distribution(data: dict[str, Any]) -> list[Chart]:
    told = data.get("distribution")
    if not isinstance(told, dict):
        return []
    what, of = charts.short(told.get("what", "value")), charts.short(told.get("of", "vertices"))
    pairs = list(zip(numbers(told.get("values")), numbers(told.get("counts"))))
    if not pairs:
        return []
    title, text = f"Distribution: {what}", f"How many {of} there are by {what}."
    if len(pairs) > 60 or max(value for value, _ in pairs) > 1000:
        thin = [(x, y) for x, y in charts.thinned(pairs)[0] if y is not None]
        return [charts.cloud(title, text, what, of, [(of, x, y, f"{what} {x:,.4g}") for x, y in thin], log_x=all(x > 0 for x, _ in thin), log_y=all(y > 0 for _, y in thin))]
    return [charts.columns(title, text, what, of, pairs)]


def top(data: dict[str, Any]) -> list[Chart]:
    rows = [row for row in data["top"] if isinstance(row, list) and len(row) == 2 and number(row[1]) is not None] if isinstance(data.get("top"), list) else []
    if not rows:
        return []
    names = data.get("top_names")
    names = names if isinstance(names, list) and len(names) == len(rows) else [row[0] for row in rows]
    score = SCORES.get(str(data.get("command")), "score")
    return [charts.bars(f"Largest by {score}", f"The {len(rows)} vertices of the largest {score}.", score, [(str(name), float(row[1])) for name, row in zip(names, rows)], what="vertex")]


def parts_of_time(data: dict[str, Any]) -> list[Chart]:
    parts = data.get("breakdown")
    known = [(str(name), value) for name, value in ((name, number(value)) for name, value in parts.items()) if value is not None] if isinstance(parts, dict) else []
    if not known:
        return []
    unit, per_second = charts.scaled_time(value for _, value in known)
    whole = "the mean epoch after the first" if data.get("command") == "train" else "the work, on one rank"
    overlap = " The parts of a batch (train, sample, gather) are the same time seen in another way." if {"train", "gather"} <= {name for name, _ in known} else ""
    return [charts.bars("Time by part", f"Where the time of {whole} goes.{overlap}", f"time ({unit})", [(name, value * per_second) for name, value in known], what="part")]


def memory(data: dict[str, Any]) -> list[Chart]:
    plan = data.get("memory_plan")
    known = [(str(name), value) for name, value in ((name, number(value)) for name, value in plan.items()) if value] if isinstance(plan, dict) else []
    if not known:
        return []
    scale, unit = (1e9, "GB") if max(value for _, value in known) >= 1e9 else (1e6, "MB")
    return [charts.bars("Memory by use", "Memory of a rank by what it holds, as planned before the training.", f"memory ({unit})", [(name, value / scale) for name, value in known], what="purpose")]


def volume(data: dict[str, Any]) -> list[Chart]:
    counts = data.get("volume")
    known = [(str(name), value) for name, value in ((name, number(value)) for name, value in counts.items()) if value is not None] if isinstance(counts, dict) else []
    if not known:
        return []
    return [charts.bars("Rows that cross", "Rows that one product moves between ranks, by how they are moved.", "rows", known, what="way")]


def links(data: dict[str, Any]) -> list[Chart]:
    rows = data.get("links")
    if not (isinstance(rows, list) and 1 < len(rows) <= 32 and all(isinstance(row, list) and len(row) == len(rows) for row in rows)):
        return []
    matrix = [[number(link.get("gigabytes_per_second")) if isinstance(link, dict) else None for link in row] for row in rows]
    text = "Bandwidth of a copy from a device (row) to another (column), in GB/s; on the diagonal within a device's memory."
    return [charts.squares("Links", text, "to device", "from device", "GB/s", matrix)]


def between_ranks(data: dict[str, Any]) -> list[Chart]:
    found = []
    for name, title in (("message_bytes", "Bytes between ranks"), ("messages", "Messages between ranks")):
        rows = data.get(name)
        if isinstance(rows, list) and 1 < len(rows) <= 32 and all(isinstance(row, list) and len(row) == len(rows) for row in rows):
            found.append(charts.squares(title, f"{title}: from the rank of a row to that of a column.", "to rank", "from rank", title.split()[0].lower(), [[number(value) for value in row] for row in rows]))
    return found


def timeline(data: dict[str, Any]) -> list[Chart]:
    """Of a file of --trace: how long each kind of work took, summed over what ran at the same time."""
    events = data.get("traceEvents")
    if not isinstance(events, list):
        return []
    sums: dict[str, float] = defaultdict(float)
    for event in events:
        duration = number(event.get("dur")) if isinstance(event, dict) else None
        if duration is not None:
            sums[re.sub(r"\d+", "#", charts.short(event.get("name", "?"), 60))] += duration * 1e-6
    if not sums:
        return []
    unit, per_second = charts.scaled_time(sums.values())
    ordered = sorted(sums.items(), key=lambda part: -part[1])
    text = f"Sums of the {len(events):,} events of the timeline by name, over all ranks and streams; some lie within others."
    return [charts.bars("Time by part", text, f"time ({unit})", [(name, value * per_second) for name, value in ordered], what="event")]
