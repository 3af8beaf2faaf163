# SPDX-License-Identifier: Apache-2.0
"""Tables of all fields, known or not. What is long is shortened, and says so."""
from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .charts import short
from .documents import Document
from .runs import Run, is_rows, number, numbers

MOST_ROWS = 400
MOST_COLUMNS = 80
MOST_FIELDS = 250
LONGEST_TEXT = 240


@dataclass(frozen=True)
class Table:
    """Cells are texts, numbers, true, false or None. `left_out` says what did not fit."""

    title: str
    columns: list[str]
    rows: list[list[Any]]
    left_out: str = ""


def of_runs(runs: Sequence[Run]) -> Table:
    """The overview: a row a run. Times in milliseconds, so that they sort."""
    rows = [[run.document, run.work, run.hardware, run.devices, None if run.seconds is None else run.seconds * 1e3, len(run.times) or None, run.rate, run.unit if run.rate else None,
             _text_of(run.fields.get("verified")), _text_of(run.fields.get("date")), _commit(run.fields)] for run in runs]
    return _cut("All runs", ["from", "work", "hardware", "devices", "median (ms)", "runs", "rate", "unit", "verified", "date", "commit"], rows)


def _commit(fields: dict[str, Any]) -> Any:
    warren = fields.get("warren")
    return _text_of(fields.get("commit") or (warren.get("commit") if isinstance(warren, dict) else None))


def _text_of(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float)) else short(value, LONGEST_TEXT)


def of_rivals(runs: Sequence[Run]) -> Table:
    rows = [[run.work, run.hardware, rival.name, _ms(run.seconds) if rival.seconds else run.rate, _ms(rival.seconds) if rival.seconds else rival.rate, "ms" if rival.seconds else run.unit,
             rival.ratio, _text_of(run.fields.get("answers"))] for run in runs for rival in run.rivals]
    return _cut("Beside rivals", ["work", "hardware", "rival", "warren", "the rival", "unit", "times as fast", "answers"], rows)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def of_document(document: Document) -> list[Table]:
    """All fields of an object, and a table for each of its lists of rows."""
    if isinstance(document.data, list):
        return [_of_rows("Rows", document.data)]
    fields = list(_flattened(document.data))
    tables = [_cut("All fields", ["field", "value"], [[name, value] for name, value in fields], MOST_FIELDS)]
    return tables + [_of_rows(name, value) for name, value in document.data.items() if is_rows(value)][:12]


def _flattened(value: dict[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, element in value.items():
        called = short(before + name)
        if isinstance(element, dict) and element and depth < 3:
            yield from _flattened(element, called + ".", depth + 1)
        else:
            yield called, shown(element)


def shown(value: Any) -> Any:
    """A cell: numbers stay, lists are summed up."""
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 10**30 else short(f"an integer of {len(str(value))} digits" if abs(value) < 10**4000 else "a huge integer")
    if isinstance(value, str):
        return short(value, LONGEST_TEXT)
    if isinstance(value, list):
        return _list_shown(value)
    inner = ", ".join(f"{short(name, 40)}: {shown(element)}" for name, element in list(value.items())[:12]) if isinstance(value, dict) else str(value)
    return short("{" + inner + (", ...}" if isinstance(value, dict) and len(value) > 12 else "}"), LONGEST_TEXT)


def _list_shown(value: list[Any]) -> str:
    known = numbers(value)
    if known and len(known) == len(value) and len(value) > 8:
        return f"{len(value):,} numbers from {min(known):.6g} to {max(known):.6g}, median {statistics.median(known):.6g}"
    if is_rows(value):
        return f"{len(value):,} rows, in a table below"
    if len(value) > 8:
        return short(f"{len(value):,} elements: " + ", ".join(str(shown(element)) for element in value[:6]) + ", ...", LONGEST_TEXT)
    return short("[" + ", ".join(f"{element:.6g}" if isinstance(element, float) else str(shown(element)) for element in value) + "]", LONGEST_TEXT)


def _of_rows(title: str, rows: list[dict[str, Any]]) -> Table:
    """Columns are the fields of all rows, those of a nested object by `outer.inner`."""
    flat = [dict(_flattened(row)) for row in rows[:MOST_ROWS]]
    names = list(dict.fromkeys(name for row in flat for name in row))
    table = _cut(short(title), names[:MOST_COLUMNS], [[row.get(name) for name in names[:MOST_COLUMNS]] for row in flat])
    notes = [f"The first {MOST_ROWS} of {len(rows):,} rows."] if len(rows) > MOST_ROWS else []
    if len(names) > MOST_COLUMNS:
        notes.append(f"{len(names) - MOST_COLUMNS} more fields: {short(', '.join(names[MOST_COLUMNS:]), 600)}.")
    return Table(table.title, table.columns, table.rows, " ".join(notes))


def _cut(title: str, columns: list[str], rows: list[list[Any]], most: int = MOST_ROWS) -> Table:
    left_out = f"The first {most} of {len(rows):,} rows." if len(rows) > most else ""
    rows = [[short(cell, LONGEST_TEXT) if isinstance(cell, str) else cell for cell in row] for row in rows[:most]]
    used = [place for place in range(len(columns)) if any(row[place] is not None for row in rows)] or list(range(len(columns)))
    return Table(title, [columns[place] for place in used], [[row[place] for place in used] for row in rows], left_out)


def within(table: Table, cells: int) -> Table:
    """With no more cells than that."""
    most = cells // max(1, len(table.columns))
    if most >= len(table.rows):
        return table
    return Table(table.title, table.columns, table.rows[:most], f"{table.left_out} The page has room for {most:,} of these {len(table.rows):,} rows.".strip())


def is_number(cell: Any) -> bool:
    return number(cell) is not None
