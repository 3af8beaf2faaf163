#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times NetworkX' PageRank by the warren backend and by NetworkX' own SciPy form, in turn, on a DiGraph of a graph file: writes a row.

    bench/beside_networkx.py GRAPH [--threads 2] [--rounds 3] --out FILE

A call converts the graph each time, in a new session. `difference` is the largest between two ranks.
"""
import argparse
import gc
import json
import pathlib
import platform
import statistics
import sys
import time

import networkx as nx
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_scipy

import warren

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import stamp  # noqa: E402  pylint: disable=wrong-import-position


def cpu_model():
    found = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
    return found[0] if found else platform.machine()


def digraph(path):
    graph = warren.read(path)
    src, dst = (ends.tolist() for ends in graph.to_edges()[:2])
    made = nx.DiGraph()
    made.add_nodes_from(range(graph.num_vertices))
    made.add_edges_from(zip(src, dst))
    return made


def seconds_of(call):
    gc.collect()
    begin = time.perf_counter()
    found = call()
    return time.perf_counter() - begin, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    graph = digraph(options.graph)
    gc.freeze()

    def ours():
        graph.__networkx_cache__.clear()  # What the backend keeps of a graph between calls.
        with warren.Session(device="cpu", threads=options.threads):
            return nx.pagerank(graph, backend="warren")

    rounds, difference = [], 0.0
    for _ in range(options.rounds):
        theirs_took, theirs = seconds_of(lambda: _pagerank_scipy(graph))
        ours_took, found = seconds_of(ours)
        rounds.append([round(ours_took, 4), round(theirs_took, 4)])
        difference = max(difference, max(abs(found[v] - theirs[v]) for v in theirs))
        print(rounds[-1], flush=True)
    row = {"work": "nx.pagerank, the conversion included", "graph": pathlib.Path(options.graph).name, "nodes": graph.number_of_nodes(), "edges": graph.number_of_edges(), "threads": options.threads,
           "median_seconds": statistics.median(pair[0] for pair in rounds), "scipy_median_seconds": statistics.median(pair[1] for pair in rounds),
           "scipy_over_warren_median_of_rounds": round(statistics.median(pair[1] / pair[0] for pair in rounds), 3), "rounds": rounds, "difference": difference,
           "versions": {"networkx": nx.__version__}, "machine": {"cpu": cpu_model(), "threads": options.threads}, **stamp.origin(False)}
    pathlib.Path(options.out).write_text(json.dumps([row], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
