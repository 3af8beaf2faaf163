# SPDX-License-Identifier: Apache-2.0
"""cc: its fields, labels, output, and that teams of every size agree."""

import unittest

from support import GAPS, MTX, ProgramTest

FIELDS = {"graph": str, "vertices": int, "edges": int, "components": int, "largest": int, "form": str, "search_levels": int, "mode": str,
          "edges_placement": str, "bytes_read": int}


class Components(ProgramTest):
    def cc(self, *arguments):
        return self.succeed_json("cc", *arguments)

    def output(self, *arguments):
        self.succeed("cc", *arguments, "--output", "o.txt", "--verify")
        return dict(tuple(map(int, line.split(" "))) for line in (self.folder / "o.txt").read_text().splitlines())

    def test_fields(self):
        result = self.cc("kron:8")
        self.check_common(result, "cc")
        self.check_fields(result, {**FIELDS, "verified": type(None)})
        self.assertIs(self.cc("kron:8", "--verify")["verified"], True)

    def test_known_answers(self):
        result = self.cc(self.file("a.mtx", MTX), "--verify")
        self.assertEqual((result["components"], result["largest"]), (2, 3))
        self.assertEqual(self.output(self.file("a.mtx", MTX)), {0: 0, 1: 0, 2: 0, 3: 3})
        result = self.cc("grid:7x5", "--verify")
        self.assertEqual((result["components"], result["largest"]), (1, 35))

    def test_direction_does_not_matter(self):
        path = self.file("a.el", "3 2\n2 1\n5 4\n0 4\n")
        self.assertEqual(self.output(path), {0: 0, 1: 1, 2: 1, 3: 1, 4: 0, 5: 0})
        self.assertEqual(self.output(path, "--symmetrize"), self.output(path))

    def test_edges_in_host_memory(self):
        for graph in (("kron:12", "--symmetrize"), ("kron:10",)):
            expected = self.cc(*graph)
            for placement in ("host", "compressed-host"):
                for ranks in (1, 3):
                    result = self.cc(*graph, "--edges", placement, "--devices", ranks, "--verify", "--cache", 0)
                    self.assertEqual([result[n] for n in ("components", "largest", "edges_placement", "verified")],
                                     [expected["components"], expected["largest"], placement, True])
                    self.assertGreater(result["bytes_read"], 0)

    def test_ids_of_the_file(self):
        path = self.file("a.el", GAPS + "90 80\n")
        self.assertEqual(self.output(path, "--compact"), {10: 10, 20: 10, 30: 10, 40: 10, 50: 10, 60: 10, 80: 80, 90: 80})
        self.assertEqual(self.cc(path)["components"], 91 - 8 + 2)

    def test_weights_are_left_out(self):
        path = self.file("a.wel", "0 1 -3.5\n2 3 1\n")
        self.assertEqual(self.cc(path, "--verify")["components"], 2)

    def test_takes_no_source(self):
        self.must_fail(2, "cc", "kron:6", "--source", "1", says="--source")

    def test_teams_agree(self):
        for graph in ("kron:11,2", "community:3000,1.5", "urand:11,1"):
            for option in ([], ["--symmetrize"]):
                expected = self.output(graph, *option)
                for devices in (1, 2, 3, 4):
                    for method in ("ranges", "random", "degree"):
                        with self.subTest(graph=graph, devices=devices, method=method):
                            found = self.output(graph, *option, "--devices", devices, "--method", method, "--threads", 4)
                            self.assertEqual(found, expected)

    def test_forms_agree(self):
        for graph in (("kron:11", "--symmetrize"), ("grid:30x20",), ("urand:9,1", "--symmetrize")):
            expected = self.output(*graph)
            for devices in (1, 2, 3):
                for form in ("auto", "forest", "search"):
                    with self.subTest(graph=graph, devices=devices, form=form):
                        self.assertEqual(self.output(*graph, "--form", form, "--devices", devices), expected)
                        ran = self.cc(*graph, "--form", form, "--devices", devices)
                        self.assertIn(ran["form"], ("forest", "search") if form == "auto" else (form,))

    def test_auto_searches_from_a_hub(self):
        found = self.cc("kron:12", "--symmetrize", "--devices", 2)
        self.assertEqual(found["form"], "search")
        self.assertGreater(found["search_levels"], 0)
        self.assertEqual(self.cc("kron:12", "--symmetrize")["form"], "forest")
        self.assertEqual(self.cc("kron:16", "--symmetrize")["form"], "search")

    def test_forms_that_cannot_run(self):
        self.must_fail(2, "cc", "kron:6", "--form", "search", says=["form search", "both ways"])
        for edges in ("host", "compressed-host"):
            self.must_fail(2, "cc", "kron:6", "--symmetrize", "--form", "search", "--edges", edges, says=["--form search", "--edges device"])
        self.must_fail(2, "cc", "kron:6", "--symmetrize", "--form", "search", "--devices", 2, "--no-peer", says=["form search", "form forest"])
        self.must_fail(2, "cc", "kron:6", "--form", "tree", says=["--form", "tree", "search"])

    def test_more_ranks_than_vertices(self):
        self.assertEqual(self.cc(self.file("a.mtx", MTX), "--devices", 7, "--verify")["components"], 2)

    def test_text(self):
        out = self.succeed("cc", self.file("a.el", GAPS), "--compact", "--verify").out
        for line in (r"\n +6  10\n", r"components +1, the largest of 6 vertices", r"verified +yes"):
            self.assertRegex(out, line)

    def test_debian(self):
        result = self.cc("debian", "--verify", "--devices", 2)
        self.assertEqual((result["components"], result["largest"]), (4657, 58109))


if __name__ == "__main__":
    unittest.main()
