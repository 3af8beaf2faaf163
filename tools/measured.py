# SPDX-License-Identifier: Apache-2.0
"""Reads bench/results and bench/studies: the rows of a file, and where each row comes from.

A file is a list of rows, or an object with facts that hold for all and lists of rows. What a row does not say itself it has from the JSON of
the program that it holds (`result`) and from its file. Six facts are told of every row:

    commit    of the program that was timed
    date      of the run
    machine   the GPUs, or the CPU
    driver    of the GPUs; "none" on CPUs
    command   what repeats the run
    check     an accuracy, an error or another value by which the answer is known to be right

Every row of bench/results tells all six. Rows of bench/studies are older than that rule (RULE_SINCE) and name the facts that nobody noted in
`unrecorded`. `stale` says why a row is not what the code does today. Tables mark rows of both kinds.
"""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
STUDIES = ROOT / "bench" / "studies"
FACTS = ("commit", "date", "machine", "driver", "command", "check")
RULE_SINCE = "2026-11-25T19:30"
# Lists of rows in files that are objects.
ROWS = ("results", "rows", "runs", "sampled", "accuracy", "epochs", "one_gpu")
# Values by which a result is known to be right, of the program's own JSON.
CHECKS = ("test_accuracy", "max_relative_error", "difference", "differences", "verified", "is_right", "right", "reached", "sum", "sum_depth", "sum_distance", "max_depth",
          "max_distance", "components", "largest", "iterations", "residual", "digest", "sampled_edges", "passed")
MARK = "†"
OLDER_THAN_THE_RULE = "‡"


def files(pattern):
    """Of both folders, by name."""
    return sorted([*RESULTS.glob(pattern), *STUDIES.glob(pattern)], key=lambda path: path.name)


def is_list_of_rows(name, value):
    return name in ROWS and isinstance(value, list) and all(isinstance(row, dict) for row in value)


def raw_rows(suite):
    """The rows as the file has them; a file without a list of rows is one."""
    if isinstance(suite, list):
        return suite
    return [row for name, value in suite.items() if is_list_of_rows(name, value) for row in value] or [suite]


def rows_of(suite):
    """Every row, with the file's facts beneath its own."""
    rows = raw_rows(suite)
    if isinstance(suite, list) or rows == [suite]:
        return rows
    shared = {name: value for name, value in suite.items() if not is_list_of_rows(name, value)}
    return [shared | row | ({} if is_command(row) else {"command": shared.get("command", "")}) for row in rows]


def is_command(row):
    """True of a command line; `warren` itself calls "bfs" a command, too."""
    command = row.get("command", "")
    return isinstance(command, str) and (" " in command or command.startswith("bench_"))


def dump(suite):
    """A file's text: a row a line."""
    def lines(rows):
        return "[\n" + ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows) + "\n ]"
    if isinstance(suite, list):
        return "[\n" + ",\n".join(" " + json.dumps(row, ensure_ascii=False) for row in suite) + "\n]\n"
    parts = [f" {json.dumps(name)}: " + (lines(value) if name in ROWS and isinstance(value, list) and value else json.dumps(value, ensure_ascii=False)) for name, value in suite.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def load(path):
    return rows_of(json.loads(pathlib.Path(path).read_text(encoding="utf-8")))


def machine_text(machine):
    """"2 x NVIDIA H200", or the CPU's model."""
    if not isinstance(machine, dict):
        return machine or ""
    gpus = machine.get("gpus", [])
    return f"{len(gpus)} x {gpus[0]}" if gpus else f"{machine.get('cpu', 'CPU')}, {machine.get('threads', '?')} threads"


def places(row):
    """The row, and what it holds of its program's JSON."""
    found = [row]
    result = row.get("result")
    if isinstance(result, dict):
        found.append(result)
        found += [part for part in result.get("results", [])[:1] if isinstance(part, dict)]
    return found


def check_of(result):
    """The values of a program's JSON by which its answer is known."""
    found = {}
    for place in places({"result": result})[1:]:
        found |= {name: place[name] for name in CHECKS if place.get(name) is not None and not isinstance(place[name], (list, dict))}
    return found


def facts(row):
    """The six facts, as far as they are there."""
    found = {}
    for place in reversed(places(row)):
        machine = place.get("machine") or place.get("hardware")
        program = place.get("warren") if isinstance(place.get("warren"), dict) else {}
        told = {"commit": place.get("commit") or program.get("commit"), "date": place.get("date"), "machine": machine_text(machine), "driver": place.get("driver"),
                "check": place.get("check")}
        if isinstance(machine, dict):
            told["driver"] = told["driver"] or machine.get("driver", "none")
        found |= {name: value for name, value in told.items() if value not in (None, "", {})}
    if is_command(row):
        found["command"] = row["command"]
    if "check" not in found:
        checks = {name: place[name] for place in places(row) for name in CHECKS if place.get(name) is not None}
        if checks:
            found["check"] = checks
    return found


def is_stale(row):
    return bool(row.get("stale"))


def mark(row):
    """A dagger, and how many later commits changed the code, where the row says that."""
    count = row["stale"].split()[0] if is_stale(row) else ""
    return f" {MARK}{count if count.isdigit() else ''}" if is_stale(row) else ""


def origin(row):
    """For tables: "25 Nov 2026, e1b7c18c"."""
    told = facts(row)
    date = told.get("date", "")[:10]
    commit, _, dirty = told.get("commit", "unknown").partition("-")
    older = OLDER_THAN_THE_RULE if row.get("unrecorded") else ""
    return f"{date}, {commit[:8]}{'-' if dirty else ''}{dirty}{mark(row)}{older}" if date else "unknown"
