# SPDX-License-Identifier: Apache-2.0
"""Texts of the library in Python's words. It names options without the command line's dashes, and their values behind them: "edges file" is edges="file" here."""
from __future__ import annotations

import functools
import re

# As the library's texts name a strategy, with its parameters behind it.
PARAMETERS = r"(?::[a-z0-9_=,]+)?"
COMMAND = re.compile(r"'warren (?:convert (?P<graph>.+?) OUT\.wgr(?P<options>(?: --[a-z-]+)*)|(?P<other>[^']*))'")


def in_python_words(text: str) -> str:
    """The text with options as a call has them. Files' and graphs' names are not told apart from other words: a text names options by their own values alone."""
    pairs, values = _patterns()
    if "OUT.wgr" in text:
        text = text.replace("and name that file", 'and read that file, warren.read("OUT.wgr", edges="file")')
    return pairs.sub(lambda found: _as_arguments(found, values), COMMAND.sub(_as_call, text))


def _as_call(found: re.Match[str]) -> str:
    if found["graph"] is None:
        return f"'python -m warren {found['other']}'"
    options = "".join(f", {option.removeprefix('--').replace('-', '_')}=True" for option in found["options"].split())
    return f'warren.read("{found["graph"]}"{options}).save("OUT.wgr")'


def _as_arguments(found: re.Match[str], values: dict[str, re.Pattern[str]]) -> str:
    option, _, given = found.group().partition(" ")
    if option == "headings":
        return f"headings={given == 'yes'}"
    return f"{option}=" + values[option].sub(lambda value: f'"{value.group()}"', given)


@functools.cache
def _patterns() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    """That of all pairs of an option and a value, or several ("edges device or host"), and of each option that of its values."""
    values = {}
    pairs = []
    for option, names in choices().items():
        one = "|".join([re.escape(name) + (PARAMETERS if option == "strategy" else "") for name in sorted(names, key=len, reverse=True)])
        if option == "weights":
            one += r"|uniform:\w+:\w+"
        values[option] = re.compile(rf"(?<!\w)(?:{one})(?![\w-])")
        # Of numbers is said that they are of a type, which is no option.
        before = "(?<!of )" if option == "type" else ""
        pairs.append(rf"{before}{option} (?:{one})(?![\w/-]|\.\w)(?:(?:,| or| and|, or|, and) (?:{one})(?![\w/-]|\.\w))*")
    return re.compile(r"(?<![\w=\"'/.-])(?:" + "|".join(pairs) + ")"), values


def choices() -> dict[str, set[str]]:
    """The values of options that are words, of all calls."""
    from . import _algorithms, _build, _dataset, _multiply, _partition, _session, _table, _train

    found: dict[str, set[str]] = {"headings": {"yes", "no"}, "weights": {"file", "none"}, "class_weights": {"balanced"}}
    tables = ({"device": _session.DEVICES, "mode": _session.MODES, "edges": _session.EDGES}, {"form": _algorithms.FORMS, "ids": _build.IDS, "edges": _build.LISTS}, {"labels": _dataset.LABEL_FORMS},
              {"strategy": _multiply.STRATEGIES}, {"method": _partition.METHODS, "order": _partition.ORDERS}, {"placement": _table.PLACEMENTS, "mode": _table.MODES, "strategy": _table.STRATEGIES}, _train.NAMES)
    for table in tables:
        for option, names in table.items():
            found.setdefault(option, set()).update(name for name in names if name is not None)
    return found
