# SPDX-License-Identifier: Apache-2.0
"""--mode async: the same answers as the synchronous forms, and what it tells about its tasks."""

import json
import unittest

from support import ProgramTest

FIELDS = {"mode": str, "tasks": int, "rank_tasks": list, "rank_idle_seconds": list, "expanded": int, "spilled": int,
          "persistent": bool, "rounds": int, "messages": list, "message_bytes": list}
GRAPHS = (("kron:9", "--symmetrize"), ("grid:40x17",), ("community:900,5",), ("kron:8",))


class Async(ProgramTest):
    def both(self, *arguments):
        found = [self.succeed_json(*arguments, "--mode", mode, "--verify") for mode in ("sync", "async")]
        self.assertEqual([result["mode"] for result in found], ["sync", "async"])
        self.assertEqual([result["verified"] for result in found], [True, True])
        return found

    def test_fields(self):
        for command, more in (("bfs", []), ("sssp", ["--weights", "uniform:1:9"]), ("pagerank", [])):
            with self.subTest(command):
                result = self.succeed_json(command, "kron:8", "--mode", "async", "--devices", 3, "--repeat", 2, *more)
                self.check_common(result, command, runs=2)
                self.check_fields(result, FIELDS)
                self.assertEqual(len(result["rank_tasks"]), 3)
                self.assertEqual(sum(result["rank_tasks"]), result["tasks"])
                # A task is a vertex or a piece of its list; of pagerank a chunk of vertices.
                many, few = ("expanded", "tasks") if command == "pagerank" else ("tasks", "expanded")
                self.assertGreaterEqual(result[many], result[few])
                self.assertGreater(result[few], 0)
                self.assertEqual([len(row) for row in result["messages"]], [3, 3, 3])
                self.assertEqual([result["messages"][p][p] for p in range(3)], [0, 0, 0])
                if command == "pagerank":  # Contributions in float32, at every other rank.
                    self.assertGreater(result["messages"][0][1], 0)
                    for messages, count in zip(result["messages"], result["message_bytes"]):
                        self.assertEqual([4 * each for each in messages], count)
        self.assertGreaterEqual(self.succeed_json("bfs", "kron:8", "--mode", "async")["redundancy"], 1.0)

    def test_searches_agree(self):
        for graph in GRAPHS:
            for devices in (1, 2, 4):
                with self.subTest(graph=graph, devices=devices):
                    sync, tasks = self.both("bfs", *graph, "--source", 3, "--devices", devices)
                    for field in ("reached", "max_depth", "sum_depth", "traversed_edges"):
                        self.assertEqual(sync[field], tasks[field], field)
                    sync, tasks = self.both("sssp", *graph, "--source", 3, "--devices", devices, "--weights", "uniform:0:50")
                    for field in ("reached", "max_distance", "sum_distance", "traversed_edges"):
                        self.assertEqual(sync[field], tasks[field], field)

    def test_ranks_agree(self):
        for graph in GRAPHS:
            for devices in (1, 3):
                with self.subTest(graph=graph, devices=devices):
                    sync, tasks = self.both("pagerank", *graph, "--tolerance", "1e-10", "--max-iterations", 2000,
                                            "--devices", devices)
                    self.assertIs(tasks["converged"], True)
                    for (_, a), (_, b) in zip(sync["top"], tasks["top"]):
                        self.assertLessEqual(abs(a - b), 2e-9)

    def test_several_sources(self):
        for command, more in (("bfs", []), ("sssp", ["--weights", "uniform:1:9"])):
            sync, tasks = self.both(command, "kron:8", "--sources", 4, *more)
            for a, b in zip(sync["sources"], tasks["sources"]):
                self.assertEqual((a["source"], a["reached"]), (b["source"], b["reached"]))

    def test_the_smallest_graphs(self):
        one = self.file("one.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n")
        two = self.file("two.wel", "0 1 5\n")
        for devices in (1, 4):
            self.assertEqual(self.both("bfs", one, "--source", 0, "--devices", devices)[1]["reached"], 1)
            self.assertEqual(self.both("bfs", two, "--source", 0, "--devices", devices)[1]["reached"], 2)
            self.assertEqual(self.both("sssp", two, "--source", 0, "--devices", devices)[1]["max_distance"], 5)
            self.assertEqual(self.both("sssp", one, "--source", 0, "--weights", "uniform:1:9", "--devices", devices)[1]["reached"], 1)
            self.assertEqual(self.both("pagerank", one, "--devices", devices)[1]["top"], [[0, 1.0]])

    def test_graphs_without_vertices(self):
        none = self.file("none.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n")
        for command, more in (("bfs", []), ("sssp", ["--weights", "uniform:1:9"]), ("pagerank", [])):
            for devices in (1, 3):
                self.must_fail(2, command, none, "--mode", "async", "--devices", devices, *more, says="no vertices")

    def test_auto_says_why(self):
        for command, more in (("bfs", []), ("sssp", ["--weights", "uniform:1:9"]), ("pagerank", [])):
            result = self.succeed_json(command, "grid:30x30", "--mode", "auto", *more)
            self.assertEqual(result["mode"], "sync")
            self.assertGreater(len(result["mode_reason"]), 10)
            self.assertNotIn("mode_reason", self.succeed_json(command, "grid:30x30", "--mode", "async", *more))

    def test_trace(self):
        self.succeed("bfs", "kron:8", "--mode", "async", "--devices", 2, "--quiet", "--trace", "t.json")
        events = json.loads((self.folder / "t.json").read_text())
        events = events["traceEvents"] if isinstance(events, dict) else events
        runs = [event for event in events if event.get("name") == "bfs (asynchronous)"]
        self.assertGreaterEqual(len(runs), 2)
        self.assertIn("tasks", runs[0]["args"])
        sent = 0
        for run in runs:
            messages, sizes = run["args"]["messages"], run["args"]["message_bytes"]
            self.assertEqual([len(messages), len(sizes)], [2, 2])
            self.assertEqual([messages[run["tid"]], sizes[run["tid"]]], [0, 0])
            for count, size in zip(messages, sizes):
                self.assertGreaterEqual(size, 16 * count)  # A message is a task or more.
            sent += sum(messages)
        self.assertGreater(sent, 0)

    def test_bad_input(self):
        self.must_fail(2, "bfs", "kron:6", "--mode", "async", "--edges", "compressed-host", says=["async", "plain lists"])
        self.must_fail(2, "bfs", "kron:6", "--mode", "async", "--sources", 3, "--together", says="--together")
        self.must_fail(2, "pagerank", "kron:6", "--mode", "async", "--tolerance", 0, says="--tolerance above 0")
        self.must_fail(2, "pagerank", "kron:6", "--mode", "async", "--deterministic", says="--deterministic")
        self.must_fail(2, "bfs", "kron:6", "--mode", "async", "--source", 64, says="64")


if __name__ == "__main__":
    unittest.main()
