# SPDX-License-Identifier: Apache-2.0
"""pagerank: its fields, options, output, and that teams of every size agree."""

import unittest

from support import GAPS, MTX, ProgramTest

FIELDS = {"graph": str, "vertices": int, "edges": int, "iterations": int, "residual": float, "converged": bool,
          "top": list, "mode": str}


def reference(vertices, edges, damping=0.85):
    """The ranks, by plain iteration."""
    ranks = [1 / vertices] * vertices
    degree = [sum(1 for u, _ in edges if u == v) for v in range(vertices)]
    for _ in range(500):
        lost = sum(rank for rank, d in zip(ranks, degree) if d == 0)
        after = [(1 - damping) / vertices + damping * lost / vertices] * vertices
        for u, v in edges:
            after[v] += damping * ranks[u] / degree[u]
        ranks = after
    return ranks


class PageRank(ProgramTest):
    def pagerank(self, *arguments):
        return self.succeed_json("pagerank", *arguments)

    def output(self, *arguments):
        self.succeed("pagerank", *arguments, "--output", "o.txt")
        lines = [line.split(" ") for line in (self.folder / "o.txt").read_text().splitlines()]
        return [(int(vertex), float(rank)) for vertex, rank in lines]

    def test_fields(self):
        result = self.pagerank("kron:8")
        self.check_common(result, "pagerank")
        self.check_fields(result, {**FIELDS, "verified": type(None)})
        self.assertEqual(result["mode"], "sync")
        self.assertEqual(len(result["top"]), 10)
        for vertex, score in result["top"]:
            self.assertIs(type(vertex), int)
            self.assertIs(type(score), float)
        self.assertIs(self.pagerank("kron:8", "--verify")["verified"], True)

    def test_against_plain_iteration(self):
        for text, vertices, edges in ((MTX, 4, [(0, 1), (1, 2)]),):
            path = self.file("a.mtx", text)
            for damping in (0.0, 0.5, 0.85, 0.99):
                expected = reference(vertices, edges, damping)
                ranks = self.output(path, "--tolerance", "1e-14", "--max-iterations", 5000, "--damping", damping)
                self.assertEqual([vertex for vertex, _ in ranks], list(range(vertices)))
                for (_, rank), wanted in zip(ranks, expected):
                    self.assertAlmostEqual(rank, wanted, places=12)

    def test_top_is_ordered_with_ties_by_id(self):
        result = self.pagerank("grid:2x2", "--tolerance", "1e-12")
        self.assertEqual([vertex for vertex, _ in result["top"]], [0, 1, 2, 3])
        result = self.pagerank(self.file("a.el", GAPS), "--compact", "--tolerance", "1e-12")
        self.assertEqual(sorted(result["top"], key=lambda entry: (-entry[1], entry[0])), result["top"])
        self.assertEqual({vertex for vertex, _ in result["top"]}, {10, 20, 30, 40, 50, 60})

    def test_ranks_sum_to_one(self):
        for tolerance in ("1e-6", "1e-10"):
            self.assertAlmostEqual(sum(rank for _, rank in self.output("kron:10", "--tolerance", tolerance)), 1.0, places=5)

    def test_stops_at_the_tolerance_or_the_limit(self):
        loose = self.pagerank("kron:10", "--tolerance", "1e-3")
        tight = self.pagerank("kron:10", "--tolerance", "1e-10")
        self.assertLess(loose["iterations"], tight["iterations"])
        for result, tolerance in ((loose, 1e-3), (tight, 1e-10)):
            self.assertTrue(result["converged"])
            self.assertLessEqual(result["residual"], tolerance)
        stopped = self.pagerank("kron:10", "--tolerance", "0", "--max-iterations", 3, "--verify")
        self.assertEqual((stopped["iterations"], stopped["converged"], stopped["verified"]), (3, False, True))
        self.assertIn("not converged", self.succeed("pagerank", "kron:10", "--max-iterations", 3).out)

    def test_options_out_of_range(self):
        for option, value in (("--damping", "1"), ("--damping", "-0.1"), ("--damping", "nan"), ("--damping", "x"),
                              ("--tolerance", "-1"), ("--tolerance", "nan"), ("--tolerance", "1e-6x"),
                              ("--max-iterations", "0"), ("--max-iterations", "-3"), ("--max-iterations", "4294967296")):
            with self.subTest(option=option, value=value):
                self.must_fail(2, "pagerank", "kron:6", option, value, says=option)

    def test_ranks_follow_weights(self):
        """0 passes on nine tenths to 1; without --weighted, which a line tells of, a half each."""
        path = self.file("a.wel", "0 1 9\n0 2 1\n1 0 1\n2 0 1\n")
        for devices in (1, 2, 3, 5):
            for method in ("ranges", "random"):
                for more in ([], ["--weights", "file"], ["--mode", "sync"], ["--edges", "host"]):
                    result = self.pagerank(path, "--weighted", "--tolerance", "1e-9", "--devices", devices, "--method", method, "--verify", *more)
                    self.assertEqual([vertex for vertex, _ in result["top"]], [0, 1, 2])
                    for (_, score), wanted in zip(result["top"], (0.486486, 0.422162, 0.091351)):
                        self.assertAlmostEqual(score, wanted, places=6)
                    self.assertEqual((result["weighted"], result["verified"]), (True, True))
        unweighted = self.run_program("pagerank", path, "--json", "-")
        self.assertRegex(unweighted.err, r"\Awarren: warning: [^\n]*a\.wel: ranks are unweighted[^\n]*--weighted[^\n]*\n\Z")
        self.assertIs(unweighted.json["weighted"], False)
        for (_, score), wanted in zip(unweighted.json["top"], (0.486486, 0.256757, 0.256757)):
            self.assertAlmostEqual(score, wanted, places=5)

    def test_a_line_tells_of_weights_of_every_format(self):
        path = self.file("a.wel", "0 1 9\n0 2 1\n1 0 9\n2 0 1\n")
        for name in ("b.wel", "b.wel.gz", "b.tsv", "b.gr", "b.mtx", "b.graph", "b.wsg", "b.npz", "b.wgr"):
            with self.subTest(name):
                self.succeed("convert", path, name)
                result = self.run_program("pagerank", name)
                self.assertEqual(result.status, 0, result.err)
                self.assertIn("ranks are unweighted", result.err)
                self.assertIs(self.pagerank(name, "--weighted", "--verify")["verified"], True)
                self.assertIn("ranks are unweighted", self.run_program("pagerank", "kron:6", "--weights", "uniform:1:9").err)
        for name in ("c.el", "c.graph", "c.sg"):
            self.succeed("convert", "grid:3x3", name)
            self.pagerank(name)

    def test_weights_with_zeros(self):
        """A vertex whose weights sum to 0 counts as one without out-edges, and an edge of 0 passes nothing on."""
        expected = reference(4, [(0, 1), (2, 0)])
        for weights in ("0 1 5\n0 3 0\n1 2 0\n1 3 0\n2 0 7\n", "0 1 .5\n0 3 0\n1 2 0\n1 3 0.0\n2 0 1e-30\n"):
            path = self.file("a.wel", weights)
            self.assertIs(self.pagerank(path, "--weighted", "--verify", "--tolerance", "1e-12")["verified"], True)
            for (_, rank), wanted in zip(self.output(path, "--weighted", "--tolerance", "1e-14", "--max-iterations", 1000), expected):
                self.assertAlmostEqual(rank, wanted, places=12)

    def test_what_weighted_ranks_refuse(self):
        self.must_fail(2, "pagerank", self.file("a.wel", "10 20 1\n20 30 -4\n"), "--compact", "--weighted",
                  says=["a.wel", "2", "20", "30", "-4"])
        self.must_fail(2, "pagerank", "kron:6", "--weighted", says=["no weights", "--weights uniform:LO:HI"])
        weighted = ("pagerank", "kron:6", "--weighted", "--weights", "uniform:1:9")
        self.must_fail(2, *weighted, "--mode", "async", says=["--weighted", "--mode sync"])
        self.must_fail(2, *weighted, "--edges", "compressed-host", says=["--weighted", "--edges device or host"])

    def test_teams_agree(self):
        for graph in ("kron:10", "community:2000,5"):
            expected = self.pagerank(graph, "--tolerance", "1e-10")
            for devices in (1, 2, 3, 4):
                for method in ("ranges", "random"):
                    with self.subTest(graph=graph, devices=devices, method=method):
                        result = self.pagerank(graph, "--tolerance", "1e-10", "--devices", devices, "--method", method,
                                               "--verify")
                        self.assertEqual(result["iterations"], expected["iterations"])
                        self.assertEqual([v for v, _ in result["top"]], [v for v, _ in expected["top"]])
                        for (_, score), (_, wanted) in zip(result["top"], expected["top"]):
                            self.assertAlmostEqual(score / wanted, 1.0, places=9)

    def test_repeats_bit_for_bit(self):
        arguments = ("kron:11", "--deterministic", "--devices", 2)
        self.assertEqual(self.output(*arguments), self.output(*arguments))

    def test_debian(self):
        result = self.pagerank("debian", "--tolerance", "1e-9", "--verify")
        self.assertEqual(result["top_names"][:4], ["libc6", "libgcc-s1", "libidn2-0", "gcc-12-base"])
        for (_, score), wanted in zip(result["top"], (0.1797, 0.0847, 0.0765, 0.0387)):
            self.assertAlmostEqual(score, wanted, places=4)
        self.assertIn("libc6 (", self.succeed("pagerank", "debian").out)


if __name__ == "__main__":
    unittest.main()
