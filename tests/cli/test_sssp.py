# SPDX-License-Identifier: Apache-2.0
"""sssp: its fields, weights, sources, output, and that teams of every size agree."""

import heapq
import unittest

from support import GAPS, MTX, ProgramTest, npy, npz

FIELDS = {"graph": str, "vertices": int, "edges": int, "source": int, "reached": int, "max_distance": int,
          "sum_distance": int, "delta": float, "relaxed_edges": int, "traversed_edges": int, "teps": float, "mode": str,
          "edges_placement": str, "bytes_read": int}
ANSWER = ("source", "reached", "max_distance", "sum_distance", "traversed_edges")
# 10 -> 20 -> 40 -> 50 costs 2 + 3 + 1, 10 -> 30 -> 40 -> 50 costs 1 + 1 + 1.
WEIGHTED = "10 20 2\n10 30 1\n20 40 3\n30 40 1\n40 50 1\n60 10 5\n"


def dijkstra(edges, source):
    """Distances of the reached vertices."""
    lists = {}
    for u, v, weight in edges:
        lists.setdefault(u, []).append((v, weight))
    distance = {source: 0}
    heap = [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v, weight in lists.get(u, []):
            if v not in distance or d + weight < distance[v]:
                distance[v] = d + weight
                heapq.heappush(heap, (d + weight, v))
    return distance


class Sssp(ProgramTest):
    def sssp(self, *arguments):
        return self.succeed_json("sssp", *arguments)

    def output(self, *arguments):
        """--output as a dictionary of distances, -1 where there is none."""
        self.succeed("sssp", *arguments, "--output", "o.txt", "--verify")
        lines = [line.split(" ") for line in (self.folder / "o.txt").read_text().splitlines()]
        return {int(vertex): float(distance) for vertex, distance in lines}

    def test_fields(self):
        result = self.sssp("kron:8", "--weights", "uniform:1:9")
        self.check_common(result, "sssp")
        self.check_fields(result, {**FIELDS, "verified": type(None)})
        self.assertEqual((result["mode"], result["edges_placement"], result["bytes_read"]), ("sync", "device", 0))
        self.assertIs(self.sssp("kron:8", "--weights", "uniform:1:9", "--verify")["verified"], True)

    def test_edges_in_host_memory(self):
        graph = ("kron:12", "--symmetrize", "--weights", "uniform:1:64")
        expected = self.sssp(*graph)
        for placement in ("host", "compressed-host"):
            for ranks in (1, 3):
                result = self.sssp(*graph, "--edges", placement, "--devices", ranks, "--verify", "--cache", 0)
                self.assertEqual([result[name] for name in ANSWER], [expected[name] for name in ANSWER])
                self.assertEqual((result["edges_placement"], result["verified"]), (placement, True))
                self.assertGreater(result["bytes_read"], result["relaxed_edges"] * 4)

    def test_drawn_weights_belong_to_the_vertices(self):
        """However vertices are numbered, and wherever the graph is drawn: by ranks on GPUs, or in host memory."""
        for weights in ("uniform:0:255", "uniform:1:1000", "uniform:7:7"):
            for options in ([], ["--symmetrize", "--drop-self-loops"]):
                graph = ("kron:9", "--weights", weights, "--seed", 5, *options)
                expected = self.sssp(*graph)
                self.succeed("sssp", *graph, "--output", "natural.txt")
                for method in ("degree", "random"):
                    for placement in ("device", "host"):
                        with self.subTest(weights=weights, options=options, method=method, placement=placement):
                            found = self.sssp(*graph, "--method", method, "--edges", placement, "--devices", 2, "--verify", "--output", "o.txt")
                            self.assertEqual([found[name] for name in ANSWER], [expected[name] for name in ANSWER])
                            self.assertEqual((self.folder / "o.txt").read_text(), (self.folder / "natural.txt").read_text())

    def test_limits(self):
        grid = ("grid:9x7", "--weights", "uniform:1:9", "--source", 3)
        whole = self.succeed_json("sssp", *grid)
        for devices in (1, 2):
            near = self.succeed_json("sssp", *grid, "--cutoff", 11, "--verify", "--devices", devices)
            self.assertEqual((near["cutoff"], near["verified"], near["mode"]), (11.0, True, "sync"))
            self.assertTrue(near["max_distance"] <= 11 and 1 < near["reached"] < whole["reached"])
            first = self.succeed_json("sssp", *grid, "--target", 4, "--target", 12, "--verify", "--devices", devices)
            self.assertEqual((first["targets"], first["verified"]), ([4, 12], True))
            self.assertTrue(1 < first["reached"] < whole["reached"])
        # Counted in hundredths, of which 0.29 is 29.
        decimals = self.file("d.wel", "0 1 0.29\n1 2 0.01\n")
        self.assertEqual(self.succeed_json("sssp", decimals, "--source", 0, "--cutoff", 0.29, "--verify")["reached"], 2)
        self.must_fail(2, "sssp", *grid, "--cutoff", -1)
        self.must_fail(2, "sssp", *grid, "--cutoff", 3, "--mode", "async", says=["--cutoff", "--mode sync"])

    def test_known_answers(self):
        path = self.file("a.wel", WEIGHTED)
        result = self.sssp(path, "--compact", "--source", 10, "--verify")
        self.assertEqual([result[name] for name in ANSWER], [10, 5, 3, 8, 5])
        self.assertEqual(self.output(path, "--compact", "--source", 10), {10: 0, 20: 2, 30: 1, 40: 2, 50: 3, 60: -1})
        self.assertEqual(self.sssp(path, "--compact", "--source", 60)["max_distance"], 8)
        undirected = self.sssp(path, "--compact", "--source", 50, "--symmetrize", "--verify")
        self.assertEqual([undirected[name] for name in ANSWER], [50, 6, 8, 18, 6])

    def test_parallel_edges_count_by_the_smallest(self):
        for option in ([], ["--keep-duplicates"]):
            result = self.sssp(self.file("a.wel", "0 1 7\n0 1 3\n0 1 5\n"), "--source", 0, "--verify", *option)
            self.assertEqual(result["max_distance"], 3)

    def test_real_weights(self):
        path = self.file("a.wel", "0 1 0.5\n1 2 0.25\n0 2 1.0\n3 0 1e30\n")
        result = self.sssp(path, "--source", 0, "--verify")
        self.check_fields(result, {"max_distance": float, "sum_distance": float})
        self.assertEqual((result["reached"], result["max_distance"], result["sum_distance"]), (3, 0.75, 1.25))
        self.assertEqual(self.output(path, "--source", 0), {0: 0, 1: 0.5, 2: 0.75, 3: -1})
        self.assertEqual(self.sssp(path, "--source", 3, "--verify")["reached"], 4)

    def test_weights_that_float32_would_round(self):
        """Weights of a few decimals are exact: as integers of their decimals, in text and in float64."""
        text = "0 1 16777217\n1 2 0.5\n"
        mtx = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 16777217\n2 3 0.5\n"
        (self.folder / "a.npz").write_bytes(npz({"format": npy("|S3", (), b"csr"), "shape": npy("<i8", (2,), [3, 3]), "data": npy("<f8", (2,), [16777217.0, 0.5]),
                                                 "indptr": npy("<i4", (4,), [0, 1, 2, 2]), "indices": npy("<i4", (2,), [1, 2])}))
        for path in (self.file("a.wel", text), self.file("b.wel", text + "1 2 0.75\n"), self.file("a.mtx", mtx), "a.npz"):
            for options in ([], ["--devices", 2], ["--mode", "async"], ["--method", "random"], ["--delta", "0.25"]):
                with self.subTest(path=path, options=options):
                    result = self.sssp(path, "--source", 0, "--verify", *options)
                    self.assertEqual((result["max_distance"], result["sum_distance"], result["verified"]), (16777217.5, 33554434.5, True))
                    self.assertIsNone(result["weights_rounded"])
                    self.assertEqual(self.output(path, "--source", 0, *options), {0: 0, 1: 16777217, 2: 16777217.5})
        self.assertEqual(self.sssp("a.wel", "--delta", "0.25")["delta"], 0.25)
        # In float32 these sums end in 0.30000000447.
        self.succeed("sssp", self.file("c.wel", "0 1 0.1\n1 2 0.2\n2 3 1000000\n"), "--source", 0, "--output", "o.txt")
        self.assertEqual((self.folder / "o.txt").read_text(), "0 0\n1 0.1\n2 0.3\n3 1000000.3\n")

    def test_rounded_weights_are_told_of(self):
        path = self.file("a.wel", "0 1 1e-12\n1 2 16777217\n2 3 0.5\n")
        result = self.run_program("sssp", path, "--source", 0, "--verify", "--json", "-")
        self.assertRegex(result.err, r"\Awarren: warning: [^\n]*a\.wel: line 2: float32 holds 16777217 as 16777216[^\n]*\n\Z")
        self.assertIn("line 1", result.json["weights_rounded"])
        self.assertIn("rounded to float32", self.run_program("sssp", path, "--source", 0, "--verify").out)
        # What a distance may be off by, of the file's own weights.
        self.assertAlmostEqual(result.json["verified_within"], 1 / 16777217, delta=1e-14)
        self.assertGreaterEqual(result.json["verified_within"], abs(result.json["max_distance"] - 16777217.5) / 16777217.5)
        self.assertIsNone(self.run_program("sssp", path, "--source", 0, "--json", "-").json["verified_within"])
        lost = self.run_program("sssp", self.file("d.wel", "0 1 1e-60\n1 2 0.5\n"), "--source", 0, "--verify")
        self.assertEqual(lost.status, 4)
        self.assertIn("line 1: float32 holds 1e-60 as 0", lost.err)
        self.assertIn("cannot be said", lost.err + lost.out)
        self.assertEqual(self.sssp(self.file("e.wel", "0 1 7\n"), "--source", 0, "--verify")["verified_within"], 0)
        # Other commands hold real weights in float32.
        converted = self.run_program("convert", self.file("b.wel", "0 1 0.5\n1 2 16777217\n"), "b.mtx")
        self.assertRegex(converted.err, r"\Awarren: warning: [^\n]*b\.wel: line 2: float32 holds 16777217 as 16777216[^\n]*\n\Z")
        self.succeed("convert", self.file("c.wel", "0 1 0.5\n1 2 0.1\n"), "c.mtx")

    def test_long_paths_are_exact(self):
        path = self.file("a.wel", "".join(f"{v} {v + 1} 2147483647\n" for v in range(7)))
        for devices in (1, 3):
            result = self.sssp(path, "--source", 0, "--verify", "--devices", devices)
            self.assertEqual((result["max_distance"], result["sum_distance"]), (7 * 2147483647, 28 * 2147483647))

    def test_a_sum_past_64_bits_does_not_wrap(self):
        long, weight = 200000, 2**31 - 1
        path = self.file("a.wel", "".join(f"{v} {v + 1} {weight}\n" for v in range(long)))
        for mode in ("sync", "async"):
            with self.subTest(mode=mode):
                result = self.sssp(path, "--source", 0, "--verify", "--mode", mode)
                self.assertEqual((result["max_distance"], result["sum_distance"], result["verified"]), (long * weight, None, True))
                self.assertEqual(int(result["sum_distance_text"]), weight * long * (long + 1) // 2)
                self.assertIn("2^64", result["sum_distance_reason"])
        # A chain whose sum is a little less than 2^64, and a last vertex that fills it up, or is one too much.
        long = 131071
        at, rest = divmod(2**64 - 1 - weight * long * (long + 1) // 2, weight)
        for last, text in ((rest, None), (rest + 1, str(2**64))):
            path = self.file("b.wel", "".join(f"{v} {v + 1} {weight}\n" for v in range(long)) + f"{at} {long + 1} {last}\n")
            result = self.sssp(path, "--source", 0)
            self.assertEqual((result["sum_distance"], result.get("sum_distance_text")), (None if text else 2**64 - 1, text))

    def test_against_dijkstra(self):
        for graph in ("kron:8", "grid:20x9", "community:500,6"):
            self.succeed("convert", graph, "g.wel", "--weights", "uniform:0:20", "--symmetrize")
            edges = [tuple(map(int, line.split())) for line in (self.folder / "g.wel").read_text().splitlines()
                     if not line.startswith("#")]
            for source in (1, 7):
                expected = dijkstra(edges, source)
                for delta in ([], ["--delta", "1"], ["--delta", "0.001"], ["--delta", "1e9"]):
                    with self.subTest(graph=graph, source=source, delta=delta):
                        found = self.output("g.wel", "--source", source, *delta)
                        self.assertEqual({v: d for v, d in found.items() if d >= 0}, expected)

    def test_missing_weights_name_the_cure(self):
        for graph in (self.file("a.el", GAPS), self.file("a.mtx", MTX), "kron:6"):
            self.must_fail(2, "sssp", graph, says=["no weights", "--weights uniform:LO:HI"])

    def test_weights_that_no_shortest_path_can_have(self):
        self.must_fail(2, "sssp", self.file("a.wel", "10 20 1\n20 30 -4\n"), "--compact", "--source", 10,
                  says=["a.wel", "from 20 to 30", "-4"])
        self.must_fail(2, "sssp", self.file("b.wel", "0 1 1.5\n1 2 -0.5\n"), says=["from 1 to 2", "-0.5"])

    def test_delta_out_of_range(self):
        for delta in ("0", "-1", "nan", "inf", "x", ""):
            with self.subTest(delta):
                self.must_fail(2, "sssp", "kron:6", "--weights", "uniform:1:9", "--delta", delta, says="--delta")

    def test_sources_that_are_no_vertex(self):
        path = self.file("a.wel", WEIGHTED)
        self.must_fail(2, "sssp", path, "--source", "61", says=["61", "0 to 60"])
        self.must_fail(2, "sssp", path, "--compact", "--source", "25", says=["25", "10 to 60"])

    def test_random_sources(self):
        result = self.sssp("kron:9", "--symmetrize", "--weights", "uniform:1:9", "--sources", 4, "--verify", "--repeat", 2)
        self.check_common(result, "sssp", runs=8)
        self.assertEqual(len({entry["source"] for entry in result["sources"]}), 4)
        for entry in result["sources"]:
            self.assertIs(entry["verified"], True)
        self.assertEqual({name: result["sources"][0][name] for name in ANSWER}, {name: result[name] for name in ANSWER})

    def test_teams_agree(self):
        for graph in ("kron:11", "grid:60x50", "community:3000,5"):
            arguments = (graph, "--symmetrize", "--weights", "uniform:1:255", "--source", 7)
            expected = self.sssp(*arguments)
            for devices in (1, 2, 3, 4):
                for method in ("ranges", "random", "degree"):
                    for threads in (1, 4):
                        with self.subTest(graph=graph, devices=devices, method=method, threads=threads):
                            result = self.sssp(*arguments, "--devices", devices, "--method", method, "--threads", threads,
                                               "--verify")
                            self.assertEqual([result[name] for name in ANSWER], [expected[name] for name in ANSWER])

    def test_text(self):
        out = self.succeed("sssp", self.file("a.wel", WEIGHTED), "--compact", "--source", 10, "--verify").out
        for line in (r"\n +3  50\n +2  20\n +2  40\n", r"reached +5 of 6 vertices", r"verified +yes"):
            self.assertRegex(out, line)


if __name__ == "__main__":
    unittest.main()
