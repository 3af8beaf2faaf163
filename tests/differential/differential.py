# SPDX-License-Identifier: Apache-2.0
"""Draws small graphs, options and team sizes, runs every command on them, and compares what comes out with NetworkX and
SciPy.

    tests/differential/run --program build/cpu/warren --seconds 60
    tests/differential/run --program ... --case bfs:17         draws and runs one case again
    tests/differential/run --program ... --only spmm,sddmm     some commands

Case I of a command is the same on every machine, so that `--seed` and its number reproduce it. A case that fails is made
smaller as long as it fails in the same way; the command line that is left and its files are told."""

import argparse
import concurrent.futures
import copy
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import checks_graph
import checks_learn
import checks_sparse
import checks_traversal
from case import Case, Context, Failure, Program

# Command: how a case is drawn and checked, and how often it takes its turn.
COMMANDS = {
    "stats": (checks_graph.draw_stats, checks_graph.check_stats, 1),
    "convert": (checks_graph.draw_convert, checks_graph.check_convert, 2),
    "partition": (checks_graph.draw_partition, checks_graph.check_partition, 1),
    "bfs": (checks_traversal.draw_bfs, checks_traversal.check_bfs, 3),
    "sssp": (checks_traversal.draw_sssp, checks_traversal.check_sssp, 3),
    "cc": (checks_traversal.draw_cc, checks_traversal.check_cc, 2),
    "pagerank": (checks_traversal.draw_pagerank, checks_traversal.check_pagerank, 3),
    "spmm": (checks_sparse.draw_spmm, checks_sparse.check_spmm, 4),
    "sddmm": (checks_sparse.draw_sddmm, checks_sparse.check_sddmm, 1),
    "sample": (checks_sparse.draw_sample, checks_sparse.check_sample, 2),
    "lookup": (checks_sparse.draw_lookup, checks_sparse.check_lookup, 1),
    "gather": (checks_sparse.draw_gather, checks_sparse.check_gather, 1),
    "train": (checks_learn.draw_train, checks_learn.check_train, 1),
}
MOST_TRIES = 150  # Of making a case smaller.
TEAMS_DOWN = (1, 2, 3, 4, 7, 15, 16, 17)


def draw_case(command, number):
    source = random.Random(f"{command}:{number}")
    drawing, options, extra = COMMANDS[command][0](source)
    return Case(f"{command}:{number}", command, drawing, options, extra)


def check(case, program, folder):
    """What is wrong, as text, or nothing. Whatever the check itself trips over is told, too."""
    shutil.rmtree(folder, ignore_errors=True)
    Path(folder).mkdir(parents=True)
    try:
        COMMANDS[case.command][1](Context(copy.deepcopy(case), folder, program))
    except Failure as failure:
        return str(failure)
    except Exception as error:  # pylint: disable=broad-except
        return f"the check of {case.command} stumbled: {type(error).__name__}: {error}"
    return ""


def kind_of(failure):
    """The first words of what went wrong: cases are the same fault where these are."""
    lines = failure.splitlines()
    text = lines[1] if len(lines) > 1 else lines[0]
    return text.strip().split(":")[0].split(" [")[0][:40]


def smaller_cases(case):
    """Ever smaller ones, most promising first."""
    for option in list(case.options):
        if option not in ("--devices", "--model", "--normalize"):
            less = copy.deepcopy(case)
            del less.options[option]
            yield less
    for team in TEAMS_DOWN:
        if "--devices" in case.options and team < case.options["--devices"]:
            less = copy.deepcopy(case)
            less.options["--devices"] = team
            yield less
    if case.drawing is None:
        return
    for option in list(case.drawing.options):
        if option != "--compact":
            less = copy.deepcopy(case)
            del less.drawing.options[option]
            yield less
    if case.drawing.generator:
        return
    edges = case.drawing.edges
    size = len(edges)
    while size > 0:
        for begin in range(0, len(edges), size):
            less = copy.deepcopy(case)
            less.drawing.edges = edges[:begin] + edges[begin + size:]
            yield less
        size //= 2
    largest = max((max(u, v) for u, v, _ in edges), default=0)
    if not case.drawing.ids and largest + 1 < case.drawing.vertices and case.command != "train":
        less = copy.deepcopy(case)
        less.drawing.vertices = largest + 1
        yield less


def minimise(case, failure, program, folder):
    """A smaller case that fails in the same way, and how."""
    tries = 0
    again = True
    while again and tries < MOST_TRIES:
        again = False
        for less in smaller_cases(case):
            tries += 1
            found = check(less, program, folder)
            if found and kind_of(found) == kind_of(failure):
                case, failure, again = less, found, True
                break
            if tries >= MOST_TRIES:
                break
    return case, failure


def small_files(folder):
    """The texts of a failure that are short enough to be told."""
    told = ""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".el", ".wel", ".txt", ".tsv", ".mtx", ".gr", ".graph") and path.stat().st_size < 300:
            told += f"  {path.name}: {path.read_text()!r}\n"
    return told


class Run:
    """Cases of all commands in turn, by several threads, until the time is up or all are done."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = Path(folder)
        self.program = Program(arguments.program, arguments.device, self.folder / "cache")
        self.deadline = time.monotonic() + arguments.seconds
        self.failures = []
        self.counts = dict.fromkeys(COMMANDS, 0)
        self.lock = threading.Lock()

    def numbers(self):
        """Names of cases: each command as often as its share says."""
        if self.arguments.case:
            yield from ((c, int(i)) for c, i in (name.split(":") for name in self.arguments.case))
            return
        only = self.arguments.only.split(",") if self.arguments.only else list(COMMANDS)
        i = self.arguments.seed * 10**6
        for turn in range(self.arguments.cases):
            for command in only:
                share = COMMANDS[command][2]
                for k in range(share):
                    yield command, i + turn * share + k

    def is_over(self):
        return time.monotonic() > self.deadline or len(self.failures) >= self.arguments.most_failures

    def work(self, numbers, worker):
        while True:
            with self.lock:
                name = next(numbers, None) if not self.is_over() else None
            if name is None:
                return
            self.one(*name, self.folder / f"worker{worker}")

    def one(self, command, number, folder):
        case = draw_case(command, number)
        failure = check(case, self.program, folder)
        with self.lock:
            self.counts[command] += 1
        if not failure:
            return
        if not self.arguments.case or self.arguments.minimise:
            case, failure = minimise(case, failure, self.program, folder)
        kept = Path(self.arguments.keep) / f"{command}-{number}"
        check(case, self.program, kept)
        with self.lock:
            self.failures.append(failure)
            print(f"FAILED {command}:{number} (files in {kept})\n  {failure}\n{small_files(kept)}", flush=True)

    def all(self):
        numbers = self.numbers()
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            for future in [pool.submit(self.work, numbers, w) for w in range(self.arguments.jobs)]:
                future.result()
        counts = ", ".join(f"{command} {count}" for command, count in self.counts.items() if count)
        print(f"{sum(self.counts.values())} cases ({counts}), {len(self.failures)} failed")
        return 1 if self.failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("WARREN_PROGRAM"), help="the program under test")
    parser.add_argument("--device", default=os.environ.get("WARREN_TEST_DEVICE", "cpu"))
    parser.add_argument("--seed", type=int, default=1, help="of the first case of each command")
    parser.add_argument("--seconds", type=float, default=60, help="no case begins later")
    parser.add_argument("--cases", type=int, default=10**9, help="turns of all commands")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases at a time")
    parser.add_argument("--only", help="commands, separated by commas")
    parser.add_argument("--case", action="append", help="COMMAND:NUMBER, as a failure is told")
    parser.add_argument("--minimise", action="store_true", help="make a --case smaller, too")
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "warren-differential"), help="for the files of failures")
    parser.add_argument("--most-failures", type=int, default=20, help="stop after so many")
    arguments = parser.parse_args()
    if not arguments.program:
        parser.error("which program? Give --program or set WARREN_PROGRAM")
    arguments.program = os.path.abspath(arguments.program)
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(Run(arguments, folder).all())


if __name__ == "__main__":
    main()
