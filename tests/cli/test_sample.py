# SPDX-License-Identifier: Apache-2.0
"""sample: its fields, that teams of every size draw the same, and what it refuses."""

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
        for option in (["--method", "random"], ["--method", "degree"], ["--edges", "host"]):
            with self.subTest(option=option):
                self.assertIs(self.sample("community:3000,8", "--batch", 40, "--batches", 6, "--devices", 3, "--verify",
                                          *option)["verified"], True)

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
                                (["--edges", "compressed-host"], "--edges"), (["--method", "nothing"], "--method"), (["--table", "nothing"], "--table"),
                                (["--batch", "8", "--weighted", "--weights", "uniform:0:0"], "weights are 0"),
                                (["--fanout", "100000,100000", "--disjoint", "--replace", "--batch", "64"], "2^31")):
            with self.subTest(arguments):
                self.fail(2, "sample", "kron:6", *arguments, says=says)
        path = self.file("a.wel", "0 1 -3.5\n2 3 1\n")
        self.fail(2, "sample", path, "--batch", 1, "--weighted", "--weights", "file", says="negative")

    def test_more_than_the_memory(self):
        self.fail(3, "sample", "kron:10", "--disjoint", "--replace", "--fanout", 1_000_000, "--batch", 1000, "--batches", 4096,
                  "--in-flight", 4096, says=["bytes", "free", "--in-flight"])

    def test_text(self):
        out = self.succeed("sample", "kron:8", "--batch", 10, "--batches", 2, "--verify").out
        for line in (r"sampled +2 batches of 10 seeds, fanout 15,10,5", r"edges/s", r"verified +yes"):
            self.assertRegex(out, line)


if __name__ == "__main__":
    unittest.main()
