# SPDX-License-Identifier: Apache-2.0
"""spmm and sddmm: fields, options, answers against plain loops, rows moved against partition's volumes, bad input."""

import tempfile
import unittest

from support import DEVICE, MTX, SYMMETRIC, ProgramTest

KEPT = tempfile.TemporaryDirectory()
FIELDS = {"graph": str, "vertices": int, "edges": int, "k": int, "type": str, "strategy": str, "gflops": float,
          "rows_moved": int, "sum": float, "sumsq": float, "plan_seconds": float, "plan_in_products": float,
          "reorder_seconds": float, "partition_seconds": float, "relabel_seconds": float, "order_in_products": float}
STRATEGIES = {"broadcast": "broadcast", "broadcast-pipelined": "broadcast", "pull": "per_edge", "once": "once",
              "staged": "once", "fused": "fused", "cover": "cover"}
VALUES = """%%MatrixMarket matrix coordinate real general
3 3 4
1 1 0.5
1 3 -2
2 1 4
3 2 0.25
"""


def dense(j, c):
    return (7 * j + 13 * c) % 17 - 8


def product(entries, rows, k):
    result = [[0.0] * k for _ in range(rows)]
    for i, j, value in entries:
        for c in range(k):
            result[i][c] += value * dense(j, c)
    return result


class Spmm(ProgramTest):
    def run_program(self, *arguments, environment=None, **options):
        """What the program measures and chooses is kept in a folder of these tests' own."""
        return super().run_program(*arguments, environment={"XDG_CACHE_HOME": KEPT.name, **(environment or {})},
                                   **options)

    def check_sums(self, result, values):
        self.assertAlmostEqual(result["sum"], sum(values), places=5)
        self.assertAlmostEqual(result["sumsq"], sum(v * v for v in values), places=4)

    def test_fields(self):
        for command in ("spmm", "sddmm"):
            result = self.succeed_json(command, "kron:8", "--k", 5)
            self.check_common(result, command)
            self.check_fields(result, {**FIELDS, "max_relative_error": type(None)})
            self.assertEqual(result["strategy"], "local")
            result = self.succeed_json(command, "kron:8", "--k", 5, "--verify", "--repeat", 3)
            self.check_common(result, command, runs=3)
            self.assertLessEqual(result["max_relative_error"], 1e-5)

    def test_answers(self):
        cases = (
            (MTX, 4, [(0, 1, 1), (1, 2, 1)]),
            (SYMMETRIC, 3, [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1), (2, 2, 1)]),
            (VALUES, 3, [(0, 0, 0.5), (0, 2, -2), (1, 0, 4), (2, 1, 0.25)]),
        )
        for text, rows, entries in cases:
            path = self.file("a.mtx", text)
            for k in (1, 3, 20):
                wanted = [v for row in product(entries, rows, k) for v in row]
                dots = [value * sum(dense(i, c) * dense(j, c) for c in range(k)) for i, j, value in entries]
                for devices in (1, 2, 3):
                    for order in ("none", "random"):
                        options = [path, "--k", k, "--devices", devices, "--verify", "--reorder", order]
                        self.check_sums(self.succeed_json("spmm", *options), wanted)
                        self.check_sums(self.succeed_json("sddmm", *options), dots)

    def test_values_count_where_they_are_meant(self):
        weighted = self.file("a.wel", "0 1 5\n1 2 7\n")
        pattern = [v for row in product([(0, 1, 1), (1, 2, 1)], 3, 4) for v in row]
        values = [v for row in product([(0, 1, 5), (1, 2, 7)], 3, 4) for v in row]
        for command in ("spmm", "sddmm"):
            self.succeed_json(command, weighted, "--k", 4, warns="a.wel: entries are taken as 1; with --weights file")
        self.check_sums(self.succeed_json("spmm", weighted, "--k", 4, warns="entries are taken as 1"), pattern)
        # Weights that are drawn are used: nothing to warn of.
        self.succeed_json("spmm", weighted, "--k", 4, "--weights", "uniform:1:9")
        self.check_sums(self.succeed_json("spmm", weighted, "--k", 4, "--weights", "file"), values)

    def test_results_beyond_the_type_are_told_of(self):
        weighted = self.file("a.wel", "0 1 100000\n1 2 7\n")
        options = [weighted, "--k", 17, "--weights", "file"]
        self.assertEqual(self.succeed_json("spmm", *options)["not_finite"], 0)
        for command in (["spmm", *options, "--type"], ["bench", "spmm", weighted, "--ks", 17, "--weights", "file", "--types"]):
            result = self.succeed_json(*command, "float16", warns="16 elements of the result are no finite numbers: float16 holds numbers up to 65504")
            # 100000 times 8 to -8 is infinite, but for 0.
            self.assertEqual(result.get("results", [result])[0]["not_finite"], 16)

    def test_strategies_move_the_volumes_of_partition(self):
        graph = ["kron:9", "--symmetrize"]
        one = self.succeed_json("spmm", *graph, "--k", 8)
        for devices, workgroup in ((2, 2), (3, 1), (4, 2), (6, 3)):
            volume = self.succeed_json("partition", *graph, "--parts", devices, "--workgroup", workgroup)["volume"]
            for strategy, name in STRATEGIES.items():
                result = self.succeed_json("spmm", *graph, "--k", 8, "--devices", devices, "--workgroup", workgroup,
                                           "--strategy", strategy, "--verify")
                self.assertEqual(result["strategy"], strategy)
                self.assertEqual(result["rows_moved"], volume[name], strategy)
                self.assertEqual(result["sum"], one["sum"])
                self.assertEqual(result["sumsq"], one["sumsq"])

    def test_types_methods_and_orders(self):
        for kind in ("float32", "float16", "bfloat16"):
            for method in ("ranges", "random", "degree", "rabbit"):
                for order in ("none", "rabbit", "degree", "random"):
                    result = self.succeed_json("spmm", "community:2000,6", "--k", 9, "--devices", 3, "--type", kind,
                                               "--method", method, "--reorder", order, "--verify")
                    self.assertIs(result["verified"], True)

    def test_empty_graphs(self):
        path = self.file("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 5 0\n")
        for devices in (1, 4):
            for strategy in ("auto", *STRATEGIES):
                result = self.succeed_json("spmm", path, "--devices", devices, "--strategy", strategy, "--verify")
                self.assertEqual((result["sum"], result["rows_moved"] % 5), (0.0, 0))

    def test_auto_explains_and_remembers(self):
        self.succeed("spmm", "kron:6", "--explain", warns="--explain has no effect")
        # The program keeps what it has chosen: in a folder of this test's own.
        here = {"XDG_CACHE_HOME": str(self.folder)}
        options = ["spmm", "kron:9", "--k", 6, "--devices", 4, "--workgroup", 2, "--explain", "--verify"]
        first = self.succeed_json(*options, environment=here)
        measured = [c for c in first["candidates"] if c["measured_seconds"] is not None]
        self.assertTrue(1 <= len(measured) <= 12)
        fastest = min(measured, key=lambda c: c["measured_seconds"])
        self.assertEqual(first["strategy"], fastest["strategy"])
        self.assertTrue((self.folder / "warren" / "sparse-plans.json").is_file())
        again = self.succeed_json(*options, environment=here)
        self.assertEqual((again["strategy"], again["candidates"]), (first["strategy"], first["candidates"]))
        self.assertEqual((first["remembered"], again["remembered"]), (False, True))
        self.assertIn("measured before", self.succeed(*options, environment=here).out)
        (self.folder / "warren" / "sparse-plans.json").write_text("{")
        result = self.run_program(*options, "--json", "-", environment=here)
        self.assertEqual(result.status, 0)
        self.assertEqual(result.err.count("\n"), 1)
        self.assertIn("cannot be used", result.err)
        self.assertEqual(self.succeed_json(*options, "--deterministic", environment=here)["strategy"], "staged")

    def test_a_strategys_parameters_are_tuned(self):
        here = {"XDG_CACHE_HOME": str(self.folder)}
        graph = ["kron:9", "--symmetrize", "--k", 6]
        wanted = self.succeed_json("spmm", *graph)
        for strategy in ("pull", "staged"):
            options = ["spmm", *graph, "--devices", 3, "--strategy", strategy + ":auto", "--explain", "--verify"]
            first = self.succeed_json(*options, environment=here)
            self.assertEqual((first["strategy"], first["sum"]), (strategy, wanted["sum"]))
            measured = [c for c in first["candidates"] if c["measured_seconds"] is not None]
            self.assertEqual({c["strategy"] for c in measured}, {strategy})
            self.assertTrue(3 <= len(measured) <= 12)
            # Each time something else.
            ways = {tuple(c[name] for name in ("chunks", "copy", "ps", "dist", "wpb")) for c in measured}
            self.assertEqual(len(ways), len(measured))
            again = self.succeed_json(*options, environment=here)
            self.assertEqual((again["remembered"], again["candidates"]), (True, first["candidates"]))
        # What was chosen for one strategy says nothing of another, nor of all.
        other = self.succeed_json("spmm", *graph, "--devices", 3, "--explain", environment=here)
        self.assertIs(other["remembered"], False)

    def test_named_parameters(self):
        graph = ["kron:9", "--symmetrize", "--k", 6, "--devices", 3]
        wanted = self.succeed_json("spmm", *graph, "--strategy", "pull")
        for text, product in (("pull", "pull:ps=128:dist=16:wpb=16"), ("pull:mgg", "pull:ps=16:dist=1:wpb=2"),
                              ("pull:mgg:wpb=4", "pull:ps=16:dist=1:wpb=4"), ("pull:dist=2", "pull:ps=128:dist=2:wpb=16"),
                              ("pull:dist=off", "pull:ps=128:dist=off:wpb=16"), ("once:chunks=3", "once:chunks=3:copy=24")):
            [row] = self.succeed_json("bench", "spmm", *graph[:2], "--ks", 6, "--devices", 3, "--strategies", text)["results"]
            self.assertEqual((row["strategy"], row["product"]), (text, product))
            result = self.succeed_json("spmm", *graph, "--strategy", text, "--verify")
            self.assertEqual(result["sum"], wanted["sum"])
            # Counted in a run of its own, the same at each number of timed ones.
            again = self.succeed_json("spmm", *graph, "--strategy", text, "--repeat", 4)
            self.assertEqual(again["rows_moved"], result["rows_moved"])
        for text, words in (("once:auto", "leave :auto out"), ("broadcast:auto", "leave :auto out"), ("pull:dist=no", "dist=off"),
                            ("staged:mgg", "no parameter"), ("pull:auto:ps=4", "no parameter"), ("pull:ps=4:ps=5", "twice")):
            self.must_fail(2, "spmm", *graph, "--strategy", text, says=words)
        self.must_fail(2, "spmm", *graph, "--strategy", "pull:auto", "--deterministic", says="--deterministic")

    def test_lookup(self):
        for devices in (1, 3):
            for kind in ("float32", "float16", "bfloat16"):
                result = self.succeed_json("lookup", "--rows", 1000, "--k", 12, "--batch", 50, "--bag", 9, "--devices",
                                           devices, "--type", kind, "--skew", 1, "--verify")
                self.check_common(result, "lookup")
                self.check_fields(result, {"lookups_per_second": float, "bytes_per_second": float, "rows_moved": int})
                self.assertIs(result["verified"], True)
                self.assertEqual(result["rows_moved"] == 0, devices == 1)
        self.must_fail(2, "lookup", "--k", 0, says="--k")
        self.must_fail(2, "lookup", "--strategy", "owners", says="owner-sum")
        self.must_fail(2, "lookup", "--features", 3, "--batch", 9, says="--interact")
        self.must_fail(2, "lookup", "--interact", "--batch", 9, says="--features")
        self.must_fail(2, "lookup", "--interact", "--features", 2, "--batch", 9, says="multiple")
        self.must_fail(2, "lookup", "--rows", 4294967295, "--k", 16777216, says="2^48")

    def test_lookup_strategies(self):
        moved = {}
        for strategy in ("auto", "pull", "owner-sum", "messages"):
            result = self.succeed_json("lookup", "--rows", 1000, "--k", 10, "--batch", 60, "--bag", 20, "--devices", 3, "--repeat", 2,
                                       "--strategy", strategy, "--features", 6, "--interact", "--verify")
            self.assertIs(result["verified"], True)
            self.assertEqual((len(result["seconds"]), len(result["interact_seconds"]), result["features"]), (2, 2, 6))
            self.assertIn(result["strategy"], ("pull", "owner-sum") if strategy == "auto" else (strategy,))
            self.assertEqual("why" in result, strategy == "auto")
            moved[strategy] = result["rows_moved"]
        self.assertEqual(moved["pull"], moved["messages"])
        self.assertTrue(0 < moved["owner-sum"] <= 3 * 60 * 2)

    def test_bench(self):
        result = self.succeed_json("bench", "spmm", "kron:7", "--ks", "3,8", "--types", "float32,float16", "--devices", 2,
                                   "--strategies", "staged,pull", "--repeat", 2, "--verify", "--out", "r.json")
        self.assertEqual(len(result["results"]), 8)
        for entry in result["results"]:
            self.assertEqual(len(entry["seconds"]), 2)
            self.assertLess(entry["max_relative_error"], 1e-2)
        self.must_fail(2, "bench", "spmm", "kron:7", "--types", "double", says="double")

    def test_slow_links(self):
        graph = ["community:400,9", "--devices", 4, "--workgroup", 2]
        names = list(STRATEGIES) + ["pull:ps=4294967295:dist=3:wpb=2", "staged:chunks=3:copy=48", "cover:copy=1"]
        has_no_gpu = {"warns": "copy has no effect"} if DEVICE == "cpu" else {}
        result = self.succeed_json("bench", "spmm", *graph, "--ks", 8, "--strategies", ",".join(names), "--slow", 10, "--verify", **has_no_gpu)
        self.assertEqual((result["workgroup"], result["slow"]), (2, 10))
        self.assertEqual([row["strategy"] for row in result["results"]], names)
        for row in result["results"]:
            way = STRATEGIES[row["strategy"].split(":")[0]]
            self.assertLess(row["max_relative_error"], 1e-5)
            self.assertEqual(row["rows_moved"], result["volume"][way])
            self.assertEqual(row["rows_between_workgroups"], result["volume_between_workgroups"][way])
        volumes = self.succeed_json("partition", "community:400,9", "--parts", 4, "--workgroup", 2)
        self.assertEqual(volumes["volume_between_workgroups"], result["volume_between_workgroups"])
        result = self.succeed_json("spmm", *graph, "--k", 8, "--strategy", "fused", "--slow", 3, "--verify")
        self.assertEqual(result["rows_between_workgroups"], volumes["volume_between_workgroups"]["fused"])

    def test_parameters_without_effect(self):
        self.succeed_json("spmm", "kron:5", "--k", 4, "--workgroup", 1, warns="--workgroup has no effect")
        self.succeed_json("spmm", "kron:5", "--k", 4, "--strategy", "staged:chunks=2", warns="parameters have no effect")
        if DEVICE == "cpu":
            self.succeed_json("spmm", "kron:5", "--k", 4, "--devices", 2, "--strategy", "fused:copy=9", warns="copy has no effect")

    def test_refused(self):
        self.must_fail(2, "spmm", "kron:5", "--k", 0, says="--k")
        for strategy, says in (("pull:ps=0", "ps=N"), ("pull:ps", "ps=N"), ("pull:ps=x", "ps=N"), ("pull:", "parameter"),
                               ("pull:chunks=2", "chunks"), ("pull:wpb=64", "warps"), ("pull:copy=4", "copy"), ("staged:copy=0", "copy=N"), ("auto:ps=1", "strateg")):
            self.must_fail(2, "spmm", "kron:5", "--devices", 2, "--strategy", strategy, says=says)
        self.must_fail(2, "spmm", "kron:5", "--devices", 2, "--workgroup", 1, "--slow", 2, says="--slow")
        self.must_fail(2, "spmm", "kron:5", "--devices", 2, "--strategy", "pull", "--slow", 2, says="--slow")
        for option in (("--workgroup", 2), ("--explain",), ("--slow", 2)):
            self.must_fail(2, "sddmm", "kron:5", "--devices", 2, *option, says=option[0])
        self.must_fail(2, "spmm", "kron:5", "--type", "float64", says="float64")
        self.must_fail(2, "spmm", "kron:5", "--strategy", "push", says="push")
        self.must_fail(2, "spmm", "kron:5", "--method", "spectral", says="metis")
        self.must_fail(2, "spmm", "kron:5", "--reorder", "hilbert", says="hilbert")
        self.must_fail(2, "spmm", "kron:5", "--devices", 4, "--workgroup", 3, says="workgroup")
        self.must_fail(2, "partition", "kron:5", "--parts", 4, "--workgroup", 3, says="workgroup")
        self.must_fail(2, "spmm", self.file("a.wel", "0 1 16777217\n"), "--weights", "file", says="2^24")


if __name__ == "__main__":
    unittest.main()
