# SPDX-License-Identifier: Apache-2.0
"""bc, core and triangles: their fields, known answers, output, and that teams of every size agree."""

import unittest

from support import GAPS, ProgramTest

FIELDS = {"graph": str, "vertices": int, "edges": int, "mode": str, "edges_placement": str, "top": list}
# A clique of four with a tail of two, and a vertex alone.
CLIQUE = "0 1\n0 2\n0 3\n1 2\n1 3\n2 3\n3 4\n4 5\n6 6\n"


class Counts(ProgramTest):
    def output(self, *arguments):
        self.succeed(*arguments, "--output", "o.txt", "--verify")
        return dict(tuple(map(int, line.split(" "))) for line in (self.folder / "o.txt").read_text().splitlines())

    def test_fields(self):
        for command, own in (("core", {"largest_core": int, "innermost": int, "steps": int}), ("triangles", {"triangles": int})):
            result = self.succeed_json(command, "kron:8", "--symmetrize")
            self.check_common(result, command)
            self.check_fields(result, {**FIELDS, **own, "verified": type(None)})
            self.assertIs(self.succeed_json(command, "kron:8", "--symmetrize", "--verify")["verified"], True)

    def test_known_answers(self):
        path = self.file("a.el", CLIQUE)
        self.assertEqual(self.output("core", path, "--symmetrize"), {0: 3, 1: 3, 2: 3, 3: 3, 4: 1, 5: 1, 6: 0})
        self.assertEqual(self.output("triangles", path, "--symmetrize"), {0: 3, 1: 3, 2: 3, 3: 3, 4: 0, 5: 0, 6: 0})
        self.assertEqual(self.succeed_json("triangles", path, "--symmetrize")["triangles"], 4)
        result = self.succeed_json("core", path, "--symmetrize")
        self.assertEqual((result["largest_core"], result["innermost"]), (3, 4))
        self.assertEqual(result["top"], [[0, 3], [1, 3], [2, 3], [3, 3], [4, 1], [5, 1], [6, 0]])
        # Edges count once, in whichever directions they are there.
        self.assertEqual(self.output("core", path), {0: 3, 1: 3, 2: 3, 3: 3, 4: 1, 5: 1, 6: 0})
        self.assertEqual(self.output("core", self.file("b.el", "0 1\n1 0\n")), {0: 1, 1: 1})
        self.assertEqual(self.output("core", self.file("c.el", "0 1\n1 0\n1 2\n")), {0: 1, 1: 1, 2: 1})

    def test_duplicates_and_self_loops(self):
        path = self.file("a.el", "0 1\n0 1\n1 2\n2 0\n1 1\n")
        self.assertEqual(self.succeed_json("triangles", path, "--symmetrize", "--keep-duplicates")["triangles"], 1)
        self.assertEqual(self.output("core", path, "--symmetrize"), {0: 2, 1: 2, 2: 2})
        self.assertEqual(self.output("core", path, "--symmetrize", "--keep-duplicates"), {0: 2, 1: 2, 2: 2})

    def test_directed_graphs_have_no_triangles(self):
        self.must_fail(2, "triangles", self.file("a.el", "0 1\n1 2\n2 0\n"), says="--symmetrize")

    def test_compressed_lists_are_refused(self):
        for command in ("core", "triangles"):
            self.must_fail(2, command, "kron:8", "--symmetrize", "--edges", "compressed-host", says="compressed")

    def test_ids_of_the_file(self):
        found = self.output("core", self.file("a.el", GAPS), "--compact")
        self.assertEqual(sorted(found), [10, 20, 30, 40, 50, 60])

    def test_teams_agree(self):
        for command in ("core", "triangles"):
            for graph in ("kron:10", "community:2000,5"):
                expected = self.output(command, graph, "--symmetrize")
                for devices in (2, 3, 7):
                    for more in (["--method", "random"], ["--method", "degree"], ["--edges", "host"]):
                        with self.subTest(command=command, graph=graph, devices=devices, more=more):
                            self.assertEqual(self.output(command, graph, "--symmetrize", "--devices", devices, *more), expected)

    def scores(self, *arguments):
        self.succeed("bc", *arguments, "--output", "o.txt", "--verify")
        return {int(v): float(score) for v, score in (line.split(" ") for line in (self.folder / "o.txt").read_text().splitlines())}

    def test_betweenness(self):
        result = self.succeed_json("bc", "kron:7", "--verify")
        self.check_common(result, "bc")
        self.check_fields(result, {**FIELDS, "sources": int, "normalized": bool, "steps": int, "verified": bool})
        path = self.file("a.el", "0 1\n1 2\n2 3\n3 4\n")
        self.assertEqual(self.scores(path, "--symmetrize", "--unnormalized"), {0: 0.0, 1: 3.0, 2: 4.0, 3: 3.0, 4: 0.0})
        self.assertEqual(self.scores(path, "--unnormalized"), {0: 0.0, 1: 3.0, 2: 4.0, 3: 3.0, 4: 0.0})
        self.assertAlmostEqual(self.scores(path, "--symmetrize")[2], 8 / 12)
        for graph in ("kron:8", "grid:9x7"):
            expected = self.scores(graph, "--sources", 5, "--seed", 3)
            for devices in (2, 3, 7):
                for method in ("ranges", "random", "degree"):
                    with self.subTest(graph=graph, devices=devices, method=method):
                        found = self.scores(graph, "--sources", 5, "--seed", 3, "--devices", devices, "--method", method)
                        self.assertEqual(sorted(found), sorted(expected))
                        for v, score in expected.items():
                            self.assertAlmostEqual(found[v], score, places=12)
        self.must_fail(2, "bc", "kron:6", "--sources", 0, says="--sources")

    def test_text(self):
        out = self.succeed("core", self.file("a.el", CLIQUE), "--symmetrize", "--verify").out
        for line in (r"\n +3  0\n", r"largest core number +3, of 4 vertices", r"verified +yes"):
            self.assertRegex(out, line)

    def test_debian(self):
        self.assertIs(self.succeed_json("core", "debian", "--verify", "--devices", 2)["verified"], True)
        self.assertIs(self.succeed_json("triangles", "debian", "--symmetrize", "--verify", "--devices", 2)["verified"], True)


if __name__ == "__main__":
    unittest.main()
