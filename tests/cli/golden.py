# SPDX-License-Identifier: Apache-2.0
"""The program's answers for public graphs against those of other programs (GOLDEN.json). Exits with 77 where they are absent."""

import json
import os
import sys
import unittest
from pathlib import Path

from support import ProgramTest

DATA = Path(os.environ.get("WARREN_TEST_DATA", ""))
TEAMS = (1, 3)
RELATIVE = 1e-6
STRATEGIES = ("broadcast", "broadcast-pipelined", "pull", "once", "staged", "fused", "cover")
SMALL_ENTRIES = 120_000


def graph_options(golden, path):
    """Ids with gaps are closed; undirected lists that name each edge once get their other direction."""
    options = []
    if golden["n"] <= golden["max_id"]:
        options.append("--compact")
    is_edge_list = ".txt" in path.name
    if is_edge_list and not golden["directed"] and golden["edge_lines_or_entries"] < golden["arcs"]:
        options.append("--symmetrize")
    return options


class Golden(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(DATA / "GOLDEN.json", encoding="utf-8") as file:
            golden = json.load(file)
        self.graphs = golden["graphs"]
        self.products = golden["spmm_graphs"]
        self.matrices = golden["spmm_matrices"]

    def each(self, check):
        """Calls check(golden, the GRAPH argument with its options) for every graph."""
        for name, golden in self.graphs.items():
            path = DATA / "graphs" / golden["file"]
            with self.subTest(name):
                check(golden, [path, *graph_options(golden, path)])

    def test_stats(self):
        self.each(self.check_stats)

    def test_bfs(self):
        self.each(self.check_bfs)

    def test_components(self):
        self.each(self.check_components)

    def test_sssp(self):
        self.each(self.check_sssp)

    def test_pagerank(self):
        self.each(self.check_pagerank)

    def check_stats(self, golden, graph):
        result = self.succeed_json("stats", *graph)
        for field, wanted in (("vertices", "n"), ("edges", "arcs"), ("self_loops", "self_loops"),
                              ("max_degree", "max_out_degree")):
            self.assertEqual(result[field], golden[wanted], field)

    def check_bfs(self, golden, graph):
        for wanted in golden["bfs"]:
            for devices in TEAMS:
                result = self.succeed_json("bfs", *graph, "--source", wanted["source"], "--devices", devices, "--verify")
                self.assertIs(result["verified"], True)
                for field in ("source", "reached", "max_depth", "sum_depth"):
                    self.assertEqual(result[field], wanted[field], field)
                self.assertEqual(result["traversed_edges"], self.input_edges(golden, wanted))
            result = self.succeed_json("bfs", *graph, "--source", wanted["source"], "--devices", TEAMS[-1], "--mode",
                                       "async", "--verify")
            self.assertEqual((result["mode"], result["verified"]), ("async", True))
            for field in ("source", "reached", "max_depth", "sum_depth"):
                self.assertEqual(result[field], wanted[field], field)

    def input_edges(self, golden, wanted):
        """Of the arcs out of reached vertices: an undirected edge is two arcs and counts once, a self-loop is one."""
        if golden["directed"]:
            return wanted["arcs_out"]
        self.assertTrue(golden["self_loops"] == 0 or wanted["reached"] == golden["n"], "which loops are reached?")
        return (wanted["arcs_out"] + golden["self_loops"]) // 2

    def check_components(self, golden, graph):
        for devices in TEAMS:
            result = self.succeed_json("cc", *graph, "--devices", devices, "--verify")
            self.assertIs(result["verified"], True)
            for field, wanted in (("components", "count"), ("largest", "largest")):
                self.assertEqual(result[field], golden["wcc"][wanted], field)

    def check_sssp(self, golden, graph):
        """With the weights of the file where it has any, else with the conventions' hash of the two ids."""
        for kind in ("sssp_file_weights", "sssp_hash_weights"):
            if kind not in golden:
                continue
            weighted = graph if kind == "sssp_file_weights" else [self.with_hash_weights(golden, graph), *graph[1:]]
            for wanted in golden[kind]:
                for devices, mode in ((TEAMS[0], "sync"), (TEAMS[-1], "sync"), (TEAMS[-1], "async")):
                    result = self.succeed_json("sssp", *weighted, "--source", wanted["source"], "--devices", devices,
                                               "--mode", mode, "--verify")
                    self.assertEqual(result["mode"], mode)
                    self.assertIs(result["verified"], True)
                    for field, name in (("source", "source"), ("reached", "reached"), ("max_distance", "max_distance"),
                                        ("sum_distance", "sum_distances")):
                        self.assertEqual(result[field], wanted[name], f"{kind}: {field}")

    def with_hash_weights(self, golden, graph):
        """The graph as an edge list with hashed weights; the list keeps the number of vertices."""
        plain = self.folder / ("plain.wel" if "sssp_file_weights" in golden else "plain.el")
        weighted = self.folder / "hashed.wel"
        vertices = self.succeed_json("stats", *graph)["vertices"]
        self.succeed("convert", *graph, plain)
        with open(plain, encoding="utf-8") as source, open(weighted, "w", encoding="utf-8") as target:
            if "--compact" not in graph:
                target.write(f"# Nodes: {vertices}\n")
            for line in source:
                if line.startswith("#"):
                    continue
                u, v = map(int, line.split()[:2])
                low, high = min(u, v), max(u, v)
                mixed = (low * 73856093 & 0xffffffff) ^ (high * 19349663 & 0xffffffff)
                target.write(f"{u} {v} {1 + mixed % 255}\n")
        return weighted

    def check_pagerank(self, golden, graph):
        warns = "ranks are unweighted" if "sssp_file_weights" in golden else ""
        for devices in TEAMS:
            for tolerance in ("1e-9", "1e-12"):
                result = self.succeed_json("pagerank", *graph, "--tolerance", tolerance, "--max-iterations", 500,
                                           "--devices", devices, "--verify", warns=warns)
                self.assertIs(result["verified"], True)
                self.assertIs(result["converged"], True)
                if tolerance == "1e-9":
                    self.assertEqual(result["iterations"], golden["pagerank"]["iterations_to_1e-9"])
                self.check_top(result["top"], golden["pagerank"]["top10"])
        result = self.succeed_json("pagerank", *graph, "--tolerance", "1e-10", "--max-iterations", 5000, "--devices",
                                   TEAMS[-1], "--mode", "async", "--verify", warns=warns)
        self.assertEqual((result["mode"], result["verified"], result["converged"]), ("async", True, True))
        # Equal ranks differ in their last bits, and so come in any order.
        for (_, score), (_, expected) in zip(result["top"], golden["pagerank"]["top10"]):
            self.assertLessEqual(abs(score - expected), RELATIVE * expected)

    def test_spmm(self):
        for name, wanted in self.products.items():
            path = DATA / "graphs" / self.graphs[name]["file"]
            graph = [path, *graph_options(self.graphs[name], path)]
            for options in ((), ("--devices", 3, "--strategy", "cover"), ("--devices", 4, "--strategy", "pull")):
                with self.subTest(name, options=options):
                    result = self.succeed_json("spmm", *graph, "--k", wanted["k"], "--verify", *options,
                                               warns=self.pattern_warning(name))
                    for field in ("sum", "sumsq"):
                        self.assertEqual(result[field], wanted[field], field)

    def test_spmm_strategies(self):
        """Every strategy on every team, on the small graphs."""
        for name, wanted in self.products.items():
            if wanted["nnz"] > SMALL_ENTRIES:
                continue
            path = DATA / "graphs" / self.graphs[name]["file"]
            graph = [path, *graph_options(self.graphs[name], path), "--k", wanted["k"], "--verify"]
            for devices in (1, 2, 3, 4, 6):
                groups = ("--workgroup", 2) if devices in (4, 6) else ()
                for strategy in STRATEGIES:
                    with self.subTest(name, devices=devices, strategy=strategy):
                        result = self.succeed_json("spmm", *graph, "--devices", devices, "--strategy", strategy, *groups,
                                                   warns=self.pattern_warning(name))
                        self.assertIs(result["verified"], True)
                        self.assertEqual(result["strategy"], strategy)
                        for field in ("sum", "sumsq"):
                            self.assertEqual(result[field], wanted[field], field)

    def pattern_warning(self, name):
        """Lengths of roads are no matrix, and the program says so."""
        return "entries are taken as 1" if "sssp_file_weights" in self.graphs[name] else ""

    def test_spmm_with_values(self):
        for name, wanted in self.matrices.items():
            path = next(path for path in (DATA / "matrices").iterdir() if path.name.startswith(name))
            for devices in TEAMS:
                with self.subTest(name, devices=devices):
                    run = self.run_program("spmm", path, "--k", wanted["k"], "--verify", "--devices", devices, "--json", "-")
                    self.assertEqual(run.status, 0, run.err)
                    # Values that are not of float32 are named, once.
                    self.assertRegex(run.err, r"\A(warren: warning: [^\n]*float32\n)?\Z")
                    result = run.json
                    self.assertLessEqual(abs(result["sum"] - wanted["sum"]), RELATIVE * wanted["sumabs"])
                    self.assertLessEqual(abs(result["sumsq"] ** 0.5 - wanted["fro"]), RELATIVE * wanted["fro"])

    def check_top(self, top, wanted):
        self.assertEqual([vertex for vertex, _ in top], [vertex for vertex, _ in wanted])
        for (vertex, score), (_, expected) in zip(top, wanted):
            self.assertLessEqual(abs(score - expected), RELATIVE * expected, f"vertex {vertex}")


if __name__ == "__main__":
    if not (DATA / "GOLDEN.json").is_file():
        print(f"skipped: there is no GOLDEN.json in \"{DATA}\"; name its folder with WARREN_TEST_DATA")
        sys.exit(77)
    unittest.main()
