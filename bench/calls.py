#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times calls of the Python package: from the call to its return, with results left where they were made, and with NumPy arrays of them.

    bench/calls.py [--device cuda] [--devices 1] [--repeat 20] [--source V] [--work bfs,sssp,...] [--out FILE] GRAPH ...

GRAPH is a file or a generator. A time is the median of --repeat calls after two that are not told: `ms` with the arrays left, `ms_numpy` with them in
host memory. `sample` is a call that samples 64 batches of 1024 different vertices, 15, 10 and 5 neighbours of each. `tiny` is a graph of 16 vertices: what a call costs by itself. `scipy` is from_scipy() of a CSR matrix of --entries entries and its first
BFS, with what the graph and the device get ready for it. A line of JSON for each.
"""
import argparse
import itertools
import json
import pathlib
import statistics
import sys
import time

import numpy as np

import warren

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import stamp  # noqa: E402  pylint: disable=wrong-import-position

WORK = ("bfs", "sssp", "components", "pagerank", "triangles", "core", "sample")
# Batches of a call, their seeds, and neighbours by hop.
BATCHES, BATCH, FANOUTS = 64, 1024, (15, 10, 5)


def times_of(call, repeat):
    """(the last result, times in milliseconds of calls one after the other)"""
    milliseconds = []
    found = None
    for i in range(repeat + 2):
        found = None  # Freed outside the clock, host copies with it.
        begin = time.perf_counter()
        found = call()
        if i >= 2:
            milliseconds.append((time.perf_counter() - begin) * 1e3)
    return found, milliseconds


def timed(call, columns, repeat):
    """(a result, its two medians in milliseconds)"""
    def read():
        found = call()
        for column in columns:
            found.array(*column, library="numpy")
        return found

    found, left = times_of(call, repeat)
    _, taken = times_of(read, repeat)
    return found, {"ms": round(statistics.median(left), 4), "ms_min": round(min(left), 4), "ms_numpy": round(statistics.median(taken), 4), "repeat": repeat}


def check_of(found):
    if isinstance(found, warren.SampledBatches):
        return {name: found.info[name] for name in ("sampled_edges", "sampled_vertices")}
    return {name: getattr(found, name) for name in ("reached", "max_depth", "num_components", "largest", "iterations", "triangles", "innermost") if hasattr(found, name)}


def calls_of(graph, options, run):
    source = int(graph.degree().argmax()) if options.source is None else options.source
    calls = {"bfs": (lambda: graph.bfs(source, **run), (("depth",), ("parent",))), "components": (lambda: graph.connected_components(**run), (("label",),)),
             "pagerank": (lambda: graph.pagerank(tolerance=1e-6, max_iterations=500, **run), (("rank",),))}
    if graph.is_weighted:
        calls["sssp"] = (lambda: graph.sssp(source, **run), (("distance",),))
    if graph.is_symmetric:
        calls["triangles"] = (lambda: graph.triangles(**run), (("count",),))
    calls["core"] = (lambda: graph.core_number(**run), (("core",),))
    if graph.num_vertices >= BATCH:
        generator = np.random.default_rng(1)
        seeds = np.concatenate([generator.choice(graph.num_vertices, BATCH, replace=False) for _ in range(BATCHES)])
        columns = [("vertices",)] + [(name, hop) for hop in range(len(FANOUTS)) for name in ("offsets", "targets")]
        numbers = itertools.count(0, BATCHES)
        calls["sample"] = (lambda: graph.sample_batches(seeds, FANOUTS, BATCH, batch=next(numbers), in_flight=options.in_flight, **run), columns)
    return {name: calls[name] for name in options.work.split(",") if name in calls}


def scipy_row(options, run):
    import scipy.sparse

    generator = np.random.default_rng(1)
    n = options.entries // 16
    targets = np.sort(generator.integers(0, n, (n, 16), dtype=np.int32), axis=1)
    matrix = scipy.sparse.csr_matrix((np.ones(16 * n, np.bool_), targets.ravel(), np.arange(0, 16 * n + 1, 16, dtype=np.int32)), shape=(n, n))
    matrix.sum_duplicates()
    warren.generate("grid:9x9").bfs(0, **run)  # Starts the device and the session.
    begin = time.perf_counter()
    graph = warren.from_scipy(matrix, copy=False)
    middle = time.perf_counter()
    found = graph.bfs(0, **run)
    end = time.perf_counter()
    return {"what": "scipy", "entries": matrix.nnz, "ms": round((end - begin) * 1e3, 3), "ms_from_scipy": round((middle - begin) * 1e3, 3),
            "ms_first_bfs": round((end - middle) * 1e3, 3), "check": check_of(found)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", metavar="GRAPH")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--source", type=int, help="default: the vertex of the greatest degree")
    parser.add_argument("--work", default=",".join(WORK))
    parser.add_argument("--in-flight", type=int, default=0, help="of sample; 0: chosen")
    parser.add_argument("--entries", type=int, default=0, help="of the SciPy matrix; 0: none")
    parser.add_argument("--commit", help="that the package was built of; default: this checkout's")
    parser.add_argument("--out", help="a file instead of standard output")
    options = parser.parse_args()
    facts = stamp.origin(options.device == "cuda")
    facts["commit"] = options.commit or facts["commit"]
    run = {"device": options.device, "devices": options.devices}
    out = open(options.out, "w", encoding="utf-8") if options.out else sys.stdout

    def tell(row):
        print(json.dumps({"lib": "warren " + warren.__version__, "devices": options.devices, **row, **facts}), file=out, flush=True)

    tiny = warren.generate("grid:4x4")
    found, times = timed(lambda: tiny.bfs(0, **run), (("depth",),), 10 * options.repeat)
    tell({"graph": "tiny", "what": "bfs", **times, "ms_inside": round(found.seconds * 1e3, 4)})
    for name in options.graphs:
        graph = warren.read(name)
        for what, (call, columns) in calls_of(graph, options, run).items():
            try:
                found, times = timed(call, columns, options.repeat)
            except Exception as error:  # The rest is still measured.
                tell({"graph": name, "what": what, "error": f"{type(error).__name__}: {error}"[:300]})
                continue
            tell({"graph": name, "what": what, **times, "ms_inside": round(found.seconds * 1e3, 4), "check": check_of(found)})
            del found
            if what in ("triangles", "core"):
                graph.release()
        del graph
    if options.entries:
        tell(scipy_row(options, run))


if __name__ == "__main__":
    main()
