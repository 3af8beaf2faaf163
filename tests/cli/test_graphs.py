# SPDX-License-Identifier: Apache-2.0
"""What graphs a GRAPH argument gives, with every graph option: stats, convert, partition; datasets and where they are found."""

import gzip
import os
import shutil
import unittest

from support import GAPS, MTX, PROGRAM, SYMMETRIC, ProgramTest

GRAPH_FIELDS = {"graph": str, "vertices": int, "edges": int}
STATS_FIELDS = {"max_degree": int, "mean_degree": float, "isolated": int, "self_loops": int, "weighted": bool,
                "symmetric": bool, **GRAPH_FIELDS}


class Stats(ProgramTest):
    def stats(self, *arguments, **options):
        return self.succeed_json("stats", *arguments, **options)

    def expect(self, result, **values):
        self.assertEqual({name: result[name] for name in values}, values)

    def test_fields(self):
        result = self.stats("kron:8")
        self.check_common(result, "stats")
        degrees, counts = result["degree_counts"]
        self.assertEqual((degrees, sum(counts)), ([0] + [2**b for b in range(len(degrees) - 1)], result["vertices"]))
        self.assertTrue(degrees[-1] <= result["max_degree"] < 2 * degrees[-1] and counts[-1] > 0)
        self.check_fields(result, STATS_FIELDS)

    def test_counts(self):
        result = self.stats(self.file("a.mtx", SYMMETRIC))
        self.expect(result, vertices=3, edges=5, max_degree=2, isolated=0, self_loops=1, weighted=False, symmetric=True)
        self.assertAlmostEqual(result["mean_degree"], 5 / 3)
        self.expect(self.stats(self.file("b.mtx", MTX)), vertices=4, edges=2, max_degree=1, isolated=1, symmetric=False)

    def test_ids_with_gaps(self):
        path = self.file("a.el", GAPS)
        self.expect(self.stats(path), vertices=61, edges=6, isolated=55)
        self.expect(self.stats(path, "--compact"), vertices=6, edges=6, isolated=0, max_degree_vertex=10)
        self.expect(self.stats(path, "--one-based"), vertices=60, isolated=54, max_degree_vertex=10)

    def test_compact_leaves_other_formats_alone(self):
        for path, options, vertices in ((self.file("a.mtx", MTX), ["--compact"], 4), ("kron:6", ["--compact", "--one-based"], 64)):
            result = self.run_program("stats", path, *options, "--json", "-")
            self.assertEqual(result.status, 0)
            self.assertEqual(result.json["vertices"], vertices)
            for option in options:  # It changes nothing, and that is said.
                self.assertRegex(result.err, f"{option} has no effect")

    def test_duplicates_loops_and_symmetry(self):
        path = self.file("a.el", "0 1\n0 1\n1 1\n1 2\n")
        self.expect(self.stats(path), edges=3, self_loops=1, symmetric=False)
        self.expect(self.stats(path, "--keep-duplicates"), edges=4)
        self.expect(self.stats(path, "--drop-self-loops"), edges=2, self_loops=0)
        self.expect(self.stats(path, "--symmetrize"), edges=5, symmetric=True)
        self.expect(self.stats(path, "--symmetrize", "--keep-duplicates", "--drop-self-loops"), edges=6)

    def test_the_same_options_on_files_that_hold_csr(self):
        text = self.file("a.el", "0 1\n0 1\n1 1\n1 2\n")
        for name in ("a.wgr", "a.sg", "a.npz"):
            with self.subTest(name):
                self.succeed("convert", text, name, "--keep-duplicates")
                self.expect(self.stats(name), edges=3)
                self.expect(self.stats(name, "--keep-duplicates"), edges=4)
                self.expect(self.stats(name, "--symmetrize", "--drop-self-loops"), edges=4, self_loops=0, symmetric=True)

    def test_weights(self):
        wel = self.file("a.wel", "0 1 5\n0 1 3\n1 2 7\n")
        self.expect(self.stats(wel), weighted=True, weight_type="int32", edges=2)
        self.expect(self.stats(wel, "--weights", "file"), weighted=True)
        self.expect(self.stats(self.file("b.wel", "0 1 5\n1 2 7.5\n")), weight_type="float32")
        plain = self.file("c.el", "0 1\n")
        self.expect(self.stats(plain), weighted=False, weight_type="none")
        self.expect(self.stats(plain, "--weights", "uniform:1:255"), weighted=True, weight_type="int32")
        self.must_fail(2, "stats", plain, "--weights", "file", says="no weights")
        self.must_fail(2, "stats", "kron:6", "--weights", "file", says="no weights")

    def test_malformed_weights(self):
        for text in ("uniform", "uniform:1", "uniform:5:1", "uniform:-1:4", "uniform:1:2147483648", "uniform:a:b",
                     "uniform:1:2:3", "gauss:1:2"):
            for command in ("stats", "bfs"):
                with self.subTest(text=text, command=command):
                    self.must_fail(2, command, "kron:6", "--weights", text, says="uniform:LO:HI")

    def test_weights_are_equal_both_ways_and_follow_the_seed(self):
        outs = []
        for seed in (1, 1, 2):
            self.succeed("convert", "grid:9x9", "a.wel", "--weights", "uniform:10:20", "--seed", seed)
            edges = [line.split() for line in (self.folder / "a.wel").read_text().splitlines() if line[0].isdigit()]
            weights = {(int(u), int(v)): int(w) for u, v, w in edges}
            self.assertTrue(all(10 <= w <= 20 and weights[v, u] == w for (u, v), w in weights.items()))
            outs.append(weights)
        self.assertEqual(outs[0], outs[1])
        self.assertNotEqual(outs[0], outs[2])

    def test_generators(self):
        self.expect(self.stats("kron:7,4"), vertices=128, symmetric=False)
        self.expect(self.stats("urand:7"), vertices=128)
        self.expect(self.stats("grid:4x3"), vertices=12, edges=34, self_loops=0, symmetric=True)
        self.expect(self.stats("community:500,3.5"), vertices=500, self_loops=0, symmetric=True)
        self.assertNotEqual(self.stats("kron:7", "--seed", 2)["edges"], self.stats("kron:7")["edges"])
        self.assertEqual(self.stats("kron:7", "--threads", 1)["edges"], self.stats("kron:7", "--threads", 3)["edges"])


class Convert(ProgramTest):
    def test_every_format_round(self):
        self.succeed("convert", "kron:7", "start.wgr", "--symmetrize", "--drop-self-loops")
        for name in ("a.mtx", "a.el", "a.txt", "a.tsv", "a.graph", "a.sg", "a.npz", "a.wgr", "a.el.gz", "a.mtx.zst"):
            with self.subTest(name):
                result = self.succeed_json("convert", "start.wgr", name)
                self.check_common(result, "convert")
                self.check_fields(result, {"bytes": int, "out": str, **GRAPH_FIELDS})
                self.assertEqual(result["bytes"], os.path.getsize(self.folder / name))
                self.succeed("convert", name, "back.wgr", "--symmetrize")
                self.assertEqual((self.folder / "start.wgr").read_bytes(), (self.folder / "back.wgr").read_bytes())

    def test_weighted_formats_round(self):
        self.succeed("convert", "kron:6", "start.wgr", "--weights", "uniform:1:9")
        for name in ("a.mtx", "a.wel", "a.gr", "a.wsg", "a.npz", "a.wel.zst"):
            with self.subTest(name):
                self.succeed("convert", "start.wgr", name)
                self.assertTrue(self.succeed_json("stats", name)["weighted"])

    def test_names_of_no_format(self):
        for name in ("out", "out.png", "out.wgr.gz"):
            with self.subTest(name):
                self.must_fail(2, "convert", "kron:6", name, says=name)

    def test_compressed(self):
        self.succeed("convert", "kron:9", "plain.wgr", "--symmetrize", "--weights", "uniform:1:9")
        result = self.succeed_json("convert", "plain.wgr", "packed.wgr", "--compress")
        self.check_common(result, "convert")
        self.check_fields(result, {"bytes": int, "bits_per_edge": float, **GRAPH_FIELDS})
        self.assertLess(result["bits_per_edge"], 16)
        self.assertEqual(result["bytes"], os.path.getsize(self.folder / "packed.wgr"))
        self.succeed("convert", "packed.wgr", "back.wgr")
        self.assertEqual((self.folder / "plain.wgr").read_bytes(), (self.folder / "back.wgr").read_bytes())
        self.assertTrue(self.succeed_json("bfs", "packed.wgr", "--verify")["verified"])
        self.assertNotIn("bits_per_edge", self.succeed_json("convert", "packed.wgr", "again.wgr"))

    def test_compressed_in_other_formats(self):
        for name in ("out.el", "out.npz", "out.mtx.gz"):
            with self.subTest(name):
                self.must_fail(2, "convert", "kron:6", name, "--compress", says=(name, ".wgr"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_damaged_compressed_files(self):
        self.succeed("convert", "kron:9", "good.wgr", "--compress")
        good = (self.folder / "good.wgr").read_bytes()
        for place in (12, 100, 200, 4096, 2 * 4096, len(good) - 9):
            with self.subTest(place):
                bad = bytearray(good)
                bad[place] ^= 4
                (self.folder / "bad.wgr").write_bytes(bad)
                self.must_fail(2, "stats", "bad.wgr", says="bad.wgr: byte ")
        (self.folder / "short.wgr").write_bytes(good[:-1])
        self.must_fail(2, "bfs", "short.wgr", says="cut off")

    def test_nothing_is_left_where_it_fails(self):
        self.must_fail(2, "convert", self.file("a.el", "0 x\n"), "out.wgr", says="a.el")
        self.assertEqual(os.listdir(self.folder), ["a.el"])


class Partition(ProgramTest):
    def test_fields(self):
        result = self.succeed_json("partition", "kron:8", "--symmetrize", "--parts", 4)
        self.check_common(result, "partition")
        self.check_fields(result, {"cut_edges": int, "halo_rows": int, "imbalance": float, "volume": dict, "parts": int,
                                   "method": str, **GRAPH_FIELDS})
        self.check_fields(result["volume"], {"broadcast": int, "per_edge": int, "once": int})
        self.assertEqual(result["volume"]["broadcast"], 3 * result["vertices"])
        self.assertEqual(result["volume"]["per_edge"], result["cut_edges"])
        self.assertEqual(result["volume"]["once"], result["halo_rows"])
        self.assertLessEqual(result["halo_rows"], result["cut_edges"])

    def test_known_cut(self):
        # A path of 8 cut in the middle: one edge each way.
        result = self.succeed_json("partition", "grid:8x1", "--parts", 2)
        self.assertEqual((result["cut_edges"], result["halo_rows"], result["imbalance"]), (2, 2, 1.0))

    def test_one_part_moves_nothing(self):
        for method in ("ranges", "random"):
            result = self.succeed_json("partition", "kron:8", "--parts", 1, "--method", method)
            self.assertEqual((result["cut_edges"], result["imbalance"]), (0, 1.0))

    def test_random_follows_the_seed(self):
        cut = [self.succeed_json("partition", "grid:30x30", "--parts", 3, "--method", "random", "--seed", seed)["cut_edges"]
               for seed in (1, 1, 2)]
        self.assertEqual(cut[0], cut[1])
        self.assertNotEqual(cut[0], cut[2])

    def test_metis(self):
        arguments = ("partition", "community:4000,12", "--symmetrize", "--parts", 4, "--method")
        if self.run_program(*arguments, "metis").status != 0:
            self.must_fail(2, *arguments, "metis", says="METIS")
            self.skipTest("no METIS")
        cut, dealt = (self.succeed_json(*arguments, method) for method in ("metis", "random"))
        self.assertLess(2 * cut["cut_edges"], dealt["cut_edges"])
        self.assertLess(cut["imbalance"], 1.1)
        for command in ("bfs", "pagerank", "cc"):
            self.succeed(command, "kron:8", "--symmetrize", "--devices", 3, "--method", "metis", "--verify")

    def test_parts_out_of_range(self):
        for parts in ("0", "-1", "1025", "x"):
            with self.subTest(parts):
                self.must_fail(2, "partition", "kron:6", "--parts", parts, says=parts)


class Datasets(ProgramTest):
    def tiny(self, folder, name="graph.mtx", text=MTX):
        self.file(f"{folder}/{name}", text)
        return str(self.folder / folder)

    def vertices(self, *arguments, **options):
        return self.succeed_json("stats", *arguments, **options)["vertices"]

    def test_the_shipped_one(self):
        self.assertEqual(self.vertices("debian"), 63436)
        self.assertIn("med-bio", self.succeed("stats", "debian").out)

    def test_a_folder(self):
        self.assertEqual(self.vertices(self.tiny("here")), 4)
        self.assertEqual(self.vertices("here"), 4)
        self.assertEqual(self.vertices("./here/"), 4)

    def test_a_compressed_file_in_a_folder(self):
        folder = self.folder / "here"
        folder.mkdir()
        (folder / "graph.mtx.gz").write_bytes(gzip.compress(MTX.encode()))
        self.assertEqual(self.vertices("here"), 4)

    def test_by_name_in_the_named_folder_and_in_data(self):
        self.tiny("elsewhere/tiny")
        self.tiny("data/small")
        environment = {"WARREN_DATA": str(self.folder / "elsewhere")}
        self.assertEqual(self.vertices("tiny", environment=environment), 4)
        self.assertEqual(self.vertices("small"), 4)
        self.must_fail(2, "stats", "tiny", says=["tiny", "debian", "small"])

    def test_beside_the_installed_program(self):
        self.tiny("prefix/share/warren/tiny")
        (self.folder / "prefix/bin").mkdir()
        program = shutil.copy(PROGRAM, self.folder / "prefix/bin")
        self.assertEqual(self.vertices("tiny", program=program), 4)

    def test_names(self):
        self.tiny("here")
        self.file("here/names.txt", "ant\nbee\ncat\ndog\n")
        result = self.succeed_json("bfs", "here", "--source", "bee", "--verify")
        self.assertEqual((result["source"], result["source_name"], result["reached"]), (1, "bee", 2))
        self.assertRegex(self.succeed("bfs", "here", "--source", "1").out, r"1\s+1\s+cat")
        self.must_fail(2, "bfs", "here", "--source", "elk", says=["elk", "names.txt"])
        self.must_fail(2, "bfs", "here", "--source", "4", says=["4", "0 to 3"])
        result = self.succeed_json("pagerank", "here")
        self.assertEqual(result["top_names"][0], "cat")
        self.assertEqual(result["top"][0][0], 2)

    def test_names_that_are_too_few(self):
        self.tiny("here")
        self.file("here/names.txt", "ant\n")
        self.must_fail(2, "stats", "here", says=["names.txt", "1 lines for 4 vertices"])


if __name__ == "__main__":
    unittest.main()
