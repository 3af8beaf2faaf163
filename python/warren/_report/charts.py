# SPDX-License-Identifier: Apache-2.0
"""Kinds of charts, as Vega-Lite specifications without width and colours: the page and the images add those.

A chart's points are bounded, and so is the page: what is left out is said in the chart's text. `room` in an expression is the width that there is.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MOST_POINTS = 400  # Of a line.
MOST_LINES = 8  # As many colours are told apart.
MOST_BARS = 30
MOST_MARKS = 400  # Of a cloud of points.
LONGEST_NAME = 90
BAR = 24  # Height of a bar's row, in pixels.
NAMED_BAR = 40  # Of one with its name above it,
LONGEST_BESIDE = 20  # as names are that are longer than this.

# Thousands and more with an SI prefix, fractions in full.
TICK = "abs(datum.value) >= 10000 ? format(datum.value, '.3~s') : format(datum.value, '.6~r')"
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 4], [1, 3], [10, 2, 2, 2]]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"]

Spec = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """`text` says in a sentence what is drawn; `columns` and `rows` are the numbers behind it."""

    title: str
    text: str
    spec: Spec
    columns: list[str]
    rows: list[list[Any]]


def short(text: Any, most: int = LONGEST_NAME) -> str:
    """On one line, without control characters."""
    clean = "".join(character if character.isprintable() else " " for character in str(text)[:most + 1])
    return clean if len(clean) <= most else clean[:most - 1] + "…"


def lines(title: str, text: str, x: str, y: str, series: Sequence[tuple[str, Sequence[tuple[float, float | None]]]], *, log_x: bool = False, log_y: bool = False,
          zero: bool = True, percent: bool = False, ticks: Sequence[float] | None = None, points: bool = False, whole: bool = False,
          extra: Sequence[Spec] = ()) -> Chart:
    """A line a series of (x, y); None for y is a gap. `extra` are further layers."""
    kept, text = _fewer(series, MOST_LINES, text, "lines")
    values: list[dict[str, Any]] = []
    for name, pairs in kept:
        some, was_thinned = thinned(pairs)
        if was_thinned and "thinned" not in text:
            text += f" Lines are thinned to {MOST_POINTS} points: of each segment the least and the most are kept."
        values += [{"x": a, "y": b, "s": short(name)} for a, b in some if not (log_y and (b is None or b <= 0)) and not (log_x and a <= 0)]
    names = [short(name) for name, _ in kept]
    encoding: Spec = {
        "x": {"field": "x", "type": "quantitative", "title": x, "scale": _scale(log_x, False), "axis": {**_tick_axis(ticks), **({"tickMinStep": 1} if whole else {})}},
        "y": {"field": "y", "type": "quantitative", "title": y, "scale": _scale(log_y, zero), "axis": {"format": ".3~%"} if percent else _tick_axis(None)},
        "tooltip": [{"field": "s", "title": "series"}, {"field": "x", "title": x}, {"field": "y", "title": y, "format": ".1%" if percent else ".5~g"}],
    }
    if len(names) > 1 or any(name not in y for name in names):
        encoding["color"] = colour(names)
        encoding["strokeDash"] = {"field": "s", "type": "nominal", "scale": {"domain": names, "range": DASHES[:len(names)]}, "title": None}
        if points:
            encoding["shape"] = {"field": "s", "type": "nominal", "scale": {"domain": names, "range": SHAPES[:len(names)]}, "title": None}
    few = points or max((len(pairs) for _, pairs in kept), default=0) <= 30
    drawn = [{"mark": {"type": "line"}, "encoding": encoding}]
    if few:
        marks = {name: part for name, part in encoding.items() if name != "strokeDash"}
        drawn.append({"mark": {"type": "point", "filled": True, "size": 45, "opacity": 1}, "encoding": marks})
    spec = {"height": 260, "data": {"values": values}, "layer": [*extra, *drawn]}
    return Chart(title, text, spec, ["series", x, y], [[value["s"], value["x"], value["y"]] for value in values])


def bars(title: str, text: str, x: str, names_and_values: Sequence[tuple[str, float]], *, what: str = "name", log: bool = False, rule: float | None = None) -> Chart:
    """A bar a name, from the top down in the order given; on a logarithmic axis from 1."""
    kept, text = _fewer(names_and_values, MOST_BARS, text, "bars")
    values = [{"n": name, "v": value, "l": human(value), "at": max(value, 1) if log else value} for name, (_, value) in zip(different([name for name, _ in kept]), kept)]
    low, high = min((value["v"] for value in values), default=1), max((value["v"] for value in values), default=1)
    if log:
        low, high = 1 if low >= 1 else low * 0.9, max(1.2, high)
        axis = _tick_axis(nice_logs(low, high))
        scale: Spec = {"type": "log", "nice": False, "domain": [low, high * (high / low) ** 0.2]}
    else:
        axis = _tick_axis(None)
        scale = {"domain": [min(0, low), max(high, rule or 0, 0) * 1.18 or 1], "nice": False}
    encoding: Spec = {"x": {"field": "v", "type": "quantitative", "title": x, "scale": scale, "axis": axis},
                      "tooltip": [{"field": "n", "title": what}, {"field": "v", "title": x, "format": ".5~g"}]}
    rows = Rows([value["n"] for value in values])
    layer = rows.layers({"type": "bar", "cornerRadiusEnd": 2}, {**encoding, "x2": {"datum": 1}} if log else encoding)
    layer += rows.layers({"type": "text", "align": "left", "dx": 4}, {**encoding, "x": {**encoding["x"], "field": "at"}, "text": {"field": "l"}}, named=False)
    if rule is not None or log:
        layer.insert(0, rule_at("x", 1 if rule is None else rule))
    return Chart(title, text, {"height": rows.height, "data": {"values": values}, "layer": layer}, [what, x], [[value["n"], value["v"]] for value in values])


class Rows:
    """Rows of bars by name: short names are beside them, and where one is long all are above, so that there is room on a phone."""

    def __init__(self, names: Sequence[str]):
        self.is_beside = max(map(len, names), default=0) <= LONGEST_BESIDE
        self.height = max(1, len(names)) * (BAR if self.is_beside else NAMED_BAR)
        axis: Spec | None = {"ticks": False, "domain": False, "labelLimit": 160} if self.is_beside else None
        self.y: Spec = {"field": "n", "type": "nominal", "title": None, "sort": None, "axis": axis, "scale": {"domain": list(names)}}

    def layers(self, mark: Spec, encoding: Spec, named: bool = True) -> list[Spec]:
        if self.is_beside:
            return [{"mark": mark, "encoding": {"y": self.y, **encoding}}]
        size: Spec = {"height": 14} if mark["type"] == "bar" else {}
        layers: list[Spec] = [{"mark": {**mark, **size, "yOffset": 8}, "encoding": {"y": self.y, **encoding}}]
        if named:
            name = {"type": "text", "align": "left", "baseline": "bottom", "x": 4, "yOffset": -2, "limit": {"expr": "room - 16"}}
            layers.append({"mark": name, "encoding": {"y": self.y, "text": {"field": "n", "type": "nominal"}}, "transform": [{"aggregate": [], "groupby": ["n"]}]})
        return layers


def human(value: float) -> str:
    """Three digits, thousands and more with an SI prefix."""
    size = abs(value)
    if size != 0 and not 1e-3 <= size < 1e15:
        return f"{value:.3g}"
    for prefix, unit in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if size >= (unit if unit > 1e3 else 1e4):
            return f"{value / unit:.3g}{prefix}"
    return f"{value:,.0f}" if size >= 1000 else f"{value:.3g}"


def nice_logs(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: 1, 2, 5 and so on, or powers of ten where these are many."""
    if high < 3 * low:
        step = 0.1 if high < 2 * low else 0.5
        return [round(place * step, 1) for place in range(math.ceil(low / step), math.floor(high / step) + 1)] if 0.5 < low < 10 else [low, high]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 4 else (1,)
    return [step * 10.0**power for power in range(first, last + 1) for step in steps if low * 0.999 <= step * 10.0**power <= high * 1.001]


def columns(title: str, text: str, x: str, y: str, pairs: Sequence[tuple[float, float]]) -> Chart:
    """Upright bars over whole numbers; a line where they are many."""
    if len(pairs) > 60:
        return lines(title, text, x, y, [(y, list(pairs))])
    values = [{"x": a, "y": b, "l": human(b)} for a, b in pairs]
    encoding = {
        "x": {"field": "x", "type": "ordinal", "title": x, "axis": {"labelAngle": 0, "labelOverlap": True}},
        "y": {"field": "y", "type": "quantitative", "title": y, "axis": _tick_axis(None)},
        "tooltip": [{"field": "x", "title": x}, {"field": "y", "title": y, "format": ","}],
    }
    layer: list[Spec] = [{"mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": encoding}]
    if len(pairs) <= 12:
        layer.append({"mark": {"type": "text", "dy": -6}, "encoding": {**encoding, "text": {"field": "l"}}})
    return Chart(title, text, {"height": 240, "data": {"values": values}, "layer": layer}, [x, y], [[a, b] for a, b in pairs])


def cloud(title: str, text: str, x: str, y: str, marks: Sequence[tuple[str, float, float, str]], *, log_x: bool = True, log_y: bool = True,
          extra: Sequence[Spec] = (), spread: Sequence[float] | None = None) -> Chart:
    """Points of (series, x, y, name). With `spread` each has a stroke from its x to this one. Points at no positive number have no place on logarithmic axes."""
    rows = [(mark, end) for mark, end in zip(marks, spread or [0.0] * len(marks)) if (mark[1] > 0 or not log_x) and (mark[2] > 0 or not log_y)]
    names = list(dict.fromkeys(short(mark[0]) for mark, _ in rows))[:MOST_LINES]
    rows = [row for row in rows if short(row[0][0]) in names]
    rows, text = _fewer(rows, MOST_MARKS, text, "points")
    values = [{"s": short(mark[0]), "x": mark[1], "y": mark[2], "n": short(mark[3]), "e": end} for mark, end in rows]
    encoding: Spec = {
        "x": {"field": "x", "type": "quantitative", "title": x, "scale": _scale(log_x, True), "axis": _tick_axis(_decades([mark[1] for mark, _ in rows] + [end for _, end in rows]) if log_x else None)},
        "y": {"field": "y", "type": "quantitative", "title": y, "scale": _scale(log_y, True), "axis": _tick_axis(_decades([mark[2] for mark, _ in rows]) if log_y else None)},
        "tooltip": [{"field": "n", "title": "run"}, {"field": "s", "title": "series"}, {"field": "x", "title": x, "format": ".4~g"}, {"field": "y", "title": y, "format": ".4~g"}],
    }
    if len(names) > 1 or names != [y]:
        encoding["color"] = colour(names)
        encoding["shape"] = {"field": "s", "type": "nominal", "scale": {"domain": names, "range": SHAPES[:len(names)]}, "title": None}
    layer = [*extra]
    if spread:
        stroke = {name: part for name, part in encoding.items() if name in ("x", "y", "color")}
        layer.append({"mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.5}, "encoding": {**stroke, "x2": {"field": "e"}}})
    layer.append({"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}, "encoding": encoding})
    return Chart(title, text, {"height": 300, "data": {"values": values}, "layer": layer}, ["series", "run", x, y], [[v["s"], v["n"], v["x"], v["y"]] for v in values])


def stacked(title: str, text: str, x: str, parts: Sequence[tuple[str, str, float]]) -> Chart:
    """Bars of (bar, part, length), the parts side by side."""
    order = list(dict.fromkeys(short(name) for name, _, _ in parts))
    names, text = _fewer(order, MOST_BARS, text, "bars")
    pieces = list(dict.fromkeys(short(part) for _, part, _ in parts))[:MOST_LINES]
    values = [{"n": short(name), "s": short(part), "v": value, "o": pieces.index(short(part))} for name, part, value in parts if short(name) in names and short(part) in pieces]
    encoding = {
        "x": {"field": "v", "type": "quantitative", "title": x, "stack": True, "axis": _tick_axis(None)},
        "color": colour(pieces),
        "order": {"field": "o"},
        "tooltip": [{"field": "n", "title": "run"}, {"field": "s", "title": "part"}, {"field": "v", "title": x, "format": ".4~g"}],
    }
    rows = Rows(names)
    spec = {"height": rows.height, "data": {"values": values}, "layer": rows.layers({"type": "bar"}, encoding)}
    return Chart(title, text, spec, ["run", "part", x], [[value["n"], value["s"], value["v"]] for value in values])


def ticks_of_runs(title: str, text: str, x: str, times: Sequence[tuple[str, Sequence[float]]]) -> Chart:
    """A stroke for every time of each name; a logarithmic axis where times differ widely."""
    kept, text = _fewer(times, MOST_BARS, text, "rows")
    names = different([name for name, _ in kept])
    values = [{"n": name, "t": time} for name, (_, some) in zip(names, kept) for time in some[:MOST_MARKS // 4]]
    low, high = min(value["t"] for value in values), max(value["t"] for value in values)
    is_wide = 0 < low and high > 30 * low
    encoding = {"x": {"field": "t", "type": "quantitative", "title": x, "scale": _scale(is_wide, True), "axis": _tick_axis(nice_logs(low, high) if is_wide else None)},
                "tooltip": [{"field": "n", "title": "work"}, {"field": "t", "title": x, "format": ".5~g"}]}
    rows = Rows(names)
    spec = {"height": rows.height, "data": {"values": values}, "layer": rows.layers({"type": "tick", "thickness": 2, "size": 14, "opacity": 0.8}, encoding)}
    return Chart(title, text + (" The axis is logarithmic." if is_wide else ""), spec, ["work", x], [[value["n"], value["t"]] for value in values])


def squares(title: str, text: str, x: str, y: str, what: str, matrix: Sequence[Sequence[float | None]]) -> Chart:
    """A square a number of a matrix, darker where it is more."""
    values = [{"x": str(j), "y": str(i), "v": value} for i, row in enumerate(matrix) for j, value in enumerate(row)]
    place = {"x": {"field": "x", "type": "ordinal", "title": x, "sort": None, "axis": {"labelAngle": 0}}, "y": {"field": "y", "type": "ordinal", "title": y, "sort": None}}
    spec = {"height": 34 * len(matrix), "data": {"values": values}, "layer": [
        {"mark": "rect", "encoding": {**place, "color": {"field": "v", "type": "quantitative", "title": what, "legend": None, "scale": {"scheme": "blues", "zero": True}}}},
        {"mark": {"type": "text", "stroke": "white", "strokeWidth": 3, "strokeOpacity": 0.8}, "encoding": {**place, "text": {"field": "v", "type": "quantitative", "format": ".3~s"}, "color": {"value": "white"}}},
        {"mark": {"type": "text"}, "encoding": {**place, "text": {"field": "v", "type": "quantitative", "format": ".3~s"}, "color": {"value": "black"}}}]}
    return Chart(title, text, spec, [y, x, what], [[value["y"], value["x"], value["v"]] for value in values])


def rule_at(axis: str, value: float, label: str = "") -> Spec:
    """A dashed line across, at a number of an axis."""
    rule: Spec = {"data": {"values": [{"at": value}]}, "mark": {"type": "rule", "strokeDash": [4, 4], "tooltip": None}, "encoding": {axis: {"field": "at", "type": "quantitative"}}}
    if not label:
        return rule
    # Beside an upright line at its top, above a level one at its right end.
    place: Spec = {"align": "left", "dx": 6, "y": 6} if axis == "x" else {"align": "right", "dx": -4, "dy": -7, "x": "width"}
    text = {"mark": {"type": "text", "text": label, **place}, "encoding": {axis: {"field": "at", "type": "quantitative"}}}
    return {"data": rule.pop("data"), "layer": [rule, text]}


def line_through(pairs: Sequence[tuple[float, float]], label: str, at: int = 0) -> Spec:
    """A dashed line beside what was measured, named at its `at`-th point."""
    place = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}}
    values = [{"x": a, "y": b} for a, b in pairs]
    return {"layer": [
        {"data": {"values": values}, "mark": {"type": "line", "strokeDash": [4, 4], "style": "ceiling"}, "encoding": place},
        {"data": {"values": [values[at]]}, "mark": {"type": "text", "style": "ceiling_label", "align": "left" if at == 0 else "right", "dy": -8, "dx": 4 if at == 0 else 0, "text": short(label)}, "encoding": place}]}


def colour(names: list[str]) -> Spec:
    """With a legend above the chart."""
    return {"field": "s", "type": "nominal", "scale": {"domain": names}, "title": None,
            "legend": {"orient": "top", "columns": {"expr": "max(1, floor(room / 260))"}, "labelLimit": {"expr": "room / max(1, floor(room / 260)) - (room < 520 ? 110 : 55)"}}}


def different(names: Iterable[Any]) -> list[str]:
    """Shortened, and made different by a number where they are the same."""
    seen: dict[str, int] = {}
    told = []
    for name in map(short, names):
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return told


def thinned(pairs: Sequence[tuple[float, float | None]]) -> tuple[list[tuple[float, float | None]], bool]:
    """(points, whether they are fewer): of as many segments as there is room for the least and the most of each, in order."""
    if len(pairs) <= MOST_POINTS:
        return list(pairs), False
    kept: list[tuple[float, float | None]] = []
    segments = MOST_POINTS // 2
    for i in range(segments):
        segment = range(i * len(pairs) // segments, (i + 1) * len(pairs) // segments)
        known = [j for j in segment if pairs[j][1] is not None] or list(segment)[:1]
        ends = {min(known, key=lambda j: pairs[j][1] or 0), max(known, key=lambda j: pairs[j][1] or 0)}
        kept += [pairs[j] for j in sorted(ends)]
    return kept, True


def scaled_time(seconds: Iterable[float]) -> tuple[str, float]:
    """(unit, how many of it are a second), fit for the largest."""
    most = max(seconds, default=1.0)
    for unit, per_second in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if most * per_second >= 1:
            return unit, per_second
    return "ns", 1e9


def _fewer(things: Sequence[Any], most: int, text: str, what: str) -> tuple[list[Any], str]:
    kept = list(things[:most])
    return kept, text if len(things) <= most else f"{text} The first {most} of {len(things):,} {what} are shown."


def _scale(log: bool, zero: bool) -> Spec:
    return {"type": "log"} if log else {"zero": zero}


def _tick_axis(ticks: Sequence[float] | None) -> Spec:
    axis: Spec = {"labelExpr": TICK, "labelOverlap": "greedy", "labelSeparation": 4}
    if ticks is not None:
        axis["values"] = list(ticks)
    return axis


def _decades(values: Sequence[float]) -> list[float]:
    """Ticks around what a logarithmic axis shows, and beyond, where other layers go."""
    some = [value for value in values if value > 0] or [1.0]
    low, high = min(some), max(some)
    return nice_logs(low / 10, high * 10) if high / low < 100 else [10.0**power for power in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)]
