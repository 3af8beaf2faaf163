# SPDX-License-Identifier: Apache-2.0
"""bfs: its fields, sources, ids, output, and that teams of every size agree."""

import unittest

from support import GAPS, MTX, SYMMETRIC, ProgramTest

FIELDS = {"graph": str, "vertices": int, "edges": int, "source": int, "reached": int, "max_depth": int, "sum_depth": int,
          "teps": float, "mode": str, "edges_placement": str, "bytes_read": int}
ANSWER = ("source", "reached", "max_depth", "sum_depth", "traversed_edges")


class Bfs(ProgramTest):
    def bfs(self, *arguments):
        return self.succeed_json("bfs", *arguments)

    def output(self, *arguments):
        """The lines of --output as lists of numbers."""
        self.succeed("bfs", *arguments, "--output", "o.txt", "--verify")
        return [[int(word) for word in line.split(" ")] for line in (self.folder / "o.txt").read_text().splitlines()]

    def test_fields(self):
        result = self.bfs("kron:8")
        self.check_common(result, "bfs")
        self.check_fields(result, {**FIELDS, "verified": type(None)})
        self.assertEqual((result["mode"], result["edges_placement"], result["bytes_read"]), ("sync", "device", 0))
        self.assertIs(self.bfs("kron:8", "--verify")["verified"], True)

    def test_modes_and_edges_that_are_there(self):
        for mode in ("auto", "sync"):
            self.assertEqual(self.bfs("kron:8", "--mode", mode, "--edges", "device")["mode"], "sync")

    def test_edges_in_host_memory(self):
        expected = self.bfs("kron:12", "--symmetrize")
        for extra in ((), ("--cache", "0"), ("--cache", "16K"), ("--devices", 3)):
            result = self.bfs("kron:12", "--symmetrize", "--edges", "host", *extra, "--verify")
            self.assertEqual([result[name] for name in ANSWER], [expected[name] for name in ANSWER])
            self.assertEqual((result["edges_placement"], result["verified"]), ("host", True))
        self.assertGreater(self.bfs("kron:12", "--edges", "host", "--cache", 0)["bytes_read"], 0)
        self.assertEqual(self.bfs("kron:12", "--edges", "host", "--cache", "64M")["bytes_read"], 0)

    def test_edges_that_do_not_fit(self):
        self.must_fail(2, "bfs", "kron:8", "--cache", "1M", says=["--cache", "--edges host"])
        self.must_fail(2, "bfs", "kron:8", "--edges", "host", "--cache", "9000T", says=["cache", "larger"])
        self.must_fail(2, "bfs", "kron:8", "--edges", "host", "--cache", "lots")
        self.must_fail(3, "bfs", "kron:12", "--device-memory", "20K", says=["bytes"])

    def test_many_sources_together(self):
        alone = self.bfs("kron:10", "--symmetrize", "--sources", 70)["sources"]
        result = self.bfs("kron:10", "--symmetrize", "--sources", 70, "--together", "--verify")
        self.assertIs(result["verified"], True)
        names = ("source", "reached", "max_depth", "sum_depth")
        self.assertEqual([[row[n] for n in names] for row in result["sources"]], [[row[n] for n in names] for row in alone])
        packed = self.bfs("kron:10", "--symmetrize", "--sources", 70, "--together", "--edges", "compressed-host")
        self.assertEqual([[row[n] for n in names] for row in packed["sources"]], [[row[n] for n in names] for row in alone])
        self.must_fail(2, "bfs", "kron:8", "--together", says=["--sources"])

    def test_limits(self):
        whole = self.bfs("grid:9x7", "--source", 3)
        self.assertEqual((sum(whole["levels"]), len(whole["levels"])), (63, whole["max_depth"] + 1))
        for devices in (1, 2):
            for limits, depth in ((("--depth-limit", 2), 2), (("--target", 12), 1), (("--target", 5, "--target", 30, "--depth-limit", 9), 3)):
                result = self.bfs("grid:9x7", "--source", 3, *limits, "--verify", "--devices", devices)
                self.assertEqual((result["levels"], result["verified"], result["mode"]), (whole["levels"][:depth + 1], True, "sync"))
                self.assertEqual((result["max_depth"], result["reached"]), (depth, sum(whole["levels"][:depth + 1])))
        self.assertEqual((result["targets"], result["depth_limit"]), ([5, 30], 9))
        self.must_fail(2, "bfs", "grid:9x7", "--target", 63, says=["63"])
        self.must_fail(2, "bfs", "grid:9x7", "--target", 6, "--mode", "async", says=["--target", "--mode sync"])
        self.must_fail(2, "bfs", "grid:9x7", "--depth-limit", 6, "--sources", 2, "--together", says=["--depth-limit"])

    def test_known_answers(self):
        result = self.bfs(self.file("a.mtx", MTX), "--source", 0, "--verify")
        self.assertEqual([result[name] for name in ANSWER], [0, 3, 2, 3, 2])
        result = self.bfs("grid:5x1", "--source", 0, "--verify")
        self.assertEqual([result[name] for name in ANSWER], [0, 5, 4, 10, 4])

    def test_an_undirected_edge_counts_once_and_a_loop_too(self):
        result = self.bfs(self.file("a.mtx", SYMMETRIC), "--source", 0)
        self.assertEqual((result["edges"], result["traversed_edges"]), (5, 3))

    def test_teps_are_edges_a_second(self):
        result = self.bfs("kron:10", "--symmetrize")
        self.assertAlmostEqual(result["teps"] * result["seconds"][0] / result["traversed_edges"], 1.0)

    def test_directed_edges_are_followed_forwards(self):
        path = self.file("a.mtx", MTX)
        self.assertEqual(self.bfs(path, "--source", 2)["reached"], 1)
        self.assertEqual(self.bfs(path, "--source", 3)["reached"], 1)
        self.assertEqual(self.bfs(path, "--source", 2, "--symmetrize")["reached"], 3)

    def test_output(self):
        self.assertEqual(self.output(self.file("a.mtx", MTX), "--source", 0), [[0, 0, 0], [1, 1, 0], [2, 2, 1], [3, -1, -1]])

    def test_ids_of_the_file(self):
        path = self.file("a.el", GAPS)
        lines = self.output(path, "--compact", "--source", 20)
        self.assertEqual(lines, [[10, -1, -1], [20, 0, 20], [30, -1, -1], [40, 1, 20], [50, 2, 40], [60, -1, -1]])
        self.assertEqual(self.bfs(path, "--compact", "--source", 20)["source"], 20)
        self.assertEqual(self.bfs(path, "--source", 20)["reached"], 3)
        self.assertEqual(len(self.output(path, "--source", 20)), 61)
        one_based = self.output(self.file("b.el", "1 2\n2 3\n"), "--one-based", "--source", 2)
        self.assertEqual(one_based, [[1, -1, -1], [2, 0, 2], [3, 1, 2]])

    def test_sources_that_are_no_vertex(self):
        path = self.file("a.el", GAPS)
        self.must_fail(2, "bfs", path, "--source", "61", says=["61", "0 to 60"])
        self.must_fail(2, "bfs", path, "--compact", "--source", "25", says=["25", "10 to 60", "30"])
        self.must_fail(2, "bfs", path, "--compact", "--source", "99", says=["99", "10 to 60"])
        self.must_fail(2, "bfs", path, "--one-based", "--source", "0", says=["1 to 60"])
        for source in ("", "x", "-1", "1.5", "18446744073709551616"):
            with self.subTest(source):
                self.must_fail(2, "bfs", path, "--source", source, says=source)

    def test_the_default_source_has_the_most_out_edges(self):
        result = self.run_program("bfs", self.file("a.el", GAPS))
        self.assertIn("from 10, the vertex with the most out-edges", result.out)
        self.assertEqual(self.bfs(self.file("b.el", "5 1\n5 2\n3 1\n3 2\n"))["source"], 3)

    def test_random_sources(self):
        first = self.bfs("kron:10", "--symmetrize", "--sources", 5, "--verify", "--repeat", 2)
        self.check_common(first, "bfs", runs=10)
        self.assertEqual(len(first["sources"]), 5)
        for entry in first["sources"]:
            self.check_fields(entry, {"source": int, "reached": int, "max_depth": int, "sum_depth": int, "teps": float,
                                      "seconds": list})
            self.assertIs(entry["verified"], True)
            self.assertGreater(entry["reached"], 1)
        self.assertEqual({name: first["sources"][0][name] for name in ANSWER}, {name: first[name] for name in ANSWER})
        sources = [entry["source"] for entry in first["sources"]]
        self.assertEqual(len(set(sources)), 5)
        again = self.bfs("kron:10", "--symmetrize", "--sources", 5, "--devices", 3, "--method", "random")
        self.assertEqual([entry["source"] for entry in again["sources"]], sources)
        other = self.bfs("kron:10", "--symmetrize", "--sources", 5, "--seed", 2)
        self.assertNotEqual([entry["source"] for entry in other["sources"]], sources)

    def test_random_sources_have_out_edges(self):
        path = self.file("a.mtx", MTX)
        result = self.bfs(path, "--sources", 2)
        self.assertEqual({entry["source"] for entry in result["sources"]}, {0, 1})
        self.must_fail(2, "bfs", path, "--sources", 3, says=["--sources 3", "2 vertices"])
        self.must_fail(2, "bfs", path, "--sources", 0)
        self.must_fail(2, "bfs", path, "--sources", 1, "--source", 1)

    def test_teams_agree(self):
        for graph in ("kron:11", "grid:60x50", "community:3000,5"):
            expected = self.bfs(graph, "--symmetrize", "--source", 7)
            for devices in (1, 2, 3, 4):
                for method in ("ranges", "random"):
                    for threads in (1, 4):
                        with self.subTest(graph=graph, devices=devices, method=method, threads=threads):
                            result = self.bfs(graph, "--symmetrize", "--source", 7, "--devices", devices, "--method", method,
                                              "--threads", threads, "--verify")
                            self.assertEqual(result["devices"], devices)
                            self.assertEqual([result[name] for name in ANSWER], [expected[name] for name in ANSWER])

    def test_deterministic_output(self):
        arguments = ("kron:11", "--symmetrize", "--source", 7, "--deterministic")
        expected = self.output(*arguments)
        for devices in (2, 4):
            for method in ("ranges", "random"):
                self.assertEqual(self.output(*arguments, "--devices", devices, "--method", method), expected)

    def test_more_ranks_than_vertices(self):
        self.assertEqual(self.bfs(self.file("a.mtx", MTX), "--source", 0, "--devices", 7, "--verify")["reached"], 3)

    def test_text_shows_levels(self):
        out = self.succeed("bfs", self.file("a.el", GAPS), "--compact", "--source", 10, "--verify").out
        for line in (r"\n +0 +1\n +1 +2\n +2 +1\n +3 +1\n", r"reached +5 of 6 vertices", r"verified +yes"):
            self.assertRegex(out, line)

    def test_text_stays_short_for_many_levels(self):
        self.assertLess(len(self.succeed("bfs", "grid:3000x1", "--source", 0).out.splitlines()), 30)


if __name__ == "__main__":
    unittest.main()
