# SPDX-License-Identifier: Apache-2.0
"""Graph files as people have them: separators, words, pipes, marks and padding, little address space; and what is said of bad ones."""

import gzip
import json
import os
import resource
import subprocess
import unittest

from support import DEVICE, PROGRAM, ProgramTest

FOUR_GB = 4_000_000 * 1024


def limit_address_space():
    resource.setrlimit(resource.RLIMIT_AS, (FOUR_GB, FOUR_GB))


class AddressSpace(ProgramTest):
    """Batch systems limit it: a small file needs little."""

    def setUp(self):
        super().setUp()
        if self.run_program("--version", device=False, prepare=limit_address_space).status != 0:
            self.skipTest("this build (of a sanitizer) needs more by itself")

    def test_every_format_and_generator(self):
        wel = self.file("a.wel", "0 1 5\n1 0 5\n")
        for name in ("a.el", "a.txt", "a.tsv", "a.csv", "a.mtx", "a.gr", "a.graph", "a.sg", "a.wsg", "a.npz", "a.wgr", "a.el.gz",
                     "a.mtx.zst"):
            self.run_program("convert", wel, name)
        self.file("words.el", "a b\nb c\n")
        for name in ("a.wel", "a.el", "a.txt", "a.tsv", "a.csv", "a.mtx", "a.gr", "a.graph", "a.sg", "a.wsg", "a.npz", "a.wgr",
                     "a.el.gz", "a.mtx.zst", "words.el", "kron:6", "urand:6", "grid:4x4", "community:50,4"):
            for command in ("stats", "bfs"):
                with self.subTest(name=name, command=command):
                    self.succeed(command, name, prepare=limit_address_space)
        self.succeed("stats", "a.el", "--compact", prepare=limit_address_space)


class Words(ProgramTest):
    TEXT = "Alice,Bob,2\nBob,Carol,3\n\"Dave, Jr\",Alice,1\n"

    def test_sources_and_results(self):
        path = self.file("people.csv", self.TEXT)
        result = self.succeed_json("bfs", path, "--source", "Alice", "--verify", "--output", "out.txt")
        self.assertEqual((result["source"], result["source_name"], result["reached"]), ("Alice", "Alice", 3))
        self.assertEqual((self.folder / "out.txt").read_text().splitlines(),
                         ["Alice 0 Alice", "Bob 1 Alice", "Carol 2 Bob", '"Dave, Jr" -1 -1'])
        result = self.succeed_json("sssp", path, "--source", "Dave, Jr", "--output", "out.txt", "--verify")
        self.assertEqual(result["max_distance"], 6)
        self.assertIn("Carol 6", (self.folder / "out.txt").read_text())
        plain = self.file("plain.csv", "Alice,Bob\nBob,Carol\n")
        result = self.succeed_json("pagerank", plain)
        self.assertEqual((result["top"][0][0], result["top_names"][0]), ("Carol", "Carol"))
        self.assertIn("Carol\n", self.succeed("pagerank", plain).out)
        self.succeed("cc", path, "--output", "out.txt")
        self.assertIn("Bob Alice", (self.folder / "out.txt").read_text())
        self.assertEqual(self.succeed_json("stats", path)["max_degree_vertex"], "Alice")
        self.must_fail(2, "bfs", path, "--source", "Eve", says=["Eve", "words"])
        result = self.succeed_json("bfs", path, "--sources", 2, "--together", "--verify")
        self.assertIs(type(result["sources"][0]["source"]), str)

    def test_id_map(self):
        path = self.file("people.csv", self.TEXT)
        self.succeed("stats", path, "--id-map", "map.txt")
        self.assertEqual((self.folder / "map.txt").read_text(), '0 Alice\n1 Bob\n2 Carol\n3 "Dave, Jr"\n')
        gaps = self.file("gaps.el", "30 10\n99999999999 30\n")
        self.succeed("convert", gaps, "out.wgr", "--compact", "--id-map", "map.txt")
        self.assertEqual((self.folder / "map.txt").read_text(), "0 10\n1 30\n2 99999999999\n")
        self.must_fail(2, "stats", "kron:6", "--id-map", "map.txt", says="--id-map")
        self.must_fail(2, "stats", gaps, "--compact", "--id-map", "none/map.txt", says="--id-map")

    def test_numbers_as_words_and_headings(self):
        path = self.file("a.el", "7 x\n8 7\n")
        self.must_fail(2, "stats", path, says=["a.el:1", "'x'", "--ids words"])
        result = self.succeed_json("bfs", path, "--ids", "words", "--source", "8")
        self.assertEqual((result["source"], result["reached"], result["vertices"]), ("8", 3, 3))
        table = self.file("a.csv", "person,friend\nAlice,Bob\nBob,Carol\n")
        self.assertEqual(self.succeed_json("stats", table, warns="a.csv: the first line, 'person,friend', is read as an edge")["vertices"], 5)
        self.assertEqual(self.succeed_json("stats", table, "--headings", "no")["vertices"], 5)
        self.assertEqual(self.succeed_json("stats", table, "--headings", "yes")["vertices"], 3)
        edges = self.file("b.csv", "Alice,Bob\nCarol,Alice\n")
        self.assertEqual(self.succeed_json("stats", edges)["vertices"], 3)
        # Words above numbers, whatever stands between them.
        for separator in ",;\t ":
            headed = self.file("d.txt", f"u{separator}v\n1{separator}2\n2{separator}3\n")
            self.assertEqual(self.succeed_json("bfs", headed, "--source", 1)["reached"], 3)
        self.must_fail(2, "bfs", self.file("e.csv", 'source,target\n"Alice B","5"\n"5","Alice B"\n'), says=["e.csv:2", "--ids words"])
        self.assertEqual(self.succeed_json("bfs", "e.csv", "--ids", "words", "--source", "Alice B")["reached"], 2)
        # A word above a number, in the column of weights.
        for separator in ",\t ":
            weighted = self.file("c.txt", separator.join(["person", "friend", "strength"]) + f"\nAlice{separator}Bob{separator}2.5\n")
            result = self.succeed_json("sssp", weighted, "--weights", "file", "--source", "Alice", "--verify")
            self.assertEqual((result["vertices"], result["sum_distance"]), (2, 2.5))
        self.must_fail(2, "stats", table, "--headings", "maybe", says="--headings")
        self.must_fail(2, "stats", path, "--ids", "letters", says="--ids")


class Weights(ProgramTest):
    def test_negative_ones_are_named_by_their_line(self):
        skew = self.file("a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n4 4 2\n2 1 0\n4 3 2.5\n")
        for command in (["sssp"], ["sample", "--batch", 1, "--weighted"], ["pagerank", "--weighted"]):
            self.must_fail(2, command[0], skew, *command[1:], "--weights", "file", says=["a.mtx:4: the edge from 4 to 3 has the weight '2.5', and its reverse the opposite"])


class Pipes(ProgramTest):
    def feed(self, data, *arguments):
        process = subprocess.run([PROGRAM, *arguments, "--device", DEVICE, "--json", "-"], input=data, capture_output=True,
                                 cwd=self.folder, timeout=600, check=False)
        self.assertEqual(process.returncode, 0, process.stderr)
        return json.loads(process.stdout)

    def test_standard_input(self):
        wel = self.file("a.wel", "0 1 5\n1 2 5\n2 0 5\n1 0 5\n2 1 5\n0 2 5\n")
        for name in ("el", "wel", "txt", "tsv", "csv", "mtx", "gr", "graph", "sg", "wsg", "npz", "wgr"):
            self.run_program("convert", wel, f"a.{name}")
            data = (self.folder / f"a.{name}").read_bytes()
            for path in ("-", "/dev/stdin"):
                with self.subTest(name=name, path=path):
                    result = self.feed(data, "stats", path, "--format", name)
                    self.assertEqual((result["vertices"], result["edges"]), (3, 6))
        packed = gzip.compress(b"0 1\n1 2\n")
        self.assertEqual(self.feed(packed, "bfs", "-", "--format", "el", "--source", "0", "--verify")["reached"], 3)
        self.assertEqual(self.feed(b"0 1\n", "partition", "-", "--format", "el", "--parts", "1")["vertices"], 2)
        self.assertEqual(self.feed(b"a b\nb c\n", "bfs", "-", "--format", "el", "--source", "a")["reached"], 3)

    def test_redirected_and_substituted(self):
        self.file("a.el", "0 1\n1 2\n")
        for command in (f"{PROGRAM} stats - --format el < a.el", f"{PROGRAM} stats <(cat a.el) --format el",
                        f"cat a.el | {PROGRAM} stats - --format el", f"(read line; {PROGRAM} stats - --format el) < a.el"):
            with self.subTest(command):
                process = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=self.folder, timeout=600,
                                         check=False)
                self.assertEqual(process.returncode, 0, process.stderr)
                self.assertIn("vertices", process.stdout)

    def test_a_name_that_says_nothing(self):
        path = self.file("graph", "0 1\n1 2\n")
        self.must_fail(2, "stats", path, says=[path, "--format"])
        self.assertEqual(self.succeed_json("stats", path, "--format", "el")["edges"], 2)
        self.must_fail(2, "stats", "-", says="--format")
        self.must_fail(2, "stats", path, "--format", "elephant", says=["elephant", "wel"])
        self.must_fail(2, "stats", "none", "--format", "el", says="none")
        os.mkfifo(self.folder / "pipe.el")
        self.must_fail(2, "stats", str(self.folder / "pipe.el"), says=["pipe.el", "--format"])


class Weights(ProgramTest):
    def test_bad_ones_are_named_by_line_and_ids(self):
        path = self.file("a.wel", "100 200 3\n200 300 -4\n")
        for command in (("sssp", path), ("sssp", path, "--compact"), ("sample", path, "--compact", "--weighted", "--batch", 1)):
            with self.subTest(command):
                self.must_fail(2, *command, says=["a.wel:2: ", "from 200 to 300", "-4"])
        for weight, says in (("nan", "'nan'"), ("inf", "'inf'"), ("1e99", "'1e99'"), ("99999999999", "'99999999999'")):
            path = self.file("b.wel", f"1 2 3\n2 3 {weight}\n")
            self.must_fail(2, "sssp", path, says=["b.wel:2: ", says])
        # Formats without lines: by the ids.
        self.file("c.wel", "100 200 3\n200 300 -4\n")
        self.succeed("convert", "c.wel", "c.wgr", "--compact")
        self.must_fail(2, "sssp", "c.wgr", says=["c.wgr: ", "from 200 to 300", "-4"])
        self.must_fail(2, "sample", "c.wgr", "--weighted", "--batch", 1, says=["c.wgr: ", "from 200 to 300", "-4"])

    def test_parallel_entries_of_a_matrix(self):
        self.file("a.wel", "0 1 5\n0 1 3\n1 2 4\n")
        for name in ("a.npz", "a.mtx"):
            self.succeed("convert", "a.wel", name, "--keep-duplicates")
            result = self.run_program("sssp", name, "--source", 0, "--json", "-")
            self.assertEqual((result.status, result.json["max_distance"]), (0, 7))
            self.assertEqual(result.err.count("\n"), 1)
            self.assertIn("sum-duplicates", result.err)
            result = self.succeed_json("sssp", name, "--source", 0, "--sum-duplicates")
            self.assertEqual(result["max_distance"], 12)
            self.succeed("sssp", name, "--source", 0, "--keep-duplicates")
        self.assertEqual(self.succeed_json("sssp", "a.wel", "--source", 0, "--sum-duplicates")["max_distance"], 12)
        self.must_fail(2, "sssp", "a.wel", "--sum-duplicates", "--keep-duplicates", says="--keep-duplicates")
        self.assertIn("--sum-duplicates", self.run_program("bfs", "a.wel", "--sum-duplicates").err)

    def test_real_and_complex_matrices(self):
        banner = "%%MatrixMarket matrix coordinate "
        for lines in ("1 2 3000000000\n2 3 1.5\n", "2 3 1.5\n1 2 3000000000\n"):
            path = self.file("a.mtx", banner + "real general\n3 3 2\n" + lines)
            self.assertEqual(self.succeed_json("sssp", path, "--source", 0)["max_distance"], 3000000001.5)
        path = self.file("b.mtx", banner + "complex hermitian\n3 3 2\n2 1 1 2\n3 2 0 1\n")
        self.assertEqual(self.succeed_json("bfs", path, "--source", 0)["reached"], 3)
        self.must_fail(2, "sssp", path, says=["b.mtx:1: ", "'complex'", "'real'"])


class Names(ProgramTest):
    def test_line_ends_and_marks(self):
        self.file("here/graph.el", "0 1\n1 2\n")
        (self.folder / "here/names.txt").write_bytes(b"\xef\xbb\xbfAlice\r\nBob\r\nCarol\r\n")
        result = self.succeed_json("bfs", "here", "--source", "Alice")
        self.assertEqual((result["source"], result["source_name"], result["reached"]), (0, "Alice", 3))
        self.assertNotIn("\r", self.succeed("bfs", "here", "--source", "Bob").out)

    def test_gzip_padding(self):
        (self.folder / "a.el.gz").write_bytes(gzip.compress(b"0 1\n") + bytes(1000) + gzip.compress(b"1 2\n") + bytes(7))
        self.assertEqual(self.succeed_json("stats", "a.el.gz")["edges"], 2)


if __name__ == "__main__":
    unittest.main()
