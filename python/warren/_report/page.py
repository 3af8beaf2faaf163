# SPDX-License-Identifier: Apache-2.0
"""One HTML file: style, scripts, charts and tables in it, and a policy by which a browser fetches nothing for it.

Every text of a result is escaped here. Charts are data to the page's script, which is the only one that the policy lets run.
"""
from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .charts import Chart
from .plotting import THEMES, javascript
from .tables import Table, is_number

ROWS_BEHIND = 100  # Numbers listed under a chart.
LONG_TABLE = 15  # Rows of a table that is not folded,
LONG_LONE_TABLE = 60  # and of one in a section without charts.


@dataclass(frozen=True)
class Section:
    title: str
    subtitle: str
    charts: list[Chart]
    tables: list[Table]


def page(title: str, sections: Sequence[Section]) -> str:
    folder = Path(__file__).parent
    style, own, licences = ((folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js", "licences.txt"))
    charts = [chart for section in sections for chart in section.charts]
    scripts = [f"/*\n{licences}*/\n{javascript()}", own] if charts else [own]
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src " + " ".join(map(_hash, scripts))
    body = "".join(_section(place, section, sum(len(one.charts) for one in sections[:place])) for place, section in enumerate(sections))
    data = _data({"themes": THEMES, "charts": [{"spec": chart.spec, "file": f"chart-{place}"} for place, chart in enumerate(charts)]})
    contents = "".join(f'<li><a href="#section-{place}">{_text(section.title)}</a></li>' for place, section in enumerate(sections))
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n<title>{_text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n'
            f'<header><h1>{_text(title)}</h1><button id="theme" type="button" hidden>Dark</button></header>\n'
            f'{f"<nav aria-label=Contents><ul>{contents}</ul></nav>" if len(sections) > 1 else ""}\n<noscript><p class="note">Charts need JavaScript, which is in this file; the numbers are in the tables.</p></noscript>\n'
            f'<main>\n{body}</main>\n<footer>Made by warren. Charts by Vega-Lite; the menu of a chart saves it as PNG or SVG.</footer>\n'
            f'<script type="application/json" id="data">{data}</script>\n{"".join(f"<script>{script}</script>" for script in scripts)}\n</body>\n</html>\n')


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode('utf-8')).digest()).decode()}'"


def _data(value: Any) -> str:
    """JSON that ends no script element."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _text(text: Any) -> str:
    """Safe between tags and in quoted attributes."""
    return html.escape("".join(character if character.isprintable() else " " for character in str(text)), quote=True).encode("utf-8", "replace").decode("utf-8")


def _section(place: int, section: Section, first: int) -> str:
    charts = "".join(_chart(number, chart) for number, chart in enumerate(section.charts, first))
    longest = LONG_TABLE if section.charts else LONG_LONE_TABLE
    tables = "".join(_table(table, is_folded=len(table.rows) > longest) for table in section.tables)
    subtitle = f'<p class="subtitle">{_text(section.subtitle)}</p>' if section.subtitle else ""
    return f'<section id="section-{place}" aria-labelledby="heading-{place}">\n<h2 id="heading-{place}">{_text(section.title)}</h2>\n{subtitle}\n<div class="charts">\n{charts}</div>\n{tables}</section>\n'


def _chart(number: int, chart: Chart) -> str:
    """The drawing is named by its title and described by its text, and its numbers are below it."""
    behind = Table("Numbers", chart.columns, chart.rows[:ROWS_BEHIND], f"The first {ROWS_BEHIND} of {len(chart.rows):,}." if len(chart.rows) > ROWS_BEHIND else "")
    return (f'<figure>\n<h3 id="title-{number}">{_text(chart.title)}</h3>\n<div class="chart" id="chart-{number}" role="img" aria-labelledby="title-{number}" aria-describedby="text-{number}"></div>\n'
            f'<figcaption id="text-{number}">{_text(chart.text)}</figcaption>\n{_table(behind, is_folded=True)}</figure>\n')


def _table(table: Table, is_folded: bool) -> str:
    note = f'<p class="note">{_text(table.left_out)}</p>' if table.left_out else ""
    numeric = [all(is_number(row[place]) for row in table.rows if row[place] is not None) and bool(table.rows) for place in range(len(table.columns))]
    head = "".join(f'<th scope="col"{" class=number" if is_numeric else ""}><button type="button">{_text(name)}</button></th>' for name, is_numeric in zip(table.columns, numeric))
    inner = f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(table.title)}"><table><thead><tr>{head}</tr></thead><tbody>{"".join(_rows(table.rows, numeric))}</tbody></table></div>{note}'
    return f"<details{'' if is_folded else ' open'}><summary>{_text(table.title)} <span class=count>{len(table.rows):,}</span></summary>{inner}</details>\n"


def _rows(rows: Sequence[Sequence[Any]], numeric: Sequence[bool]) -> Iterator[str]:
    for row in rows:
        yield "<tr>" + "".join(map(_cell, row, numeric)) + "</tr>"


def _cell(cell: Any, is_numeric: bool) -> str:
    """Numbers carry their whole value, by which the column is sorted; they stand on the right where the column has no texts."""
    if cell is None:
        return "<td></td>"
    if isinstance(cell, bool):
        return f"<td>{'true' if cell else 'false'}</td>"
    if isinstance(cell, (int, float)):
        return f'<td{" class=number" if is_numeric else ""} data-value="{cell!r}">{_number(cell)}</td>'
    return f"<td{' class=long' if len(cell) > 40 else ''}>{_text(cell)}</td>"


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if value.is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.5g}" if 1e-4 <= abs(value) < 1e5 else f"{value:.4e}" if abs(value) < 1e-4 else f"{value:,.1f}" if abs(value) < 1e15 else f"{value:.5e}"
