#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SpMM on CPU threads beside SciPy (one thread) and, where it is installed, Eigen with as many threads.

    bench/beside_scipy.py --program build/cpu/bench/bench_cpu_spmm [--out FILE] GRAPH ...

All multiply the same symmetric matrix, whose values are all 1, by the same B: float32, rows of k columns. They take turns, each a warm-up and --calls timed products, --rounds times; a time is the median (and, in the file, the least, and what all threads together had of processors, which tells other work on the machine).
Every rival's result is compared with ours. Needs NumPy and SciPy; Eigen is found when the program is configured.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import scipy
import scipy.sparse

OURS = ("pattern", "weighted")  # Values left out, as `warren spmm` does for a graph without weights; and stored ones, as the rivals have them.
PAUSE = 0.02  # Seconds for the threads of the one before to go to sleep.


class Program:
    """bench_cpu_spmm, asked line by line."""

    def __init__(self, program, graph, threads, folder):
        self.process = subprocess.Popen([program, "--graph", graph, "--threads", str(threads), "--export", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"bench_cpu_spmm ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def scipy_seconds(matrix, b, calls):
    seconds, processor_seconds = [], []
    for call in range(calls + 1):
        begin, ticks = time.perf_counter(), time.process_time()
        result = matrix @ b
        if call > 0:
            seconds.append(time.perf_counter() - begin)
            processor_seconds.append(time.process_time() - ticks)
    return {"seconds": seconds, "processor_seconds": processor_seconds}, result


def add(times, name, taken):
    for field, found in times.items():
        found[name] += taken[field]


def difference(ours, theirs):
    """Largest difference over the largest value."""
    return float(numpy.abs(ours - theirs).max() / max(numpy.abs(ours).max(), 1e-30))


def measure(program, matrix, k, options, folder):
    n = matrix.shape[0]
    program.ask(f"width {k}")
    period = (7 * numpy.arange(17)[:, None] + 13 * (numpy.arange(k) % 17)[None, :]) % 17 - 8
    b = numpy.tile(period.astype(numpy.float32), (n // 17 + 1, 1))[:n]
    names = list(OURS) + program.about["rivals"]
    times = {field: {name: [] for name in [*names, "scipy"]} for field in ("seconds", "processor_seconds")}
    differences = {}

    def product():
        path = Path(folder) / "c.bin"
        program.ask(f"write {path}")
        return numpy.fromfile(path, dtype=numpy.float32).reshape(n, k)

    ours = None
    for turn in range(options.rounds):
        for name in names:
            time.sleep(PAUSE)
            add(times, name, program.ask(f"run {name} {options.calls}"))
            if turn == 0:
                result = product()
                ours = result if ours is None else ours
                differences[name] = difference(ours, result)
        taken, result = scipy_seconds(matrix, b, options.calls)
        add(times, "scipy", taken)
        if turn == 0:
            differences["scipy"] = difference(ours, result)
            ours = None
        del result
    medians = {field: {name: statistics.median(values) for name, values in found.items()} for field, found in times.items()}
    return {"k": k, **medians, "least_seconds": {name: min(values) for name, values in times["seconds"].items()}, "difference": differences}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--ks", default="16,32,64,128,256")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=2)
    parser.add_argument("--note", default="", help="of the machine, such as: other work beside")
    parser.add_argument("--out")
    parser.add_argument("graphs", nargs="+")
    options = parser.parse_args()
    results = []
    for graph in options.graphs:
        with tempfile.TemporaryDirectory() as folder:
            program = Program(options.program, graph, options.threads, folder)
            about = program.about
            offsets, targets = (numpy.fromfile(Path(folder) / f"{name}.bin", dtype=numpy.int32) for name in ("offsets", "targets"))
            n = about["vertices"]
            matrix = scipy.sparse.csr_matrix((numpy.ones(targets.size, numpy.float32), targets, offsets), shape=(n, n))
            for k in (int(width) for width in options.ks.split(",")):
                row = {"graph": Path(graph).name, "vertices": n, "entries": about["entries"], "plan_seconds": about["plan_seconds"], **measure(program, matrix, k, options, folder)}
                results.append(row)
                times = "  ".join(f"{name} {1e3 * seconds:.2f} ms (least {1e3 * row['least_seconds'][name]:.2f}, threads' {1e3 * row['processor_seconds'][name]:.2f}, off {row['difference'][name]:.0e})"
                                  for name, seconds in row["seconds"].items())
                print(f"{row['graph']:32} {k:4}  {times}", flush=True)
            program.close()
        if options.out:
            suite = {**{name: about[name] for name in ("warren", "machine", "date")}, "command": f"bench/beside_scipy.py {' '.join(sys.argv[1:])}", "threads": about["threads"], "load": os.getloadavg()[0], "note": options.note,
                     "scipy": scipy.__version__, "rounds": options.rounds, "calls": options.calls, "results": results}
            Path(options.out).write_text(json.dumps(suite, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
