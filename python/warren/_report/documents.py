# SPDX-License-Identifier: Apache-2.0
"""What is given to a report becomes documents: a name, and the JSON object or list of rows of one run of warren."""
from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_DOCUMENTS = 200

# An object with one of these is taken for warren's.
KNOWN_FIELDS = {"command", "results", "result", "rows", "runs", "warren", "benchmark", "suite", "work", "traceEvents", "machine", "degree_counts", "levels"}


@dataclass(frozen=True)
class Document:
    """`data` holds numbers that JSON has: what was no finite number is None. `path` is where it was read, if it was a file."""

    name: str
    data: Any
    path: Path | None = None


def read_all(results: Any) -> list[Document]:
    """Raises ValueError for what is no result, and where there is none; FileNotFoundError."""
    given = results if isinstance(results, (list, tuple)) and not _is_rows(results) and not _is_checks(results) else [results]
    if not given:
        raise ValueError("results: got an empty list, expected results, JSON objects or paths of files")
    if len(given) > MOST_DOCUMENTS:
        raise ValueError(f"results: got {len(given)}, expected at most {MOST_DOCUMENTS} for one page")
    return _with_different_names([_read(one, number, len(given)) for number, one in enumerate(given, 1)])


def _is_rows(given: list[Any] | tuple[Any, ...]) -> bool:
    """A list of rows as in bench/results, which is one document."""
    return bool(given) and all(isinstance(row, dict) and "work" in row for row in given)


def _is_checks(given: Any) -> bool:
    """What check_machine() gives."""
    return isinstance(given, (list, tuple)) and bool(given) and all(isinstance(check, dict) and {"name", "verdict", "message"} <= set(check) for check in given)


def _read(one: Any, number: int, count: int) -> Document:
    if isinstance(one, (str, os.PathLike)):
        text = os.fspath(one)
        if not isinstance(text, str) or text == "":
            raise ValueError(f"results: got {text!r}, expected a result, a Graph, a JSON object or a path")
        if text.lstrip().startswith(("{", "[")):
            return _recognised("results" if count == 1 else f"results {number}", _parsed("results", text))
        if "\0" in text:
            raise ValueError(f"results: got {text!r}, expected a result, a Graph, a JSON object or a path")
        return _of_file(Path(text))
    data = _of_object(one)
    if data is None:
        raise ValueError(f"results: got {type(one).__name__}, expected a result, a Graph, a JSON object or a path")
    name = str(data.get("command") or "results") if isinstance(data, dict) else "results"
    return _recognised(name, _plain(data))


def _of_file(path: Path) -> Document:
    if str(path) == "-":
        return _recognised("standard input", _parsed("standard input", sys.stdin.read()))
    if path.is_dir():
        raise IsADirectoryError(f"{path}: the input is a folder; name the files of JSON in it, several as a list")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: no JSON: byte {error.start} is no UTF-8") from None
    return _recognised(path.stem, _parsed(str(path), text), path)


def _parsed(name: str, text: str) -> Any:
    try:
        return _plain(json.loads(text))
    except json.JSONDecodeError as error:
        what = "it is empty" if not text.strip() else f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise ValueError(f"{name}: no JSON: {what}") from None
    except RecursionError:
        raise ValueError(f"{name}: no JSON of warren's: it is nested too deeply") from None
    except ValueError as error:  # An integer of too many digits.
        raise ValueError(f"{name}: no JSON of warren's: {error}") from None


def _of_object(one: Any) -> Any:
    """The JSON of a result or a graph, with the counts that charts are drawn of; that of a machine's checks, as `warren info --check` writes it."""
    if _is_checks(one):
        return {"command": "info", "checks": one, "verified": all(check["verdict"] != "failed" for check in one)}
    if isinstance(one, (dict, list, tuple)):
        return one
    if hasattr(one, "num_vertices") and hasattr(one, "degree"):
        from .arrays import of_graph

        return of_graph(one)
    if isinstance(getattr(one, "info", None), dict):
        from .arrays import of_result

        return of_result(one)
    return None


def _recognised(name: str, data: Any, path: Path | None = None) -> Document:
    where = str(path) if path else name
    if isinstance(data, list):
        if not data:
            raise ValueError(f"{where}: got an empty list, expected warren's JSON")
        wrong = next((row for row in data if not (isinstance(row, dict) and KNOWN_FIELDS & set(row))), None)
        if wrong is not None:
            raise ValueError(f"{where}: no JSON of warren's: got a list with {_described(wrong)}, expected objects with `command`, `work` or `results`")
    elif not (isinstance(data, dict) and KNOWN_FIELDS & set(data)):
        raise ValueError(f"{where}: no JSON of warren's: got {_described(data)}, expected an object with `command`, `work` or `results`")
    return Document(name, data, path)


def _described(value: Any) -> str:
    if isinstance(value, dict):
        names = ", ".join(repr(name if len(name) <= 30 else name[:30] + "...") for name in list(value)[:5])
        return f"an object with {names}{', ...' if len(value) > 5 else ''}" if names else "an empty object"
    return {"list": "a list", "str": "a text", "bool": "true or false", "NoneType": "null"}.get(type(value).__name__, "a number")


def _plain(value: Any) -> Any:
    """Of JSON's types alone. Raises ValueError for other types, and where it is nested too deeply."""
    try:
        return _plain_value(value)
    except RecursionError:
        raise ValueError("results: got JSON that is nested too deeply, or holds itself") from None


def _plain_value(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _plain_value(element) for name, element in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_value(element) for element in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers.
        return _plain_value(value.tolist())
    return str(value)  # Names of vertices may be anything.


def _with_different_names(documents: Iterable[Document]) -> list[Document]:
    """Files of one name in two folders, and two results of one command, get a number."""
    named: list[Document] = []
    seen: dict[str, int] = {}
    for document in documents:
        seen[document.name] = seen.get(document.name, 0) + 1
        times = seen[document.name]
        named.append(document if times == 1 else Document(f"{document.name} ({times})", document.data, document.path))
    return named
