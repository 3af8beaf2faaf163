# SPDX-License-Identifier: Apache-2.0
"""--edges file: bfs, cc and pagerank of graphs whose lists stay in a .wgr file find what they find in memory, in as much memory as they say, and end
with the file's name where it cannot be read."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from support import DEVICE, PROGRAM, ProgramTest

FIELDS = {"edges_placement": str, "edges_reason": str, "bytes_read": int, "file_wait_seconds": float}
LIBRARY = os.environ.get("WARREN_FAIL_REQUESTS", "")
# Fields of a command's answer.
ANSWERS = {"bfs": ("source", "reached", "max_depth", "sum_depth", "levels"), "cc": ("components", "largest"), "pagerank": ("converged",)}
# Runs a command, and tells the most memory that it held.
PEAK = """
import json, resource, subprocess, sys
out = subprocess.run(sys.argv[1:], check=True, stdout=subprocess.PIPE, text=True).stdout
print(json.dumps([resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, json.loads(out)]))
"""
ENDLESS = ["--edges", "file", "--tolerance", "0", "--max-iterations", "100000", "--device", DEVICE]


class FileEdges(ProgramTest):
    def convert(self, *graph, name="g.wgr"):
        self.succeed("convert", graph[0], name, *graph[1:], device=False)
        return str(self.folder / name)

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_fields(self):
        path = self.convert("kron:10", "--symmetrize")
        for command in ANSWERS:
            result = self.succeed_json(command, path, "--edges", "file", "--verify")
            self.check_common(result, command)
            self.check_fields(result, FIELDS)
            self.assertEqual([result[n] for n in ("edges_placement", "edges_reason", "verified", "mode")], ["file", "asked for", True, "sync"])
            self.assertGreater(result["bytes_read"], 0)
            self.assertIn("in the file (asked for)", self.succeed(command, path, "--edges", "file").out)

    def test_answers_are_those_in_memory(self):
        for graph in (["kron:12", "--symmetrize"], ["kron:11"], ["urand:10,6", "--symmetrize", "--drop-self-loops"], ["grid:40x30"]):
            path = self.convert(*graph)
            for command, fields in ANSWERS.items():
                expected = self.succeed_json(command, path)
                for threads in (1, 3):
                    with self.subTest(graph=graph, command=command, threads=threads):
                        result = self.succeed_json(command, path, "--edges", "file", "--threads", threads, "--verify", "--repeat", 2)
                        for name in ("verified", "vertices", "edges", *fields):
                            self.assertEqual(result.get(name), True if name == "verified" else expected.get(name), name)
                        self.assertEqual(len(result["seconds"]), 2)

    def test_counts_traversed_edges_as_in_memory(self):
        # With self-loops, and a file that says that it has none; the symmetry is known.
        for graph in (["kron:9", "--symmetrize"], ["kron:9", "--symmetrize", "--drop-self-loops"]):
            path = self.convert(*graph)
            counted = [self.succeed_json("bfs", path, "--edges", placement)["traversed_edges"] for placement in ("file", "device")]
            self.assertEqual(*counted)

    def test_ranks_are_those_in_memory(self):
        for graph in (["kron:10", "--symmetrize"], ["kron:10"]):
            path = self.convert(*graph)
            expected = dict(map(tuple, self.succeed_json("pagerank", path, "--tolerance", "1e-10")["top"]))
            for vertex, rank in self.succeed_json("pagerank", path, "--tolerance", "1e-10", "--edges", "file")["top"]:
                self.assertAlmostEqual(rank, expected[vertex], delta=1e-9)

    def test_output_is_that_in_memory(self):
        path = self.convert("kron:9", "--symmetrize")
        for command, more in (("bfs", ["--deterministic"]), ("cc", [])):
            for placement in ("device", "file"):
                self.succeed(command, path, "--edges", placement, *more, "--output", placement)
            self.assertEqual((self.folder / "file").read_bytes(), (self.folder / "device").read_bytes())

    def test_searches(self):
        path = self.convert("grid:30x30")
        near = self.succeed_json("bfs", path, "--edges", "file", "--source", 0, "--depth-limit", 2, "--verify")
        self.assertEqual((near["reached"], near["verified"]), (6, True))
        to = self.succeed_json("bfs", path, "--edges", "file", "--source", 0, "--target", 3)
        self.assertEqual(to["max_depth"], 3)
        several = [self.succeed_json("bfs", path, "--edges", placement, "--sources", 3)["sources"] for placement in ("file", "device")]
        self.assertEqual(*[[(found["source"], found["reached"]) for found in found_by] for found_by in several])
        self.must_fail(2, "bfs", path, "--edges", "file", "--source", 900, says="900")

    def test_ids_of_the_file(self):
        path = self.convert(self.file("a.el", "10 20\n20 30\n70 80\n"), "--compact")
        self.assertEqual(self.succeed_json("bfs", path, "--edges", "file", "--source", 10, "--verify")["reached"], 3)
        self.succeed("cc", path, "--edges", "file", "--output", "o.txt")
        self.assertEqual((self.folder / "o.txt").read_text(), "10 10\n20 10\n30 10\n70 70\n80 70\n")

    def test_small_graphs(self):
        for text in ("0 0\n", "0 1\n", "# Nodes: 9\n", "3 3\n3 0\n"):
            path = self.convert(self.file("s.el", text))
            for command in ANSWERS:
                self.assertIs(self.succeed_json(command, path, "--edges", "file", "--verify")["verified"], True)

    def test_refusals_name_the_cure(self):
        path = self.convert("kron:6")
        self.succeed("convert", path, "packed.wgr", "--compress", device=False)
        edges = self.file("a.el", "0 1\n1 0\n0 1\n")
        self.succeed("convert", edges, "twice.wgr", "--keep-duplicates", device=False)
        for graph, says in (([edges], ["no .wgr file", "warren convert"]), (["kron:6"], ["generator", "warren convert kron:6 OUT.wgr", "of disk"]),
                            ([path, "--symmetrize"], ["--symmetrize", "warren convert"]), (["packed.wgr"], ["compressed", "warren convert"]),
                            (["twice.wgr"], ["--keep-duplicates"]), ([path, "--drop-self-loops"], ["--drop-self-loops"])):
            self.must_fail(2, "cc", *graph, "--edges", "file", says=says)
        self.succeed("cc", "twice.wgr", "--edges", "file", "--keep-duplicates")
        for command in ("bc", "core", "triangles"):
            self.must_fail(2, command, path, "--edges", "file", says=["--edges file", "bfs, cc and pagerank"])
        self.must_fail(2, "sssp", path, "--weights", "uniform:1:9", "--edges", "file", says="--edges file")
        for more, says in ((["--devices", "2"], "one rank"), (["--mode", "async"], "async"), (["--method", "random"], "--method"), (["--cache", "1M"], "--cache")):
            self.must_fail(2, "bfs", path, "--edges", "file", *more, says=says)
        self.must_fail(2, "bfs", path, "--edges", "file", "--sources", 2, "--together", says="--edges file")
        self.must_fail(2, "cc", path, "--edges", "file", "--form", "search", says="--form")
        self.must_fail(2, "pagerank", path, "--edges", "file", "--weighted", says="--weighted")

    @unittest.skipIf(DEVICE != "cpu" or os.environ.get("WARREN_SANITIZED"), "a driver and a sanitizer take memory of their own")
    def test_stays_within_the_hosts_memory(self):
        # 2^18 vertices; their lists take 31 MiB.
        path = self.convert("kron:18", "--symmetrize", "--drop-self-loops")
        limit = 40 << 20
        for command, fields in ANSWERS.items():
            expected = self.succeed_json(command, path, "--edges", "device")
            run = subprocess.run([sys.executable, "-c", PEAK, PROGRAM, command, path, "--host-memory", str(limit), "--verify", "--json", "-", "--device", "cpu"],
                                 check=True, stdout=subprocess.PIPE, text=True, cwd=self.folder)
            peak, result = json.loads(run.stdout)
            self.assertEqual((result["edges_placement"], result["verified"]), ("file", True))
            self.assertIn("the host has", result["edges_reason"])
            self.assertEqual([result.get(n) for n in fields], [expected.get(n) for n in fields])
            self.assertLessEqual(peak, limit, command)

    def test_is_not_taken_where_the_graph_fits(self):
        path = self.convert("kron:10", "--symmetrize")
        for command in ANSWERS:
            self.assertEqual(self.succeed_json(command, path)["edges_placement"], "device")
            self.assertEqual(self.succeed_json(command, path, "--edges", "device", "--host-memory", "1G")["edges_placement"], "device")

    def test_a_host_too_small(self):
        path = self.convert("kron:10", "--symmetrize")
        self.must_fail(3, "bfs", path, "--edges", "file", "--host-memory", "100K", says=["the host", "bytes", "of disk", "--host-memory"])
        self.must_fail(3, "bfs", "kron:12", "--host-memory", "100K", says=["warren convert kron:12 OUT.wgr", "of disk", "--host-memory"])

    @unittest.skipUnless(LIBRARY, "reads that fail need the library")
    def test_a_read_that_fails(self):
        path = self.convert("kron:12", "--symmetrize")
        for command in ANSWERS:
            for at in (1, 2, 3, 4):
                result = self.run_program(command, path, "--edges", "file", environment={
                    "LD_PRELOAD": LIBRARY, "WARREN_FAIL": "read", "WARREN_FAIL_AT": str(at), "WARREN_FAIL_ON": "1"})
                self.assertEqual(result.status, 2, result.err + result.out)
                self.assertRegex(result.err, r"\Awarren: error: .*g\.wgr: byte [0-9]+: cannot read: Input/output error\n\Z")

    def test_a_file_that_is_cut_off(self):
        path = self.convert("kron:12", "--symmetrize")
        os.truncate(path, os.path.getsize(path) - 5000)
        self.must_fail(2, "cc", path, "--edges", "file", says=["g.wgr", "was it cut off?"])

    def test_a_file_that_is_cut_off_under_way(self):
        whole = self.convert("kron:15", "--symmetrize")
        path = str(self.folder / "changing.wgr")
        shutil.copy(whole, path)
        process = self.start("pagerank", path, *ENDLESS)
        time.sleep(2)
        os.truncate(path, os.path.getsize(path) // 2)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, error)
        self.assertIn("changing.wgr: the file had", error)

    def test_ends_at_a_signal(self):
        process = self.start("pagerank", self.convert("kron:15", "--symmetrize"), *ENDLESS)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
