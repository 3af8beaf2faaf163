# SPDX-License-Identifier: Apache-2.0
"""From documents to files: what is drawn in which order, and each file whole or not at all."""
from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import of_many, of_one, tables
from .charts import Chart, short
from .documents import Document
from .page import Section, page
from .plotting import image, need_library
from .runs import Run, runs_of

MOST_CHARTS = 80  # Of a page.
MOST_TABLES = 120
MOST_CELLS = 60_000  # Of all tables.


def write_report(documents: list[Document], out: str | os.PathLike[str], *, title: str | None = None, png: str | os.PathLike[str] | None = None,
                 svg: str | os.PathLike[str] | None = None) -> Path:
    """Raises before anything is written where an argument is wrong or the plotting library is missing."""
    path = Path(_path_text("out", out, "the path of a file"))
    if not (title is None or isinstance(title, str)):
        raise ValueError(f"title: got {title!r}, expected a text or None")
    folders = [(name, Path(_path_text(name, folder, "the path of a folder, or None"))) for name, folder in (("png", png), ("svg", svg)) if folder is not None]
    _check_out(path, documents)
    for name, folder in folders:
        _check_folder(name, folder)
    need_library()
    sections = sections_of(documents)
    text = page(title or _title(documents), sections)
    for ending, folder in folders:
        _write_images(folder, ending, [chart for section in sections for chart in section.charts])
    write_whole(path, text.encode("utf-8"))
    return path


def sections_of(documents: Sequence[Document]) -> list[Section]:
    """The overview, what several runs say together, and each document."""
    runs: list[Run] = []
    for document in documents:
        runs += runs_of(document)
    together = of_many.charts_of_runs(runs)
    overview = [tables.of_runs(runs)] if len(runs) > 1 else []
    if any(run.rivals for run in runs):
        overview.append(tables.of_rivals(runs))
    sections = [Section("Runs together" if len(runs) > 1 else "The run", "", together, overview)] if together or overview else []
    for document in documents:
        sections.append(Section(short(document.name), _subtitle(document.data), of_one.charts_of(document.data), tables.of_document(document)))
    return _bounded(sections)


def _bounded(sections: list[Section]) -> list[Section]:
    """With no more charts and tables than a page has room for; sections say what they leave out."""
    room, tables_room, cells = MOST_CHARTS, MOST_TABLES, MOST_CELLS
    kept = []
    for section in sections:
        charts, rows = section.charts[:room], []
        for table in section.tables[:tables_room]:
            rows.append(tables.within(table, cells))
            cells -= len(rows[-1].rows) * len(table.columns)
        room, tables_room = room - len(charts), tables_room - len(rows)
        left = len(section.charts) - len(charts), len(section.tables) - len(rows)
        note = f"{left[0]} charts and {left[1]} tables are left out: the page would be too long." if any(left) else ""
        kept.append(Section(section.title, " ".join(filter(None, (section.subtitle, note))), charts, rows))
    return kept


def _title(documents: Sequence[Document]) -> str:
    names = [short(document.name, 60) for document in documents]
    return "warren: " + (", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more")


def _subtitle(data: Any) -> str:
    """A sentence of what ran."""
    if not isinstance(data, dict):
        return f"{len(data):,} rows."
    words = [short(data[name], 120) for name in ("command", "benchmark", "suite", "model", "graph") if isinstance(data.get(name), str)]
    sizes = [f"{data[name]:,} {name}" for name in ("vertices", "edges") if isinstance(data.get(name), int)]
    stale = [f"{short(data['stale'], 120)}."] if isinstance(data.get("stale"), str) else []
    return " ".join([", ".join(words + sizes) + "." if words or sizes else "", *stale]).strip()


def _check_out(path: Path, documents: Sequence[Document]) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path}: the output is a folder; name a file in it, as {path / 'report.html'}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {path.parent} is not there; make it first")
    for document in documents:
        if document.path is not None and path.exists() and document.path.exists() and path.samefile(document.path):
            raise ValueError(f"{path}: the output is also an input, which would be lost")


def _path_text(name: str, path: Any, expected: str) -> str:
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str) or text == "" or "\0" in text:
        raise ValueError(f"{name}: got {path!r}, expected {expected}")
    return text


def _check_folder(name: str, folder: Path) -> None:
    """A folder of images, which is made where it is missing."""
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"{folder}: the folder {folder.parent} is not there; make it first")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{name}: {folder} is a file, expected a folder for images")


def _write_images(folder: Path, ending: str, charts: Sequence[Chart]) -> None:
    folder.mkdir(exist_ok=True)
    for place, chart in enumerate(charts, 1):
        name = re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-")[:60] or "chart"
        write_whole(folder / f"{place:02}-{name}.{ending}", image(chart.spec, ending))


def write_whole(path: Path, content: bytes) -> None:
    """Under another name beside it, brought to the disk, and renamed. A file that is replaced leaves its permissions; a pipe or a device is written as it is."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:60]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
