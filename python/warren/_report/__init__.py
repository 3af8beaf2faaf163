# SPDX-License-Identifier: Apache-2.0
"""Pictures of results: one page of charts and tables from warren's JSON.

The steps, a file each: documents.py reads and recognises, runs.py brings every form of a result to one, of_one.py and of_many.py draw charts
(charts.py has their kinds), tables.py makes tables, page.py puts all of it into one file, images.py into files for papers.
Nothing here needs the engine or NumPy: scripts/quickstart runs it without the extension.
"""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def report(results: Any, out: str | os.PathLike[str] = "report.html", *, title: str | None = None, png: str | os.PathLike[str] | None = None,
           svg: str | os.PathLike[str] | None = None) -> Path:
    """One self-contained page of charts and tables of `results`, written to `out`. Returns its path.

    results: what a call gave back (BfsResult, ...), a Graph (its degrees), what check_machine() gave back, a dict or list of the command line's JSON, the path of a file of such JSON, also of a
    timeline (`--trace`) or a file of bench/results; or a list of these, which are then compared. The page fetches nothing when it is opened.
    png, svg: folders into which every chart is written as well, for papers; they are made where they are missing.
    The page is there whole or not at all. Long lists are shortened, and the page says where. The same results give the same page.

    Needs vl-convert-python (`pip install vl-convert-python`), and raises ImportError without it; ValueError for what is no result of warren's, and for another argument
    that is no text or path; FileNotFoundError for an input that is missing, and for an output in a folder that is; IsADirectoryError for a folder where a file is meant.
    """
    from .documents import read_all
    from .write import write_report

    return write_report(read_all(results), out, title=title, png=png, svg=svg)
