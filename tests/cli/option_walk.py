# SPDX-License-Identifier: Apache-2.0
"""The walk over all options of commands: entries that many commands share, and the test that takes each at its word."""

import json
import re
from pathlib import Path

from option_entries import Changes, Elsewhere, Kept, Says, Shows, Warned, Writes
from support import DEVICE, ProgramTest

EDGES = [(4, 3, 1), (1, 2, 5), (1, 2, 3), (2, 2, 4), (3, 7, 2), (7, 1, 9), (2, 5, 6), (5, 7, 8)]


def named(entries):
    return {"--" + name.replace("_", "-"): entry for name, entry in entries.items()}


def common(answer, **changed):
    """Of a command whose ranks work together. `answer`: fields that are the same whatever runs."""
    entries = {
        "--device": Shows(["--device", DEVICE], "device", DEVICE),
        "--devices": Shows(["--devices", "2"], "devices", 2),
        "--threads": Shows(["--threads", "3"], "threads", 3),
        "--share-devices": Warned(["--share-devices"]) if DEVICE == "cpu" else Changes(["--share-devices"], "status", beside=["--devices", "32"]),
        "--side-by-side": Warned(["--side-by-side"]) if DEVICE == "cpu" else Changes(["--side-by-side"], "status", beside=["--devices", "9"]),
        "--no-peer": Warned(["--no-peer"]),
        "--slice-ms": Warned(["--slice-ms", "5"]) if DEVICE == "cpu" else Elsewhere(["--slice-ms"], "test_machine.py"),
        "--seed": Warned(["--seed", "5"]),
        "--deterministic": Kept(["--deterministic"], *answer),
        "--repeat": Changes(["--repeat", "3"], "runs"),
        "--json": Writes(["--json", "r.json"], "r.json"),
        "--trace": Writes(["--trace", "t.json"], "t.json"),
        "--quiet": Changes(["--quiet"], "text"),
        "--verbose": Changes(["--verbose"], "err"),
    }
    return {**entries, **named(changed)}


def on_host(answer, **changed):
    """Of a command that the host's threads do alone."""
    return {**common(answer), "--devices": Warned(["--devices", "2"]), **named(changed)}


def graph(weights, summed=None):
    return {
        "--symmetrize": Changes(["--symmetrize"], "edges"),
        "--drop-self-loops": Changes(["--drop-self-loops"], "edges"),
        "--keep-duplicates": Changes(["--keep-duplicates"], "edges"),
        "--one-based": Changes(["--one-based"], "vertices"),
        "--compact": Changes(["--compact"], "vertices"),
        "--ids": Changes(["--ids", "words"], "vertices"),
        "--headings": Changes(["--headings", "yes"], "edges"),
        "--format": Changes(["--format", "mtx"], "status"),
        "--id-map": Writes(["--id-map", "map.txt"], "map.txt", beside=["--compact"]),
        "--sum-duplicates": summed or Says(["--sum-duplicates"], "--sum-duplicates"),
        "--weights": weights,
    }


class Walk(ProgramTest):
    """Every option of the commands in `table` has an entry, which says what it does. A command has the arguments of its runs, and an
    entry for every option."""

    tests = Path(__file__).parent
    table = {}

    def setUp(self):
        super().setUp()
        self.runs = {}
        self.file("e.el", "".join(f"{u} {v}\n" for u, v, _ in EDGES))
        self.file("e.wel", "".join(f"{u} {v} {w}\n" for u, v, w in EDGES))
        self.file("times.txt", "".join(f"{u} {v} {w}\n" for u, v, w in EDGES))

    def seen(self, *line):
        """What there is to see of a run: the fields of its JSON object, its text, and what it wrote."""
        if line not in self.runs:
            written = self.folder / "seen.json"
            written.unlink(missing_ok=True)
            result = self.run_program(*line, "--json", written)
            fields = json.loads(written.read_text()) if written.exists() else {}
            results = fields.get("results", [])
            fields.update({
                "status": result.status, "text": result.out != "", "err": result.err,
                "runs": [len(row["seconds"]) for row in results if "seconds" in row] or len(fields.get("seconds", [])),
                "commands": [row.get("command") for row in results], "errors": [row.get("max_relative_error") for row in results],
                "moved": [row.get("rows_moved") for row in results],
                "losses": [epoch["loss"] for epoch in fields.get("epochs", [])], "scores": [epoch["validation_loss"] for epoch in fields.get("epochs", [])],
            })
            for path in self.folder.glob("out.*"):
                fields[path.name] = path.read_bytes()
                path.unlink()
            self.runs[line] = fields
        return self.runs[line]

    def options_of(self, command):
        """As --help lists them."""
        listed = re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", self.succeed(*command.split(), "--help").out)
        return set(listed) - {"--help"}

    def test_every_option_has_an_entry(self):
        for command, (_, entries) in self.table.items():
            with self.subTest(command):
                self.assertEqual(self.options_of(command), set(entries))

    def test_every_option_does_what_its_entry_says(self):
        for command, (base, entries) in self.table.items():
            for option, entry in entries.items():
                with self.subTest(command=command, option=option):
                    self.assertEqual(entry.arguments[0], option)
                    entry.check(self, command.split(), base)
