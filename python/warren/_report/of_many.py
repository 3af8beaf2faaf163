# SPDX-License-Identifier: Apache-2.0
"""Charts over several runs: beside rivals, over the number of devices, against what the hardware can do, and of one suite's rows beside each other."""
from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from . import charts
from .ceilings import GPUS, Ceiling
from .charts import Chart
from .of_one import PARTS
from .runs import Run, number

SIZE_OF = {"float32": 4, "float16": 2, "bfloat16": 2}


def charts_of_runs(runs: Sequence[Run]) -> list[Chart]:
    return [chart for draw in (rivals, scaling, roofline, gathers, host_links, parts, by_strategy, every_run) for chart in draw(runs)]


def rivals(runs: Sequence[Run]) -> list[Chart]:
    """A chart a rival, of how many times as fast."""
    against: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for run, name in zip(runs, _names(runs)):
        for rival in run.rivals:
            if _is_other(rival.name):
                against[rival.name].append((name, rival.ratio))
    found = []
    for name, pairs in list(against.items())[:12]:
        text = f"How many times as fast as {charts.short(name)} warren was, on the same work. Right of the dashed line warren is faster. The axis is logarithmic."
        found.append(charts.bars(f"Beside {charts.short(name)}", text, "times as fast", pairs, log=True, what="work"))
    return found


def _is_other(name: str) -> bool:
    """Rows also stand beside other rows of warren's own."""
    return not name.startswith(("the row", "warren"))


def _names(runs: Sequence[Run]) -> list[str]:
    """The work of each, and on what where that is not the same for all."""
    is_same = len({(run.hardware, run.devices) for run in runs}) == 1
    return [run.work if is_same else f"{run.work}, {run.devices} x {_model(run.hardware)}" for run in runs]


def _model(hardware: str) -> str:
    return re.sub(r"^NVIDIA | \d+GB.*$", "", hardware)


def scaling(runs: Sequence[Run]) -> list[Chart]:
    """Speed-up over the fewest devices; a chart for every eight works of a kind of device."""
    times: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        if run.seconds and _scales(run):
            best = times[run.hardware][run.work].get(run.devices)
            times[run.hardware][run.work][run.devices] = min(run.seconds, best or run.seconds)
    found = []
    for hardware, works in times.items():
        some = [(work, by) for work, by in works.items() if len(by) > 1]
        for start in range(0, min(len(some), 4 * charts.MOST_LINES), charts.MOST_LINES):
            series = some[start:start + charts.MOST_LINES]
            counts = sorted({devices for _, by in series for devices in by})
            lines = [(work, [(float(devices), by[min(by)] * min(by) / by[devices]) for devices in sorted(by)]) for work, by in series]
            text = f"How many times as fast the same work is on more devices ({charts.short(hardware)}); the dashed line is what they could be at most if all of it were shared. Devices that do not help stay below."
            ideal = charts.line_through([(float(count), float(count)) for count in counts], "ideal", at=-1)
            part = f" ({start // charts.MOST_LINES + 1})" if len(some) > charts.MOST_LINES else ""
            found.append(charts.lines(f"Strong scaling on {_model(hardware)}{part}", text, "devices", "speed-up", lines, ticks=[float(count) for count in counts], points=True, extra=[ideal]))
    return found


def _scales(run: Run) -> bool:
    """Ranks on a CPU share its cores, and links that are slowed down on purpose say nothing."""
    return run.fields.get("device") != "cpu" and run.fields.get("slow") in (None, 1)


def roofline(runs: Sequence[Run]) -> list[Chart]:
    """Of products, per device. What they read lies between each array once, and a row of the dense matrix for every entry: a stroke between these two intensities."""
    found = []
    for hardware, ceiling in _hardware(runs):
        marks, ends = [], []
        for run in runs:
            place = _intensity(run)
            rate = number(run.fields.get("gflops"))
            if run.hardware == hardware and place and rate and _scales(run):
                marks.append((_kind(run), place[1], rate * 1e9 / run.devices, f"{run.work}, {run.devices} devices"))
                ends.append(place[0])
        if not marks or not ceiling.memory or not ceiling.float32_flops:
            continue
        low, high = min(ends) / 2, max(max(mark[1] for mark in marks) * 2, ceiling.float32_flops / ceiling.memory * 2)
        knee = ceiling.float32_flops / ceiling.memory
        roof = charts.line_through([(low, low * ceiling.memory), (knee, ceiling.float32_flops), (high, ceiling.float32_flops)],
                                   f"{ceiling.memory / 1e12:.3g} TB/s, then {ceiling.float32_flops / 1e12:.3g} Tflop/s", at=1)
        text = (f"Operations a second of one {charts.short(hardware)} over operations a byte, both logarithmic. A mark stands where every array is read once; the stroke reaches from it to where "
                "every entry reads its row from memory, and caches decide where between them a product lies. The dashed line is the most that a copy within the device's memory "
                "(measured) and float32 arithmetic (vendor's figure) allow.")
        found.append(charts.cloud(f"Roofline of {_model(hardware)}", text, "operations per byte", "operations per second", marks, extra=[roof], spread=ends))
    return found


def _kind(run: Run) -> str:
    fields = run.fields
    name = fields.get("suite") or fields.get("command") or "product"
    return f"{'spmm' if name == 'bench' else str(name).split(' ')[0]}, {fields.get('type', 'float32')}, {run.devices} device{'s' if run.devices > 1 else ''}"


def _intensity(run: Run) -> tuple[float, float] | None:
    """Operations a byte of a product of the graph's matrix: the least, and the most."""
    edges, vertices, k = (number(run.fields.get(name)) for name in ("edges", "vertices", "k"))
    if not (edges and vertices and k):
        return None
    size = SIZE_OF.get(str(run.fields.get("type", "float32")), 4)
    entries = edges * (8 if run.fields.get("weighted") else 4) + vertices * 8
    dense = vertices * k * size
    return 2 * edges * k / (entries + edges * k * size + dense), 2 * edges * k / (entries + 2 * dense)


def _hardware(runs: Sequence[Run]) -> list[tuple[str, Ceiling]]:
    return [(name, GPUS.get(name, Ceiling())) for name in dict.fromkeys(run.hardware for run in runs)]


def gathers(runs: Sequence[Run]) -> list[Chart]:
    """Bytes of gathered rows a second and device, by the rows' size."""
    found = []
    for hardware, ceiling in _hardware(runs):
        series: dict[str, list[tuple[float, float | None]]] = defaultdict(list)
        for run in runs:
            row_bytes = number(run.fields.get("row_bytes")) or (number(run.fields.get("k")) or 0) * 4
            rate = run.rate if "gigabytes_per_second" in run.fields else (number(run.fields.get("bytes_per_second")) or 0) / 1e9 / run.devices
            if run.hardware != hardware or not row_bytes or not rate or not _is_gather(run):
                continue
            name = f"warren, {run.devices} device{'s' if run.devices > 1 else ''}" + (f", {run.fields['strategy']}" if isinstance(run.fields.get("strategy"), str) else "")
            series[name].append((row_bytes, rate))
            by_hand, limit = number(run.fields.get("by_hand_gigabytes_per_second")), number(run.fields.get("limit_bytes_per_second"))
            if by_hand:
                series[name.replace("warren", "a kernel by hand", 1)].append((row_bytes, by_hand))
            if limit:
                series[f"plain copies, {run.devices} device{'s' if run.devices > 1 else ''}"].append((row_bytes, limit / 1e9 / run.devices))
        if not series:
            continue
        sizes = [pair[0] for pairs in series.values() for pair in pairs]
        extra = []
        text = f"Bytes of gathered rows per second and device on {charts.short(hardware)}, by the size of a row."
        if ceiling.memory and len(set(sizes)) > 1:
            extra = [charts.line_through([(min(sizes), ceiling.memory / 2e9), (max(sizes), ceiling.memory / 2e9)], "half the rate of a copy")]
            text += " The dashed line is the most within one device: each row is read and written."
        ordered = [(name, sorted(set(pairs))) for name, pairs in series.items()]
        found.append(charts.lines(f"Gathers on {_model(hardware)}", text, "bytes of a row", "GB/s per device", ordered, log_x=True, points=True, extra=extra, ticks=sorted(set(sizes))))
    return found


def _is_gather(run: Run) -> bool:
    return "gather" in (run.fields.get("benchmark"), run.fields.get("command"), run.fields.get("kind")) and run.fields.get("placement", "device") == "device"


def host_links(runs: Sequence[Run]) -> list[Chart]:
    """What was read from host memory, against the link's rate."""
    found = []
    for hardware, ceiling in _hardware(runs):
        pairs = []
        for run, name in zip(runs, _names(runs)):
            read = number(run.fields.get("far_bytes")) or number(run.fields.get("bytes_read"))
            if run.hardware == hardware and read and run.seconds and ceiling.host_link:
                pairs.append((name, read / run.seconds / run.devices / 1e9))
        if pairs and ceiling.host_link:
            text = (f"Bytes read from host memory per second and {charts.short(hardware)}, the whole run's mean. The dashed line is what the link gives to reads in the order of addresses: {ceiling.host_link / 1e9:.1f} GB/s. "
                    "Work that is not reading counts, too.")
            found.append(charts.bars(f"Host memory read by {_model(hardware)}", text, "GB/s per device", pairs, rule=ceiling.host_link / 1e9, what="work"))
    return found


def parts(runs: Sequence[Run]) -> list[Chart]:
    """Time by part of several runs, side by side."""
    told = [(name, run.fields.get("breakdown")) for run, name in zip(runs, _names(runs))]
    some = [(name, parts) for name, parts in told if isinstance(parts, dict) and any(number(parts.get(part)) for part in PARTS)]
    if len(some) < 2:
        return []
    unit, per_second = charts.scaled_time(number(parts.get(name)) or 0 for _, parts in some for name in PARTS)
    names = charts.different(name for name, _ in some)
    pieces = [(name, part, (number(parts.get(part)) or 0) * per_second) for name, (_, parts) in zip(names, some) for part in PARTS]
    return [charts.stacked("Time by part, run by run", "Where the time of the mean epoch goes, of each run.", f"time ({unit})", pieces)]


def by_strategy(runs: Sequence[Run]) -> list[Chart]:
    """Rows that differ in their strategy alone: a chart for each k and graph."""
    groups: dict[tuple[Any, ...], list[tuple[str, float]]] = defaultdict(list)
    for run in runs:
        strategy = run.fields.get("strategy")
        if isinstance(strategy, str) and run.seconds and "work" not in run.fields:
            key = (run.document, str(run.fields.get("graph", "")), run.fields.get("k"), str(run.fields.get("type", "")), run.devices)
            groups[key].append((strategy, run.seconds))
    found: list[Chart] = []
    for (document, graph, k, kind, devices), pairs in groups.items():
        if len({name for name, _ in pairs}) < 2 or len(found) == 12:
            continue
        unit, per_second = charts.scaled_time(seconds for _, seconds in pairs)
        shown = sorted(((name, seconds * per_second) for name, seconds in pairs), key=lambda pair: pair[1])
        title = "Strategies" + (f" on {charts.short(graph, 40)}" if graph else "") + (f", k = {k}" if k is not None else "")
        text = f"Median time by strategy, the fastest first; {devices} device{'s' if devices > 1 else ''}{', ' + kind if kind else ''}, of {charts.short(document, 40)}."
        found.append(charts.bars(title, text, f"time ({unit})", shown, what="strategy"))
    return found


def every_run(runs: Sequence[Run]) -> list[Chart]:
    """The medians hide how far runs differ: a point each."""
    some = [(run, name) for run, name in zip(runs, _names(runs)) if len(run.times) > 1 and run.fields.get("command") != "train" and run.fields.get("kind") != "train"]
    if not some:
        return []
    unit, per_second = charts.scaled_time(time for run, _ in some[:charts.MOST_BARS] for time in run.times)
    times = [(name, [time * per_second for time in run.times]) for run, name in some]
    return [charts.ticks_of_runs("Every run", "The time of every timed run, a stroke each.", f"time ({unit})", times)]
