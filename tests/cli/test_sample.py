# SPDX-License-Identifier: Apache-2.0
"""sample: its fields, that teams of every size draw the same, and what it refuses."""

import struct
import unittest

from support import MTX, ProgramTest

FIELDS = {"graph": str, "vertices": int, "edges": int, "fanout": list, "batch": int, "batches": int, "in_flight": int,
          "edges_per_second": float, "batches_per_second": float, "sampled_edges": int, "sampled_vertices": int}


class Sample(ProgramTest):
    def sample(self, *arguments):
        return self.succeed_json("sample", *arguments)

    def test_fields(self):
        result = self.sample("kron:8", "--batch", 20, "--repeat", 3)
        self.check_common(result, "sample", runs=3)
        self.check_fields(result, {**FIELDS, "verified": type(None), "digest": type(None)})
        self.assertEqual((result["fanout"], result["batches"]), ([15, 10, 5], 64))
        self.assertIs(self.sample("kron:8", "--batch", 20, "--verify")["verified"], True)

    def test_teams_agree(self):
        for options in (["--fanout", "15,10,5"], ["--table", "hash"], ["--table", "direct"], ["--replace"], ["--disjoint", "--fanout", "4,3"], ["--fanout", "-1,2"],
                        ["--labor"], ["--labor", "--layer-dependency", "--fanout", "40,5"], ["--labor", "--weighted", "--weights", "uniform:0:9"],
                        ["--weighted", "--weights", "uniform:1:9"], ["--weighted", "--replace", "--weights", "uniform:0:3"]):
            found = set()
            for devices, in_flight in ((1, 1), (1, 5), (2, 2), (3, 1), (4, 2)):
                with self.subTest(options=options, devices=devices):
                    result = self.sample("kron:10", "--symmetrize", "--batch", 50, "--batches", 5, "--verify", *options,
                                         "--devices", devices, "--in-flight", in_flight, "--threads", 4)
                    self.assertIs(result["verified"], True)
                    found.add((result["digest"], result["sampled_edges"]))
            self.assertEqual(len(found), 1, options)

    def test_seeds_matter(self):
        digests = {self.sample("kron:9", "--batch", 30, "--batches", 2, "--verify", "--seed", s)["digest"] for s in (1, 2)}
        self.assertEqual(len(digests), 2)

    def test_partitions_and_placements(self):
        for option in (["--method", "random"], ["--method", "degree"], ["--edges", "host"], ["--labor", "--method", "random"], ["--labor", "--fanout", "3,3", "--edges", "host"]):
            with self.subTest(option=option):
                self.assertIs(self.sample("community:3000,8", "--batch", 40, "--batches", 6, "--devices", 3, "--verify",
                                          *option)["verified"], True)

    def test_labor_has_fewer_vertices(self):
        options = ["community:3000,40", "--symmetrize", "--fanout", "10,10", "--batch", 200, "--batches", 4]
        plain, labor, dependent = (self.sample(*options, *extra) for extra in ([], ["--labor"], ["--labor", "--layer-dependency"]))
        self.assertEqual((plain["labor"], labor["labor"], dependent["layer_dependency"]), (False, True, True))
        self.assertLess(labor["sampled_vertices"], 0.9 * plain["sampled_vertices"])
        self.assertLess(dependent["sampled_vertices"], labor["sampled_vertices"])

    def test_full_neighbourhoods(self):
        path = self.file("a.mtx", MTX)
        result = self.sample(path, "--fanout=-1", "--batch", 4, "--batches", 3, "--verify")
        self.assertEqual((result["sampled_edges"], result["sampled_vertices"]), (3 * 2, 3 * 4))

    def test_more_ranks_than_batches(self):
        self.assertIs(self.sample("kron:7", "--batch", 8, "--batches", 2, "--devices", 4, "--verify")["verified"], True)

    def test_bad_input(self):
        for arguments, says in ((["--fanout", "0"], "--fanout"), (["--fanout", "5,-2"], "--fanout"), (["--fanout", "5,,2"], "--fanout"),
                                (["--fanout", "a"], "--fanout"), (["--fanout", ",".join("1" * 17)], "hops"),
                                (["--batch", "0"], "--batch"), (["--batch", "65"], "--batch 65"), (["--batch", "8", "--weighted"], "weights"),
                                (["--labor", "--replace"], "--labor"), (["--labor", "--disjoint"], "--labor"), (["--layer-dependency"], "--layer-dependency is for --labor"),
                                (["--temporal-last"], "--temporal-last is for --temporal"),
                                (["--edges", "compressed-host"], "--edges"), (["--method", "nothing"], "--method"), (["--table", "nothing"], "--table"),
                                (["--batch", "8", "--weighted", "--weights", "uniform:0:0"], "weights are 0"),
                                (["--fanout", "100000,100000", "--disjoint", "--replace", "--batch", "64"], "2^31")):
            with self.subTest(arguments):
                self.must_fail(2, "sample", "kron:6", *arguments, says=says)
        path = self.file("a.wel", "0 1 -3.5\n2 3 1\n")
        self.must_fail(2, "sample", path, "--batch", 1, "--weighted", "--weights", "file", says="a.wel:1: the edge from 0 to 1 has the weight '-3.5'")

    def test_temporal(self):
        # 0 has the edges 0 -> 1, ..., 0 -> 9 of times 10, ..., 90; each of those leads back at time 5.
        lines = [(0, v, 10 * v) for v in range(1, 10)] + [(v, 0, 5) for v in range(1, 10)]
        graph = self.file("a.el", "".join(f"{u} {v}\n" for u, v, _ in lines))
        times = self.file("times.txt", "# source target time\n" + "".join(f"{u} {v} {t}\n" for u, v, t in reversed(lines)))
        options = [graph, "--temporal", "--times", times, "--fanout=-1", "--batch", 10, "--batches", 1, "--verify"]
        for when, expected in ((4, 0), (5, 9), (10, 10), (45, 13), (90, 18), (1000, 18)):
            result = self.sample(*options, "--seed-times", when)
            self.assertEqual((result["sampled_edges"], result["verified"], result["temporal"], result["disjoint"]), (expected, True, True, True))
        # Ids that are words, as a spreadsheet may quote them.
        words = ["the hub"] + [f"v{v}" for v in range(1, 10)]
        by_word = self.file("w.csv", "source,target\n" + "".join(f'"{words[u]}","{words[v]}"\n' for u, v, _ in lines))
        word_times = self.file("times.csv", "source,target,time\n" + "".join(f'"{words[u]}";"{words[v]}";{t}\n' for u, v, t in reversed(lines)))
        ask = ["sample", by_word, "--ids", "words", *options[1:2], *options[4:], "--times"]
        self.assertEqual(self.succeed_json(*ask, word_times, "--seed-times", 45)["sampled_edges"], 13)
        for text, says in (('"the hub" nobody 5\n', "line 1"), ('"the hub v1 5\n', "line 1"), ('"the hub" v1 5\n', "from the hub to v2 has no time"), ("1 2 3 4 5\n", "line 1")):
            self.must_fail(2, *ask, self.file("bad.txt", text), "--seed-times", 5, says=["bad.txt", says])
        # A time for each vertex, as text and as .npy; times of edges as .npy, in the order of source and target.
        of_vertices = [20] + [5] * 5 + [0] * 4
        by_text = self.file("seeds.txt", "".join(f"{t}\n" for t in of_vertices))
        self.assertEqual(self.sample(*options, "--seed-times", by_text)["sampled_edges"], 2 + 5)
        self.npy("seeds.npy", of_vertices)
        self.npy("times.npy", [t for _, _, t in sorted(lines)])
        options[3] = "times.npy"
        self.assertEqual(self.sample(*options, "--seed-times", "seeds.npy")["sampled_edges"], 2 + 5)

    def test_a_line_of_the_reverse_is_for_edges_without_one(self):
        graph = self.file("p.el", "0 1\n")
        for text, found in (("0 1 9\n1 0 2\n", 0), ("1 0 2\n0 1 9\n", 0), ("1 0 2\n", 1), ("0 1 2\n1 0 9\n", 1)):
            times = self.file("times.txt", text)
            result = self.sample(graph, "--temporal", "--times", times, "--seed-times", 2, "--fanout", 5, "--batch", 2, "--batches", 1, "--verify")
            self.assertEqual(result["sampled_edges"], found, text)

    def npy(self, name, values):
        header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(values)},), }}"
        header += " " * (-(10 + len(header) + 1) % 64) + "\n"
        (self.folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                                         struct.pack(f"<{len(values)}q", *values))

    def test_the_latest_time_is_a_time(self):
        latest, earliest = 2**63 - 1, -(2**63)
        graph = self.file("a.el", "0 1\n0 2\n0 3\n1 0\n")
        # 1 -> 0 has no line of its own: it takes that of 0 -> 1.
        by_text = self.file("times.txt", f"0 1 {latest}\n0 2 {latest - 1}\n0 3 {earliest}\n")
        self.npy("times.npy", [latest, latest - 1, earliest, latest])
        for times in (by_text, "times.npy"):
            for when, edges in ((latest, 4), (latest - 1, 2), (0, 1), (earliest, 1)):
                with self.subTest(times=times, when=when):
                    result = self.sample(graph, "--temporal", "--times", times, f"--seed-times={when}", "--fanout=-1", "--batch", 4,
                                         "--batches", 1, "--verify")
                    self.assertEqual((result["sampled_edges"], result["verified"]), (edges, True))

    def test_temporal_teams_agree(self):
        edges = sorted({(v, (v * k + 1) % 300) for v in range(300) for k in range(2, 12)})
        graph = self.file("b.el", "".join(f"{u} {v}\n" for u, v in edges))
        times = self.file("times.txt", "".join(f"{u} {v} {(u * 7 + v * 13) % 100}\n" for u, v in edges))
        options = [graph, "--temporal", "--times", times, "--seed-times", 60, "--fanout", "4,3", "--batch", 30, "--batches", 5, "--verify"]
        for extra in ([], ["--replace"], ["--symmetrize"], ["--temporal-last"]):
            found = set()
            for devices in (1, 2, 3, 4):
                result = self.sample(*options, *extra, "--devices", devices)
                self.assertIs(result["verified"], True)
                found.add((result["digest"], result["sampled_edges"]))
            self.assertEqual(len(found), 1)
        for method in ("random", "degree"):
            self.assertIs(self.sample(*options, "--method", method, "--devices", 3)["verified"], True)
            self.assertIs(self.sample(*options, "--temporal-last", "--method", method, "--devices", 3)["verified"], True)

    def test_temporal_refused(self):
        graph = self.file("a.el", "0 1\n1 2\n")
        good = self.file("good.txt", "0 1 5\n1 2 6\n")
        plain = ["sample", graph, "--batch", 1, "--batches", 1]
        temporal = [*plain, "--temporal"]
        self.must_fail(2, *temporal, says=["--times FILE", "--seed-times"])
        self.must_fail(2, *temporal, "--times", good, says="--seed-times")
        self.must_fail(2, *plain, "--times", good, says="--temporal")
        for other in ("--replace", "--weighted"):
            self.must_fail(2, *temporal, "--temporal-last", other, "--times", good, "--seed-times", 5, says="--temporal-last")
        self.must_fail(2, *temporal, "--labor", "--times", good, "--seed-times", 5, says="--labor")
        self.must_fail(2, *temporal, "--times", "nowhere.txt", "--seed-times", 5, says="nowhere.txt")
        self.must_fail(2, *temporal, "--times", good, "--seed-times", "soon", says="soon")
        for beyond in (2**63, -(2**63) - 1):
            self.must_fail(2, *temporal, "--times", good, f"--seed-times={beyond}", says=[str(beyond), "2^63"])
        for text, says in (("0 1 5\n", "edge from 1 to 2 has no time"), ("0 1 5\n1 2\n", "line 2"), ("0 1 x\n", "line 1"),
                           ("0 2 5\n", "no edge from 0 to 2"), ("0 7 5\n", "line 1"), ("0 1 5.5\n", "line 1")):
            path = self.file("bad.txt", text)
            self.must_fail(2, *temporal, "--times", path, "--seed-times", 5, says=says)
        twice = self.file("twice.el", "0 1\n0 1\n1 2\n")
        self.must_fail(2, "sample", twice, "--keep-duplicates", *temporal[2:], "--times", good, "--seed-times", 5, says="parallel edges")
        self.npy("short.npy", [1])
        self.must_fail(2, *temporal, "--times", "short.npy", "--seed-times", 5, says="2 times")
        self.must_fail(2, *temporal, "--times", good, "--seed-times", "short.npy", says="3 times")
        self.must_fail(2, *temporal, "--times", good, "--seed-times", self.file("few.txt", "1\n2\n"), says="2 times")

    def test_more_than_the_memory(self):
        self.must_fail(3, "sample", "kron:10", "--disjoint", "--replace", "--fanout", 1_000_000, "--batch", 1000, "--batches", 4096,
                  "--in-flight", 4096, says=["bytes", "free", "--in-flight"])

    def test_text(self):
        out = self.succeed("sample", "kron:8", "--batch", 10, "--batches", 2, "--verify").out
        for line in (r"sampled +2 batches of 10 seeds, fanout 15,10,5", r"edges/s", r"verified +yes"):
            self.assertRegex(out, line)


if __name__ == "__main__":
    unittest.main()
