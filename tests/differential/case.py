# SPDX-License-Identifier: Apache-2.0
"""A case: one command on one drawing with some options; running it, and comparing what comes out."""

import dataclasses
import json
import math
import os
import re
import shlex
import subprocess
from pathlib import Path

import writing
from model import Refused, meaning

TEAMS = (1, 2, 3, 4, 7, 15, 16, 17, 32)
LIMIT_SECONDS = 300


class Failure(Exception):
    """What the program did wrong; the text is what is told."""


class Program:
    """The program under test, on one kind of device. Its own files go to a folder of the test's."""

    def __init__(self, path, device, cache):
        self.path = path
        self.device = device
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}

    def command(self, *arguments):
        command = [self.path, *map(str, arguments), "--device", self.device]
        if self.device == "cuda" and "--devices" in command:
            command.append("--share-devices")
        return command

    def run(self, *arguments, folder=None):
        command = self.command(*arguments)
        try:
            process = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=self.environment,
                                     timeout=LIMIT_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"{shlex.join(command)}\n  did not end within {LIMIT_SECONDS} s") from None
        return process

    def succeed(self, *arguments, folder=None):
        process = self.run(*arguments, folder=folder)
        if process.returncode != 0:
            raise Failure(f"{shlex.join(self.command(*arguments))}\n  ended with {process.returncode}: {process.stderr}")
        return process


@dataclasses.dataclass
class Case:
    number: str  # Draws it again.
    command: str
    drawing: object = None
    options: dict = dataclasses.field(default_factory=dict)  # Of the command; a flag's value is None.
    extra: dict = dataclasses.field(default_factory=dict)  # What else was drawn.

    def devices(self):
        return self.options.get("--devices", 1)


def flat(options):
    return [str(x) for pair in options.items() for x in pair if x is not None]


class Context:
    """What a check sees: the case, a folder of its own, and the program."""

    def __init__(self, case, folder, program):
        self.case = case
        self.folder = Path(folder)
        self.program = program
        self.last = ""
        self._graph = None

    @property
    def options(self):
        return self.case.options

    def has(self, option):
        return option in self.case.options

    def graph(self):
        """The GRAPH argument and its options; a file is written at the first call."""
        drawing = self.case.drawing
        if self._graph is None:
            self._graph = drawing.generator or writing.write(drawing, self.folder, self.program).name
            if drawing.generator and not drawing.edges:
                self.unfold(drawing)
        return [self._graph, *flat(drawing.options)]

    def unfold(self, drawing):
        """What a generator draws, so that it can be treated as a file's edges are."""
        self.program.succeed("convert", drawing.generator, self.folder / "drawn.txt", "--keep-duplicates", *self.seed())
        drawing.vertices, drawing.edges = writing.read(self.folder / "drawn.txt")
        if drawing.generator.startswith(("grid", "community")):
            drawing.undirected = "triangle"
            drawing.edges = [(u, v, w) for u, v, w in drawing.edges if u <= v]

    def seed(self):
        return ["--seed", str(self.options["--seed"])] if self.has("--seed") else []

    def model(self, wants_weights):
        self.graph()
        return meaning(self.case.drawing, wants_weights, int(self.options.get("--seed", 1)))

    def run(self, *arguments):
        """Runs the case's command with its options and `arguments` behind them."""
        graph = self.graph() if self.case.drawing else []
        arguments = [self.case.command, *graph, *arguments, *flat(self.options), "--json", "-"]
        self.last = shlex.join(self.program.command(*arguments))
        return self.program.run(*arguments, folder=self.folder)

    def result(self, *arguments):
        process = self.run(*arguments)
        if process.returncode != 0:
            self.fail(f"ended with {process.returncode}: {process.stderr.strip()[-2000:]}")
        try:
            return json.loads(process.stdout)
        except ValueError:
            self.fail(f"standard output is no JSON object: {process.stdout[:300]!r}")

    def refused(self, why, *arguments):
        """Expects status 2 and one line."""
        process = self.run(*arguments)
        if process.returncode != 2:
            self.fail(f"ended with {process.returncode}, should be refused with 2: {why}; {process.stderr.strip()[-500:]}")
        lines = [line for line in process.stderr.splitlines() if not line.startswith("warren: warning: ")]
        if len(lines) != 1 or not re.match(r"warren: error: \S", lines[0]):
            self.fail(f"a refusal should be one line 'warren: error: ...', not {process.stderr!r}")

    def fail(self, text):
        raise Failure(f"{self.last}\n  {text}")

    def expect(self, name, got, wanted, tolerance=0.0):
        """Exactly equal, or numbers within `tolerance`, absolute."""
        if isinstance(wanted, float) or tolerance:
            same = isinstance(got, (int, float)) and (got == wanted or math.fabs(got - wanted) <= tolerance)
        else:
            same = got == wanted and isinstance(got, bool) == isinstance(wanted, bool)
        if not same:
            self.fail(f"{name}: got {brief(got)}, expected {brief(wanted)}" + (f" within {tolerance:g}" if tolerance else ""))

    def require(self, holds, text):
        if not holds:
            self.fail(text)

    def lines(self, name):
        """The columns of an output file."""
        return [line.split() for line in (self.folder / name).read_text().splitlines()]


def brief(value):
    text = repr(value)
    return text if len(text) < 600 else text[:600] + "..."


def guarded(check):
    """A check of a graph that may have to be refused."""
    def run(context):
        try:
            check(context)
        except Refused as why:
            context.graph()
            context.refused(str(why))
    return run
